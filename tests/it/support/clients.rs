//! Programs that act as clients of the protocol, and what they are run on.

use std::env;
use std::path::{Path, PathBuf, absolute};
use std::process::Command;

use super::missing;
use super::project::Project;
use super::server::Server;

pub const PYTHON: &str = "venv/bin/python";
pub const INSPECTOR: &str = "node_modules/.bin/mcp-inspector";
pub const CONFORMANCE: &str = "node_modules/.bin/conformance";
pub const SCIP_PYTHON: &str = "node_modules/.bin/scip-python";
/// Finds faults of accessibility.
pub const AXE: &str = "node_modules/axe-core/axe.min.js";
const PLAYWRIGHT: &str = "venv/bin/playwright";
const SCIP_TYPESCRIPT: &str = "node_modules/.bin/scip-typescript";

/// Returns where the clients are. `None`, with a message, if they are not installed.
#[track_caller]
pub fn clients() -> Option<PathBuf> {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let clients = env::var_os("CORTEX_TEST_CLIENTS")
        .map_or_else(|| target.join("clients"), |dir| absolute(dir).unwrap());
    let programs = [PYTHON, INSPECTOR, CONFORMANCE, SCIP_PYTHON, SCIP_TYPESCRIPT, PLAYWRIGHT, AXE];
    if programs.iter().all(|program| clients.join(program).exists()) {
        return Some(clients);
    }
    missing(&format!(
        "there are no clients in {}: run tests/it/clients/install.sh",
        clients.display()
    ));
    None
}

/// A git repository without an index, with something for every tool to find.
pub fn project() -> Project {
    let p = Project::with(&[
        (
            "src/retry.rs",
            "/// Waits longer after each failed attempt.\npub fn retry_with_backoff(attempts: u32) -> u32 {\n    attempts * 2\n}\n\n\
             pub struct Backoff;\n\nimpl Backoff {\n    pub fn pause(&self) {}\n}\n",
        ),
        (
            "src/poll.rs",
            "/// Polls again after each attempt.\npub fn poll_with_backoff(attempts: u32) -> u32 {\n    attempts + 1\n}\n",
        ),
        (
            "tools/colours.py",
            "def paint_wall(colour):\n    \"\"\"Cover a wall with paint.\"\"\"\n    return colour\n",
        ),
        ("docs/guide.md", "# Guide\n\n## Kitchen\n\nBoil the potatoes in salted water.\n"),
    ]);
    // A client lists all that it calls.
    p.configure("[serve]\ntools = ['search', 'graph', 'memory']\n");
    p.git(&["init", "--quiet"]);
    p.commit("wait longer\n\nThe service was flooded when each client asked again at once.");
    p
}

/// Starts a server over HTTP, and returns its MCP address.
pub fn serve(p: &Project) -> (Server, String) {
    let server = Server::start(&mut p.cortex(&["serve", "--port", "0"]));
    let url = format!("{}/mcp", server.line());
    (server, url)
}

/// Returns a command that runs a program of Node.js in the project.
pub fn node_program(clients: &Path, p: &Project, program: &str) -> Command {
    let mut c = p.command(clients.join(program).to_str().unwrap());
    let node = clients.join("venv/bin");
    let path = env::var_os("PATH").unwrap_or_default();
    c.env("PATH", env::join_paths([node].into_iter().chain(env::split_paths(&path))).unwrap());
    c
}
