//! `cortex graph` and `cortex map`.

use std::fs;
use std::time::{Duration, Instant};

use rusqlite::{Connection, TransactionBehavior};
use serde_json::json;

use crate::project::Project;
use crate::server::{Client, Server, warnings};
use crate::support::wait_until;

fn project() -> Project {
    Project::with(&[
        (
            "src/store.rs",
            "pub struct Store;\nimpl Store {\n    pub fn get(&self) -> u8 {\n        1\n    }\n}\n",
        ),
        (
            "src/main.rs",
            "use crate::store::Store;\n\nfn main() {\n    let store = Store;\n    let held: &Store = &store;\n    held.get();\n}\n",
        ),
    ])
}

/// A pattern that matched nothing said so and left the caller alone.
#[test]
fn a_pattern_without_matches_says_where_its_name_is() {
    let p = project();
    let said = |pattern| p.run(&["pattern", pattern]).expect(1).stderr;
    let text = said("held.get($A, $B)");
    assert!(text.contains("the name held is in 2 lines: src/main.rs:5, src/main.rs:6"), "{text}");
    let text = said("nowhere($A)");
    assert!(text.contains("no line has the name nowhere either"), "{text}");
}

#[test]
fn callers_follow_edits_and_clean_removes_the_graph() {
    let p = project();
    let answer = p.json(&["graph", "callers", "Store::get", "-C", "1"]);
    assert_eq!(answer["targets"][0]["symbol"], "Store::get");
    let found = &answer["results"][0];
    assert_eq!(
        (&found["path"], &found["symbol"], &found["line"], &found["sites"]),
        (&json!("src/main.rs"), &json!("main"), &json!(3), &json!([6]))
    );
    assert_eq!(
        (&found["context"], &found["context_start_line"]),
        (&json!("    held.get();"), &json!(6))
    );
    // Only the file of the callee changes: the rows of its callers stay.
    p.write("src/store.rs", format!("// moved\n{}", p.read("src/store.rs")));
    for place in ["src/store.rs:4", "store.rs:4:9", "/build/elsewhere/src/store.rs:4"] {
        assert_eq!(p.json(&["graph", "callers", place])["results"][0]["symbol"], "main", "{place}");
    }
    let unknown = p.run(&["graph", "callers", "Stor"]).expect(1).stderr;
    assert!(unknown.contains("; near: `Store` (src/store.rs:"), "{unknown}");
    p.remove("src/main.rs");
    p.run(&["graph", "callers", "Store::get"]).expect(1);
    assert!(p.path(".cortex/graph/code-graph.db").exists());
    p.run(&["clean"]).expect(0);
    assert!(!p.path(".cortex/graph").exists());
}

