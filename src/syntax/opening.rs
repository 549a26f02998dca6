//! Finds what a file says about itself at its beginning.

use pulldown_cmark::{Event, Parser, Tag, TagEnd};

use super::place::{PlaceKind, Places};
use crate::languages::{Grammar, Markup};

/// Number of lines in which a comment is searched.
const MAX_LINES: usize = 80;
/// Least number of letters in a paragraph that describes something.
const LEAST_LETTERS: usize = 20;

/// Returns the comment or documentation string that a program text opens with, without its marks,
/// but no licence. At most about `max_bytes` long.
#[must_use]
pub fn leading_comment(text: &str, max_bytes: usize) -> String {
    const MARKERS: [&str; 10] = ["//", "/*", "*", "#", "--", "{-", ";", "%", "\"\"\"", "'''"];
    let mut block = String::new();
    let mut in_string = false;
    for line in text.lines().take(MAX_LINES) {
        let t = line.trim();
        let quotes = t.matches("\"\"\"").count() + t.matches("'''").count();
        let comment = in_string || MARKERS.iter().any(|m| t.starts_with(m));
        if quotes % 2 == 1 {
            in_string = !in_string;
        }
        if t.is_empty() || !comment {
            if !block.is_empty() && !is_licence(&block) {
                break;
            }
            block.clear();
            if !t.is_empty() && !comment {
                break;
            }
            continue;
        }
        if ["#!", "#include", "#[", "#pragma", "#define", "#if"].iter().any(|m| t.starts_with(m)) {
            continue;
        }
        block.push_str(
            t.trim_start_matches(['/', '*', '#', '-', '{', ';', '%', '"', '\'', '!', '|', ' ']),
        );
        block.push('\n');
        if block.len() > max_bytes {
            break;
        }
    }
    if is_licence(&block) { String::new() } else { block.trim().to_string() }
}

fn is_licence(comment: &str) -> bool {
    let c = comment.to_lowercase();
    ["copyright", "license", "licence", "spdx", "warranty"].iter().any(|w| c.contains(w))
}

/// Least number of lines of a preamble.
const LEAST_PREAMBLE: u32 = 3;
/// A comment of more lines between two imports is not part of a block of imports.
const MAX_COMMENT: usize = 2;
/// A comment with one of these is a licence, and does not only speak of one.
const LICENCE: [&str; 7] = [
    "copyright", "spdx-license", "licensed under", "licensed to", "all rights reserved",
    "permission is hereby granted", "redistribution and use",
];

/// Lines at the beginning of a program text that do not say what it does: a licence, imports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Preamble {
    /// First line, 1-based.
    pub first: u32,
    /// Last line, inclusive.
    pub last: u32,
    /// `licence`, `imports`, or `licence and imports`.
    pub what: &'static str,
}

/// Returns the licences and the blocks of imports before the line `end` of a program text, in order,
/// with the blank lines after each.
#[must_use]
pub fn preambles(grammar: &Grammar, text: &str, end: u32) -> Vec<Preamble> {
    let Some(places) = Places::new(grammar, text) else { return Vec::new() };
    // A blank line inside a comment or an import is part of it.
    let kind = |number: u32, line: &str| {
        let column = line.len() - line.trim_start().len();
        match places.kind(number, column) {
            PlaceKind::Code | PlaceKind::Text if line.trim().is_empty() => None,
            kind => Some(kind),
        }
    };
    let lines: Vec<(u32, &str, Option<PlaceKind>)> = (1..end)
        .zip(text.lines())
        .map(|(number, line)| (number, line, kind(number, line)))
        .collect();
    let mut found: Vec<Preamble> = Vec::new();
    let mut rest = &lines[..];
    while let Some((number, _, kind)) = rest.first() {
        let n_lines = match kind {
            Some(PlaceKind::Import) => n_imports(rest),
            _ => rest.iter().take_while(|(_, _, other)| other == kind).count(),
        };
        let (run, after) = rest.split_at(n_lines);
        let what = match kind {
            Some(PlaceKind::Import) => Some("imports"),
            Some(PlaceKind::Comment) if is_notice(run) => Some("licence"),
            _ => None,
        };
        let n_blank = after.iter().take_while(|(_, _, kind)| kind.is_none()).count();
        let last = number + u32::try_from(n_lines + n_blank).unwrap_or(u32::MAX) - 1;
        match (what, found.last_mut()) {
            (Some(what), Some(before)) if before.last + 1 == *number => {
                before.last = last;
                if before.what != what {
                    before.what = "licence and imports";
                }
            }
            (Some(what), _) => found.push(Preamble { first: *number, last, what }),
            (None, _) => {}
        }
        rest = &after[n_blank..];
    }
    found.retain(|part| part.last - part.first + 1 >= LEAST_PREAMBLE);
    found
}

