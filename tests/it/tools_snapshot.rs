//! Compares what agents see of the tools (names, descriptions, schemas) with `tools.json`.

use std::path::Path;

use cortex::tools::ALL;
use serde_json::{Value, json};

#[test]
fn the_tools_are_those_of_the_snapshot() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/tools.json");
    let tools: Vec<Value> = ALL
        .iter()
        .map(|t| {
            json!({
                "name": t.name,
                "title": t.title,
                "description": t.description,
                "inputSchema": (t.input_schema)(),
                "outputSchema": (t.output_schema)(),
            })
        })
        .collect();
    let now = serde_json::to_string_pretty(&tools).unwrap() + "\n";
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(&path, &now).unwrap();
    }
    let then = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = now.lines().zip(then.lines()).enumerate().find(|(_, (a, b))| a != b);
    let place = differs.map_or_else(
        || "one is longer".into(),
        |(i, (a, b))| {
            format!("line {}: `{}`, but the snapshot has `{}`", i + 1, a.trim(), b.trim())
        },
    );
    assert!(
        now == then,
        "what agents are shown of the tools changed ({place}). If that is meant, run UPDATE_SNAPSHOTS=1 cargo test --test it tools_snapshot, and look at \
         the difference in tests/it/tools.json"
    );
}
