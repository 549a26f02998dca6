//! A depot in Postgres (14 or newer) with pgvector (0.7 or newer): three tables in a schema of
//! their own.
//!
//! **Words.** In a repository of at most [`SCORED`] rows, the engine scores all of them: proposals are
//! exact. In a larger one it uses `rows.tokens`: the dimensions of a row's words, *salted* by the
//! number of the repository, under a GIN index, so that a posting list is that of one repository. A
//! question takes its words by falling weight, rarest first, until their rows are `SCORED`; of the
//! word that exceeds this number, it takes as many rows as are left. The engine scores these exactly.
//! What is lost are rows that hold only frequent words of the question.
//!
//! Alternatives, over 100 000 random rows of 100 to 200 words (Zipf-distributed, of 60 000) in one
//! repository, questions of 3 to 12 words of a row, without the share of the word that exceeds:
//!
//! | scored | share of the best 300 rows | of the best 20 | p50 |
//! |---|---|---|---|
//! | 3 000 | .79 | .964 | 12 ms |
//! | 10 000 | .94 | .999 | 38 ms |
//! | 30 000 | .99 | 1 | 74 ms |
//! | all | 1 | 1 | 196 ms |
//!
//! With that share, through this client and before a `VACUUM`, 10 000 rows give .99 of the files of
//! the best 300 rows and all of the best 20, in 149 ms on two busy cores (`measure.rs` of the tests). In a repository of 10 000 rows, all are scored in 12 to 24 ms, and the index is no faster.
//! An HNSW index over `sparsevec` was not built after 10 minutes.
//!
//! **Vectors** are compared one by one within the repository, as `halfvec`: 16 bits a dimension. That
//! takes 18 ms for 10 000 rows of 256 dimensions and 169 ms for 100 000. HNSW with iterative scan, for
//! all repositories together, took 30 and 19 ms, found .42 and .31 of the best 300 random vectors, and
//! made an insertion eleven times as slow.
//!
//! A row is wide and is rewritten, with its entries in the indexes, when it is retired: publishing
//! changes few rows, questions read many.

mod connections;

use std::fmt::Write as _;
use std::path::PathBuf;
use std::pin::pin;
use std::time::Duration;

use pgvector::{HalfVector, SparseVector};
use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::types::{ToSql, Type};

use self::connections::{Connection, Connections, failed};
use crate::{
    At, DIMENSIONS, Depot, DepotError, FILE, Fact, FactName, Found, LIVING, Record, Result, Row,
    Size, Sparse, Wanted,
};

/// Version of the tables.
const VERSION: i32 = 1;

/// Most rows that are scored for the words of one part of a question. A repository of no more rows is
/// small.
pub const SCORED: usize = 10_000;

/// Most dimensions of pgvector's `halfvec`.
const MAX_DIMENSIONS: usize = 16_000;

/// How a [`Postgres`] depot reaches its server.
#[derive(Debug, Clone)]
pub struct Options {
    /// Most connections at once; further calls wait for one.
    pub connections: usize,
    /// Longest wait for a new connection.
    pub connect: Duration,
    /// Longest duration of a call, with the wait for a connection.
    pub call: Duration,
    /// A file of PEM certificates that sign the server's. `None`: those that the system trusts.
    pub root: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Self {
        let [connect, call] = [5, 30].map(Duration::from_secs);
        Self { connections: 8, connect, call, root: None }
    }
}

/// The depot. Its calls block, so an asynchronous program makes them on a blocking thread.
#[derive(Debug)]
pub struct Postgres(Connections);

impl Postgres {
    /// Returns the depot at an address such as `postgres://user:password@host:5432/database`. Connects
    /// on the first call.
    ///
    /// A connection to another machine is encrypted, and the server's certificate is verified, unless
    /// the address says `sslmode=disable`.
    ///
    /// # Errors
    /// [`DepotError::Refused`] if the address is not valid or the certificates cannot be read.
    pub fn new(address: &str, options: &Options) -> Result<Self> {
        Connections::new(address, options).map(Self)
    }

    /// Makes a call that is one statement and returns its rows.
    fn query(&self, text: &str, values: &[&(dyn ToSql + Sync)]) -> Result<Vec<Answer>> {
        self.0.call(async |connection| {
            let statement = connection.prepared(text).await?;
            let rows = connection.client.query(&statement, values).await;
            Ok(rows.map_err(|error| failed(&error))?.into_iter().map(Answer).collect())
        })
    }

