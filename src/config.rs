//! Settings: `.cortex/config.toml`, then `CORTEX_*`, then flags; resolved and checked once.
//!
//! The table [`KEYS`] is the only list of settings: unknown keys are told apart by it, the environment is read by it,
//! and the documentation is tested against it.

use std::net::IpAddr;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use serde::Deserialize;

/// Every setting: key, default as it would be written, meaning.
pub const KEYS: &[(&str, &str, &str)] = &[
    ("index.max_file_bytes", "1048576", "Larger files are skipped."),
    ("index.exclude", "[]", "Globs over paths that are not indexed, beside .gitignore and .cortexignore."),
    ("index.compress", "false", "Chunk files are written as .json.zst, a sixth as large; a search takes a millisecond longer."),
    ("search.limit", "10", "How many results `cortex search` prints."),
    ("search.context", "6", "How many lines of each result it shows; 0 for none."),
    (
        "embed.url",
        "",
        "An OpenAI-compatible server that makes the vectors (http://localhost:11434 is Ollama's). It is sent all text that is indexed, and every \
question. Empty: the bundled model, and nothing leaves this machine. A server on another machine counts only from CORTEX_EMBED_URL.",
    ),
    ("embed.model", "", "The name of its model."),
    ("embed.dimensions", "0", "How many numbers a vector of that model has."),
    ("embed.token", "", "What it must be sent as `Authorization: Bearer …`; rather set CORTEX_EMBED_TOKEN."),
    ("embed.query_prefix", "", "What the model wants before a question, such as `search_query: `."),
    ("embed.passage_prefix", "", "What the model wants before a text that is found, such as `search_document: `."),
    ("embed.timeout_ms", "2000", "How long a search waits for the vector of its question before it goes by words alone, in milliseconds."),
    ("live.debounce_ms", "500", "How long files must be quiet before a server takes changes in, in milliseconds."),
    (
        "live.memory_mb",
        "0",
        "How much memory a server may hold, in megabytes. Above it, it first does without what it keeps of the index in memory, then without vectors, until it is \
started anew; 0 for no limit.",
    ),
    (
        "memory.notes",
        "[]",
        "Folders of Markdown files that are remembered and are not part of the index. Empty: the notes that Claude Code keeps of this project.",
    ),
    (
        "memory.window_ms",
        "5000",
        "How long before or after git did something a change of a file may be git's: events are recorded when things were quiet for so long, in milliseconds.",
    ),
    ("memory.max_events", "5000", "How many events of each kind (edits, git's operations, files that git changed) are kept."),
    ("memory.event_days", "180", "For how many days. What somebody said, or an agent answered, is kept until it is forgotten by hand."),
    ("serve.address", "127.0.0.1", "The address on which `cortex serve` listens; any but this machine's own needs a token."),
    ("serve.port", "7717", "The first port that it tries."),
    (
        "serve.tools",
        "[]",
        "Which groups of tools servers offer: search, graph, memory, edit. Empty: search, graph, and memory where anything is remembered.",
    ),
    ("serve.token", "", "What clients must send as `Authorization: Bearer …`; empty for nothing."),
];

/// Resolved settings.
#[derive(Debug, Clone)]
pub struct Config {
    /// Larger files are skipped, in bytes.
    pub max_file_bytes: u64,
    /// Paths that are not indexed.
    pub exclude: GlobSet,
    /// The same as they were written.
    pub exclude_patterns: Vec<String>,
    /// Chunk files are compressed.
    pub compress: bool,
    /// Results that a search prints.
    pub limit: usize,
    /// Lines that are shown of each.
    pub context: usize,
    /// The server that makes the vectors; `None`: the bundled model does.
    pub remote_model: Option<RemoteModel>,
    /// How long files must be quiet before a server takes changes in.
    pub debounce: Duration,
    /// How much memory a server may hold, in bytes.
    pub memory_bytes: Option<u64>,
    /// Folders of notes that are remembered; empty when nothing is said.
    pub notes: Vec<PathBuf>,
    /// How long things must be quiet before events are recorded.
    pub window: Duration,
    /// Events that are kept of each kind.
    pub max_events: usize,
    /// For how many days.
    pub event_days: u32,
    /// Where the HTTP server listens.
    pub address: IpAddr,
    /// The first port that it tries.
    pub port: u16,
    /// Groups of tools that it offers; empty when nothing is said.
    pub tools: Vec<String>,
    /// What its clients must know.
    pub token: Option<String>,
}

