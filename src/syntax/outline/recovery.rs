//! Finds what a syntax error hides.
//!
//! After an error, some parsers take the rest of the file for one broken definition, or for a list of
//! words. So the lines of the broken definition, as their indentation shows them, are blanked, and
//! the text is parsed again. If that defines more names than it loses, the result counts, and the
//! definitions and uses of the blanked lines come from the tree before. Every position stays the same.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use tree_sitter::{Node, Point, Tree};

use super::definition::row_line;

/// Most blanked parts of a file.
const MAX_BROKEN: usize = 16;
/// The search ends after so many parts in a row that hide nothing.
const MAX_FAILED: usize = 3;
/// Largest text, in bytes. The parts of a larger one would take long, and it is rarely written by hand.
const MAX_BYTES: usize = 256 << 10;
/// Deeper nodes are not looked at.
const MAX_DEPTH: usize = 400;
/// Most line ranges that [`Parsed::unparsed`] returns.
const MAX_UNPARSED: usize = 100;

/// The syntax trees of a text.
pub(in super::super) struct Parsed {
    /// The tree of the text in which the broken parts are blank.
    pub(in super::super) tree: Tree,
    /// The parts that hid others, in the order in which they were found.
    pub(in super::super) broken: Vec<Broken>,
}

/// A part of a text that hid definitions after it.
pub(in super::super) struct Broken {
    /// Its place in bytes; whole lines.
    pub(in super::super) bytes: Range<usize>,
    /// Its last line that is not blank.
    pub(in super::super) last_line: u32,
    first_line: u32,
    /// The tree in which this part is not blank yet.
    pub(in super::super) tree: Tree,
}

impl Parsed {
    /// Parses a text again without the parts that hide definitions. `tree` is the tree of the text.
    /// `parse` parses another text, and `names_in` returns where the names of the definitions of a tree
    /// begin; both return nothing if the work would be too much.
    pub(super) fn recovered(
        text: &str,
        tree: Tree,
        parse: impl Fn(&str) -> Option<Tree>,
        names_in: impl Fn(&Tree, &str) -> Option<HashSet<usize>>,
    ) -> Self {
        let mut parsed = Self { tree, broken: Vec::new() };
        if !parsed.tree.root_node().has_error() || text.len() > MAX_BYTES {
            return parsed;
        }
        let rows = Rows::of(text);
        let mut suspects = rows.suspects(&parsed.tree);
        if suspects.is_empty() {
            return parsed;
        }
        let Some(mut names) = names_in(&parsed.tree, text) else { return parsed };
        let mut text = Cow::Borrowed(text);
        let mut n_failed = 0;
        while let Some(row) = suspects.pop() {
            let Some((bytes, last_row)) = rows.block(row) else { continue };
            let without = blanked(&text, &bytes);
            let Some(tree) = parse(&without) else { break };
            let Some(found) = names_in(&tree, &without) else { break };
            let n_gained = found.difference(&names).count();
            let n_lost = names.difference(&found).filter(|at| !bytes.contains(at)).count();
            if n_gained <= n_lost {
                n_failed += 1;
                if n_failed == MAX_FAILED {
                    break;
                }
                continue;
            }
            parsed.broken.push(Broken {
                bytes,
                first_line: row_line(row),
                last_line: row_line(last_row),
                tree: std::mem::replace(&mut parsed.tree, tree),
            });
            if parsed.broken.len() == MAX_BROKEN {
                break;
            }
            (text, names, n_failed) = (Cow::Owned(without), found, 0);
            suspects = rows.suspects(&parsed.tree);
        }
        parsed
    }

    /// Returns each tree with the part of the text that it is to be read for; `None` is all of it.
    pub(in super::super) fn trees(&self) -> impl Iterator<Item = (&Tree, Option<&Broken>)> {
        let broken = self.broken.iter().map(|part| (&part.tree, Some(part)));
        std::iter::once((&self.tree, None)).chain(broken)
    }

    /// Returns the line ranges that could not be parsed, in order and apart from each other.
    pub(super) fn unparsed(&self, n_lines: u32) -> Vec<(u32, u32)> {
        let mut all: Vec<(u32, u32)> =
            self.broken.iter().map(|part| (part.first_line, part.last_line)).collect();
        errors(&self.tree, |_, error| {
            // A node that ends with a line break ends in the first column of the next row.
            let (start, end) = (error.start_position().row, error.end_position());
            let last = if end.column == 0 { end.row.saturating_sub(1) } else { end.row };
            all.push((row_line(start), row_line(last.max(start))));
            all.len() < MAX_UNPARSED
        });
        all.sort_unstable();
        let mut out: Vec<(u32, u32)> = Vec::new();
        for (first, last) in all {
            let (first, last) = (first.min(n_lines), last.min(n_lines));
            match out.last_mut() {
                Some(before) if first <= before.1 + 1 => before.1 = before.1.max(last),
                _ => out.push((first, last)),
            }
        }
        out
    }
}

