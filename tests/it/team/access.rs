//! Tests who may see which published repositories.

use serde_json::{Value, json};

use super::{committed, depot, found};
use crate::project::{Project, run};
use crate::server::{Client, get};

const OF_A: &str = "a-token-that-nobody-guesses-1";
const OF_B: &str = "a-token-that-nobody-guesses-2";
const OF_ALL: &str = "a-token-that-nobody-guesses-3";

fn clients(p: &Project) -> String {
    let client = |token, repos| format!("[[client]]\ntoken = \"{token}\"\nrepos = [\"{repos}\"]\n");
    p.write("clients.toml", client(OF_A, "shop/a") + &client(OF_B, "b*") + &client(OF_ALL, "**"));
    p.path("clients.toml").to_str().unwrap().to_string()
}

#[test]
fn a_token_sees_its_own_repositories_and_no_trace_of_others() {
    let Some(depot) = depot("access") else { return };
    let a = committed(&[("src/kettle.rs", "/// Boils water.\npub fn boil_kettle() {}\n")]);
    let b = committed(&[
        ("hidden/zebrafish.rs", "/// Counts stripes.\npub fn count_zebrafish() {}\n"),
        ("hidden/kettle.rs", "/// Boils nothing.\npub fn kettle_of_b() {}\n"),
    ]);
    depot.publish(&a, "shop/a");
    let reader = Project::new();
    let (_server, url) = depot.serve(&reader, &["--clients", &clients(&reader)]);
    let [of_a, of_b, of_all] = [OF_A, OF_B, OF_ALL].map(|token| Client::with_token(&url, token));

    // What the holder of the token of A is told before B is published, and after.
    let asked: Vec<(&str, Value)> = vec![
        ("status", json!({})),
        ("search", json!({ "query": "kettle" })),
        ("search", json!({ "query": "kettle", "repos": ["*", "**"] })),
        ("search", json!({ "query": "kettle", "mode": "exact" })),
        // One letter away from names that only B has: nothing may be suggested.
        ("search", json!({ "query": "count_zebrafsh" })),
        ("search", json!({ "query": "zebrafish stripes", "repos": ["bravo", "b*"] })),
        ("search", json!({ "query": "zebrafish", "repo": "bravo" })),
        ("search", json!({ "query": "zebrafish", "repos": ["shop/a", "bravo"] })),
        ("grep", json!({ "pattern": "zebrafish", "repo": "bravo" })),
        ("grep", json!({ "pattern": "count_zebrafish", "repo": "shop/a" })),
        ("read", json!({ "path": "bravo:hidden/zebrafish.rs" })),
        ("read", json!({ "path": "hidden/zebrafish.rs", "repo": "bravo" })),
        ("read", json!({ "path": "hidden/zebrafish.rs", "repo": "shop/a" })),
    ];
    // Times differ from call to call.
    let steady = |(status, body): (u16, String)| {
        let mut body: Value = serde_json::from_str(&body).unwrap();
        for key in ["stats", "reload", "memory", "indexing", "index"] {
            body.as_object_mut().unwrap().remove(key);
        }
        (status, body)
    };
    let told = || -> Vec<(u16, Value)> {
        asked.iter().map(|(tool, q)| steady(of_a.try_call(tool, q).unwrap())).collect()
    };
    let before = told();
    let n = |client: &Client| client.call("search", &json!({ "query": "kettle" }))["stats"].clone();
    let counted = n(&of_a);
    depot.publish(&b, "bravo");
    // The list of all is two seconds old at most.
    std::thread::sleep(std::time::Duration::from_millis(2_100));
    assert_eq!(found(&of_b, "bravo", "count_zebrafish")[0], "hidden/zebrafish.rs");
    for ((was, is), question) in before.iter().zip(told()).zip(&asked) {
        assert_eq!(*was, is, "{question:?}");
        let text = is.1.to_string();
        assert!(
            !text.contains("hidden/k") && !text.contains("kettle_of_b"),
            "{question:?}: {text}"
        );
    }
    assert_eq!(counted["chunks"], n(&of_a)["chunks"]);
    // A name that exists is refused as one that does not.
    for (tool, arguments) in [
        ("search", json!({ "query": "x", "repo": "NAME" })),
        ("search", json!({ "query": "x", "repos": ["NAME"] })),
        ("read", json!({ "path": "NAME:x" })),
        ("read", json!({ "path": "x", "repo": "NAME" })),
        ("grep", json!({ "pattern": "word", "repo": "NAME" })),
    ] {
        let refused = |name: &str| {
            let arguments = arguments.to_string().replace("NAME", name);
            let arguments: Value = serde_json::from_str(&arguments).unwrap();
            let (status, body) = of_a.try_call(tool, &arguments).unwrap();
            assert!(status >= 400, "{tool} {arguments}: {body}");
            (status, body.replace(name, "NAME"))
        };
        assert_eq!(refused("bravo"), refused("candy"), "{tool} {arguments}");
    }

    // A glob of the file of clients, and one of a question.
    assert_eq!(of_b.status()["published"], json!(["bravo"]));
    assert_eq!(of_all.status()["published"], json!(["bravo", "shop/a"]));
    let everywhere = of_all.call("search", &json!({ "query": "kettle", "repos": ["*"] }));
    assert_eq!(everywhere["published"].as_array().unwrap().len(), 2, "{everywhere}");

    for token in ["", "wrong", &OF_A[..OF_A.len() - 1], "a-token-that-nobody-guesses-4"] {
        let stranger = Client::with_token(&url, token);
        for tool in ["search", "status", "nothing"] {
            let (status, body) = stranger.try_call(tool, &json!({ "query": "kettle" })).unwrap();
            assert!(status == 401 && !body.contains("shop"), "{status} {body}");
        }
        let bearer = format!("Bearer {token}");
        for path in ["api/openapi.json", "metrics", "events", "mcp"] {
            let (status, _) = get(&format!("{url}/{path}"), &[("authorization", &bearer)]);
            assert_eq!(status, 401, "{path}");
        }
    }
}

#[test]
fn a_server_that_would_let_in_the_wrong_ones_does_not_start() {
    let Some(depot) = depot("refusals") else { return };
    let p = committed(&[("a.rs", "pub fn a() {}\n")]);
    depot.publish(&p, "a");
    let refused = |args: &[&str]| {
        let args = [&["serve", "--from", &depot.url, "--port", "0"], args].concat();
        run(&mut p.cortex(&args)).error()
    };
    let file = clients(&p);
    for (text, why) in [
        (p.read("clients.toml").replace(OF_B, OF_A), "has the token of another one"),
        (p.read("clients.toml").replace(OF_B, "short"), "is shorter than 16 characters"),
        (p.read("clients.toml").replace("repos", "repo"), "write `[[client]]`"),
        (String::new(), "client"),
    ] {
        p.write("clients.toml", text);
        let error = refused(&["--clients", &file]);
        assert!(error.contains(why) && !error.contains(OF_A), "{error}");
    }
    clients(&p);
    let error = refused(&["--clients", &file, "--token", "another-token"]);
    assert!(error.contains("leave --token"), "{error}");
    // Without a token, only programs of this machine reach it.
    let error = refused(&["--address", "0.0.0.0"]);
    assert!(error.contains("other machines can reach 0.0.0.0: set a token"), "{error}");
    let (_server, url) = depot.serve(&p, &[]);
    assert!(url.starts_with("http://127.0.0.1:"), "{url}");
}