/// Files, a target, and the file and line of a use that an answer must show.
type Use = (&'static [(&'static str, &'static str)], &'static str, &'static str, u64);

/// Uses that the graph does not resolve, or did not when they were found.
fn hidden_uses() -> [Use; 7] {
    [
        (
            &[
                ("wrap.py", "class CmdWrapper:\n    def wrap(self, cmd):\n        return cmd\n"),
                (
                    "file.py",
                    "class ConanFile:\n    def run(self, cmd):\n        return self._helpers.cmd_wrapper.wrap(cmd)\n",
                ),
            ],
            "CmdWrapper.wrap",
            "file.py",
            3,
        ),
        (
            &[
                (
                    "python.py",
                    "from fields import Field\nclass Mixin:\n    def make_xrefs(self): pass\nclass PyField(Mixin, Field): pass\n",
                ),
                (
                    "fields.py",
                    "class Field:\n    def make(self):\n        return self.make_xrefs()\n",
                ),
            ],
            "Mixin.make_xrefs",
            "fields.py",
            3,
        ),
        (
            &[
                (
                    "a.rb",
                    "class Story\n  def is_editable?\n    true\n  end\n  def save; end\nend\n",
                ),
                ("b.erb", "<% if story.is_editable? %>\n"),
            ],
            "is_editable?",
            "b.erb",
            1,
        ),
        (
            &[
                (
                    "store/store.go",
                    "package store\n\ntype DB struct{}\n\nfunc (d *DB) GarbageCollect() error { return nil }\n",
                ),
                (
                    "server/server.go",
                    "package server\n\nfunc run(s S) {\n\ts.store.GarbageCollect()\n}\n",
                ),
            ],
            "DB.GarbageCollect",
            "server/server.go",
            4,
        ),
        (
            &[
                ("cmd.c", "int mkdir_cmd(int x)\n{\n\treturn x;\n}\n"),
                (
                    "table.c",
                    "struct cmd cmds[] = {\n\t{ .name = \"mkdir\", .handler = &mkdir_cmd },\n};\n",
                ),
            ],
            "mkdir_cmd",
            "table.c",
            2,
        ),
        (
            &[
                (
                    "Job.kt",
                    "class Job {\n    companion object {\n        fun startNow(): Boolean = true\n    }\n}\n",
                ),
                ("Screen.kt", "fun show(job: Any) {\n    other.startNow()\n}\n"),
            ],
            "startNow",
            "Screen.kt",
            2,
        ),
        (
            &[
                ("plain.rs", "pub fn plain() {}\n"),
                (
                    "other.rs",
                    "macro_rules! m { () => {} }\nfn f() {\n    m!(somewhere::plain());\n}\n",
                ),
            ],
            "plain",
            "other.rs",
            3,
        ),
    ]
}

/// Bug: the graph said "none found" where callers exist, so nobody asked it again.
#[test]
fn the_graph_shows_the_callers_that_exist() {
    for (files, target, path, line) in hidden_uses() {
        let p = Project::with(files);
        for operation in ["callers", "impact", "dependents"] {
            let answer = p.json(&["graph", operation, target]);
            let rows = ["results", "candidates", "unresolved"]
                .into_iter()
                .flat_map(|list| answer[list].as_array().into_iter().flatten());
            let is_shown = rows.into_iter().any(|row| {
                let at =
                    row["sites"].as_array().cloned().unwrap_or_else(|| vec![row["line"].clone()]);
                row["path"] == path && at.contains(&json!(line))
            });
            assert!(is_shown, "{operation} {target}: {answer}");
        }
    }
}

/// What a comment, a string, an import or a longer name says is no use.
#[test]
fn only_uses_in_code_are_of_unknown_meaning() {
    let p = Project::with(&[
        ("pump.rb", "class Pump\n  def start\n  end\n  def start!\n  end\nend\n"),
        ("a.rb", "# start the pump\nputs 'start'\ny.restart\n"),
        ("notes.md", "# Notes\n\nCall `start` first.\n"),
    ]);
    let said = p.run(&["graph", "callers", "Pump#start"]).expect(1).stderr;
    assert!(said.contains("none found: 2 more lines have the name, in comments"), "{said}");
    p.write("a.rb", "y.restart\n");
    let said = p.run(&["graph", "callers", "Pump#start"]).expect(1).stderr;
    assert!(said.contains("no other line of the indexed code uses the name"), "{said}");
    p.write("b.rb", "z.start\n");
    let said = p.run(&["graph", "callers", "Pump#start"]).expect(0).stdout;
    assert!(said.contains("b.rb") && !said.contains("a.rb"), "{said}");
}

#[test]
fn none_is_said_only_if_no_line_may_use_the_symbol() {
    let p = Project::with(&[
        ("Audit.cs", "class AuditAttribute : System.Attribute {}\n[Audit]\nclass Used {}\n"),
        ("own.ts", "export default function ownName() { return 1; }\n"),
        ("later.ts", "class Later {}\nexport default Later;\n"),
        ("use.ts", "import other, { more } from \"./own\";\nother();\n"),
        ("use2.ts", "import { default as Sooner } from \"./later\";\nnew Sooner();\n"),
        (
            "api.ts",
            "export interface Sender {\n  deliver(s: string): void;\n}\nexport function run(s: Sender) {\n  s.deliver(\"x\");\n}\n",
        ),
        ("mail.ts", "export class Mail {\n  deliver(s: string) {}\n}\n"),
    ]);
    for (target, file) in
        [("AuditAttribute", "Audit.cs"), ("own.ts:1", "use.ts"), ("Later", "use2.ts")]
    {
        for operation in ["callers", "impact"] {
            let out = p.run(&["graph", operation, target]);
            let said = format!("{}{}", out.stdout, out.stderr);
            assert!(!said.contains("none found"), "{operation} {target}: {said}");
            assert!(out.stdout.contains(file), "{operation} {target}: {said}");
        }
    }
    let said = p.run(&["graph", "implementations", "Sender"]);
    let said = said.stdout + &said.stderr;
    assert!(!said.contains("no other line"), "{said}");
    assert!(said.contains("mail.ts:1"), "{said}");
    let said = p.run(&["graph", "callers", "Mail.deliver"]);
    let said = said.stdout + &said.stderr;
    assert!(said.contains("may reach this one") || said.contains("api.ts:5"), "{said}");
}

#[test]
fn drawings_and_maps() {
    let p = project();
    let drawn = |operation, target, format| {
        p.run(&["graph", operation, target, "--draw", format]).expect(0).stdout
    };
    let dot = drawn("callers", "Store::get", "dot");
    assert!(dot.starts_with("digraph {") && dot.contains("label=\"Store::get\\n"), "{dot}");
    assert!(dot.contains("n1 -> n0 [label=\"line 6\"]"), "{dot}");
    let mermaid = drawn("callees", "main", "mermaid");
    assert!(mermaid.starts_with("graph LR\n") && mermaid.contains(" -->|line 6| "), "{mermaid}");
    let svg = drawn("impact", "Store::get", "svg");
    assert!(svg.starts_with("<svg ") && svg.contains(">main</text>"), "{svg}");
    for operation in ["tests", "rename"] {
        let refused = p.run(&["graph", operation, "main", "--draw", "svg"]).expect(2).stderr;
        assert!(refused.contains("unexpected argument '--draw'"), "{refused}");
    }
    let map = p.run(&["map"]).expect(0).stdout;
    assert!(map.contains("src/store.rs Store:") && map.contains("src/main.rs:"), "{map}");
    let rank = |focus: &str| {
        let map = p.json(&["map", "--focus", focus]);
        let files = map["files"].as_array().unwrap().clone();
        let symbols = files.iter().flat_map(|f| f["symbols"].as_array().unwrap().clone());
        symbols.filter(|s| s["name"] == "main").map(|s| s["rank"].as_f64().unwrap()).sum::<f64>()
    };
    let (from_store, from_main) = (rank("src/store.rs"), rank("src/main.rs"));
    assert!(from_main > 2.0 * from_store, "{from_main} {from_store}");
    assert!(rank("main").is_finite(), "a question is a focus, too");
}

#[test]
fn questions_that_have_no_answer() {
    let p = project();
    assert!(
        p.run(&["graph", "callers", "nobody"])
            .expect(1)
            .stderr
            .contains("no symbol or file `nobody`")
    );
    assert!(p.run(&["graph", "path", "main"]).error().contains("from `target` to `to`"));
    assert!(p.run(&["graph", "callers", "main", "--depth", "11"]).error().contains("from 1 to 10"));
}

#[test]
fn each_question_has_its_own_options_in_any_order() {
    let p = project();
    let usual = p.json(&["graph", "callers", "Store::get", "-C", "1", "--depth", "2"]);
    for args in [
        &["graph", "callers", "--depth", "2", "-C", "1", "Store::get"][..],
        &["graph", "--depth", "2", "callers", "Store::get", "-C", "1"],
        &["--color", "never", "graph", "-C1", "--depth=2", "callers", "Store::get"],
    ] {
        assert_eq!(p.json(args)["results"], usual["results"], "{args:?}");
    }
    for (args, owner) in [
        (&["graph", "callers", "get", "--public"][..], "unused"),
        (&["graph", "tests", "get", "--clients", "x"], "routes"),
        (&["graph", "unused", "--apply"], "rename"),
        (&["graph", "impact", "get", "--forget", "x"], "import"),
        (&["graph", "--skip-uncertain", "path", "get", "main"], "rename"),
    ] {
        let error = p.run(args).error();
        assert!(error.contains(&format!("belong to `cortex graph {owner}`")), "{args:?}: {error}");
    }
    for (args, missing) in [
        (&["graph", "callers"][..], "TARGET"),
        (&["graph", "impact"], "TARGET"),
        (&["graph", "rename", "Store::get"], "NEW_NAME"),
    ] {
        let error = p.run(args).error();
        assert!(error.contains("required arguments") && error.contains(missing), "{error}");
    }
}

/// An agent asks in the same call in which it waits for its edit.
#[test]
fn agents_ask_the_graph_as_it_is_after_their_edits() {
    let p = project();
    p.index();
    let server =
        Server::start(&mut p.cortex(&["serve", "--port", "0", "--watch", "--tools", "graph,edit"]));
    let client = Client::new(&server.line());
    let callers =
        json!({ "operation": "callers", "target": "Store::get", "context": 3, "wait_ms": 20_000 });
    let found = client.call("cortex_graph", &callers);
    assert_eq!(
        (&found["targets"][0]["symbol"], &found["total"]),
        (&json!("Store::get"), &json!(1)),
        "{found}"
    );
    assert_eq!(
        (&found["results"][0]["path"], &found["results"][0]["sites"]),
        (&json!("src/main.rs"), &json!([6]))
    );
    assert!(
        found["results"][0]["context"].as_str().unwrap().contains("    held.get();"),
        "{found}"
    );
    let caller =
        "use crate::store::Store;\n\npub fn second(store: &Store) -> u8 {\n    store.get()\n}\n";
    client.call(
        "file_editor",
        &json!({ "command": "create", "path": "src/second.rs", "text": caller }),
    );
    assert_eq!(
        client.call("cortex_graph", &json!({ "operation": "callers", "target": "Store::get" }))["total"],
        2
    );
    for (arguments, status) in [
        (json!({ "operation": "callers", "target": "nobody" }), 404),
        (json!({ "operation": "path", "target": "main" }), 400),
        (json!({ "operation": "rumours", "target": "main" }), 400),
    ] {
        assert_eq!(client.try_call("cortex_graph", &arguments).unwrap().0, status, "{arguments}");
    }
    let pattern =
        client.call("cortex_pattern", &json!({ "pattern": "$A.get()", "paths": ["src/s*"] }));
    assert_eq!(
        (&pattern["total"], &pattern["places"][0]["start_line"]),
        (&json!(1), &json!(4)),
        "{pattern}"
    );
    let sizes = client.call("cortex_files", &json!({ "by": "file", "sort": "lines", "limit": 1 }));
    assert_eq!(
        (&sizes["rows"][0]["name"], &sizes["total"]["files"]),
        (&json!("src/main.rs"), &json!(3)),
        "{sizes}"
    );
}

#[test]
fn shapes_and_sizes_on_the_command_line() {
    let p = project();
    let found = p.json(&["pattern", "$A.get()"]);
    assert_eq!(
        (&found["places"][0]["path"], &found["places"][0]["start_line"], &found["total"]),
        (&json!("src/main.rs"), &json!(6), &json!(1))
    );
    assert!(
        p.run(&["pattern", "$A.get()", "-C", "1"]).expect(0).stdout.contains("6     held.get();")
    );
    p.run(&["pattern", "nobody($A)"]).expect(1);
    assert!(
        p.run(&["pattern", "fn (", "--languages", "rust"])
            .error()
            .contains("is not a valid rust pattern")
    );
    let files = p.json(&["files"]);
    assert_eq!(
        (&files["rows"][0]["name"], &files["rows"][0]["files"], &files["rows"][0]["lines"]),
        (&json!("rust"), &json!(2), &json!(13))
    );
    assert!(p.run(&["files", "--by", "file"]).expect(0).stdout.contains("src/store.rs"));
}

/// Returns the files that have rows, and the functions of these rows.
fn rows(p: &Project) -> (Vec<String>, Vec<String>) {
    let database = Connection::open(p.path(".cortex/graph/code-graph.db")).unwrap();
    let list = |sql: &str| {
        let mut statement = database.prepare(sql).unwrap();
        let rows = statement.query_map([], |r| r.get(0)).unwrap();
        rows.collect::<Result<Vec<String>, _>>().unwrap()
    };
    (
        list("SELECT path FROM files ORDER BY path"),
        list("SELECT name FROM symbols WHERE kind IN ('function', 'method') ORDER BY name"),
    )
}

#[test]
fn an_index_run_writes_the_graph_of_the_files_that_it_parses() {
    let p = project();
    p.write("notes.md", "# Notes\n\nNo code.\n");
    p.index();
    let files = ["notes.md", "src/main.rs", "src/store.rs"].map(String::from);
    assert_eq!(rows(&p), (files.to_vec(), vec!["get".into(), "main".into()]));
    p.write("src/store.rs", p.read("src/store.rs").replace("get", "fetch"));
    p.remove("notes.md");
    p.index();
    assert_eq!(rows(&p), (files[1..].to_vec(), vec!["fetch".into(), "main".into()]));
    p.run(&["graph", "callers", "Store::fetch"]).expect(1);
    // Without its database, an index that is up to date gets it again.
    fs::remove_dir_all(p.path(".cortex/graph")).unwrap();
    p.index();
    assert_eq!(rows(&p).0, files[1..]);
}

#[test]
fn a_search_writes_the_graph_of_changed_files_only() {
    let p = project();
    p.index();
    fs::remove_dir_all(p.path(".cortex/graph")).unwrap();
    p.run(&["search", "store"]).expect(0);
    assert!(!p.path(".cortex/graph").exists(), "a search without a change opens no graph");
    p.write("src/main.rs", format!("{}fn later() {{}}\n", p.read("src/main.rs")));
    p.run(&["search", "store"]).expect(0);
    assert_eq!(rows(&p).0, ["src/main.rs"]);
    let answer = p.json(&["graph", "callers", "Store::get"]);
    assert_eq!(answer["results"][0]["symbol"], "main");
}

/// The graph has its secrets removed as the index has, whoever writes it.
#[test]
fn rows_that_an_index_run_writes_hold_no_secret() {
    let p = Project::with(&[(
        "a.py",
        "def connect(token='ghp_0123456789abcdefghijklmnopqrstuvwxyzAB'):\n    return token\n",
    )]);
    p.index();
    let bytes = fs::read(p.path(".cortex/graph/code-graph.db")).unwrap();
    let holds = |word: &[u8]| bytes.windows(word.len()).any(|at| at == word);
    assert!(holds(b"connect") && !holds(b"ghp_0123456789abcdef"));
}

#[test]
fn an_index_run_goes_on_without_a_graph_that_is_busy_or_cannot_be_written() {
    let p = project();
    p.index();
    let mut database = Connection::open(p.path(".cortex/graph/code-graph.db")).unwrap();
    let lock = database.transaction_with_behavior(TransactionBehavior::Exclusive).unwrap();
    p.write("src/main.rs", format!("{}fn later() {{}}\n", p.read("src/main.rs")));
    let start = Instant::now();
    let said = p.run(&["index"]).expect(0).stderr;
    let took = start.elapsed();
    assert!(took < Duration::from_secs(15), "{took:?}");
    assert!(said.contains("the code graph"), "{said}");
    assert_eq!(p.found(&["later"])[0], "src/main.rs");
    drop(lock);
    drop(database);
    assert_eq!(p.json(&["graph", "callers", "Store::get"])["results"][0]["symbol"], "main");
    assert_eq!(rows(&p).1, ["get", "later", "main"]);
    fs::write(p.path(".cortex/graph/code-graph.db"), "no database").unwrap();
    p.write("src/main.rs", format!("{}fn last() {{}}\n", p.read("src/main.rs")));
    p.index();
    assert_eq!(rows(&p).1, ["get", "last", "later", "main"], "damage is repaired");
}

#[test]
fn a_server_writes_the_graph_of_what_it_indexes_without_a_question() {
    let p = project();
    let _server = Server::start(&mut p.cortex(&["serve", "--port", "0"]));
    let has = |name: &str| {
        p.path(".cortex/graph/code-graph.db").exists()
            && Connection::open(p.path(".cortex/graph/code-graph.db")).is_ok_and(|database| {
                let sql = "SELECT count(*) FROM symbols WHERE name = ?1";
                database.query_row(sql, [name], |r| r.get::<_, i64>(0)).is_ok_and(|n| n > 0)
            })
    };
    wait_until("the rows of the first index", || has("main"));
    p.write("src/main.rs", format!("{}fn later() {{}}\n", p.read("src/main.rs")));
    wait_until("the rows of a change", || has("later"));
}

/// Bug: damage in pages that only queries read failed every query, until a file changed.
#[test]
fn a_damaged_graph_is_built_again_by_the_query_that_meets_the_damage() {
    let functions: String = (0..400).map(|i| format!("fn f{i}() {{ f{}(); }}\n", i + 1)).collect();
    let p = Project::with(&[("src/a.rs", &functions)]);
    let ask = || p.run(&["graph", "callers", "f7"]).expect(0).stdout;
    let before = ask();
    assert!(before.contains("f6"));
    let path = p.path(".cortex/graph/code-graph.db");
    let mut bytes = fs::read(&path).unwrap();
    // The pages of the names of files and their hashes are among the first ones.
    let from = bytes.len() / 2;
    bytes[from..].fill(0x5a);
    fs::write(&path, bytes).unwrap();
    assert_eq!(ask(), before);
}

#[test]
fn a_call_does_not_wait_for_a_large_graph_without_end() {
    let p = project();
    for i in 0..600 {
        let functions =
            (0..30).map(|k| format!("pub fn f{i}_{k}(x: u8) -> u8 {{\n    x + {k}\n}}\n"));
        p.write(format!("src/many/m{i}.rs"), functions.collect::<String>());
    }
    p.index();
    // As after an index run that another process kept from writing the graph.
    fs::remove_dir_all(p.path(".cortex/graph")).unwrap();
    let server = Server::start(&mut p.cortex(&["serve", "--port", "0"]));
    let client = Client::new(&server.line());
    let mut callers = json!({ "operation": "callers", "target": "Store::get", "wait_ms": 0 });
    let (status, body) = client.try_call("cortex_graph", &callers).unwrap();
    assert!(status == 503 && body.contains("the code graph is being built"), "{status} {body}");
    let map = client.call("cortex_map", &json!({ "wait_ms": 0 }));
    assert!(warnings(&map).contains("the main files are missing"), "{map}");
    assert_eq!(map["languages"][0]["name"], "rust", "the rest of the map is there: {map}");
    callers["wait_ms"] = json!(60_000);
    assert_eq!(client.call("cortex_graph", &callers)["total"], 1);
    let map = client.call("cortex_map", &json!({}));
    assert!(map["files"].as_array().is_some_and(|files| !files.is_empty()), "{map}");
}

/// Returns `path reason` of each test, and the commands.
fn tests_of(p: &Project, target: &str) -> (Vec<String>, Vec<String>) {
    let answer = p.json(&["graph", "tests", target]);
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_string();
    let rows = answer["results"].as_array().unwrap();
    let rows = rows.iter().map(|row| format!("{} {}", text(&row["path"]), text(&row["reason"])));
    let commands = answer["commands"].as_array().map(|all| all.iter().map(text).collect());
    (rows.collect(), commands.unwrap_or_default())
}

fn assert_tests(p: &Project, target: &str, rows: &[&str], commands: &[&str]) {
    let (found, run) = tests_of(p, target);
    assert_eq!((found, run), (strings(rows), strings(commands)), "{target}");
}

fn strings(all: &[&str]) -> Vec<String> {
    all.iter().map(ToString::to_string).collect()
}

#[test]
fn tests_of_a_symbol_and_the_command_of_each_kind_of_project() {
    let python = Project::with(&[
        ("pyproject.toml", "[tool.pytest.ini_options]\n"),
        ("app/store.py", "class Store:\n    def get(self):\n        return 1\n"),
        (
            "tests/conftest.py",
            "import pytest\nfrom app.store import Store\n\n@pytest.fixture\ndef store():\n    s = Store()\n    s.get()\n    return s\n",
        ),
        (
            "tests/test_store.py",
            "from app.store import Store\n\nclass TestStore:\n    def test_get(self):\n        Store().get()\n\ndef test_fixture(store):\n    pass\n",
        ),
    ]);
    assert_tests(
        &python,
        "Store.get",
        &["tests/test_store.py calls it", "tests/test_store.py fixture store"],
        &["pytest tests/test_store.py::TestStore::test_get tests/test_store.py::test_fixture"],
    );

    let rust = Project::with(&[
        ("Cargo.toml", "[package]\nname = \"a\"\n"),
        (
            "src/sum.rs",
            "pub fn sum(x: u8) -> u8 {\n    x\n}\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn adds() {\n        assert_eq!(sum(1), 1);\n    }\n}\n",
        ),
        ("src/lib.rs", "pub mod sum;\n"),
        ("tests/all.rs", "use a::sum::sum;\n\n#[test]\nfn sums() {\n    sum(1);\n}\n"),
    ]);
    assert_tests(
        &rust,
        "sum.rs:1",
        &["src/sum.rs calls it", "tests/all.rs calls it"],
        &["cargo test -- sum::tests::adds", "cargo test --test all -- sums"],
    );

    let go = Project::with(&[
        ("go.mod", "module example.com/a\n"),
        ("pkg/sum.go", "package pkg\n\nfunc Sum(x int) int { return x }\n"),
        (
            "pkg/sum_test.go",
            "package pkg\n\nimport \"testing\"\n\nfunc check(x int) { Sum(x) }\n\nfunc TestSum(t *testing.T) { Sum(1) }\n\nfunc TestCheck(t *testing.T) { check(1) }\n",
        ),
    ]);
    assert_tests(
        &go,
        "Sum",
        &["pkg/sum_test.go calls it", "pkg/sum_test.go through check (2 steps)"],
        &["go test ./pkg -run '^(TestCheck|TestSum)$'"],
    );

    let typescript = Project::with(&[
        ("package.json", "{\"devDependencies\": {\"vitest\": \"1\"}}\n"),
        ("src/sum.ts", "export function sum(a: number) {\n  return a\n}\n"),
        (
            "src/sum.test.ts",
            "import { sum } from './sum'\n\ndescribe('sums', () => {\n  it('adds (one)', () => {\n    expect(sum(1)).toBe(1)\n  })\n})\n",
        ),
    ]);
    assert_tests(
        &typescript,
        "sum",
        &["src/sum.test.ts calls it"],
        &["npx vitest run src/sum.test.ts -t 'adds .one.'"],
    );

    let java = Project::with(&[
        ("pom.xml", "<project/>\n"),
        (
            "src/main/java/a/Sum.java",
            "package a;\n\npublic class Sum {\n  public static int of(int x) { return x; }\n}\n",
        ),
        (
            "src/test/java/a/SumTest.java",
            "package a;\n\nclass SumTest {\n  @Test\n  void adds() { Sum.of(1); }\n}\n",
        ),
    ]);
    assert_tests(
        &java,
        "Sum.of",
        &["src/test/java/a/SumTest.java calls it"],
        &["mvn test -Dtest='SumTest#adds'"],
    );

    let ruby = Project::with(&[
        ("Gemfile", "gem 'rspec'\n"),
        ("lib/sum.rb", "class Sum\n  def self.total(x)\n    x\n  end\nend\n"),
        (
            "spec/sum_spec.rb",
            "describe Sum do\n  it \"adds\" do\n    expect(Sum.total(1)).to eq(1)\n  end\nend\n",
        ),
    ]);
    assert_tests(
        &ruby,
        "Sum.total",
        &["spec/sum_spec.rb calls it"],
        &["bundle exec rspec spec/sum_spec.rb:2"],
    );
}

#[test]
fn without_tests_the_answer_says_how_many_files_of_tests_there_are_and_where_the_name_is() {
    let p = Project::with(&[
        ("app/load.py", "def fetch_rows():\n    pass\n"),
        ("tests/test_cli.py", "def test_cli():\n    run('fetch_rows')\n"),
    ]);
    let json = p.run(&["graph", "tests", "fetch_rows", "--json"]).expect(1).stdout;
    let answer: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        (&answer["total"], &answer["test_files"], &answer["unresolved"][0]["line"]),
        (&json!(0), &json!(1), &json!(2)),
        "{answer}"
    );
    let text = p.run(&["graph", "tests", "fetch_rows"]).expect(1).stdout;
    assert!(text.contains("run('fetch_rows')"), "{text}");
}

