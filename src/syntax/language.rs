//! The language table: which files are which language, and the rules that their outline needs, as data.

use std::sync::OnceLock;

use ast_grep_core::tree_sitter::LanguageExt;
use ast_grep_language::SupportLang;

pub(super) type Lang = SupportLang;

/// One row of the language table.
pub struct Language {
    /// Lower-case name, as in `metadata.language` and `--languages`.
    pub name: &'static str,
    /// File name extensions without the dot, lower case.
    extensions: &'static [&'static str],
    /// Whole file names, lower case; `prefix*` matches any file name that starts so.
    filenames: &'static [&'static str],
    /// How a file of this language is cut into chunks.
    pub kind: Kind,
}

/// How the text of a language is understood.
pub enum Kind {
    /// Parsed with tree-sitter into an outline.
    Code(Box<Grammar>),
    /// Program text without a grammar here: cut by lines.
    Text,
    /// Settings and data: cut by lines.
    Config,
    /// Documents with headings.
    Document(Markup),
    /// Jupyter notebook: cells.
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

/// What the outline of a parsed language needs.
pub struct Grammar {
    lang: SupportLang,
    /// Source of the tree-sitter query that finds definitions (`queries/*.scm`).
    query_source: &'static str,
    /// Source of the query that finds what the definitions refer to (`queries/*.refs.scm`).
    refs_source: &'static str,
    /// Node kinds that wrap exactly one definition and belong to it (`export_statement`, decorators).
    pub wrappers: &'static [&'static str],
    /// Joins the names of a symbol path.
    pub separator: &'static str,
    /// When a symbol is visible outside its module.
    pub export: Export,
    query: OnceLock<tree_sitter::Query>,
    refs_query: OnceLock<tree_sitter::Query>,
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
}

impl Grammar {
    /// The tree-sitter language.
    #[must_use]
    pub fn language(&self) -> tree_sitter::Language {
        self.lang.get_ts_language()
    }

    /// The same for patterns.
    pub(super) fn lang(&self) -> Lang {
        self.lang
    }

    /// Whether macros may stand where the grammar does not expect them.
    pub(super) fn has_preprocessor(&self) -> bool {
        matches!(self.lang, SupportLang::C | SupportLang::Cpp)
    }

    /// Whether items stand in the arguments of macros (`cfg_rt! { pub fn run() {} }`), which are not parsed.
    pub(super) fn wraps_items_in_macros(&self) -> bool {
        matches!(self.lang, SupportLang::Rust)
    }

    /// The compiled definitions query; compiled once a process.
    ///
    /// # Panics
    /// Never: a test compiles each query, which is built in.
    pub fn query(&self) -> &tree_sitter::Query {
        self.query.get_or_init(|| self.compile(self.query_source))
    }

    /// The same of the query that finds references.
    pub(super) fn refs_query(&self) -> &tree_sitter::Query {
        self.refs_query.get_or_init(|| self.compile(self.refs_source))
    }

    fn compile(&self, source: &str) -> tree_sitter::Query {
        tree_sitter::Query::new(&self.language(), source)
            // Cannot fail: the sources are built in, and a test compiles each of them.
            .unwrap_or_else(|e| panic!("query of {:?}: {e}", self.lang))
    }
}

const fn code(
    lang: SupportLang,
    (query_source, refs_source): (&'static str, &'static str),
    separator: &'static str,
    export: Export,
    wrappers: &'static [&'static str],
) -> Grammar {
    Grammar { lang, query_source, refs_source, wrappers, separator, export, query: OnceLock::new(), refs_query: OnceLock::new() }
}

/// Every language, in the order of the table.
pub fn languages() -> &'static [Language] {
    static TABLE: OnceLock<Vec<Language>> = OnceLock::new();
    TABLE.get_or_init(table)
}

