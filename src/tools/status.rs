//! `cortex_status`: reports what is indexed and how fresh the index is.

use super::budget::TokenBudget;
use super::reply::{Look, Reply, printable};
use super::tool::Question;
use crate::engine::{
    AnswerState, AskError, Call, Engine, ResidentMemory, StatusAnswer, StatusRequest,
};
use crate::search::HNSW_FROM;
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

    fn shown(&self, look: &dyn Look) -> Vec<String> {
        let published = (!self.published.is_empty()).then(|| {
            let names = printable(&cut(&self.published.join(", "), MAX_PUBLISHED));
            format!("{} published by the team: {names}", count(self.published.len(), "repository"))
        });
        if self.root.is_empty() {
            let nothing = || "no repository is published that you may see".to_string();
            return vec![published.unwrap_or_else(nothing)];
        }
        let mut rows: Rows = vec![
            ("version", format!("cortex {}", self.version)),
            ("project", format!("{} ({})", self.root, self.root_reason)),
            ("kept in", self.kept_in.clone()),
        ];
        rows.extend(self.ignored_settings.iter().map(|ignored| ("ignored", ignored.clone())));
        rows.extend(self.at_work().map(|said| ("indexing", said)));
        if self.chunks == 0 {
            let none = look.advice("none yet", "none yet: run `cortex index`");
            rows.push(("index", none.to_string()));
        } else {
            self.indexed(&mut rows);
        }
        rows.extend(self.reload.as_ref().map(|r| {
            let parsed = number(r.files_parsed, "chunk file");
            let error = last_error(r.last_error.as_ref());
            let (n, published, failed) = (r.successful, r.published, r.failed);
            let ms = r.last_duration_ms;
            let told = format!("{n} ({published} published, {failed} failed, {parsed} parsed)");
            ("reloads", format!("{told}, last {ms} ms{error}"))
        }));
        rows.extend(self.memory.as_ref().map(|memory| ("memory", memory_line(memory))));
        rows.extend((!self.open.is_empty()).then(|| ("open", self.open.join(", "))));
        self.not_indexed(look, &mut rows);
        let row = |(label, text): (&str, String)| match label {
            "" => printable(&format!("  {text}")),
            _ => printable(&format!("{label:<11} {text}")),
        };
        rows.into_iter().map(row).chain(published).collect()
    }
}