/// Paths and names of tests come from the repository, and a reader pastes the commands in a shell.
#[test]
fn commands_hold_no_name_that_a_shell_takes_for_something_else() {
    let test =
        "import { sum } from '../src/sum'\n\nit('a $(touch x) `y`\\'; z', () => {\n  sum(1)\n})\n";
    let p = Project::with(&[
        ("package.json", "{\"devDependencies\": {\"jest\": \"1\"}}\n"),
        ("src/sum.ts", "export function sum(a: number) {\n  return a\n}\n"),
        ("tests/$(touch x).test.ts", test),
        ("tests/a b.test.ts", test),
    ]);
    let (rows, commands) = tests_of(&p, "sum");
    assert_eq!(rows.len(), 2, "{rows:?}");
    assert_eq!(commands, ["npx jest 'tests/a b.test.ts' -t 'a '"]);
    let answer = p.json(&["graph", "tests", "sum"]);
    assert!(warnings(&answer).contains("no command runs 1 of these tests"), "{answer}");
}

/// A repository whose commits changed the store and its documentation together.
fn repository() -> Project {
    let p = project();
    p.write("Cargo.toml", "[package]\nname = \"shop\"\nversion = \"0.1.0\"\n");
    p.write("tests/store.rs", "use shop::store::Store;\n\n#[test]\nfn gets_one() {\n    let store: Store = Store;\n    assert_eq!(store.get(), 1);\n}\n");
    p.write("docs/store.md", "# Store\n\nIt gets.\n");
    p.write("docs/other.md", "# Other\n\nWords.\n");
    p.git(&["init", "-q"]);
    p.commit("initial import of the shop");
    for n in 0..3 {
        p.write("src/store.rs", format!("{}\n// note {n}\n", p.read("src/store.rs")));
        p.write("docs/store.md", format!("# Store\n\nIt gets {n}.\n"));
        p.commit(&format!("the store has note {n}"));
    }
    p
}