#[allow(clippy::too_many_lines)] // One row a language.
fn table() -> Vec<Language> {
    use Export::{Keyword, Listed, NotUnderscore, Unless, Uppercase};
    use SupportLang as L;
    const ES: &[&str] = &["export_statement", "lexical_declaration", "variable_declaration", "expression_statement", "ambient_declaration"];
    const PRIVATE: Export = Unless(&["private", "internal", "protected", "fileprivate"]);
    let mut t: Vec<Language> = Vec::new();
    let mut add = |name, extensions, filenames, kind| t.push(Language { name, extensions, filenames, kind });
    macro_rules! grammar {
        ($name:literal, $exts:expr, $files:expr, $lang:expr, $sep:literal, $export:expr, $wrappers:expr) => {
            grammar!($name, [$name], [$name], $exts, $files, $lang, $sep, $export, $wrappers)
        };
        ($name:literal, [$($query:literal),+], [$($refs:literal),+], $exts:expr, $files:expr, $lang:expr, $sep:literal, $export:expr, $wrappers:expr) => {
            add(
                $name,
                $exts,
                $files,
                Kind::Code(Box::new(code(
                    $lang,
                    (
                        concat!($(include_str!(concat!("queries/", $query, ".scm"))),+),
                        concat!($(include_str!(concat!("queries/", $refs, ".refs.scm"))),+),
                    ),
                    $sep,
                    $export,
                    $wrappers,
                ))),
            )
        };
    }
    grammar!(
        "bash",
        &["sh", "bash", "bats", "zsh", "ksh"],
        &[".bashrc", ".profile"],
        L::Bash,
        "::",
        NotUnderscore,
        &["declaration_command"]
    );
    grammar!("c", &["c"], &[], L::C, "::", Unless(&["static"]), &["declaration", "type_definition"]);
    grammar!(
        "cpp",
        ["cpp"],
        ["c", "cpp"],
        &["cc", "cpp", "cxx", "c++", "hpp", "hh", "hxx", "h++", "inc", "ipp", "tpp", "cu", "cuh", "ino"],
        &[],
        L::Cpp,
        "::",
        Unless(&["static"]),
        &["template_declaration", "declaration", "type_definition"]
    );
    grammar!(
        "csharp",
        &["cs", "csx"],
        &[],
        L::CSharp,
        ".",
        Unless(&["private", "protected", "internal"]),
        &["declaration", "variable_declaration"]
    );
    grammar!("elixir", &["ex", "exs"], &[], L::Elixir, ".", Unless(&["defp", "defmacrop", "defguardp", "defnp", "typep"]), &[]);
    grammar!("go", &["go"], &[], L::Go, ".", Uppercase, &["type_declaration", "const_declaration", "var_declaration"]);
    grammar!("haskell", &["hs", "lhs", "hsc"], &[], L::Haskell, ".", Listed, &[]);
    grammar!("java", &["java"], &[], L::Java, ".", Keyword("public"), &[]);
    grammar!(
        "javascript",
        ["javascript", "ecmascript"],
        ["javascript", "ecmascript", "jsx"],
        &["js", "mjs", "cjs", "jsx"],
        &[],
        L::JavaScript,
        ".",
        Keyword("export"),
        ES
    );
    grammar!("kotlin", &["kt", "kts"], &[], L::Kotlin, ".", PRIVATE, &[]);
    grammar!("lua", &["lua"], &[], L::Lua, ".", Unless(&["local"]), &["variable_declaration"]);
    grammar!("php", &["php", "phtml"], &[], L::Php, "::", PRIVATE, &["const_declaration"]);
    grammar!(
        "python",
        &["py", "pyi", "pyx", "pxd"],
        &["sconstruct", "sconscript", "wscript"],
        L::Python,
        ".",
        NotUnderscore,
        &["decorated_definition", "expression_statement"]
    );
    grammar!(
        "ruby",
        &["rb", "rake", "gemspec", "ru"],
        &["rakefile", "gemfile", "vagrantfile", "podfile", "guardfile"],
        L::Ruby,
        "::",
        NotUnderscore,
        &[]
    );
    grammar!("rust", &["rs"], &[], L::Rust, "::", Keyword("pub"), &[]);
    grammar!("scala", &["scala", "sc", "sbt"], &[], L::Scala, ".", PRIVATE, &[]);
    grammar!("swift", &["swift"], &[], L::Swift, ".", PRIVATE, &[]);
    grammar!(
        "typescript",
        ["typescript", "ecmascript"],
        ["typescript", "ecmascript"],
        &["ts", "mts", "cts"],
        &[],
        L::TypeScript,
        ".",
        Keyword("export"),
        ES
    );
    grammar!("tsx", ["typescript", "ecmascript"], ["typescript", "ecmascript", "jsx"], &["tsx"], &[], L::Tsx, ".", Keyword("export"), ES);
    grammar!("zig", &["zig", "zon"], &[], L::Zig, ".", Keyword("pub"), &[]);

    add("markdown", &["md", "markdown", "mdx", "mdown", "mkd", "qmd", "rmd"], &[], Kind::Document(Markup::Markdown));
    add("rst", &["rst", "rest"], &[], Kind::Document(Markup::ReStructuredText));
    add("asciidoc", &["adoc", "asciidoc", "asc"], &[], Kind::Document(Markup::AsciiDoc));
    add(
        "text",
        &["txt", "text", "org", "tex", "rdoc", "textile", "pod"],
        &[
            "readme*",
            "license*",
            "licence*",
            "copying*",
            "authors*",
            "contributors*",
            "changelog*",
            "changes*",
            "news*",
            "todo*",
            "notice*",
            "install",
            "thanks*",
        ],
        Kind::Document(Markup::Plain),
    );
    add("notebook", &["ipynb"], &[], Kind::Notebook);

    add("toml", &["toml"], &[], Kind::Config);
    add("yaml", &["yaml", "yml"], &[], Kind::Config);
    add("json", &["json", "jsonc", "json5", "jsonl", "ndjson", "geojson", "webmanifest"], &[], Kind::Config);
    add("ini", &["ini", "cfg", "conf", "properties", "editorconfig", "desktop", "service"], &[], Kind::Config);
    add(
        "xml",
        &["xml", "xsd", "xsl", "xslt", "plist", "csproj", "fsproj", "vbproj", "props", "targets", "pom", "svg", "storyboard", "xib"],
        &[],
        Kind::Config,
    );
    add("csv", &["csv", "tsv", "psv"], &[], Kind::Config);
    add("gomod", &["mod", "sum", "work"], &["go.mod", "go.work"], Kind::Config);

    let lines: &[(&str, &[&str], &[&str])] = &[
        (
            "html",
            &[
                "html", "htm", "xhtml", "jinja", "jinja2", "j2", "hbs", "mustache", "ejs", "erb", "eex", "heex", "leex", "haml", "pug",
                "twig", "tmpl", "tpl", "gotmpl",
            ],
            &[],
        ),
        ("css", &["css", "scss", "sass", "less", "styl"], &[]),
        ("vue", &["vue"], &[]),
        ("svelte", &["svelte"], &[]),
        ("astro", &["astro"], &[]),
        ("sql", &["sql", "psql", "ddl"], &[]),
        ("protobuf", &["proto"], &[]),
        ("graphql", &["graphql", "gql"], &[]),
        ("thrift", &["thrift"], &[]),
        ("dockerfile", &["dockerfile", "containerfile"], &["dockerfile*", "containerfile*"]),
        ("makefile", &["mk", "mak", "make"], &["makefile*", "gnumakefile"]),
        ("cmake", &["cmake"], &["cmakelists.txt"]),
        ("bazel", &["bzl", "bazel", "star"], &["build", "workspace", "build.bazel"]),
        ("just", &["just"], &["justfile"]),
        ("groovy", &["groovy", "gradle"], &["jenkinsfile"]),
        ("terraform", &["tf", "tfvars", "hcl"], &[]),
        ("nix", &["nix"], &[]),
        ("dart", &["dart"], &[]),
        ("clojure", &["clj", "cljs", "cljc", "edn"], &[]),
        ("erlang", &["erl", "hrl"], &[]),
        ("ocaml", &["ml", "mli"], &[]),
        ("fsharp", &["fs", "fsx", "fsi"], &[]),
        ("r", &["r"], &[]),
        ("julia", &["jl"], &[]),
        ("perl", &["pl", "pm", "t"], &[]),
        ("objc", &["m", "mm"], &[]),
        ("nim", &["nim"], &[]),
        ("crystal", &["cr"], &[]),
        ("d", &["d"], &[]),
        ("pascal", &["pas", "pp", "dpr"], &[]),
        ("fortran", &["f", "f90", "f95", "for"], &[]),
        ("assembly", &["s", "asm"], &[]),
        ("solidity", &["sol"], &[]),
        ("elm", &["elm"], &[]),
        ("purescript", &["purs"], &[]),
        ("lisp", &["el", "lisp", "cl", "scm", "rkt", "fnl"], &[]),
        ("vim", &["vim"], &[".vimrc"]),
        ("powershell", &["ps1", "psm1", "psd1"], &[]),
        ("batch", &["bat", "cmd"], &[]),
        ("fish", &["fish"], &[]),
        ("awk", &["awk"], &[]),
        ("tcl", &["tcl"], &[]),
        ("verilog", &["v", "sv", "svh", "vhd", "vhdl"], &[]),
        ("glsl", &["glsl", "vert", "frag", "wgsl", "hlsl", "metal"], &[]),
        ("diff", &["diff", "patch"], &[]),
    ];
    for (name, extensions, filenames) in lines {
        add(name, extensions, filenames, Kind::Text);
    }
    t
}

