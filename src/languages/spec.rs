//! The description of a language: the fields that each folder fills in.

use std::borrow::Cow;
use std::sync::OnceLock;

use ast_grep_core::matcher::{Pattern, PatternBuilder, PatternError};
use ast_grep_core::tree_sitter::{LanguageExt, StrDoc, TSLanguage};
use tree_sitter_language::LanguageFn;

/// One row of the table of languages.
pub struct Language {
    /// Lower-case name, as in `metadata.language` and `--languages`.
    pub name: &'static str,
    /// File name extensions without the dot, lower case.
    pub(super) extensions: &'static [&'static str],
    /// Whole file names, lower case; `prefix*` matches any file name that starts so.
    pub(super) filenames: &'static [&'static str],
    /// Interpreters in `#!` lines.
    pub(super) interpreters: &'static [&'static str],
    /// How a file of this language is cut into chunks.
    pub kind: LanguageKind,
}

/// How the text of a language is read.
pub enum LanguageKind {
    /// Code that is parsed with tree-sitter into an outline.
    Code(&'static Grammar),
    /// Program text without a grammar, which is cut by lines.
    Text,
    /// Settings and data, which are cut by lines.
    Config,
    /// Documents with headings.
    Document(Markup),
    /// Jupyter notebooks, which are cut into cells.
    Notebook,
}

/// Heading syntax of a document.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Markup {
    Markdown,
    ReStructuredText,
    AsciiDoc,
    Plain,
}

/// The description of a parsed language.
pub struct Spec {
    pub name: &'static str,
    pub extensions: &'static [&'static str],
    /// Whole file names, lower case.
    pub filenames: &'static [&'static str],
    /// Interpreters in `#!` lines, without their versions.
    pub interpreters: &'static [&'static str],
    pub grammar: LanguageFn,
    /// Queries that find definitions. `rust/outline.scm` explains the captures.
    pub outline: &'static [&'static str],
    /// Queries that find the references of definitions. `rust/references.scm`
    /// explains the captures.
    pub references: &'static [&'static str],
    /// The markup language of the same text, if its scripts are written in this one.
    pub template: Option<Template>,
    /// Node kinds that wrap exactly one definition and belong to it (`export_statement`,
    /// decorators).
    pub wrappers: &'static [&'static str],
    /// Separator between the names of a symbol path.
    pub separator: &'static str,
    /// When a symbol is visible outside its module.
    pub export: Export,
    /// The parts of a text that are hidden from the parser.
    pub hides: Hides,
    /// The character that replaces `$` in patterns. The grammar must accept it in names.
    pub metavariable: char,
    /// Texts in which a pattern, in the place of `§`, may stand: an expression or a member is no whole
    /// file in most languages, and means something else in another place.
    pub contexts: &'static [&'static str],
    /// Extensions of files that declare what files with the extensions in `with_headers` implement.
    pub headers: &'static [&'static str],
    pub with_headers: &'static [&'static str],
    /// Words that the language reserves although its grammar reads them as names.
    pub reserved: &'static [&'static str],
    /// Words of the grammar that are names as well.
    pub soft_keywords: &'static [&'static str],
    pub names: Names,
}

impl Spec {
    /// A language that marks nothing as public and hides nothing. A language names what differs.
    pub(super) const fn of(name: &'static str, grammar: LanguageFn) -> Self {
        Self {
            name,
            extensions: &[],
            filenames: &[],
            interpreters: &[],
            grammar,
            outline: &[],
            references: &[],
            template: None,
            wrappers: &[],
            separator: ".",
            export: Export::Always,
            hides: Hides::Nothing,
            metavariable: '$',
            contexts: &[],
            headers: &[],
            with_headers: &[],
            reserved: &[],
            soft_keywords: &[],
            names: Names::of(name),
        }
    }
}

/// How a language marks what is public.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Export {
    /// The declaration starts with this word (after attributes).
    Keyword(&'static str),
    /// None of these modifiers stands before the name.
    Unless(&'static [&'static str]),
    /// The name starts upper case.
    Uppercase,
    /// The name does not start with an underscore.
    NotUnderscore,
    /// The file's export list names it, or there is no such list.
    Listed,
    /// Every symbol is public.
    Always,
}