/// Before: an agent changed a method, and had to ask for its users, tests and documents one by one.
#[test]
fn a_change_names_its_users_its_tests_and_what_changes_with_it() {
    let p = repository();
    let none = p.run(&["graph", "impact", "--diff"]).expect(1).stderr;
    assert!(
        none.contains("nothing is changed (working tree against HEAD): give a range"),
        "{none}"
    );
    p.write("src/store.rs", p.read("src/store.rs").replace("        1\n", "        2\n"));
    let answer = p.json(&["graph", "impact", "--diff"]);
    let changed = &answer["changed"];
    assert_eq!(
        (&changed[0]["symbol"], &changed[0]["line"], &changed[0]["how"], &changed[0]["public"]),
        (&json!("Store::get"), &json!(3), &json!("changed"), &json!(true)),
        "{answer:#}"
    );
    assert_eq!(answer["users"][0]["symbol"], "main", "{answer:#}");
    assert_eq!(answer["total_users"], 1, "tests are no users: {answer:#}");
    assert_eq!(answer["tests"][0]["symbol"], "gets_one", "{answer:#}");
    assert!(answer["commands"][0].as_str().unwrap().starts_with("cargo test"), "{answer:#}");
    let together = &answer["together"];
    assert_eq!(
        (&together[0]["path"], &together[0]["support"], &together[0]["confidence"]),
        (&json!("docs/store.md"), &json!(4), &json!(1.0)),
        "{answer:#}"
    );
    assert_eq!(together[1], json!(null), "one commit is no habit: {answer:#}");
    let next: Vec<&str> =
        answer["files"].as_array().unwrap().iter().map(|f| f["path"].as_str().unwrap()).collect();
    assert_eq!(next[0], "docs/store.md", "{answer:#}");
    assert!(next.contains(&"src/main.rs") && next.contains(&"tests/store.rs"), "{answer:#}");
    assert!(!next.contains(&"src/store.rs"), "{answer:#}");
    // The same after the commit, and planned.
    p.commit("the store gets two");
    let range = p.json(&["graph", "impact", "--diff", "HEAD~1.."]);
    assert_eq!((&range["changed"], &range["users"]), (&answer["changed"], &answer["users"]));
    let planned = p.json(&["graph", "impact", "--files", "Store::get,docs/other.md"]);
    assert_eq!(planned["users"], answer["users"], "{planned:#}");
    assert_eq!(planned["changed"][1]["symbol"], "docs/other.md", "{planned:#}");
}

