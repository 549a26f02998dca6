//! Finds what a file says about itself at its beginning.

use pulldown_cmark::{Event, Parser, Tag, TagEnd};

use crate::languages::Markup;

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
    fn a_leading_comment_is_no_licence() {
        let python = "#!/usr/bin/env python\n# Copyright 2020 by us.\n\n\"\"\"Finds things.\n\nSlowly.\n\"\"\"\nimport x\n";
        assert_eq!(leading_comment(python, 500), "Finds things.");
        assert_eq!(leading_comment("//! Finds things.\nuse x;\n", 500), "Finds things.");
        assert_eq!(leading_comment("fn main() {}\n// later\n", 500), "");
    }
}
