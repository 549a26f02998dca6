//! A saved index that is damaged under a running server, or between two searches, is rebuilt: no
//! search fails for good.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::project::{Project, Random};
use crate::server::{Client, Server, get, warnings};
use crate::support::wait_until;

/// Creates a project whose index is saved.
fn saved() -> Project {
    let p = Project::new();
    for i in 0..40 {
        p.write(
            format!("src/part{i}.rs"),
            format!("/// Fills kettle {i} with {} cups of water.\nfn kettle_{i}() {{}}\n", i % 7),
        );
    }
    p.index();
    ask(&p);
    p
}

const QUESTION: &str = "which kettle has four cups of water";

fn ask(p: &Project) -> Value {
    p.json(&["search", QUESTION, "--explain"])["results"].clone()
}

/// Returns the saved files with these endings.
fn files(p: &Project, end: &str) -> Vec<PathBuf> {
    let directories = fs::read_dir(p.path(".cortex/cache"))
        .unwrap()
        .map(|e| e.unwrap().path())
        .filter(|path| path.is_dir());
    let all = directories.flat_map(|d| fs::read_dir(d).unwrap().map(|e| e.unwrap().path()));
    all.filter(|path| path.file_name().unwrap().to_str().unwrap().ends_with(end)).collect()
}

/// Writes 64 random bytes over the middle of a file, in place.
fn damage(path: &PathBuf, random: &mut Random) {
    let n_bytes = fs::metadata(path).unwrap().len();
    let noise: Vec<u8> =
        (0..n_bytes.min(64)).map(|_| u8::try_from(random.below(256)).unwrap()).collect();
    let from = (n_bytes - noise.len() as u64) / 2;
    File::options().write(true).open(path).unwrap().write_all_at(&noise, from).unwrap();
}

#[test]
fn every_search_failed_for_ever_when_saved_terms_were_damaged_under_a_server() {
    let p = saved();
    let server = Server::start(&mut p.cortex(&["serve", "--port", "0"]));
    let client = Client::new(&server.line());
    let search = || client.try_call("search", &json!({ "query": QUESTION })).unwrap();
    let ready = || get(&format!("{}/readyz", client.url), &[]);
    wait_until("the server is ready", || ready().0 == 200);
    // No query was answered yet, so no part of the index is in memory.
    let mut random = Random(3);
    let damaged = files(&p, ".term");
    assert!(!damaged.is_empty());
    for path in &damaged {
        damage(path, &mut random);
    }
    let (status, body) = search();
    assert!(
        status == 500 && body.contains("damaged") && body.contains("rebuilt"),
        "{status} {body}"
    );
    // From here on the server either is rebuilding, with a warning, or has finished.
    wait_until("the index is rebuilt", || {
        let (status, body) = ready();
        assert!(status == 200 || status == 503 && body.contains("damaged"), "{status} {body}");
        status == 200
    });
    let fresh = p.fresh_copy();
    fresh.index();
    let other = Server::start(&mut fresh.cortex(&["serve", "--port", "0"]));
    let other = Client::new(&other.line());
    let results = |client: &Client| {
        client.call("search", &json!({ "query": QUESTION, "explain": true }))["results"].clone()
    };
    wait_until("the other server is ready", || get(&format!("{}/readyz", other.url), &[]).0 == 200);
    assert_eq!(results(&client), results(&other));
    assert_eq!(warnings(&client.call("search", &json!({ "query": QUESTION }))), "");
    drop(server);
    assert!(damaged.iter().all(|path| !path.exists()), "the next process finds what was rebuilt");
}

#[test]
fn a_search_over_a_damaged_saved_index_answers() {
    let p = saved();
    let want = ask(&p);
    let mut random = Random(5);
    for end in [
        ".term",
        ".idx",
        ".pos",
        ".fast",
        ".fieldnorm",
        ".store",
        ".bin",
        "meta.json",
        "saved.json",
    ] {
        for path in files(&p, end) {
            if !path.exists() {
                continue;
            }
            // A disk that loses bytes does not change the file's time.
            let modified = fs::metadata(&path).unwrap().modified().unwrap();
            damage(&path, &mut random);
            File::options().write(true).open(&path).unwrap().set_modified(modified).unwrap();
            assert_eq!(ask(&p), want, "{}", path.display());
            assert_eq!(ask(&p), want, "{} the second time", path.display());
        }
    }
}
