//! `cortex_outline`: what there is, in a file or below a directory.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::budget::{MAX_TOKENS, MIN_TOKENS, default_tokens, fit};
use super::hits::lines as lines_of;
use super::{Asked, Question, Reply, State, ToolError, Wait, count, paths, printable};
use crate::chunk::{Chunk, ChunkSet, ChunkType};

/// Deeper nesting is not shown as such in the text.
const MAX_INDENT: usize = 20;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// A file or directory, relative to the root; empty: the whole project.
    #[serde(default)]
    path: String,
    /// Levels shown: of nested symbols in a file, of sub-directories in a directory; all by default.
    #[schemars(range(min = 0))]
    depth: Option<usize>,
    /// Most tokens of the reply, text and JSON together: details go first.
    #[serde(default = "default_tokens")]
    #[schemars(range(min = MIN_TOKENS, max = MAX_TOKENS))]
    max_tokens: usize,
    #[serde(flatten)]
    wait: Wait,
}

#[derive(Clone, Default, Serialize, JsonSchema)]
pub(super) struct OutlineReply {
    /// Relative to the root; empty: the root.
    path: String,
    /// Of a file: what it defines, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    symbols: Vec<Symbol>,
    /// Of a directory: files below it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    files: Vec<FileRow>,
    /// Sub-directories whose files are only counted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    directories: Vec<DirectoryRow>,
    /// Files there are.
    total_files: usize,
    /// Symbols there are: in a directory those of the top level.
    total_symbols: usize,
    /// What was left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    #[serde(flatten)]
    state: State,
}

/// A definition, or a section of a document.
#[derive(Clone, PartialEq, Serialize, JsonSchema)]
struct Symbol {
    /// Without what encloses it.
    name: String,
    /// function, struct, section …
    kind: String,
    /// 1-based; 0 when unknown.
    start_line: u32,
    /// Inclusive.
    end_line: u32,
    /// Nesting; 0 at the top.
    depth: usize,
}

/// A file of a directory.
#[derive(Clone, Serialize, JsonSchema)]
struct FileRow {
    /// Relative to the root.
    path: String,
    /// Its top-level symbols: kind and name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    symbols: Vec<String>,
}

/// A directory with nothing but a count.
#[derive(Clone, Serialize, JsonSchema)]
struct DirectoryRow {
    /// Relative to the root.
    path: String,
    /// Files below it.
    files: usize,
}

impl Question for Args {
    const NAME: &'static str = "cortex_outline";
    const TITLE: &'static str = "Outline a file or directory";
    const DESCRIPTION: &'static str = "List the symbols of a file with their kinds and lines, or the files below a directory with their top-level symbols. \
Use it to get to know a project or a large file before reading, instead of ls or reading whole files; then read the lines with cortex_read.";
    type Reply = OutlineReply;

    fn answer(self, asked: Asked) -> Result<OutlineReply, ToolError> {
        let taken = asked.take(&self.wait)?;
        let chunks = taken.snapshot.code().corpus.chunks();
        let path = paths::normal(asked.context.layout.root(), &self.path)?;
        let below = if path.is_empty() { String::new() } else { format!("{path}/") };
        let is_deleted = |f: &str| chunks.by_file(f).find_map(|e| e.chunk()).is_some_and(|c| c.metadata.is_deleted());
        let inside: BTreeSet<&str> = chunks.files().filter(|f| f.starts_with(&below) && !is_deleted(f)).collect();
        let mut state = State::new(taken.index.clone(), taken.warnings.clone());
        if is_deleted(&path) {
            state.warnings.push(format!("`{path}` was deleted. This is its outline as it was indexed"));
        }
        let reply = OutlineReply { path, state, ..OutlineReply::default() };
        if reply.path.is_empty() || !inside.is_empty() {
            let files: Vec<&str> = inside.into_iter().collect();
            return Ok(directory(chunks, &files, below.len(), &reply, self.depth, self.max_tokens));
        }
        let symbols = symbols(&paths::chunks_of(chunks, &reply.path)?);
        Ok(file(&symbols, &reply, self.depth, self.max_tokens))
    }
}

/// What the chunks of a file define, in order; the sections of a document.
fn symbols(chunks: &[Arc<Chunk>]) -> Vec<Symbol> {
    let names = chunks.iter().flat_map(|c| &c.metadata.names).map(|n| Symbol {
        name: n.name.clone(),
        kind: n.kind.clone(),
        start_line: n.start_line,
        end_line: n.end_line,
        depth: n.depth.into(),
    });
    let mut out: Vec<Symbol> = names.collect();
    if out.is_empty() {
        out = sections(chunks);
    }
    // The enclosing one first.
    out.sort_by_key(|s| (s.start_line, s.depth, Reverse(s.end_line)));
    // The values of an enum stand in a chunk of their own too.
    let mut seen = BTreeSet::new();
    out.retain(|s| seen.insert((s.start_line, s.name.clone(), s.kind.clone())));
    out
}

fn sections(chunks: &[Arc<Chunk>]) -> Vec<Symbol> {
    let mut out: BTreeMap<&str, Symbol> = BTreeMap::new();
    for chunk in chunks.iter().filter(|c| c.chunk_type != ChunkType::Symbols) {
        let m = &chunk.metadata;
        let Some(path) = m.symbol.as_deref() else { continue };
        let (start_line, end_line) = (m.start_line.unwrap_or(0), m.end_line.unwrap_or(0));
        let section = out.entry(path).or_insert_with(|| Symbol {
            name: path.rsplit(" > ").next().unwrap_or(path).to_string(),
            kind: if chunk.chunk_type == ChunkType::Documentation { "section" } else { "symbol" }.into(),
            start_line,
            end_line,
            depth: path.matches(" > ").count(),
        });
        // A long section is several chunks.
        section.start_line = section.start_line.min(start_line);
        section.end_line = section.end_line.max(end_line);
    }
    out.into_values().collect()
}

