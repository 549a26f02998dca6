#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "small numbers of a test"
)]

use std::sync::Arc;

use chrono::DateTime;
use proptest::prelude::*;

use super::*;
use crate::chunk::{
    Chunk, ChunkDelta, ChunkSet, ChunkType, Entry, Metadata, Name, Quantized, SaveWriter,
    SavedFile, SavedFiles,
};

/// An embedder that hashes words, so that vectors take part in ranking.
struct ByHash;

const DIMENSIONS: usize = 32;

fn vector(text: &str) -> Vec<f32> {
    let mut v = [0f32; DIMENSIONS];
    for word in text.split_whitespace() {
        v[xxhash_rust::xxh3::xxh3_64(word.as_bytes()) as usize % DIMENSIONS] += 1.0;
    }
    let norm = v.iter().map(|x| x * x).sum::<f32>().sqrt().max(1e-9);
    v.iter().map(|x| x / norm).collect()
}

impl VectorSource for ByHash {
    fn vectors(&mut self, chunks: &[Read]) -> Vec<Option<Quantized>> {
        chunks.iter().map(|(_, chunk)| Some(Quantized::new(&vector(&chunk.text)))).collect()
    }
}

/// Names of files hold words that questions ask for.
fn path(n: usize) -> String {
    format!("dir{}/file{}_{}.rs", n % 3, n / 3, WORDS[(n + 3) % WORDS.len()])
}

fn chunk(n: usize, text: &str, version: i64) -> Chunk {
    let is_commit = (20..24).contains(&n);
    let chunk_type = if is_commit { ChunkType::History } else { ChunkType::SEARCHED[n % 4] };
    Chunk {
        title: format!("title {n}"),
        tags: if n.is_multiple_of(3) { vec!["third".into()] } else { Vec::new() },
        metadata: Metadata {
            files: if is_commit { vec![path(0), path(4)] } else { Vec::new() },
            file_path: (n % 7 != 6 && !is_commit).then(|| path(n)),
            language: Some(if n.is_multiple_of(2) { "rust" } else { "python" }.into()),
            start_line: Some(1),
            end_line: Some(9),
            names: vec![Name {
                name: text.split(' ').next().unwrap_or("x").to_string(),
                kind: "function".into(),
                ..Name::default()
            }],
            ..Metadata::default()
        },
        updated_at: DateTime::from_timestamp(version, 0).unwrap(),
        ..Chunk::new(format!("c{n}"), chunk_type, text)
    }
}

fn set_of(chunks: &[Chunk]) -> Arc<ChunkSet> {
    Arc::new(
        ChunkSet::new(chunks.iter().cloned().map(|c| Arc::new(c.into())).collect::<Vec<_>>()).0,
    )
}

fn fresh(chunks: &[Chunk]) -> Corpus {
    let set = set_of(chunks);
    let delta = ChunkDelta::everything(&set);
    CorpusBuilder::new(DIMENSIONS).unwrap().update(set, &delta, &mut ByHash).unwrap()
}

/// A cache of saved files in memory.
#[derive(Debug, Default)]
struct MemoryCache(std::sync::Mutex<std::collections::HashMap<String, Bytes>>);

impl SavedFiles for MemoryCache {
    fn open(&self, name: &str) -> std::io::Result<Arc<dyn SavedFile>> {
        let files = self.0.lock().unwrap();
        files
            .get(name)
            .map(|f| Arc::new(f.clone()) as Arc<dyn SavedFile>)
            .ok_or_else(|| std::io::ErrorKind::NotFound.into())
    }
}

#[derive(Debug, Clone)]
struct Bytes(Vec<u8>);

impl SavedFile for Bytes {
    fn n_bytes(&self) -> u64 {
        self.0.len() as u64
    }

    fn read(&self, range: std::ops::Range<u64>) -> std::io::Result<Vec<u8>> {
        Ok(self.0[range.start as usize..range.end as usize].to_vec())
    }
}

impl SaveWriter for &MemoryCache {
    fn put(&mut self, name: &str, content: &[u8]) -> std::io::Result<()> {
        self.0.lock().unwrap().insert(name.into(), Bytes(content.to_vec()));
        Ok(())
    }

    fn keep(&mut self, name: &str, from: &dyn SavedFiles) -> std::io::Result<()> {
        self.put(name, &from.read(name)?)
    }
}

type Row = (String, u64, String, Vec<String>);

