//! Finds the parts of one definition: its name, its lines and comments, its signature, and
//! whether it is exported.

use std::collections::{HashMap, HashSet};

use tree_sitter::Node;

use crate::languages::{Export, Grammar};
use crate::syntax::symbol::{Symbol, SymbolKind};

const MAX_SIGNATURE_CHARS: usize = 300;
pub(in super::super) const MAX_NAME_CHARS: usize = 120;
/// How far the parts of a definition (wrappers, comments, innermost declarator) are searched
/// up or down the tree.
const MAX_CLIMB: usize = 32;
/// Most comments and attributes before one definition.
const MAX_LEADING: usize = 1000;
/// Modifiers are only searched in this many bytes from the start of a declaration.
const MAX_MODIFIERS: usize = 2000;

/// Returns the name in nested C declarators: `names` in `*names[3]`, `f` in `(*f(int))(void)`.
pub(super) fn innermost(declarator: Node) -> Node {
    let mut node = declarator;
    for _ in 0..MAX_CLIMB {
        let next = match node.kind() {
            // The `declarator` field is the argument list; the whole node is the name.
            "operator_cast" => None,
            // These have no field for the declarator inside.
            "parenthesized_declarator" | "reference_declarator" | "attributed_declarator" => {
                let mut cursor = node.walk();
                node.named_children(&mut cursor)
                    .find(|c| c.kind().ends_with("declarator") || c.kind().ends_with("identifier"))
            }
            _ => node.child_by_field_name("declarator"),
        };
        let Some(next) = next else { break };
        node = next;
    }
    node
}

/// Whether the name of a C declarator is a function, not a variable or a function pointer.
pub(super) fn is_called(name: Node) -> bool {
    name.kind() == "operator_cast"
        || name.parent().is_some_and(|p| p.kind() == "function_declarator")
}

/// Returns the name as written, without type arguments: `Set` for `impl<T> Set<T>`,
/// `Set::len` for `Set<T>::len`.
pub(super) fn symbol_name(node: Node, kind: SymbolKind, text: &str) -> String {
    let name = source(node, text);
    let plain;
    let name = if kind == SymbolKind::Impl {
        name.split(['<', '[']).next().unwrap_or(name).trim_start_matches(['&', ' '])
    } else if let Some((before, target)) = name.split_once("operator ") {
        // In C++ `operator bool() const`, the name ends before the arguments.
        plain = format!("{before}operator {}", target.split('(').next().unwrap_or(target));
        &plain
    } else if name.contains(">::") {
        plain = without_arguments(name);
        &plain
    } else {
        name
    };
    // Strips quotes of keys, parentheses of `(+)`, and the colon of Ruby's `:symbols`, but not of
    // the operators `.:` and `operator()`.
    let quoted = [('"', '"'), ('\'', '\''), ('`', '`'), ('(', ')')];
    let name = quoted
        .iter()
        .find_map(|(open, close)| name.strip_prefix(*open)?.strip_suffix(*close))
        .unwrap_or(name);
    let is_symbol = |n: &&str| kind != SymbolKind::Rule && n.starts_with(char::is_alphabetic);
    let name = name.strip_prefix(':').filter(is_symbol).unwrap_or(name);
    fold_whitespace(name).chars().take(MAX_NAME_CHARS).collect()
}

/// Removes `<…>` before `::`.
fn without_arguments(name: &str) -> String {
    let (mut out, mut rest) = (String::new(), name);
    while let Some((head, tail)) = rest.split_once(">::") {
        out.push_str(head.split('<').next().unwrap_or(head));
        out.push_str("::");
        rest = tail;
    }
    out + rest
}

/// Returns the type without pointers and arguments: `*Server[T]` → `Server`.
pub(super) fn base_type(written: &str) -> String {
    let base = written.trim_matches(['*', '&', '(', ')', '?', ' ']);
    fold_whitespace(base.split(['<', '[']).next().unwrap_or(base))
}

/// Returns the outermost node that wraps only this definition.
pub(super) fn wrapped<'t>(grammar: &Grammar, node: Node<'t>) -> Node<'t> {
    let mut node = node;
    while let Some(parent) = node.parent() {
        if node.child_count() == 0 || !grammar.spec.wrappers.contains(&parent.kind()) {
            break;
        }
        let mut cursor = parent.walk();
        // A group of several definitions, or of one with its own comment, is not part of the
        // definition. The loop stops at the second one.
        let mut alike = 0;
        let mut commented = false;
        for c in parent.named_children(&mut cursor) {
            alike += usize::from(c.kind() == node.kind());
            commented |= is_comment(c) && c.end_byte() <= node.start_byte();
            if alike > 1 {
                break;
            }
        }
        if alike > 1 || (commented && !parent.kind().contains("decorat")) {
            break;
        }
        node = parent;
    }
    node
}

