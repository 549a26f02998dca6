//! Files that programs execute, or that agents obey, without asking the user.

/// Why they do, and the names of such files that do not begin with a dot, in lower case, some with the
/// directory that they are in. A `*` is only allowed at the beginning of a name.
const NAMES: &[(&str, &str)] = &[
    (
        AGENTS,
        "claude.md claude.local.md agents.md agents.override.md agent.md gemini.md qwen.md \
        crush.md warp.md codebuddy.md conventions.md grok.md iflow.md replit.md skill.md \
        agents/*.md *.agent.md *.chatmode.md *.instructions.md *.prompt.md \
        copilot-instructions.md mcp.json mcp-config.json mcp_config.json cline_mcp_settings.json \
        gemini-extension.json crush.json kilo.json kilo.jsonc opencode.json opencode.jsonc",
    ),
    (
        PIPELINES,
        "jenkinsfile azure-pipelines.yml azure-pipelines.yaml bitbucket-pipelines.yml \
        appveyor.yml buildspec.yml cloudbuild.yaml cloudbuild.yml wercker.yml codemagic.yaml \
        codemagic.yml bitrise.yml bitrise.yaml screwdriver.yaml screwdriver.yml buildkite.yml \
        buildkite.yaml teamcity.yml teamcity.yaml gitlab-ci.yml *.gitlab-ci.yml *.jenkinsfile \
        pipeline.yml pipeline.yaml pipelines.yml pipelines.yaml concourse.yml concourse.yaml \
        tekton.yaml tekton.yml earthfile dagger.json action.yml action.yaml dangerfile \
        dangerfile.js dangerfile.ts dangerfile.py dangerfile.rb dangerfile.swift \
        dangerfile.df.kts netlify.toml vercel.json fly.toml render.yaml procfile",
    ),
    (REVIEWS, "codeowners renovate.json renovate.json5 mergify.yml"),
    (
        HOOKS,
        "hooks.json lefthook.yml lefthook.yaml lefthook.toml lefthook.json lefthook-local.yml \
        mise.toml mise.local.toml",
    ),
    (EDITORS, "*.code-workspace"),
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
    let holds = |(_, names): &&(&str, &str)| names.split_ascii_whitespace().any(is_it);
    NAMES.iter().find(holds).map(|(why, _)| *why)
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
            "src/main.rs", "src/codeowners.rs", "actions.yml", "a.b/c.d", "claude.md/x",
            "docs/agents.md.txt", "src/agents/run.py", "agents/a/b.md", "docs/skills.md",
            "prompt.md",
        ] {
            assert!(trusted(path).is_none(), "{path}");
        }
    }
}
