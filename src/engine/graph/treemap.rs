//! The sizes of directories and files, one below the other, with what is known of each.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::door::freshness::AnswerState;
use crate::engine::door::serving::{Engine, View};
use crate::engine::graph::map::MainFiles;
use crate::engine::{AskError, Call};
use crate::text::count;

/// Most rows of the directory, and of each directory in it. The rest becomes one row.
const MAX_ROWS: usize = 60;
const MAX_INNER: usize = 30;

/// Asks for the parts of a directory.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub struct TreemapRequest {
    /// A directory, relative to the root; empty for the root.
    #[serde(default)]
    pub path: String,
    /// Also return how much the rest of the project refers to each part. It takes seconds in a large
    /// project, once for each generation.
    #[serde(default)]
    pub references: bool,
}

/// The parts of a directory.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TreemapAnswer {
    /// The directory, relative to the root; empty for the root.
    pub path: String,
    /// The sum of all rows.
    pub total: TreemapRow,
    /// The largest first; each directory with its own rows.
    pub rows: Vec<TreemapRow>,
    #[serde(flatten)]
    pub state: AnswerState,
}

/// A directory or a file.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct TreemapRow {
    /// Relative to the root; empty if the row stands for several small parts.
    pub path: String,
    /// The last part of the path.
    pub name: String,
    pub is_directory: bool,
    pub files: u64,
    pub lines: u64,
    pub bytes: u64,
    /// The language of most of its lines.
    pub language: String,
    /// Number of changes of its files by the commits in the index.
    pub changes: u64,
    /// Share of all references in the project that lead to it, directly or through others (the
    /// `PageRank` of its symbols), 0 to 1; absent if it was not asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub references: Option<f64>,
    /// The largest parts of a directory.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<serde_json::Value>")]
    pub rows: Vec<TreemapRow>,
}

/// What a row sums up.
#[derive(Default)]
struct Sum<'a> {
    row: TreemapRow,
    lines_by_language: BTreeMap<&'a str, u64>,
    inner: BTreeMap<&'a str, Sum<'a>>,
}

/// A file.
struct File<'a> {
    path: &'a str,
    language: &'a str,
    lines: u64,
    bytes: u64,
    changes: u64,
    references: Option<f64>,
}

impl<'a> Sum<'a> {
    fn add(&mut self, file: &File<'a>) {
        self.row.files += 1;
        self.row.lines += file.lines;
        self.row.bytes += file.bytes;
        self.row.changes += file.changes;
        if let Some(share) = file.references {
            *self.row.references.get_or_insert_default() += share;
        }
        *self.lines_by_language.entry(file.language).or_default() += file.lines;
    }

    /// Adds a file to the part that holds it, and to that part's own, `depth` levels down. `start` is
    /// the length of the path of this directory with its slash.
    fn put(&mut self, file: &File<'a>, start: usize, depth: usize) {
        self.add(file);
        if depth == 0 {
            return;
        }
        let rest = &file.path[start..];
        let end = rest.find('/').map_or(file.path.len(), |at| start + at);
        let inner = self.inner.entry(&file.path[..end]).or_insert_with(|| {
            let name = file.path[start..end].to_string();
            let path = file.path[..end].to_string();
            let is_directory = end < file.path.len();
            Sum { row: TreemapRow { path, name, is_directory, ..<_>::default() }, ..<_>::default() }
        });
        if end < file.path.len() {
            inner.put(file, end + 1, depth - 1);
        } else {
            inner.add(file);
        }
    }

    /// Returns the row with the largest `limit` of its own rows.
    fn row(self, limit: usize) -> TreemapRow {
        let main = self.lines_by_language.iter().max_by_key(|(_, lines)| **lines);
        let language = main.map(|(name, _)| (*name).to_string()).unwrap_or_default();
        let mut rows: Vec<TreemapRow> =
            self.inner.into_values().map(|inner| inner.row(MAX_INNER)).collect();
        rows.sort_by(|a, b| b.lines.cmp(&a.lines).then_with(|| a.path.cmp(&b.path)));
        if rows.len() > limit {
            let small = rows.split_off(limit - 1);
            let sum = |of: fn(&TreemapRow) -> u64| small.iter().map(of).sum();
            rows.push(TreemapRow {
                name: count(small.len(), "smaller part"),
                files: sum(|row| row.files),
                lines: sum(|row| row.lines),
                bytes: sum(|row| row.bytes),
                changes: sum(|row| row.changes),
                references: small.iter().map(|row| row.references).sum(),
                ..TreemapRow::default()
            });
        }
        TreemapRow { language, rows, ..self.row }
    }
}

impl Engine {
    /// Sums up the parts of a directory.
    ///
    /// # Errors
    /// When no indexed file is below the directory, or the index cannot be read.
    pub fn treemap(
        &self,
        request: &TreemapRequest,
        call: &Call,
    ) -> Result<TreemapAnswer, AskError> {
        let View { code, state } = self.view_now(call)?;
        let path = request.path.trim_matches('/').to_string();
        let below = if path.is_empty() { String::new() } else { format!("{path}/") };
        let files: Vec<(String, String)> = code
            .corpus
            .chunks()
            .written_in()
            .filter(|(file, _)| file.starts_with(&below))
            .map(|(file, language)| (file.to_string(), language.to_string()))
            .collect();
        if files.is_empty() && !path.is_empty() {
            return Err(AskError::NotFound(format!("no indexed file is below `{path}`")));
        }
        let ranks: Option<BTreeMap<String, f64>> = if request.references {
            let (ranked, _) = self.rank_files(&MainFiles::of(&code), &[], call)?;
            Some(ranked.files.iter().map(|file| (file.path.clone(), file.rank)).collect())
        } else {
            None
        };
        call.check()?;
        let sizes = self.project.indexed_sizes(&files);
        let mut sum = Sum::default();
        for size in &sizes {
            let rank = |ranks: &BTreeMap<String, f64>| ranks.get(&size.path).copied();
            let file = File {
                path: &size.path,
                language: &size.language,
                lines: size.lines,
                bytes: size.bytes,
                changes: code.corpus.n_changes(&size.path) as u64,
                references: ranks.as_ref().map(|ranks| rank(ranks).unwrap_or_default()),
            };
            sum.put(&file, below.len(), 2);
        }
        let mut total = sum.row(MAX_ROWS);
        let rows = std::mem::take(&mut total.rows);
        Ok(TreemapAnswer { total: TreemapRow { path: path.clone(), ..total }, path, rows, state })
    }
}
