//! Updates that fail (A11), with real chunk files, indexes and vectors. One part of them can be
//! broken and repaired.

use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use rustc_hash::FxHashSet;
use xxhash_rust::xxh3::xxh3_128;

use super::{Reloader, Reloading};
use crate::chunk::{
    Cancel, Chunk, ChunkSet, ChunkType, CorpusCache, Entry, Feed, FeedError, Fingerprint,
    LineStore, Loaded, Metadata,
};
use crate::chunk::{SaveWriter, SavedFiles, StoredVectors};
use crate::embed::{EmbedError, Embedder, Passage, StaticModel};
use crate::live::ChunkManager;
use crate::search::{Filter, Query, Searcher};
use crate::store::{ChunkFiles, Layout};

/// The number of further uses of a part that fail.
#[derive(Debug, Clone, Default)]
struct Breakage(Arc<AtomicUsize>);

impl Breakage {
    fn set(&self, n: usize) {
        self.0.store(n, Ordering::SeqCst);
    }

    fn strikes(&self) -> bool {
        self.0.try_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1)).is_ok()
    }
}

/// The bundled model, which returns errors while it is broken.
struct Model(Arc<StaticModel>, Breakage);

impl Embedder for Model {
    fn id(&self) -> &str {
        self.0.id()
    }

    fn dimensions(&self) -> usize {
        self.0.dimensions()
    }

    fn embed_passages(&self, passages: &[Passage]) -> Result<Vec<Vec<f32>>, EmbedError> {
        if self.1.strikes() {
            return Err(EmbedError {
                embedder: self.id().into(),
                message: "the model is away".into(),
            });
        }
        self.0.embed_passages(passages)
    }

    fn embed_query(&self, query: &str) -> Result<Vec<f32>, EmbedError> {
        self.0.embed_query(query)
    }
}

/// The chunk files. While the disk is broken, the text from which the text index is updated cannot
/// be read.
struct Files(ChunkFiles, Breakage);

/// The line of one chunk.
#[derive(Debug)]
struct Line(Arc<Entry>, Breakage);

impl LineStore for Line {
    fn read(&self, _: Range<u32>) -> Option<Vec<u8>> {
        // An update reads its first lines without error; only its last line fails.
        if &*self.0.id == "late" && self.1.strikes() {
            None
        } else {
            Some(self.0.chunk()?.to_json().into_bytes())
        }
    }
}

impl Feed for Files {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn load(&mut self, cancel: &Cancel) -> Result<Loaded, FeedError> {
        let loaded = Feed::load(&mut self.0, cancel)?;
        let line = |e: &Arc<Entry>| {
            let hash = xxh3_128(e.chunk().unwrap().to_json().as_bytes());
            let lines: Arc<dyn LineStore> = Arc::new(Line(e.clone(), self.1.clone()));
            Arc::new(Entry::of_chunk(&e.chunk().unwrap(), (hash, lines, 0..0)))
        };
        Ok(Loaded {
            set: Arc::new(ChunkSet::of_unique(loaded.set.all().iter().map(line).collect())),
            ..loaded
        })
    }

    fn cache(&self) -> Option<&dyn CorpusCache> {
        None
    }

    fn save(&self, _: &mut dyn SaveWriter) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn restore(&mut self, _: &dyn SavedFiles) -> Option<Arc<ChunkSet>> {
        None
    }

    fn vectors(&self, wanted: &FxHashSet<Fingerprint>) -> Box<dyn StoredVectors> {
        self.0.vectors(wanted)
    }
}

struct Fixture {
    _dir: tempfile::TempDir,
    layout: Layout,
    manager: Arc<ChunkManager>,
    text: Breakage,
    vectors: Breakage,
}

fn fixture() -> Fixture {
    let dir = tempfile::tempdir().unwrap();
    let layout = Layout::at(dir.path()).unwrap();
    layout.create().unwrap();
    let (text, vectors) = (Breakage::default(), Breakage::default());
    let manager = manager(&layout, &text, &vectors);
    Fixture { _dir: dir, layout, manager, text, vectors }
}

fn manager(layout: &Layout, text: &Breakage, vectors: &Breakage) -> Arc<ChunkManager> {
    let model = Model(StaticModel::bundled(), vectors.clone());
    let feed = Files(ChunkFiles::new(layout.clone(), model.id(), model.dimensions()), text.clone());
    Arc::new(ChunkManager::new(vec![Box::new(feed)], Arc::new(model)).unwrap())
}

fn write(layout: &Layout, chunks: &[(&str, &str)]) {
    let chunk = |(id, text): &(&str, &str)| {
        let metadata = Metadata { file_path: Some(format!("src/{id}.rs")), ..Metadata::default() };
        Chunk { metadata, ..Chunk::new(*id, ChunkType::Definitions, *text) }.to_json()
    };
    let body: Vec<String> = chunks.iter().map(chunk).collect();
    std::fs::write(
        layout.chunk_file(ChunkType::Definitions),
        format!("{{\"chunks\": [{}]}}", body.join(",")),
    )
    .unwrap();
}

