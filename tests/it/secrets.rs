//! Secrets in the files of a project: Cortex does not write, show or send them.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::project::Project;
use crate::server::{Client, Server};
use crate::support::model::Model;

/// The secrets of [`project`]. They are assembled here, so that no scanner finds them in this file.
const SECRETS: [&str; 6] = [
    concat!("sk_", "live_", "4eC39HqLyjWDarjtT1zdp7dcq8"),
    concat!("AKIA", "2E3WDYQXT5RZL7KB"),
    concat!("ghp_", "9vXz2LqT7mWc4RbY8nKd3HsJ6pFg1AeUo5Ni"),
    concat!("hunter2", "zebra9"),
    concat!("Tr0ub4", "dor&3"),
    "MIIEpAIBAAKCAQEA7bq3vXk2Jm9sQwTzR4uYcF8pLdHnVgKe1ZaXo6WiBsUtGyMx",
];

fn project() -> Project {
    let [stripe, aws, github, yaml, prose, key] = SECRETS;
    let block =
        format!("-----BEGIN {0}-----\n{key}\n{key}\n{key}\n-----END {0}-----", "RSA PRIVATE KEY");
    let p = Project::new();
    p.write(
        "src/pay.py",
        format!("# Charges the customer.\nAPI=\"{stripe}\"\n\ndef charge_customer(amount):\n    return call(API, amount)\n"),
    );
    p.write(
        "src/cloud.rs",
        format!("pub const CLOUD_ID: &str = \"{aws}\";\n\npub fn upload_bucket() -> &'static str {{\n    CLOUD_ID\n}}\n"),
    );
    p.write(
        "deploy/settings.yaml",
        format!("database:\n  user: bob\n  password: {yaml}\n  port: 5432\n"),
    );
    p.write(
        "docs/setup.md",
        format!("# Setup\n\nPush with {github} to the mirror.\n\nThe db password is {prose}\n"),
    );
    p.write(
        "src/signing.py",
        format!("KEY = \"\"\"{block}\"\"\"\n\ndef sign_invoice(text):\n    return KEY, text\n"),
    );
    p
}

#[track_caller]
fn assert_clean(what: &str, text: &[u8]) {
    for secret in SECRETS {
        assert!(
            !text.windows(secret.len()).any(|w| w == secret.as_bytes()),
            "{what} holds {secret}"
        );
    }
}

fn assert_files_clean(folder: &Path) -> usize {
    let mut n = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            n += assert_files_clean(&path);
        } else {
            n += 1;
            assert_clean(&path.display().to_string(), &fs::read(&path).unwrap());
        }
    }
    n
}

#[test]
fn secrets_of_files_are_not_written_to_the_index() {
    let p = project();
    p.index();
    p.run(&["search", "charge the customer"]).expect(0);
    p.run(&["graph", "callers", "charge_customer"]);
    assert!(assert_files_clean(&p.path(".cortex")) > 4);
    let texts: String =
        p.chunks().iter().map(|c| c["text"].as_str().unwrap().to_string() + "\n").collect();
    assert!(
        texts.contains("API=\"[REDACTED:") && texts.contains("password: [REDACTED:password]"),
        "{texts}"
    );
}

#[test]
fn secrets_of_files_are_not_shown_by_commands_and_tools() {
    let p = project();
    p.index();
    let server = Server::start(&mut p.cortex(&["serve", "--port", "0", "--no-watch"]));
    let client = Client::new(&server.line());
    let mut replies: Vec<Value> = Vec::new();
    for path in
        ["src/pay.py", "src/cloud.rs", "deploy/settings.yaml", "docs/setup.md", "src/signing.py"]
    {
        replies.push(client.call("read", &json!({ "path": path })));
        replies.push(client.call("outline", &json!({ "path": path })));
    }
    for text in SECRETS.into_iter().chain(["API", "password", "PRIVATE KEY", "REDACTED"]) {
        replies.push(client.call("search", &json!({ "query": text })));
        replies.push(client.call("grep", &json!({ "pattern": text })));
    }
    replies.push(client.call("pattern", &json!({ "pattern": "API=$X", "languages": "python" })));
    replies.push(client.call(
        "graph",
        &json!({ "operation": "callers", "target": "upload_bucket", "context": 3 }),
    ));
    replies.push(client.status());
    for reply in &replies {
        // A secret in the query may be repeated to its author.
        let mut reply = reply.clone();
        reply
            .as_object_mut()
            .unwrap()
            .retain(|name, _| !["query", "text", "warnings"].contains(&name.as_str()));
        let asked = SECRETS.iter().any(|s| reply.to_string().contains(s));
        assert!(!asked, "{reply}");
    }
    assert!(replies.iter().any(|r| r.to_string().contains("[REDACTED:private-key]")));
    for args in [
        &["search", "API"][..],
        &["search", "--json", "database password"],
        &["explore", "API", "upload_bucket", "database password"],
        &["explore", "--json", "database password"],
        &["pattern", "API=$X", "--language", "python"],
        &["map"],
        &["status", "--verbose"],
        &["status", "--json"],
    ] {
        let out = p.run(args);
        assert_clean(&format!("{args:?}"), (out.stdout + &out.stderr).as_bytes());
    }
}

