//! The saved index of one process serves the next, and is never used where it is wrong. A server opens
//! what questions need when an agent connects.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::time::SystemTime;

use serde_json::{Value, json};

use crate::project::Project;
use crate::server::{Client, Server, agent, initialize, meta};
use crate::support::{clients, wait_until};

/// Creates a project of enough files for several blocks, and searches it once.
fn warm() -> Project {
    let p = Project::new();
    for i in 0..60 {
        let functions =
            (0..5).map(|j| format!("/// Fills kettle {i} with {j} cups of water.\nfn kettle_{i}_{j}() -> u32 {{\n    {i} * {j}\n}}\n\n"));
        p.write(format!("src/part{i}.rs"), functions.collect::<String>());
    }
    // Bug: one such name kept a project of 180 000 chunks from being saved.
    p.write("src/the \"odd\" one.rs", "/// Sings when the water boils.\nfn whistle() {}\n");
    p.write("docs/tea.md", "# Tea\n\nHow long the tea stands in the kettle.\n");
    ask(&p);
    p
}

const QUESTION: [&str; 2] = ["search", "which kettle has four cups of water"];

/// Returns what a user sees, and checks that there is no message.
fn ask(p: &Project) -> Value {
    let out = p.run(&[QUESTION[0], QUESTION[1], "--json", "--explain"]).expect(0);
    assert!(!out.stderr.contains("warning") && !out.stderr.contains("error"), "{}", out.stderr);
    serde_json::from_str(&out.stdout).unwrap()
}

fn caches(p: &Project) -> Vec<PathBuf> {
    let all = fs::read_dir(p.path(".cortex/cache")).unwrap().map(|e| e.unwrap().path());
    all.filter(|path| path.is_dir()).collect()
}

fn the_cache(p: &Project) -> PathBuf {
    let all = caches(p);
    assert_eq!(all.len(), 1, "{all:?}");
    all.into_iter().next().unwrap()
}

fn when_made(p: &Project) -> SystemTime {
    fs::metadata(the_cache(p).join("saved.json")).unwrap().modified().unwrap()
}

#[test]
fn the_second_search_takes_what_the_first_made() {
    let p = warm();
    let made = when_made(&p);
    let first = ask(&p);
    assert_eq!(when_made(&p), made, "nothing was made anew");
    fs::remove_dir_all(the_cache(&p)).unwrap();
    assert_eq!(ask(&p), first);
    assert!(when_made(&p) > made, "what was lost is there again");
}

#[test]
fn an_edit_is_applied_to_what_was_kept() {
    let p = warm();
    let before = the_cache(&p);
    p.write("src/part7.rs", "/// Pours four cups of water into the moon kettle.\nfn moon() {}\n");
    p.remove("src/part8.rs");
    let found = ask(&p);
    assert_ne!(the_cache(&p), before, "and kept again");
    assert!(found.to_string().contains("moon kettle"));
    let fresh = p.fresh_copy();
    let (mut a, mut b) = (ask(&p), ask(&fresh));
    for reply in [&mut a, &mut b] {
        reply["index"].take();
        reply["next_cursor"].take();
    }
    assert_eq!(a, b, "as if made from nothing");
}

#[test]
fn damaged_and_foreign_caches_are_not_believed() {
    let p = warm();
    let want = ask(&p);
    // The text index names its files differently each time, except for the endings.
    let end = |path: PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap().to_string();
        if name.len() > 20 { name[name.rfind('.').unwrap()..].to_string() } else { name }
    };
    let ends: BTreeSet<String> =
        fs::read_dir(the_cache(&p)).unwrap().map(|e| end(e.unwrap().path())).collect();
    assert!(ends.len() > 8, "{ends:?}");
    for (i, name) in ends.into_iter().enumerate() {
        for damage in ["flipped", ["cut", "empty", "gone"][i % 3]] {
            let files = fs::read_dir(the_cache(&p)).unwrap().map(|e| e.unwrap().path());
            let path = files.into_iter().find(|path| end(path.clone()) == name).unwrap();
            let mut bytes = fs::read(&path).unwrap();
            let middle = bytes.len() / 2;
            match damage {
                "flipped" => bytes[middle] ^= 0x20,
                "cut" => bytes.truncate(middle),
                _ => bytes.clear(),
            }
            fs::remove_file(&path).unwrap();
            if damage != "gone" {
                fs::write(&path, &bytes).unwrap();
            }
            assert_eq!(ask(&p), want, "{name} {damage}");
        }
    }
    // The file is intact, but written by a future version.
    let path = the_cache(&p).join("saved.json");
    let other = fs::read_to_string(&path).unwrap().replace("format ", "format 9");
    fs::write(&path, other).unwrap();
    assert_eq!(ask(&p), want);
}

