//! Finds the files and chunks that requests name by path, line or id.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use strsim::normalized_damerau_levenshtein;

use crate::address::{self, Address};
use crate::chunk::{Chunk, ChunkSet, ChunkType};
use crate::engine::AskError;
use crate::engine::door::near::near_in;
use crate::engine::door::operation::Advised;
use crate::engine::door::project::Project;
use crate::excerpt::symbols_named;
use crate::index::chunk_file;
use crate::search::Corpus;
use crate::source::{self, LeftOut, SHORTEST_CUT};
use crate::store::SourceTable;
use crate::text::count;

/// Number of similar paths that an error proposes for an unknown one.
const MAX_PROPOSALS: usize = 3;
const MIN_SIMILARITY: f64 = 0.4;
/// Number of files in which the definitions of a name are looked up.
const MAX_DEFINING: usize = 20;
/// Number of definitions that an error names.
const MAX_SHOWN: usize = 8;
/// A path of several names that does not exist means a file that ends with this many of them.
const LEAST_ALIKE: usize = 2;
/// Longest accepted path; `PATH_MAX` on Linux.
const MAX_PATH_BYTES: usize = 4096;
/// What an address shows of a file that changed.
const LINES: &str = "these are its lines";

/// A place in an indexed file.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::engine) struct Place {
    /// Relative to the root, as the index has it.
    pub(in crate::engine) path: String,
    /// First and last line, 1-based; the last may be beyond the end.
    pub(in crate::engine) lines: Option<(u32, u32)>,
    /// The ranges of lines after the first one, as they were written.
    pub(in crate::engine) more: Vec<(u32, u32)>,
    /// Says that another file answers, because the written path does not exist, or that the lines are
    /// not those of the index. It goes before the answer.
    pub(in crate::engine) note: Option<String>,
}

/// Finds the place in an indexed file that somebody means: a path, also one that is absolute or
/// relative to the working directory; with lines or the name of a symbol; or the name of a symbol
/// alone. A path that names nothing may be the end of one, or of another machine.
pub(in crate::engine) fn place(
    project: &Project,
    corpus: &Corpus,
    written: &str,
) -> Result<Place, AskError> {
    let chunks = corpus.chunks();
    if chunks.by_file(written).next().is_some() {
        return Ok(Place {
            path: normal(project.layout.root(), written)?,
            lines: None,
            more: Vec::new(),
            note: None,
        });
    }
    let address = Address::parse(written);
    let (path, note) = match file(project, chunks, &address.path) {
        Err(AskError::NotFound(why)) => {
            return symbol(project, corpus, written).unwrap_or_else(|| {
                let is_path = written.contains('/');
                let near = if is_path { String::new() } else { near_in(corpus, written) };
                Err(AskError::NotFound(format!("{why}{near}")))
            });
        }
        found => found?,
    };
    let (mut note, mut lines) = (note, address.lines);
    if let Some(symbol) = &address.symbol {
        let indexed = chunks.read_file(&path);
        let now = chunks_now(project, &indexed, &path);
        note = note.or(now.as_ref().map(|_| changed(&path, LINES)));
        let lists =
            || format!("{} lists the symbols of {path}", project.front_end.name(Advised::Outline));
        lines = Some(lines_of(&now.unwrap_or(indexed), &path, symbol, lists)?);
    }
    Ok(Place { path, lines, more: address.more, note })
}

impl Place {
    /// Returns all ranges of lines, as they were written.
    pub(in crate::engine) fn ranges(&self) -> Vec<(u32, u32)> {
        self.lines.into_iter().chain(self.more.iter().copied()).collect()
    }
}

