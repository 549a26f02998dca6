//! The way of asking that agents are taught: `cortex explore` in a shell, few tools in a list, and all
//! of them by their names.

use serde_json::{Value, json};

use crate::project::{Project, run};
use crate::server::{Client, Server, get, initialize};

/// A queue whose retries are spread over files.
fn queue() -> Project {
    Project::with(&[
        (
            "src/policy.py",
            "MAX_RETRIES = 5\n\n\ndef next_delay(attempt):\n    \"\"\"Says how long a failed job waits.\"\"\"\n    if attempt > MAX_RETRIES:\n        raise GaveUp(\"retry limit reached\")\n    return 2 ** attempt\n",
        ),
        (
            "src/queue.py",
            "from src.policy import next_delay\n\n\ndef fail(job):\n    job.attempt += 1\n    enqueue(job, next_delay(job.attempt))\n\n\ndef enqueue(job, delay):\n    job.due = delay\n",
        ),
        (
            "tests/test_policy.py",
            "from src.policy import next_delay\n\n\ndef test_delay():\n    assert next_delay(1) == 2\n",
        ),
        ("docs/guide.md", "# Guide\n\n## Retries\n\nA failed job is tried again.\n"),
    ])
}

/// Starts a server for an agent.
fn agent(p: &Project, args: &[&str]) -> Server {
    let mut server = Server::start(&mut p.cortex(&[&["mcp"], args].concat()));
    server.ask("initialize", &initialize("2025-11-25"));
    server
}

fn listed(server: &mut Server) -> Vec<String> {
    let tools = server.ask("tools/list", &json!({}))["result"]["tools"].clone();
    tools.as_array().unwrap().iter().map(|t| t["name"].as_str().unwrap().to_string()).collect()
}

#[test]
fn the_command_prints_the_lines_that_the_tool_replies() {
    let p = queue();
    p.index();
    let mut server = agent(&p, &[]);
    // This question waits for the graph.
    let arguments = json!({ "operation": "callers", "target": "enqueue", "wait_ms": 20_000 });
    let call = json!({ "name": "cortex_graph", "arguments": arguments });
    assert_eq!(server.ask("tools/call", &call)["result"]["isError"], false);
    for about in [
        &["how does a retry reach the queue", "MAX_RETRIES", "retry limit reached", "nobody"][..],
        &["next_delay", "src/queue.py:4-6", "docs/guide.md"],
        &["src/queue.py:4-6,9-10"],
        &["enqueue"],
    ] {
        let arguments = json!({ "about": about, "wait_ms": 20_000 });
        let call = json!({ "name": "cortex_explore", "arguments": arguments });
        let reply = server.ask("tools/call", &call);
        let told = reply["result"]["content"][0]["text"].as_str().unwrap().to_string();
        // The last line is the freshness, and the warnings are on stderr.
        let (told, _) = told.rsplit_once('\n').unwrap();
        let told: Vec<&str> = told.lines().filter(|l| !l.starts_with("warning: ")).collect();
        let printed = p.run(&[&["explore"], about].concat()).expect(0).stdout;
        assert_eq!(printed.lines().collect::<Vec<_>>(), told, "{about:?}");
        assert!(!printed.contains('\u{1b}'), "{printed}");
    }
}

#[test]
fn an_exploration_is_limited_filtered_and_read_from_a_pipe() {
    let p = queue();
    let question = ["explore", "how long does a failed job wait", "next_delay"];
    let shown = |more: &[&str]| p.run(&[&question, more].concat()).expect(0).stdout;
    assert!(shown(&[]).contains("def next_delay(attempt):"), "{}", shown(&[]));
    for tokens in ["1", "200", "400"] {
        let limited = shown(&["--tokens", tokens]);
        let most = tokens.parse::<usize>().unwrap().max(200);
        assert!(limited.len() <= most * 4, "{tokens}: {}\n{limited}", limited.len());
    }
    let json = p.json(&[&question[..], &["--tokens", "400"]].concat());
    assert_eq!(json["schema"], 2, "{json}");
    assert!(json["code"].is_array() && json["index"]["generation"].is_u64(), "{json}");
    let only = p.run(&["explore", "a failed job is tried again", "-p", "docs/**"]).expect(0).stdout;
    assert!(only.contains("docs/guide.md") && !only.contains("src/"), "{only}");
    let line = format!("echo 'retry limit reached' | {} explore -", env!("CARGO_BIN_EXE_cortex"));
    let piped = run(p.command("sh").args(["-c", &line])).expect(0).stdout;
    assert!(piped.contains("src/policy.py"), "{piped}");
}

#[test]
fn an_exploration_ends_as_a_search_does() {
    let p = queue();
    p.run(&["explore", "next_delay"]).expect(0);
    let nothing = p.run(&["explore", "why is a job tried again", "-p", "nowhere/**"]).expect(1);
    assert!(nothing.stdout.is_empty() && nothing.stderr.contains("nothing found"), "{nothing:?}");
    let many = ["name"; 17];
    let error = p.run(&[&["explore"], &many[..]].concat()).error();
    assert!(error.contains("about has 17"), "{error}");
    p.run(&["explore"]).expect(2);
}