    /// Makes a call that is one statement and returns the number of rows that it changed.
    fn execute(&self, text: &str, values: &[&(dyn ToSql + Sync)]) -> Result<u64> {
        self.0.call(async |connection| {
            let statement = connection.prepared(text).await?;
            connection.client.execute(&statement, values).await.map_err(|error| failed(&error))
        })
    }
}

/// A row of an answer, whose values are checked.
struct Answer(tokio_postgres::Row);

impl Answer {
    fn get<'a, T: tokio_postgres::types::FromSql<'a>>(&'a self, column: usize) -> Result<T> {
        self.0.try_get(column).map_err(|error| DepotError::Damaged(error.to_string()))
    }

    /// Returns a number that the tables hold as `bigint`.
    fn number(&self, column: usize) -> Result<u64> {
        let number: i64 = self.get(column)?;
        let damaged = |_| DepotError::Damaged(format!("{number} is negative"));
        u64::try_from(number).map_err(damaged)
    }
}

/// Returns a number as the engine holds it.
fn bigint(number: u64) -> Result<i64> {
    let refused = |_| DepotError::Refused(format!("{number} is above {}", i64::MAX));
    i64::try_from(number).map_err(refused)
}

/// Returns a generation as the engine holds it.
fn generation(at: At) -> Result<i64> {
    match at.generation {
        LIVING.. => Err(DepotError::Refused(format!("{} is not a generation", at.generation))),
        generation => bigint(generation),
    }
}

/// Distinguishes the words and keys of a repository from those of others. Two values of one
/// repository stay different.
#[derive(Clone, Copy)]
struct Salt(i32);

impl Salt {
    #[expect(clippy::cast_possible_truncation, reason = "any 32 of its bits do")]
    fn of(repository: i64) -> Self {
        // The finalizer of SplitMix64 (Steele and others 2014): each bit changes about half of them.
        let mut x = repository.cast_unsigned();
        x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        Self((x ^ (x >> 31)) as i32)
    }

    fn keys(self, keys: &[i32]) -> Vec<i32> {
        keys.iter().map(|key| key ^ self.0).collect()
    }

    fn words(self, words: impl Iterator<Item = u32>) -> Vec<i32> {
        words.map(|word| word.cast_signed() ^ self.0).collect()
    }
}

fn sparse(words: &Sparse) -> Result<SparseVector> {
    let is_ordered = words.is_sorted_by(|a, b| a.0 < b.0);
    let is_inside = words.last().is_none_or(|last| last.0 < DIMENSIONS);
    if !(is_ordered && is_inside && words.iter().all(|at| at.1 > 0.0 && at.1.is_finite())) {
        return Err(DepotError::Refused("a sparse vector is not valid".into()));
    }
    let pairs: Vec<(i32, f32)> = words.iter().map(|at| (at.0.cast_signed(), at.1)).collect();
    let pairs = pairs.iter().map(|(dimension, weight)| (dimension, weight));
    Ok(SparseVector::from_map(pairs, DIMENSIONS.cast_signed()))
}

/// Returns the statements that create the tables.
fn tables(dimensions: usize) -> String {
    // A vector without a length is never stored.
    let vector = if dimensions == 0 { "halfvec".into() } else { format!("halfvec({dimensions})") };
    format!(
        "CREATE EXTENSION IF NOT EXISTS vector;
        CREATE SCHEMA IF NOT EXISTS cortex;
        CREATE TABLE cortex.records (
            name text COLLATE \"C\" PRIMARY KEY, version bigint NOT NULL, body text NOT NULL
        );
        -- A row is read as a whole, by the thousand: it is kept in one piece where a page has room.
        CREATE TABLE cortex.rows (
            repository bigint NOT NULL, born bigint NOT NULL, died bigint NOT NULL,
            file bigint NOT NULL, keys integer[] NOT NULL, tokens integer[] NOT NULL,
            words sparsevec({DIMENSIONS}) NOT NULL, vector {vector}
        ) WITH (toast_tuple_target = 8160);
        -- Every search reads the list of new entries: it ends at 512 kB, not at 4 MB.
        CREATE INDEX ON cortex.rows USING gin (tokens, keys) WITH (gin_pending_list_limit = 512);
        CREATE INDEX ON cortex.rows (repository, file);
        CREATE INDEX ON cortex.rows (repository, born);
        CREATE INDEX ON cortex.rows (repository, died) WHERE died < {LIVING};
        CREATE TABLE cortex.facts (
            repository bigint NOT NULL, kind smallint NOT NULL, key bigint NOT NULL,
            born bigint NOT NULL, died bigint NOT NULL, hash bigint NOT NULL, data bytea NOT NULL
        );
        CREATE INDEX ON cortex.facts (repository, kind, key);
        CREATE INDEX ON cortex.facts (repository, born);
        CREATE INDEX ON cortex.facts (repository, died) WHERE died < {LIVING};
        CREATE TABLE cortex.version (version integer NOT NULL, dimensions integer NOT NULL);
        INSERT INTO cortex.version VALUES ({VERSION}, {dimensions});"
    )
}

