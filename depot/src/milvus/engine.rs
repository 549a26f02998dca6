//! Requests to the engine: how they are sent, read page by page and checked, and what errors mean.

use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use futures_util::{StreamExt, TryStreamExt, stream};
use milvus::v2::prelude::{
    ClientV2, CollectionSchema, ConnectConfig, ConsistencyLevel, CreateAliasRequest,
    CreateCollectionRequest, CreateIndexRequest, DataType, DeleteRequest,
    DescribeCollectionRequest, Error, FieldData, FieldSchema, IndexParam, InsertRequest,
    LoadCollectionRequest, QueryRequest, RetryConfig, SearchRequest, SearchVectors,
    TelemetryConfig, UpsertRequest,
};
use percent_encoding::percent_decode_str;
use tokio::runtime::Runtime;

use super::Options;
use crate::{DepotError, Result};

/// Most rows that a request of the engine may ask for.
pub const MAX_ROWS: usize = 16_384;

/// Most rows of numbers in an answer.
pub const PAGE: usize = 16_000;

/// Most hits in an answer: of each, some numbers.
pub const MAX_HITS: usize = 3 * MAX_ROWS;

/// Most bytes of text in an answer. The client library reads no answer above 4 MB.
const MAX_ANSWER: usize = 3 << 20;

/// Most bytes that an insertion sends at once. The engine takes 64 MB.
pub const MAX_INSERTION: usize = 8 << 20;

/// Most rows that one request deletes.
const MAX_DELETION: u64 = 100_000;

/// Most requests of one call that run at once.
pub const AT_ONCE: usize = 8;

/// The largest id of a row. The smallest is 0, and ids are spread evenly.
const MAX_ID: i64 = i64::MAX;

/// A collection of the engine, and the alias that calls use for it.
pub struct Collection {
    pub alias: &'static str,
    pub name: String,
    pub fields: Vec<FieldSchema>,
    pub indexes: Vec<IndexParam>,
    pub shards: i32,
}

/// The connection, made on the first call. Milvus's client multiplexes all threads over it, and
/// renews it when it is lost.
pub struct Engine {
    runtime: Runtime,
    config: ConnectConfig,
    client: Mutex<Option<ClientV2>>,
    /// Number of requests that were sent.
    pub requests: AtomicU64,
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine").finish_non_exhaustive()
    }
}

