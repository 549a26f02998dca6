//! Chunks of deleted files: by default they leave the index; with `index.keep_deleted` they stay,
//! marked.

use serde_json::{Value, json};

use crate::project::{Project, run};
use crate::server::{Client, Server, warnings};
use crate::support::wait_until;

/// Creates a project that keeps chunks of deleted files.
fn keeping() -> Project {
    let p = Project::sample();
    p.configure("[index]\nkeep_deleted = true\n");
    p.index();
    p
}

/// Returns the chunks of a file.
fn chunks_of(p: &Project, path: &str) -> Vec<Value> {
    p.chunks().into_iter().filter(|c| c["metadata"]["file_path"] == path).collect()
}

fn events(p: &Project) -> Vec<String> {
    let all = p.json(&["memory", "list", "-n", "100"]);
    let mut names: Vec<String> = all["memories"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|m| m["source"]["source"] == "filesystem_watch")
        .map(|m| m["content"].as_str().unwrap().to_string())
        .collect();
    names.sort();
    names
}

#[test]
fn chunks_of_a_deleted_file_go_unless_they_are_to_stay() {
    let p = Project::sample();
    p.index();
    p.remove("src/retry.rs");
    assert_eq!(p.index()["n_removed"], 1);
    assert!(chunks_of(&p, "src/retry.rs").is_empty());
}

#[test]
fn a_deleted_file_that_is_kept_is_found_and_read_and_says_so() {
    let p = keeping();
    p.run(&["memory", "add", "Something."]).expect(0);
    let before = chunks_of(&p, "src/retry.rs");
    assert!(!before.is_empty() && before.iter().all(|c| c["metadata"]["deleted"].is_null()));
    p.remove("src/retry.rs");
    let out = run(p.cortex(&["index", "--json"]).env("CORTEX_MEMORY_WINDOW_MS", "0")).expect(0);
    let summary: Value = serde_json::from_str(&out.stdout).unwrap();
    assert_eq!((&summary["n_removed"], &summary["n_files"]), (&json!(1), &json!(3)), "{summary}");
    assert_eq!(events(&p), ["delete src/retry.rs: retry_with_backoff"]);
    let kept = chunks_of(&p, "src/retry.rs");
    assert_eq!(kept.len(), before.len());
    assert!(kept.iter().all(|c| c["metadata"]["deleted"] == true), "{kept:?}");
    assert_eq!(p.index()["changed"], false, "nothing twice");

    let found = p.json(&["search", "retry_with_backoff"]);
    let hit = &found["results"][0];
    assert_eq!((&hit["path"], &hit["deleted"]), (&json!("src/retry.rs"), &json!(true)), "{found}");
    let text = p.run(&["search", "retry_with_backoff"]).expect(0).stdout;
    assert!(text.lines().next().unwrap().contains("(deleted)"), "{text}");
    assert!(
        p.json(&["search", "paint_wall"])["results"][0]["deleted"].is_null(),
        "others are there"
    );

    let server = Server::start(&mut p.cortex(&["serve", "--port", "0", "--no-watch"]));
    let client = Client::new(&server.line());
    let found = client.call("search", &json!({ "query": "retry_with_backoff" }));
    assert_eq!(found["results"][0]["deleted"], true, "{found}");
    let read = client.call("read", &json!({ "path": "src/retry.rs" }));
    assert!(
        read["content"].as_str().unwrap().contains("attempts * 2") && read["total_lines"] == 4,
        "{read}"
    );
    assert!(warnings(&read).contains("`src/retry.rs` was deleted"), "{read}");
    let outline = client.call("outline", &json!({ "path": "src/retry.rs" }));
    assert!(
        warnings(&outline).contains("was deleted")
            && outline.to_string().contains("retry_with_backoff"),
        "{outline}"
    );
    let outline = client.call("outline", &json!({})).to_string();
    assert!(outline.contains("colours.py") && !outline.contains("retry.rs"), "{outline}");
}

