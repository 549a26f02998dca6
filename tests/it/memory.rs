//! Memories as people and agents see them: `cortex memory` and the hooks.
//! `STRESS=1` runs the full counts.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;
use std::time::Duration;

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::project::{Project, Random, run};
use crate::server::{Client, Server, agent, get, initialize, listen, meta, stream};
use crate::support::hooks::{EVENTS, contents, hook, told};
use crate::support::wait_until;

#[test]
fn a_memory_is_added_found_changed_pinned_and_forgotten() {
    let p = Project::sample();
    assert_eq!(p.run(&["memory", "list"]).code, 1);
    assert!(!p.path(".cortex/memory.db").exists(), "looking makes nothing");
    let added = p.json(&[
        "memory",
        "add",
        "--name",
        "cache",
        "We keep the cache in one file because renames are atomic.",
    ]);
    let id = added["id"].as_str().unwrap().to_string();
    p.run(&["memory", "add", "Potatoes are boiled in salted water."]).expect(0);
    let found = p.json(&["memory", "search", "why is the cache one file"]);
    assert_eq!(found["results"][0]["memory"]["id"], id);
    assert!(
        found["results"][0]["similarity"].as_f64().unwrap() > 0.2
            && found["results"][0]["dominant"].is_string(),
        "{found}"
    );
    let shown = p.run(&["memory", "search", "why is the cache one file"]).expect(0);
    assert!(
        shown.stdout.contains("renames are atomic")
            && shown.stdout.lines().all(|l| l.chars().count() <= 120),
        "{}",
        shown.stdout
    );
    // Memories never change results about code; a search that asks for both returns both.
    let code = p.run(&["search", "boil potatoes", "--json"]).stdout;
    assert!(code.contains("docs/guide.md") && !code.contains("boiled in salted"), "{code}");
    let mut both = p.json(&["search", "boil potatoes", "--memories", "1"]);
    assert_eq!(both["memories"][0]["memory"]["content"], "Potatoes are boiled in salted water.");
    both.as_object_mut().unwrap().remove("memories");
    assert_eq!(both, serde_json::from_str::<Value>(&code).unwrap());
    let shown = p.run(&["search", "boil potatoes", "--memories", "1"]).expect(0).stdout;
    assert!(shown.contains("remembered:\n") && shown.contains("boiled in salted water"), "{shown}");

    // As `cortex memory list` shows it.
    let short = &id[24..];
    p.run(&["memory", "edit", short, "The", "cache", "is", "two", "files."]).expect(0);
    let editor = run(p.cortex(&["memory", "edit", short]).env("EDITOR", "sed -i s/two/three/"));
    assert_eq!(editor.code, 0, "{}", editor.stderr);
    p.run(&["memory", "pin", short]).expect(0);
    let now = p.json(&["memory", "show", short]);
    assert_eq!(
        (now["content"].as_str(), now["pinned"].as_bool()),
        (Some("The cache is three files."), Some(true))
    );
    assert_eq!(p.json(&["memory", "list", "--pinned"])["memories"].as_array().unwrap().len(), 1);
    assert_eq!(p.run(&["memory", "search", "renames atomic"]).code, 1, "the old text is gone");

    assert_eq!(p.run(&["memory", "forget", short, "nonsense"]).code, 2);
    assert_eq!(contents(&p).len(), 2, "all or none");
    p.run(&["memory", "forget", short]).expect(0);
    assert_eq!(contents(&p), ["Potatoes are boiled in salted water."]);
    assert_eq!(
        p.run(&["memory", "search", "tomatoes in the greenhouse", "--sources", "nothing"]).code,
        2
    );
    p.run(&["clean"]).expect(0);
    assert_eq!(contents(&p).len(), 1, "what is remembered is the user's");
    assert_eq!(
        fs::metadata(p.path(".cortex/memory.db")).unwrap().permissions().mode() & 0o777,
        0o600
    );
    assert!(p.read(".cortex/.gitignore").contains("/memory*"));
}

/// Bug: the end of one session made it the current one and then left none, and the end of an
/// unknown session created a completed one.
#[test]
fn a_session_stays_current_while_another_one_ends() {
    let p = Project::sample();
    let end = |id: &str| drop(told(&p, "session-end", json!({ "session_id": id })));
    end("never seen");
    assert!(!p.path(".cortex/memory.db").exists(), "the end of an unknown session creates nothing");
    let start = |id: &str| {
        drop(told(&p, "session-start", json!({ "session_id": id, "source": "startup" })));
    };
    let current = || p.read(".cortex/memory.session");
    start("a");
    start("b");
    end("a");
    assert_eq!(current(), "b");
    end("never seen");
    end("a");
    assert_eq!(current(), "b");
    start("c");
    end("c");
    assert_eq!(current(), "b", "the one that is still active");
    end("b");
    assert_eq!(current(), "");
    let rows = p.json(&["memory", "timeline"]);
    let rows = rows["sessions"].as_array().unwrap();
    assert_eq!(rows.len(), 3, "{rows:?}");
    assert!(rows.iter().all(|row| row["session"]["status"] == "Completed"), "{rows:?}");
}

/// Bug: the hook stored a prompt under a new id, and when a later step failed, it spooled the prompt
/// under its own.
#[test]
fn a_prompt_is_stored_once_although_its_hook_fails_after_storing_it() {
    let p = Project::sample();
    p.run(&["memory", "add", "The server is written in Rust."]).expect(0);
    let change = |sql: &str| {
        Connection::open(p.path(".cortex/memory.db")).unwrap().execute_batch(sql).unwrap();
    };
    change("ALTER TABLE given RENAME TO elsewhere");
    let prompt = "We decided to keep the cache in one file. Why is it slow?";
    told(&p, "prompt-submit", json!({ "session_id": "one", "prompt": prompt }));
    change("ALTER TABLE elsewhere RENAME TO given");
    told(&p, "stop", json!({ "session_id": "one", "last_assistant_message": "The disk is slow." }));
    let all = contents(&p);
    for text in [prompt, "We decided to keep the cache in one file.", "The disk is slow."] {
        assert_eq!(all.iter().filter(|c| *c == text).count(), 1, "{text}: {all:?}");
    }
}