const BEFORE: &[(&str, &str)] =
    &[("early", "about potatoes"), ("gone", "about walruses in cold water")];
const AFTER: &[(&str, &str)] =
    &[("early", "about tomatoes"), ("late", "about beetles in the garden")];

/// Returns everything that some questions find, with the scores.
fn answers(manager: &ChunkManager) -> Vec<(String, u64)> {
    let snapshot = manager.current();
    let ask = |question: &str| {
        let vector = manager.embedder().embed_query(question).unwrap();
        let found = Searcher::new(&snapshot.feed("code").unwrap().corpus)
            .search(&Query::new(question), &vector, &Filter::default(), 10)
            .unwrap();
        found.hits.iter().map(|h| (h.chunk.id.to_string(), h.score.to_bits())).collect::<Vec<_>>()
    };
    ["potatoes", "tomatoes", "animals swimming in a freezing ocean", "insects of the garden"]
        .into_iter()
        .flat_map(ask)
        .collect()
}

impl Fixture {
    /// Returns the answers of a new manager.
    fn fresh(&self) -> Vec<(String, u64)> {
        let fresh = manager(&self.layout, &Breakage::default(), &Breakage::default());
        fresh.reload(&Cancel::new(false)).unwrap();
        answers(&fresh)
    }

    /// Runs an update that fails three times because of one part, which is then repaired.
    fn an_update_that_fails(&self, part: &Breakage, why: &str) {
        let reload = || self.manager.reload(&Cancel::new(false));
        write(&self.layout, BEFORE);
        reload().unwrap();
        let (before, told) = (self.manager.current(), answers(&self.manager));
        assert_eq!(told, self.fresh());
        write(&self.layout, AFTER);
        part.set(3);
        for n in 1..=3 {
            let error = reload().unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
            let metrics = self.manager.metrics();
            assert_eq!((metrics.n_failed, metrics.n_successful, metrics.n_published), (n, 1, 1));
            assert_eq!(metrics.last_error, Some(error));
            assert!(Arc::ptr_eq(&before, &self.manager.current()), "nothing was published");
            assert_eq!(answers(&self.manager), told, "what was served still is");
        }
        let healed = reload().unwrap();
        assert!(healed.published, "no file was touched since");
        assert_eq!(answers(&self.manager), self.fresh(), "nothing of the failed updates is left");
        assert_ne!(answers(&self.manager), told);
        let metrics = self.manager.metrics();
        assert_eq!(
            (metrics.n_failed, metrics.n_successful, metrics.n_published, metrics.last_error),
            (3, 2, 2, None)
        );
        assert_eq!(
            self.manager.current().feed("code").unwrap().generation,
            before.feed("code").unwrap().generation + 1
        );
    }
}

#[test]
fn a_text_update_that_fails_publishes_nothing() {
    let f = fixture();
    f.an_update_that_fails(&f.text.clone(), "late was overwritten while it was read");
}

#[test]
fn a_vector_update_that_fails_publishes_nothing() {
    let f = fixture();
    f.an_update_that_fails(&f.vectors.clone(), "the model is away");
}

const RESCAN: Duration = Duration::from_hours(1);

/// The pauses between retries are those of the back-off, whatever the clock says. They start anew
/// after a success.
#[test]
fn tries_after_a_failure_come_ever_more_slowly() {
    let f = fixture();
    write(&f.layout, BEFORE);
    let mut reloading = Reloading::new(f.manager.clone(), Arc::new(Cancel::new(false)), None);
    let mut pauses =
        |n: usize| (0..n).map(|_| reloading.run(|| {}, || RESCAN).as_millis()).collect::<Vec<_>>();
    f.vectors.set(11);
    assert_eq!(pauses(11), [100, 200, 400, 800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000]);
    assert_eq!(pauses(2), [RESCAN.as_millis(); 2], "it is mended");
    write(&f.layout, AFTER);
    f.vectors.set(2);
    assert_eq!(pauses(3), [100, 200, RESCAN.as_millis()]);
    assert_eq!(answers(&f.manager), f.fresh());
}

/// Nothing requests a reload after the first one, no file changes, and the next unrequested reload
/// is an hour away.
#[test]
fn a_failed_update_is_tried_again_without_a_file_event() {
    let f = fixture();
    write(&f.layout, BEFORE);
    f.manager.reload(&Cancel::new(false)).unwrap();
    write(&f.layout, AFTER);
    f.text.set(3);
    let (ran, has_run) = mpsc::channel();
    let manager = f.manager.clone();
    let _reloader = Reloader::spawn(f.manager.clone(), None, move |_| {
        let _ = ran.send(manager.metrics().n_failed);
        RESCAN
    })
    .unwrap();
    let n_failed: Vec<u64> = (0..4)
        .map(|_| has_run.recv_timeout(Duration::from_mins(1)).expect("another try"))
        .collect();
    assert_eq!(n_failed, [1, 2, 3, 3]);
    assert_eq!(answers(&f.manager), f.fresh());
}
