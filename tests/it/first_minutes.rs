//! The first minutes of a newcomer: `cortex` alone, `cortex init` and `cortex doctor`.

use std::fs;
use std::path::Path;

use crate::support::project::{Output, Project, run};

/// Folders of agents in a home directory, and the agents.
const AGENTS: [(&str, &str); 4] = [
    (".claude", "Claude Code"),
    (".codex", "Codex"),
    (".cursor", "Cursor"),
    (".config/opencode", "OpenCode"),
];

/// Runs the program in a folder, on a machine without other programs of agents.
fn at(p: &Project, folder: &Path, args: &[&str]) -> Output {
    run(p.cortex(args).current_dir(folder).env("PATH", "/usr/bin:/bin"))
}

fn install(p: &Project, folders: &[&str]) {
    for folder in folders {
        fs::create_dir_all(p.home().join(folder)).unwrap();
    }
}

/// Returns the step that `cortex` names in a folder: a command.
#[track_caller]
fn next(p: &Project, folder: &Path) -> String {
    let said = at(p, folder, &[]).expect(0).stdout;
    assert_eq!(said.lines().count(), 3, "{said}");
    let step = said.lines().find_map(|line| line.strip_prefix("next ")).unwrap();
    step.split("   # ").next().unwrap().trim().to_string()
}

#[test]
fn cortex_alone_names_the_step_that_is_left() {
    let p = Project::sample();
    let root = p.root();
    assert_eq!(next(&p, &root), "cortex index");
    assert_eq!(next(&p, &root.join("src")), "cortex index");
    p.index();
    assert!(next(&p, &root).starts_with("cortex search "), "there is no agent to connect");
    install(&p, &[".claude", ".codex"]);
    assert_eq!(next(&p, &root), "cortex init");
    at(&p, &root, &["init", "--agents", "claude", "--yes"]).expect(0);
    let ask = next(&p, &root.join("src"));
    assert!(ask.starts_with("cortex search "), "the user chose one agent: {ask}");
    at(&p, &root, &["init", "--yes"]).expect(0);
    assert_eq!(next(&p, &root), ask);
    at(&p, &root, &["server", "start"]).expect(0);
    assert_eq!(next(&p, &root), ask);
    at(&p, &root, &["init", "--remove", "--yes"]).expect(0);
    assert_eq!(next(&p, &root), "cortex init");
}

#[test]
fn cortex_alone_names_a_step_where_no_project_is() {
    let p = Project::folder();
    install(&p, &[".claude"]);
    assert_eq!(next(&p, &p.root()), "cd FOLDER", "an empty folder");
    assert_eq!(next(&p, &p.home()), "cd FOLDER", "the home directory");
    p.write("notes/a.md", "# Frost\n\nThe pump is off.\n");
    assert_eq!(next(&p, &p.root()), "cortex index", "a folder without git");
    at(&p, &p.root(), &["index"]).expect(0);
    assert_eq!(next(&p, &p.path("notes")), "cortex init");
}

#[test]
fn an_index_that_cannot_be_read_is_no_dead_end() {
    let p = Project::sample();
    p.index();
    for entry in fs::read_dir(p.path(".cortex/chunks")).unwrap() {
        fs::write(entry.unwrap().path(), "garbage").unwrap();
    }
    let step = next(&p, &p.root());
    assert!(["cortex doctor", "cortex index"].contains(&&*step), "{step}");
}

/// The hint after the first index is the same.
#[test]
fn the_first_question_advises_init_only_if_that_is_left() {
    for (with_agent, is_connected) in [(false, false), (true, false), (true, true)] {
        let p = Project::sample();
        if with_agent {
            install(&p, &[".claude"]);
        }
        if is_connected {
            at(&p, &p.home(), &["init", "--yes"]).expect(0);
        }
        let told = at(&p, &p.root(), &["search", "retry"]).expect(0).stderr;
        assert!(told.contains("Next: "), "{told}");
        assert_eq!(told.contains("cortex init"), with_agent && !is_connected, "{told}");
    }
}

