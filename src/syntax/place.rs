//! Tells code from comments, strings and imports.

use std::ops::Range;

use tree_sitter::{Node, Point, Tree};

use super::outline;
use crate::languages::Grammar;

/// What a place in a file is part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlaceKind {
    Code,
    Comment,
    /// The text of a string; code within a string is code.
    Text,
    Import,
}

/// The syntax tree of a file.
pub struct Places(Tree);

impl Places {
    /// Parses a text. Returns `None` if the parser has no usable result.
    #[must_use]
    pub fn new(grammar: &Grammar, text: &str) -> Option<Self> {
        outline::tree(grammar, text).map(|(tree, _)| Self(tree))
    }

    /// Returns the node that is exactly these bytes of the text.
    pub(super) fn name_at(&self, range: Range<usize>) -> Option<Node<'_>> {
        let node = self.0.root_node().descendant_for_byte_range(range.start, range.end)?;
        (node.byte_range() == range).then_some(node)
    }

    /// Returns the bytes of the whole tree.
    pub(super) fn whole(&self) -> Range<usize> {
        self.0.root_node().byte_range()
    }

    /// Returns the smallest node with these bytes of the text.
    pub(super) fn leaf_at(&self, range: Range<usize>) -> Option<Node<'_>> {
        self.0.root_node().descendant_for_byte_range(range.start, range.end)
    }

    /// Whether these bytes are all of a string that names something of the code: an entry of
    /// `__all__`, the list of public names in Python, or a type that is written as a string.
    pub(super) fn is_quoted_code(&self, range: Range<usize>, text: &str) -> bool {
        let Some(node) = self.leaf_at(range.clone()) else { return false };
        let around = || std::iter::successors(Some(node), Node::parent);
        let Some(string) = around().find(|node| node.kind() == "string") else { return false };
        let is_whole = text[string.byte_range()].trim_matches(['"', '\'']) == &text[range];
        let is_list = |node: Node| {
            node.kind().contains("assignment")
                && node
                    .child_by_field_name("left")
                    .is_some_and(|left| &text[left.byte_range()] == "__all__")
        };
        (is_whole && around().any(is_list))
            || around().any(|node| node.kind() == "type" && node.child(0).is_some())
    }

    /// Returns the first and last line of the import around a node, else those of the node itself.
    pub(super) fn statement(node: Node) -> (u32, u32) {
        let node = statement(node);
        let line = |row: usize| u32::try_from(row + 1).unwrap_or(u32::MAX);
        (line(node.start_position().row), line(node.end_position().row))
    }

    /// Returns what the byte `column` (from 0 on) of line `line` (from 1 on) is part of.
    #[must_use]
    pub fn kind(&self, line: u32, column: usize) -> PlaceKind {
        let at = Point::new((line as usize).saturating_sub(1), column);
        let root = self.0.root_node();
        let innermost = root.descendant_for_point_range(at, at);
        let around = || std::iter::successors(innermost, Node::parent);
        let mut kinds = around().filter_map(|node| kind_of(node.kind()));
        let innermost = kinds.next().unwrap_or(PlaceKind::Code);
        // The path of an import is a string.
        match innermost {
            PlaceKind::Text if kinds.any(|kind| kind == PlaceKind::Import) => PlaceKind::Import,
            kind => kind,
        }
    }
}

/// Returns the import statement around a node, else the node itself.
pub(super) fn statement(node: Node) -> Node {
    let all = std::iter::successors(Some(node), Node::parent);
    all.filter(|node| kind_of(node.kind()) == Some(PlaceKind::Import)).last().unwrap_or(node)
}

/// Returns what a node says about everything in it, by the words that the grammars use.
pub(super) fn kind_of(node: &str) -> Option<PlaceKind> {
    let has = |words: &[&str]| words.iter().any(|word| node.contains(word));
    if has(&["interpolation", "substitution", "embedded"])
        || matches!(node, "interpolated_expression" | "interpolated_identifier")
    {
        Some(PlaceKind::Code)
    } else if has(&["comment"]) {
        Some(PlaceKind::Comment)
    } else if has(&["import", "include", "package_clause", "package_declaration", "package_header"])
        || matches!(node, "use_declaration" | "using_directive" | "namespace_use_declaration")
    {
        Some(PlaceKind::Import)
    } else if has(&["string", "heredoc"]) || matches!(node, "char_literal" | "regex") {
        Some(PlaceKind::Text)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::languages::{LanguageKind, detect};

    #[test]
    fn names_in_code_are_told_from_those_in_comments_strings_and_imports() {
        for (path, text) in [
            (
                "a.py",
                "from m import pump  # import\n# pump, comment\nx = 'pump'  # text\npump()  # code\ny = f'{pump()}'  # code\n",
            ),
            (
                "a.rs",
                "use m::pump; // import\n/// pump, comment\nfn f() {\n    g(\"pump\"); // text\n    pump(); // code\n    vec![pump()]; // code\n}\n",
            ),
            (
                "a.ts",
                "import { pump } from './m' // import\nconst a = `pump` // text\nconst b = `${pump()}` // code\n/* pump, comment */\npump() // code\n",
            ),
            (
                "a.rb",
                "# pump, comment\nputs \"pump\" # text\nputs \"#{pump}\" # code\nbefore :pump # code\nx = pump # code\n",
            ),
            (
                "a.go",
                "package a\nimport \"pump\" // import\n// pump, comment\nfunc f() {\n\tg(\"pump\") // text\n\tpump() // code\n}\n",
            ),
            (
                "a.c",
                "#include \"pump.h\" // import\n// pump, comment\nvoid f(void) {\n  g(\"pump\"); // text\n  x = &pump; // code\n}\n",
            ),
            (
                "A.java",
                "import a.pump; // import\n/** pump, comment */\nclass A {\n  String s = \"pump\"; // text\n  int x = pump(); // code\n}\n",
            ),
        ] {
            let LanguageKind::Code(grammar) = &detect(path, text).kind else { panic!("{path}") };
            let places = Places::new(grammar, text).unwrap();
            for (number, line) in (1..).zip(text.lines()) {
                let Some(column) = line.find("pump") else { continue };
                let kind = format!("{:?}", places.kind(number, column)).to_lowercase();
                assert!(line.contains(&kind), "{path}: {line:?} is {kind}");
            }
        }
    }
}
