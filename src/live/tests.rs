use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier};

use chrono::{DateTime, Utc};

use super::*;
use crate::chunk::{Cancel, Chunk, ChunkType, Metadata};
use crate::embed::{Embedder, StaticModel};
use crate::search::{Filter, Query, Searcher};
use crate::store::{ChunkFiles, ChunkWriter, Header, Layout, Manifest, Packing, WriteLock};

struct Fixture {
    _dir: tempfile::TempDir,
    layout: Layout,
    manager: ChunkManager,
}

fn fixture() -> Fixture {
    let dir = tempfile::tempdir().unwrap();
    let layout = Layout::at(dir.path()).unwrap();
    layout.create().unwrap();
    let manager = ChunkManager::new(vec![Box::new(feed(&layout))], StaticModel::bundled()).unwrap();
    Fixture { _dir: dir, layout, manager }
}

fn feed(layout: &Layout) -> ChunkFiles {
    let model = StaticModel::bundled();
    ChunkFiles::new(layout.clone(), model.id(), model.dimensions())
}

fn chunk(id: &str, text: &str, at: &str) -> Chunk {
    Chunk {
        title: id.into(),
        metadata: Metadata {
            file_path: Some(format!("src/{id}.rs")),
            start_line: Some(1),
            end_line: Some(2),
            ..Metadata::default()
        },
        created_at: time("2026-01-01T00:00:00Z"),
        updated_at: time(at),
        ..Chunk::new(id, ChunkType::Definitions, text)
    }
}

fn time(s: &str) -> DateTime<Utc> {
    s.parse().unwrap()
}

/// Writes chunks as another program would: any JSON, no manifest.
fn write(path: &Path, chunks: &[Chunk]) {
    let body: Vec<String> = chunks.iter().map(Chunk::to_json).collect();
    // Written under another name and renamed, so that a reader never sees half a file.
    std::fs::write(
        path.with_extension("tmp"),
        format!("{{ \"chunks\" : [\n {} ] }}", body.join(",\n ")),
    )
    .unwrap();
    std::fs::rename(path.with_extension("tmp"), path).unwrap();
}

impl Fixture {
    fn write(&self, chunks: &[Chunk]) {
        write(&self.layout.chunk_file(ChunkType::Definitions), chunks);
    }

    fn reload(&self) -> Result<Reload, ReloadError> {
        self.manager.reload(&Cancel::new(false))
    }

    fn found(&self, query: &str) -> Vec<String> {
        search(&self.manager, query)
    }
}

fn search(manager: &ChunkManager, query: &str) -> Vec<String> {
    let vector = manager.embedder().embed_query(query).unwrap();
    let results = Searcher::new(&manager.current().feed("code").unwrap().corpus)
        .search(&Query::new(query), &vector, &Filter::default(), 10)
        .unwrap();
    results.hits.iter().map(|h| h.chunk.id.to_string()).collect()
}

const T1: &str = "2026-01-01T10:00:00Z";
const T2: &str = "2026-01-02T10:00:00Z";
const T0: &str = "2025-01-01T10:00:00Z";

#[test]
fn loads_all_types_and_missing_files_are_empty_types() {
    let f = fixture();
    assert_eq!(f.reload().unwrap().n_added, 0, "no files: an empty set");
    for (i, t) in ChunkType::SEARCHED.into_iter().enumerate() {
        write(
            &f.layout.chunk_file(t),
            &[Chunk { chunk_type: t, ..chunk(&format!("c{i}"), "text", T1) }],
        );
        assert_eq!(f.reload().unwrap().n_added, 1);
    }
    let snapshot = f.manager.current();
    let set = snapshot.feed("code").unwrap().corpus.chunks();
    assert_eq!(set.len(), 4);
    assert_eq!(set.by_id("c2").unwrap().chunk_type, ChunkType::Data);
    assert_eq!(set.by_file("src/c1.rs").map(|c| &*c.id).collect::<Vec<_>>(), ["c1"]);
    assert!(
        snapshot.feed("code").unwrap().local,
        "a generation without a manifest is this process's own"
    );
}