/// The symbols of a file; those that are nested deepest go first.
fn file(symbols: &[Symbol], reply: &OutlineReply, depth: Option<usize>, max_tokens: usize) -> OutlineReply {
    let mut order: Vec<usize> = (0..symbols.len()).filter(|i| depth.is_none_or(|d| symbols[*i].depth <= d)).collect();
    order.sort_by_key(|i| symbols[*i].depth);
    let all = symbols.len();
    fit(max_tokens, order.len(), |level| {
        let mut shown = order[..level].to_vec();
        shown.sort_unstable();
        let note = (level < order.len()).then(|| format!("{} of {} symbols fit max_tokens; deeper ones are left out", level, order.len()));
        let symbols = shown.into_iter().map(|i| symbols[i].clone()).collect();
        OutlineReply { symbols, total_files: 1, total_symbols: all, note, ..reply.clone() }
    })
}

/// The files below a directory. In order of importance: what lies directly in it, the files of deeper directories level by level
/// (before that they are counted), the first symbol of every file, the second …
fn directory(
    chunks: &ChunkSet,
    files: &[&str],
    prefix: usize,
    reply: &OutlineReply,
    depth: Option<usize>,
    max_tokens: usize,
) -> OutlineReply {
    let level_of = |f: &str| f[prefix..].matches('/').count();
    let deepest = files.iter().map(|f| level_of(f)).max().unwrap_or(0).min(depth.unwrap_or(usize::MAX));
    let tops: Vec<Vec<String>> = files
        .par_iter()
        .map(|f| {
            let all = symbols(&chunks.read_file(f));
            let mut seen = BTreeSet::new();
            // An `impl` says nothing beside its type.
            all.into_iter()
                .filter(|s| s.depth == 0 && seen.insert(s.name.clone()))
                .map(|s| format!("{} {}", s.kind, s.name).trim().to_string())
                .collect()
        })
        .collect();
    let total_symbols = tops.iter().map(Vec::len).sum();
    // Which file gets one more symbol, one after the other.
    let mut order: Vec<(usize, usize)> = tops
        .iter()
        .enumerate()
        .filter(|(i, _)| level_of(files[*i]) <= deepest)
        .flat_map(|(i, s)| (0..s.len()).map(move |rank| (rank, i)))
        .collect();
    order.sort_unstable();
    let rows = |deepest: usize| {
        let (mut shown, mut counted) = (Vec::new(), BTreeMap::<&str, usize>::new());
        for (i, file) in files.iter().enumerate() {
            match file[prefix..].match_indices('/').nth(deepest) {
                Some((end, _)) => *counted.entry(&file[..prefix + end]).or_default() += 1,
                None => shown.push(i),
            }
        }
        (shown, counted)
    };
    let n_direct = {
        let (shown, counted) = rows(0);
        shown.len() + counted.len()
    };
    fit(max_tokens, n_direct + deepest + order.len(), |level| {
        let (mut shown, mut counted) = rows(level.saturating_sub(n_direct).min(deepest));
        let n_rows = shown.len() + counted.len();
        let mut note = None;
        if level < n_direct {
            counted = counted.into_iter().take(level).collect();
            shown.truncate(level - counted.len());
            note = Some(format!("{level} of {n_rows} entries fit max_tokens"));
        } else if level < n_direct + deepest + order.len() {
            let what = if level < n_direct + deepest { "files of deeper directories are counted" } else { "some symbols are left out" };
            note = Some(format!("{what} to fit max_tokens: ask for a sub-directory"));
        }
        let mut n_symbols = vec![0; files.len()];
        order.iter().take(level.saturating_sub(n_direct + deepest)).for_each(|(_, i)| n_symbols[*i] += 1);
        OutlineReply {
            files: shown.into_iter().map(|i| FileRow { path: files[i].to_string(), symbols: tops[i][..n_symbols[i]].to_vec() }).collect(),
            directories: counted.into_iter().map(|(path, files)| DirectoryRow { path: path.to_string(), files }).collect(),
            total_files: files.len(),
            total_symbols,
            note,
            ..reply.clone()
        }
    })
}

impl Reply for OutlineReply {
    fn state(&self) -> &State {
        &self.state
    }

    fn lines(&self) -> Vec<String> {
        let path = if self.path.is_empty() { "." } else { &self.path };
        let files = if self.total_files == 1 { String::new() } else { format!("{}, ", count(self.total_files, "file")) };
        let mut lines = vec![format!("{}: {files}{}", printable(path), count(self.total_symbols, "symbol"))];
        lines.extend(self.directories.iter().map(|d| format!("{}/ {}", printable(&d.path), count(d.files, "file"))));
        lines.extend(self.files.iter().map(|f| {
            let symbols = if f.symbols.is_empty() { String::new() } else { format!(": {}", f.symbols.join(", ")) };
            printable(&(f.path.clone() + &symbols))
        }));
        lines.extend(self.symbols.iter().map(|s| {
            let range = lines_of(Some(s.start_line), Some(s.end_line)).unwrap_or_default();
            format!("{}{} {} {range}", "  ".repeat(s.depth.min(MAX_INDENT)), s.kind, printable(&s.name))
        }));
        lines.extend(self.note.clone());
        lines
    }
}
