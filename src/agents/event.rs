//! Translates the hooks of every agent into events of one form.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;
use serde_json::{Map, Value, json};

/// How the hooks of an agent speak.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Speech {
    /// Our events, and the agent's names of them. Only these are registered.
    pub events: BTreeMap<String, String>,
    /// The events after which the agent reads what a hook prints.
    pub listens: Vec<String>,
    /// What a hook prints: `{event}` is the agent's name of the event, and `{context}` a text for
    /// the model, both as JSON.
    pub reply: String,
}

/// What an agent reports by a hook. Everything may be missing.
#[derive(Debug, Clone, Default)]
pub struct Event {
    pub session_id: String,
    pub cwd: Option<PathBuf>,
    /// How a session starts: startup, resume, clear or compact.
    pub source: Option<String>,
    pub prompt: Option<String>,
    /// The name of the tool that runs. A tool that does what one of Claude Code does has the name of
    /// that one.
    pub tool: Option<String>,
    /// The file that the tool works on, as the agent names it.
    pub file: Option<String>,
    pub deed: Option<Deed>,
    /// The agent's last answer.
    pub answer: Option<String>,
    pub transcript: Option<PathBuf>,
}

/// What a tool does to a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Deed {
    /// It changes a file: from this text to that one, as far as the agent tells.
    Edit { old: Option<String>, new: Option<String> },
    /// It runs a command.
    Command { command: String, description: Option<String> },
}

/// The fields that Claude Code sends.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Fields {
    session_id: String,
    cwd: Option<PathBuf>,
    source: Option<String>,
    prompt: Option<String>,
    tool_name: Option<String>,
    tool_input: Value,
    last_assistant_message: Option<String>,
    transcript_path: Option<PathBuf>,
}

/// Our fields, and the places where agents put them: the first that exists is used. One table is
/// enough for all agents, and it also reads the hooks of an agent that another one runs as its own.
const FIELDS: [(&str, &[&str]); 8] = [
    ("session_id", &["/session_id", "/sessionId", "/conversation_id", "/conversationId"]),
    ("cwd", &["/cwd", "/workspaceRoot", "/workspace_roots/0", "/workspacePaths/0"]),
    ("source", &["/source"]),
    // A prompt may be sent again with the results of tools; then this is what the user typed.
    ("prompt", &["/submitted_prompt", "/prompt", "/initialPrompt"]),
    ("tool_name", &["/tool_name", "/toolName"]),
    ("tool_input", &["/tool_input", "/toolArgs", "/toolInput"]),
    ("last_assistant_message", &["/last_assistant_message", "/prompt_response"]),
    ("transcript_path", &["/transcript_path", "/transcriptPath"]),
];
/// Names of the tools that change files.
const EDITS: [&str; 13] = [
    "Edit", "MultiEdit", "Write", "NotebookEdit", "apply_patch", "create", "create_file", "edit",
    "replace", "replace_string_in_file", "str_replace_editor", "write_file", "write_to_file",
];
/// Names of the tools that run commands.
const COMMANDS: [&str; 7] = [
    "Bash", "Shell", "bash", "powershell", "run_in_terminal", "run_shell_command",
    "run_terminal_command",
];
/// Names of the argument with the path of the changed file.
const PATHS: [&str; 5] = ["file_path", "filePath", "notebook_path", "path", "TargetFile"];

