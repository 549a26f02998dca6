//! Reads and edits the project's files: text by its content or by line, JSON by pointer.
//!
//! `text` and `json` are pure functions on text. `root` resolves a path and decides whether the
//! file may be touched; `file` reads a file and replaces it. This module does not know the index,
//! nor which files are secret: the caller passes a function for that.
//!
//! Other programs may write the same file. Every edit holds a lock on the file's
//! directory. A program that does not take this lock is detected up to the moment of the
//! rename, since the bytes are compared.

mod batch;
mod error;
mod excerpt;
mod file;
pub(crate) mod json;
mod report;
mod root;
mod text;
mod trusted;

pub use error::EditError;
pub use report::{Edited, JsonValue, ViewedLines};
pub use root::Root;
pub use trusted::trusted;

use std::ops::Range;

use crate::source::sha256;
use batch::{Batch, folder_and_name};
use file::{CurrentFile, EditTarget, LOCK_WAIT};
use text::{MAX_BYTES, decoded, split_bom, too_large};

/// One change of one file. Line breaks in the given text become those of the file around it.
#[derive(Debug, Clone, Copy)]
pub enum Edit<'a> {
    /// Writes the whole file and creates missing directories. An existing file is only
    /// overwritten if its hash is given.
    Create { text: &'a str },
    /// Replaces `old`, which must occur exactly once (or at least once if `all`), by `new`.
    Replace { old: &'a str, new: &'a str, all: bool },
    /// Inserts lines after the line `after`, 1-based; 0 inserts at the top.
    Insert { after: usize, text: &'a str },
    /// Sets what the JSON Pointer (RFC 6901) names to the JSON `value`, or adds it as a new key.
    Set { pointer: &'a str, value: &'a str },
    /// Deletes what the pointer names.
    Delete { pointer: &'a str },
    /// Appends the JSON `value` to the array that the pointer names.
    Append { pointer: &'a str, value: &'a str },
    /// Replaces ranges of bytes, which ascend and do not overlap.
    Splice { ranges: &'a [(Range<usize>, String)] },
}

/// A change of one file among several.
#[derive(Debug, Clone, Copy)]
pub struct FileEdit<'a> {
    pub path: &'a str,
    /// The hash that the file must have.
    pub expected: &'a str,
    pub edit: Edit<'a>,
}

/// A file as it is now, to the byte.
#[derive(Debug, Clone)]
pub struct ExactText {
    /// Path relative to the root, with links followed.
    pub path: String,
    /// SHA-256 of the file, in hexadecimal digits.
    pub hash: String,
    /// The text with its byte order mark.
    pub text: String,
}

/// Fewest digits of a hash that a caller must give.
const MIN_HASH_DIGITS: usize = 8;

impl Root {
    /// Returns lines of a file, 1-based and inclusive; all of them for `None`.
    ///
    /// # Errors
    /// When the file may not be read, is not text, or has no such lines.
    pub fn view(
        &self,
        path: &str,
        lines: Option<(usize, usize)>,
    ) -> Result<ViewedLines, EditError> {
        let (place, current) = self.read(path)?;
        let (_, body) = split_bom(text_of(&place, &current)?);
        ViewedLines::new(&place.path, sha256(&current.bytes), body, lines)
            .map_err(|why| place.unfit(why))
    }

    /// Returns the value that a JSON Pointer names, as it is written in the file.
    ///
    /// # Errors
    /// When the file may not be read or is not JSON, or the pointer names no value or more than
    /// one.
    pub fn get(&self, path: &str, pointer: &str) -> Result<JsonValue, EditError> {
        let (place, current) = self.read(path)?;
        let (_, body) = split_bom(text_of(&place, &current)?);
        let range = json::get(body, pointer).map_err(|why| place.unfit(why))?;
        Ok(JsonValue::new(&place.path, sha256(&current.bytes), body, range))
    }

    /// Changes a file. `expected` is its hash from [`Root::view`], or the first digits of it: if
    /// the file has another hash by now, nothing is changed.
    ///
    /// # Errors
    /// When the file may not be touched, is not as expected, or the edit cannot be
    /// applied. The file is then unchanged.
    pub fn edit(
        &self,
        path: &str,
        expected: Option<&str>,
        edit: &Edit,
    ) -> Result<Edited, EditError> {
        let creates = matches!(edit, Edit::Create { .. });
        let place = EditTarget::open(self, path, creates)?;
        place.lock(LOCK_WAIT)?;
        let current = place.read()?;
        let before = match (&current, expected) {
            (None, None) if creates => "",
            (None, _) => return Err(EditError::NotFound { path: place.path }),
            (Some(_), None) if creates => return Err(EditError::Exists { path: place.path }),
            (Some(current), expected) => {
                check_hash(&place, current, expected)?;
                place.check_replaceable(current)?;
                text_of(&place, current)?
            }
        };
        let after = apply(before, edit).map_err(|why| place.unfit(why))?;
        let report = Edited::new(&place.path, current.is_none(), before, &after);
        if current.is_none() || before != after {
            place.write(current.as_ref(), after.as_bytes())?;
        }
        Ok(report)
    }

    /// Returns the text of a file to the byte, if the file may be changed.
    ///
    /// # Errors
    /// When the file may not be changed or is not text.
    pub fn exact(&self, path: &str) -> Result<ExactText, EditError> {
        let (place, current) = self.read(path)?;
        place.check_replaceable(&current)?;
        let text = text_of(&place, &current)?.to_string();
        Ok(ExactText { hash: sha256(&current.bytes), path: place.path, text })
    }

    /// Changes several files: all of them, or none. All are checked and written under temporary names
    /// before the first one is replaced. If a file cannot be replaced after that, those that were
    /// replaced get their old content back.
    ///
    /// # Errors
    /// When a file may not be touched, is not as expected, or an edit cannot be applied.
    pub fn edit_all(&self, edits: &[FileEdit]) -> Result<Vec<Edited>, EditError> {
        let mut edits: Vec<&FileEdit> = edits.iter().collect();
        // All callers lock directories in the same order.
        edits.sort_by_key(|edit| folder_and_name(edit.path));
        let (mut batch, mut reports) = (Batch::default(), Vec::new());
        for FileEdit { path, expected, edit } in edits {
            let place = batch.open(self, path)?;
            let current = place.read_existing()?;
            check_hash(&place, &current, Some(expected))?;
            place.check_replaceable(&current)?;
            let before = text_of(&place, &current)?;
            let after = apply(before, edit).map_err(|why| place.unfit(why))?;
            reports.push(Edited::new(&place.path, false, before, &after));
            if before != after {
                batch.stage(place, current, after.into_bytes())?;
            }
        }
        batch.commit()?;
        Ok(reports)
    }

    fn read(&self, path: &str) -> Result<(EditTarget, CurrentFile), EditError> {
        let place = EditTarget::open(self, path, false)?;
        let current = place.read_existing()?;
        Ok((place, current))
    }
}

fn text_of<'a>(place: &EditTarget, current: &'a CurrentFile) -> Result<&'a str, EditError> {
    decoded(&current.bytes).map_err(|why| place.refused(why))
}

