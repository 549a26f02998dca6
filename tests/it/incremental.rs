//! After many edits, an index equals a fresh index of the same tree.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use crate::project::Project;
use crate::support::tree::Tree;

/// Returns the results of some queries, with scores.
fn answers(p: &Project) -> Vec<Value> {
    let queries = ["where is a window closed", "kettle_3"];
    queries
        .iter()
        .map(|q| p.json(&["search", "--explain", "-n", "20", q])["results"].clone())
        .collect()
}

/// After any sequence of edits, deletions, renames and changed ignore rules, the chunk files equal
/// those of a fresh index byte for byte, apart from time stamps, and searches give the same results
/// with the same scores.
#[test]
fn an_incremental_index_equals_a_full_one() {
    let stress = std::env::var_os("STRESS").is_some();
    let (n_seeds, n_rounds) = if stress { (20, 20) } else { (2, 3) };
    for seed in 1..=n_seeds {
        let mut tree = Tree::new(seed, 40);
        for round in 0..n_rounds {
            for _ in 0..5 {
                for _ in 0..=tree.random.below(3) {
                    tree.change();
                }
                tree.project.index();
            }
            let fresh = tree.project.fresh_copy();
            for (a, b) in tree.project.timeless().iter().zip(fresh.timeless()) {
                let difference = a.lines().zip(b.lines()).find(|(a, b)| a != b);
                assert!(*a == b, "seed {seed}, round {round}: {difference:#?}");
            }
            assert_eq!(answers(&tree.project), answers(&fresh), "seed {seed}, round {round}");
            assert_eq!(tree.project.json(&["index"])["changed"], false);
        }
    }
}

/// No two chunks share an id, and every line of every indexed file is in a chunk at its place: in
/// generated files and in this program's own sources.
#[test]
fn every_line_is_in_a_chunk() {
    let tree = Tree::new(7, 60);
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    copy_sources(&own, Path::new("src"), &tree.project);
    let p = &tree.project;
    p.index();
    let mut lines: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut ids = std::collections::BTreeSet::new();
    for chunk in p.chunks() {
        let id = chunk["id"].as_str().unwrap().to_string();
        assert!(ids.insert(id.clone()), "the id {id} occurs twice");
        if chunk["chunk_type"] == "symbols" {
            continue;
        }
        let m = &chunk["metadata"];
        let path = m["file_path"].as_str().unwrap();
        let file = p.read(path);
        let file = cortex::secrets::redact_file(&file);
        let text: Vec<&str> = file.text.lines().collect();
        let covered = lines
            .entry(path.to_string())
            .or_insert_with(|| text.iter().map(ToString::to_string).collect());
        let line = |key: &str| usize::try_from(m[key].as_u64().unwrap()).unwrap();
        let range = line("start_line") - 1..line("end_line");
        // Blank lines at the end may be missing from the text.
        assert_eq!(
            chunk["text"].as_str().unwrap().trim_end(),
            text[range.clone()].join("\n").trim_end(),
            "{id}"
        );
        range.for_each(|i| covered[i].clear());
    }
    assert!(lines.len() > 80, "{}", lines.len());
    for (path, rest) in lines {
        assert_eq!(
            rest.iter().find(|l| !l.trim().is_empty()),
            None,
            "{path}: a line is in no chunk"
        );
    }
}

fn copy_sources(from: &Path, to: &Path, p: &Project) {
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_sources(&entry.path(), &target, p);
        } else if entry.path().extension().is_some_and(|e| e == "rs" || e == "scm") {
            p.write(&target, std::fs::read(entry.path()).unwrap());
        }
    }
}