#[test]
fn memories_move_to_another_project_as_they_are() {
    let (a, b) = (Project::new(), Project::new());
    for i in 0..7 {
        a.run(&["memory", "add", &format!("Decision {i} about the bridge")]).expect(0);
    }
    let exported = a.run(&["memory", "export"]).expect(0).stdout;
    b.write("all.jsonl", &exported);
    for _ in 0..2 {
        b.run(&["memory", "import", "all.jsonl"]).expect(0);
    }
    let sorted = |text: &str| {
        let mut lines: Vec<String> = text.lines().map(String::from).collect();
        lines.sort();
        lines
    };
    assert_eq!(sorted(&b.run(&["memory", "export"]).stdout), sorted(&exported));
    b.write("all.jsonl", format!("{exported}{{\"id\": 1}}\n"));
    let out = b.run(&["memory", "import", "all.jsonl"]);
    assert!(out.code == 2 && out.stderr.contains("all.jsonl:8"), "{}", out.stderr);
}

#[test]
fn a_session_is_remembered_and_the_next_one_knows() {
    let p = Project::sample();
    let first = |more: Value| {
        let mut input = json!({ "session_id": "first", "transcript_path": "/nowhere" });
        input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        input
    };
    assert_eq!(
        told(&p, "session-start", first(json!({ "source": "startup" }))),
        "",
        "nothing is known yet"
    );
    assert_eq!(
        told(&p, "prompt-submit", first(json!({ "prompt": "Where are failed attempts counted?" }))),
        ""
    );
    let edit = json!({ "file_path": p.path("src/retry.rs"), "old_string": "attempts * 2", "new_string": "attempts * 3" });
    assert_eq!(told(&p, "pre-tool", first(json!({ "tool_name": "Edit", "tool_input": edit }))), "");
    assert_eq!(
        told(&p, "post-tool", first(json!({ "tool_name": "Edit", "tool_input": edit }))),
        ""
    );
    let answer = "The retry counter lives in src/retry.rs. We decided that waiting triples after each failed attempt.";
    told(&p, "stop", first(json!({ "last_assistant_message": answer })));
    p.run(&["memory", "add", "--pin", "Never block the prompt."]).expect(0);
    told(&p, "pre-compact", first(json!({ "trigger": "auto" })));
    told(&p, "session-end", first(json!({ "reason": "other" })));

    let begin = json!({ "session_id": "second", "source": "startup" });
    let text = told(&p, "session-start", begin.clone());
    for part in [
        "Never block the prompt. (text, ",
        "Asked: Where are failed attempts counted?",
        "waiting triples",
        "(SessionSummary, ",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(text.len() <= 4 * 500, "{text}");
    let prompt = json!({ "session_id": "second", "prompt": "How long do we wait after a failed attempt to retry?" });
    let text = told(&p, "prompt-submit", prompt.clone());
    assert!(
        text.contains("### Memory 1 (similarity: ") && text.contains("waiting triples"),
        "{text}"
    );
    assert_eq!(told(&p, "prompt-submit", prompt), "", "it was told already");
    assert_eq!(
        told(&p, "session-start", json!({ "session_id": "second", "source": "resume" })),
        "",
        "so was that"
    );
    assert!(
        told(&p, "session-start", json!({ "session_id": "second", "source": "compact" }))
            .contains("Never block"),
        "it has forgotten"
    );

    // A memory about a file is returned before the file is changed, and is marked as stale
    // afterwards.
    let change = json!({ "session_id": "third", "tool_name": "Edit", "tool_input": { "file_path": p.path("src/retry.rs") } });
    let text = told(&p, "pre-tool", change);
    assert!(
        text.contains("About `src/retry.rs`:\n> ") && text.contains("waiting triples"),
        "{text}"
    );
    let stale = || {
        p.json(&["memory", "search", "where is the retry counter", "--sources", "claude_response"])
            ["results"][0]["stale"]
            .clone()
    };
    assert_eq!(stale(), json!([]));
    p.write("src/retry.rs", "fn retry() {}\n");
    assert_eq!(stale(), json!(["src/retry.rs"]));
    told(&p, "session-end", json!({ "session_id": "third" }));

    let timeline = p.run(&["memory", "timeline"]).expect(0).stdout;
    assert!(
        timeline.contains("Completed  first") && timeline.contains("Active  second"),
        "{timeline}"
    );
    let stats = p.json(&["memory", "stats"]);
    assert_eq!(
        (stats["sessions"].as_u64(), stats["sources"]["claude_response"].as_u64()),
        (Some(3), Some(2)),
        "{stats}"
    );
    assert!(!p.path(".cortex/memory.log").exists());
}

/// A memory that one process stores is found by all others with the next call.
#[test]
fn agents_remember_and_recall_over_tools() {
    let p = Project::sample();
    p.index();
    let server = Server::start(
        &mut p.cortex(&["serve", "--port", "0", "--no-watch", "--tools", "search,memory"]),
    );
    let client = Client::new(&server.line());
    let key = format!("ghp_{}", "a1B2c3D4e5".repeat(4));
    let body = format!("The wall is painted twice: once is not enough. Token {key}");
    let added = client
        .call("add_memory", &json!({ "name": "painting", "episode_body": body, "source": "text" }));
    assert_eq!(added["secrets_redacted"], 1);
    let find = |query: &str| {
        client.call("search_memory_nodes", &json!({ "query": query }))["results"].clone()
    };
    let found = find("how often is the wall painted");
    assert_eq!(
        (&found[0]["fingerprintId"], &found[0]["source"]["type"]),
        (&added["id"], &json!("text"))
    );
    assert!(
        found[0]["similarity"].as_f64().unwrap() > 0.2 && found[0]["dominantEmbedder"].is_string(),
        "{found}"
    );
    assert!(found[0]["content"].as_str().unwrap().contains("[REDACTED:"), "{found}");

    let event = json!({ "operation": "rename", "origin_path": "tools/colours.py" });
    client.call(
        "add_memory",
        &json!({ "name": "rename tools/colours.py", "episode_body": "renamed", "source": "filesystem_watch", "metadata": event }),
    );
    let without = json!({ "query": "colours.py", "exclude_operations": ["rename"] });
    assert_eq!(client.call("search_memory_nodes", &without)["results"], json!([]));
    let facts = client.call(
        "search_memory_facts",
        &json!({ "query": "colours.py", "sources": ["filesystem_watch"] }),
    );
    assert_eq!(facts["results"][0]["source"]["file_path"], "tools/colours.py");

    p.run(&["memory", "add", "Of another process: tomatoes like the sun."]).expect(0);
    assert_eq!(
        find("tomatoes in the sun")[0]["content"],
        "Of another process: tomatoes like the sun."
    );
    // Results about code are as without memories.
    assert!(
        !client
            .call("search", &json!({ "query": "tomatoes like the sun" }))
            .to_string()
            .contains("another process")
    );

    // A search that asks for both returns both in one call.
    let both = client.call("search", &json!({ "query": "tomatoes like the sun", "memories": 1 }));
    let remembered = both["memories"][0].as_str().unwrap();
    assert!(
        remembered.starts_with("Of another process: tomatoes like the sun. (text, 20"),
        "{remembered}"
    );

    client.call("delete_memory", &json!({ "id": added["id"] }));
    assert!(
        find("how often is the wall painted")
            .as_array()
            .unwrap()
            .iter()
            .all(|f| f["fingerprintId"] != added["id"])
    );
    let (status, body) =
        get(&format!("{}/api/delete_memory?id={}", client.url, added["id"].as_str().unwrap()), &[]);
    assert!(status == 405 && body.contains("POST"), "{status} {body}");
    for (tool, arguments) in [
        ("add_memory", json!({ "name": "x", "episode_body": " " })),
        ("add_memory", json!({ "name": "x", "episode_body": "y", "source": "rumour" })),
        ("search_memory_nodes", json!({ "query": "x", "exclude_sources": ["rumour"] })),
        ("delete_memory", json!({ "id": "x" })),
    ] {
        let (status, body) = client.try_call(tool, &arguments).unwrap();
        assert_eq!(status, 400, "{tool} {arguments}: {body}");
    }
    told(&p, "session-start", json!({ "session_id": "s", "source": "startup" }));
    assert_eq!(client.call("list_sessions", &json!({}))["sessions"][0]["id"], "s");
}

/// Returns where Claude Code keeps its notes on a project.
fn notes_folder(p: &Project) -> std::path::PathBuf {
    let slug: String = p
        .root()
        .to_str()
        .unwrap()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    p.home().join(".claude/projects").join(slug).join("memory")
}

/// An agent's own notes are stored, too; documents of the project are not, because they are indexed
/// already.
#[test]
fn the_notes_of_an_agent_are_found() {
    let p = Project::sample();
    p.run(&["memory", "add", "Something."]).expect(0);
    let notes = notes_folder(&p);
    fs::create_dir_all(&notes).unwrap();
    fs::write(
        notes.join("habits.md"),
        "# Habits\n\nThe lighthouse keeper prefers short sentences.\n",
    )
    .unwrap();
    let server = Server::start(&mut p.cortex(&["serve", "--port", "0", "--watch"]));
    let client = Client::new(&server.line());
    let find = || {
        client.call(
            "search_memory_nodes",
            &json!({ "query": "what does the lighthouse keeper prefer" }),
        )["results"][0]
            .clone()
    };
    wait_until("the note is found", || find()["source"]["type"] == "MDFileChunk");
    let source = find()["source"].clone();
    assert!(source["file_path"].as_str().unwrap().ends_with("habits.md"), "{source}");
    assert_eq!(
        (&source["chunk_index"], &source["total_chunks"], &source["lines"]),
        (&json!(0), &json!(1), &json!([1, 3]))
    );
    fs::write(notes.join("habits.md"), "# Habits\n\nThe lighthouse keeper prefers poems.\n")
        .unwrap();
    wait_until("the change is found", || {
        find()["content"].as_str().is_some_and(|c| c.contains("poems"))
    });
    fs::remove_file(notes.join("habits.md")).unwrap();
    wait_until("it is gone", || find()["source"]["type"] != "MDFileChunk");
}

/// A reply names the stored source of a memory and the contribution of each retriever. Filters keep
/// their names.
#[test]
fn replies_about_memories_have_the_scores_of_retrievers_and_the_stored_sources() {
    let p = Project::sample();
    told(&p, "session-start", json!({ "session_id": "s", "source": "startup" }));
    told(
        &p,
        "prompt-submit",
        json!({ "session_id": "s", "prompt": "Why do gherkins grow in the cellar?" }),
    );
    told(
        &p,
        "stop",
        json!({ "session_id": "s", "last_assistant_message": "Gherkins grow in the cellar because it is dark there, as the tests show." }),
    );
    let server = Server::start(&mut p.cortex(&["serve", "--port", "0", "--no-watch"]));
    let client = Client::new(&server.line());
    let found = client.call("search_memory_nodes", &json!({ "query": "gherkins in the cellar" }))["results"].clone();
    let of = |kind: &str| {
        found
            .as_array()
            .unwrap()
            .iter()
            .find(|f| f["source"]["type"] == kind)
            .unwrap_or_else(|| panic!("no {kind}: {found}"))
    };
    let (asked, answered) = (of("HookDescription"), of("ClaudeResponse"));
    assert_eq!(asked["source"]["hook_type"], "UserPromptSubmit");
    assert!(
        answered["source"]["response_type"].as_str().unwrap().ends_with("Response"),
        "{answered}"
    );
    for one in [asked, answered] {
        let scores = one["retrievers"].as_object().unwrap();
        let best = scores
            .iter()
            .max_by(|a, b| a.1.as_f64().unwrap().total_cmp(&b.1.as_f64().unwrap()))
            .unwrap()
            .0;
        assert!(scores.len() > 1 && one["dominantEmbedder"] == json!(best), "{one}");
        assert!(one["created_at"].is_string() && one.get("createdAt").is_none(), "{one}");
    }
    let filter =
        json!({ "query": "gherkins in the cellar", "exclude_sources": ["hook_description"] });
    let rest = client.call("search_memory_nodes", &filter)["results"].clone();
    assert!(
        rest.as_array().unwrap().iter().all(|f| f["source"]["type"] != "HookDescription"),
        "{rest}"
    );
    let text = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "search_memory_nodes", "arguments": { "query": "gherkins" } } });
    let request =
        agent().post(format!("{}/mcp", client.url)).header("content-type", "application/json");
    let reply = request
        .header("accept", "application/json, text/event-stream")
        .send(text.to_string())
        .unwrap()
        .body_mut()
        .read_to_string()
        .unwrap();
    let text = serde_json::from_str::<Value>(&reply).unwrap()["result"]["content"][0]["text"]
        .as_str()
        .unwrap()
        .to_string();
    assert!(
        text.contains("HookDescription UserPromptSubmit")
            && text.contains(", via ")
            && !text.contains("recency 1"),
        "{text}"
    );
}