/// An agent pays for each listed tool in every conversation, and may still know others by their names.
#[test]
fn few_tools_are_listed_and_all_that_read_are_called() {
    let p = queue();
    p.index();
    let core = ["cortex_explore", "cortex_grep", "cortex_history", "cortex_read"];
    let mut server = agent(&p, &[]);
    assert_eq!(listed(&mut server), core);
    let calls = [
        ("cortex_search", json!({ "query": "how long does a failed job wait" })),
        ("cortex_graph", json!({ "operation": "callers", "target": "next_delay" })),
        ("cortex_outline", json!({ "path": "src/policy.py" })),
        ("cortex_status", json!({})),
        ("search_memory_nodes", json!({ "query": "retries" })),
    ];
    let args: [&[&str]; 4] =
        [&[], &["--tools", "graph"], &["--tools", "core,memory"], &["--alone", "--read-only"]];
    for args in args {
        let mut server = agent(&p, args);
        for (name, arguments) in &calls {
            let call = json!({ "name": name, "arguments": arguments });
            let reply = server.ask("tools/call", &call);
            assert_eq!(reply["result"]["isError"], false, "{args:?} {name}: {reply}");
        }
        for name in ["file_editor", "json_editor", "cortex_rename"] {
            let call = json!({ "name": name, "arguments": {} });
            let reply = server.ask("tools/call", &call);
            assert_eq!(reply["error"]["code"], -32602, "{args:?} {name}: {reply}");
        }
    }
}

#[test]
fn groups_of_tools_are_listed_on_request() {
    let p = queue();
    let names = |groups: &str| listed(&mut agent(&p, &["--no-watch", "--tools", groups]));
    let all = names("all");
    for name in ["cortex_explore", "cortex_graph", "add_memory", "file_editor"] {
        assert!(all.iter().any(|listed| listed == name), "{name} is not in {all:?}");
    }
    assert_eq!(names("core").len(), 4);
    let both = names("core,edit");
    assert!(both.len() == 7 && both.contains(&"file_editor".to_string()), "{both:?}");
    let error = p.run(&["mcp", "--tools", "none"]).error();
    assert!(error.contains("`none`") && error.contains("core, search"), "{error}");
    p.configure("[serve]\ntools = ['graph']\n");
    let of_setting = listed(&mut agent(&p, &["--no-watch"]));
    assert!(of_setting.contains(&"cortex_graph".to_string()), "{of_setting:?}");
    assert!(!of_setting.contains(&"cortex_explore".to_string()), "{of_setting:?}");
}

#[test]
fn an_agent_reads_that_the_team_of_its_settings_cannot_be_opened() {
    let p = queue();
    p.index();
    let mut command = p.cortex(&["mcp", "--alone"]);
    let mut server = Server::start(command.env("CORTEX_TEAM_URL", "nowhere://depot"));
    server.ask("initialize", &initialize("2025-11-25"));
    for arguments in
        [json!({ "places": "src/queue.py" }), json!({ "places": "src/queue.py", "odd": 1 })]
    {
        let call = json!({ "name": "cortex_read", "arguments": arguments });
        let reply = server.ask("tools/call", &call)["result"]["content"][0]["text"].to_string();
        assert!(reply.contains("warning: team.url: "), "{arguments}: {reply}");
        let is_odd = arguments.get("odd").is_some();
        assert_eq!(reply.contains("no argument `odd`"), is_odd, "{arguments}: {reply}");
    }
}

/// The page takes the arguments of the search, so it heeds each of them.
#[test]
fn the_page_searches_the_projects_that_the_search_does() {
    let p = queue();
    p.index();
    let server = Server::start(&mut p.cortex(&["serve", "--port", "0"]));
    let client = Client::new(&server.line());
    for more in [
        json!({}),
        json!({ "deps": true }),
        json!({ "repos": ["nobody"] }),
        json!({ "repos": "nobody", "deps": true }),
        json!({ "repos": ["project"] }),
        json!({ "paths": "nobody:src/*.py" }),
    ] {
        let mut arguments = more.clone();
        arguments["query"] = "how long does a failed job wait".into();
        let [found, searched] = ["find", "search"].map(|name| {
            let (status, body) = client.try_call(name, &arguments).unwrap();
            let reply: Value = serde_json::from_str(&body).unwrap();
            (status, reply["error"].clone(), reply["projects"].clone())
        });
        assert_eq!(found, searched, "{more}");
    }
}

#[test]
fn the_http_api_has_all_tools_except_those_that_edit() {
    let p = queue();
    p.index();
    let server = Server::start(&mut p.cortex(&["serve", "--port", "0"]));
    let url = server.line();
    let (status, body) = get(&format!("{url}/api/openapi.json"), &[]);
    assert_eq!(status, 200);
    let document: Value = serde_json::from_str(&body).unwrap();
    for path in ["explore", "search", "graph", "impact", "read", "add_memory", "list_sessions"] {
        assert!(document["paths"].get(format!("/api/{path}")).is_some(), "{path}");
    }
    assert!(document["paths"].get("/api/file_editor").is_none(), "{body}");
    let client = Client::new(&url);
    client.call("graph", &json!({ "operation": "callers", "target": "next_delay" }));
    let (status, body) = client.try_call("file_editor", &json!({ "command": "view" })).unwrap();
    assert!(status >= 400, "{body}");
}
