//! `cortex_changes`: what happened since, the most important first, because a session begins with it.

use super::budget::{TokenBudget, fit};
use super::reply::{Look, Reply, printable, quoted, shown_place};
use super::tool::Question;
use crate::engine::{
    AnswerState, AskError, Call, ChangedArea, ChangedFileRow, ChangedRow, ChangesAnswer,
    ChangesRequest, CommitLine, Engine, How, Mentions,
};
use crate::text::{count, cut};

/// Number of characters of an id of a commit.
const SHORT: usize = 8;
/// Largest number of areas that are only named.
const MAX_NAMED: usize = 6;
/// Largest number of characters of each side of a changed declaration.
const MAX_SIGNATURE: usize = 120;

impl Question for ChangesRequest {
    const NAME: &'static str = "cortex_changes";
    const TITLE: &'static str = "See what happened since";
    const WHEN: &'static str =
        "at the start of a session: what changed since a commit, a date or your last session.";
    const DESCRIPTION: &'static str = "See what happened since a commit, a date or your last session, by area and symbol: changed public signatures, what lost its last use, what got new callers, tests, commits. Use it at the start of a session, or to read a branch.";
    const TOKENS: usize = 1000;
    const MENTIONS: fn(&mut Self) -> Mentions<'_> = |q| Mentions::of(&mut q.path);
    type Reply = ChangesAnswer;

    fn answer(
        self,
        engine: &Engine,
        call: &Call,
        budget: TokenBudget,
    ) -> Result<ChangesAnswer, AskError> {
        let answer = engine.changes(&self, call)?;
        Ok(fit(budget, answer.top(), |level| answer.first(level)))
    }
}

impl ChangesAnswer {
    /// Returns the part of the answer that fits into `max_tokens`, as text or JSON shows it.
    #[must_use]
    pub fn within(&self, max_tokens: usize) -> Self {
        fit(TokenBudget::of_text(max_tokens), self.top(), |level| self.first(level))
    }

    /// Returns the text of the part that fits into `max_tokens`, in lines.
    #[must_use]
    pub fn lines_within(&self, max_tokens: usize) -> Vec<String> {
        self.within(max_tokens).lines()
    }
}

/// Returns the lines of an answer without a change: since when, and what limits it.
fn nothing_since(reason: &str, limits: &[String]) -> Vec<String> {
    let limits = limits.iter().map(|why| printable(why));
    [format!("nothing changed since {reason}")].into_iter().chain(limits).collect()
}

fn short(commit: &str) -> &str {
    commit.get(..SHORT).unwrap_or(commit)
}

/// Returns a heading, which says how many rows are left out.
fn heading(what: &str, total: usize, shown: usize) -> String {
    if total > shown { format!("{what}: {total}, {shown} shown") } else { format!("{what}:") }
}

/// Returns a symbol with the mark of what happened to it.
fn symbol(row: &ChangedRow) -> String {
    let mark = match row.how {
        How::Added => "+",
        How::Deleted => "-",
        How::Renamed => ">",
        How::Changed | How::Planned => "~",
    };
    let at = if row.how == How::Deleted { String::new() } else { format!(":{}", row.line) };
    let from = row.from.as_ref().map(|from| format!(" (was {from})")).unwrap_or_default();
    format!("{mark}{}{at}{from}", row.symbol)
}

/// Returns two declarations without what they have in common at their beginnings and ends, cut to a
/// readable length.
fn difference(before: &str, after: &str) -> String {
    let (before, after): (Vec<&str>, Vec<&str>) =
        (before.split(' ').collect(), after.split(' ').collect());
    let same =
        |pairs: &mut dyn Iterator<Item = (&&str, &&str)>| pairs.take_while(|(a, b)| a == b).count();
    let start = same(&mut before.iter().zip(&after));
    let most = before.len().min(after.len()) - start;
    let end = same(&mut before.iter().rev().zip(after.iter().rev())).min(most);
    let part = |words: &[&str]| {
        // A word on each side says where it is.
        let (from, to) = (start.saturating_sub(1), (words.len() - end + 1).min(words.len()));
        let (left, right) =
            (if from > 0 { "… " } else { "" }, if to < words.len() { " …" } else { "" });
        format!("{left}{}{right}", cut(&words[from..to].join(" "), MAX_SIGNATURE))
    };
    format!("{} → {}", part(&before), part(&after))
}

/// Returns a path below its area.
fn below<'a>(path: &'a str, area: &str) -> &'a str {
    path.strip_prefix(area).and_then(|rest| rest.strip_prefix('/')).unwrap_or(path)
}

fn file(row: &ChangedFileRow, area: &str) -> String {
    let mut parts = vec![below(&row.path, area).to_string()];
    if row.uncommitted {
        parts.push("(uncommitted)".into());
    }
    match (row.how, &row.from) {
        (How::Renamed, Some(from)) => parts.push(format!("(was {from})")),
        (How::Added, _) => parts.push("(new)".into()),
        (How::Deleted, _) => parts.push("(deleted)".into()),
        _ => {}
    }
    parts.extend(row.symbols.iter().map(symbol));
    if row.total_symbols > row.symbols.len() && !row.symbols.is_empty() {
        parts.push(format!("… {} more", row.total_symbols - row.symbols.len()));
    }
    parts.join(" ")
}

