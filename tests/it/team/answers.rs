//! What is published is found, as it would be found here.

use serde_json::{Value, json};

use super::{Database, Depot, committed, depot, essence, found, paths};
use crate::json_output::assert_keys_are_named;
use crate::project::{Project, run};
use crate::server::{Client, Server, get, initialize};
use crate::support::wait_until;

#[test]
fn what_is_published_is_asked_by_its_name() {
    let Some(depot) = depot("published") else { return };
    let p = committed(&[("settings.toml", "[server]\n")]);
    for path in ["src/retry.rs", "tools/colours.py", "docs/guide.md", "settings.toml"] {
        p.write(path, Project::sample().read(path));
    }
    p.commit("second");
    let first = depot.publish(&p, "shop/api");
    // Four files and two commits.
    assert_eq!((&first["generation"], &first["stored"]), (&1.into(), &6.into()), "{first}");
    assert!(first["rows"].as_u64() >= Some(6) && first["bytes"].as_u64() > Some(100), "{first}");
    assert_keys_are_named("publish --json", &first);
    let again = depot.publish(&p, "shop/api");
    assert_eq!((&again["generation"], &again["stored"]), (&1.into(), &0.into()), "{again}");

    let reader = Project::new();
    let (_server, url) = depot.serve(&reader, &[]);
    let client = Client::new(&url);
    let reply = client.call("search", &json!({ "query": "waits after a failed attempt" }));
    let best = &reply["results"][0];
    assert_eq!((&best["repo"], &best["path"]), (&"shop/api".into(), &"src/retry.rs".into()));
    let state =
        json!([{ "repo": "shop/api", "generation": 1, "commit": p.git(&["rev-parse", "HEAD"]) }]);
    assert_eq!(reply["published"], state);
    let read = client.call("read", &json!({ "path": "shop/api:src/retry.rs:2" }));
    assert!(read.to_string().contains("pub fn retry_with_backoff"), "{read}");
    let places = ["src/retry.rs:2", "/fn retry_with_backoff/"];
    let read = client.call("read", &json!({ "places": places, "repo": "shop/api" }));
    assert_eq!(read["places"][0]["path"], "src/retry.rs", "{read}");
    assert_eq!(read["patterns"][0]["total"], 1, "{read}");
    let lines =
        client.call("grep", &json!({ "pattern": "retry_with_backoff", "repo": "shop/api" }));
    assert!(lines.to_string().contains("attempts: u32"), "{lines}");
    assert_eq!(client.status()["published"], json!(["shop/api"]));

    for (tool, arguments) in [
        ("search", json!({ "query": "retry", "repo": "shop/api" })),
        ("read", json!({ "path": "src/retry.rs", "repo": "shop/api" })),
    ] {
        let mut arguments = arguments.clone();
        arguments["min_generation"] = json!(1);
        client.call(tool, &arguments);
        (arguments["min_generation"], arguments["wait_ms"]) = (json!(2), json!(150));
        let (_, body) = client.try_call(tool, &arguments).unwrap();
        assert!(body.contains("shop/api has generation 1, and not yet 2"), "{body}");
    }

    // On the command line of somebody who has no checkout.
    let ask = |args: &[&str]| run(reader.cortex(args).env("CORTEX_TEAM_URL", &depot.url));
    let out = ask(&["search", "--repo", "shop/api", "--lines", "0", "failed attempt"]).expect(0);
    assert!(out.stdout.starts_with("shop/api:src/retry.rs:1-4"), "{}", out.stdout);
    for args in [
        &["read", "shop/api:src/retry.rs:2"][..],
        &["read", "src/retry.rs:2", "--repo", "shop/api"],
    ] {
        let out = ask(args).expect(0).stdout;
        assert!(out.starts_with("shop/api:src/retry.rs:2"), "{args:?}: {out}");
        assert!(out.contains("pub fn retry_with_backoff"), "{args:?}: {out}");
    }
    let unknown = ask(&["read", "shop/api:src/retry.rs#retry_with_backof"]).error();
    assert!(unknown.contains("has no symbol") && unknown.contains("similar: retry_with_backoff"));
    let lines = ask(&["grep", "retry_with_backoff", "--repo", "shop/api"]).expect(0).stdout;
    assert!(lines.starts_with("shop/api:src/retry.rs:2:"), "{lines}");
    let list = ask(&["team", "repos"]).expect(0).stdout;
    assert!(list.starts_with("shop/api ") && list.contains("generation 1, "), "{list}");

    // One file is edited, one is gone: one is stored, with the new commit.
    p.write("tools/colours.py", "def varnish_boat(hull):\n    return hull\n");
    p.remove("docs/guide.md");
    p.commit("third");
    let second = depot.publish(&p, "shop/api");
    let of = |key: &str| second[key].as_u64().unwrap();
    assert_eq!(
        (of("generation"), of("stored"), of("retired"), of("all")),
        (2, 2, 2, 6),
        "{second}"
    );
    assert_eq!(found(&client, "shop/api", "varnish_boat")[0], "tools/colours.py");
    assert!(!found(&client, "shop/api", "boil potatoes").contains(&"docs/guide.md".to_string()));
    let reply = client.call("search", &json!({ "query": "paint_wall", "mode": "exact" }));
    assert_eq!(reply["total"], 0, "{reply}");
    assert_eq!(reply["published"][0]["generation"], 2);
    let (status, body) =
        client.try_call("read", &json!({ "path": "shop/api:docs/guide.md" })).unwrap();
    assert!(status == 404 && body.contains("has no file `docs/guide.md`"), "{status} {body}");

    assert!(ask(&["team", "remove", "shop/api"]).expect(0).stdout.contains("is removed"));
    assert_eq!(ask(&["team", "repos"]).expect(1).stdout, "");
    assert_eq!(
        depot.sql("SELECT (SELECT count(*) FROM cortex.rows) + count(*) FROM cortex.facts"),
        "0"
    );
}