#[test]
fn init_says_one_line_for_each_agent_and_the_difference_on_request() {
    let p = Project::sample();
    install(&p, &AGENTS.map(|(folder, _)| folder));
    fs::write(p.home().join(".cursor/mcp.json"), "{\"mcpServers\": {}}\n").unwrap();
    // Returns what is said of each agent.
    let of_agents = |said: &str| {
        AGENTS.map(|(_, name)| {
            let lines: Vec<&str> = said.lines().filter_map(|l| l.strip_prefix(name)).collect();
            assert_eq!(lines.len(), 1, "{name}: {said}");
            assert!(lines[0].len() + name.len() <= 80, "{said}");
            lines[0].trim().to_string()
        })
    };
    let shown = at(&p, &p.root(), &["init", "--dry-run"]).expect(0).stdout;
    assert!(shown.lines().any(|line| line.starts_with("  + ")), "{shown}");
    assert!(!p.home().join(".claude.json").exists());

    let said = at(&p, &p.root(), &["init", "--yes"]).expect(0).stdout;
    let [claude, _, cursor, open_code] = of_agents(&said);
    assert!(claude.contains("~/.claude.json: new"), "{claude}");
    assert!(claude.contains("~/.claude: 4 new"), "{claude}");
    assert!(cursor.contains("~/.cursor: 1 changed, 2 new"), "{cursor}");
    assert!(open_code.contains("~/.config/opencode: 4 new"), "{open_code}");
    assert!(!said.contains("  + ") && said.contains("\nwrote "), "{said}");
    let last = said.lines().last().unwrap();
    assert!(last.starts_with("next: "), "{said}");

    let again = at(&p, &p.root(), &["init", "--yes"]).expect(0).stdout;
    assert_eq!(of_agents(&again), ["already there"; 4]);
    assert!(again.contains("nothing to do"), "{again}");

    let said = at(&p, &p.root(), &["init", "--remove", "--yes"]).expect(0).stdout;
    let [claude, _, cursor, _] = of_agents(&said);
    assert!(claude.contains("~/.claude.json: removed"), "{claude}");
    assert!(cursor.contains("~/.cursor: 2 removed, 1 restored"), "{cursor}");
    let again = at(&p, &p.root(), &["init", "--remove", "--yes"]).expect(0).stdout;
    assert_eq!(of_agents(&again), ["nothing of Cortex is there"; 4]);
}

#[test]
fn the_line_of_an_agent_names_the_file_that_cannot_be_changed() {
    let p = Project::sample();
    install(&p, &[".claude", ".codex"]);
    fs::write(p.home().join(".claude.json"), "{").unwrap();
    let out = at(&p, &p.root(), &["init", "--yes"]).expect(2);
    let line = |name: &str| out.stdout.lines().find(|l| l.starts_with(name)).unwrap().to_string();
    assert!(line("Claude Code").contains("~/.claude.json: cannot be changed"), "{}", out.stdout);
    assert!(!line("Codex").contains("cannot be changed"), "{}", out.stdout);
}

/// The files of a user need no project.
#[test]
fn init_connects_agents_from_any_folder() {
    let p = Project::folder();
    install(&p, &[".claude", ".cursor"]);
    for folder in [p.home(), p.root()] {
        let said = at(&p, &folder, &["init", "--yes"]).expect(0).stdout;
        assert!(said.contains("verified:") && said.contains("~/.claude.json"), "{said}");
        at(&p, &folder, &["init", "--remove", "--yes"]).expect(0);
    }
    let refused = at(&p, &p.home(), &["init", "--yes", "--scope", "project"]).error();
    assert!(refused.contains("is the home directory"), "{refused}");
    assert!(!p.home().join(".mcp.json").exists());
}

/// Returns the lines of `cortex doctor` that are not good. Each line is a fact, with its remedy.
fn advice(p: &Project, folder: &Path) -> Vec<String> {
    let said = at(p, folder, &["doctor"]).stdout;
    for line in said.lines() {
        let begins = ["ok   ", "note ", "BAD  "].iter().any(|mark| line.starts_with(mark));
        assert!(begins, "this line belongs to the fact above it: {line}\n{said}");
    }
    said.lines().filter(|line| !line.starts_with("ok ")).map(String::from).collect()
}

