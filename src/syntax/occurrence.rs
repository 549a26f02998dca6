//! Finds where a name is written in a text, column by column, and what the text says about each
//! place.

use std::ops::Range;

use tree_sitter::{Node, Tree};

use super::bindings::{Binder, BinderKind, binder, field_of, is_in_function};
use super::outline;
use super::place::{PlaceKind, Places, kind_of, statement};
use super::relations::{receiver_before, relations};
use super::symbol::Symbol;
use crate::languages::{Called, Grammar, Scoping};

/// A place where a name is written as a whole word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Occurrence {
    /// 1-based.
    pub line: u32,
    /// Bytes of the text.
    pub range: Range<usize>,
    pub place: PlaceKind,
    pub role: Role,
    /// The expression before the name as a chain of names; `?` if it is not one, empty if there is
    /// none.
    pub receiver: String,
    pub is_called: bool,
    /// Whether it is called with the mark of a macro.
    pub is_macro: bool,
    /// Whether it is a member behind a dot.
    pub is_behind_dot: bool,
    /// Whether a dot or a colon follows, so that a member of it is meant.
    pub goes_on: bool,
    /// Whether a value is assigned to it.
    pub is_assigned: bool,
    /// Whether the grammar reads it as a type.
    pub is_type: bool,
    /// What it binds, if it is more than a use.
    pub binds: Option<BinderKind>,
    /// Whether it is defined in the body of a type.
    pub is_member: bool,
    /// The places that bind the name here, by their positions in the list; those of the innermost
    /// scope.
    pub bound_by: Vec<usize>,
    /// Whether a parameter or a variable of a function around it may have the name: the text does
    /// not say how far that reaches, or whether a call means it.
    pub may_be_local: bool,
    /// Whether a parameter or a variable of a function around it has the new name.
    pub is_hidden: bool,
    /// Whether it is taken from a module that the code loads while it runs: `await import("./m")`.
    pub is_of_loaded: bool,
    /// First and last line of the import around it.
    pub statement: (u32, u32),
}

/// What a name does at its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// It is the name of a definition.
    Definition,
    /// It names an argument, a field or a key: `f(name=1)`, `Point { x: 1 }`.
    Key,
    /// It is a key and its value at once: `Point { x }`.
    Shorthand,
    /// It is the new name in an import or an export: `as name`, or that of a whole module.
    Alias,
    /// It is a part of a path that goes on: `name::other`.
    Path,
    /// It is a part of the path of a module, the name of a package, or that of a file.
    Module,
    /// It has the mark of a variable: `$name`, `@name`, `#name`.
    Variable,
    /// It is a symbol or an atom, which may be called by that name.
    Symbolic,
    /// It is in the markup around scripts, and no tag.
    Template,
    Plain,
}

/// The places of a name in a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Occurrences {
    pub places: Vec<Occurrence>,
    /// The lines that use the new name, though nothing in the text binds it.
    pub taken: Vec<u32>,
}

