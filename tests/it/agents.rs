//! `cortex init` for every agent: on a new machine, into configurations that exist, twice, and back.
//!
//! `tests/data/agents/<agent>/user` and `/project` hold configurations made after the examples of
//! the agent's documentation; `<agent>.txt` beside them is what `cortex init` makes of them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use cortex::agents::{self, Agent, Home, Kind, Plan, Program, Record, Request, Scope, wired};
use serde_json::Value;

use crate::support::hooks::with_input;
use crate::support::project::{Project, run};

/// A user's machine in a temporary directory.
struct Machine {
    home: Home,
    state: PathBuf,
    _dir: tempfile::TempDir,
}

impl Machine {
    /// Makes a machine with the existing configurations of an agent, or with none.
    fn new(agent: &str, with_existing: bool) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let home = root.join("home");
        let project = root.join("project");
        for (name, to) in [("user", &home), ("project", &project)] {
            fs::create_dir_all(to).unwrap();
            let from = data().join(agent).join(name);
            if with_existing && from.is_dir() {
                for (path, text) in files(&from) {
                    fs::create_dir_all(to.join(&path).parent().unwrap()).unwrap();
                    fs::write(to.join(path), text).unwrap();
                }
            }
        }
        let home = Home { config: home.join(".config"), home, project, path: None };
        Self { home, state: root.join("state"), _dir: dir }
    }

    fn change(&self, agent: &Agent, scope: Scope, remove: bool) -> Plan {
        let request = Request {
            agents: vec![agent],
            scope,
            kinds: Kind::ALL.to_vec(),
            program: Program { path: "/opt/my tools/cortex".into(), args: Vec::new() },
            remove,
        };
        Plan::new(&request, &agents::all(), &self.home, &Record::load(&self.state))
    }

    #[track_caller]
    fn apply(&self, agent: &Agent, scope: Scope, remove: bool) {
        let plan = self.change(agent, scope, remove);
        let done = plan.apply(&self.home, &mut Record::load(&self.state)).unwrap();
        assert!(done.refused.is_empty(), "{}: {:?}", agent.id, done.refused);
    }

    /// Returns every file with its text, and every directory.
    fn everything(&self, scope: Scope) -> BTreeMap<PathBuf, String> {
        files(if scope == Scope::User { &self.home.home } else { &self.home.project })
    }
}

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/agents")
}

/// Returns the files below a directory with their texts; an empty directory has an empty name.
fn files(dir: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    let mut open = vec![dir.to_path_buf()];
    while let Some(at) = open.pop() {
        let mut is_empty = true;
        for entry in fs::read_dir(&at).unwrap() {
            let path = entry.unwrap().path();
            is_empty = false;
            if path.is_dir() {
                open.push(path);
            } else {
                let text = fs::read_to_string(&path).unwrap();
                found.insert(path.strip_prefix(dir).unwrap().to_path_buf(), text);
            }
        }
        if is_empty && at != dir {
            found.insert(at.strip_prefix(dir).unwrap().join(""), String::new());
        }
    }
    found
}

const SCOPES: [(Scope, &str); 2] = [(Scope::User, "user"), (Scope::Project, "project")];

/// The long texts are in `src/agents/texts`.
fn short(text: &str) -> String {
    let mut text = text.to_string();
    for (name, long) in [
        ("instructions", include_str!("../../src/agents/texts/instructions.md")),
        ("skill", include_str!("../../src/agents/texts/skill.md")),
        ("subagent", include_str!("../../src/agents/texts/subagent.md")),
    ] {
        text = text.replace(long.trim_end(), &format!("[{name}.md]"));
    }
    text
}

#[test]
fn every_agent_is_configured_as_its_documentation_says() {
    for agent in agents::all() {
        let mut seen = String::new();
        for (scope, scope_name) in SCOPES {
            for (with_existing, what) in [(false, "a new machine"), (true, "existing files")] {
                let machine = Machine::new(&agent.id, with_existing);
                let before = machine.everything(scope);
                if with_existing && before.is_empty() {
                    continue;
                }
                machine.apply(&agent, scope, false);
                for (path, text) in machine.everything(scope) {
                    if before.get(&path) != Some(&text) {
                        let path = path.display();
                        seen += &["=== ", scope_name, ", ", what, ": ", &path.to_string(), "\n"]
                            .concat();
                        seen += &short(&text);
                        seen += if text.ends_with('\n') { "" } else { "⏎\n" };
                    }
                }
            }
        }
        let golden = data().join(format!("{}.txt", agent.id));
        if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
            fs::write(&golden, &seen).unwrap();
        }
        let expected = fs::read_to_string(&golden).unwrap_or_default();
        assert!(
            seen == expected,
            "{} changed. If that is meant, run UPDATE_SNAPSHOTS=1 cargo test --test it agents, and review the difference",
            golden.display()
        );
    }
}

