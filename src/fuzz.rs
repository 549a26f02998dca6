//! Entry points for fuzzing. Each one passes the bytes of an attacker to the code that
//! reads them in production.
//!
//! A target must return for any bytes: a panic, an endless loop or unbounded memory is a defect.
//! `fuzz/` contains the programs for cargo-fuzz; `tests/it/fuzz.rs` runs their corpora, and
//! mutations of them, as an ordinary test.

use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use crate::agents;
use crate::chunk::{Chunk, ChunkDelta, ChunkSet, ChunkType, Entry, Feed, Quantized};
use crate::config::Config;
use crate::dir::{Dir, OwnedDir, PRIVATE_DIR, PRIVATE_FILE};
use crate::edit::{Edit, Root};
use crate::index;
use crate::search::{Corpus, CorpusBuilder, Filter, Highlighter, Read, Searcher, VectorSource};
use crate::secrets;
use crate::source::{self, Scope, WalkOptions};
use crate::store::{ChunkFiles, Layout, parse_chunk_file};

/// A function that must return for any bytes.
pub type Target = fn(&[u8]);

/// All targets by name.
pub const TARGETS: [(&str, Target); 7] = [
    ("chunk_file", chunk_file),
    ("manifest", manifest),
    ("query", query),
    ("config", config),
    ("hook_input", hook_input),
    ("json_edit", json_edit),
    ("cortexignore", cortexignore),
];

/// Reads a chunk file of any writer. A chunk that is parsed must be the same after it is
/// written and read again.
pub fn chunk_file(bytes: &[u8]) {
    let Ok(parsed) = parse_chunk_file(
        Path::new("code-definitions.json"),
        bytes,
        ChunkType::Definitions,
        None,
        |_, _| true,
    ) else {
        return;
    };
    for chunk in parsed.entries.iter().filter_map(|entry| entry.chunk()) {
        let again = Chunk::from_json(&chunk.to_json(), chunk.chunk_type);
        let own = |c: &Chunk| {
            (
                c.id.clone(),
                c.title.clone(),
                c.text.clone(),
                c.chunk_type,
                c.tags.clone(),
                c.updated_at,
            )
        };
        // In unknown metadata, a number of more than 15 digits may change in its last digits.
        assert!(
            again.is_ok_and(|again| own(&again) == own(&chunk)),
            "{} changes when it is written",
            chunk.id
        );
    }
}

/// Loads chunk files with an arbitrary manifest.
pub fn manifest(bytes: &[u8]) {
    let scratch = Scratch::new();
    let Ok(layout) = Layout::at(&scratch.path()) else { return };
    let chunks: String = CHUNKS.iter().map(Chunk::to_json).collect::<Vec<_>>().join(",\n");
    scratch.write(
        Path::new(".cortex/chunks/code-definitions.json"),
        format!("{{\"chunks\":[\n{chunks}\n]}}\n").as_bytes(),
    );
    scratch.write(Path::new(".cortex/chunks/manifest.json"), bytes);
    let mut files = ChunkFiles::new(layout, "none", 0);
    for _ in 0..2 {
        if let Ok(loaded) = Feed::load(&mut files, &false.into()) {
            for chunk in loaded.set.all().iter().filter_map(|entry| entry.chunk()) {
                assert!(!chunk.id.is_empty(), "a chunk has an id");
            }
        }
    }
}

/// Searches for a query in every way.
pub fn query(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (filter, limit) = (Filter::default(), 10);
    let searcher = Searcher::new(&CORPUS);
    let query = searcher.query(&text, &|_| false).unwrap_or_default();
    let results =
        [searcher.search(&query, &[], &filter, limit), searcher.exact(&text, &filter, limit)];
    let mut words = [Highlighter::new(&text), Highlighter::exact(&text)];
    for (result, words) in results.iter().zip(&mut words) {
        for hit in result.iter().flat_map(|results| &results.hits) {
            words.ranges(&hit.chunk.text);
        }
    }
}

/// Reads the settings, as the project's file and as the user's file.
pub fn config(bytes: &[u8]) {
    let scratch = Scratch::new();
    scratch.write(Path::new(".cortex/config.toml"), bytes);
    let tree = Arc::new(Dir::open(&scratch.path()).expect("the directory of this run"));
    let _ = Config::load(Some(&OwnedDir::new(tree, ".cortex")), None, std::iter::empty());
    let _ =
        Config::load(None, Some(&scratch.path().join(".cortex/config.toml")), std::iter::empty());
}

/// Parses the input of a hook, and makes the memories that it would store.
pub fn hook_input(bytes: &[u8]) {
    let speech = agents::speech_of("claude").expect("an agent with hooks");
    let Ok(input) = speech.read(bytes) else { return };
    let transcript = String::from_utf8_lossy(bytes);
    let memories = [
        input.prompt_memory(),
        input.tool_memory(Path::new("/project")),
        input.answer_memory(None),
        input.answer_memory(Some(&transcript)),
    ];
    for memory in memories.into_iter().flatten() {
        let _ = secrets::redact(&memory.content);
    }
    let _ = input.file_below(Path::new("/project"));
}