/// Finds the places of a name. `new` is the name that it may get. Returns `None` if the parser has
/// no usable result.
#[must_use]
pub fn occurrences(grammar: &Grammar, text: &str, name: &str, new: &str) -> Option<Occurrences> {
    let words_of = |name: &str| words(text, name, grammar.spec.name);
    let (all, all_new) = (words_of(name), words_of(new));
    if all.is_empty() {
        return Some(Occurrences::default());
    }
    let places = Places::new(grammar, text)?;
    let reader = Reader { grammar, text, places: &places };
    let (mut occurrences, binders) = reader.read(all);
    let (new_occurrences, new_binders) = reader.read(all_new);
    let names = &grammar.spec.names;
    let relations = if names.scoping == Scoping::Unknown { relations(grammar, text) } else { None };
    let is_function_local = |line: u32| {
        relations.as_ref().is_some_and(|relations| {
            let innermost = innermost(&relations.symbols, line);
            std::iter::successors(innermost, |i| relations.symbols[*i].parent)
                .any(|i| relations.locals.contains(&(i, name.to_string())))
        })
    };
    for occurrence in &mut occurrences {
        let is_bare = occurrence.receiver.is_empty();
        let range = occurrence.range.clone();
        let whole = places.whole();
        let is_inner = |b: &Binder| {
            b.kind == BinderKind::Local
                || (b.kind == BinderKind::Definition && !b.is_member && b.scope != whole)
        };
        occurrence.is_hidden = is_bare
            && reader
                .bound_by(&range, occurrence.is_called, &new_binders)
                .iter()
                .any(|i| new_binders[*i].as_ref().is_some_and(is_inner));
        if is_bare && !matches!(occurrence.role, Role::Module | Role::Variable) {
            occurrence.bound_by = reader.bound_by(&range, occurrence.is_called, &binders);
            occurrence.may_be_local = is_function_local(occurrence.line);
        }
    }
    for i in 0..occurrences.len() {
        let is_doubtful = names.called_variables == Called::Maybe
            && occurrences[i].is_called
            && occurrences[i].binds.is_none()
            && occurrences[i].bound_by.iter().any(|by| {
                occurrences[*by].binds == Some(BinderKind::Local)
                    && !reader.holds_function(&occurrences[*by].range)
            });
        occurrences[i].may_be_local |= is_doubtful;
    }
    let is_free = |o: &&Occurrence| {
        o.place == PlaceKind::Code
            && o.role == Role::Plain
            && o.receiver.is_empty()
            && !o.goes_on
            && o.binds.is_none()
            && reader.is_name(&o.range)
            && reader.bound_by(&o.range, o.is_called, &new_binders).is_empty()
    };
    let taken = new_occurrences.iter().filter(is_free).map(|o| o.line).collect();
    Some(Occurrences { places: occurrences, taken })
}

/// Reads the places of a name in a parsed text.
struct Reader<'a> {
    grammar: &'a Grammar,
    text: &'a str,
    places: &'a Places,
}

