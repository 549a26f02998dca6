//! `cortex_read`: reads the current lines of files, and finds lines. Only indexed files can be read.

use serde_json::json;

use super::budget::{Format, TokenBudget, fit};
use super::grep;
use super::reply::{Look, Reply, printable, shown_place};
use super::tool::Question;
use crate::engine::{
    AnswerState, AskError, Call, Engine, Mentions, PublishedRepository, ReadAnswer, ReadGap,
    ReadPattern, ReadPlace, ReadRange, ReadRequest, pattern_in,
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

/// Shows a place: its address, what is to be known of it, and its lines with their numbers.
pub(super) fn place_lines(look: &dyn Look, place: &ReadPlace, warnings: &[String]) -> Vec<String> {
    let ranges = place.ranges();
    let range = |range: &ReadRange| format!("{}-{}", range.start_line, range.end_line);
    let shown = ranges.iter().map(range).collect::<Vec<_>>().join(",");
    let address = match &place.path {
        Some(path) => look.lines(path, &shown),
        None => shown_place(&format!("{}:{shown}", place.chunk_id.as_deref().unwrap_or_default())),
    };
    let cut = place.next_start_line.map(|next| format!(", cut: lines {next}- are left out"));
    let mut lines =
        vec![format!("{address} of {} lines{}", place.total_lines, cut.unwrap_or_default())];
    lines.extend(warnings.iter().map(|w| format!("warning: {}", printable(w))));
    if !place.left_out.is_empty() {
        let gap = |gap: &ReadGap| format!("{}-{} ({})", gap.start_line, gap.end_line, gap.what);
        let gaps = place.left_out.iter().map(gap).collect::<Vec<_>>().join(" and ");
        let more = look.advice("whole: true shows them", "--whole prints them");
        lines.push(look.aside(&format!("lines {gaps} are left out; {more}")));
    }
    for (n, range) in ranges.iter().enumerate().filter(|_| place.total_lines > 0) {
        lines.extend((n > 0).then(|| look.aside("    …")));
        let rows = (range.start_line..).zip(range.content.split('\n'));
        lines.extend(rows.map(|(number, line)| look.numbered(number, line)));
    }
    lines
}

/// Shows the lines of a pattern.
fn pattern_lines(look: &dyn Look, pattern: &ReadPattern) -> Vec<String> {
    let asked = shown_place(&pattern.asked);
    let Some(found) = &pattern.found else {
        return vec![format!(
            "{asked}: {}",
            printable(pattern.error.as_deref().unwrap_or_default())
        )];
    };
    let mut lines = vec![format!("{asked}: {}", grep::head(found))];
    lines.extend(pattern.warnings.iter().map(|w| format!("warning: {}", printable(w))));
    lines.extend(grep::listed(look, found));
    match pattern.n_left() {
        0 => lines.extend(grep::end(look, found)),
        n_left => lines.push(left_out(look, pattern, n_left)),
    }
    lines
}

/// Says in which files the lines are that are not listed, and how to get all.
fn left_out(look: &dyn Look, pattern: &ReadPattern, n_left: usize) -> String {
    let named = pattern.left_in.iter();
    let n_named: usize = named.clone().map(|left| left.lines).sum();
    let named: Vec<String> =
        named.map(|left| format!("{} {}", look.at(&left.path, 0), left.lines)).collect();
    let more = if n_named < n_left { ", …" } else { "" };
    let regex = pattern_in(&pattern.asked).unwrap_or_default();
    let command = format!("cortex grep -e '{}'", regex.replace('\'', r"'\''"));
    let call = format!("cortex_grep {}", json!({ "pattern": regex, "regex": true }));
    let call = printable(look.advice(&call, &command));
    let n_left = count(n_left, "more line");
    format!("{n_left}: {}{more}; all of them: {call}", named.join(", "))
}

impl Reply for ReadAnswer {
    fn state(&self) -> &AnswerState {
        &self.state
    }

    fn shown(&self, look: &dyn Look) -> Vec<String> {
        let mut lines: Vec<String> =
            self.one.iter().flat_map(|place| place_lines(look, place, &[])).collect();
        for row in &self.places {
            if let Some(error) = &row.error {
                let asked = shown_place(&row.asked.join(" "));
                lines.push(format!("{asked}: {}", printable(error)));
            }
            let place = row.read.iter();
            lines.extend(place.flat_map(|place| place_lines(look, place, &row.warnings)));
        }
        lines.extend(self.patterns.iter().flat_map(|pattern| pattern_lines(look, pattern)));
        if !self.next.is_empty() {
            lines.push("not shown, to fit max_tokens; places for the next call:".into());
            lines.extend(self.next.iter().map(|address| shown_place(address)));
        }
        lines
    }
}