/// Returns the visible results: paths, exact scores, chunks.
fn results(corpus: &Corpus, query: &str, filter: &Filter, limit: usize) -> Vec<Row> {
    let found =
        Searcher::new(corpus).search(&Query::new(query), &vector(query), filter, limit).unwrap();
    let ids = |v: &[Arc<Entry>]| v.iter().map(|c| c.id.to_string()).collect();
    found
        .hits
        .iter()
        .map(|h| (h.path.to_string(), h.score.to_bits(), h.chunk.id.to_string(), ids(&h.others)))
        .collect()
}

const WORDS: [&str; 14] = [
    "chunk", "chunks", "loadChunks", "reload", "loader", "vector", "write", "lock", "test",
    "parser", "parse", "cache", "file_table", "the",
];

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(WORDS.to_vec()), 1..12).prop_map(|w| w.join(" "))
}

#[derive(Debug, Clone)]
enum Op {
    Put(usize, String),
    Touch(usize),
    Delete(usize),
    Reverse,
    Publish,
    Restart,
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        6 => (0..24usize, text()).prop_map(|(n, t)| Op::Put(n, t)),
        1 => (0..24usize).prop_map(Op::Touch),
        2 => (0..24usize).prop_map(Op::Delete),
        1 => Just(Op::Reverse),
        2 => Just(Op::Publish),
        1 => Just(Op::Restart),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// A corpus of all files of another one, made from what can be stored, gives the same results.
    #[test]
    fn a_part_ranks_as_the_whole(
        texts in prop::collection::vec((0..24usize, text()), 1..40),
        queries in prop::collection::vec(text(), 4),
    ) {
        let mut chunks: Vec<Chunk> = Vec::new();
        for (n, text) in texts {
            chunks.retain(|c| *c.id != format!("c{n}"));
            chunks.push(chunk(n, &text, 0));
        }
        // As the chunk files have them.
        chunks.sort_by(|a, b| b.created_at.cmp(&a.created_at).then_with(|| a.id.cmp(&b.id)));
        let whole = fresh(&chunks);
        let (mut counts, mut preparer) = (WordCounts::default(), Preparer::default());
        let mut files = Vec::new();
        for (path, slots) in PreparedFile::all_of(&whole) {
            let chunks = PreparedFile::chunks_of(&whole, &slots).unwrap();
            files.push(counts.add_file(&mut preparer, &path, chunks));
        }
        for commit in whole.chunks().commits() {
            counts.add_commit(&mut preparer, &commit.chunk().unwrap());
        }
        prop_assert_eq!(counts.size(), whole.whole().size);
        let blocks: Vec<CountBlock> =
            counts.blocks(2).iter().map(|bytes| CountBlock::read(bytes).unwrap()).collect();
        let key = |path: &str| xxhash_rust::xxh3::xxh3_64(path.as_bytes()) as i64;
        let relations: std::collections::HashMap<&str, (Vec<i64>, bool)> = whole
            .relations()
            .map(|(path, uses, has_header)| (path, (uses.into_iter().map(key).collect(), has_header)))
            .collect();
        let parts: Vec<CorpusPart> = files
            .iter()
            .map(|file| {
                let (uses, has_header) = &relations[file.path()];
                CorpusPart { file, key: key(file.path()), uses, has_header: *has_header }
            })
            .collect();
        let part =
            Corpus::of_parts(&whole.whole(), &parts, whole.chunks().commits().to_vec()).unwrap();
        for text in &queries {
            let query = Query::new(text);
            let of = |word| blocks[CountBlock::number(word, 2)].count(word);
            let stored = Statistics::stored(&query, whole.whole().size, of);
            prop_assert_eq!(&stored, &Searcher::new(&whole).statistics(&query).unwrap());
            let shown = |found: Results| -> Vec<_> {
                let row = |h: &Hit| (h.path.clone(), h.score.to_bits(), h.chunk.id.clone(), h.lines);
                found.hits.iter().map(row).collect()
            };
            let filter = Filter::default();
            let here = Searcher::new(&whole).search(&query, &vector(text), &filter, 30).unwrap();
            let there = Searcher::new(&part)
                .search_among(&query, &vector(text), &filter, 30, &stored)
                .unwrap();
            prop_assert_eq!(shown(there), shown(here));
        }
    }

