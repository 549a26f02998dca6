//! Tests of an embedding server. The model is a mock, because a real one costs a download.

use std::net::TcpListener;
use std::time::{Duration, Instant, SystemTime};

use serde_json::{Value, json};

use crate::project::Project;
use crate::server::{Client, LONG, Server, warnings};
use crate::support::model::{Model, Mood, WELL};
use crate::support::wait_until;

/// Returns the vector files of a project.
fn caches(p: &Project) -> Vec<String> {
    let entries = std::fs::read_dir(p.path(".cortex/cache")).unwrap();
    let mut names: Vec<String> = entries
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .filter(|n| n.starts_with("vectors-"))
        .collect();
    names.sort();
    names
}

const BY_MEANING: &str = "cooking vegetables";

#[test]
fn an_index_has_its_vectors_from_the_server() {
    let model = Model::start();
    let p = model.sample("query_prefix = 'q: '\npassage_prefix = 'p: '\ntoken = 'secret'");
    let summary = p.index();
    let n_chunks = p.chunks().len();
    assert_eq!(summary["n_embedded"], n_chunks);
    let requests = model.requests();
    assert!(
        requests.iter().all(|r| r.model == "words" && r.head.starts_with("post /v1/embeddings "))
    );
    assert!(requests.iter().all(|r| r.head.contains("authorization: bearer secret")));
    let sent = model.sent();
    assert_eq!(sent.len(), n_chunks, "each once");
    assert!(
        sent.iter().any(|t| t.starts_with("p: ") && t.contains("potatoes"))
            && sent.iter().any(|t| t.starts_with("p: src retry.rs\n")),
        "{sent:?}"
    );
    let caches = caches(&p);
    assert!(
        caches.len() == 1
            && caches[0].starts_with("vectors-words_127.0.0.1-")
            && caches[0].contains("_256_"),
        "{caches:?}"
    );

    assert_eq!(p.found(&[BY_MEANING]), ["docs/guide.md"], "no word of the question stands there");
    assert_eq!(model.sent(), ["q: cooking vegetables"]);
    p.write("src/wall.rs", "fn plaster() {}\n");
    assert_eq!(p.index()["n_embedded"].as_u64(), Some(model.sent().len() as u64));
    assert_eq!(p.index()["n_embedded"], 0, "nothing is made twice");
    assert_eq!(model.sent().len(), 0);
    let status = p.json(&["status"]);
    assert!(status["embedder"].as_str().unwrap().starts_with("words_"), "{status}");
    assert_eq!(status["index"]["vectors_pending"], Value::Null);
}

#[test]
fn without_the_server_words_are_searched() {
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let p = Project::sample();
    p.configure(format!("[embed]\nurl = 'http://{nobody}'\nmodel = 'words'\ndimensions = 256"));
    let e = p.run(&["index"]).error();
    assert!(
        e.contains("the files are indexed, but vectors are missing")
            && e.contains(&nobody.to_string())
            && e.contains("embed.url"),
        "{e}"
    );
    let status = p.json(&["status"]);
    assert_eq!(status["index"]["vectors_pending"], status["chunks"]);
    assert_eq!(status["stale"], false);
    let reply = p.json(&["search", "boil the potatoes"]);
    assert_eq!(reply["results"][0]["path"], "docs/guide.md");
    let told = warnings(&reply);
    assert!(
        told.contains("found by words alone: http://") && told.contains("until `cortex index`"),
        "{told}"
    );
    let out = p.run(&["search", "potatoes"]).expect(0);
    assert!(out.stderr.contains("warning: cannot embed the query"), "{}", out.stderr);
    assert!(
        p.run(&["search", "--exact", "potatoes"]).expect(0).stderr.is_empty(),
        "exact search needs no vectors"
    );
}

