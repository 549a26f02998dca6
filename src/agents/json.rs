//! Changes of JSON files, with or without comments. Everything else in them stays as it is, byte for
//! byte.

use serde_json::Value;

use super::ours::{holds_hook, starts_cortex};
use crate::edit::json;

/// Reads a file, which holds an object or nothing.
fn read(text: &str) -> Result<Option<Value>, String> {
    match json::read(text)? {
        Some(value) if !value.is_object() => Err("it holds no object".into()),
        value => Ok(value),
    }
}

/// Reads a value that we write.
fn parse(snippet: &str) -> Result<Value, String> {
    serde_json::from_str(snippet).map_err(|e| e.to_string())
}

/// Returns the value at a path of keys. No key holds a `/` or a `~`.
fn at<'v>(root: Option<&'v Value>, path: &str) -> Option<&'v Value> {
    path.split('/').try_fold(root?, |at, key| at.get(key))
}

/// Adds a value at a path where there is none, with the objects above it that are missing.
fn add(text: &str, root: Option<&Value>, path: &str, value: &str) -> Result<String, String> {
    let keys: Vec<&str> = path.split('/').collect();
    let within = |keys: &[&str]| {
        let object = |value: String, key: &&str| format!("{{{}: {value}}}", Value::from(*key));
        keys.iter().rfold(value.to_string(), object)
    };
    let Some(mut at) = root else { return json::set_compact(text, "", &within(&keys)) };
    for (n, key) in keys.iter().enumerate() {
        match at.get(*key) {
            Some(next) => at = next,
            None if at.is_object() => {
                let pointer = format!("/{}", keys[..=n].join("/"));
                return json::set_compact(text, &pointer, &within(&keys[n + 1..]));
            }
            None => return Err(format!("{} is not an object", keys[..n].join("."))),
        }
    }
    Ok(text.to_string())
}

/// Removes the value at a path, and the objects above it that hold nothing else. The root stays.
fn remove(text: &str, root: Option<&Value>, mut path: &str) -> Result<String, String> {
    while let Some((above, _)) = path.rsplit_once('/') {
        if at(root, above).and_then(Value::as_object).is_none_or(|object| object.len() > 1) {
            break;
        }
        path = above;
    }
    json::delete(text, &format!("/{path}"))
}

/// Sets the object at a path. An object of ours that is there keeps its other keys.
pub(super) fn set(text: &str, path: &str, snippet: &str) -> Result<String, String> {
    let root = read(text)?;
    let wanted = parse(snippet)?;
    let Some(was) = at(root.as_ref(), path) else {
        return add(text, root.as_ref(), path, snippet);
    };
    match (was.as_object(), wanted.as_object()) {
        _ if *was == wanted => Ok(text.to_string()),
        (Some(_), Some(_)) if !starts_cortex(was) => {
            Err(format!("{path} is a server of another program"))
        }
        (Some(old), Some(new)) => new
            .iter()
            .filter(|(key, value)| old.get(*key) != Some(*value))
            .try_fold(text.to_string(), |text, (key, value)| {
                json::set_compact(&text, &format!("/{path}/{key}"), &value.to_string())
            }),
        _ => json::set_compact(text, &format!("/{path}"), snippet),
    }
}

/// Removes the object at a path, if it is ours, and the objects above it that are empty then.
pub(super) fn unset(text: &str, path: &str, snippet: &str) -> Result<String, String> {
    let root = read(text)?;
    let wanted = parse(snippet)?;
    match at(root.as_ref(), path) {
        Some(was) if *was == wanted || starts_cortex(was) => remove(text, root.as_ref(), path),
        _ => Ok(text.to_string()),
    }
}

/// Appends a value to the array at a path, unless it is there. An older version of a hook of ours
/// is replaced.
pub(super) fn append(text: &str, path: &str, snippet: &str) -> Result<String, String> {
    let root = read(text)?;
    let wanted = parse(snippet)?;
    let Some(array) = at(root.as_ref(), path) else {
        return add(text, root.as_ref(), path, &format!("[{snippet}]"));
    };
    let values = array.as_array().ok_or_else(|| format!("{path} is not an array"))?;
    if values.contains(&wanted) {
        return Ok(text.to_string());
    }
    let pointer = format!("/{path}");
    json::append_compact(&without(text, &pointer, values, &wanted)?, &pointer, snippet)
}

/// Removes a value from the array at a path, and what is empty then.
pub(super) fn unappend(text: &str, path: &str, snippet: &str) -> Result<String, String> {
    let root = read(text)?;
    let Some(values) = at(root.as_ref(), path).and_then(Value::as_array) else {
        return Ok(text.to_string());
    };
    let after = without(text, &format!("/{path}"), values, &parse(snippet)?)?;
    let root = read(&after)?;
    let is_empty = at(root.as_ref(), path) == Some(&Value::Array(Vec::new()));
    if is_empty && after != text { remove(&after, root.as_ref(), path) } else { Ok(after) }
}

/// Removes a value from an array; for a hook of ours, all hooks of ours. A group of hooks stays if
/// it holds others.
fn without(text: &str, array: &str, values: &[Value], gone: &Value) -> Result<String, String> {
    let is_hook = holds_hook(gone);
    let is_gone = |value: &Value| value == gone || is_hook && holds_hook(value);
    let mut text = text.to_string();
    // From the end, so that the positions before it stay.
    for (i, value) in values.iter().enumerate().rev().filter(|(_, value)| is_gone(value)) {
        let place = format!("{array}/{i}");
        text = match value.get("hooks").and_then(Value::as_array) {
            Some(hooks) if value != gone && !hooks.iter().all(is_gone) => {
                without(&text, &format!("{place}/hooks"), hooks, gone)?
            }
            _ => json::delete(&text, &place)?,
        };
    }
    Ok(text)
}

/// Returns the value at a path.
pub(super) fn get(text: &str, path: &str) -> Result<Option<Value>, String> {
    Ok(at(read(text)?.as_ref(), path).cloned())
}

/// Returns whether the value at a path is exactly `snippet`, whatever its layout.
pub(super) fn holds(text: &str, path: &str, snippet: &str) -> Result<bool, String> {
    Ok(get(text, path)? == Some(parse(snippet)?))
}

/// Returns whether nothing is in a file: it is empty, or an empty object without comments.
pub(super) fn is_empty(text: &str) -> bool {
    let bare: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    bare.is_empty() || bare == "{}"
}

/// Returns whether two files hold the same, whatever their layout.
pub(super) fn is_same(a: &str, b: &str) -> bool {
    let value = |text: &str| json::read(text).ok().flatten();
    value(a).is_some() && value(a) == value(b)
}
