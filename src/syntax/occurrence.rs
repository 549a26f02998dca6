//! Finds where a name is written in a text, column by column, and what the text says about each
//! place.

use std::collections::HashSet;
use std::ops::Range;

use tree_sitter::{Node, Tree};

use super::outline;
use super::place::{PlaceKind, Places};
use super::relations::{receiver_before, relations};
use super::symbol::Symbol;
use crate::languages::Grammar;

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
    /// Whether it is a member behind a dot.
    pub is_behind_dot: bool,
    /// Whether a parameter or a variable of a function around it has the name.
    pub is_local: bool,
    /// Whether a parameter or a variable of a function around it has the new name.
    pub is_hidden: bool,
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
    /// It is the new name in an import: `as name`.
    Alias,
    /// It is a part of a path that goes on: `name::other`.
    Path,
    Plain,
}

/// Finds the places of a name. `new` is the name that it may get. Returns `None` if the parser has
/// no usable result.
#[must_use]
pub fn occurrences(
    grammar: &Grammar,
    text: &str,
    name: &str,
    new: &str,
) -> Option<Vec<Occurrence>> {
    let words = words(text, name, grammar.spec.name);
    if words.is_empty() {
        return Some(Vec::new());
    }
    let places = Places::new(grammar, text)?;
    let relations = relations(grammar, text)?;
    let mut locals: HashSet<(usize, &str)> =
        relations.locals.iter().map(|(function, name)| (*function, name.as_str())).collect();
    let symbols = &relations.symbols;
    let mut found: Vec<Occurrence> = Vec::new();
    for (line, range) in words {
        let node = places.name_at(range.clone());
        let mut place = places.kind(line, range.start - line_start(text, range.start));
        if place == PlaceKind::Text && places.is_export(range.clone(), text) {
            place = PlaceKind::Code;
        }
        let receiver = receiver_before(text, range.clone());
        let after = text[range.end..].trim_start();
        let role = node.map_or(Role::Plain, |node| role(node, text, &range, place));
        let binds = receiver.is_empty() && node.is_some_and(binds);
        if place == PlaceKind::Code
            && binds
            && let Some(function) = function_at(symbols, line)
        {
            locals.insert((function, name));
        }
        let statement = node.map_or((line, line), |node| Places::statement(node));
        let occurrence = Occurrence {
            line,
            place,
            role,
            is_called: after.starts_with(['(', '!']) || after.starts_with("::<"),
            is_behind_dot: text[..range.start].ends_with('.') && !receiver.is_empty(),
            receiver,
            is_local: false,
            is_hidden: false,
            statement,
            range,
        };
        found.push(occurrence);
    }
    let is_local = |line: u32, name: &str| {
        let innermost = innermost(symbols, line);
        std::iter::successors(innermost, |i| symbols[*i].parent)
            .any(|i| locals.contains(&(i, name)))
    };
    Some(
        found
            .into_iter()
            .map(|occurrence| Occurrence {
                is_local: occurrence.receiver.is_empty() && is_local(occurrence.line, name),
                is_hidden: occurrence.receiver.is_empty() && is_local(occurrence.line, new),
                ..occurrence
            })
            .collect(),
    )
}

/// Finds the places of a name in a text that no grammar reads.
#[must_use]
pub fn plain_occurrences(text: &str, name: &str) -> Vec<Occurrence> {
    let all = words(text, name, "").into_iter();
    all.map(|(line, range)| Occurrence {
        line,
        range,
        place: PlaceKind::Text,
        role: Role::Plain,
        receiver: String::new(),
        is_called: false,
        is_behind_dot: false,
        is_local: false,
        is_hidden: false,
        statement: (line, line),
    })
    .collect()
}

/// Whether a name may have another one at its place: the new text is no keyword, and the file is as
/// valid as before.
#[must_use]
pub fn may_be_renamed(grammar: &Grammar, text: &str, at: Range<usize>, new: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let ends = ['?', '!', '='];
    let body = if grammar.spec.name == "ruby" { new.trim_end_matches(ends) } else { new };
    let starts = body.chars().next().is_some_and(|c| is_word(c) && !c.is_numeric());
    if !starts || !body.chars().all(is_word) || is_reserved(grammar, new) {
        return false;
    }
    let after = format!("{}{new}{}", &text[..at.start], &text[at.end..]);
    let trees = (outline::tree(grammar, text), outline::tree(grammar, &after));
    let (Some((old_tree, _)), Some((new_tree, _))) = trees else { return true };
    let kind = |tree: &Tree, range: Range<usize>| {
        let node = tree.root_node().descendant_for_byte_range(range.start, range.end)?;
        (node.byte_range() == range).then(|| node.kind_id())
    };
    let new_range = at.start..at.start + new.len();
    // A line that did not parse before says nothing.
    match kind(&old_tree, at) {
        Some(old) => {
            kind(&new_tree, new_range) == Some(old)
                && (old_tree.root_node().has_error() || !new_tree.root_node().has_error())
        }
        None => true,
    }
}

/// Words that a language reserves although its grammar reads them as names.
const RESERVED: &[(&str, &[&str])] = &[
    (
        "rust",
        &[
            "abstract", "async", "await", "become", "box", "do", "dyn", "final", "gen", "macro",
            "override", "priv", "try", "typeof", "unsized", "virtual", "yield", "Self", "self",
            "crate", "super", "static", "_",
        ],
    ),
    ("python", &["async", "await", "None", "True", "False", "print", "exec", "match", "nonlocal"]),
    ("java", &["goto", "const", "enum", "assert", "strictfp", "native", "_"]),
    ("javascript", &["await", "enum", "implements", "interface", "package", "private", "let"]),
    ("typescript", &["await", "enum", "implements", "interface", "package", "private", "let"]),
    ("tsx", &["await", "enum", "implements", "interface", "package", "private", "let"]),
    ("go", &["nil", "true", "false", "iota", "init", "_"]),
];

