//! Chunk files that are compressed: the same index, in less space.

use std::fs;

use serde_json::Value;

use crate::project::{CHUNK_FILES, Output, Project, run, without_stamps};

/// Enough files for several blocks.
fn project() -> Project {
    let p = Project::sample();
    for i in 0..60 {
        let functions =
            (0..8).map(|j| format!("/// Fills kettle {i} with {j} cups.\nfn kettle_{i}_{j}() -> u32 {{\n    {i} * {j}\n}}\n\n"));
        p.write(format!("src/part{i}.rs"), functions.collect::<String>());
    }
    p
}

fn cortex(p: &Project, compress: bool, args: &[&str]) -> Output {
    run(p.cortex(args).env("CORTEX_INDEX_COMPRESS", compress.to_string())).expect(0)
}

fn ask(p: &Project, compress: bool, question: &str) -> Value {
    let out = cortex(p, compress, &["search", question, "--json"]);
    assert_eq!(out.stderr, "");
    let mut reply: Value = serde_json::from_str(&out.stdout).unwrap();
    reply["index"] = Value::Null;
    reply["next_cursor"] = Value::Null;
    reply
}

fn packed(name: &str) -> String {
    format!(".cortex/chunks/{name}.zst")
}

/// Unpacks a packed file, as any program would.
fn unpacked(p: &Project, name: &str) -> String {
    String::from_utf8(zstd::decode_all(&*fs::read(p.path(packed(name))).unwrap()).unwrap()).unwrap()
}

/// Bug: the index of a large project took twice the space of its sources.
#[test]
fn an_index_of_much_source_is_packed_and_stays_so() {
    let p = Project::sample();
    // A hole takes no space on the disk, and only its size counts.
    let large = [0, 1, 2, 3, 4].map(|i| format!("large{i}.rs"));
    for name in &large {
        fs::File::create(p.path(name)).unwrap().set_len(14 << 20).unwrap();
    }
    let limit = ("CORTEX_INDEX_MAX_FILE_BYTES", "16000000");
    let index = || drop(run(p.cortex(&["index"]).env(limit.0, limit.1)).expect(0));
    let is_packed = || p.path(packed("code-definitions.json")).exists();
    index();
    assert!(is_packed());
    for name in &large {
        p.remove(name);
    }
    p.write("src/later.rs", "fn later() {}\n");
    index();
    assert!(is_packed(), "an update writes nothing anew");
    assert!(!p.path(".cortex/chunks/code-definitions.json").exists());
}

#[test]
fn a_packed_index_is_the_plain_one_in_less_space() {
    let p = project();
    cortex(&p, false, &["index"]);
    let plain = CHUNK_FILES.map(|name| p.chunk_file(name));
    let found = ["kettle with seven cups", "boil potatoes", "retry_with_backoff"]
        .map(|q| (q, ask(&p, false, q)));
    cortex(&p, true, &["index"]);
    for (name, plain) in CHUNK_FILES.into_iter().zip(&plain) {
        assert!(!p.path(format!(".cortex/chunks/{name}")).exists(), "{name} is packed");
        assert!(unpacked(&p, name) == *plain, "{name} holds the same");
    }
    let size = |name: &str| fs::metadata(p.path(packed(name))).unwrap().len();
    assert!(size("code-definitions.json") * 4 < plain[1].len() as u64);
    for _ in 0..2 {
        // The second search is served from what the first one saved.
        for (question, reply) in &found {
            assert!(ask(&p, true, question) == *reply, "{question}");
        }
    }

    p.write("src/part7.rs", "/// Whistles when the water boils.\nfn whistle() {}\n");
    p.remove("src/part8.rs");
    assert_eq!(ask(&p, true, "whistle")["results"][0]["path"], "src/part7.rs");
    let fresh = p.fresh_copy();
    let timeless =
        |text: &str| text.lines().map(|l| without_stamps(l).to_string()).collect::<Vec<_>>();
    for name in CHUNK_FILES {
        assert!(
            timeless(&unpacked(&p, name)) == timeless(&fresh.chunk_file(name)),
            "{name}, updated, is the fresh one"
        );
    }

    cortex(&p, false, &["index"]);
    assert!(!p.path(packed(CHUNK_FILES[1])).exists());
    assert_eq!(p.timeless(), fresh.timeless());
    p.run(&["clean"]).expect(0);
}

#[test]
fn packed_files_of_another_program_are_served_and_damaged_ones_named() {
    let p = Project::new();
    let json = r#"{"chunks": [{"id": "a", "title": "Garden", "text": "Water the tomatoes at dawn.", "metadata": {"file_path": "garden.md"}}]}"#;
    p.write(packed("doc-chunks.json"), zstd::encode_all(json.as_bytes(), 0).unwrap());
    assert_eq!(ask(&p, true, "tomatoes")["results"][0]["path"], "garden.md");
    p.run(&["index"]).expect(2);
    p.run(&["clean"]).expect(0);
    assert!(p.path(packed("doc-chunks.json")).exists(), "it is not ours");

    let good = fs::read(p.path(packed("doc-chunks.json"))).unwrap();
    let bomb = zstd::encode_all(std::io::Read::take(std::io::repeat(b' '), 1 << 30), 1).unwrap();
    for (what, bytes) in [
        ("half", &good[..good.len() / 2]),
        ("no zstd", b"{\"chunks\": []}"),
        ("empty", b""),
        ("endless", &bomb),
    ] {
        p.write(packed("doc-chunks.json"), bytes);
        let out = p.run(&["search", "tomatoes"]);
        assert_ne!(out.code, 0, "{what}");
        assert!(out.stderr.contains("doc-chunks.json.zst"), "{what}: {}", out.stderr);
    }
}
