//! `cortex_outline`: lists the symbols of a file, or the files below a directory.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::budget::{TokenBudget, fit};
use super::hits::lines as lines_of;
use super::reply::{Look, Reply, printable};
use super::tool::Question;
use crate::engine::{
    AnswerState, AskError, Call, Engine, FileOutline, Mentions, OutlineRequest, OutlineSymbol,
    Outlined,
};
use crate::text::count;

/// Maximum indentation in the text, in levels; deeper symbols are indented no further.
const MAX_INDENT: usize = 20;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Args {
    #[serde(flatten)]
    pub(crate) request: OutlineRequest,
    /// Levels of nested symbols, or of directories; all by default.
    #[schemars(range(min = 0))]
    pub(crate) depth: Option<usize>,
}

#[derive(Clone, Default, Serialize, JsonSchema)]
pub(crate) struct OutlineReply {
    /// Path relative to the root; empty for the root.
    path: String,
    /// The symbols of a file, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    symbols: Vec<OutlineSymbol>,
    /// The files below a directory.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    files: Vec<FileOutline>,
    /// Sub-directories whose files are only counted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    directories: Vec<DirectoryRow>,
    /// Number of files.
    total_files: usize,
    /// Number of symbols; in a directory only top-level ones count.
    total_symbols: usize,
    /// What was left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    #[serde(flatten)]
    state: AnswerState,
}

/// A directory whose files are only counted.
#[derive(Clone, Serialize, JsonSchema)]
struct DirectoryRow {
    /// Relative to the root.
    path: String,
    /// Number of files below it.
    files: usize,
}

impl Question for Args {
    const NAME: &'static str = "cortex_outline";
    const TITLE: &'static str = "Outline a file or directory";
    const WHEN: &'static str =
        "the symbols of a file, or the files of a directory, without their text.";
    const DESCRIPTION: &'static str = "List the symbols of a file with their lines, or the files below a directory with their main symbols. Use it instead of ls, and before you read a large file.";
    const MENTIONS: fn(&mut Self) -> Mentions<'_> = |q| Mentions::of([&mut q.request.path]);
    type Reply = OutlineReply;

    fn answer(
        self,
        engine: &Engine,
        call: &Call,
        budget: TokenBudget,
    ) -> Result<OutlineReply, AskError> {
        let answer = engine.outline(&self.request, call)?;
        let reply =
            OutlineReply { path: answer.path, state: answer.state, ..OutlineReply::default() };
        Ok(match &answer.outline {
            Outlined::File(symbols) => file(symbols, &reply, self.depth, budget),
            Outlined::Directory(files) => directory(files, &reply, self.depth, budget),
        })
    }
}

/// Returns the symbols of a file. If not all fit, it leaves out the most deeply nested ones first.
fn file(
    symbols: &[OutlineSymbol],
    reply: &OutlineReply,
    depth: Option<usize>,
    budget: TokenBudget,
) -> OutlineReply {
    let mut order: Vec<usize> =
        (0..symbols.len()).filter(|i| depth.is_none_or(|d| symbols[*i].depth <= d)).collect();
    order.sort_by_key(|i| symbols[*i].depth);
    let all = symbols.len();
    fit(budget, order.len(), |level| {
        let mut shown = order[..level].to_vec();
        shown.sort_unstable();
        let note = (level < order.len()).then(|| {
            format!("{} of {} symbols fit max_tokens; deeper ones are left out", level, order.len())
        });
        let symbols = shown.into_iter().map(|i| symbols[i].clone()).collect();
        OutlineReply { symbols, total_files: 1, total_symbols: all, note, ..reply.clone() }
    })
}