#[test]
fn a_corrupt_file_is_an_error_with_its_place_and_the_old_data_stay() {
    let f = fixture();
    f.write(&[chunk("a", "about retries", T1)]);
    f.reload().unwrap();
    let path = f.layout.chunk_file(ChunkType::Definitions);
    let whole = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    let message = f.reload().unwrap_err().to_string();
    assert!(message.contains("code-definitions.json:2:"), "{message}");
    assert_eq!(f.found("retries"), ["a"]);
    assert_eq!((f.manager.metrics().n_failed, f.manager.metrics().last_error), (1, Some(message)));
    std::fs::write(&path, &whole).unwrap();
    assert!(f.reload().is_ok(), "it heals when the file does");
    assert_eq!(f.manager.metrics().last_error, None);
}

#[test]
fn detects_added_updated_deleted_and_unchanged() {
    let f = fixture();
    f.write(&[
        chunk("same", "stays", T1),
        chunk("newer", "old text", T1),
        chunk("older", "x", T1),
        chunk("gone", "leaves", T1),
    ]);
    f.reload().unwrap();
    f.write(&[
        chunk("same", "stays", T1),
        chunk("newer", "new text", T2),
        chunk("older", "x", T0),
        chunk("silent", "added", T0),
    ]);
    let r = f.reload().unwrap();
    // `older` has an earlier stamp than the loaded chunk, and any difference counts.
    assert_eq!((r.n_added, r.n_updated, r.n_deleted), (1, 2, 1));
    assert!(f.found("leaves").is_empty());
    f.write(&[
        chunk("same", "stays, but changed under its stamp", T1),
        chunk("newer", "new text", T2),
        chunk("older", "x", T0),
        chunk("silent", "added", T0),
    ]);
    assert_eq!(f.reload().unwrap().n_updated, 1, "content counts, not only the stamp");
    assert!(!f.reload().unwrap().published, "nothing changed, nothing published");
}

#[test]
fn both_searchers_see_new_data_after_one_load() {
    let f = fixture();
    f.write(&[chunk("walrus", "a walrus swims in cold water", T1)]);
    f.reload().unwrap();
    assert_eq!(f.found("walrus"), ["walrus"], "by words");
    assert_eq!(f.found("animals swimming in a freezing ocean"), ["walrus"], "by meaning");
    assert_eq!(f.manager.metrics().n_files_parsed, 1, "one deserialization feeds both");
    f.write(&[chunk("walrus", "a parser of comma separated tables", T2)]);
    f.reload().unwrap();
    assert!(f.found("cold water swims").is_empty());
    assert_eq!(f.found("csv parsing"), ["walrus"]);
    assert_eq!(f.manager.metrics().n_files_parsed, 2);
}

#[test]
fn a_chunk_that_only_moved_is_served_with_its_new_lines() {
    let f = fixture();
    f.write(&[chunk("a", "about retries", T1)]);
    f.reload().unwrap();
    let mut moved = chunk("a", "about retries", T2);
    (moved.metadata.start_line, moved.metadata.end_line) = (Some(11), Some(12));
    f.write(&[moved]);
    assert_eq!(f.reload().unwrap().n_updated, 1);
    assert_eq!(f.found("retries"), ["a"]);
    assert_eq!(
        f.manager
            .current()
            .feed("code")
            .unwrap()
            .corpus
            .chunks()
            .by_id("a")
            .unwrap()
            .chunk()
            .unwrap()
            .metadata
            .start_line,
        Some(11)
    );
}

#[test]
fn a_cancelled_load_publishes_nothing() {
    let f = fixture();
    f.write(&[chunk("a", "text", T1)]);
    assert!(f.manager.reload(&Cancel::new(true)).is_err());
    assert!(f.manager.current().feed("code").unwrap().corpus.chunks().is_empty());
}