/// The row named `name`.
fn named(name: &str) -> &'static Language {
    languages().iter().find(|l| l.name == name).unwrap_or_else(|| plain())
}

/// The row for text of no known language.
fn plain() -> &'static Language {
    static PLAIN: Language = Language { name: "other", extensions: &[], filenames: &[], kind: Kind::Text };
    &PLAIN
}

/// The language of a file, by its name, then by its text (C or C++ headers, `#!` lines).
/// Text that fits no row is of language `other`, which is cut by lines.
#[must_use]
pub fn detect(path: &str, text: &str) -> &'static Language {
    let file = path.rsplit('/').next().unwrap_or(path).to_lowercase();
    if let Some(l) = languages().iter().find(|l| {
        l.filenames.iter().any(|f| match f.strip_suffix('*') {
            // `readme`, `readme.txt`, but not `readme.rs`: a known extension decides first.
            Some(prefix) => file.starts_with(prefix) && !file.contains('.'),
            None => file == *f,
        })
    }) {
        return l;
    }
    let Some((stem, extension)) = file.rsplit_once('.') else { return by_shebang(text).unwrap_or_else(plain) };
    match extension {
        "h" => return named(if looks_like_cpp(text) { "cpp" } else { "c" }),
        // Parts of C++, of PHP and of makefiles are named so.
        "inc" if stem.starts_with("makefile") => return named("makefile"),
        "inc" if text.trim_start().starts_with("<?") => return named("php"),
        _ => {}
    }
    languages()
        .iter()
        .find(|l| l.extensions.contains(&extension))
        .or_else(|| languages().iter().find(|l| l.filenames.iter().any(|f| f.strip_suffix('*').is_some_and(|p| stem.starts_with(p)))))
        .or_else(|| by_shebang(text))
        .unwrap_or_else(plain)
}

