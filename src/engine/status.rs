//! What is indexed, and how keeping it up to date goes.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::freshness::AnswerState;
use super::serving::{Engine, Upkeep};
use super::{AskError, Call, is_zero};
use crate::chunk::{ChunkSet, ChunkType};
use crate::index::{IndexingService, Watching};
use crate::live::resident_bytes;
use crate::search::Hnsw;
use crate::store::{Activity, SourceTable};

/// How much is to be told.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
pub struct StatusRequest {
    /// Tell every file that was skipped, and every secret that was hidden.
    #[serde(default)]
    pub verbose: bool,
}

/// What is indexed.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct StatusAnswer {
    /// Of the project.
    pub root: String,
    /// Why that directory is the root.
    pub root_reason: &'static str,
    /// The directory of the index: `.cortex`, or one in the user's cache.
    pub kept_in: String,
    /// Of Cortex.
    pub version: &'static str,
    /// Indexed files.
    pub files: usize,
    /// Their chunks.
    pub chunks: usize,
    /// Chunks by type.
    pub chunk_types: BTreeMap<&'static str, usize>,
    /// Files by language.
    pub languages: BTreeMap<String, usize>,
    /// Another program wrote the index.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub foreign: bool,
    /// Files of other programs that are served beside the index, by their names in
    /// `.cortex/chunks`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("default" = []))]
    pub other_files: Vec<String>,
    /// Files changed since the index was brought up to date; only told by a process that does not
    /// follow them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stale: Option<bool>,
    /// What makes the vectors.
    pub embedder: String,
    /// Vectors in the graph that proposes candidates; without it every vector is compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vectors_in_hnsw: Option<usize>,
    /// Files that were left out, by reason.
    pub skipped: BTreeMap<String, usize>,
    /// Each of them, with the reason, if that was asked for.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("default" = {}))]
    pub skipped_files: BTreeMap<String, String>,
    /// Secrets that were taken out of the files: replies have `[REDACTED:rule]` in their place.
    pub secrets: Secrets,
    /// Settings of files that do not count, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("default" = []))]
    pub ignored_settings: Vec<String>,
    /// Chunk files that this command parsed.
    #[serde(skip_serializing_if = "is_zero")]
    #[schemars(extend("default" = 0))]
    pub files_parsed: usize,
    /// How a server loads new generations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reload: Option<Reloads>,
    /// What a server holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<ResidentMemory>,
    /// How indexing goes.
    pub indexing: Indexing,
    #[serde(flatten)]
    pub state: AnswerState,
}

/// Secrets in files.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Secrets {
    /// How many there are.
    pub total: usize,
    /// The first of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("default" = []))]
    pub first: Vec<HiddenSecret>,
}

/// Where a secret is; never what it is.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct HiddenSecret {
    /// Relative to the root.
    pub path: String,
    /// 1-based.
    pub line: u32,
    /// What found it.
    pub rule: String,
}

/// Secrets that are named where not all are asked for.
const SECRETS_SHOWN: usize = 20;

/// How loading of new generations goes.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Reloads {
    /// That ended well.
    pub successful: u64,
    /// That did not.
    pub failed: u64,
    /// That found something new.
    pub published: u64,
    /// Chunk files that were parsed in them, each once for all indexes.
    pub files_parsed: u64,
    /// Milliseconds.
    pub last_duration_ms: f64,
    /// Of the last one, if it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
}

/// What this process holds.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ResidentMemory {
    /// Megabytes that it holds; null where the system does not tell.
    pub resident_mb: Option<u64>,
    /// Megabytes that it may hold, if that is limited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget_mb: Option<u64>,
    /// What it does without to hold no more: caches, vectors.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    #[schemars(extend("default" = []))]
    pub given_up: &'static [&'static str],
}

/// How indexing goes.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Indexing {
    /// This process follows the source tree.
    pub leads: bool,
    /// How changes are noticed.
    pub watching: String,
    /// Runs of this process that wrote a generation.
    pub runs: u64,
    /// Files done in the run under way.
    pub done: usize,
    /// Files to do in it; 0 when none is under way.
    pub total: usize,
    /// Changed paths that wait for the next run.
    pub queued: usize,
    /// Of the last one, if it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
}