/// A reply that shows the mark of a secret says so first, and only such a reply.
#[test]
fn a_reply_with_a_replaced_secret_says_so_in_its_first_line() {
    const WARNING: &str = "warning: secrets in the shown lines are replaced by [REDACTED:…]";
    let p = project();
    p.write("docs/marks.md", "# Marks\n\nA mark is [REDACTED:rule] and names marzipan.\n");
    p.index();
    let server = Server::start(&mut p.cortex(&["serve", "--port", "0", "--no-watch"]));
    let client = Client::new(&server.line());
    let text = |tool: &str, mut arguments: Value| {
        arguments["format"] = "text".into();
        client.try_call(tool, &arguments).unwrap().1
    };
    for (tool, arguments, is_told) in [
        ("read", json!({"path": "deploy/settings.yaml"}), true),
        ("read", json!({"path": "deploy/settings.yaml", "lines": "1-2"}), false),
        ("read", json!({"path": "docs/marks.md"}), false),
        ("grep", json!({"pattern": "password"}), true),
        ("grep", json!({"pattern": "marzipan"}), false),
    ] {
        let told = text(tool, arguments.clone());
        assert_eq!(told.starts_with(WARNING), is_told, "{tool} {arguments}: {told}");
        assert_eq!(told.contains(WARNING), is_told, "{tool} {arguments}: {told}");
    }
    let shown = p.run(&["read", "deploy/settings.yaml"]).expect(0);
    assert!(shown.stderr.contains(WARNING) && !shown.stdout.contains(WARNING), "{shown:?}");
    let shown = p.run(&["grep", "password", "deploy/**"]).expect(0);
    assert_eq!(shown.stderr.matches(WARNING).count(), 1, "{shown:?}");
    assert!(!p.run(&["read", "docs/marks.md"]).expect(0).stderr.contains(WARNING));
}

#[test]
fn a_line_with_a_secret_is_found_by_its_other_words() {
    let p = project();
    p.index();
    assert_eq!(p.found(&["push to the mirror"])[0], "docs/setup.md");
    let server = Server::start(&mut p.cortex(&["serve", "--port", "0", "--no-watch"]));
    let client = Client::new(&server.line());
    let read = client.call("read", &json!({ "path": "src/signing.py", "start_line": 7 }));
    assert_eq!(
        (&read["total_lines"], read["content"].as_str().unwrap()),
        (&json!(8), "def sign_invoice(text):\n    return KEY, text")
    );
    let read = client.call("read", &json!({ "path": "deploy/settings.yaml" }));
    assert_eq!(
        read["content"],
        "database:\n  user: bob\n  password: [REDACTED:password]\n  port: 5432"
    );
    assert_eq!(read["changed"], false);
}

#[test]
fn a_pattern_is_no_oracle_for_a_secret() {
    let p = project();
    p.index();
    let server = Server::start(&mut p.cortex(&["serve", "--port", "0", "--no-watch"]));
    let client = Client::new(&server.line());
    let found = |pattern: &str| {
        client.call("pattern", &json!({ "pattern": pattern, "languages": "rust" }))["total"].clone()
    };
    assert_eq!(found(&format!("pub const CLOUD_ID: &str = \"{}\";", SECRETS[1])), 0);
    assert_eq!(found("pub const CLOUD_ID: &str = $X;"), 1);
    let lines = client.call("grep", &json!({ "pattern": SECRETS[1] }));
    assert_eq!(lines["total"], 0, "{lines}");
}

#[test]
fn status_says_where_secrets_are() {
    let p = project();
    p.index();
    let named = |status: &Value| -> Vec<String> {
        let named = status["secrets"]["first"].as_array().unwrap().iter();
        named
            .map(|s| {
                format!(
                    "{}:{} {}",
                    s["path"].as_str().unwrap(),
                    s["line"],
                    s["rule"].as_str().unwrap()
                )
            })
            .collect()
    };
    let status = p.json(&["status"]);
    assert_eq!(status["secrets"]["total"], 6, "{status}");
    let all = named(&status);
    assert!(
        all.contains(&"deploy/settings.yaml:3 password".into())
            && all.contains(&"src/signing.py:1 private-key".into()),
        "{all:?}"
    );
    // A later run that reads other files keeps the findings.
    p.write("src/new.rs", "pub fn added_later() {}\n");
    p.index();
    assert_eq!(named(&p.json(&["status"])), all);
    let text = p.run(&["status"]).expect(0).stdout;
    assert!(text.contains("6 secrets hidden") && text.contains("and 1 more: --verbose"), "{text}");
    assert!(
        p.run(&["status", "--verbose"])
            .expect(0)
            .stdout
            .contains("  src/signing.py:1: private-key")
    );
    // Once the secret is gone, it is no longer reported.
    p.write("deploy/settings.yaml", "database:\n  user: bob\n  password: ${DB_PASSWORD}\n");
    p.index();
    assert_eq!(p.json(&["status"])["secrets"]["total"], 5);
    let server = Server::start(&mut p.cortex(&["serve", "--port", "0", "--no-watch"]));
    let status = Client::new(&server.line()).status();
    assert_eq!(
        (&status["secrets"]["total"], status["secrets"]["first"][0]["path"].as_str()),
        (&json!(5), Some("docs/setup.md")),
        "{status}"
    );
}

#[test]
fn secrets_of_files_are_not_sent_to_a_remote_model() {
    let model = Model::start();
    let p = project();
    p.configure(model.settings("words", ""));
    p.index();
    let sent = model.sent().join("\n");
    assert!(sent.contains("charge_customer"), "{sent}");
    assert_clean("what was sent", sent.as_bytes());
}

#[test]
fn secrets_in_chunk_files_of_other_programs_are_not_shown() {
    let p = Project::new();
    let chunk = json!({ "id": "f1", "text": format!("nougat\npassword: {}", SECRETS[3]), "metadata": { "file_path": "gone.py" } });
    p.write(".cortex/chunks/code-definitions.json", json!({ "chunks": [chunk] }).to_string());
    let out = p.run(&["search", "nougat", "--json"]).expect(0).stdout;
    assert!(out.contains("password: [REDACTED:password]"), "{out}");
    assert_clean("a result", out.as_bytes());
}