impl Engine {
    pub fn new(address: &str, options: &Options) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("milvus")
            .enable_all()
            .build()
            .map_err(|error| DepotError::Unavailable(format!("cannot start a thread: {error}")))?;
        let config = config(address, options)?;
        Ok(Self { runtime, config, client: Mutex::default(), requests: AtomicU64::new(0) })
    }

    /// Does some work and waits for it.
    pub fn wait<T>(&self, work: impl Future<Output = Result<T>>) -> Result<T> {
        self.runtime.block_on(work)
    }

    /// Returns the client for one request.
    async fn client(&self) -> Result<ClientV2> {
        self.requests.fetch_add(1, Ordering::Relaxed);
        let known = || self.client.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = known().clone() {
            return Ok(client);
        }
        let client = ClientV2::new(&self.config).await.map_err(|error| match failed(error) {
            // The client library does not tell why.
            DepotError::Unavailable(why) => DepotError::Unavailable(format!(
                "{why}: the server is away, or one side expects TLS and the other does not, or the \
                 certificate is not trusted"
            )),
            other => other,
        })?;
        Ok(known().get_or_insert(client).clone())
    }

    /// Makes a request that reads. A server that was started again may not have loaded the collection.
    async fn read<T>(
        &self,
        collection: &'static str,
        request: impl AsyncFn(&ClientV2) -> std::result::Result<T, Error>,
    ) -> Result<T> {
        let client = self.client().await?;
        match request(&client).await {
            Err(Error::Server(error)) if error.code() == NOT_LOADED => {
                self.load(collection).await?;
                request(&client).await.map_err(failed)
            }
            answer => answer.map_err(failed),
        }
    }

    async fn load(&self, collection: &str) -> Result<()> {
        let request = LoadCollectionRequest::builder().collection_name(collection).build();
        self.client().await?.load_collection(request.map_err(failed)?).await.map_err(failed)
    }

    /// Returns the name of the collection behind an alias, if there is one.
    pub async fn behind(&self, alias: &str) -> Result<Option<String>> {
        let request = DescribeCollectionRequest::builder().collection_name(alias).build();
        match self.client().await?.describe_collection(request.map_err(failed)?).await {
            Ok(answer) => Ok(Some(answer.description().get_collection_name().to_owned())),
            Err(Error::Server(error)) if error.code() == NOT_FOUND => Ok(None),
            Err(error) => Err(failed(error)),
        }
    }

    /// Creates a collection, its indexes and its alias. Fails if another publisher does so at the same
    /// time.
    pub async fn create(&self, collection: &Collection) -> Result<()> {
        let client = self.client().await?;
        if self.behind(&collection.name).await?.is_none() {
            let mut schema = CollectionSchema::new().enable_dynamic_field(false);
            for field in &collection.fields {
                schema = schema.add_field(field.clone());
            }
            let request = CreateCollectionRequest::builder()
                .collection_name(&collection.name)
                .schema(schema)
                .num_shards(collection.shards)
                .consistency_level(ConsistencyLevel::Strong);
            let request = request.build().map_err(failed)?;
            client.create_collection(request).await.map_err(failed)?;
        }
        for index in &collection.indexes {
            let request = CreateIndexRequest::builder()
                .collection_name(&collection.name)
                .index_param(index.clone())
                .sync(false);
            match client.create_index(request.build().map_err(failed)?).await {
                Err(Error::Server(error)) if error.legacy_code() == INDEX_EXISTS => {}
                answer => answer.map_err(failed)?,
            }
        }
        self.load(&collection.name).await?;
        let request =
            CreateAliasRequest::builder().collection_name(&collection.name).alias(collection.alias);
        client.create_alias(request.build().map_err(failed)?).await.map_err(failed)
    }

    /// Returns some fields of the rows that an expression selects: at most `limit`, any of them.
    pub async fn query(
        &self,
        collection: &'static str,
        filter: &str,
        fields: &[&str],
        limit: usize,
    ) -> Result<Columns> {
        let request = QueryRequest::builder()
            .collection_name(collection)
            .filter(filter)
            .output_fields(fields.iter().copied())
            .limit(int(limit.min(MAX_ROWS)))
            .consistency_level(ConsistencyLevel::Strong);
        let request = request.build().map_err(failed)?;
        let answer = self.read(collection, async |client| client.query(request.clone()).await);
        Columns::new(answer.await?.results().get_output_fields())
    }

    /// Returns the number of rows that an expression selects.
    pub async fn count(&self, collection: &'static str, filter: &str) -> Result<u64> {
        let request = QueryRequest::builder()
            .collection_name(collection)
            .filter(filter)
            .output_fields(["count(*)"])
            .consistency_level(ConsistencyLevel::Strong);
        let request = request.build().map_err(failed)?;
        let answer = self.read(collection, async |client| client.query(request.clone()).await);
        let columns = Columns::new(answer.await?.results().get_output_fields())?;
        match columns.numbers("count(*)")? {
            [count] => unsigned(*count),
            _ => Err(DepotError::Damaged("the engine counts nothing".into())),
        }
    }

    /// Returns some fields of all rows that an expression selects, `page` rows a request. The engine
    /// answers no request with more than [`MAX_ROWS`], and promises no order: a range of ids whose page is full
    /// is read again in parts. A page that is not full is complete: each segment gives up to `page` rows.
    pub async fn all(
        &self,
        collection: &'static str,
        filter: &str,
        fields: &[&str],
        page: usize,
    ) -> Result<Columns> {
        let mut all = self.query(collection, filter, fields, page).await?;
        if all.rows < page {
            return Ok(all);
        }
        all = Columns::default();
        let mut ranges = parts((0, MAX_ID), self.count(collection, filter).await?, page as u64 / 2);
        while !ranges.is_empty() {
            let answers = ranges.into_iter().map(async |range| {
                let filter = format!("{} and {filter}", within(range));
                self.query(collection, &filter, fields, page).await.map(|answer| (range, answer))
            });
            let answers: Vec<_> = stream::iter(answers).buffered(AT_ONCE).try_collect().await?;
            ranges = Vec::new();
            for (range, answer) in answers {
                if answer.rows < page {
                    all.extend(answer);
                } else if range.0 == range.1 {
                    return Err(DepotError::Damaged("many rows have the same id".into()));
                } else {
                    ranges.extend(parts(range, 2, 1));
                }
            }
        }
        Ok(all)
    }

    /// Returns the field `text` of rows by their ids, given the bytes of each.
    pub async fn texts(
        &self,
        collection: &'static str,
        filter: &str,
        rows: &[(i64, u64)],
    ) -> Result<HashMap<i64, String>> {
        let mut groups: Vec<(Vec<i64>, usize)> = Vec::new();
        for &(id, bytes) in rows {
            let bytes = usize::try_from(bytes).unwrap_or(MAX_ANSWER);
            match groups.last_mut() {
                Some((ids, sum)) if *sum + bytes <= MAX_ANSWER && ids.len() < PAGE => {
                    ids.push(id);
                    *sum += bytes;
                }
                _ => groups.push((vec![id], bytes)),
            }
        }
        let answers = groups.iter().map(async |(ids, _)| {
            let filter = format!("{filter} and {}", among("id", ids));
            let mut answer = self.query(collection, &filter, &["id", "text"], ids.len()).await?;
            let texts = answer.take_texts("text")?;
            Ok::<_, DepotError>(
                answer.numbers("id")?.iter().copied().zip(texts).collect::<Vec<_>>(),
            )
        });
        let answers: Vec<_> = stream::iter(answers).buffered(AT_ONCE).try_collect().await?;
        Ok(answers.into_iter().flatten().collect())
    }

    /// Returns the best rows of each vector with their scores, best first.
    pub async fn search(
        &self,
        field: (&'static str, &str),
        filter: &str,
        vectors: SearchVectors,
        params: HashMap<String, String>,
        limit: usize,
        fields: &[&str],
    ) -> Result<Vec<(Vec<f32>, Columns)>> {
        let request = SearchRequest::builder()
            .collection_name(field.0)
            .vector_field(field.1)
            .vectors(vectors)
            .filter(filter)
            .extra_params(params)
            .output_fields(fields.iter().copied())
            .limit(int(limit.min(MAX_ROWS)))
            .consistency_level(ConsistencyLevel::Strong);
        let request = request.build().map_err(failed)?;
        let answer = self.read(field.0, async |client| client.search(request.clone()).await);
        let answer = answer.await?;
        let results = answer.results().iter().map(|result| {
            let columns = Columns::new(result.get_output_fields())?;
            let scores = result.get_scores().to_vec();
            if scores.len() != columns.rows && !scores.is_empty() {
                return Err(DepotError::Damaged("hits and scores differ in number".into()));
            }
            Ok((scores, columns))
        });
        results.collect()
    }

    /// Stores rows.
    pub async fn insert(
        &self,
        collection: &str,
        columns: Vec<FieldData>,
        rows: usize,
    ) -> Result<()> {
        let request = InsertRequest::builder().collection_name(collection).columns(columns);
        let request = request.build().map_err(failed)?;
        let answer = self.client().await?.insert(request).await.map_err(failed)?;
        whole(answer.insert_count(), rows)
    }

    /// Changes some fields of rows that exist; among the columns are the ids.
    pub async fn update(
        &self,
        collection: &str,
        columns: Vec<FieldData>,
        rows: usize,
    ) -> Result<()> {
        let insert = InsertRequest::builder().collection_name(collection).columns(columns);
        let request = UpsertRequest::builder()
            .insert(insert.build().map_err(failed)?)
            .partial_update(true)
            .build()
            .map_err(failed)?;
        let answer = self.client().await?.upsert(request).await.map_err(failed)?;
        whole(answer.upsert_count(), rows)
    }

    /// Deletes the rows that an expression selects. Returns their number.
    pub async fn delete(&self, collection: &'static str, filter: &str) -> Result<u64> {
        let count = self.count(collection, filter).await?;
        if count <= MAX_DELETION {
            if count > 0 {
                self.delete_once(collection, filter).await?;
            }
            return Ok(count);
        }
        for range in parts((0, MAX_ID), count, MAX_DELETION / 2) {
            self.delete_once(collection, &format!("{} and {filter}", within(range))).await?;
        }
        Ok(count)
    }

    /// Deletes the rows that an expression selects, in one request.
    pub async fn delete_once(&self, collection: &'static str, filter: &str) -> Result<()> {
        let request = DeleteRequest::builder()
            .collection_name(collection)
            .filter(filter)
            .consistency_level(ConsistencyLevel::Strong);
        let request = request.build().map_err(failed)?;
        self.read(collection, async |client| client.delete(request.clone()).await).await?;
        Ok(())
    }
}

