//! Reads arguments as agents write them: numbers as strings, a single value in place of a list, an
//! empty string for a missing value.
//!
//! A tool reads its arguments by the schema that it shows, so that the two cannot differ. Each
//! argument can also be a string, as in the query of a URL.

use serde_json::{Map, Value};

use crate::engine::{AskError, pattern_in};
use crate::text::cut;

/// Names that are less similar (0–1) are not suggested.
const MIN_SIMILARITY: f64 = 0.5;

/// Names that other programs use for our arguments. A tool that has our name also accepts the
/// other one.
const OTHER_NAMES: &[(&str, &str)] = &[
    ("query", "pattern"),
    ("path", "paths"),
    ("glob", "paths"),
    ("path", "places"),
    ("paths", "places"),
    ("file", "path"),
    ("files", "places"),
    ("file_paths", "places"),
    ("include", "paths"),
    ("language", "languages"),
    ("case_insensitive", "ignore_case"),
    // Tools that edit files.
    ("file_path", "path"),
    ("file_path", "places"),
    ("file_text", "text"),
    ("content", "text"),
    ("new_str", "text"),
    ("new_string", "text"),
    ("insert_text", "text"),
    ("old_str", "old_text"),
    ("old_string", "old_text"),
    ("insert_line", "line"),
];

/// Names of the number of results. A tool that has one of them also accepts the others.
const NAMES_OF_LIMIT: &[&str] = &[
    "limit", "max_nodes", "max_facts", "k", "n", "top_k", "max_results", "num_results",
    "head_limit",
];

/// Values that other programs use for ours: argument, their value, our value.
const OTHER_VALUES: &[(&str, &str, &str)] = &[("command", "str_replace", "replace")];

/// Arguments whose values are clamped to the allowed range, because an error would not help the
/// caller.
const CLAMPED: [&str; 2] = ["max_tokens", "wait_ms"];

/// Converts the arguments to the types of the schema. Also returns warnings about them.
pub(super) fn read(
    arguments: Value,
    schema: &Map<String, Value>,
) -> Result<(Value, Vec<String>), AskError> {
    let given = match arguments {
        Value::Null => Map::new(),
        Value::Object(given) => given,
        Value::String(text) => serde_json::from_str(&text).map_err(|_| not_an_object())?,
        _ => return Err(not_an_object()),
    };
    let nothing = Map::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&nothing);
    let (mut out, mut warnings) = (Map::new(), Vec::new());
    for (name, value) in under_our_names(given, properties) {
        let Some(property) = properties.get(&name) else {
            warnings.push(unknown(&name, properties));
            continue;
        };
        // Blanks are part of a text that is used as it is.
        let is_verbatim = number(property, "minLength") == Some(0);
        if value.as_str().is_some_and(|s| s.trim().is_empty() && !is_verbatim) {
            continue;
        }
        out.insert(name.clone(), fit(&name, value, property)?);
    }
    let required = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str);
    if let Some(missing) = required.into_iter().find(|name| !out.contains_key(*name)) {
        return Err(AskError::Arguments(format!(
            "{missing} is missing: {}",
            text_of(&properties[missing], "description")
        )));
    }
    Ok((Value::Object(out), warnings))
}

/// Reads only those arguments that the schema has, whatever the others are.
pub(super) fn read_part(arguments: &Value, schema: &Map<String, Value>) -> Result<Value, AskError> {
    let properties = schema.get("properties").and_then(Value::as_object);
    let is_part = |name: &str| properties.is_some_and(|part| part.contains_key(name));
    let part = match arguments {
        Value::Object(given) => {
            let part = given.iter().filter(|(name, _)| is_part(name));
            Value::Object(part.map(|(name, value)| (name.clone(), value.clone())).collect())
        }
        other => other.clone(),
    };
    Ok(read(part, schema)?.0)
}