/// The watcher of notes stops with its server and logs its statistics.
#[test]
fn a_server_that_ends_says_what_became_of_notes() {
    let p = Project::sample();
    p.run(&["memory", "add", "Something."]).expect(0);
    let notes = notes_folder(&p);
    fs::create_dir_all(&notes).unwrap();
    fs::write(notes.join("habits.md"), "The lighthouse keeper prefers poems.").unwrap();
    let mut command = p.cortex(&["serve", "--port", "0", "--watch"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut url = String::new();
    std::io::BufRead::read_line(
        &mut std::io::BufReader::new(child.stdout.take().unwrap()),
        &mut url,
    )
    .unwrap();
    let client = Client::new(url.trim());
    let query = json!({ "query": "what does the lighthouse keeper prefer" });
    wait_until("the note is found", || {
        client.call("search_memory_nodes", &query)["results"][0]["source"]["type"] == "MDFileChunk"
    });
    assert!(
        std::process::Command::new("kill")
            .args(["-s", "TERM", &child.id().to_string()])
            .status()
            .unwrap()
            .success()
    );
    let logged = String::from_utf8(child.wait_with_output().unwrap().stderr).unwrap();
    assert!(
        logged.contains("notes are no longer watched processed=1 deleted=0 failed=0"),
        "{logged}"
    );
}

/// `memory stats` finds a damage that ordinary reads do not meet.
#[test]
fn the_statistics_of_memories_check_the_database() {
    let p = Project::sample();
    p.run(&["memory", "add", "Something."]).expect(0);
    assert!(p.run(&["memory", "stats"]).expect(0).stdout.contains("checked and whole"));
    let c = Connection::open(p.path(".cortex/memory.db")).unwrap();
    c.execute_batch(
        "PRAGMA foreign_keys = OFF; INSERT INTO vectors VALUES(99, 'e', x'00', 1.0, x'00')",
    )
    .unwrap();
    p.run(&["memory", "list"]).expect(0);
    let error = p.run(&["memory", "stats"]).error();
    assert!(
        error.contains("a row of vectors refers to nothing")
            && error.contains("cortex memory restore"),
        "{error}"
    );
}

/// The memories of a day are found by their time, with tools and on the command line.
#[test]
fn memories_are_searched_by_time() {
    let p = Project::sample();
    let line = |(name, at): (&str, &str)| {
        let memory = json!({
            "id": uuid::Uuid::new_v4(), "content": format!("Gherkins are {name}."), "source": { "type": "Episode", "source": "text" },
            "created_at": at, "updated_at": at, "session_id": "", "word_count": 3,
        });
        memory.to_string() + "\n"
    };
    let all = [
        ("old", "2026-01-10T12:00:00Z"),
        ("middle", "2026-02-10T12:00:00Z"),
        ("new", "2026-03-10T12:00:00Z"),
    ];
    p.write("memories.jsonl", all.map(line).concat());
    p.run(&["memory", "import", "memories.jsonl"]).expect(0);
    let told = |args: &[&str]| {
        let out = p.run(args).stdout;
        ["old", "middle", "new"]
            .into_iter()
            .filter(|name| out.contains(&format!("are {name}.")))
            .map(String::from)
            .collect::<Vec<_>>()
    };
    for (command, limit) in [("list", "5"), ("search", "5")] {
        let base: Vec<&str> = if command == "list" {
            vec!["memory", "list"]
        } else {
            vec!["memory", "search", "gherkins"]
        };
        let with = |more: &[&str]| told(&[&base[..], &["-n", limit, "--json"], more].concat());
        assert_eq!(with(&[]), ["old", "middle", "new"], "{command}");
        assert_eq!(with(&["--since", "2026-02-10"]), ["middle", "new"], "{command}");
        assert_eq!(with(&["--until", "2026-02-10T12:00:00Z"]), ["old"], "{command}");
        assert_eq!(
            with(&["--since", "2026-02-01", "--until", "2026-02-28"]),
            ["middle"],
            "{command}"
        );
        assert_eq!(with(&["--since", "3d"]), Vec::<String>::new(), "{command}");
        let refused = p.run(&[&base[..], &["--since", "yesterday"]].concat());
        assert!(refused.error().contains("2026-01-31"), "{command}");
    }
    let server = Server::start(&mut p.cortex(&["serve", "--port", "0", "--no-watch"]));
    let client = Client::new(&server.line());
    for tool in ["search_memory_nodes", "search_memory_facts"] {
        let found = client.call(
            tool,
            &json!({ "query": "gherkins", "since": "2026-02-01", "until": "2026-02-28" }),
        )["results"]
            .clone();
        assert_eq!(
            (found.as_array().unwrap().len(), &found[0]["content"]),
            (1, &json!("Gherkins are middle.")),
            "{tool}"
        );
        let (status, body) =
            client.try_call(tool, &json!({ "query": "gherkins", "since": "yesterday" })).unwrap();
        assert!(status == 400 && body.contains("3d"), "{tool}: {body}");
    }
}

/// Returns the messages of the server until one is `wanted`.
fn heard(server: &Server, wanted: impl Fn(&Value) -> bool) -> Value {
    loop {
        let message: Value = serde_json::from_str(&server.line()).unwrap();
        if wanted(&message) {
            return message;
        }
    }
}

fn listed(server: &mut Server, params: &Value) -> Vec<String> {
    let tools = server.ask("tools/list", params)["result"]["tools"].clone();
    tools.as_array().unwrap().iter().map(|t| t["name"].as_str().unwrap().to_string()).collect()
}

/// An agent knows the arguments of a tool from the schema that `tools/list` shows.
#[test]
fn agents_are_shown_every_filter_of_the_memory_tools() {
    let p = Project::sample();
    let mut server = Server::start(&mut p.cortex(&["mcp", "--no-watch", "--tools", "memory"]));
    server.ask("initialize", &initialize("2025-06-18"));
    let tools = server.ask("tools/list", &json!({}))["result"]["tools"].clone();
    for (name, arguments) in [
        ("add_memory", &["name", "episode_body", "source", "metadata", "group_id"][..]),
        (
            "search_memory_nodes",
            &["query", "group_ids", "exclude_sources", "exclude_operations", "max_nodes"],
        ),
        ("search_memory_facts", &["query", "group_ids", "sources", "max_facts"]),
    ] {
        let tool = tools.as_array().unwrap().iter().find(|tool| tool["name"] == name).unwrap();
        for argument in arguments {
            let shown = &tool["inputSchema"]["properties"][*argument];
            assert!(shown["type"].is_string(), "{name} {argument}: {tool}");
        }
    }

    let mut call = |name: &str, arguments: Value| {
        server.ask("tools/call", &json!({ "name": name, "arguments": arguments }))["result"].clone()
    };
    for name in ["walls", "roofs", "doors"] {
        call("add_memory", json!({ "name": name, "episode_body": format!("{name} are red") }));
    }
    for tool in ["search_memory_nodes", "search_memory_facts"] {
        // Agents also use the names of other tools.
        for name in ["max_nodes", "max_facts", "limit", "top_k"] {
            let found = call(tool, json!({ "query": "red", "format": "json", name: 2 }));
            let found = &found["structuredContent"];
            assert_eq!(found["results"].as_array().unwrap().len(), 2, "{tool} {name}: {found}");
            let warnings = found["warnings"].to_string();
            assert!(!warnings.contains("there is no argument"), "{tool} {name}: {warnings}");
        }
    }
}

/// An agent can store a memory with the first server of a project, and is notified when more tools
/// are available.
#[test]
fn memory_tools_are_offered_without_a_restart() {
    let p = Project::sample();
    p.index();
    let mut server = Server::start(&mut p.cortex(&["mcp", "--no-watch", "--tools", "memory"]));
    let info = server.ask("initialize", &initialize("2025-06-18"))["result"].clone();
    assert_eq!(info["capabilities"]["tools"]["listChanged"], true);
    assert!(info["instructions"].as_str().unwrap().contains("briefing: true"));
    server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    let has = |tools: &[String], name: &str| tools.iter().any(|t| t == name);
    let before = listed(&mut server, &json!({}));
    assert!(
        ["add_memory", "search_memory_nodes", "search_memory_facts"]
            .iter()
            .all(|name| has(&before, name)),
        "{before:?}"
    );
    assert!(
        !has(&before, "delete_memory") && !has(&before, "list_sessions"),
        "there is nothing to delete: {before:?}"
    );

    let mut call = |name: &str, arguments: Value| {
        server.ask("tools/call", &json!({ "name": name, "arguments": arguments }))["result"].clone()
    };
    for (tool, arguments) in [
        ("search_memory_nodes", json!({ "query": "walls" })),
        ("search_memory_nodes", json!({ "briefing": true })),
        ("search_memory_facts", json!({ "query": "walls" })),
    ] {
        let reply = call(tool, arguments);
        assert!(
            reply["content"][0]["text"]
                .as_str()
                .unwrap()
                .contains("nothing is remembered in this project yet"),
            "{reply}"
        );
    }
    let sessions = call("list_sessions", json!({ "format": "json" }));
    assert_eq!(sessions["structuredContent"]["sessions"], json!([]));
    assert!(!p.path(".cortex/memory.db").exists(), "nobody who only asks makes a database");

    call("add_memory", json!({ "name": "walls", "episode_body": "Walls are painted twice." }));
    heard(&server, |m| m["method"] == "notifications/tools/list_changed");
    let after = listed(&mut server, &json!({}));
    assert!(has(&after, "delete_memory") && has(&after, "list_sessions"), "{after:?}");
    let mut call = |name: &str, arguments: Value| {
        server.ask("tools/call", &json!({ "name": name, "arguments": arguments }))["result"].clone()
    };
    let found = call("search_memory_nodes", json!({ "query": "how often are walls painted" }));
    assert!(
        found["content"][0]["text"].as_str().unwrap().contains("Walls are painted twice."),
        "{found}"
    );
}

/// Clients of the newest revision subscribe to the notification. Without a subscription, each list
/// is up to date.
#[test]
fn a_list_of_tools_that_grows_is_announced_or_asked_for() {
    let p = Project::sample();
    let mut server = Server::start(&mut p.cortex(&["mcp", "--no-watch", "--tools", "memory"]));
    assert_eq!(
        server.ask("server/discover", &meta())["result"]["capabilities"]["tools"]["listChanged"],
        true
    );
    let listen = listen("listening", &json!({ "toolsListChanged": true }));
    server.send(&listen);
    heard(&server, |m| m["method"] == "notifications/subscriptions/acknowledged");
    let http =
        Server::start(&mut p.cortex(&["serve", "--port", "0", "--no-watch", "--tools", "memory"]));
    let url = http.line();
    let over_http = || {
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {} });
        let request = agent().post(format!("{url}/mcp")).header("content-type", "application/json");
        let mut response = request
            .header("accept", "application/json, text/event-stream")
            .send(message.to_string())
            .unwrap();
        let body = response.body_mut().read_to_string().unwrap();
        let tools = serde_json::from_str::<Value>(&body).unwrap()["result"]["tools"].clone();
        tools.as_array().unwrap().iter().map(|t| t["name"].clone()).collect::<Vec<_>>()
    };
    assert!(
        over_http().contains(&json!("add_memory"))
            && !over_http().contains(&json!("delete_memory"))
    );
    let mut subscribed = stream(&url, &listen);
    assert_eq!(
        subscribed.next().unwrap()["params"]["notifications"],
        json!({ "toolsListChanged": true })
    );
    p.run(&["memory", "add", "Something."]).expect(0);
    heard(&server, |m| m["method"] == "notifications/tools/list_changed");
    assert_eq!(subscribed.next().unwrap()["method"], "notifications/tools/list_changed");
    assert!(listed(&mut server, &meta()).contains(&"delete_memory".to_string()));
    assert!(over_http().contains(&json!("delete_memory")));
}