    /// Invariant 7 of `specs/architecture.md`: after any sequence of updates, ids, order and scores
    /// are those of a fresh build.
    #[test]
    fn updated_equals_fresh(ops in prop::collection::vec(op(), 1..60), query in text()) {
        let mut builder = CorpusBuilder::new(DIMENSIONS).unwrap();
        let mut chunks: Vec<Chunk> = Vec::new();
        let mut served = set_of(&chunks);
        let mut corpus = builder.update(served.clone(), &ChunkDelta::default(), &mut ByHash).unwrap();
        for (version, op) in ops.into_iter().chain([Op::Publish]).enumerate() {
            let version = version as i64;
            match op {
                Op::Put(n, text) => {
                    let new = chunk(n, &text, version);
                    match chunks.iter_mut().find(|c| c.id == new.id) {
                        Some(old) => *old = new,
                        None => chunks.push(new),
                    }
                }
                Op::Touch(n) => {
                    if let Some(c) = chunks.iter_mut().find(|c| *c.id == format!("c{n}")) {
                        c.metadata.start_line = Some(version as u32);
                    }
                }
                Op::Delete(n) => chunks.retain(|c| *c.id != format!("c{n}")),
                Op::Reverse => chunks.reverse(),
                Op::Restart => {
                    let place = MemoryCache::default();
                    builder.save(&corpus, &mut &place).unwrap();
                    let saved: Arc<dyn SavedFiles> = Arc::new(place);
                    (builder, corpus) = CorpusBuilder::open(&saved, &served, DIMENSIONS, true).unwrap();
                }
                Op::Publish => {
                    let next = set_of(&chunks);
                    let delta = ChunkDelta::between(&served, &next);
                    corpus = builder.update(next.clone(), &delta, &mut ByHash).unwrap();
                    served = next;
                }
            }
        }
        let other = fresh(&chunks);
        let rust_only = Filter { languages: LanguageFilter::new(["rust"]), ..Filter::default() };
        let long = format!("{query}. {}", query.repeat(31));
        for (query, filter) in [(&query, &Filter::default()), (&query, &rust_only), (&long, &Filter::default())] {
            prop_assert_eq!(results(&corpus, query, filter, 50), results(&other, query, filter, 50));
        }
        let exact = |c: &Corpus| {
            let found = Searcher::new(c).exact("chunk OR lock", &Filter::default(), 50).unwrap();
            (found.total, found.hits.iter().map(|h| (h.chunk.id.to_string(), h.score.to_bits())).collect::<Vec<_>>())
        };
        prop_assert_eq!(exact(&corpus), exact(&other));
    }

    /// The order does not depend on the limit.
    #[test]
    fn a_smaller_limit_gives_a_prefix(texts in prop::collection::vec(text(), 1..30), query in text(), limit in 1..10usize) {
        let chunks: Vec<Chunk> = texts.iter().enumerate().map(|(i, t)| chunk(i, t, 0)).collect();
        let corpus = fresh(&chunks);
        let all = results(&corpus, &query, &Filter::default(), 100);
        let some = results(&corpus, &query, &Filter::default(), limit);
        prop_assert_eq!(&all[..some.len()], &some[..]);
    }
}

#[test]
fn the_explanation_adds_up_to_the_score() {
    let chunks: Vec<Chunk> =
        (0..9).map(|i| chunk(i, &format!("reload{i} the vector cache"), 0)).collect();
    let corpus = fresh(&chunks);
    let found = Searcher::new(&corpus)
        .search(&Query::new("reload4 vector"), &vector("reload4 vector"), &Filter::default(), 5)
        .unwrap();
    assert!(!found.hits.is_empty());
    for hit in found.hits {
        let sum: f64 = hit.terms.iter().map(Term::contribution).sum();
        assert_eq!(sum.to_bits(), hit.score.to_bits());
        assert!(hit.terms.iter().all(|t| t.value.is_finite()), "{:?}", hit.terms);
    }
}

#[test]
fn a_filter_is_applied_before_the_cut() {
    // Three hundred better Python matches must not push the one Rust match out of the pool.
    let mut chunks: Vec<Chunk> =
        (0..300).map(|i| chunk(2 * i + 1, "cache cache cache", 0)).collect();
    chunks.push(chunk(1000, "the cache and many other words of little interest here", 0));
    let rust = Filter { languages: LanguageFilter::new(["rust"]), ..Filter::default() };
    let found = Searcher::new(&fresh(&chunks)).search(&Query::new("cache"), &[], &rust, 3).unwrap();
    assert_eq!(found.hits.iter().map(|h| &*h.chunk.id).collect::<Vec<_>>(), ["c1000"]);
}