impl Reader<'_> {
    /// Returns the occurrences, and what each of them binds.
    fn read(&self, words: Vec<(u32, Range<usize>)>) -> (Vec<Occurrence>, Vec<Option<Binder>>) {
        let mut occurrences: Vec<Occurrence> = Vec::with_capacity(words.len());
        let mut binders = Vec::with_capacity(words.len());
        for (line, range) in words {
            let (occurrence, binder) = self.occurrence(line, range);
            occurrences.push(occurrence);
            binders.push(binder);
        }
        (occurrences, binders)
    }

    fn occurrence(&self, line: u32, range: Range<usize>) -> (Occurrence, Option<Binder>) {
        let text = self.text;
        let names = &self.grammar.spec.names;
        let node = self.places.name_at(range.clone());
        let leaf = self.places.leaf_at(range.clone());
        let mut place = self.places.kind(line, range.start - line_start(text, range.start));
        if place == PlaceKind::Text && self.places.is_quoted_code(range.clone(), text) {
            place = PlaceKind::Code;
        }
        if place == PlaceKind::Code && leaf.is_some_and(is_reexport) {
            place = PlaceKind::Import;
        }
        let receiver = qualifier_before(text, range.clone());
        let after = text[range.end..].trim_start();
        let mut role = match node {
            Some(node) => role(node, text, &range, place),
            None => self.role_in_token(leaf, &range, &mut place),
        };
        if leaf.is_some_and(|leaf| is_module(leaf, place, self.grammar.spec.name)) {
            role = Role::Module;
        }
        if role == Role::Shorthand && leaf.is_some_and(|leaf| is_exported_key(leaf, text)) {
            role = Role::Plain;
        }
        let mark = text[..range.start].chars().next_back();
        let is_marked = mark.is_some_and(|mark| names.marks().contains(&mark))
            || leaf.is_some_and(|leaf| names.family == "shell" && leaf.kind() == "variable_name");
        if place == PlaceKind::Code && is_marked {
            role = Role::Variable;
        }
        let is_use =
            matches!(role, Role::Module | Role::Variable | Role::Template | Role::Symbolic)
                || !receiver.is_empty()
                || (place == PlaceKind::Import && role == Role::Path);
        let binder = node
            .filter(|_| matches!(place, PlaceKind::Code | PlaceKind::Import) && !is_use)
            .filter(|node| !is_declared_elsewhere(*node, text))
            .and_then(|node| {
                let is_type = node.kind() == "type_identifier";
                Some(Binder { is_type, ..binder(node, text, names, place)? })
            });
        // A definition that the fields of the tree do not tell from a use.
        if role == Role::Definition && binder.is_none() {
            role = Role::Plain;
        }
        let is_pattern = role == Role::Shorthand;
        if binder.as_ref().is_some_and(|b| b.kind == BinderKind::Definition) && !is_pattern {
            role = Role::Definition;
        }
        let occurrence = Occurrence {
            line,
            place,
            role,
            is_called: after.starts_with('(')
                || after.starts_with("::<")
                || (names.family == "elixir" && is_called_in_elixir(text, &range, node))
                || (after.starts_with('!') && !after.starts_with("!=")),
            is_macro: after.starts_with('!') && !after.starts_with("!="),
            is_behind_dot: text[..range.start].ends_with('.') && !receiver.is_empty(),
            goes_on: (after.starts_with('.') && !after.starts_with("..")
                || after.starts_with("::") && !after.starts_with("::<")
                || after.starts_with('\\'))
                && !text[range.end..].starts_with(char::is_whitespace),
            is_assigned: after.starts_with('=')
                && !after.starts_with("==")
                && !after.starts_with("=>"),
            is_type: node.is_some_and(|node| node.kind() == "type_identifier"),
            binds: binder.as_ref().map(|binder| binder.kind),
            is_member: binder.as_ref().is_some_and(|binder| binder.is_member),
            bound_by: Vec::new(),
            may_be_local: false,
            is_hidden: false,
            is_of_loaded: is_of_loaded(text, &range, &receiver),
            statement: node.or(leaf).map_or((line, line), Places::statement),
            receiver,
            range,
        };
        (occurrence, binder)
    }

    /// Says what a name is that is only a part of a token.
    fn role_in_token(
        &self,
        leaf: Option<Node>,
        range: &Range<usize>,
        place: &mut PlaceKind,
    ) -> Role {
        let Some(leaf) = leaf.filter(|_| *place == PlaceKind::Code) else { return Role::Plain };
        let kind = leaf.kind();
        let is_listed = std::iter::successors(Some(leaf), Node::parent).any(|n| {
            n.kind() == "pair"
                && n.child(0).is_some_and(|key| {
                    matches!(
                        self.text[key.byte_range()].trim_end_matches([':', ' ']),
                        "only" | "except"
                    )
                })
        });
        if leaf.parent().is_none() {
            let before = &self.text[..range.start];
            let is_tag = before.ends_with('<') || before.ends_with("</");
            return if is_tag { Role::Plain } else { Role::Template };
        }
        if matches!(kind, "keyword" | "atom") && is_listed {
            return Role::Plain;
        }
        if matches!(kind, "simple_symbol" | "atom") {
            let is_argument = leaf.parent().is_some_and(|p| p.kind().contains("argument"));
            if is_argument || leaf.parent().is_some_and(|p| p.kind() == "block_argument") {
                return Role::Symbolic;
            }
        }
        // The text of a macro of C is one token.
        if !kind.contains("preproc_arg") {
            *place = PlaceKind::Text;
        }
        Role::Plain
    }

    /// Whether a parameter has the type of a function.
    fn holds_function(&self, range: &Range<usize>) -> bool {
        let parameter = self.places.name_at(range.clone()).and_then(|node| node.parent());
        parameter.is_some_and(|parameter| {
            let text = &self.text[parameter.byte_range()];
            parameter.kind().contains("parameter") && (text.contains("->") || text.contains("=>"))
        })
    }

    fn is_name(&self, range: &Range<usize>) -> bool {
        self.places.name_at(range.clone()).is_some_and(|node| node.is_named())
    }

    /// Returns the binders of the innermost scope around a place.
    fn bound_by(
        &self,
        range: &Range<usize>,
        is_called: bool,
        binders: &[Option<Binder>],
    ) -> Vec<usize> {
        let names = &self.grammar.spec.names;
        let node = self.places.leaf_at(range.clone());
        let around = binders.iter().enumerate().filter_map(|(i, b)| Some((i, b.as_ref()?)));
        let mut reaching: Vec<(usize, &Binder)> = around
            .filter(|(_, b)| b.scope.start <= range.start && range.end <= b.scope.end)
            .filter(|(_, b)| {
                let is_variable = b.kind == BinderKind::Local;
                if is_variable && is_called && names.called_variables == Called::Never {
                    return false;
                }
                !b.is_member
                    || names.implicit_self
                    || node.is_some_and(|node| !is_in_function(node, &b.scope))
            })
            .collect();
        // A type and a function may have one name.
        let is_type = node.is_some_and(|node| node.kind() == "type_identifier");
        if reaching.iter().any(|(_, b)| b.is_type == is_type) {
            reaching.retain(|(_, b)| b.is_type == is_type);
        }
        let Some(innermost) = reaching.iter().map(|(_, b)| b.scope.len()).min() else {
            return Vec::new();
        };
        reaching.retain(|(_, b)| b.scope.len() == innermost);
        reaching.into_iter().map(|(i, _)| i).collect()
    }
}

