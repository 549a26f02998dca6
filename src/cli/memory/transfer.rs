//! Memories out and in: JSON, one a line.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;

use anyhow::{Context, Result};

use super::super::Outcome;
use crate::memory::{Memories, Memory, Select};

/// Memories that are read at once.
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

/// All of a file or nothing of it, as far as a reading goes: what cannot be read is found before anything is stored.
pub(super) fn import(memories: &Memories, file: &Path) -> Result<Outcome> {
    let name = file.display();
    let reader: Box<dyn BufRead> = if file == Path::new("-") {
        Box::new(BufReader::new(std::io::stdin()))
    } else {
        Box::new(BufReader::new(File::open(file).with_context(|| name.to_string())?))
    };
    let mut all: Vec<Memory> = Vec::new();
    for (number, line) in reader.lines().enumerate() {
        let line = line.with_context(|| format!("{name}:{}", number + 1))?;
        if !line.trim().is_empty() {
            all.push(serde_json::from_str(&line).with_context(|| format!("{name}:{}: this is no exported memory", number + 1))?);
        }
    }
    let n = all.len();
    for (number, memory) in all.into_iter().enumerate() {
        memories.capture.capture(memory).with_context(|| format!("memory {} of {n}; those before it are imported", number + 1))?;
    }
    super::line(&format!("imported {}", super::memories_in_words(n)))?;
    Ok(Outcome::Done)
}
