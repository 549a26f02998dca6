//! Chunk files of other programs, and damaged files of ours.

use std::fs;

use serde_json::{Value, json};

use crate::project::{CHUNK_FILES, Output, Project};
use crate::server::{Client, Server, warnings};
use crate::support::wait_until;

const DEFINITIONS: &str = ".cortex/chunks/code-definitions.json";
const SYMBOLS: &str = ".cortex/chunks/code-symbols.json";
const DOCUMENTS: &str = ".cortex/chunks/doc-chunks.json";

/// Creates a project with one foreign chunk file.
fn foreign(content: impl AsRef<[u8]>) -> Project {
    let p = Project::with(&[("source.md", "# Source\n\nmarzipan\n")]);
    p.write(DEFINITIONS, content);
    p
}

fn search(p: &Project, query: &str) -> Output {
    p.run(&["search", "--exact", query, "--json"])
}

/// Returns the ids that an exact search finds.
fn ids(p: &Project, query: &str) -> Vec<String> {
    let reply: Value = serde_json::from_str(&search(p, query).stdout).unwrap();
    let results = reply["results"].as_array().unwrap();
    let spans = results
        .iter()
        .flat_map(|r| std::iter::once(r).chain(r["others"].as_array().into_iter().flatten()));
    let mut ids: Vec<String> = spans.map(|s| s["chunk_id"].as_str().unwrap().to_string()).collect();
    ids.sort();
    ids
}

/// Files of another writer are searched and never rewritten by default: `index` refuses and names
/// the option.
#[test]
fn foreign_chunks_are_searched_and_never_rewritten_unasked() {
    let text = r#"{ "chunks": [ {"id": "f1", "text": "nougat and honey", "metadata": {"file_path": "gone.py"}} ] }"#;
    let p = foreign(text);
    for _ in 0..2 {
        assert_eq!(p.found(&["nougat"]), ["gone.py"]);
        let error = p.run(&["index"]).error();
        assert!(
            error.contains("written by another program") && error.contains("cortex index --full"),
            "{error}"
        );
        assert_eq!(p.read(DEFINITIONS), text);
    }
    let status = p.json(&["status"]);
    assert_eq!((&status["foreign"], &status["chunks"]), (&json!(true), &json!(1)), "{status:#}");
    assert_eq!(
        (&status["index"]["local"], &status["files_parsed"]),
        (&json!(true), &json!(1)),
        "{status:#}"
    );
    assert!(p.run(&["status"]).stdout.contains("local: each process counts its own"));
    assert_eq!(p.json(&["search", "nougat"])["index"]["local"], true);
    assert!(!p.path(".cortex/chunks/manifest.json").exists());
    p.run(&["index", "--full"]).expect(0);
    assert_eq!(p.found(&["--exact", "marzipan"]), ["source.md"]);
    assert!(p.found(&["--exact", "nougat"]).is_empty());
    let status = p.json(&["status"]);
    assert_eq!((&status["foreign"], &status["index"]["local"]), (&Value::Null, &Value::Null));
    let found = p.json(&["search", "marzipan"]);
    assert_eq!(found.get("local"), None);
    assert_eq!(
        (&found["results"][0]["chunk_index"], &found["results"][0]["total_chunks"]),
        (&json!(0), &json!(1)),
        "{found}"
    );
}

