//! Changes of JSON files, with or without comments. Everything else in them stays as it is, byte for
//! byte.

use jsonc_parser::cst::{CstArray, CstInputValue, CstObject, CstRootNode};
use serde_json::Value;

use super::ours::{holds_hook, starts_cortex};
use crate::edit::WITH_COMMENTS;

/// A longer array gets a line for each value.
const WIDTH: usize = 80;

/// Parses a file; an empty one is an empty object.
fn parse(text: &str) -> Result<CstRootNode, String> {
    let root = CstRootNode::parse(text, &WITH_COMMENTS).map_err(|e| e.to_string())?;
    match root.value() {
        Some(value) if value.as_object().is_none() => Err("it holds no object".into()),
        _ => Ok(root),
    }
}

/// Parses a value that we write. The order of its keys is kept.
fn input(snippet: &str) -> Result<CstInputValue, String> {
    let root = jsonc_parser::parse_to_ast(
        snippet,
        &jsonc_parser::CollectOptions::default(),
        &WITH_COMMENTS,
    );
    let value = root.map_err(|e| e.to_string())?.value.ok_or("it is empty")?;
    Ok(to_input(&value))
}

fn to_input(value: &jsonc_parser::ast::Value) -> CstInputValue {
    use jsonc_parser::ast::Value as Ast;
    match value {
        Ast::StringLit(s) => CstInputValue::String(s.value.to_string()),
        Ast::NumberLit(n) => CstInputValue::Number(n.value.to_string()),
        Ast::BooleanLit(b) => CstInputValue::Bool(b.value),
        Ast::NullKeyword(_) => CstInputValue::Null,
        Ast::Array(a) => CstInputValue::Array(a.elements.iter().map(to_input).collect()),
        Ast::Object(o) => CstInputValue::Object(
            o.properties
                .iter()
                .map(|p| (p.name.as_str().to_string(), to_input(&p.value)))
                .collect(),
        ),
    }
}

/// Returns the keys of a path above the last one, and the last.
fn keys(path: &str) -> (Vec<&str>, &str) {
    path.rsplit_once('/')
        .map_or((Vec::new(), path), |(above, last)| (above.split('/').collect(), last))
}

/// Returns the object at a path of keys below the root, and makes it if it is missing.
fn make_object(root: &CstRootNode, keys: &[&str]) -> Result<CstObject, String> {
    let mut at = root.object_value_or_create().ok_or("it holds no object")?;
    for (i, key) in keys.iter().enumerate() {
        at = at
            .object_value_or_create(key)
            .ok_or_else(|| format!("{} is not an object", keys[..=i].join(".")))?;
    }
    Ok(at)
}

/// Returns the objects along a path of keys, the root's first. It ends where a key is missing.
fn objects(root: &CstRootNode, keys: &[&str]) -> Vec<CstObject> {
    let mut found: Vec<CstObject> = root.object_value().into_iter().collect();
    for key in keys {
        match found.last().and_then(|at| at.object_value(key)) {
            Some(next) => found.push(next),
            None => break,
        }
    }
    found
}

/// Sets the object at a path. An object of ours that is there keeps its other keys.
pub(super) fn set(text: &str, path: &str, snippet: &str) -> Result<String, String> {
    let root = parse(text)?;
    let (above, last) = keys(path);
    let object = make_object(&root, &above)?;
    let new = input(snippet)?;
    let wanted: Value = serde_json::from_str(snippet).map_err(|e| e.to_string())?;
    let Some(old) = object.get(last) else {
        object.append(last, new);
        return Ok(ended(text, &root));
    };
    let was = old.value().and_then(|v| v.to_serde_value()).unwrap_or_default();
    if was == wanted {
        return Ok(text.to_string());
    }
    match (old.object_value(), new) {
        (Some(old), CstInputValue::Object(fields)) => {
            if !starts_cortex(&was) {
                return Err(format!("{path} is a server of another program"));
            }
            for (key, value) in fields {
                if was.get(&key) == wanted.get(&key) {
                    continue;
                }
                match old.get(&key) {
                    Some(field) => field.set_value(value),
                    None => drop(old.append(&key, value)),
                }
            }
        }
        (_, new) => old.set_value(new),
    }
    Ok(ended(text, &root))
}

/// Removes the object at a path, if it is ours, and the objects above it that are empty then.
pub(super) fn unset(text: &str, path: &str, snippet: &str) -> Result<String, String> {
    let root = parse(text)?;
    let (above, last) = keys(path);
    let along = objects(&root, &above);
    let old = along.get(above.len()).and_then(|object| object.get(last));
    let Some(old) = old else { return Ok(text.to_string()) };
    let was = old.value().and_then(|v| v.to_serde_value()).unwrap_or_default();
    let wanted: Value = serde_json::from_str(snippet).map_err(|e| e.to_string())?;
    if was != wanted && !starts_cortex(&was) {
        return Ok(text.to_string());
    }
    old.remove();
    remove_empty(&along, &above);
    Ok(ended(text, &root))
}

