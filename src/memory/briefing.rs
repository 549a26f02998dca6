//! What a session is told when it begins: what is pinned, what was decided, what happened since; a line each, with its source.

use std::collections::BTreeSet;
use std::fmt::Write;

use chrono::{DateTime, Local, Utc};
use uuid::Uuid;

use super::recall::{DATA, cut, folded, source_of, tokens};
use super::{EpisodeSource, Memory, MemorySource, MemoryStore, ResponseType, Select, StorageError};
use crate::source::printable;

/// Most memories of a briefing (D5).
const MOST: usize = 20;
/// Memories that are looked at.
const LOOKED_AT: usize = 300;
/// Longest line, in bytes.
const LINE: usize = 240;

/// A section: its heading, most lines of it, and which memories belong there.
struct Section {
    heading: &'static str,
    most: usize,
    holds: fn(&Memory) -> bool,
}

/// In the order in which they claim the budget.
const SECTIONS: &[Section] = &[
    Section { heading: "Always", most: 8, holds: |m| m.pinned },
    Section { heading: "Last session", most: 1, holds: |m| is_response(m, ResponseType::SessionSummary) },
    Section { heading: "Decided and noted", most: 6, holds: |m| is_said(m) },
    Section { heading: "Git", most: 4, holds: |m| is_episode(m, &[EpisodeSource::GitMetadata]) },
    Section { heading: "Edited by hand", most: 8, holds: |m| is_episode(m, &[EpisodeSource::FilesystemWatch]) },
    Section { heading: "Answered", most: 2, holds: |m| is_response(m, ResponseType::SignificantResponse) },
];

fn is_episode(memory: &Memory, sources: &[EpisodeSource]) -> bool {
    matches!(&memory.source, MemorySource::Episode(e) if sources.contains(&e.source))
}

fn is_said(memory: &Memory) -> bool {
    is_episode(memory, &[EpisodeSource::Text, EpisodeSource::Message, EpisodeSource::Json])
}

fn is_response(memory: &Memory, wanted: ResponseType) -> bool {
    matches!(memory.source, MemorySource::ClaudeResponse { response_type } if response_type == wanted)
}

/// What a session should know that was given `given` already, in at most so many tokens, and which memories that are. Empty when
/// there is nothing to tell.
///
/// # Errors
/// When the memories cannot be read.
pub fn briefing(store: &MemoryStore, given: &[Uuid], max_tokens: usize) -> Result<(String, Vec<Uuid>), StorageError> {
    let recent = Select {
        exclude_sources: vec![EpisodeSource::GitBulkUpdate.as_str().into(), "md_file_chunk".into()],
        exclude_operations: vec!["move".into(), "rename".into()],
        limit: LOOKED_AT,
        ..Select::default()
    };
    let mut memories = store.select(&Select { pinned: Some(true), ..recent.clone() })?;
    memories.extend(store.select(&Select { pinned: Some(false), ..recent })?);
    memories.retain(|m| !given.contains(&m.id));
    let (mut text, mut told): (String, Vec<Uuid>) = (String::new(), Vec::new());
    for section in SECTIONS {
        // A file that was edited twice is told once.
        let mut files: BTreeSet<String> = BTreeSet::new();
        let is_new = |m: &&Memory| m.source.operation().is_none() || m.source.file_path().is_none_or(|p| files.insert(p.into()));
        let own = memories.iter().filter(|m| (section.holds)(m) && !told.contains(&m.id));
        let own: Vec<&Memory> = own.filter(is_new).take(section.most.min(MOST - told.len())).collect();
        let mut heading = format!("{}:\n", section.heading);
        for memory in own {
            let line = line(memory);
            if tokens(&text) + tokens(&heading) + tokens(&line) + tokens(CLOSING) + tokens(DATA) + 1 > max_tokens {
                break;
            }
            text.push_str(&std::mem::take(&mut heading));
            text.push_str(&line);
            told.push(memory.id);
        }
    }
    if !told.is_empty() {
        text.insert_str(0, &format!("{DATA}\n"));
        text.push_str(CLOSING);
    }
    Ok((text, told))
}

const CLOSING: &str = "More: search_memory_nodes, or `cortex memory search`.\n";

/// `> We keep the cache in one file (text, 2026-01-31)`
fn line(memory: &Memory) -> String {
    let content = folded(&memory.content);
    let is_event = memory.source.operation().is_some() && !memory.name.is_empty();
    let what = if memory.name.is_empty() || content.contains(&memory.name) {
        content
    } else if is_event {
        memory.name.clone()
    } else {
        format!("{}: {content}", memory.name)
    };
    let mut line = format!("> {}", printable(&cut(&what, LINE)));
    let _ = writeln!(line, " ({}, {})", printable(&source_in_short(&memory.source)), when(memory.created_at));
    line
}

fn source_in_short(source: &MemorySource) -> String {
    match source {
        // Its text names the file.
        MemorySource::Episode(episode) => episode.source.as_str().into(),
        source => source_of(source),
    }
}

fn when(at: DateTime<Utc>) -> String {
    at.with_timezone(&Local).format("%Y-%m-%d %H:%M").to_string()
}
