use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use proptest::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::*;
use crate::chunk::{Cancel, Chunk, ChunkSet, ChunkType, Metadata};
use crate::config::Config;
use crate::engine::{AnswerState, AskError, Call, Engine, ResultRow};
use crate::excerpt::{self, Excerpts};
use crate::index::chunk_file;
use crate::search::{Hit, QueryWords, Term};
use crate::store::{ChunkFiles, Layout};

/// Both forms of an answer.
#[derive(Debug)]
struct Both {
    text: String,
    structured: Value,
}

struct Project {
    dir: tempfile::TempDir,
    engine: Engine,
}

const LOCK: &str = "/// Takes the write lock.\npub fn acquire_lock(path: &str) -> Lock {\n    let file = open(path);\n    file.lock();\n    Lock { file }\n}\n\n\
/// A lock that is held.\npub struct Lock {\n    file: File,\n}\n\nimpl Lock {\n    /// Gives it back.\n    pub fn release(self) {\n        self.file.unlock();\n    }\n}\n";
const CACHE: &str = "/// Remembers \"vectors\".\npub struct VectorCache {\n    entries: Vec<u8>,\n}\n\nimpl VectorCache {\n    pub fn clear(&mut self) {\n        \
self.entries.clear();\n    }\n}\n";
const GUIDE: &str = "# Guide\n\nHow to use it.\n\n## Locks\n\nThe write lock is taken before files are written, and released afterwards.\n";

fn project() -> Project {
    with_files(&[
        ("src/lock.rs", LOCK),
        ("src/deep/cache.rs", CACHE),
        ("docs/guide.md", GUIDE),
        ("tool.py", "def write_lock():\n    return open('lock')\n"),
    ])
}

fn with_files(files: &[(&str, &str)]) -> Project {
    let project = empty();
    for (path, text) in files {
        project.write(path, text);
    }
    project
        .publish(&files.iter().flat_map(|(path, text)| chunk_file(path, text)).collect::<Vec<_>>());
    project
}

fn empty() -> Project {
    let dir = tempfile::tempdir().unwrap();
    let layout = Layout::at(dir.path()).unwrap();
    layout.create().unwrap();
    let project = crate::engine::Project::new(layout, Config::load(None, None, []).unwrap());
    Project { dir, engine: Engine::for_server(project, false, Arc::new(|| ())).unwrap() }
}

