//! Settings: flags override `CORTEX_*`, which override the user's own file, which overrides
//! `.cortex/config.toml`. They are resolved and checked once.
//!
//! The table [`KEYS`] is the only list of settings. It decides which keys and environment
//! variables are known and who may set them, and a test compares the documentation with it.
//! A project's file comes with the code, from strangers: it may choose what is indexed and
//! how results look, and nothing else.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, ErrorKind};
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use serde::Deserialize;

use crate::dir::{Dir, OwnedDir, Stat};

use SettingOrigin::{Project, ProjectUpTo, User};

/// The sources that may decide a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingOrigin {
    /// The project's file, or the user.
    Project,
    /// The project's file up to this number, or the user.
    ProjectUpTo(u64),
    /// Only the user: by a flag, the environment or a file outside all projects.
    User,
}

/// Every setting: key, who may decide it, default as it is written in a file, meaning.
pub const KEYS: &[(&str, SettingOrigin, &str, &str)] = &[
    ("index.max_file_bytes", ProjectUpTo(16 << 20), "1048576", "Larger files are skipped."),
    (
        "index.exclude",
        Project,
        "[]",
        "Globs of paths that are not indexed, in addition to .gitignore and .cortexignore.",
    ),
    (
        "index.vendored",
        Project,
        "[]",
        "Globs of paths of code of other projects, such as src/lua: it comes last in results and is no main file of the map.",
    ),
    (
        "index.ordinary",
        Project,
        "[]",
        "Globs of paths of the project's own code, whatever index.vendored, .gitattributes, a licence, a header or the name of a folder says.",
    ),
    (
        "index.hidden",
        User,
        "false",
        "Whether hidden files and folders are indexed as well. Files that may hold secrets, and folders such as .git and .ssh, never are.",
    ),
    (
        "index.include",
        User,
        "[]",
        "Globs of paths that are indexed although an ignore file, a leading dot or a folder such as node_modules leaves them out, for example node_modules/react/** or .config. A glob such as *.log, without a slash, does not reach into folders that are left out. index.exclude wins.",
    ),
    (
        "index.compress",
        Project,
        "false",
        "Whether chunk files are written as .json.zst: a sixth of the size; a search takes a millisecond longer.",
    ),
    (
        "index.keep_deleted",
        User,
        "false",
        "Whether chunks of deleted files stay in the index, marked as deleted, until it is rebuilt. Chunks of files that are ignored, excluded or too large never stay.",
    ),
    (
        "index.history",
        Project,
        "true",
        "Whether messages of commits help to rank the files that the commits changed.",
    ),
    (
        "index.location",
        User,
        "project",
        "Where the index is: project for .cortex, cache for a folder of the user's cache directory.",
    ),
    (
        "index.known_mb",
        User,
        "1024",
        "How much disk the store of what is known by content may take, in megabytes, for all projects of this user: a new worktree, or a branch that comes back, is not parsed again. 0 for no store.",
    ),
    (
        "index.cache_from",
        User,
        "",
        "Where the first index of a project is taken from, as `cortex index --cache-to` left it: a folder with its whole path, such as a mounted share, or an address such as s3://bucket/folder, gs://bucket/folder or az://container/folder. Empty: from nowhere.",
    ),
    ("search.limit", Project, "10", "How many results `cortex search` prints."),
    (
        "search.context",
        ProjectUpTo(1000),
        "6",
        "How many lines of each result `cortex search` shows; 0 for none.",
    ),
    (
        "embed.url",
        User,
        "",
        "The URL of an OpenAI-compatible server that computes the vectors (http://localhost:11434 is Ollama's). It receives all text that is \
indexed, and every question. Empty: the bundled model, and nothing leaves this machine.",
    ),
    ("embed.model", User, "", "The name of the model on that server."),
    ("embed.dimensions", User, "0", "How many numbers a vector of that model has."),
    (
        "embed.token",
        User,
        "",
        "The token that is sent to that server as `Authorization: Bearer …`. Prefer to set it in CORTEX_EMBED_TOKEN.",
    ),
    (
        "embed.query_prefix",
        User,
        "",
        "The prefix that the model expects before a question, such as `search_query: `.",
    ),
    (
        "embed.passage_prefix",
        User,
        "",
        "The prefix that the model expects before an indexed text, such as `search_document: `.",
    ),
    (
        "embed.timeout_ms",
        User,
        "2000",
        "How long a search waits for the vector of its question before it uses words alone, in milliseconds.",
    ),
    (
        "live.debounce_ms",
        User,
        "0",
        "How long files must stay unchanged before a server indexes the changes, in milliseconds. 0: 20 after a second without \
changes, up to 500 while they go on.",
    ),
    (
        "live.memory_budget_mb",
        User,
        "0",
        "How much memory a server may use, in megabytes. Above this, it first reads the index from disk instead of memory, then searches \
without vectors until it is restarted. 0 for no limit.",
    ),
    (
        "live.memory_patience_ms",
        User,
        "12000",
        "How long a server must use more than live.memory_budget_mb before it gives something up, in milliseconds. Freed memory returns to \
the system with a delay.",
    ),
    (
        "memory.notes",
        User,
        "[]",
        "Folders of Markdown files that become memories and are not part of the index. Empty: the notes that Claude Code keeps for this project.",
    ),
    (
        "memory.window_ms",
        User,
        "5000",
        "A file that changes this long before or after a git operation, in milliseconds, may have been changed by git. Events are recorded when nothing changed for so long.",
    ),
    (
        "memory.max_events",
        User,
        "5000",
        "How many events of each kind (edits, git operations, files that git changed) are kept.",
    ),
    (
        "memory.event_days",
        User,
        "180",
        "How many days events are kept. What a user said, or an agent answered, is kept until somebody forgets it.",
    ),
    (
        "serve.address",
        User,
        "127.0.0.1",
        "The address on which `cortex serve` listens. Any other than a loopback address requires serve.token.",
    ),
    ("serve.port", User, "7717", "The first port that `cortex serve` tries."),
    (
        "serve.tools",
        User,
        "[]",
        "Which groups of tools servers list: core, search, graph, memory, edit, all. Other tools can be called by name, except those of edit. Empty: core.",
    ),
    (
        "serve.token",
        User,
        "",
        "The token that clients must send as `Authorization: Bearer …`. Empty: none is required, and only programs of the user who started the server are answered.",
    ),
    (
        "serve.edit_trusted",
        User,
        "false",
        "Whether the edit tools may change files that programs execute or trust without asking.",
    ),
    (
        "serve.editor",
        User,
        "vscode",
        "The editor that the page opens files in: vscode, vscodium, cursor, windsurf, zed, idea, or an address with {path} and {line}, such as `my-editor://open?file={path}&line={line}`.",
    ),
    (
        "serve.activity",
        User,
        "true",
        "Whether a server keeps the last questions of agents, for the page that shows them. They are in memory only. Numbers of calls and tokens are counted in any case.",
    ),
    (
        "serve.shared",
        User,
        "true",
        "Whether `cortex mcp` reaches the one server of this machine, and starts it if none runs. If not, each agent has a server of its own.",
    ),
    (
        "serve.other_projects",
        User,
        "true",
        "Whether agents may ask your other projects, too (`repo` and `repos` of the tools). If not, an agent reaches the project that it was started in.",
    ),
    (
        "serve.idle_minutes",
        User,
        "30",
        "How long the server of this machine keeps a project open that nobody asks, and how long it runs without a client, in minutes.",
    ),
    (
        "serve.memory_mb",
        User,
        "1024",
        "How much memory the server of this machine may hold for all projects, in megabytes. It closes the projects that were asked least recently; they open again with the next question.",
    ),
    (
        "team.url",
        User,
        "",
        "The database where your team publishes its repositories: `postgres://user@host/database` or `milvus://host:port/database`. Agents and `cortex search --repo` reach what is published there.",
    ),
];