/// The parts of a text that are replaced by blanks before it is parsed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Hides {
    Nothing,
    /// Macros in places where the grammar does not expect them.
    Macros,
    /// Macro calls around items (`cfg_rt! { pub fn run() {} }`), but only when
    /// references are searched.
    MacroCalls,
    /// Everything but the contents of `<script>`.
    AllButScripts,
}

/// The markup around the scripts of a component.
#[derive(Clone, Copy)]
pub struct Template {
    pub grammar: LanguageFn,
    /// A query for the tags that name components (`@component`).
    pub references: &'static str,
}

/// The rules for resolving names of a language.
#[derive(Debug)]
pub struct Names {
    /// The family of the language. Code can refer to other languages of the same family.
    pub family: &'static str,
    /// Where a name is visible without an import.
    pub reach: Visibility,
    /// Whether members can be called without a receiver.
    pub implicit_self: bool,
    /// Whether an import without names imports all names of the module.
    pub open_imports: bool,
    /// Whether a type implements an interface by having its methods.
    pub structural: bool,
    /// Whether many files open the same modules or namespaces (`module Jekyll`, `namespace App`).
    pub namespaces: bool,
    /// Whether a type within another one is visible by its name alone.
    pub open_inner_types: bool,
    /// Extensions of the files whose macros and private functions no other file sees.
    pub closed_files: &'static [&'static str],
    /// Whether the last of several definitions of a name in a scope is the only one that counts, as
    /// with Python's `@overload` and setters.
    pub redefines: bool,
    /// Whether a type may have several supertypes with code, of which one may override the other.
    pub mixes_in: bool,
    /// How far a parameter or a variable hides a name.
    pub scoping: Scoping,
    /// Whether a call means a variable of that name.
    pub called_variables: Called,
    /// How modules are named in imports.
    pub modules: Modules,
    /// The result of functions that are macros, in a language that marks calls of macros
    /// (`html!()`). `None` where macros are called as functions are.
    pub macro_result: Option<&'static str>,
    /// The supertype that gives a type the members of another one, and the alias in its
    /// implementation that names the other one.
    pub delegates: Option<(&'static str, &'static str)>,
    /// Names of the current object in its members, such as `self`.
    pub own_value: &'static [&'static str],
    /// Names of functions that construct a value of their type. Calls use the name
    /// of the type instead.
    pub constructors: &'static [&'static str],
    /// Wrapper types. Their members are those of the type that they contain.
    pub transparent: &'static [&'static str],
    /// Methods of the standard library, in addition to [`COMMON_METHODS`].
    pub methods: &'static [&'static str],
    /// Confidence that a member of an unknown value is the only member of this name in the project.
    pub lone_member: f32,
}

impl Names {
    /// The rules of a language of which nothing particular is known.
    pub(super) const fn of(family: &'static str) -> Self {
        Self {
            family,
            reach: Visibility::Project,
            implicit_self: false,
            open_imports: false,
            structural: false,
            namespaces: false,
            open_inner_types: false,
            closed_files: &[],
            redefines: false,
            mixes_in: false,
            scoping: Scoping::Unknown,
            called_variables: Called::Always,
            modules: Modules::Names,
            macro_result: None,
            delegates: None,
            own_value: &[],
            constructors: &[],
            transparent: &[],
            methods: &[],
            lone_member: LONE_MEMBER,
        }
    }
}

/// Where a name is visible without an import.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Visibility {
    File,
    /// In the files of the same directory.
    Directory,
    /// In the files that declare the same package.
    Package,
    Project,
}

/// How far a variable hides a definition of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scoping {
    /// No rules are known for the language.
    Unknown,
    /// In the whole function.
    Function,
    /// In the whole block.
    Block,
    /// In its block, behind its declaration.
    After,
}

/// Whether `name()` means a variable `name`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Called {
    Always,
    /// Only if its value can be called.
    Maybe,
    Never,
}