/// What a file holds, without comments and layout.
fn parsed(path: &Path, text: &str) -> Value {
    match path.extension().and_then(|e| e.to_str()) {
        Some("json" | "jsonc") => {
            use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
            parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default())
                .unwrap_or_else(|e| panic!("{}: {e}\n{text}", path.display()))
                .value
                .map_or(Value::Null, Into::into)
        }
        Some("toml") => {
            let table: toml::Table =
                text.parse().unwrap_or_else(|e| panic!("{}: {e}\n{text}", path.display()));
            serde_json::to_value(table).unwrap()
        }
        _ => Value::from(text.trim_end()),
    }
}

#[test]
fn a_file_stays_valid_and_keeps_all_that_it_held() {
    fn holds(all: &Value, part: &Value) -> bool {
        match (all, part) {
            (Value::Object(all), Value::Object(part)) => {
                part.iter().all(|(key, value)| all.get(key).is_some_and(|v| holds(v, value)))
            }
            (Value::Array(all), Value::Array(part)) => {
                part.iter().all(|value| all.iter().any(|v| holds(v, value)))
            }
            (Value::String(all), Value::String(part)) => {
                let mut lines = all.lines();
                part.lines().all(|line| lines.any(|l| l == line))
            }
            (all, part) => all == part,
        }
    }
    for agent in agents::all() {
        for (scope, _) in SCOPES {
            let machine = Machine::new(&agent.id, true);
            let before = machine.everything(scope);
            machine.apply(&agent, scope, false);
            for (path, text) in machine.everything(scope) {
                let now = parsed(&path, &text);
                if let Some(was) = before.get(&path) {
                    assert!(
                        holds(&now, &parsed(&path, was)),
                        "{} {}:\n{text}",
                        agent.id,
                        path.display()
                    );
                    // Comments stay, too.
                    for comment in
                        was.lines().filter_map(|l| l.split_once("// ").or(l.split_once("# ")))
                    {
                        assert!(text.contains(comment.1), "{}: {}", agent.id, comment.1);
                    }
                }
            }
            // The command can be read back, as the verification of `cortex init` does.
            for (path, command) in wired(&agent, &machine.home, scope) {
                assert_eq!(command, ["/opt/my tools/cortex", "mcp"], "{}", path.display());
            }
        }
        let user = Machine::new(&agent.id, true);
        user.apply(&agent, Scope::User, false);
        assert!(!wired(&agent, &user.home, Scope::User).is_empty(), "{} has no server", agent.id);
    }
}

#[test]
fn a_second_init_changes_nothing_and_a_removal_restores_every_byte() {
    for agent in agents::all() {
        for (scope, _) in SCOPES {
            for with_existing in [false, true] {
                let machine = Machine::new(&agent.id, with_existing);
                let before = machine.everything(scope);
                machine.apply(&agent, scope, false);
                let wired = machine.everything(scope);
                if !machine.change(&agent, scope, false).without_scope.is_empty() {
                    assert_eq!(before, wired, "{} gets nothing without a server", agent.id);
                    continue;
                }
                assert_ne!(before, wired, "{}", agent.id);
                let again = machine.change(&agent, scope, false);
                assert!(again.changes.is_empty(), "{}: {:?}", agent.id, again.changes);
                machine.apply(&agent, scope, true);
                assert_eq!(machine.everything(scope), before, "{}", agent.id);
            }
        }
    }
}