/// Gives the arguments our names. An argument under our name counts before one under another. A list
/// under the name of a single value means the argument that takes a list, if there is one.
fn under_our_names(
    given: Map<String, Value>,
    properties: &Map<String, Value>,
) -> Map<String, Value> {
    let is_ours = |name: &str| properties.contains_key(name);
    let takes = |name: &str, value: &Value| {
        properties
            .get(name)
            .is_some_and(|ours| !value.is_array() || text_of(ours, "type") == "array")
    };
    let names_of = |name: &str| -> Vec<&'static str> {
        let others = OTHER_NAMES.iter().filter(|(other, _)| *other == name);
        let limits = NAMES_OF_LIMIT.iter().filter(|_| NAMES_OF_LIMIT.contains(&name));
        others.map(|(_, ours)| *ours).chain(limits.copied()).collect()
    };
    let is_of_other = |name: &str, value: &Value| {
        !takes(name, value) && names_of(name).iter().any(|ours| takes(ours, value))
    };
    let (mut out, others): (Map<String, Value>, Map<String, Value>) = given
        .into_iter()
        .filter(|(_, value)| !value.is_null())
        .partition(|(name, value)| is_ours(name) && !is_of_other(name, value));
    let (mut first, mut last) = (None, None);
    for (name, value) in others {
        let names = names_of(&name);
        let fitting = names.iter().find(|ours| takes(ours, &value));
        let ours = fitting.or_else(|| names.iter().find(|ours| is_ours(ours)));
        match (&*name, ours) {
            (_, Some(ours)) => _ = out.entry(*ours).or_insert(value),
            ("start_line", _) if is_ours("lines") => first = scalar(&value),
            ("end_line", _) if is_ours("lines") => last = scalar(&value),
            ("view_range", _) if is_ours("lines") => {
                let mut ends = list(value).into_iter().map(|end| scalar(&end));
                first = ends.next().flatten();
                // -1 is the end of the file.
                last = ends.next().flatten().filter(|end| end != "-1");
            }
            _ => _ = out.insert(name, value),
        }
    }
    if first.is_some() || last.is_some() {
        let lines = format!("{}-{}", first.unwrap_or_default(), last.unwrap_or_default());
        out.entry("lines").or_insert(lines.into());
    }
    out
}

fn not_an_object() -> AskError {
    AskError::Arguments(
        "the arguments are not a JSON object: give one like {\"query\": \"…\"}".into(),
    )
}

fn unknown(name: &str, properties: &Map<String, Value>) -> String {
    let similar = |known: &String| strsim::jaro_winkler(name, known);
    let nearest = properties
        .keys()
        .max_by(|a, b| similar(a).total_cmp(&similar(b)))
        .filter(|k| similar(k) >= MIN_SIMILARITY);
    let advice = nearest.map(|k| format!("; did you mean `{k}`?")).unwrap_or_default();
    format!("there is no argument `{}`, so it was ignored{advice}", cut(name, 40))
}

/// Converts a value to the type of its property.
fn fit(name: &str, value: Value, property: &Value) -> Result<Value, AskError> {
    let wrong = |what: &str| {
        let shown = value.as_str().map_or_else(|| value.to_string(), |s| format!("`{s}`"));
        Err(AskError::Arguments(format!("{name} is {}: give {what}", cut(&shown, 60))))
    };
    match text_of(property, "type") {
        "integer" => {
            let (min, max) =
                (number(property, "minimum").unwrap_or(0), number(property, "maximum"));
            let what = max.map_or_else(
                || format!("a whole number from {min}"),
                |max| format!("{min} to {max}"),
            );
            match integer(&value) {
                Some(n) if CLAMPED.contains(&name) => Ok(n.clamp(min, max.unwrap_or(n)).into()),
                Some(n) if n >= min && max.is_none_or(|max| n <= max) => Ok(n.into()),
                _ => wrong(&what),
            }
        }
        "boolean" => match scalar(&value).unwrap_or_default().to_lowercase().as_str() {
            "true" | "1" | "yes" | "on" => Ok(true.into()),
            "false" | "0" | "no" | "off" => Ok(false.into()),
            _ => wrong("true or false"),
        },
        "object" => Ok(read(value, property.as_object().unwrap_or(&Map::new()))?.0),
        "array" => {
            let item = |v: Value| fit(name, v, property.get("items").unwrap_or(&Value::Null));
            // A pattern may hold commas.
            let is_pattern = |text: &str| name == "places" && pattern_in(text).is_some();
            let values =
                if value.as_str().is_some_and(is_pattern) { vec![value] } else { list(value) };
            Ok(Value::Array(values.into_iter().map(item).collect::<Result<_, _>>()?))
        }
        // JSON may come as a string or as a value.
        _ if property.get("contentMediaType").is_some() && !value.is_string() => {
            Ok(value.to_string().into())
        }
        _ => {
            let text = scalar(&value).or_else(|| place(&value));
            let Some(text) = text else { return wrong("a string") };
            if text.contains('\0') && number(property, "minLength") != Some(0) {
                return wrong("it without NUL characters, which no path or name has");
            }
            let Some(values) = property.get("enum").and_then(Value::as_array) else {
                return Ok(text.into());
            };
            let values: Vec<&str> = values.iter().filter_map(Value::as_str).collect();
            // `type-usages` means `type_usages`.
            let given = text.trim().replace('-', "_").to_lowercase();
            let other = OTHER_VALUES.iter().find(|(of, theirs, _)| *of == name && *theirs == given);
            let given = other.map_or(&*given, |(.., ours)| ours);
            match values.iter().find(|v| v.eq_ignore_ascii_case(given)) {
                Some(v) => Ok((*v).into()),
                None => wrong(&format!("one of {}", values.join(", "))),
            }
        }
    }
}

