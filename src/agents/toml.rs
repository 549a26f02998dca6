//! Changes of TOML files. Comments, order and spaces of everything else stay.

use toml_edit::{DocumentMut, Item, Table};

use super::ours::is_program;

fn parse(text: &str) -> Result<DocumentMut, String> {
    text.parse().map_err(|e: toml_edit::TomlError| {
        // The lines after the first quote the file.
        let shown = e.to_string();
        format!("{}: {}", shown.lines().next().unwrap_or_default(), e.message().trim())
    })
}

/// Sets the table at a path to the keys of `snippet`. A table of ours that is there keeps its other
/// keys.
pub(super) fn set(text: &str, path: &str, snippet: &str) -> Result<String, String> {
    let mut document = parse(text)?;
    let new = parse(snippet)?;
    let keys: Vec<&str> = path.split('/').collect();
    let (last, above) = keys.split_last().ok_or("the path is empty")?;
    let mut at: &mut Table = document.as_table_mut();
    for key in above {
        let item = at.entry(key).or_insert_with(|| {
            let mut table = Table::new();
            table.set_implicit(true);
            Item::Table(table)
        });
        at = item.as_table_mut().ok_or_else(|| {
            format!("{key} is not a table of its own: write it as [{path}] first")
        })?;
    }
    match at.get_mut(last) {
        None => {
            at.insert(last, Item::Table(new.as_table().clone()));
        }
        Some(old) => {
            let is_as_wanted =
                new.iter().all(|(key, value)| old.get(key).is_some_and(|was| same(was, value)));
            if !(is_as_wanted || is_ours(old)) {
                return Err(format!("{path} is a server of another program"));
            }
            let old = old.as_table_like_mut().ok_or_else(|| format!("{path} is not a table"))?;
            for (key, value) in new.iter() {
                let is_same = old.get(key).is_some_and(|was| same(was, value));
                if !is_same {
                    old.insert(key, value.clone());
                }
            }
        }
    }
    Ok(document.to_string())
}

/// Removes the table at a path, if it is ours, and the tables above it that are empty then.
pub(super) fn unset(text: &str, path: &str, _snippet: &str) -> Result<String, String> {
    let mut document = parse(text)?;
    let keys: Vec<&str> = path.split('/').collect();
    Ok(if remove(document.as_table_mut(), &keys) { document.to_string() } else { text.into() })
}

/// Removes the table at a path. Returns whether it was there.
fn remove(table: &mut Table, keys: &[&str]) -> bool {
    let Some((first, rest)) = keys.split_first() else { return false };
    if rest.is_empty() {
        return table.get(first).is_some_and(is_ours) && table.remove(first).is_some();
    }
    let Some(below) = table.get_mut(first).and_then(Item::as_table_mut) else { return false };
    let is_removed = remove(below, rest);
    if is_removed && below.is_empty() && below.is_implicit() {
        table.remove(first);
    }
    is_removed
}

/// Returns whether the command of a server is ours.
fn is_ours(server: &Item) -> bool {
    let command = server.get("command").and_then(Item::as_str);
    let args = server.get("args").and_then(Item::as_array);
    let mut words = args.into_iter().flatten().filter_map(|word| word.as_str()).chain(command);
    words.any(is_program)
}

/// Returns whether two values are the same, whatever surrounds them.
fn same(a: &Item, b: &Item) -> bool {
    let bare = |item: &Item| {
        let mut value = item.as_value().cloned();
        if let Some(value) = &mut value {
            value.decor_mut().clear();
        }
        value.map(|v| v.to_string())
    };
    bare(a) == bare(b)
}

/// Returns the command of the server at a path, with its arguments.
pub(super) fn command(text: &str, path: &str) -> Result<Option<Vec<String>>, String> {
    let document = parse(text)?;
    let server = path.split('/').try_fold(document.as_item(), |at, key| at.get(key));
    let Some(server) = server else { return Ok(None) };
    let command = server.get("command").and_then(Item::as_str).map(String::from);
    let args = server.get("args").and_then(Item::as_array);
    let args = args.into_iter().flatten().filter_map(|word| word.as_str().map(String::from));
    Ok(Some(command.into_iter().chain(args).collect()))
}

/// Returns whether the table at a path is exactly `snippet`, whatever its layout.
pub(super) fn holds(text: &str, path: &str, snippet: &str) -> Result<bool, String> {
    let value =
        |text: &str| toml::from_str::<toml::Value>(text).map_err(|e| e.message().to_string());
    let (there, wanted) = (value(text)?, value(snippet)?);
    Ok(path.split('/').try_fold(&there, |at, key| at.get(key)) == Some(&wanted))
}
