//! A depot in Milvus (2.6.2 or newer): three collections, behind aliases. Their names end with the
//! version of their fields, that of the rows also with the length of the vectors, so that another
//! version is filled beside the one that is in use, and then takes over the alias.
//!
//! - `cortex_rows`: the words as a sparse vector, the dense vector, the keys as an array.
//! - `cortex_facts`: a row for each part of a fact, whose bytes are base64 text: a field of text ends
//!   at 64 KB.
//! - `cortex_records`: see `records`.
//!
//! The repository is the partition key of rows and facts, and every expression begins with it.
//! Expressions hold numbers alone. Every read has the consistency level `Strong`: it sees what was
//! answered before. `died` is set by partial updates, in which the engine writes a row as a whole
//! again, under the same id, deletion and insertion at one time.
//!
//! **Exactness.** The sparse index is exact. The dense index is `HNSW_SQ` with 8 bits a dimension: it
//! misses few of the nearest vectors, and orders nearly equal ones differently. A row without a
//! vector has one of zeros, which is never proposed.
//!
//! **Where milvus-lite, which tests run on, differs from a cluster.** It takes no vectors of 16 or 8
//! bits, no parameters in expressions, and only the inverted index of scalar fields: what both have
//! is used here. It merges the fields of every upsert. It deletes by reading ids first. It knows
//! neither timestamps nor consistency levels: a read sees all. It forgets which collections are
//! loaded when it is started again: a call then loads the collection. It has one partition.

mod engine;
mod records;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{BuildHasher, RandomState};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use futures_util::{StreamExt, TryStreamExt, future, stream};
use milvus::v2::prelude::{
    DataType, FieldData, FieldSchema, IndexParam, IndexType, MetricType, SearchVectors,
};

use self::engine::{
    AT_ONCE, Collection, Columns, Engine, MAX_HITS, MAX_INSERTION, MAX_ROWS, PAGE, among, int,
    number, text, unsigned,
};
use crate::{
    At, DIMENSIONS, Depot, DepotError, FILE, Fact, FactName, Found, LIVING, MAX_FACT_BYTES,
    MAX_KEYS, Record, Result, Row, Size, Sparse, Wanted,
};

/// Version of the collections' fields.
const VERSION: u32 = 1;

/// The aliases of the collections.
const ROWS: &str = "cortex_rows";
const FACTS: &str = "cortex_facts";

/// Largest text of a field, in bytes.
const MAX_TEXT: u32 = 65_535;

/// Bytes of a fact in one row: as base64, they fit a field.
const PART: usize = 48_000;

/// Most dimensions of a vector.
const MAX_DIMENSIONS: usize = 32_768;

/// Dimension of the engine's dense vectors that stand for none.
const TINY: usize = 2;

/// The dimension that rows without words have: the engine takes no empty vector. No question has it.
const NO_WORDS: u32 = DIMENSIONS;

/// Most names in one expression.
const NAMES_AT_ONCE: usize = 1_000;

/// Rows that one request updates: the engine reads and writes them as a whole.
const UPDATED_AT_ONCE: usize = 256;

/// How a [`Milvus`] depot reaches its server.
#[derive(Debug, Clone)]
pub struct Options {
    /// Longest wait for the connection.
    pub connect: Duration,
    /// Longest duration of a request. A call makes one or several.
    pub call: Duration,
    /// A file of PEM certificates that sign the server's. `None`: those that the system trusts.
    pub root: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Self {
        let [connect, call] = [5, 30].map(Duration::from_secs);
        Self { connect, call, root: None }
    }
}

/// The depot. Its calls block, so an asynchronous program makes them on a blocking thread.
#[derive(Debug)]
pub struct Milvus {
    engine: Engine,
    ids: Ids,
}

