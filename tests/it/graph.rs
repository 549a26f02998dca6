//! `cortex graph` and `cortex map`.

use serde_json::json;

use crate::project::Project;

fn project() -> Project {
    Project::with(&[
        ("src/store.rs", "pub struct Store;\nimpl Store {\n    pub fn get(&self) -> u8 {\n        1\n    }\n}\n"),
        (
            "src/main.rs",
            "use crate::store::Store;\n\nfn main() {\n    let store = Store;\n    let held: &Store = &store;\n    held.get();\n}\n",
        ),
    ])
}

#[test]
fn callers_follow_edits_and_clean_removes_the_graph() {
    let p = project();
    let answer = p.json(&["graph", "callers", "Store::get", "-C", "1"]);
    assert_eq!(answer["targets"][0]["symbol"], "Store::get");
    let found = &answer["results"][0];
    assert_eq!(
        (&found["file"], &found["name"], &found["line"], &found["sites"]),
        (&json!("src/main.rs"), &json!("main"), &json!(3), &json!([6]))
    );
    assert_eq!(answer["context"][0]["text"], "    held.get();");
    // Only the file of the callee changes: what it was called in stays.
    p.write("src/store.rs", format!("// moved\n{}", p.read("src/store.rs")));
    assert_eq!(p.json(&["graph", "callers", "src/store.rs:4"])["results"][0]["name"], "main");
    p.remove("src/main.rs");
    p.run(&["graph", "callers", "Store::get"]).expect(1);
    assert!(p.path(".cortex/graph/code-graph.db").exists());
    p.run(&["clean"]).expect(0);
    assert!(!p.path(".cortex/graph").exists());
}

#[test]
fn drawings_and_maps() {
    let p = project();
    let dot = p.run(&["graph", "callers", "Store::get", "--format", "dot"]).expect(0).stdout;
    assert!(dot.starts_with("digraph {") && dot.contains("label=\"Store::get\"") && dot.contains(" -> "), "{dot}");
    let mermaid = p.run(&["graph", "callees", "main", "--format", "mermaid"]).expect(0).stdout;
    assert!(mermaid.starts_with("graph LR\n") && mermaid.contains(" --> "), "{mermaid}");
    let map = p.run(&["map", "--tokens", "100"]).expect(0).stdout;
    assert!(map.contains("src/store.rs") && map.contains("pub struct Store"), "{map}");
}

#[test]
fn questions_that_have_no_answer() {
    let p = project();
    assert!(p.run(&["graph", "callers", "nobody"]).expect(1).stderr.contains("no symbol or file nobody"));
    assert!(p.run(&["graph", "path", "main"]).error().contains("FROM TO"));
    assert!(p.run(&["graph", "callers", "main", "--depth", "11"]).error().contains("from 1 to 10"));
}
