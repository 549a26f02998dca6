//! What ranking knows of each file: its place in the tree and what it defines, put together from its chunks.

use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

use bitcode::{Decode, Encode};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use xxhash_rust::xxh3::xxh3_64;

use super::Slot;
use super::query::last_component;
use super::tokens::{Analyzer, lower, runs};
use crate::chunk::{Chunk, ChunkType};
use crate::languages::{Spec, grammars};

/// A term or a name, hashed: equal text, equal key.
pub(super) type Key = u64;

/// Hash of a canonical term or of a name.
pub(super) fn key(text: &str) -> Key {
    xxh3_64(text.as_bytes())
}

/// A file as ranking sees it.
#[derive(Debug, Default, Encode, Decode)]
pub(super) struct File {
    /// The path, or the id of a chunk without one.
    pub(super) path: Arc<str>,
    /// Its chunks, by id.
    pub(super) parts: Vec<FileChunk>,
    /// The lines of every function that it defines, in order.
    pub(super) functions: Vec<LineRange>,
    /// The chunk that holds its outline.
    pub(super) outline: Option<Slot>,
    /// Canonical parts of the file's own name (of its folder for `mod.rs`, `index.ts` …).
    pub(super) stem: Vec<Key>,
    /// Canonical terms of the whole path.
    pub(super) path_terms: Vec<Key>,
    /// Canonical parts of the types it defines.
    pub(super) types: Vec<Key>,
    /// Names it defines, case-sensitive, with what a definition of this kind and nesting is worth (0–1).
    pub(super) definitions: Vec<Definition>,
    pub(super) is_test: bool,
    /// An example, something kept for compatibility or copied from elsewhere, or private by its name.
    pub(super) is_aside: bool,
    pub(super) is_document: bool,
    pub(super) is_config: bool,
    /// Folders above it.
    pub(super) depth: usize,
    /// Of its text.
    pub(super) n_bytes: usize,
}

/// First and last.
pub(super) type LineRange = (u32, u32);

/// What ranking knows of a chunk beside its words.
#[derive(Debug, Clone, Copy, Encode, Decode)]
pub(super) struct FileChunk {
    pub(super) slot: Slot,
    /// `None` when the chunk has none.
    pub(super) lines: Option<LineRange>,
    pub(super) chunk_type: ChunkType,
    /// Code that defines nothing.
    pub(super) is_between: bool,
    /// Its symbol or headings.
    pub(super) section: Key,
}

/// What a chunk adds to its file.
#[derive(Debug)]
pub(super) struct FileContribution {
    part: FileChunk,
    n_bytes: usize,
    types: Vec<Key>,
    functions: Vec<LineRange>,
    definitions: Vec<Definition>,
    mentions: Vec<Key>,
}

impl FileContribution {
    pub(super) fn new(slot: Slot, chunk: &Chunk, analyzer: &mut Analyzer) -> Self {
        let m = &chunk.metadata;
        let part = FileChunk {
            slot,
            lines: lines(chunk),
            chunk_type: chunk.chunk_type,
            is_between: m.names.is_empty() && chunk.chunk_type != ChunkType::Documentation,
            section: m.symbol.as_deref().map_or(0, key),
        };
        let mut piece = Self { part, n_bytes: 0, types: Vec::new(), functions: Vec::new(), definitions: Vec::new(), mentions: Vec::new() };
        if chunk.chunk_type != ChunkType::Symbols {
            piece.n_bytes = chunk.text.len();
        }
        if chunk.chunk_type == ChunkType::Definitions {
            piece.mentions = sorted(identifiers(&chunk.text).map(key));
        }
        for name in &m.names {
            let simple = last_component(&name.name);
            let is_type = TYPE_KINDS.contains(&name.kind.as_str());
            let by_kind = match name.kind.as_str() {
                _ if is_type => 1.0,
                "constant" | "field" | "enum_member" => 0.5,
                _ => 0.8,
            };
            let weak = name.prototype || name.kind == "impl";
            let worth = by_kind * WORTH_BY_DEPTH[usize::from(name.depth).min(2)] * if weak { 0.4 } else { 1.0 };
            piece.definitions.push(Definition {
                name: key(simple),
                worth,
                is_top_type: is_type && name.depth <= 1,
                can_own: !weak && by_kind > 0.5 && simple.len() >= MIN_MENTION,
                slot,
            });
            if is_type && name.depth <= 2 {
                extend(&mut piece.types, canonical_parts(simple, analyzer));
            }
            if matches!(name.kind.as_str(), "function" | "method" | "macro") && name.start_line <= name.end_line {
                piece.functions.push((name.start_line, name.end_line));
            }
        }
        piece
    }
}

/// Identifiers that the code of a file mentions, sorted.
pub(super) type Mentions = Arc<[Key]>;

/// What the chunks of a file mention.
pub(super) fn mentions(pieces: &[FileContribution]) -> Mentions {
    sorted(pieces.iter().flat_map(|p| p.mentions.iter().copied())).into()
}