fn area(row: &ChangedArea, text: &mut Vec<String>) {
    let ChangedArea { path, total_files, added_lines, deleted_lines, total_commits, .. } = row;
    let mut parts = vec![count(*total_files, "file")];
    parts.push(format!("+{added_lines} -{deleted_lines} lines"));
    if *total_commits > 0 {
        parts.push(count(*total_commits, "commit"));
    }
    text.push(format!("{} {}", shown_place(&format!("{path}/")), parts.join(", ")));
    let (with_symbols, others): (Vec<&ChangedFileRow>, Vec<&ChangedFileRow>) =
        row.files.iter().partition(|file| !file.symbols.is_empty());
    text.extend(with_symbols.iter().map(|row| quoted(&printable(&file(row, path)))));
    if !others.is_empty() {
        let others: Vec<String> = others.iter().map(|row| file(row, path)).collect();
        text.push(quoted(&printable(&others.join(", "))));
    }
    let commit = |commit: &CommitLine| {
        let n =
            if commit.files > 30 { format!(" ({} files)", commit.files) } else { String::new() };
        quoted(&printable(&format!("{} {}{n}", short(&commit.commit), commit.subject)))
    };
    text.extend(row.commits.iter().map(commit));
}

impl Reply for ChangesAnswer {
    fn state(&self) -> &AnswerState {
        &self.state
    }

    fn shown(&self, _: &dyn Look) -> Vec<String> {
        let reason = printable(&self.since.reason);
        if self.is_empty() {
            return nothing_since(&reason, &self.limits);
        }
        let since = match short(&self.since.commit) {
            "" => "the first commit".to_string(),
            commit => printable(commit),
        };
        let more = if self.more_commits { " or more" } else { "" };
        let mut text = vec![format!(
            "since {since} ({reason}): {}{more}, {}, +{} -{} lines",
            count(self.total_commits, "commit"),
            count(self.total_files, "file"),
            self.added_lines,
            self.deleted_lines
        )];
        if self.total_uncommitted > 0 {
            let names: Vec<String> = self.uncommitted.iter().map(|p| shown_place(p)).collect();
            let rest = self.total_uncommitted - names.len();
            let rest = (rest > 0)
                .then(|| count(rest, if names.is_empty() { "file" } else { "more file" }));
            let names: Vec<String> = names.into_iter().chain(rest).collect();
            text.push(format!("not committed yet: {}", names.join(", ")));
        }
        if self.total_signatures > 0 {
            let title = "public signatures that changed";
            text.push(heading(title, self.total_signatures, self.signatures.len()));
            text.extend(self.signatures.iter().map(|row| {
                let place = format!("{}:{} {}", row.path, row.line, row.symbol);
                quoted(&printable(&format!("{place}: {}", difference(&row.before, &row.after))))
            }));
        }
        if self.total_dead > 0 {
            text.push(heading("lost their last use", self.total_dead, self.dead.len()));
            text.extend(self.dead.iter().map(|row| {
                let place = format!("{}:{} {}", row.path, row.line, row.symbol);
                quoted(&printable(&format!("{place}, used before in {}", row.used_in)))
            }));
        }
        if self.total_callers > 0 {
            text.push(heading("have new callers", self.total_callers, self.callers.len()));
            text.extend(self.callers.iter().map(|row| {
                let place = format!("{}:{} {}", row.path, row.line, row.symbol);
                let more = if row.new > row.names.len() { " …" } else { "" };
                let names = row.names.join(", ");
                quoted(&printable(&format!("{place}: {} of {}: {names}{more}", row.new, row.total)))
            }));
        }
        let tests = &self.tests;
        if tests.total_files > 0 {
            let files: Vec<String> = tests.files.iter().map(|path| shown_place(path)).collect();
            let more = if tests.total_files > files.len() { " …" } else { "" };
            let names = if files.is_empty() {
                String::new()
            } else {
                format!(": {}{more}", files.join(", "))
            };
            text.push(format!(
                "tests: {} added, {} changed, {} deleted, in {}{names}",
                tests.added,
                tests.changed,
                tests.deleted,
                count(tests.total_files, "file")
            ));
        }
        if self.areas.iter().any(|area| !area.files.is_empty()) {
            text.push("areas, most changed first (+ added, ~ changed, - deleted, > renamed; with the line):".into());
        }
        let (told, named) = self.areas.split_at(
            self.areas
                .iter()
                .position(|a| a.files.is_empty() && a.commits.is_empty())
                .unwrap_or(self.areas.len()),
        );
        for row in told {
            area(row, &mut text);
        }
        let rest = self.total_areas - told.len();
        if rest > 0 {
            let names: Vec<String> = named
                .iter()
                .take(MAX_NAMED)
                .map(|area| format!("{} ({})", shown_place(&area.path), area.total_files))
                .collect();
            let more = if rest > names.len() { " …" } else { "" };
            text.push(format!(
                "and {} (files): {}{more}; `path` asks for one",
                count(rest, "more area"),
                names.join(", ")
            ));
        }
        let mass =
            self.mass.iter().map(|mass| format!("{}: {}", mass.what, count(mass.files, "file")));
        let mass: Vec<String> = mass.collect();
        if !mass.is_empty() {
            text.push(mass.join(", "));
        }
        text.extend(self.limits.iter().map(|limit| printable(limit)));
        text
    }
}
