//! Agents change files with tools, and the next search finds the change.

use serde_json::{Value, json};

use crate::project::Project;
use crate::server::{Client, Server, initialize, warnings};
use crate::support::wait_until;

fn serve(p: &Project, arguments: &[&str]) -> (Server, Client) {
    let server = Server::start(
        &mut p.cortex(&[&["serve", "--port", "0", "--tools", "search,edit"], arguments].concat()),
    );
    let client = Client::new(&server.line());
    (server, client)
}

fn refused(client: &Client, tool: &str, arguments: &Value) -> String {
    let (status, body) = client.try_call(tool, arguments).unwrap();
    assert!(status >= 400, "{tool} {arguments}: {body}");
    body
}

#[test]
fn an_edit_is_found_by_the_next_search() {
    let p = Project::sample();
    p.index();
    // Only the edit itself updates the index: the watcher waits for an hour.
    let mut command = p.cortex(&["serve", "--port", "0", "--watch", "--tools", "search,edit"]);
    let server = Server::start(command.env("CORTEX_LIVE_DEBOUNCE_MS", "3600000"));
    let client = Client::new(&server.line());
    wait_until("it leads", || {
        client.status()["indexing"]["leads"] == true
            && client.status()["indexing"]["has_looked"] != false
    });
    let made = client.call(
        "file_editor",
        &json!({ "command": "create", "path": "src/deep/zebra.rs", "text": "/// Counts zebras.\npub fn count_zebras() {}\n" }),
    );
    assert_eq!((&made["done"], warnings(&made)), (&json!("created"), String::new()));
    let first = |query: &str| {
        client.call("search", &json!({ "query": query }))["results"][0]["path"].clone()
    };
    assert_eq!(first("count_zebras"), "src/deep/zebra.rs");

    let seen = client.call(
        "file_editor",
        &json!({ "command": "view", "path": "src/deep/zebra.rs", "start_line": 2 }),
    );
    assert_eq!(
        (&seen["content"], &seen["total_lines"], &seen["hash"]),
        (&json!("pub fn count_zebras() {}"), &json!(2), &made["hash"])
    );
    let change = json!({ "command": "replace", "path": "src/deep/zebra.rs", "old_text": "zebras() {}", "text": "giraffes() {}", "expected_hash": seen["hash"] });
    let changed = client.call("file_editor", &change);
    assert_eq!(
        (
            &changed["start_line"],
            &changed["end_line"],
            changed["index"]["generation"].as_u64() > made["index"]["generation"].as_u64()
        ),
        (&json!(2), &json!(2), true)
    );
    assert_eq!(first("count_giraffes"), "src/deep/zebra.rs");
    let again = refused(&client, "file_editor", &change);
    assert!(again.contains("changed since it was read"), "{again}");

    p.write("conf.json", "{\n  // kept\n  \"b\": 1,\n  \"a\": []\n}\n");
    for (command, pointer, value) in [
        ("append", "/a", json!({"name": "hippopotamus"})),
        ("set", "/c", json!("\"text\"")),
        ("delete", "/b", json!(null)),
    ] {
        client.call(
            "json_editor",
            &json!({ "command": command, "path": "conf.json", "pointer": pointer, "value": value }),
        );
    }
    assert_eq!(
        p.read("conf.json"),
        "{\n  // kept\n  \"a\": [\n    {\n      \"name\": \"hippopotamus\"\n    }\n  ],\n  \"c\": \"text\"\n}\n"
    );
    assert_eq!(
        client.call(
            "json_editor",
            &json!({ "command": "get", "path": "conf.json", "pointer": "/a/0/name" })
        )["content"],
        "\"hippopotamus\""
    );
    assert_eq!(first("hippopotamus"), "conf.json");
    let fresh = p.fresh_copy().timeless();
    wait_until("the index is that of the tree", || p.timeless() == fresh);
}