fn looks_like_cpp(text: &str) -> bool {
    text.lines().any(|l| {
        let l = l.trim_start();
        ["namespace ", "template", "class ", "public:", "private:", "protected:", "using "].iter().any(|p| l.starts_with(p))
            || l.contains("std::")
    })
}

fn by_shebang(text: &str) -> Option<&'static Language> {
    let line = text.lines().next()?.strip_prefix("#!")?;
    let interpreter = line.split_whitespace().find_map(|w| {
        let w = w.rsplit('/').next().unwrap_or(w);
        (w != "env" && !w.starts_with('-')).then_some(w)
    })?;
    let interpreter = interpreter.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    Some(named(match interpreter {
        "sh" | "bash" | "zsh" | "dash" | "ksh" => "bash",
        "python" | "pypy" => "python",
        "node" | "nodejs" | "deno" | "bun" => "javascript",
        "ts-node" | "tsx" => "typescript",
        "ruby" | "php" | "lua" | "perl" | "awk" | "fish" | "tcl" => interpreter,
        "elixir" | "escript" => "elixir",
        "runghc" | "runhaskell" | "stack" => "haskell",
        _ => return None,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_query_compiles_and_captures_names() {
        let mut n = 0;
        for language in languages() {
            if let Kind::Code(grammar) = &language.kind {
                let names = grammar.query().capture_names();
                assert!(grammar.refs_query().capture_names().contains(&"call"), "{} has no @call", language.name);
                assert!(names.contains(&"name"), "{} has no @name", language.name);
                n += 1;
            }
        }
        assert_eq!(n, 20, "19 languages, TSX apart");
    }

    #[test]
    fn detects_by_name_extension_and_content() {
        for (path, text, want) in [
            ("src/a.rs", "", "rust"),
            ("Makefile", "", "makefile"),
            ("docker/Dockerfile.dev", "", "dockerfile"),
            ("include/x.h", "int f(void);", "c"),
            ("include/x.h", "namespace a {\n}", "cpp"),
            ("bin/tool", "#!/usr/bin/env python3\n", "python"),
            ("bin/tool", "#!/bin/sh\n", "bash"),
            ("README", "", "text"),
            ("readme.rs", "", "rust"),
            ("CHANGES.unknown", "", "text"),
            ("CMakeLists.txt", "", "cmake"),
            ("x.unknown", "hello", "other"),
            ("App.TSX", "", "tsx"),
        ] {
            assert_eq!(detect(path, text).name, want, "{path}");
        }
    }
}