/// A tree in several languages whose history says something.
fn several_languages() -> Project {
    let p = committed(&[
        (
            "src/retry.rs",
            "use crate::clock::Clock;\n\n/// Waits longer after each failed attempt.\npub fn retry_with_backoff(clock: &Clock, attempts: u32) -> u32 {\n    clock.wait(attempts * 2)\n}\n",
        ),
        (
            "src/clock.rs",
            "/// Measures the time between two events.\npub struct Clock {\n    started: u64,\n}\n\nimpl Clock {\n    /// Waits some seconds.\n    pub fn wait(&self, seconds: u32) -> u32 {\n        seconds\n    }\n}\n",
        ),
        (
            "web/basket.ts",
            "import { price } from './price';\n\n/** Adds up what is in the basket. */\nexport function basketTotal(items: Item[]): number {\n  return items.map(price).reduce((a, b) => a + b, 0);\n}\n",
        ),
        (
            "web/price.ts",
            "/** The price of an item with its discount. */\nexport function price(item: Item): number {\n  return item.amount * (1 - item.discount);\n}\n",
        ),
        (
            "tools/colours.py",
            "import os\n\n\nclass Painter:\n    \"\"\"Covers walls with paint.\"\"\"\n\n    def paint_wall(self, colour):\n        return colour\n",
        ),
        (
            "tools/test_colours.py",
            "from colours import Painter\n\n\ndef test_paint():\n    assert Painter().paint_wall('red') == 'red'\n",
        ),
        (
            "native/heap.c",
            "#include \"heap.h\"\n\n/* Moves the last node up until it is in order. */\nint heap_push(struct heap *h, int value) {\n    return h->size + value;\n}\n",
        ),
        (
            "native/heap.h",
            "struct heap { int size; };\nint heap_push(struct heap *h, int value);\n",
        ),
        (
            "docs/guide.md",
            "# Guide\n\n## Discounts\n\nA discount is between zero and one.\n\n## Retries\n\nFailed attempts are tried again, each after a longer wait.\n",
        ),
        ("settings.toml", "[server]\nport = 8080\nhost = \"localhost\"\n"),
    ]);
    for (path, from, to, message) in [
        ("src/retry.rs", "* 2", "* 3", "do not hammer a server that is overloaded"),
        ("web/price.ts", "1 - ", "1.0 - ", "round discounts as the tax office wants it"),
        ("native/heap.c", "h->size +", "h->size -", "heap: keep the order when values are equal"),
    ] {
        p.write(path, p.read(path).replace(from, to));
        p.commit(message);
    }
    p
}

const QUESTIONS: [&str; 10] = [
    "waits longer after each failed attempt",
    "retry_with_backoff",
    "how is the total of the basket computed",
    "discount of an item",
    "why do we not hammer an overloaded server",
    "Painter",
    "what tests the painter",
    "heap_psuh",
    "on which port does the server listen",
    "\"longer wait\" retries",
];

#[test]
fn published_answers_are_those_of_a_search_here() {
    let Some(depot) = depot("answers") else { return };
    let p = several_languages();
    // The third publication is of few changes on top of the first.
    for (path, text) in [("src/more.rs", "pub fn no_more() {}\n"), ("src/more.rs", "")] {
        p.write(path, text);
        depot.publish(&p, "zzz");
    }
    p.remove("src/more.rs");
    depot.publish(&p, "zzz");
    let reader = Project::new();
    for question in QUESTIONS {
        let args = ["search", "--json", "--explain", "-n", "10", question];
        let here = p.json(&args[..1].iter().chain(&args[2..]).copied().collect::<Vec<_>>());
        let mut there = reader.cortex(&[&args[..], &["--repo", "zzz"]].concat());
        let there = run(there.env("CORTEX_TEAM_URL", &depot.url)).expect(0);
        let there: Value = serde_json::from_str(&there.stdout).unwrap();
        assert!(!paths(&here).is_empty(), "{question}");
        assert_eq!(essence(&here["results"]), essence(&there["results"]), "{question}");
        assert_eq!(
            (&here["total"], &here["notes"]),
            (&there["total"], &there["notes"]),
            "{question}"
        );
    }
}

