//! Says in one line what the code graph knows of a symbol that a search shows.

use std::collections::HashMap;
use std::time::Duration;

use crate::engine::door::freshness::Wait;
use crate::engine::door::rows::{ExcerptRow, ResultRow};
use crate::engine::door::serving::Engine;
use crate::engine::{AskError, Call};
use crate::excerpt::Excerpts;
use crate::graph::{Around, Neighbour};
use crate::store::ChunkFiles;

/// Number of best results that get the line.
const MAX_RESULTS: usize = 4;
/// Number of names of each kind.
const MAX_NAMES: usize = 3;
/// How long a search waits for the graph, and how long the graph is asked. A search does not wait
/// until the graph is built: its first replies have no such lines.
const WAIT_MS: u64 = 50;
const TIME: Duration = Duration::from_millis(50);
/// In a project of more files, the look at the list of files would take longer than the search.
const MAX_FILES: usize = 20_000;

/// The lines of the symbols of an answer, by path and last line of the symbol.
pub(in crate::engine) type Lines = HashMap<(String, u32), String>;

impl Engine {
    /// Returns the lines for the best results. Only a server has them: a command would have to open
    /// the graph for each question.
    pub(in crate::engine) fn lines_beside(
        &self,
        rows: &[ResultRow],
        excerpts: &Excerpts,
        call: &Call,
    ) -> Result<Lines, AskError> {
        let snapshot = self.manager.current();
        let code = snapshot.feed(ChunkFiles::NAME);
        let is_large = code.is_none_or(|c| c.corpus.chunks().files().nth(MAX_FILES).is_some());
        if self.server().is_none() || is_large {
            return Ok(Lines::new());
        }
        let place = |(i, row): (usize, &ResultRow)| {
            let shown = excerpts.best(i, 0).map(ExcerptRow::from)?;
            let is_symbol = !shown.kind.is_empty() && !shown.symbol.is_empty();
            let is_own = row.repo.is_none() && row.package.is_none();
            Some((row.path.clone()?, shown)).filter(|_| is_symbol && is_own)
        };
        let shown: Vec<(String, ExcerptRow)> =
            rows.iter().enumerate().take(MAX_RESULTS).filter_map(place).collect();
        if shown.is_empty() {
            return Ok(Lines::new());
        }
        let targets: Vec<String> =
            shown.iter().map(|(path, row)| format!("{path}:{}", row.start_line)).collect();
        let soon = Call {
            wait: Wait { wait_ms: Some(WAIT_MS), ..Wait::default() },
            warnings: Vec::new(),
            ..call.clone()
        };
        let work = call.work().at_most(TIME);
        let found = self.ask_graph(&soon, |graph| graph.around(&targets, &work));
        let around = match found {
            Ok((around, _)) => around,
            Err(AskError::Cancelled) => return Err(AskError::Cancelled),
            // The search has its answer without the graph.
            Err(_) => return Ok(Lines::new()),
        };
        let line = |((path, row), around): ((String, ExcerptRow), Option<Around>)| {
            // Another symbol at this line is not the one that is shown.
            let around = around.filter(|of| !of.is_cut && of.node.end_line == row.end_line)?;
            Some(((path, row.end_line), in_a_line(&around)?))
        };
        Ok(shown.into_iter().zip(around).filter_map(line).collect())
    }
}

/// Returns `used by a, b +3 · tests t +2 · calls x, y`; nothing if the graph knows nothing.
fn in_a_line(around: &Around) -> Option<String> {
    let part = |what: &str, found: &[Neighbour]| {
        let names: Vec<&str> = found.iter().take(MAX_NAMES).map(|f| &*f.node.symbol).collect();
        let more = found.len() - names.len();
        let more = if more > 0 { format!(" +{more}") } else { String::new() };
        (!names.is_empty()).then(|| format!("{what} {}{more}", names.join(", ")))
    };
    let parts: Vec<String> = [
        part("used by", &around.users),
        part("tests", &around.tests),
        part("calls", &around.calls),
    ]
    .into_iter()
    .flatten()
    .collect();
    (!parts.is_empty()).then(|| parts.join(" · "))
}