/// Returns whether the tables are there.
async fn are_there(client: &impl tokio_postgres::GenericClient, dimensions: i32) -> Result<bool> {
    let query = async |text| client.query_typed(text, &[]).await.map_err(|error| failed(&error));
    // `to_regclass` may answer from before a wait for a lock.
    let table = "SELECT 1 FROM pg_tables WHERE schemaname = 'cortex' AND tablename = 'version'";
    let found = query(table).await?;
    if found.is_empty() {
        return Ok(false);
    }
    let mut rows = query("SELECT version, dimensions FROM cortex.version").await?;
    let [Some(row), None] = [rows.pop(), rows.pop()].map(|row| row.map(Answer)) else {
        return Err(DepotError::Damaged("cortex.version does not have one row".into()));
    };
    let (version, stored): (i32, i32) = (row.get(0)?, row.get(1)?);
    let why = if version != VERSION {
        format!(
            "the tables in the schema cortex have version {version}, and this program reads version \
             {VERSION}: run the program that published them, or `DROP SCHEMA cortex CASCADE` and \
             publish again"
        )
    } else if stored != dimensions {
        format!(
            "the tables in the schema cortex hold vectors of {stored} dimensions, not {dimensions}: \
             publish with the same embedder, or to another database"
        )
    } else {
        return Ok(true);
    };
    Err(DepotError::Refused(why))
}

/// A statement in the making, and the values of its parameters.
#[derive(Default)]
struct Statement {
    text: String,
    values: Vec<Box<dyn ToSql + Sync>>,
}

impl Statement {
    /// Returns the name of a parameter with this value.
    fn bind(&mut self, value: impl ToSql + Sync + 'static) -> String {
        self.values.push(Box::new(value));
        format!("${}", self.values.len())
    }
}

