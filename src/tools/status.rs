//! `cortex_status`: reports what is indexed and how fresh the index is.

use super::budget::TokenBudget;
use super::reply::{Look, Reply, printable};
use super::tool::Question;
use crate::engine::{
    AnswerState, AskError, Call, Engine, ResidentMemory, StatusAnswer, StatusRequest,
};
use crate::text::{count, cut};

/// Longest list of published repositories, in characters.
const MAX_PUBLISHED: usize = 2_000;
/// Longest list of names, in characters.
const MAX_NAMES: usize = 200;

impl Question for StatusRequest {
    const NAME: &'static str = "cortex_status";
    const TITLE: &'static str = "State of the index";
    const WHEN: &'static str = "what is indexed, how fresh it is, and what was skipped.";
    const DESCRIPTION: &'static str = "Report what is indexed, how fresh it is, and what was skipped or failed. Use it only when results look incomplete or stale.";
    type Reply = StatusAnswer;

    fn answer(
        self,
        engine: &Engine,
        call: &Call,
        _: TokenBudget,
    ) -> Result<StatusAnswer, AskError> {
        engine.status(self, call)
    }
}

impl Reply for StatusAnswer {
    fn state(&self) -> &AnswerState {
        &self.state
    }

    fn shown(&self, _: &dyn Look) -> Vec<String> {
        let published = (!self.published.is_empty()).then(|| {
            let names = printable(&cut(&self.published.join(", "), MAX_PUBLISHED));
            format!("{} published by the team: {names}", count(self.published.len(), "repository"))
        });
        if self.root.is_empty() {
            let nothing = || "no repository is published that you may see".to_string();
            return vec![published.unwrap_or_else(nothing)];
        }
        let list = |counts: Vec<(&str, usize)>| {
            let mut counts: Vec<_> = counts.into_iter().filter(|c| c.1 > 0).collect();
            counts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
            counts.into_iter().map(|(what, n)| format!("{n} {what}")).collect::<Vec<_>>().join(", ")
        };
        let types = list(self.chunk_types.iter().map(|(k, n)| (*k, *n)).collect());
        let languages = list(self.languages.iter().map(|(k, n)| (k.as_str(), *n)).collect());
        let languages = if languages.is_empty() { languages } else { format!(" ({languages})") };
        let i = &self.indexing;
        let error = |e: &Option<String>| {
            e.as_ref().map(|e| format!("; last error: {e}")).unwrap_or_default()
        };
        let at_work = if i.total > 0 {
            format!(", {} of {} done", i.done, count(i.total, "file"))
        } else {
            String::new()
        };
        let leads = if i.leads { "this process leads" } else { "this process does not lead" };
        let hnsw = self
            .vectors_in_hnsw
            .map(|n| format!(", an HNSW graph of {n} vectors proposes candidates"))
            .unwrap_or_default();
        let number = |n: u64, what: &str| count(usize::try_from(n).unwrap_or(usize::MAX), what);
        let mut lines = vec![
            format!("cortex {} in {}", self.version, self.root),
            format!(
                "{} ({types}) of {}{languages}",
                count(self.chunks, "chunk"),
                count(self.files, "file")
            ),
            format!("embedder {}{hnsw}", self.embedder),
        ];
        lines.extend(self.reload.as_ref().map(|r| {
            let (parsed, error) = (number(r.files_parsed, "chunk file"), error(&r.last_error));
            format!(
                "reloads {} ({} published, {} failed, {parsed} parsed), last {} ms{error}",
                r.successful, r.published, r.failed, r.last_duration_ms
            )
        }));
        lines.extend(self.memory.as_ref().map(memory_line));
        lines.extend((!self.open.is_empty()).then(|| format!("open: {}", self.open.join(", "))));
        lines.push(format!(
            "indexing: {leads}, changes noticed: {}, {}{at_work}, {} queued{}",
            i.watching,
            number(i.runs, "run"),
            i.queued,
            error(&i.last_error)
        ));
        let skipped = list(self.skipped.iter().map(|(k, n)| (k.as_str(), *n)).collect());
        if !skipped.is_empty() {
            lines.push(format!("skipped: {skipped}"));
        }
        lines.extend(
            self.skipped_files
                .iter()
                .map(|(path, reason)| printable(&format!("  {path}: {reason}"))),
        );
        if let Some(left) = &self.left_out {
            lines.push(format!("left out by name or by an ignore file: {}", left.total));
            lines.extend(left.first.iter().map(|row| printable(&format!("  {}", row.line()))));
        }
        if !self.nested.is_empty() {
            lines.push(format!(
                "repositories inside, indexed with the project: {}",
                printable(&cut(&self.nested.join(", "), MAX_NAMES))
            ));
        }
        lines.extend(published);
        if !self.other_files.is_empty() {
            lines.push(format!(
                "beside the index: {}, written by other programs",
                printable(&self.other_files.join(", "))
            ));
        }
        if self.secrets.total > 0 {
            let places: Vec<_> = self
                .secrets
                .first
                .iter()
                .map(|s| format!("{}:{} {}", printable(&s.path), s.line, s.rule))
                .collect();
            let more = if self.secrets.total > places.len() { ", …" } else { "" };
            lines.push(format!(
                "{} hidden: {}{more}",
                count(self.secrets.total, "secret"),
                places.join(", ")
            ));
        }
        lines
    }
}

/// Says how much memory the server holds.
fn memory_line(m: &ResidentMemory) -> String {
    let megabytes = |mb: Option<u64>| mb.map(|mb| format!(" {mb} MB"));
    let budget = megabytes(m.budget_mb).map(|mb| format!(" of{mb} allowed")).unwrap_or_default();
    let without = if m.given_up.is_empty() {
        String::new()
    } else {
        format!(", without {}", m.given_up.join(" and "))
    };
    format!(
        "memory{}{budget}{without}",
        megabytes(m.resident_mb).unwrap_or_else(|| " unknown".into())
    )
}