/// Finds the definition of a symbol or, if there is none, its declaration, if a text is the name of one: `retry`, `Backoff::wait`.
fn symbol(project: &Project, corpus: &Corpus, written: &str) -> Option<Result<Place, AskError>> {
    let name = written.rsplit([':', '.', '#']).next()?.trim_end_matches("()");
    if written.contains(['/', ' ']) || name.is_empty() {
        return None;
    }
    let (mut found, mut declarations): (Vec<Place>, Vec<Place>) = (Vec::new(), Vec::new());
    for path in corpus.files_defining(name).into_iter().take(MAX_DEFINING) {
        let indexed = corpus.chunks().read_file(path);
        let (mut lines, mut note) = (symbols_named(&indexed, written), None);
        if !lines.is_empty()
            && let Some(now) = chunks_now(project, &indexed, path)
        {
            (lines, note) = (symbols_named(&now, written), Some(changed(path, LINES)));
        }
        let place = |lines| Place {
            path: path.into(),
            lines: Some(lines),
            more: Vec::new(),
            note: note.clone(),
        };
        let declared = |lines: &(u32, u32)| {
            let names = indexed.iter().flat_map(|chunk| &chunk.metadata.names);
            names.filter(|name| name.start_line == lines.0).any(|name| name.prototype)
        };
        declarations.extend(lines.extract_if(.., |lines| declared(lines)).map(place));
        found.extend(lines.into_iter().map(place));
    }
    if found.is_empty() {
        found = declarations;
    }
    match found.len() {
        0 => None,
        1 => found.pop().map(Ok),
        n => {
            let at = |place: &Place| {
                format!("{}:{}", place.path, place.lines.map_or(1, |(first, _)| first))
            };
            let shown: Vec<String> = found.iter().take(MAX_SHOWN).map(at).collect();
            let more = if n > shown.len() { " …" } else { "" };
            Some(Err(AskError::NotFound(format!(
                "`{written}` may be any of {}: {}{more}",
                count(n, "symbol"),
                shown.join(", ")
            ))))
        }
    }
}

/// Finds the indexed file that a path means, with the note of [`Place`].
fn file(
    project: &Project,
    chunks: &ChunkSet,
    path: &str,
) -> Result<(String, Option<String>), AskError> {
    let from_root = below(project, chunks, path);
    if let Ok(path) = &from_root
        && chunks.by_file(path).next().is_some()
    {
        return Ok((path.clone(), None));
    }
    // What exists is meant, and no other file of that name.
    if exists(project, path) {
        return Err(from_root
            .map_or_else(|e| e, |path| AskError::NotFound(unknown(project, chunks, &path))));
    }
    let written = names(path);
    let is_alike = |file: &&str| {
        let common = written.iter().rev().zip(file.rsplit('/')).take_while(|(a, b)| *a == b);
        common.count() >= written.len().min(LEAST_ALIKE)
    };
    let found: Vec<&str> =
        address::matching(path, chunks.files()).into_iter().filter(is_alike).collect();
    match (&found[..], from_root) {
        ([one], _) => {
            let note = format!("`{path}` does not exist: this is {one}, whose path ends alike");
            // A name alone asks for any file of that name.
            let note = Some(note).filter(|_| written.len() > 1 || path.contains('/'));
            // Chunk files of other programs may name files outside.
            Ok((normal(project.layout.root(), one)?, note))
        }
        ([], Err(e)) => Err(e),
        ([], Ok(path)) => Err(AskError::NotFound(unknown(project, chunks, &path))),
        (many, _) => {
            let shown: Vec<&str> = many.iter().take(MAX_PROPOSALS).copied().collect();
            let more = if many.len() > shown.len() { " …" } else { "" };
            Err(AskError::NotFound(format!(
                "`{path}` may be any of {}: {}{more}",
                count(many.len(), "file"),
                shown.join(", ")
            )))
        }
    }
}

/// Returns the names in a path.
fn names(path: &str) -> Vec<&str> {
    path.split('/').filter(|part| !matches!(*part, "" | "." | "..")).collect()
}

/// Whether anything has this path, seen from the working directory or the root.
#[expect(clippy::disallowed_methods, reason = "asks whether a path that a caller names exists")]
fn exists(project: &Project, path: &str) -> bool {
    let root = project.layout.root();
    [root.join(&project.folder).join(path), root.join(path)]
        .into_iter()
        .any(|path| std::fs::symlink_metadata(path).is_ok())
}

/// The note of an answer about a file as it is now: `what` says what the answer shows of it.
pub(in crate::engine) fn changed(path: &str, what: &str) -> String {
    format!("`{path}` changed since it was indexed: {what} now")
}

