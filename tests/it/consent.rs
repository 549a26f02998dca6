//! A folder that is no project: it is asked about, or refused, and an agent in it is told so.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::project::{Project, run};
use crate::server::{Server, initialize};
use crate::support::has_script;

fn files(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<_> = names.map(|name| name.to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn no_command_indexes_a_folder_that_is_no_project() {
    let p = Project::folder();
    for clone in ["one", "two"] {
        p.write(format!("{clone}/.git/HEAD"), "");
        p.write(format!("{clone}/a.rs"), "fn greet() {}\n");
    }
    let before = files(&p.root());
    for args in [
        &["search", "greet"][..],
        &["grep", "greet"],
        &["map"],
        &["outline"],
        &["status"],
        &["read", "one/a.rs"],
        &["graph", "callers", "greet"],
        &["memory", "add", "greet"],
        &["memory", "list"],
        &["serve", "--port", "0"],
        &["serve", "--detach"],
        &["open", "--print"],
        &["clean"],
        &["search", "greet", "--project", "."],
    ] {
        let error = p.run(args).error();
        assert!(error.contains("is not a project"), "{args:?}: {error}");
        assert!(error.contains("cortex index") && error.contains("git init"), "{args:?}: {error}");
        assert_eq!(files(&p.root()), before, "{args:?}");
    }
    // Each of the clones is one.
    let out = run(p.cortex(&["search", "greet"]).current_dir(p.path("one"))).expect(0);
    assert!(out.stdout.contains("a.rs"), "{out:?}");
    // The user says so, once.
    p.run(&["index"]).expect(0);
    assert!(p.run(&["search", "greet"]).expect(0).stdout.contains("two/a.rs"));
    p.run(&["clean"]).expect(0);
    p.run(&["search", "greet"]).expect(0);
}

#[test]
fn consent_is_kept_for_an_index_in_the_cache() {
    let p = Project::folder();
    p.write("a.rs", "fn greet() {}\n");
    p.configure("[index]\nlocation = \"cache\"\n");
    p.run(&["search", "greet"]).error();
    p.run(&["index"]).expect(0);
    assert!(p.run(&["search", "greet"]).expect(0).stdout.contains("a.rs"));
    assert_eq!(files(&p.root()), ["a.rs"]);
}

#[test]
fn directories_of_the_system_are_never_indexed() {
    let p = Project::new();
    let home = p.home();
    for folder in ["/", "/etc", "/usr", "/usr/lib", "/proc/self", home.to_str().unwrap()] {
        if !Path::new(folder).is_dir() {
            continue;
        }
        for args in [&["index", folder][..], &["search", "x", "--project", folder]] {
            let error = p.run(args).error();
            assert!(error.contains("give the folder of a project"), "{args:?}: {error}");
        }
        assert!(!Path::new(folder).join(".cortex").exists(), "{folder}");
    }
}

#[test]
fn on_a_terminal_a_folder_is_asked_about_once() {
    if !has_script() {
        return;
    }
    let p = Project::folder();
    p.write("a.rs", "fn greet() {}\n");
    let answer = |text: &str| {
        let mut c = p.command("script");
        c.args(["--quiet", "--return", "--echo", "never", "--command"]);
        c.arg(format!("{} search greet", env!("CARGO_BIN_EXE_cortex"))).arg("/dev/null");
        let mut child =
            c.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        std::io::Write::write_all(child.stdin.as_mut().unwrap(), text.as_bytes()).unwrap();
        let out = child.wait_with_output().unwrap();
        (out.status.code(), String::from_utf8_lossy(&out.stdout).into_owned())
    };
    let (code, shown) = answer("n\n");
    assert!(shown.contains("Index it (1 file)? [y/N]"), "{shown}");
    assert_eq!((code, files(&p.root())), (Some(2), vec!["a.rs".to_string()]), "{shown}");
    let (code, shown) = answer("y\n");
    assert!(code == Some(0) && shown.contains("a.rs"), "{shown}");
    let (code, shown) = answer("");
    assert!(code == Some(0) && !shown.contains("[y/N]"), "{shown}");
}

fn call(agent: &mut Server, tool: &str, arguments: &Value) -> (String, bool) {
    let reply = agent.ask("tools/call", &json!({ "name": tool, "arguments": arguments }));
    let result = &reply["result"];
    let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{reply}"));
    (text.to_string(), result["isError"] == true)
}

/// Clients for the desktop start servers in the home directory, in `/`, or anywhere.
#[test]
fn an_agent_is_served_in_every_folder() {
    let p = Project::new();
    p.write("kettle.rs", "fn boil_water() {}\n");
    p.index();
    let plain = p.home().join("plain");
    fs::create_dir(&plain).unwrap();
    fs::write(plain.join("tea.rs"), "fn pour_tea() {}\n").unwrap();
    let home = p.home();
    for alone in [false, true] {
        for folder in [Path::new("/"), Path::new("/etc"), &home, &plain] {
            let mut command = p.cortex(&["mcp"]);
            command.args(alone.then_some("--alone")).current_dir(folder);
            let what = format!("{} alone {alone}", folder.display());
            let mut agent = Server::start(&mut command);
            let reply = agent.ask("initialize", &initialize("2025-06-18"));
            assert_eq!(reply["result"]["serverInfo"]["name"], "cortex", "{what}: {reply}");
            let tools = agent.ask("tools/list", &json!({}))["result"]["tools"].clone();
            assert!(tools.as_array().unwrap().len() >= 4, "{what}");
            for (tool, arguments) in [
                ("cortex_search", json!({ "query": "tea" })),
                ("cortex_grep", json!({ "pattern": "tea" })),
                ("cortex_status", json!({})),
                ("cortex_read", json!({ "target": "tea.rs" })),
                ("add_memory", json!({ "name": "tea", "episode_body": "tea" })),
            ] {
                let (text, is_error) = call(&mut agent, tool, &arguments);
                assert!(is_error && text.contains("project"), "{what} {tool}: {text}");
                assert!(text.contains("cortex index"), "{what} {tool}: {text}");
            }
            let asked = json!({ "query": "boil water", "repo": "project" });
            let (text, is_error) = call(&mut agent, "cortex_search", &asked);
            assert!(!is_error && text.contains("kettle.rs"), "{what}: {text}");
            let asked = json!({ "query": "boil water", "repos": ["project"] });
            let (text, is_error) = call(&mut agent, "cortex_search", &asked);
            assert!(!is_error && text.contains("kettle.rs"), "{what}: {text}");
            assert!(!folder.join(".cortex").exists(), "{what}");
        }
    }
    let status = p.run(&["server", "status"]).stdout;
    assert!(!status.contains("/plain") && !status.contains("/etc"), "{status}");
    // The user makes it a project, and the agent goes on.
    let mut agent = Server::start(p.cortex(&["mcp"]).current_dir(&plain));
    agent.ask("initialize", &initialize("2025-06-18"));
    assert!(call(&mut agent, "cortex_search", &json!({ "query": "pour tea" })).1);
    run(p.cortex(&["index"]).current_dir(&plain)).expect(0);
    let (text, is_error) = call(&mut agent, "cortex_search", &json!({ "query": "pour tea" }));
    assert!(!is_error && text.contains("tea.rs"), "{text}");
}

/// Bug: the error of a search in a project that is gone was empty.
#[test]
fn a_project_that_is_gone_is_named() {
    let p = Project::new();
    p.write("here.rs", "fn here() {}\n");
    let gone = p.home().join("gone");
    let make = || {
        fs::create_dir_all(gone.join(".git")).unwrap();
        fs::write(gone.join("z.py"), "def zed(): pass\n").unwrap();
        run(p.cortex(&["index"]).current_dir(&gone)).expect(0);
        fs::remove_dir_all(&gone).unwrap();
    };
    for args in [
        &["search", "zed", "--repo", "gone"][..],
        &["grep", "zed", "--repo", "gone"],
        &["outline", "--repo", "gone"],
        &["graph", "callers", "zed", "--repo", "gone"],
    ] {
        make();
        let error = p.run(args).error();
        assert!(error.contains("/gone"), "{args:?}: {error}");
        assert!(error.contains("no longer there"), "{args:?}: {error}");
    }
    // With others that answer, it is a warning.
    p.index();
    make();
    let out = p.run(&["search", "here", "--repo", "gone,project"]).expect(0);
    assert!(out.stdout.contains("here.rs") && out.stderr.contains("/gone"), "{out:?}");
}

/// Bug: `rm -rf` of a project failed while a server indexed it, and left a `.cortex` behind.
#[test]
fn a_project_under_a_server_can_be_removed() {
    let p = Project::new();
    let n = if std::env::var_os("STRESS").is_some() { 60 } else { 12 };
    for round in 0..n {
        let root = p.home().join(format!("work/round{round}"));
        fs::create_dir_all(root.join("src")).unwrap();
        p.git(&["init", "-q", root.to_str().unwrap()]);
        let file = |i: usize| root.join(format!("src/f{i}.rs"));
        for i in 0..60 {
            fs::write(file(i), format!("fn greet_{i}() {{ greet_{}(); }}\n", i + 1)).unwrap();
        }
        let mut agent = Server::start(p.cortex(&["mcp"]).current_dir(&root));
        agent.ask("initialize", &initialize("2025-06-18"));
        let asked = json!({ "query": "greet_7", "wait_ms": 10_000 });
        let (text, is_error) = call(&mut agent, "cortex_search", &asked);
        assert!(!is_error && text.contains("f7.rs"), "{text}");
        call(&mut agent, "add_memory", &json!({ "name": "x", "episode_body": "greet them" }));
        // The server has work when the removal begins.
        for i in 0..round {
            fs::write(file(i), "fn other() {}\n").unwrap();
        }
        let out = run(p.command("rm").arg("-rf").arg(&root));
        assert_eq!((out.code, &*out.stderr), (0, ""), "round {round}");
        let asked = json!({ "query": "greet_7", "wait_ms": 10_000 });
        let (text, is_error) = call(&mut agent, "cortex_search", &asked);
        assert!(is_error && text.contains("removed"), "round {round}: {text}");
        assert!(!root.exists(), "round {round}");
        let status = p.run(&["server", "status"]).stdout;
        assert!(!status.contains("work/round"), "round {round}: {status}");
    }
    assert_eq!(files(&p.home().join("work")), Vec::<String>::new());
    let known = p.run(&["search", "x", "--repo", "nothing"]).error();
    assert!(!known.contains("round"), "{known}");
}

#[test]
fn a_server_does_not_make_an_index_again_that_somebody_removed() {
    let p = Project::new();
    p.write("a.rs", "fn greet() {}\n");
    let mut agent = Server::start(&mut p.cortex(&["mcp"]));
    agent.ask("initialize", &initialize("2025-06-18"));
    let asked = json!({ "query": "greet", "wait_ms": 10_000 });
    assert!(!call(&mut agent, "cortex_search", &asked).1);
    crate::support::wait_until("it is removed", || {
        let _ = fs::remove_dir_all(p.path(".cortex"));
        !p.path(".cortex").exists()
    });
    for i in 0..5 {
        p.write(format!("b{i}.rs"), "fn other() {}\n");
        call(&mut agent, "cortex_search", &asked);
        call(&mut agent, "cortex_graph", &json!({ "target": "greet", "question": "callers" }));
        call(&mut agent, "add_memory", &json!({ "name": "x", "episode_body": "greet" }));
        assert!(!p.path(".cortex").exists(), "edit {i}");
    }
    // The user makes it again, and the server goes on.
    p.index();
    p.write("late.rs", "fn arrive_late() {}\n");
    let asked = json!({ "query": "arrive_late", "wait_ms": 10_000 });
    let (text, is_error) = call(&mut agent, "cortex_search", &asked);
    assert!(!is_error && text.contains("late.rs"), "{text}");
}
