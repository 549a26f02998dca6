//! `cortex_why`: why lines are as they are, the reason first. `cortex why` shows the same text.

use super::budget::{TokenBudget, fit};
use super::history::revert_line;
use super::reply::{Look, Reply, printable, printed, quoted, shown_place};
use super::tool::Question;
use crate::engine::{
    AnswerState, AskError, Call, Engine, Mentions, WhyAnswer, WhyCommit, WhyPassed, WhyRequest,
};
use crate::text::{count, cut, folded};

/// Most tokens of the text.
pub const WHY_TOKENS: usize = 800;
/// Number of levels of detail.
const LEVELS: usize = 12;
/// Most characters of a memory.
const MAX_MEMORY_CHARS: usize = 400;

impl Question for WhyRequest {
    const NAME: &'static str = "cortex_why";
    const TITLE: &'static str = "Why is this line so";
    const WHEN: &'static str = "before you change a line: who wrote it, when, and why.";
    const DESCRIPTION: &'static str = "Say why lines or a symbol are as they are: the commits that wrote them, behind formatters and moves, with the reasons and issues of their messages, and what memories and documents say. Use it before you change a default, a limit, a retry or a workaround.";
    const TOKENS: usize = WHY_TOKENS;
    const MENTIONS: fn(&mut Self) -> Mentions<'_> = |q| Mentions::of([&mut q.at]);
    type Reply = WhyAnswer;

    fn answer(
        self,
        engine: &Engine,
        call: &Call,
        budget: TokenBudget,
    ) -> Result<WhyAnswer, AskError> {
        Ok(why_within(&engine.why(&self, call)?, budget))
    }
}

/// Returns the lines of the answer for a terminal, without its warnings, in at most `max_tokens`.
#[must_use]
pub fn why_lines(answer: &WhyAnswer, max_tokens: usize) -> Vec<String> {
    printed(&why_within(answer, TokenBudget::of_text(max_tokens)))
}

/// Returns as much of the answer as fits.
fn why_within(answer: &WhyAnswer, budget: TokenBudget) -> WhyAnswer {
    fit(budget, LEVELS, |level| at_level(answer, level))
}

/// Returns a shorter answer: fewer commits, and fewer lines of their messages.
fn at_level(answer: &WhyAnswer, level: usize) -> WhyAnswer {
    let mut answer = answer.clone();
    answer.commits.truncate((level * 2 / 3).max(1));
    for (n, commit) in answer.commits.iter_mut().enumerate() {
        commit.reasons.truncate(if n == 0 { level.max(3) } else { level / 3 });
        commit.passed.truncate(level.max(2));
        commit.references.truncate(level.max(2));
        commit.lines.truncate(level.max(2));
    }
    answer.memories.truncate(level / 3);
    for memory in &mut answer.memories {
        memory.content = cut(&memory.content, MAX_MEMORY_CHARS * level / LEVELS);
    }
    answer.documents.truncate(level / 4);
    answer.together.truncate(level / 2);
    answer
}

fn lines_of(ranges: &[(u32, u32)]) -> String {
    let written = |(first, last): &(u32, u32)| {
        if first == last { first.to_string() } else { format!("{first}-{last}") }
    };
    let all: Vec<String> = ranges.iter().map(written).collect();
    let is_one = matches!(ranges, [(first, last)] if first == last);
    format!("{} {}", if is_one { "line" } else { "lines" }, all.join(", "))
}

fn passed(passed: &WhyPassed) -> String {
    let WhyPassed { short_id, subject, how, from } = passed;
    let what = match (*how, from) {
        ("moved", Some(from)) => format!("moved from {} by", shown_place(from)),
        ("ignored", _) => "passed over, as .git-blame-ignore-revs says:".into(),
        _ => "re-formatted by".into(),
    };
    format!("  {what} {short_id} ({})", printable(&cut(subject, 80)))
}

fn commit(commit: &WhyCommit) -> Vec<String> {
    let older = if commit.may_be_older { " or older" } else { "" };
    let mut lines = vec![format!(
        "{}{older} {} {}, {}: {}",
        commit.short_id,
        commit.date,
        printable(&commit.author),
        lines_of(&commit.lines),
        printable(&commit.subject)
    )];
    lines.extend(commit.reverts.iter().map(revert_line));
    lines.extend(commit.reasons.iter().map(|reason| quoted(reason)));
    if !commit.references.is_empty() {
        lines.push(format!("  names {}", printable(&commit.references.join(", "))));
    }
    lines.extend(commit.passed.iter().map(passed));
    lines
}

impl Reply for WhyAnswer {
    fn state(&self) -> &AnswerState {
        &self.state
    }

    fn shown(&self, _: &dyn Look) -> Vec<String> {
        let mut lines: Vec<String> = self.commits.iter().flat_map(commit).collect();
        if self.total_commits > self.commits.len() && !self.commits.is_empty() {
            lines.push(format!(
                "and {}",
                count(self.total_commits - self.commits.len(), "more commit")
            ));
        }
        if !self.uncommitted.is_empty() {
            lines.push(format!("not committed: {}", lines_of(&self.uncommitted)));
        }
        for memory in &self.memories {
            lines.push(format!("remembered, {}:", memory.created_at.get(..10).unwrap_or_default()));
            lines.push(quoted(&folded(&memory.content)));
        }
        for document in &self.documents {
            let place = shown_place(&format!("{}:{}", document.path, document.line));
            lines.push(format!("{place} names {}:", printable(&document.names)));
            lines.push(quoted(&document.text));
        }
        if !self.together.is_empty() {
            lines.push("often changed together with this file:".into());
            lines.extend(self.together.iter().map(|file| {
                let n = count(file.support, "commit");
                format!("{} in {n}, {:.0}%", shown_place(&file.path), file.confidence * 100.0)
            }));
        }
        lines.extend(self.missing.clone().map(|missing| format!("missing: {missing}")));
        if lines.is_empty() {
            lines.push("no commit wrote these lines".into());
        }
        lines
    }
}