impl Milvus {
    /// Returns the depot at an address such as `milvus://user:password@host:19530/database`, or
    /// `milvus://:token@host`. Connects on the first call.
    ///
    /// A connection to another machine is encrypted, and the server's certificate is verified, unless
    /// the address ends with `?tls=disable`. `?tls=require` encrypts to this machine, too.
    ///
    /// # Errors
    /// [`DepotError::Refused`] if the address is not valid or the certificates cannot be read.
    pub fn new(address: &str, options: &Options) -> Result<Self> {
        Ok(Self { engine: Engine::new(address, options)?, ids: Ids::default() })
    }

    /// Returns the number of requests to the engine so far.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.engine.requests.load(Ordering::Relaxed)
    }
}

/// Makes ids of rows: random numbers that are not negative. Among a hundred million rows, two have
/// the same id with a probability of one in two thousand.
#[derive(Debug, Default)]
struct Ids {
    keys: RandomState,
    next: AtomicU64,
}

impl Ids {
    fn next(&self) -> i64 {
        let n = self.next.fetch_add(1, Ordering::Relaxed);
        (self.keys.hash_one(n) >> 1).cast_signed()
    }
}

/// Returns a number as the engine holds it.
fn signed(number: u64) -> Result<i64> {
    let refused = |_| DepotError::Refused(format!("{number} is above {}", i64::MAX));
    i64::try_from(number).map_err(refused)
}

/// Returns a generation as the engine holds it.
fn generation(at: At) -> Result<i64> {
    match at.generation {
        LIVING.. => Err(DepotError::Refused(format!("{} is not a generation", at.generation))),
        generation => signed(generation),
    }
}

fn of(repository: i64) -> String {
    format!("repository == {repository}")
}

/// Returns the expression that selects what a question sees.
fn seen(at: At) -> Result<String> {
    let generation = generation(at)?;
    Ok(format!("{} and born <= {generation} and died > {generation}", of(at.repository)))
}

/// Returns the expression that selects what lives and is born before a generation.
fn older(at: At) -> Result<String> {
    Ok(format!("{} and died == {LIVING} and born < {}", of(at.repository), generation(at)?))
}

fn any_of(keys: &[i32]) -> String {
    let keys: Vec<String> = keys.iter().map(i32::to_string).collect();
    format!("array_contains_any(keys, [{}])", keys.join(","))
}

/// The vector that a collection without vectors has because the engine wants one, and its index.
fn tiny() -> (FieldSchema, IndexParam) {
    let index = IndexParam::new()
        .field_name("tiny")
        .index_type(IndexType::Flat)
        .metric_type(MetricType::Ip);
    (dense("tiny", TINY), index)
}

fn tiny_values(rows: usize) -> FieldData {
    FieldData::float_vector("tiny", vec![vec![0.0; TINY]; rows])
}

fn dense(name: &str, dimensions: usize) -> FieldSchema {
    let field = FieldSchema::new().name(name).data_type(DataType::FloatVector);
    field.dimension(u32::try_from(dimensions.max(TINY)).unwrap_or(u32::MAX))
}

fn inverted(field: &str) -> IndexParam {
    IndexParam::new().field_name(field).index_type(IndexType::Inverted)
}

fn params(pairs: &[(&str, &str)]) -> HashMap<String, String> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// The collection of the rows. The vectors' length is part of its name.
fn rows(dimensions: usize) -> Collection {
    let words = IndexParam::new()
        .field_name("words")
        .index_type(IndexType::SparseInvertedIndex)
        .metric_type(MetricType::Ip);
    let vector = IndexParam::new()
        .field_name("vector")
        .index_type(IndexType::HnswSq)
        .metric_type(MetricType::Ip)
        .extra_params(params(&[("M", "16"), ("efConstruction", "200"), ("sq_type", "SQ8")]));
    let keys = FieldSchema::new().name("keys").data_type(DataType::Array);
    let keys = keys
        .element_type(DataType::Int32)
        .max_capacity(u32::try_from(MAX_KEYS).unwrap_or(u32::MAX));
    Collection {
        alias: ROWS,
        name: format!("{ROWS}_{VERSION}_{dimensions}"),
        fields: vec![
            number("id").primary_key(true),
            number("repository").partition_key(true),
            number("file"),
            number("born"),
            number("died"),
            keys,
            FieldSchema::new().name("words").data_type(DataType::SparseFloatVector),
            dense("vector", dimensions),
        ],
        indexes: vec![words, vector, inverted("file")],
        shards: 4,
    }
}