#[test]
fn what_must_not_be_edited_is_not() {
    let p = Project::sample();
    p.write(".env", "KEY=1\n");
    p.write("data.bin", b"\0\0");
    std::os::unix::fs::symlink("/etc", p.path("out")).unwrap();
    p.index();
    let (_server, client) = serve(&p, &["--watch"]);
    for path in [
        "../x", "/etc/passwd", "out/passwd", ".git/config", ".cortex/config.toml",
        "src/../.cortex/x", ".env", "data.bin", "src", "", "missing.rs",
    ] {
        for command in ["view", "replace"] {
            let arguments =
                json!({ "command": command, "path": path, "old_text": "a", "text": "b" });
            let why = refused(&client, "file_editor", &arguments);
            assert!(why.contains("path") || why.contains('`'), "{path}: {why}");
        }
    }
    let twice = refused(
        &client,
        "file_editor",
        &json!({ "command": "create", "path": "src/retry.rs", "text": "" }),
    );
    assert!(twice.contains("exists already"), "{twice}");
    let blank = client.call(
        "file_editor",
        &json!({ "command": "insert", "path": "src/retry.rs", "line": 0, "text": "\n" }),
    );
    assert_eq!(
        (&blank["start_line"], &blank["end_line"]),
        (&json!(1), &json!(1)),
        "blanks are text"
    );
}

/// Bug: `create` with `file_text`, as the text editor of Anthropic calls it, made an empty file and
/// reported success, and `replace` with `new_str` deleted the old text.
#[test]
fn an_edit_without_its_text_makes_or_empties_a_file() {
    let p = Project::sample();
    p.index();
    let (_server, client) = serve(&p, &["--no-watch"]);
    for (n, name) in ["text", "file_text", "content"].into_iter().enumerate() {
        let path = format!("new{n}.rs");
        client.call(
            "file_editor",
            &json!({ "command": "create", "path": path, name: "fn new() {}\n" }),
        );
        assert_eq!(p.read(&path), "fn new() {}\n", "{name}");
    }
    client.call(
        "file_editor",
        &json!({ "command": "replace", "path": "new0.rs", "old_str": "new", "new_str": "old" }),
    );
    client.call(
        "file_editor",
        &json!({ "command": "insert", "path": "new0.rs", "insert_line": 0, "insert_text": "//\n" }),
    );
    assert_eq!(p.read("new0.rs"), "//\nfn old() {}\n");
    for edit in [
        json!({ "command": "create", "path": "none.rs" }),
        json!({ "command": "create", "path": "none.rs", "text": null }),
        json!({ "command": "create", "path": "none.rs", "body": "fn none() {}" }),
        json!({ "command": "replace", "path": "new0.rs", "old_text": "old" }),
        json!({ "command": "insert", "path": "new0.rs", "line": 0 }),
    ] {
        let why = refused(&client, "file_editor", &edit);
        assert!(why.contains("text is missing"), "{edit}: {why}");
    }
    assert!(!p.path("none.rs").exists());
    assert_eq!(p.read("new0.rs"), "//\nfn old() {}\n");
    client.call("file_editor", &json!({ "command": "create", "path": "empty.rs", "text": "" }));
    assert_eq!(p.read("empty.rs"), "");
}

/// Without permission no tool edits.
#[test]
fn editing_is_offered_only_where_it_was_asked_for() {
    let p = Project::sample();
    p.index();
    let mut server = Server::start(&mut p.cortex(&["mcp"]));
    server.ask("initialize", &initialize("2025-06-18"));
    let tools = server.ask("tools/list", &json!({}))["result"]["tools"].to_string();
    assert!(tools.contains("cortex_explore") && !tools.contains("_editor"), "{tools}");
    let mut server = Server::start(&mut p.cortex(&["mcp", "--tools", "search,edit"]));
    server.ask("initialize", &initialize("2025-06-18"));
    let tools = server.ask("tools/list", &json!({}))["result"]["tools"].clone();
    let editor = tools.as_array().unwrap().iter().find(|t| t["name"] == "file_editor").unwrap();
    assert_eq!(
        (&editor["annotations"]["destructiveHint"], &editor["annotations"]["readOnlyHint"]),
        (&json!(true), &json!(false))
    );
    // A server that does not index still edits, and says so.
    let (_server, client) = serve(&p, &["--no-watch"]);
    let edited = client.call(
        "file_editor",
        &json!({ "command": "create", "path": "a.rs", "text": "fn a() {}\n" }),
    );
    assert!(warnings(&edited).contains("does not index") && p.path("a.rs").exists(), "{edited}");
}