/// Whether the line of a place, or the one that gives its receiver a value, loads a module.
fn is_of_loaded(text: &str, range: &Range<usize>, receiver: &str) -> bool {
    let line_at = |offset: usize| text[line_start(text, offset)..].lines().next().unwrap_or("");
    let loads = |line: &str| {
        ["import(", "require(", "import_module(", "__import__("].iter().any(|w| line.contains(w))
    };
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let root = receiver.split(|c| !is_part(c)).next().unwrap_or_default();
    loads(line_at(range.start))
        || (!root.is_empty()
            && text.match_indices(root).any(|(index, _)| {
                let after = text[index + root.len()..].trim_start();
                !text[..index].ends_with(is_part)
                    && after.starts_with('=')
                    && !after.starts_with("==")
                    && loads(line_at(index))
            }))
}

/// Whether a name without parentheses is called: `x |> name`, `&name/1`, `name arg`.
fn is_called_in_elixir(text: &str, range: &Range<usize>, node: Option<Node>) -> bool {
    let before = text[..range.start].trim_end();
    let is_target = node.is_some_and(|n| {
        field_of(n) == Some("target") && n.parent().is_some_and(|p| p.kind() == "call")
    });
    is_target
        || before.ends_with("|>")
        || before.ends_with('&')
        || text[range.end..].starts_with('/')
        || node.is_none()
}

/// Returns the chain before a name, or the namespace of PHP before it.
fn qualifier_before(text: &str, range: Range<usize>) -> String {
    let before = &text[..range.start];
    if before.ends_with('\\') {
        let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '\\';
        let start = before.trim_end_matches(is_part).len();
        let path = before[start..].trim_matches('\\');
        return if path.is_empty() { "\\".into() } else { path.to_string() };
    }
    receiver_before(text, range)
}

/// Whether a node is in an `export … from`, which hands on what it imports.
fn is_reexport(node: Node) -> bool {
    std::iter::successors(Some(node), Node::parent)
        .any(|n| n.kind() == "export_statement" && n.child_by_field_name("source").is_some())
}

/// Whether a key is one of `module.exports = { name }`, which exports the value by its name.
fn is_exported_key(leaf: Node, text: &str) -> bool {
    let object = leaf.parent().filter(|parent| parent.kind() == "object");
    let assignment = object.and_then(|object| object.parent());
    assignment
        .and_then(|a| a.child_by_field_name("left"))
        .is_some_and(|left| matches!(&text[left.byte_range()], "module.exports" | "exports"))
}

