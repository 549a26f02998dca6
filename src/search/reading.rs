//! Reads a long question, such as a pasted problem report: which part of it says what is wanted, and
//! which only shows how it came about. `specs/ranking.md` has the rules, `specs/retrieval.md` the
//! measurements.

use std::sync::LazyLock;

use regex::Regex;

use crate::text::regex;

/// A part of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum QuestionPart {
    /// The first line, or the first sentence of a paragraph.
    Title,
    /// The first paragraph below the title.
    Lead,
    /// Further prose.
    Prose,
    /// Code, output of programs, stack traces.
    Code,
}

/// A paragraph with fewer words is not the lead.
const LEAD_WORDS: usize = 6;
/// A longer first line is a paragraph, and its first sentence is the title.
const TITLE_WORDS: usize = 30;

/// A long question, by parts.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Reading {
    /// The lines that count, in order.
    lines: Vec<(QuestionPart, String)>,
}

impl Reading {
    /// Divides a text. A text of one sentence is a title.
    pub(super) fn of(text: &str) -> Self {
        let without_comments = COMMENT.replace_all(text, "");
        let mut out = Self::default();
        let (mut is_fenced, mut is_skipped, mut is_trace) = (false, false, false);
        let mut paragraph: Vec<&str> = Vec::new();
        let mut has_lead = false;
        let mut end = |paragraph: &mut Vec<&str>, out: &mut Self| {
            let n_words: usize = paragraph.iter().map(|line| line.split_whitespace().count()).sum();
            let part = if !has_lead && n_words >= LEAD_WORDS {
                QuestionPart::Lead
            } else {
                QuestionPart::Prose
            };
            has_lead |= part == QuestionPart::Lead;
            out.lines.extend(paragraph.drain(..).map(|line| (part, line.to_string())));
        };
        for line in without_comments.lines() {
            let trimmed = line.trim();
            if trimmed.starts_with("```") || trimmed.starts_with("~~~") {
                is_fenced = !is_fenced;
                end(&mut paragraph, &mut out);
                continue;
            }
            if is_fenced {
                if !is_skipped && !trimmed.is_empty() {
                    out.lines.push((QuestionPart::Code, trimmed.to_string()));
                }
                continue;
            }
            if trimmed.is_empty() {
                end(&mut paragraph, &mut out);
                is_trace = false;
                continue;
            }
            let is_first = out.lines.is_empty() && paragraph.is_empty();
            if !is_first && HEADING.is_match(trimmed) {
                is_skipped = ABOUT_MACHINE.is_match(trimmed);
                end(&mut paragraph, &mut out);
                continue;
            }
            if is_skipped || !is_first && VERSION.is_match(trimmed) {
                continue;
            }
            is_trace |= TRACE.is_match(trimmed);
            if !is_first && (is_trace || CODE.is_match(line)) {
                end(&mut paragraph, &mut out);
                out.lines.push((QuestionPart::Code, trimmed.to_string()));
            } else if is_first {
                out.begin(trimmed);
            } else {
                paragraph.push(trimmed);
            }
        }
        end(&mut paragraph, &mut out);
        out
    }

    /// Takes the first line.
    fn begin(&mut self, line: &str) {
        let n_words = line.split_whitespace().count();
        let sentence = SENTENCE.find(line).map_or(line.len(), |end| end.end());
        let end = if n_words > TITLE_WORDS { sentence } else { line.len() };
        let (title, rest) = line.split_at(end);
        let title = title.trim_start_matches('#').trim();
        self.lines.push((QuestionPart::Title, title.to_string()));
        if !rest.trim().is_empty() {
            self.lines.push((QuestionPart::Lead, rest.trim().to_string()));
        }
    }

    /// Returns the lines of some parts.
    pub(super) fn text(&self, parts: &[QuestionPart]) -> String {
        let lines = self.lines.iter().filter(|(part, _)| parts.contains(part));
        lines.map(|(_, line)| line.as_str()).collect::<Vec<_>>().join("\n")
    }
}

