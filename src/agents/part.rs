//! One change that an agent needs, and how it is applied to the text of a file.

use std::path::Path;

use serde::Deserialize;

use super::{fence, json, toml};

/// Whose files are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Files in the user's home directory: the agent knows Cortex in every project.
    User,
    /// Files in the project: everybody who works on it shares them.
    Project,
}

/// What a part is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// The entry of the MCP server.
    Server,
    /// Tools that only read run without a question.
    Permission,
    /// When to use Cortex, in the file that the agent reads in every session.
    Instructions,
    /// The same at length, read when it is needed.
    Skill,
    /// A sub-agent that only searches.
    Subagent,
    /// A command that the user types.
    Command,
    /// The agent's sessions feed the memory.
    Hooks,
}

impl Kind {
    /// All kinds, in the order in which they are shown.
    pub const ALL: [Self; 7] = [
        Self::Server,
        Self::Permission,
        Self::Instructions,
        Self::Skill,
        Self::Subagent,
        Self::Command,
        Self::Hooks,
    ];

    /// The name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Server => "server",
            Self::Permission => "permission",
            Self::Instructions => "instructions",
            Self::Skill => "skill",
            Self::Subagent => "subagent",
            Self::Command => "command",
            Self::Hooks => "hooks",
        }
    }
}

/// A change of one file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentPart {
    pub kind: Kind,
    /// Paths of the file for the user: the first that exists, else the last. `~` is the home
    /// directory, `{config}` that of configuration files, and `{NAME|path}` the value of an
    /// environment variable.
    #[serde(default)]
    pub user: Vec<String>,
    /// The same in a project, relative to its root.
    #[serde(default)]
    pub project: Vec<String>,
    /// Whether the file is only changed, never made.
    #[serde(default)]
    pub only_existing: bool,
    /// What a new file holds before anything is written.
    #[serde(default)]
    pub base: String,
    /// Paths of keys (`a/b`) and the values there, written in the format of the file.
    #[serde(default)]
    pub set: Vec<(String, String)>,
    /// A key; where a file has it, this path and value replace those of `set`.
    #[serde(default)]
    pub where_it_has: Option<(String, String, String)>,
    /// Paths of keys of arrays, and the values to append.
    #[serde(default)]
    pub append: Vec<(String, String)>,
    /// The text in a fenced block.
    #[serde(default)]
    pub block: Option<String>,
    /// The text of the whole file. `{body}` is the text of this name.
    #[serde(default)]
    pub text: Option<String>,
    /// What surrounds the text: `{body}` is the place of it.
    #[serde(default)]
    pub around: Option<String>,
    /// How a command names its arguments. By default `$ARGUMENTS`.
    #[serde(default)]
    pub arguments: Option<String>,
}

/// The texts that agents read. Each is the only source of what it says.
const TEXTS: [(&str, &str); 4] = [
    ("instructions", include_str!("texts/instructions.md")),
    ("skill", include_str!("texts/skill.md")),
    ("subagent", include_str!("texts/subagent.md")),
    ("command", include_str!("texts/command.md")),
];

/// A file with these words is ours as a whole. A user who wants to keep a changed file deletes the line.
const OURS: &str = "Written by `cortex init`";

/// The command that agents start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    pub path: String,
    pub args: Vec<String>,
}

impl Program {
    /// Returns the command of the server with its arguments.
    #[must_use]
    pub fn server(&self) -> Vec<String> {
        let words = std::iter::once(&self.path).chain(&self.args).cloned();
        words.chain(["mcp".to_string()]).collect()
    }

    /// Returns a text with the places of the command filled in.
    fn fill(&self, text: &str, agent: &str) -> String {
        let json = |value: serde_json::Value| value.to_string();
        let argv = self.server();
        let shell = std::iter::once(&self.path).chain(&self.args).map(|w| quoted(w));
        let hook = format!("{} hook", shell.collect::<Vec<_>>().join(" "));
        let hook = json(hook.into());
        // A command of a hook is a part of a string.
        let hook = hook.trim_matches('"');
        text.replace("{program}", &json((&*self.path).into()))
            .replace("{args}", &json(argv[1..].into()))
            .replace("{argv}", &json(argv.clone().into()))
            .replace("{hook}", hook)
            .replace("{for}", &format!("--agent {agent} --if-indexed"))
    }
}

/// Returns a word as a shell reads it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@%:=,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_string()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// The format of a structured file, by its name.
enum Format {
    Json,
    Toml,
    Yaml,
}

impl Format {
    fn of(path: &Path) -> Self {
        match path.extension().and_then(|e| e.to_str()) {
            Some("toml") => Self::Toml,
            Some("yaml" | "yml") => Self::Yaml,
            _ => Self::Json,
        }
    }
}

impl AgentPart {
    /// Returns the paths of the file in a scope.
    pub(super) fn paths(&self, scope: Scope) -> &[String] {
        match scope {
            Scope::User => &self.user,
            Scope::Project => &self.project,
        }
    }

    fn body(&self, name: &str) -> String {
        let body =
            TEXTS.iter().find(|(n, _)| *n == name).map_or(name, |(_, text)| *text).trim_end();
        let around = self.around.as_deref().unwrap_or("{body}");
        let text = around.replace("{body}", body);
        let arguments = self.arguments.as_deref().unwrap_or("$ARGUMENTS");
        format!("{}\n", text.replace("{arguments}", arguments).trim_end())
    }