/// Several threads read while reloads publish. Each reader sees one whole generation.
#[test]
fn readers_beside_reloads_see_one_generation() {
    const N: usize = 40;
    let f = fixture();
    let generation = |g: usize| {
        (0..20)
            .map(|i| {
                chunk(
                    &format!("c{i}"),
                    &format!("marker generation{g}x"),
                    &format!("2026-01-01T10:00:{g:02}Z"),
                )
            })
            .collect::<Vec<_>>()
    };
    f.write(&generation(0));
    f.reload().unwrap();
    let done = AtomicBool::new(false);
    let start = Barrier::new(4);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                start.wait();
                let mut last = 0;
                while !done.load(Ordering::Relaxed) {
                    let snapshot = f.manager.current();
                    let results = Searcher::new(&snapshot.feed("code").unwrap().corpus)
                        .search(&Query::new("marker"), &[], &Filter::default(), 50)
                        .unwrap();
                    let texts: std::collections::HashSet<&str> =
                        results.hits.iter().map(|h| h.chunk.text.as_str()).collect();
                    assert_eq!(
                        (results.hits.len(), texts.len()),
                        (20, 1),
                        "all chunks, of one generation"
                    );
                    assert!(
                        snapshot.feed("code").unwrap().generation >= last,
                        "generations never fall"
                    );
                    last = snapshot.feed("code").unwrap().generation;
                }
            });
        }
        start.wait();
        for g in 1..N {
            f.write(&generation(g));
            f.reload().unwrap();
        }
        done.store(true, Ordering::Relaxed);
    });
    assert_eq!(f.found(&format!("generation{}x", N - 1)).len(), 10);
}

#[test]
fn inline_vectors_are_used_only_from_the_active_embedder() {
    let model = StaticModel::bundled();
    let whale: Vec<String> =
        model.embed_query("whale").unwrap().iter().map(ToString::to_string).collect();
    let file = |embedder: &str| {
        let header =
            format!("{{\"embedder\":\"{embedder}\",\"dimensions\":{}}}", model.dimensions());
        format!(
            "{{\"_metadata\":{header},\"chunks\":[{{\"id\":\"a\",\"text\":\"zzz\",\"embedding\":[{}]}}]}}",
            whale.join(",")
        )
    };
    let f = fixture();
    let path = f.layout.chunk_file(ChunkType::Definitions);
    std::fs::write(&path, file(model.id())).unwrap();
    f.reload().unwrap();
    assert_eq!(f.found("whale"), ["a"], "the given vector says whale");
    std::fs::write(&path, file("another model")).unwrap();
    f.reload().unwrap();
    assert!(f.found("whale").is_empty(), "a vector of another model is not compared");
    let snapshot = f.manager.current();
    let warnings = &snapshot.feed("code").unwrap().warnings;
    assert!(warnings.len() == 1 && warnings[0].contains("another model"), "{warnings:?}");
}

#[test]
fn concurrent_loads_are_independent() {
    let f = Arc::new(fixture());
    f.write(&[chunk("a", "text", T1)]);
    let load =
        || ChunkFiles::new(f.layout.clone(), "none", 0).load(&Cancel::new(false)).unwrap().set;
    let (a, b) = rayon::join(load, load);
    assert!(a.len() == b.len() && a.all().iter().zip(b.all()).all(|(a, b)| a.is_same(b)));
    assert!(!Arc::ptr_eq(&a.all()[0], &b.all()[0]));
}

/// Measures what eight bits lose. On the chunks of this module's own source, cosines are off by
/// less than 0.002 on average, and the ten nearest chunks are the same except for one in fifty.
#[test]
fn quantised_vectors_find_the_same_neighbours() {
    let model = StaticModel::bundled();
    let sources = [
        include_str!("manager.rs"),
        include_str!("tests.rs"),
        include_str!("../store/layout.rs"),
        include_str!("../search/rank.rs"),
    ];
    let texts: Vec<&str> =
        sources.iter().flat_map(|s| s.split("\n\n")).filter(|t| t.len() > 40).collect();
    let exact: Vec<Vec<f32>> = texts.iter().map(|t| model.embed_query(t).unwrap()).collect();
    let rounded: Vec<Vec<f32>> = exact
        .iter()
        .map(|v| {
            let q = crate::chunk::Quantized::new(v);
            q.components.iter().map(|c| f32::from(*c) * q.scale).collect()
        })
        .collect();
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f32>();
    let nearest = |scores: &[f32]| {
        let mut order: Vec<usize> = (0..scores.len()).collect();
        order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]));
        order.truncate(10);
        order
    };
    let (mut error, mut found) = (0f64, 0usize);
    for query in &exact {
        let a: Vec<f32> = exact.iter().map(|v| dot(query, v)).collect();
        let b: Vec<f32> = rounded.iter().map(|v| dot(query, v)).collect();
        error +=
            a.iter().zip(&b).map(|(x, y)| f64::from((x - y).abs())).sum::<f64>() / a.len() as f64;
        let want = nearest(&a);
        found += nearest(&b).iter().filter(|i| want.contains(i)).count();
    }
    let (mean_error, recall) =
        (error / exact.len() as f64, found as f64 / (10 * exact.len()) as f64);
    println!(
        "{} texts: mean error of a cosine {mean_error:.5}, recall at 10 {recall:.4}",
        exact.len()
    );
    assert!(mean_error < 0.002 && recall >= 0.98, "mean error {mean_error}, recall {recall}");
}

