//! The values of settings: their types, and the functions that read them.
//!
//! The error of such a function is the reason why the value cannot be used.

use std::net::IpAddr;
use std::path::Path;
use std::time::Duration;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use toml::Value;

/// Most results that a search may return.
pub const MAX_LIMIT: usize = 1000;
/// Longest `serve.idle_minutes`: a year.
const MAX_IDLE_MINUTES: u64 = 365 * 24 * 60;
/// The default of a flag that each project decides by its size.
pub(super) const AUTOMATIC: &str = "automatic";

/// The place where an index is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Location {
    /// The index is in `.cortex`.
    #[default]
    Project,
    /// The index is in the user's cache directory.
    Cache,
}

/// Globs of paths.
#[derive(Debug, Clone)]
pub struct Globs {
    /// The globs as they were written.
    pub patterns: Vec<String>,
    /// The paths that they match.
    pub paths: GlobSet,
    /// The folders that lead to such paths, where a setting needs them; empty otherwise.
    pub folders: GlobSet,
}

/// A model behind an OpenAI-compatible server.
#[derive(Debug, Clone)]
pub struct RemoteModel {
    /// The part of the URL before `/v1`, such as `http://localhost:11434`.
    pub url: String,
    /// Host and port, such as `localhost:11434`.
    pub authority: String,
    /// Whether the server is on this machine.
    pub is_local: bool,
    /// Whether the connection is not encrypted (`http`).
    pub is_plain: bool,
    pub model: String,
    pub dimensions: usize,
    pub token: Option<String>,
    pub query_prefix: String,
    pub passage_prefix: String,
    /// How long a search waits for the vector of its question.
    pub timeout: Duration,
}

/// Returns the value of a setting from a text outside of a file, such as a variable of the
/// environment. The form of the default tells the type: numbers, flags and lists are written as in
/// a file, and a plain word is a list of one.
pub(super) fn written(key: &str, default: &str, text: &str) -> Value {
    let as_text = Value::String(text.into());
    let as_in_file =
        || format!("x = {text}").parse::<toml::Table>().ok().and_then(|mut t| t.remove("x"));
    let is_automatic = default == AUTOMATIC;
    let is_flag = is_automatic || default.parse::<bool>().is_ok();
    let is_number = is_automatic || default.parse::<u64>().is_ok();
    match as_in_file() {
        Some(number @ Value::Integer(_)) if is_number => number,
        Some(flag @ Value::Boolean(_)) if is_flag => flag,
        Some(list @ Value::Array(_)) if default.starts_with('[') => list,
        _ if key == "serve.tools" => {
            Value::Array(text.split(',').map(|word| word.trim().to_string().into()).collect())
        }
        // A path may hold anything, also commas.
        _ if default.starts_with('[') => Value::Array(vec![as_text]),
        // Text stays text, even if it looks like a number.
        _ => as_text,
    }
}

/// Reads a setting that may have any value of its type.
pub(super) fn of_type<T: DeserializeOwned>(value: Value) -> Result<T, String> {
    value.try_into().map_err(|e: toml::de::Error| e.message().to_string())
}

pub(super) fn text_unless_empty(value: Value) -> Result<Option<String>, String> {
    of_type(value).map(|text: String| Some(text).filter(|text| !text.is_empty()))
}

/// Reads a flag or a number; `None` for [`AUTOMATIC`].
pub(super) fn or_automatic<T: DeserializeOwned>(value: Value) -> Result<Option<T>, String> {
    if value.as_str() == Some(AUTOMATIC) { Ok(None) } else { of_type(value).map(Some) }
}

/// Reads a number of megabytes as bytes.
pub(super) fn megabytes(value: Value) -> Result<u64, String> {
    of_type(value).map(|mb: u64| mb.saturating_mul(1 << 20))
}

pub(super) fn megabytes_unless_zero(value: Value) -> Result<Option<u64>, String> {
    megabytes(value).map(|bytes| Some(bytes).filter(|bytes| *bytes > 0))
}

pub(super) fn milliseconds(value: Value) -> Result<Duration, String> {
    of_type(value).map(Duration::from_millis)
}

pub(super) fn milliseconds_unless_zero(value: Value) -> Result<Option<Duration>, String> {
    milliseconds(value).map(|time| Some(time).filter(|time| !time.is_zero()))
}

pub(super) fn minutes(value: Value) -> Result<Duration, String> {
    of_type(value).map(|minutes: u64| Duration::from_mins(minutes.min(MAX_IDLE_MINUTES)))
}

pub(super) fn limit(value: Value) -> Result<usize, String> {
    let limit: usize = of_type(value)?;
    if (1..=MAX_LIMIT).contains(&limit) {
        return Ok(limit);
    }
    Err(format!("the value is {limit}, but must be from 1 to {MAX_LIMIT}"))
}