/// A client without hooks gets the briefing from a tool and as a resource.
#[test]
fn clients_without_hooks_have_a_briefing() {
    let p = Project::sample();
    p.run(&["memory", "add", "--pin", "Releases are cut from main."]).expect(0);
    p.run(&["memory", "add", "The cache is one file because rename is atomic."]).expect(0);
    let mut server = Server::start(&mut p.cortex(&["mcp", "--no-watch"]));
    server.ask("initialize", &initialize("2025-06-18"));
    let reply = server.ask(
        "tools/call",
        &json!({ "name": "search_memory_nodes", "arguments": { "briefing": true } }),
    )["result"]
        .clone();
    let told = reply["content"][0]["text"].as_str().unwrap().to_string();
    assert!(
        told.contains("Releases are cut from main.") && told.contains("rename is atomic"),
        "{told}"
    );
    let resources = server.ask("resources/list", &json!({}))["result"].to_string();
    assert!(resources.contains("cortex://briefing"), "{resources}");
    let read =
        server.ask("resources/read", &json!({ "uri": "cortex://briefing" }))["result"].clone();
    let read = read["contents"][0]["text"].as_str().unwrap();
    assert!(told.starts_with(read.trim_end()), "{told}\n---\n{read}");
}

/// A server that started before the memory, and before the folder of notes, follows both.
#[test]
fn notes_are_followed_when_memory_begins_while_the_server_runs() {
    let p = Project::sample();
    p.index();
    let server = Server::start(&mut p.cortex(&["serve", "--port", "0", "--watch"]));
    let client = Client::new(&server.line());
    client.call("add_memory", &json!({ "name": "x", "episode_body": "Something." }));
    let notes = notes_folder(&p);
    fs::create_dir_all(&notes).unwrap();
    fs::write(
        notes.join("habits.md"),
        "# Habits\n\nThe lighthouse keeper prefers short sentences.\n",
    )
    .unwrap();
    let find = || {
        client.call(
            "search_memory_nodes",
            &json!({ "query": "what does the lighthouse keeper prefer" }),
        )["results"][0]
            .clone()
    };
    wait_until("the note is found", || find()["source"]["type"] == "MDFileChunk");
}

