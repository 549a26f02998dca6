//! Takes the index of another working tree of the same repository as the beginning of this one: the
//! run that follows then indexes only what differs.

use std::io;
use std::time::Duration;

use super::layout::{MANIFEST, next_name};
use super::lock::WriteLock;
use super::manifest::Manifest;
use super::writer::recover;
use super::{Layout, SourceTable, cache, vectors};
use crate::chunk::ChunkType;
use crate::dir::{Dir, SHARED_FILE};

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
    let Some(table) = SourceTable::read(from) else { return Ok(false) };
    table.write(layout)?;
    for name in from.all_vectors().into_iter().filter(|name| vectors::is_marked(from, name)) {
        copy(&theirs, &name, &ours, &name)?;
        vectors::adopt(layout, &name)?;
    }
    cache::take_over(layout, from)?;
    // As when a generation is published: it is complete from here on, and bytes that are not those
    // that the manifest states are not taken.
    ours.replace(next_name(MANIFEST), &manifest.to_sealed(layout)?, SHARED_FILE, false)?;
    recover(layout, lock)?;
    Ok(layout.is_indexed())
}

/// Makes an index that came from a place of the user, such as an archive, an index of this user. The
/// caller has compared it with the files.
///
/// # Errors
/// When it cannot be read or written.
pub fn adopt(layout: &Layout, manifest: &Manifest, table: &SourceTable) -> io::Result<()> {
    for name in layout.all_vectors() {
        vectors::adopt(layout, &name)?;
    }
    cache::adopt(layout)?;
    table.write(layout)?;
    layout.data()?.replace(MANIFEST, &manifest.to_sealed(layout)?, SHARED_FILE, false)
}

fn copy(from: &Dir, name: &str, to: &Dir, as_name: &str) -> io::Result<()> {
    let (mut read, mut write) = (from.open_file(name)?, to.create(as_name, SHARED_FILE)?);
    io::copy(&mut read, &mut write).map(drop)
}