/// Returns the files below a directory. If not everything fits, it adds details in this order: the
/// entries of the directory itself, the files of deeper directories level by level (until then only
/// their number), the first symbol of every file, the second …
fn directory(
    files: &[FileOutline],
    reply: &OutlineReply,
    depth: Option<usize>,
    budget: TokenBudget,
) -> OutlineReply {
    let tree =
        Directory { files, prefix: if reply.path.is_empty() { 0 } else { reply.path.len() + 1 } };
    let deepest = (0..files.len())
        .map(|at| tree.depth_of(at))
        .max()
        .unwrap_or(0)
        .min(depth.unwrap_or(usize::MAX));
    let order = tree.symbols_in_order(deepest);
    let total_symbols = files.iter().map(|file| file.symbols.len()).sum();
    let (shown, counted) = tree.down_to(0);
    // Levels of detail: first more of the entries, then deeper directories, then more symbols.
    let n_direct = shown.len() + counted.len();
    let all = n_direct + deepest + order.len();
    fit(budget, all, |level| {
        let (mut shown, mut counted) = tree.down_to(level.saturating_sub(n_direct).min(deepest));
        let n_rows = shown.len() + counted.len();
        if level < n_direct {
            counted = counted.into_iter().take(level).collect();
            shown.truncate(level - counted.len());
        }
        let note = match level {
            _ if level < n_direct => Some(format!("{level} of {n_rows} entries fit max_tokens")),
            _ if level < n_direct + deepest => {
                Some("files of deeper directories are only counted, to fit max_tokens: ask for a sub-directory".into())
            }
            _ if level < all => Some("some symbols are left out to fit max_tokens: ask for a sub-directory".into()),
            _ => None,
        };
        let mut n_symbols = vec![0; files.len()];
        order
            .iter()
            .take(level.saturating_sub(n_direct + deepest))
            .for_each(|at| n_symbols[*at] += 1);
        let outline = |at: usize| FileOutline {
            symbols: files[at].symbols[..n_symbols[at]].to_vec(),
            ..files[at].clone()
        };
        OutlineReply {
            files: shown.into_iter().map(outline).collect(),
            directories: counted
                .into_iter()
                .map(|(path, files)| DirectoryRow { path: path.to_string(), files })
                .collect(),
            total_files: files.len(),
            total_symbols,
            note,
            ..reply.clone()
        }
    })
}

/// The files below a directory. The first `prefix` bytes of their paths are its own path and `/`.
struct Directory<'a> {
    files: &'a [FileOutline],
    prefix: usize,
}

impl<'a> Directory<'a> {
    fn below(&self, at: usize) -> &'a str {
        &self.files[at].path[self.prefix..]
    }

    /// Returns the number of directories between the directory and a file.
    fn depth_of(&self, at: usize) -> usize {
        self.below(at).matches('/').count()
    }

    /// Returns the files down to a depth, and the directories below them with the number of their
    /// files.
    fn down_to(&self, depth: usize) -> (Vec<usize>, BTreeMap<&'a str, usize>) {
        let (mut shown, mut counted) = (Vec::new(), BTreeMap::new());
        for (at, file) in self.files.iter().enumerate() {
            match self.below(at).match_indices('/').nth(depth) {
                Some((end, _)) => *counted.entry(&file.path[..self.prefix + end]).or_default() += 1,
                None => shown.push(at),
            }
        }
        (shown, counted)
    }

    /// Returns the order in which files get one more symbol: first every file gets its first, then
    /// every file its second. A file occurs as often as it has symbols.
    fn symbols_in_order(&self, depth: usize) -> Vec<usize> {
        let shown = (0..self.files.len()).filter(|at| self.depth_of(*at) <= depth);
        let mut order: Vec<(usize, usize)> = shown
            .flat_map(|at| (0..self.files[at].symbols.len()).map(move |rank| (rank, at)))
            .collect();
        order.sort_unstable();
        order.into_iter().map(|(_, at)| at).collect()
    }
}

impl Reply for OutlineReply {
    fn state(&self) -> &AnswerState {
        &self.state
    }

    fn shown(&self, look: &dyn Look) -> Vec<String> {
        let path = if self.path.is_empty() { "." } else { &self.path };
        let files = if self.total_files == 1 {
            String::new()
        } else {
            format!("{}, ", count(self.total_files, "file"))
        };
        let mut lines =
            vec![format!("{}: {files}{}", look.at(path, 0), count(self.total_symbols, "symbol"))];
        lines.extend(self.directories.iter().map(|d| {
            format!("{} {}", look.at(&format!("{}/", d.path), 0), count(d.files, "file"))
        }));
        lines.extend(self.files.iter().map(|f| {
            let symbols = if f.symbols.is_empty() {
                String::new()
            } else {
                format!(": {}", f.symbols.join(", "))
            };
            look.row(format!("{}{}", look.at(&f.path, 0), look.aside(&printable(&symbols))))
        }));
        lines.extend(self.symbols.iter().map(|s| {
            let range = lines_of(Some(s.start_line), Some(s.end_line)).unwrap_or_default();
            let indent = "  ".repeat(s.depth.min(MAX_INDENT));
            look.row(format!("{indent}{} {} {range}", printable(&s.kind), look.name(&s.name)))
        }));
        lines.extend(self.note.clone());
        lines
    }
}
