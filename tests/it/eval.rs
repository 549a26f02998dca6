//! `cortex eval`, on a small repository.

use std::fs;

use serde_json::Value;

use crate::project::{Project, run};

const RETRY: &str = "/// Waits longer after each failed attempt.\npub fn pause(base: u64, attempts: u64) -> u64 {\n    let jitter = base / 4 + attempts;\n    \
let wait = base * attempts + jitter;\n    wait.min(LIMIT)\n}\n";
const GUIDE: &str = "# Cooking\n\n## Kitchen\n\nWash them well. Salted water makes potatoes taste of something.\n\n- peel them, cut them, boil them, drain them, \
eat them with butter\n";

/// A repository with one question of each kind.
fn repository() -> Project {
    let p = Project::with(&[("src/net.rs", RETRY), ("docs/food.md", GUIDE)]);
    p.git(&["init", "-q"]);
    p.git(&["add", "."]);
    p.git(&["commit", "-q", "-m", "initial import"]);
    p.write("src/paint.py", "def cover(wall, colour):\n    return wall.with_colour(colour)\n");
    p.git(&["add", "."]);
    p.git(&["commit", "-q", "-m", "feat: surfaces can be coloured by the visitor (#3)"]);
    p
}

fn queries(report: &Value) -> Vec<String> {
    report["questions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|q| q["query"].as_str().unwrap().to_string())
        .collect()
}

#[test]
fn a_project_is_asked_about_itself_without_its_own_answers() {
    let p = repository();
    p.run(&["eval", "--self", "--write", "../set"]).expect(0);
    let set = p.root().parent().unwrap().join("set");
    let read = |path: &str| fs::read_to_string(set.join(path)).unwrap();
    let questions: Vec<Value> =
        read("queries.jsonl").lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    let summary: Vec<(&str, &str, &str)> = questions
        .iter()
        .map(|q| {
            (
                q["category"].as_str().unwrap(),
                q["query"].as_str().unwrap(),
                q["targets"][0]["path"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        summary,
        [
            ("comment", "Waits longer after each failed attempt", "src/net.rs"),
            ("commit", "surfaces can be coloured by the visitor", "src/paint.py"),
            ("document", "Salted water makes potatoes taste of something", "docs/food.md"),
        ]
    );
    assert_eq!(
        (&questions[0]["targets"][0]["start_line"], &questions[0]["targets"][0]["end_line"]),
        (&2.into(), &6.into())
    );
    // The comment is blanked, and the code keeps its lines.
    let (masked, lines) = (read("tree/src/net.rs"), RETRY.lines().count());
    assert!(
        !masked.contains("failed")
            && masked.lines().count() == lines
            && masked.lines().nth(1) == RETRY.lines().nth(1),
        "{masked}"
    );
    assert!(!read("tree/docs/food.md").contains("potatoes"));
    assert!(
        !read("tree/.cortex/chunks/code-definitions.json").contains("failed attempt"),
        "nor is it in the index"
    );
    assert!(p.read("src/net.rs").contains("failed attempt"), "the project itself is as it was");
    assert!(!p.path(".cortex/chunks").exists(), "and was not indexed");
    let again = p.run(&["eval", "--self", "--write", "../set"]).error();
    assert!(again.contains("is there already: remove it"), "{again}");
}

#[test]
fn every_run_says_the_same_and_leaves_nothing() {
    let p = repository();
    let temp = p.home().join("tmp");
    fs::create_dir(&temp).unwrap();
    let report = || {
        let out = run(p.cortex(&["eval", "--self", "--json"]).env("TMPDIR", &temp)).expect(0);
        let mut report: Value = serde_json::from_str(&out.stdout).unwrap();
        report["latency_ms"].take();
        report["questions"].as_array_mut().unwrap().iter_mut().for_each(|q| drop(q["ms"].take()));
        report
    };
    let first = report();
    assert_eq!(first, report());
    assert_eq!(fs::read_dir(&temp).unwrap().count(), 0, "the copy is removed");
    assert_eq!((&first["n_questions"], &first["overall"]["n"]), (&3.into(), &3.into()));
    assert!(
        first["baseline"]["overall"]["ndcg"].is_number()
            && first["baseline"]["compared"]["interval"][1].is_number()
    );
    assert!(
        first["by_category"]["comment"]["span_recall_5"].is_number()
            && first["by_category"]["commit"].get("span_recall_5").is_none()
    );
}

#[test]
fn without_git_there_are_no_questions_from_commits() {
    let p = Project::with(&[("src/net.rs", RETRY)]);
    let out = p.run(&["eval", "--self"]).expect(0);
    assert_eq!(out.stderr.matches("no questions from commits").count(), 1, "{}", out.stderr);
    assert!(out.stdout.contains("NDCG@10") && out.stdout.contains("BM25"), "{}", out.stdout);
    assert!(out.stdout.lines().all(|l| l.chars().count() <= 80), "{}", out.stdout);
    let empty = Project::with(&[("a.txt", "nothing")]).run(&["eval", "--self"]).expect(1);
    assert!(empty.stderr.contains("there are no questions"), "{}", empty.stderr);
}

#[test]
fn given_questions_are_asked_of_the_project() {
    let p = Project::sample();
    let set = r#"{"query": "waits after a failed attempt", "files": ["src/retry.rs"]}
{"query": "boil potatoes", "category": "food", "targets": [{"path": "guide.md", "start_line": 3, "end_line": 5}]}
{"query": "waits after a failed attempt, too", "files": ["src/gone.rs"]}
"#;
    p.write("../home/set.jsonl", set);
    let file = p.home().join("set.jsonl").display().to_string();
    let report = p.json(&["eval", "--queries", &file]);
    let ranks: Vec<&Value> =
        report["questions"].as_array().unwrap().iter().map(|q| &q["ranks"]).collect();
    assert_eq!(ranks, [&serde_json::json!([1]), &serde_json::json!([1]), &serde_json::json!([])]);
    assert_eq!(report["overall"]["recall_1"].as_f64().map(|r| (r * 300.0).round()), Some(200.0));
    assert_eq!(report["by_category"]["food"]["span_recall_5"], 1.0);
    assert!(report.get("baseline").is_none());
    assert!(p.json(&["eval", "--queries", &file, "--baseline"])["baseline"]["overall"]["n"] == 3);
}

#[test]
fn repositories_are_found_by_their_names_and_their_folders() {
    let p = Project::with(&[
        ("repos/one/lib/retry.rs", RETRY),
        ("repos/one/other/retry.rs", RETRY),
        ("repos/two/retry.rs", RETRY),
        ("repos_used.json", r#"{"one": {"benchmark_root": "lib"}, "three": {}}"#),
        (
            "set.jsonl",
            r#"{"repo": "one", "query": "wait after an attempt", "files": ["lib/retry.rs"]}
{"repo": "two", "query": "wait after an attempt", "files": ["retry.rs"]}"#,
        ),
        ("gone.jsonl", r#"{"repo": "three", "query": "x", "files": ["a"]}"#),
        ("nameless.jsonl", r#"{"query": "x", "files": ["a"]}"#),
    ]);
    let report = p.json(&["eval", "--queries", "set.jsonl", "--repos", "repos"]);
    assert_eq!(
        report["questions"][0]["files"],
        serde_json::json!(["retry.rs"]),
        "only lib is searched"
    );
    assert_eq!(report["by_repo"]["two"]["ndcg"], 1.0);
    assert_eq!(queries(&report).len(), 2);
    let error = p.run(&["eval", "--queries", "gone.jsonl", "--repos", "repos"]).error();
    assert!(
        error.contains("repos/three is no directory, but there are questions about three"),
        "{error}"
    );
    let error = p.run(&["eval", "--queries", "nameless.jsonl", "--repos", "repos"]).error();
    assert!(error.contains("leave --repos out"), "{error}");
}

#[test]
fn two_runs_are_compared() {
    fn ask<'a>(more: &[&'a str]) -> Vec<&'a str> {
        [&["eval", "--queries", "set.jsonl"], more].concat()
    }
    let p = Project::sample();
    p.write(
        "set.jsonl",
        "{\"query\": \"waits after a failed attempt\", \"files\": [\"src/retry.rs\"]}\n",
    );
    p.run(&ask(&["--save", "before.jsonl", "--features", "features.jsonl"])).expect(0);
    let same = &p.json(&ask(&["--compare", "before.jsonl"]))["compared"];
    assert_eq!(
        (&same["n"], &same["difference"], &same["n_rose"]),
        (&1.into(), &0.0.into(), &0.into())
    );
    p.write("worse.jsonl", "{\"repo\": \"\", \"query\": \"waits after a failed attempt\", \"file\": 0.5, \"file_ranks\": [3]}\n");
    let out = p.run(&ask(&["--compare", "worse.jsonl"])).expect(0);
    assert!(
        out.stdout.contains("NDCG@10 +0.500 (95 %: +0.500 to +0.500), 1 rose, 0 fell"),
        "{}",
        out.stdout
    );
    assert!(out.stdout.contains("   3 → 1   waits after a failed attempt"), "{}", out.stdout);
    p.write("else.jsonl", "{\"query\": \"another\", \"ndcg\": 0.5}\n");
    assert!(
        p.run(&ask(&["--compare", "else.jsonl"]))
            .error()
            .contains("else.jsonl has none of these questions")
    );
    let features: Value = serde_json::from_str(p.read("features.jsonl").trim()).unwrap();
    assert_eq!(
        (&features["n_targets"], &features["files"][0]["path"]),
        (&1.into(), &"src/retry.rs".into())
    );
    assert_eq!(features["files"][0]["targets"], serde_json::json!([0]));
    assert!(features["files"][0]["x"].as_object().is_some_and(|x| !x.is_empty()));
}

#[test]
fn what_cannot_be_read_is_named() {
    let p = Project::sample();
    p.write("bad.jsonl", "{\"query\": \"x\", \"files\": [\"a\"]}\n\n{\"query\": \"x\"\n");
    let error = p.run(&["eval", "--queries", "bad.jsonl"]).error();
    assert!(error.contains("bad.jsonl:3: EOF") && error.contains("a line is"), "{error}");
    assert!(
        p.run(&["eval", "--queries", "none.jsonl"]).error().contains("none.jsonl cannot be read")
    );
    assert!(p.run(&["eval", "--self", "none"]).error().contains("none"));
    let both = p.run(&["eval", "--self", "--queries", "bad.jsonl"]).expect(2);
    assert!(both.stderr.contains("cannot be used with"), "{}", both.stderr);
    p.run(&["eval"]).expect(2);
}
