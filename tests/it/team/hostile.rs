//! What others published, or wrote into the database, is no reason to trust it.

use serde_json::{Value, json};

use super::{committed, depot, found};
use crate::project::{Project, run};
use crate::server::{Client, Server, initialize};

#[test]
fn what_is_stored_is_shown_and_trusted_in_no_way() {
    let Some(depot) = depot("hostile") else { return };
    let p = committed(&[("src/good.rs", "/// Boils a kettle.\npub fn good_kettle() {}\n")]);
    depot.publish(&p, "good");
    // The publisher is the attacker: a chunk file of a program of his own names any path.
    let evil =
        committed(&[("a\u{1b}]0;owned\u{7}.rs", "/// Boils a kettle.\npub fn kettle() {}\n")]);
    depot.publish(&evil, "controls");
    let evil = Project::new();
    let outside = ["../../outside/kettle.rs", "/etc/passwd"].map(|path| {
        json!({ "id": format!("id-{path}"), "text": "kettle of a stranger\n", "chunk_type": "doc-chunks",
            "metadata": { "file_path": path, "start_line": 1, "end_line": 1 } })
    });
    let chunks = json!({ "version": 1, "chunks": outside });
    evil.write(".cortex/chunks/doc-chunks.json", chunks.to_string());
    depot.publish(&evil, "outside");

    let reader = Project::with(&[("own.rs", "pub fn own() {}\n")]);
    let (_server, url) = depot.serve(&reader, &[]);
    let client = Client::new(&url);
    let with_team = |args: &[&str]| run(reader.cortex(args).env("CORTEX_TEAM_URL", &depot.url));
    let out = with_team(&["search", "--repo", "*", "kettle"]).expect(0);
    assert!(!out.stdout.contains(['\u{1b}', '\u{7}']), "{:?}", out.stdout);
    assert!(out.stdout.contains("outside:../../outside/kettle.rs"), "{}", out.stdout);
    // Neither program reads the file of that name.
    let read = client.call("read", &json!({ "path": "/etc/passwd", "repo": "outside" }));
    assert!(
        read.to_string().contains("kettle of a stranger") && !read.to_string().contains("root:"),
        "{read}"
    );
    let mut agent =
        Server::start(reader.cortex(&["mcp", "--alone"]).env("CORTEX_TEAM_URL", &depot.url));
    agent.ask("initialize", &initialize("2025-06-18"));
    let mut ask = |tool: &str, arguments: Value| {
        let reply = agent.ask("tools/call", &json!({ "name": tool, "arguments": arguments }));
        reply["result"]["content"][0]["text"].as_str().unwrap_or_default().to_string()
    };
    let read = ask("cortex_read", json!({ "path": "/etc/passwd", "repo": "outside" }));
    assert!(read.contains("kettle of a stranger") && !read.contains("root:"), "{read}");
    let all = ask("cortex_search", json!({ "query": "kettle", "repos": ["*"] }));
    assert!(!all.contains(['\u{1b}', '\u{7}']) && all.contains("good_kettle"), "{all:?}");

    // Names that a publisher may not choose, and that somebody wrote into the database.
    for name in ["", "a b", "x:y", "a\nb", "*", "[x]"] {
        let error = run(&mut depot.publishing(&p, name)).error();
        assert!(error.contains("cannot be the name of a repository"), "{error}");
    }
    depot.sql(
        "INSERT INTO cortex.records SELECT E'evil\\x1b[31m', version, body FROM cortex.records WHERE name = 'good'",
    );
    let list = with_team(&["team", "repos"]).expect(0).stdout;
    assert!(list.contains("evil") && !list.contains('\u{1b}'), "{list:?}");
}

#[test]
fn damaged_contents_are_named_and_the_server_lives() {
    let Some(depot) = depot("damaged") else { return };
    let p = committed(&[("src/kettle.rs", "/// Boils a kettle.\npub fn boil_kettle() {}\n")]);
    depot.publish(&p, "good");
    let of_good = depot.sql("SELECT DISTINCT repository FROM cortex.facts");
    let bad = committed(&[("src/bad.rs", "/// A kettle, too.\npub fn bad_kettle() {}\n")]);
    depot.publish(&bad, "bad");
    let reader = Project::new();
    let records = depot.sql("SELECT body FROM cortex.records WHERE name = 'bad'");
    depot.sql("CREATE TABLE kept AS SELECT * FROM cortex.facts");
    let huge = "decode('28b52ffda0ffffff7f0100', 'hex')";
    let random = "decode(repeat('a7', 5000), 'hex')";
    for kind in 0..5 {
        for data in ["''", random, huge, "data || data", "substring(data for 20)"] {
            depot.sql(&format!("UPDATE cortex.facts SET data = {data} WHERE repository <> {of_good} AND kind = {kind}"));
            // A new server: this one has read nothing before.
            let (_server, url) = depot.serve(&reader, &[]);
            let client = Client::new(&url);
            for (tool, arguments) in [
                ("search", json!({ "query": "kettel", "repo": "bad" })),
                ("read", json!({ "path": "bad:src/bad.rs" })),
                ("grep", json!({ "pattern": "kettle", "repo": "bad" })),
            ] {
                let (status, body) = client.try_call(tool, &arguments).unwrap();
                assert!(
                    status == 200 || status == 500 && body.contains("of `bad` cannot be read"),
                    "{kind} {data} {tool}: {status} {body}"
                );
            }
            // The other one answers, alone and beside it.
            assert_eq!(found(&client, "good", "kettle"), ["src/kettle.rs"], "{kind} {data}");
            let both = client.call("search", &json!({ "query": "kettle", "repos": ["*"] }));
            assert!(both.to_string().contains("src/kettle.rs"), "{both}");
            depot.sql("DELETE FROM cortex.facts; INSERT INTO cortex.facts SELECT * FROM kept");
        }
    }
    for body in [
        "''",
        "'{}'",
        "'no json'",
        "repeat('[', 100000)",
        "replace(body, '\"whole\":\"', '\"whole\":\"é')",
        "replace(body, '\"whole\":\"', '\"whole\":\"ffffffffffffffff')",
    ] {
        depot.sql(&format!("UPDATE cortex.records SET body = {body} WHERE name = 'bad'"));
        let (_server, url) = depot.serve(&reader, &[]);
        let client = Client::new(&url);
        let (status, told) =
            client.try_call("search", &json!({ "query": "kettle", "repo": "bad" })).unwrap();
        assert!(
            status == 500 && told.contains("the record of `bad` cannot be read"),
            "{body}: {status} {told}"
        );
        assert_eq!(found(&client, "good", "kettle"), ["src/kettle.rs"], "{body}");
        let both = client.call("search", &json!({ "query": "kettle", "repos": ["*"] }));
        assert!(both.to_string().contains("src/kettle.rs"), "{both}");
        let escaped = records.replace('\'', "''");
        depot.sql(&format!("UPDATE cortex.records SET body = '{escaped}' WHERE name = 'bad'"));
    }
    let (_server, url) = depot.serve(&reader, &[]);
    assert_eq!(found(&Client::new(&url), "bad", "kettle"), ["src/bad.rs"]);
}