/// Edits a JSON file: the first line is a JSON Pointer, the second a value, the rest the file. A
/// value that was set must exist afterwards (except at `/-`, the end of an array), and a refused
/// edit must leave the file unchanged.
pub fn json_edit(bytes: &[u8]) {
    let mut parts = bytes.splitn(3, |b| *b == b'\n');
    let mut next = || parts.next().unwrap_or_default();
    let (pointer, value, file) =
        (String::from_utf8_lossy(next()), String::from_utf8_lossy(next()), next());
    let scratch = Scratch::new();
    let Ok(root) = Root::new(&scratch.path(), |_| None) else { return };
    let (pointer, value, path) = (&*pointer, &*value, "file.json");
    for edit in
        [Edit::Set { pointer, value }, Edit::Append { pointer, value }, Edit::Delete { pointer }]
    {
        scratch.write(Path::new(path), file);
        let edited = root.edit(path, None, &edit);
        if edited.is_err() {
            assert!(scratch.read(path) == file, "a refused edit changed the file");
        } else if matches!(edit, Edit::Set { .. }) && !pointer.ends_with("/-") {
            assert!(root.get(path, pointer).is_ok(), "what was set is not there");
        }
    }
}

/// Walks a tree with an arbitrary `.cortexignore` and `.gitattributes`.
pub fn cortexignore(bytes: &[u8]) {
    let scratch = Scratch::new();
    for path in ["a.rs", "b/c.md", "b/d e/f.txt"] {
        scratch.write(Path::new(path), b"text\n");
    }
    scratch.write(Path::new(".cortexignore"), bytes);
    scratch.write(Path::new(".gitattributes"), bytes);
    let options = WalkOptions {
        max_file_bytes: 1 << 20,
        exclude: globset::GlobSet::empty(),
        exclude_patterns: Vec::new(),
        included: source::Included::default(),
        origins: source::OriginSettings::default(),
        package: None,
    };
    let found = source::walk(&scratch.path(), &options, &Scope::All);
    let there = |path: &str| {
        matches!(path, "a.rs" | "b/c.md" | "b/d e/f.txt" | ".cortexignore" | ".gitattributes")
    };
    assert!(found.files.iter().all(|file| there(&file.path)), "a pattern made files");
}

/// The chunks that are searched.
static CHUNKS: LazyLock<Vec<Chunk>> = LazyLock::new(|| {
    let rust = "/// Waits longer after each \"failed\" attempt.\npub fn retry_with_backoff(n: u32) -> u32 {\n    n * 2\n}\n";
    let text = "# Kettle\n\nHow long tea stands in a kettle: ５ minutes, naïve café \u{202e}abc.\n";
    [("src/retry.rs", rust), ("docs/tea guide.md", text)]
        .iter()
        .flat_map(|(path, text)| index::chunk_file(path, text))
        .collect()
});

static CORPUS: LazyLock<Corpus> = LazyLock::new(|| {
    let entries = CHUNKS.iter().map(|chunk| Arc::new(Entry::from(chunk.clone()))).collect();
    let set = Arc::new(ChunkSet::of_unique(entries));
    let built = CorpusBuilder::new(0).and_then(|mut builder| {
        builder.update(set.clone(), &ChunkDelta::everything(&set), &mut NoVectors)
    });
    built.expect("an index in memory")
});

struct NoVectors;

impl VectorSource for NoVectors {
    fn vectors(&mut self, chunks: &[Read]) -> Vec<Option<Quantized>> {
        vec![None; chunks.len()]
    }
}

/// A temporary directory of one run, removed when this is dropped.
struct Scratch {
    above: Dir,
    name: String,
}

impl Scratch {
    fn new() -> Self {
        let above = Dir::open(&std::env::temp_dir()).expect("a directory for temporary files");
        let name = format!("cortex-fuzz-{:032x}", fastrand::u128(..));
        above.make_dir(&name, PRIVATE_DIR).expect("a directory for this run");
        Self { above, name }
    }

    fn path(&self) -> PathBuf {
        self.above.full(&self.name)
    }

    fn write(&self, path: &Path, content: &[u8]) {
        let path = Path::new(&self.name).join(path);
        let made = self.above.make_dir(path.parent().unwrap_or(&path), PRIVATE_DIR);
        made.and_then(|_| self.above.replace(&path, content, PRIVATE_FILE, false))
            .expect("a file of this run");
    }

    fn read(&self, path: &str) -> Vec<u8> {
        self.above.read(Path::new(&self.name).join(path), u64::MAX).expect("a file of this run")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = self.above.remove_dir(&self.name);
    }
}