/// Longest [`Config::idle`], in minutes: a year.
const MAX_IDLE_MINUTES: u64 = 365 * 24 * 60;

/// Resolved settings.
#[derive(Debug, Clone)]
pub struct Config {
    /// Larger files are skipped, in bytes.
    pub max_file_bytes: u64,
    /// Paths that are not indexed.
    pub exclude: GlobSet,
    /// The same globs as they were written.
    pub exclude_patterns: Vec<String>,
    /// Paths of code of other projects.
    pub vendored: GlobSet,
    /// Paths of the project's own code, whatever else says otherwise.
    pub ordinary: GlobSet,
    /// Whether hidden files are indexed.
    pub hidden: bool,
    /// Paths that are indexed although a rule leaves them out.
    pub include: GlobSet,
    /// The folders that lead to such paths.
    pub include_folders: GlobSet,
    /// The globs of `include` as they were written.
    pub include_patterns: Vec<String>,
    /// Whether chunk files are compressed; `None`: those of a large project.
    pub compress: Option<bool>,
    /// Whether chunks of deleted files stay in the index.
    pub keep_deleted: bool,
    /// Whether messages of commits are indexed.
    pub history: bool,
    /// Largest size of the store of what is known by content, in bytes; 0 for no store.
    pub known_bytes: u64,
    /// Where archives of indexes are: the path of a folder, or an address; `None` for nowhere.
    pub cache_from: Option<String>,
    /// The place of the index.
    pub location: Location,
    /// Number of results that a search prints.
    pub limit: usize,
    /// Number of lines that are shown of each result.
    pub context: usize,
    /// The server that computes the vectors; `None` for the bundled model.
    pub remote_model: Option<RemoteModel>,
    /// How long files must stay unchanged before a server indexes the changes; `None`: as
    /// [`Pace`](crate::worker::Pace) finds right.
    pub debounce: Option<Duration>,
    /// How much memory a server may use, in bytes; `None` for no limit.
    pub memory_budget: Option<u64>,
    /// How long a server must exceed the budget before it gives something up.
    pub memory_patience: Duration,
    /// Folders of notes that become memories; empty for the notes of Claude Code.
    pub notes: Vec<PathBuf>,
    /// How long nothing must change before events are recorded.
    pub window: Duration,
    /// Most events of each kind that are kept.
    pub max_events: usize,
    /// Number of days for which events are kept.
    pub event_days: u32,
    /// The address on which the HTTP server listens.
    pub address: IpAddr,
    /// The first port that it tries.
    pub port: u16,
    /// Groups of tools that servers list; empty for the default group.
    pub tools: Vec<String>,
    /// The token that clients of the HTTP server must send; `None` if none is required.
    pub token: Option<String>,
    /// Whether the edit tools may change files that programs execute or trust.
    pub edit_trusted: bool,
    /// The address that opens `{path}` at `{line}` in an editor.
    pub editor: String,
    /// Whether a server keeps the last questions of agents in memory.
    pub activity: bool,
    /// Whether agents share the server of the machine.
    pub shared: bool,
    /// Whether agents may ask other projects of the user.
    pub other_projects: bool,
    /// How long that server keeps open what nobody asks.
    pub idle: Duration,
    /// Resident bytes that it may hold.
    pub shared_bytes: u64,
    /// The depot where the user's team publishes its repositories.
    pub team_url: Option<String>,
    /// Warnings about settings that were ignored. Each names the file, the settings and the remedy.
    pub ignored: Vec<String>,
    /// The settings that a file or a variable sets.
    set: BTreeSet<&'static str>,
}

/// The state of the files of settings at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsFiles([Option<Stat>; 2]);

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

/// Most results that a search may return.
pub const MAX_LIMIT: usize = 1000;
/// Largest file of settings that is read, in bytes.
const MAX_BYTES: u64 = 64 << 10;
/// File name in `.cortex` of the project, and in `cortex` of the user's configuration directory.
const FILE: &str = "config.toml";