/// Columns of an answer, all of the same length.
#[derive(Debug, Default)]
pub struct Columns {
    pub rows: usize,
    numbers: HashMap<String, Vec<i64>>,
    texts: HashMap<String, Vec<String>>,
}

impl Columns {
    fn new(fields: &[FieldData]) -> Result<Self> {
        let mut columns = Self::default();
        let mut rows = None;
        for field in fields {
            let name = field.name().to_owned();
            let n = if let Some(numbers) = field.as_int64() {
                columns.numbers.insert(name, numbers.to_vec());
                numbers.len()
            } else if let Some(texts) = field.as_varchar() {
                columns.texts.insert(name, texts.to_vec());
                texts.len()
            } else {
                return Err(DepotError::Damaged(format!("the field {name} has another type")));
            };
            if *rows.get_or_insert(n) != n {
                return Err(DepotError::Damaged("columns differ in length".into()));
            }
        }
        columns.rows = rows.unwrap_or(0);
        Ok(columns)
    }

    pub fn numbers(&self, name: &str) -> Result<&[i64]> {
        match self.numbers.get(name) {
            Some(numbers) => Ok(numbers),
            None if self.rows == 0 => Ok(&[]),
            None => Err(DepotError::Damaged(format!("the answer has no field {name}"))),
        }
    }

