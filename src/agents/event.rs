//! Translates the hooks of every agent into one form: the fields that Claude Code sends.

use std::collections::BTreeMap;

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
    "Edit",
    "MultiEdit",
    "Write",
    "NotebookEdit",
    "apply_patch",
    "create",
    "create_file",
    "edit",
    "replace",
    "replace_string_in_file",
    "str_replace_editor",
    "write_file",
    "write_to_file",
];
/// Names of the tools that run commands.
const COMMANDS: [&str; 7] = [
    "Bash",
    "Shell",
    "bash",
    "powershell",
    "run_in_terminal",
    "run_shell_command",
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
}

/// Beginnings of the lines of a patch that name a file.
const PATCHED: [&str; 3] = ["*** Update File: ", "*** Add File: ", "*** Delete File: "];

impl Speech {
    /// Reads the input of a hook into the fields that Claude Code sends.
    ///
    /// # Errors
    /// When it is not a JSON object.
    pub fn read(&self, input: &[u8]) -> Result<Value, EventError> {
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
        let is_edit = EDITS.contains(&tool);
        // Tools that Claude Code has keep their names.
        if is_edit && !EDITS[..4].contains(&tool) {
            fields.insert("tool_name".into(), EDITS[0].into());
        } else if COMMANDS.contains(&tool) {
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
        Ok(Value::Object(fields))
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
