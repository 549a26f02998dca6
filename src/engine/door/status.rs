//! Reports what is indexed, how fresh it is, and how indexing and reloading progress.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::chunk::{ChunkSet, ChunkType};
use crate::engine::door::freshness::AnswerState;
use crate::engine::door::project::Project;
use crate::engine::door::serving::{Engine, Upkeep};
use crate::engine::{AskError, Call, Team, is_zero};
use crate::index::{IndexingService, Watching};
use crate::live::resident_bytes;
use crate::search::Hnsw;
use crate::source::{self, IgnoreRule, LeftOut};
use crate::store::{Activity, SourceTable};

/// The level of detail of a status.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
pub struct StatusRequest {
    /// List every skipped file, every hidden secret, and what ignore files and names leave out.
    #[serde(default)]
    pub verbose: bool,
}

/// The state of the index and of the process.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct StatusAnswer {
    /// Root of the project, an absolute path.
    pub root: String,
    /// Why that directory is the root.
    pub root_reason: &'static str,
    /// The directory of the index: `.cortex`, or one in the user's cache.
    pub kept_in: String,
    /// Version of Cortex.
    pub version: &'static str,
    /// Number of indexed files.
    pub files: usize,
    /// Number of chunks.
    pub chunks: usize,
    /// Number of chunks by type.
    pub chunk_types: BTreeMap<&'static str, usize>,
    /// Number of commits whose messages help to rank.
    pub commits: usize,
    /// Folders with a repository of their own; they are indexed, without their commits.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("default" = []))]
    pub nested: Vec<String>,
    /// Number of files by language.
    pub languages: BTreeMap<String, usize>,
    /// Another program wrote the index.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub foreign: bool,
    /// What a server has open for questions beside the text index: graph, history. It opens them when
    /// an agent connects.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("default" = []))]
    pub open: Vec<&'static str>,
    /// Files of other programs that are served beside the index, by their names in
    /// `.cortex/chunks`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("default" = []))]
    pub other_files: Vec<String>,
    /// Whether files changed since the index was updated. Only the command reports it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stale: Option<bool>,
    /// Whether there are commits that the index has not read. Only the command reports it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new_commits: Option<bool>,
    /// Id of the embedder that makes the vectors.
    pub embedder: String,
    /// Number of vectors in the HNSW graph; absent if every vector is compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vectors_in_hnsw: Option<usize>,
    /// The published repositories of the team that can be asked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("default" = []))]
    pub published: Vec<String>,
    /// Number of skipped files by reason.
    pub skipped: BTreeMap<String, usize>,
    /// Each skipped file with the reason, if `verbose`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("default" = {}))]
    pub skipped_files: BTreeMap<String, String>,
    /// What is not looked at because of its name or an ignore file, if `verbose` and if there is any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_out: Option<LeftOutList>,
    /// Secrets that were removed from the indexed text; replies show `[REDACTED:rule]` instead.
    pub secrets: Secrets,
    /// Settings that are ignored, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("default" = []))]
    pub ignored_settings: Vec<String>,
    /// Number of chunk files that this command parsed.
    #[serde(skip_serializing_if = "is_zero")]
    #[schemars(extend("default" = 0))]
    pub files_parsed: usize,
    /// Statistics of a server's reloads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reload: Option<Reloads>,
    /// Memory use of a server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<ResidentMemory>,
    /// Progress of indexing.
    pub indexing: Indexing,
    #[serde(flatten)]
    pub state: AnswerState,
}

/// The secrets that were found in files.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct Secrets {
    /// Number of secrets.
    pub total: usize,
    /// The first ones; all if `verbose`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("default" = []))]
    pub first: Vec<HiddenSecret>,
}

/// The place of a secret, never its text.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct HiddenSecret {
    /// Relative to the root.
    pub path: String,
    /// 1-based.
    pub line: u32,
    /// Name of the rule that found it.
    pub rule: String,
}

/// Files and folders that are not looked at, as they are now.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct LeftOutList {
    /// Number of files and folders. What is in a folder is not counted.
    pub total: usize,
    /// The first ones by path, at most 200.
    pub first: Vec<LeftOutRow>,
}

