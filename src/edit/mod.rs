//! Changes to the project's files: text by what stands there or by line, JSON by pointer.
//!
//! `text` and `json` are pure: text in, text out. `root` says which file a path means and whether it may be touched,
//! `file` reads it and puts a new one in its place. Knows nothing of the index, nor which files are secret: that it is told.
//!
//! Difficult: others may write the same file. Whoever edits holds a lock on the file's directory; a program that knows
//! nothing of it is noticed by its bytes, up to the moment of the rename.

mod error;
mod excerpt;
mod file;
mod json;
mod report;
mod root;
mod text;
mod trusted;

pub use error::EditError;
pub use report::{Edited, JsonValue, ViewedLines};
pub use root::Root;
pub use trusted::trusted;

use crate::source::sha256;
use file::{CurrentFile, EditTarget, LOCK_WAIT};
use text::{MAX_BYTES, decoded, split_bom, too_large};

/// One change of one file. Line breaks of what is given become those of the file around the place.
#[derive(Debug, Clone, Copy)]
pub enum Edit<'a> {
    /// The whole file, with the directories above it. One that is there is overwritten only where its hash is given.
    Create { text: &'a str },
    /// `new` in place of `old`, which must stand in the file once, or anywhere if `all`.
    Replace { old: &'a str, new: &'a str, all: bool },
    /// Lines after the line `after`, 1-based; 0: at the top.
    Insert { after: usize, text: &'a str },
    /// `value`, as JSON, for what the JSON Pointer (RFC 6901) names, or as a new key of its object.
    Set { pointer: &'a str, value: &'a str },
    /// Takes away what the pointer names.
    Delete { pointer: &'a str },
    /// `value`, as JSON, at the end of the array that the pointer names.
    Append { pointer: &'a str, value: &'a str },
}

/// The fewest digits of a hash that tell two versions of a file apart.
const MIN_HASH_DIGITS: usize = 8;

impl Root {
    /// Lines of a file, 1-based and inclusive; `None`: all of them.
    ///
    /// # Errors
    /// When the file may not be read or is no text, or has no such lines.
    pub fn view(&self, path: &str, lines: Option<(usize, usize)>) -> Result<ViewedLines, EditError> {
        let (place, current) = self.read(path)?;
        let (_, body) = split_bom(text_of(&place, &current)?);
        ViewedLines::new(&place.path, sha256(&current.bytes), body, lines).map_err(|why| place.unfit(why))
    }

    /// The value that a JSON Pointer names, as it is written in the file.
    ///
    /// # Errors
    /// When the file may not be read or is no JSON, or the pointer names nothing or more than one value.
    pub fn get(&self, path: &str, pointer: &str) -> Result<JsonValue, EditError> {
        let (place, current) = self.read(path)?;
        let (_, body) = split_bom(text_of(&place, &current)?);
        let range = json::get(body, pointer).map_err(|why| place.unfit(why))?;
        Ok(JsonValue::new(&place.path, sha256(&current.bytes), body, range))
    }

    /// Changes a file. `expected` is its hash as [`Root::view`] gave it, or the first digits of it: when the file is another by
    /// now, nothing is done.
    ///
    /// # Errors
    /// When the file may not be touched, is not as expected, or has no place for the edit. The file is then as it was.
    pub fn edit(&self, path: &str, expected: Option<&str>, edit: &Edit) -> Result<Edited, EditError> {
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

    fn read(&self, path: &str) -> Result<(EditTarget, CurrentFile), EditError> {
        let place = EditTarget::open(self, path, false)?;
        let current = place.read()?.ok_or_else(|| EditError::NotFound { path: place.path.clone() })?;
        Ok((place, current))
    }
}

fn text_of<'a>(place: &EditTarget, current: &'a CurrentFile) -> Result<&'a str, EditError> {
    decoded(&current.bytes).map_err(|why| place.refused(why))
}

fn check_hash(place: &EditTarget, current: &CurrentFile, expected: Option<&str>) -> Result<(), EditError> {
    let Some(expected) = expected else { return Ok(()) };
    if expected.len() < MIN_HASH_DIGITS || !expected.bytes().all(|b| b.is_ascii_hexdigit()) {
        return Err(place.unfit(format!("the hash given is none: give that of the last view, at least {MIN_HASH_DIGITS} of its digits")));
    }
    if sha256(&current.bytes).starts_with(&expected.to_ascii_lowercase()) {
        return Ok(());
    }
    Err(EditError::Changed { path: place.path.clone() })
}

/// The text after the edit.
fn apply(before: &str, edit: &Edit) -> Result<String, String> {
    let (bom, body) = split_bom(before);
    let after = match *edit {
        Edit::Create { text } => text::overwrite(body, split_bom(text).1),
        Edit::Replace { old, new, all } => text::replace(body, old, new, all)?,
        Edit::Insert { after, text } => text::insert(body, after, text)?,
        Edit::Set { pointer, value } => json::set(body, pointer, value)?,
        Edit::Delete { pointer } => json::delete(body, pointer)?,
        Edit::Append { pointer, value } => json::append(body, pointer, value)?,
    };
    let bom = match edit {
        Edit::Create { text } if bom.is_empty() => split_bom(text).0,
        _ => bom,
    };
    let after = format!("{bom}{after}");
    if after.len() as u64 > MAX_BYTES {
        return Err(too_large());
    }
    // What could not be read again is not written.
    decoded(after.as_bytes()).map_err(|_| "what is given holds a NUL character: a text has none".to_string())?;
    Ok(after)
}

#[cfg(test)]
mod tests;