/// An agent that works in a checkout sees its own edits, and beside them what others published.
#[test]
fn a_checkout_answers_in_place_of_what_was_published_of_it() {
    let Some(depot) = depot("checkout") else { return };
    let p = committed(&[
        ("src/retry.rs", "/// Waits after a failed attempt.\npub fn retry_published() {}\n"),
        ("src/gone.rs", "/// Counts the failed attempts.\npub fn count_published() {}\n"),
    ]);
    depot.publish(&p, "shop/api");
    let other =
        committed(&[("lib.py", "def attempt_elsewhere():\n    \"\"\"A failed attempt.\"\"\"\n")]);
    depot.publish(&other, "shop/web");
    p.write("src/retry.rs", "/// Waits after a failed attempt.\npub fn retry_edited() {}\n");
    p.remove("src/gone.rs");
    p.configure(format!("[team]\nurl = \"{}\"\n", depot.url));
    for alone in [&["mcp", "--alone"][..], &["mcp"]] {
        let mut agent = Server::start(&mut p.cortex(alone));
        agent.ask("initialize", &initialize("2025-06-18"));
        let mut ask = |tool: &str, arguments: Value| {
            let reply = agent.ask("tools/call", &json!({ "name": tool, "arguments": arguments }));
            reply["result"]["content"][0]["text"].as_str().unwrap_or_default().to_string()
        };
        for repos in [["*"], ["shop/*"]] {
            let reply = ask(
                "cortex_search",
                json!({ "query": "failed attempt", "repos": repos, "wait_ms": 20_000 }),
            );
            assert!(
                reply.contains("retry_edited") && reply.contains("attempt_elsewhere"),
                "{reply}"
            );
            assert!(!reply.contains("_published"), "{reply}");
            assert!(reply.contains("shop/web") && reply.contains("generation 1"), "{reply}");
        }
        let read = ask("cortex_read", json!({ "path": "shop/api:src/retry.rs" }));
        assert!(read.contains("retry_edited"), "{read}");
        let gone = ask("cortex_read", json!({ "path": "src/gone.rs", "repo": "shop/api" }));
        assert!(!gone.contains("count_published"), "{gone}");
        let read = ask("cortex_read", json!({ "path": "shop/web:lib.py" }));
        assert!(read.contains("attempt_elsewhere"), "{read}");
    }
}

#[test]
fn a_database_that_is_down_costs_only_its_own_answers() {
    let Some(mut server) = Database::start("postgres") else { return };
    let mut depot = Depot::create(server.port, "down");
    depot.url = depot.url.replace("postgres@", "postgres:s3cretw0rd@");
    let p =
        committed(&[("src/retry.rs", "/// Waits after a failed attempt.\npub fn retry() {}\n")]);
    depot.publish(&p, "zzz");
    let reader =
        Project::with(&[("src/own.rs", "/// Repeats a failed attempt.\npub fn own() {}\n")]);
    let (_server, url) = depot.serve(&reader, &[]);
    let client = Client::new(&url);
    assert_eq!(found(&client, "zzz", "failed attempt"), ["src/retry.rs"]);
    let ready = || get(&format!("{url}/readyz"), &[]);
    assert_eq!(ready().0, 200, "{}", ready().1);
    server.kill();

    let address = format!("127.0.0.1:{}", server.port);
    let is_good = |message: &str| {
        assert!(message.contains(&address), "{message}");
        assert!(!message.contains("s3cretw0rd"), "{message}");
    };
    let (status, body) = client.try_call("search", &json!({ "query": "attempt" })).unwrap();
    assert!(status >= 500, "{status} {body}");
    is_good(&body);
    // The list of repositories is read every few seconds.
    wait_until("the server says that it cannot answer", || ready().0 == 503);
    is_good(&ready().1);
    let with_team = |args: &[&str]| run(reader.cortex(args).env("CORTEX_TEAM_URL", &depot.url));
    is_good(&with_team(&["search", "--repo", "zzz", "failed attempt"]).error());
    is_good(&with_team(&["team", "repos"]).error());
    let everywhere = with_team(&["search", "--repo", "*", "-l", "failed attempt"]).expect(0);
    assert_eq!(everywhere.stdout, "project:src/own.rs\n");
    is_good(&everywhere.stderr);
    is_good(&run(&mut depot.publishing(&p, "zzz")).error());

    let mut agent =
        Server::start(reader.cortex(&["mcp", "--alone"]).env("CORTEX_TEAM_URL", &depot.url));
    agent.ask("initialize", &initialize("2025-06-18"));
    let mut ask = |arguments: Value| {
        let reply =
            agent.ask("tools/call", &json!({ "name": "cortex_search", "arguments": arguments }));
        reply["result"]["content"][0]["text"].as_str().unwrap_or_default().to_string()
    };
    let everywhere = ask(json!({ "query": "failed attempt", "repos": ["*"], "wait_ms": 20_000 }));
    assert!(everywhere.contains("src/own.rs"), "{everywhere}");
    is_good(&everywhere);
    let here = ask(json!({ "query": "failed attempt" }));
    assert!(here.contains("src/own.rs") && !here.contains(&address), "{here}");

    server.start_again();
    wait_until("the server answers again", || ready().0 == 200);
    assert_eq!(found(&client, "zzz", "failed attempt"), ["src/retry.rs"]);
}