/// A file or folder that is not looked at.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct LeftOutRow {
    /// Relative to the root; a folder ends with `/`.
    pub path: String,
    /// ignored, hidden, a symbolic link …
    pub reason: String,
    /// The rule of an ignore file that leaves it out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<LeftOutRule>,
    /// Whether `index.include` includes something in the folder.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub partly: bool,
}

/// A rule of an ignore file.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct LeftOutRule {
    /// The ignore file, relative to the root; absolute if it is above the root.
    pub path: String,
    /// 1-based.
    pub line: usize,
    /// The rule as it is written there.
    pub glob: String,
}

/// Number of files and folders left out that a reply lists.
const LEFT_OUT_SHOWN: usize = 200;

/// Returns the folders of indexed files that hold a repository of their own.
fn nested(root: &Path, chunks: &ChunkSet) -> Vec<String> {
    let mut folders = BTreeSet::new();
    for path in chunks.files() {
        let mut ends = path.rmatch_indices('/').map(|(at, _)| &path[..at]);
        // The folders above a known one are known.
        while let Some(folder) = ends.next()
            && folders.insert(folder)
        {}
    }
    source::with_repository(root, folders).into_iter().map(String::from).collect()
}

impl StatusAnswer {
    /// Says what is newer than the index, if the answer knows of anything.
    #[must_use]
    pub fn newer(&self) -> Option<&'static str> {
        if self.stale == Some(true) {
            return Some("files changed since");
        }
        (self.new_commits == Some(true)).then_some("new commits since")
    }
}

impl LeftOutList {
    fn of(project: &Project) -> Self {
        let found = source::left_out(project.layout.root(), &project.walk);
        let total = found.len();
        let rule = |IgnoreRule { path, line, glob }| LeftOutRule { path, line, glob };
        let row = |LeftOut { path, reason, rule: by, is_part: partly }| LeftOutRow {
            path,
            reason,
            rule: by.map(rule),
            partly,
        };
        Self { total, first: found.into_iter().take(LEFT_OUT_SHOWN).map(row).collect() }
    }
}

impl LeftOutRow {
    /// Returns the line of a list: `target/: ignored by .gitignore:1 (/target)`.
    #[must_use]
    pub fn line(&self) -> String {
        let by = self.rule.as_ref().map_or_else(String::new, |LeftOutRule { path, line, glob }| {
            format!(" by {path}:{line} ({glob})")
        });
        let except = if self.partly { ", except what index.include names" } else { "" };
        format!("{}: {}{by}{except}", self.path, self.reason)
    }
}

/// Number of secrets that a reply lists unless all are requested.
const SECRETS_SHOWN: usize = 20;

/// Statistics of a server's reloads.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Reloads {
    /// Number of successful reloads.
    pub successful: u64,
    /// Number of failed reloads.
    pub failed: u64,
    /// Number of reloads that found a change.
    pub published: u64,
    /// Number of chunk files parsed; a file counts once, however many indexes use it.
    pub files_parsed: u64,
    /// Duration of the last reload, in milliseconds.
    pub last_duration_ms: f64,
    /// Error of the last reload, if it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
}

/// Memory use of this process.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ResidentMemory {
    /// Resident memory in MiB; null if the system does not report it.
    pub resident_mb: Option<u64>,
    /// Memory budget in MiB, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget_mb: Option<u64>,
    /// What it gave up to stay within the budget: caches, vectors.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    #[schemars(extend("default" = []))]
    pub given_up: &'static [&'static str],
}

/// Progress of indexing.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct Indexing {
    /// Whether this process watches the source tree.
    pub leads: bool,
    /// How changes are noticed.
    pub watching: String,
    /// Number of runs of this process that wrote a generation.
    pub runs: u64,
    /// Files done in the current run.
    pub done: usize,
    /// Files to do in the current run; 0 if there is no run.
    pub total: usize,
    /// Changed paths that wait for the next run.
    pub queued: usize,
    /// Error of the last run, if it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
}

