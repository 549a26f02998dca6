//! Files that programs execute, or that agents obey, without asking the user.

/// Names of such files that do not begin with a dot, in lower case. A `*`
/// is only allowed at the beginning.
const NAMES: &[(&str, &str)] = &[
    ("claude.md", AGENTS),
    ("claude.local.md", AGENTS),
    ("agents.md", AGENTS),
    ("agents.override.md", AGENTS),
    ("agent.md", AGENTS),
    ("gemini.md", AGENTS),
    ("qwen.md", AGENTS),
    ("crush.md", AGENTS),
    ("warp.md", AGENTS),
    ("copilot-instructions.md", AGENTS),
    ("mcp.json", AGENTS),
    ("crush.json", AGENTS),
    ("opencode.json", AGENTS),
    ("opencode.jsonc", AGENTS),
    ("jenkinsfile", PIPELINES),
    ("azure-pipelines.yml", PIPELINES),
    ("azure-pipelines.yaml", PIPELINES),
    ("bitbucket-pipelines.yml", PIPELINES),
    ("appveyor.yml", PIPELINES),
    ("buildspec.yml", PIPELINES),
    ("cloudbuild.yaml", PIPELINES),
    ("cloudbuild.yml", PIPELINES),
    ("wercker.yml", PIPELINES),
    ("lefthook.yml", HOOKS),
    ("lefthook.yaml", HOOKS),
    ("lefthook.toml", HOOKS),
    ("lefthook.json", HOOKS),
    ("lefthook-local.yml", HOOKS),
    ("mise.toml", HOOKS),
    ("mise.local.toml", HOOKS),
    ("*.code-workspace", EDITORS),
];
const AGENTS: &str = "agents obey it without asking";
const PIPELINES: &str = "a build server runs what it says";
const HOOKS: &str = "programs run what it says without asking";
const EDITORS: &str = "editors run what it says without asking";
const HIDDEN: &str = "hidden files are settings, which programs execute or trust without asking";

/// Returns why programs execute or trust a file; `None` if they do not.
/// The path is relative to the root.
#[must_use]
pub fn trusted(path: &str) -> Option<&'static str> {
    if path.split('/').any(|part| part.starts_with('.')) {
        return Some(HIDDEN);
    }
    let is_named = |part: &str, name: &str| {
        name.strip_prefix('*').map_or(part == name, |end| part.ends_with(end))
    };
    let name = path.rsplit('/').next().unwrap_or(path).to_lowercase();
    NAMES.iter().find(|(known, _)| is_named(&name, known)).map(|(_, why)| *why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_programs_trust_is_known_by_its_name() {
        for path in [
            ".envrc",
            ".claude/settings.json",
            "a/.vscode/tasks.json",
            ".github/workflows/x.yml",
            "CLAUDE.md",
            "sub/agents.md",
            "x.code-workspace",
        ] {
            assert!(trusted(path).is_some(), "{path}");
        }
        for path in ["src/main.rs", "a.b/c.d", "claude.md/x", "docs/agents.md.txt"] {
            assert!(trusted(path).is_none(), "{path}");
        }
    }
}
