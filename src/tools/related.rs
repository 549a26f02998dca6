//! `cortex_related`: what is near in meaning to a piece of code.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::budget::{MAX_TOKENS, MIN_TOKENS, default_tokens, fit};
use super::filters::Kinds;
use super::hits::{Hits, Row, Show, Span};
use super::search::left_out;
use super::{Asked, Question, Reply, State, ToolError, Wait, count, paths};
use crate::search::Highlighter;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// A chunk, by the `chunk_id` of a result.
    chunk_id: Option<String>,
    /// Or a file, relative to the root; without `line` the whole file is meant.
    path: Option<String>,
    /// A line of that file.
    #[schemars(range(min = 1))]
    line: Option<u32>,
    /// Most results, one a file.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 100))]
    limit: usize,
    #[serde(flatten)]
    kinds: Kinds,
    /// Most tokens of the reply, text and JSON together: snippets shrink to fit.
    #[serde(default = "default_tokens")]
    #[schemars(range(min = MIN_TOKENS, max = MAX_TOKENS))]
    max_tokens: usize,
    #[serde(flatten)]
    wait: Wait,
}

fn default_limit() -> usize {
    10
}

#[derive(Serialize, JsonSchema)]
pub(super) struct RelatedReply {
    /// What the results are near to.
    chunk: Meant,
    /// Nearest first; the score is the cosine. The chunk's own file is left out.
    results: Vec<Row>,
    /// Files that are near.
    total: usize,
    /// What was left out to fit.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    #[serde(flatten)]
    state: State,
}

/// The chunk that was asked about.
#[derive(Clone, Serialize, JsonSchema)]
struct Meant {
    /// Relative to the root.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    #[serde(flatten)]
    span: Span,
}

impl Question for Args {
    const NAME: &'static str = "cortex_related";
    const TITLE: &'static str = "Find similar code";
    const DESCRIPTION: &'static str = "Given a place in the code (chunk_id of a result, or path and line), find the nearest code and documents in other \
files by meaning: similar implementations, tests, documentation, duplicates. Use it after a search, to see what else a change touches.";
    type Reply = RelatedReply;

    fn answer(self, asked: Asked) -> Result<RelatedReply, ToolError> {
        let taken = asked.take(&self.wait)?;
        let corpus = &taken.snapshot.code().corpus;
        let chunk = match (&self.chunk_id, &self.path) {
            (Some(id), _) => paths::chunk(corpus.chunks(), id)?,
            (None, Some(path)) => paths::chunk_at(corpus.chunks(), &paths::normal(asked.context.layout.root(), path)?, self.line)?,
            (None, None) => return Err(ToolError::Arguments("which code is meant? Give chunk_id, or path and line".into())),
        };
        let found = corpus.related(&chunk.id, &self.kinds.filter(), self.limit)?;
        let Some(found) = found else {
            return Err(ToolError::NotFound(format!("`{}` has no vector, so nothing is near it: search for its words", chunk.id)));
        };
        asked.call.check()?;
        let mut words = Highlighter::new(chunk.metadata.symbol.as_deref().unwrap_or(&chunk.title));
        let details = Hits::new(&found.hits, corpus.chunks(), &mut words, Show::default());
        let meant = Meant { path: chunk.metadata.file_path.clone(), span: Span::new(&chunk, corpus.chunks()) };
        let state = State::new(taken.index.clone(), taken.warnings.clone());
        Ok(fit(self.max_tokens, details.top(), |level| {
            let results = details.rows(level);
            let note = left_out(found.hits.len() - results.len());
            RelatedReply { chunk: meant.clone(), results, total: found.total, note, state: state.clone() }
        }))
    }
}

impl Reply for RelatedReply {
    fn state(&self) -> &State {
        &self.state
    }

    fn lines(&self) -> Vec<String> {
        let place = self.chunk.span.place(self.chunk.path.as_deref());
        let mut lines = vec![match self.results.len() {
            0 => format!("nothing is near {place}"),
            n => format!("{} near {place}, of {}", count(n, "result"), count(self.total, "file")),
        }];
        lines.extend(self.results.iter().flat_map(Row::lines));
        lines.extend(self.note.clone());
        lines
    }
}