#[test]
fn nothing_that_a_hook_is_told_holds_up_the_agent() {
    let p = Project::sample();
    p.run(&["memory", "add", "Something to know of kettles."]).expect(0);
    let megabytes =
        json!({ "session_id": "s", "cwd": p.root(), "prompt": "kettle ".repeat(1_500_000) })
            .to_string();
    let odd = [
        "",
        "{",
        "null",
        "[]",
        "\"x\"",
        "{}",
        "{\"session_id\": 5}",
        "{\"prompt\": null, \"tool_input\": 3}",
        "\u{0}\u{1}",
        "{\"cwd\": \"/nowhere/at/all\", \"prompt\": \"kettles\"}",
    ];
    for event in EVENTS {
        for input in odd.iter().copied().chain([&*megabytes]) {
            let out = hook(&p, event, input.as_bytes());
            assert_eq!((out.code, &*out.stderr), (0, ""), "{event} {input:.40}");
        }
        hook(&p, event, b"\xff\xfe{").expect(0);
    }
    assert!(contents(&p).iter().all(|c| c.chars().count() <= 10_000));
}

#[test]
fn a_locked_database_loses_nothing_and_holds_up_nobody() {
    let p = Project::sample();
    p.run(&["memory", "add", "Something to know."]).expect(0);
    let mut c = Connection::open(p.path(".cortex/memory.db")).unwrap();
    let lock = c.transaction_with_behavior(rusqlite::TransactionBehavior::Exclusive).unwrap();
    assert_eq!(
        told(
            &p,
            "prompt-submit",
            json!({ "session_id": "s", "prompt": "what did the gardener say" })
        ),
        ""
    );
    told(
        &p,
        "stop",
        json!({ "session_id": "s", "last_assistant_message": "He said that the roses need water." }),
    );
    assert!(p.read(".cortex/memory.log").contains("busy"));
    lock.rollback().unwrap();
    let all = contents(&p);
    assert!(
        all.iter().any(|c| c.contains("roses")) && all.iter().any(|c| c.contains("gardener")),
        "{all:?}"
    );
    assert!(!p.path(".cortex/memory.spool").exists());
}