    pub fn take_texts(&mut self, name: &str) -> Result<Vec<String>> {
        match self.texts.remove(name) {
            Some(texts) => Ok(texts),
            None if self.rows == 0 => Ok(Vec::new()),
            None => Err(DepotError::Damaged(format!("the answer has no field {name}"))),
        }
    }

    pub fn extend(&mut self, more: Self) {
        self.rows += more.rows;
        for (name, numbers) in more.numbers {
            self.numbers.entry(name).or_default().extend(numbers);
        }
        for (name, texts) in more.texts {
            self.texts.entry(name).or_default().extend(texts);
        }
    }
}

/// Returns the expression that selects the rows of which a field is among some numbers. The engine
/// cannot parse the smallest number.
pub fn among(field: &str, numbers: &[i64]) -> String {
    let smallest = numbers.contains(&i64::MIN);
    let others = numbers.iter().filter(|number| **number != i64::MIN);
    let others: Vec<String> = others.map(i64::to_string).collect();
    let others = format!("{field} in [{}]", others.join(","));
    match (smallest, numbers.len()) {
        (false, _) => others,
        (true, 1) => format!("{field} < {}", i64::MIN + 1),
        (true, _) => format!("({others} or {field} < {})", i64::MIN + 1),
    }
}

fn within((first, last): (i64, i64)) -> String {
    format!("id >= {first} and id <= {last}")
}

/// Cuts a range of ids with `rows` rows into ranges of `most` rows, if ids are spread evenly.
fn parts((first, last): (i64, i64), rows: u64, most: u64) -> Vec<(i64, i64)> {
    let ids = (i128::from(last) - i128::from(first)) + 1;
    let n = i128::from(rows.div_ceil(most.max(1)).max(1)).min(ids);
    let start = |part: i128| i128::from(first) + ids * part / n;
    let id = |id: i128| i64::try_from(id).unwrap_or(MAX_ID);
    (0..n).map(|part| (id(start(part)), id(start(part + 1) - 1))).collect()
}

/// Returns a size as the engine holds it.
pub fn int(size: usize) -> i64 {
    i64::try_from(size).unwrap_or(i64::MAX)
}

/// Checks a number of the engine that is not negative.
pub fn unsigned(number: i64) -> Result<u64> {
    u64::try_from(number).map_err(|_| DepotError::Damaged(format!("{number} is negative")))
}

fn whole(stored: i64, sent: usize) -> Result<()> {
    if u64::try_from(stored).is_ok_and(|stored| stored == sent as u64) {
        return Ok(());
    }
    Err(DepotError::Damaged(format!("{stored} of {sent} rows are stored")))
}

/// A field of numbers.
pub fn number(name: &str) -> FieldSchema {
    FieldSchema::new().name(name).data_type(DataType::Int64)
}

/// A field of texts of at most this many bytes.
pub fn text(name: &str, bytes: u32) -> FieldSchema {
    FieldSchema::new().name(name).data_type(DataType::VarChar).max_length(bytes)
}