/// Returns the statement that proposes, or `None` if the question asks for nothing.
fn proposal(at: At, wanted: &Wanted) -> Result<Option<Statement>> {
    let salt = Salt::of(at.repository);
    let mut statement = Statement::default();
    let repository = statement.bind(at.repository);
    let generation = statement.bind(generation(at)?);
    let limit = statement.bind(bigint(wanted.limit as u64)?);
    let mut seen = format!("born <= {generation} AND died > {generation}");
    for set in &wanted.only {
        let set = statement.bind(salt.keys(set));
        let _ = write!(seen, " AND keys && {set}::integer[]");
    }
    // The sum hides the repository from the planner, which would read all of its rows otherwise: it
    // has no statistics on the words.
    let by_gin = format!("repository + 0 = {repository} AND {seen}");
    let (mut tables, mut parts) = (Vec::new(), Vec::new());
    for words in wanted.words.iter().filter(|words| !words.is_empty()) {
        let vector = statement.bind(sparse(words)?);
        let mut falling: Vec<(u32, f32)> = words.clone();
        falling.sort_by(|a, b| b.1.total_cmp(&a.1));
        let words = statement.bind(salt.words(falling.iter().map(|word| word.0)));
        let words = format!("({words}::integer[])");
        let n = parts.len();
        // step: the number of words and of their rows, word by word; none in a small repository.
        // whole: the last step below the bound.
        tables.push(format!(
            "step{n}(words, found) AS (
                SELECT 0, 0::bigint FROM repository WHERE NOT is_small UNION ALL
                SELECT words + 1, found + (
                    SELECT count(*) FROM (
                        SELECT 1 FROM cortex.rows
                        WHERE tokens && ARRAY[{words}[step{n}.words + 1]] AND {by_gin}
                        LIMIT {SCORED} - step{n}.found
                    ) AS counted
                ) FROM step{n} WHERE words < cardinality({words}) AND found < {SCORED}
            ), whole{n} AS MATERIALIZED (
                SELECT {words}[1:words] AS whole, {words}[words + 1:words + 1] AS next,
                    {SCORED} - found AS room
                FROM step{n} WHERE found < {SCORED} ORDER BY words DESC LIMIT 1
            )"
        ));
        let score = format!("words <#> {vector}::sparsevec");
        parts.push(format!(
            "(SELECT file, born FROM (
                SELECT file, born, score FROM (
                    SELECT ctid, file, born, {score} AS score FROM cortex.rows
                    WHERE tokens && (SELECT whole FROM whole{n}) AND {by_gin}
                    UNION (
                        SELECT ctid, file, born, {score} FROM cortex.rows
                        WHERE tokens && (SELECT next FROM whole{n}) AND {by_gin}
                        LIMIT (SELECT room FROM whole{n})
                    )
                ) AS with_words
                UNION ALL
                SELECT file, born, {score} FROM cortex.rows
                WHERE (SELECT is_small FROM repository) AND repository = {repository} AND {seen}
                ORDER BY score LIMIT {limit}
            ) AS scored WHERE score < 0)"
        ));
    }
    if !wanted.vector.is_empty() {
        let vector = statement.bind(HalfVector::from_f32_slice(&wanted.vector));
        parts.push(format!(
            "(SELECT file, born FROM (
                SELECT file, born, vector <#> {vector}::halfvec AS score FROM cortex.rows
                WHERE repository = {repository} AND {seen} ORDER BY score LIMIT {limit}
            ) AS scored WHERE score < 0)"
        ));
    }
    for keys in &wanted.keys {
        let keys = statement.bind(salt.keys(keys));
        parts.push(format!(
            "(SELECT file, born FROM cortex.rows
            WHERE keys && {keys}::integer[] AND {by_gin} LIMIT {limit})"
        ));
    }
    if parts.is_empty() {
        return Ok(None);
    }
    if !tables.is_empty() {
        let small = format!(
            "repository AS MATERIALIZED (
                SELECT count(*) <= {SCORED} AS is_small FROM (
                    SELECT 1 FROM cortex.rows WHERE repository = {repository} LIMIT {SCORED} + 1
                ) AS counted
            )"
        );
        tables.insert(0, small);
        let _ = write!(statement.text, "WITH RECURSIVE {} ", tables.join(", "));
    }
    let parts = parts.join(" UNION ALL ");
    let _ = write!(statement.text, "SELECT DISTINCT file, born FROM ({parts}) AS proposed");
    Ok(Some(statement))
}

/// Copies rows into the table.
async fn copy_rows(
    connection: &mut Connection,
    repository: i64,
    born: i64,
    rows: &[Row],
) -> Result<()> {
    let salt = Salt::of(repository);
    let vectors = connection.prepared("SELECT $1::sparsevec, $2::halfvec").await?;
    let vectors = vectors.params();
    let number = || Type::INT8;
    let numbers = || Type::INT4_ARRAY;
    let mut types = vec![number(), number(), number(), number(), numbers(), numbers()];
    types.extend(vectors.iter().cloned());
    let into = "COPY cortex.rows (repository, born, died, file, keys, tokens, words, vector)
        FROM STDIN (FORMAT binary)";
    let into = connection.prepared(into).await?;
    let sink = connection.client.copy_in(&into).await.map_err(|error| failed(&error))?;
    let mut writer = pin!(BinaryCopyInWriter::new(sink, &types));
    let died = bigint(LIVING)?;
    for row in rows {
        let keys = salt.keys(&row.keys);
        let tokens = salt.words(row.words.iter().map(|word| word.0));
        let words = sparse(&row.words)?;
        let vector = (!row.vector.is_empty()).then(|| HalfVector::from_f32_slice(&row.vector));
        let values: [&(dyn ToSql + Sync); 8] =
            [&repository, &born, &died, &row.file, &keys, &tokens, &words, &vector];
        writer.as_mut().write(&values).await.map_err(|error| failed(&error))?;
    }
    writer.finish().await.map_err(|error| failed(&error)).and_then(|n| whole(n, rows.len()))
}

