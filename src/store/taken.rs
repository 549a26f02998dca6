//! Takes the index of another working tree of the same repository as the beginning of this one: the
//! run that follows then indexes only what differs.

use std::io;
use std::time::Duration;

use super::layout::{MANIFEST, SHARED_FILE, SOURCES, next_name};
use super::lock::WriteLock;
use super::manifest::Manifest;
use super::writer::recover;
use super::{Layout, cache};
use crate::chunk::ChunkType;
use crate::dir::Dir;

/// Copies the index of `from`, unless somebody writes it at this moment. Returns whether it did. Dying
/// within leaves no index, or a whole one.
///
/// # Errors
/// When the copy cannot be read or written.
pub fn take_over(layout: &Layout, from: &Layout, lock: &WriteLock) -> io::Result<bool> {
    if !from.is_indexed() || from.is_foreign() {
        return Ok(false);
    }
    let Ok(_theirs) = WriteLock::acquire(from, Duration::ZERO) else { return Ok(false) };
    if Manifest::read_next(from)?.is_some() {
        return Ok(false);
    }
    let Some(manifest) = Manifest::read(from)? else { return Ok(false) };
    let (theirs, ours) = (from.data()?, layout.data()?);
    for name in ChunkType::ALL.map(|t| manifest.chunk_name(t)) {
        copy(&theirs, &name, &ours, &next_name(&name))?;
    }
    copy(&theirs, SOURCES, &ours, SOURCES)?;
    for name in from.all_vectors() {
        copy(&theirs, &name, &ours, &name)?;
    }
    cache::take_over(&layout.cache_place(false), &from.cache_place(false))?;
    // As when a generation is published: it is complete from here on, and bytes that are not those
    // that the manifest states are not taken.
    copy(&theirs, MANIFEST, &ours, &next_name(MANIFEST))?;
    recover(layout, lock)?;
    Ok(layout.has(MANIFEST))
}

fn copy(from: &Dir, name: &str, to: &Dir, as_name: &str) -> io::Result<()> {
    let (mut read, mut write) = (from.open_file(name)?, to.create(as_name, SHARED_FILE)?);
    io::copy(&mut read, &mut write).map(drop)
}