/// Whether a name in an import, or in the head of a file, is that of a module or a file.
fn is_module(leaf: Node, place: PlaceKind, language: &str) -> bool {
    let around = || std::iter::successors(Some(leaf), Node::parent);
    let is_head = |n: Node| {
        let kind = n.kind();
        ["package_clause", "package_declaration", "package_header"].contains(&kind)
    };
    let is_file = leaf.parent().is_some_and(|parent| parent.kind() == "mod_item")
        && field_of(leaf) == Some("name");
    if is_file
        || around().any(is_head)
        || around().any(|n| {
            field_of(n) == Some("name")
                && n.parent().is_some_and(|p| p.kind().contains("namespace"))
        })
    {
        return true;
    }
    if place != PlaceKind::Import {
        return false;
    }
    let is_path = around().any(|n| {
        let kind = n.kind();
        field_of(n) == Some("module_name")
            || field_of(n) == Some("source")
            || (kind_of(kind) == Some(PlaceKind::Text) || kind == "system_lib_string")
    });
    let statement = statement(leaf);
    let is_whole = match language {
        // `import a.b` and `import a.b as c` name modules only.
        "python" => {
            statement.kind() == "import_statement"
                && !around().any(|n| field_of(n) == Some("alias"))
        }
        "swift" => true,
        "csharp" => !statement
            .children(&mut statement.walk())
            .any(|child| matches!(child.kind(), "static" | "=")),
        _ => false,
    };
    is_path || is_whole
}

/// Whether a function says that a name is one of the file: `global name` in Python.
fn is_declared_elsewhere(node: Node, text: &str) -> bool {
    let around = || std::iter::successors(node.parent(), Node::parent);
    if around().any(|n| matches!(n.kind(), "global_statement" | "nonlocal_statement")) {
        return true;
    }
    let name = &text[node.byte_range()];
    let Some(function) = around().find(|n| n.kind() == "function_definition") else { return false };
    let Some(body) = function.child_by_field_name("body") else { return false };
    let mut cursor = body.walk();
    body.children(&mut cursor)
        .filter(|n| matches!(n.kind(), "global_statement" | "nonlocal_statement"))
        .any(|n| n.named_children(&mut n.walk()).any(|listed| &text[listed.byte_range()] == name))
}

/// Finds the places of a name in a text that no grammar reads.
#[must_use]
pub fn plain_occurrences(text: &str, name: &str) -> Occurrences {
    let all = words(text, name, "").into_iter();
    let places = all.map(|(line, range)| Occurrence {
        line,
        range,
        place: PlaceKind::Text,
        role: Role::Plain,
        receiver: String::new(),
        is_called: false,
        is_macro: false,
        is_behind_dot: false,
        goes_on: false,
        is_assigned: false,
        is_type: false,
        binds: None,
        is_member: false,
        bound_by: Vec::new(),
        may_be_local: false,
        is_hidden: false,
        is_of_loaded: false,
        statement: (line, line),
    });
    Occurrences { places: places.collect(), taken: Vec::new() }
}

/// Whether a name may have another one at its place: the new text is no keyword, and the file is as
/// valid as before.
#[must_use]
pub fn may_be_renamed(grammar: &Grammar, text: &str, range: Range<usize>, new: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let ends = ['?', '!', '='];
    let body = if grammar.spec.name == "ruby" { new.trim_end_matches(ends) } else { new };
    let starts = body.chars().next().is_some_and(|c| is_word(c) && !c.is_numeric());
    if !starts || !body.chars().all(is_word) || is_reserved(grammar, new) {
        return false;
    }
    let after = format!("{}{new}{}", &text[..range.start], &text[range.end..]);
    let trees = (outline::tree(grammar, text), outline::tree(grammar, &after));
    let (Some((old_tree, _)), Some((new_tree, _))) = trees else { return true };
    let kind = |tree: &Tree, range: Range<usize>| {
        let node = tree.root_node().descendant_for_byte_range(range.start, range.end)?;
        (node.byte_range() == range).then(|| node.kind_id())
    };
    let new_range = range.start..range.start + new.len();
    // A line that did not parse before says nothing.
    match kind(&old_tree, range) {
        Some(old) => {
            kind(&new_tree, new_range) == Some(old)
                && (old_tree.root_node().has_error() || !new_tree.root_node().has_error())
        }
        None => true,
    }
}