/// The fields of a fact that are numbers: `bytes` are those of the whole fact, `size` those of this
/// part's text.
const FACT_NUMBERS: [&str; 11] =
    ["id", "repository", "kind", "key", "born", "died", "hash", "part", "parts", "bytes", "size"];

fn facts() -> Collection {
    let mut fields: Vec<_> = FACT_NUMBERS.map(number).into();
    fields[0] = number("id").primary_key(true);
    fields[1] = number("repository").partition_key(true);
    fields.push(text("text", MAX_TEXT));
    let (vector, index) = tiny();
    fields.push(vector);
    let indexes = vec![index, inverted("key")];
    Collection { alias: FACTS, name: format!("{FACTS}_{VERSION}"), fields, indexes, shards: 2 }
}

fn sparse(words: &Sparse) -> Result<BTreeMap<u32, f32>> {
    let is_ordered = words.is_sorted_by(|a, b| a.0 < b.0);
    let is_inside = words.last().is_none_or(|last| last.0 < DIMENSIONS);
    if !(is_ordered && is_inside && words.iter().all(|at| at.1 > 0.0 && at.1.is_finite())) {
        return Err(DepotError::Refused("a sparse vector is not valid".into()));
    }
    Ok(words.iter().copied().collect())
}

fn refused<T>(why: &str) -> Result<T> {
    Err(DepotError::Refused(why.into()))
}

/// Returns the hits that a question proposes.
fn hits(at: At, scores: Option<&[f32]>, columns: &Columns) -> Result<Vec<Found>> {
    let files = columns.numbers("file")?.iter().zip(columns.numbers("born")?);
    let mut found = Vec::new();
    for (n, (&file, &born)) in files.enumerate() {
        let born = unsigned(born)?;
        if born > at.generation {
            return Err(DepotError::Damaged("a proposed row is not born yet".into()));
        }
        if scores.is_none_or(|scores| scores.get(n).is_some_and(|score| *score > 0.0)) {
            found.push(Found { file, born });
        }
    }
    Ok(found)
}

impl Milvus {
    /// Returns the length of the vectors that are stored.
    async fn dimensions(&self) -> Result<usize> {
        let Some(name) = self.engine.behind(ROWS).await? else {
            return refused(
                "the database has no collections of Cortex: publish a repository first",
            );
        };
        let dimensions = name.strip_prefix(&format!("{ROWS}_{VERSION}_"));
        dimensions.and_then(|number| number.parse().ok()).ok_or_else(|| {
            DepotError::Refused(format!(
                "the alias {ROWS} leads to the collection {name}, and this program reads version \
                 {VERSION}: run the program that published it, or drop the collections and publish again"
            ))
        })
    }

    /// Returns whether the collections are there.
    async fn are_there(&self, dimensions: usize) -> Result<bool> {
        for collection in [facts(), records::collection(VERSION)] {
            match self.engine.behind(collection.alias).await? {
                None => return Ok(false),
                Some(name) if name == collection.name => {}
                Some(name) => {
                    return Err(DepotError::Refused(format!(
                        "the alias {} leads to the collection {name}, and this program reads {}",
                        collection.alias, collection.name
                    )));
                }
            }
        }
        if self.engine.behind(ROWS).await?.is_none() {
            return Ok(false);
        }
        let stored = self.dimensions().await?;
        if stored != dimensions {
            return Err(DepotError::Refused(format!(
                "the collection behind {ROWS} holds vectors of {stored} dimensions, not {dimensions}: \
                 publish with the same embedder, or to another database"
            )));
        }
        Ok(true)
    }

    async fn create(&self, dimensions: usize) -> Result<()> {
        for collection in [facts(), records::collection(VERSION), rows(dimensions)] {
            if self.engine.behind(collection.alias).await?.is_none() {
                self.engine.create(&collection).await?;
            }
        }
        Ok(())
    }

