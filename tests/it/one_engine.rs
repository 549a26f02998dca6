//! Asks each question over the command line, MCP and HTTP: the front ends parse, call and print,
//! and the answers are equal.

use serde_json::{Value, json};

use crate::project::Project;
use crate::server::{Client, Server, initialize};

/// A question in the form of each front end.
struct Asked {
    cli: &'static [&'static str],
    tool: &'static str,
    arguments: Value,
}

fn project() -> Project {
    Project::with(&[
        (
            "src/store.rs",
            "/// Keeps what was counted.\npub struct Store;\n\nimpl Store {\n    /// Reads one entry.\n    pub fn get(&self) -> u8 {\n        1\n    }\n}\n",
        ),
        (
            "src/main.rs",
            "use crate::store::Store;\n\nfn main() {\n    let store = Store;\n    let held: &Store = &store;\n    held.get();\n}\n",
        ),
        ("tool.py", "def read_entry(store):\n    return store.get()\n"),
        (
            "docs/guide.md",
            "# Guide\n\nHow entries are read.\n\n## Store\n\nThe store keeps every entry.\n",
        ),
    ])
}

fn questions() -> Vec<Asked> {
    let question = |cli, tool, arguments| Asked { cli, tool, arguments };
    vec![
        question(
            &["search", "where is an entry read", "-n", "3"],
            "search",
            json!({ "query": "where is an entry read", "limit": 3 }),
        ),
        question(
            &["search", "entry", "--languages", "Rust,python", "--paths", "src/**", "--explain"],
            "search",
            json!({ "query": "entry", "languages": ["Rust", "python"], "paths": ["src/**"], "explain": true, "limit": 10 }),
        ),
        question(
            &["search", "entry", "--mode", "semantic"],
            "search",
            json!({ "query": "entry", "mode": "semantic", "limit": 10 }),
        ),
        question(
            &["search", "--exact", "name:get"],
            "search",
            json!({ "query": "name:get", "mode": "exact", "limit": 10 }),
        ),
        // Code as written is rarely a valid query.
        question(
            &["search", "--exact", "store.get("],
            "search",
            json!({ "query": "store.get(", "mode": "exact", "limit": 10 }),
        ),
        question(
            &["grep", "get(", "-t", "rust", "-C", "1"],
            "grep",
            json!({ "pattern": "get(", "languages": ["rust"], "context": 1 }),
        ),
        question(
            &["grep", "-e", "stor\\w+", "-i", "-c"],
            "grep",
            json!({ "pattern": "stor\\w+", "regex": true, "ignore_case": true, "count": true }),
        ),
        question(
            &["search", "entry", "--languages", "cobol"],
            "search",
            json!({ "query": "entry", "languages": ["cobol"], "limit": 10 }),
        ),
        question(&["outline", "src/store.rs"], "outline", json!({ "path": "src/store.rs" })),
        question(&["outline"], "outline", json!({})),
        question(&["map"], "map", json!({})),
        question(&["map", "--focus", "src/store.rs"], "map", json!({ "focus": "src/store.rs" })),
        question(
            &["read", "src/store.rs", "--lines", "4-6"],
            "read",
            json!({ "path": "src/store.rs", "lines": "4-6" }),
        ),
        question(
            &["related", "src/store.rs", "--line", "6"],
            "related",
            json!({ "path": "src/store.rs", "line": 6 }),
        ),
        question(
            &["graph", "callers", "Store::get", "-C", "1"],
            "graph",
            json!({ "operation": "callers", "target": "Store::get", "context": 1 }),
        ),
        question(
            &[
                "explore", "where is an entry read", "Store::get", "src/main.rs:1-3", "--tokens",
                "20000",
            ],
            "explore",
            json!({ "about": ["where is an entry read", "Store::get", "src/main.rs:1-3"] }),
        ),
        question(
            &["graph", "type_usages", "Store"],
            "graph",
            json!({ "operation": "type_usages", "target": "Store" }),
        ),
        question(
            &["graph", "type-usages", "Store"],
            "graph",
            json!({ "operation": "type-usages", "target": "Store" }),
        ),
        question(
            &["pattern", "$A.get()", "--languages", "Rust"],
            "pattern",
            json!({ "pattern": "$A.get()", "languages": ["Rust"] }),
        ),
        question(
            &["files", "--by", "file", "--languages", "Rust"],
            "files",
            json!({ "by": "file", "languages": ["Rust"] }),
        ),
        question(
            &["files", "src", "--by", "directory"],
            "files",
            json!({ "by": "directory", "paths": ["src"] }),
        ),
        question(&["status"], "status", json!({})),
    ]
}

