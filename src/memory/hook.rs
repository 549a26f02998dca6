//! Makes memories of the events of agents, and finds the memories that hooks return.

use std::cmp::Reverse;
use std::path::{Component, Path, PathBuf};

use chrono::{DateTime, Utc};
use uuid::Uuid;

use super::recall::{DATA, context, source_of};
use super::redacted::MAX_TEXT_CHARS;
use super::statements::{self, StatementKind, is_recognised};
use crate::agents::{Deed, Event, last_answer};
use crate::source::printable;
use crate::text::{cut_at_word as cut, folded, tokens};

use super::{
    HookType, Memory, MemoryFilter, MemorySource, MemoryStore, Recall, RecallError, ResponseType,
    Select, StorageError, question,
};

/// Limit in tokens of the text that a session receives at its start, and of that with each prompt.
pub const BRIEFING_TOKENS: usize = 500;
pub const PROMPT_TOKENS: usize = 600;
/// Limit in tokens of the text before a file is edited.
pub const FILE_TOKENS: usize = 200;
/// The sources of memories that state nothing: changes of files, prompts, and calls of tools.
const NOT_SAID: [&str; 3] = ["git_bulk_update", "filesystem_watch", "hook_description"];
/// Most memories returned for a prompt.
const MOST: usize = 5;
/// A memory is returned for a prompt if its [`super::RecalledMemory::evidence`] is at least this.
/// The value and [`LEAST_BESIDE_BEST`] were chosen on the projects of `tests/data/remembered.toml`
/// that are not held out, alone and among 80 and 800 paragraphs of documentation.
const LEAST_EVIDENCE: f64 = 0.65;
/// Another memory is returned only if its evidence is at least this share of the best one's.
const LEAST_BESIDE_BEST: f64 = 0.85;
/// Characters of a prompt that are used for the search.
const ASKED: usize = 2_000;
/// Characters of a text that are processed: more than are stored, so that a secret at the cut is
/// still recognised.
const KEPT: usize = MAX_TEXT_CHARS + 2_000;
/// Most memories of each kind that are returned for a file.
const MOST_OF_FILE: usize = 10;
/// Characters of each argument of a tool that are stored.
const ARGUMENT: usize = 300;
/// An answer with this many words is worth showing later.
const SIGNIFICANT_WORDS: usize = 120;

/// Returns the first `n_chars` characters.
fn first(text: &str, n_chars: usize) -> &str {
    text.char_indices().nth(n_chars).map_or(text, |(at, _)| &text[..at])
}

impl Event {
    /// Returns the memory of a user's prompt.
    #[must_use]
    pub fn prompt_memory(&self) -> Option<Memory> {
        let prompt = self.prompt.as_deref()?.trim();
        // Commands of the agent itself say nothing about the project.
        let is_command = prompt.starts_with('/') && !prompt.contains(char::is_whitespace);
        (!prompt.is_empty() && !is_command)
            .then(|| self.described(first(prompt, KEPT), HookType::UserPromptSubmit, None))
    }

    /// Returns the memory of a tool call in the project at `root`; `None` if the tool changed
    /// nothing.
    #[must_use]
    pub fn tool_memory(&self, root: &Path) -> Option<Memory> {
        match self.deed.as_ref()? {
            Deed::Edit { old, new } => {
                let path = self.file_below(root)?;
                let tool = self.tool.as_deref().unwrap_or_default();
                let [old, new] =
                    [old, new].map(|text| text.as_deref().map(|text| first(text.trim(), ARGUMENT)));
                let content = match (old, new) {
                    (Some(old), Some(new)) => format!("{tool} {path}\n- {old}\n+ {new}"),
                    (_, Some(new)) => format!("{tool} {path}\n+ {new}"),
                    _ => format!("{tool} {path}"),
                };
                Some(self.described(&content, HookType::PostToolUse, Some(path)))
            }
            Deed::Command { command, description } => {
                let command = first(command, ARGUMENT);
                let said = description.as_deref().map_or_else(
                    || command.to_string(),
                    |d| format!("{}\n{command}", first(d, ARGUMENT)),
                );
                Some(self.described(&said, HookType::PostToolUse, None))
            }
        }
    }

    /// Returns the memory of the agent's last answer.
    #[must_use]
    pub fn answer_memory(&self, transcript: Option<&str>) -> Option<Memory> {
        let answer = self.answer.clone().or_else(|| last_answer(transcript?))?;
        let answer = first(answer.trim(), KEPT);
        if answer.is_empty() {
            return None;
        }
        let is_significant = answer.split_whitespace().count() >= SIGNIFICANT_WORDS;
        let response_type = if is_significant {
            ResponseType::SignificantResponse
        } else {
            ResponseType::StopResponse
        };
        Some(Memory::new(answer, MemorySource::ClaudeResponse { response_type }, &self.session_id))
    }

    fn described(&self, content: &str, hook_type: HookType, file_path: Option<String>) -> Memory {
        let tool_name = self.tool.clone();
        Memory::new(
            content,
            MemorySource::HookDescription { hook_type, tool_name, file_path },
            &self.session_id,
        )
    }

