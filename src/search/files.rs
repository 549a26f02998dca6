//! The data of each file that ranking uses: its path and its definitions, collected from its
//! chunks.

use std::sync::Arc;

use bitcode::{Decode, Encode};
use xxhash_rust::xxh3::xxh3_64;

use super::Slot;
use super::tokens::{Analyzer, last_component, lower, runs};
use crate::chunk::{Chunk, ChunkType, Origin};
use crate::languages::{Examples, code_family, example_folder, is_record, is_test_path};

/// The hash of a term or a name.
pub(super) type Key = u64;

/// Hashes a canonical term or a name.
pub(super) fn key(text: &str) -> Key {
    xxh3_64(text.as_bytes())
}

/// A file as ranking sees it.
#[derive(Debug, Clone, Default, Encode, Decode)]
pub(super) struct IndexedFile {
    /// The path, or the id of a chunk without one.
    pub(super) path: Arc<str>,
    /// Its chunks, by id.
    pub(super) parts: Vec<FileChunk>,
    /// Line ranges of all functions that it defines, in order.
    pub(super) functions: Vec<LineRange>,
    /// The chunk that holds its outline.
    pub(super) outline: Option<Slot>,
    /// Canonical parts of the file's own name, or of its folder's for `mod.rs`, `index.ts` and the
    /// like.
    pub(super) stem: Vec<Key>,
    /// Canonical terms of the whole path.
    pub(super) path_terms: Vec<Key>,
    /// Canonical parts of the types it defines.
    pub(super) types: Vec<Key>,
    /// Names it defines, case-sensitive, with the worth of a definition of this kind and nesting
    /// (0–1).
    pub(super) definitions: Vec<Definition>,
    pub(super) is_test: bool,
    /// Whether it is compatibility code, a copy from elsewhere, or private by its name.
    is_aside: bool,
    /// Whether it is in a folder of examples. [`Examples`] says whether that makes it one.
    pub(super) in_examples: bool,
    /// The language of its code, if it is code.
    pub(super) code_family: Option<u64>,
    /// Whether a program wrote it, or another project.
    pub(super) is_foreign: bool,
    pub(super) is_document: bool,
    pub(super) is_config: bool,
    /// Number of folders above it.
    pub(super) depth: usize,
    /// Size of its text.
    pub(super) n_bytes: usize,
}

/// The group of a file in listings of many files, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileGroup {
    Source,
    /// Documents, configuration and records.
    Document,
    Test,
    /// Examples of a project that has other code, too.
    Example,
    /// Compatibility code, copies from elsewhere, generated code.
    Aside,
}

/// First and last line, 1-based.
pub(super) type LineRange = (u32, u32);

/// The data of a chunk that ranking uses, apart from its words.
#[derive(Debug, Clone, Copy, Encode, Decode)]
pub(super) struct FileChunk {
    pub(super) slot: Slot,
    /// `None` if the chunk has no lines.
    pub(super) lines: Option<LineRange>,
    pub(super) chunk_type: ChunkType,
    /// Whether it is code without a definition.
    pub(super) is_between: bool,
    /// Hash of its symbol or heading path.
    pub(super) section: Key,
}

/// A chunk's contribution to the data of its file.
#[derive(Debug)]
pub(super) struct FileContribution {
    part: FileChunk,
    is_foreign: bool,
    n_bytes: usize,
    types: Vec<Key>,
    functions: Vec<LineRange>,
    definitions: Vec<Definition>,
    /// Identifiers in its code, sorted.
    pub(super) mentions: Vec<Key>,
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
        let mut piece = Self {
            part,
            is_foreign: m.origin() != Origin::Ordinary,
            n_bytes: 0,
            types: Vec::new(),
            functions: Vec::new(),
            definitions: Vec::new(),
            mentions: Vec::new(),
        };
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
            let worth = by_kind
                * WORTH_BY_DEPTH[usize::from(name.depth).min(2)]
                * if weak { 0.4 } else { 1.0 };
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
            if name.is_function() && name.start_line <= name.end_line {
                piece.functions.push((name.start_line, name.end_line));
            }
        }
        piece
    }
}

