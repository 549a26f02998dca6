//! What bugs showed that were found after the fact. Each test is named after what holds.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::process::Stdio;

use crate::project::{Project, run};

const DEFINITIONS: &str = ".cortex/chunks/code-definitions.json";
const SYMBOLS: &str = ".cortex/chunks/code-symbols.json";

/// Bug: a `.gitignore` of `*` in the home directory (dotfiles) emptied every index below it.
#[test]
fn an_ignore_file_above_the_repository_does_not_count() {
    let p = Project::sample();
    std::fs::write(p.root().parent().unwrap().join(".gitignore"), "*\n").unwrap();
    assert_eq!(p.found(&["potatoes"])[0], "docs/guide.md");
}

/// Bug: any variable that is not UTF-8 ended every command with a panic.
#[test]
fn an_environment_that_is_not_utf8_is_no_error() {
    let p = Project::sample();
    let out = run(p.cortex(&["search", "potatoes"]).env("FOO", OsStr::from_bytes(b"\xff")));
    assert_eq!(out.code, 0, "{}", out.stderr);
}

/// Bug: `clean` removed chunk files of another program.
#[test]
fn clean_leaves_the_chunks_of_other_programs() {
    let p = Project::new();
    let text = r#"{"chunks": [{"id": "a", "text": "nougat"}]}"#;
    p.write(DEFINITIONS, text);
    p.found(&["nougat"]);
    assert!(p.run(&["clean"]).expect(0).stdout.contains("another program"));
    assert_eq!(p.read(DEFINITIONS), text);
}

/// Bug: `index --full`, the remedy in the error, failed on a chunk file that is not UTF-8.
#[test]
fn a_full_index_repairs_a_file_that_is_not_utf8() {
    let p = Project::sample();
    p.index();
    p.write(SYMBOLS, b"{\"_metadata\":\xff\n");
    p.run(&["index", "--full"]).expect(0);
    assert_eq!(p.timeless(), p.fresh_copy().timeless());
}

/// Bug: a truncated chunk file was served incompletely until the next `cortex index`.
#[test]
fn a_search_repairs_a_chunk_file_that_was_cut() {
    let p = Project::sample();
    p.index();
    let whole = p.read(DEFINITIONS);
    p.write(DEFINITIONS, &whole[..whole.len() / 2]);
    p.run(&["search", "potatoes"]).expect(0);
    assert_eq!(p.timeless(), p.fresh_copy().timeless());
}

/// Bugs: of several symbols chunks of one file only the others were searched; a title was hidden by
/// names; a null embedder in the header made the file unreadable.
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

/// Bug: Greek capitals, which end in another sigma than small letters, were not found.
#[test]
fn a_word_is_found_by_itself_in_any_script() {
    let p = Project::with(&[("a.md", "# Οδοί\n\nΟΔΟΣ\n")]);
    assert_eq!(p.found(&["ΟΔΟΣ"]), ["a.md"]);
}

/// Bug: a header with one macro on each line took half a minute.
#[test]
fn a_table_of_macros_is_indexed_at_once() {
    let p = Project::with(&[("ops.h", &"OP_ADD_ONE\n".repeat(60_000))]);
    assert_eq!(p.found(&["OP_ADD_ONE"]), ["ops.h"]);
}

/// Bug: a touched file was read again by every search.
#[test]
fn a_touched_file_is_read_once() {
    let p = Project::sample();
    p.index();
    p.age("docs/guide.md");
    p.found(&["potatoes"]);
    let table = p.read(".cortex/cache/sources.json");
    let stamp = std::fs::metadata(p.path("docs/guide.md")).unwrap().modified().unwrap();
    let ns = stamp.duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos();
    assert!(table.contains(&ns.to_string()), "the new stamp is noted");
}

/// Bug: `tar -x`, `rsync -t` and generators with a fixed time set an old time stamp on a new file.
#[test]
fn a_file_of_equal_size_and_time_that_took_anothers_place_is_indexed() {
    let p = Project::with(&[("a.rs", "fn aaaa_one() {}\n")]);
    p.age("a.rs");
    p.index();
    let modified = std::fs::metadata(p.path("a.rs")).unwrap().modified().unwrap();
    p.write("n.tmp", "fn bbbb_two() {}\n");
    p.set_modified("n.tmp", modified);
    p.rename("n.tmp", "a.rs");
    assert_eq!(p.found(&["bbbb_two"]), ["a.rs"]);
}

#[test]
fn many_first_processes_do_not_disturb_each_other() {
    for _ in 0..5 {
        let p = Project::sample();
        let mut children: Vec<_> = (0..6)
            .map(|_| {
                p.cortex(&["search", "retry"]).stdout(std::process::Stdio::null()).spawn().unwrap()
            })
            .collect();
        for child in &mut children {
            assert!(child.wait().unwrap().success());
        }
    }
}

/// Bug: a message on a closed stderr was a panic, and the exit code 101.
#[test]
fn a_message_that_nobody_reads_is_no_panic() {
    let p = Project::sample();
    p.index();
    let mut search = p.cortex(&["search", "--exact", "nothing_has_this_name"]);
    let mut child = search.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stderr.take());
    assert_eq!(child.wait().unwrap().code(), Some(1));
}

/// A question may come from another program, as a trace does.
#[test]
fn a_question_is_read_from_standard_input() {
    let p = Project::sample();
    p.index();
    p.write("trace.txt.log", "panicked at /home/ci/src/retry.rs:2:5:\nbroken\n");
    let mut search = p.cortex(&["search", "-", "-n", "1", "-l"]);
    let trace = std::fs::File::open(p.path("trace.txt.log")).unwrap();
    let out = run(search.stdin(trace)).expect(0);
    assert_eq!(out.stdout, "src/retry.rs\n");
}

/// Somebody who asks for a file elsewhere must not get a file of this project in silence.
#[test]
fn another_file_is_not_read_in_silence() {
    let p = Project::with(&[
        ("README.md", "# Frost\n"),
        ("src/pump.rs", "pub fn pump() {}\n"),
        ("target.log.md", "# ignored\n"),
        (".gitignore", "target.log.md\n"),
    ]);
    std::fs::write(p.root().parent().unwrap().join("README.md"), "# Other\n").unwrap();
    let outside = p.root().parent().unwrap().join("README.md");
    let outside = outside.to_str().unwrap();
    for path in ["../README.md", outside] {
        assert!(
            p.run(&["read", path]).error().contains("out of the project")
                || p.run(&["read", path]).error().contains("outside the project"),
            "{path}"
        );
    }
    for path in ["/nonexistent/README.md", "../other/README.md", "docs/README.md"] {
        assert!(p.run(&["read", path]).error().contains("README.md"), "{path}");
    }
    assert!(p.run(&["read", "target.log.md"]).error().contains("is not in the index"));
    let guessed = p.run(&["read", "/build/frost/src/pump.rs:1"]).expect(0);
    assert!(guessed.stdout.contains("pub fn pump"), "{}", guessed.stdout);
    let note = "`/build/frost/src/pump.rs` does not exist: this is src/pump.rs";
    assert!(guessed.stderr.lines().next().unwrap().contains(note), "{}", guessed.stderr);
    assert_eq!(p.run(&["read", "pump.rs"]).expect(0).stderr, "");
}