impl Engine {
    /// Reports what is indexed and how fresh it is. In a command it reads the index as it is, and
    /// does not update it.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub fn status(&self, request: StatusRequest, call: &Call) -> Result<StatusAnswer, AskError> {
        let mut answer = self.own_status(request, call)?;
        match call.team.as_ref().map(Team::names) {
            Some(Ok(names)) => answer.published = names,
            Some(Err(e)) => answer.state.warnings.push(e.to_string()),
            None => {}
        }
        if call.team.as_ref().is_some_and(|team| team.asks_all) {
            // The folder in which the server runs is no matter of those who ask.
            (answer.root, answer.kept_in) = Default::default();
            answer.root_reason = "";
            answer.state = AnswerState {
                projects: answer.published.len(),
                warnings: call.warnings.clone(),
                ..AnswerState::default()
            };
        }
        Ok(answer)
    }

    fn own_status(&self, request: StatusRequest, call: &Call) -> Result<StatusAnswer, AskError> {
        match &self.upkeep {
            Upkeep::Server(_) => {
                let view = self.view_now(call)?;
                let (table, warnings) = self.sources();
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
                        &table,
                        request,
                        view.state.warning_first(warnings).in_brief(call),
                    )
                })
            }
            Upkeep::Command(_) => {
                let loaded = self.project.read_chunks()?;
                let (table, warnings) = self.sources();
                // Chunk files of another program have no generation. A server counts the states of
                // them from 1, so a command, which sees one state, reports 1.
                let foreign = loaded.generation.is_none() && !loaded.set.is_empty();
                let mut index = self.freshness();
                (index.generation, index.local) =
                    (loaded.generation.unwrap_or(u64::from(foreign)), foreign);
                index.pending = Activity::read(&self.project.layout).pending();
                index.vectors_pending = self.project.n_without_vectors(&loaded.set);
                let state = AnswerState {
                    index,
                    warnings: loaded.warnings.into_iter().chain(warnings).collect(),
                    ..AnswerState::default()
                };
                let look = self.project.look();
                Ok(StatusAnswer {
                    foreign,
                    stale: Some(look.is_stale && !look.only_commits),
                    new_commits: Some(look.only_commits),
                    files_parsed: loaded.n_parsed,
                    ..self.status_of(&loaded.set, &table, request, state.in_brief(call))
                })
            }
        }
    }

    /// Reads the table of sources. Returns it with the warnings about the project's files.
    fn sources(&self) -> (SourceTable, Vec<String>) {
        let layout = &self.project.layout;
        let table = SourceTable::read(layout).unwrap_or_default();
        let missing = table.history.as_ref().and_then(|history| history.missing.as_ref());
        let lacks = missing.map(|why| {
            format!("the index lacks messages of commits: {why}. They are read again after the next commit, or by `cortex index --full`")
        });
        (table, layout.tracked_private_files().into_iter().chain(lacks).collect())
    }

    /// Fills the part of a status that commands and servers share.
    fn status_of(
        &self,
        chunks: &ChunkSet,
        table: &SourceTable,
        request: StatusRequest,
        state: AnswerState,
    ) -> StatusAnswer {
        let layout = &self.project.layout;
        let mut languages: BTreeMap<String, usize> = BTreeMap::new();
        for path in chunks.files() {
            let language = chunks.by_file(path).find_map(|e| e.language.as_deref());
            *languages.entry(language.unwrap_or("unknown").to_string()).or_default() += 1;
        }
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
            chunk_types: ChunkType::SEARCHED
                .iter()
                .map(|t| (t.as_str(), chunks.count(*t)))
                .collect(),
            commits: chunks.commits().len(),
            nested: nested(layout.root(), chunks),
            languages,
            foreign: layout.is_foreign(),
            open: self.opened(),
            other_files: layout.other_chunk_files(),
            embedder: self.project.embedder().id().to_string(),
            skipped: table.n_skipped(),
            skipped_files: if request.verbose {
                table.all_skipped().map(skipped).collect()
            } else {
                BTreeMap::new()
            },
            left_out: request
                .verbose
                .then(|| LeftOutList::of(&self.project))
                .filter(|list| list.total > 0),
            secrets: Secrets {
                total: table.all_secrets().count(),
                first: table.all_secrets().take(n_secrets).map(secret).collect(),
            },
            ignored_settings: self.project.config.ignored.clone(),
            indexing: self.indexing_status(),
            state,
            ..StatusAnswer::default()
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
            Some(Watching::Polling(why)) => format!("by polling: {why}"),
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