/// Sorts keys and removes duplicates.
pub(super) fn sorted(keys: impl Iterator<Item = Key>) -> Vec<Key> {
    let mut keys: Vec<Key> = keys.collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

/// Returns the first and last line of a chunk.
pub(super) fn lines(chunk: &Chunk) -> Option<LineRange> {
    // Chunk files of other programs may hold any numbers.
    chunk.metadata.start_line.zip(chunk.metadata.end_line).filter(|(first, last)| first <= last)
}

#[derive(Debug, Clone, Copy, Encode, Decode)]
pub(super) struct Definition {
    pub(super) name: Key,
    pub(super) worth: f32,
    pub(super) is_top_type: bool,
    /// Whether it is a function or type whose name is long enough to be unambiguous.
    pub(super) can_own: bool,
    /// The chunk in which it starts.
    pub(super) slot: Slot,
}

/// File names without meaning; the folder's name is used instead.
const NAMELESS: [&str; 6] = ["mod", "index", "init", "__init__", "package-info", "package"];
/// Worth by nesting depth; deeper levels count like the last.
const WORTH_BY_DEPTH: [f32; 3] = [1.0, 0.9, 0.6];
pub(super) const TYPE_KINDS: [&str; 7] =
    ["class", "struct", "enum", "interface", "trait", "type", "module"];

/// Iterates over the files that have chunks. The others are gone.
pub(super) fn live(files: &[Arc<IndexedFile>]) -> impl Iterator<Item = &IndexedFile> {
    files.iter().map(|file| &**file).filter(|file| !file.parts.is_empty())
}

impl IndexedFile {
    /// Whether it is not what the project is about: an example, compatibility code, a copy from
    /// elsewhere, or private by its name.
    pub(super) fn is_aside(&self, examples: Examples) -> bool {
        self.is_aside || self.is_example(examples)
    }

    /// Whether it lists changes, people, translations or versions.
    pub(super) fn is_record(&self) -> bool {
        self.code_family.is_none() && is_record(&self.path)
    }

    fn is_example(&self, examples: Examples) -> bool {
        self.in_examples && examples.is_one(self.code_family)
    }

    /// Returns the group in which listings of many files show it.
    pub(super) fn group(&self, examples: Examples) -> FileGroup {
        if self.is_aside || self.is_foreign {
            FileGroup::Aside
        } else if self.is_example(examples) {
            FileGroup::Example
        } else if self.is_test {
            FileGroup::Test
        } else if self.is_document || self.is_config || self.is_record() {
            FileGroup::Document
        } else {
            FileGroup::Source
        }
    }

    /// Returns a copy whose slots, which count from 0, begin at `first`.
    pub(super) fn starting_at(&self, first: Slot) -> Self {
        let mut file = self.clone();
        file.parts.iter_mut().for_each(|part| part.slot += first);
        file.definitions.iter_mut().for_each(|definition| definition.slot += first);
        file.outline = file.outline.map(|slot| slot + first);
        file
    }

    /// Builds a file from its chunks, which must be in the order of their ids.
    pub(super) fn new(
        path: Arc<str>,
        pieces: Vec<FileContribution>,
        analyzer: &mut Analyzer,
    ) -> Self {
        let mut file = Self {
            is_test: is_test_path(&path),
            is_aside: is_aside(&path),
            in_examples: example_folder(&path).is_some(),
            depth: path.matches('/').count(),
            ..Self::default()
        };
        for piece in pieces {
            file.is_foreign |= piece.is_foreign;
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
        // If there are other chunks, a single symbols chunk is the outline. Several symbols chunks,
        // or one alone, are ordinary text.
        if n_outlines == 1 && file.parts.len() > 1 {
            file.outline =
                file.parts.iter().find(|p| p.chunk_type == ChunkType::Symbols).map(|p| p.slot);
        }
        file.is_document = n_documents > n_code + n_data;
        file.is_config = n_data > 0 && n_code + n_documents + n_outlines == 0;
        if !file.is_document && !file.is_config {
            file.code_family = code_family(&path);
        }
        let without_extension =
            path.rsplit_once('.').map_or(&*path, |(p, e)| if e.contains('/') { &*path } else { p });
        let mut parts = without_extension.rsplit('/');
        let own = parts.next().unwrap_or_default();
        let folder = parts.next().unwrap_or_default();
        let own = if NAMELESS.contains(&own.to_lowercase().as_str()) && !folder.is_empty() {
            folder
        } else {
            own
        };
        extend(&mut file.stem, canonical_parts(own, analyzer));
        extend(&mut file.path_terms, canonical_parts(without_extension, analyzer));
        file.path = path;
        file
    }
}

/// Shorter names are too ambiguous.
pub(super) const MIN_MENTION: usize = 4;

/// Returns the identifiers of a text that may refer to a definition elsewhere.
fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    text.split(move |c| !word(c))
        .filter(|w| w.len() >= MIN_MENTION && !w.starts_with(char::is_numeric))
}

fn extend(set: &mut Vec<Key>, more: impl IntoIterator<Item = Key>) {
    for k in more {
        if !set.contains(&k) {
            set.push(k);
        }
    }
}

/// Returns the canonical parts, and the whole, of a name.
fn canonical_parts(text: &str, analyzer: &mut Analyzer) -> Vec<Key> {
    let mut out = Vec::new();
    for run in runs(text) {
        let parts: Vec<String> = run.parts.iter().map(|p| lower(&text[p.clone()])).collect();
        out.extend(parts.iter().map(|p| key(&analyzer.canonical(p))));
    }
    out
}

/// Returns whether a path names compatibility code, copies or private files.
fn is_aside(path: &str) -> bool {
    const NAMES: [&str; 6] = ["compat", "_compat", "legacy", "deprecated", "deps", "polyfills"];
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_private = name.starts_with('_') && !name.starts_with("__");
    is_private
        || path.split('/').any(|part| {
            NAMES.contains(&part.split('.').next().unwrap_or(part).to_lowercase().as_str())
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nameless_file_is_called_after_its_folder() {
        let mut a = Analyzer::default();
        let file = IndexedFile::new("src/live/mod.rs".into(), Vec::new(), &mut a);
        assert_eq!(file.stem, [key(&a.canonical("live"))]);
    }
}