    async fn insert_rows(&self, at: At, rows: &[Row]) -> Result<()> {
        let dimensions = self.dimensions().await?;
        let born = generation(at)?;
        let mut checked = Vec::with_capacity(rows.len());
        for row in rows {
            if !row.vector.is_empty() && row.vector.len() != dimensions
                || !row.vector.iter().all(|value| value.is_finite())
            {
                return refused(
                    "a vector is not valid, or has another length than those that are stored",
                );
            }
            if row.keys.len() > MAX_KEYS {
                return refused("a row has too many keys");
            }
            let mut words = sparse(&row.words)?;
            if words.is_empty() {
                words.insert(NO_WORDS, 1.0);
            }
            checked.push((row, words));
        }
        let bytes = |(row, words): &(&Row, BTreeMap<u32, f32>)| {
            40 + 8 * words.len() + 4 * (dimensions + row.keys.len())
        };
        let batches = batches(&checked, bytes).into_iter().map(async |batch| {
            let n = batch.len();
            let mut vectors = Vec::with_capacity(n);
            for (row, _) in batch {
                let mut vector = row.vector.clone();
                vector.resize(dimensions.max(TINY), 0.0);
                vectors.push(vector);
            }
            let columns = vec![
                FieldData::int64("id", batch.iter().map(|_| self.ids.next()).collect()),
                FieldData::int64("repository", vec![at.repository; n]),
                FieldData::int64("file", batch.iter().map(|(row, _)| row.file).collect()),
                FieldData::int64("born", vec![born; n]),
                FieldData::int64("died", vec![LIVING.cast_signed(); n]),
                FieldData::array_int32(
                    "keys",
                    batch.iter().map(|(row, _)| row.keys.clone()).collect(),
                ),
                FieldData::sparse_float_vector(
                    "words",
                    batch.iter().map(|(_, words)| words.clone()).collect(),
                ),
                FieldData::float_vector("vector", vectors),
            ];
            self.engine.insert(ROWS, columns, n).await
        });
        stream::iter(batches).buffered(AT_ONCE).try_collect().await
    }

    async fn insert_facts(&self, at: At, facts: &[Fact]) -> Result<()> {
        let born = generation(at)?;
        let mut parts: Vec<(&Fact, usize, &[u8])> = Vec::new();
        for fact in facts {
            let before = parts.len();
            parts.extend(fact.data.chunks(PART).enumerate().map(|(n, data)| (fact, n, data)));
            if parts.len() == before {
                parts.push((fact, 0, &[]));
            }
        }
        let bytes = |part: &(&Fact, usize, &[u8])| 100 + part.2.len() * 4 / 3;
        let batches = batches(&parts, bytes).into_iter().map(async |batch| {
            let texts: Vec<String> = batch.iter().map(|at| STANDARD_NO_PAD.encode(at.2)).collect();
            let mut columns = Vec::new();
            let mut column = |name: &str, value: &dyn Fn(&Fact, usize) -> i64| {
                columns.push(FieldData::int64(
                    name,
                    batch.iter().map(|at| value(at.0, at.1)).collect(),
                ));
            };
            column("id", &|_, _| self.ids.next());
            column("repository", &|_, _| at.repository);
            column("kind", &|fact, _| i64::from(fact.kind));
            column("key", &|fact, _| fact.key);
            column("born", &|_, _| born);
            column("died", &|_, _| LIVING.cast_signed());
            column("hash", &|fact, _| fact.hash);
            column("part", &|_, part| int(part));
            column("parts", &|fact, _| int(fact.data.len().div_ceil(PART).max(1)));
            column("bytes", &|fact, _| int(fact.data.len()));
            columns
                .push(FieldData::int64("size", texts.iter().map(|text| int(text.len())).collect()));
            columns.push(FieldData::varchar("text", texts));
            columns.push(tiny_values(batch.len()));
            self.engine.insert(FACTS, columns, batch.len()).await
        });
        stream::iter(batches).buffered(AT_ONCE).try_collect().await
    }

