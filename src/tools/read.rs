//! `cortex_read`: reads the current lines of files, and finds lines. Only indexed files can be read.

use serde_json::json;

use super::budget::{Format, TokenBudget, fit};
use super::grep;
use super::reply::{Reply, printable, shown_place};
use super::tool::Question;
use crate::engine::{
    AnswerState, AskError, Call, Engine, FrontEnd, Mentions, PublishedRepository, ReadAnswer,
    ReadGap, ReadPattern, ReadPlace, ReadRange, ReadRequest, pattern_in,
};
use crate::text::count;

/// Number of lines of ranges and symbols that are given whatever they cost, unless the caller sets
/// `max_tokens`.
const MAX_GIVEN: usize = 1000;
/// Number of lines of all patterns together that a text gives whatever they cost, unless the caller sets
/// `max_tokens`.
const MAX_FOUND: usize = 200;
/// A range is not cut this few lines before its end.
const FEW: usize = 10;

impl Question for ReadRequest {
    const NAME: &'static str = "cortex_read";
    const TITLE: &'static str = "Read lines of files";
    const WHEN: &'static str = "lines of files, symbols, and lines with a text, many in one call.";
    const DESCRIPTION: &'static str = "Read all that you need in one call: lines of several files, symbols, whole files, and with `/regex/` every line that matches. Secrets are shown as [REDACTED:rule].";
    // The reply says when `whole` helps, and `places` does what the others do.
    const UNLISTED: &'static [&'static str] = &["path", "lines", "whole"];
    const MENTIONS: fn(&mut Self) -> Mentions<'_> =
        |q| Mentions::of(q.path.iter_mut().chain(&mut q.places));
    type Reply = ReadAnswer;

    fn answer(
        self,
        engine: &Engine,
        call: &Call,
        budget: TokenBudget,
    ) -> Result<ReadAnswer, AskError> {
        Ok(fitted(&engine.read_places(&self.in_form(budget), call)?, budget))
    }

    fn answer_published(
        self,
        repository: &PublishedRepository,
        call: &Call,
        budget: TokenBudget,
    ) -> Result<ReadAnswer, AskError> {
        Ok(fitted(&repository.read_places(&self.in_form(budget), call)?, budget))
    }
}

impl ReadRequest {
    /// Returns the request for a reply in the form of the budget: a program gets every line of a pattern.
    fn in_form(self, budget: TokenBudget) -> Self {
        Self { folds: budget.format() == Format::Text, ..self }
    }
}

/// Returns as much of an answer as fits. Places and patterns are cut in the same proportion.
fn fitted(answer: &ReadAnswer, budget: TokenBudget) -> ReadAnswer {
    // A single line must not exceed the budget, so each line is cut to this many characters.
    let room = budget.limit();
    // A cut range would cost the agent a second call.
    let least = match answer.n_named_lines() {
        n if !budget.is_default() || n == 0 => 1,
        n if n <= MAX_GIVEN + FEW => n,
        _ => MAX_GIVEN,
    };
    let found = answer.n_lines_of_patterns();
    let found_least = match answer.patterns.len() {
        n if n == 0 || !budget.is_default() || budget.format() == Format::Json => 0,
        n => found.min(MAX_FOUND / n),
    };
    let more = answer.n_lines().saturating_sub(least);
    let more_found = found - found_least;
    let top = more.max(more_found);
    fit(budget, top, |level| {
        let part = |n: usize| (n * level).div_ceil(top.max(1));
        answer
            .first(least + part(more), room)
            .with_lines_of_patterns(found_least + part(more_found))
    })
}

/// Says which lines of a whole file are left out; `None` if there are none.
#[must_use]
pub fn lines_left_out(gaps: &[ReadGap]) -> Option<String> {
    let gap = |gap: &ReadGap| format!("{}-{} ({})", gap.start_line, gap.end_line, gap.what);
    let gaps: Vec<String> = gaps.iter().map(gap).collect();
    (!gaps.is_empty()).then(|| format!("lines {} are left out", gaps.join(" and ")))
}