/// Returns the number of lines of the block of imports at the beginning of some lines.
fn n_imports(lines: &[(u32, &str, Option<PlaceKind>)]) -> usize {
    let (mut n_lines, mut n_comment) = (0, 0);
    for (at, (_, _, kind)) in lines.iter().enumerate() {
        match kind {
            Some(PlaceKind::Import) => (n_lines, n_comment) = (at + 1, 0),
            Some(PlaceKind::Comment) if n_comment < MAX_COMMENT => n_comment += 1,
            None => {}
            Some(_) => break,
        }
    }
    n_lines
}

/// Whether a comment is the notice of a licence.
fn is_notice(comment: &[(u32, &str, Option<PlaceKind>)]) -> bool {
    comment.iter().any(|(_, line, _)| {
        let line = line.to_lowercase();
        LICENCE.iter().any(|words| line.contains(words))
    })
}

/// Returns the paragraphs of prose in a document, each in one line. Badges, tables of contents and
/// pictures are not prose.
#[must_use]
pub fn paragraphs(markup: Markup, text: &str) -> Vec<String> {
    let mut paragraphs = match markup {
        Markup::Markdown => markdown_paragraphs(text),
        _ => plain_paragraphs(text),
    };
    paragraphs.retain(|p| is_prose(p));
    paragraphs
}

/// Whether a text says what something is, rather than what to do.
#[must_use]
pub fn is_description(text: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().take(25).collect();
    let is_article = |word: &str| matches!(word, "a" | "an" | "the" | "one");
    let says = words.windows(2).any(|two| {
        matches!(two[0], "is" | "are") && is_article(two[1]) || matches!(two[0], "provides")
    });
    says || words.first().is_some_and(|first| matches!(*first, "A" | "An"))
}

fn is_prose(paragraph: &str) -> bool {
    paragraph.chars().filter(|c| c.is_alphabetic()).count() >= LEAST_LETTERS
        && paragraph.split_whitespace().count() >= 5
}

/// Returns the paragraphs outside of lists, quotes and tables. A paragraph that consists mostly of
/// links is left out.
fn markdown_paragraphs(text: &str) -> Vec<String> {
    let (mut out, mut current) = (Vec::new(), None::<String>);
    let (mut links, mut images, mut inside, mut n_linked) = (0, 0, 0, 0);
    for event in Parser::new(text) {
        match event {
            Event::Start(Tag::List(_) | Tag::BlockQuote(_) | Tag::Table(_)) => inside += 1,
            Event::End(TagEnd::List(_) | TagEnd::BlockQuote(_) | TagEnd::Table) => inside -= 1,
            Event::Start(Tag::Paragraph) if inside == 0 => {
                (current, n_linked) = (Some(String::new()), 0);
            }
            Event::End(TagEnd::Paragraph) => {
                let paragraph = current.take().map(|p| one_line(&p)).unwrap_or_default();
                if n_linked * 2 <= paragraph.len() {
                    out.push(paragraph);
                }
            }
            Event::Start(Tag::Link { .. }) => links += 1,
            Event::End(TagEnd::Link) => links -= 1,
            Event::Start(Tag::Image { .. }) => images += 1,
            Event::End(TagEnd::Image) => images -= 1,
            Event::Text(t) | Event::Code(t) if images == 0 => {
                if links > 0 {
                    n_linked += t.len();
                }
                if let Some(paragraph) = &mut current {
                    paragraph.push_str(&t);
                }
            }
            Event::SoftBreak | Event::HardBreak => {
                if let Some(paragraph) = &mut current {
                    paragraph.push(' ');
                }
            }
            _ => {}
        }
    }
    out
}