/// Removes what differs by front end: how much text is shown, and how long something took.
fn common(mut answer: Value) -> Value {
    // Keys that only the command line, a reply with a token budget, or a server has.
    let own = [
        "schema", "query", "n_chunks", "notes", "new_commits", "stale", "files_parsed",
        "skipped_files", "memory", "reload", "indexing", "open",
    ];
    let own = own.iter().chain(&["total_files", "total_symbols", "next_cursor"]);
    if let Value::Object(map) = &mut answer {
        own.for_each(|key| drop(map.remove(*key)));
        if let Some(rows) = map.get_mut("results").and_then(Value::as_array_mut) {
            for row in rows {
                for key in ["text", "text_start_line", "excerpts", "others"] {
                    row.as_object_mut().unwrap().remove(key);
                }
                row["score"] = json!(row["score"].as_f64().map(|x| (x * 1000.0).round()));
                for part in row["explain"].as_array_mut().into_iter().flatten() {
                    for key in ["value", "contribution"] {
                        part[key] = json!(part[key].as_f64().map(|x| (x * 1000.0).round()));
                    }
                }
            }
        }
    }
    answer
}

#[test]
fn each_question_has_one_answer_whoever_asks() {
    let p = project();
    p.index();
    let server = Server::start(&mut p.cortex(&["serve", "--port", "0", "--watch"]));
    let client = Client::new(&server.line());
    client.call("status", &json!({ "wait_ms": 20_000 }));
    let mut mcp = Server::start(&mut p.cortex(&["mcp", "--watch"]));
    mcp.ask("initialize", &initialize("2025-06-18"));
    let status = json!({ "name": "cortex_status", "arguments": { "wait_ms": 20_000 } });
    mcp.ask("tools/call", &status);
    for Asked { cli, tool, arguments } in questions() {
        let mut arguments = arguments;
        if !["files", "status"].contains(&tool) {
            arguments["max_tokens"] = 20_000.into();
        }
        let out = p.run(&[cli, &["--json"]].concat());
        let printed: Value =
            serde_json::from_str(&out.stdout).unwrap_or_else(|e| panic!("{cli:?}: {e}: {out:?}"));
        assert_eq!(printed["schema"], 2, "{cli:?}");
        let over_http = client.call(tool, &arguments);
        arguments["format"] = "json".into();
        let called = mcp.ask(
            "tools/call",
            &json!({ "name": format!("cortex_{tool}"), "arguments": arguments }),
        );
        let over_mcp = called["result"]["structuredContent"].clone();
        assert_eq!(common(over_mcp), common(over_http.clone()), "{tool} {arguments}: MCP and HTTP");
        assert_eq!(common(printed), common(over_http), "{cli:?} and {tool} {arguments}");
    }
}