    /// Returns the text of the file with this part in it.
    pub(super) fn put(
        &self,
        path: &Path,
        text: &str,
        program: &Program,
        agent: &str,
    ) -> Result<String, String> {
        if let Some(name) = &self.text {
            if !text.is_empty() && !text.contains(OURS) {
                return Err(format!("it is not ours: a file of ours says \"{OURS}\""));
            }
            return Ok(self.body(name));
        }
        if let Some(name) = &self.block {
            return fence::put(text, &self.body(name));
        }
        let mut text = if text.is_empty() { self.base.clone() } else { text.to_string() };
        for (at, value) in self.values(path, &text) {
            let value = program.fill(value, agent);
            text = match Format::of(path) {
                Format::Json => json::set(&text, at, &value)?,
                Format::Toml => toml::set(&text, at, &value)?,
                Format::Yaml => fence::put_below(&text, at, &value)?,
            };
        }
        for (at, value) in &self.append {
            text = json::append(&text, at, &program.fill(value, agent))?;
        }
        Ok(text)
    }

    /// Returns the text of the file without this part; empty if nothing else is in it.
    pub(super) fn take(
        &self,
        path: &Path,
        text: &str,
        program: &Program,
        agent: &str,
    ) -> Result<String, String> {
        if self.text.is_some() {
            return Ok(if text.contains(OURS) { String::new() } else { text.to_string() });
        }
        if self.block.is_some() {
            return fence::take(text);
        }
        let before = text;
        let mut text = text.to_string();
        for (at, value) in self.values(path, &text) {
            let value = program.fill(value, agent);
            text = match Format::of(path) {
                Format::Json => json::unset(&text, at, &value)?,
                Format::Toml => toml::unset(&text, at, &value)?,
                Format::Yaml => fence::take_from(&text)?,
            };
        }
        for (at, value) in &self.append {
            text = json::unappend(&text, at, &program.fill(value, agent))?;
        }
        if text != before && matches!(Format::of(path), Format::Json) {
            let is_bare = json::is_empty(&text) || json::is_same(&text, &self.base);
            if is_bare {
                text.clear();
            }
        }
        Ok(text)
    }

    /// Returns the values to set in a file, each with its path of keys.
    fn values(&self, path: &Path, text: &str) -> Vec<(&str, &str)> {
        if let Some((key, at, value)) = &self.where_it_has
            && matches!(Format::of(path), Format::Json)
            && json::get(text, key).is_ok_and(|v| v.is_some())
        {
            return vec![(at, value)];
        }
        self.set.iter().map(|(at, value)| (&**at, &**value)).collect()
    }

    /// Returns the command of the server in a file: the program and its arguments.
    ///
    /// # Errors
    /// When the file cannot be parsed.
    pub(super) fn command(&self, path: &Path, text: &str) -> Result<Option<Vec<String>>, String> {
        let values = self.values(path, text);
        let Some((at, _)) = values.first() else { return Ok(None) };
        match Format::of(path) {
            Format::Json => Ok(json::get(text, at)?.map(|entry| command_of(&entry))),
            Format::Toml => toml::command(text, at),
            Format::Yaml => Ok(fence::in_yaml(text).map(command_in_yaml)),
        }
    }

    /// Returns whether the entry of the server in a file is exactly what [`AgentPart::put`] writes
    /// into a file without one, whatever surrounds it.
    pub(super) fn is_as_written(
        &self,
        path: &Path,
        text: &str,
        program: &Program,
        agent: &str,
    ) -> Result<bool, String> {
        self.values(path, text).into_iter().try_fold(true, |is_same, (at, value)| {
            let value = program.fill(value, agent);
            Ok(is_same
                && match Format::of(path) {
                    Format::Json => json::holds(text, at, &value)?,
                    Format::Toml => toml::holds(text, at, &value)?,
                    Format::Yaml => fence::holds(&unix_lines(text), &value),
                })
        })
    }
}

/// Returns a text without carriage returns: a file may have lines of Windows.
fn unix_lines(text: &str) -> String {
    text.replace("\r\n", "\n")
}

/// Returns the command of an entry: `command` is a string with `args` beside it, or the whole list,
/// there or in `transport`.
fn command_of(entry: &serde_json::Value) -> Vec<String> {
    let entry = entry.get("transport").unwrap_or(entry);
    let list = |value: &serde_json::Value| match value {
        serde_json::Value::String(word) => vec![word.clone()],
        serde_json::Value::Array(words) => {
            words.iter().filter_map(|w| w.as_str().map(String::from)).collect()
        }
        _ => Vec::new(),
    };
    let of = |key: &str| entry.get(key).map(list).unwrap_or_default();
    let path = entry.get("command").and_then(|c| c.get("path")).map(list).unwrap_or_default();
    [path, of("command"), of("args")].concat()
}

/// Returns the command of our own lines: values are written as JSON.
fn command_in_yaml(lines: &str) -> Vec<String> {
    let value = |keys: &[&str]| {
        lines.lines().find_map(|line| {
            let (key, value) = line.trim_start_matches([' ', '-']).split_once(':')?;
            keys.contains(&key)
                .then(|| serde_json::from_str::<serde_json::Value>(value.trim()).ok())?
        })
    };
    let entry =
        serde_json::json!({ "command": value(&["cmd", "command"]), "args": value(&["args"]) });
    command_of(&entry)
}
