//! Questions to a large project before its first index.

use std::fs;

use cortex::config::Config;
use cortex::engine::{self, AnswerFrom, Call, Engine, SearchRequest};
use cortex::store::Layout;
use serde_json::Value;

use crate::support::project::Project;

/// The sample beside so much that no index holds, and a file that has words of questions as well.
fn large() -> Project {
    let p = Project::sample();
    for i in 0..5 {
        p.write(format!("data/{i}.txt"), vec![0_u8; 600 << 10]);
    }
    let walls = "pub fn wall() {\n    paint();\n}\n".repeat(40);
    p.write("src/walls.rs", format!("{walls}/// Waits for paint.\npub fn dry() {{}}\n"));
    p
}

fn has_index(p: &Project) -> bool {
    p.path(".cortex/chunks/manifest.json").exists()
}

/// Returns an answer without the index state that it was computed from.
fn answer(p: &Project, args: &[&str]) -> Value {
    let mut answer = p.json(args);
    answer.as_object_mut().unwrap().remove("index").expect("every answer has its state");
    answer
}

#[test]
fn a_question_about_files_is_answered_before_there_is_an_index_as_it_is_after() {
    let asked: &[&[&str]] = &[
        &["grep", "attempt"],
        &["grep", "-e", "attempts?", "-S"],
        &["grep", "paint", "-l", "-t", "python"],
        &["grep", "port", "settings.toml"],
        &["files"],
        &["files", "--by", "file"],
        &["pattern", "pub fn $F() {}", "-t", "rust"],
        &["read", "src/retry.rs"],
        &["read", "src/walls.rs"],
        &["read", "retry.rs:2-3", "docs/guide.md"],
        &["read", "/attempt/", "settings.toml"],
        &["read", "src/walls.rs#dry"],
        &["outline", "docs/guide.md"],
        &["outline", "src/retry.rs"],
    ];
    let p = large();
    let before: Vec<Value> = asked.iter().map(|args| answer(&p, args)).collect();
    assert!(!has_index(&p), "nothing was indexed");
    p.index();
    for (args, before) in asked.iter().zip(before) {
        assert_eq!(before, answer(&p, args), "{args:?}");
    }
}

#[test]
fn a_question_about_symbols_or_folders_waits_for_the_index() {
    for args in [["outline", "src"], ["read", "retry_with_backoff"], ["search", "retry"]] {
        let p = large();
        let said = p.run(&args).expect(0).stdout;
        assert!(said.contains("retry"), "{args:?}: {said}");
        assert!(has_index(&p), "{args:?}");
    }
}

/// Returns an engine that may answer early.
fn early(p: &Project) -> Engine {
    p.share_key();
    let layout = Layout::at(&p.root()).unwrap();
    let mut config = Config::load(None, None, []).unwrap();
    config.known_bytes = 0;
    let project = engine::Project::new(layout, config);
    let engine = Engine::for_command(project, AnswerFrom::Tree, Box::new(|_| ())).unwrap();
    engine.answer_early();
    engine
}

fn search(engine: &Engine, query: &str) -> (Vec<String>, String) {
    let request = SearchRequest { query: query.into(), limit: 5, ..SearchRequest::default() };
    let answer = engine.search(&request, &Call::default()).unwrap();
    let paths = answer.results.iter().filter_map(|row| row.path.clone()).collect();
    (paths, answer.notes.join("\n"))
}

#[test]
fn a_first_search_is_answered_by_words_and_then_the_index_is_built() {
    let p = large();
    let engine = early(&p);
    let (paths, notes) = search(&engine, "how long does it wait after a failed attempt?");
    assert_eq!(paths[0], "src/retry.rs");
    assert!(notes.contains("found by words alone"), "{notes}");
    assert!(!has_index(&p));
    engine.complete().unwrap();
    assert!(has_index(&p));
    let (paths, notes) = search(&engine, "how long does it wait after a failed attempt?");
    assert_eq!(paths[0], "src/retry.rs");
    assert_eq!(notes, "");
}

#[test]
fn a_first_search_waits_for_the_index_if_words_find_nothing_or_it_is_made_in_a_moment() {
    let (large, small) = (large(), Project::sample());
    for (p, query) in [(&large, "zymurgy"), (&small, "retry")] {
        let (_, notes) = search(&early(p), query);
        assert!(!notes.contains("by words alone"), "{query}: {notes}");
        assert!(has_index(p), "{query}");
    }
}

#[test]
fn no_secret_is_shown_before_there_is_an_index() {
    let p = large();
    let secret = concat!("ghp_", "9vXz2LqT7mWc4RbY8nKd3HsJ6pFg1AeUo5Ni");
    p.write("src/token.rs", format!("pub const TOKEN_OF_GATEWAY: &str = \"{secret}\";\n"));
    for args in [["grep", "TOKEN_OF_GATEWAY"], ["read", "src/token.rs"]] {
        let out = p.run(&args).expect(0);
        assert!(!out.stdout.contains(secret), "{args:?}: {}", out.stdout);
        assert!(out.stdout.contains("TOKEN_OF_GATEWAY"), "{args:?}: {}", out.stdout);
    }
    let request = SearchRequest {
        query: "token of the gateway".into(),
        limit: 5,
        ..SearchRequest::default()
    };
    let engine = early(&p);
    let found = engine.search(&request, &Call::default()).unwrap();
    let found = serde_json::to_string(&found).unwrap();
    assert!(!found.contains(secret) && found.contains("src/token.rs"), "{found}");
    assert!(fs::metadata(p.path(".cortex/chunks")).is_err(), "it was answered early");
}