#[test]
fn doctor_advises_no_init_that_would_refuse() {
    let p = Project::sample();
    p.index();
    install(&p, &[".claude", ".codex", ".cursor", ".config/goose"]);
    let file = |path: &str, text: &str| fs::write(p.home().join(path), text).unwrap();
    let entry = |command: &str| {
        format!(
            "{{\"mcpServers\":{{\"cortex\":{{\"command\":\"{command}\",\"args\":[\"mcp\"]}}}}}}"
        )
    };
    file(".claude.json", &entry("/nowhere/snow"));
    file(".codex/config.toml", "a = \n");
    file(".cursor/mcp.json", &entry("/nowhere/cortex"));
    file(".config/goose/config.yaml", "extensions: {a: 1}\n");
    let advice = advice(&p, &p.root());
    let of = |name: &str| {
        let lines: Vec<&String> = advice.iter().filter(|line| line.contains(name)).collect();
        assert_eq!(lines.len(), 1, "{name}: {advice:#?}");
        lines[0].split_once(" -> ").map(|(_, remedy)| remedy.to_string()).unwrap()
    };
    assert!(of("Claude Code").starts_with("take the entry `cortex` out of ~/.claude.json, then: "));
    assert!(of("Codex").starts_with("repair ~/.codex/config.toml, then: "));
    assert!(!of("Goose").starts_with("cortex init"));
    assert_eq!(of("Cursor"), "cortex init --agents cursor");
    at(&p, &p.root(), &["init", "--agents", "cursor", "--yes"]).expect(0);
}

/// Each command that stands alone as a remedy ends well where it is advised.
#[test]
fn commands_that_doctor_advises_work_there() {
    let p = Project::sample();
    install(&p, &[".claude", ".codex"]);
    let mut n_run = 0;
    for line in advice(&p, &p.root()) {
        let Some((_, remedy)) = line.split_once(" -> ") else { continue };
        let Some(command) = remedy.strip_prefix("cortex ") else { continue };
        let mut words: Vec<&str> = command.split_whitespace().collect();
        if words[0] == "init" {
            words.push("--yes");
        }
        at(&p, &p.root(), &words).expect(0);
        n_run += 1;
    }
    assert_eq!(n_run, 3, "two agents and the index");
    let left = advice(&p, &p.root());
    assert!(!left.iter().any(|line| line.contains("-> cortex ")), "{left:#?}");
}

#[test]
fn doctor_advises_no_package_and_no_setting_that_is_set() {
    let p = Project::sample();
    p.index();
    p.write(".cortex/config.toml", "[embed]\nurl = 'http://127.0.0.1:9/v1'\n");
    let about_url =
        |advice: &[String]| advice.iter().find(|line| line.contains("embed.url")).cloned().unwrap();
    let before = advice(&p, &p.root());
    assert!(about_url(&before).contains("set it in "), "{before:#?}");
    assert!(!before.iter().any(|line| line.contains("package")), "{before:#?}");
    p.configure("[embed]\nurl = ''\n");
    let after = advice(&p, &p.root());
    assert!(about_url(&after).ends_with("yours counts"), "{after:#?}");
}

#[test]
fn doctor_advises_no_index_that_would_not_stay() {
    let p = Project::sample();
    let state = p.path("settings.toml");
    let out = run(p.cortex(&["doctor"]).env("XDG_STATE_HOME", state.join("below"))).expect(1);
    assert!(out.stdout.contains("XDG_STATE_HOME"), "{}", out.stdout);
    assert!(!out.stdout.contains("cortex index"), "{}", out.stdout);
    let out = run(p.cortex(&[]).env("XDG_STATE_HOME", state.join("below"))).expect(0);
    assert!(out.stdout.contains("cortex doctor"), "{}", out.stdout);
}

/// Where no project is, agents are still checked.
#[test]
fn doctor_checks_the_agents_in_any_folder() {
    let p = Project::folder();
    install(&p, &[".claude"]);
    for folder in [p.root(), p.home()] {
        let advice = advice(&p, &folder);
        assert!(advice.iter().any(|line| line.contains("Claude Code")), "{advice:#?}");
        let about_project = |line: &&String| line.contains(" project ") || line.contains(" index ");
        let lines: Vec<&String> = advice.iter().filter(about_project).collect();
        assert_eq!(lines.len(), 1, "one line says how to make a project: {lines:#?}");
    }
}