impl Project {
    fn write(&self, path: &str, text: &str) {
        let path = self.dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Writes chunk files as another program would, and reloads.
    fn publish(&self, chunks: &[Chunk]) {
        for t in ChunkType::ALL {
            let body: Vec<String> =
                chunks.iter().filter(|c| c.chunk_type == t).map(Chunk::to_json).collect();
            fs::write(
                self.engine.project.layout.chunk_file(t),
                format!("{{\"chunks\": [{}]}}", body.join(",\n")),
            )
            .unwrap();
        }
        self.engine.manager.reload(&Cancel::new(false)).unwrap();
    }

    /// Asks once for each form of the answer.
    #[expect(clippy::needless_pass_by_value, reason = "callers write `json!` in place")]
    fn ask(&self, tool: &str, arguments: Value) -> Result<Both, AskError> {
        let tool = Tool::named(tool).unwrap();
        let ask = |form| tool.call(&self.engine, &Call::default(), arguments.clone(), form);
        let (Answer::Text(text, _), Answer::Json(structured)) =
            (ask(Format::Text)?, ask(Format::Json)?)
        else {
            panic!("{}: the answer has another form than asked for", tool.name)
        };
        accepts(&Value::Object((tool.output_schema)()), &structured, tool.name);
        Ok(Both { text, structured })
    }

    fn get(&self, tool: &str, arguments: Value) -> Both {
        self.ask(tool, arguments).unwrap()
    }

    fn error(&self, tool: &str, arguments: Value) -> String {
        self.ask(tool, arguments).unwrap_err().to_string()
    }
}

/// Checks a reply against its schema, as clients do.
fn accepts(schema: &Value, value: &Value, at: &str) {
    let is = match text(&schema["type"]) {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        other => panic!("{at}: type `{other}`"),
    };
    assert!(is, "{at}: {value} is not of type {}", schema["type"]);
    for required in schema["required"].as_array().into_iter().flatten() {
        assert!(value.get(required.as_str().unwrap()).is_some(), "{at}: {required} is missing");
    }
    for (key, inner) in value.as_object().into_iter().flatten() {
        let property = schema["properties"].get(key).or_else(|| schema.get("additionalProperties"));
        accepts(
            property.unwrap_or_else(|| panic!("{at}: `{key}` is not in the schema")),
            inner,
            key,
        );
    }
    for inner in value.as_array().into_iter().flatten() {
        accepts(&schema["items"], inner, at);
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn paths(answer: &Both) -> Vec<&str> {
    answer.structured["results"].as_array().unwrap().iter().map(|r| text(&r["path"])).collect()
}

fn warnings(answer: &Both) -> String {
    answer.structured["warnings"].to_string()
}

#[test]
fn a_question_finds_the_place_and_says_which_generation_it_is_of() {
    let p = project();
    let a = p.get(
        "cortex_search",
        json!({"query": "where is the write lock taken", "languages": "rust"}),
    );
    let first = &a.structured["results"][0];
    assert_eq!(
        (text(&first["path"]), text(&first["language"]), &first["start_line"]),
        ("src/lock.rs", "rust", &json!(1))
    );
    let code = text(&first["excerpts"][0]["windows"][0]["text"]);
    assert!(code.contains("pub fn acquire_lock"), "{first}");
    assert!(
        a.text.contains("src/lock.rs:1-") && a.text.contains("acquire_lock(path"),
        "{}",
        a.text
    );
    let generation = a.structured["index"]["generation"].as_u64().unwrap();
    // The chunk files are another program's, so this process counts the generations itself.
    assert!(
        generation > 0 && a.text.ends_with(&format!("\ngeneration {generation} (local)")),
        "{}",
        a.text
    );
    assert_eq!(a.structured["index"]["local"], true);
    assert_eq!(a.structured.get("warnings"), None);
}

/// Bug: `top_k` was answered with "did you mean `max_tokens`?".
#[test]
fn arguments_have_the_names_of_other_programs_too() {
    let p = project();
    let a = p.get("cortex_search", json!({"query": "write lock", "path": "docs"}));
    assert_eq!((paths(&a), a.structured.get("warnings")), (vec!["docs/guide.md"], None));
    let one = p.get("cortex_search", json!({"query": "lock", "limit": 1}));
    assert!(paths(&p.get("cortex_search", json!({"query": "lock"}))).len() > paths(&one).len());
    for limit in ["top_k", "k", "n", "max_results", "num_results"] {
        let a = p.get("cortex_search", json!({"query": "lock", limit: 1}));
        assert_eq!((paths(&a), a.structured.get("warnings")), (paths(&one), None), "{limit}");
    }
    for path in ["path", "file_path"] {
        let a =
            p.get("cortex_read", json!({path: "src/lock.rs", "start_line": 2, "end_line": "3"}));
        assert_eq!(
            (&a.structured["start_line"], &a.structured["end_line"]),
            (&json!(2), &json!(3))
        );
        assert_eq!(a.structured.get("warnings"), None, "{path}");
    }
    let both = p.get("cortex_search", json!({"query": "lock", "limit": 1, "k": 5, "paths": null}));
    assert_eq!(paths(&both), paths(&one), "our name counts");
}

#[test]
fn a_text_comes_with_its_json_form_only_for_a_caller_that_records_files() {
    let p = project();
    let tool = Tool::named("cortex_search").unwrap();
    for records_files in [false, true] {
        let call = Call { records_files, ..Call::default() };
        let reply = tool.call(&p.engine, &call, json!({ "query": "lock" }), Format::Text).unwrap();
        let Answer::Text(_, json) = &reply else { panic!("{reply}") };
        assert_eq!(json["results"][0]["path"].is_string(), records_files, "{json}");
    }
}

/// The server has few places for calls that wait, and must know them as the tool does.
#[test]
fn a_call_waits_however_its_arguments_are_written() {
    let waits = |tool: &str, arguments: &Value| Tool::named(tool).unwrap().waits_for(arguments);
    let written = |arguments: &Value| Value::from(arguments.to_string());
    for arguments in [
        json!({ "query": "lock", "wait_ms": 50 }),
        json!({ "query": "lock", "wait_ms": 0 }),
        json!({ "query": "lock", "wait_ms": "50", "colour": "red" }),
        json!({ "query": "lock", "wait_ms": "1000000", "min_generation": null }),
        json!({ "query": "lock", "min_generation": 7 }),
        json!({ "query": "lock", "min_generation": " 7.0 ", "wait_ms": "" }),
    ] {
        assert!(waits("cortex_search", &arguments), "{arguments}");
        assert!(waits("cortex_search", &written(&arguments)), "{arguments} as a string");
        // A tool that answers without the index waits for nothing, whatever it is given.
        assert!(!waits("search_memory_nodes", &arguments), "{arguments}");
    }
    for arguments in [
        Value::Null,
        json!({}),
        json!([{ "wait_ms": 50 }]),
        json!("wait_ms"),
        json!({ "query": "wait_ms" }),
        json!({ "query": "lock", "wait_ms": null, "min_generation": " " }),
        json!({ "query": "lock", "wait_ms": "soon" }),
    ] {
        assert!(!waits("cortex_search", &arguments), "{arguments}");
        assert!(!waits("cortex_search", &written(&arguments)), "{arguments} as a string");
    }
}

/// A server adds warnings to a call, for example about the team that it cannot reach.
#[test]
fn warnings_of_a_call_stand_beside_those_about_its_arguments() {
    let p = project();
    let call = Call { warnings: vec!["team.url: wrong".into()], ..Call::default() };
    for (tool, arguments) in [
        ("cortex_search", json!({ "query": "lock" })),
        ("cortex_grep", json!({ "pattern": "lock" })),
        ("cortex_read", json!({ "path": "src/lock.rs" })),
        ("cortex_related", json!({ "path": "src/lock.rs" })),
        ("cortex_status", json!({})),
    ] {
        for unknown in [false, true] {
            let mut arguments = arguments.clone();
            if unknown {
                arguments["colour"] = "red".into();
            }
            let ask = |form| {
                let tool = Tool::named(tool).unwrap();
                tool.call(&p.engine, &call, arguments.clone(), form).unwrap().to_string()
            };
            for reply in [ask(Format::Text), ask(Format::Json)] {
                assert!(reply.contains("team.url: wrong"), "{tool}: {reply}");
                assert_eq!(reply.contains("no argument `colour`"), unknown, "{tool}: {reply}");
            }
        }
    }
}

#[test]
fn a_result_of_code_does_not_say_which_chunk_of_its_file_it_is() {
    let p = project();
    let snapshot = p.engine.manager.current();
    let set = snapshot.feed(ChunkFiles::NAME).unwrap().corpus.chunks();
    let mut seen = std::collections::BTreeSet::new();
    for (tool, arguments) in [
        ("cortex_search", json!({"query": "write lock"})),
        (
            "cortex_search",
            json!({"query": "lock OR entries OR release", "mode": "exact", "limit": 50}),
        ),
        ("cortex_related", json!({"path": "src/lock.rs"})),
    ] {
        for row in p.get(tool, arguments).structured["results"].as_array().unwrap() {
            let of_file: Vec<&str> = set.by_file(text(&row["path"])).map(|e| &*e.id).collect();
            let (at, n) = (
                usize::try_from(row["chunk_index"].as_u64().unwrap()).unwrap(),
                row["total_chunks"].as_u64().unwrap(),
            );
            assert_eq!(
                (of_file[at], of_file.len() as u64),
                (text(&row["chunk_id"]), n),
                "{tool}: {row}"
            );
            seen.insert(at);
        }
    }
    assert!(seen.len() > 1, "not only first chunks: {seen:?}");
}

#[test]
fn modes_differ_and_stats_and_explanations_come_when_asked_for() {
    let p = project();
    let a = p.get(
        "cortex_search",
        json!({"query": "write lock", "mode": "Semantic", "explain": "true", "include_stats": 1}),
    );
    let terms = a.structured["results"][0]["explain"].as_array().unwrap();
    assert!(terms.len() == 1 && terms[0]["feature"] == "meaning", "{terms:?}");
    assert!(
        a.structured["stats"]["chunks"].as_u64().unwrap() > 4 && a.text.contains("searched"),
        "{}",
        a.text
    );
    let a = p.get("cortex_search", json!({"query": "\"vectors\"", "mode": "exact"}));
    assert_eq!(paths(&a), ["src/deep/cache.rs"]);
    assert!(a.text.contains("struct VectorCache"), "{}", a.text);
    assert_eq!(a.structured.get("stats"), None);
}

#[test]
fn exact_mode_counts_chunks_and_explains_its_syntax() {
    let p = project();
    let exact = |query: &str| json!({"query": query, "mode": "exact"});
    let a =
        p.get("cortex_search", json!({"query": "\"write lock\"", "mode": "exact", "limit": "1"}));
    assert_eq!(a.structured["results"].as_array().unwrap().len(), 1);
    assert!(a.structured["total"].as_u64().unwrap() >= 3, "{}", a.text);
    let e = p.error("cortex_search", exact("\"lock"));
    assert!(e.contains("not well-formed") && e.contains("field:word"), "{e}");
    let mut documents = exact("lock");
    documents["types"] = "documentation".into();
    documents["paths"] = json!(["docs/**"]);
    assert_eq!(paths(&p.get("cortex_search", documents)), ["docs/guide.md"]);
}

#[test]
fn lines_are_counted_in_all_files() {
    let p = project();
    for argument in ["pattern", "query"] {
        let a = p.get("cortex_grep", json!({ argument: "write lock" }));
        assert!(a.text.contains("2 matching lines in 2 files"), "{}", a.text);
        assert!(a.text.contains("\nsrc/lock.rs\n"), "{}", a.text);
    }
}

#[test]
fn code_that_is_no_exact_query_is_taken_as_a_phrase() {
    let p = project();
    let ask = |query: &str| p.get("cortex_search", json!({"query": query, "mode": "exact"}));
    for query in ["acquire_lock(", "path::acquire_lock\\(", "error: {}", "-> Lock {"] {
        let a = ask(query);
        assert!(
            a.text.starts_with("warning: ") && warnings(&a).contains("searched as a phrase"),
            "{query}: {}",
            a.text
        );
    }
    assert_eq!(paths(&ask("pub fn acquire_lock(")), ["src/lock.rs"]);
}

#[test]
fn pages_follow_one_another_and_tell_when_the_index_changed_between_them() {
    let p = project();
    let ask = |cursor: Value| {
        p.get("cortex_search", json!({"query": "lock", "limit": 1, "cursor": cursor}))
    };
    let (mut seen, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let a = ask(cursor);
        seen.extend(paths(&a).iter().map(ToString::to_string));
        cursor = a.structured["next_cursor"].clone();
        if cursor.is_null() {
            break;
        }
        assert!(a.text.contains(&format!("more: cursor {}", text(&cursor))), "{}", a.text);
    }
    let all = p.get("cortex_search", json!({"query": "lock"}));
    assert_eq!(seen, paths(&all));
    assert!(seen.len() > 2);
    let first = ask(Value::Null).structured["next_cursor"].clone();
    p.publish(&chunk_file("src/lock.rs", LOCK));
    let a = ask(first);
    assert!(
        warnings(&a).contains("the index changed") && a.text.starts_with("warning: "),
        "{}",
        a.text
    );
    for bad in ["x", "1.", "g.1", "-1.2"] {
        let e = p.error("cortex_search", json!({"query": "lock", "cursor": bad}));
        assert!(e.contains("next_cursor"), "{e}");
    }
    assert!(ask(json!("1.ffffffffffffffff")).text.contains("no more results"));
}

#[test]
fn arguments_are_read_as_agents_write_them() {
    let p = project();
    let a = p.get(
        "cortex_search",
        json!({"query": "lock", "limit": "2", "types": "definitions,Documentation", "languages": "Rust, markdown", "paths": "*.{rs,md}", "tags": "", "cursor": "",
            "max_tokens": "900000", "wait_ms": "0", "explain": "no", "mode": null}),
    );
    assert_eq!(paths(&a).len(), 2);
    let others = p.get("cortex_search", json!({"query": "lock", "languages": "!Rust, !markdown"}));
    assert!(!paths(&others).is_empty());
    assert!(paths(&others).iter().all(|path| path.contains(".py")), "{}", others.text);
    let same = p.get(
        "cortex_search",
        Value::from("{\"query\": \"lock\", \"limit\": 2.0, \"types\": \"[\\\"definitions\\\"]\"}"),
    );
    assert_eq!(paths(&same).len(), 2);
    for (arguments, says) in [
        (json!({"query": "x", "limit": 500}), "limit is 500: give 1 to 100"),
        (json!({"query": "x", "limit": "many"}), "limit is `many`: give 1 to 100"),
        (
            json!({"query": "x", "types": "code"}),
            "types is `code`: give one of symbols, definitions, data, documentation",
        ),
        (
            json!({"query": "x", "mode": "fast"}),
            "mode is `fast`: give one of hybrid, semantic, exact",
        ),
        (json!({"query": "x", "explain": "perhaps"}), "explain is `perhaps`: give true or false"),
        (json!({"query": "x", "paths": "src/["}), "paths: `src/[` is not a glob"),
        (json!({"query": "  "}), "query is missing: A question"),
        (json!({"query": {"a": 1}}), "query is {\"a\":1}: give a string"),
        (json!([1]), "not a JSON object"),
    ] {
        let e = p.error("cortex_search", arguments);
        assert!(e.contains(says), "{e}");
    }
}

#[test]
fn arguments_that_would_cost_the_server_its_life_are_refused() {
    let p = project();
    let nested = "{".repeat(40_000) + &"}".repeat(40_000);
    assert!(
        p.error("cortex_search", json!({"query": "a", "paths": [nested]})).contains("globs"),
        "they are compiled recursively"
    );
    assert!(
        p.error("cortex_search", json!({"query": "a", "paths": vec!["*.rs"; 1000]}))
            .contains("globs")
    );
    assert!(
        p.error("cortex_read", json!({"path": "a".repeat(900_000)})).contains("longer"),
        "it is compared with every path"
    );
}

#[test]
fn unknown_arguments_and_languages_are_told_and_harm_nothing() {
    let p = project();
    let a = p.get("cortex_search", json!({"query": "lock", "langauges": "rust", "k": 3}));
    assert!(!paths(&a).is_empty());
    assert!(warnings(&a).contains("did you mean `languages`"), "{}", warnings(&a));
    assert!(a.text.starts_with("warning: there is no argument"), "{}", a.text);
    let a = p.get("cortex_search", json!({"query": "lock", "languages": "cobol"}));
    assert!(
        warnings(&a).contains("cobol; the languages are markdown, python, rust")
            && a.text.contains("nothing found"),
        "{}",
        a.text
    );
}

#[test]
fn related_code_is_in_other_files() {
    let p = project();
    let a = p.get("cortex_related", json!({"path": "./src/lock.rs", "line": 2}));
    assert!(
        text(&a.structured["chunk"]["chunk_id"]).starts_with("src/lock.rs#"),
        "{}",
        a.structured
    );
    assert!(!paths(&a).is_empty() && !paths(&a).contains(&"src/lock.rs"), "{}", a.text);
    let by_id = p.get("cortex_related", json!({"chunk_id": a.structured["chunk"]["chunk_id"]}));
    assert_eq!(paths(&by_id), paths(&a));
    assert!(p.error("cortex_related", json!({})).contains("chunk_id, or path and line"));
    assert!(
        p.error("cortex_related", json!({"chunk_id": "nobody"}))
            .contains("there is no chunk `nobody`")
    );
    assert!(
        p.error("cortex_related", json!({"path": "src/lock.rs", "line": 4000}))
            .contains("no line 4000")
    );
}

#[test]
fn the_outline_of_a_file_nests_and_that_of_a_directory_lists() {
    let p = project();
    let a = p.get("cortex_outline", json!({"path": "src/lock.rs"}));
    let symbols: Vec<(&str, &str, u64)> = a.structured["symbols"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| (text(&s["kind"]), text(&s["name"]), s["depth"].as_u64().unwrap()))
        .collect();
    assert!(
        symbols.contains(&("function", "acquire_lock", 0))
            && symbols.iter().any(|s| s.1 == "release" && s.2 == 1),
        "{symbols:?}"
    );
    let flat = p.get("cortex_outline", json!({"path": "src/lock.rs", "depth": 0}));
    assert!(!flat.text.contains("release"), "{}", flat.text);
    let guide = p.get("cortex_outline", json!({"path": "docs/guide.md"}));
    assert!(guide.text.contains("section Guide"), "{}", guide.text);
    let root = p.get("cortex_outline", json!({}));
    assert_eq!(root.structured["total_files"], 4);
    assert!(root.text.contains("src/deep/cache.rs: struct VectorCache"), "{}", root.text);
    let shallow = p.get("cortex_outline", json!({"path": "src/", "depth": 0}));
    assert!(
        shallow.text.contains("src/deep/ 1 file\n") && shallow.text.contains("src/lock.rs: "),
        "{}",
        shallow.text
    );
    let e = p.error("cortex_outline", json!({"path": "src/lok.rs"}));
    assert!(e.contains("not in the index") && e.contains("src/lock.rs"), "{e}");
}

#[test]
fn a_large_tree_collapses_before_it_exceeds_the_budget() {
    let files: Vec<(String, String)> = (0..300)
        .map(|i| {
            (
                format!("d{}/e{}/file_{i}.rs", i % 7, i % 3),
                format!("pub fn function_{i}() {{}}\npub struct Type{i};\n"),
            )
        })
        .collect();
    let p = with_files(&files.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect::<Vec<_>>());
    let mut most = 0;
    for max_tokens in [200, 1000, 5000, 12_000, 20_000] {
        let a = p.get("cortex_outline", json!({"max_tokens": max_tokens}));
        assert!(cost_of(&a) <= max_tokens, "{max_tokens}: {}", cost_of(&a));
        assert_eq!(a.structured["total_files"], 300);
        let note = a.structured.get("note").map(text);
        assert!(note.is_none_or(|note| note.contains("max_tokens")), "{note:?}");
        assert!(a.text.len() >= most, "a larger budget must not show less");
        most = a.text.len();
    }
    let a = p.get("cortex_outline", json!({"max_tokens": 1000}));
    assert_eq!(
        a.structured["directories"]
            .as_array()
            .unwrap()
            .iter()
            .map(|d| d["files"].as_u64().unwrap())
            .sum::<u64>(),
        300
    );
}

fn cost_of(a: &Both) -> usize {
    crate::text::tokens(&a.text).max(crate::text::tokens(&a.structured.to_string()))
}

#[test]
fn lines_are_read_from_disk_and_numbered() {
    let p = project();
    let a = p.get("cortex_read", json!({"path": "src/lock.rs", "lines": "2-3"}));
    assert_eq!(
        a.structured["content"],
        "pub fn acquire_lock(path: &str) -> Lock {\n    let file = open(path);"
    );
    assert!(
        a.text.contains("    2 pub fn acquire_lock") && a.text.contains("of 18 lines"),
        "{}",
        a.text
    );
    assert_eq!(a.structured["changed"], false);
    let found = p.get("cortex_search", json!({"query": "VectorCache", "limit": 1}));
    let a = p.get("cortex_read", json!({"chunk_id": found.structured["results"][0]["chunk_id"]}));
    assert!(text(&a.structured["content"]).contains("pub struct VectorCache"), "{}", a.text);
    for (arguments, says) in [
        (json!({"path": "src/lock.rs", "lines": "99-"}), "there is no line 99"),
        (json!({"path": "src/lock.rs", "lines": "9-3"}), "before they begin"),
        (json!({"path": "src/lock.rs", "lines": "a-b"}), "like 10-40"),
        (json!({}), "Give places"),
    ] {
        let e = p.error("cortex_read", arguments);
        assert!(e.contains(says), "{e}");
    }
}

#[test]
fn a_changed_file_is_told_and_a_moved_chunk_is_read_where_it_is() {
    let p = project();
    let chunks = p.engine.manager.current();
    let chunk = chunks
        .feed(ChunkFiles::NAME)
        .unwrap()
        .corpus
        .chunks()
        .by_file("src/deep/cache.rs")
        .find(|e| e.chunk_type == ChunkType::Definitions)
        .unwrap()
        .chunk()
        .unwrap();
    p.write("src/deep/cache.rs", &format!("// new\n// lines\n{CACHE}"));
    let a = p.get("cortex_read", json!({"chunk_id": &*chunk.id}));
    assert_eq!((&a.structured["changed"], &a.structured["start_line"]), (&json!(true), &json!(3)));
    assert_eq!(text(&a.structured["content"]), chunk.text);
    assert!(a.text.starts_with("warning: the file changed"), "{}", a.text);
    fs::remove_file(p.dir.path().join("src/deep/cache.rs")).unwrap();
    let a = p.get("cortex_read", json!({"chunk_id": &*chunk.id}));
    assert!(
        text(&a.structured["content"]).contains("VectorCache")
            && warnings(&a).contains("as it was indexed"),
        "{}",
        a.text
    );
}

#[test]
fn nothing_outside_the_index_is_read() {
    let p = project();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("secret"), "secret").unwrap();
    p.write("unindexed.env", "TOKEN=secret");
    std::os::unix::fs::symlink(outside.path().join("secret"), p.dir.path().join("link")).unwrap();
    fs::remove_file(p.dir.path().join("tool.py")).unwrap();
    std::os::unix::fs::symlink(outside.path().join("secret"), p.dir.path().join("tool.py"))
        .unwrap();
    for (path, says) in [
        ("unindexed.env", "not in the index"),
        ("link", "not in the index"),
        ("tool.py", "symbolic link"),
        ("src/../../etc/passwd", "leads out of the project"),
        ("/etc/passwd", "outside the project"),
        (".cortex/config.toml", "not in the index"),
    ] {
        let e = p.error("cortex_read", json!({"path": path}));
        assert!(e.contains(says) && !e.contains("TOKEN"), "{path}: {e}");
    }
    let foreign = |id: &str, path: Option<&str>| Chunk {
        id: id.into(),
        title: "note".into(),
        text: "what is remembered".into(),
        chunk_type: ChunkType::Documentation,
        embedding: None,
        tags: Vec::new(),
        metadata: Metadata {
            file_path: path.map(String::from),
            start_line: path.map(|_| 1),
            end_line: path.map(|_| 1),
            ..Metadata::default()
        },
        created_at: chrono::DateTime::UNIX_EPOCH,
        updated_at: chrono::DateTime::UNIX_EPOCH,
    };
    p.publish(&[
        foreign("note", None),
        foreign("evil", Some("../../etc/passwd")),
        foreign("worse", Some("/etc/passwd")),
    ]);
    for id in ["note", "evil", "worse"] {
        let a = p.get("cortex_read", json!({"chunk_id": id}));
        assert_eq!(a.structured["content"], "what is remembered", "{}", a.text);
    }
    assert!(p.error("cortex_read", json!({"path": "/etc/passwd"})).contains("outside the project"));
    // A link or a secret within the project does not bypass the rules of indexing.
    p.write(".env", "TOKEN=secret");
    fs::remove_file(p.dir.path().join("tool.py")).unwrap();
    std::os::unix::fs::symlink(".env", p.dir.path().join("tool.py")).unwrap();
    p.publish(&[
        foreign("tool", Some("tool.py")),
        foreign("env", Some(".env")),
        foreign("git", Some(".git/config")),
        foreign("key", Some("keys/id_rsa")),
    ]);
    p.write("keys/id_rsa", "secret");
    for path in [".env", ".git/config", "keys/id_rsa"] {
        let message = p.error("cortex_read", json!({"path": path}));
        assert!(message.contains("not read") && !message.contains("secret"), "{message}");
    }
    assert!(p.error("cortex_read", json!({"path": "tool.py"})).contains("symbolic link"));
}

/// Every tool takes the addresses that people and agents have.
#[test]
fn places_are_named_as_people_name_them() {
    let p = project();
    let absolute = p.dir.path().canonicalize().unwrap().join("src/lock.rs:9-11");
    for (path, first, last) in [
        ("src/lock.rs:9-11", 9, 11),
        ("lock.rs:9-11", 9, 11),
        ("./src/lock.rs#L9-L11", 9, 11),
        ("src/deep/../lock.rs:9", 9, 9),
        ("src/lock.rs:9:5", 9, 9),
        ("src\\lock.rs(9,5)", 9, 9),
        ("/build/elsewhere/src/lock.rs:9", 9, 9),
        ("src/lock.rs#Lock::release", 14, 17),
        ("src/lock.rs#release", 14, 17),
        ("docs/guide.md#Locks", 5, 7),
        ("Lock::release", 14, 17),
        ("release()", 14, 17),
        (absolute.to_str().unwrap(), 9, 11),
    ] {
        let a = p.get("cortex_read", json!({"path": path}));
        assert_eq!(
            (&a.structured["start_line"], &a.structured["end_line"]),
            (&json!(first), &json!(last)),
            "{path}: {}",
            a.text
        );
    }
    let a = p.get("cortex_read", json!({"path": "src/lock.rs", "offset": 3, "limit": 2}));
    assert_eq!((&a.structured["start_line"], &a.structured["end_line"]), (&json!(3), &json!(4)));
    let a = p.get("cortex_related", json!({"path": "lock.rs:9"}));
    assert!(a.text.contains("related to src/lock.rs:"), "{}", a.text);
    let a = p.get("cortex_outline", json!({"path": "lock.rs"}));
    assert!(a.text.contains("acquire_lock"), "{}", a.text);
    let a = p.get("cortex_read", json!({"path": "src/lock.rs", "lines": "2-3, 9,14-"}));
    let more = a.structured["more"].as_array().unwrap();
    let ranges: Vec<_> = more
        .iter()
        .map(|r| (r["start_line"].as_u64().unwrap(), r["end_line"].as_u64().unwrap()))
        .collect();
    assert_eq!((&a.structured["start_line"], &a.structured["end_line"]), (&json!(2), &json!(3)));
    assert_eq!(ranges[0], (9, 9), "{}", a.text);
    assert_eq!(ranges[1].0, 14, "{}", a.text);
    assert_eq!(a.text.matches("    …").count(), 2, "{}", a.text);
    let e = p.error("cortex_read", json!({"path": "NoSuchThing"}));
    assert!(e.contains("`NoSuchThing` is not in the index"), "{e}");
    let e = p.error("cortex_read", json!({"path": "src/lock.rs#aquire_lock"}));
    assert!(e.contains("has no symbol") && e.contains("similar: acquire_lock"), "{e}");
}

/// Returns the ranges of lines of a place that was read.
fn ranges(place: &Value) -> Vec<(u64, u64)> {
    let more = place["more"].as_array().into_iter().flatten();
    let range = |r: &Value| (r["start_line"].as_u64().unwrap(), r["end_line"].as_u64().unwrap());
    std::iter::once(place).chain(more).map(range).collect()
}

#[test]
fn many_places_are_read_in_one_call_and_a_bad_one_loses_no_other() {
    let p = project();
    let places = [
        "src/lock.rs:9-11,2-3",
        "src/deep/cache.rs#VectorCache::clear",
        "src/nowhere.rs",
        "Lock::release",
        "src/lock.rs:3-4",
        "docs/guide.md",
        "src/lock.rs:99",
        "docs/guide.md",
    ];
    let a = p.get("cortex_read", json!({"places": places}));
    let rows = a.structured["places"].as_array().unwrap();
    let read: Vec<_> = rows.iter().map(|row| text(&row["path"])).collect();
    assert_eq!(read, ["src/lock.rs", "src/deep/cache.rs", "", "docs/guide.md", ""], "{}", a.text);
    assert_eq!(ranges(&rows[0]), [(2, 4), (9, 11), (14, 17)], "ranges that touch are one");
    assert_eq!(
        rows[0]["asked"],
        json!(["src/lock.rs:9-11,2-3", "Lock::release", "src/lock.rs:3-4"])
    );
    assert!(text(&rows[0]["content"]).ends_with("let file = open(path);\n    file.lock();"));
    assert_eq!(ranges(&rows[1]), [(7, 9)]);
    assert_eq!(ranges(&rows[3]), [(1, 7)]);
    assert!(text(&rows[2]["error"]).contains("there is no such file"), "{}", rows[2]);
    assert!(text(&rows[4]["error"]).contains("the last one is 18"), "{}", rows[4]);
    let at = |what: &str| a.text.find(what).unwrap_or_else(|| panic!("{what}: {}", a.text));
    let order = [
        "src/lock.rs:2-4,9-11,14-17 of 18 lines\n    2 pub fn acquire_lock",
        "src/deep/cache.rs:7-9 of",
        "src/nowhere.rs: `src/nowhere.rs` is not in the index",
        "docs/guide.md:1-7 of",
        "src/lock.rs:99: there is no line 99",
    ];
    assert!(order.map(at).is_sorted(), "{}", a.text);

    let e = p.error("cortex_read", json!({"places": ["src/nowhere.rs", "NoSuchThing"]}));
    assert!(e.contains("src/nowhere.rs: ") && e.contains("NoSuchThing: "), "{e}");
    let e = p.error("cortex_read", json!({"places": ["src/lock.rs", "tool.py"], "lines": "1-2"}));
    assert!(e.contains("write the lines behind each place"), "{e}");
    let many: Vec<String> = (1..=101).map(|line| format!("src/lock.rs:{line}")).collect();
    assert!(p.error("cortex_read", json!({"places": many})).contains("at most 100"), "too many");
}

#[test]
fn one_place_of_a_list_is_answered_as_a_path_is() {
    let p = project();
    let of_path = p.get("cortex_read", json!({"path": "src/lock.rs:2-3"}));
    for arguments in [
        json!({"places": ["src/lock.rs:2-3"]}),
        json!({"places": "src/lock.rs", "lines": "2-3"}),
        json!({"places": ["src/lock.rs:2-3", "src/lock.rs:2-3"]}),
    ] {
        assert_eq!(p.get("cortex_read", arguments.clone()).text, of_path.text, "{arguments}");
    }
}

#[test]
fn a_chunk_id_is_a_place() {
    let p = project();
    let places = ["src/lock.rs#@outline", "docs/guide.md:7"];
    let a = p.get("cortex_read", json!({"places": places}));
    let rows = a.structured["places"].as_array().unwrap();
    assert_eq!((ranges(&rows[0]), ranges(&rows[1])), (vec![(1, 18)], vec![(7, 7)]), "{}", a.text);
}

#[test]
fn places_are_taken_in_the_forms_that_models_give_them() {
    let p = project();
    let two = ["src/lock.rs:2-3,9-11", "docs/guide.md"];
    for arguments in [
        json!({"places": two}),
        json!({"places": two.join(", ")}),
        json!({"places": two.join("\n")}),
        json!({"places": json!(two).to_string()}),
        json!({"paths": two}),
        json!({"files": two}),
        json!({"path": two}),
        json!({"file_path": two}),
        json!({"file_paths": two}),
        json!({"places": [{"path": "src/lock.rs", "lines": "2-3,9-11"}, {"file_path": "docs/guide.md"}]}),
        json!({"places": [{"file": "src/lock.rs", "start_line": 2, "end_line": 3}, "src/lock.rs:9-11", two[1]]}),
    ] {
        let a = p.get("cortex_read", arguments.clone());
        assert_eq!(a.structured.get("warnings"), None, "{arguments}");
        let rows = a.structured["places"].as_array().unwrap();
        let read: Vec<_> = rows.iter().map(|row| (text(&row["path"]), ranges(row))).collect();
        let wanted = [("src/lock.rs", vec![(2, 3), (9, 11)]), ("docs/guide.md", vec![(1, 7)])];
        assert_eq!(read, wanted, "{arguments}");
    }
}

#[test]
fn a_whole_file_is_read_without_its_licence_and_imports() {
    let head = "// Copyright us.\n// All rights reserved.\n\n//! Pumps water.\n\nuse std::fs;\nuse std::io;\nuse std::path::Path;\n\n";
    let body = |n: usize| -> String { (0..n).map(|i| format!("pub fn f{i}() {{\n}}\n")).collect() };
    let (long, short) = (format!("{head}{}", body(30)), format!("{head}{}", body(25)));
    let imports = (0..80).map(|i| format!("use a{i};\n")).collect::<String>();
    let list = format!("{imports}\npub fn f() {{}}\n");
    let p = with_files(&[("long.rs", &long), ("short.rs", &short), ("list.rs", &list)]);
    let read = |arguments: Value| p.get("cortex_read", arguments);

    let a = read(json!({"path": "long.rs"}));
    let said = "\nlines 1-3 (licence) and 6-9 (imports) are left out; whole: true shows them\n";
    assert!(a.text.contains(said), "{}", a.text);
    assert!(a.text.contains("    4 //! Pumps water.") && a.text.contains("   10 pub fn f0"));
    assert!(!a.text.contains("use std") && !a.text.contains("Copyright"), "{}", a.text);
    assert_eq!(
        a.structured["left_out"][1],
        json!({"start_line": 6, "end_line": 9, "what": "imports"})
    );
    for arguments in [
        json!({"path": "long.rs", "whole": true}),
        json!({"path": "long.rs", "lines": "1-"}),
        json!({"path": "long.rs:1-69"}),
        json!({"path": "short.rs"}),
    ] {
        let a = read(arguments.clone());
        assert!(a.text.contains("    7 use std::io;"), "{arguments}: {}", a.text);
        assert_eq!(a.structured.get("left_out"), None, "{arguments}");
    }
    let a = read(json!({"path": "list.rs"}));
    assert!(a.text.contains("use a7;"), "a file that has little else is read whole");
    // What another place asks for is not left out.
    let a = read(json!({"places": ["long.rs", "long.rs:7"]}));
    let row = &a.structured["places"][0];
    assert_eq!(ranges(row), [(4, 5), (7, 7), (10, 69)]);
    assert_eq!(row["left_out"].as_array().unwrap().len(), 1, "{row}");
}

#[test]
fn short_places_are_whole_and_what_is_left_is_named_for_the_next_call() {
    let lines = |name: &str, n: usize| -> String {
        (0..n).map(|i| format!("pub fn {name}{i}() {{}}\n")).collect()
    };
    let (a, b) = (lines("a", 200), lines("b", 200));
    let p = with_files(&[("a.rs", &a), ("b.rs", &b), ("c.rs", "pub fn c() {\n}\n")]);
    let places = json!(["b.rs:1-180", "a.rs:1-150", "c.rs"]);
    let first = p.get("cortex_read", json!({"places": places, "max_tokens": 600}));
    assert!(cost_of(&first) <= 600, "{}", first.text);
    let rows = first.structured["places"].as_array().unwrap();
    let read: Vec<_> = rows.iter().map(|row| (text(&row["path"]), ranges(row))).collect();
    let (_, last) = read[0].1[0];
    assert_eq!(read, [("a.rs", vec![(1, last)]), ("c.rs", vec![(1, 2)])]);
    let next = &first.structured["next"];
    assert_eq!(*next, json!(["b.rs:1-180", format!("a.rs:{}-150", last + 1)]));
    assert!(first.text.contains("\nb.rs:1-180\na.rs:"), "{}", first.text);
    assert!(first.text.contains("of 200 lines, cut: lines "), "{}", first.text);
    let rest = p.get("cortex_read", json!({"places": next, "max_tokens": 20_000}));
    let rows = rest.structured["places"].as_array().unwrap();
    assert_eq!(ranges(&rows[0]), [(1, 180)]);
    assert_eq!(ranges(&rows[1]), [(last + 1, 150)]);
    assert_eq!(rest.structured.get("next"), None);
    // Ranges are given whole if the caller sets no limit, and whole files share what is left.
    let given = p.get("cortex_read", json!({"places": ["b.rs", "a.rs:1-190", "c.rs"]}));
    assert!(given.text.contains("  190 pub fn a189"), "{}", given.text);
    assert!(given.text.contains("    1 pub fn c()") && given.text.ends_with("(local)"));
}

#[test]
fn a_stack_trace_finds_its_first_frame_of_the_project() {
    let p = project();
    let trace = "thread 'main' panicked at /rustc/1a2b/library/core/src/option.rs:5:5:\nnone\nstack backtrace:\n   1: cache::clear\n             at \
                 /builds/ci/src/deep/cache.rs:8:9\n   2: main\n             at ./src/lock.rs:16:1\n";
    let a = p.get("cortex_search", json!({"query": trace}));
    assert!(
        a.text
            .starts_with("src/deep/cache.rs:8  method VectorCache::clear\n    7     pub fn clear"),
        "{}",
        a.text
    );
    assert!(a.text.contains("\nsrc/lock.rs:16  method Lock::release\n"), "{}", a.text);
}

#[test]
fn globs_exclude_and_lists_work_and_one_without_files_says_so() {
    let p = project();
    let found = |globs: &str| p.get("cortex_search", json!({"query": "lock", "paths": globs}));
    assert_eq!(paths(&found("docs,tool.py")).len(), 2);
    assert!(paths(&found("!docs,!*.py")).iter().all(|p| p.starts_with("src/")));
    assert!(paths(&found("src/**,!src/deep")).iter().all(|p| *p == "src/lock.rs"));
    assert!(warnings(&found("sources/**")).contains("no indexed file matches sources/**"));
    let lines = p.get("cortex_grep", json!({"pattern": "lock", "paths": "*.{rs,py},!tool.*"}));
    assert_eq!(lines.structured["total_files"], 1, "{}", lines.text);
}

#[test]
fn a_long_file_is_read_in_parts_that_fit() {
    let long: String =
        (0..500).map(|i| format!("pub fn f{i}() -> &'static str {{ \"{i}\" }}\n")).collect();
    let p = with_files(&[("long.rs", &long)]);
    let (mut next, mut lines) = (Value::from(1), Vec::new());
    while !next.is_null() {
        let a = p.get("cortex_read", json!({"path": "long.rs", "lines": format!("{next}-")}));
        assert!(crate::text::tokens(&a.text) <= 2000);
        lines.extend(text(&a.structured["content"]).lines().map(String::from));
        next = a.structured["next_start_line"].clone();
    }
    assert_eq!(lines.join("\n") + "\n", long);
    p.write("long.rs", &"x".repeat(100_000));
    let a = p.get("cortex_read", json!({"path": "long.rs", "max_tokens": 500}));
    assert!(cost_of(&a) <= 500 && warnings(&a).contains("is cut"), "{}", a.text);
}

#[test]
fn the_status_counts_and_an_empty_index_says_what_to_do() {
    let p = project();
    let a = p.get("cortex_status", json!({}));
    assert_eq!(
        (&a.structured["files"], &a.structured["languages"]["rust"]),
        (&json!(4), &json!(2))
    );
    assert!(
        a.structured["reload"]["successful"].as_u64().unwrap() > 0
            && a.structured["indexing"]["leads"] == false
    );
    assert!(
        a.text.contains("2 rust") && a.text.contains(Path::new(p.dir.path()).to_str().unwrap()),
        "{}",
        a.text
    );
    let of_past = ["cortex_why", "cortex_history", "cortex_changes"];
    for tool in of_groups(&[ToolGroup::Search]).into_iter().filter(|t| {
        !of_past.contains(&t.name) && !["cortex_read", "cortex_related"].contains(&t.name)
    }) {
        let arguments = match tool.name {
            "cortex_explore" => json!({"about": ["x"]}),
            "cortex_search" => json!({"query": "x"}),
            "cortex_grep" => json!({"pattern": "x"}),
            _ => json!({}),
        };
        let a = empty().get(tool.name, arguments);
        assert!(a.text.starts_with("warning: there is no index: run `cortex index`"), "{}", a.text);
    }
}

#[test]
fn a_generation_that_does_not_come_is_told_and_a_cancelled_call_ends() {
    let p = project();
    let a =
        p.get("cortex_search", json!({"query": "lock", "min_generation": 1_000_000, "wait_ms": 1}));
    assert!(
        warnings(&a).contains("generation 1000000 was not reached") && !paths(&a).is_empty(),
        "{}",
        a.text
    );
    let call = Call::default();
    call.cancel.store(true, Ordering::Relaxed);
    let answer = Tool::named("cortex_search").unwrap().call(
        &p.engine,
        &call,
        json!({"query": "lock"}),
        Format::Text,
    );
    assert_eq!(answer, Err(AskError::Cancelled));
}

#[test]
fn schemas_are_plain_and_say_everything() {
    fn check(schema: &Value, at: &str, described: bool) {
        for key in ["anyOf", "oneOf", "allOf", "$ref", "$defs", "format", "title"] {
            assert!(schema.get(key).is_none(), "{at}: {key}");
        }
        assert!(schema["type"].is_string(), "{at}: {schema}");
        assert_ne!(schema.get("additionalProperties"), Some(&json!(false)), "{at}");
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            let description = text(&property["description"]);
            assert!(!described || !description.is_empty(), "{at}.{name} has no description");
            assert!(description.chars().count() <= 125, "{at}.{name}: {description}");
            check(property, &format!("{at}.{name}"), described);
        }
        for key in ["items", "additionalProperties"] {
            schema
                .get(key)
                .into_iter()
                .for_each(|inner| check(inner, &format!("{at}[]"), described));
        }
    }
    for tool in ALL {
        check(&Value::Object((tool.input_schema)()), tool.name, true);
        check(&Value::Object((tool.output_schema)()), tool.name, true);
        assert!(
            tool.description.chars().count() <= 350,
            "{}: {}",
            tool.name,
            tool.description.chars().count()
        );
    }
    let search = Tool::named("cortex_search").unwrap();
    let search = Value::Object((search.input_schema)());
    assert_eq!(search["required"], json!(["query"]));
    assert_eq!(search["properties"]["mode"]["enum"], json!(["hybrid", "semantic", "exact"]));
    assert_eq!(search["properties"]["mode"]["default"], "hybrid");
    assert_eq!(
        search["properties"]["limit"],
        json!({"type": "integer", "minimum": 1, "maximum": 100, "default": 15, "description": "Maximum number of results; in a text each is a file. Without it, a text names few without code."})
    );
}

#[derive(Clone, Serialize, JsonSchema)]
struct Probe {
    rows: Vec<ResultRow>,
    state: AnswerState,
}

impl Reply for Probe {
    fn state(&self) -> &AnswerState {
        &self.state
    }