fn is_reserved(grammar: &Grammar, name: &str) -> bool {
    let is_token = grammar.language().id_for_node_kind(name, false) != 0;
    grammar.spec.reserved.contains(&name)
        || (is_token && !grammar.spec.soft_keywords.contains(&name))
}

/// Returns line and bytes of each whole word.
fn words(text: &str, name: &str, language: &str) -> Vec<(u32, Range<usize>)> {
    let has_dollar = matches!(
        language,
        "javascript" | "typescript" | "tsx" | "vue" | "svelte" | "html" | "java" | ""
    );
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || (c == '$' && has_dollar);
    let (mut out, mut line, mut counted) = (Vec::new(), 1, 0);
    for (start, _) in text.match_indices(name) {
        let end = start + name.len();
        let (before, after) = (text[..start].chars().next_back(), text[end..].chars().next());
        let is_longer = is_longer_name(language, &text[end..]);
        if before.is_some_and(is_part) || after.is_some_and(is_part) || is_longer {
            continue;
        }
        line += memchr::memchr_iter(b'\n', &text.as_bytes()[counted..start]).count();
        counted = start;
        out.push((u32::try_from(line).unwrap_or(u32::MAX), start..end));
    }
    out
}

/// Whether a name goes on after a word of it: `save` is no use in `save!` of Ruby.
#[must_use]
pub fn is_longer_name(language: &str, after: &str) -> bool {
    matches!(language, "ruby" | "elixir" | "crystal")
        && after.starts_with(['?', '!'])
        && !after.starts_with("!=")
}

fn line_start(text: &str, offset: usize) -> usize {
    text[..offset].rfind('\n').map_or(0, |end| end + 1)
}

fn innermost(symbols: &[Symbol], line: u32) -> Option<usize> {
    let around = symbols.iter().enumerate();
    around
        .filter(|(_, s)| s.start_line <= line && line <= s.end_line)
        .max_by_key(|(i, s)| (s.start_line, *i))
        .map(|(i, _)| i)
}

fn role(node: Node, text: &str, range: &Range<usize>, place: PlaceKind) -> Role {
    let parent = node.parent().map_or("", |parent| parent.kind());
    let has = |words: &[&str]| words.iter().any(|word| parent.contains(word));
    let before = text[..range.start].trim_end();
    let after = text[range.end..].trim_start();
    if before.ends_with(" as") && (place == PlaceKind::Import || has(&["alias", "specifier"])) {
        return Role::Alias;
    }
    // `import name from`, `import * as name from`: a whole module, or what it exports by default.
    if matches!(
        parent,
        "import_clause" | "namespace_import" | "import_require_clause" | "import_spec"
    ) || (place == PlaceKind::Import && field_of(node) == Some("alias"))
    {
        return Role::Alias;
    }
    if place == PlaceKind::Import {
        let goes_on = after.starts_with("::") || after.starts_with(['.', '\\']);
        return if goes_on { Role::Path } else { Role::Plain };
    }
    if node.kind().contains("shorthand") || parent.contains("shorthand") {
        return Role::Shorthand;
    }
    let field = field_of(node);
    let is_key = (has(&["keyword_argument", "named_argument", "value_argument", "label"])
        && field != Some("value")
        && (after.starts_with('=') || after.starts_with(':')))
        || (has(&["field_initializer", "keyed_element", "field_pattern"])
            && matches!(field, Some("field" | "name" | "key")))
        || (has(&["pair"]) && field == Some("key"))
        || (parent == "literal_element"
            && node.parent().is_some_and(|p| field_of(p) == Some("key")));
    if is_key {
        return Role::Key;
    }
    let is_definition = matches!(field, Some("name" | "declarator" | "left"))
        && !has(&["parameter", "argument", "scoped", "qualified", "macro_invocation", "call"])
        && !(has(&["attribute", "member", "selector", "navigation"]));
    // The name of a constant may be below a list, as in Go and Python.
    if is_definition
        || has(&["variable_declarator", "const_spec", "init_declarator"]) && field == Some("name")
    {
        return Role::Definition;
    }
    Role::Plain
}
