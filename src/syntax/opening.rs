//! Finds what a file says about itself at its beginning.

use pulldown_cmark::{Event, Parser, Tag, TagEnd};

use super::place::{PlaceKind, Places};
use crate::languages::{Grammar, Markup};

/// Number of lines in which a comment is searched.
const MAX_LINES: usize = 80;
/// Least number of letters in a paragraph that describes something.
const LEAST_LETTERS: usize = 12;

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

/// A paragraph of prose, in one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paragraph {
    pub text: String,
    /// Whether it is in the section that a document opens with, or in one that introduces.
    pub is_opening: bool,
}

/// Returns the paragraphs of prose in a document. Badges, tables of contents and pictures are not
/// prose.
#[must_use]
pub fn paragraphs(markup: Markup, text: &str) -> Vec<Paragraph> {
    match markup {
        Markup::Markdown => markdown_paragraphs(text),
        _ => plain_paragraphs(text),
    }
}

/// The paragraphs that were read, and the section in which the next one is.
#[derive(Default)]
struct Prose {
    paragraphs: Vec<Paragraph>,
    is_introduction: bool,
    is_later: bool,
}

impl Prose {
    /// A heading before any prose is a title or a table of contents.
    fn heading(&mut self, text: &str) {
        const INTRODUCTIONS: [&str; 6] =
            ["about", "introduction", "overview", "summary", "description", "what is"];
        let text = text.trim().to_lowercase();
        self.is_introduction = INTRODUCTIONS.iter().any(|word| text.starts_with(word));
        self.is_later |= !self.paragraphs.is_empty();
    }

    fn push(&mut self, text: &str) {
        let text = one_line(text);
        if is_prose(&text) {
            let is_opening = !self.is_later || self.is_introduction;
            self.paragraphs.push(Paragraph { text, is_opening });
        }
    }
}

/// Whether a text says what something is, rather than what to do.
#[must_use]
pub fn is_description(text: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().take(25).collect();
    let is_article = |word: &str| matches!(word, "a" | "an" | "the" | "one");
    // `Here is a video` shows something.
    let shows = |word: &str| matches!(&*word.to_lowercase(), "here" | "there" | "below" | "above");
    let says = words.windows(2).enumerate().any(|(at, two)| {
        let is_shown = at.checked_sub(1).is_some_and(|before| shows(words[before]));
        matches!(two[0], "is" | "are") && is_article(two[1]) && !is_shown
            || matches!(two[0], "provides")
    });
    says || words.first().is_some_and(|first| matches!(*first, "A" | "An"))
}

fn is_prose(paragraph: &str) -> bool {
    paragraph.chars().filter(|c| c.is_alphabetic()).count() >= LEAST_LETTERS
        && paragraph.split_whitespace().count() >= 5
}