/// Returns the lines of a symbol in a file. If the file has none that is similar either, the error
/// gives the advice `otherwise`.
pub(in crate::engine) fn lines_of(
    of_file: &[Arc<Chunk>],
    path: &str,
    symbol: &str,
    otherwise: impl FnOnce() -> String,
) -> Result<(u32, u32), AskError> {
    let named = symbols_named(of_file, symbol);
    named.first().copied().ok_or_else(|| {
        let names = of_file.iter().flat_map(|chunk| &chunk.metadata.names).map(|n| &*n.name);
        let advice = similar(names, |name| normalized_damerau_levenshtein(symbol, name));
        let advice = advice.unwrap_or_else(otherwise);
        AskError::NotFound(format!("`{path}` has no symbol `{symbol}`; {advice}"))
    })
}

/// Names the texts that are most similar to the text that somebody wrote, each once. Returns `None` if
/// no text is similar enough.
fn similar<'n>(
    all: impl Iterator<Item = &'n str>,
    similarity: impl Fn(&str) -> f64,
) -> Option<String> {
    let mut near: Vec<(f64, &str)> =
        all.map(|name| (similarity(name), name)).filter(|(s, _)| *s >= MIN_SIMILARITY).collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    near.dedup_by_key(|n| n.1);
    let near: Vec<&str> = near.into_iter().take(MAX_PROPOSALS).map(|(_, name)| name).collect();
    (!near.is_empty()).then(|| format!("similar: {}", near.join(", ")))
}

/// Returns a path in the form that the index uses: relative to the root, without `.`. It is empty
/// for the root.
pub(in crate::engine) fn normal(root: &Path, path: &str) -> Result<String, AskError> {
    if path.len() > MAX_PATH_BYTES {
        return Err(AskError::Arguments(format!("path is longer than {MAX_PATH_BYTES} bytes")));
    }
    let refused = |why: &str| Err(AskError::Arguments(format!("path is `{path}`: {why}")));
    let written = Path::new(path);
    let inside =
        if written.is_absolute() { written.strip_prefix(root).ok() } else { Some(written) };
    let Some(inside) = inside else {
        return refused("it is outside the project; give a path relative to its root");
    };
    lexical(inside).map_or_else(
        || refused("it leads out of the project; give a path relative to its root"),
        Ok,
    )
}

/// Returns the path that a request means: relative to the working directory if an indexed file or
/// directory is there, else relative to the root.
pub(in crate::engine) fn below(
    project: &Project,
    chunks: &ChunkSet,
    path: &str,
) -> Result<String, AskError> {
    let from_folder = lexical(&project.folder.join(path)).filter(|_| Path::new(path).is_relative());
    let is_there = |path: &String| {
        let folder = format!("{path}/");
        path.is_empty() || chunks.files().any(|file| file == path || file.starts_with(&folder))
    };
    match from_folder.filter(is_there) {
        Some(path) => Ok(path),
        None => normal(project.layout.root(), path),
    }
}

/// Returns a glob of a request as one over the paths of the index. What exists in the project as it is
/// written is that file or folder, though names such as `[slug]` or `{id}` look like globs. It is meant
/// from the root, also if other folders have a file or folder of that name. A path may be absolute, or
/// have the separators of Windows.
pub(in crate::engine) fn glob(project: &Project, written: &str) -> String {
    let slashed = with_slashes(written);
    let inside = Path::new(&slashed).strip_prefix(project.layout.root()).ok();
    let (is_at_root, path) = match inside {
        Some(inside) => (true, inside),
        None => (slashed.starts_with('/'), Path::new(slashed.trim_start_matches('/'))),
    };
    let Some(path) = lexical(path) else { return written.to_string() };
    if path.is_empty() {
        return "**".into();
    }
    let (tree, mut so_far) = (project.layout.tree(), PathBuf::new());
    let mut is_literal = true;
    let parts = path.split('/').map(|part| {
        so_far.push(part);
        is_literal = is_literal && matches!(tree.stat(&so_far), Ok(Some(_)));
        if is_literal { globset::escape(part) } else { part.to_string() }
    });
    let glob = parts.collect::<Vec<_>>().join("/");
    if is_at_root || is_literal { format!("/{glob}") } else { glob }
}