/// Returns the last of Kotlin's accessors, which follow their property as siblings.
pub(super) fn accessors(node: Node) -> Node {
    let mut node = node;
    while node.kind().ends_with("etter") || node.kind() == "property_declaration" {
        match node.next_named_sibling() {
            Some(next) if matches!(next.kind(), "getter" | "setter") => node = next,
            _ => break,
        }
    }
    node
}

fn is_comment(node: Node) -> bool {
    let kind = node.kind();
    // `inner`: Rust's `//!` documents the item around it, not the one below.
    (kind.contains("comment") || kind == "haddock") && node.child_by_field_name("inner").is_none()
}

fn is_attached(node: Node) -> bool {
    matches!(
        node.kind(),
        "attribute_item"
            | "decorator"
            | "annotation"
            | "marker_annotation"
            | "attribute"
            | "attribute_list"
            | "pragma"
    )
}

/// Returns the first node that belongs to a definition, such as a comment or attribute directly
/// above it, and the line range of the comments. If there are several runs of comments, the range
/// is that of the upper one.
pub(super) fn leading<'t>(
    node: Node<'t>,
    attached: &HashMap<usize, bool>,
    text: &str,
) -> (Node<'t>, Option<(u32, u32)>) {
    let (mut first, mut comment) = (node, None::<(u32, u32)>);
    for _ in 0..MAX_LEADING {
        let Some(previous) = above(first) else { break };
        let documents = match attached.get(&previous.id()) {
            Some(documents) => *documents,
            None if is_comment(previous) => true,
            None if is_attached(previous) => false,
            None => break,
        };
        if line(first) > last_line(previous, text) + 1
            || !starts_its_line(previous, text)
            || is_file_header(previous, text)
        {
            break;
        }
        if documents {
            let (from, to) = (line(previous), last_line(previous, text));
            comment = Some((from, comment.filter(|c| c.0 <= to + 1).map_or(to, |c| c.1)));
        }
        first = previous;
    }
    (first, comment)
}

/// Returns the node before a node. Some grammars put the comment above the first definition of a
/// block next to the block, or at the end of the list before it.
fn above(node: Node) -> Option<Node> {
    let mut node = node;
    for _ in 0..MAX_CLIMB {
        if let Some(previous) = node.prev_sibling() {
            let mut last = previous;
            for _ in 0..MAX_CLIMB {
                if is_comment(last) {
                    return (last.id() == previous.id()
                        || last.start_position().column == node.start_position().column)
                        .then_some(last);
                }
                let Some(child) = last_child(last) else { break };
                last = child;
            }
            return Some(previous);
        }
        node = node.parent().filter(|p| p.start_byte() == node.start_byte())?;
    }
    None
}

/// Whether a comment is a licence or `#!` at the top of a file, which belongs to the file.
fn is_file_header(node: Node, text: &str) -> bool {
    node.start_position().row == 0 && {
        let comment = source(node, text);
        comment.starts_with("#!")
            || ["copyright", "license", "licence"]
                .iter()
                .any(|w| comment.to_lowercase().contains(w))
    }
}

/// Returns false for a comment after code on the same line.
fn starts_its_line(node: Node, text: &str) -> bool {
    let start = node.start_byte();
    let before = &text.as_bytes()[start.saturating_sub(node.start_position().column)..start];
    before.iter().all(u8::is_ascii_whitespace)
}

pub(super) fn signature(node: Node, outer: Node, text: &str) -> String {
    const BODIES: [&str; 14] = [
        "function_body", "class_body", "declaration_list", "block", "do_block",
        "compound_statement", "template_body", "enum_class_body", "statement_block",
        "body_statement", "enum_body", "interface_body", "field_declaration_list",
        "enum_variant_list",
    ];
    // In `const f = (a) => …`, the body belongs to the value.
    let value = || {
        ["value", "right"]
            .iter()
            .find_map(|field| node.child_by_field_name(field)?.child_by_field_name("body"))
    };
    let mut cursor = node.walk();
    let body = node
        .child_by_field_name("body")
        .or_else(|| node.children(&mut cursor).find(|c| BODIES.contains(&c.kind())))
        .or_else(value);
    let start =
        if outer.kind().contains("decorat") { node.start_byte() } else { outer.start_byte() };
    let end = body.map_or(node.end_byte(), |b| b.start_byte().max(node.start_byte()));
    // White space is folded below, so more characters are needed than the result has, but not
    // all of a minified file.
    let mut head = head(text, start, end, 16 * MAX_SIGNATURE_CHARS);
    if body.is_none() {
        // Without a body, the first line is the signature: `const N: usize = 3;`, `data T = A | B`.
        head = head.lines().next().unwrap_or(head);
    }
    fold_whitespace(head)
        .trim_end_matches(['{', ' ', '=', ':'])
        .chars()
        .take(MAX_SIGNATURE_CHARS)
        .collect()
}