/// Returns the paragraphs outside of lists, quotes and tables. A paragraph that consists mostly of
/// links is left out.
fn markdown_paragraphs(text: &str) -> Vec<Paragraph> {
    let (mut out, mut current) = (Prose::default(), None::<String>);
    let (mut links, mut images, mut inside, mut n_linked) = (0, 0, 0, 0);
    let mut html = String::new();
    for event in Parser::new(text) {
        match event {
            Event::Start(Tag::List(_) | Tag::BlockQuote(_) | Tag::Table(_)) => inside += 1,
            Event::End(TagEnd::List(_) | TagEnd::BlockQuote(_) | TagEnd::Table) => inside -= 1,
            Event::Start(Tag::Paragraph) if inside == 0 => {
                (current, n_linked) = (Some(String::new()), 0);
            }
            Event::End(TagEnd::Paragraph) => {
                let paragraph = current.take().unwrap_or_default();
                if n_linked * 2 <= paragraph.len() {
                    out.push(&paragraph);
                }
            }
            Event::Start(Tag::Heading { .. }) => current = Some(String::new()),
            Event::End(TagEnd::Heading(_)) => out.heading(&current.take().unwrap_or_default()),
            Event::Html(part) if inside == 0 => html.push_str(&part),
            Event::End(TagEnd::HtmlBlock) => out.html(&std::mem::take(&mut html)),
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
    out.paragraphs
}

impl Prose {
    /// Adds the text of a block of HTML, such as a centred paragraph, without its links.
    fn html(&mut self, block: &str) {
        let (mut text, mut heading, mut links) = (String::new(), None::<String>, 0_usize);
        for part in block.split('<').skip(1) {
            let (tag, after) = part.split_once('>').unwrap_or((part, ""));
            let tag = tag.to_lowercase();
            match tag.split_whitespace().next().unwrap_or_default() {
                "a" => links += 1,
                "/a" => links = links.saturating_sub(1),
                "h1" | "h2" | "h3" | "h4" => heading = Some(String::new()),
                "/h1" | "/h2" | "/h3" | "/h4" => {
                    self.heading(&heading.take().unwrap_or_default());
                }
                "p" | "/p" | "div" | "/div" | "td" | "/td" | "li" => {
                    self.push(&std::mem::take(&mut text));
                }
                _ => {}
            }
            match &mut heading {
                Some(heading) => heading.push_str(after),
                None if links == 0 => text.push_str(after),
                None => {}
            }
        }
        self.push(&text);
    }
}

/// Returns the paragraphs of a document whose headings are lines, without its directives.
fn plain_paragraphs(text: &str) -> Vec<Paragraph> {
    let is_rule =
        |line: &str| line.trim().len() > 2 && !line.trim().chars().any(char::is_alphanumeric);
    let is_mark = |line: &str| {
        let t = line.trim();
        let starts = ["..", ":", "=", "|", "image:", "include:", "[", "//", "*", "-"];
        is_rule(line) || starts.iter().any(|s| t.starts_with(s)) || line.starts_with([' ', '\t'])
    };
    let mut out = Prose::default();
    let text = text.replace("\r\n", "\n");
    for block in text.split("\n\n").map(|block| block.trim_matches('\n')) {
        let is_heading = block.starts_with('=') || block.lines().take(3).skip(1).any(is_rule);
        if is_heading {
            let mut words = block.lines().map(|line| line.trim_matches(['=', ' ']));
            out.heading(words.find(|line| !line.is_empty()).unwrap_or_default());
        } else if !block.lines().any(is_mark) {
            out.push(block);
        }
    }
    out.paragraphs
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
        let texts = |markup: Markup, text: &str| -> Vec<String> {
            paragraphs(markup, text).into_iter().map(|paragraph| paragraph.text).collect()
        };
        assert_eq!(texts(Markup::Markdown, readme), ["A thing that finds other things, quickly."]);
        let rst = "=====\nThing\n=====\n\n.. image:: x.png\n   :alt: badge\n\nA thing that finds other\nthings in very many places.\n";
        assert_eq!(
            texts(Markup::ReStructuredText, rst),
            ["A thing that finds other things in very many places."]
        );
        assert!(paragraphs(Markup::Markdown, "# Title\n\nshort\n").is_empty());
    }

    #[test]
    fn the_opening_is_what_comes_before_the_second_section() {
        let openings = |text: &str| -> Vec<String> {
            let opening = |paragraph: Paragraph| paragraph.is_opening.then_some(paragraph.text);
            paragraphs(Markup::Markdown, text).into_iter().filter_map(opening).collect()
        };
        let readme = "> A sponsor pays for all of this here.\n\n# Shell\n\nA new type of shell.\n\n\
                      ## Learning\n\nThe book is the source of all that.\n\n\
                      ## About us\n\nWe are a band of four old friends.\n";
        assert_eq!(
            openings(readme),
            ["A new type of shell.", "We are a band of four old friends."]
        );
        let centred = "<p align=\"center\">\n  <a href=\"x\"><img src=y>the words of a link here</a>\n</p>\n\n\
                       <p align=\"center\">\n  The compiler for writing next scripts.\n</p>\n\n\
                       <h2>Supporters</h2>\n\n<p>They give us some money each month.</p>\n";
        assert_eq!(openings(centred), ["The compiler for writing next scripts."]);
    }

    #[test]
    fn a_description_says_what_something_is() {
        assert!(is_description("Flask is a lightweight WSGI framework."));
        assert!(is_description("A syntax-highlighting pager for git"));
        assert!(!is_description("As an example, here is a video of it:"));
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