#[test]
fn a_disk_that_cannot_be_written_holds_up_nobody() {
    let p = Project::sample();
    p.run(&["memory", "add", "Something to know of kettles."]).expect(0);
    p.open_to_all();
    p.chmod(".cortex", 0o555);
    for event in EVENTS {
        let mut command = p.unprivileged(&["hook", event]);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let input = json!({ "session_id": "s", "cwd": p.root(), "prompt": "kettles", "last_assistant_message": "x y z" });
        child.stdin.take().unwrap().write_all(input.to_string().as_bytes()).unwrap();
        let out = child.wait_with_output().unwrap();
        assert!(
            out.status.success() && out.stderr.is_empty(),
            "{event}: {}",
            String::from_utf8_lossy(&out.stderr)
        );
    }
    p.chmod(".cortex", 0o755);
}

/// If a process is killed at any moment of storing, the database stays intact: no memory is stored
/// in part, and all stored ones are there.
#[test]
fn a_process_that_is_killed_while_it_stores_leaves_the_database_whole() {
    let p = Project::new();
    p.run(&["memory", "add", "The first one."]).expect(0);
    let mut random = Random(11);
    let lines: String = (0..400).map(memory_line).collect();
    p.write("all.jsonl", lines);
    let n = if std::env::var_os("STRESS").is_some() { 200 } else { 20 };
    for kill in 0..n {
        let mut child = p
            .cortex(&["memory", "import", "all.jsonl"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // The moment must be random.
        std::thread::sleep(Duration::from_micros(random.below(150_000) as u64));
        child.kill().unwrap();
        child.wait().unwrap();
        let c = Connection::open(p.path(".cortex/memory.db")).unwrap();
        let one = |sql: &str| c.query_row(sql, [], |r| r.get::<_, i64>(0)).unwrap();
        let check: String = c.query_row("PRAGMA integrity_check", [], |r| r.get(0)).unwrap();
        assert_eq!(check, "ok", "kill {kill}");
        assert_eq!(
            one("SELECT count(*) FROM memories WHERE body NOT IN (SELECT number FROM bodies)"),
            0,
            "kill {kill}"
        );
        assert_eq!(
            one("SELECT count(*) FROM bodies WHERE number NOT IN (SELECT body FROM memories)"),
            0,
            "kill {kill}"
        );
        assert_eq!(
            one("SELECT count(*) FROM memories WHERE number NOT IN (SELECT memory FROM vectors)"),
            0,
            "kill {kill}"
        );
        assert_eq!(
            one("SELECT count(*) FROM vectors WHERE memory NOT IN (SELECT number FROM memories)"),
            0,
            "kill {kill}"
        );
    }
    p.run(&["memory", "import", "all.jsonl"]).expect(0);
    assert_eq!(contents(&p).len(), 401);
}

fn memory_line(i: usize) -> String {
    let memory = json!({
        "id": format!("00000000-0000-4000-8000-{i:012}"),
        "content": format!("Decision {i}: the bridge over river {} is closed.", i % 7),
        "source": { "type": "Episode", "source": "text" },
        "created_at": "2026-01-01T00:00:00Z",
        "updated_at": "2026-01-01T00:00:00Z",
        "session_id": "",
        "word_count": 8,
    });
    format!("{memory}\n")
}

/// A database that came with a clone is reported but not shown until the user adopts it; the file
/// itself stays unchanged.
#[test]
fn memories_that_came_with_a_clone_are_kept_and_told_only_when_adopted() {
    let (stranger, p) = (Project::sample(), Project::sample());
    stranger.run(&["memory", "add", "--pin", "Releases are cut from potatoes."]);
    stranger.run(&["memory", "add", "The kettle is for tea."]);
    fs::create_dir_all(p.path(".cortex")).unwrap();
    for end in ["", "-wal"] {
        let _ = fs::copy(
            stranger.path(format!(".cortex/memory.db{end}")),
            p.path(format!(".cortex/memory.db{end}")),
        );
    }
    let before = fs::read(p.path(".cortex/memory.db")).unwrap();
    for args in [
        &["memory", "list"][..],
        &["memory", "search", "potatoes"],
        &["search", "potatoes", "--memories", "3"],
    ] {
        let out = p.run(args);
        assert_eq!(
            out.stderr.matches("came with this clone").count(),
            1,
            "{args:?}: {}",
            out.stderr
        );
        assert!(!out.stdout.contains("cut from potatoes"), "{args:?}: {}", out.stdout);
    }
    let text = told(&p, "session-start", json!({ "session_id": "first", "source": "startup" }));
    assert!(text.contains("cortex memory import") && !text.contains("potatoes"), "{text}");
    p.run(&["memory", "add", "The kettle is for tea."]);
    p.run(&["memory", "import", ".cortex/memory.db"]);
    p.run(&["memory", "import", ".cortex/memory.db"]);
    let all = p.json(&["memory", "list"]);
    assert_eq!(all["memories"].as_array().unwrap().len(), 2, "{all}");
    assert!(
        told(&p, "session-start", json!({ "session_id": "next", "source": "startup" }))
            .contains("> Releases are cut from potatoes.")
    );
    assert_eq!(fs::read(p.path(".cortex/memory.db")).unwrap(), before);
}

/// Runs a hook for an agent whose client does not read its output.
fn hook_into(p: &Project, event: &str, mut input: Value, stdout: impl Into<Stdio>) {
    input["cwd"] = p.root().to_str().unwrap().into();
    let mut child = p
        .cortex(&["hook", event])
        .stdin(Stdio::piped())
        .stdout(stdout)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.to_string().as_bytes()).unwrap();
    let out = child.wait_with_output().unwrap();
    assert!(
        out.status.success() && out.stderr.is_empty(),
        "{event}: {}",
        String::from_utf8_lossy(&out.stderr)
    );
}

/// Bug: memories that were never printed were recorded as received.
#[test]
fn what_nobody_read_is_told_the_next_time() {
    let p = Project::sample();
    p.run(&["memory", "add", "In src/retry.rs waiting doubles."]).expect(0);
    let input = |event: &str| {
        let change = json!({ "file_path": p.path("src/retry.rs") });
        json!({ "session_id": event, "source": "resume", "prompt": "In src/retry.rs waiting doubles?", "tool_name": "Edit", "tool_input": change })
    };
    for event in ["session-start", "pre-tool", "prompt-submit"] {
        // The reader is gone, or does not read yet: a pipe holds 64 KB on Linux, and at least a
        // page.
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        hook_into(&p, event, input(event), writer);
        let (_reader, mut writer) = std::io::pipe().unwrap();
        rustix::io::ioctl_fionbio(&writer, true).unwrap();
        while writer.write(&[b' '; 1024]).is_ok() {}
        while writer.write(b" ").is_ok() {}
        rustix::io::ioctl_fionbio(&writer, false).unwrap();
        hook_into(&p, event, input(event), writer);
        assert!(told(&p, event, input(event)).contains("waiting doubles"), "{event}");
        assert_eq!(told(&p, event, input(event)), "", "{event}");
    }
}

/// Bug: a prompt "Please remember: we decided…" was in the next briefing, but not in the one after
/// it.
#[test]
fn yesterdays_decision_is_told_tomorrow() {
    let p = Project::sample();
    let ask = |session: &str, prompt: &str| {
        told(&p, "prompt-submit", json!({ "session_id": session, "prompt": prompt }))
    };
    let begin = |session: &str| {
        told(&p, "session-start", json!({ "session_id": session, "source": "startup" }))
    };
    let end = |session: &str| told(&p, "session-end", json!({ "session_id": session }));
    let decision = "Please remember: we decided to never rename the session cookie, because old clients break.";
    ask("one", decision);
    ask("one", "thanks!");
    end("one");
    for session in ["two", "three", "four"] {
        let text = begin(session);
        assert_eq!(text.matches("never rename the session cookie").count(), 1, "{session}: {text}");
        assert!(!text.contains("thanks"), "{text}");
        ask(session, "Where are failed attempts counted in this project?");
        told(
            &p,
            "stop",
            json!({ "session_id": session, "last_assistant_message": "They are counted in src/retry.rs." }),
        );
        end(session);
    }
    assert!(
        begin("five").find("never rename").unwrap() < begin("six").find("Last session:").unwrap()
    );
    let id = p.json(&["memory", "list", "--sources", "hook_description"])["memories"]
        .as_array()
        .unwrap()
        .last()
        .unwrap()["id"]
        .clone();
    p.run(&["memory", "forget", id.as_str().unwrap()]).expect(0);
    assert!(!begin("seven").contains("cookie"));
}

#[test]
fn an_edit_of_a_hook_is_found_by_its_file() {
    let p = Project::sample();
    let edit = json!({ "file_path": p.path("src/retry.rs"), "old_string": "attempts * 2", "new_string": "attempts * 3" });
    let session = |id: &str| json!({ "session_id": id, "tool_name": "Edit", "tool_input": edit });
    told(&p, "post-tool", session("one"));
    let found = p.json(&["memory", "list", "--file", "src/retry.rs"]);
    assert_eq!(found["memories"][0]["source"]["file_path"], "src/retry.rs", "{found}");
    let text = told(&p, "pre-tool", session("two"));
    assert!(
        text.contains("About `src/retry.rs`:\n> Edit src/retry.rs - attempts * 2 + attempts * 3"),
        "{text}"
    );
    assert_eq!(told(&p, "pre-tool", session("one")), "", "its own session knows");
}

/// Bug: prompts and answers of more than 10 000 characters lost their tail silently.
#[test]
fn the_tail_of_a_long_answer_is_found() {
    let p = Project::sample();
    let long: String = (0..4_000).map(|i| format!("word{i} ")).collect();
    let answer = format!("The harbour is large. {long} The walrus sleeps behind the lighthouse.");
    told(&p, "stop", json!({ "session_id": "one", "last_assistant_message": answer }));
    let found = p.json(&["memory", "search", "where does the walrus sleep"]);
    let content = found["results"][0]["memory"]["content"].as_str().unwrap();
    assert!(
        content.ends_with("The walrus sleeps behind the lighthouse.") && content.len() < 3_000,
        "{content}"
    );
    let listed = p.run(&["memory", "list", "-n", "100"]).expect(0).stdout;
    let n = listed.lines().count();
    assert!(
        listed.contains(&format!("(1/{n}) The harbour is large."))
            && listed.contains(&format!("({n}/{n})")),
        "{listed}"
    );
}

/// Seed 001: work, a reset of 47 files, and the next session, without a server.
#[test]
fn the_session_after_a_reset_of_47_files_is_told_in_a_few_lines() {
    let p = Project::sample();
    for i in 0..46 {
        p.write(format!("pages/{i}.md"), format!("# Page {i}\n"));
    }
    let git = |args: &str| {
        let mut command = std::process::Command::new("git");
        command
            .current_dir(p.root())
            .args(["-c", "user.name=a", "-c", "user.email=a@b"])
            .args(args.split(' '));
        assert!(
            command
                .env("HOME", p.home())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status()
                .unwrap()
                .success(),
            "{args}"
        );
    };
    git("init -q -b main");
    git("add -A");
    git("commit -qm first");
    for i in 0..46 {
        p.write(format!("pages/{i}.md"), format!("# Page {i}\n\nRevised.\n"));
    }
    p.write("settings.toml", "[server]\nport = 8081\n");
    git("commit -qam revised");
    told(&p, "session-start", json!({ "session_id": "one", "source": "startup" }));
    told(
        &p,
        "prompt-submit",
        json!({ "session_id": "one", "prompt": "From now on waiting triples. Change src/retry.rs." }),
    );
    let index =
        || assert_eq!(run(p.cortex(&["index"]).env("CORTEX_MEMORY_WINDOW_MS", "0")).code, 0);
    index();
    p.write("src/retry.rs", "/// Waits longer.\npub fn retry_with_backoff(attempts: u32) -> u32 {\n    attempts * 3\n}\n");
    told(
        &p,
        "post-tool",
        json!({ "session_id": "one", "tool_name": "Edit", "tool_input": { "file_path": p.path("src/retry.rs") } }),
    );
    told(
        &p,
        "stop",
        json!({ "session_id": "one", "last_assistant_message": "Waiting triples now, as you asked." }),
    );
    told(&p, "session-end", json!({ "session_id": "one" }));
    index();
    told(
        &p,
        "prompt-submit",
        json!({ "session_id": "two", "prompt": "The revised pages are wrong, go back to the first commit." }),
    );
    git("reset -q --hard HEAD~1");
    p.write("tools/colours.py", "def paint_wall(colour):\n    return colour.lower()\n");
    index();
    told(&p, "session-end", json!({ "session_id": "two" }));
    let text = told(&p, "session-start", json!({ "session_id": "three", "source": "startup" }));
    assert!(text.len() <= 4 * 500 && text.matches("git reset --hard").count() == 1, "{text}");
    for part in
        ["> From now on waiting triples.", "update tools/colours.py", "The revised pages are wrong"]
    {
        assert_eq!(text.matches(part).count(), 1, "{part}: {text}");
    }
    assert!(!text.contains("update src/retry.rs"), "the reset took that edit back: {text}");
    assert!(!text.contains(".md ("), "no file of the reset: {text}");
}

/// Bug: memories of an agent that does not name its session belonged to none and were never
/// summarised.
#[test]
fn an_agent_need_not_name_its_sessions() {
    let p = Project::sample();
    told(&p, "session-start", json!({ "source": "startup" }));
    told(&p, "prompt-submit", json!({ "prompt": "Where are failed attempts counted?" }));
    told(&p, "session-start", json!({ "source": "startup" }));
    told(
        &p,
        "stop",
        json!({ "last_assistant_message": "They are counted in src/retry.rs, by the caller." }),
    );
    told(&p, "session-end", json!({}));
    let text = told(&p, "session-start", json!({ "source": "startup" }));
    assert!(
        text.contains("Asked: Where are failed attempts counted?")
            && text.contains("Answered: They are counted"),
        "{text}"
    );
    let timeline = p.run(&["memory", "timeline"]).expect(0).stdout;
    assert_eq!(
        (timeline.matches("Completed  ").count(), timeline.matches("Active  ").count()),
        (1, 1),
        "{timeline}"
    );
}