/// A project's files come from another machine, and `~/.claude.json` is written by Claude Code all
/// the time: there is no copy then, or it is outdated.
#[test]
fn without_a_copy_a_removal_takes_only_what_is_ours() {
    for agent in agents::all() {
        for (scope, _) in SCOPES {
            let machine = Machine::new(&agent.id, true);
            let before = machine.everything(scope);
            machine.apply(&agent, scope, false);
            // An agent without a server in this scope got nothing.
            let _ = fs::remove_dir_all(&machine.state);
            machine.apply(&agent, scope, true);
            for (path, text) in &machine.everything(scope) {
                let was = before.get(path).map(|was| parsed(path, was));
                let is_empty_dir = path.as_os_str().to_string_lossy().ends_with('/');
                assert!(
                    is_empty_dir || was.as_ref() == Some(&parsed(path, text)),
                    "{} {}:\n{text}",
                    agent.id,
                    path.display()
                );
            }
        }
    }
}

#[test]
fn an_edit_between_stays_when_everything_is_taken_back() {
    let claude = &agents::all().into_iter().find(|a| a.id == "claude").unwrap();
    let machine = Machine::new("claude", true);
    machine.apply(claude, Scope::User, false);
    let path = machine.home.home.join(".claude.json");
    let edited = fs::read_to_string(&path).unwrap().replace("41", "42");
    fs::write(&path, edited).unwrap();
    machine.apply(claude, Scope::User, true);
    let original = fs::read_to_string(data().join("claude/user/.claude.json")).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), original.replace("41", "42"));
}

/// Agents share `AGENTS.md` and `~/.agents/skills`.
#[test]
fn what_another_agent_reads_stays_until_that_one_is_removed() {
    let all = agents::all();
    let by_id = |id: &str| all.iter().find(|a| a.id == id).unwrap();
    let machine = Machine::new("none", false);
    for id in ["codex", "zed"] {
        machine.apply(by_id(id), Scope::User, false);
    }
    let skill = machine.home.home.join(".agents/skills/cortex/SKILL.md");
    machine.apply(by_id("codex"), Scope::User, true);
    assert!(skill.is_file() && !machine.home.home.join(".codex").exists());
    machine.apply(by_id("zed"), Scope::User, true);
    assert_eq!(machine.everything(Scope::User), BTreeMap::new());
}

#[test]
fn a_file_that_is_broken_or_not_ours_is_refused_and_unchanged() {
    let all = agents::all();
    let by_id = |id: &str| all.iter().find(|a| a.id == id).unwrap();
    for (id, path, text, why) in [
        ("claude", ".claude.json", "{ \"mcpServers\": {", "Unterminated object"),
        ("claude", ".claude.json", "[1]", "it holds no object"),
        ("claude", ".claude.json", "{\"mcpServers\": []}", "mcpServers is not an object"),
        (
            "claude",
            ".claude.json",
            "{\"mcpServers\":{\"cortex\":{\"command\":\"snow\",\"args\":[\"mcp\"]}}}",
            "a server of another program",
        ),
        ("claude", ".claude/skills/cortex/SKILL.md", "my own skill", "it is not ours"),
        ("claude", ".claude/CLAUDE.md", "<!-- CORTEX_START -->\nx\n", "has no <!-- CORTEX_END -->"),
        ("codex", ".codex/config.toml", "a = \n", "TOML parse error at line 1, column 5"),
        ("codex", ".codex/config.toml", "mcp_servers = 1\n", "not a table"),
        (
            "codex",
            ".codex/config.toml",
            "[mcp_servers.cortex]\ncommand = \"snow\"\n",
            "a server of another program",
        ),
        ("goose", ".config/goose/config.yaml", "a: [1\n", "line 2"),
        ("goose", ".config/goose/config.yaml", "extensions: {a: 1}\n", "is on its own line"),
        (
            "goose",
            ".config/goose/config.yaml",
            "extensions:\n  cortex:\n    cmd: snow\n",
            "has an entry cortex already",
        ),
    ] {
        let machine = Machine::new("none", false);
        let file = machine.home.home.join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, text).unwrap();
        let plan = machine.change(by_id(id), Scope::User, false);
        let done = plan.apply(&machine.home, &mut Record::load(&machine.state)).unwrap();
        assert_eq!(done.refused.len(), 1, "{path}: {text}: {:?}", done.refused);
        assert!(done.refused[0].why.contains(why), "{}", done.refused[0].why);
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
        // Everything else is written.
        assert!(!done.written.is_empty(), "{path}");
    }
}

