//! The agents, each a file of data.

use serde::Deserialize;

use super::event::Speech;
use super::part::Part;

/// A coding agent.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Agent {
    /// The name on the command line.
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
    pub parts: Vec<Part>,
    /// How its hooks speak.
    #[serde(default)]
    pub hook: Option<Speech>,
}

/// The files of the agents, in the order of the alphabet.
const KNOWN: &[&str] = &[
    include_str!("known/amp.toml"),
    include_str!("known/antigravity.toml"),
    include_str!("known/claude.toml"),
    include_str!("known/cline.toml"),
    include_str!("known/codex.toml"),
    include_str!("known/continue.toml"),
    include_str!("known/copilot.toml"),
    include_str!("known/crush.toml"),
    include_str!("known/cursor.toml"),
    include_str!("known/devin.toml"),
    include_str!("known/gemini.toml"),
    include_str!("known/goose.toml"),
    include_str!("known/grok.toml"),
    include_str!("known/junie.toml"),
    include_str!("known/kilo.toml"),
    include_str!("known/kiro.toml"),
    include_str!("known/opencode.toml"),
    include_str!("known/qwen.toml"),
    include_str!("known/vscode.toml"),
    include_str!("known/windsurf.toml"),
    include_str!("known/zed.toml"),
];

/// Returns all agents that Cortex can write itself into.
///
/// # Panics
/// Never: a test reads every file.
#[must_use]
#[allow(clippy::expect_used, reason = "the files are part of the program")]
pub fn all() -> Vec<Agent> {
    KNOWN
        .iter()
        .map(|text| ::toml::from_str(text).expect("the file of an agent is valid"))
        .collect()
}

/// Returns how the hooks of an agent speak; `None` if it has none that Cortex uses.
#[must_use]
pub fn speech_of(id: &str) -> Option<Speech> {
    all().into_iter().find(|agent| agent.id == id)?.hook
}
