//! What the last reloads did: in memory only, for people.

use std::collections::VecDeque;
use std::time::Duration;

use chrono::{DateTime, Utc};

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
    pub reloads: VecDeque<LoggedReload>,
    pub generations: VecDeque<LoggedGeneration>,
}

/// One reload, over all feeds.
#[derive(Debug, Clone)]
pub struct LoggedReload {
    /// When it ended.
    pub at: DateTime<Utc>,
    pub took: Duration,
    /// The generation of the code that is served after it.
    pub generation: u64,
    /// Number of chunks.
    pub n_added: usize,
    pub n_updated: usize,
    pub n_deleted: usize,
    /// Files with added or updated chunks: the first ones.
    pub files: Vec<String>,
    /// Why it failed, or a part of it.
    pub error: Option<String>,
}

/// Number of chunks of the code in one generation.
#[derive(Debug, Clone)]
pub struct LoggedGeneration {
    pub at: DateTime<Utc>,
    pub generation: u64,
    /// Number of chunks by type, for every type that a search finds.
    pub chunks: Vec<(&'static str, usize)>,
}

impl ReloadLog {
    pub(super) fn add(&mut self, reload: LoggedReload, code: &Served) {
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
        push(&mut self.generations, LoggedGeneration { at, generation, chunks }, MAX_GENERATIONS);
    }
}

fn push<T>(rows: &mut VecDeque<T>, row: T, most: usize) {
    if rows.len() == most {
        rows.pop_front();
    }
    rows.push_back(row);
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
