//! Paths and questions as people and agents write them.

use serde_json::{Value, json};

use crate::project::Project;
use crate::support::server::{Server, initialize};

const CODE: &str = "def alpha():\n    return beta()\n\n\ndef beta():\n    return 1\n";
const PAGE: &str = "export default function Page() {\n  return shelf();\n}\n";

fn project() -> Project {
    let p = Project::with(&[
        ("src/a.py", CODE),
        ("ggml/src/b.py", "def gamma():\n    return 2\n"),
        ("docs/a.md", "# Alpha\n"),
        ("app/[slug]/page.tsx", PAGE),
        ("app/s/page.tsx", PAGE),
        ("pages/{tag}/x.ts", "export function shelf() {\n  return 1;\n}\n"),
    ]);
    p.git(&["init", "-q"]);
    p.commit("import");
    p.write("src/a.py", format!("{CODE}# more\n"));
    p.commit("more of alpha");
    p.index();
    p
}

/// Returns the paths of all rows of an answer.
fn paths(answer: &Value) -> Vec<String> {
    fn collect(value: &Value, out: &mut Vec<String>) {
        match value {
            Value::Object(fields) => {
                out.extend(fields.get("path").and_then(Value::as_str).map(String::from));
                fields.values().for_each(|value| collect(value, out));
            }
            Value::Array(values) => values.iter().for_each(|value| collect(value, out)),
            _ => {}
        }
    }
    let mut out = Vec::new();
    collect(answer, &mut out);
    out.sort();
    out.dedup();
    out
}

#[test]
fn a_path_means_its_file_however_it_is_written() {
    let p = project();
    let root = p.root().canonicalize().unwrap();
    let root = root.to_str().unwrap();
    let written = |path: &str| {
        [
            path.to_string(),
            format!("./{path}"),
            format!("{root}/{path}"),
            path.replace('/', "\\"),
            path.replace('/', "//"),
        ]
    };
    for file in written("src/a.py") {
        let found = |args: &[&str]| paths(&p.json(args));
        assert_eq!(found(&["grep", "return", &file]), ["src/a.py"], "{file}");
        assert_eq!(found(&["search", "alpha", "--paths", &file]), ["src/a.py"], "{file}");
        assert_eq!(found(&["pattern", "return $X", &file]), ["src/a.py"], "{file}");
        let files = p.json(&["files", &file]);
        assert_eq!(files["total"]["files"], 1, "{file}: {files}");
        let commits = p.json(&["history", "--path", &file]);
        assert_eq!(commits["commits"].as_array().map(Vec::len), Some(2), "{file}");
        let changes = p.json(&["changes", "HEAD~1", "--path", &file]);
        assert_eq!(changes["total_files"], 1, "{file}: {changes}");
        for target in [file.clone(), format!("{file}#alpha"), format!("{file}:1")] {
            let asked = p.run(&["graph", "callees", &target]);
            assert!(asked.code < 2, "{target}: {asked:?}");
        }
        p.run(&["graph", "unused", &file]).expect(0);
    }
    for folder in
        written("src").into_iter().chain([format!("{root}/src/**"), format!("{root}/src/")])
    {
        let found = paths(&p.json(&["grep", "return", &folder]));
        assert_eq!(found, ["src/a.py"], "{folder}: the folder at the root and no namesake");
    }
    assert_eq!(p.json(&["files", root])["total"]["files"], 6);
    let out = p.run(&["changes", "HEAD~1", "--path", "nowhere/**"]).expect(1).stderr;
    assert!(out.contains("no indexed file matches nowhere/**"), "{out}");
}

#[test]
fn a_file_whose_path_looks_like_a_glob_is_that_file() {
    let p = project();
    let root = p.root().canonicalize().unwrap();
    let absolute = root.join("app/[slug]/page.tsx");
    for (path, want) in [
        ("app/[slug]/page.tsx", "app/[slug]/page.tsx"),
        ("app/[slug]", "app/[slug]/page.tsx"),
        ("app/[slug]/*.tsx", "app/[slug]/page.tsx"),
        (absolute.to_str().unwrap(), "app/[slug]/page.tsx"),
        ("pages/{tag}/x.ts", "pages/{tag}/x.ts"),
        ("app/[rst]/page.tsx", "app/s/page.tsx"),
        (r"app/\[slug\]/page.tsx", "app/[slug]/page.tsx"),
    ] {
        assert_eq!(paths(&p.json(&["grep", "function", path])), [want], "{path}");
        assert_eq!(paths(&p.json(&["search", "shelf", "--paths", path])), [want], "{path}");
    }
}