/// How a language names the files of a module. `./` and `../` are paths in every language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Modules {
    /// `crate::`, `self::`, `super::` and names of crates.
    Rust,
    /// Names separated by dots. Leading dots go up.
    Python,
    /// The end of the path of a directory, whose name is that of the package.
    Directories,
    /// Paths relative to the file or to any directory, with these separators.
    Paths(&'static [char]),
    /// Names separated by `.`, `/`, `:` or a backslash.
    Names,
    /// Paths relative to the file, and packages by the names in their `package.json`. A module may
    /// export a value without a name, and blocks may define functions of one name.
    Npm,
}

/// Methods that most standard libraries have. If a type of the project has one, too, that is weak
/// evidence for a call whose receiver is unknown.
pub const COMMON_METHODS: &[&str] = &[
    "add", "all", "any", "append", "apply", "at", "await", "bind", "borrow", "call", "catch",
    "chain", "clear", "clone", "close", "cmp", "collect", "compare", "concat", "contains", "copy",
    "count", "create", "decode", "default", "delete", "deref", "discard", "done", "drain", "drop",
    "emit", "empty", "encode", "end", "entries", "entry", "enumerate", "eq", "equals", "err",
    "error", "every", "exec", "execute", "exists", "expect", "extend", "fill", "filter", "find",
    "finish", "first", "flush", "fmt", "fold", "format", "from", "get", "group", "has", "hash",
    "hex", "id", "includes", "index", "info", "init", "insert", "into", "items", "iter", "join",
    "key", "keys", "kind", "last", "len", "length", "load", "lock", "log", "lower", "map", "match",
    "max", "min", "name", "new", "next", "ok", "open", "parse", "peek", "poll", "pop", "print",
    "push", "put", "read", "recv", "reduce", "remove", "replace", "reset", "resolve", "result",
    "run", "search", "seek", "send", "set", "shift", "size", "skip", "slice", "sort", "split",
    "start", "stop", "store", "string", "strip", "sub", "swap", "take", "test", "then", "update",
    "values", "wait", "with", "wrap", "write",
];
/// The value of [`Names::lone_member`] in languages that were not measured.
const LONE_MEMBER: f32 = 0.55;
pub(super) const JVM_METHODS: &[&str] =
    &["charAt", "forEach", "indexOf", "toString", "isEmpty", "hashCode", "endsWith", "startsWith"];

/// A grammar with its description. Queries are compiled once in each process.
pub struct Grammar {
    pub spec: Spec,
    outline: OnceLock<tree_sitter::Query>,
    references: OnceLock<tree_sitter::Query>,
    components: OnceLock<tree_sitter::Query>,
}

impl Grammar {
    pub(super) const fn new(spec: Spec) -> Self {
        Self {
            spec,
            outline: OnceLock::new(),
            references: OnceLock::new(),
            components: OnceLock::new(),
        }
    }

    /// Returns the tree-sitter language.
    #[must_use]
    pub fn language(&self) -> tree_sitter::Language {
        self.spec.grammar.into()
    }

    /// Returns the query that finds definitions.
    ///
    /// # Panics
    /// Never: the query is built in, and a test compiles it.
    pub fn outline(&self) -> &tree_sitter::Query {
        self.outline.get_or_init(|| self.compile(&self.language(), self.spec.outline))
    }

    /// Returns the query that finds references.
    ///
    /// # Panics
    /// Never: the query is built in, and a test compiles it.
    pub fn references(&self) -> &tree_sitter::Query {
        self.references.get_or_init(|| self.compile(&self.language(), self.spec.references))
    }

    /// Returns the language of the template and the query that finds components;
    /// `None` without a template.
    pub fn components(&self) -> Option<(tree_sitter::Language, &tree_sitter::Query)> {
        let Template { grammar, references } = self.spec.template?;
        let language = grammar.into();
        let query = self.components.get_or_init(|| self.compile(&language, &[references]));
        Some((language, query))
    }

    fn compile(&self, language: &tree_sitter::Language, sources: &[&str]) -> tree_sitter::Query {
        tree_sitter::Query::new(language, &sources.join("\n"))
            // This cannot fail, since the sources are built in, and a test compiles each of them.
            .unwrap_or_else(|e| panic!("query of {}: {e}", self.spec.name))
    }
}