/// The user's dotfiles are links; a repository's are traps.
#[test]
fn links_are_followed_for_the_user_and_refused_in_a_project() {
    let claude = &agents::all().into_iter().find(|a| a.id == "claude").unwrap();
    let machine = Machine::new("none", false);
    let dotfiles = machine.home.home.join("dotfiles.json");
    fs::write(&dotfiles, "{}\n").unwrap();
    std::os::unix::fs::symlink(&dotfiles, machine.home.home.join(".claude.json")).unwrap();
    machine.apply(claude, Scope::User, false);
    assert!(machine.home.home.join(".claude.json").is_symlink());
    assert!(fs::read_to_string(&dotfiles).unwrap().contains("cortex"));
    machine.apply(claude, Scope::User, true);
    assert_eq!(fs::read_to_string(&dotfiles).unwrap(), "{}\n");

    let outside = machine.home.home.join("private");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("notes"), "mine\n").unwrap();
    let link = |from: PathBuf, name: &str| {
        std::os::unix::fs::symlink(from, machine.home.project.join(name)).unwrap();
    };
    link(outside.join("notes"), "CLAUDE.md");
    link(outside.clone(), ".claude");
    let plan = machine.change(claude, Scope::Project, false);
    let done = plan.apply(&machine.home, &mut Record::load(&machine.state)).unwrap();
    assert_eq!(done.written, [machine.home.project.join(".mcp.json")]);
    assert_eq!(files(&outside), BTreeMap::from([("notes".into(), "mine\n".into())]));
}

/// The inputs are those of `tests/data/hooks`, made after the documentation of each agent: each line
/// holds an agent, our name of an event, and the input.
#[test]
fn the_hooks_of_every_agent_feed_the_memory() {
    let table = fs::read_to_string(data().join("hooks.jsonl")).unwrap();
    let mut by_agent: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for line in table.lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        by_agent.entry(row["agent"].as_str().unwrap().into()).or_default().push(row);
    }
    let with_hooks: Vec<String> =
        agents::all().into_iter().filter(|a| a.hook.is_some()).map(|a| a.id).collect();
    let tested: Vec<&String> = by_agent.keys().collect();
    assert_eq!(tested, with_hooks.iter().collect::<Vec<_>>());
    for (agent, rows) in by_agent {
        let p = Project::sample();
        p.run(&["memory", "add", "We keep the cache in one file because a rename is atomic."])
            .expect(0);
        for row in &rows {
            let event = row["event"].as_str().unwrap();
            let input = row["input"].to_string().replace("/w/p", p.root().to_str().unwrap());
            let args = ["hook", event, "--agent", &agent, "--if-indexed"];
            let out = with_input(p.cortex(&args), input.as_bytes()).expect(0);
            assert_eq!(out.stderr, "", "{agent} {event}");
            if let Some(at) = row["context"].as_str() {
                let reply: Value = serde_json::from_str(&out.stdout)
                    .unwrap_or_else(|e| panic!("{agent} {event}: {e}: {}", out.stdout));
                let context = reply.pointer(at).and_then(Value::as_str).unwrap_or_default();
                assert!(context.contains("a rename is atomic"), "{agent} {event}: {reply}");
            } else {
                assert_eq!(out.stdout, "", "{agent} {event}");
            }
        }
        let stored = p.json(&["memory", "list", "-n", "100"]).to_string();
        for expected in ["Why is the invoice parser slow", "src/retry.rs"] {
            assert!(stored.contains(expected), "{agent} has no memory of {expected}: {stored}");
        }
    }
}

/// Bug: a hook of an agent that this version does not know ended with exit code 2, by which agents
/// refuse a prompt.
#[test]
fn a_hook_of_an_unknown_agent_does_not_disturb_it() {
    let p = Project::sample();
    p.index();
    let out = with_input(p.cortex(&["hook", "prompt-submit", "--agent", "tomorrow"]), b"{}");
    assert_eq!((out.code, &*out.stdout, &*out.stderr), (0, "", ""));
    assert!(p.read(".cortex/memory.log").contains("no hooks of tomorrow are known"));
}

