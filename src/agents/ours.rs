//! Recognises what an earlier version, or the user's own hand, wrote for Cortex.

use serde_json::Value;

/// The names of the program.
pub(crate) const PROGRAMS: [&str; 2] = ["cortex", "cortex-codesearch"];

/// Returns whether a word is the program: its name, or a path to it.
pub(super) fn is_program(word: &str) -> bool {
    let word = word.trim_matches(['"', '\'']);
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    PROGRAMS.contains(&name.strip_suffix(".exe").unwrap_or(name))
}

/// Returns whether an entry of a server starts `cortex mcp`.
pub(super) fn starts_cortex(entry: &Value) -> bool {
    let mut words = Vec::new();
    strings(entry, &mut words);
    words.iter().any(|w| is_program(w)) && words.contains(&"mcp")
}

/// Returns whether a value holds a command `cortex hook …`.
pub(super) fn holds_hook(value: &Value) -> bool {
    let mut words = Vec::new();
    strings(value, &mut words);
    words.iter().any(|word| {
        word.split_once(" hook ").is_some_and(|(program, event)| {
            is_program(program) && event.starts_with(|c: char| c.is_ascii_lowercase())
        })
    })
}

fn strings<'a>(value: &'a Value, out: &mut Vec<&'a str>) {
    match value {
        Value::String(s) => out.push(s),
        Value::Array(values) => values.iter().for_each(|v| strings(v, out)),
        Value::Object(map) => map.values().for_each(|v| strings(v, out)),
        _ => {}
    }
}