/// What is left out by its name is left out wherever it lies.
#[test]
fn an_excluded_name_is_excluded_everywhere() {
    let p = project();
    p.run(&["grep", "return", "*.py", "!src"]).expect(1);
}

#[test]
fn a_question_alone_is_searched() {
    let p = project();
    let found = p.run(&["where is gamma defined?"]).expect(0).stdout;
    assert!(found.contains("ggml/src/b.py"), "{found}");
    let error = p.run(&["serach"]).expect(2).stderr;
    assert!(error.contains("search"), "a word may be a command with a typing error: {error}");
    p.write("cli.md", "# Options\n\nThe option --no-fallback ends it.\n");
    for command in ["search", "grep"] {
        let found = p.run(&[command, "--no-fallback"]).expect(0).stdout;
        assert!(found.contains("cli.md"), "{found}");
        let error = p.run(&[command, "--jsn"]).expect(2).stderr;
        assert!(error.contains("--json"), "{error}");
    }
}

#[test]
fn a_limit_of_nothing_is_refused() {
    let p = project();
    for args in [
        &["grep", "return", "-n", "0"][..],
        &["grep", "return", "-m", "0"],
        &["pattern", "return $A", "-n", "0"],
        &["files", "-n", "0"],
        &["history", "alpha", "-n", "0"],
        &["graph", "callers", "beta", "-n", "0"],
    ] {
        let error = p.run(args).expect(2).stderr;
        assert!(error.contains("give 1 or more"), "{args:?}: {error}");
    }
}

#[test]
fn new_commits_are_no_changed_files() {
    let p = project();
    let age = |p: &Project| {
        let status = p.run(&["status"]).expect(0).stdout;
        status.lines().find(|line| line.starts_with("age ")).unwrap_or_default().to_string()
    };
    assert!(age(&p).ends_with("up to date"), "{}", age(&p));
    p.git(&["commit", "-q", "--allow-empty", "-m", "nothing"]);
    assert!(age(&p).ends_with("new commits since"), "{}", age(&p));
    assert_eq!(p.json(&["status"])["stale"], json!(false));
    p.write("src/a.py", "def delta():\n    pass\n");
    assert!(age(&p).ends_with("files changed since"), "{}", age(&p));
    p.index();
    assert!(age(&p).ends_with("up to date"), "{}", age(&p));
}

#[test]
fn a_pattern_where_no_language_has_a_grammar_says_so() {
    let p = Project::with(&[("a.md", "# A\n"), ("notes.txt", "one\n")]);
    let error = p.run(&["pattern", "f($A)"]).expect(2).stderr;
    assert!(
        error.contains("error: no indexed file is written in a language with a grammar"),
        "{error}"
    );
}

/// A line that is too long for a reply is shown where it matches.
#[test]
fn a_long_line_is_shown_around_its_match() {
    let p = Project::with(&[(
        "icons.js",
        &format!(
            "export const icon = \"{}\"; const zucchiniKey = 7; {}\n",
            "a b ".repeat(300),
            "c(); ".repeat(80)
        ),
    )]);
    p.index();
    let mut server = Server::start(&mut p.cortex(&["mcp", "--alone"]));
    server.ask("initialize", &initialize("2025-06-18"));
    for (tool, arguments) in [
        ("cortex_grep", json!({"pattern": "zucchiniKey"})),
        ("cortex_search", json!({"query": "zucchiniKey"})),
    ] {
        let reply = server.ask("tools/call", &json!({ "name": tool, "arguments": arguments }));
        let text = reply["result"]["content"][0]["text"].as_str().unwrap_or_default();
        assert!(text.contains("const zucchiniKey = 7") && text.len() < 900, "{tool}: {reply}");
    }
}