/// Replaces the separators of Windows. Before a sign of globs, a backslash takes its meaning away.
fn with_slashes(glob: &str) -> String {
    let mut out = String::with_capacity(glob.len());
    let mut rest = glob.chars().peekable();
    while let Some(c) = rest.next() {
        let is_escape = |next: &char| matches!(next, '*' | '?' | '[' | ']' | '{' | '}' | '!');
        match c {
            '\\' if rest.peek().is_some_and(is_escape) => {
                out.extend([Some(c), rest.next()].into_iter().flatten());
            }
            '\\' => out.push('/'),
            c => out.push(c),
        }
    }
    out
}

/// Returns the indexed file that a path means exactly: an absolute one, or one with other separators.
pub(in crate::engine) fn written_file(
    project: &Project,
    chunks: &ChunkSet,
    path: &str,
) -> Option<String> {
    let path = below(project, chunks, path).ok()?;
    let is_indexed = chunks.by_file(&path).next().is_some();
    is_indexed.then_some(path)
}

/// Returns a path without `.` and `..`; `None` if it leads out of its beginning.
fn lexical(path: &Path) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.to_str()?.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// Returns the chunks that a file has now, if it changed since it was indexed: an answer right after
/// an edit must not wait for the indexer, and must not be wrong either.
pub(in crate::engine) fn chunks_now(
    project: &Project,
    indexed: &[Arc<Chunk>],
    path: &str,
) -> Option<Vec<Arc<Chunk>>> {
    if project.layout.is_foreign() {
        return None;
    }
    let text = project.read_text(path).ok()?;
    let lines: Vec<&str> = text.lines().collect();
    let is_unchanged = indexed.iter().all(|chunk| !is_verbatim(chunk) || holds(&lines, chunk));
    (!is_unchanged).then(|| chunk_file(path, &text).into_iter().map(Arc::new).collect())
}

/// Whether a chunk's text is a literal copy of its lines: not an outline or another program's
/// summary.
pub(in crate::engine) fn is_verbatim(chunk: &Chunk) -> bool {
    let m = &chunk.metadata;
    let n_lines = m.start_line.zip(m.end_line).map(|(a, b)| (b.saturating_sub(a)) as usize + 1);
    chunk.chunk_type != ChunkType::Symbols && n_lines == Some(chunk.text.lines().count())
}

/// Whether the chunk's lines, among the lines of the file, still have the chunk's text.
pub(in crate::engine) fn holds(file: &[&str], chunk: &Chunk) -> bool {
    let first = chunk.metadata.start_line.unwrap_or(1).max(1) as usize;
    // A very long line may be cut, and be divided between chunks.
    let mut there = file.get(first - 1..).unwrap_or_default().iter();
    let n_lines = chunk.text.lines().count();
    chunk.text.lines().enumerate().all(|(n, line)| {
        there.next().is_some_and(|now| {
            *now == line
                || line.len() >= SHORTEST_CUT && now.starts_with(line)
                || n == 0 && now.ends_with(line)
                || n_lines == 1 && now.contains(line)
        })
    })
}

/// Returns the chunks of an indexed file.
pub(in crate::engine) fn chunks_of(
    project: &Project,
    chunks: &ChunkSet,
    path: &str,
) -> Result<Vec<Arc<Chunk>>, AskError> {
    let found = chunks.read_file(path);
    if found.is_empty() {
        Err(AskError::NotFound(unknown(project, chunks, path)))
    } else {
        Ok(found)
    }
}

fn unknown(project: &Project, chunks: &ChunkSet, path: &str) -> String {
    let name = |p: &str| p.rsplit('/').next().unwrap_or_default().to_lowercase();
    let wanted = name(path);
    let similarity = |p: &str| {
        normalized_damerau_levenshtein(path, p)
            .max(normalized_damerau_levenshtein(&wanted, &name(p)))
    };
    let advice = similar(chunks.files(), similarity).unwrap_or_else(|| {
        format!("{} lists the indexed files", project.front_end.name(Advised::Outline))
    });
    let why = not_indexed(project, path);
    format!("`{path}` is not in the index: {why}; {advice}")
}