/// A model behind an OpenAI-compatible server.
#[derive(Debug, Clone)]
pub struct RemoteModel {
    /// `http://localhost:11434`: what comes before `/v1`.
    pub url: String,
    /// `localhost:11434`
    pub authority: String,
    /// The server is on this machine.
    pub is_local: bool,
    /// What is sent can be read on the way.
    pub is_plain: bool,
    pub model: String,
    pub dimensions: usize,
    pub token: Option<String>,
    pub query_prefix: String,
    pub passage_prefix: String,
    /// How long a search waits for its vector.
    pub timeout: Duration,
}

/// Most results that may be asked for.
pub const MAX_LIMIT: usize = 1000;

/// What a source of settings says; `None`: nothing.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct RawConfig {
    index: RawIndex,
    search: RawSearch,
    embed: RawEmbed,
    live: RawLive,
    memory: RawMemory,
    serve: RawServe,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct RawIndex {
    max_file_bytes: Option<u64>,
    exclude: Option<Vec<String>>,
    compress: Option<bool>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct RawSearch {
    limit: Option<usize>,
    context: Option<usize>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct RawEmbed {
    url: Option<String>,
    model: Option<String>,
    dimensions: Option<usize>,
    token: Option<String>,
    query_prefix: Option<String>,
    passage_prefix: Option<String>,
    timeout_ms: Option<u64>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct RawLive {
    debounce_ms: Option<u64>,
    memory_mb: Option<u64>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct RawMemory {
    notes: Option<Vec<PathBuf>>,
    window_ms: Option<u64>,
    max_events: Option<usize>,
    event_days: Option<u32>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct RawServe {
    address: Option<String>,
    port: Option<u16>,
    tools: Option<Vec<String>>,
    token: Option<String>,
}

/// A setting that cannot be used. The message names where it stands and what would do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {message}")]
pub struct ConfigError {
    place: String,
    message: String,
}

impl ConfigError {
    fn new(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self { place: place.into(), message: message.into() }
    }
}

impl Config {
    /// Reads the settings: `file` if it is there, overridden by the variables of `env` (name, value).
    ///
    /// # Errors
    /// A file that cannot be read or parsed, an unknown key, a value of the wrong shape.
    pub fn load(file: &Path, env: impl Iterator<Item = (String, String)>) -> Result<Self, ConfigError> {
        let mut table = match std::fs::read_to_string(file) {
            Ok(text) => parse(file, &text)?,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => toml::Table::new(),
            Err(e) => return Err(ConfigError::new(file.display().to_string(), e.to_string())),
        };
        let (mut url_from_env, mut notes_from_env) = (false, false);
        for (name, value) in env {
            set_from_env(&mut table, &name, &value)?;
            url_from_env |= name == "CORTEX_EMBED_URL";
            notes_from_env |= name == "CORTEX_MEMORY_NOTES";
        }
        let raw: RawConfig = table.try_into().map_err(|e: toml::de::Error| ConfigError::new(place(file), e.message()))?;
        let is_within = |p: &PathBuf| p.components().all(|c| matches!(c, Component::Normal(_) | Component::CurDir));
        if let Some(outside) = raw.memory.notes.iter().flatten().find(|p| !notes_from_env && !is_within(p)) {
            let message = format!(
                "memory.notes names {}, and a file that came with the code must not have others read: set CORTEX_MEMORY_NOTES if you agree",
                outside.display()
            );
            return Err(ConfigError::new(place(file), message));
        }
        Self::resolve(raw, file, url_from_env)
    }

    fn resolve(raw: RawConfig, file: &Path, url_from_env: bool) -> Result<Self, ConfigError> {
        let exclude_patterns = raw.index.exclude.unwrap_or_default();
        let exclude = globs(&exclude_patterns).map_err(|message| ConfigError::new(place(file), format!("index.exclude: {message}")))?;
        let limit = raw.search.limit.unwrap_or(10);
        if !(1..=MAX_LIMIT).contains(&limit) {
            return Err(ConfigError::new(place(file), format!("search.limit is {limit}, but must be from 1 to {MAX_LIMIT}")));
        }
        let address = raw.serve.address.unwrap_or_else(|| "127.0.0.1".into());
        let address = self::address(&address).map_err(|e| ConfigError::new(place(file), format!("serve.address: {e}")))?;
        Ok(Self {
            max_file_bytes: raw.index.max_file_bytes.unwrap_or(1 << 20),
            exclude,
            exclude_patterns,
            compress: raw.index.compress.unwrap_or(false),
            limit,
            context: raw.search.context.unwrap_or(6),
            remote_model: raw.embed.resolve(url_from_env).map_err(|message| ConfigError::new(place(file), message))?,
            debounce: Duration::from_millis(raw.live.debounce_ms.unwrap_or(500)),
            memory_bytes: raw.live.memory_mb.filter(|mb| *mb > 0).map(|mb| mb.saturating_mul(1 << 20)),
            notes: raw.memory.notes.unwrap_or_default(),
            window: Duration::from_millis(raw.memory.window_ms.unwrap_or(5000)),
            max_events: raw.memory.max_events.unwrap_or(5000),
            event_days: raw.memory.event_days.unwrap_or(180),
            address,
            port: raw.serve.port.unwrap_or(7717),
            tools: raw.serve.tools.unwrap_or_default(),
            token: raw.serve.token.filter(|t| !t.is_empty()),
        })
    }
}

/// More than any model gives.
const MAX_DIMENSIONS: usize = 16_384;

impl RawEmbed {
    /// The model, if there is a server; or what is wrong.
    fn resolve(self, url_from_env: bool) -> Result<Option<RemoteModel>, String> {
        let url = self.url.unwrap_or_default();
        if url.is_empty() {
            return Ok(None);
        }
        // Clients of OpenAI are given the address with /v1.
        let url = url.trim_end_matches('/').trim_end_matches("/v1").trim_end_matches('/').to_string();
        let unusable = |why| format!("embed.url is `{url}`, but {why}; http://localhost:11434 would do");
        let uri: http::Uri = url.parse().map_err(|e| unusable(format!("that is no address: {e}")))?;
        let (Some(scheme @ ("http" | "https")), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
            return Err(unusable("it must begin with http:// or https://".into()));
        };
        if authority.as_str().contains('@') || uri.query().is_some() {
            return Err("embed.url must not hold a password or a query: what the server must be sent is embed.token".into());
        }
        let host = authority.host();
        let is_local = address(host.trim_matches(['[', ']'])).is_ok_and(|ip| ip.is_loopback());
        if !is_local && !url_from_env {
            return Err(format!(
                "embed.url names another machine ({host}), and a file that came with the code must not send it away: set CORTEX_EMBED_URL to that address if you \
agree, or to nothing for the bundled model"
            ));
        }
        let model = self.model.unwrap_or_default();
        if model.is_empty() {
            return Err("embed.url is set, and embed.model is not: which model of that server?".into());
        }
        let dimensions = self.dimensions.unwrap_or(0);
        if !(1..=MAX_DIMENSIONS).contains(&dimensions) {
            return Err(format!(
                "embed.dimensions is {dimensions}, but must be how many numbers a vector of {model} has, from 1 to {MAX_DIMENSIONS}: its documentation says it (768 for \
nomic-embed-text)"
            ));
        }
        Ok(Some(RemoteModel {
            authority: authority.to_string(),
            is_local,
            is_plain: scheme == "http",
            url,
            model,
            dimensions,
            token: self.token.filter(|t| !t.is_empty()),
            query_prefix: self.query_prefix.unwrap_or_default(),
            passage_prefix: self.passage_prefix.unwrap_or_default(),
            timeout: Duration::from_millis(self.timeout_ms.unwrap_or(2000)),
        }))
    }
}

/// An IP address, or `localhost`.
///
/// # Errors
/// When it is neither.
pub fn address(text: &str) -> Result<IpAddr, String> {
    let text = if text == "localhost" { "127.0.0.1" } else { text };
    text.parse().map_err(|_| format!("`{text}` is no IP address"))
}

fn place(file: &Path) -> String {
    format!("{} (or CORTEX_*)", file.display())
}

/// A set of path globs: `src/**`, `*.rs` (any folder), `docs` (that folder and all in it).
///
/// # Errors
/// The glob that is not well-formed, and why.
pub fn globs(patterns: &[String]) -> Result<GlobSet, String> {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        let p = pattern.trim_start_matches("./").trim_end_matches('/');
        let p = if matches!(p, "" | ".") { "**" } else { p };
        let mut forms = vec![p.to_string(), format!("{p}/**")];
        if !p.contains('/') {
            forms.extend([format!("**/{p}"), format!("**/{p}/**")]);
        }
        for form in forms {
            set.add(
                GlobBuilder::new(&form).literal_separator(true).build().map_err(|e| format!("`{pattern}` is not a glob: {}", e.kind()))?,
            );
        }
    }
    set.build().map_err(|e| e.to_string())
}

fn parse(file: &Path, text: &str) -> Result<toml::Table, ConfigError> {
    let table: toml::Table = text.parse().map_err(|e: toml::de::Error| {
        let line = e.span().map_or(1, |s| text[..s.start.min(text.len())].matches('\n').count() + 1);
        ConfigError::new(format!("{}:{line}", file.display()), e.message())
    })?;
    for (section, value) in &table {
        let keys: Vec<String> = match value.as_table() {
            Some(inner) => inner.keys().map(|k| format!("{section}.{k}")).collect(),
            None => vec![section.clone()],
        };
        if let Some(key) = keys.iter().find(|k| !KEYS.iter().any(|(known, ..)| known == k)) {
            return Err(ConfigError::new(
                format!("{}:{}", file.display(), line_of(text, key)),
                unknown(key, KEYS.iter().map(|k| k.0.to_string())),
            ));
        }
    }
    Ok(table)
}

/// The line on which a key is set: `limit = …` under `[search]`, `search.limit = …`, or the section itself.
fn line_of(text: &str, key: &str) -> usize {
    let mut section = String::new();
    for (i, line) in text.lines().enumerate() {
        let line = line.trim();
        if let Some(name) = line.strip_prefix('[').and_then(|l| l.split(']').next()) {
            section = format!("{}.", name.trim());
        }
        let name = line.split('=').next().unwrap_or_default().trim().trim_matches('"');
        if format!("{section}{name}") == key || name == key || section.trim_end_matches('.') == key {
            return i + 1;
        }
    }
    1
}

fn unknown(key: &str, known: impl Iterator<Item = String>) -> String {
    let last = |s: &str| s.rsplit('.').next().unwrap_or(s).to_string();
    // How far beyond what a slip of the hand explains.
    let excess = |a: &str, b: &str| strsim::damerau_levenshtein(a, b).saturating_sub(1 + a.len() / 3);
    let far = |k: &String| excess(key, k).min(excess(&last(key), &last(k)));
    let distance = |k: &String| (far(k), strsim::damerau_levenshtein(key, k));
    let all: Vec<String> = known.collect();
    match all.iter().min_by_key(|k| distance(k)).filter(|k| far(k) == 0) {
        Some(near) => format!("there is no setting `{key}`; did you mean `{near}`?"),
        None => format!("there is no setting `{key}`; there are {}", all.join(", ")),
    }
}

/// `CORTEX_SEARCH_LIMIT=5` sets `search.limit`. Numbers and lists are written as in the file; a plain word is a list of one.
fn set_from_env(table: &mut toml::Table, name: &str, value: &str) -> Result<(), ConfigError> {
    const NOT_SETTINGS: [&str; 1] = ["CORTEX_LOG"];
    if !name.starts_with("CORTEX_") || NOT_SETTINGS.contains(&name) {
        return Ok(());
    }
    let env_name = |key: &str| format!("CORTEX_{}", key.replace('.', "_").to_uppercase());
    let Some((key, default, _)) = KEYS.iter().find(|(key, ..)| env_name(key) == name) else {
        return Err(ConfigError::new("environment", unknown(name, KEYS.iter().map(|k| env_name(k.0)))));
    };
    let as_text = toml::Value::String(value.into());
    let as_written = || format!("x = {value}").parse::<toml::Table>().ok().and_then(|mut t| t.remove("x"));
    let parsed = match as_written() {
        Some(number) if default.parse::<u64>().is_ok() => number,
        Some(flag @ toml::Value::Boolean(_)) if default.parse::<bool>().is_ok() => flag,
        Some(list @ toml::Value::Array(_)) if default.starts_with('[') => list,
        _ if default.starts_with('[') => toml::Value::Array(vec![as_text]),
        // Words are words, also those that look like numbers.
        _ => as_text,
    };
    // Every key of the table has a section: a test goes through it.
    let (section, key) = key.split_once('.').unwrap_or(("", key));
    let section = table.entry(section).or_insert_with(|| toml::Value::Table(toml::Table::new()));
    if let Some(section) = section.as_table_mut() {
        section.insert(key.to_string(), parsed);
    }
    Ok(())
}

/// The user's home directory, from the environment.
#[must_use]
pub fn home() -> Option<PathBuf> {
    std::env::home_dir()
}

/// Directory of the user's own settings: `$XDG_CONFIG_HOME`, else `~/.config`.
#[must_use]
pub fn config_home() -> Option<PathBuf> {
    user_dir("XDG_CONFIG_HOME", ".config")
}

/// Directory of what may be deleted at any time: `$XDG_CACHE_HOME`, else `~/.cache`.
#[must_use]
pub fn cache_home() -> Option<PathBuf> {
    user_dir("XDG_CACHE_HOME", ".cache")
}

/// Directory of what this user's programs remember: `$XDG_STATE_HOME`, else `~/.local/state`.
#[must_use]
pub fn state_home() -> Option<PathBuf> {
    user_dir("XDG_STATE_HOME", ".local/state")
}

/// A relative path in the variable does not count, as the XDG base directory specification says.
fn user_dir(variable: &str, below_home: &str) -> Option<PathBuf> {
    let set = std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    set.or_else(|| Some(home()?.join(below_home)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(text: &str, env: &[(&str, &str)]) -> Result<Config, ConfigError> {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("config.toml");
        std::fs::write(&file, text).unwrap();
        Config::load(&file, env.iter().map(|(k, v)| (k.to_string(), v.to_string())))
    }

    #[test]
    fn environment_beats_file_beats_default() {
        assert_eq!(load("", &[]).unwrap().limit, 10);
        assert_eq!(load("", &[("CORTEX_MEMORY_NOTES", "/a,b")]).unwrap().notes.len(), 1, "a path may hold anything");
        let elsewhere = load("[memory]\nnotes = ['../private']", &[]).unwrap_err().to_string();
        assert!(elsewhere.contains("../private") && elsewhere.contains("CORTEX_MEMORY_NOTES"), "{elsewhere}");
        assert!(load("", &[("CORTEX_INDEX_COMPRESS", "true")]).unwrap().compress);
        assert_eq!(load("[search]\nlimit = 3", &[]).unwrap().limit, 3);
        assert_eq!(load("[search]\nlimit = 3", &[("CORTEX_SEARCH_LIMIT", "7"), ("PATH", "x")]).unwrap().limit, 7);
        assert_eq!(load("", &[("CORTEX_INDEX_EXCLUDE", "gen")]).unwrap().exclude_patterns, ["gen"]);
        assert_eq!(load("", &[("CORTEX_INDEX_EXCLUDE", "['a', 'b']")]).unwrap().exclude_patterns, ["a", "b"]);
    }

    #[test]
    fn an_unknown_key_names_its_line_and_the_nearest() {
        let e = load("# x\n[search]\nlimitt = 3", &[]).unwrap_err().to_string();
        assert!(e.contains("config.toml:3") && e.contains("did you mean `search.limit`"), "{e}");
        let e = load("", &[("CORTEX_SEARCH_LIMITS", "3")]).unwrap_err().to_string();
        assert!(e.contains("did you mean `CORTEX_SEARCH_LIMIT`"), "{e}");
        let e = load("[colours]\nred = 1", &[]).unwrap_err().to_string();
        assert!(e.contains("there are index.max_file_bytes"), "{e}");
    }

    #[test]
    fn bad_values_are_told() {
        for (text, what) in [
            ("[search]\nlimit = 0", "from 1 to 1000"),
            ("[search]\nlimit = \"x\"", "invalid type"),
            ("[index]\nexclude = [\"a[\"]", "is not a glob"),
            ("[search\nlimit = 1", "config.toml:1"),
        ] {
            let e = load(text, &[]).unwrap_err().to_string();
            assert!(e.contains(what), "{text}: {e}");
        }
    }

    #[test]
    fn a_server_for_vectors_is_checked() {
        let rest = "model = 'm'\ndimensions = 8\npassage_prefix = 'search_document: '";
        let model = |url: &str| load(&format!("[embed]\nurl = '{url}'\n{rest}"), &[]);
        assert!(load("[embed]\nmodel = 'm'", &[]).unwrap().remote_model.is_none());
        for url in ["http://localhost:11434", "http://127.0.0.1:8080/v1/", "http://[::1]:1/v1", "https://localhost/some/where"] {
            let found = model(url).unwrap().remote_model.unwrap();
            assert!(found.is_local && url.starts_with(&found.url) && !found.url.ends_with("/v1"), "{found:?}");
            assert_eq!((found.is_plain, &*found.passage_prefix), (url.starts_with("http:"), "search_document: "));
        }
        for (url, what) in [
            ("localhost:11434", "must begin with http"),
            ("ftp://localhost", "must begin with http"),
            ("http://", "must begin with http"),
            ("http://local host", "is no address"),
            ("http://user:secret@localhost", "embed.token"),
            ("http://example.com", "CORTEX_EMBED_URL"),
            ("http://localhost.example.com", "CORTEX_EMBED_URL"),
            ("http://192.168.0.7:11434", "CORTEX_EMBED_URL"),
        ] {
            let e = model(url).unwrap_err().to_string();
            assert!(e.contains(what), "{url}: {e}");
        }
        let elsewhere =
            load(&format!("[embed]\n{rest}"), &[("CORTEX_EMBED_URL", "http://example.com:80/v1")]).unwrap().remote_model.unwrap();
        assert_eq!((&*elsewhere.authority, elsewhere.is_local), ("example.com:80", false));
        let refused = [("CORTEX_EMBED_URL", "")];
        assert!(load(&format!("[embed]\nurl = 'http://example.com'\n{rest}"), &refused).unwrap().remote_model.is_none());
        let e = load("[embed]\nurl = 'http://localhost'\nmodel = 'm'", &[]).unwrap_err().to_string();
        assert!(e.contains("embed.dimensions is 0"), "{e}");
    }

    #[test]
    fn every_key_has_a_section_and_is_read() {
        for (key, default, _) in KEYS {
            let (section, name) = key.split_once('.').unwrap();
            let is_bare = default.parse::<u64>().is_ok() || default.parse::<bool>().is_ok() || default.starts_with('[');
            let value = if is_bare { (*default).to_string() } else { format!("'{default}'") };
            load(&format!("[{section}]\n{name} = {value}"), &[]).unwrap();
        }
    }

    #[test]
    fn globs_match_files_and_folders() {
        let set = globs(&["src/live".into(), "*.md".into(), "gen".into(), "a/*.rs".into()]).unwrap();
        for (path, want) in [
            ("src/live/mod.rs", true),
            ("README.md", true),
            ("docs/x.md", true),
            ("x/gen/y.rs", true),
            ("a/b.rs", true),
            ("a/b/c.rs", false),
            ("src/lives.rs", false),
        ] {
            assert_eq!(set.is_match(path), want, "{path}");
        }
    }
}