    fn shown(&self, _: &dyn Look) -> Vec<String> {
        self.rows.iter().flat_map(|row| hits::row_lines(&super::reply::Plain, row)).collect()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A reply fits its limit. Its lines are those of the file, with their numbers, and if
    /// everything fits, nothing is left out.
    #[test]
    fn replies_fit_and_quote_the_files(
        chunks in prop::collection::vec(("[a-z/]{1,60}", prop::collection::vec("[a-z][ -~\\t\u{e9}]{0,189}", 1..30)), 1..20),
        max_tokens in 200..6000usize,
        explain: bool,
        as_json: bool,
    ) {
        // A file has one result here.
        let chunks: Vec<(String, Vec<String>)> =
            chunks.into_iter().enumerate().map(|(i, (path, lines))| (format!("{path}{i}"), lines)).collect();
        let chunk = |i: usize, path: &str, lines: &[String]| Arc::new(Chunk {
            id: format!("{path}#{i}").into(),
            title: String::new(),
            text: lines.join("\n"),
            chunk_type: ChunkType::Definitions,
            embedding: None,
            tags: Vec::new(),
            metadata: Metadata {
                file_path: Some(path.into()),
                start_line: Some(3),
                end_line: u32::try_from(lines.len() + 2).ok(),
                ..Metadata::default()
            },
            created_at: chrono::DateTime::UNIX_EPOCH,
            updated_at: chrono::DateTime::UNIX_EPOCH,
        });
        let hits: Vec<Hit> = chunks.iter().enumerate().map(|(i, (path, lines))| Hit {
            part: 0,
            path: path.as_str().into(),
            chunk: chunk(i, path, lines),
            lines: None,
            line: None,
            definition: None,
            note: None,
            nth: 0,
            parts: vec![(Arc::new(chunk(i, path, lines).into()), 1.0)],
            others: Vec::new(),
            score: 1.0 - i as f64 / 10.0,
            terms: vec![Term { feature: "chunk_words", value: 0.123_456, weight: 3.5 }],
            changed_by: None,
            coverage: 1.0,
        }).collect();
        let excerpts = Excerpts::new(hits.iter(), "a lock", &mut QueryWords::default());
        let hits: Vec<ResultRow> = hits.into_iter().map(|hit| ResultRow::new(Arc::new(hit), &ChunkSet::default(), explain)).collect();
        let build = |level| Probe { rows: ResultRow::at(&hits, &excerpts, level), state: AnswerState::default() };
        let format = if as_json { Format::Json } else { Format::Text };
        let budget = budget::TokenBudget::default().or(if as_json { max_tokens.div_ceil(4) } else { max_tokens }, format);
        let reply = budget::fit(budget, excerpts.top(), build);
        prop_assert!(budget.cost(&reply) <= budget.limit().max(budget.cost(&build(0))), "{} > {max_tokens}", budget.cost(&reply));
        for (row, (_, lines)) in reply.rows.iter().zip(&chunks) {
            for window in row.excerpts.iter().flat_map(|p| &p.windows) {
                for (i, line) in window.text.split('\n').enumerate() {
                    prop_assert_eq!(line, &lines[window.start_line as usize - 3 + i]);
                }
            }
        }
        let all = build(excerpts.top());
        prop_assert!(budget.cost(&all) > budget.limit() || serde_json::to_string(&all).unwrap() == serde_json::to_string(&reply).unwrap());
        let shown: usize = all.rows.iter().flat_map(|r| &r.excerpts).flat_map(|p| &p.windows).map(|b| b.text.split('\n').count()).sum();
        let kept = |lines: &[String]| {
            let first = lines.iter().position(|l| !l.trim().is_empty());
            let last = lines.iter().rposition(|l| !l.trim().is_empty());
            first.zip(last).map_or(0, |(a, b)| b - a + 1)
        };
        let most: usize = chunks.iter().take(excerpt::MAX_FILES).map(|(_, lines)| kept(lines)).sum();
        let blank: usize = chunks.iter().flat_map(|(_, l)| l).filter(|l| l.trim().is_empty()).count();
        prop_assert!((most - blank.min(most)..=most).contains(&shown), "{shown} of {most} lines are shown at the end");
    }
}

/// Bug: `cortex_read` ended a requested range with "more: lines N-", often a few lines before the end of
/// the function, and needed a second call.
#[test]
fn a_range_and_a_symbol_are_given_whole() {
    let body = |n: usize| -> String {
        (0..n).map(|i| format!("    let value_{i} = compute(value_{i}, \"{i}\");\n")).collect()
    };
    let long = format!("fn long() {{\n{}}}\n\nfn later() {{\n{}}}\n", body(407), body(700));
    let p = with_files(&[("src/long.rs", &long)]);
    for (arguments, last) in [
        (json!({"path": "src/long.rs", "lines": "2-380"}), 380_usize),
        (json!({"path": "src/long.rs#long"}), 409),
        (json!({"path": "src/long.rs", "lines": "1-405"}), 405),
        (json!({"path": "src/long.rs", "lines": "1-1005"}), 1005),
    ] {
        let a = p.get("cortex_read", arguments.clone());
        let mut numbers =
            a.text.lines().filter_map(|line| line.split_whitespace().next()?.parse().ok());
        assert_eq!(numbers.next_back(), Some(last), "{arguments}");
    }
    // What is longer says in its first line that it is cut.
    let a = p.get("cortex_read", json!({"path": "src/long.rs", "lines": "2-1100"}));
    let first = a.text.lines().find(|line| line.contains("of 1112 lines")).unwrap();
    assert!(first.contains("cut: lines 1002- are left out"), "{first}");
    let a =
        p.get("cortex_read", json!({"path": "src/long.rs", "lines": "2-380", "max_tokens": 200}));
    assert!(a.text.lines().count() < 40, "the limit of a caller counts");
}

/// Bug: a common name had every line printed; with `count`, the symbols were lost.
#[test]
fn grep_counts_the_lines_of_each_symbol() {
    let p = with_files(&[(
        "src/a.rs",
        "fn one() {\n    run();\n    run();\n}\n\nfn two() {\n    run();\n}\n",
    )]);
    let a = p.get("cortex_grep", json!({"pattern": "run()", "symbols": true}));
    let lines: Vec<&str> = a.text.lines().filter(|line| line.starts_with(' ')).collect();
    assert_eq!(lines, [" one: 2 lines from 2", " two: 1 line from 7"], "{}", a.text);
    let a = p.get("cortex_grep", json!({"pattern": "run()", "symbols": true, "limit": 1}));
    let cursor = text(&a.structured["next_cursor"]);
    let a = p.get("cortex_grep", json!({"pattern": "run()", "symbols": true, "cursor": cursor}));
    assert!(a.text.contains("two: 1 line") && !a.text.contains("one:"), "{}", a.text);
}

/// Files in which every line of production code is hidden behind those of tests and translations.
fn with_many_files(more: &[(&str, &str)]) -> Project {
    let many = |folder: &str, end: &str, text: &str, n: usize| -> Vec<(String, String)> {
        (0..n).map(|i| (format!("{folder}{i:03}{end}"), text.to_string())).collect()
    };
    let mut files = many("app/locales/messages", ".yml", "de:\n  cart_total: Summe\n", 50);
    files.extend(many("db/migrate/20240101", "_cart.rb", "add_column :cart_total\n", 60));
    files.extend(many("app/__snapshots__/cart", ".snap", "cart_total: 1\n", 30));
    files.extend(many("vendor/shop/cart", ".rb", "cart_total = 1\n", 20));
    files.push(("test/a_test.rb".into(), "cart_total\n".repeat(14)));
    files.push(("test/b_test.rb".into(), "cart_total\n".repeat(9)));
    let more = more.iter().map(|(path, text)| ((*path).to_string(), (*text).to_string()));
    files.extend(more);
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (&**path, &**text)).collect();
    with_files(&files)
}

#[test]
fn grep_counts_the_lines_of_files_of_which_there_are_many() {
    let p = with_many_files(&[
        ("app/cart.rb", "def cart_total\n  cart_total + 1\nend\n"),
        ("zoo/last.rb", "puts cart_total\n"),
        ("docs/cart.md", "# Cart\n\nThe cart_total is shown.\n"),
    ]);
    let a = p.get("cortex_grep", json!({"pattern": "cart_total"}));
    for line in [
        "tests: 23 lines in 2 files: test/a_test.rb 14, test/b_test.rb 9",
        "locales: 50 lines in 50 files under app/locales/",
        "migrations: 60 lines in 60 files under db/migrate/",
        "snapshots: 30 lines in 30 files under app/__snapshots__/",
        "vendored: 20 lines in 20 files under vendor/",
    ] {
        assert!(a.text.lines().any(|l| l == line), "{line}: {}", a.text);
    }
    let total = &a.structured["total"];
    let files = &a.structured["total_files"];
    assert!(a.text.contains(&format!("\ncomplete: {total} lines in {files} files")), "{}", a.text);
    let at = |text: &str| a.text.find(text).unwrap_or_else(|| panic!("{text}: {}", a.text));
    assert!(at("app/cart.rb") < at("zoo/last.rb") && at("zoo/last.rb") < at("docs/cart.md"));
    assert!(at("docs/cart.md") < at("tests: 23"), "{}", a.text);
    // A program gets every line.
    let listed = a.structured["files"].as_array().unwrap().len();
    assert!(listed > 100, "{listed}");

    // What a glob names is listed beside the others.
    let named = json!({"pattern": "cart_total", "paths": ["app/cart.rb", "test"]});
    let a = p.get("cortex_grep", named);
    assert!(!a.text.contains("tests: "), "{}", a.text);
    assert!(a.text.contains("\ntest/a_test.rb\n") && a.text.contains("complete: 25 lines in 3"));
    let a = p.get("cortex_grep", json!({"pattern": "cart_total", "paths": ["app", "zoo"]}));
    assert!(a.text.contains("locales: 50 lines") && !a.text.contains("messages001"), "{}", a.text);
}

#[test]
fn grep_lists_files_of_many_if_nothing_else_matches() {
    let p = with_many_files(&[("app/cart.rb", "def total\nend\n")]);
    let a = p.get("cortex_grep", json!({"pattern": "Summe"}));
    assert!(a.text.contains("app/locales/messages000.yml") && !a.text.contains("locales: "));
    let a = p.get("cortex_grep", json!({"pattern": "Summe", "limit": 5}));
    assert!(!a.text.contains("complete: ") && a.text.contains("\nmore: cursor 5"), "{}", a.text);
    let a =
        p.get("cortex_grep", json!({"pattern": "cart_total", "paths": "test", "max_per_file": 2}));
    assert!(a.text.contains("19 lines left out by max_per_file"), "{}", a.text);
}

#[test]
fn grep_names_the_blocks_of_tests() {
    let ruby = "class CartTest < Minitest::Test\n  test 'adds a line' do\n    run()\n    run()\n  end\n\n  test 'removes a line' do\n    run()\n  end\nend\n";
    let script = "describe('cart', () => {\n  it('adds', () => {\n    run()\n  })\n  it('removes', () => {\n    run()\n    run()\n  })\n})\n";
    let p = with_files(&[("test/cart_test.rb", ruby), ("web/cart.test.js", script)]);
    let a = p.get("cortex_grep", json!({"pattern": "run()", "symbols": true}));
    for row in [
        "adds a line: 2 lines from 3",
        "removes a line: 1 line from 8",
        " cart › adds: 1 line from 3",
        " cart › removes: 2 lines from 6",
    ] {
        assert!(a.text.contains(row), "{row}: {}", a.text);
    }
}
