//! `cortex bench` measures everything that it promises and changes nothing in the project.

use std::collections::BTreeSet;
use std::fs;

use serde_json::{Value, json};

use crate::project::{CHUNK_FILES, Project};

/// Returns the names of times in the specification.
fn documented() -> BTreeSet<String> {
    let spec =
        fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/specs/cli-json.md")).unwrap();
    let section = spec.split("## `cortex bench --json`").nth(1).unwrap();
    let rows = section.lines().filter(|l| l.starts_with("| `"));
    rows.flat_map(|l| l.split('|').nth(1).unwrap().split('`').skip(1).step_by(2))
        .map(String::from)
        .collect()
}

fn names(report: &Value) -> BTreeSet<String> {
    report["times"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["name"].as_str().unwrap().to_string())
        .collect()
}

#[test]
fn the_report_is_as_documented() {
    let p = Project::new();
    let report = p.json(&["bench", "--chunks", "120", "--runs", "1"]);
    let mut measured = names(&report);
    for name in ["load_given", "load_given_saved", "reload_given"] {
        assert!(measured.insert(name.into()), "nothing was given");
    }
    measured.extend(
        ["", "_load", "_diff", "_vectors", "_update"].map(|step| format!("reload_1000{step}")),
    );
    assert_eq!(measured, documented());
    for row in report["times"].as_array().unwrap() {
        let at = |key: &str| row[key].as_f64().unwrap();
        assert!(
            at("p50") > 0.0
                && at("p50") <= at("p95")
                && at("p95") <= at("p99")
                && at("p99") < 60_000.0,
            "{row}"
        );
        assert!(row["n"].as_u64().unwrap() > 0);
    }
    let corpus = &report["corpus"];
    assert_eq!((&corpus["origin"], &corpus["dimensions"]), (&json!("generated"), &json!(256)));
    let n_chunks = corpus["n_chunks"].as_u64().unwrap();
    assert!((100..=150).contains(&n_chunks), "{n_chunks} chunks");
    assert!(
        corpus["n_files"].as_u64().unwrap() > 10
            && corpus["text_bytes"].as_u64().unwrap() > n_chunks * 200
    );
    assert!(
        report["machine"]["cores"].as_u64().unwrap() > 0 && report["machine"]["os"].is_string()
    );
    assert!((0.9..=1.0).contains(&report["recall_10"].as_f64().unwrap()));
    if cfg!(target_os = "linux") {
        let memory = |key: &str| report["memory"][key].as_u64().unwrap();
        assert!(
            memory("server_resident_bytes") > 1 << 20
                && memory("server_resident_bytes") <= memory("server_peak_bytes")
        );
    }
}

#[test]
fn a_project_is_measured_and_left_alone() {
    let p = Project::sample();
    let out = p.run(&["bench", "--runs", "1"]).expect(0).stdout;
    for part in [
        "this project: ",
        "index from scratch",
        "cortex search, start to end",
        "query by both",
        "reload, chunks changed: 1",
        "memory of a",
    ] {
        assert!(out.contains(part), "{part} is missing:\n{out}");
    }
    assert!(out.lines().all(|l| l.chars().count() <= 80), "wider than 80 columns:\n{out}");
    assert!(!p.path(".cortex").exists(), "nothing is written to the project");
    assert_eq!(fs::read_dir(p.home()).unwrap().count(), 0);
}

#[test]
fn given_chunks_are_measured_with_their_own_vectors() {
    let p = Project::new();
    let chunk = |i: usize| json!({ "id": format!("c{i}"), "text": format!("word{i} of the kitchen"), "embedding": [1.0, i, 0.5] });
    let chunks: Vec<Value> = (0..20).map(chunk).collect();
    p.write(format!("given/{}", CHUNK_FILES[1]), json!({ "chunks": chunks }).to_string());
    let before = p.read(format!("given/{}", CHUNK_FILES[1]));
    let report = p.json(&["bench", "--chunks-dir", "given", "--runs", "1"]);
    assert_eq!(
        (&report["corpus"]["n_chunks"], &report["corpus"]["dimensions"]),
        (&json!(20), &json!(3))
    );
    let names = names(&report);
    assert!(
        names.contains("load_given")
            && names.contains("load_given_saved")
            && names.contains("reload_given")
            && names.contains("query_hybrid")
            && names.contains("reload_1")
    );
    assert!(
        !names.contains("index_full") && !names.contains("search_once"),
        "no tree, and no process that makes such vectors"
    );
    assert_eq!(p.read(format!("given/{}", CHUNK_FILES[1])), before);
    assert!(p.run(&["bench", "--chunks-dir", "nowhere"]).error().contains("holds no chunks"));
}