    /// Sets `died` of the rows that an expression selects.
    async fn set_died(
        &self,
        collection: &'static str,
        repository: i64,
        filter: &str,
        died: i64,
    ) -> Result<()> {
        let columns = self.engine.all(collection, filter, &["id"], PAGE).await?;
        let updates = columns.numbers("id")?.chunks(UPDATED_AT_ONCE).map(async |ids| {
            let columns = vec![
                FieldData::int64("id", ids.to_vec()),
                FieldData::int64("repository", vec![repository; ids.len()]),
                FieldData::int64("died", vec![died; ids.len()]),
            ];
            self.engine.update(collection, columns, ids.len()).await
        });
        stream::iter(updates).buffered(AT_ONCE).try_collect().await
    }

    /// Returns the facts of one kind with these keys.
    async fn facts_at(&self, seen: &str, kind: u8, keys: &[i64]) -> Result<Vec<Fact>> {
        let filter = format!("{seen} and kind == {kind} and {}", among("key", keys));
        let fields = ["id", "key", "hash", "part", "parts", "bytes", "size"];
        let columns = self.engine.all(FACTS, &filter, &fields, PAGE).await?;
        let column = |name| columns.numbers(name);
        let (ids, of_keys, hashes, sizes) =
            (column("id")?, column("key")?, column("hash")?, column("size")?);
        let (parts, all, bytes) = (column("part")?, column("parts")?, column("bytes")?);
        let mut of_fact: BTreeMap<i64, Vec<usize>> = BTreeMap::new();
        for (n, &key) in of_keys.iter().enumerate() {
            of_fact.entry(key).or_default().push(n);
        }
        let sized = ids.iter().zip(sizes).map(|(id, size)| Ok((*id, unsigned(*size)?)));
        let sized: Vec<(i64, u64)> = sized.collect::<Result<_>>()?;
        let texts = self.engine.texts(FACTS, seen, &sized).await?;
        let mut facts = Vec::with_capacity(of_fact.len());
        for (key, mut rows) in of_fact {
            rows.sort_by_key(|&n| parts[n]);
            let first = rows[0];
            let damaged =
                || DepotError::Damaged(format!("the fact {key} of kind {kind} is not whole"));
            let mut data = Vec::new();
            for (part, &n) in rows.iter().enumerate() {
                let fits = parts[n] == int(part)
                    && all[n] == int(rows.len())
                    && (hashes[n], bytes[n]) == (hashes[first], bytes[first]);
                let text = texts.get(&ids[n]).filter(|_| fits).ok_or_else(damaged)?;
                STANDARD_NO_PAD.decode_vec(text, &mut data).map_err(|_| damaged())?;
            }
            if int(data.len()) != bytes[first] {
                return Err(damaged());
            }
            facts.push(Fact { kind, key, hash: hashes[first], data });
        }
        Ok(facts)
    }

    async fn by_words(&self, at: At, filter: &str, wanted: &Wanted) -> Result<Vec<Found>> {
        let asked = wanted.words.iter().filter(|words| !words.is_empty()).map(sparse);
        let vectors: Vec<BTreeMap<u32, f32>> = asked.collect::<Result<_>>()?;
        let lists = vectors.chunks((MAX_HITS / wanted.limit).max(1)).map(|vectors| {
            let vectors = SearchVectors::SparseFloat(vectors.to_vec());
            self.best(at, "words", filter, vectors, HashMap::new(), wanted.limit)
        });
        let lists: Vec<_> = stream::iter(lists).buffered(AT_ONCE).try_collect().await?;
        Ok(lists.concat())
    }

    async fn by_vector(&self, at: At, filter: &str, wanted: &Wanted) -> Result<Vec<Found>> {
        if wanted.vector.is_empty() {
            return Ok(Vec::new());
        }
        let effort = wanted.limit.clamp(64, MAX_ROWS).to_string();
        let vectors = SearchVectors::Float(vec![wanted.vector.clone()]);
        let params = params(&[("ef", &effort)]);
        self.best(at, "vector", filter, vectors, params, wanted.limit).await
    }

