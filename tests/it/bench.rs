//! `cortex bench` measures everything that it promises and changes nothing in the project.

use std::collections::BTreeSet;
use std::fs;

use serde_json::{Value, json};

use crate::project::{CHUNK_FILES, Project};

/// Returns the names in a table of the specification.
fn documented(table: &str) -> BTreeSet<String> {
    let spec =
        fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/specs/cli-json.md")).unwrap();
    let section = spec.split("## `cortex bench --json`").nth(1).unwrap();
    let rows = section.split(table).nth(1).unwrap().lines().skip(1).take_while(|l| !l.is_empty());
    rows.flat_map(|l| l.split('|').nth(1).unwrap().split('`').skip(1).step_by(2))
        .map(String::from)
        .collect()
}

fn names(report: &Value, list: &str) -> BTreeSet<String> {
    report[list]
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
    let mut measured = names(&report, "times");
    for name in ["load_given", "load_given_saved", "reload_given"] {
        assert!(measured.insert(name.into()), "nothing was given");
    }
    measured.extend(
        ["", "_load", "_diff", "_vectors", "_update"].map(|step| format!("reload_1000{step}")),
    );
    // Not every file system drops files from memory; then the report says so.
    if !measured.contains("search_cold") {
        let left_out = &report["left_out"][0];
        assert!(left_out["name"] == "search_cold" && !left_out["why"].as_str().unwrap().is_empty());
        measured.insert("search_cold".into());
    }
    assert_eq!(measured, documented("| time | |\n"));
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
        assert_eq!(names(&report, "figures"), documented("| figure | |\n"));
        let figures = report["figures"].as_array().unwrap();
        let median = |name: &str, unit: &str| {
            let row = figures.iter().find(|f| f["name"] == name && f["unit"] == unit);
            row.unwrap_or_else(|| panic!("no {name} in {unit}"))["median"].as_f64().unwrap()
        };
        let memory =
            ["loaded", "resident", "peak"].map(|m| median(&format!("server_{m}"), "bytes"));
        assert!(memory[0] > 1e6 && memory[0] <= memory[2] && memory[1] <= memory[2], "{memory:?}");
        let saved = median("saved_index", "bytes_per_chunk");
        assert!((100.0..100_000.0).contains(&saved), "{saved} bytes of a chunk");
        assert!(median("clients_32", "queries_per_second") > 1.0);
        assert!(median("clients_8_of_cores", "share") > 0.0);
    }

    // The same run, with one time that was longer and one rate that was lower than any noise.
    let mut then = report.clone();
    for (list, name, keys, factor) in [
        ("times", "load", ["p50", "p50_interval"], 1000.0),
        ("figures", "clients_8", ["median", "interval"], 0.001),
    ] {
        let rows = then[list].as_array_mut().unwrap();
        let row = rows.iter_mut().find(|r| r["name"] == name).unwrap();
        for key in keys {
            row[key] = match &row[key] {
                Value::Array(ends) => ends.iter().map(|v| v.as_f64().unwrap() * factor).collect(),
                value => json!(value.as_f64().unwrap() * factor),
            };
        }
    }
    p.write("then.json", then.to_string());
    let run = ["bench", "--chunks", "120", "--runs", "1", "--compare", "then.json"];
    let out = p.run(&run).expect(0).stdout;
    assert!(out.lines().all(|l| l.chars().count() <= 80), "wider than 80 columns:\n{out}");
    for row in ["load chunks ", "8 clients at once: query by both "] {
        let better = |l: &str| l.starts_with(row) && l.ends_with("  better");
        assert!(out.lines().any(better), "{row} is not better:\n{out}");
    }
    p.write("other.json", "{}");
    let refused = p.run(&["bench", "--compare", "other.json"]).error();
    assert!(refused.contains("other.json is not a saved run"), "{refused}");
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
        "first cortex search after cortex index",
        "32 clients at once: query by both",
        "memory of a server, at its peak",
        "saved index, for each chunk",
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
    let names = names(&report, "times");
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