/// Copies facts into the table.
async fn copy_facts(
    connection: &mut Connection,
    repository: i64,
    born: i64,
    facts: &[Fact],
) -> Result<()> {
    let number = || Type::INT8;
    let types = [number(), Type::INT2, number(), number(), number(), number(), Type::BYTEA];
    let into = "COPY cortex.facts (repository, kind, key, born, died, hash, data)
        FROM STDIN (FORMAT binary)";
    let into = connection.prepared(into).await?;
    let sink = connection.client.copy_in(&into).await.map_err(|error| failed(&error))?;
    let mut writer = pin!(BinaryCopyInWriter::new(sink, &types));
    let died = bigint(LIVING)?;
    for fact in facts {
        let kind = i16::from(fact.kind);
        let values: [&(dyn ToSql + Sync); 7] =
            [&repository, &kind, &fact.key, &born, &died, &fact.hash, &fact.data];
        writer.as_mut().write(&values).await.map_err(|error| failed(&error))?;
    }
    writer.finish().await.map_err(|error| failed(&error)).and_then(|n| whole(n, facts.len()))
}

/// Checks that the engine stored as many rows as it was sent.
fn whole(stored: u64, sent: usize) -> Result<()> {
    if stored == sent as u64 {
        return Ok(());
    }
    Err(DepotError::Damaged(format!("{stored} of {sent} rows are stored")))
}

/// The advisory lock that [`Postgres::prepare`] holds: of several at once, one creates the tables.
const PREPARE_LOCK: i64 = 0x636F_7274_6578;