#[test]
fn exact_queries_take_phrases_fields_and_exclusion() {
    let chunks: Vec<Chunk> =
        ["fn loadChunks writes the lock", "chunks load slowly", "load no chunks"]
            .iter()
            .enumerate()
            .map(|(i, t)| chunk(i, t, 0))
            .collect();
    let corpus = fresh(&chunks);
    let ids = |q: &str| {
        let mut ids: Vec<String> = Searcher::new(&corpus)
            .exact(q, &Filter::default(), 9)
            .unwrap()
            .hits
            .iter()
            .map(|h| h.chunk.id.to_string())
            .collect();
        ids.sort();
        ids
    };
    assert_eq!(ids("load chunks"), ["c0", "c1", "c2"], "all words, in any order");
    assert_eq!(ids("\"load chunks\""), ["c0"], "a phrase sees the words of an identifier");
    assert_eq!(ids("loadChunks"), ["c0"]);
    assert_eq!(ids("load -lock"), ["c1", "c2"]);
    assert_eq!(ids("lock OR slowly"), ["c0", "c1"]);
    assert_eq!(ids("load slowly"), ["c1"]);
    assert_eq!(ids("name:fn"), ["c0"]);
    assert!(ids("loading").is_empty(), "exact is not stemmed");
    for (bad, says) in
        [("(a", "not well-formed"), ("colour:red", "no field `colour`"), ("-a", "what to find")]
    {
        let message =
            Searcher::new(&corpus).exact(bad, &Filter::default(), 9).err().unwrap().to_string();
        assert!(message.contains(says) && message.contains("field:word"), "{bad}: {message}");
    }
}

#[test]
fn by_meaning_the_nearest_chunk_of_each_file_counts_and_words_do_not() {
    let chunks: Vec<Chunk> =
        ["lock file write", "lock file", "cache tables", "lock file write now"]
            .iter()
            .enumerate()
            .map(|(i, t)| chunk(3 * i, t, 0))
            .collect();
    let corpus = fresh(&chunks);
    let found = Searcher::new(&corpus)
        .by_meaning(&vector("lock file write"), &Filter::default(), 2)
        .unwrap();
    assert_eq!(found.hits.iter().map(|h| &*h.chunk.id).collect::<Vec<_>>(), ["c0", "c9"]);
    assert!(found.hits.iter().all(|h| h.terms.len() == 1 && h.terms[0].feature == "meaning"));
    assert!(found.total >= 3);
    let related = Searcher::new(&corpus).related("c0", &Filter::default(), 9).unwrap().unwrap();
    assert_eq!(&*related.hits[0].chunk.id, "c9");
    assert!(related.hits.iter().all(|h| &*h.chunk.id != "c0"), "not itself");
    assert!(Searcher::new(&corpus).related("nobody", &Filter::default(), 9).unwrap().is_none());
}

#[test]
fn related_files_do_the_same_and_need_not_import_the_same() {
    let of = |path: &str, n: usize, chunk_type, text: &str| {
        let mut chunk = chunk(n, text, 0);
        chunk.chunk_type = chunk_type;
        chunk.metadata.file_path = Some(path.into());
        if text.starts_with("import") {
            chunk.metadata.names.clear();
        }
        chunk
    };
    let file = |path: &str, n: usize, imports: &str, definition: &str| {
        let outline = format!("{imports} {definition}");
        [
            of(path, n, ChunkType::Symbols, &outline),
            of(path, n + 1, ChunkType::Definitions, imports),
            of(path, n + 2, ChunkType::Definitions, definition),
        ]
    };
    let imports = "import net http json oauth context errors slog";
    let chunks: Vec<Chunk> = [
        file("connector/github.rs", 0, imports, "login user teams orgs token"),
        file("connector/gitea.rs", 3, "import forge", "login user teams groups token"),
        file("connector/github_test.rs", 6, imports, "login user teams orgs token"),
        file("cmd/serve.rs", 9, imports, "login flags listen router shutdown"),
    ]
    .concat();
    let corpus = fresh(&chunks);
    let related =
        Searcher::new(&corpus).related_to_file("connector/github.rs", &Filter::default(), 9);
    let related = related.unwrap().unwrap();
    let paths: Vec<&str> = related.hits.iter().map(|hit| &*hit.path).collect();
    let tests = paths.iter().position(|path| *path == "connector/github_test.rs").unwrap();
    assert!(!paths.contains(&"connector/github.rs"), "not itself: {paths:?}");
    assert!(
        paths.iter().position(|path| *path == "cmd/serve.rs").is_none_or(|at| at > tests),
        "{paths:?}"
    );
    let meaning = |path: &str| {
        let hit = related.hits.iter().find(|hit| &*hit.path == path);
        hit.map_or(0.0, |hit| hit.terms[0].value)
    };
    assert!(meaning("connector/gitea.rs") > meaning("cmd/serve.rs") + 0.3, "{paths:?}");
}