/// Returns the text of a declaration before its name.
pub(super) fn before<'s>(outer: Node, name: Node, text: &'s str) -> &'s str {
    head(text, outer.start_byte(), name.start_byte(), MAX_MODIFIERS)
}

/// Returns `text[start..end]`, but at most about `max` bytes.
fn head(text: &str, start: usize, end: usize, max: usize) -> &str {
    let end =
        (start..=end.min(start + max)).rev().find(|i| text.is_char_boundary(*i)).unwrap_or(start);
    text.get(start..end).unwrap_or("")
}

pub(super) fn is_exported(
    export: Export,
    name: &str,
    kind: SymbolKind,
    before: &str,
    parent: Option<&Symbol>,
    listed: &HashSet<&str>,
) -> bool {
    let mut words = before.split(|c: char| !c.is_alphanumeric() && c != '_');
    let parent_exported = parent.is_some_and(|p| p.exported);
    let local = parent.is_some_and(|p| p.kind.is_callable());
    // Members of these parents are as visible as the parent.
    let open_parent = parent.is_some_and(|p| {
        matches!(p.kind, SymbolKind::Interface | SymbolKind::Trait | SymbolKind::Enum)
    });
    match export {
        Export::Always => true,
        Export::Keyword("export") if parent.is_some() => {
            parent_exported
                && !local
                && !name.starts_with('#')
                && !words.any(|w| matches!(w, "private" | "protected"))
        }
        Export::Keyword(keyword) => {
            (parent_exported && open_parent) || listed.contains(name) || words.any(|w| w == keyword)
        }
        // `static` hides a function of a file, but not a member of a class.
        Export::Unless(modifiers) => {
            !local
                && parent.is_none_or(|p| p.exported)
                && !words.any(|w| modifiers.contains(&w) && (w != "static" || parent.is_none()))
        }
        Export::Uppercase => name.chars().next().is_some_and(char::is_uppercase),
        Export::NotUnderscore => !local && !name.starts_with('_'),
        Export::Listed => {
            listed.is_empty()
                || listed.contains(name)
                || parent_exported
                || kind == SymbolKind::Impl
        }
    }
}

pub(in super::super) fn source<'s>(node: Node, text: &'s str) -> &'s str {
    text.get(node.byte_range()).unwrap_or("")
}

pub(in super::super) fn line(node: Node) -> u32 {
    row_line(node.start_position().row)
}

/// Returns the last line of a node that is not blank: nodes may end with a newline or with the
/// blank lines below them.
pub(super) fn last_line(node: Node, text: &str) -> u32 {
    let body = source(node, text);
    let blank = &body.as_bytes()[body.trim_end().len()..];
    let row = node.end_position().row - memchr::memchr_iter(b'\n', blank).count();
    row_line(row)
}

/// Returns the first line of a definition after its annotations.
pub(super) fn definition_line(node: Node) -> u32 {
    let bare = |node: Node| !is_attached(node) && !is_comment(node);
    let mut cursor = node.walk();
    for child in node.children(&mut cursor).filter(|c| bare(*c)) {
        if child.kind() != "modifiers" {
            return line(child);
        }
        let mut cursor = child.walk();
        if let Some(modifier) = child.children(&mut cursor).find(|c| bare(*c)) {
            return line(modifier);
        }
    }
    line(node)
}

/// Returns the last line of a definition. In languages with indentation, its node may end with the
/// comment above the next one.
pub(super) fn definition_end(node: Node, text: &str) -> u32 {
    let column = node.start_position().column;
    let belongs_below = |c: Node| {
        is_comment(c)
            && c.start_position().column <= column
            && c.start_position().row > node.start_position().row
    };
    let mut last = node;
    for _ in 0..MAX_CLIMB {
        let Some(child) = last_child(last) else { break };
        if belongs_below(child) {
            let mut end = child;
            while let Some(previous) = end.prev_sibling().filter(|p| belongs_below(*p)) {
                end = previous;
            }
            let before = text.get(node.start_byte()..end.start_byte()).unwrap_or("");
            let blank = &before.as_bytes()[before.trim_end().len()..];
            return row_line(end.start_position().row - memchr::memchr_iter(b'\n', blank).count());
        }
        last = child;
    }
    last_line(node, text)
}

fn last_child(node: Node) -> Option<Node> {
    node.child(node.child_count().checked_sub(1)?)
}

/// Returns the line of a row.
pub(super) fn row_line(row: usize) -> u32 {
    u32::try_from(row).unwrap_or(u32::MAX - 1) + 1
}

pub(in super::super) fn fold_whitespace(s: &str) -> String {
    s.split_whitespace().collect::<Vec<_>>().join(" ")
}