/// Returns the address of the lines that are shown of a place.
#[must_use]
pub fn address_of(place: &ReadPlace) -> String {
    let what = place.path.as_deref().or(place.chunk_id.as_deref()).unwrap_or_default();
    let lines = |range: &ReadRange| format!("{}-{}", range.start_line, range.end_line);
    let lines: Vec<String> = place.ranges().iter().map(lines).collect();
    format!("{what}:{}", lines.join(","))
}

/// Returns the first line of a place, and the warning about it.
fn head(place: &ReadPlace) -> String {
    let cut = place.next_start_line.map(|next| format!(", cut: lines {next}- are left out"));
    let address = shown_place(&address_of(place));
    format!("{address} of {} lines{}", place.total_lines, cut.unwrap_or_default())
}

/// Shows a place.
pub(super) fn place_lines(place: &ReadPlace) -> Vec<String> {
    let mut lines = vec![head(place)];
    lines.extend(numbered(place));
    lines
}

/// Returns the lines of a place, with their numbers.
fn numbered(place: &ReadPlace) -> Vec<String> {
    let left_out = lines_left_out(&place.left_out);
    let left_out = left_out.map(|left_out| format!("{left_out}; whole: true shows them"));
    let mut lines: Vec<String> = left_out.into_iter().collect();
    for (n, range) in place.ranges().iter().enumerate().filter(|_| place.total_lines > 0) {
        if n > 0 {
            lines.push("    …".into());
        }
        let rows = (range.start_line..).zip(range.content.split('\n'));
        lines.extend(rows.map(|(number, line)| format!("{number:>5} {line}")));
    }
    lines
}

/// Shows the lines of a pattern. `asks` is what the reader calls for all lines, if some are not listed.
#[must_use]
pub fn pattern_lines(pattern: &ReadPattern, asks: FrontEnd) -> Vec<String> {
    let asked = shown_place(&pattern.asked);
    let Some(found) = &pattern.found else {
        return vec![format!(
            "{asked}: {}",
            printable(pattern.error.as_deref().unwrap_or_default())
        )];
    };
    let mut lines = vec![format!("{asked}: {}", grep::head(found))];
    lines.extend(pattern.warnings.iter().map(|w| format!("warning: {}", printable(w))));
    lines.extend(grep::listed(found));
    match pattern.n_left() {
        0 => lines.extend(grep::end(found)),
        n_left => lines.push(left_out(pattern, n_left, asks)),
    }
    lines
}

/// Says in which files the lines are that are not listed, and how to get all.
fn left_out(pattern: &ReadPattern, n_left: usize, asks: FrontEnd) -> String {
    let named = pattern.left_in.iter();
    let n_named: usize = named.clone().map(|left| left.lines).sum();
    let named: Vec<String> =
        named.map(|left| format!("{} {}", shown_place(&left.path), left.lines)).collect();
    let more = if n_named < n_left { ", …" } else { "" };
    let regex = pattern_in(&pattern.asked).unwrap_or_default();
    let call = match asks {
        FrontEnd::CommandLine => format!("cortex grep -e '{}'", regex.replace('\'', r"'\''")),
        FrontEnd::Tools => format!("cortex_grep {}", json!({ "pattern": regex, "regex": true })),
    };
    let n_left = count(n_left, "more line");
    format!("{n_left}: {}{more}; all of them: {}", named.join(", "), printable(&call))
}

impl Reply for ReadAnswer {
    fn state(&self) -> &AnswerState {
        &self.state
    }

    fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some(place) = &self.one {
            lines.extend(place_lines(place));
        }
        for row in &self.places {
            if let Some(error) = &row.error {
                let asked = shown_place(&row.asked.join(" "));
                lines.push(format!("{asked}: {}", printable(error)));
            }
            if let Some(place) = &row.read {
                lines.push(head(place));
                lines.extend(row.warnings.iter().map(|w| format!("warning: {}", printable(w))));
                lines.extend(numbered(place));
            }
        }
        for pattern in &self.patterns {
            lines.extend(pattern_lines(pattern, FrontEnd::Tools));
        }
        if !self.next.is_empty() {
            lines.push("not shown, to fit max_tokens; places for the next call:".into());
            lines.extend(self.next.iter().map(|address| shown_place(address)));
        }
        lines
    }
}