/// Each once.
fn sorted(keys: impl Iterator<Item = Key>) -> Vec<Key> {
    let mut keys: Vec<Key> = keys.collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

/// First and last line of a chunk.
pub(super) fn lines(chunk: &Chunk) -> Option<LineRange> {
    // Other programs may write anything.
    chunk.metadata.start_line.zip(chunk.metadata.end_line).filter(|(first, last)| first <= last)
}

#[derive(Debug, Clone, Copy, Encode, Decode)]
pub(super) struct Definition {
    pub(super) name: Key,
    pub(super) worth: f32,
    pub(super) is_top_type: bool,
    /// A function or type of a name long enough to mean it.
    pub(super) can_own: bool,
    /// The chunk that it starts in.
    pub(super) slot: Slot,
}

/// File names that say nothing: the folder's name stands for them.
const NAMELESS: [&str; 6] = ["mod", "index", "init", "__init__", "package-info", "package"];
/// Deeper nesting is worth no less.
const WORTH_BY_DEPTH: [f32; 3] = [1.0, 0.9, 0.6];
const TYPE_KINDS: [&str; 7] = ["class", "struct", "enum", "interface", "trait", "type", "module"];

impl File {
    /// Puts a file together from its chunks, which must come in the order of their ids.
    pub(super) fn new(path: Arc<str>, pieces: Vec<FileContribution>, analyzer: &mut Analyzer) -> Self {
        let mut file =
            Self { is_test: is_test_path(&path), is_aside: is_aside(&path), depth: path.matches('/').count(), ..Self::default() };
        for piece in pieces {
            file.parts.push(piece.part);
            file.n_bytes += piece.n_bytes;
            file.functions.extend(piece.functions);
            file.definitions.extend(piece.definitions);
            extend(&mut file.types, piece.types);
        }
        file.functions.sort_unstable();
        let n_of = |chunk_type| file.parts.iter().filter(|p| p.chunk_type == chunk_type).count();
        let (n_outlines, n_documents) = (n_of(ChunkType::Symbols), n_of(ChunkType::Documentation));
        let (n_code, n_data) = (n_of(ChunkType::Definitions), n_of(ChunkType::Data));
        // One symbols chunk beside others is the outline; several, or it alone, are text like any other.
        if n_outlines == 1 && file.parts.len() > 1 {
            file.outline = file.parts.iter().find(|p| p.chunk_type == ChunkType::Symbols).map(|p| p.slot);
        }
        file.is_document = n_documents > n_code + n_data;
        file.is_config = n_data > 0 && n_code + n_documents + n_outlines == 0;
        let without_extension = path.rsplit_once('.').map_or(&*path, |(p, e)| if e.contains('/') { &*path } else { p });
        let mut parts = without_extension.rsplit('/');
        let own = parts.next().unwrap_or_default();
        let folder = parts.next().unwrap_or_default();
        let own = if NAMELESS.contains(&own.to_lowercase().as_str()) && !folder.is_empty() { folder } else { own };
        extend(&mut file.stem, canonical_parts(own, analyzer));
        extend(&mut file.path_terms, canonical_parts(without_extension, analyzer));
        file.path = path;
        file
    }
}

/// How the files of a corpus refer to each other.
#[derive(Debug, Default)]
pub(super) struct References {
    /// The files that define a name; names that many define are left out.
    owners: FxHashMap<Key, Vec<u32>>,
    /// Files whose declarations stand in a header of the same name, in order.
    with_header: Vec<u32>,
    /// By file: what [`References::used_by`] gives, found when it is first asked for.
    uses: Vec<OnceLock<Vec<u32>>>,
}

/// The same with every file asked.
#[derive(Debug, Encode, Decode)]
pub(super) struct AllReferences {
    with_header: Vec<u32>,
    uses: Vec<Vec<u32>>,
}

impl AllReferences {
    /// Whether there is one for each of so many files.
    pub(super) fn covers(&self, n_files: usize) -> bool {
        self.uses.len() == n_files && self.uses.iter().flatten().all(|f| (*f as usize) < n_files)
    }
}

impl From<AllReferences> for References {
    fn from(all: AllReferences) -> Self {
        let uses = all.uses.into_iter().map(OnceLock::from).collect();
        Self { owners: FxHashMap::default(), with_header: all.with_header, uses }
    }
}

/// A name that more files define does not say which of them is meant.
const MAX_OWNERS: usize = 2;

impl References {
    pub(super) fn new(files: &[Arc<File>]) -> Self {
        let mut owners: FxHashMap<Key, Vec<u32>> = FxHashMap::default();
        let live = || (0u32..).zip(files).filter(|(_, f)| !f.parts.is_empty());
        for (at, file) in live() {
            for d in file.definitions.iter().filter(|d| d.can_own) {
                let owners = owners.entry(d.name).or_default();
                if owners.len() <= MAX_OWNERS && owners.last() != Some(&at) {
                    owners.push(at);
                }
            }
        }
        owners.retain(|_, owners| owners.len() <= MAX_OWNERS);
        let stem_if = |file: &'_ File, extensions: fn(&Spec) -> &[&str]| {
            let (stem, extension) = file.path.rsplit('/').next()?.rsplit_once('.')?;
            grammars().iter().any(|g| extensions(&g.spec).contains(&extension)).then(|| stem.to_lowercase())
        };
        let headers: HashSet<String> = live().filter_map(|(_, f)| stem_if(f, |spec| spec.headers)).collect();
        let has_header = |f: &File| stem_if(f, |spec| spec.with_headers).is_some_and(|stem| headers.contains(&stem));
        let with_header = live().filter(|(_, f)| has_header(f)).map(|(at, _)| at).collect();
        Self { owners, with_header, uses: files.iter().map(|_| OnceLock::new()).collect() }
    }

    /// Asks every file.
    pub(super) fn all(&self, mentions: &[Mentions]) -> AllReferences {
        let uses = (0..u32::try_from(self.uses.len()).unwrap_or(u32::MAX)).into_par_iter();
        let uses = uses.map(|at| self.used_by(at, mentions).to_vec()).collect();
        AllReferences { with_header: self.with_header.clone(), uses }
    }

    /// Whether it implements what a header declares.
    pub(super) fn has_header(&self, at: u32) -> bool {
        self.with_header.binary_search(&at).is_ok()
    }

    /// The other files whose definitions a file mentions, in order. `mentions`: of all files, where not every file was asked.
    pub(super) fn used_by(&self, at: u32, mentions: &[Mentions]) -> &[u32] {
        self.uses[at as usize].get_or_init(|| {
            let owners = mentions[at as usize].iter().filter_map(|m| self.owners.get(m)).flatten().copied();
            let mut out: Vec<u32> = owners.filter(|owner| *owner != at).collect();
            out.sort_unstable();
            out.dedup();
            out
        })
    }
}