    /// Returns the file that a tool works on, relative to `root` if it is below it.
    #[must_use]
    pub fn file_below(&self, root: &Path) -> Option<String> {
        let path = Path::new(self.file.as_deref()?);
        // The agent may know the project by the path of a link to it.
        let full = self.cwd.as_deref().filter(|_| path.is_relative()).unwrap_or(root).join(path);
        let below = full.strip_prefix(root).ok().filter(|p| is_plain(p)).map(Path::to_path_buf);
        let below =
            below.or_else(|| canonical(&full)?.strip_prefix(root).ok().map(Path::to_path_buf));
        Some(below.as_deref().unwrap_or(&full).to_string_lossy().into_owned())
    }
}

/// Returns whether a path has no `..`.
fn is_plain(path: &Path) -> bool {
    path.components().all(|c| matches!(c, Component::Normal(_)))
}

/// Resolves links in the directories of a path. The file itself need not exist.
#[expect(clippy::disallowed_methods, reason = "finds where a path leads, and opens nothing")]
fn canonical(path: &Path) -> Option<PathBuf> {
    let above = path.ancestors().skip(1).find_map(|above| {
        Some((std::fs::canonicalize(above).ok()?, path.strip_prefix(above).ok()?))
    });
    above.filter(|(_, rest)| is_plain(rest)).map(|(above, rest)| above.join(rest))
}

/// Returns the memories relevant to `prompt` that this session has not received, as text, and their
/// ids.
///
/// # Errors
/// When the memories cannot be searched.
pub fn for_prompt(
    recall: &Recall,
    prompt: &str,
    given: &[Uuid],
    now: DateTime<Utc>,
) -> Result<(String, Vec<Uuid>), RecallError> {
    // Earlier prompts are not answers, and changes of files are in the briefing.
    let filter = MemoryFilter {
        exclude_sources: NOT_SAID.map(String::from).to_vec(),
        exclude_operations: vec!["move".into(), "rename".into()],
        ..MemoryFilter::default()
    };
    let prompt = first(prompt, ASKED);
    let subject = question::subject(prompt);
    if subject.is_empty() {
        return Ok((String::new(), Vec::new()));
    }
    let mut found = recall.ranked(&subject, prompt, &filter, 4 * MOST, now)?;
    // Memories of this session, and those that it received, must not raise the threshold for the
    // others.
    found.retain(|f| !given.contains(&f.memory.id) && f.memory.content.trim() != prompt.trim());
    found.retain(|f| f.superseded.is_none());
    if question::is_for_decision(prompt) {
        // A decision about the subject answers, however few words the subject has.
        let decides = |m: &Memory| statements::kind_of(&m.content) == Some(StatementKind::Decision);
        for one in found.iter_mut().filter(|f| decides(&f.memory)) {
            one.evidence = f64::from(one.similarity) + one.words;
        }
    }
    let best = found.iter().map(|f| f.evidence).fold(0.0, f64::max);
    found.retain(|f| f.evidence >= LEAST_EVIDENCE.max(LEAST_BESIDE_BEST * best));
    found.truncate(MOST);
    let (text, n) = context(&found, PROMPT_TOKENS);
    let text = if n > 0 { format!("{DATA}\n\n{text}") } else { text };
    Ok((text, found[..n].iter().map(|f| f.memory.id).collect()))
}

/// Returns what is stored about a file that is about to change and that this session has not
/// received: texts about it and changes of it.
///
/// # Errors
/// When the memories cannot be read.
pub fn for_file(
    store: &MemoryStore,
    path: &str,
    given: &[Uuid],
) -> Result<(String, Vec<Uuid>), StorageError> {
    let said = Select {
        about: Some(path.into()),
        exclude_sources: NOT_SAID.map(String::from).to_vec(),
        limit: MOST_OF_FILE,
        ..Select::default()
    };
    let is_edit = |m: &Memory| matches!(m.source, MemorySource::HookDescription { .. });
    let mut memories = store.select(&said)?;
    memories.extend(store.get_by_file_path(path)?.into_iter().filter(is_edit).take(MOST_OF_FILE));
    memories.retain(|m| m.superseded_by.is_none());
    memories.sort_by_key(|m| (!is_recognised(m), is_edit(m), Reverse(m.speaker())));
    let heading = format!("{DATA} About `{}`:\n", printable(path));
    let room = FILE_TOKENS.saturating_sub(tokens(&heading));
    let (mut text, mut told, mut known) = (String::new(), Vec::new(), Vec::new());
    for memory in memories.into_iter().filter(|m| !given.contains(&m.id)) {
        let key = statements::key(&memory.content);
        let line = format!(
            "> {} ({})\n",
            printable(&cut(&folded(&memory.content), 300)),
            printable(&source_of(&memory.source))
        );
        if !known.contains(&key) {
            if tokens(&text) + tokens(&line) > room {
                break;
            }
            text.push_str(&line);
            known.push(key);
        }
        told.push(memory.id);
    }
    if !told.is_empty() {
        text.insert_str(0, &heading);
    }
    Ok((text, told))
}