#[test]
fn another_model_makes_its_own_vectors() {
    let model = Model::start();
    let p = model.sample("");
    p.index();
    let sent = model.sent();
    p.configure(model.settings("others", ""));
    // A search does not wait for vectors.
    let reply = p.json(&["search", "boil the potatoes"]);
    assert!(warnings(&reply).contains("by words alone until `cortex index`"), "{reply}");
    assert!(p.found(&[BY_MEANING]).is_empty(), "the old vectors are not used");
    assert!(
        model.requests().iter().all(|r| r.model == "others" && r.texts.len() == 1),
        "only the question is sent"
    );
    model.sent();
    p.index();
    assert_eq!(model.sent(), sent);
    assert_eq!(p.found(&[BY_MEANING]), ["docs/guide.md"]);
    let caches = caches(&p);
    assert_eq!(caches.len(), 2, "the old ones stay for who goes back: {caches:?}");

    p.configure(model.settings("words", ""));
    model.sent();
    assert_eq!(p.index()["n_embedded"], 0, "as now");
    // One month later, and then one year.
    let long_ago = |days: u64| {
        let unused = caches.iter().find(|c| c.contains("others")).unwrap();
        p.set_modified(
            format!(".cortex/cache/{unused}"),
            SystemTime::now() - Duration::from_secs(days * 24 * 3600),
        );
        p.index();
    };
    long_ago(20);
    assert_eq!(self::caches(&p).len(), 2);
    long_ago(40);
    assert_eq!(self::caches(&p), [caches.iter().find(|c| c.contains("words")).unwrap().clone()]);
    p.configure("");
    p.index();
    assert_eq!(model.sent().len(), 0, "the bundled model asks nobody");
}