/// Returns the paragraphs of a document whose headings are lines, without its directives.
fn plain_paragraphs(text: &str) -> Vec<String> {
    let is_mark = |line: &str| {
        let t = line.trim();
        let is_rule = t.len() > 2 && !t.chars().any(char::is_alphanumeric);
        let starts = ["..", ":", "=", "|", "image:", "include:", "[", "//", "*", "-"];
        is_rule || starts.iter().any(|s| t.starts_with(s)) || line.starts_with([' ', '\t'])
    };
    let text = text.replace("\r\n", "\n");
    let blocks = text.split("\n\n");
    let prose = blocks.filter(|block| !block.trim_matches('\n').lines().any(is_mark));
    prose.map(one_line).collect()
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_are_prose() {
        let readme = "# Thing\n\n[![CI](a)](b) [![docs](c)](d)\n\n<p align=\"center\">\n<img src=x>\n</p>\n\n\
                      [Guide](g) | [Reference of everything](r) | [More and more](m)\n\n\
                      > A note about something that nobody reads at all here.\n\n\
                      A *thing* that finds\n`other` things, [quickly](q).\n\nMore.\n";
        assert_eq!(
            paragraphs(Markup::Markdown, readme),
            ["A thing that finds other things, quickly."]
        );
        let rst = "=====\nThing\n=====\n\n.. image:: x.png\n   :alt: badge\n\nA thing that finds other\nthings in very many places.\n";
        assert_eq!(
            paragraphs(Markup::ReStructuredText, rst),
            ["A thing that finds other things in very many places."]
        );
        assert!(paragraphs(Markup::Markdown, "# Title\n\nshort\n").is_empty());
    }

    #[test]
    fn a_description_says_what_something_is() {
        assert!(is_description("Flask is a lightweight WSGI framework."));
        assert!(is_description("A syntax-highlighting pager for git"));
        assert!(!is_description("Install it and add this to your settings:"));
        assert!(!is_description("Install it (the package is called so in most package managers)"));
    }

    #[test]
    fn licences_and_imports_are_told_from_what_a_file_says_of_itself() {
        let parts = |path: &str, text: &str, end: u32| -> Vec<(u32, u32, &'static str)> {
            let language = crate::languages::detect(path, text);
            let crate::languages::LanguageKind::Code(grammar) = &language.kind else {
                panic!("{path} is no program")
            };
            let parts = preambles(grammar, text, end).into_iter();
            parts.map(|part| (part.first, part.last, part.what)).collect()
        };
        let rust = "// Copyright 2020 by us.\n// Do as you like.\n\n//! Finds things, with a licence.\n\nuse a::{\n    b,\n};\n// Ours.\nuse c;\n\npub fn f() {}\n";
        assert_eq!(parts("a.rs", rust, 12), [(1, 3, "licence"), (6, 11, "imports")]);
        let python = "# SPDX-License-Identifier: MIT\nimport os\nfrom a import (\n    b,\n)\n\n\ndef f():\n    pass\n";
        assert_eq!(parts("a.py", python, 8), [(1, 7, "licence and imports")]);
        let go = "/*\nCopyright us.\n\nAll rights reserved.\n*/\n\npackage a\n\nimport (\n\t\"fmt\"\n)\n\nfunc f() {}\n";
        assert_eq!(parts("a.go", go, 13), [(1, 12, "licence and imports")]);
        let script = "import a from 'a';\nimport b from 'b';\n\nstart();\nimport c from 'c';\nimport d from 'd';\nimport e from 'e';\nf();\n";
        assert_eq!(parts("a.js", script, 9), [(1, 3, "imports"), (5, 7, "imports")]);
        let c = "#include <a.h>\n#include <b.h>\n/* A long\n   story\n   of it. */\n#include <c.h>\nint x;\n";
        assert!(parts("a.c", c, 7).is_empty(), "a block has three lines or more");
        assert!(parts("a.rs", "use a;\nuse b;\n\nfn f() {}\n", 1).is_empty());
    }

    #[test]
    fn a_leading_comment_is_no_licence() {
        let python = "#!/usr/bin/env python\n# Copyright 2020 by us.\n\n\"\"\"Finds things.\n\nSlowly.\n\"\"\"\nimport x\n";
        assert_eq!(leading_comment(python, 500), "Finds things.");
        assert_eq!(leading_comment("//! Finds things.\nuse x;\n", 500), "Finds things.");
        assert_eq!(leading_comment("fn main() {}\n// later\n", 500), "");
    }
}