/// Any JSON of the documented shape is accepted: any layout, unknown fields, only the required
/// fields, times with any offset and fraction, a byte order mark.
#[test]
fn any_json_of_the_documented_shape_is_accepted() {
    let chunk = json!({
        "id": "full", "title": "All fields", "text": "nougat one", "chunk_type": "definitions", "tags": ["sweet"],
        "metadata": {"file_path": "kitchen/a.rs", "start_line": 3, "end_line": 9, "names": [{"name": "nougat", "extra": 1}], "mood": {"x": [1]}},
        "created_at": "2026-01-02T03:04:05.123456789+05:30", "updated_at": "2026-01-02T03:04:05-08:00", "colour": null
    });
    let odd = json!({
        "id": "odd", "text": "nougat two", "chunk_type": "poem", "title": null, "tags": null, "embedding": null,
        "metadata": {"file_path": 7, "start_line": "three", "names": "none", "language": null}
    });
    let file = json!({"version": 9, "_metadata": {"generator": "other", "unknown": true}, "chunks": [chunk, odd, {"id": "least", "text": "nougat three"}]});
    let pretty = serde_json::to_string_pretty(&file).unwrap();
    for content in [
        pretty.clone(),
        file.to_string(),
        format!("\u{feff}{pretty}"),
        pretty.replace('\n', "\r\n"),
        format!("\n\n{pretty}\n\n"),
    ] {
        let p = foreign(content);
        assert_eq!(search(&p, "nougat").expect(0).stderr, "");
        assert_eq!(ids(&p, "nougat"), ["full", "least", "odd"]);
        let first = &p.json(&["search", "--exact", "one"])["results"][0];
        assert_eq!(
            (&first["path"], &first["start_line"], &first["end_line"]),
            (&json!("kitchen/a.rs"), &json!(3), &json!(9))
        );
        assert_eq!(p.found(&["nougat", "--tags", "sweet"]), ["kitchen/a.rs"]);
        let out = p.run(&["search", "nougat"]).expect(0).stdout;
        assert!(out.contains("kitchen/a.rs:3  nougat one"), "{out}");
    }
    for nothing in
        [r#"{"chunks":[]}"#, r#"{"chunks":null}"#, "{}", r#"{"_metadata":null,"chunks":[]}"#]
    {
        let p = foreign(nothing);
        p.write(DOCUMENTS, r#"{"chunks":[{"id":"d","text":"honey"}]}"#);
        assert_eq!(ids(&p, "honey"), ["d"], "{nothing}");
    }
}

/// A file that is not a chunk file is an error with its name, line and column; it is never served
/// in part.
#[test]
fn a_malformed_file_is_named_with_line_and_column() {
    let good = r#"{"id":"a","text":"nougat"}"#;
    for (content, place) in [
        (String::new(), ":1:1:"),
        ("not json".into(), ":1:2:"),
        ("[]".into(), ":1:"),
        ("{\"chunks\":{}}".into(), ":1:1"),
        (format!("{{\"chunks\":[\n{good},\n  7\n]}}"), ":3:3:"),
        (format!("{{\"chunks\":[\n{good},\n  {{\"id\":\n    7, \"text\":\"x\"}}\n]}}"), ":4:5:"),
        (
            format!(
                "{{\"chunks\":[\n{good},\n{{\"id\":\"b\",\"text\":\"x\",\"updated_at\":\"yesterday\"}}\n]}}"
            ),
            ":3:",
        ),
        (format!("{{\"chunks\":[\n{good},\n{good}"), ":3:"),
    ] {
        let p = foreign(&content);
        for args in [&["search", "nougat"][..], &["status"]] {
            let error = p.run(args).error();
            let wanted = format!("code-definitions.json{place}");
            assert!(error.contains(&wanted), "{content:?}: {error}");
            assert_eq!(
                error.matches("code-definitions.json").count(),
                1,
                "an error is told once: {error}"
            );
            assert!(!error.contains('\u{1b}'), "no escape codes in a pipe: {error:?}");
        }
    }
    let p = foreign(b"{\"chunks\":[\n{\"id\":\"a\",\"text\":\"caf\xe9\"}]}");
    let error = p.run(&["search", "nougat"]).error();
    assert!(error.contains("code-definitions.json:2:22:") && error.contains("UTF-8"), "{error}");
}

/// A chunk that cannot be used is reported with its id and file.
#[test]
fn a_chunk_without_id_or_text_or_with_a_wrong_vector_is_named() {
    let header = |d: usize| format!(r#""_metadata":{{"embedder":"x","dimensions":{d}}},"#);
    for (content, what) in [
        (r#"{"chunks":[{"id":"ok","text":"x"},{"text":"y"}]}"#.into(), ["number 2", "no `id`"]),
        (r#"{"chunks":[{"id":"","text":"y"}]}"#.into(), ["number 1", "no `id`"]),
        (r#"{"chunks":[{"id":"mute"}]}"#.into(), ["chunk mute", "no `text`"]),
        (
            r#"{"chunks":[{"id":"a","text":"x","embedding":[1,2,3]},{"id":"short","text":"y","embedding":[1,2]}]}"#.into(),
            ["chunk short", "2 numbers"],
        ),
        (format!(r#"{{{}"chunks":[{{"id":"long","text":"y","embedding":[1,2,3]}}]}}"#, header(2)), ["chunk long", "3 numbers"]),
    ] {
        let p = foreign(&content);
        let error = p.run(&["search", "x"]).error();
        assert!(error.contains("code-definitions.json: "), "{content}: {error}");
        assert!(what.iter().all(|w| error.contains(w)), "{content}: {error}");
        assert_eq!(p.read(DEFINITIONS), content);
    }
}

/// Of several chunks with one id the last is used, within a file and over all files, and a warning
/// names the id.
#[test]
fn of_duplicate_ids_the_last_wins_and_is_named() {
    let p = foreign(
        r#"{"chunks":[{"id":"twin","text":"nougat"},{"id":"other","text":"honey"},{"id":"twin","text":"marzipan"}]}"#,
    );
    p.write(DOCUMENTS, r#"{"chunks":[{"id":"other","text":"almonds"}]}"#);
    for (word, want) in
        [("nougat", &[][..]), ("marzipan", &["twin"]), ("honey", &[]), ("almonds", &["other"])]
    {
        assert_eq!(ids(&p, word), want, "{word}");
    }
    let out = p.run(&["search", "marzipan"]).expect(0);
    for id in ["twin", "other"] {
        let about =
            out.stderr.lines().filter(|l| l.starts_with("warning: ") && l.contains(id)).count();
        assert_eq!(about, 1, "{}", out.stderr);
    }
    assert_eq!(p.json(&["search", "marzipan"])["warnings"].as_array().map(Vec::len), Some(2));
}

/// Inline vectors of another embedder are ignored with one warning a file; those of the active one
/// are used.
#[test]
fn inline_vectors_are_used_only_from_the_active_embedder() {
    let ours = Project::with(&[("a.md", "# A\n")]);
    ours.index();
    let metadata: Value = serde_json::from_str(&ours.chunk_file(CHUNK_FILES[3])).unwrap();
    let (embedder, dimensions) = (
        metadata["_metadata"]["embedder"].clone(),
        metadata["_metadata"]["dimensions"].as_u64().unwrap(),
    );
    let vector: Vec<f64> = (0..dimensions).map(|i| if i % 2 == 0 { 0.5 } else { -0.25 }).collect();
    let meaning = |embedder: &Value| {
        let chunk = |id: &str| json!({"id": id, "text": "nougat and honey", "title": "sweets"});
        let mut with = chunk("with");
        with["embedding"] = json!(vector);
        let p =
            foreign(json!({"_metadata": {"embedder": embedder, "dimensions": dimensions}, "chunks": [with, chunk("without")]}).to_string());
        let reply = p.json(&["search", "nougat", "--explain"]);
        let value = |id: &str| {
            let row =
                reply["results"].as_array().unwrap().iter().find(|r| r["chunk_id"] == id).unwrap();
            let terms = row["explain"].as_array().unwrap();
            terms.iter().find(|t| t["feature"] == "meaning").and_then(|t| t["value"].as_f64())
        };
        (value("with"), value("without"), reply["warnings"].as_array().cloned().unwrap_or_default())
    };
    let (with, without, warnings) = meaning(&embedder);
    assert!(with != without && warnings.is_empty(), "{with:?} {without:?} {warnings:?}");
    let (with, without, warnings) = meaning(&json!("someone-elses"));
    assert_eq!(with, without);
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    let warning = warnings[0].as_str().unwrap();
    assert!(
        warning.contains("code-definitions.json") && warning.contains("someone-elses"),
        "{warning}"
    );
}

/// A chunk file of ours that was cut in half is reported with line and column and never served in
/// part; a search repairs it by itself.
#[test]
fn a_chunk_file_cut_in_half_is_repaired_by_the_next_index() {
    for name in CHUNK_FILES {
        let p = Project::sample();
        p.write("limits.py", "MAX_POTATOES = 12\n");
        p.index();
        let whole = p.timeless();
        let text = p.chunk_file(name);
        let cut = text.len() / 2;
        p.write(format!(".cortex/chunks/{name}"), &text[..cut]);
        let error = p.run(&["search", "potatoes", "--no-index"]).error();
        assert!(error.contains(name) && error.contains("cortex index"), "{error}");
        p.run(&["search", "potatoes"]).expect(0);
        p.run(&["index"]).expect(0);
        assert!(p.timeless() == whole, "{name}");
        assert_eq!(p.run(&["search", "potatoes"]).expect(0).stderr, "");
    }
}

/// A chunk file of ours that another program changed or removed is not served: the last index run did
/// not write its text. The next one repairs it.
#[test]
fn a_changed_chunk_file_is_not_served_and_is_repaired() {
    let p = Project::sample();
    p.index();
    let whole = p.timeless();
    let changed = p.chunk_file("doc-chunks.json").replace("tomatoes", "cucumber");
    for damage in [Some(&changed), None] {
        match damage {
            Some(text) => p.write(DOCUMENTS, text),
            None => p.remove(DOCUMENTS),
        }
        let out = p.run(&["search", "--exact", "cucumber OR tomatoes", "--no-index"]);
        assert!(out.code > 0 && out.stdout.is_empty(), "{}", out.stdout);
        assert!(out.stderr.contains("cortex index"), "{}", out.stderr);
        p.run(&["index"]).expect(0);
        assert!(p.timeless() == whole);
    }
    // Without a saved index, what is left is served with a warning.
    p.write(DOCUMENTS, &changed);
    fs::remove_dir_all(p.path(".cortex/cache")).unwrap();
    let out = p.run(&["search", "--exact", "attempts", "--no-index"]).expect(0);
    assert!(
        out.stderr.contains("warning: ")
            && out.stderr.contains("manifest.json")
            && out.stderr.contains("cortex index"),
        "{}",
        out.stderr
    );
    assert!(!out.stdout.contains("cucumber"), "{}", out.stdout);
    p.run(&["index"]).expect(0);
    assert!(p.timeless() == whole);
    for damaged in ["", "{\"generation\":", "null"] {
        p.write(".cortex/chunks/manifest.json", damaged);
        assert_eq!(p.found(&["--exact", "tomatoes"]), ["docs/guide.md"], "manifest {damaged:?}");
        p.run(&["index"]).expect(0);
        assert!(p.timeless() == whole, "manifest {damaged:?}");
    }
}

/// Caches may hold anything: what cannot be read is built again, with the same answers.
#[test]
fn damaged_caches_are_made_anew() {
    let p = Project::sample();
    p.index();
    let answers = || p.json(&["search", "tomatoes in the garden", "--explain"])["results"].clone();
    let before = answers();
    let vectors = std::fs::read_dir(p.path(".cortex/cache"))
        .unwrap()
        .map(|e| e.unwrap().path())
        .find(|f| f.to_string_lossy().contains("vectors"));
    let vectors = vectors.expect("a cache of vectors");
    let good = std::fs::read(&vectors).unwrap();
    let mut flipped = good.clone();
    flipped[100] ^= 0x40;
    for damaged in [
        Vec::new(),
        b"garbage".to_vec(),
        good[..good.len() - 7].to_vec(),
        good[..20].to_vec(),
        flipped,
    ] {
        std::fs::write(&vectors, &damaged).unwrap();
        assert_eq!(answers(), before);
        p.write("more.md", format!("# More\n\n{}\n", damaged.len()));
        p.index();
        p.remove("more.md");
        p.index();
        assert_eq!(answers(), before);
    }
    for damaged in ["", "{}", "[1]", "{\"files\":{}}"] {
        p.write(".cortex/cache/sources.json", damaged);
        assert_eq!(answers(), before, "sources {damaged:?}");
        assert_eq!(p.index()["changed"], false, "sources {damaged:?}");
    }
}

const THEIRS: &str = r#"{"_metadata":{"generator":"other 1"},"chunks":[{"id":"f1","text":"nougat and honey","metadata":{"file_path":"gone.py"}}]}"#;

/// Returns the names in the directory of chunk files that are not ours.
fn others(p: &Project) -> Vec<String> {
    let names = std::fs::read_dir(p.path(".cortex/chunks"))
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names
        .filter(|name| {
            name != "manifest.json" && !CHUNK_FILES.contains(&name.trim_end_matches(".zst"))
        })
        .collect();
    names.sort();
    names
}

/// If another program puts a chunk file under one of our names, it is moved aside and served, and
/// the index becomes complete again; with any command first, and again for the next such file.
#[test]
fn a_foreign_file_under_a_name_of_ours_is_kept_and_served() {
    for command in [&["index"][..], &["search", "potatoes"]] {
        let p = Project::sample();
        p.index();
        let whole = p.timeless();
        p.write(DEFINITIONS, THEIRS);
        let out = p.run(command).expect(0);
        assert!(
            out.stderr.contains("code-definitions.other.json")
                && out.stderr.contains("another program"),
            "{}",
            out.stderr
        );
        assert!(p.timeless() == whole);
        assert_eq!(p.chunk_file("code-definitions.other.json"), THEIRS);
        assert_eq!(p.found(&["--exact", "nougat"]), ["gone.py"]);
        assert_eq!(p.found(&["--exact", "tomatoes"]), ["docs/guide.md"]);
        assert_eq!(p.run(&["search", "nougat"]).expect(0).stderr, "", "it is told once");
        assert_eq!(p.json(&["status"])["other_files"], json!(["code-definitions.other.json"]));
        assert!(p.run(&["status"]).expect(0).stdout.contains("code-definitions.other.json"));
        // The same file again, another one, and one after an edit.
        p.write(DEFINITIONS, THEIRS);
        p.index();
        assert_eq!(others(&p), ["code-definitions.other.json"]);
        p.write(DEFINITIONS, THEIRS.replace("nougat", "marzipan"));
        p.write("more.md", "# More\n\nalmonds\n");
        assert_eq!(p.found(&["--exact", "almonds"]), ["more.md"]);
        assert_eq!(others(&p), ["code-definitions.other.json", "code-definitions.other2.json"]);
        assert_eq!(ids(&p, "marzipan"), ["f1"], "the newest of those with one id");
        assert!(ids(&p, "nougat").is_empty());
    }
}

/// A file beside ours with the other suffix, and one that arrives while plain files are about to be
/// packed.
#[test]
fn a_foreign_file_in_the_other_packing_is_kept_and_served() {
    let p = Project::sample();
    p.index();
    let theirs = zstd::bulk::compress(THEIRS.as_bytes(), 3).unwrap();
    p.write(".cortex/chunks/doc-chunks.json.zst", &theirs);
    assert_eq!(p.run(&["search", "potatoes"]).expect(0).code, 0);
    assert_eq!(p.found(&["--exact", "nougat"]), ["gone.py"]);
    assert_eq!(std::fs::read(p.path(".cortex/chunks/doc-chunks.other.json.zst")).unwrap(), theirs);
    p.write(".cortex/config.toml", "[index]\ncompress = true\n");
    p.index();
    assert_eq!(p.found(&["--exact", "nougat"]), ["gone.py"]);
    p.write(DEFINITIONS, THEIRS.replace("nougat", "marzipan").replace("f1", "f2"));
    assert_eq!(p.found(&["--exact", "marzipan"]), ["gone.py"]);
    assert_eq!(others(&p), ["code-definitions.other.json", "doc-chunks.other.json.zst"]);
}

/// Every further JSON file in the directory is a chunk file of another program. Its changes are
/// followed, also by a process that starts from a saved index; a chunk of ours wins over one with
/// the same id.
#[test]
fn further_files_are_served_beside_the_index() {
    let p = Project::sample();
    p.index();
    let own = ids(&p, "tomatoes")[0].clone();
    let extra = ".cortex/chunks/extra.json";
    let of = |chunks: Value| json!({ "chunks": chunks }).to_string();
    p.write(
        extra,
        of(json!([{"id": "f1", "text": "nougat and honey"}, {"id": "f2", "text": "nougat alone"}])),
    );
    for _ in 0..2 {
        assert_eq!(ids(&p, "nougat"), ["f1", "f2"]);
        assert_eq!(p.run(&["search", "tomatoes"]).expect(0).stderr, "");
    }
    p.write(extra, of(json!([{"id": "f1", "text": "nougat and almonds"}, {"id": own, "text": "nougat for tomatoes"}])));
    assert_eq!(ids(&p, "nougat"), ["f1"]);
    assert_eq!(ids(&p, "honey"), [""; 0]);
    assert_eq!(ids(&p, "tomatoes"), std::slice::from_ref(&own));
    let warnings = p.run(&["search", "tomatoes"]).expect(0).stderr;
    assert!(warnings.contains(&own) && warnings.contains("more than once"), "{warnings}");
    assert_eq!(p.index()["changed"], false);
    p.remove("docs/guide.md");
    assert!(ids(&p, "tomatoes").contains(&own), "now it is theirs alone");
    p.remove(extra);
    assert!(ids(&p, "nougat").is_empty());
    p.run(&["clean"]).expect(0);
    assert!(!p.path(".cortex/chunks").exists());
}

/// Nothing in that directory prevents the index from being served; a file that cannot be used is
/// reported and stays.
#[test]
fn a_further_file_that_cannot_be_used_is_named_and_stays() {
    let p = Project::sample();
    p.index();
    let copy = p.chunk_file("doc-chunks.json");
    for (name, content, why) in [
        ("notes.json", "not json", "notes.json:1:2: not a chunk file"),
        ("list.json", "[]", "list.json:1:1"),
        ("half.json.zst", "x", "half.json.zst:1:1"),
        ("doc-chunks.backup.json", &*copy, "doc-chunks.backup.json: Cortex wrote this"),
    ] {
        let path = format!(".cortex/chunks/{name}");
        p.write(&path, content);
        for _ in 0..2 {
            let out = p.run(&["search", "tomatoes"]).expect(0);
            assert!(
                out.stdout.contains("docs/guide.md") && out.stderr.contains(why),
                "{name}: {} {}",
                out.stdout,
                out.stderr
            );
            assert!(
                !out.stderr.contains("--full") && out.stderr.contains("remove"),
                "{}",
                out.stderr
            );
        }
        p.run(&["index", "--full"]).expect(0);
        p.run(&["clean"]).expect(0);
        assert_eq!(p.read(&path), content);
        p.index();
        p.remove(&path);
    }
    std::os::unix::fs::symlink("/etc/passwd", p.path(".cortex/chunks/link.json")).unwrap();
    let out = p.run(&["search", "tomatoes"]).expect(0);
    assert!(out.stderr.contains("link.json") && out.stderr.contains("link"), "{}", out.stderr);
    p.remove(".cortex/chunks/link.json");
    for i in 0..40 {
        p.write(format!(".cortex/chunks/n{i}.json"), r#"{"chunks":[]}"#);
    }
    let out = p.run(&["search", "tomatoes"]).expect(0);
    assert_eq!(out.stderr.matches("at most 32 files").count(), 8, "{}", out.stderr);
}

/// `clean` removes the index and leaves files of other programs, whatever their names.
#[test]
fn clean_leaves_a_foreign_file_under_a_name_of_ours() {
    let p = Project::sample();
    p.index();
    p.write(DEFINITIONS, THEIRS);
    p.write(".cortex/chunks/extra.json", THEIRS.replace("f1", "f2"));
    p.run(&["clean"]).expect(0);
    assert_eq!(p.read(DEFINITIONS), THEIRS);
    assert_eq!(ids(&p, "nougat"), ["f1", "f2"], "they are served as they are");
    p.run(&["index"]).error();
    p.run(&["index", "--full"]).expect(0);
    assert_eq!(ids(&p, "nougat"), ["f2"], "that replaces only what has the names of ours");
}

/// A server serves what another program writes beside the index, keeps what that program
/// overwrites, and completes the index again at the next look.
#[test]
fn a_server_keeps_and_serves_what_another_program_writes() {
    let p = Project::sample();
    p.run(&["index"]).expect(0);
    let whole = p.timeless();
    assert!(p.command("git").args(["init", "-q"]).status().unwrap().success());
    let server = Server::start(&mut p.cortex(&["serve", "--port", "0"]));
    let client = Client::new(&server.line());
    let found = |word: &str| {
        client.call("search", &json!({ "query": word, "mode": "exact" }))["results"]
            .as_array()
            .unwrap()
            .len()
    };
    let extra = ".cortex/chunks/extra.json";
    p.write(extra, THEIRS);
    wait_until("a further file is served", || found("nougat") == 1);
    p.write(extra, THEIRS.replace("honey", "almonds"));
    wait_until("its change is served", || found("almonds") == 1 && found("honey") == 0);
    p.write(extra, &THEIRS[..THEIRS.len() / 2]);
    wait_until("half a file is named", || warnings(&client.status()).contains("extra.json"));
    assert_eq!((found("almonds"), found("potatoes")), (1, 1), "what was read before is served");
    p.remove(extra);
    wait_until("it is gone", || found("almonds") == 0 && warnings(&client.status()).is_empty());
    p.write(DEFINITIONS, THEIRS);
    let reply =
        client.call("search", &json!({ "query": "honey", "wait_ms": 30000, "mode": "exact" }));
    assert_eq!(reply["results"].as_array().unwrap().len(), 1, "{reply}");
    assert_eq!(warnings(&reply), "");
    assert_eq!(client.status()["other_files"], json!(["code-definitions.other.json"]));
    assert!(p.timeless() == whole);
}

/// Bug: the ranks of the files were kept until the next generation, which such a project has not.
#[test]
fn a_server_ranks_files_beside_foreign_ones_anew() {
    let p = Project::with(&[
        ("src/a.rs", "pub fn knead() {}\n"),
        ("src/b.rs", "use crate::a::knead;\n\npub fn bake() {\n    knead();\n}\n"),
    ]);
    let b_is = |language: &str| {
        let chunks = [("a", "rust"), ("b", language)].map(|(id, language)| {
            let metadata = json!({ "file_path": format!("src/{id}.rs"), "language": language });
            json!({ "id": id, "text": "knead and bake", "metadata": metadata })
        });
        p.write(DEFINITIONS, json!({ "chunks": chunks }).to_string());
    };
    b_is("rust");
    let server = Server::start(&mut p.cortex(&["serve", "--port", "0", "--tools", "search,graph"]));
    let client = Client::new(&server.line());
    let ranked = || {
        let map = client.call("map", &json!({}));
        let files = map["files"].as_array().unwrap().iter();
        let mut paths: Vec<String> =
            files.map(|file| file["path"].as_str().unwrap().to_string()).collect();
        paths.sort();
        paths
    };
    assert_eq!(ranked(), ["src/a.rs", "src/b.rs"]);
    p.write("src/c.rs", "use crate::a::knead;\n\npub fn rest() {\n    knead();\n}\n");
    assert_eq!(ranked(), ["src/a.rs", "src/b.rs", "src/c.rs"], "it follows the sources");
    b_is("css");
    // Style sheets are not ranked. The server serves the change when the file has been quiet.
    wait_until("it follows the chunk files", || ranked() == ["src/a.rs", "src/c.rs"]);
}

/// The code graph and the map are built from the source files, whoever writes the chunk files;
/// without source files the reply says so.
#[test]
fn the_graph_and_the_map_work_beside_foreign_files() {
    let p = Project::with(&[
        ("src/a.rs", "pub fn knead() {}\n"),
        ("src/b.rs", "use crate::a::knead;\n\npub fn bake() {\n    knead();\n}\n"),
    ]);
    p.write(DEFINITIONS, THEIRS);
    let callers =
        |p: &Project| p.json(&["graph", "callers", "knead"])["results"].as_array().unwrap().len();
    assert_eq!(callers(&p), 1);
    assert!(p.run(&["map"]).expect(0).stdout.contains("knead"));
    assert_eq!(p.json(&["map", "--focus", "nougat"])["files"].as_array().unwrap().len(), 2);
    p.write("src/c.rs", "use crate::a::knead;\n\npub fn rest() {\n    knead();\n}\n");
    assert_eq!(callers(&p), 2, "it follows the files");
    p.remove("src/c.rs");
    assert_eq!(callers(&p), 1);
    assert!(p.command("git").args(["init", "-q"]).status().unwrap().success());
    let server = Server::start(&mut p.cortex(&["serve", "--port", "0", "--tools", "search,graph"]));
    let client = Client::new(&server.line());
    let reply = client.call("graph", &json!({ "operation": "callers", "target": "knead" }));
    assert_eq!(reply["total"], 1, "{reply}");
    p.write("src/c.rs", "use crate::a::knead;\n\npub fn rest() {\n    knead();\n}\n");
    assert_eq!(
        client.call("graph", &json!({ "operation": "callers", "target": "knead" }))["total"],
        2
    );
    assert_eq!(p.read(DEFINITIONS), THEIRS);
    drop(server);

    let p = Project::new();
    p.write(DEFINITIONS, THEIRS);
    for args in [&["graph", "callers", "knead"][..], &["map"]] {
        let error = p.run(args).error();
        assert!(error.contains("source files") && !error.contains("cannot index"), "{error}");
    }
}

/// Statements about foreign files are true: every reply has the right generation, and a chunk
/// without a file has no path.
#[test]
fn what_is_said_of_foreign_files_is_true() {
    let p = foreign(r#"{"chunks":[{"id":"f1","text":"nougat and honey"}]}"#);
    let reply = p.json(&["search", "nougat"]);
    assert_eq!(
        (&reply["results"][0]["path"], &reply["results"][0]["chunk_id"]),
        (&Value::Null, &json!("f1"))
    );
    let status = p.json(&["status"]);
    assert_eq!(
        (&status["index"]["generation"], &status["files"]),
        (&reply["index"]["generation"], &json!(0))
    );
    let text = p.run(&["status"]).expect(0).stdout;
    assert!(
        text.contains("generation 1 (local")
            && text.contains("written by another program")
            && !text.contains("()"),
        "{text}"
    );
    let client = Server::start(&mut p.cortex(&["serve", "--port", "0"]));
    let served = Client::new(&client.line()).status();
    assert_eq!(
        (&served["index"]["generation"], &served["files"]),
        (&status["index"]["generation"], &json!(0)),
        "{served}"
    );
}

/// An array in place of an object is an error, and a header that names the active embedder counts
/// without `dimensions`.
#[test]
fn arrays_are_no_objects_and_a_header_needs_no_dimensions() {
    for content in [
        r#"[{"id":"a","text":"nougat"}]"#,
        r#"{"chunks":[["a","nougat","x"]]}"#,
        r#"{"chunks":[{"id":"a","text":"nougat","metadata":["x"]}]}"#,
        r#"{"_metadata":["cortex-static-256",256],"chunks":[{"id":"a","text":"nougat"}]}"#,
    ] {
        let error = foreign(content).run(&["search", "nougat"]).error();
        assert!(error.contains("code-definitions.json:1:"), "{content}: {error}");
    }
    let vector = vec!["0.0625"; 256].join(",");
    let p = foreign(format!(
        r#"{{"_metadata":{{"embedder":"cortex-static-256"}},"chunks":[{{"id":"a","text":"nougat","embedding":[{vector}]}}]}}"#
    ));
    assert_eq!(p.run(&["search", "nougat"]).expect(0).stderr, "");
}

#[test]
fn a_time_without_an_offset_is_named() {
    let chunk = r#"{"id":"late","text":"nougat","updated_at":"2026-01-31T12:00:00"}"#;
    let p = foreign(format!("{{\"chunks\":[\n{chunk}\n]}}"));
    let error = p.run(&["search", "nougat"]).error();
    for part in
        ["code-definitions.json:2:", "chunk `late`", "`updated_at` is `2026-01-31T12:00:00`", "Z"]
    {
        assert!(error.contains(part), "{part}: {error}");
    }
}

/// What another program writes in another form is the same chunk.
#[test]
fn the_same_chunks_in_another_form_are_updated() {
    let chunk = |id: &str, at: &str, space: &str| {
        format!(
            "{{\"id\":{space}\"{id}\",{space}\"text\": \"nougat {id}\",\"updated_at\":\"{at}\"}}"
        )
    };
    let file = |at: &str, space: &str| {
        let chunks = ["a", "b"].map(|id| chunk(id, at, space)).join(",\n");
        format!("{{\"chunks\":[\n{chunks}\n]}}")
    };
    let p = foreign(file("2026-01-31T12:00:00Z", ""));
    let server = Server::start(
        p.cortex(&["serve", "--port", "0", "--no-watch"]).env("CORTEX_LIVE_DEBOUNCE_MS", "50"),
    );
    let client = Client::new(&server.line());
    let reloads = || {
        let status = client.status();
        let of = |name: &str| status["reload"][name].as_u64().unwrap();
        (of("published"), of("files_parsed"))
    };
    client.call("search", &json!({ "query": "nougat" }));
    let before = reloads();
    p.write(DEFINITIONS, file("2026-01-31T14:00:00+02:00", "   "));
    wait_until("the file is read", || reloads().1 > before.1);
    client.call("search", &json!({ "query": "nougat", "wait_ms": 5_000 }));
    assert_eq!(reloads().0, before.0, "nothing is published, because no chunk changed");
}

/// The chunk files of another program have no manifest, so only quiet tells that all are written.
#[test]
fn half_of_what_another_program_writes_is_not_served() {
    let file =
        |era: usize| format!("{{\"chunks\":[{{\"id\":\"c{era}\",\"text\":\"nougat era{era}\"}}]}}");
    let names = ["code-symbols.json", "code-definitions.json", "code-data.json", "doc-chunks.json"];
    let p = Project::new();
    let write = |name: &str, era: usize| {
        let text = file(era).replace("\"id\":\"c", &format!("\"id\":\"{name}"));
        p.write(format!(".cortex/chunks/{name}"), text);
    };
    for name in names {
        write(name, 0);
    }
    let server = Server::start(
        p.cortex(&["serve", "--port", "0", "--no-watch"]).env("CORTEX_LIVE_DEBOUNCE_MS", "3000"),
    );
    let client = Client::new(&server.line());
    let seen = || -> std::collections::BTreeSet<usize> {
        let found =
            client.call("search", &json!({ "query": "nougat", "limit": 9, "mode": "exact" }));
        let text = found.to_string();
        (0..9).filter(|era| text.contains(&format!("era{era}"))).collect()
    };
    wait_until("the first files are served", || seen() == [0].into());
    for era in 1..4 {
        // The pause between two files is shorter than the time that they must be quiet.
        for name in names {
            write(name, era);
            let until = std::time::Instant::now() + std::time::Duration::from_millis(300);
            while std::time::Instant::now() < until {
                assert_eq!(seen().len(), 1, "a generation mixes what was written at two times");
            }
        }
    }
    wait_until("the last files are served", || seen() == [3].into());
    assert!(client.status()["reload"]["published"].as_u64().unwrap() <= 4);
}

#[test]
fn clean_leaves_the_chunks_of_other_programs() {
    let p = Project::new();
    let text = r#"{"chunks": [{"id": "a", "text": "nougat"}]}"#;
    p.write(DEFINITIONS, text);
    p.found(&["nougat"]);
    assert!(p.run(&["clean"]).expect(0).stdout.contains("another program"));
    assert_eq!(p.read(DEFINITIONS), text);
}

/// Several chunks of one file are searched, a title beside names too, and a header need not name
/// an embedder.
#[test]
fn chunks_of_other_programs_are_searched_whole() {
    let p = Project::new();
    p.write(
        SYMBOLS,
        r#"{"_metadata": {"embedder": null, "format_version": "1.0"}, "chunks": [
            {"id": "a1", "text": "opens the valve", "metadata": {"file_path": "a.rs"}},
            {"id": "a2", "text": "closes the hatch", "title": "Backpressure policy", "metadata": {"file_path": "a.rs", "names": [{"name": "omega"}]}}
        ]}"#,
    );
    let lead = |query: &str| {
        p.json(&["search", query])["results"][0]["chunk_id"].as_str().map(String::from)
    };
    assert_eq!(lead("hatch").as_deref(), Some("a2"));
    assert_eq!(lead("valve").as_deref(), Some("a1"));
    assert_eq!(lead("backpressure").as_deref(), Some("a2"));
    assert_eq!(p.found(&["--exact", "name:backpressure"]), ["a.rs"]);
}
