//! What the last reloads did: in memory only, for people.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::Serialize;

use super::snapshot::Served;
use crate::chunk::{ChunkDelta, ChunkType};

/// Most reloads that the log holds.
const MAX_RELOADS: usize = 100;
/// Most generations of which it holds the number of chunks.
const MAX_GENERATIONS: usize = 200;
/// Most changed files that it names of one reload.
const MAX_FILES: usize = 3;
/// Most changed chunks of a reload that are looked at for the names of their files.
const MAX_LOOKED_AT: usize = 1000;

/// The last reloads that published or failed, and the number of chunks that each published, the
/// newest last. Reloads that found nothing new are left out.
#[derive(Debug, Clone, Default)]
pub struct ReloadLog {
    pub reloads: VecDeque<ReloadRow>,
    pub generations: VecDeque<GenerationRow>,
}

/// A reload of the index.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ReloadRow {
    /// When it ended, RFC 3339.
    pub(super) at: DateTime<Utc>,
    pub(super) milliseconds: f64,
    /// The generation of the code that is served after it.
    pub(super) generation: u64,
    /// Number of chunks.
    pub(super) added: usize,
    pub(super) updated: usize,
    pub(super) deleted: usize,
    /// The first files with added or updated chunks, at most 3.
    pub(super) files: Vec<String>,
    /// Why it failed, or a part of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<String>,
}

/// The chunks of one generation.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct GenerationRow {
    /// When it was served first, RFC 3339.
    at: DateTime<Utc>,
    generation: u64,
    /// Number of chunks by type.
    chunks: BTreeMap<&'static str, usize>,
}

impl ReloadLog {
    pub(super) fn add(&mut self, reload: ReloadRow, code: &Served) {
        let (at, generation) = (reload.at, reload.generation);
        push(&mut self.reloads, reload, MAX_RELOADS);
        // Generation 0 is what is served before there is an index.
        let last = self.generations.back().map_or(0, |last| last.generation);
        if last == generation {
            return;
        }
        let mut counts = ChunkType::SEARCHED.map(|t| (t, 0));
        for entry in code.corpus.chunks().all() {
            if let Some((_, n)) = counts.iter_mut().find(|(t, _)| *t == entry.chunk_type) {
                *n += 1;
            }
        }
        let chunks = counts.iter().map(|(t, n)| (t.as_str(), *n)).collect();
        push(&mut self.generations, GenerationRow { at, generation, chunks }, MAX_GENERATIONS);
    }
}

/// Adds a row to a log, which keeps the last ones.
pub fn push<T>(rows: &mut VecDeque<T>, row: T, most: usize) {
    if rows.len() == most {
        rows.pop_front();
    }
    rows.push_back(row);
}

/// Returns a duration in milliseconds, to a hundredth.
#[must_use]
pub fn milliseconds(took: Duration) -> f64 {
    (took.as_secs_f64() * 100_000.0).round() / 100.0
}

/// Adds the first files with added or updated chunks to `files`.
pub(super) fn name_files(delta: &ChunkDelta, files: &mut Vec<String>) {
    let updated = delta.updated.iter().map(|change| &change.new);
    let paths = delta.added.iter().chain(updated).take(MAX_LOOKED_AT);
    for path in paths.filter_map(|entry| entry.file_path.as_deref()) {
        if files.len() == MAX_FILES {
            return;
        }
        if !files.iter().any(|known| known == path) {
            files.push(path.to_string());
        }
    }
}