/// Appends a value to the array at a path, unless it is there. An older version of a hook of ours
/// is replaced.
pub(super) fn append(text: &str, path: &str, snippet: &str) -> Result<String, String> {
    let root = parse(text)?;
    let (above, last) = keys(path);
    let wanted: Value = serde_json::from_str(snippet).map_err(|e| e.to_string())?;
    let array = make_object(&root, &above)?
        .array_value_or_create(last)
        .ok_or_else(|| format!("{path} is not an array"))?;
    if array.elements().iter().any(|e| e.to_serde_value().as_ref() == Some(&wanted)) {
        return Ok(text.to_string());
    }
    if holds_hook(&wanted) {
        remove_hooks(&array);
    }
    array.append(input(snippet)?);
    if array.elements().len() > 1 && array.to_string().len() > WIDTH {
        array.ensure_multiline();
    }
    Ok(ended(text, &root))
}

/// Removes a value from the array at a path, and what is empty then.
pub(super) fn unappend(text: &str, path: &str, snippet: &str) -> Result<String, String> {
    let root = parse(text)?;
    let (above, last) = keys(path);
    let along = objects(&root, &above);
    let Some(parent) = along.get(above.len()) else { return Ok(text.to_string()) };
    let Some(array) = parent.array_value(last) else { return Ok(text.to_string()) };
    let wanted: Value = serde_json::from_str(snippet).map_err(|e| e.to_string())?;
    let mut any = holds_hook(&wanted) && remove_hooks(&array);
    for element in array.elements() {
        if element.to_serde_value().as_ref() == Some(&wanted) {
            element.remove();
            any = true;
        }
    }
    if !any {
        return Ok(text.to_string());
    }
    if array.elements().is_empty()
        && let Some(property) = parent.get(last)
    {
        property.remove();
        remove_empty(&along, &above);
    }
    Ok(ended(text, &root))
}

/// Removes the hooks of ours from an array of hooks, or of groups of hooks. Returns whether there
/// were any.
fn remove_hooks(array: &CstArray) -> bool {
    let mut any = false;
    for element in array.elements() {
        if !element.to_serde_value().is_some_and(|e| holds_hook(&e)) {
            continue;
        }
        any = true;
        let group = element.as_object().and_then(|g| g.array_value("hooks"));
        if let Some(hooks) = group {
            remove_hooks(&hooks);
            if !hooks.elements().is_empty() {
                continue;
            }
        }
        element.remove();
    }
    any
}

/// Removes the objects that are empty, from the innermost outwards. The root stays.
fn remove_empty(along: &[CstObject], keys: &[&str]) {
    for (i, key) in keys.iter().enumerate().rev() {
        let (Some(parent), Some(object)) = (along.get(i), along.get(i + 1)) else { continue };
        if !object.properties().is_empty() {
            return;
        }
        if let Some(property) = parent.get(key) {
            property.remove();
        }
    }
}

/// Returns the value at a path.
pub(super) fn get(text: &str, path: &str) -> Result<Option<Value>, String> {
    let root = parse(text)?;
    let value = root.to_serde_value().unwrap_or_default();
    Ok(path.split('/').try_fold(&value, |at, key| at.get(key)).cloned())
}

/// Returns whether the value at a path is exactly `snippet`, whatever its layout.
pub(super) fn holds(text: &str, path: &str, snippet: &str) -> Result<bool, String> {
    let wanted: Value = serde_json::from_str(snippet).map_err(|e| e.to_string())?;
    Ok(get(text, path)?.is_some_and(|value| value == wanted))
}

/// Returns the new text, which ends with a newline if the old one was empty or ended with one.
fn ended(before: &str, root: &CstRootNode) -> String {
    let mut after = root.to_string();
    if (before.is_empty() || before.ends_with('\n')) && !after.ends_with('\n') {
        after.push('\n');
    }
    after
}

/// Returns whether nothing is in a file: it is empty, or an empty object without comments.
pub(super) fn is_empty(text: &str) -> bool {
    let bare: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    bare.is_empty() || bare == "{}"
}

/// Returns whether two files hold the same, whatever their layout.
pub(super) fn is_same(a: &str, b: &str) -> bool {
    let value = |text: &str| parse(text).ok()?.to_serde_value();
    value(a).is_some() && value(a) == value(b)
}