/// Shorter names say nothing about what is meant.
pub(super) const MIN_MENTION: usize = 4;

/// Identifiers of a text that could mean a definition elsewhere.
fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    text.split(move |c| !word(c)).filter(|w| w.len() >= MIN_MENTION && !w.starts_with(char::is_numeric))
}

fn extend(set: &mut Vec<Key>, more: impl IntoIterator<Item = Key>) {
    for k in more {
        if !set.contains(&k) {
            set.push(k);
        }
    }
}

/// Canonical parts, and wholes, of a name.
fn canonical_parts(text: &str, analyzer: &mut Analyzer) -> Vec<Key> {
    let mut out = Vec::new();
    for run in runs(text) {
        let parts: Vec<String> = run.parts.iter().map(|p| lower(&text[p.clone()])).collect();
        out.extend(parts.iter().map(|p| key(&analyzer.canonical(p))));
    }
    out
}

/// A path that says: not the thing itself.
fn is_aside(path: &str) -> bool {
    const NAMES: [&str; 15] = [
        "example",
        "examples",
        "_examples",
        "sample",
        "samples",
        "demo",
        "demos",
        "compat",
        "_compat",
        "legacy",
        "deprecated",
        "vendor",
        "third_party",
        "deps",
        "polyfills",
    ];
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_private = name.starts_with('_') && !name.starts_with("__");
    is_private || path.split('/').any(|part| NAMES.contains(&part.split('.').next().unwrap_or(part).to_lowercase().as_str()))
}

/// A path that names tests, fixtures, mocks or benchmarks.
fn is_test_path(path: &str) -> bool {
    const FOLDERS: [&str; 16] = [
        "test",
        "tests",
        "__tests__",
        "spec",
        "specs",
        "testing",
        "testdata",
        "fixture",
        "fixtures",
        "mock",
        "mocks",
        "__mocks__",
        "bench",
        "benches",
        "benchmark",
        "benchmarks",
    ];
    const ENDINGS: [&str; 9] = ["_test", "_tests", "_spec", "_unittest", "_benchmark", ".test", ".spec", "_bench", "-test"];
    const CAMEL: [&str; 5] = ["Test", "Tests", "Spec", "Suite", "TestCase"];
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let stem =
        name.split_once('.').map_or(name, |(s, rest)| if rest.contains('.') { &name[..name.rfind('.').unwrap_or(s.len())] } else { s });
    folders.split('/').any(|f| FOLDERS.contains(&f))
        || stem.starts_with("test_")
        || stem == "conftest"
        || ENDINGS.iter().any(|e| stem.ends_with(e))
        || CAMEL.iter().any(|e| stem.len() > e.len() && stem.ends_with(e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_paths() {
        for (path, want) in [
            ("tests/it/main.rs", true),
            ("src/a_test.go", true),
            ("src/a.test.ts", true),
            ("src/FooTest.java", true),
            ("test_x.py", true),
            ("src/contest.rs", false),
            ("src/latest.py", false),
            ("src/testing_tools.rs", false),
            ("src/Test.java", false),
        ] {
            assert_eq!(is_test_path(path), want, "{path}");
        }
    }

    #[test]
    fn a_nameless_file_is_called_after_its_folder() {
        let mut a = Analyzer::default();
        let file = File::new("src/live/mod.rs".into(), Vec::new(), &mut a);
        assert_eq!(file.stem, [key(&a.canonical("live"))]);
    }
}
