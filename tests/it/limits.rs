//! The work for one call is limited: no request ends the process, takes its memory, or keeps others
//! from their answers.

use std::thread;

use serde_json::{Value, json};

use crate::project::{Project, run};
use crate::server::{Client, Server, initialize};

/// Patterns that nest deeper than any stack.
fn nested() -> Vec<String> {
    let around = |open: &str, close: &str, n: usize| open.repeat(n) + "$A" + &close.repeat(n);
    vec![
        around("f(", ")", 2_000),
        around("f(", ")", 600),
        around("(", ")", 990),
        around("[", "]", 100_000),
        around("!", "", 1_900),
        around("a.", "", 900),
        around("if x { ", " }", 220),
        around("-", "", 50_000),
        around("f(", "", 900),
    ]
}

#[test]
fn a_nested_pattern_does_not_end_the_process() {
    let p = Project::with(&[
        ("a.py", "f(f(1))\n"),
        ("b.rs", "fn main() { f(f(1)); }\n"),
        ("c.ts", "f(f(1));\n"),
        ("d.go", "package d\nfunc f() { f(f(1)) }\n"),
        ("e.c", "int main() { f(f(1)); }\n"),
        ("f.vue", "<script>\nf(f(1))\n</script>\n"),
    ]);
    p.index();
    let mut server = Server::start(&mut p.cortex(&["mcp"]));
    server.ask("initialize", &initialize("2025-11-25"));
    for pattern in nested() {
        for language in ["python", "rust", "typescript", "go", "c", "vue"] {
            let arguments = json!({ "pattern": pattern, "languages": [language] });
            server.ask("tools/call", &json!({ "name": "cortex_pattern", "arguments": arguments }));
        }
    }
    let found = server.ask(
        "tools/call",
        &json!({ "name": "cortex_pattern", "arguments": { "pattern": "f(f($A))" } }),
    );
    assert!(found.to_string().contains("a.py"), "{found}");
    let out = run(&mut p.cortex(&["pattern", &nested()[0], "--languages", "python"]));
    assert!(out.error().contains("is longer than 2 000 bytes"));
    let out = run(&mut p.cortex(&["pattern", &nested()[1], "--languages", "python"]));
    assert!(out.error().contains("nests more than 200 levels deep"));
}

#[test]
fn ranges_of_lines_are_merged_and_limited() {
    let text: String = (1..=5_000).map(|n| format!("line {n}\n")).collect();
    let p = Project::with(&[("notes.md", &*text)]);
    let read = |lines: &str| run(&mut p.cortex(&["read", "notes.md", "--lines", lines, "--json"]));
    let whole: Value = serde_json::from_str(&read(&"1-,".repeat(20_000)).expect(0).stdout).unwrap();
    assert_eq!(whole["total_lines"], 5_000);
    assert!(whole["more"].is_null(), "one range is left of twenty thousand");
    let two: Value = serde_json::from_str(&read("30-40,10-12,13,38-50").expect(0).stdout).unwrap();
    assert_eq!((&two["start_line"], &two["end_line"]), (&json!(10), &json!(13)));
    assert_eq!(two["more"][0]["end_line"], 50);
    let odd: String = (0..2_000).map(|n| format!("{},", 2 * n + 1)).collect();
    assert!(read(&odd).error().contains("at most 100 are read at once"));
}

#[test]
fn calls_that_wait_keep_no_others_from_their_answers() {
    let p = Project::sample();
    p.index();
    let server = Server::start(&mut p.cortex(&["serve", "--port", "0", "--no-watch"]));
    let url = server.line();
    Client::new(&url).status();
    // A tool takes arguments in each of these forms.
    let numbers = json!({ "query": "retry", "min_generation": 1_000_000, "wait_ms": 60_000 });
    let texts = json!({ "query": "retry", "min_generation": "1000000", "wait_ms": "60000" });
    let patient = [Value::from(numbers.to_string()), numbers, texts];
    let waiting: Vec<_> = (0..64)
        .map(|n| {
            let (client, patient) = (Client::new(&url), patient[n % patient.len()].clone());
            thread::spawn(move || client.try_call("search", &patient))
        })
        .collect();
    // Those for which there is no room are refused, and the rest still wait then.
    let is_refused = |n| waiting.iter().filter(|call| call.is_finished()).count() >= n;
    while !is_refused(32) {
        thread::yield_now();
    }
    let client = Client::new(&url);
    for _ in 0..20 {
        assert_eq!(
            client.call("search", &json!({ "query": "retry" }))["results"][0]["path"],
            "src/retry.rs"
        );
    }
    drop(server);
    let refused = waiting.into_iter().filter_map(|call| call.join().unwrap().ok());
    let refused: Vec<_> = refused.filter(|(status, _)| *status == 503).collect();
    assert!(refused.iter().any(|(_, body)| body.contains("leave out wait_ms")), "{refused:?}");
}

#[test]
fn a_text_that_is_too_long_is_refused() {
    let p = Project::sample();
    let text = "the password of retry_with_backoff is not here. ".repeat(400_000 / 48);
    let out = run(&mut p.cortex(&["memory", "add", &text[..120_000]]));
    assert!(out.error().contains("at most 10000 characters"));
}

/// The parser recovers from each line of a header that has one macro on each.
#[test]
fn a_table_of_macros_is_indexed_at_once() {
    let p = Project::with(&[("ops.h", &"OP_ADD_ONE\n".repeat(60_000))]);
    assert_eq!(p.found(&["OP_ADD_ONE"]), ["ops.h"]);
}