/// Words of a grammar that are names as well.
const SOFT: &[(&str, &[&str])] = &[
    (
        "rust",
        &[
            "union",
            "default",
            "auto",
            "raw",
            "block",
            "expr",
            "expr_2021",
            "ident",
            "item",
            "literal",
            "lifetime",
            "meta",
            "pat",
            "pat_param",
            "path",
            "stmt",
            "tt",
            "ty",
            "vis",
        ],
    ),
    ("python", &["case", "type"]),
    ("go", &["make", "new"]),
    ("javascript", ECMASCRIPT_SOFT),
    ("typescript", ECMASCRIPT_SOFT),
    ("tsx", ECMASCRIPT_SOFT),
];
const ECMASCRIPT_SOFT: &[&str] = &[
    "get",
    "set",
    "of",
    "from",
    "as",
    "async",
    "type",
    "declare",
    "abstract",
    "readonly",
    "namespace",
    "module",
    "is",
    "infer",
    "require",
    "asserts",
    "accessor",
    "override",
    "satisfies",
    "unique",
    "object",
    "number",
    "string",
    "boolean",
    "symbol",
    "global",
    "target",
    "meta",
    "using",
];

fn is_reserved(grammar: &Grammar, name: &str) -> bool {
    let is_in = |lists: &[(&str, &[&str])]| {
        lists.iter().any(|(of, words)| *of == grammar.spec.name && words.contains(&name))
    };
    let is_token = grammar.language().id_for_node_kind(name, false) != 0;
    is_in(RESERVED) || (is_token && !is_in(SOFT))
}

/// Returns line and bytes of each whole word.
fn words(text: &str, name: &str, language: &str) -> Vec<(u32, Range<usize>)> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || (c == '$' && language != "php");
    let (mut out, mut line, mut counted) = (Vec::new(), 1, 0);
    for (at, _) in text.match_indices(name) {
        let end = at + name.len();
        let (before, after) = (text[..at].chars().next_back(), text[end..].chars().next());
        let is_longer = matches!(language, "ruby" | "elixir" | "crystal")
            && text[end..].starts_with(['?', '!'])
            && !text[end..].starts_with("!=");
        if before.is_some_and(is_part) || after.is_some_and(is_part) || is_longer {
            continue;
        }
        line += memchr::memchr_iter(b'\n', &text.as_bytes()[counted..at]).count();
        counted = at;
        out.push((u32::try_from(line).unwrap_or(u32::MAX), at..end));
    }
    out
}

fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |end| end + 1)
}

fn innermost(symbols: &[Symbol], line: u32) -> Option<usize> {
    let around = symbols.iter().enumerate();
    around
        .filter(|(_, s)| s.start_line <= line && line <= s.end_line)
        .max_by_key(|(i, s)| (s.start_line, *i))
        .map(|(i, _)| i)
}

fn function_at(symbols: &[Symbol], line: u32) -> Option<usize> {
    std::iter::successors(innermost(symbols, line), |i| symbols[*i].parent)
        .find(|i| symbols[*i].kind.is_callable())
}

/// The fields that say what a name does.
const FIELDS: &[&str] = &[
    "name",
    "declarator",
    "left",
    "value",
    "field",
    "key",
    "pattern",
    "alias",
    "parameter",
    "type",
];

/// Returns the field of its parent that a node is.
fn field_of(node: Node) -> Option<&'static str> {
    let parent = node.parent()?;
    let mut cursor = parent.walk();
    cursor.goto_first_child();
    while cursor.node() != node {
        if !cursor.goto_next_sibling() {
            return None;
        }
    }
    let field = cursor.field_name()?;
    FIELDS.iter().copied().find(|known| *known == field)
}

fn role(node: Node, text: &str, range: &Range<usize>, place: PlaceKind) -> Role {
    let parent = node.parent().map_or("", |parent| parent.kind());
    let has = |words: &[&str]| words.iter().any(|word| parent.contains(word));
    let before = text[..range.start].trim_end();
    let after = text[range.end..].trim_start();
    if before.ends_with(" as") && (place == PlaceKind::Import || has(&["alias", "specifier"])) {
        return Role::Alias;
    }
    if place == PlaceKind::Import {
        let goes_on = after.starts_with("::") || after.starts_with('.');
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

/// Whether a name is bound at its place, as a parameter or a variable.
fn binds(node: Node) -> bool {
    let mut at = node;
    for _ in 0..3 {
        let Some(parent) = at.parent() else { return false };
        let (kind, field) = (parent.kind(), field_of(at));
        if matches!(field, Some("left" | "pattern" | "alias" | "declarator" | "parameter"))
            || (kind.contains("parameter") && !matches!(field, Some("type" | "value")))
            || (kind.contains("variable_declarator") && field == Some("name"))
        {
            return !kind.contains("use_as") && !kind.contains("import");
        }
        let is_list = kind.contains("pattern") || kind.contains("list") || kind.contains("tuple");
        if matches!(field, Some("type")) || !is_list {
            return false;
        }
        if matches!(kind, "captured_pattern" | "match_pattern" | "pattern_list" | "tuple_pattern") {
            return true;
        }
        if kind == "tuple_struct_pattern" || kind == "struct_pattern" || kind == "slice_pattern" {
            return true;
        }
        at = parent;
    }
    false
}