/// The settings of one source, or of all sources merged; `None` where a setting is not set.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct RawConfig {
    index: RawIndex,
    search: RawSearch,
    embed: RawEmbed,
    live: RawLive,
    memory: RawMemory,
    serve: RawServe,
    team: RawTeam,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct RawIndex {
    max_file_bytes: Option<u64>,
    exclude: Option<Vec<String>>,
    vendored: Option<Vec<String>>,
    ordinary: Option<Vec<String>>,
    hidden: Option<bool>,
    include: Option<Vec<String>>,
    compress: Option<bool>,
    keep_deleted: Option<bool>,
    history: Option<bool>,
    known_mb: Option<u64>,
    cache_from: Option<String>,
    location: Option<Location>,
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
    memory_budget_mb: Option<u64>,
    memory_patience_ms: Option<u64>,
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
struct RawTeam {
    url: Option<String>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct RawServe {
    address: Option<String>,
    port: Option<u16>,
    tools: Option<Vec<String>>,
    token: Option<String>,
    edit_trusted: Option<bool>,
    editor: Option<String>,
    activity: Option<bool>,
    shared: Option<bool>,
    other_projects: Option<bool>,
    idle_minutes: Option<u64>,
    memory_mb: Option<u64>,
}

/// A setting or a file that cannot be used. The message names the place and says what is valid.
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
    /// Reads the settings: the file in the project's `.cortex`, overridden by the file of the
    /// `user`, overridden by the variables of `env` (name, value).
    ///
    /// A setting that cannot be used is left out, and [`Config::ignored`] says so.
    ///
    /// # Errors
    /// When a file cannot be read or parsed, or the user's value of a setting that narrows access
    /// cannot be used: its default would widen it.
    pub fn load(
        project: Option<&OwnedDir>,
        user: Option<&Path>,
        env: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, ConfigError> {
        let mut said = MergedSettings::default();
        let unreadable = match project.map(text_of_project).transpose() {
            Ok(Some(Some((path, text)))) => said.project(&path, &text).map(|()| None)?,
            Ok(_) => None,
            Err(e) => Some(e),
        };
        if let Some((path, text)) = user.map(text_of_user).transpose()?.flatten() {
            for (key, value) in parse(&path, &text, &mut said.ignored)? {
                said.set(key, value, path.display().to_string(), true)?;
            }
        }
        for (name, value) in env {
            if let Some((key, value)) = from_env(&name, &value, &mut said.ignored) {
                said.set(key, value, name, true)?;
            }
        }
        let mut config = said.resolve()?;
        match unreadable {
            // With the index in the user's cache, an unusable project's file is only a warning.
            Some(e) if config.location == Location::Cache => config.ignored.push(e.to_string()),
            Some(e) => return Err(e),
            None => {}
        }
        Ok(config)
    }

    /// Whether a file or a variable sets this setting, so that its value is not the default.
    #[must_use]
    pub fn is_set(&self, key: &str) -> bool {
        self.set.contains(key)
    }

    /// Returns the state of the two files: equal states mean equal settings.
    #[must_use]
    pub fn files(project: &OwnedDir, user: Option<&Path>) -> SettingsFiles {
        let of_user = user.and_then(|path| {
            let real = std::fs::canonicalize(path).ok()?;
            Dir::open(real.parent()?).ok()?.stat(real.file_name()?).ok()?
        });
        let of_project = project.open().ok().and_then(|dir| dir.stat(FILE).ok()?);
        SettingsFiles([of_project, of_user])
    }

    /// Does the same for a command that must work even with unusable settings: files that cannot be
    /// used are left out, and [`Config::ignored`] says so.
    ///
    /// # Errors
    /// Only if the defaults are invalid, which is a bug.
    pub fn load_or_default(
        project: Option<&OwnedDir>,
        user: Option<&Path>,
        env: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, ConfigError> {
        let env: Vec<_> = env.into_iter().collect();
        Self::load(project, user, env.clone()).or_else(|e| {
            let rest = Self::load(None, user, env).or_else(|_| Self::load(None, None, []));
            rest.map(|mut config| {
                config.ignored.push(format!("ignored settings that cannot be used: {e}"));
                config
            })
        })
    }
}

/// The settings of all sources, merged. A source that is added later overrides the ones before.
#[derive(Default)]
struct MergedSettings {
    table: toml::Table,
    /// For each setting that is set, the file or variable that set it.
    places: BTreeMap<&'static str, String>,
    ignored: Vec<String>,
}

impl MergedSettings {
    /// Adds the settings of the project's file that a project may decide, and warns about the
    /// others.
    fn project(&mut self, path: &Path, text: &str) -> Result<(), ConfigError> {
        let file = path.display().to_string();
        let (mut not_its_own, mut too_large) = (Vec::new(), Vec::new());
        for (key, value) in parse(path, text, &mut self.ignored)? {
            let n = value.as_integer().and_then(|n| u64::try_from(n).ok()).unwrap_or(0);
            match origin(key) {
                User => not_its_own.push(key.to_string()),
                ProjectUpTo(most) if n > most => {
                    too_large.push(format!("{key} (at most {most})"));
                    let most = toml::Value::Integer(i64::try_from(most).unwrap_or(i64::MAX));
                    self.set(key, most, file.clone(), false)?;
                }
                Project | ProjectUpTo(_) => self.set(key, value, file.clone(), false)?,
            }
        }
        // The file comes with the code, so the user has to confirm these settings.
        for (keys, is_left) in
            [(not_its_own, "which only you may set"), (too_large, "which only you may set higher")]
        {
            if !keys.is_empty() {
                let own = user_file()
                    .map_or_else(|| "your own settings".into(), |f| f.display().to_string());
                let what = keys.join(", ");
                self.ignored.push(format!(
                    "{file}: ignored {what}, {is_left}; if you want it, set it in {own}"
                ));
            }
        }
        Ok(())
    }

    /// Sets a value, if it has the right type and can be used.
    fn set(
        &mut self,
        key: &'static str,
        value: toml::Value,
        place: String,
        is_users: bool,
    ) -> Result<(), ConfigError> {
        // Every key of the table has a section; a test checks that.
        let (section, name) = key.split_once('.').unwrap_or(("", key));
        let alone = |value| {
            toml::Table::from_iter([(
                section.to_string(),
                toml::Table::from_iter([(name.to_string(), value)]).into(),
            )])
        };
        let parsed = alone(value.clone()).try_into::<RawConfig>();
        let usable = parsed
            .map_err(|e| format!("{key}: {}", e.message().trim_end()))
            .and_then(|raw| raw.check().map_err(|(wrong, why)| format!("{wrong}: {why}")));
        match usable {
            Ok(()) => {}
            Err(why) if is_users && NARROWS.contains(&key) => {
                return Err(ConfigError::new(place, why));
            }
            Err(why) => {
                // What an earlier source said of the setting counts, or else its default.
                self.ignored.push(format!("{place}: {why}. This setting is ignored"));
                return Ok(());
            }
        }
        if let toml::Value::Table(section) =
            self.table.entry(section).or_insert_with(|| toml::Table::new().into())
        {
            section.insert(name.to_string(), value);
        }
        self.places.insert(key, place);
        Ok(())
    }

    fn resolve(mut self) -> Result<Config, ConfigError> {
        let raw: RawConfig =
            self.table.clone().try_into().map_err(|e| ConfigError::new("settings", e.message()))?;
        let exclude_patterns = raw.index.exclude.unwrap_or_default();
        // The values were checked when they were set.
        let impossible = |message: String| ConfigError::new("settings", message);
        let exclude = globs(&exclude_patterns).map_err(impossible)?;
        let vendored = globs(&raw.index.vendored.unwrap_or_default()).map_err(impossible)?;
        let ordinary = globs(&raw.index.ordinary.unwrap_or_default()).map_err(impossible)?;
        let include_patterns = raw.index.include.unwrap_or_default();
        let include = globs(&include_patterns).map_err(impossible)?;
        let include_folders = folders_to(&include_patterns).map_err(impossible)?;
        let limit = raw.search.limit.unwrap_or(10);
        let address = raw.serve.address.unwrap_or_else(|| "127.0.0.1".into());
        let address = self::address(&address).map_err(impossible)?;
        // A server for vectors is several settings, so it can be judged only as a whole.
        let place = self.places.get("embed.url").cloned();
        let remote_model = raw.embed.resolve().unwrap_or_else(|why| {
            let place = place.unwrap_or_else(|| "settings".into());
            self.ignored.push(format!("{place}: {why}. The bundled model is used"));
            None
        });
        Ok(Config {
            max_file_bytes: raw.index.max_file_bytes.unwrap_or(1 << 20),
            exclude,
            exclude_patterns,
            vendored,
            ordinary,
            hidden: raw.index.hidden.unwrap_or(false),
            include,
            include_folders,
            include_patterns,
            compress: raw.index.compress,
            keep_deleted: raw.index.keep_deleted.unwrap_or(false),
            history: raw.index.history.unwrap_or(true),
            known_bytes: raw.index.known_mb.unwrap_or(1024).saturating_mul(1 << 20),
            cache_from: raw.index.cache_from.filter(|place| !place.is_empty()),
            location: raw.index.location.unwrap_or_default(),
            limit,
            context: raw.search.context.unwrap_or(6),
            remote_model,
            debounce: raw.live.debounce_ms.filter(|ms| *ms > 0).map(Duration::from_millis),
            memory_budget: raw
                .live
                .memory_budget_mb
                .filter(|mb| *mb > 0)
                .map(|mb| mb.saturating_mul(1 << 20)),
            memory_patience: Duration::from_millis(raw.live.memory_patience_ms.unwrap_or(12_000)),
            notes: raw.memory.notes.unwrap_or_default(),
            window: Duration::from_millis(raw.memory.window_ms.unwrap_or(5000)),
            max_events: raw.memory.max_events.unwrap_or(5000),
            event_days: raw.memory.event_days.unwrap_or(180),
            address,
            port: raw.serve.port.unwrap_or(7717),
            tools: raw.serve.tools.unwrap_or_default(),
            token: raw.serve.token.filter(|t| !t.is_empty()),
            edit_trusted: raw.serve.edit_trusted.unwrap_or(false),
            editor: editor(raw.serve.editor.as_deref().unwrap_or("vscode")).map_err(impossible)?,
            activity: raw.serve.activity.unwrap_or(true),
            shared: raw.serve.shared.unwrap_or(true),
            other_projects: raw.serve.other_projects.unwrap_or(true),
            idle: Duration::from_mins(raw.serve.idle_minutes.unwrap_or(30).min(MAX_IDLE_MINUTES)),
            shared_bytes: raw.serve.memory_mb.unwrap_or(1024).saturating_mul(1 << 20),
            team_url: raw.team.url.filter(|url| !url.is_empty()),
            ignored: self.ignored,
            set: self.places.into_keys().collect(),
        })
    }
}

/// Settings that narrow access: where such a value of the user cannot be used, its default, which is
/// wider, must not take its place.
const NARROWS: [&str; 4] = ["index.exclude", "serve.address", "serve.token", "serve.tools"];

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

/// Returns the address that opens `{path}`, which begins with a slash, at `{line}`.
///
/// # Errors
/// When it is neither the name of a known editor nor such an address.
fn editor(value: &str) -> Result<String, String> {
    if let Some((_, address)) = EDITORS.iter().find(|(name, _)| *name == value) {
        return Ok((*address).to_string());
    }
    let scheme = value.split_once("://").map_or("", |(scheme, _)| scheme);
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
        && !NO_EDITORS.iter().any(|no| scheme.eq_ignore_ascii_case(no));
    if is_scheme && value.contains("{path}") {
        return Ok(value.to_string());
    }
    let names: Vec<&str> = EDITORS.iter().map(|(name, _)| *name).collect();
    Err(format!(
        "`{value}` is neither one of {} nor an address of an editor such as my-editor://open?file={{path}}&line={{line}}",
        names.join(", ")
    ))
}

impl RawConfig {
    /// Checks the values that a type does not restrict. The error is the setting and the reason.
    fn check(&self) -> Result<(), (&'static str, String)> {
        for (key, patterns) in [
            ("index.exclude", &self.index.exclude),
            ("index.include", &self.index.include),
            ("index.vendored", &self.index.vendored),
            ("index.ordinary", &self.index.ordinary),
        ] {
            if let Some(patterns) = patterns {
                globs(patterns).map_err(|why| (key, why))?;
            }
        }
        if let Some(limit) = self.search.limit.filter(|n| !(1..=MAX_LIMIT).contains(n)) {
            let why = format!("the value is {limit}, but must be from 1 to {MAX_LIMIT}");
            return Err(("search.limit", why));
        }
        if let Some(place) = &self.index.cache_from
            && !(place.is_empty() || place.contains("://") || Path::new(place).is_absolute())
        {
            let why = format!(
                "`{place}` is neither the whole path of a folder nor an address such as s3://bucket/folder"
            );
            return Err(("index.cache_from", why));
        }
        if let Some(address) = &self.serve.address {
            self::address(address).map_err(|why| ("serve.address", why))?;
        }
        if let Some(editor) = &self.serve.editor {
            self::editor(editor).map_err(|why| ("serve.editor", why))?;
        }
        Ok(())
    }
}

/// Returns who may decide the setting of this name.
fn origin(key: &str) -> SettingOrigin {
    KEYS.iter().find(|(known, ..)| *known == key).map_or(User, |(_, origin, ..)| *origin)
}

/// Reads the project's file; `None` if it does not exist.
fn text_of_project(place: &OwnedDir) -> Result<Option<(PathBuf, String)>, ConfigError> {
    let text = place.open().and_then(|dir| dir.read_text(FILE, MAX_BYTES));
    found(text).map(|text| Some((place.path().join(FILE), text?)))
}

/// Reads the user's own file; `None` if it does not exist. It may be a link,
/// since dotfile managers create links.
fn text_of_user(file: &Path) -> Result<Option<(PathBuf, String)>, ConfigError> {
    let read = |real: PathBuf| {
        Dir::open(real.parent().unwrap_or(&real))?
            .read_text(real.file_name().unwrap_or_default(), MAX_BYTES)
    };
    found(std::fs::canonicalize(file).and_then(read)).map(|text| Some((file.to_path_buf(), text?)))
}

fn found(text: io::Result<String>) -> Result<Option<String>, ConfigError> {
    match text {
        Ok(text) => Ok(Some(text)),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
        Err(e) => Err(ConfigError::new("cannot read the settings", e.to_string())),
    }
}

/// Most numbers of a vector; no model returns more.
const MAX_DIMENSIONS: usize = 16_384;

impl RawEmbed {
    /// Returns the remote model, or `None` without a server. An error says which setting is wrong
    /// and why.
    fn resolve(self) -> Result<Option<RemoteModel>, String> {
        let url = self.url.unwrap_or_default();
        if url.is_empty() {
            return Ok(None);
        }
        // Clients of OpenAI are configured with the URL that ends in /v1, so users may write it
        // that way.
        let url =
            url.trim_end_matches('/').trim_end_matches("/v1").trim_end_matches('/').to_string();
        let unusable = |why| {
            format!("embed.url is `{url}`, but {why}; set it to a URL like http://localhost:11434")
        };
        let uri: http::Uri =
            url.parse().map_err(|e| unusable(format!("that is not a valid URL: {e}")))?;
        let (Some(scheme @ ("http" | "https")), Some(authority)) =
            (uri.scheme_str(), uri.authority())
        else {
            return Err(unusable("it must begin with http:// or https://".into()));
        };
        if authority.as_str().contains('@') || uri.query().is_some() {
            return Err("embed.url must not contain a password or a query: set embed.token to the token that the server requires".into());
        }
        let host = authority.host();
        let is_local = address(host.trim_matches(['[', ']'])).is_ok_and(|ip| ip.is_loopback());
        let model = self.model.unwrap_or_default();
        if model.is_empty() {
            return Err("embed.url is set, but embed.model is not: set it to the name of a model on that server".into());
        }
        let dimensions = self.dimensions.unwrap_or(0);
        if !(1..=MAX_DIMENSIONS).contains(&dimensions) {
            return Err(format!(
                "embed.dimensions is {dimensions}, but must be from 1 to {MAX_DIMENSIONS}: set it to the number of dimensions that the \
documentation of {model} states (768 for nomic-embed-text)"
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
fn folders_to(patterns: &[String]) -> Result<GlobSet, String> {
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

/// Returns the settings of a file, in the order of [`KEYS`]. Unknown keys are added to `ignored`.
fn parse(
    file: &Path,
    text: &str,
    ignored: &mut Vec<String>,
) -> Result<Vec<(&'static str, toml::Value)>, ConfigError> {
    let mut table: toml::Table = text.parse().map_err(|e: toml::de::Error| {
        let line =
            e.span().map_or(1, |s| text[..s.start.min(text.len())].matches('\n').count() + 1);
        ConfigError::new(format!("{}:{line}", file.display()), e.message())
    })?;
    for (section, value) in &table {
        let keys: Vec<String> = match value.as_table() {
            Some(inner) => inner.keys().map(|k| format!("{section}.{k}")).collect(),
            None => vec![section.clone()],
        };
        for key in keys.iter().filter(|k| !KEYS.iter().any(|(known, ..)| known == k)) {
            let place = format!("{}:{}", file.display(), line_of(text, key));
            let why = unknown(key, KEYS.iter().map(|k| k.0.to_string()));
            ignored.push(format!("{place}: {why}"));
        }
    }
    let mut value = |key: &str| {
        let (section, name) = key.split_once('.')?;
        table.get_mut(section)?.as_table_mut()?.remove(name)
    };
    Ok(KEYS.iter().filter_map(|(key, ..)| Some((*key, value(key)?))).collect())
}

/// Returns the number of the line that sets a key: `limit = …` under `[search]`, `search.limit =
/// …`, or the header of the section.
fn line_of(text: &str, key: &str) -> usize {
    let mut section = String::new();
    for (i, line) in text.lines().enumerate() {
        let line = line.trim();
        if let Some(name) = line.strip_prefix('[').and_then(|l| l.split(']').next()) {
            section = format!("{}.", name.trim());
        }
        let name = line.split('=').next().unwrap_or_default().trim().trim_matches('"');
        if format!("{section}{name}") == key || name == key || section.trim_end_matches('.') == key
        {
            return i + 1;
        }
    }
    1
}

fn unknown(key: &str, known: impl Iterator<Item = String>) -> String {
    let last = |s: &str| s.rsplit('.').next().unwrap_or(s).to_string();
    // Number of edits beyond what a typing error explains.
    let excess =
        |a: &str, b: &str| strsim::damerau_levenshtein(a, b).saturating_sub(1 + a.len() / 3);
    let far = |k: &String| excess(key, k).min(excess(&last(key), &last(k)));
    let distance = |k: &String| (far(k), strsim::damerau_levenshtein(key, k));
    let all: Vec<String> = known.collect();
    match all.iter().min_by_key(|k| distance(k)).filter(|k| far(k) == 0) {
        Some(near) => format!("there is no setting `{key}`; did you mean `{near}`?"),
        None => format!("there is no setting `{key}`; the settings are {}", all.join(", ")),
    }
}

/// Returns the environment variable that sets this key.
fn env_name(key: &str) -> String {
    format!("CORTEX_{}", key.replace('.', "_").to_uppercase())
}

/// Parses an environment variable: `CORTEX_SEARCH_LIMIT=5` sets `search.limit`. Numbers
/// and lists are written as in the file; a plain word is a list of one. Returns `None`
/// if the variable is not a setting; a name that may be a misspelt setting is added to `ignored`.
fn from_env(
    name: &str,
    value: &str,
    ignored: &mut Vec<String>,
) -> Option<(&'static str, toml::Value)> {
    const NOT_SETTINGS: [&str; 1] = ["CORTEX_LOG"];
    if !name.starts_with("CORTEX_") || NOT_SETTINGS.contains(&name) {
        return None;
    }
    let Some((key, _, default, _)) = KEYS.iter().find(|(known, ..)| env_name(known) == name) else {
        ignored.push(format!("environment: {}", unknown(name, KEYS.iter().map(|k| env_name(k.0)))));
        return None;
    };
    let as_text = toml::Value::String(value.into());
    let as_written =
        || format!("x = {value}").parse::<toml::Table>().ok().and_then(|mut t| t.remove("x"));
    let parsed = match as_written() {
        Some(number) if default.parse::<u64>().is_ok() => number,
        Some(flag @ toml::Value::Boolean(_)) if default.parse::<bool>().is_ok() => flag,
        Some(list @ toml::Value::Array(_)) if default.starts_with('[') => list,
        _ if *key == "serve.tools" => {
            let words = value.split(',').map(|word| word.trim().to_string().into());
            toml::Value::Array(words.collect())
        }
        // A path may hold anything, also commas.
        _ if default.starts_with('[') => toml::Value::Array(vec![as_text]),
        // Text stays text, even if it looks like a number.
        _ => as_text,
    };
    Some((key, parsed))
}

/// Returns the path of the user's own settings: `$XDG_CONFIG_HOME/cortex/config.toml`.
#[must_use]
pub fn user_file() -> Option<PathBuf> {
    Some(config_home()?.join("cortex").join(FILE))
}

/// Returns the user's home directory, from the environment.
#[must_use]
pub fn home() -> Option<PathBuf> {
    std::env::home_dir()
}

/// Returns the directory of the user's configuration files: `$XDG_CONFIG_HOME`, else `~/.config`.
#[must_use]
pub fn config_home() -> Option<PathBuf> {
    user_dir("XDG_CONFIG_HOME", ".config")
}

/// Returns the directory for files that may be deleted at any time:
/// `$XDG_CACHE_HOME`, else `~/.cache`.
#[must_use]
pub fn cache_home() -> Option<PathBuf> {
    user_dir("XDG_CACHE_HOME", ".cache")
}

/// Returns the directories for the sockets of running programs, the best first: the one that the
/// system makes for each user (`$XDG_RUNTIME_DIR`), and that for state.
#[must_use]
pub fn socket_homes() -> Vec<PathBuf> {
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    runtime.filter(|path| path.is_absolute()).into_iter().chain(state_home()).collect()
}

/// Returns the variables of the environment. Cortex has none that are not UTF-8.
#[must_use]
pub fn environment() -> Vec<(String, String)> {
    let variables = std::env::vars_os();
    variables
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}

/// Returns what the environment decides for all projects of the user: settings, and where the files
/// of the user are. Two programs with the same values answer alike.
#[must_use]
pub fn settings_of_environment() -> Vec<(String, String)> {
    const PLACES: [&str; 5] =
        ["HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME"];
    let settings = KEYS.iter().filter(|(key, ..)| *key != "serve.shared").map(|k| env_name(k.0));
    let names = settings.chain(PLACES.map(String::from));
    names.filter_map(|name| std::env::var(&name).ok().map(|value| (name, value))).collect()
}

/// Returns the directory for the state of programs: `$XDG_STATE_HOME`, else `~/.local/state`.
#[must_use]
pub fn state_home() -> Option<PathBuf> {
    user_dir("XDG_STATE_HOME", ".local/state")
}

/// Returns the directory of the variable, or else the one below the home directory. A relative path
/// in the variable is ignored, as the XDG base directory specification requires.
fn user_dir(variable: &str, below_home: &str) -> Option<PathBuf> {
    let set = std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    set.or_else(|| Some(home()?.join(below_home)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A temporary directory with a project's file and a user's file.
    struct Files(tempfile::TempDir);

    impl Files {
        fn new(project: &str, user: &str) -> Self {
            let files = Self(tempfile::tempdir().unwrap());
            std::fs::create_dir(files.0.path().join(".cortex")).unwrap();
            std::fs::write(files.0.path().join(".cortex/config.toml"), project).unwrap();
            std::fs::write(files.user(), user).unwrap();
            files
        }

        fn user(&self) -> PathBuf {
            self.0.path().join("user.toml")
        }

        fn load(&self, env: &[(&str, &str)]) -> Result<Config, ConfigError> {
            let place = OwnedDir::new(Dir::open(self.0.path()).unwrap().into(), ".cortex");
            Config::load(
                Some(&place),
                Some(&self.user()),
                env.iter().map(|(k, v)| (k.to_string(), v.to_string())),
            )
        }
    }

    /// Loads settings with this user's file and no project's file.
    fn load(text: &str, env: &[(&str, &str)]) -> Result<Config, ConfigError> {
        Files::new("", text).load(env)
    }

    /// Returns what is ignored.
    fn ignored(text: &str, env: &[(&str, &str)]) -> String {
        load(text, env).unwrap().ignored.join("\n")
    }

    /// Returns the text of a file that sets this key to a value other than its default.
    fn changed(key: &str, default: &str) -> String {
        let (section, name) = key.split_once('.').unwrap();
        let value = match (key, default) {
            ("index.location", _) => "'cache'".into(),
            ("index.cache_from", _) => "'/srv/indexes'".into(),
            ("embed.url", _) => "'http://192.0.2.1'\nmodel = 'm'\ndimensions = 8".into(),
            ("serve.address", _) => "'0.0.0.0'".into(),
            ("serve.tools", _) => "['edit']".into(),
            ("serve.editor", _) => "'zed'".into(),
            (_, "[]") => "['x']".into(),
            (_, "") => "'x'".into(),
            (_, "false") => "true".into(),
            (_, "true") => "false".into(),
            (_, number) => (number.parse::<u64>().unwrap() + 1).to_string(),
        };
        format!("[{section}]\n{name} = {value}\n")
    }

    #[test]
    fn a_clone_sets_nothing_that_is_the_users_to_decide() {
        let plain = |mut config: Config| {
            let ignored = std::mem::take(&mut config.ignored);
            (format!("{config:?}"), ignored)
        };
        let (default, none) = plain(load("", &[]).unwrap());
        assert!(none.is_empty());
        for (key, origin, default_value, _) in KEYS {
            let text = changed(key, default_value);
            let (found, ignored) =
                plain(Files::new(&text, "").load(&[]).unwrap_or_else(|e| panic!("{text}: {e}")));
            if *origin == User {
                assert_eq!(found, default, "{key}");
                let told = ignored.iter().find(|i| i.contains(key)).unwrap();
                assert!(
                    told.contains(".cortex/config.toml") && told.contains("/cortex/config.toml"),
                    "{told}"
                );
            } else {
                assert!(found != default && ignored.is_empty(), "{key}: {ignored:?}");
            }
            let is_part = key.starts_with("embed.") && *key != "embed.url";
            let (users, ignored) = plain(load(&text, &[]).unwrap());
            assert!((is_part || users != default) && ignored.is_empty(), "{key}: {users}");
        }
        // Not even an invalid value of a setting that only the user decides is an error.
        assert_eq!(
            plain(Files::new("[serve]\nport = 'x'\naddress = 7", "").load(&[]).unwrap()).0,
            default
        );
    }

    #[test]
    fn the_user_beats_the_project_and_the_environment_both() {
        let files = Files::new("[search]\nlimit = 3\ncontext = 3", "[search]\nlimit = 4");
        let config = files.load(&[]).unwrap();
        assert_eq!((config.limit, config.context), (4, 3));
        assert_eq!(files.load(&[("CORTEX_SEARCH_LIMIT", "5")]).unwrap().limit, 5);
        assert_eq!(load("[index]\nlocation = 'cache'", &[]).unwrap().location, Location::Cache);
    }

    #[test]
    fn a_clone_does_not_have_huge_files_indexed() {
        let text = "[index]\nmax_file_bytes = 9000000000";
        let config = Files::new(text, "").load(&[]).unwrap();
        assert_eq!(config.max_file_bytes, 16 << 20);
        assert!(config.ignored[0].contains("at most 16777216"), "{:?}", config.ignored);
        assert_eq!(load(text, &[]).unwrap().max_file_bytes, 9_000_000_000);
    }

    #[test]
    fn links_pipes_and_giants_are_no_settings_of_a_project() {
        let files = Files::new("", "[search]\nlimit = 4");
        let file = files.0.path().join(".cortex/config.toml");
        let refused = |what: &str| {
            let e = files.load(&[]).unwrap_err().to_string();
            assert!(e.contains(what) && e.contains(".cortex"), "{e}");
            // With the index elsewhere, an unusable project's file is only a warning.
            let elsewhere = files.load(&[("CORTEX_INDEX_LOCATION", "cache")]).unwrap();
            assert!(elsewhere.limit == 4 && elsewhere.ignored[0].contains(what));
            let place = OwnedDir::new(Dir::open(files.0.path()).unwrap().into(), ".cortex");
            let anyway = Config::load_or_default(Some(&place), Some(&files.user()), []).unwrap();
            assert!(anyway.limit == 4 && anyway.ignored[0].contains(what), "{:?}", anyway.ignored);
        };
        std::fs::write(&file, "#".repeat(1 << 17)).unwrap();
        refused("larger");
        std::fs::remove_file(&file).unwrap();
        std::os::unix::fs::symlink("/dev/zero", &file).unwrap();
        refused("symbolic link");
        std::fs::remove_file(&file).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(&file).status().unwrap().success());
        refused("a named pipe");
        std::fs::remove_file(&file).unwrap();
        let cortex = files.0.path().join(".cortex");
        std::fs::remove_dir(&cortex).unwrap();
        std::os::unix::fs::symlink("..", &cortex).unwrap();
        refused("symbolic link");
    }

    #[test]
    fn the_users_file_may_be_a_link_and_not_a_pipe() {
        let files = Files::new("", "");
        let (user, real) = (files.user(), files.0.path().join("real.toml"));
        std::fs::write(&real, "[search]\nlimit = 4").unwrap();
        std::fs::remove_file(&user).unwrap();
        assert_eq!(files.load(&[]).unwrap().limit, 10);
        std::os::unix::fs::symlink("real.toml", &user).unwrap();
        assert_eq!(files.load(&[]).unwrap().limit, 4);
        std::fs::remove_file(&real).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(&real).status().unwrap().success());
        assert!(files.load(&[]).unwrap_err().to_string().contains("named pipe"));
    }

    #[test]
    fn environment_beats_file_beats_default() {
        assert_eq!(load("", &[]).unwrap().limit, 10);
        assert_eq!(
            load("", &[("CORTEX_MEMORY_NOTES", "/a,b")]).unwrap().notes.len(),
            1,
            "a path may hold anything"
        );
        let compress = load("", &[("CORTEX_INDEX_COMPRESS", "true")]).unwrap().compress;
        assert_eq!(compress, Some(true));
        assert_eq!(load("[search]\nlimit = 3", &[]).unwrap().limit, 3);
        assert_eq!(
            load("[search]\nlimit = 3", &[("CORTEX_SEARCH_LIMIT", "7"), ("PATH", "x")])
                .unwrap()
                .limit,
            7
        );
        assert_eq!(load("", &[("CORTEX_INDEX_EXCLUDE", "gen")]).unwrap().exclude_patterns, ["gen"]);
        assert_eq!(
            load("", &[("CORTEX_INDEX_EXCLUDE", "['a', 'b']")]).unwrap().exclude_patterns,
            ["a", "b"]
        );
    }

    #[test]
    fn an_unknown_key_names_its_line_and_the_nearest() {
        let e = ignored("# x\n[search]\nlimitt = 3", &[]);
        assert!(e.contains("user.toml:3") && e.contains("did you mean `search.limit`"), "{e}");
        let e = ignored("", &[("CORTEX_SEARCH_LIMITS", "3")]);
        assert!(e.contains("did you mean `CORTEX_SEARCH_LIMIT`"), "{e}");
        let e = ignored("[colours]\nred = 1", &[]);
        assert!(e.contains("the settings are index.max_file_bytes"), "{e}");
    }

    #[test]
    fn bad_values_are_told_and_all_others_count() {
        for (text, what) in [
            ("[search]\nlimit = 0", "from 1 to 1000"),
            ("[search]\nlimit = \"x\"", "invalid type"),
            ("[search]\nlimitt = 3", "did you mean `search.limit`"),
            ("[index]\ninclude = [\"a[\"]", "is not a glob"),
            ("[embed]\nurl = 7", "invalid type"),
        ] {
            let rest = "\n[live]\ndebounce_ms = 77\n[memory]\nwindow_ms = 'soon'";
            let config = load(&format!("{text}{rest}"), &[]).unwrap();
            assert_eq!((config.limit, config.debounce), (10, Some(Duration::from_millis(77))));
            assert!(config.ignored[0].contains(what), "{text}: {:?}", config.ignored);
            assert!(config.ignored[1].contains("memory.window_ms"), "{:?}", config.ignored);
        }
    }

    #[test]
    fn a_bad_value_widens_no_access() {
        for (text, what) in [
            ("[index]\nexclude = [\"a[\"]", "is not a glob"),
            ("[index]\nexclude = 7", "index.exclude"),
            ("[serve]\ntoken = 7", "serve.token"),
            ("[serve]\naddress = 'here'", "is not an IP address"),
            ("[serve]\ntools = 7", "serve.tools"),
            ("[search\nlimit = 1", "user.toml:1"),
        ] {
            let e = load(text, &[]).unwrap_err().to_string();
            assert!(e.contains(what), "{text}: {e}");
        }
        // A clone excludes what it likes.
        let clone = Files::new("[index]\nexclude = 7", "").load(&[]).unwrap();
        assert!(clone.ignored[0].contains("index.exclude"), "{:?}", clone.ignored);
    }

    #[test]
    fn a_server_for_vectors_is_checked() {
        let rest = "model = 'm'\ndimensions = 8\npassage_prefix = 'search_document: '";
        let model = |url: &str| load(&format!("[embed]\nurl = '{url}'\n{rest}"), &[]);
        assert!(load("[embed]\nmodel = 'm'", &[]).unwrap().remote_model.is_none());
        for url in [
            "http://localhost:11434",
            "http://127.0.0.1:8080/v1/",
            "http://[::1]:1/v1",
            "https://localhost/some/where",
        ] {
            let found = model(url).unwrap().remote_model.unwrap();
            assert!(
                found.is_local && url.starts_with(&found.url) && !found.url.ends_with("/v1"),
                "{found:?}"
            );
            assert_eq!(
                (found.is_plain, &*found.passage_prefix),
                (url.starts_with("http:"), "search_document: ")
            );
        }
        for (url, what) in [
            ("localhost:11434", "must begin with http"),
            ("ftp://localhost", "must begin with http"),
            ("http://", "must begin with http"),
            ("http://local host", "is not a valid URL"),
            ("http://user:secret@localhost", "embed.token"),
        ] {
            let config = model(url).unwrap();
            assert!(config.remote_model.is_none());
            let e = config.ignored.join("\n");
            assert!(e.contains(what), "{url}: {e}");
        }
        for url in ["http://localhost.example.com", "http://192.168.0.7:11434"] {
            assert!(!model(url).unwrap().remote_model.unwrap().is_local);
        }
        let elsewhere =
            load(&format!("[embed]\n{rest}"), &[("CORTEX_EMBED_URL", "http://example.com:80/v1")])
                .unwrap()
                .remote_model
                .unwrap();
        assert_eq!((&*elsewhere.authority, elsewhere.is_local), ("example.com:80", false));
        let refused = [("CORTEX_EMBED_URL", "")];
        assert!(
            load(&format!("[embed]\nurl = 'http://example.com'\n{rest}"), &refused)
                .unwrap()
                .remote_model
                .is_none()
        );
        let e = ignored("[embed]\nurl = 'http://localhost'\nmodel = 'm'", &[]);
        assert!(e.contains("embed.dimensions is 0"), "{e}");
    }

    #[test]
    fn every_key_has_a_section_and_is_read() {
        for (key, _, default, _) in KEYS {
            let (section, name) = key.split_once('.').unwrap();
            let is_bare = default.parse::<u64>().is_ok()
                || default.parse::<bool>().is_ok()
                || default.starts_with('[');
            let value = if is_bare { (*default).to_string() } else { format!("'{default}'") };
            load(&format!("[{section}]\n{name} = {value}"), &[]).unwrap();
        }
    }

    #[test]
    fn folders_lead_to_what_is_included() {
        let set = folders_to(
            &["node_modules/react/**", "/a/*/c/x.rs", "*.rs", "**/gen/*", "b/**/c"]
                .map(String::from),
        )
        .unwrap();
        for (folder, want) in [
            ("node_modules", true),
            ("node_modules/react", true),
            ("node_modules/vue", false),
            ("web/node_modules", false),
            ("a/b", true),
            ("a/b/c", true),
            ("a/b/d", false),
            ("gen", true),
            ("x/gen", true),
            ("x", false),
            ("b/x/y", true),
        ] {
            assert_eq!(set.is_match(folder), want, "{folder}");
        }
    }

    #[test]
    fn globs_match_files_and_folders() {
        let set = globs(&["src/live", "*.md", "gen", "a/*.rs", "/top", "/t*.c"].map(String::from))
            .unwrap();
        for (path, want) in [
            ("src/live/mod.rs", true),
            ("README.md", true),
            ("docs/x.md", true),
            ("x/gen/y.rs", true),
            ("a/b.rs", true),
            ("a/b/c.rs", false),
            ("src/lives.rs", false),
            ("top/x.rs", true),
            ("x/top/y.rs", false),
            ("t.c", true),
            ("x/t.c", false),
        ] {
            assert_eq!(set.is_match(path), want, "{path}");
        }
    }
}
