//! How long after one source file changed is it searchable? Decides whether the index is written and reloaded whole or in
//! parts. Corpus: generated, 2 000 Rust files of four functions each, 10 000 chunks; or a copy of the directory given
//! as argument (`cargo bench --bench freshness -- ~/src/project`).
//!
//! Measured from the moment the change is noticed (what a watcher and its debouncing add is left out) to the answered
//! query: look at the file, parse it, write and sync the chunk files, reload, search. Medians and worst of the runs.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use cortex::chunk::Cancel;
use cortex::config::globs;
use cortex::embed::{Embedder, StaticModel};
use cortex::index::{Indexer, Mode};
use cortex::live::ChunkManager;
use cortex::search::{Filter, Query};
use cortex::source::{Scope, WalkOptions};
use cortex::store::{ChunkFiles, Layout};

const RUNS: usize = 30;
const FILES: usize = 2_000;
const FUNCTIONS: usize = 4;

fn main() {
    let given = std::env::args().skip(1).find(|a| !a.starts_with('-'));
    let dir = std::env::temp_dir().join(format!("cortex-freshness-{}", std::process::id()));
    match &given {
        Some(source) => copy(Path::new(source), &dir),
        None => generate(&dir),
    }
    measure(&dir);
    // Nothing can be done about a temporary directory that stays.
    let _ = fs::remove_dir_all(&dir);
}

fn measure(dir: &Path) {
    let embedder: Arc<dyn Embedder> = StaticModel::bundled();
    let layout = Layout::at(dir);
    let walk = WalkOptions { max_file_bytes: 1 << 20, exclude: globs(&[]).expect("no globs"), exclude_patterns: Vec::new() };
    let indexer = Indexer { layout: layout.clone(), walk, embedder: embedder.clone(), lock_wait: Duration::ZERO, cancel: Arc::default() };
    let summary = indexer.run(Mode::Incremental, &Scope::All, &|_| {}).expect("the first index");
    let feed = ChunkFiles::new(layout, embedder.id(), embedder.dimensions());
    let manager = ChunkManager::new(vec![Box::new(feed)], embedder).expect("an empty index");
    let cancel = Cancel::new(false);
    let start = Instant::now();
    manager.reload(&cancel).expect("the first load");
    println!("{} files, {} chunks; first load {:.1} ms", summary.n_files, summary.n_chunks(), ms(start));

    let changed = changeable(dir);
    let (mut index, mut reload, mut total) = (Vec::new(), Vec::new(), Vec::new());
    for run in 0..RUNS {
        let path = &changed[run * changed.len() / RUNS];
        let marker = format!("marker{run}x");
        let text = fs::read_to_string(dir.join(path)).expect("a text");
        fs::write(dir.join(path), format!("{text}\nfn {marker}() {{}}\n")).expect("a file that can be written");
        let start = Instant::now();
        let scope = Scope::Paths(BTreeSet::from([path.clone()]));
        assert!(indexer.look(&scope).is_stale);
        indexer.run(Mode::Incremental, &scope, &|_| {}).expect("an index run");
        let indexed = ms(start);
        let reloaded = manager.reload(&cancel).expect("a reload");
        let loaded = ms(start);
        let found = manager.current().code().corpus.search(&Query::new(&marker), &[], &Filter::default(), 1).expect("a search");
        assert!(reloaded.published && &*found.hits[0].path == path, "{marker} is in {path}");
        index.push(indexed);
        reload.push(loaded - indexed);
        total.push(ms(start));
    }
    for (what, mut times) in [("index one file", index), ("reload", reload), ("noticed to found", total)] {
        times.sort_by(f64::total_cmp);
        println!("{what:<18} median {:>6.1} ms   worst {:>6.1} ms", times[RUNS / 2], times[RUNS - 1]);
    }
}

/// Rust files of the corpus.
fn changeable(dir: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut left = vec![dir.to_path_buf()];
    while let Some(next) = left.pop() {
        for entry in fs::read_dir(next).expect("a directory").flatten() {
            let path = entry.path();
            let name = entry.file_name();
            if path.is_dir() && !name.to_string_lossy().starts_with('.') {
                left.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                found.push(path.strip_prefix(dir).expect("below").to_string_lossy().into_owned());
            }
        }
    }
    found.sort();
    found
}

fn copy(from: &Path, to: &Path) {
    let mut left = vec![PathBuf::new()];
    while let Some(next) = left.pop() {
        fs::create_dir_all(to.join(&next)).expect("a directory");
        for entry in fs::read_dir(from.join(&next)).expect("a directory").flatten() {
            let kind = entry.file_type().expect("a file type");
            let path = next.join(entry.file_name());
            match () {
                () if kind.is_dir() && ![".cortex", ".git"].contains(&&*entry.file_name().to_string_lossy()) => left.push(path),
                () if kind.is_file() => drop(fs::copy(from.join(&path), to.join(&path)).expect("a copy")),
                () => {}
            }
        }
    }
}

/// Words by rank: few are frequent, most are rare.
fn generate(dir: &Path) {
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = move |n: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        usize::try_from(seed >> 33).unwrap_or(0) % n
    };
    let mut word = move || {
        let rank = (1 << random(13)) + random(1 << 12) % (1 << 12);
        format!("{}{}", ["load", "parse", "chunk", "index", "node", "read", "query", "cache"][rank % 8], rank / 8)
    };
    for i in 0..FILES {
        let folder = dir.join(format!("src/part_{}", i % 50));
        fs::create_dir_all(&folder).expect("a directory");
        let mut text = format!("//! Keeps {} beside {}.\n\n", word(), word());
        for _ in 0..FUNCTIONS {
            let head = format!("/// Turns {} into {}.\nfn {}_{}(a: usize) -> usize {{\n", word(), word(), word(), word());
            let body: Vec<String> = (0..12).map(|_| format!("    let {} = {}(a, {});\n", word(), word(), word())).collect();
            text.extend([&*head, &body.concat(), "    a\n}\n\n"]);
        }
        fs::write(folder.join(format!("{}_{i}.rs", word())), text).expect("a file");
    }
}

fn ms(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1000.0
}
