//! The records of the repositories, and how one of several publishers replaces one.
//!
//! Milvus has neither transactions nor conditional writes. A publisher that replaces a record holds a
//! lock, by the bakery algorithm (Lamport 1974), which needs nothing but rows that are written and
//! then read by all:
//!
//! 1. It inserts a *claim*, and reads all rows of the name.
//! 2. It inserts a *ticket* whose number is above those of all tickets that it read.
//! 3. It reads again until no other claim is without a ticket, and no other ticket before its own:
//!    then it is its turn. If it sees another version than the one that it replaces, it has lost.
//! 4. It inserts the new version, and deletes the old one together with its claim and ticket.
//!
//! A read with the consistency level `Strong` sees every row whose insertion was answered before:
//! that is all that the algorithm asks for, so publishers that live exclude each other whatever
//! their clocks and speed. A publisher that dies leaves its claim, and so does one that got no answer
//! to its write of step 4: others wait until the claim is older than [`PATIENCE`], and delete it. A
//! publisher begins this write within [`TURN`] of its claim, and waits at most [`WRITE`] for the answer.
//!
//! **What remains:** two publishers may both replace a record if one of them gets no answer to its
//! write, and the engine applies this write more than `PATIENCE - TURN` later; or if their clocks
//! differ by more than `PATIENCE - TURN - WRITE`. All readers see the same one of the two records.
//!
//! A version is one insertion into one shard: it is seen whole or not at all. Between steps 4's
//! insertion and deletion there are two versions; the larger one is the record.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use milvus::v2::prelude::FieldData;

use super::engine::{Collection, Engine, MAX_INSERTION, among, int, number, text, unsigned};
use super::{Ids, PART, tiny};
use crate::{DepotError, Record, Result};

/// The alias of the collection.
pub const RECORDS: &str = "cortex_records";

/// Time after which a claim is left by a publisher that died.
const PATIENCE: Duration = Duration::from_mins(5);

/// Longest wait of a publisher for its turn.
const TURN: Duration = Duration::from_secs(30);

/// Longest wait for a write of a record.
const WRITE: Duration = Duration::from_secs(30);

/// First and longest wait between two looks at the claims.
const LOOK: [Duration; 2] = [Duration::from_millis(10), Duration::from_millis(500)];

/// Longest name, in bytes.
const MAX_NAME: u32 = 1_000;

/// Most rows of records in an answer: names make them long.
const RECORDS_PAGE: usize = 2_000;

// What a row is.
const RECORD: i64 = 0;
const CLAIM: i64 = 1;
const TICKET: i64 = 2;

pub fn collection(version: u32) -> Collection {
    let mut fields: Vec<_> = NUMBERS.map(number).into();
    fields[0] = number("id").primary_key(true);
    fields.extend([text("name", MAX_NAME), text("text", super::MAX_TEXT)]);
    let (vector, index) = tiny();
    fields.push(vector);
    Collection {
        alias: RECORDS,
        name: format!("{RECORDS}_{version}"),
        fields,
        indexes: vec![index],
        shards: 1,
    }
}

/// The fields that are numbers: the row's id, the hash of the name, what the row is; of a record its
/// version, of a claim the seconds since 1970, of a ticket its number; the writer: the id of its claim;
/// of a record the number of this part of its text, the number of parts, and the bytes of this part.
const NUMBERS: [&str; 8] = ["id", "key", "what", "number", "writer", "part", "parts", "size"];

/// A row without its text.
#[derive(Debug, Clone, Default)]
struct Entry {
    id: i64,
    name: String,
    what: i64,
    number: u64,
    writer: i64,
    part: i64,
    parts: i64,
    size: u64,
}

/// Returns a number for a name (FNV-1a): expressions of the engine hold no names. Rows of another
/// name with the same number are left out by name.
fn key(name: &str) -> i64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    name.bytes().fold(0xcbf2_9ce4_8422_2325, step).cast_signed()
}

async fn entries(engine: &Engine, filter: &str) -> Result<Vec<Entry>> {
    let fields: Vec<&str> = NUMBERS.into_iter().chain(["name"]).collect();
    let mut columns = engine.all(RECORDS, filter, &fields, RECORDS_PAGE).await?;
    let names = columns.take_texts("name")?;
    let column = |name| columns.numbers(name);
    let (ids, whats, numbers) = (column("id")?, column("what")?, column("number")?);
    let (writers, parts, all) = (column("writer")?, column("part")?, column("parts")?);
    let sizes = column("size")?;
    let entry = |(n, name): (usize, String)| {
        Ok(Entry {
            id: ids[n],
            name,
            what: whats[n],
            number: unsigned(numbers[n])?,
            writer: writers[n],
            part: parts[n],
            parts: all[n],
            size: unsigned(sizes[n])?,
        })
    };
    names.into_iter().enumerate().map(entry).collect()
}