/// Before: tests that a framework or a subprocess leads to were not proposed, and a helper of tests
/// that no test used was neither a user nor a test.
#[test]
fn tests_that_change_with_a_file_are_proposed_and_idle_helpers_are_users() {
    let p = repository();
    for n in 0..3 {
        p.write("src/pool.rs", format!("pub fn size() -> u8 {{ {n} }}\n"));
        p.write("tests/shop_cli.rs", format!("#[test]\nfn says_{n}() {{ run(\"shop\") }}\n"));
        p.commit(&format!("the pool has size {n}"));
    }
    p.write("src/lib.rs", "pub mod pool;\n");
    p.write("tests/support.rs", "pub fn filled() -> u8 {\n    shop::pool::size()\n}\n");
    let answer = p.json(&["graph", "impact", "--files", "size"]);
    let tests = &answer["tests"];
    assert_eq!(
        (&tests[0]["path"], &tests[0]["reason"]),
        (&json!("tests/shop_cli.rs"), &json!("changed with src/pool.rs in 3 commits")),
        "{answer:#}"
    );
    assert_eq!(answer["total_tests"], 1, "{answer:#}");
    let commands = answer["commands"].to_string();
    assert!(commands.contains("--test shop_cli"), "{commands}");
    assert_eq!(answer["users"][0]["symbol"], "filled", "{answer:#}");
}