#[test]
fn what_is_wrong_with_the_server_is_told() {
    let model = Model::start();
    let p = model.sample("");
    for (mood, what) in [
        (
            Mood::Well { dimensions: 8, longest: usize::MAX },
            "words gives vectors of 8 numbers: set embed.dimensions = 8 (it is 256)",
        ),
        (
            Mood::Says(500, json!({ "error": "out of memory" }).to_string()),
            "answered 500: `out of memory`",
        ),
        (
            Mood::Says(404, json!({ "error": { "message": "try pulling it" } }).to_string()),
            "`try pulling it`; does the server have the model",
        ),
        (Mood::Says(401, String::new()), "is embed.token right?"),
        (
            Mood::Says(200, "<html>Welcome</html>".into()),
            "`<html>Welcome</html>`; is embed.url an OpenAI-compatible server?",
        ),
        (Mood::Says(200, r#"{"data":[]}"#.into()), "lacks the vectors"),
    ] {
        model.set(mood);
        let e = p.run(&["index"]).error();
        assert!(e.contains(what) && e.contains(&model.url), "{what}: {e}");
        assert_eq!(p.found(&["boil the potatoes"]), ["docs/guide.md"], "by words");
    }
    assert!(model.requests().len() < 60, "a server that fails is not asked for each text");
    model.set(WELL);
    p.index();
    assert_eq!(p.found(&[BY_MEANING]), ["docs/guide.md"]);
}

/// As llama.cpp, which refuses texts longer than its batch.
#[test]
fn texts_that_are_too_long_for_the_model_are_cut() {
    let model = Model::start();
    let p = model.sample("");
    p.write(
        "docs/long.md",
        format!(
            "# Long\n\nThe decorator comes first.\n\n{}\n",
            "And so on, as it is.\n".repeat(60)
        ),
    );
    model.set(Mood::Well { dimensions: 256, longest: 400 });
    p.index();
    assert_eq!(p.json(&["status"])["index"]["vectors_pending"], Value::Null);
    assert_eq!(p.found(&["paint wall"])[0], "tools/colours.py");
    assert!(p.found(&["paint"]).contains(&"docs/long.md".into()), "by how it begins");
    // A text that the model refuses entirely gets no vector, and the others get theirs.
    let n_before = model.requests().len();
    p.write("docs/other.md", "# Other\n\nThe partition is high.\n");
    model.set(Mood::Well { dimensions: 256, longest: 10 });
    let out = p.run(&["index"]).expect(0);
    assert!(out.stderr.contains("so it has no vector"), "{}", out.stderr);
    assert_eq!(
        p.json(&["status"])["index"]["vectors_pending"],
        Value::Null,
        "it is not tried again and again"
    );
    assert!(model.requests().len() < n_before + 10);
}

fn serve(p: &Project) -> (Server, Client) {
    let mut command = p.cortex(&["serve", "--port", "0", "--watch"]);
    let server = Server::start(command.env("CORTEX_LIVE_DEBOUNCE_MS", "50"));
    let client = Client::new(&server.line());
    (server, client)
}

fn first(reply: &Value) -> Option<&str> {
    reply["results"][0]["path"].as_str()
}

#[test]
fn a_server_answers_while_vectors_are_made() {
    let model = Model::start();
    let p = model.sample("timeout_ms = 100");
    model.set(Mood::Silent);
    let (_server, client) = serve(&p);
    let words = json!({ "query": "boil the potatoes" });
    wait_until("the files are indexed", || {
        first(&client.call("search", &words)) == Some("docs/guide.md")
    });
    let status = client.status();
    assert_eq!(status["index"]["vectors_pending"], status["chunks"]);
    assert!(status["embedder"].as_str().unwrap().starts_with("words_"), "{status}");

    model.set(WELL);
    wait_until("the vectors come", || client.status()["index"]["vectors_pending"].is_null());
    let meaning = json!({ "query": BY_MEANING, "mode": "semantic" });
    wait_until("it is found by meaning", || {
        first(&client.call("search", &meaning)) == Some("docs/guide.md")
    });
    assert_eq!(warnings(&client.call("search", &meaning)), "");

    // A change is indexed, and its vectors are made, without a call.
    p.write("src/second.rs", "fn hang_the_partition() {}\n");
    wait_until("the change has its vectors", || {
        let reply = client.call("search", &json!({ "query": "wall", "mode": "semantic" }));
        first(&reply) == Some("src/second.rs") || reply["results"][1]["path"] == "src/second.rs"
    });

    // While the server fails, chunks wait for their vectors, and get them afterwards.
    model.set(Mood::Says(503, "busy".into()));
    p.write("src/third.rs", "fn decorator() {}\n");
    wait_until("it is told", || warnings(&client.status()).contains("vectors are not made"));
    assert!(warnings(&client.status()).contains("503: `busy`"));
    wait_until("the change is served", || {
        client.status()["index"]["vectors_pending"].as_u64() > Some(0)
    });
    model.set(WELL);
    wait_until("it is tried again", || client.status()["index"]["vectors_pending"].is_null());
    wait_until("no complaint is left", || {
        !warnings(&client.status()).contains("vectors are not made")
    });
}

/// A memory is stored at once, and gets its vector later.
#[test]
fn memories_come_to_their_vectors_too() {
    let model = Model::start();
    let p = model.sample("");
    p.run(&["memory", "add", "Boil the potatoes."]).expect(0);
    let vectors = || {
        p.json(&["memory", "stats"])["vectors"]
            .as_object()
            .unwrap()
            .values()
            .map(|n| n.as_u64().unwrap())
            .sum::<u64>()
    };
    assert_eq!(vectors(), 0);
    let mut command = p.cortex(&["serve", "--port", "0", "--watch"]);
    let server = Server::start(
        command.env("CORTEX_LIVE_DEBOUNCE_MS", "50").env("CORTEX_MEMORY_WINDOW_MS", "100"),
    );
    let client = Client::new(&server.line());
    wait_until("it has a vector", || vectors() == 1);
    let found = client.call("search_memory_nodes", &json!({ "query": BY_MEANING }));
    assert!(found["results"][0]["similarity"].as_f64().unwrap() > 0.5, "{found}");
}

#[test]
fn a_model_that_is_down_or_slow_costs_searches_nothing() {
    let model = Model::start();
    let p = model.sample("timeout_ms = 300");
    p.index();
    let (_server, client) = serve(&p);
    let ask = |query: &str| client.call("search", &json!({ "query": query }));
    wait_until("it is found by meaning", || first(&ask(BY_MEANING)) == Some("docs/guide.md"));

    // A slow server: the first search waits, the others do not, and no second request is sent
    // meanwhile.
    model.set(Mood::Silent);
    model.sent();
    let slow = ask("potatoes, decorator");
    assert!(warnings(&slow).contains("no answer within 300 ms"), "{slow}");
    assert_eq!(first(&slow), Some("docs/guide.md"), "by words");
    for n in 0..20 {
        assert!(warnings(&ask(&format!("potatoes {n}"))).contains("no answer within"));
    }
    assert_eq!(model.sent(), ["potatoes, decorator"]);
    assert_eq!(warnings(&ask(BY_MEANING)), "", "what was asked before is known");
    model.set(WELL);
    // The late answer is used and ends this state.
    wait_until("the late answer is taken", || warnings(&ask("potatoes, decorator")).is_empty());
    assert!(!model.sent().contains(&"potatoes, decorator".into()));

    // A failing server: one request in ten seconds.
    model.set(Mood::Says(500, "no".into()));
    let start = Instant::now();
    wait_until("it fails", || warnings(&ask("tomatoes")).contains("answered 500"));
    model.sent();
    for n in 0..20 {
        assert!(warnings(&ask(&format!("tomatoes {n}"))).contains("answered 500"));
    }
    assert!(model.sent().is_empty() || start.elapsed() > Duration::from_secs(8));
    let by_meaning = client.call("search", &json!({ "query": "tomatoes", "mode": "semantic" }));
    assert_eq!(
        first(&by_meaning),
        Some("docs/guide.md"),
        "words are better than nothing: {by_meaning}"
    );
    model.set(WELL);
    wait_until("it is asked again", || warnings(&ask("dawn")).is_empty());
}

#[test]
fn two_processes_do_not_send_the_same() {
    let model = Model::start();
    let p = model.sample("");
    model.set(Mood::Silent);
    let (_server, client) = serve(&p);
    wait_until("the server is at it", || !model.requests().is_empty());
    let out = p.run(&["index"]).expect(0);
    assert!(out.stderr.contains("another cortex process is making the vectors"), "{}", out.stderr);
    model.set(WELL);
    wait_until("the vectors come", || client.status()["index"]["vectors_pending"].is_null());
    assert_eq!(model.sent().len(), p.chunks().len());
}

#[test]
fn a_server_ends_while_it_waits_for_vectors() {
    let model = Model::start();
    let p = model.sample("");
    model.set(Mood::Silent);
    let (mut server, _client) = serve(&p);
    wait_until("it waits", || !model.requests().is_empty());
    server.signal("TERM");
    let (code, took) = server.ended();
    assert!(code == Some(0) && took < Duration::from_secs(5), "{code:?} after {took:?}");
}

#[test]
fn chunks_of_another_program_get_vectors_too() {
    let model = Model::start();
    let p = Project::new();
    p.configure(model.settings("words", ""));
    p.write(
        ".cortex/chunks/doc-chunks.json",
        "{\n \"chunks\": [\n {\"id\": \"x\",\n \"text\": \"Boil the potatoes.\"} ] }",
    );
    let (_server, client) = serve(&p);
    let meaning = json!({ "query": BY_MEANING, "mode": "semantic" });
    let deadline = Instant::now() + LONG;
    wait_until("it is found by meaning", || {
        assert!(Instant::now() < deadline);
        client.call("search", &meaning)["total"] == 1
    });
}

#[test]
fn a_file_that_came_with_the_code_sends_it_nowhere() {
    let model = Model::start();
    let p = Project::sample();
    p.write(".cortex/config.toml", model.settings("words", "token = 'secret'"));
    let out = p.run(&["search", "potatoes"]).expect(0);
    assert!(
        out.stdout.contains("docs/guide.md") && out.stderr.contains("embed.url"),
        "{}",
        out.stderr
    );
    assert!(model.requests().is_empty());
    // It also does not repeat what is sent to a server that the user named.
    let mut asked = p.cortex(&["index"]);
    asked.envs([
        ("CORTEX_EMBED_URL", &*model.url),
        ("CORTEX_EMBED_MODEL", "words"),
        ("CORTEX_EMBED_DIMENSIONS", "256"),
    ]);
    crate::project::run(&mut asked).expect(0);
    assert!(
        model.requests().iter().all(|r| !r.head.contains("secret")) && !model.requests().is_empty()
    );
}