    async fn best(
        &self,
        at: At,
        field: &str,
        filter: &str,
        vectors: SearchVectors,
        params: HashMap<String, String>,
        limit: usize,
    ) -> Result<Vec<Found>> {
        let fields = ["file", "born"];
        let lists =
            self.engine.search((ROWS, field), filter, vectors, params, limit, &fields).await?;
        let lists = lists.iter().map(|(scores, columns)| hits(at, Some(scores), columns));
        Ok(lists.collect::<Result<Vec<_>>>()?.concat())
    }

    async fn by_keys(&self, at: At, filter: &str, wanted: &Wanted) -> Result<Vec<Found>> {
        let lists = wanted.keys.iter().filter(|keys| !keys.is_empty()).map(async |keys| {
            let filter = format!("{filter} and {}", any_of(keys));
            let columns = self.engine.query(ROWS, &filter, &["file", "born"], wanted.limit).await?;
            hits(at, None, &columns)
        });
        let lists: Vec<_> = stream::iter(lists).buffered(AT_ONCE).try_collect().await?;
        Ok(lists.concat())
    }
}

/// Cuts a list into parts of at most [`MAX_INSERTION`] bytes.
fn batches<T>(all: &[T], bytes: impl Fn(&T) -> usize) -> Vec<&[T]> {
    let (mut batches, mut start, mut sum) = (Vec::new(), 0, 0);
    for (n, one) in all.iter().enumerate() {
        let more = bytes(one);
        if n > start && (sum + more > MAX_INSERTION || n - start == MAX_ROWS) {
            batches.push(&all[start..n]);
            (start, sum) = (n, 0);
        }
        sum += more;
    }
    batches.push(&all[start..]);
    batches
}

impl Depot for Milvus {
    fn prepare(&self, dimensions: usize) -> Result<()> {
        if dimensions > MAX_DIMENSIONS {
            let why = format!("Milvus keeps vectors of at most {MAX_DIMENSIONS} dimensions");
            return Err(DepotError::Refused(format!("{why}, not {dimensions}")));
        }
        self.engine.wait(async {
            // Of several publishers at once, those that come late to a step fail, and find it done.
            let mut tries = 0;
            while !self.are_there(dimensions).await? {
                match self.create(dimensions).await {
                    Err(DepotError::Refused(_)) if tries < 10 => {
                        tries += 1;
                        tokio::time::sleep(Duration::from_millis(100)).await;
                    }
                    created => created?,
                }
            }
            Ok(())
        })
    }

    fn records(&self, names: Option<&[String]>) -> Result<Vec<Record>> {
        self.engine.wait(records::records(&self.engine, names))
    }

    fn replace(&self, record: &Record) -> Result<bool> {
        self.engine.wait(records::replace(&self.engine, &self.ids, record))
    }

    fn propose(&self, at: At, wanted: &Wanted) -> Result<Vec<Found>> {
        let mut filter = seen(at)?;
        if wanted.limit == 0 || wanted.only.iter().any(Vec::is_empty) {
            return Ok(Vec::new());
        }
        for set in &wanted.only {
            filter = format!("{filter} and {}", any_of(set));
        }
        let parts = future::try_join3(
            self.by_words(at, &filter, wanted),
            self.by_vector(at, &filter, wanted),
            self.by_keys(at, &filter, wanted),
        );
        let (words, vector, keys) = self.engine.wait(parts)?;
        let found: BTreeSet<Found> = words.into_iter().chain(vector).chain(keys).collect();
        Ok(found.into_iter().collect())
    }

