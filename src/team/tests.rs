use std::cell::Cell;
use std::sync::Arc;

use chrono::DateTime;
use cortex_depot::shelf::Shelf;

use super::*;
use crate::chunk::{Chunk, ChunkDelta, ChunkSet, ChunkType, Metadata, Quantized};
use crate::search::{Corpus, CorpusBuilder, Read, VectorSource};

struct NoVectors;

impl VectorSource for NoVectors {
    fn vectors(&mut self, chunks: &[Read]) -> Vec<Option<Quantized>> {
        vec![None; chunks.len()]
    }
}

/// Returns a corpus of files of one chunk: path, text.
fn corpus(files: &[(&str, &str)]) -> Corpus {
    let chunk = |(path, text): &(&str, &str)| Chunk {
        id: (*path).into(),
        title: (*path).into(),
        text: (*text).into(),
        chunk_type: ChunkType::Definitions,
        embedding: None,
        tags: Vec::new(),
        metadata: Metadata { file_path: Some((*path).into()), ..Metadata::default() },
        created_at: DateTime::UNIX_EPOCH,
        updated_at: DateTime::UNIX_EPOCH,
    };
    let chunks: Vec<_> = files.iter().map(|file| Arc::new(chunk(file).into())).collect();
    let set = Arc::new(ChunkSet::new(chunks).0);
    let delta = ChunkDelta::everything(&set);
    CorpusBuilder::new(4).unwrap().update(set, &delta, &mut NoVectors).unwrap()
}

/// The machine of a publisher sleeps while it stores files, and another publisher takes over.
#[test]
fn a_publisher_that_slept_changes_nothing_of_what_another_one_published() {
    let depot = Shelf::default();
    let now = Cell::new(1_000);
    let clock = || now.get();
    let publish = |files: &[(&str, &str)], progress: &dyn Fn(usize, usize)| {
        let (commit, embedder) = ("", "none");
        let publication =
            Publication { name: "x", commit, embedder, corpus: &corpus(files), who: "somebody" };
        Publisher::new(&depot, &clock, progress).publish(&publication)
    };
    publish(&[("a", "first"), ("b", "first")], &|_, _| ()).unwrap();
    let sleeping = |_: usize, _: usize| {
        let busy = publish(&[("a", "early")], &|_, _| ());
        assert!(matches!(busy, Err(TeamError::Busy { .. })));
        now.set(now.get() + 3_600);
        publish(&[("a", "first"), ("b", "first"), ("c", "second")], &|_, _| ()).unwrap();
    };
    let lost = publish(&[("a", "of the sleeper")], &sleeping);
    assert!(matches!(lost, Err(TeamError::Lost)), "{lost:?}");

    let cache = Cache::new(0);
    let shared = Shared::open(&depot, &cache, "x").unwrap();
    assert_eq!(shared.manifest().generation, 2);
    let text = |path: &str| shared.file(path).unwrap().map(|chunks| chunks[0].text.clone());
    assert_eq!(
        ["a", "b", "c"].map(text),
        ["first", "first", "second"].map(|text| Some(text.into()))
    );
}