/// Says why the index does not have a path: what the last run of the indexer skipped, and the rule
/// that leaves a file out, are known.
fn not_indexed(project: &Project, path: &str) -> String {
    let table = SourceTable::read(&project.layout).unwrap_or_default();
    if let Some((_, why)) = table.all_skipped().find(|(skipped, _)| *skipped == path) {
        return format!("the file is skipped ({why})");
    }
    if !exists(project, path) {
        return "there is no such file".into();
    }
    let left_out = source::left_out(project.layout.root(), &project.walk);
    rule_of(&left_out, path).unwrap_or_else(|| "it has no text that is indexed".into())
}

/// Says which of the rules leaves a path out.
fn rule_of(left_out: &[LeftOut], path: &str) -> Option<String> {
    let is_it = |out: &&LeftOut| match out.path.strip_suffix('/') {
        Some(folder) => path == folder || path.starts_with(&out.path),
        None => path == out.path,
    };
    let LeftOut { path: of, reason, rule, .. } = left_out.iter().find(is_it)?;
    let of = if of.trim_end_matches('/') == path { "it".into() } else { format!("`{of}`") };
    let rule = rule.as_ref().map(|r| format!(" by {}:{} ({})", r.path, r.line, r.glob));
    Some(format!("{of} is left out ({reason}{})", rule.unwrap_or_default()))
}

/// Says for each folder why its files are not in the index, and how to search them once or always;
/// nothing of a folder that does not exist or that no rule leaves out.
pub(in crate::engine) fn why_idle(project: &Project, folders: &[&str]) -> Vec<Option<String>> {
    let is_there = |folder: &str| !folder.is_empty() && exists(project, folder);
    if !folders.iter().any(|folder| is_there(folder)) {
        return vec![None; folders.len()];
    }
    let left_out = source::left_out(project.layout.root(), &project.walk);
    let why = |folder: &&str| {
        let why = rule_of(&left_out, folder).filter(|_| is_there(folder))?;
        Some(format!(
            "{why}; `grep -rn TEXT {folder}` searches it once, index.include = [\"{folder}/**\"] always"
        ))
    };
    folders.iter().map(why).collect()
}

/// Returns the chunk with this id.
pub(in crate::engine) fn chunk(
    project: &Project,
    chunks: &ChunkSet,
    id: &str,
) -> Result<Arc<Chunk>, AskError> {
    chunks.by_id(id).and_then(|entry| entry.chunk()).ok_or_else(|| {
        AskError::NotFound(format!(
            "there is no chunk `{id}`: use a chunk_id from the results of {}, such as `src/live/manager.rs#ChunkManager::reload`, or give path and lines instead",
            project.front_end.name(Advised::Search)
        ))
    })
}

/// Returns the smallest chunk of a file that contains a line. Without a line, returns the chunk
/// with the file's outline or, if there is none, the first chunk.
pub(in crate::engine) fn chunk_at(
    project: &Project,
    chunks: &ChunkSet,
    path: &str,
    line: Option<u32>,
) -> Result<Arc<Chunk>, AskError> {
    let of_file = chunks_of(project, chunks, path)?;
    let lines = |c: &Chunk| (c.metadata.start_line.unwrap_or(0), c.metadata.end_line.unwrap_or(0));
    let Some(line) = line else {
        return Ok(of_file
            .iter()
            .min_by_key(|c| (c.chunk_type != ChunkType::Symbols, lines(c).0))
            .unwrap_or(&of_file[0])
            .clone());
    };
    let holding = of_file.iter().filter(|c| (lines(c).0..=lines(c).1).contains(&line));
    holding
        .min_by_key(|c| (c.chunk_type == ChunkType::Symbols, lines(c).1 - lines(c).0))
        .cloned()
        .ok_or_else(|| {
            let last = of_file.iter().map(|c| lines(c).1).max().unwrap_or(0);
            AskError::NotFound(format!(
                "`{path}` has no line {line} in the index: give 1 to {last}"
            ))
        })
}