/// Returns the newest whole version of a record among the rows of a name: its parts in order.
fn newest(of_name: &[Entry]) -> Vec<&Entry> {
    let mut versions: BTreeMap<(u64, i64), Vec<&Entry>> = BTreeMap::new();
    for entry in of_name.iter().filter(|entry| entry.what == RECORD) {
        versions.entry((entry.number, entry.writer)).or_default().push(entry);
    }
    for mut parts in versions.into_values().rev() {
        parts.sort_by_key(|entry| entry.part);
        let is_whole = parts.iter().zip(0..).all(|(entry, part)| entry.part == part);
        if is_whole && parts.iter().all(|entry| entry.parts == int(parts.len())) {
            return parts;
        }
    }
    Vec::new()
}

fn version(of_name: &[Entry]) -> u64 {
    newest(of_name).first().map_or(0, |entry| entry.number)
}

pub async fn records(engine: &Engine, names: Option<&[String]>) -> Result<Vec<Record>> {
    let mut filter = format!("what == {RECORD}");
    if let Some(names) = names {
        if names.is_empty() {
            return Ok(Vec::new());
        }
        let keys: Vec<i64> = names.iter().map(|name| key(name)).collect();
        filter = format!("{filter} and {}", among("key", &keys));
    }
    let mut found = entries(engine, &filter).await?;
    // milvus-lite reads without a snapshot: while a record is replaced, it may give neither version.
    let is_missing = |name: &String| !found.iter().any(|entry| entry.name == *name);
    if names.is_some_and(|names| names.iter().any(is_missing)) {
        found = entries(engine, &filter).await?;
    }
    let mut by_name: BTreeMap<String, Vec<Entry>> = BTreeMap::new();
    for entry in found {
        if names.is_none_or(|names| names.contains(&entry.name)) {
            by_name.entry(entry.name.clone()).or_default().push(entry);
        }
    }
    let newest: Vec<(&String, Vec<&Entry>)> =
        by_name.iter().map(|(name, rows)| (name, newest(rows))).collect();
    let rows: Vec<(i64, u64)> =
        newest.iter().flat_map(|(_, parts)| parts).map(|part| (part.id, part.size)).collect();
    let texts = engine.texts(RECORDS, "id >= 0", &rows).await?;
    let mut records = Vec::new();
    for (name, parts) in newest {
        let texts = parts.iter().map(|part| texts.get(&part.id).map(String::as_str));
        let Some(version) = parts.first().map(|part| part.number) else { continue };
        match texts.collect::<Option<String>>() {
            Some(text) => records.push(Record { name: name.clone(), version, text }),
            // It was replaced meanwhile.
            None => records
                .extend(Box::pin(self::records(engine, Some(std::slice::from_ref(name)))).await?),
        }
    }
    Ok(records)
}

async fn insert(engine: &Engine, entries: &[Entry], texts: Vec<String>) -> Result<()> {
    let mut columns: Vec<FieldData> = Vec::new();
    let mut column = |name: &str, value: &dyn Fn(&Entry) -> i64| {
        columns.push(FieldData::int64(name, entries.iter().map(value).collect()));
    };
    column("id", &|entry| entry.id);
    column("key", &|entry| key(&entry.name));
    column("what", &|entry| entry.what);
    column("number", &|entry| entry.number.cast_signed());
    column("writer", &|entry| entry.writer);
    column("part", &|entry| entry.part);
    column("parts", &|entry| entry.parts);
    column("size", &|entry| entry.size.cast_signed());
    let names = entries.iter().map(|entry| entry.name.clone()).collect();
    columns.extend([FieldData::varchar("name", names), FieldData::varchar("text", texts)]);
    columns.push(super::tiny_values(entries.len()));
    let written = engine.insert(RECORDS, columns, entries.len());
    tokio::time::timeout(WRITE, written)
        .await
        .unwrap_or_else(|_| Err(DepotError::Unavailable(format!("no answer within {WRITE:?}"))))
}

/// Cuts a text into parts of at most [`PART`] bytes: one at least.
fn cut(mut text: &str) -> Vec<String> {
    let mut parts = Vec::new();
    while text.len() > PART {
        let (part, rest) = text.split_at(text.floor_char_boundary(PART));
        parts.push(part.to_owned());
        text = rest;
    }
    parts.push(text.to_owned());
    parts
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs())
}