/// Why the input of a hook is not understood.
#[derive(Debug, thiserror::Error)]
pub enum EventError {
    #[error("the input is not JSON: {0}")]
    NoJson(#[from] serde_json::Error),
    #[error("the input is not an object")]
    NoObject,
    #[error("a field of the input has an unknown type: {0}")]
    Field(serde_json::Error),
}

/// Beginnings of the lines of a patch that name a file.
const PATCHED: [&str; 3] = ["*** Update File: ", "*** Add File: ", "*** Delete File: "];

impl Speech {
    /// Reads the input of a hook.
    ///
    /// # Errors
    /// When it is not a JSON object, or a field has a type that no agent sends.
    pub fn read(&self, input: &[u8]) -> Result<Event, EventError> {
        let input: Value = serde_json::from_slice(input)?;
        if !input.is_object() {
            return Err(EventError::NoObject);
        }
        let mut fields = Map::new();
        for (ours, places) in FIELDS {
            let found = places.iter().find_map(|p| input.pointer(p)).filter(|v| !v.is_null());
            if let Some(value) = found {
                fields.insert(ours.into(), value.clone());
            }
        }
        // An agent may report an edit as an event of its own, without a tool.
        if !fields.contains_key("tool_name") && input.get("file_path").is_some() {
            fields.insert("tool_name".into(), EDITS[0].into());
            fields.insert("tool_input".into(), input.clone());
        }
        let tool = fields.get("tool_name").and_then(Value::as_str).unwrap_or_default();
        let (is_edit, is_command) = (EDITS.contains(&tool), COMMANDS.contains(&tool));
        // Tools that Claude Code has keep their names.
        if is_edit && !EDITS[..4].contains(&tool) {
            fields.insert("tool_name".into(), EDITS[0].into());
        } else if is_command {
            fields.insert("tool_name".into(), COMMANDS[0].into());
        }
        // Some agents send the arguments as a text of JSON.
        let arguments = match fields.remove("tool_input") {
            Some(Value::String(text)) => {
                serde_json::from_str(&text).unwrap_or_else(|_| json!({ "patch": text }))
            }
            Some(value) => value,
            None => Value::Null,
        };
        if let Value::Object(mut arguments) = arguments {
            if is_edit && let Some(path) = path_in(&arguments) {
                arguments.insert("file_path".into(), path.into());
            }
            fields.insert("tool_input".into(), Value::Object(arguments));
        }
        let fields: Fields =
            serde_json::from_value(Value::Object(fields)).map_err(EventError::Field)?;
        let arguments = &fields.tool_input;
        let file = ["file_path", "notebook_path"]
            .iter()
            .find_map(|key| arguments.get(*key)?.as_str())
            .map(|file| file.trim().to_string())
            .filter(|file| !file.is_empty());
        let deed = if is_edit {
            Some(Deed::edit(arguments))
        } else {
            is_command.then(|| Deed::command(arguments)).flatten()
        };
        Ok(Event {
            session_id: fields.session_id,
            cwd: fields.cwd,
            source: fields.source,
            prompt: fields.prompt,
            tool: fields.tool_name,
            file,
            deed,
            answer: fields.last_assistant_message,
            transcript: fields.transcript_path,
        })
    }

    /// Returns what a hook prints to give the model a text; `None` if the agent does not read it.
    /// `event` is our name of the event.
    #[must_use]
    pub fn reply(&self, event: &str, context: &str) -> Option<String> {
        let name = self.events.get(event)?;
        self.listens.iter().any(|e| e == event).then(|| {
            let json = |text: &str| Value::from(text).to_string();
            self.reply.replace("{event}", &json(name)).replace("{context}", &json(context))
        })
    }
}

/// Returns the path of the file that a tool changes: an argument of its own, or a line of a patch.
fn path_in(arguments: &Map<String, Value>) -> Option<String> {
    let named = PATHS.iter().find_map(|key| arguments.get(*key)?.as_str());
    let patched = || {
        let texts = arguments.values().filter_map(Value::as_str);
        texts
            .flat_map(str::lines)
            .find_map(|line| PATCHED.iter().find_map(|start| line.trim().strip_prefix(start)))
    };
    named.or_else(patched).map(String::from)
}

impl Deed {
    fn edit(arguments: &Value) -> Self {
        // The first of several edits of a file stands for all of them.
        let edits = arguments.get("edits").and_then(Value::as_array);
        let of_first = |key: &str| edits.and_then(|e| e.first()?.get(key)?.as_str());
        let text =
            |key: &str| argument(arguments, key).or_else(|| of_first(key)).map(str::to_string);
        let new = ["new_string", "content", "new_source"].into_iter().find_map(text);
        Self::Edit { old: text("old_string"), new }
    }

    fn command(arguments: &Value) -> Option<Self> {
        let text = |key: &str| argument(arguments, key).map(str::to_string);
        Some(Self::Command { command: text("command")?, description: text("description") })
    }
}

/// Returns an argument that is a text and not blank.
fn argument<'a>(arguments: &'a Value, key: &str) -> Option<&'a str> {
    arguments.get(key).and_then(Value::as_str).filter(|text| !text.trim().is_empty())
}

/// Returns the text of the last answer in a transcript (JSON, one message a line).
#[must_use]
pub fn last_answer(transcript: &str) -> Option<String> {
    transcript.lines().rev().find_map(|line| {
        let message: Value =
            serde_json::from_str(line).ok().filter(|m: &Value| m["type"] == "assistant")?;
        let parts = message["message"]["content"].as_array()?;
        let texts: Vec<&str> = parts
            .iter()
            .filter(|p| p["type"] == "text")
            .filter_map(|p| p["text"].as_str())
            .collect();
        (!texts.is_empty()).then(|| texts.join("\n"))
    })
}