#[test]
fn a_copied_project_answers_as_its_original() {
    let p = warm();
    let copy = Project::new();
    let status = std::process::Command::new("cp")
        .arg("-r")
        .arg(p.root().join("."))
        .arg(copy.root())
        .status()
        .unwrap();
    assert!(status.success());
    let mut want = ask(&p);
    let mut found = ask(&copy);
    // The copied sources have new time stamps: they are read, and are equal.
    for reply in [&mut want, &mut found] {
        reply["index"].take();
        reply["next_cursor"].take();
    }
    assert_eq!(found, want);
}

#[test]
fn many_searches_after_an_edit_agree() {
    let p = warm();
    p.write("src/part9.rs", "/// Pours four cups of water into the sun kettle.\nfn sun() {}\n");
    let replies: Vec<Value> = std::thread::scope(|s| {
        let all: Vec<_> = (0..4).map(|_| s.spawn(|| ask(&p))).collect();
        all.into_iter().map(|t| t.join().unwrap()).collect()
    });
    assert!(
        replies.iter().all(|r| *r == replies[0]) && replies[0].to_string().contains("sun kettle")
    );
    assert_eq!(ask(&p), replies[0]);
    the_cache(&p);
}

/// Bug: if the first load failed after the cache was opened, its content was in the text index
/// twice.
#[test]
fn a_start_beside_a_damaged_manifest_serves_each_chunk_once() {
    let p = warm();
    let answer = |p: &Project| {
        let mut reply = ask(p);
        // A new generation is written, which the cursor names, too.
        reply["index"].take();
        reply["next_cursor"].take();
        reply
    };
    let before = answer(&p);
    for damaged in ["null", "", "{"] {
        p.write(".cortex/chunks/manifest.json", damaged);
        assert_eq!(answer(&p), before, "manifest {damaged:?}");
    }
}

/// Returns what a server has open, as it says itself.
fn open_parts(server: &mut Server, mut call: Value) -> Value {
    call["name"] = "cortex_status".into();
    call["arguments"] = json!({ "format": "json" });
    server.ask("tools/call", &call)["result"]["structuredContent"]["open"].clone()
}

#[test]
fn the_graph_and_the_history_are_open_before_an_agent_asks() {
    let p = clients::project();
    p.index();
    let begin = |method: &str, params: Value, call: Value| {
        let mut server = Server::start(&mut p.cortex(&["mcp", "--alone"]));
        server.ask(method, &params);
        wait_until(method, || open_parts(&mut server, call.clone()) == json!(["graph", "history"]));
    };
    begin("initialize", initialize("2025-11-25"), json!({}));
    begin("tools/list", meta(), meta());
}

#[test]
fn a_server_over_http_opens_what_an_agent_needs_and_nothing_without_one() {
    let p = clients::project();
    p.index();
    let server = Server::start(&mut p.cortex(&["serve", "--port", "0"]));
    let client = Client::new(&server.line());
    client.call("read", &json!({ "path": "src/poll.rs" }));
    assert_eq!(client.status()["open"], Value::Null, "nobody needs it");
    let begin = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialize("2025-11-25") });
    let request = agent().post(format!("{}/mcp", client.url));
    let request = request.header("content-type", "application/json");
    let request = request.header("accept", "application/json, text/event-stream");
    request.send(begin.to_string()).unwrap();
    wait_until("the graph and the history are open", || {
        client.status()["open"] == json!(["graph", "history"])
    });
}

/// The history may be large, and the setting says that its commits are not wanted.
#[test]
fn commits_that_are_not_indexed_are_not_read_ahead() {
    let p = clients::project();
    p.configure("[index]\nhistory = false\n");
    p.index();
    let mut server = Server::start(&mut p.cortex(&["mcp", "--alone"]));
    server.ask("initialize", &initialize("2025-11-25"));
    wait_until("the graph is open", || open_parts(&mut server, json!({})) == json!(["graph"]));
    assert!(!p.path(".cortex/cache/commits").exists());
}

/// An agent may connect before there is an index, and asks when the index is there.
#[test]
fn what_questions_need_is_opened_after_the_first_index_too() {
    let p = clients::project();
    let mut server = Server::start(&mut p.cortex(&["mcp", "--alone"]));
    server.ask("initialize", &initialize("2025-11-25"));
    wait_until("the graph and the history are open", || {
        open_parts(&mut server, json!({})) == json!(["graph", "history"])
    });
}
