//! Tells the colours of the words of a text, from its syntax tree. The kinds of nodes have similar
//! names in all grammars, so there is one rule for all languages.

use serde::Serialize;
use tree_sitter::{Node, TreeCursor};

use super::outline;
use super::place::{PlaceKind, kind_of};
use crate::languages::Grammar;

/// What a word is shown as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Colour {
    Plain,
    Comment,
    Keyword,
    /// The name of a function, where it is defined or called.
    Function,
    Type,
    Text,
    Number,
}

/// A stretch of a line: its colour, and its length in UTF-16 code units, as JavaScript counts.
pub type Run = (Colour, usize);

/// Returns the runs of each line of a text. Without a usable syntax tree, every line is plain.
#[must_use]
pub fn colours(grammar: Option<&Grammar>, text: &str) -> Vec<Vec<Run>> {
    let mut painted = vec![Colour::Plain; text.len()];
    if let Some((tree, _)) = grammar.and_then(|grammar| outline::tree(grammar, text)) {
        paint(&mut tree.walk(), text, &mut painted);
    }
    let mut at = 0;
    let mut lines = Vec::new();
    for line in text.split_inclusive('\n') {
        let mut runs: Vec<Run> = Vec::new();
        for (offset, c) in line.trim_end_matches(['\n', '\r']).char_indices() {
            let colour = painted[at + offset];
            match runs.last_mut() {
                Some((last, length)) if *last == colour => *length += c.len_utf16(),
                _ => runs.push((colour, c.len_utf16())),
            }
        }
        lines.push(runs);
        at += line.len();
    }
    lines
}

/// Paints every node over the ones around it.
fn paint(cursor: &mut TreeCursor, text: &str, painted: &mut [Colour]) {
    loop {
        let node = cursor.node();
        let colour = colour(node, text);
        if let Some(colour) = colour {
            painted[node.byte_range()].fill(colour);
        }
        if colour != Some(Colour::Comment) && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
        }
    }
}

/// Returns the colour of a node; `None` if the one around it stays.
fn colour(node: Node, text: &str) -> Option<Colour> {
    let kind = node.kind();
    let is_leaf = node.child_count() == 0;
    match kind_of(kind) {
        Some(PlaceKind::Comment) => return Some(Colour::Comment),
        Some(PlaceKind::Text) if node.is_named() => return Some(Colour::Text),
        Some(PlaceKind::Code) => return Some(Colour::Plain),
        _ => {}
    }
    if !is_leaf {
        return None;
    }
    let word = &text[node.byte_range()];
    let is_word = word.starts_with(|c: char| c.is_alphabetic() || c == '#' || c == '@');
    if !node.is_named() {
        return (is_word && word.len() > 1 && !word.contains('"')).then_some(Colour::Keyword);
    }
    let has = |words: &[&str]| words.iter().any(|word| kind.contains(word));
    if has(&["integer", "float", "number"]) {
        Some(Colour::Number)
    } else if has(&["type_identifier", "primitive_type", "predefined_type", "builtin_type"]) {
        Some(Colour::Type)
    } else if has(&["boolean", "self", "this", "super", "crate"])
        || matches!(kind, "true" | "false" | "nil" | "null" | "none" | "undefined")
    {
        Some(Colour::Keyword)
    } else if is_word && kind.contains("identifier") && is_function(node) {
        Some(Colour::Function)
    } else {
        None
    }
}

/// Whether a name is that of a function that is defined or called here.
fn is_function(name: Node) -> bool {
    let Some(parent) = name.parent() else { return false };
    let is = |field: &str| parent.child_by_field_name(field) == Some(name);
    let is_callable = |kind: &str| {
        ["function", "method", "call", "invocation", "macro"].iter().any(|word| kind.contains(word))
    };
    if is_callable(parent.kind()) {
        return ["name", "function", "method", "declarator", "macro"].iter().any(|f| is(f));
    }
    // `a.b()`: the name is the last part of what is called.
    let is_last = ["field", "property", "attribute", "name"].iter().any(|f| is(f));
    let called = parent.parent().filter(|outer| outer.kind().contains("call"));
    is_last && called.is_some_and(|call| call.child_by_field_name("function") == Some(parent))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::languages::{LanguageKind, detect};

    /// Returns `word:colour` of every run that is not plain.
    fn painted(path: &str, text: &str) -> Vec<String> {
        let language = detect(path, text);
        let LanguageKind::Code(grammar) = &language.kind else { panic!("{path}") };
        let mut found = Vec::new();
        for (line, runs) in text.lines().zip(colours(Some(grammar), text)) {
            let units: Vec<u16> = line.encode_utf16().collect();
            let mut at = 0;
            for (colour, length) in runs {
                let word = String::from_utf16(&units[at..at + length]).unwrap();
                at += length;
                if colour != Colour::Plain {
                    found.push(format!("{word}:{colour:?}"));
                }
            }
            assert_eq!(at, units.len(), "{line}");
        }
        found
    }

    #[test]
    fn words_have_the_colours_that_people_know_from_editors() {
        assert_eq!(
            painted("a.rs", "// ü𝄞 note\nfn f(n: u8) -> Set { g.take(\"a\", 1) }\n"),
            [
                "// ü𝄞 note:Comment", "fn:Keyword", "f:Function", "u8:Type", "Set:Type",
                "take:Function", "\"a\":Text", "1:Number"
            ]
        );
        assert_eq!(
            painted("a.py", "def f(self):\n    return f'{g(1)} ü'\n"),
            [
                "def:Keyword", "f:Function", "return:Keyword", "f':Text", "g:Function", "1:Number",
                " ü':Text"
            ]
        );
        assert_eq!(
            painted("a.ts", "const a: T = b.c(null)\n"),
            ["const:Keyword", "T:Type", "c:Function", "null:Keyword"]
        );
    }

    #[test]
    fn a_text_without_a_tree_is_plain_and_keeps_its_lines() {
        assert_eq!(
            colours(None, "a\r\n\nb"),
            [vec![(Colour::Plain, 1)], vec![], vec![(Colour::Plain, 1)]]
        );
    }
}