pub async fn replace(engine: &Engine, ids: &Ids, record: &Record) -> Result<bool> {
    if record.name.len() > MAX_NAME as usize || record.text.len() > MAX_INSERTION {
        let why = format!(
            "the record of a repository is too large: its name has at most {MAX_NAME} bytes, its text \
             {MAX_INSERTION}"
        );
        return Err(DepotError::Refused(why));
    }
    if record.version == 0 || i64::try_from(record.version).is_err() {
        return Ok(false);
    }
    let (claim, ticket) = (ids.next(), ids.next());
    let mine = Entry { id: claim, name: record.name.clone(), writer: claim, ..Entry::default() };
    let claimed = Entry { what: CLAIM, number: now(), ..mine.clone() };
    let mut rid = vec![claim, ticket];
    let mut written = false;
    let replaced = async {
        let begun = Instant::now();
        insert(engine, &[claimed], vec![String::new()]).await?;
        let ticket = Entry { id: ticket, what: TICKET, ..mine.clone() };
        if !is_my_turn(engine, record, begun, ticket, &mut rid).await? {
            return Ok(false);
        }
        let texts = cut(&record.text);
        let part = |(part, text): (usize, &String)| Entry {
            id: ids.next(),
            what: RECORD,
            number: record.version,
            part: int(part),
            parts: int(texts.len()),
            size: text.len() as u64,
            ..mine.clone()
        };
        let parts: Vec<Entry> = texts.iter().enumerate().map(part).collect();
        written = true;
        insert(engine, &parts, texts).await?;
        Ok(true)
    };
    let replaced = replaced.await;
    match replaced {
        // The engine may write it yet: nobody else may, as long as the claim is there.
        Err(DepotError::Unavailable(_)) if written => return replaced,
        Err(_) => rid.truncate(2),
        Ok(_) => {}
    }
    // What this cannot delete, a later publisher deletes.
    let _ = engine.delete_once(RECORDS, &among("id", &rid)).await;
    replaced
}

/// Waits for the turn of a ticket that is not numbered yet. Returns false if the record has another
/// version than the one before `record`; otherwise adds the ids of the old version to `rid`.
async fn is_my_turn(
    engine: &Engine,
    record: &Record,
    begun: Instant,
    mut mine: Entry,
    rid: &mut Vec<i64>,
) -> Result<bool> {
    let of_name = format!("key == {}", key(&record.name));
    let look = async || {
        let mut rows = entries(engine, &of_name).await?;
        rows.retain(|entry| entry.name == record.name);
        Ok::<_, DepotError>(rows)
    };
    let rows = look().await?;
    if version(&rows) + 1 != record.version {
        return Ok(false);
    }
    let numbers = rows.iter().filter(|entry| entry.what == TICKET).map(|entry| entry.number);
    mine.number = numbers.max().unwrap_or(0) + 1;
    insert(engine, &[mine.clone()], vec![String::new()]).await?;
    let mut wait = LOOK[0];
    loop {
        let rows = look().await?;
        if version(&rows) + 1 != record.version {
            return Ok(false);
        }
        let tickets = rows.iter().filter(|entry| entry.what == TICKET);
        let tickets: HashMap<i64, &Entry> = tickets.map(|ticket| (ticket.writer, ticket)).collect();
        let rivals = rows.iter().filter(|entry| entry.what == CLAIM && entry.writer != mine.writer);
        let is_before = |claim: &&Entry| {
            tickets
                .get(&claim.writer)
                .is_none_or(|ticket| (ticket.number, ticket.writer) < (mine.number, mine.writer))
        };
        let (dead, living): (Vec<&Entry>, Vec<&Entry>) =
            rivals.filter(is_before).partition(|claim| is_old(claim.number));
        if !dead.is_empty() {
            let tickets = dead.iter().filter_map(|claim| tickets.get(&claim.writer));
            let left: Vec<i64> = dead.iter().chain(tickets).map(|entry| entry.id).collect();
            engine.delete_once(RECORDS, &among("id", &left)).await?;
        } else if living.is_empty() {
            let claims: BTreeSet<i64> =
                rows.iter().filter(|row| row.what == CLAIM).map(|row| row.writer).collect();
            // Claims are deleted with their tickets, so a ticket without one is left by a failure.
            let is_old = |row: &&Entry| {
                row.what == RECORD || row.what == TICKET && !claims.contains(&row.writer)
            };
            rid.extend(rows.iter().filter(is_old).map(|row| row.id));
            return if begun.elapsed() < TURN { Ok(true) } else { Err(late()) };
        } else if begun.elapsed() > TURN {
            return Err(late());
        } else {
            tokio::time::sleep(wait).await;
            wait = (wait * 2).min(LOOK[1]);
        }
    }
}

fn is_old(claimed: u64) -> bool {
    now().saturating_sub(claimed) > PATIENCE.as_secs()
}

fn late() -> DepotError {
    DepotError::Unavailable(format!(
        "another publisher is replacing the record for {} s: a publisher that died is waited for at most {} s",
        TURN.as_secs(),
        PATIENCE.as_secs()
    ))
}

pub async fn remove(engine: &Engine, name: &str) -> Result<()> {
    let rows = entries(engine, &format!("key == {}", key(name))).await?;
    let rows = rows.iter().filter(|entry| entry.name == name && entry.what == RECORD);
    let ids: Vec<i64> = rows.map(|entry| entry.id).collect();
    if ids.is_empty() {
        return Ok(());
    }
    engine.delete_once(RECORDS, &among("id", &ids)).await
}