impl Depot for Postgres {
    fn prepare(&self, dimensions: usize) -> Result<()> {
        if dimensions > MAX_DIMENSIONS {
            let why = format!("PostgreSQL keeps vectors of at most {MAX_DIMENSIONS} dimensions");
            return Err(DepotError::Refused(format!("{why}, not {dimensions}")));
        }
        let stored = i32::try_from(dimensions).unwrap_or(i32::MAX);
        self.0.call(async |connection| {
            if are_there(&connection.client, stored).await? {
                return Ok(());
            }
            let transaction = connection.client.transaction().await.map_err(|e| failed(&e))?;
            let lock = transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&PREPARE_LOCK]);
            lock.await.map_err(|error| failed(&error))?;
            if !are_there(&transaction, stored).await? {
                let created = transaction.batch_execute(&tables(dimensions)).await;
                created.map_err(|error| match failed(&error) {
                    DepotError::Refused(why) => DepotError::Refused(format!(
                        "cannot create the schema cortex: {why} (install pgvector 0.7 or newer on the \
                         server, and publish first as a user who may create extensions and schemas)"
                    )),
                    other => other,
                })?;
            }
            transaction.commit().await.map_err(|error| failed(&error))
        })
    }

    fn records(&self, names: Option<&[String]>) -> Result<Vec<Record>> {
        let rows = match names {
            None => self.query("SELECT name, version, body FROM cortex.records ORDER BY name", &[]),
            Some(names) => self.query(
                "SELECT name, version, body FROM cortex.records WHERE name = ANY($1) ORDER BY name",
                &[&names],
            ),
        };
        let record = |row: Answer| {
            Ok(Record { name: row.get(0)?, version: row.number(1)?, text: row.get(2)? })
        };
        rows?.into_iter().map(record).collect()
    }

    fn replace(&self, record: &Record) -> Result<bool> {
        let text = match record.version {
            0 => return Ok(false),
            1 => "INSERT INTO cortex.records VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
            _ => {
                "UPDATE cortex.records SET version = $2::bigint, body = $3
                WHERE name = $1 AND version = $2::bigint - 1"
            }
        };
        let version = bigint(record.version)?;
        Ok(self.execute(text, &[&record.name, &version, &record.text])? == 1)
    }

    fn propose(&self, at: At, wanted: &Wanted) -> Result<Vec<Found>> {
        let Some(statement) = proposal(at, wanted)? else { return Ok(Vec::new()) };
        let values: Vec<&(dyn ToSql + Sync)> =
            statement.values.iter().map(|value| &**value as _).collect();
        let found = |row: Answer| {
            let born: i64 = row.get(1)?;
            Ok(Found { file: row.get(0)?, born: u64::try_from(born).unwrap_or(0) })
        };
        self.query(&statement.text, &values)?.into_iter().map(found).collect()
    }

    fn facts(&self, at: At, kind: u8, keys: &[i64]) -> Result<Vec<Fact>> {
        let rows = self.query(
            "SELECT key, hash, data FROM cortex.facts WHERE repository = $1 AND kind = $2
            AND key = ANY($3) AND born <= $4 AND died > $4",
            &[&at.repository, &i16::from(kind), &keys, &generation(at)?],
        );
        let fact =
            |row: Answer| Ok(Fact { kind, key: row.get(0)?, hash: row.get(1)?, data: row.get(2)? });
        rows?.into_iter().map(fact).collect()
    }

    fn names(&self, at: At, kind: u8) -> Result<Vec<(FactName, i64)>> {
        let rows = self.query(
            "SELECT key, hash FROM cortex.facts
            WHERE repository = $1 AND kind = $2 AND born <= $3 AND died > $3",
            &[&at.repository, &i16::from(kind), &generation(at)?],
        );
        let name = |row: Answer| Ok((FactName { kind, key: row.get(0)? }, row.get(1)?));
        rows?.into_iter().map(name).collect()
    }

    fn insert(&self, at: At, rows: &[Row], facts: &[Fact]) -> Result<()> {
        let (repository, born) = (at.repository, generation(at)?);
        if rows.is_empty() && facts.is_empty() {
            return Ok(());
        }
        self.0.call(async |connection| {
            connection.run("BEGIN").await?;
            if !rows.is_empty() {
                copy_rows(connection, repository, born, rows).await?;
            }
            if !facts.is_empty() {
                copy_facts(connection, repository, born, facts).await?;
            }
            connection.run("COMMIT").await
        })
    }

    fn retire(&self, at: At, facts: &[FactName]) -> Result<()> {
        let kinds: Vec<i16> = facts.iter().map(|fact| i16::from(fact.kind)).collect();
        let keys: Vec<i64> = facts.iter().map(|fact| fact.key).collect();
        let text = format!(
            "WITH name AS MATERIALIZED (
                SELECT * FROM unnest($3::smallint[], $4::bigint[]) AS name(kind, key)
            ), of_facts AS (
                UPDATE cortex.facts SET died = $2 FROM name
                WHERE repository = $1 AND facts.kind = name.kind AND facts.key = name.key
                    AND died = {LIVING} AND born < $2
            )
            UPDATE cortex.rows SET died = $2
            WHERE repository = $1 AND file = ANY(ARRAY(SELECT key FROM name WHERE kind = {FILE}))
                AND died = {LIVING} AND born < $2"
        );
        self.execute(&text, &[&at.repository, &generation(at)?, &kinds, &keys]).map(|_| ())
    }

    fn undo(&self, at: At) -> Result<()> {
        // One statement must not change a row twice.
        let undo = |table: &str| {
            format!(
                "unborn_{table} AS (
                    DELETE FROM cortex.{table} WHERE repository = $1 AND born > $2
                ), undead_{table} AS (
                    UPDATE cortex.{table} SET died = {LIVING}
                    WHERE repository = $1 AND born <= $2 AND died > $2 AND died < {LIVING}
                )"
            )
        };
        let text = format!("WITH {}, {} SELECT 1", undo("rows"), undo("facts"));
        self.execute(&text, &[&at.repository, &generation(at)?]).map(|_| ())
    }

    fn collect(&self, at: At) -> Result<u64> {
        let dead = format!("repository = $1 AND died <= $2 AND died < {LIVING}");
        let text = format!(
            "WITH of_rows AS (DELETE FROM cortex.rows WHERE {dead} RETURNING 1),
                of_facts AS (DELETE FROM cortex.facts WHERE {dead} RETURNING 1)
            SELECT (SELECT count(*) FROM of_rows) + (SELECT count(*) FROM of_facts)"
        );
        one(&self.query(&text, &[&at.repository, &generation(at)?])?)?.number(0)
    }

    fn remove(&self, repository: i64, name: &str) -> Result<()> {
        let text = "WITH of_rows AS (DELETE FROM cortex.rows WHERE repository = $1),
                of_facts AS (DELETE FROM cortex.facts WHERE repository = $1)
            DELETE FROM cortex.records WHERE name = $2";
        self.execute(text, &[&repository, &name]).map(|_| ())
    }

    fn size(&self, repository: i64) -> Result<Size> {
        let text = "SELECT (SELECT count(*) FROM cortex.rows WHERE repository = $1), count(*),
                coalesce(sum(octet_length(data)), 0)::bigint
            FROM cortex.facts WHERE repository = $1";
        let rows = self.query(text, &[&repository])?;
        let row = one(&rows)?;
        Ok(Size { rows: row.number(0)?, facts: row.number(1)?, bytes: row.number(2)? })
    }
}

/// Returns the row of an answer of one.
fn one(rows: &[Answer]) -> Result<&Answer> {
    rows.first().ok_or_else(|| DepotError::Damaged("an answer is empty".into()))
}