/// Reads where archives of indexes are: the path of a folder, or an address; `None` for nowhere.
pub(super) fn archives(value: Value) -> Result<Option<String>, String> {
    let place = text_unless_empty(value)?;
    if let Some(place) = &place
        && !(place.contains("://") || Path::new(place).is_absolute())
    {
        return Err(format!(
            "`{place}` is neither the whole path of a folder nor an address such as s3://bucket/folder"
        ));
    }
    Ok(place)
}

pub(super) fn address_of(value: Value) -> Result<IpAddr, String> {
    address(&of_type::<String>(value)?)
}

/// Parses an IP address or `localhost`.
///
/// # Errors
/// When the text is neither.
pub fn address(text: &str) -> Result<IpAddr, String> {
    let text = if text == "localhost" { "127.0.0.1" } else { text };
    text.parse().map_err(|_| {
        format!("`{text}` is not an IP address; give one like 127.0.0.1, or localhost")
    })
}

/// Addresses that open a file in an editor.
const EDITORS: [(&str, &str); 6] = [
    ("vscode", "vscode://file{path}:{line}"),
    ("vscodium", "vscodium://file{path}:{line}"),
    ("cursor", "cursor://file{path}:{line}"),
    ("windsurf", "windsurf://file{path}:{line}"),
    ("zed", "zed://file{path}:{line}"),
    ("idea", "idea://open?file={path}&line={line}"),
];
/// Addresses that a browser would run or load itself.
const NO_EDITORS: [&str; 8] =
    ["javascript", "data", "blob", "file", "http", "https", "about", "vbscript"];

/// Reads an editor: its name, or an address. Returns the address that opens `{path}`, which begins
/// with a slash, at `{line}`.
pub(super) fn editor(value: Value) -> Result<String, String> {
    let value: String = of_type(value)?;
    if let Some((_, address)) = EDITORS.iter().find(|(name, _)| *name == value) {
        return Ok((*address).to_string());
    }
    let scheme = value.split_once("://").map_or("", |(scheme, _)| scheme);
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
        && !NO_EDITORS.iter().any(|no| scheme.eq_ignore_ascii_case(no));
    if is_scheme && value.contains("{path}") {
        return Ok(value);
    }
    let names: Vec<&str> = EDITORS.iter().map(|(name, _)| *name).collect();
    Err(format!(
        "`{value}` is neither one of {} nor an address of an editor such as my-editor://open?file={{path}}&line={{line}}",
        names.join(", ")
    ))
}

pub(super) fn globs_of(value: Value) -> Result<Globs, String> {
    let patterns: Vec<String> = of_type(value)?;
    Ok(Globs { paths: globs(&patterns)?, folders: GlobSet::empty(), patterns })
}

pub(super) fn globs_with_folders(value: Value) -> Result<Globs, String> {
    let globs = globs_of(value)?;
    Ok(Globs { folders: folders_to(&globs.patterns)?, ..globs })
}

/// Builds a set of path globs: `src/**`, `*.rs` (in any folder), `docs`
/// (that folder and everything in it), `/docs` (the same, only at the root).
///
/// # Errors
/// Names the first glob that is not valid, and why.
pub fn globs(patterns: &[String]) -> Result<GlobSet, String> {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        let p = pattern.trim_start_matches("./").trim_end_matches('/');
        let p = if matches!(p, "" | ".") { "**" } else { p };
        let at_root = p.strip_prefix('/').filter(|p| !p.is_empty());
        let p = at_root.unwrap_or(p);
        let mut forms = vec![p.to_string(), format!("{p}/**")];
        if at_root.is_none() && !p.contains('/') {
            forms.extend([format!("**/{p}"), format!("**/{p}/**")]);
        }
        for form in forms {
            set.add(
                GlobBuilder::new(&form)
                    .literal_separator(true)
                    .build()
                    .map_err(|e| format!("`{pattern}` is not a glob: {}", e.kind()))?,
            );
        }
    }
    set.build().map_err(|e| e.to_string())
}

/// Builds a set that matches the folders above the paths of globs: `a`, `a/*` and `a/*/b` for
/// `a/*/b/c.rs`. A `**` at the beginning leads through no folder, because it would lead through all.
///
/// # Errors
/// Names the first glob that is not valid, and why.
pub(super) fn folders_to(patterns: &[String]) -> Result<GlobSet, String> {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        let p = pattern.trim_start_matches("./").trim_matches('/');
        for end in p.match_indices('/').map(|(end, _)| end).filter(|end| &p[..*end] != "**") {
            // A part of a glob may be invalid, such as `{a`. Then no folder leads to the rest.
            if let Ok(glob) = GlobBuilder::new(&p[..end]).literal_separator(true).build() {
                set.add(glob);
            }
        }
    }
    set.build().map_err(|e| e.to_string())
}
