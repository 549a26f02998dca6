//! Builds the summary of a session.

use std::cmp::Reverse;

use super::statements::{self, is_recognised};
use super::{HookType, Memory, MemorySource, MemoryStore, ResponseType, StorageError};
use crate::text::{cut_at_word as cut, folded};

/// Returns the summary of a session from its memories: prompts, changes, and the last answer.
/// `None` if the session has no prompt.
///
/// # Errors
/// When its memories cannot be read.
pub fn summary(store: &MemoryStore, session_id: &str) -> Result<Option<Memory>, StorageError> {
    let mut memories = store.get_by_session(session_id)?;
    memories.reverse();
    Ok(summary_of(&memories, session_id))
}

/// The beginnings of a summary's parts, one line each.
const DECIDED: &str = "Decided: ";
const ASKED_FIRST: &str = "Asked: ";
const ASKED_LAST: &str = "Asked last: ";
const CHANGED: &str = "Changed: ";
pub(super) const ANSWERED: &str = "Answered: ";
/// A prompt with fewer words ("thanks!") does not say what a session was about.
const TELLING: usize = 3;

/// Makes the summary of the given memories of a session, oldest first. Decisions come first and are
/// not repeated by the prompts and answers. Only the first piece of a long text is used.
pub(super) fn summary_of(memories: &[Memory], session_id: &str) -> Option<Memory> {
    let begun = || memories.iter().filter(|m| !m.is_continued());
    let prompts = || begun().filter(|m| m.is_prompt());
    let n_prompts = prompts().count();
    let any_asked = prompts().next()?;
    let mut parts: Vec<String> = Vec::new();
    let mut decided: Vec<&Memory> =
        memories.iter().filter(|m| is_recognised(m) && m.superseded_by.is_none()).collect();
    decided.sort_by_key(|m| (statements::kind_of(&m.content), Reverse(m.speaker())));
    parts.extend(
        decided
            .iter()
            .take(8)
            .map(|m| format!("{DECIDED}{}", statements::without_label(&folded(&m.content)))),
    );
    let asked: Vec<String> = prompts().map(statements::rest).collect();
    let mut telling = asked.iter().filter(|text| text.split_whitespace().count() >= TELLING);
    let first_asked = match telling.next() {
        Some(text) => Some(text.clone()),
        None => decided.is_empty().then(|| folded(&any_asked.content)),
    };
    let mut said: Vec<String> =
        first_asked.map(|text| format!("{ASKED_FIRST}{}", cut(&text, 200))).into_iter().collect();
    said.extend(telling.next_back().map(|text| format!("{ASKED_LAST}{}", cut(text, 200))));
    if let Some(last) = said.last_mut().filter(|_| n_prompts > 1) {
        *last = format!("{last} ({n_prompts} prompts).");
    }
    parts.extend(said);
    let mut files: Vec<&str> = Vec::new();
    let is_call = |m: &&Memory| matches!(m.source, MemorySource::HookDescription { hook_type, .. } if hook_type == HookType::PostToolUse);
    for memory in begun().filter(is_call) {
        if let Some(path) = memory.source.file_path().filter(|p| !files.contains(p)) {
            files.push(path);
        }
    }
    if !files.is_empty() {
        let more =
            if files.len() > 8 { format!(" and {} more", files.len() - 8) } else { String::new() };
        parts.push(format!(
            "{CHANGED}{}{more}",
            files.iter().take(8).copied().collect::<Vec<_>>().join(", ")
        ));
    }
    let answer = begun()
        .rev()
        .filter(|m| m.is_answer() && m.superseded_by.is_none())
        .map(statements::rest)
        .find(|rest| rest.split_whitespace().count() >= TELLING);
    parts.extend(answer.map(|rest| format!("{ANSWERED}{}", cut(&rest, 600))));
    // The summary of a session that continues after a summary replaces it.
    let before = memories.iter().find(|m| is_summary(m));
    let new = Memory::new(
        parts.join("\n"),
        MemorySource::ClaudeResponse { response_type: ResponseType::SessionSummary },
        session_id,
    );
    Some(Memory { id: before.map_or(new.id, |b| b.id), ..new })
}

/// Splits a summary into its parts, each with its beginning.
pub(super) fn parts_of_summary(content: &str) -> Vec<(&str, &str)> {
    let starts = [DECIDED, ASKED_FIRST, ASKED_LAST, CHANGED, ANSWERED];
    let part = |line| {
        starts
            .iter()
            .find_map(|start| Some((*start, str::strip_prefix(line, start)?)))
            .unwrap_or(("", line))
    };
    content.lines().map(part).collect()
}

pub(super) fn is_summary(memory: &Memory) -> bool {
    matches!(
        memory.source,
        MemorySource::ClaudeResponse { response_type: ResponseType::SessionSummary }
    )
}