// Codes of the engine's errors.
const NOT_FOUND: i32 = 100;
const NOT_LOADED: i32 = 101;
/// Of the enumeration before version 2.3, which the small server still sends.
const INDEX_EXISTS: i32 = 35;

/// Returns what an error of the client library means for a caller.
pub fn failed(error: Error) -> DepotError {
    match error {
        Error::RetryExhausted { source, .. } => failed(*source),
        Error::Server(error) => match error.code() {
            NOT_FOUND => DepotError::Refused(
                "the database has no collections of Cortex: publish a repository first".into(),
            ),
            // The small server sends these for what it did not expect and for what it refuses.
            1 | 6 if matches!(error.legacy_code(), 0 | 1 | 6) => {
                DepotError::Refused(error.to_string())
            }
            // Services, and limits of rate and memory; replicas, channels and segments that move; nodes
            // that are away; input and output.
            1..=9 | 400..=699 | 900..=1099 => DepotError::Unavailable(error.to_string()),
            _ => DepotError::Refused(error.to_string()),
        },
        Error::Grpc(status) => {
            let why = format!("{}: {}", status.code(), status.message());
            // Codes of gRPC: cancelled, unknown, deadline exceeded, resource exhausted, aborted, internal,
            // unavailable.
            match i32::from(status.code()) {
                1 | 2 | 4 | 8 | 10 | 13 | 14 => DepotError::Unavailable(why),
                _ => DepotError::Refused(why),
            }
        }
        Error::Timeout(why) | Error::Cancelled(why) => DepotError::Unavailable(why),
        Error::MalformedResponse(why) => DepotError::Damaged(why),
        Error::Conversion(error) => DepotError::Damaged(error.to_string()),
        other => DepotError::Refused(other.to_string()),
    }
}

/// Reads an address: see [`super::Milvus::new`].
fn config(address: &str, options: &Options) -> Result<ConnectConfig> {
    let invalid = || {
        let form = "milvus://user:password@host:19530/database";
        DepotError::Refused(format!("the address is not valid: write {form}"))
    };
    let url = url::Url::parse(address).map_err(|_| invalid())?;
    let host = url.host_str().filter(|host| !host.is_empty()).ok_or_else(invalid)?;
    let decode = |text: &str| {
        percent_decode_str(text).decode_utf8().map(String::from).map_err(|_| invalid())
    };
    let mut tls = !is_on_this_machine(host);
    for (name, value) in url.query_pairs() {
        tls = match (&*name, &*value) {
            ("tls", "require") => true,
            ("tls", "disable") => false,
            _ => return Err(invalid()),
        };
    }
    if url.scheme() != "milvus" {
        return Err(invalid());
    }
    let (scheme, port) = (if tls { "https" } else { "http" }, url.port().unwrap_or(19530));
    let retry = RetryConfig::new().max_attempts(3).max_retry_timeout(options.call);
    let mut config = ConnectConfig::new()
        .uri(format!("{scheme}://{host}:{port}"))
        .connect_timeout(options.connect)
        .rpc_timeout(options.call)
        .telemetry(TelemetryConfig::new().enabled(false))
        .retry(retry);
    let database = decode(url.path().trim_start_matches('/'))?;
    if !database.is_empty() {
        config = config.database(database);
    }
    let user = decode(url.username())?;
    config = match (user.as_str(), url.password()) {
        ("", None) => config,
        ("", Some(token)) => config.token(decode(token)?),
        (_, password) => config.token(format!("{user}:{}", decode(password.unwrap_or_default())?)),
    };
    if tls {
        // The client library takes the provider of the process, and fails where several could be it.
        let _ = rustls::crypto::ring::default_provider().install_default();
        config = config.secure(true);
        if let Some(root) = &options.root {
            let unreadable = |why: String| {
                let path = root.display();
                DepotError::Refused(format!(
                    "cannot read certificates from {path}: {why} (name a file in PEM format)"
                ))
            };
            std::fs::read(root).map_err(|error| unreadable(error.to_string()))?;
            let path = root.to_str().ok_or_else(|| unreadable("the path is not UTF-8".into()))?;
            config = config.ca_certificate(path);
        }
    }
    Ok(config)
}

fn is_on_this_machine(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || address.parse().is_ok_and(|ip: std::net::IpAddr| ip.is_loopback())
}
