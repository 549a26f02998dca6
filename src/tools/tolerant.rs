//! Reads arguments as agents write them: numbers as strings, a single value in place of a list, an
//! empty string for a missing value.
//!
//! A tool reads its arguments by the schema that it shows, so that the two cannot differ. Each
//! argument can also be a string, as in the query of a URL.

use serde_json::{Map, Value};

use crate::engine::AskError;
use crate::text::cut;

/// Names that are less similar (0–1) are not suggested.
const MIN_SIMILARITY: f64 = 0.5;

/// Former names of arguments with their present names. A tool that has the present name also
/// accepts the former one.
const RENAMED: &[(&str, &str)] = &[
    ("path", "paths"),
    ("language", "languages"),
    ("top", "limit"),
    ("max_results", "limit"),
    ("group_by", "by"),
    ("context_lines", "context"),
    ("include_context", "context"),
];
/// Names that other programs use for our arguments. They are accepted without a warning.
const OTHER_NAMES: &[(&str, &str)] = &[
    ("max_nodes", "limit"),
    ("max_facts", "limit"),
    ("query", "pattern"),
    ("glob", "paths"),
    ("head_limit", "limit"),
    ("case_insensitive", "ignore_case"),
];
/// Lines of context for a caller that asks for context without a number.
const SOME_LINES: u64 = 3;

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
    for (name, value) in present_names(given, properties, &mut warnings) {
        let Some(property) = properties.get(&name) else {
            warnings.push(unknown(&name, properties));
            continue;
        };
        // Blanks are part of a text that is used as it is.
        let is_verbatim = number(property, "minLength") == Some(0);
        if value.is_null() || value.as_str().is_some_and(|s| s.trim().is_empty() && !is_verbatim) {
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

/// Renames arguments to their present names.
fn present_names(
    given: Map<String, Value>,
    properties: &Map<String, Value>,
    warnings: &mut Vec<String>,
) -> Map<String, Value> {
    let mut out = Map::new();
    let (mut first, mut last) = (None, None);
    for (name, value) in given {
        let is_old = |(old, new): &&(&str, &str)| {
            *old == name && !properties.contains_key(*old) && properties.contains_key(*new)
        };
        let has_ranges = properties.contains_key("lines") && !properties.contains_key(&name);
        if let Some((old, new)) = RENAMED.iter().find(is_old) {
            warnings.push(format!("`{old}` is called `{new}` now"));
            let value = if *old == "include_context" { of_flag(&value) } else { value };
            out.entry(*new).or_insert(value);
        } else if let Some((_, new)) = OTHER_NAMES.iter().find(is_old) {
            out.entry(*new).or_insert(value);
        } else if has_ranges && name == "start_line" {
            first = scalar(&value);
        } else if has_ranges && name == "end_line" {
            last = scalar(&value);
        } else {
            out.insert(name, value);
        }
    }
    if first.is_some() || last.is_some() {
        let lines = format!("{}-{}", first.unwrap_or_default(), last.unwrap_or_default());
        warnings.push(format!("`start_line` and `end_line` are called `lines` now: {lines}"));
        out.entry("lines").or_insert(lines.into());
    }
    out
}

/// Converts the former flag to a number of lines.
fn of_flag(value: &Value) -> Value {
    match scalar(value).as_deref() {
        Some("true" | "1") => SOME_LINES.into(),
        _ => 0.into(),
    }
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
            Ok(Value::Array(list(value).into_iter().map(item).collect::<Result<_, _>>()?))
        }
        // JSON may come as a string or as a value.
        _ if property.get("contentMediaType").is_some() && !value.is_string() => {
            Ok(value.to_string().into())
        }
        _ => {
            let Some(text) = scalar(&value) else { return wrong("a string") };
            let Some(values) = property.get("enum").and_then(Value::as_array) else {
                return Ok(text.into());
            };
            let values: Vec<&str> = values.iter().filter_map(Value::as_str).collect();
            // `type-usages` means `type_usages`.
            match values.iter().find(|v| v.eq_ignore_ascii_case(&text.trim().replace('-', "_"))) {
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

/// Reads a list: an array, a single value, or a string with JSON or commas.
fn list(value: Value) -> Vec<Value> {
    match value {
        Value::Array(values) => values.into_iter().filter(|v| !v.is_null()).collect(),
        Value::String(text) => match serde_json::from_str(&text) {
            Ok(Value::Array(values)) => values,
            _ => commas(&text).map(str::trim).filter(|t| !t.is_empty()).map(Value::from).collect(),
        },
        value => vec![value],
    }
}

/// Splits at commas, except inside braces as in `*.{rs,toml}`.
fn commas(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0usize;
    text.split(move |c| {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    })
}