/// Replaces a part of a text by blanks, except line breaks.
fn blanked(text: &str, part: &Range<usize>) -> String {
    let blank =
        text[part.clone()].bytes().map(|b| if matches!(b, b'\n' | b'\r') { b } else { b' ' });
    let blank: Vec<u8> = blank.collect();
    // Blanks and line breaks are ASCII.
    let blank = String::from_utf8(blank).unwrap_or_default();
    [&text[..part.start], blank.as_str(), &text[part.end..]].concat()
}

/// Shows each innermost error of a tree with the nodes around it, from the outside in and with the
/// error itself, until `see` returns false.
fn errors<'t>(tree: &'t Tree, mut see: impl FnMut(&[Node<'t>], Node<'t>) -> bool) {
    let mut cursor = tree.walk();
    let mut around: Vec<Node<'t>> = Vec::new();
    loop {
        let node = cursor.node();
        if node.has_error() {
            around.push(node);
            let mut children = node.walk();
            let is_innermost = !node.children(&mut children).any(|child| child.has_error());
            let is_deep = around.len() > MAX_DEPTH;
            if !is_innermost && !is_deep && cursor.goto_first_child() {
                continue;
            }
            if !see(&around, node) {
                return;
            }
            around.pop();
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
            around.pop();
        }
    }
}

/// The lines of a text with their indentation. Rows are lines counted from 0.
struct Rows {
    /// The byte at which each row starts, and the length of the text.
    starts: Vec<usize>,
    /// Bytes of white space before the text of each row; `None` if it is blank.
    indents: Vec<Option<usize>>,
    /// The first row below each one that is not deeper, except brackets that close it; the number of
    /// rows if there is none.
    ends: Vec<usize>,
}

impl Rows {
    fn of(text: &str) -> Self {
        let mut starts = vec![0];
        starts.extend(memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1));
        starts.push(text.len());
        let written: Vec<&str> = text.split('\n').collect();
        let indent = |row: &str| {
            let bare = row.trim_start();
            (!bare.is_empty()).then(|| row.len() - bare.len())
        };
        let indents: Vec<Option<usize>> = written.iter().copied().map(indent).collect();
        let mut ends = vec![written.len(); written.len()];
        // The rows below that may end one above, the nearest last. A row that only closes brackets
        // counts as half a column deeper, so it does not end the block that it closes.
        let mut below: Vec<(usize, usize)> = Vec::new();
        for row in (0..written.len()).rev() {
            let Some(indent) = indents[row] else { continue };
            while below.last().is_some_and(|(_, depth)| *depth > 2 * indent) {
                below.pop();
            }
            ends[row] = below.last().map_or(written.len(), |(row, _)| *row);
            below.push((row, 2 * indent + usize::from(closes(written[row].trim_start()))));
        }
        Self { starts, indents, ends }
    }

    /// Returns the bytes and the last row of the block that a row begins; `None` if it is blank.
    fn block(&self, row: usize) -> Option<(Range<usize>, usize)> {
        self.indents.get(row).copied().flatten()?;
        let last = (row..self.ends[row]).rev().find(|row| self.indents[*row].is_some())?;
        Some((self.starts[row]..self.starts[last + 1], last))
    }

    /// Whether what begins in a row and ends at `end` goes on after the block of the row, and does so
    /// from the row `from` on.
    fn is_overrun(&self, row: usize, end: Point, from: usize) -> bool {
        let Some(next) = self.ends.get(row).copied().filter(|next| *next < self.indents.len())
        else {
            return false;
        };
        let is_reached = next < end.row || next == end.row && self.indents[next] < Some(end.column);
        next >= from && is_reached
    }

    /// Returns the rows that begin something around an error or before it that goes on after its block,
    /// the most likely first: what the parser did not see the end of, and nodes that took what follows.
    fn overruns(&self, around: &[Node], error: Node) -> Vec<usize> {
        let mut out = self.openings(error);
        let from = error.start_position().row;
        // A string may have ended at the quote that begins the next one.
        let before = error.prev_sibling().map(|node| (node, node.start_position().row));
        // A namespace may hold lines that are not indented before an error.
        let outer = around.iter().skip(1).rev().map(|node| (*node, from));
        for (node, from) in before.into_iter().chain(outer) {
            let row = node.start_position().row;
            if self.is_overrun(row, node.end_position(), from) {
                out.push(row);
            }
        }
        out
    }

    /// Returns the rows of the parts of an error that go on after their block, the last first. A
    /// bracket or a quote that nothing closes goes on to the end of the error.
    fn openings(&self, error: Node) -> Vec<usize> {
        let mut cursor = error.walk();
        let parts: Vec<Node> = error.children(&mut cursor).collect();
        let mut n_closed = 0_usize;
        let mut out = Vec::new();
        for part in parts.into_iter().rev() {
            let is_open = match part.kind() {
                "}" | ")" | "]" => {
                    n_closed += 1;
                    false
                }
                "{" | "(" | "[" => {
                    let is_open = n_closed == 0;
                    n_closed = n_closed.saturating_sub(1);
                    is_open
                }
                "\"" | "'" | "`" | "string_start" => true,
                _ => false,
            };
            let (row, whole) = (part.start_position().row, if is_open { error } else { part });
            if self.is_overrun(row, whole.end_position(), row) {
                out.push(row);
            }
        }
        out.truncate(MAX_FAILED);
        out
    }

    /// Returns the rows whose blocks may hide definitions, the most likely last.
    fn suspects(&self, tree: &Tree) -> Vec<usize> {
        let (mut out, mut seen) = (Vec::new(), HashSet::new());
        errors(tree, |around, error| {
            let overruns = self.overruns(around, error);
            if !overruns.is_empty() || around.first().is_some_and(Node::is_error) {
                let all = overruns.into_iter().chain([error.start_position().row]);
                out.extend(all.filter(|row| seen.insert(*row)));
            }
            out.len() < MAX_BROKEN
        });
        out.reverse();
        out
    }
}

