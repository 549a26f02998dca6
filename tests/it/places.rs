//! Places in files, as people, compilers and other tools write them: every command and tool takes each
//! form.

use serde_json::{Value, json};

use crate::project::Project;
use crate::server::{Server, initialize};

const LOCK: &str = "/// Takes the write lock.\npub fn acquire(path: &str) -> Lock {\n    Lock { path }\n}\n\n/// A lock that is held.\npub struct Lock {\n    path: String,\n}\n\nimpl Lock {\n    /// Gives it back.\n    pub fn release(self) {\n        unlock(&self.path);\n    }\n}\n\nfn unlock(path: &str) {}\n";
const MAIN: &str = "mod lock;\n\nuse lock::{Lock, acquire};\n\n/// Works under the lock.\nfn main() {\n    let held: Lock = acquire(\"a\");\n    held.release();\n}\n";
/// Forms that all lead into the method `Lock::release`.
const FORMS: &[&str] = &[
    "src/lock.rs:13-15", "src/lock.rs:13,14-15", "src/lock.rs:13", "src/lock.rs:13:5",
    "src/lock.rs#L13-L15", "src/lock.rs#Lock::release", "src/lock.rs#Lock.release",
    "src/lock.rs::Lock::release", "lock.rs::Lock::release", "Lock::release", "Lock.release",
];

fn project() -> Project {
    let p = Project::new();
    p.git(&["init", "-q"]);
    p.write("src/lock.rs", LOCK);
    p.write("src/main.rs", MAIN);
    p.commit("Take the lock before files are written");
    p.index();
    p
}

#[test]
fn every_command_takes_every_form_of_a_place() {
    let p = project();
    for form in FORMS {
        let read = p.run(&["read", form]).expect(0).stdout;
        assert!(read.contains("13     pub fn release(self) {"), "{form}: {read}");
        let why = p.json(&["why", form]);
        assert_eq!(why["path"], "src/lock.rs", "{form}: {why}");
        assert_eq!(
            why["commits"][0]["subject"], "Take the lock before files are written",
            "{form}"
        );
        let outline = p.json(&["outline", form]);
        assert_eq!(outline["path"], "src/lock.rs", "{form}: {outline}");
        assert_eq!(outline["symbols"][0]["name"], "release", "{form}: {outline}");
        let callers = p.json(&["graph", "callers", form]);
        assert_eq!(callers["targets"][0]["symbol"], "Lock::release", "{form}: {callers}");
        assert_eq!(callers["results"][0]["symbol"], "main", "{form}: {callers}");
        let related = p.run(&["related", form, "--json"]).stdout;
        let related: Value = serde_json::from_str(&related).unwrap();
        assert_eq!(related["chunk"]["path"], "src/lock.rs", "{form}: {related}");
    }
}

#[test]
fn every_tool_takes_every_form_of_a_place() {
    let p = project();
    let mut server = Server::start(&mut p.cortex(&["mcp"]));
    server.ask("initialize", &initialize("2025-06-18"));
    let mut ask = |tool: &str, mut arguments: Value| {
        arguments["format"] = json!("json");
        let call = json!({ "name": tool, "arguments": arguments });
        let answer = server.ask("tools/call", &call);
        assert_ne!(answer["result"]["isError"], true, "{tool} {arguments}: {answer}");
        answer["result"]["structuredContent"].clone()
    };
    for form in FORMS {
        let read = ask("cortex_read", json!({ "places": [form] }));
        assert!(read["content"].to_string().contains("pub fn release"), "{form}: {read}");
        assert_eq!(ask("cortex_why", json!({ "at": form }))["path"], "src/lock.rs", "{form}");
        let outline = ask("cortex_outline", json!({ "path": form }));
        assert_eq!(outline["symbols"][0]["name"], "release", "{form}: {outline}");
        let callers = ask("cortex_graph", json!({ "operation": "callers", "target": form }));
        assert_eq!(callers["results"][0]["symbol"], "main", "{form}: {callers}");
        let related = ask("cortex_related", json!({ "path": form }));
        assert_eq!(related["chunk"]["path"], "src/lock.rs", "{form}: {related}");
    }
}

#[test]
fn several_places_are_read_by_one_command() {
    let p = project();
    let out = p
        .run(&["read", "src/main.rs:6-7,5", "nowhere.rs", "src/lock.rs#unlock", "src/main.rs:8"])
        .expect(0)
        .stdout;
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines[0], "src/main.rs:5-8 of 9 lines", "{out}");
    assert_eq!(lines[1], "     5 /// Works under the lock.", "{out}");
    assert!(lines[5].starts_with("nowhere.rs: `nowhere.rs` is not in the index"), "{out}");
    assert_eq!(
        lines[6..],
        ["src/lock.rs:18-18 of 18 lines", "    18 fn unlock(path: &str) {}"],
        "{out}"
    );
    let error = p.run(&["read", "nowhere.rs", "Nobody::knows"]).error();
    assert!(error.contains("nowhere.rs: ") && error.contains("Nobody::knows: "), "{error}");
}

/// Both ranges are asked about, and not what is between them.
#[test]
fn why_answers_for_several_ranges() {
    let p = project();
    p.write("src/lock.rs", LOCK.replace("Lock { path }", "Lock { path: path.into() }"));
    p.commit("Own the path");
    let why = |at: &str| -> Vec<String> {
        let answer = p.json(&["why", at]);
        let commits = answer["commits"].as_array().unwrap().iter();
        commits.map(|commit| commit["subject"].as_str().unwrap().to_string()).collect()
    };
    assert_eq!(why("src/lock.rs:1-2,4-9"), ["Take the lock before files are written"]);
    assert_eq!(why("src/lock.rs:1-2,3").len(), 2);
}