#[test]
fn fewer_results_are_the_first_of_more() {
    let words = [
        "the lock is taken before the file is written",
        "the cache is cleared",
        "lock files",
        "write the lock twice",
    ];
    let chunks: Vec<Chunk> =
        (0..40).map(|i| chunk(i, &format!("{} {}", words[i % 4], WORDS[i % 14]), 0)).collect();
    let corpus = fresh(&chunks);
    for query in ["the lock is taken when a file should be written", "lock file"] {
        let all = results(&corpus, query, &Filter::default(), 30);
        assert!(all.len() > 8, "{}", all.len());
        for limit in 1..8 {
            let some = results(&corpus, query, &Filter::default(), limit);
            assert!(
                some.len() >= limit && all.starts_with(&some),
                "{query}: {limit} of them are others"
            );
        }
    }
}

/// A file and a commit that changed it.
fn file_and_commit(n: usize, message: &str) -> [Chunk; 2] {
    let path = format!("src/f{n}.rs");
    let file = Chunk {
        metadata: Metadata { file_path: Some(path.clone()), ..Metadata::default() },
        ..chunk(2 * n + 1, "lock the cache", 0)
    };
    let commit = Chunk {
        id: format!("commit:{n}").into(),
        title: message.into(),
        chunk_type: ChunkType::History,
        metadata: Metadata { files: vec![path], ..Metadata::default() },
        ..chunk(0, message, 0)
    };
    [file, commit]
}

#[test]
fn hidden_commits_do_not_count() {
    let messages = ["wait a little", "drain the water tank slowly at night", "water tank"];
    let chunks: Vec<Chunk> =
        messages.iter().enumerate().flat_map(|(n, m)| file_and_commit(n, m)).collect();
    let corpus = fresh(&chunks);
    assert_eq!(corpus.chunks().len(), 3, "commits are not found");
    let ask = |query: &str, hidden: HiddenCommits| {
        let query = Query::new(&format!("{query} lock")).without_commits(hidden);
        let found = Searcher::new(&corpus).search(&query, &[], &Filter::default(), 9).unwrap();
        let by = |hit: &Hit| Some(hit.changed_by.as_ref()?.id.to_string());
        found.hits.iter().filter_map(by).collect::<Vec<_>>()
    };
    let hidden =
        |since: Option<&str>, quotes| HiddenCommits { since: since.map(Into::into), quotes };
    let words = "drain the water tank slowly at noon";
    assert_eq!(ask(words, hidden(None, false)), ["commit:1", "commit:2"]);
    assert_eq!(ask(words, hidden(None, true)), ["commit:2"], "five words of it");
    assert_eq!(ask(words, hidden(Some("1"), false)), ["commit:2"], "older ones only");
    assert_eq!(ask(words, hidden(Some("unknown"), false)), Vec::<String>::new());
}

#[test]
fn counts_that_are_pooled_are_those_of_one_corpus() {
    let chunks: Vec<Chunk> = (0..42)
        .map(|n| chunk(n, &format!("{} lock_file {}", WORDS[n % WORDS.len()], WORDS[n % 5]), 0))
        .collect();
    let whole = fresh(&chunks);
    let query = Query::new(&format!("{} lock_file of {}", WORDS[0], WORDS[3]));
    let own = Searcher::new(&whole).statistics(&query).unwrap();
    // The same scores, term by term, as without pooled counts.
    let (searcher, all) = (Searcher::new(&whole), Filter::default());
    let scores = |results: Results| -> Vec<(String, f64)> {
        results.hits.iter().map(|hit| (hit.path.to_string(), hit.score)).collect()
    };
    let question = vector(&query.meant);
    let alone = scores(searcher.search(&query, &question, &all, 99).unwrap());
    assert!(alone.len() > 10);
    assert_eq!(scores(searcher.search_among(&query, &question, &all, 99, &own).unwrap()), alone);
    // Files of two corpora count as those of one.
    let is_first = |c: &Chunk| c.metadata.file_path.as_ref().is_some_and(|p| p.starts_with("dir0"));
    let (a, b): (Vec<Chunk>, Vec<Chunk>) =
        chunks.iter().filter(|c| c.chunk_type != ChunkType::History).cloned().partition(is_first);
    let both = fresh(&[a.clone(), b.clone()].concat());
    let mut pooled = Searcher::new(&fresh(&a)).statistics(&query).unwrap();
    pooled.add(&Searcher::new(&fresh(&b)).statistics(&query).unwrap());
    assert_eq!(pooled, Searcher::new(&both).statistics(&query).unwrap());
}
