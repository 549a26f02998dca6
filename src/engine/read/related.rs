//! Finds code that is near in meaning to a given chunk.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::chunk::Chunk;
use crate::engine::door::filters::Kinds;
use crate::engine::door::freshness::AnswerState;
use crate::engine::door::paths;
use crate::engine::door::rows::{ChunkRow, ResultRow};
use crate::engine::door::serving::{Engine, View};
use crate::engine::{AskError, Call};
use crate::excerpt::Excerpts;
use crate::search::{QueryWords, Searcher};

/// The arguments of a search for related code: a chunk, or a place in a file.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub struct RelatedRequest {
    /// A chunk, by the `chunk_id` of a result.
    pub chunk_id: Option<String>,
    /// A file, with a line or a symbol if you like: `src/a.rs:10`, `src/a.rs#Type::method`.
    pub path: Option<String>,
    /// A line of that file.
    #[schemars(range(min = 1))]
    pub line: Option<u32>,
    /// Maximum number of results, one per file.
    #[serde(default = "ten")]
    #[schemars(range(min = 1, max = 100))]
    pub limit: usize,
    #[serde(flatten)]
    pub kinds: Kinds,
}

fn ten() -> usize {
    10
}

/// The related files.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RelatedAnswer {
    /// The chunk that the results are related to.
    pub chunk: RelatedTo,
    /// Nearest first, without the chunk's own file. The score is the cosine similarity.
    pub results: Vec<ResultRow>,
    /// Number of related files.
    pub total: usize,
    #[serde(flatten)]
    pub state: AnswerState,
    /// The code of the results.
    #[serde(skip)]
    pub excerpts: Arc<Excerpts>,
    /// The chunk that the results are related to, with its text.
    #[serde(skip)]
    pub of: Arc<Chunk>,
}

/// The chunk that the results are related to, and its file.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RelatedTo {
    /// Relative to the root.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    #[serde(flatten)]
    pub chunk: ChunkRow,
}

impl Engine {
    /// Ranks files by the cosine similarity of their chunks to the given chunk, or of what they
    /// define to what the given file defines.
    ///
    /// # Errors
    /// When the chunk does not exist or has no vector, or the index cannot be read.
    pub fn related(
        &self,
        request: &RelatedRequest,
        call: &Call,
    ) -> Result<RelatedAnswer, AskError> {
        self.with_code(call, |View { code, mut state }| {
            let corpus = &code.corpus;
            let (of, file) = match (&request.chunk_id, &request.path) {
                (Some(id), _) => (paths::chunk(&self.project, corpus.chunks(), id)?, None),
                (None, Some(path)) => {
                    let paths::Place { path, lines, note, .. } =
                        paths::place(&self.project, corpus, path)?;
                    state = state.warning_first(note);
                    let line = request.line.or(lines.map(|l| l.0));
                    let of = paths::chunk_at(&self.project, corpus.chunks(), &path, line)?;
                    (of, Some(path).filter(|_| line.is_none()))
                }
                (None, None) => {
                    return Err(AskError::Arguments(
                        "no code is given. Give chunk_id, or path and line".into(),
                    ));
                }
            };
            let (searcher, filter) = (Searcher::new(corpus), request.kinds.filter());
            let found = match file {
                Some(path) => searcher.related_to_file(&path, &filter, request.limit)?,
                None => searcher.related(&of.id, &filter, request.limit)?,
            };
            let Some(found) = found else {
                return Err(AskError::NotFound(format!(
                    "`{}` has no vector, so related code cannot be found: search for its words",
                    of.id
                )));
            };
            call.check()?;
            let rows: Vec<ResultRow> = found
                .hits
                .into_iter()
                .map(|hit| ResultRow::new(Arc::new(hit), corpus.chunks(), false))
                .map(|row| row.unless_gone(&|path| self.project.has_file(path)))
                .collect();
            let hits = rows.iter().map(|row| &*row.hit);
            let excerpts = Excerpts::new(hits, &of.text, &mut QueryWords::default());
            Ok(RelatedAnswer {
                chunk: RelatedTo {
                    path: of.metadata.file_path.clone(),
                    chunk: ChunkRow::new(&of, corpus.chunks()),
                },
                results: ResultRow::best(rows, &excerpts, 0),
                excerpts: Arc::new(excerpts),
                total: found.total,
                state,
                of,
            })
        })
    }
}