#[test]
fn a_file_that_comes_back_takes_the_place_of_what_was_kept() {
    let p = keeping();
    p.run(&["memory", "add", "Something."]).expect(0);
    let text = p.read("src/retry.rs");
    for back in [&*text, "pub fn retry_otherwise() {}\n"] {
        let aside = p.home().join("aside");
        std::fs::rename(p.path("src/retry.rs"), &aside).unwrap();
        p.index();
        assert!(!chunks_of(&p, "src/retry.rs").is_empty());
        // The file gets its old time stamp.
        std::fs::rename(&aside, p.path("src/retry.rs")).unwrap();
        if *back != text {
            p.write("src/retry.rs", back);
        }
        let summary = p.index();
        // A content that was there before is known.
        let n_read =
            ["n_parsed", "n_known"].map(|n| summary[n].as_u64().unwrap()).iter().sum::<u64>();
        assert_eq!(n_read, 1);
        assert_eq!(p.timeless(), p.fresh_copy().timeless());
    }
}

#[test]
fn what_is_left_out_or_moved_does_not_stay() {
    let p = keeping();
    // Each file is excluded while it exists.
    p.write(".gitignore", "settings.toml\n");
    p.index();
    assert!(chunks_of(&p, "settings.toml").is_empty(), "ignored");
    p.write("docs/guide.md", "word ".repeat(1 << 20));
    p.index();
    assert!(chunks_of(&p, "docs/guide.md").is_empty(), "too large");
    p.rename("tools/colours.py", "tools/paint.py");
    p.index();
    assert!(chunks_of(&p, "tools/colours.py").is_empty(), "moved");
    // The file is deleted first: a rule that excludes it later removes its chunks.
    p.remove("src/retry.rs");
    p.index();
    assert!(!chunks_of(&p, "src/retry.rs").is_empty());
    p.write(".gitignore", "settings.toml\nsrc/\n");
    p.index();
    assert!(chunks_of(&p, "src/retry.rs").is_empty(), "ignored when it was gone");
    // A link is not a file.
    p.remove("tools/paint.py");
    std::os::unix::fs::symlink("/dev/zero", p.path("tools/paint.py")).unwrap();
    p.index();
    assert!(chunks_of(&p, "tools/paint.py").is_empty(), "a link in its place");
}

#[test]
fn a_full_run_a_clean_and_the_setting_drop_what_was_kept() {
    let p = keeping();
    let text = p.read("src/retry.rs");
    for how in ["--full", "clean", "off"] {
        p.write("src/retry.rs", &text);
        p.index();
        p.remove("src/retry.rs");
        p.index();
        assert!(!chunks_of(&p, "src/retry.rs").is_empty(), "{how}");
        match how {
            "--full" => drop(p.json(&["index", "--full"])),
            "clean" => {
                p.run(&["clean"]).expect(0);
                p.index();
            }
            _ => {
                drop(run(p.cortex(&["index"]).env("CORTEX_INDEX_KEEP_DELETED", "false")).expect(0));
            }
        }
        assert!(chunks_of(&p, "src/retry.rs").is_empty(), "{how}");
    }
}

#[test]
fn a_server_marks_what_is_deleted_and_takes_back_what_returns() {
    let p = keeping();
    let server = Server::start(
        p.cortex(&["serve", "--port", "0", "--watch"]).env("CORTEX_LIVE_DEBOUNCE_MS", "50"),
    );
    let client = Client::new(&server.line());
    let hit =
        || client.call("search", &json!({ "query": "retry_with_backoff" }))["results"][0].clone();
    let is_deleted = |wanted: bool| {
        wait_until("the server has seen it", || {
            hit()["path"] == "src/retry.rs" && hit()["deleted"].is_null() != wanted
        });
    };
    is_deleted(false);
    let text = p.read("src/retry.rs");
    std::fs::remove_dir_all(p.path("src")).unwrap();
    is_deleted(true);
    let (status, body) = client
        .try_call("graph", &json!({ "operation": "callers", "target": "retry_with_backoff" }))
        .unwrap();
    assert!(status != 200, "the graph knows what is there: {body}");
    p.write("src/retry.rs", &text);
    is_deleted(false);
}
