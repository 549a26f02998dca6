//! `cortex_status`: what is indexed, and how keeping it up to date goes.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Asked, Question, Reply, State, ToolError, Wait, count, printable};
use crate::chunk::ChunkType;
use crate::index::Watching;
use crate::live::resident_bytes;
use crate::search::Hnsw;
use crate::store::{Activity, SourceTable};

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    #[serde(flatten)]
    wait: Wait,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct StatusReply {
    /// Of the project.
    root: String,
    /// Of Cortex.
    version: &'static str,
    /// Indexed files.
    files: usize,
    /// Their chunks.
    chunks: usize,
    /// Chunks by type.
    chunk_types: BTreeMap<&'static str, usize>,
    /// Files by language.
    languages: BTreeMap<String, usize>,
    /// Files of other programs that are served beside the index, by their names in `.cortex/chunks`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("default" = []))]
    other_files: Vec<String>,
    /// What makes the vectors.
    embedder: String,
    /// Vectors in the graph that proposes candidates; without it every vector is compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    vectors_in_hnsw: Option<usize>,
    /// Secrets that were taken out of the files: replies have `[REDACTED:rule]` in their place.
    secrets: Secrets,
    /// How loading of new generations goes.
    reload: Reloads,
    /// What this process holds.
    memory: Memory,
    /// How indexing goes.
    indexing: Indexing,
    #[serde(flatten)]
    state: State,
}

/// Secrets in files.
#[derive(Serialize, JsonSchema)]
struct Secrets {
    /// How many there are.
    total: usize,
    /// The first of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("default" = []))]
    first: Vec<Secret>,
}

/// Where a secret is; never what it is.
#[derive(Serialize, JsonSchema)]
struct Secret {
    /// Relative to the root.
    path: String,
    /// 1-based.
    line: u32,
    /// What found it.
    rule: String,
}

/// Secrets that are named.
const SECRETS_SHOWN: usize = 20;

/// How loading of new generations goes.
#[derive(Serialize, JsonSchema)]
struct Reloads {
    /// That ended well.
    successful: u64,
    /// That did not.
    failed: u64,
    /// That found something new.
    published: u64,
    /// Chunk files that were parsed in them, each once for all indexes.
    files_parsed: u64,
    /// Milliseconds.
    last_duration_ms: f64,
    /// Of the last one, if it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_error: Option<String>,
}

/// What this process holds.
#[derive(Serialize, JsonSchema)]
struct Memory {
    /// Megabytes that it holds; null where the system does not tell.
    resident_mb: Option<u64>,
    /// Megabytes that it may hold, if that is limited.
    #[serde(skip_serializing_if = "Option::is_none")]
    budget_mb: Option<u64>,
    /// What it does without to hold no more: caches, vectors.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    #[schemars(extend("default" = []))]
    given_up: &'static [&'static str],
}

/// How indexing goes.
#[derive(Serialize, JsonSchema)]
struct Indexing {
    /// This process follows the source tree.
    leads: bool,
    /// How changes are noticed.
    watching: String,
    /// Runs of this process that wrote a generation.
    runs: u64,
    /// Files done in the run under way.
    done: usize,
    /// Files to do in it; 0 when none is under way.
    total: usize,
    /// Changed paths that wait for the next run.
    queued: usize,
    /// Of the last one, if it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_error: Option<String>,
}

impl Question for Args {
    const NAME: &'static str = "cortex_status";
    const TITLE: &'static str = "State of the index";
    const DESCRIPTION: &'static str = "What is indexed (files, languages, chunks), how fresh it is, and whether indexing is under way or failing. \
Use it when results look incomplete or stale, or with wait_ms to have changes indexed before searching.";
    type Reply = StatusReply;