/// A command prints the lines that agents read, without the state of the index, which is the last one.
#[test]
fn each_answer_has_one_text() {
    let p = project();
    p.index();
    let server = Server::start(&mut p.cortex(&["serve", "--port", "0", "--watch"]));
    let client = Client::new(&server.line());
    client.call("status", &json!({ "wait_ms": 20_000 }));
    for (cli, tool, arguments) in [
        (
            &["graph", "callers", "Store::get"][..],
            "graph",
            json!({ "operation": "callers", "target": "Store::get" }),
        ),
        (
            &["graph", "dependents", "Store"],
            "graph",
            json!({ "operation": "dependents", "target": "Store" }),
        ),
        (
            &["graph", "callees", "main"],
            "graph",
            json!({ "operation": "callees", "target": "main" }),
        ),
        (
            &["graph", "impact", "--files", "Store::get"],
            "impact",
            json!({ "files": ["Store::get"] }),
        ),
        (
            &["read", "src/store.rs:4-6,8", "nowhere.rs", "tool.py", "/Store|held/"],
            "read",
            json!({ "places": ["src/store.rs:4-6,8", "nowhere.rs", "tool.py", "/Store|held/"] }),
        ),
        (&["read", "src/main.rs#main"], "read", json!({ "places": ["src/main.rs#main"] })),
        (&["outline"], "outline", json!({})),
        (&["outline", "--depth", "0"], "outline", json!({ "depth": 0 })),
        (&["outline", "src/store.rs"], "outline", json!({ "path": "src/store.rs" })),
        (&["files", "--by", "file"], "files", json!({ "by": "file" })),
    ] {
        let mut arguments = arguments;
        arguments["format"] = "text".into();
        let (status, told) = client.try_call(tool, &arguments).unwrap();
        assert_eq!(status, 200, "{told}");
        let (told, _) = told.trim_end().rsplit_once('\n').unwrap();
        let told: Vec<&str> = told.lines().filter(|line| !line.starts_with("warning: ")).collect();
        let printed = p.run(cli).expect(0).stdout;
        // A terminal has wider columns.
        let trimmed = |lines: Vec<&str>| -> Vec<String> {
            lines.into_iter().map(|line| line.trim_start().to_string()).collect()
        };
        assert_eq!(trimmed(printed.lines().collect()), trimmed(told), "{cli:?}");
    }
}

/// A line is cut only where a terminal would break it.
#[test]
fn a_pipe_gets_whole_lines() {
    let long = format!("fn f() {{ g(\"{}\") }}", "frost ".repeat(60));
    let p = Project::with(&[("src/a.rs", &format!("{long}\n"))]);
    p.index();
    for command in [&["read", "src/a.rs"][..], &["pattern", "g($A)", "--languages", "rust"]] {
        let out = p.run(command).expect(0).stdout;
        assert!(out.contains(&long), "{command:?}: {out}");
    }
}

/// Errors in a question are the same for every front end, too.
#[test]
fn each_mistake_has_one_message() {
    let p = project();
    p.index();
    let server = Server::start(&mut p.cortex(&["serve", "--port", "0", "--watch"]));
    let client = Client::new(&server.line());
    client.call("status", &json!({ "wait_ms": 20_000 }));
    for (cli, tool, arguments) in [
        (
            &["search", "--exact", "\"no end"][..],
            "search",
            json!({ "query": "\"no end", "mode": "exact" }),
        ),
        (&["grep", "-e", "a("], "grep", json!({ "pattern": "a(", "regex": true })),
        (&["search", "x", "--paths", "src/["], "search", json!({ "query": "x", "paths": "src/[" })),
        (&["read", "src/nowhere.rs"], "read", json!({ "path": "src/nowhere.rs" })),
        (
            &["read", "src/main.rs", "--lines", "9-3"],
            "read",
            json!({ "path": "src/main.rs", "lines": "9-3" }),
        ),
        (&["graph", "path", "main"], "graph", json!({ "operation": "path", "target": "main" })),
        (&["pattern", "fn ("], "pattern", json!({ "pattern": "fn (" })),
    ] {
        let printed = p.run(cli).error();
        let (status, body) = client.try_call(tool, &arguments).unwrap();
        let told: Value = serde_json::from_str(&body).unwrap();
        assert!((400..500).contains(&status), "{status} {body}");
        assert_eq!(
            printed.trim().trim_start_matches("error: "),
            told["error"].as_str().unwrap(),
            "{cli:?}"
        );
    }
}
