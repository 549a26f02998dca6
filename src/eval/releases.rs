//! Questions from release notes: an entry asks for the files that its change touched. The entry
//! names the change by a number, and so does the commit.

use std::collections::HashMap;
use std::ops::Range;

use super::commits::{Changed, subject};
use super::draft::{DraftQuestion, SourceText, is_about_project};
use super::prose;
use crate::source::Commit;

/// Collects drafts from the entries of changelogs.
pub(super) fn from_releases(
    files: &[SourceText],
    changed: &Changed,
    commits: &[Commit],
    out: &mut Vec<DraftQuestion>,
) {
    let mut by_number: HashMap<&str, Vec<&Commit>> = HashMap::new();
    for commit in commits {
        for number in numbers(&commit.subject).chain(numbers(&commit.body)) {
            let of_number = by_number.entry(number).or_default();
            if of_number.last().is_none_or(|last| last.id != commit.id) {
                of_number.push(commit);
            }
        }
    }
    for (at, file) in files.iter().enumerate().filter(|(_, f)| is_about_project(&f.path)) {
        for range in entries(&file.text) {
            let entry = &file.text[range.clone()];
            let made = numbers(entry).filter_map(|n| by_number.get(n)).find_map(|made| {
                // Several commits of one number are parts of a larger change.
                let [commit] = made[..] else { return None };
                changed.ask("release", says(entry)?, commit)
            });
            out.extend(made.map(|question| DraftQuestion {
                position: range.start,
                hidden: Some((at, range)),
                ..question
            }));
        }
    }
}

/// Returns the numbers after `#`, as in `(#123)`.
fn numbers(text: &str) -> impl Iterator<Item = &str> {
    text.split('#').skip(1).filter_map(|rest| {
        let n = rest.bytes().take_while(u8::is_ascii_digit).count();
        (n > 1).then(|| &rest[..n])
    })
}

/// Returns the items of all lists, as byte ranges without their bullets.
fn entries(text: &str) -> Vec<Range<usize>> {
    let mut out: Vec<Range<usize>> = Vec::new();
    let (mut start, mut is_open) = (0, false);
    for line in text.split_inclusive('\n') {
        let body = line.trim_start();
        let first = start + line.len() - body.len();
        let end = start + line.trim_end().len();
        match body.strip_prefix(['-', '*', '+']).filter(|rest| rest.starts_with(' ')) {
            Some(_) => {
                out.push((first + 2).min(end)..end);
                is_open = true;
            }
            None if body.is_empty() || body.len() == line.len() => is_open = false,
            None => {
                if let Some(last) = out.last_mut().filter(|_| is_open) {
                    last.end = end;
                }
            }
        }
        start += line.len();
    }
    out
}

/// Returns the first sentence of an entry without its number, kind and author; `None` if nothing is
/// left.
fn says(entry: &str) -> Option<String> {
    let mut text = entry.trim();
    // `[#12](https://…): …`, `**fixed:** …`, `#12: …`
    if let Some((head, rest)) = text.split_once(": ").or_else(|| text.split_once(":** "))
        && (head.contains('#') || head.starts_with("**"))
    {
        text = rest;
    }
    // `… ([#12](https://…)) ([@somebody][])`
    while let Some((head, _)) =
        text.rsplit_once(" (").filter(|(_, tail)| tail.contains(['#', '@']) || tail.contains("://"))
    {
        text = head.trim_end();
    }
    let first = prose::sentences(text).into_iter().next()?;
    subject(&text[first])
}