/// Returns many chunks on few topics, and one more for each `marker`.
fn many(n: usize, marker: &str) -> Vec<Chunk> {
    let topics = ["parse a table", "lock a file", "retry a request", "draw a window"];
    let text =
        |i: usize| format!("{} number{i} {}", topics[i % 4], ["alpha", "beta", "gamma"][i % 3]);
    let mut chunks: Vec<Chunk> = (0..n).map(|i| chunk(&format!("c{i}"), &text(i), T1)).collect();
    chunks.push(chunk(marker, &format!("a walrus swims in cold water {marker}"), T1));
    chunks
}

#[test]
fn a_graph_is_built_once_and_what_comes_later_is_found_too() {
    let f = fixture();
    let go = Cancel::new(false);
    f.write(&many(60, "first"));
    f.reload().unwrap();
    assert!(!f.manager.build_hnsw(1000, &go), "too few");
    assert!(!f.manager.build_hnsw(50, &Cancel::new(true)));
    let before = f.manager.current();
    assert!(f.manager.build_hnsw(50, &go));
    let after = f.manager.current();
    assert!(
        before.feed("code").unwrap().corpus.vectors().wants_hnsw(50)
            && !after.feed("code").unwrap().corpus.vectors().wants_hnsw(50)
    );
    assert_eq!(
        (after.feed("code").unwrap().generation, after.loaded_at),
        (before.feed("code").unwrap().generation, before.loaded_at),
        "nothing new was loaded"
    );
    assert!(!f.manager.build_hnsw(50, &go), "it is there");
    f.write(&many(60, "second"));
    f.reload().unwrap();
    assert!(
        !f.manager.current().feed("code").unwrap().corpus.vectors().wants_hnsw(50),
        "a reload keeps it"
    );
    assert_eq!(f.found("animals swimming in a freezing ocean")[0], "second");
}

#[test]
fn a_graph_that_one_process_built_answers_in_the_next() {
    let f = fixture();
    // A cancelled build makes no HNSW graph. So if it returns true, the graph was read from the
    // cache.
    let (go, cancelled) = (Cancel::new(false), Cancel::new(true));
    f.write(&many(60, "first"));
    f.reload().unwrap();
    assert!(f.manager.build_hnsw(50, &go));
    let next = || {
        let manager =
            ChunkManager::new(vec![Box::new(feed(&f.layout))], StaticModel::bundled()).unwrap();
        manager.reload(&go).unwrap();
        manager
    };
    let second = next();
    assert!(second.build_hnsw(50, &cancelled), "it was saved");
    assert!(!second.current().feed("code").unwrap().corpus.vectors().wants_hnsw(50));
    // A process that saves the index without having used the HNSW graph keeps it.
    f.write(&many(60, "second"));
    let third = next();
    third.save(0.0);
    let fourth = next();
    assert!(fourth.build_hnsw(50, &cancelled), "it was kept");
    let query = Query::new("animals swimming in a freezing ocean");
    let vector = StaticModel::bundled().embed_query(&query.text).unwrap();
    let found = Searcher::new(&fourth.current().feed("code").unwrap().corpus)
        .search(&query, &vector, &Filter::default(), 3)
        .unwrap();
    assert_eq!(&*found.hits[0].chunk.id, "second");
    // A saved HNSW graph is not used after its vectors changed.
    let changed: Vec<Chunk> = (0..60)
        .map(|i| chunk(&format!("c{i}"), &format!("entirely other words {i} about gardening"), T1))
        .collect();
    f.write(&changed);
    assert!(!next().build_hnsw(50, &cancelled), "it is stale");
}

