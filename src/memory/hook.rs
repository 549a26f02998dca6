//! What an agent's hooks tell, and what they are told.

use std::fmt::Write;

use chrono::{DateTime, Utc};
use serde::Deserialize;
use serde_json::Value;
use uuid::Uuid;

use super::recall::{DATA, context, cut, folded, source_of};
use crate::source::printable;

use super::{HookType, Memory, MemoryFilter, MemorySource, MemoryStore, Recall, RecallError, ResponseType, Select, StorageError, question};

/// What a session may be told when it begins, and with each prompt, in tokens.
pub const BRIEFING_TOKENS: usize = 500;
pub const PROMPT_TOKENS: usize = 600;
/// What is told before a file is edited.
pub const FILE_TOKENS: usize = 200;
/// Memories that a prompt is told, at most.
const MOST: usize = 5;
/// A prompt is told memories whose [`super::Found::evidence`] is at least this. Chosen with [`LEAST_BESIDE_BEST`] on the projects of
/// `tests/data/remembered.toml` that are not held out, alone and among 80 and 800 paragraphs of documentation.
const LEAST_EVIDENCE: f64 = 0.65;
/// Share of the best memory's evidence that another one needs to be told with it.
const LEAST_BESIDE_BEST: f64 = 0.85;
/// What of a prompt is searched for, in characters.
const ASKED: usize = 2_000;
/// What of anything is looked at to be remembered: more than is kept, so that a secret at the cut is known for one.
const KEPT: usize = super::MAX_CONTENT_CHARS + 2_000;
/// What of a tool's arguments is remembered.
const ARGUMENT: usize = 300;
/// An answer of so many words is worth telling later.
const SIGNIFICANT_WORDS: usize = 120;

/// What an agent tells a hook, as Claude Code does. Everything may be absent.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct HookInput {
    pub session_id: String,
    pub cwd: Option<std::path::PathBuf>,
    /// Of `SessionStart`: startup, resume, clear or compact.
    pub source: Option<String>,
    pub prompt: Option<String>,
    pub tool_name: Option<String>,
    pub tool_input: Value,
    pub last_assistant_message: Option<String>,
    pub transcript_path: Option<std::path::PathBuf>,
}

/// The first characters.
fn first(text: &str, n_chars: usize) -> &str {
    text.char_indices().nth(n_chars).map_or(text, |(at, _)| &text[..at])
}

impl HookInput {
    /// What the user asked, to be remembered.
    #[must_use]
    pub fn prompt_memory(&self) -> Option<Memory> {
        let prompt = self.prompt.as_deref()?.trim();
        // Commands of the agent's own say nothing of the project.
        let is_command = prompt.starts_with('/') && !prompt.contains(char::is_whitespace);
        (!prompt.is_empty() && !is_command).then(|| self.described(first(prompt, KEPT), HookType::UserPromptSubmit))
    }

    /// What a tool did, to be remembered: only what changes something.
    #[must_use]
    pub fn tool_memory(&self) -> Option<Memory> {
        let tool = self.tool_name.as_deref()?;
        let argument = |key: &str| self.tool_input.get(key).and_then(Value::as_str).filter(|s| !s.trim().is_empty());
        let said = match tool {
            "Edit" | "MultiEdit" | "Write" | "NotebookEdit" => {
                let path = argument("file_path").or_else(|| argument("notebook_path"))?;
                let edits = self.tool_input.get("edits").and_then(Value::as_array);
                let of_first = |key: &str| edits.and_then(|e| e.first()?.get(key)?.as_str());
                let change = |key: &str| argument(key).or_else(|| of_first(key)).map(|s| first(s.trim(), ARGUMENT));
                match (change("old_string"), change("new_string").or_else(|| change("content")).or_else(|| change("new_source"))) {
                    (Some(old), Some(new)) => format!("{tool} {path}\n- {old}\n+ {new}"),
                    (_, Some(new)) => format!("{tool} {path}\n+ {new}"),
                    _ => format!("{tool} {path}"),
                }
            }
            "Bash" => {
                let command = first(argument("command")?, ARGUMENT);
                argument("description").map_or_else(|| command.to_string(), |d| format!("{}\n{command}", first(d, ARGUMENT)))
            }
            _ => return None,
        };
        Some(self.described(&said, HookType::PostToolUse))
    }

    /// What the agent answered last, to be remembered.
    #[must_use]
    pub fn answer_memory(&self, transcript: Option<&str>) -> Option<Memory> {
        let answer = self.last_assistant_message.clone().or_else(|| last_answer(transcript?))?;
        let answer = first(answer.trim(), KEPT);
        if answer.is_empty() {
            return None;
        }
        let is_significant = answer.split_whitespace().count() >= SIGNIFICANT_WORDS;
        let response_type = if is_significant { ResponseType::SignificantResponse } else { ResponseType::StopResponse };
        Some(Memory::new(answer, MemorySource::ClaudeResponse { response_type }, &self.session_id))
    }

    fn described(&self, content: &str, hook_type: HookType) -> Memory {
        Memory::new(content, MemorySource::HookDescription { hook_type, tool_name: self.tool_name.clone() }, &self.session_id)
    }

    /// The file that a tool is about to change, relative to `root` where it is below.
    #[must_use]
    pub fn file(&self, root: &std::path::Path) -> Option<String> {
        let path = ["file_path", "notebook_path"].iter().find_map(|key| self.tool_input.get(key)?.as_str())?;
        Some(std::path::Path::new(path).strip_prefix(root).map_or(path.into(), |p| p.to_string_lossy().into_owned()))
    }
}

