//! Edits of JSON as pure functions on text. A value is found by its JSON Pointer, and
//! only the text around it changes.
//!
//! Comments and trailing commas are allowed, since the settings of many programs contain
//! them. Edits splice the text and never serialize the document again, so everything
//! else stays the same to the byte.

mod layout;
mod pointer;
mod value;

use std::ops::Range;

use jsonc_parser::ast::Value;

use layout::{Items, Layout, Splice, beginning, insertion, removal, replacement, spliced};
use pointer::{absent, child, nth, shown, tokens, walk};
use value::{New, parsed, span};

/// Returns the range of the value that a pointer names.
pub(super) fn get(text: &str, pointer: &str) -> Result<Range<usize>, String> {
    let tokens = tokens(pointer)?;
    let root = parse(text)?.ok_or(EMPTY)?;
    Ok(span(walk(text, &root, &tokens)?.1))
}

/// Returns the value of a document; `None` if the text is empty or has only comments.
pub(crate) fn read(text: &str) -> Result<Option<serde_json::Value>, String> {
    Ok(parse(text)?.map(Into::into))
}

/// Sets a value at the pointer: it replaces another, becomes a new key, or
/// with `-` is appended to an array.
pub(super) fn set(text: &str, pointer: &str, value: &str) -> Result<String, String> {
    checked(text, to_set(text, &tokens(pointer)?, &New::parse(value)?)?)
}

/// Sets a value as [`set`] does, in the layout of [`New::compact`].
pub(crate) fn set_compact(text: &str, pointer: &str, value: &str) -> Result<String, String> {
    checked(text, to_set(text, &tokens(pointer)?, &New::compact(value)?)?)
}

/// Appends a value to the array that the pointer names.
pub(super) fn append(text: &str, pointer: &str, value: &str) -> Result<String, String> {
    checked(text, to_append(text, &tokens(pointer)?, &New::parse(value)?)?)
}

/// Appends a value as [`append`] does, in the layout of [`New::compact`].
pub(crate) fn append_compact(text: &str, pointer: &str, value: &str) -> Result<String, String> {
    checked(text, to_append(text, &tokens(pointer)?, &New::compact(value)?)?)
}

/// Removes a value, with its key and the comments on its line.
pub(crate) fn delete(text: &str, pointer: &str) -> Result<String, String> {
    checked(text, to_delete(text, &tokens(pointer)?)?)
}

fn to_set(text: &str, tokens: &[String], new: &New) -> Result<Vec<Splice>, String> {
    let Some(root) = parse(text)? else {
        return if tokens.is_empty() { Ok(beginning(text, new)) } else { Err(EMPTY.into()) };
    };
    let layout = Layout::of(text, &root);
    let Some((token, above)) = tokens.split_last() else {
        return Ok(replacement(text, &layout, None, &root, new));
    };
    let (over, parent) = walk(text, &root, above)?;
    match (child(text, parent, above, token)?, parent) {
        (Some(i), _) => Ok(replacement(text, &layout, Some(parent), nth(parent, i), new)),
        (None, Value::Object(_)) => {
            let key = serde_json::Value::from(token.as_str()).to_string();
            Ok(insertion(text, &layout, over, parent, Some(&key), new))
        }
        (None, _) if token == "-" => Ok(insertion(text, &layout, over, parent, None, new)),
        (None, _) => Err(absent(parent, above, token)),
    }
}

fn to_append(text: &str, tokens: &[String], new: &New) -> Result<Vec<Splice>, String> {
    let root = parse(text)?.ok_or(EMPTY)?;
    match walk(text, &root, tokens)? {
        (over, array @ Value::Array(_)) => {
            Ok(insertion(text, &Layout::of(text, &root), over, array, None, new))
        }
        _ => Err(format!("{} is not an array: set it, or a key below it", shown(tokens))),
    }
}

fn to_delete(text: &str, tokens: &[String]) -> Result<Vec<Splice>, String> {
    let root = parse(text)?.ok_or(EMPTY)?;
    let (token, above) = tokens
        .split_last()
        .ok_or("the whole document cannot be deleted: set it, or delete a key of it")?;
    let (_, parent) = walk(text, &root, above)?;
    let i = child(text, parent, above, token)?.ok_or_else(|| absent(parent, above, token))?;
    Ok(removal(text, &Items::of(parent), i))
}

/// Returns the text with the changes, if the result is still JSON.
fn checked(text: &str, splices: Vec<Splice>) -> Result<String, String> {
    let after = spliced(text, splices);
    parsed(&after).map_err(|e| {
        format!("the result would not be valid JSON: {e}. Nothing was changed: check the value")
    })?;
    Ok(after)
}

const EMPTY: &str = "it is empty: set the whole document first, with the pointer \"\"";

/// Parses a document; `None` if the text is empty or has only comments.
fn parse(text: &str) -> Result<Option<Value<'_>>, String> {
    parsed(text)
        .map_err(|e| format!("it is not valid JSON: {e}. Repair that first with a text edit"))
}

#[cfg(test)]
mod tests;
