//! Files that programs execute, or that agents obey, without asking the user.

/// Names of such files that do not begin with a dot, in lower case, some with the directory that
/// they are in. A `*` is only allowed at the beginning of a name.
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
    ("codebuddy.md", AGENTS),
    ("conventions.md", AGENTS),
    ("grok.md", AGENTS),
    ("iflow.md", AGENTS),
    ("replit.md", AGENTS),
    ("skill.md", AGENTS),
    ("agents/*.md", AGENTS),
    ("*.agent.md", AGENTS),
    ("*.chatmode.md", AGENTS),
    ("*.instructions.md", AGENTS),
    ("*.prompt.md", AGENTS),
    ("copilot-instructions.md", AGENTS),
    ("mcp.json", AGENTS),
    ("mcp-config.json", AGENTS),
    ("mcp_config.json", AGENTS),
    ("cline_mcp_settings.json", AGENTS),
    ("gemini-extension.json", AGENTS),
    ("crush.json", AGENTS),
    ("kilo.json", AGENTS),
    ("kilo.jsonc", AGENTS),
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
    ("codemagic.yaml", PIPELINES),
    ("codemagic.yml", PIPELINES),
    ("bitrise.yml", PIPELINES),
    ("bitrise.yaml", PIPELINES),
    ("screwdriver.yaml", PIPELINES),
    ("screwdriver.yml", PIPELINES),
    ("buildkite.yml", PIPELINES),
    ("buildkite.yaml", PIPELINES),
    ("teamcity.yml", PIPELINES),
    ("teamcity.yaml", PIPELINES),
    ("gitlab-ci.yml", PIPELINES),
    ("*.gitlab-ci.yml", PIPELINES),
    ("*.jenkinsfile", PIPELINES),
    ("pipeline.yml", PIPELINES),
    ("pipeline.yaml", PIPELINES),
    ("pipelines.yml", PIPELINES),
    ("pipelines.yaml", PIPELINES),
    ("concourse.yml", PIPELINES),
    ("concourse.yaml", PIPELINES),
    ("tekton.yaml", PIPELINES),
    ("tekton.yml", PIPELINES),
    ("earthfile", PIPELINES),
    ("dagger.json", PIPELINES),
    ("action.yml", PIPELINES),
    ("action.yaml", PIPELINES),
    ("dangerfile", PIPELINES),
    ("dangerfile.js", PIPELINES),
    ("dangerfile.ts", PIPELINES),
    ("dangerfile.py", PIPELINES),
    ("dangerfile.rb", PIPELINES),
    ("dangerfile.swift", PIPELINES),
    ("dangerfile.df.kts", PIPELINES),
    ("netlify.toml", PIPELINES),
    ("vercel.json", PIPELINES),
    ("fly.toml", PIPELINES),
    ("render.yaml", PIPELINES),
    ("procfile", PIPELINES),
    ("codeowners", REVIEWS),
    ("renovate.json", REVIEWS),
    ("renovate.json5", REVIEWS),
    ("mergify.yml", REVIEWS),
    ("hooks.json", HOOKS),
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
const REVIEWS: &str = "it decides which changes are merged, and who must agree";
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
    let path = path.to_lowercase();
    let (above, name) = path.rsplit_once('/').unwrap_or(("", &path));
    let directory = above.rsplit('/').next().unwrap_or_default();
    let is_it = |known: &str| {
        let (in_directory, known) = known.split_once('/').unwrap_or((directory, known));
        let is_named = known.strip_prefix('*').map_or(name == known, |end| name.ends_with(end));
        in_directory == directory && is_named
    };
    NAMES.iter().find(|(known, _)| is_it(known)).map(|(_, why)| *why)
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
            "CODEOWNERS",
            "docs/CODEOWNERS",
            "Dangerfile",
            "dangerfile.ts",
            "tools/action.yml",
            "ci/build.gitlab-ci.yml",
            "deploy.Jenkinsfile",
            "codemagic.yaml",
            "renovate.json",
            "sub/agents.md",
            "x.code-workspace",
            "SKILL.md",
            "skills/deploy/Skill.md",
            "agents/reviewer.md",
            "plugins/a/Agents/reviewer.md",
            "docs/style.instructions.md",
            "deploy.prompt.md",
            "plan.chatmode.md",
            "review.agent.md",
            "CONVENTIONS.md",
            "GEMINI.md",
            "plugin/hooks/hooks.json",
            "home/mcp_config.json",
            ".agents/skills/a/run.sh",
            ".clinerules",
            ".cursor/rules/a.mdc",
            ".github/copilot-instructions.md",
            ".goosehints",
            ".mcp.json",
            ".windsurfrules",
        ] {
            assert!(trusted(path).is_some(), "{path}");
        }
        for path in [
            "src/main.rs",
            "src/codeowners.rs",
            "actions.yml",
            "a.b/c.d",
            "claude.md/x",
            "docs/agents.md.txt",
            "src/agents/run.py",
            "agents/a/b.md",
            "docs/skills.md",
            "prompt.md",
        ] {
            assert!(trusted(path).is_none(), "{path}");
        }
    }
}