/// Whether a row begins with what closes a block that an earlier row of its indentation began.
fn closes(row: &str) -> bool {
    let is_end = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    row.starts_with(['{', '}', ')', ']']) || row.strip_prefix("end").is_some_and(is_end)
}

#[cfg(test)]
mod tests {
    use crate::languages::{detect, grammar};
    use crate::syntax::outline;

    /// Returns the names of a text, each with its lines and below its parent, and the unparsed lines.
    fn outlined(file: &str, text: &str) -> (Vec<String>, Vec<(u32, u32)>) {
        let grammar = grammar(detect(file, text).name).expect("a parsed language");
        let outline = outline(grammar, text).expect("an outline");
        let shown = outline.symbols.iter().map(|s| {
            let parent = s.parent.map_or("", |p| outline.symbols[p].name.as_str());
            format!("{parent}/{} {}-{}", s.name, s.start_line, s.end_line)
        });
        (shown.collect(), outline.unparsed)
    }

    /// A file, its text, symbols that it has, and lines that cannot be parsed.
    type Case<'a> = (&'a str, &'a str, &'a [&'a str], &'a [(u32, u32)]);

    #[test]
    fn what_follows_a_syntax_error_is_found() {
        let cases: &[Case] = &[
            (
                "a.py",
                "def first(): return 1\ndef broken(:\n    return (((\ndef second():\n    return first()\nclass K:\n    def m(self): return second(\ndef last(): return 2\n",
                &["/first 1-1", "/second 4-5", "/K 6-6", "/last 8-8"],
                &[(2, 3), (7, 7)],
            ),
            (
                "a.ts",
                "export function first() { return 1; }\nexport function broken( { return {{ ; }\nexport function second() { return first(); }\nexport function last() { return 3; }\n",
                &["/first 1-1", "/second 3-3", "/last 4-4"],
                &[(2, 2)],
            ),
            (
                "a.cs",
                "class C {\n  int First() { return 1; }\n  int Broken( { return ;\n  int Second() { return First(); }\n}\n",
                &["/C 1-5", "C/First 2-2", "C/Broken 3-3", "C/Second 4-4"],
                &[(3, 3)],
            ),
            (
                "C.java",
                "class C {\n  int first() { return 1; }\n  int broken( { return ;\n  int second() { return first(); }\n  int last() { return second(); }\n}\n",
                &["/C 1-6", "C/first 2-2", "C/broken 3-3", "C/second 4-4", "C/last 5-5"],
                &[(3, 3)],
            ),
            (
                "a.cpp",
                "const char* s = R\"FFFFFFFFFFFFFFFF(raw text)FFFFFFFFFFFFFFFF\";\nint second() { return 1; }\nint last() { return second(); }\n",
                &["/second 2-2", "/last 3-3"],
                &[(1, 1)],
            ),
            (
                "Text.java",
                "class A {\n  int a() { return 1; }\n  String s = \"abc;\n  int b() { return 2; }\n}\nclass B { int c() { return 3; } }\n",
                &["/A 1-5", "A/a 2-2", "A/b 4-4", "/B 6-6", "B/c 6-6"],
                &[(3, 3)],
            ),
            (
                "b.cs",
                "class A {\n  int F() { return 1; }\n  int G() {\n    if (x) {\n      y();\n  }\n  int H() { return 2; }\n}\nclass B { int I() { return 3; } }\n",
                &["/A 1-8", "A/F 2-2", "A/H 7-7", "/B 9-9"],
                &[(3, 6)],
            ),
        ];
        for (file, text, symbols, unparsed) in cases {
            let (found, lines) = outlined(file, text);
            for symbol in *symbols {
                assert!(found.iter().any(|f| f == symbol), "{file}: {symbol} is not in {found:?}");
            }
            assert_eq!(lines, *unparsed, "{file}");
        }
    }

    #[test]
    fn a_text_without_errors_has_no_unparsed_lines() {
        for (file, text) in [
            ("a.py", "def f():\n    return 1\n"),
            ("a.rs", "fn f() {}\n"),
            ("a.ts", "export class A { m() { return 1 } }\n"),
        ] {
            assert!(outlined(file, text).1.is_empty(), "{file}");
        }
    }
}
