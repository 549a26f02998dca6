//! Exports and imports memories as JSON lines, and restores backups.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use chrono::{DateTime, Local, Utc};
use serde::Serialize;

use super::super::outcome::Outcome;
use super::super::render::{count, json, line, printable};
use super::super::temporary::PrivateFolder;
use crate::dir::{OpenMode, PRIVATE_FILE};
use crate::engine::{LONG_WAIT, Project};
use crate::memory::{Memories, Memory, MemoryStore, RestorePlan, Select};

/// Number of memories that are read at once.
const PAGE: usize = 500;

pub(super) fn export(memories: &Memories) -> Result<Outcome> {
    let mut out = std::io::stdout().lock();
    for offset in (0..).step_by(PAGE) {
        let page = memories.store.select(&Select { limit: PAGE, offset, ..Select::default() })?;
        for memory in &page {
            serde_json::to_writer(&mut out, memory).map_err(std::io::Error::from)?;
            writeln!(out)?;
        }
        if page.len() < PAGE {
            break;
        }
    }
    Ok(Outcome::Done)
}

/// Imports all memories of a file. Lines that cannot be read are found before anything is stored.
pub(super) fn import(memories: &Memories, file: &Path) -> Result<Outcome> {
    let name = file.display();
    if is_database(file) {
        return import_database(memories, file);
    }
    let reader: Box<dyn BufRead> = if file == Path::new("-") {
        Box::new(BufReader::new(std::io::stdin()))
    } else {
        Box::new(BufReader::new(File::open(file).with_context(|| name.to_string())?))
    };
    let mut all: Vec<Memory> = Vec::new();
    for (number, line) in reader.lines().enumerate() {
        let line = line.with_context(|| format!("{name}:{}", number + 1))?;
        if !line.trim().is_empty() {
            all.push(
                serde_json::from_str(&line).with_context(|| {
                    format!("{name}:{}: this is no exported memory", number + 1)
                })?,
            );
        }
    }
    let n = all.len();
    for (number, memory) in all.into_iter().enumerate() {
        memories.capture.capture(memory).with_context(|| {
            format!("memory {} of {n}; those before it are imported", number + 1)
        })?;
    }
    line(&format!("imported {}", count(n, "memory")))?;
    Ok(Outcome::Done)
}

#[derive(Serialize)]
struct Restored<'a> {
    from: &'a Path,
    made: DateTime<Utc>,
    memories: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    newest: Option<DateTime<Utc>>,
    /// Where the former database is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    kept: Option<PathBuf>,
}

/// Replaces the database by a backup, and stores the spool.
pub(super) fn restore(project: &Project, from: Option<&Path>, as_json: bool) -> Result<Outcome> {
    let home = project.memory_home();
    let plan = RestorePlan::new(&home.database, from)?;
    let on = |at: DateTime<Utc>| at.with_timezone(&Local).format("%Y-%m-%d %H:%M").to_string();
    let newest = plan.newest.map(|at| format!(", the newest of {}", on(at))).unwrap_or_default();
    tell!(
        "restoring {} from {}, made {}{newest}",
        count(plan.memories, "memory"),
        printable(&plan.file.display().to_string()),
        on(plan.made)
    );
    let kept = plan.carry_out()?;
    home.adopt()?;
    let memories = project.memories(LONG_WAIT)?;
    if as_json {
        json(&Restored {
            from: &plan.file,
            made: plan.made,
            memories: plan.memories,
            newest: plan.newest,
            kept,
        })?;
        return Ok(Outcome::Done);
    }
    let now = memories.store.count(&Select::default())?;
    line(&format!("restored: the database holds {}", count(now, "memory")))?;
    if let Some(kept) = kept {
        line(&format!(
            "the database that was there before is kept as {}",
            printable(&kept.display().to_string())
        ))?;
    }
    Ok(Outcome::Done)
}

/// The first bytes of an SQLite file.
const DATABASE: &[u8] = b"SQLite format 3\0";

fn is_database(file: &Path) -> bool {
    let mut start = [0; DATABASE.len()];
    // Opening a pipe would wait for its writer.
    file.is_file()
        && File::open(file).and_then(|mut f| f.read_exact(&mut start)).is_ok()
        && start == DATABASE
}

/// Adopts the memories of a database, which stays unchanged: a copy of it is opened. Texts that are
/// stored already are left out.
fn import_database(memories: &Memories, file: &Path) -> Result<Outcome> {
    let name = file.display();
    let copied = copied(file).with_context(|| format!("{name} cannot be copied"))?;
    let all = MemoryStore::open(&copied.dir.full(COPY))?.select(&Select::default())?;
    let known = memories.store.select(&Select::default())?;
    let mut known: BTreeSet<String> = known.into_iter().map(|m| m.content).collect();
    let mut n = 0;
    // Oldest first, in the order in which they were stored.
    for memory in all.into_iter().rev().filter(|m| known.insert(m.content.clone())) {
        memories
            .capture
            .capture(memory)
            .with_context(|| format!("{name}: {n} memories are imported, and the next is not"))?;
        n += 1;
    }
    line(&format!("imported {}", count(n, "memory")))?;
    Ok(Outcome::Done)
}

const COPY: &str = "memory.db";

/// Makes a private copy of a database that no process uses.
fn copied(file: &Path) -> Result<PrivateFolder> {
    let folder = PrivateFolder::new()?;
    for end in ["", "-wal"] {
        let mut from = file.as_os_str().to_owned();
        from.push(end);
        if end.is_empty() || Path::new(&from).is_file() {
            std::io::copy(
                &mut File::open(from)?,
                &mut folder.dir.file(format!("{COPY}{end}"), OpenMode::New, PRIVATE_FILE)?,
            )?;
        }
    }
    Ok(folder)
}