/// Hooks for all projects of a user must not make files where Cortex is not used.
#[test]
fn a_hook_of_the_user_leaves_unknown_projects_alone() {
    let p = Project::with(&[("a.rs", "fn a() {}\n")]);
    let input = serde_json::json!({ "session_id": "s", "cwd": p.root(), "prompt": "We use tabs." });
    let hook = ["hook", "prompt-submit", "--agent", "claude", "--if-indexed"];
    with_input(p.cortex(&hook), input.to_string().as_bytes()).expect(0);
    assert!(!p.path(".cortex").exists());
    p.index();
    with_input(p.cortex(&hook), input.to_string().as_bytes()).expect(0);
    assert!(p.json(&["memory", "list"]).to_string().contains("We use tabs."));
}

/// Bug: `cortex init` and `cortex doctor` started the command that a clone's `.mcp.json` names.
#[test]
fn a_command_in_a_clone_is_not_started() {
    let p = Project::with(&[("a.rs", "fn a() {}\n")]);
    let evil = p.path("cortex");
    fs::write(&evil, format!("#!/bin/sh\ntouch {}\n", p.path("started").display())).unwrap();
    p.chmod("cortex", 0o755);
    let entry = |command: &str| serde_json::json!({ "mcpServers": { "cortex": { "command": command, "args": ["x"] } } });
    for command in ["./cortex", evil.to_str().unwrap(), "sh", "cortex"] {
        p.write(".mcp.json", entry(command).to_string());
        fs::create_dir_all(p.home().join(".claude")).unwrap();
        p.run(&["doctor"]);
        p.run(&["init", "--agents", "claude", "--scope", "project", "--yes"]);
        assert!(!p.path("started").exists(), "{command} was started");
    }
}

/// Returns a configuration whose entry has a further key.
fn with_key(file: &Path, text: &str, key: &str, json: &str, toml: &str) -> String {
    match file.extension().and_then(|e| e.to_str()) {
        Some("toml") => text.replace("args =", &format!("{key} = {toml}\nargs =")),
        Some("yaml" | "yml") => {
            let line = text.lines().find(|l| l.trim().starts_with("args:")).unwrap();
            let indent = &line[..line.len() - line.trim_start().len()];
            text.replace(line, &format!("{line}\n{indent}{key}: {json}"))
        }
        _ if text.contains(&format!("\"{key}\": {{}}")) => {
            text.replace(&format!("\"{key}\": {{}}"), &format!("\"{key}\": {json}"))
        }
        _ => text.replacen("\"command\":", &format!("\"{key}\": {json}, \"command\":"), 1),
    }
}