fn check_hash(
    place: &EditTarget,
    current: &CurrentFile,
    expected: Option<&str>,
) -> Result<(), EditError> {
    let Some(expected) = expected else { return Ok(()) };
    if expected.len() < MIN_HASH_DIGITS || !expected.bytes().all(|b| b.is_ascii_hexdigit()) {
        return Err(
            place.unfit(format!("this is not a hash: give at least the first {MIN_HASH_DIGITS} digits of the hash from the last view"))
        );
    }
    if sha256(&current.bytes).starts_with(&expected.to_ascii_lowercase()) {
        return Ok(());
    }
    Err(EditError::Changed { path: place.path.clone() })
}

/// Returns the text after the edit.
fn apply(before: &str, edit: &Edit) -> Result<String, String> {
    let (bom, body) = split_bom(before);
    let after = match *edit {
        Edit::Create { text } => text::overwrite(body, split_bom(text).1),
        Edit::Replace { old, new, all } => text::replace(body, old, new, all)?,
        Edit::Insert { after, text } => text::insert(body, after, text)?,
        Edit::Set { pointer, value } => json::set(body, pointer, value)?,
        Edit::Delete { pointer } => json::delete(body, pointer)?,
        Edit::Append { pointer, value } => json::append(body, pointer, value)?,
        // The ranges are those of the whole text.
        Edit::Splice { ranges } => {
            let after = text::splice(before, ranges)?;
            split_bom(&after).1.to_string()
        }
    };
    let bom = match edit {
        Edit::Create { text } if bom.is_empty() => split_bom(text).0,
        _ => bom,
    };
    let after = format!("{bom}{after}");
    if after.len() as u64 > MAX_BYTES {
        return Err(too_large());
    }
    // A text that could not be read again must not be written.
    decoded(after.as_bytes()).map_err(|_| {
        "the given text holds a NUL character: remove it, since text files have none".to_string()
    })?;
    Ok(after)
}

#[cfg(test)]
mod tests;
