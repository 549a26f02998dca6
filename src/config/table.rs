//! The table of settings: the only place that lists them.
//!
//! Each entry is a sentence for users, the key, the default as it is written in a file, who may
//! decide the setting, whether it narrows access, and the field of [`Config`] with the function that
//! reads it from a value. A value from a file, a variable of the environment and the default are read
//! by the same function.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use toml::Value;

use super::values::{
    AUTOMATIC, Globs, Location, RemoteModel, address_of, archives, editor, globs_of,
    globs_with_folders, limit, megabytes, megabytes_unless_zero, milliseconds,
    milliseconds_unless_zero, minutes, of_type, or_automatic, text_unless_empty, written,
};

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

/// Marks a setting that narrows access: where such a value of the user cannot be used, its default,
/// which is wider, must not take its place.
struct Narrows;

/// The values that are set, each with the file or variable that sets it.
pub(super) type SetValues = BTreeMap<&'static str, (Value, String)>;

macro_rules! settings {
    ($(
        $(#[doc = $line:literal])+
        $key:literal = $default:expr, $origin:expr $(, $narrows:expr)?
            => $vis:vis $field:ident: $type:ty = $read:ident;
    )+) => {
        /// Every setting: key, who may decide it, default as it is written in a file, meaning.
        pub const KEYS: &[(&str, SettingOrigin, &str, &str)] =
            &[$(($key, $origin, $default, concat!($($line),+).trim_ascii()),)+];

        /// Resolved settings.
        #[allow(clippy::doc_markdown, reason = "users read the sentences without Markdown, too")]
        #[derive(Debug, Clone)]
        pub struct Config {
            $($(#[doc = $line])+ $vis $field: $type,)+
            /// The server that computes the vectors; `None` for the bundled model.
            pub remote_model: Option<RemoteModel>,
            /// Warnings about settings that were ignored. Each names the file, the settings and the
            /// remedy.
            pub ignored: Vec<String>,
            pub(super) set: SetValues,
        }

        impl Config {
            /// Reads each setting from its value, or else from its default. The fields that need
            /// several settings or warnings stay empty.
            pub(super) fn read(set: SetValues) -> Result<Self, String> {
                let value = |key: &str, default: &str| match set.get(key) {
                    Some((value, _)) => value.clone(),
                    None => written(key, default, default),
                };
                Ok(Self {
                    $($field: $read(value($key, $default))?,)+
                    remote_model: None,
                    ignored: Vec::new(),
                    set,
                })
            }
        }

        /// Whether the setting narrows access.
        pub(super) fn narrows(key: &str) -> bool {
            const NARROWING: &[(&str, Narrows)] = &[$($(($key, $narrows),)?)+];
            NARROWING.iter().any(|(narrowing, Narrows)| *narrowing == key)
        }

        /// Checks that a setting can have this value. The error is the reason why not.
        #[allow(clippy::match_same_arms, reason = "many settings have the same type")]
        pub(super) fn check(key: &str, value: Value) -> Result<(), String> {
            match key {
                $($key => $read(value).map(|_: $type| ()),)+
                _ => Ok(()),
            }
        }
    };
}

settings! {
    /// Larger files are skipped.
    "index.max_file_bytes" = "1048576", ProjectUpTo(16 << 20) => pub max_file_bytes: u64 = of_type;
    /// Globs of paths that are not indexed, in addition to .gitignore and .cortexignore.
    "index.exclude" = "[]", Project, Narrows => pub exclude: Globs = globs_of;
    /// Globs of paths of code of other projects, such as src/lua: it comes last in results and is
    /// no main file of the map.
    "index.vendored" = "[]", Project => pub vendored: Globs = globs_of;
    /// Globs of paths of the project's own code, whatever index.vendored, .gitattributes, a
    /// licence, a header or the name of a folder says.
    "index.ordinary" = "[]", Project => pub ordinary: Globs = globs_of;
    /// Whether hidden files and folders are indexed as well. Files that may hold secrets, and
    /// folders such as .git and .ssh, never are.
    "index.hidden" = "false", User => pub hidden: bool = of_type;
    /// Globs of paths that are indexed although an ignore file, a leading dot or a folder such as
    /// node_modules leaves them out, for example node_modules/react/** or .config. A glob such as
    /// *.log, without a slash, does not reach into folders that are left out. index.exclude wins.
    "index.include" = "[]", User => pub include: Globs = globs_with_folders;
    /// Whether chunk files are written as .json.zst: a sixth of the size; a search takes a
    /// millisecond longer. With automatic, those of a project with more than 64 MB of source are.
    "index.compress" = AUTOMATIC, Project => pub compress: Option<bool> = or_automatic;
    /// Whether chunks of deleted files stay in the index, marked as deleted, until it is rebuilt.
    /// Chunks of files that are ignored, excluded or too large never stay.
    "index.keep_deleted" = "false", User => pub keep_deleted: bool = of_type;
    /// Whether messages of commits help to rank the files that the commits changed.
    "index.history" = "true", Project => pub history: bool = of_type;
    /// Where the index is: project for .cortex, cache for a folder of the user's cache directory.
    "index.location" = "project", User => pub location: Location = of_type;
    /// How much disk the store of what is known by content may take, in megabytes, for all projects
    /// of this user: a new worktree, or a branch that comes back, is not parsed again. 0 for no
    /// store.
    "index.known_mb" = "1024", User => pub known_bytes: u64 = megabytes;
    /// Where the first index of a project is taken from, as `cortex index --cache-to` left it: a
    /// folder with its whole path, such as a mounted share, or an address such as
    /// s3://bucket/folder, gs://bucket/folder or az://container/folder. Empty: from nowhere.
    "index.cache_from" = "", User => pub cache_from: Option<String> = archives;
    /// How many results `cortex search` returns. Its text shows the first five of them; -n shows more.
    "search.limit" = "10", Project => pub limit: usize = limit;
    /// How many lines of each result `cortex search` shows; 0 for none. With automatic, the results
    /// share a screen, and those that answer best get most of it.
    "search.context" = AUTOMATIC, ProjectUpTo(1000) => pub context: Option<usize> = or_automatic;
    /// The URL of an OpenAI-compatible server that computes the vectors (http://localhost:11434 is
    /// Ollama's). It receives all text that is indexed, and every question. Empty: the bundled
    /// model, and nothing leaves this machine.
    "embed.url" = "", User => pub(super) embed_url: String = of_type;
    /// The name of the model on that server.
    "embed.model" = "", User => pub(super) embed_model: String = of_type;
    /// How many numbers a vector of that model has.
    "embed.dimensions" = "0", User => pub(super) embed_dimensions: usize = of_type;
    /// The token that is sent to that server as `Authorization: Bearer …`. Prefer to set it in
    /// CORTEX_EMBED_TOKEN.
    "embed.token" = "", User => pub(super) embed_token: Option<String> = text_unless_empty;
    /// The prefix that the model expects before a question, such as `search_query: `.
    "embed.query_prefix" = "", User => pub(super) embed_query_prefix: String = of_type;
    /// The prefix that the model expects before an indexed text, such as `search_document: `.
    "embed.passage_prefix" = "", User => pub(super) embed_passage_prefix: String = of_type;
    /// How long a search waits for the vector of its question before it uses words alone, in
    /// milliseconds.
    "embed.timeout_ms" = "2000", User => pub(super) embed_timeout: Duration = milliseconds;
    /// How long files must stay unchanged before a server indexes the changes, in milliseconds. 0:
    /// 20 after a second without changes, up to 500 while they go on.
    "live.debounce_ms" = "0", User => pub debounce: Option<Duration> = milliseconds_unless_zero;
    /// How much memory a server may use, in megabytes. Above this, it first reads the index from
    /// disk instead of memory, then searches without vectors until it is restarted. 0 for no limit.
    "live.memory_budget_mb" = "0", User => pub memory_budget: Option<u64> = megabytes_unless_zero;
    /// How long a server must use more than live.memory_budget_mb before it gives something up, in
    /// milliseconds. Freed memory returns to the system with a delay.
    "live.memory_patience_ms" = "12000", User => pub memory_patience: Duration = milliseconds;
    /// Folders of Markdown files that become memories and are not part of the index. Empty: the
    /// notes that Claude Code keeps for this project.
    "memory.notes" = "[]", User => pub notes: Vec<PathBuf> = of_type;
    /// A file that changes this long before or after a git operation, in milliseconds, may have
    /// been changed by git. Events are recorded when nothing changed for so long.
    "memory.window_ms" = "5000", User => pub window: Duration = milliseconds;
    /// How many events of each kind (edits, git operations, files that git changed) are kept.
    "memory.max_events" = "5000", User => pub max_events: usize = of_type;
    /// How many days events are kept. What a user said, or an agent answered, is kept until
    /// somebody forgets it.
    "memory.event_days" = "180", User => pub event_days: u32 = of_type;
    /// The address on which `cortex serve` listens. Any other than a loopback address requires
    /// serve.token.
    "serve.address" = "127.0.0.1", User, Narrows => pub address: IpAddr = address_of;
    /// The first port that `cortex serve` tries.
    "serve.port" = "7717", User => pub port: u16 = of_type;
    /// Which groups of tools servers list: core, search, graph, memory, edit, all. Other tools can
    /// be called by name, except those of edit. Empty: core.
    "serve.tools" = "[]", User, Narrows => pub tools: Vec<String> = of_type;
    /// The token that clients must send as `Authorization: Bearer …`. Empty: none is required, and
    /// only programs of the user who started the server are answered.
    "serve.token" = "", User, Narrows => pub token: Option<String> = text_unless_empty;
    /// Whether the edit tools may change files that programs execute or trust without asking.
    "serve.edit_trusted" = "false", User => pub edit_trusted: bool = of_type;
    /// The editor that the page opens files in: vscode, vscodium, cursor, windsurf, zed, idea, or
    /// an address with {path} and {line}, such as `my-editor://open?file={path}&line={line}`.
    "serve.editor" = "vscode", User => pub editor: String = editor;
    /// Whether a server keeps the last questions of agents, for the page that shows them. They are
    /// in memory only. Numbers of calls and tokens are counted in any case.
    "serve.activity" = "true", User => pub activity: bool = of_type;
    /// Whether `cortex mcp` reaches the one server of this machine, and starts it if none runs. If
    /// not, each agent has a server of its own.
    "serve.shared" = "true", User => pub shared: bool = of_type;
    /// Whether agents may ask your other projects, too (`repo` and `repos` of the tools). If not,
    /// an agent reaches the project that it was started in.
    "serve.other_projects" = "true", User => pub other_projects: bool = of_type;
    /// How long the server of this machine keeps a project open that nobody asks, and how long it
    /// runs without a client, in minutes.
    "serve.idle_minutes" = "30", User => pub idle: Duration = minutes;
    /// How much memory the server of this machine may hold for all projects, in megabytes. It
    /// closes the projects that were asked least recently; they open again with the next question.
    "serve.memory_mb" = "1024", User => pub shared_bytes: u64 = megabytes;
    /// The database where your team publishes its repositories: `postgres://user@host/database` or
    /// `milvus://host:port/database`. Agents and `cortex search --repo` reach what is published
    /// there.
    "team.url" = "", User => pub team_url: Option<String> = text_unless_empty;
}

impl Config {
    /// Whether a file or a variable sets this setting, so that its value is not the default.
    #[must_use]
    pub fn is_set(&self, key: &str) -> bool {
        self.set.contains_key(key)
    }
}

/// Returns the environment variable that sets this key.
pub(super) fn env_name(key: &str) -> String {
    format!("CORTEX_{}", key.replace('.', "_").to_uppercase())
}