/// Labels with what is to be said; a row of a list has no label.
type Rows = Vec<(&'static str, String)>;

impl StatusAnswer {
    /// Says what a server does for the index, and how far a run is.
    fn at_work(&self) -> Option<String> {
        let i = &self.indexing;
        let mut parts = Vec::new();
        if self.reload.is_some() {
            let leads = if i.leads { "this process leads" } else { "this process does not lead" };
            parts.push(format!("{leads}, changes noticed: {}", i.watching));
            parts.push(number(i.runs, "run"));
        }
        if i.total + i.queued > 0 {
            let files = count(i.total, "file");
            parts.push(format!("{} of {files}, {} more changed", i.done, i.queued));
        }
        (!parts.is_empty()).then(|| parts.join(", ") + &last_error(i.last_error.as_ref()))
    }

    /// Says what is in the index.
    fn indexed(&self, rows: &mut Rows) {
        let index = &self.state.index;
        let is_command = self.reload.is_none();
        // The last line of a reply says which generation a server has.
        if is_command {
            let whose = if self.foreign { ", written by another program" } else { "" };
            let local = if index.local { " (local: each process counts its own)" } else { "" };
            let parsed = count(self.files_parsed, "chunk file");
            let generation = index.generation;
            rows.push(("index", format!("generation {generation}{local}{whose}, {parsed} parsed")));
            rows.extend(index.indexed_at.as_ref().map(|at| {
                let age = chrono::DateTime::parse_from_rfc3339(at).map_or_else(
                    |_| at.clone(),
                    |t| ago(chrono::Utc::now().signed_duration_since(t)),
                );
                ("age", format!("{age}, {}", self.newer().unwrap_or("up to date")))
            }));
        }
        if !self.other_files.is_empty() {
            let others = self.other_files.join(", ");
            rows.push(("beside it", format!("{others}, written by other programs")));
        }
        let types = list(self.chunk_types.iter().map(|(k, n)| (*k, *n)));
        rows.push(("chunks", format!("{}{}", self.chunks, in_brackets(&types))));
        if self.commits > 0 {
            rows.push(("commits", format!("{}, whose messages help to rank", self.commits)));
        }
        if !self.nested.is_empty() {
            let nested = cut(&self.nested.join(", "), MAX_NAMES);
            let said = format!("{nested}: indexed with the project, without their commits");
            rows.push(("nested", said));
        }
        let pending = if index.vectors_pending > 0 {
            format!(", {} to be made", index.vectors_pending)
        } else {
            String::new()
        };
        let hnsw = match self.vectors_in_hnsw {
            Some(n) => format!("; a graph of {n} vectors (HNSW) proposes candidates"),
            None if is_command && self.chunks >= HNSW_FROM => {
                "; so many that a server asks a graph of them (HNSW), built once and saved".into()
            }
            None => String::new(),
        };
        rows.push(("vectors", format!("by {}{pending}{hnsw}", self.embedder)));
        let languages = list(self.languages.iter().map(|(k, n)| (k.as_str(), *n)));
        let files = match self.files {
            0 => "none that a chunk names".to_string(),
            n => n.to_string(),
        };
        rows.push(("files", files + &in_brackets(&languages)));
    }

    /// Says what was skipped, left out and hidden.
    fn not_indexed(&self, look: &dyn Look, rows: &mut Rows) {
        let item = |text: String| ("", text);
        let skipped = list(self.skipped.iter().map(|(k, n)| (k.as_str(), *n)));
        rows.extend((!skipped.is_empty()).then_some(("skipped", skipped)));
        let files = self.skipped_files.iter();
        rows.extend(files.map(|(path, reason)| item(format!("{path}: {reason}"))));
        if let Some(left) = &self.left_out {
            let total = left.total;
            rows.push(("left out", format!("{total} by name or by an ignore file")));
            rows.extend(left.first.iter().map(|row| item(row.line())));
            let n_more = total - left.first.len();
            rows.extend((n_more > 0).then(|| item(format!("and {n_more} more"))));
        }
        if self.secrets.total > 0 {
            let secrets = count(self.secrets.total, "secret");
            rows.push(("secrets", format!("{secrets} hidden in the index and in every reply")));
            let first = self.secrets.first.iter();
            rows.extend(first.map(|s| item(format!("{}:{}: {}", s.path, s.line, s.rule))));
            let n_more = self.secrets.total - self.secrets.first.len();
            let verbose = look.advice("verbose: true lists them", "--verbose lists them");
            rows.extend((n_more > 0).then(|| item(format!("and {n_more} more: {verbose}"))));
        }
    }
}

/// Lists counts that are not zero, largest first.
fn list<'a>(counts: impl Iterator<Item = (&'a str, usize)>) -> String {
    let mut counts: Vec<_> = counts.filter(|(_, n)| *n > 0).collect();
    counts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    counts.into_iter().map(|(what, n)| format!("{n} {what}")).collect::<Vec<_>>().join(", ")
}

fn in_brackets(list: &str) -> String {
    if list.is_empty() { String::new() } else { format!(" ({list})") }
}

fn number(n: u64, what: &str) -> String {
    count(usize::try_from(n).unwrap_or(usize::MAX), what)
}

fn last_error(error: Option<&String>) -> String {
    error.map(|e| format!("; last error: {e}")).unwrap_or_default()
}

fn ago(age: chrono::TimeDelta) -> String {
    let (d, h, m) = (age.num_days(), age.num_hours(), age.num_minutes());
    let unit = |n: i64, what| format!("{} ago", count(usize::try_from(n).unwrap_or(0), what));
    match () {
        () if d > 0 => unit(d, "day"),
        () if h > 0 => unit(h, "hour"),
        () if m > 0 => unit(m, "minute"),
        () => "just now".into(),
    }
}

/// Says how much memory the server holds.
fn memory_line(m: &ResidentMemory) -> String {
    let budget = m.budget_mb.map(|mb| format!(" of {mb} MB allowed")).unwrap_or_default();
    let without = if m.given_up.is_empty() {
        String::new()
    } else {
        format!(", without {}", m.given_up.join(" and "))
    };
    let resident = m.resident_mb.map_or_else(|| "unknown".into(), |mb| format!("{mb} MB"));
    format!("{resident}{budget}{without}")
}