#[test]
fn the_reloader_has_graphs_built_and_ends_while_one_is() {
    let f = Arc::new(fixture());
    let manager = Arc::new(
        ChunkManager::new(vec![Box::new(feed(&f.layout))], StaticModel::bundled()).unwrap(),
    );
    f.write(&many(60, "first"));
    let reloader =
        Reloader::with_hnsw_from(50, manager.clone(), None, |_| Reloader::RESCAN).unwrap();
    let deadline = std::time::Instant::now() + std::time::Duration::from_mins(1);
    let has_hnsw = || {
        manager.current().feed("code").unwrap().corpus.chunks().len() == 61
            && !manager.current().feed("code").unwrap().corpus.vectors().wants_hnsw(50)
    };
    while !has_hnsw() {
        assert!(std::time::Instant::now() < deadline, "no graph");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    f.write(&many(4000, "second"));
    let ticket = reloader.handle().request();
    assert!(reloader.handle().wait(ticket, deadline, &AtomicBool::new(false)));
    drop(reloader);
    assert!(
        manager.current().feed("code").unwrap().corpus.vectors().wants_hnsw(50),
        "it was cancelled"
    );
}

/// Publishes chunk files of ours, as an indexer does.
fn publish(layout: &Layout, chunks: &[Chunk]) {
    let lock = WriteLock::acquire(layout, std::time::Duration::from_secs(10)).unwrap();
    let mut writer =
        ChunkWriter::create(layout, &lock, &Header::ours("none", 0), Packing::Plain).unwrap();
    for c in chunks {
        writer.put(c.chunk_type, &c.to_json()).unwrap();
    }
    writer.publish(Manifest::read(layout).unwrap().as_ref(), 1).unwrap();
}

#[test]
fn over_its_budget_a_server_gives_up_caches_then_vectors_and_serves_on() {
    let f = fixture();
    let no = Cancel::new(false);
    let mut chunks = many(40, "winter");
    publish(&f.layout, &chunks);
    f.reload().unwrap();
    let asked = "winter of the seventh";
    let scored = || {
        let vector = f.manager.embedder().embed_query(asked).unwrap();
        let results = Searcher::new(&f.manager.current().feed("code").unwrap().corpus)
            .search(&Query::new(asked), &vector, &Filter::default(), 20)
            .unwrap();
        results.hits.iter().map(|h| (h.chunk.id.to_string(), h.score.to_bits())).collect::<Vec<_>>()
    };
    let before = scored();
    assert!(!before.is_empty());

    assert!(f.manager.give_up(&no).unwrap());
    assert_eq!(f.manager.metrics().given_up, GivenUp::Caches);
    assert_eq!(scored(), before, "what is found is the same, wherever it is read");

    chunks.push(chunk("late", "a gherkin among the chunks", T2));
    publish(&f.layout, &chunks);
    f.reload().unwrap();
    assert_eq!(f.found("gherkin")[0], "late");

    // Many chunks were added, so there is something to drop again.
    chunks
        .extend((0..20).map(|i| chunk(&format!("more{i}"), &format!("marmalade number {i}"), T2)));
    publish(&f.layout, &chunks);
    f.reload().unwrap();
    assert!(f.manager.give_up(&no).unwrap());
    assert_eq!(f.manager.metrics().given_up, GivenUp::Caches);
    assert_eq!(f.found("marmalade").len(), 10);

    assert!(f.manager.give_up(&no).unwrap());
    assert_eq!(f.manager.metrics().given_up, GivenUp::Vectors);
    assert_eq!(f.manager.current().feed("code").unwrap().corpus.vectors().get(0), None);
    assert_eq!(f.found("gherkin")[0], "late", "words are searched still");

    chunks.push(chunk("later", "a radish among the chunks", T2));
    publish(&f.layout, &chunks);
    f.reload().unwrap();
    assert_eq!(f.found("radish")[0], "later");
    f.manager.save(0.0);
    assert!(!f.manager.give_up(&no).unwrap(), "nothing is left to give up");

    // The next process has the vectors again.
    let next = ChunkManager::new(vec![Box::new(feed(&f.layout))], StaticModel::bundled()).unwrap();
    next.reload(&no).unwrap();
    let vectors = next.current();
    assert!((0..60).all(|slot| vectors.feed("code").unwrap().corpus.vectors().get(slot).is_some()));
    assert_eq!(search(&next, "radish")[0], "later");
}

/// An index that cannot be saved cannot be read from its saved files either.
#[test]
fn files_with_an_id_twice_keep_their_caches_and_lose_their_vectors() {
    let f = fixture();
    f.write(&[chunk("a", "about potatoes", T1), chunk("a", "about retries", T1)]);
    f.reload().unwrap();
    assert!(f.manager.give_up(&Cancel::new(false)).unwrap());
    assert_eq!(f.manager.metrics().given_up, GivenUp::Vectors);
    assert_eq!(f.found("retries"), ["a"]);
}

#[test]
fn without_a_feed_there_is_an_error_and_no_panic_later() {
    assert!(matches!(
        ChunkManager::new(Vec::new(), StaticModel::bundled()),
        Err(ReloadError::NoFeed)
    ));
}

/// Returns the files of the saved index, except the list of them.
fn saved_files(layout: &Layout) -> Vec<std::path::PathBuf> {
    let directories = std::fs::read_dir(layout.cache_dir())
        .unwrap()
        .map(|e| e.unwrap().path())
        .filter(|p| p.is_dir());
    let mut files: Vec<_> = directories
        .flat_map(|d| std::fs::read_dir(d).unwrap().map(|e| e.unwrap().path()))
        .collect();
    files.retain(|path| path.file_name().is_some_and(|name| name != "saved.json"));
    files.sort();
    files
}

/// Returns what some questions find, with the scores.
fn answers(manager: &ChunkManager) -> Result<Vec<(String, f64)>, crate::search::SearchError> {
    let mut all = Vec::new();
    for asked in [
        "how many cups fill the kettle",
        "kettel",
        "\"cups of water\"",
        "path:src kettle",
        "number 7",
    ] {
        let vector = manager.embedder().embed_query(asked).unwrap();
        let snapshot = manager.current();
        let corpus = &snapshot.feed("code").unwrap().corpus;
        let query = Searcher::new(corpus).query(asked, &|_| false)?;
        let results = Searcher::new(corpus).search(&query, &vector, &Filter::default(), 20)?;
        all.extend(results.hits.iter().map(|h| (h.chunk.id.to_string(), h.score)));
    }
    let exact = Searcher::new(&manager.current().feed("code").unwrap().corpus).exact(
        "\"cups of water\" -name:c3",
        &Filter::default(),
        50,
    )?;
    all.extend(exact.hits.iter().map(|h| (h.chunk.id.to_string(), h.score)));
    Ok(all)
}

/// Damages every saved file in random places, before and after it is opened, and keeps its
/// modification time. An answer is correct, or it is an error after which the next reload answers
/// correctly.
#[test]
fn a_saved_index_that_is_damaged_is_rebuilt_or_not_missed() {
    let f = fixture();
    let chunks: Vec<Chunk> = (0..150)
        .map(|i| {
            chunk(
                &format!("c{i}"),
                &format!("Fills kettle number {i} with {} cups of water.", i % 7),
                T1,
            )
        })
        .collect();
    publish(&f.layout, &chunks);
    f.reload().unwrap();
    let want = answers(&f.manager).unwrap();
    f.manager.save(0.0);
    let n_files = saved_files(&f.layout).len();
    assert!(n_files > 8, "{n_files}");
    let rounds = if std::env::var_os("STRESS").is_some() { 40 } else { 1 };
    let (mut random, mut n_noticed) = (fastrand::Rng::with_seed(7), 0);
    for round in 0..rounds {
        for at in 0..n_files {
            let path = &saved_files(&f.layout)[at];
            let manager =
                ChunkManager::new(vec![Box::new(feed(&f.layout))], StaticModel::bundled()).unwrap();
            let is_open = (round + at) % 2 == 0;
            if is_open {
                manager.reload(&Cancel::new(false)).unwrap();
            }
            let whole = std::fs::read(path).unwrap();
            let modified = std::fs::metadata(path).unwrap().modified().unwrap();
            let file = std::fs::OpenOptions::new().write(true).open(path).unwrap();
            let n_bytes = if random.bool() { 64 } else { whole.len() };
            let noise: Vec<u8> = (0..n_bytes.min(whole.len())).map(|_| random.u8(..)).collect();
            let from = random.usize(..=whole.len() - noise.len());
            std::os::unix::fs::FileExt::write_all_at(&file, &noise, from as u64).unwrap();
            file.set_modified(modified).unwrap();
            if !is_open {
                manager.reload(&Cancel::new(false)).unwrap();
            }
            let name = path.display();
            match answers(&manager) {
                Ok(found) => assert_eq!(found, want, "{name}"),
                Err(e) => {
                    n_noticed += 1;
                    assert!(matches!(e, crate::search::SearchError::Damaged(_)), "{name}: {e}");
                    assert!(manager.current().damage().is_some());
                    assert!(answers(&manager).is_err(), "nothing is answered by halves");
                    manager.reload(&Cancel::new(false)).unwrap();
                }
            }
            // An update reads parts that no question has read.
            let mut more = chunks.clone();
            more.push(chunk("new", "A whistle of steam.", T2));
            publish(&f.layout, &more);
            manager.reload(&Cancel::new(false)).unwrap();
            publish(&f.layout, &chunks);
            manager.reload(&Cancel::new(false)).unwrap();
            let found = answers(&manager).or_else(|_| {
                manager.reload(&Cancel::new(false)).unwrap();
                answers(&manager)
            });
            assert_eq!(found.unwrap(), want, "{name} after updates");
            // The next process uses the saved index or does without it.
            let next =
                ChunkManager::new(vec![Box::new(feed(&f.layout))], StaticModel::bundled()).unwrap();
            next.reload(&Cancel::new(false)).unwrap();
            let next_found = next.ask(|_| answers(&next).map_err(ReloadError::from));
            assert_eq!(next_found.unwrap(), want, "{name} in the next process");
            std::os::unix::fs::FileExt::write_all_at(&file, &whole, 0).unwrap();
            file.set_modified(modified).unwrap();
        }
    }
    assert!(n_noticed > 0, "questions met the damage");
}

#[test]
fn a_reloader_rebuilds_a_damaged_index_unasked() {
    let f = fixture();
    publish(
        &f.layout,
        &(0..100)
            .map(|i| chunk(&format!("c{i}"), &format!("kettle number {i}"), T1))
            .collect::<Vec<_>>(),
    );
    f.reload().unwrap();
    let want = answers(&f.manager).unwrap();
    f.manager.save(0.0);
    let manager = Arc::new(
        ChunkManager::new(vec![Box::new(feed(&f.layout))], StaticModel::bundled()).unwrap(),
    );
    let (ran, has_run) = std::sync::mpsc::channel();
    let reloader = Reloader::spawn(manager.clone(), None, move |_| {
        let _ = ran.send(());
        std::time::Duration::from_hours(1)
    });
    let _reloader = reloader.unwrap();
    has_run.recv().unwrap();
    for path in saved_files(&f.layout).iter().filter(|p| p.extension().is_some_and(|e| e == "term"))
    {
        let n_bytes = std::fs::metadata(path).unwrap().len();
        let file = std::fs::OpenOptions::new().write(true).open(path).unwrap();
        std::os::unix::fs::FileExt::write_all_at(
            &file,
            &vec![0xa5; usize::try_from(n_bytes).unwrap()],
            0,
        )
        .unwrap();
    }
    assert!(answers(&manager).is_err());
    has_run.recv().unwrap();
    assert_eq!(answers(&manager).unwrap(), want);
    let next = ChunkManager::new(vec![Box::new(feed(&f.layout))], StaticModel::bundled()).unwrap();
    next.reload(&Cancel::new(false)).unwrap();
    assert_eq!(answers(&next).unwrap(), want, "what was rebuilt was saved");
}
