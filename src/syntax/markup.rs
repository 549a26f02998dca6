//! Cuts the text of a document into sections under their heading path, and finds the lines at which
//! a long section may be cut.
//!
//! Markdown is parsed by `pulldown-cmark`; `reStructuredText`, `AsciiDoc` and plain text are read
//! by their heading lines.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::languages::Markup;

/// The part of a document between two headings. The sections of a document cover all its lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// Headings from the outermost to this section's own; empty before the first heading.
    pub headings: Vec<String>,
    /// 1-based, inclusive.
    pub start_line: u32,
    pub end_line: u32,
    /// Lines (1-based) at which a block begins that may start a new chunk, so not inside a fence, a
    /// table or a paragraph.
    pub breaks: Vec<u32>,
}

/// Cuts a document into sections.
#[must_use]
pub fn sections(markup: Markup, text: &str) -> Vec<Section> {
    let marks = match markup {
        Markup::Markdown => markdown(text),
        Markup::ReStructuredText => by_lines(text, rst_heading),
        Markup::AsciiDoc => by_lines(text, asciidoc_heading),
        Markup::Plain => by_lines(text, |_, _| None),
    };
    assemble(&marks, text)
}

enum Mark {
    /// A heading that starts on this line (0-based).
    Heading { line: usize, level: usize, title: String },
    /// A block that starts on this line (0-based).
    Block { line: usize },
}

fn assemble(marks: &[Mark], text: &str) -> Vec<Section> {
    let n_lines = text.lines().count();
    let as_line = |l: usize| u32::try_from(l).unwrap_or(u32::MAX);
    let mut path: Vec<(usize, String)> = Vec::new();
    let mut out: Vec<Section> = Vec::new();
    let mut current =
        Section { headings: Vec::new(), start_line: 1, end_line: 0, breaks: Vec::new() };
    for mark in marks {
        match mark {
            Mark::Block { line } => current.breaks.push(as_line(line + 1)),
            Mark::Heading { line, level, title } => {
                current.end_line = as_line(*line);
                let next = Section {
                    headings: Vec::new(),
                    start_line: as_line(line + 1),
                    end_line: 0,
                    breaks: Vec::new(),
                };
                let done = std::mem::replace(&mut current, next);
                if done.end_line >= done.start_line {
                    out.push(done);
                }
                while path.last().is_some_and(|(l, _)| l >= level) {
                    path.pop();
                }
                path.push((*level, title.clone()));
                current.headings = path.iter().map(|(_, t)| t.clone()).collect();
            }
        }
    }
    current.end_line = as_line(n_lines);
    if current.end_line >= current.start_line {
        out.push(current);
    }
    out
}

fn markdown(text: &str) -> Vec<Mark> {
    let starts: Vec<usize> = std::iter::once(0)
        .chain(memchr::memchr_iter(b'\n', text.as_bytes()).map(|i| i + 1))
        .collect();
    let line_of = |byte: usize| starts.partition_point(|s| *s <= byte) - 1;
    let mut marks = Vec::new();
    let mut heading: Option<(usize, usize, String)> = None;
    let mut nesting = 0usize;
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS
        | Options::ENABLE_FOOTNOTES;
    for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
        match event {
            Event::Start(Tag::Heading { level, .. }) if nesting == 0 => {
                heading = Some((line_of(range.start), level as usize, String::new()));
            }
            Event::End(TagEnd::Heading(_)) => {
                if let Some((line, level, title)) = heading.take() {
                    marks.push(Mark::Heading { line, level, title: title.trim().to_string() });
                }
            }
            Event::Text(t) | Event::Code(t) if heading.is_some() => {
                if let Some((_, _, title)) = &mut heading {
                    title.push_str(&t);
                }
            }
            Event::Start(tag) if heading.is_none() => {
                // A long list may be cut between its items; all other blocks only at their start.
                if nesting == 0 || (nesting == 1 && matches!(tag, Tag::Item)) {
                    marks.push(Mark::Block { line: line_of(range.start) });
                }
                if is_block(&tag) {
                    nesting += 1;
                }
            }
            Event::End(tag) if heading.is_none() && is_block_end(tag) => {
                nesting = nesting.saturating_sub(1);
            }
            Event::Html(_) | Event::Rule if nesting == 0 => {
                marks.push(Mark::Block { line: line_of(range.start) });
            }
            _ => {}
        }
    }
    marks
}

fn is_block(tag: &Tag) -> bool {
    is_block_end(tag.to_end())
}

fn is_block_end(tag: TagEnd) -> bool {
    !matches!(
        tag,
        TagEnd::Emphasis
            | TagEnd::Strong
            | TagEnd::Strikethrough
            | TagEnd::Link
            | TagEnd::Image
            | TagEnd::Heading(_)
    )
}