static COMMENT: LazyLock<Regex> = LazyLock::new(|| regex(r"(?s)<!--.*?-->"));
/// The end of a sentence.
static SENTENCE: LazyLock<Regex> = LazyLock::new(|| regex(r"[.!?:;]\s"));
/// A heading of a template, or its underline.
static HEADING: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"^(?:#{1,6}\s.*|\*\*[^*]{1,60}\*\*:?|[-=~^*_]{3,}|[A-Z][\w /-]{0,40}:)$")
});
/// Headings of sections that describe the machine of the reporter.
static ABOUT_MACHINE: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?i)\b(?:environment|system|versions?|your project|screenshots?|additional context|extra tools|extensions|os|platform|checklist|configuration)\b",
    )
});
/// A line of a list of versions, or a box to tick.
static VERSION: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?i)^(?:[-*]\s*\[[ x]\]|\W*(?:os|python|version|platform|browser|node|\w+ version)\b[^:=]{0,12}[:=])",
    )
});
/// The first line of a stack trace.
static TRACE: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r#"^(?:Traceback \(most recent call last\)|File ".*", line \d+|thread '.*' panicked at|Exception in thread |panic: |goroutine \d+ )|^\s*at \S+.*[(:]"#,
    )
});
/// Code, prompts and output.
static CODE: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"^(?: {4}|\t|\s*(?:>>>|\.\.\. |\$ |In ?\[\d+\]|Out ?\[\d+\]|[|+][-=|+]{3}))")
});

#[cfg(test)]
mod tests {
    use super::*;

    fn part(text: &str, part: QuestionPart) -> String {
        Reading::of(text).text(&[part])
    }

    const REPORT: &str = "\
Kettle boils over when the lid is open
<!-- Please search before you report. -->
### Description

The kettle does not notice that `Lid.is_open` changed and keeps heating.

It should stop at once.

### Steps to reproduce

```python
kettle = Kettle(lid=Lid(open=True))
```

    >>> kettle.boil()
Traceback (most recent call last):
  File \"kettle.py\", line 3, in boil
OverflowError

- [x] I read the manual
### Environment
- OS: Debian
Kettle 3.1 on a gas stove
## Expected
Silence.
";

    #[test]
    fn a_report_is_read_by_its_parts() {
        assert_eq!(part(REPORT, QuestionPart::Title), "Kettle boils over when the lid is open");
        assert_eq!(
            part(REPORT, QuestionPart::Lead),
            "The kettle does not notice that `Lid.is_open` changed and keeps heating."
        );
        assert_eq!(part(REPORT, QuestionPart::Prose), "It should stop at once.\nSilence.");
        assert_eq!(
            part(REPORT, QuestionPart::Code),
            "kettle = Kettle(lid=Lid(open=True))\n>>> kettle.boil()\nTraceback (most recent call last):\n\
             File \"kettle.py\", line 3, in boil\nOverflowError"
        );
    }

    #[test]
    fn the_first_sentence_of_a_paragraph_is_its_title() {
        let long = "Where is the kettle told to stop? It boils over ".to_string()
            + &"and over again, whatever I do with the lid, ".repeat(5);
        assert_eq!(part(&long, QuestionPart::Title), "Where is the kettle told to stop?");
        assert!(part(&long, QuestionPart::Lead).starts_with("It boils over and over again"));
        let one = "and over again ".repeat(20);
        assert_eq!(part(&one, QuestionPart::Title), one.trim());
    }

    #[test]
    fn every_text_can_be_read() {
        for text in ["", "\n\n", "```", "<!--", "#", "### A\n### B", "    code only\n\tand more"] {
            let _ = Reading::of(text);
        }
        assert_eq!(part("```\nlet a = 1;\n```", QuestionPart::Code), "let a = 1;");
    }
}
