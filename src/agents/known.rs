//! The agents, each a file of data.

use serde::Deserialize;

use super::event::Speech;
use super::part::AgentPart;

/// A coding agent.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Agent {
    /// The name on the command line: that of the file.
    #[serde(skip)]
    pub id: String,
    /// The name that its makers use.
    pub name: String,
    /// The pages that the file was written from.
    pub sources: Vec<String>,
    /// Names of its program.
    #[serde(default)]
    pub binaries: Vec<String>,
    /// Paths that exist where it is installed.
    #[serde(default)]
    pub folders: Vec<String>,
    /// What the user should know, or do, after it is connected.
    #[serde(default)]
    pub note: Option<String>,
    #[serde(rename = "part")]
    pub parts: Vec<AgentPart>,
    /// How its hooks speak.
    #[serde(default)]
    pub hook: Option<Speech>,
}

/// The files of the agents with their names, in the order of the alphabet.
const KNOWN: &[(&str, &str)] = &[
    ("amp", include_str!("known/amp.toml")),
    ("antigravity", include_str!("known/antigravity.toml")),
    ("claude", include_str!("known/claude.toml")),
    ("cline", include_str!("known/cline.toml")),
    ("codex", include_str!("known/codex.toml")),
    ("continue", include_str!("known/continue.toml")),
    ("copilot", include_str!("known/copilot.toml")),
    ("crush", include_str!("known/crush.toml")),
    ("cursor", include_str!("known/cursor.toml")),
    ("devin", include_str!("known/devin.toml")),
    ("gemini", include_str!("known/gemini.toml")),
    ("goose", include_str!("known/goose.toml")),
    ("grok", include_str!("known/grok.toml")),
    ("junie", include_str!("known/junie.toml")),
    ("kilo", include_str!("known/kilo.toml")),
    ("kiro", include_str!("known/kiro.toml")),
    ("opencode", include_str!("known/opencode.toml")),
    ("qwen", include_str!("known/qwen.toml")),
    ("vscode", include_str!("known/vscode.toml")),
    ("windsurf", include_str!("known/windsurf.toml")),
    ("zed", include_str!("known/zed.toml")),
];

/// Returns all agents that Cortex can write itself into.
#[must_use]
pub fn all() -> Vec<Agent> {
    KNOWN.iter().map(|(id, text)| read(id, text)).collect()
}

/// Returns how the hooks of an agent speak; `None` if it has none that Cortex uses. A hook is called
/// with every prompt, so it reads the file of one agent only.
#[must_use]
pub fn speech_of(id: &str) -> Option<Speech> {
    let (id, text) = KNOWN.iter().find(|(known, _)| *known == id)?;
    read(id, text).hook
}

/// Reads the file of an agent.
///
/// # Panics
/// Never: a test reads every file.
#[allow(clippy::expect_used, reason = "the files are part of the program")]
fn read(id: &str, text: &str) -> Agent {
    let agent: Agent = ::toml::from_str(text).expect("the file of an agent is valid");
    Agent { id: id.into(), ..agent }
}