fn text_of<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn number(property: &Value, key: &str) -> Option<u64> {
    property.get(key).and_then(Value::as_u64)
}

/// Reads a whole number, also from a string and from `10.0`.
fn integer(value: &Value) -> Option<u64> {
    let text = scalar(value)?;
    let text = text.trim();
    text.strip_suffix(".0").unwrap_or(text).parse().ok()
}

/// Returns a single value as text.
fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(n) => Some(n.to_string()),
        Value::Bool(b) => Some(b.to_string()),
        _ => None,
    }
}

/// Returns a place that is written as an object: `{"path": "src/a.rs", "lines": "10-40"}`.
fn place(value: &Value) -> Option<String> {
    let get = |name: &str| value.get(name).and_then(scalar);
    let path = ["path", "file_path", "file"].into_iter().find_map(get)?;
    let between = || match (get("start_line"), get("end_line")) {
        (None, None) => None,
        (first, last) => {
            let first = first.unwrap_or_else(|| "1".into());
            Some(format!("{first}-{}", last.unwrap_or_default()))
        }
    };
    let symbol = get("symbol").map(|symbol| format!("{path}#{symbol}"));
    let lines = get("lines").or_else(between).map(|lines| format!("{path}:{lines}"));
    Some(lines.or(symbol).unwrap_or(path))
}

/// Reads a list: an array, a single value, or a string with JSON, commas or lines.
fn list(value: Value) -> Vec<Value> {
    match value {
        Value::Array(values) => values.into_iter().filter(|v| !v.is_null()).collect(),
        Value::String(text) => match serde_json::from_str(&text) {
            Ok(Value::Array(values)) => values,
            _ => values_of(&text).into_iter().map(Value::from).collect(),
        },
        value => vec![value],
    }
}

/// Splits a text into its values. A range of lines belongs to the place before it, as in
/// `src/a.rs:10-40,80-90`.
fn values_of(text: &str) -> Vec<String> {
    let is_lines = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_digit())
            && text.chars().all(|c| c.is_ascii_digit() || matches!(c, '-' | ','))
    };
    let mut values: Vec<String> = Vec::new();
    for value in commas(text).map(str::trim).filter(|value| !value.is_empty()) {
        match values.last_mut() {
            Some(place)
                if is_lines(value)
                    && place.rsplit_once(':').is_some_and(|(_, lines)| is_lines(lines)) =>
            {
                place.push(',');
                place.push_str(value);
            }
            _ => values.push(value.to_string()),
        }
    }
    values
}

/// Splits at commas, except inside braces as in `*.{rs,toml}`, and at the ends of lines.
fn commas(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0usize;
    text.split(move |c| {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == '\n' || c == ',' && depth == 0
    })
}
