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

const DEFINITIONS: &str = ".cortex/chunks/code-definitions.json";
const SYMBOLS: &str = ".cortex/chunks/code-symbols.json";

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
fn saved_terms_that_are_damaged_under_a_server_are_rebuilt() {
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
        ".term", ".idx", ".pos", ".fast", ".fieldnorm", ".store", ".bin", "meta.json", "saved.json",
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

/// A project that is indexed, without a saved index.
fn unsaved() -> Project {
    let p = Project::sample();
    p.index();
    p
}

fn finds(p: &Project) {
    let found = p.run(&["search", "retry_with_backoff"]).expect(0);
    assert!(found.stdout.contains("src/retry.rs"), "{found:?}");
    assert!(!found.stdout.contains("error"), "{found:?}");
    let after = p.run(&["search", "retry_with_backoff"]).expect(0);
    assert_eq!(after.stderr, "", "the command that found the damage mended it");
}

#[test]
fn a_search_repairs_a_flipped_byte() {
    let n = unsaved().chunk_file("code-definitions.json").len();
    for at in [0, 40, n / 3, n / 2, n - 3] {
        for bit in [1, 0x80] {
            let p = unsaved();
            let path = p.path(DEFINITIONS);
            let mut bytes = fs::read(&path).unwrap();
            bytes[at] ^= bit;
            fs::write(&path, bytes).unwrap();
            finds(&p);
        }
    }
}

#[test]
fn a_directory_in_place_of_a_chunk_file_is_set_aside() {
    for name in ["code-data.json", "code-definitions.json", "doc-chunks.json.next", "manifest.json"]
    {
        let p = unsaved();
        let path = p.path(format!(".cortex/chunks/{name}"));
        let _ = fs::remove_file(&path);
        fs::create_dir(&path).unwrap();
        fs::write(path.join("kept"), "x").unwrap();
        p.write("src/new.rs", "pub fn newcomer() {}\n");
        p.index();
        finds(&p);
        let kept = p.path(format!(".cortex/chunks/{name}.directory1/kept"));
        assert_eq!(fs::read_to_string(kept).unwrap(), "x", "{name}");
    }
}

#[test]
fn a_lost_manifest_does_not_freeze_the_index() {
    let p = unsaved();
    let generation = p.index()["generation"].as_u64().unwrap();
    fs::remove_file(p.path(".cortex/chunks/manifest.json")).unwrap();
    p.write("src/new.rs", "pub fn newcomer() {}\n");
    assert_eq!(p.found(&["search", "newcomer", "-n", "1"]), ["src/new.rs"]);
    assert!(p.index()["generation"].as_u64().unwrap() > generation);

    let server = Server::start(&mut p.cortex(&["serve", "--port", "0"]));
    let client = Client::new(&server.line());
    client.call("search", &json!({ "query": "newcomer", "wait_ms": 20_000 }));
    fs::remove_file(p.path(".cortex/chunks/manifest.json")).unwrap();
    p.write("src/later.rs", "pub fn latecomer() {}\n");
    let found = client.call("search", &json!({ "query": "latecomer", "wait_ms": 20_000 }));
    assert_eq!(found["results"][0]["path"], "src/later.rs", "{found}");
    assert_eq!(warnings(&found), "");
}

#[test]
fn a_server_repairs_damage_itself() {
    let p = unsaved();
    let server = Server::start(&mut p.cortex(&["serve", "--port", "0"]));
    let client = Client::new(&server.line());
    client.call("search", &json!({ "query": "retry", "wait_ms": 20_000 }));
    let path = p.path(DEFINITIONS);
    let mut bytes = fs::read(&path).unwrap();
    let n = bytes.len();
    bytes[n / 2] ^= 1;
    fs::write(&path, &bytes).unwrap();
    wait_until("the damage is mended", || {
        let found = client.call("search", &json!({ "query": "retry_with_backoff" }));
        let is_mended = fs::read(&path).unwrap() != bytes;
        is_mended && found["results"][0]["path"] == "src/retry.rs" && warnings(&found).is_empty()
    });
}

/// `index --full` is the remedy that errors name, so it repairs what cannot be read at all.
#[test]
fn a_full_index_repairs_a_file_that_is_not_utf8() {
    let p = Project::sample();
    p.index();
    p.write(SYMBOLS, b"{\"_metadata\":\xff\n");
    p.run(&["index", "--full"]).expect(0);
    assert_eq!(p.timeless(), p.fresh_copy().timeless());
}

#[test]
fn a_search_repairs_a_chunk_file_that_was_cut() {
    let p = Project::sample();
    p.index();
    let whole = p.read(DEFINITIONS);
    p.write(DEFINITIONS, &whole[..whole.len() / 2]);
    p.run(&["search", "potatoes"]).expect(0);
    assert_eq!(p.timeless(), p.fresh_copy().timeless());
}