impl Engine {
    /// What is indexed, and how fresh it is. A command reads the index as it is, and makes nothing.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub fn status(&self, request: StatusRequest, call: &Call) -> Result<StatusAnswer, AskError> {
        let private = self.project.layout.tracked_private_files();
        match &self.upkeep {
            Upkeep::Server(_) => {
                let view = self.view(call)?;
                let corpus = &view.code.corpus;
                let metrics = self.manager.metrics();
                Ok(StatusAnswer {
                    vectors_in_hnsw: corpus.vectors().hnsw().map(Hnsw::n_vectors),
                    reload: Some(Reloads {
                        successful: metrics.n_successful,
                        failed: metrics.n_failed,
                        published: metrics.n_published,
                        files_parsed: metrics.n_files_parsed,
                        last_duration_ms: (metrics.last_duration.as_secs_f64() * 10_000.0).round()
                            / 10.0,
                        last_error: metrics.last_error,
                    }),
                    memory: Some(ResidentMemory {
                        resident_mb: resident_bytes().map(|b| b >> 20),
                        budget_mb: self.memory_budget().map(|b| b >> 20),
                        given_up: metrics.given_up.names(),
                    }),
                    ..self.status_of(
                        corpus.chunks(),
                        request,
                        view.state.warning_first(private).in_brief(call),
                    )
                })
            }
            Upkeep::Command(_) => {
                let loaded = self.project.read_chunks()?;
                // Whoever serves such files counts what it sees of them, from 1.
                let foreign = loaded.generation.is_none() && !loaded.set.is_empty();
                let mut index = self.freshness();
                (index.generation, index.local) =
                    (loaded.generation.unwrap_or(u64::from(foreign)), foreign);
                index.pending = Activity::read(&self.project.layout).pending();
                index.vectors_pending = self.project.n_without_vectors(&loaded.set);
                let state = AnswerState {
                    index,
                    warnings: loaded.warnings.into_iter().chain(private).collect(),
                };
                Ok(StatusAnswer {
                    foreign,
                    stale: Some(self.project.is_stale()),
                    files_parsed: loaded.n_parsed,
                    ..self.status_of(&loaded.set, request, state.in_brief(call))
                })
            }
        }
    }

    /// What every process can tell of these chunks.
    fn status_of(
        &self,
        chunks: &ChunkSet,
        request: StatusRequest,
        state: AnswerState,
    ) -> StatusAnswer {
        let layout = &self.project.layout;
        let mut languages: BTreeMap<String, usize> = BTreeMap::new();
        for path in chunks.files() {
            let language = chunks.by_file(path).find_map(|e| e.language.as_deref());
            *languages.entry(language.unwrap_or("unknown").to_string()).or_default() += 1;
        }
        let table = SourceTable::read(layout).unwrap_or_default();
        let secret = |(path, line, rule): (&str, u32, &str)| HiddenSecret {
            path: path.to_string(),
            line,
            rule: rule.to_string(),
        };
        let n_secrets = if request.verbose { usize::MAX } else { SECRETS_SHOWN };
        let skipped = |(path, reason): (&str, &str)| (path.to_string(), reason.to_string());
        StatusAnswer {
            root: layout.root().display().to_string(),
            root_reason: layout.reason(),
            kept_in: layout.dot_cortex().display().to_string(),
            version: env!("CARGO_PKG_VERSION"),
            files: chunks.files().count(),
            chunks: chunks.len(),
            chunk_types: ChunkType::ALL.iter().map(|t| (t.as_str(), chunks.count(*t))).collect(),
            languages,
            foreign: layout.is_foreign(),
            other_files: layout.other_chunk_files(),
            stale: None,
            embedder: self.project.embedder().id().to_string(),
            vectors_in_hnsw: None,
            skipped: table.n_skipped(),
            skipped_files: if request.verbose {
                table.all_skipped().map(skipped).collect()
            } else {
                BTreeMap::new()
            },
            secrets: Secrets {
                total: table.all_secrets().count(),
                first: table.all_secrets().take(n_secrets).map(secret).collect(),
            },
            ignored_settings: self.project.config.ignored.clone(),
            files_parsed: 0,
            reload: None,
            memory: None,
            indexing: self.indexing_status(),
            state,
        }
    }

    fn indexing_status(&self) -> Indexing {
        let service = self.indexing().map(IndexingService::status);
        let Activity { done, total, queued } = Activity::read(&self.project.layout);
        let watching = match service.as_ref().map(|s| &s.watching) {
            None => "not by this process: it only serves".into(),
            Some(Watching::Elsewhere) => "by another process, or not yet".into(),
            Some(Watching::Events(1)) => "by events from 1 directory".into(),
            Some(Watching::Events(n)) => format!("by events from {n} directories"),
            Some(Watching::Polling(why)) => format!("by looking now and then: {why}"),
        };
        let service = service.unwrap_or_default();
        Indexing {
            leads: service.leads,
            watching,
            runs: service.n_runs,
            done,
            total,
            queued,
            last_error: service.last_error,
        }
    }
}