    fn answer(self, asked: Asked) -> Result<StatusReply, ToolError> {
        let mut taken = asked.take(&self.wait)?;
        taken.warnings.splice(0..0, asked.context.layout.tracked_private_files());
        let chunks = taken.snapshot.code().corpus.chunks();
        let mut languages: BTreeMap<String, usize> = BTreeMap::new();
        for path in chunks.files() {
            let language = chunks.by_file(path).find_map(|e| e.language.as_deref());
            *languages.entry(language.unwrap_or("unknown").to_string()).or_default() += 1;
        }
        let metrics = asked.context.manager.metrics();
        let service = asked.context.indexing.as_ref().map(crate::index::IndexingService::status);
        let Activity { done, total, queued } = Activity::read(&asked.context.layout);
        let watching = match service.as_ref().map(|s| &s.watching) {
            None => "not by this process: it only serves".into(),
            Some(Watching::Elsewhere) => "by another process, or not yet".into(),
            Some(Watching::Events(n)) => {
                format!("by events from {}", if *n == 1 { "1 directory".into() } else { format!("{n} directories") })
            }
            Some(Watching::Polling(why)) => format!("by looking now and then: {why}"),
        };
        let service = service.unwrap_or_default();
        let table = SourceTable::read(&asked.context.layout).unwrap_or_default();
        let secret = |(path, line, rule): (&str, u32, &str)| Secret { path: path.to_string(), line, rule: rule.to_string() };
        Ok(StatusReply {
            root: asked.context.layout.root().display().to_string(),
            version: env!("CARGO_PKG_VERSION"),
            files: chunks.files().count(),
            chunks: chunks.len(),
            chunk_types: ChunkType::ALL.iter().map(|t| (t.as_str(), chunks.count(*t))).collect(),
            languages,
            other_files: asked.context.layout.other_chunk_files(),
            embedder: asked.context.manager.embedder().id().to_string(),
            vectors_in_hnsw: taken.snapshot.code().corpus.vectors().hnsw().map(Hnsw::n_vectors),
            secrets: Secrets { total: table.all_secrets().count(), first: table.all_secrets().take(SECRETS_SHOWN).map(secret).collect() },
            reload: Reloads {
                successful: metrics.n_successful,
                failed: metrics.n_failed,
                published: metrics.n_published,
                files_parsed: metrics.n_files_parsed,
                last_duration_ms: (metrics.last_duration.as_secs_f64() * 10_000.0).round() / 10.0,
                last_error: metrics.last_error,
            },
            memory: Memory {
                resident_mb: resident_bytes().map(|b| b >> 20),
                budget_mb: asked.context.reloader.budget().map(|b| b >> 20),
                given_up: metrics.given_up.names(),
            },
            indexing: Indexing {
                leads: service.leads,
                watching,
                runs: service.n_runs,
                done,
                total,
                queued,
                last_error: service.last_error,
            },
            state: State::new(taken.index, taken.warnings),
        })
    }
}

impl Reply for StatusReply {
    fn state(&self) -> &State {
        &self.state
    }

    fn lines(&self) -> Vec<String> {
        let list = |counts: Vec<(&str, usize)>| {
            let mut counts: Vec<_> = counts.into_iter().filter(|c| c.1 > 0).collect();
            counts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
            counts.into_iter().map(|(what, n)| format!("{n} {what}")).collect::<Vec<_>>().join(", ")
        };
        let types = list(self.chunk_types.iter().map(|(k, n)| (*k, *n)).collect());
        let languages = list(self.languages.iter().map(|(k, n)| (k.as_str(), *n)).collect());
        let languages = if languages.is_empty() { languages } else { format!(" ({languages})") };
        let (r, i, m) = (&self.reload, &self.indexing, &self.memory);
        let megabytes = |mb: Option<u64>| mb.map(|mb| format!(" {mb} MB"));
        let budget = megabytes(m.budget_mb).map(|mb| format!(" of{mb} allowed")).unwrap_or_default();
        let without = if m.given_up.is_empty() { String::new() } else { format!(", without {}", m.given_up.join(" and ")) };
        let error = |e: &Option<String>| e.as_ref().map(|e| format!("; last error: {e}")).unwrap_or_default();
        let at_work = if i.total > 0 { format!(", {} of {} done", i.done, count(i.total, "file")) } else { String::new() };
        let leads = if i.leads { "this process leads" } else { "this process does not lead" };
        let hnsw = self.vectors_in_hnsw.map(|n| format!(", an HNSW graph of {n} vectors proposes candidates")).unwrap_or_default();
        let mut lines = vec![
            format!("cortex {} in {}", self.version, self.root),
            format!("{} ({types}) of {}{languages}", count(self.chunks, "chunk"), count(self.files, "file")),
            format!("embedder {}{hnsw}", self.embedder),
            format!(
                "reloads {} ({} published, {} failed, {} parsed), last {} ms{}",
                r.successful,
                r.published,
                r.failed,
                count(usize::try_from(r.files_parsed).unwrap_or(usize::MAX), "chunk file"),
                r.last_duration_ms,
                error(&r.last_error)
            ),
            format!("memory{}{budget}{without}", megabytes(m.resident_mb).unwrap_or_else(|| " unknown".into())),
            format!(
                "indexing: {leads}, changes noticed: {}, {}{at_work}, {} queued{}",
                i.watching,
                count(usize::try_from(i.runs).unwrap_or(usize::MAX), "run"),
                i.queued,
                error(&i.last_error)
            ),
        ];
        if !self.other_files.is_empty() {
            lines.push(format!("beside the index: {}, written by other programs", printable(&self.other_files.join(", "))));
        }
        if self.secrets.total > 0 {
            let places: Vec<_> = self.secrets.first.iter().map(|s| format!("{}:{} {}", printable(&s.path), s.line, s.rule)).collect();
            let more = if self.secrets.total > places.len() { ", …" } else { "" };
            lines.push(format!("{} hidden: {}{more}", count(self.secrets.total, "secret"), places.join(", ")));
        }
        lines
    }
}
