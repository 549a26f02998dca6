//! Shows what happened, by session.

use anyhow::Result;
use chrono::{DateTime, Local, Utc};
use console::style;
use serde::Serialize;
use serde_json::json;

use super::super::outcome::Outcome;
use super::super::render::{count, json, line, printable, width};
use super::shared::title;
use crate::memory::{Episode, EpisodeSource, Memories, Memory, MemorySource, Select, Session};

#[derive(Serialize)]
struct Timeline {
    /// `None`: events outside of sessions.
    session: Option<Session>,
    /// Oldest first. One event stands for all files of a git operation.
    events: Vec<Event>,
}

#[derive(Serialize)]
struct Event {
    at: DateTime<Utc>,
    source: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<uuid::Uuid>,
    text: String,
}

pub(super) fn print(memories: &Memories, limit: usize, as_json: bool) -> Result<Outcome> {
    let sessions = memories.store.sessions(limit)?;
    let mut told = Vec::new();
    for session in sessions {
        let events = events(memories.store.get_by_session(&session.id)?);
        told.push(Timeline { session: Some(session), events });
    }
    let since = told
        .iter()
        .filter_map(|t| t.session.as_ref())
        .map(|s| s.started_at)
        .min()
        .filter(|_| told.len() == limit);
    let outside = Select { session_id: Some(String::new()), since, ..Select::default() };
    let outside = events(memories.store.select(&outside)?);
    if !outside.is_empty() {
        told.push(Timeline { session: None, events: outside });
    }
    if as_json {
        json(&json!({ "sessions": told }))?;
    } else {
        told.iter().try_for_each(print_one)?;
        if told.is_empty() {
            tell!("nothing happened yet");
        }
    }
    Ok(Outcome::of(!told.is_empty()))
}

fn events(newest_first: Vec<Memory>) -> Vec<Event> {
    let mut events: Vec<Event> = Vec::new();
    for memory in newest_first.into_iter().rev() {
        // A git operation on many files has an event of its own.
        let is_in_batch =
            |e: &Episode| e.source == EpisodeSource::GitBulkUpdate && e.git_batch_id.is_some();
        if matches!(&memory.source, MemorySource::Episode(e) if is_in_batch(e)) {
            continue;
        }
        events.push(Event {
            at: memory.created_at,
            source: memory.source.name(),
            id: Some(memory.id),
            text: title(&memory).to_string(),
        });
    }
    events
}

fn print_one(told: &Timeline) -> Result<()> {
    let local = |at: &DateTime<Utc>| at.with_timezone(&Local);
    let head = match &told.session {
        Some(s) => format!(
            "{}  {}  {}",
            local(&s.started_at).format("%Y-%m-%d %H:%M"),
            s.status.as_str(),
            printable(&s.id)
        ),
        None => "outside of sessions".into(),
    };
    line(&format!(
        "{}  {}",
        style(head).cyan().bold(),
        style(count(told.events.len(), "event")).dim()
    ))?;
    for event in &told.events {
        let text = format!(
            "  {}  {}  {}",
            local(&event.at).format("%H:%M"),
            event.source,
            printable(&event.text)
        );
        line(&console::truncate_str(&text, width(), "…"))?;
    }
    Ok(())
}