/// A grammar as a language of ast-grep.
#[derive(Clone, Copy)]
pub struct Lang(pub &'static Grammar);

impl ast_grep_core::Language for Lang {
    fn kind_to_id(&self, kind: &str) -> u16 {
        self.0.language().id_for_node_kind(kind, true)
    }

    fn field_to_id(&self, field: &str) -> Option<u16> {
        self.0.language().field_id_for_name(field).map(std::num::NonZero::get)
    }

    fn expando_char(&self) -> char {
        self.0.spec.metavariable
    }

    fn pre_process_pattern<'q>(&self, pattern: &'q str) -> Cow<'q, str> {
        match self.expando_char() {
            '$' => Cow::Borrowed(pattern),
            other => Cow::Owned(with_metavariables(pattern, other)),
        }
    }

    fn build_pattern(&self, builder: &PatternBuilder) -> Result<Pattern, PatternError> {
        builder.build(|source| StrDoc::try_new(source, *self))
    }
}

impl LanguageExt for Lang {
    fn get_ts_language(&self) -> TSLanguage {
        self.0.language()
    }
}

/// Replaces `$` in the variables of a pattern by another character. A variable is a run of `$`
/// before an upper-case letter or an underscore, or three of them without a name.
fn with_metavariables(pattern: &str, other: char) -> String {
    let mut out = String::with_capacity(pattern.len());
    let mut rest = pattern;
    while let Some(at) = rest.find('$') {
        let (before, from) = rest.split_at(at);
        let n = from.len() - from.trim_start_matches('$').len();
        let after = &from[n..];
        let is_variable = n == 3 || after.starts_with(|c: char| c.is_ascii_uppercase() || c == '_');
        out.push_str(before);
        out.extend(std::iter::repeat_n(if is_variable { other } else { '$' }, n));
        rest = after;
    }
    out + rest
}

impl Names {
    /// Whether types of the standard library have a method with this name.
    #[must_use]
    pub fn is_common_method(&self, name: &str) -> bool {
        COMMON_METHODS.contains(&name) || self.methods.contains(&name)
    }

    /// Returns a name without the marks before it: `@` of a field of Ruby, `$` of a variable of PHP.
    #[must_use]
    pub fn without_marks<'n>(&self, name: &'n str) -> &'n str {
        match self.family {
            // In these, `$` is a letter.
            "ecmascript" | "jvm" | "dart" => name.trim_start_matches(['@', '#']),
            _ => name.trim_start_matches(['@', '#', '$']),
        }
    }

    /// Returns the marks that stand before the name of a variable or a field: `$name`, `@name`.
    #[must_use]
    pub fn marks(&self) -> &'static [char] {
        match self.family {
            "php" | "perl" | "powershell" => &['$', '@', '%'],
            // `${name}` as well.
            "shell" => &['$', '{'],
            "ruby" => &['@', '$'],
            "elixir" => &['@'],
            "ecmascript" => &['#'],
            _ => &[],
        }
    }

    /// Returns whether a mark before a name (`$f`) says that it is a variable, so that a function may
    /// have the same name.
    #[must_use]
    pub fn marks_variables(&self) -> bool {
        matches!(self.family, "php" | "perl" | "powershell" | "shell")
    }

    /// Returns the method that every type has and that makes a value of it, if there is one.
    #[must_use]
    pub fn new_method(&self) -> Option<&'static str> {
        (self.family == "ruby").then_some("new")
    }

    /// Returns the word for the supertypes of the current object.
    #[must_use]
    pub fn super_value(&self) -> &'static str {
        match self.family {
            "php" => "parent",
            "csharp" => "base",
            _ => "super",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_of_patterns_are_written_as_the_grammar_takes_them() {
        assert_eq!(with_metavariables("f($A, $$$, $$$B, $x, $_)", 'µ'), "f(µA, µµµ, µµµB, $x, µ_)");
        assert_eq!(with_metavariables("plain", 'µ'), "plain");
        assert_eq!(with_metavariables("$$$", 'µ'), "µµµ");
    }
}
