//! Outlines a file or a directory: its symbols, sections and files.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::chunk::{Chunk, ChunkType};
use crate::engine::door::freshness::AnswerState;
use crate::engine::door::paths;
use crate::engine::door::serving::{Engine, View};
use crate::engine::{AskError, Call};
use crate::languages::grammar;
use crate::text::count;

/// The arguments of an outline.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub struct OutlineRequest {
    /// A file, directory or symbol; empty: the whole project.
    #[serde(default)]
    pub path: String,
}

/// The complete outline of a file or directory.
#[derive(Debug, Clone, Serialize)]
pub struct OutlineAnswer {
    /// Relative to the root; empty: the root.
    pub path: String,
    #[serde(flatten)]
    pub outline: Outlined,
    #[serde(flatten)]
    pub state: AnswerState,
}

/// The content of an outline.
#[derive(Debug, Clone, Serialize)]
pub enum Outlined {
    /// The definitions or sections of a file, in order.
    #[serde(rename = "symbols")]
    File(Vec<OutlineSymbol>),
    /// The files below a directory, in order.
    #[serde(rename = "files")]
    Directory(Vec<FileOutline>),
}

/// A definition, or a section of a document.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct OutlineSymbol {
    /// Name without the enclosing names.
    pub name: String,
    /// function, struct, section …
    pub kind: String,
    /// First line, 1-based; 0 when unknown.
    pub start_line: u32,
    /// Last line, inclusive.
    pub end_line: u32,
    /// Nesting depth; 0 at the top.
    pub depth: usize,
}

/// The outline of one file of a directory.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct FileOutline {
    /// Relative to the root.
    pub path: String,
    /// Its top-level symbols: kind and name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub symbols: Vec<String>,
}

impl Engine {
    /// Outlines a file or a directory.
    ///
    /// # Errors
    /// When the path is not valid or not in the index, or the index cannot be read.
    pub fn outline(
        &self,
        request: &OutlineRequest,
        call: &Call,
    ) -> Result<OutlineAnswer, AskError> {
        if let Some(package) = self.in_package(&request.path, call)? {
            let request = OutlineRequest { path: package.below.clone() };
            let answer = package.engine.outline(&request, &call.of_package())?;
            return Ok(answer.renamed(|path| package.outside(path)));
        }
        let outlined = |View { code, mut state }: View| {
            let chunks = code.corpus.chunks();
            let path = paths::below(&self.project, chunks, &request.path)?;
            let is_directory = path.is_empty()
                || chunks
                    .files()
                    .any(|f| f.strip_prefix(&*path).is_some_and(|r| r.starts_with('/')));
            let (path, ranges) = if is_directory {
                (path, Vec::new())
            } else {
                let place = paths::place(&self.project, &code.corpus, &request.path)?;
                let ranges = place.ranges();
                state = state.warning_first(place.note);
                (place.path, ranges)
            };
            let below = if path.is_empty() { String::new() } else { format!("{path}/") };
            let is_deleted = |f: &str| {
                chunks.by_file(f).find_map(|e| e.chunk()).is_some_and(|c| c.metadata.is_deleted())
            };
            let inside: BTreeSet<&str> =
                chunks.files().filter(|f| f.starts_with(&below) && !is_deleted(f)).collect();
            if is_deleted(&path) {
                state
                    .warnings
                    .push(format!("`{path}` was deleted. This is its outline as it was indexed"));
            }
            let outline = if path.is_empty() || !inside.is_empty() {
                let files: Vec<&str> = inside.into_iter().collect();
                let file = |path: &&str| FileOutline {
                    path: path.to_string(),
                    symbols: top_level(&chunks.read_file(path)),
                };
                Outlined::Directory(files.par_iter().map(file).collect())
            } else {
                let indexed = paths::chunks_of(&self.project, chunks, &path)?;
                let now = paths::chunks_now(&self.project, &indexed, &path);
                if now.is_some() {
                    state.warnings.insert(0, paths::changed(&path, "this is its outline"));
                }
                let shown = now.unwrap_or(indexed);
                if !self.project.layout.is_foreign() {
                    state.warnings.extend(unparsed(&path, &shown));
                }
                let limit = shown.iter().find_map(|chunk| chunk.metadata.cut_by());
                state.warnings.extend(limit.map(|limit| cut(&path, limit)));
                Outlined::File(within(symbols(&shown), &ranges))
            };
            Ok::<_, AskError>(OutlineAnswer { path, outline, state: state.in_brief(call) })
        };
        let answer = match self.places_early(&[request.path.as_str()], call)? {
            Some(view) => outlined(view),
            None => self.with_code(call, outlined),
        };
        self.or_lines(answer, &request.path, call)
    }
}

impl OutlineAnswer {
    /// Returns the outline with other paths.
    fn renamed(mut self, name: impl Fn(&str) -> String) -> Self {
        self.path = name(&self.path);
        if let Outlined::Directory(files) = &mut self.outline {
            for file in files {
                file.path = name(&file.path);
            }
        }
        self
    }
}