    fn facts(&self, at: At, kind: u8, keys: &[i64]) -> Result<Vec<Fact>> {
        let seen = seen(at)?;
        let keys: Vec<i64> = keys.iter().copied().collect::<BTreeSet<_>>().into_iter().collect();
        self.engine.wait(async {
            let facts = keys.chunks(NAMES_AT_ONCE).map(|keys| self.facts_at(&seen, kind, keys));
            let facts: Vec<Vec<Fact>> = stream::iter(facts).buffered(2).try_collect().await?;
            Ok(facts.into_iter().flatten().collect())
        })
    }

    fn names(&self, at: At, kind: u8) -> Result<Vec<(FactName, i64)>> {
        let filter = format!("{} and kind == {kind} and part == 0", seen(at)?);
        let columns = self.engine.wait(self.engine.all(FACTS, &filter, &["key", "hash"], PAGE))?;
        let names = columns.numbers("key")?.iter().map(|&key| FactName { kind, key });
        Ok(names.zip(columns.numbers("hash")?.iter().copied()).collect())
    }

    fn insert(&self, at: At, rows: &[Row], facts: &[Fact]) -> Result<()> {
        generation(at)?;
        if facts.iter().any(|fact| fact.data.len() > MAX_FACT_BYTES) {
            return refused("a fact is too large");
        }
        self.engine.wait(async {
            if !rows.is_empty() {
                self.insert_rows(at, rows).await?;
            }
            if !facts.is_empty() {
                self.insert_facts(at, facts).await?;
            }
            Ok(())
        })
    }

    fn retire(&self, at: At, facts: &[FactName]) -> Result<()> {
        let (older, died) = (older(at)?, generation(at)?);
        let mut by_kind: BTreeMap<u8, BTreeSet<i64>> = BTreeMap::new();
        for fact in facts {
            by_kind.entry(fact.kind).or_default().insert(fact.key);
        }
        self.engine.wait(async {
            for (kind, keys) in by_kind {
                let keys: Vec<i64> = keys.into_iter().collect();
                for keys in keys.chunks(NAMES_AT_ONCE) {
                    if kind == FILE {
                        let filter = format!("{older} and {}", among("file", keys));
                        self.set_died(ROWS, at.repository, &filter, died).await?;
                    }
                    let filter = format!("{older} and kind == {kind} and {}", among("key", keys));
                    self.set_died(FACTS, at.repository, &filter, died).await?;
                }
            }
            Ok(())
        })
    }

    fn undo(&self, at: At) -> Result<()> {
        let (repository, generation) = (of(at.repository), generation(at)?);
        let unborn = format!("{repository} and born > {generation}");
        let undead = format!("{repository} and died > {generation} and died < {LIVING}");
        self.engine.wait(async {
            for collection in [ROWS, FACTS] {
                self.engine.delete(collection, &unborn).await?;
                self.set_died(collection, at.repository, &undead, LIVING.cast_signed()).await?;
            }
            Ok(())
        })
    }

    fn collect(&self, at: At) -> Result<u64> {
        let dead = format!("{} and died <= {}", of(at.repository), generation(at)?);
        self.engine.wait(async {
            let facts = self.engine.count(FACTS, &format!("{dead} and part == 0")).await?;
            self.engine.delete(FACTS, &dead).await?;
            Ok(facts + self.engine.delete(ROWS, &dead).await?)
        })
    }

    fn remove(&self, repository: i64, name: &str) -> Result<()> {
        self.engine.wait(async {
            records::remove(&self.engine, name).await?;
            self.engine.delete(ROWS, &of(repository)).await?;
            self.engine.delete(FACTS, &of(repository)).await?;
            Ok(())
        })
    }

    fn size(&self, repository: i64) -> Result<Size> {
        let facts = format!("{} and part == 0", of(repository));
        self.engine.wait(async {
            let rows = self.engine.count(ROWS, &of(repository)).await?;
            let facts = self.engine.all(FACTS, &facts, &["bytes"], PAGE).await?;
            let bytes = facts.numbers("bytes")?.iter().map(|bytes| unsigned(*bytes));
            Ok(Size { rows, facts: facts.rows as u64, bytes: bytes.sum::<Result<u64>>()? })
        })
    }
}
