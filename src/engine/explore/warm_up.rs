//! Opens what questions need before the first one comes: an agent that connects asks soon.
//!
//! The first question to a server reads parts of the saved index, makes tables that are made once in a
//! process, and opens the code graph and the index of commits. On a busy machine that takes seconds. A
//! server does it on one thread when an agent connects, and a server that nobody asks does not.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use crate::embed::StaticModel;
use crate::engine::door::freshness::Wait;
use crate::engine::door::project::SHORT_WAIT;
use crate::engine::door::serving::Engine;
use crate::engine::explore::ExploreRequest;
use crate::engine::{AskError, Call};
use crate::live::Served;
use crate::search::Searcher;
use crate::source;
use crate::work::STACK_BYTES;

/// A code graph that lacks the rows of more files is left to the first question that needs it: reading
/// so many files keeps all cores busy for seconds.
const MAX_MISSING: usize = 1_000;
/// How long the first index of a project is waited for, in milliseconds.
const FIRST_INDEX_MS: u64 = 60_000;
/// A question whose answer uses most of what other answers use.
const QUESTION: &str = "where does the program start, and what does main call";

impl Engine {
    /// Opens what questions need, once and on a thread of its own. Only a server that follows changes
    /// does so: a command answers one question, and a server that only serves writes nothing by itself.
    pub fn warm_up(self: &Arc<Self>) {
        let Some(server) = self.server().filter(|server| server.indexing.is_some()) else { return };
        if server.is_warmed_up.swap(true, Ordering::Relaxed) {
            return;
        }
        // Whatever is computed in parallel stays on this one thread.
        let threads = rayon::ThreadPoolBuilder::new()
            .num_threads(1)
            .stack_size(STACK_BYTES)
            .thread_name(|_| "warm-up".into())
            .panic_handler(|_| ())
            .build();
        let engine = self.clone();
        match threads {
            Ok(threads) => threads.spawn(move || engine.open_ahead()),
            Err(e) => tracing::debug!("cannot start the thread that warms up: {e}"),
        }
    }

    /// Opens what questions need. An error is told to the question that meets it again.
    fn open_ahead(&self) {
        let begin = Instant::now();
        let Some(code) = self.first_code() else {
            // The next agent may find an index.
            if let Some(server) = self.server() {
                server.is_warmed_up.store(false, Ordering::Relaxed);
            }
            return;
        };
        let parts = [open_search(&code), self.open_graph(), self.open_commits()];
        for e in parts.into_iter().filter_map(Result::err) {
            tracing::debug!("not all that questions need was opened: {e}");
        }
        tracing::debug!("questions were prepared for in {} ms", begin.elapsed().as_millis());
    }

    /// Returns the code corpus as soon as it holds something; `None` if there is nothing to search.
    fn first_code(&self) -> Option<Arc<Served>> {
        let patient = Wait { wait_ms: Some(FIRST_INDEX_MS), ..Wait::default() };
        let calls = [Call::default(), Call { wait: patient, ..Call::default() }];
        calls.iter().find_map(|call| {
            let code = self.view(call).ok()?.code;
            (!code.corpus.chunks().is_empty()).then_some(code)
        })
    }

    /// Opens the code graph, brings it up to date, and answers a question with it.
    fn open_graph(&self) -> Result<(), AskError> {
        if !self.lacks_rows_of_at_most(MAX_MISSING)? {
            return Ok(());
        }
        let request =
            ExploreRequest { about: vec![QUESTION.to_string()], ..ExploreRequest::default() };
        self.explore(&request, &Call::default()).map(drop)
    }

    /// Opens the index of commits, and reads those that are new. The setting that keeps commits out of
    /// the index of files also keeps them from being read before a question needs them.
    fn open_commits(&self) -> Result<(), AskError> {
        let root = self.project.layout.root();
        if self.project.config.history && source::head(root).is_some() {
            self.commits.up_to_date(&self.project, SHORT_WAIT, &|| ())?;
        }
        Ok(())
    }

    /// Returns what a server has open for questions beside the text index.
    pub(in crate::engine) fn opened(&self) -> Vec<&'static str> {
        let Some(server) = self.server() else { return Vec::new() };
        let parts = [("graph", server.graph.is_open()), ("history", self.commits.is_open())];
        parts.into_iter().filter(|(_, is_open)| *is_open).map(|(part, _)| part).collect()
    }
}

/// Reads what a first question reads of the text index.
fn open_search(code: &Served) -> Result<(), AskError> {
    let _ = StaticModel::bundled();
    Ok(Searcher::new(&code.corpus).read_ahead()?)
}