/// A clone may name this very program, with words of its author.
#[test]
fn only_what_init_writes_is_started_from_a_file_of_a_project() {
    let bin = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_cortex"), bin.path().join("cortex")).unwrap();
    let path = format!("{}:/usr/bin:/bin", bin.path().display());
    let out = tempfile::tempdir().unwrap();
    let leak = out.path().join("leak");
    let leak = leak.to_str().unwrap();
    let evil: [&[&str]; 8] = [
        &["init", "-y", "--agents", "codex", "--program", "sh evil.sh"],
        &["index", "--cache-to", leak],
        &["publish", "--to", "postgres://nobody@127.0.0.1:1/x"],
        &["serve", "--address", "0.0.0.0", "--token", "t"],
        &["clean", "--memories"],
        &["mcp", "--project", "/"],
        &["mcp", "--alone"],
        &["mcp", "--tools", "edit", "--edit-trusted-files"],
    ];
    let own = env!("CARGO_BIN_EXE_cortex");
    // The state of programs has sockets.
    let configured = |home: &Path| {
        let names = fs::read_dir(home).unwrap().map(|entry| entry.unwrap().file_name());
        let names = names.filter(|name| name != ".local" && name != ".cache");
        names.map(|name| files(&home.join(name))).collect::<Vec<_>>()
    };
    // The whole configuration is as `init` writes it, but for the command.
    for agent in agents::all() {
        let p = Project::with(&[("a.rs", "fn a() {}\n")]);
        let doctor = || run(p.cortex(&["doctor"]).env("PATH", &path));
        for folder in &agent.folders {
            if let Some(below) = folder.strip_prefix("~/").map(Path::new) {
                let is_file = below.extension().is_some();
                let dir = if is_file { below.parent().unwrap() } else { below };
                fs::create_dir_all(p.home().join(dir)).unwrap();
                if is_file {
                    fs::write(p.home().join(below), "").unwrap();
                }
            }
        }
        let home = Home {
            home: p.home(),
            config: p.home().join(".config"),
            project: p.root(),
            path: None,
        };
        if home.found(&agent).is_none() {
            continue;
        }
        let write = |program: &Program| {
            let texts =
                agents::texts(&agent, &[Kind::Server], Scope::Project, program, &home).unwrap();
            for (path, text) in &texts {
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
            texts
        };
        let program = |path: &str, args: &[&str]| Program {
            path: path.into(),
            args: args.iter().map(ToString::to_string).collect(),
        };
        let texts = write(&program(own, &[]));
        let Some((file, text)) = texts.first() else { continue };
        let shown = doctor().expect(0).stdout;
        assert!(shown.contains("starts it"), "{}: {shown}", agent.id);
        // One agent of each format, with all commands.
        let n = if ["claude", "codex", "continue"].contains(&&*agent.id) { evil.len() } else { 1 };
        for (name, args) in evil[..n]
            .iter()
            .flat_map(|args| [("cortex", *args), (own, *args)])
            .chain([("sh", &[][..])])
        {
            write(&program(name, args));
            // What `init` adds at the end of the command is taken away, too.
            let text = fs::read_to_string(file).unwrap();
            for text in [text.replace(", \"mcp\"]", "]").replace(",\"mcp\"]", "]"), text] {
                fs::write(file, text).unwrap();
                let before = configured(&p.home());
                let out = doctor().expect(1).stdout;
                assert!(out.contains("was not started"), "{} {args:?}: {out}", agent.id);
                assert!(out.contains("cortex init --agents"), "{} {args:?}: {out}", agent.id);
                assert_eq!(configured(&p.home()), before, "{} {args:?}", agent.id);
                assert!(!Path::new(leak).exists(), "{} {args:?}", agent.id);
            }
        }
        // An environment, or a folder to start in, is a word of the author, too.
        for (key, json, toml) in [
            ("env", r#"{"CORTEX_SERVE_ADDRESS": "0.0.0.0"}"#, r#"{ LD_PRELOAD = "evil.so" }"#),
            ("cwd", r#""/tmp""#, r#""/tmp""#),
        ] {
            let with = with_key(file, text, key, json, toml);
            assert_ne!(with, *text, "{}", agent.id);
            fs::write(file, with).unwrap();
            let out = doctor().expect(1).stdout;
            assert!(out.contains("was not started"), "{} {key}: {out}", agent.id);
            let out = run(p
                .cortex(&["init", "--agents", &agent.id, "--scope", "project", "--parts", "server"])
                .arg("--yes")
                .env("PATH", &path));
            assert!(out.code == 0 || out.stderr.contains("not started"), "{}: {out:?}", agent.id);
        }
    }
}

/// Snowflake's agent keeps files in `.cortex`, which are not ours and do not make a project.
#[test]
fn files_of_another_product_in_dot_cortex_stay() {
    let p =
        Project::with(&[("app/a.rs", "fn a() {}\n"), (".cortex/skills/sql/SKILL.md", "Theirs.\n")]);
    fs::create_dir(p.path("app/.git")).unwrap();
    let mut command = p.cortex(&["search", "a"]);
    crate::support::project::run(command.current_dir(p.path("app"))).expect(0);
    assert!(p.path("app/.cortex/chunks").is_dir() && !p.path(".cortex/chunks").exists());
    p.index();
    p.run(&["clean"]).expect(0);
    assert_eq!(p.read(".cortex/skills/sql/SKILL.md"), "Theirs.\n");
}

#[test]
fn a_server_in_the_folder_of_its_plugin_names_the_remedy() {
    let p = Project::new();
    let out = run(p.cortex(&["mcp"]).env("PLUGIN_ROOT", p.root())).expect(2);
    assert!(out.stderr.contains("the folder of the plugin, not of a project"), "{}", out.stderr);
    assert!(out.stderr.contains("--project DIR"), "{}", out.stderr);
    let elsewhere = tempfile::tempdir().unwrap();
    run(p.cortex(&["mcp"]).env("PLUGIN_ROOT", elsewhere.path())).expect(0);
}