/// The text of the last answer in a transcript: JSON, one message a line.
fn last_answer(transcript: &str) -> Option<String> {
    transcript.lines().rev().find_map(|line| {
        let message: Value = serde_json::from_str(line).ok().filter(|m: &Value| m["type"] == "assistant")?;
        let parts = message["message"]["content"].as_array()?;
        let texts: Vec<&str> = parts.iter().filter(|p| p["type"] == "text").filter_map(|p| p["text"].as_str()).collect();
        (!texts.is_empty()).then(|| texts.join("\n"))
    })
}

/// What of the memories helps with a prompt that a session was not told before, and which these are.
///
/// # Errors
/// When the memories cannot be searched.
pub fn for_prompt(recall: &Recall, prompt: &str, given: &[Uuid], now: DateTime<Utc>) -> Result<(String, Vec<Uuid>), RecallError> {
    // What was asked before is no answer, and what was done to files is told when a session begins.
    let filter = MemoryFilter {
        exclude_sources: ["git_bulk_update", "filesystem_watch", "hook_description"].map(String::from).to_vec(),
        exclude_operations: vec!["move".into(), "rename".into()],
        ..MemoryFilter::default()
    };
    let prompt = first(prompt, ASKED);
    let subject = question::subject(prompt);
    if subject.is_empty() {
        return Ok((String::new(), Vec::new()));
    }
    let mut found = recall.ranked(&subject, prompt, &filter, 4 * MOST, now)?;
    // Also one that was told before says how good a memory can be.
    let least = LEAST_EVIDENCE.max(LEAST_BESIDE_BEST * found.iter().map(|f| f.evidence).fold(0.0, f64::max));
    found.retain(|f| f.evidence >= least && !given.contains(&f.memory.id) && f.memory.content.trim() != prompt.trim());
    found.truncate(MOST);
    let (text, n) = context(&found, PROMPT_TOKENS);
    let text = if n > 0 { format!("{DATA}\n\n{text}") } else { text };
    Ok((text, found[..n].iter().map(|f| f.memory.id).collect()))
}

/// What is known of a file that is about to be changed, and was not told before.
///
/// # Errors
/// When the memories cannot be read.
pub fn for_file(store: &MemoryStore, path: &str, given: &[Uuid]) -> Result<(String, Vec<Uuid>), StorageError> {
    let about = Select {
        about: Some(path.into()),
        exclude_sources: vec!["git_bulk_update".into(), "filesystem_watch".into()],
        ..Select::default()
    };
    let (mut text, mut told) = (String::new(), Vec::new());
    for memory in store.select(&Select { limit: 10, ..about })?.into_iter().filter(|m| !given.contains(&m.id)) {
        let line = format!("> {} ({})\n", printable(&cut(&folded(&memory.content), 300)), printable(&source_of(&memory.source)));
        if super::tokens(&text) + super::tokens(&line) > FILE_TOKENS {
            break;
        }
        text.push_str(&line);
        told.push(memory.id);
    }
    if !told.is_empty() {
        text.insert_str(0, &format!("{DATA} Of `{}`:\n", printable(path)));
    }
    Ok((text, told))
}

/// What a session was about, made of what was remembered of it: what was asked, what was changed, what was answered last. `None` when
/// nothing was asked in it.
///
/// # Errors
/// When its memories cannot be read.
pub fn summary(store: &MemoryStore, session_id: &str) -> Result<Option<Memory>, StorageError> {
    let mut memories = store.get_by_session(session_id)?;
    memories.reverse();
    Ok(summary_of(&memories, session_id))
}

/// The same of the memories of a session, oldest first.
pub(super) fn summary_of(memories: &[Memory], session_id: &str) -> Option<Memory> {
    let one_line = |m: &Memory, n: usize| cut(&folded(&m.content), n);
    let of = |wanted: HookType| {
        memories.iter().filter(move |m| matches!(&m.source, MemorySource::HookDescription { hook_type, .. } if *hook_type == wanted))
    };
    let asked: Vec<String> = of(HookType::UserPromptSubmit).map(|m| one_line(m, 120)).collect();
    let first_asked = asked.first()?;
    let mut text = format!("Asked: {first_asked}");
    if let Some(last) = asked.last().filter(|_| asked.len() > 1) {
        let _ = write!(text, "; … ({} prompts) last: {last}", asked.len());
    }
    let mut files: Vec<&str> = Vec::new();
    for memory in of(HookType::PostToolUse) {
        let path =
            memory.content.lines().next().and_then(|l| l.split_once(' ')).filter(|(tool, _)| tool.ends_with("Edit") || *tool == "Write");
        if let Some((_, path)) = path.filter(|(_, p)| !files.contains(p)) {
            files.push(path);
        }
    }
    if !files.is_empty() {
        let _ = write!(text, ". Changed: {}", files.iter().take(8).copied().collect::<Vec<_>>().join(", "));
        if files.len() > 8 {
            let _ = write!(text, " and {} more", files.len() - 8);
        }
    }
    let answer = memories
        .iter()
        .rev()
        .find(|m| matches!(m.source, MemorySource::ClaudeResponse { response_type } if response_type != ResponseType::SessionSummary));
    if let Some(answer) = answer {
        let _ = write!(text, ". Answered: {}", one_line(answer, 400));
    }
    // A session that goes on after a summary replaces it.
    let before = memories.iter().find(|m| is_summary(m));
    let new = Memory::new(text, MemorySource::ClaudeResponse { response_type: ResponseType::SessionSummary }, session_id);
    Some(Memory { id: before.map_or(new.id, |b| b.id), ..new })
}

pub(super) fn is_summary(memory: &Memory) -> bool {
    matches!(memory.source, MemorySource::ClaudeResponse { response_type: ResponseType::SessionSummary })
}