/// What a change deletes has no users in the graph any more, but its callers are still there.
#[test]
fn a_deleted_symbol_is_still_used_by_lines_that_the_change_missed() {
    let p = repository();
    p.write("src/store.rs", p.read("src/store.rs").replace("fn get(", "fn fetch("));
    p.write("src/new file\n\"odd\".rs", "pub fn odd() {}\n");
    p.write(".env", "TOKEN=abc\n");
    p.write("blob.bin", [0u8, 159, 1]);
    p.git(&["mv", "docs/other.md", "docs/moved.md"]);
    p.remove("docs/store.md");
    let answer = p.json(&["graph", "impact", "--diff"]);
    let changed: Vec<String> = answer["changed"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| format!("{} {}", c["how"].as_str().unwrap(), c["symbol"].as_str().unwrap()))
        .collect();
    for expected in [
        "added Store::fetch", "deleted Store::get", "added odd", "renamed docs/moved.md",
        "deleted docs/store.md", "added blob.bin",
    ] {
        assert!(changed.contains(&expected.into()), "{expected}: {answer:#}");
    }
    assert_eq!(changed.len(), 6, "a secret is not named: {answer:#}");
    assert!(answer["warnings"].to_string().contains("1 file that may not be read"), "{answer:#}");
    let uses: Vec<(&str, u64)> = answer["deleted_uses"]
        .as_array()
        .unwrap()
        .iter()
        .map(|u| (u["path"].as_str().unwrap(), u["line"].as_u64().unwrap()))
        .collect();
    assert_eq!(uses, [("src/main.rs", 6), ("tests/store.rs", 6)], "{answer:#}");
    let text = p.run(&["graph", "impact", "--diff"]).expect(0).stdout;
    assert!(text.contains("new file\\n\"odd\".rs") && !text.contains("\n\"odd\""), "{text}");
}

#[test]
fn a_range_is_a_range_and_says_what_it_is_compared_with() {
    let p = repository();
    p.write("src/store.rs", format!("// moved\n// down\n{}", p.read("src/store.rs")));
    p.commit("the store moves down");
    let answer = p.json(&["graph", "impact", "--diff", "HEAD~4..HEAD~1"]);
    let warnings = answer["warnings"].to_string();
    assert!(
        warnings.contains("not checked out") && warnings.contains("1 file of the range"),
        "{answer:#}"
    );
    for wrong in ["--diff=--output=x", "--diff=nowhere", "--diff=HEAD~99", "--diff=..-h"] {
        let said = p.run(&["graph", "impact", wrong]).error();
        assert!(said.contains("is not a commit of this repository"), "{wrong}: {said}");
    }
    assert!(!p.path("x").exists());
    let said = p.run(&["graph", "callers", "--diff"]).error();
    assert!(said.contains("belong to `cortex graph impact`"), "{said}");
    fs::remove_dir_all(p.path(".git")).unwrap();
    let said = p.run(&["graph", "impact", "--diff"]).error();
    assert!(said.contains("not in a git repository") && said.contains("give `files`"), "{said}");
    assert_eq!(p.json(&["graph", "impact", "--files", "src/store.rs"])["total_users"], 1);
}

/// The reply for an agent is short, and goes on where the next call begins.
#[test]
fn an_agent_gets_the_impact_as_a_short_text() {
    let p = repository();
    let many: String = (0..200)
        .map(|n| format!("pub fn extra_{n}(s: &Store) -> u8 {{\n    s.get() + {n}\n}}\n"))
        .collect();
    p.write("src/extra.rs", format!("use crate::store::Store;\n{many}"));
    p.commit("many extras");
    p.write("src/store.rs", p.read("src/store.rs").replace("        1\n", "        2\n"));
    let server = Server::start(&mut p.cortex(&["serve", "--port", "0", "--watch"]));
    let client = Client::new(&server.line());
    let arguments = json!({ "format": "text", "wait_ms": 20_000, "limit": 300 });
    let (status, text) = client.try_call("cortex_impact", &arguments).unwrap();
    assert_eq!(status, 200, "{text}");
    for expected in [
        "\nsrc/store.rs:3 method Store::get, changed, public\n",
        "\nlook at next, likeliest first:\ndocs/store.md changed with store.rs in 4 commits",
        "\nsrc/main.rs:6 ",
        "changed with store.rs in 1 commit (25% of its commits)",
        "; uses Store::get\n",
        "\nusers: 201, ",
        "\nrun: cargo test",
    ] {
        assert!(text.contains(expected) || text.starts_with(expected.trim()), "{expected}: {text}");
    }
    assert!(text.len() < 1_200 * 4, "{} bytes: {text}", text.len());
}