/// Says why the symbols of a file are not known.
fn cut(path: &str, limit: &str) -> String {
    let why = match limit {
        "time" => {
            "the parser ran out of time: `cortex index --full` parses it again, on a machine that is less busy"
        }
        _ => {
            "the parser takes more steps for it than for any real program: search its text instead"
        }
    };
    format!("`{path}` is cut by lines, and its symbols are not known, because {why}")
}

/// Returns the top-level symbols of a file, one for each name: an `impl` has the name of its type.
fn top_level(chunks: &[Arc<Chunk>]) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let top = symbols(chunks)
        .into_iter()
        .filter(|symbol| symbol.depth == 0 && seen.insert(symbol.name.clone()));
    top.map(|symbol| format!("{} {}", symbol.kind, symbol.name).trim().to_string()).collect()
}

/// Returns the definitions in the chunks of a file, in order. Without definitions, its sections.
fn symbols(chunks: &[Arc<Chunk>]) -> Vec<OutlineSymbol> {
    let names = chunks.iter().flat_map(|c| &c.metadata.names).map(|n| OutlineSymbol {
        name: n.name.clone(),
        kind: n.kind.clone(),
        start_line: n.start_line,
        end_line: n.end_line,
        depth: n.depth.into(),
    });
    let mut out: Vec<OutlineSymbol> = names.collect();
    if out.is_empty() {
        out = sections(chunks);
    }
    // A symbol comes before the ones that it encloses.
    out.sort_by_key(|s| (s.start_line, s.depth, Reverse(s.end_line)));
    // The values of an enum are also in a chunk of their own, so remove duplicates.
    let mut seen = BTreeSet::new();
    out.retain(|s| seen.insert((s.start_line, s.name.clone(), s.kind.clone())));
    out
}

/// Says which lines of a file could not be parsed; `None` if there are none.
fn unparsed(path: &str, chunks: &[Arc<Chunk>]) -> Option<String> {
    const MAX_SHOWN: usize = 5;
    const SO: &str = "symbols there may be missing here and in the code graph. \
                      A search and cortex grep read those lines as text";
    let is_parsed = |chunk: &&Arc<Chunk>| chunk.chunk_type == ChunkType::Symbols;
    let Some(outline) = chunks.iter().find(is_parsed) else {
        let language = chunks.iter().find_map(|chunk| chunk.metadata.language.as_deref())?;
        grammar(language)?;
        return Some(format!("`{path}` could not be parsed as {language}: {SO}"));
    };
    let lines = outline.metadata.unparsed();
    let shown: Vec<String> = lines
        .iter()
        .take(MAX_SHOWN)
        .map(|(a, b)| if a == b { a.to_string() } else { format!("{a}-{b}") })
        .collect();
    let (first, last) = (lines.first()?, lines.last()?);
    let word = if first.0 == last.1 { "line" } else { "lines" };
    let more = match lines.len() - shown.len() {
        0 => String::new(),
        n => format!(" and {}", count(n, "more place")),
    };
    Some(format!(
        "`{path}` has syntax errors: {word} {}{more} could not be parsed, and {SO}",
        shown.join(", ")
    ))
}

/// Returns the symbols inside some ranges of lines, with their depth below the outermost of them. If
/// there are none, it is the innermost symbol around the first line. Without ranges, it is all.
fn within(mut symbols: Vec<OutlineSymbol>, ranges: &[(u32, u32)]) -> Vec<OutlineSymbol> {
    let Some((line, _)) = ranges.first() else { return symbols };
    let around = symbols.iter().filter(|s| (s.start_line..=s.end_line).contains(line));
    let around = around.max_by_key(|s| (s.depth, s.start_line)).cloned();
    symbols.retain(|s| {
        ranges.iter().any(|(first, last)| s.start_line >= *first && s.end_line <= *last)
    });
    if symbols.is_empty() {
        symbols.extend(around);
    }
    let outermost = symbols.iter().map(|s| s.depth).min().unwrap_or(0);
    for symbol in &mut symbols {
        symbol.depth -= outermost;
    }
    symbols
}

fn sections(chunks: &[Arc<Chunk>]) -> Vec<OutlineSymbol> {
    let mut out: BTreeMap<&str, OutlineSymbol> = BTreeMap::new();
    for chunk in chunks.iter().filter(|c| c.chunk_type != ChunkType::Symbols) {
        let m = &chunk.metadata;
        let Some(path) = m.symbol.as_deref() else { continue };
        let (start_line, end_line) = (m.start_line.unwrap_or(0), m.end_line.unwrap_or(0));
        let section = out.entry(path).or_insert_with(|| OutlineSymbol {
            name: path.rsplit(" > ").next().unwrap_or(path).to_string(),
            kind: if chunk.chunk_type == ChunkType::Documentation { "section" } else { "symbol" }
                .into(),
            start_line,
            end_line,
            depth: path.matches(" > ").count(),
        });
        // A long section consists of several chunks.
        section.start_line = section.start_line.min(start_line);
        section.end_line = section.end_line.max(end_line);
    }
    out.into_values().collect()
}