/// Finds headings with `heading(lines, i)`, which returns level, title and number of lines.
/// A block begins after a blank line, at a line without indentation; an indented block
/// belongs to the one above.
fn by_lines(
    text: &str,
    mut heading: impl FnMut(&[&str], usize) -> Option<(usize, String, usize)>,
) -> Vec<Mark> {
    let lines: Vec<&str> = text.lines().collect();
    let mut marks = Vec::new();
    let mut i = 0;
    while i < lines.len() {
        if let Some((level, title, taken)) = heading(&lines, i) {
            marks.push(Mark::Heading { line: i, level, title });
            i += taken.max(1);
            continue;
        }
        let blank_before = i == 0 || lines[i - 1].trim().is_empty();
        if blank_before && !lines[i].trim().is_empty() && !lines[i].starts_with([' ', '\t']) {
            marks.push(Mark::Block { line: i });
        }
        i += 1;
    }
    marks
}

/// Finds a title above (or between two lines of) one repeated punctuation character. The line must
/// be at least as long as the title.
fn rst_heading(lines: &[&str], i: usize) -> Option<(usize, String, usize)> {
    let rule = |l: &str| {
        let l = l.trim_end();
        let c = l.chars().next()?;
        (l.len() >= 3 && c.is_ascii_punctuation() && l.chars().all(|x| x == c))
            .then_some((c, l.chars().count()))
    };
    // In reStructuredText the order of appearance decides the level. This fixed order is the one
    // that almost all documents use.
    let level =
        |c: char, over: bool| "#*=-~^\"'`+.:_<>".find(c).unwrap_or(15) * 2 + usize::from(!over);
    let title_at =
        |k: usize| lines.get(k).map(|l| l.trim()).filter(|t| !t.is_empty() && rule(t).is_none());
    if let Some((c, n)) = rule(lines[i])
        && let Some(title) = title_at(i + 1)
        && lines.get(i + 2).and_then(|l| rule(l)).is_some_and(|(c2, _)| c2 == c)
        && n >= title.chars().count()
    {
        return Some((level(c, true), title.to_string(), 3));
    }
    let title = title_at(i)?;
    if lines[i].starts_with([' ', '\t']) {
        return None;
    }
    let (c, n) = lines.get(i + 1).and_then(|l| rule(l))?;
    (n >= title.chars().count()).then(|| (level(c, false), title.to_string(), 2))
}

/// Finds a heading like `== Title`, with one `=` for each level.
fn asciidoc_heading(lines: &[&str], i: usize) -> Option<(usize, String, usize)> {
    let rest = lines[i].trim_start_matches('=');
    let level = lines[i].len() - rest.len();
    let title = rest.strip_prefix(' ')?.trim();
    ((1..=6).contains(&level) && !title.is_empty()).then(|| (level, title.to_string(), 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(markup: Markup, text: &str) -> Vec<(String, u32, u32)> {
        sections(markup, text)
            .into_iter()
            .map(|s| (s.headings.join(" > "), s.start_line, s.end_line))
            .collect()
    }

    fn row(h: &str, a: u32, b: u32) -> (String, u32, u32) {
        (h.to_string(), a, b)
    }

    #[test]
    fn markdown_headings_nest_and_fences_hide_them() {
        let text =
            "intro\n\n# A\ntext\n## B\n```sh\n# not a heading\n```\nSetext\n------\nx\n# C\n";
        assert_eq!(
            show(Markup::Markdown, text),
            [
                row("", 1, 2),
                row("A", 3, 4),
                row("A > B", 5, 8),
                row("A > Setext", 9, 11),
                row("C", 12, 12)
            ]
        );
    }

    #[test]
    fn a_fence_or_a_table_is_never_cut() {
        let text = "# A\npara\n\n```\nx\n\ny\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nend\n";
        let breaks = &sections(Markup::Markdown, text)[0].breaks;
        assert_eq!(breaks, &[2, 4, 10, 14]);
    }

    #[test]
    fn rst_over_and_underlines() {
        let text = "=====\nTitle\n=====\n\ntext\n\nUsage\n-----\nmore\n\n::\n\n  code\n\n  code\n";
        assert_eq!(
            show(Markup::ReStructuredText, text),
            [row("Title", 1, 6), row("Title > Usage", 7, 15)]
        );
    }

    #[test]
    fn asciidoc_levels() {
        assert_eq!(
            show(Markup::AsciiDoc, "= Doc\n\n== One\nx\n== Two\ny\n"),
            [row("Doc", 1, 2), row("Doc > One", 3, 4), row("Doc > Two", 5, 6)]
        );
    }

    #[test]
    fn sections_cover_every_line() {
        for text in ["", "\n", "a", "# a", "\n\n# a\n\n", "a\n# b\n# c\nd"] {
            for markup in
                [Markup::Markdown, Markup::ReStructuredText, Markup::AsciiDoc, Markup::Plain]
            {
                let mut next = 1;
                for s in sections(markup, text) {
                    assert_eq!(s.start_line, next, "{text:?} {markup:?}");
                    next = s.end_line + 1;
                }
                assert_eq!(next as usize, text.lines().count() + 1, "{text:?} {markup:?}");
            }
        }
    }
}