#[test]
fn unused_lists_what_no_file_names_and_counts_what_others_may_need() {
    let p = Project::with(&[
        ("Cargo.toml", "[package]\nname = \"app\"\nversion = \"1.0.0\"\npublish = false\n"),
        (
            "src/main.rs",
            "mod store;\n\nfn main() {\n    store::open();\n}\n\nfn forgotten() {\n    helper();\n}\n\nfn helper() {}\n",
        ),
        (
            "src/store.rs",
            "pub fn open() {}\n\npub fn loaded_by_name() {}\n\n#[no_mangle]\npub fn plugin_entry() {}\n\npub fn only_tested() {}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn it_works() {\n        super::only_tested();\n    }\n}\n",
        ),
        ("config/app.yaml", "hook: loaded_by_name\n"),
        (
            "web/menu.js",
            "import { draw } from './draw.js'\n\nfunction unusedMenu() {}\n\nexport default () => draw()\n",
        ),
        ("web/draw.js", "export function draw() {}\n"),
        (
            "tools/lib.py",
            "__version__ = '1'\n\n\ndef from_template():\n    pass\n\n\ndef dead_tool():\n    pass\n",
        ),
        ("tools/page.html", "<p>{{ from_template() }}</p>\n"),
    ]);
    let answer = p.json(&["graph", "unused"]);
    let rows: Vec<(&str, &str)> = answer["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["symbol"].as_str().unwrap(), row["reason"].as_str().unwrap()))
        .collect();
    assert_eq!(
        rows,
        [
            ("forgotten", "its name is nowhere else in the project"),
            ("dead_tool", "its name is nowhere else in the project"),
            ("unusedMenu", "its name is nowhere else in the project"),
            ("helper", "only unused code uses it (forgotten)"),
            ("only_tested", "only tests or examples use it"),
        ]
    );
    let text = p.run(&["graph", "unused", "src"]).expect(0).stdout;
    assert!(
        text.contains("src/main.rs:7 function forgotten") && !text.contains("dead_tool"),
        "{text}"
    );
    assert!(text.contains("1 entry points") && text.contains("found by attribute"), "{text}");
    // Other projects may use a library.
    p.write("Cargo.toml", "[package]\nname = \"app\"\n\n[lib]\npath = \"src/store.rs\"\n");
    p.write("config/app.yaml", "hook: none\n");
    let symbols = |args: &[&str]| p.json(args)["results"].to_string();
    assert!(!symbols(&["graph", "unused", "src"]).contains("loaded_by_name"));
    assert!(symbols(&["graph", "unused", "src", "--public"]).contains("loaded_by_name"));
    let nowhere = p.run(&["graph", "unused", "nowhere"]).expect(2).stderr;
    assert!(nowhere.contains("no indexed file matches nowhere"), "{nowhere}");
}

/// A method with three steps of callers, and more tests that call it than an answer has room for.
fn client() -> Project {
    let many: String = (0..12)
        .map(|n| format!("    def test_{n}(self):\n        assert Client().retry()\n\n"))
        .collect();
    let tests = format!(
        "from app.net import Client\n\n\nclass TestRetry:\n{many}\nclass TestSend:\n    def test_send(self):\n        Client().send()\n"
    );
    let p = Project::with(&[
        ("pyproject.toml", "[tool.pytest.ini_options]\n"),
        (
            "app/net.py",
            "class Client:\n    def retry(self):\n        return 1\n\n    def send(self):\n        return self.retry()\n",
        ),
        (
            "app/service.py",
            "from app.net import Client\n\n\ndef deliver():\n    client = Client()\n    return client.send()\n",
        ),
        ("app/cli.py", "from app.service import deliver\n\n\ndef main():\n    deliver()\n"),
        (
            "app/lone.py",
            "from app.net import Client\n\n\ndef lone():\n    Client().retry()\n    print(1)\n    Client().retry()\n",
        ),
        (
            "tests/test_other.py",
            "from app.service import deliver\n\n\ndef test_deliver():\n    deliver()\n",
        ),
    ]);
    p.write("tests/test_client.py", tests);
    p
}

/// Returns the symbols of the results outside of tests.
fn users(answer: &serde_json::Value) -> Vec<&str> {
    let rows = answer["results"].as_array().unwrap().iter();
    rows.filter(|row| row["test"] != true).map(|row| row["symbol"].as_str().unwrap()).collect()
}

/// Before: tests filled the rows, and the callers that a change breaks were cut.
#[test]
fn callers_outside_of_tests_come_first_up_to_where_the_calls_begin() {
    let p = client();
    for args in [
        &["graph", "callers", "Client.retry"][..],
        &["graph", "callers", "Client.retry", "-n", "4"],
    ] {
        let answer = p.json(args);
        assert_eq!(users(&answer), ["lone", "Client.send", "deliver", "main"], "{answer:#}");
        let first = &answer["results"][0];
        assert_eq!(
            (&first["sites"], &first["text"], &first["test"]),
            (&json!([5, 7]), &json!("Client().retry()"), &json!(null)),
            "{answer:#}"
        );
        assert_eq!((&answer["results"][3]["depth"], &answer["total"]), (&json!(3), &json!(18)));
    }
    let out = p.run(&["graph", "callers", "Client.retry"]).expect(0);
    let at = |line: &str| {
        out.stdout.find(line).unwrap_or_else(|| panic!("{line:?} is not in\n{}", out.stdout))
    };
    let order = [
        "app/lone.py:5 lone (also 7): Client().retry()",
        "app/net.py:6 Client.send",
        "return self.retry()",
        "step 2:\napp/service.py:6 deliver",
        "step 3:\napp/cli.py:5 main",
        "tests: ",
    ];
    let places: Vec<usize> = order.into_iter().map(at).collect();
    assert!(places.is_sorted(), "{}", out.stdout);
    assert!(!out.stdout.contains("test_3"), "tests are rows of classes: {}", out.stdout);
    assert!(
        out.stdout.contains("complete: every line of code that uses the name retry"),
        "{}",
        out.stdout
    );
}

/// Before: three operations gave three lists of tests, and commands that ran some of them.
#[test]
fn operations_agree_on_the_tests_and_one_command_runs_them_all() {
    let p = client();
    let tests = p.json(&["graph", "tests", "Client.retry"]);
    let groups = &tests["test_groups"];
    assert_eq!(
        *groups,
        json!([
            {
                "path": "tests/test_client.py", "class": "TestRetry", "tests": 12, "direct": 12,
                "lines": groups[0]["lines"],
            },
            {
                "path": "tests/test_client.py", "class": "TestSend", "tests": 1, "direct": 0,
                "lines": [], "how": "through Client.send (2 steps)",
            },
            {
                "path": "tests/test_other.py", "tests": 1, "direct": 0, "lines": [],
                "how": "through deliver (3 steps)",
            },
        ]),
        "{tests:#}"
    );
    assert_eq!(groups[0]["lines"].as_array().unwrap().len(), 12);
    assert_eq!(tests["commands"], json!(["pytest tests/test_client.py tests/test_other.py"]));
    assert_eq!(tests["untested"], json!(["lone"]), "{tests:#}");
    for args in [
        &["graph", "callers", "Client.retry"][..],
        &["graph", "dependents", "Client.retry"],
        &["graph", "impact", "Client.retry"],
        &["graph", "impact", "--files", "Client.retry"],
    ] {
        let answer = p.json(args);
        for key in ["test_groups", "total_groups", "commands", "untested"] {
            assert_eq!(answer[key], tests[key], "{args:?} {key}");
        }
        let text = p.run(args).expect(0).stdout;
        for line in [
            "through at most 3 steps (deeper callers are not followed)",
            "directly:\ntests/test_client.py TestRetry: 12 tests call it directly (lines 6, 9,",
            "through callers:\ntests/test_client.py TestSend: 1 test through Client.send (2 steps)\n",
            "tests/test_other.py: 1 test through deliver (3 steps)\n",
            "no test is known to reach this caller: lone\n",
            "run: pytest tests/test_client.py tests/test_other.py\n",
        ] {
            assert!(text.contains(line), "{args:?}: {line:?} is not in\n{text}");
        }
    }
    // All tests of a file are of one class.
    p.remove("tests/test_other.py");
    let only = p.json(&["graph", "tests", "Client.retry", "--depth", "1"]);
    assert_eq!(only["commands"], json!(["pytest tests/test_client.py::TestRetry"]), "{only:#}");
}

#[test]
fn an_agent_reads_callers_before_tests() {
    let p = client();
    let server =
        Server::start(&mut p.cortex(&["serve", "--port", "0", "--watch", "--tools", "graph"]));
    let client = Client::new(&server.line());
    for (tool, arguments) in [
        ("cortex_graph", json!({ "operation": "callers", "target": "Client.retry" })),
        ("cortex_impact", json!({ "files": ["Client.retry"] })),
    ] {
        let mut arguments = arguments;
        arguments["format"] = json!("text");
        arguments["wait_ms"] = json!(20_000);
        let (status, text) = client.try_call(tool, &arguments).unwrap();
        assert_eq!(status, 200, "{text}");
        for line in [
            "\napp/lone.py:5 lone (also 7): Client().retry()\n",
            "\ntests/test_client.py TestRetry: 12 tests call it directly (lines 6, 9,",
            "\nno test is known to reach this caller: lone\n",
            "\nrun: pytest tests/test_client.py tests/test_other.py\n",
        ] {
            assert!(text.contains(line), "{tool}: {line:?} is not in\n{text}");
        }
        assert!(text.find("lone (also") < text.find("TestRetry:"), "{tool}: {text}");
    }
}

#[test]
fn callers_of_what_a_method_overrides_are_marked() {
    let p = Project::with(&[(
        "app/work.py",
        "class Base:\n    def run(self):\n        return self.step()\n\n    def step(self):\n        return 0\n\n\nclass Child(Base):\n    def step(self):\n        return 1\n",
    )]);
    let answer = p.json(&["graph", "callers", "Child.step"]);
    let first = &answer["candidates"][0];
    assert_eq!(
        (&first["symbol"], &first["reason"], &first["sites"]),
        (&json!("Base.run"), &json!("through Base.step"), &json!([3])),
        "{answer:#}"
    );
    let text = p.run(&["graph", "callers", "Child.step"]).expect(0).stdout;
    assert!(text.contains("app/work.py:3 Base.run (through Base.step"), "{text}");
    // The type between overrides it, too.
    p.write(
        "app/work.py",
        p.read("app/work.py").replace(
            "class Child(Base):",
            "class Middle(Base):\n    def step(self):\n        return 2\n\n\nclass Child(Middle):",
        ),
    );
    let answer = p.json(&["graph", "callers", "Child.step"]);
    let first = &answer["candidates"][0];
    assert_eq!(
        (&first["symbol"], &first["reason"]),
        (&json!("Base.run"), &json!("through Base.step")),
        "{answer:#}"
    );
}

#[test]
fn a_list_of_callers_says_whether_it_is_complete() {
    let p = Project::with(&[
        ("shop/price.py", "def total(items):\n    return sum(items)\n"),
        (
            "shop/pay.py",
            "from shop.price import total\n\n\ndef pay(order):\n    return total(order)\n",
        ),
    ]);
    let complete = p.json(&["graph", "callers", "total"]);
    assert_eq!(complete["complete"], json!(true), "{complete:#}");
    let unknown: String = (0..9).map(|_| "    thing.total()\n").collect();
    p.write("shop/other.py", format!("def show(thing):\n{unknown}"));
    p.write("shop/few.py", "def few(thing):\n    thing.total()\n");
    p.write("tests/test_thing.py", format!("def test_thing(thing):\n{unknown}{unknown}"));
    let answer = p.json(&["graph", "callers", "total"]);
    assert_eq!(
        (&answer["complete"], &answer["total_unresolved"]),
        (&json!(false), &json!(28)),
        "{answer:#}"
    );
    assert_eq!(
        answer["unresolved_in"],
        json!([
            { "path": "shop/other.py", "uses": 9, "lines": [2, 3, 4] },
            { "path": "shop/few.py", "uses": 1, "lines": [2] },
            { "path": "tests/test_thing.py", "uses": 18, "lines": [2, 3, 4] },
        ]),
        "{answer:#}"
    );
    let out = p.run(&["graph", "callers", "total"]).expect(0);
    assert!(
        out.stdout.contains("not complete: 28 lines use the name total with an unknown meaning"),
        "{}",
        out.stdout
    );
    assert!(
        out.stdout.contains("shop/other.py 9 lines (2, 3, 4 …)\n")
            && !out.stdout.contains("thing.total()"),
        "{}",
        out.stdout
    );
    let all = p.run(&["graph", "callers", "total", "--unresolved"]).expect(0).stdout;
    assert_eq!(all.matches("thing.total()").count(), 28, "{all}");
}

/// Before: calls of a method of a library's type filled the list of lines with an unknown meaning.
#[test]
fn lines_with_values_of_foreign_types_are_only_counted() {
    let p = Project::with(&[
        ("src/stack.rs", "pub struct Stack;\nimpl Stack {\n    pub fn push_all(&self) {}\n}\n"),
        ("src/a.rs", "use crate::stack::Stack;\n\npub fn f(s: &Stack) {\n    s.push_all();\n}\n"),
        (
            "src/b.rs",
            "pub fn g(v: &mut Vec<u8>) {\n    v.push_all();\n    v.push_all();\n    let z: Vec<u8> = Vec::new();\n    z.push_all();\n}\n",
        ),
    ]);
    let answer = p.json(&["graph", "callers", "Stack::push_all"]);
    assert_eq!(
        (&answer["complete"], &answer["total_unresolved"], users(&answer)),
        (&json!(true), &json!(null), vec!["f"]),
        "{answer:#}"
    );
    let out = p.run(&["graph", "callers", "Stack::push_all"]).expect(0);
    assert!(!out.stdout.contains("src/b.rs"), "{}", out.stdout);
    assert!(out.stdout.contains("3 lines with a value of a type from outside"), "{}", out.stdout);
    // Without results, they are the only trace.
    p.remove("src/a.rs");
    let only = p.run(&["graph", "callers", "Stack::push_all"]).expect(0).stdout;
    assert_eq!(only.matches("src/b.rs").count(), 3, "{only}");
}

/// A handler is called by a framework: the line that registers it is where the calls begin.
#[test]
fn callers_lead_to_the_line_that_registers_a_handler() {
    let p = Project::with(&[
        ("src/store.js", "export function load() {\n  return 1\n}\n"),
        (
            "src/handlers.js",
            "import { load } from './store.js'\n\nexport function show(req, res) {\n  res.json(load())\n}\n",
        ),
        (
            "src/routes.js",
            "import { show } from './handlers.js'\n\nexport function register(router) {\n  router.get('/items', show)\n}\n",
        ),
    ]);
    let answer = p.json(&["graph", "callers", "load"]);
    assert_eq!(users(&answer), ["show", "register"], "{answer:#}");
    let last = &answer["results"][1];
    assert_eq!(
        (&last["text"], &last["reason"], &last["via"], &last["depth"]),
        (
            &json!("router.get('/items', show)"),
            &json!("takes it as a value"),
            &json!("show"),
            &json!(2)
        ),
        "{answer:#}"
    );
}

#[test]
fn an_unknown_name_is_answered_with_near_ones_and_a_literal_with_its_lines() {
    let p = Project::with(&[
        (
            "src/lock.py",
            "class PathLock:\n    def acquire_lock(self):\n        raise Busy('the lock is held by somebody')\n\n\ndef read_entries(path):\n    return PathLock().acquire_lock()\n",
        ),
        ("tests/test_lock.py", "def acquire_locks():\n    pass\n"),
    ]);
    p.index();
    for (asked, near) in [
        ("acquireLock", "`acquire_lock` (src/lock.py:2)"),
        ("pathlock", "`PathLock` (src/lock.py:1)"),
        ("read_entry", "`read_entries` (src/lock.py:6)"),
        ("PathLocks", "`PathLock` (src/lock.py:1)"),
        ("aquire_lock", "`acquire_lock` (src/lock.py:2)"),
        ("FileLock::acquire_loc", "`acquire_lock` (src/lock.py:2)"),
    ] {
        for command in [&["graph", "callers"][..], &["outline"], &["read"]] {
            let out = p.run(&[command, &[asked]].concat());
            let said = out.stderr;
            assert!(said.contains(&format!("near: {near}")), "{command:?} {asked}: {said}");
        }
    }
    for command in [&["graph", "callers"][..], &["outline"], &["read"]] {
        let said = p.run(&[command, &["lock is held by"]].concat()).stderr;
        assert!(said.contains("is in 1 line: src/lock.py:3"), "{command:?}: {said}");
    }
}
