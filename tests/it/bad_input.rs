//! Odd, broken or hostile trees: each file gives the right result or a clear reason, and nothing
//! else is lost.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::project::{CHUNK_FILES, Project, run};

/// Returns the only result of an exact search.
#[track_caller]
fn hit(p: &Project, query: &str) -> Value {
    let reply = p.json(&["search", "--exact", query]);
    let results = reply["results"].as_array().unwrap();
    assert_eq!(results.len(), 1, "{query}: {reply:#}");
    results[0].clone()
}

/// Empty files, and files of white space, give no error and no result.
#[test]
fn empty_files_are_no_error() {
    let p = Project::sample();
    for name in ["empty.rs", "empty.md", "empty.json", "empty.ipynb", "empty", "__init__.py"] {
        p.write(name, "");
    }
    p.write("blank.py", " \n\t\n\n");
    p.write("bom.rs", "\u{feff}");
    let summary = p.index();
    assert_eq!((&summary["n_files"], &summary["skipped"]), (&json!(4), &json!({})), "{summary:#}");
    assert_eq!(p.found(&["potatoes"])[0], "docs/guide.md");
    p.write("empty.md", "# No longer empty\n\nmarzipan\n");
    assert_eq!(hit(&p, "marzipan")["path"], "empty.md");
    let nothing = Project::with(&[("empty.rs", "")]);
    assert_eq!(
        nothing.index()["chunks"],
        json!({"symbols": 0, "definitions": 0, "data": 0, "documentation": 0})
    );
    nothing.run(&["search", "anything"]).expect(1);
}

/// A Latin-1 comment costs the file nothing but that letter.
#[test]
fn invalid_utf8_keeps_the_rest_of_the_file() {
    let p = Project::new();
    p.write("brew.rs", b"// Caf\xe9 au lait\npub fn brew_espresso() -> u32 {\n    7\n}\n\npub fn froth_milk() {}\n");
    p.write("notes.txt", b"\xff\xfe\xfd marzipan \xc3\n");
    assert_eq!(hit(&p, "name:brew_espresso")["symbol"], "brew_espresso");
    assert_eq!(hit(&p, "froth_milk lait")["path"], "brew.rs");
    assert_eq!(hit(&p, "marzipan")["path"], "notes.txt");
    assert_eq!(p.json(&["index"])["changed"], false);
}

/// A line of a megabyte is skipped with a reason, quickly, and the other files are indexed.
#[test]
fn a_line_of_a_megabyte_is_skipped_with_a_reason() {
    let p = Project::sample();
    for name in ["one.txt", "one.rs", "one.json", "one.md"] {
        p.write(name, "x1 ".repeat(333_333));
    }
    let summary = p.index();
    assert_eq!(
        (&summary["n_files"], &summary["skipped"]),
        (&json!(4), &json!({"minified or generated": 4})),
        "{summary:#}"
    );
    assert_eq!(p.found(&["potatoes"])[0], "docs/guide.md");
}

/// A directory and a file without read permission are reported; the rest of the tree is indexed.
/// Once the permission is given, they are indexed, too.
#[test]
fn what_may_not_be_read_is_told_and_the_rest_indexed() {
    let p = Project::sample();
    p.write("locked/inside.md", "# Inside\n\nmarzipan\n");
    p.write("closed.md", "# Closed\n\nnougat\n");
    p.open_to_all();
    p.chmod("locked", 0o000);
    p.chmod("closed.md", 0o000);
    let out = run(&mut p.unprivileged(&["index", "--json"]));
    p.chmod("locked", 0o777);
    p.chmod("closed.md", 0o666);
    p.take_back();
    let summary: Value = serde_json::from_str(&out.expect(0).stdout).unwrap();
    assert_eq!(
        (&summary["n_files"], &summary["skipped"]["unreadable"]),
        (&json!(4), &json!(2)),
        "{summary:#}"
    );
    let told = summary["skipped_files"].to_string();
    assert!(
        told.contains("\"locked\"")
            && told.contains("\"closed.md\"")
            && told.contains("ermission denied"),
        "{told}"
    );
    assert_eq!(p.found(&["--exact", "potatoes"]), ["docs/guide.md"]);
    assert_eq!(hit(&p, "marzipan")["path"], "locked/inside.md");
    assert_eq!(hit(&p, "nougat")["path"], "closed.md");
}

/// Symbolic links that form a circle, lead nowhere, or lead out of the project are not followed,
/// and a pipe does not block.
#[test]
fn links_and_pipes_are_not_followed() {
    let p = Project::sample();
    fs::write(p.home().join("outside.md"), "# Outside\n\nmarzipan\n").unwrap();
    symlink(".", p.path("here")).unwrap();
    symlink("..", p.path("src/up")).unwrap();
    symlink("b", p.path("a")).unwrap();
    symlink("a", p.path("b")).unwrap();
    symlink("nowhere", p.path("dangling.rs")).unwrap();
    symlink(p.home(), p.path("home")).unwrap();
    symlink("docs/guide.md", p.path("alias.md")).unwrap();
    assert!(p.command("mkfifo").arg("pipe.rs").status().unwrap().success());
    assert_eq!(p.index()["n_files"], 4);
    assert_eq!(hit(&p, "potatoes")["path"], "docs/guide.md");
    p.run(&["search", "--exact", "marzipan"]).expect(1);
    // A project that is opened through a link is the same project.
    symlink(p.root(), p.home().join("link")).unwrap();
    let out = run(p.cortex(&["search", "--exact", "potatoes"]).current_dir(p.home().join("link")))
        .expect(0);
    assert!(out.stdout.starts_with("docs/guide.md:"), "{out:?}");
}

/// Every file name that is valid text works: the file is found under its name, and gone when it is
/// deleted. Other names are reported.
#[test]
fn odd_file_names_work() {
    let p = Project::new();
    let names = [
        "with space.md", "Grüße/日本語 🦀.md", "a#b.md", "a%23b.md", "line\nbreak.md", "tab\t.md",
        "quote\"s'.md", "back\\slash.md", "[x]{y}*?.md", "-n", "--json.md", "trailing .md",
        "~1.md", "a.md#A", "con:colon.md",
    ];
    for (i, name) in names.iter().enumerate() {
        p.write(name, format!("# A\n\nmarzipan number{i}x\n"));
    }
    let mut want: Vec<&str> = names.to_vec();
    want.sort_unstable();
    let mut found = p.found(&["--exact", "marzipan", "-n", "100"]);
    found.sort();
    assert_eq!(found, want);
    assert_eq!(
        p.json(&["search", "--exact", "marzipan"]).get("warnings"),
        None,
        "no two files share an id"
    );
    for (i, name) in names.iter().enumerate() {
        assert_eq!(hit(&p, &format!("number{i}x"))["path"], *name);
    }
    p.write("with space.md", "# A\n\nnougat\n");
    p.index();
    assert!(p.timeless() == p.fresh_copy().timeless());
    for name in names {
        p.remove(name);
    }
    p.run(&["search", "--exact", "marzipan"]).expect(1);
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::ffi::OsStrExt;
        p.write(std::ffi::OsStr::from_bytes(b"latin\xe9.md"), "# A\n");
        let out = p.run(&["index", "--verbose"]).expect(0);
        assert!(out.stdout.contains("latin\u{fffd}.md: name is not UTF-8"), "{out:?}");
    }
}

/// Two headings, or a heading and the second of two others, may get the same name: each section is
/// found.
#[test]
fn sections_with_equal_names_are_all_found() {
    let p = Project::new();
    let filler = "Words to fill a section so that it stands for itself. ".repeat(20);
    let section = |heading: &str, word: &str| format!("# {heading}\n\n{word}. {filler}\n\n");
    let text = [
        ("Note", "nougat"),
        ("Note", "honey"),
        ("Note~2", "almonds"),
        ("", "sugar"),
        ("@outline", "flour"),
    ]
    .map(|(h, w)| section(h, w));
    p.write("notes.md", text.concat());
    for word in ["nougat", "honey", "almonds", "sugar", "flour"] {
        assert_eq!(hit(&p, word)["path"], "notes.md", "{word}");
    }
    assert_eq!(p.run(&["search", "nougat"]).expect(0).stderr, "");
}

/// Windows line ends and a byte order mark change neither names nor line numbers, and are not
/// shown.
#[test]
fn line_ends_and_byte_order_marks_do_not_show() {
    let text = "//! Kitchen.\n\n/// Bakes bread.\npub fn bake_bread() {\n    knead();\n}\n\n/// Boils soup.\npub fn boil_soup() {\n    stir();\n}\n";
    let plain = Project::with(&[("k.rs", text)]);
    let show = |p: &Project| p.run(&["search", "boil_soup"]).expect(0).stdout;
    for other in [
        text.replace('\n', "\r\n"),
        format!("\u{feff}{text}"),
        format!("\u{feff}{}", text.replace('\n', "\r\n")),
    ] {
        let p = Project::with(&[("k.rs", &other)]);
        assert_eq!(show(&p), show(&plain));
        let ids = |p: &Project| {
            p.chunks()
                .iter()
                .map(|c| (c["id"].clone(), c["metadata"]["start_line"].clone()))
                .collect::<Vec<_>>()
        };
        p.index();
        assert_eq!(ids(&p), ids(&plain));
    }
    let p = Project::with(&[(
        "a.md",
        "# One\r\n\r\nnougat\r\n\r\n## Two\r\n\r\n```\r\n# no heading\r\n```\r\n",
    )]);
    assert_eq!(hit(&p, "nougat")["symbol"], "One");
}

/// Ten thousand nested brackets crash the parser of no language; the file and its neighbours are
/// found.
#[test]
fn deep_nesting_does_not_crash() {
    let p = Project::sample();
    let n = 10_000;
    let deep = |open: &str, inner: &str, close: &str| {
        format!("{}{inner}{}", open.repeat(n), close.repeat(n))
    };
    // On many lines, because one long line would count as a bundle.
    let parens = deep("(\n", "1", ")\n");
    let braces = deep("{\n", "", "}\n");
    for (name, text) in [
        ("a.rs", format!("fn marzipan() {{ let x = {parens}; }}\n")),
        ("b.rs", format!("fn marzipan() {braces}\n")),
        ("a.py", format!("marzipan = {parens}\n")),
        ("a.js", format!("function marzipan() {{ return {parens}; }}\n")),
        ("b.js", format!("marzipan = {}\n", deep("[\n", "", "]\n"))),
        ("a.ts", format!("let marzipan = {}\n", deep("{a:\n", "1", "}\n"))),
        ("a.c", format!("int marzipan() {{ return {parens}; }}\n")),
        ("a.cpp", format!("namespace marzipan {braces}\n")),
        ("a.go", format!("package marzipan\nfunc f() {braces}\n")),
        ("A.java", format!("class marzipan {}\n", deep("{ class A\n", "{}", "}\n"))),
        ("a.json", format!("{{\"marzipan\": {}}}\n", deep("[\n", "", "]\n"))),
        ("a.ipynb", format!("{{\"marzipan\": {}}}\n", deep("[\n", "", "]\n"))),
        ("a.md", format!("marzipan\n\n{}\n", deep("[", "x", "]"))),
        ("b.md", format!("marzipan\n\n{} deep\n", "> ".repeat(n))),
        ("a.hs", format!("marzipan = {}\n", parens.replace('\n', "\n "))),
        ("a.html", format!("marzipan {}\n", deep("<div>\n", "", "</div>\n"))),
        ("open.rs", format!("fn marzipan() {{ {}\n", "(\n".repeat(n))),
    ] {
        p.write(name, text);
    }
    let summary = p.index();
    assert_eq!((&summary["n_files"], &summary["skipped"]), (&json!(21), &json!({})), "{summary:#}");
    assert_eq!(p.found(&["--exact", "marzipan", "-n", "50"]).len(), 17);
    assert_eq!(p.found(&["--exact", "potatoes"]), ["docs/guide.md"]);
}

/// Cells of a notebook are found at their lines; their output is not, however large it is.
#[test]
fn outputs_of_notebooks_are_not_indexed() {
    let image = "iVBORw0KGgo".repeat(8_000);
    let notebook = json!({
        "cells": [
            {"cell_type": "markdown", "metadata": {}, "source": ["# Sweets\n", "\n", "About marzipan.\n"]},
            {"cell_type": "code", "execution_count": 1, "metadata": {}, "source": "weigh_almonds(3)\n", "outputs": [
                {"output_type": "stream", "name": "stdout", "text": ["printed_nougat\n"]},
                {"output_type": "display_data", "data": {"image/png": image, "text/plain": ["plotted_honey"]}, "metadata": {}}
            ]}
        ],
        "metadata": {"kernelspec": {"name": "python3"}}, "nbformat": 4, "nbformat_minor": 5
    });
    for text in [serde_json::to_string_pretty(&notebook).unwrap(), notebook.to_string()] {
        let p = Project::with(&[("sweets.ipynb", &text)]);
        let cell = hit(&p, "weigh_almonds");
        assert_eq!((&cell["path"], &cell["title"]), (&json!("sweets.ipynb"), &json!("Sweets")));
        let line = usize::try_from(cell["start_line"].as_u64().unwrap()).unwrap();
        assert!(text.lines().nth(line - 1).unwrap().contains("weigh_almonds"), "line {line}");
        assert_eq!(hit(&p, "marzipan")["chunk_type"], "documentation");
        for printed in ["printed_nougat", "plotted_honey", "iVBORw0KGgo"] {
            p.run(&["search", "--exact", printed]).expect(1);
        }
    }
}

/// A `.cortex` that is not readable or not a directory, and a project that is not writable, give an
/// error that names the place.
#[test]
fn a_cortex_directory_that_cannot_be_used_is_named() {
    let p = Project::sample();
    p.share_key();
    p.index();
    p.open_to_all();
    p.give_key_to_nobody();
    p.chmod(".cortex", 0o000);
    let outcomes = [&["search", "potatoes"][..], &["index"], &["status"]]
        .map(|args| run(&mut p.unprivileged(args)));
    p.chmod(".cortex", 0o777);
    for out in outcomes {
        let error = out.error();
        assert!(error.contains("/.cortex") && error.contains("ermission denied"), "{error}");
    }
    // An index that is readable but not writable is searched as it is.
    p.write("docs/new.md", "# New\n\nparsnips\n");
    assert!(p.command("chmod").args(["-R", "a-w", ".cortex"]).status().unwrap().success());
    let out = run(&mut p.unprivileged(&["search", "--exact", "potatoes"])).expect(0);
    assert!(out.stdout.starts_with("docs/guide.md:"), "{out:?}");
    assert!(out.stderr.contains("warning: ") && out.stderr.contains("/.cortex/"), "{}", out.stderr);
    let p = Project::sample();
    p.chmod(".", 0o555);
    let out = run(&mut p.unprivileged(&["search", "potatoes"]));
    p.chmod(".", 0o755);
    let error = out.error();
    assert!(error.contains("/.cortex") && error.contains("ermission denied"), "{error}");
    p.write(".cortex", "a file");
    for args in [&["search", "potatoes"][..], &["index"]] {
        let error = p.run(args).error();
        assert!(error.contains("/.cortex"), "{error}");
    }
}

/// Runs the program with a limit on the size of every file that it writes, as on a full disk.
fn limited(p: &Project, kib: usize, args: &[&str]) -> Command {
    let mut c = p.command("sh");
    // The unit is 512 bytes. The signal of the limit is ignored, so that writing fails instead.
    let script = format!("trap '' XFSZ && ulimit -f {} && exec \"$@\"", kib * 2);
    c.args(["-c", &script, "sh", env!("CARGO_BIN_EXE_cortex")]).args(args);
    c
}

/// On a full disk, nobody is advised to delete a file: that helps only once there is space.
#[test]
fn a_full_disk_is_named_and_the_graph_is_not_to_be_deleted() {
    let p = Project::sample();
    for i in 0..40 {
        let calls = (0..40).map(|j| format!("fn part{i}_{j}() {{ part{i}_0() }}\n"));
        p.write(format!("src/part{i}.rs"), calls.collect::<String>());
    }
    p.index();
    for is_new in [false, true] {
        for kib in [1, 16, 64] {
            if is_new {
                let _ = fs::remove_dir_all(p.path(".cortex/graph"));
            }
            let out = run(&mut limited(&p, kib, &["graph", "callers", "part3_0"]));
            if out.code != 2 {
                continue;
            }
            assert!(
                out.stderr.contains("code-graph.db") && out.stderr.contains("free space on"),
                "{kib} KiB: {}",
                out.stderr
            );
            assert!(!out.stderr.contains("delete"), "{kib} KiB: {}", out.stderr);
        }
    }
    // There is room again.
    assert!(p.run(&["graph", "callers", "part3_0"]).expect(0).stdout.contains("part3_39"));
}

/// If the disk is full while the index is written, there is a clear error and the old index stays
/// intact; once there is room, the index equals a fresh one.
#[test]
fn a_full_disk_leaves_the_old_index() {
    let p = Project::sample();
    p.index();
    let old = CHUNK_FILES.map(|f| p.chunk_file(f));
    for i in 0..40 {
        p.write(
            format!("big/part{i}.md"),
            format!("# Part {i}\n\n{}\n", format!("marzipan {i} and more of it\n").repeat(200)),
        );
    }
    // The disk is full while vectors, or while chunks, are written.
    for kib in [1, 16, 64, 128] {
        let out = run(&mut limited(&p, kib, &["index"]));
        let error = out.error();
        assert!(
            error.contains("the index cannot be written") && error.contains("/.cortex/"),
            "{kib} KiB: {error}"
        );
        assert_eq!(error.matches("File too large").count(), 1, "an error is told once: {error}");
        assert_eq!(CHUNK_FILES.map(|f| p.chunk_file(f)), old, "{kib} KiB");
        assert_eq!(p.run(&["search", "--exact", "potatoes", "--no-index"]).expect(0).stderr, "");
        let out = run(&mut limited(&p, kib, &["search", "--exact", "potatoes"])).expect(0);
        assert!(
            out.stdout.starts_with("docs/guide.md:")
                && out.stderr.contains("answered from the index as it was"),
            "{out:?}"
        );
    }
    assert_eq!(p.found(&["--exact", "marzipan", "-n", "100"]).len(), 40);
    assert!(p.timeless() == p.fresh_copy().timeless());
    let first = Project::sample();
    let error = run(&mut limited(&first, 0, &["search", "potatoes"])).error();
    assert!(error.contains("/.cortex/"), "{error}");
    assert_eq!(first.found(&["potatoes"])[0], "docs/guide.md");
    assert!(
        first.read(".cortex/.gitignore").contains("/chunks/"),
        "what could not be written is written when there is room"
    );
}

/// Text that is not a program, although its name says so, does not delay the index: its parser is
/// stopped, and the file is found by its lines.
#[test]
fn garbage_does_not_hold_up_the_index() {
    let p = Project::sample();
    p.write("garbage.lua", "marzipan b c\n".repeat(25_000));
    p.write("garbage.ex", format!("marzipan\n{}", format!("{}\n", "[".repeat(79)).repeat(4_000)));
    let mut child = p.cortex(&["index", "--quiet"]).spawn().unwrap();
    let deadline = Instant::now() + Duration::from_mins(1);
    while child.try_wait().unwrap().is_none() {
        if Instant::now() > deadline {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("700 KB of garbage take longer than a minute");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let mut found = p.found(&["--exact", "marzipan"]);
    found.sort();
    assert_eq!(found, ["garbage.ex", "garbage.lua"]);
    let says_why = |file: &str| {
        let out = p.run(&["outline", file]);
        (out.stdout + &out.stderr).contains("is cut by lines, and its symbols are not known")
    };
    assert!(found.iter().any(|file| says_why(file)), "a parser was stopped");
    assert!(!says_why("src/retry.rs") && !says_why("docs/guide.md"));
}

/// Such text does not use up the memory either: three gigabytes suffice for a file of a third of a
/// megabyte. (The limit protects the machine that runs the test.)
#[test]
#[cfg(target_os = "linux")]
fn garbage_does_not_eat_the_memory() {
    let p = Project::sample();
    p.write(
        "garbage.cs",
        format!("// marzipan\n{}", format!("{}\n", "a<b<c<d<".repeat(9)).repeat(4_000)),
    );
    let mut c = p.command("sh");
    c.args([
        "-c",
        "ulimit -v 3000000 && exec \"$@\"",
        "sh",
        env!("CARGO_BIN_EXE_cortex"),
        "index",
        "--quiet",
    ]);
    let out = run(&mut c);
    assert_eq!(out.code, 0, "{}", out.stderr);
    assert_eq!(p.found(&["--exact", "marzipan"]), ["garbage.cs"]);
}

/// Bug: a read-only checkout could only be searched with an old index ("the lock cannot be taken").
/// Its index is in the user's cache now.
#[test]
fn a_read_only_checkout_is_indexed_in_the_users_cache() {
    let p = Project::sample();
    fs::set_permissions(p.home(), fs::Permissions::from_mode(0o777)).unwrap();
    p.chmod(".", 0o555);
    let out = run(&mut p.unprivileged(&["search", "--exact", "potatoes"])).expect(0);
    assert!(out.stdout.starts_with("docs/guide.md:") && !out.stderr.contains("warning"), "{out:?}");
    let status = run(&mut p.unprivileged(&["status"])).expect(0).stdout;
    assert!(status.contains(".cache/cortex/") && status.contains("up to date"), "{status}");
    run(&mut p.unprivileged(&["graph", "callers", "retry_with_backoff"]));
    assert!(!p.path(".cortex").exists());
    p.chmod(".", 0o755);
    p.write("docs/new.md", "# New\n\nparsnips\n");
    p.chmod(".", 0o555);
    let out = run(&mut p.unprivileged(&["search", "--exact", "parsnips"])).expect(0);
    assert!(out.stdout.starts_with("docs/new.md:"), "{out:?}");
    p.chmod(".", 0o755);
    // The same on request.
    let mut asked = p.cortex(&["search", "--exact", "potatoes"]);
    let cache = p.home().join("elsewhere");
    run(asked.env("CORTEX_INDEX_LOCATION", "cache").env("XDG_CACHE_HOME", &cache)).expect(0);
    assert!(!p.path(".cortex").exists() && cache.join("cortex").is_dir());
}

/// Bug: a stray `.cortex` in a parent captured every folder below it.
#[test]
fn a_stray_cortex_above_does_not_capture_the_folders_below() {
    let p = Project::folder();
    p.write(".cortex/cache/x", "");
    p.write("mine/docs/guide.md", "# Guide\n\npotatoes\n");
    let status = |dir: &str| {
        run(p.cortex(&["index"]).current_dir(p.path(dir))).expect(0);
        let mut c = p.cortex(&["search", "--exact", "potatoes"]);
        run(c.current_dir(p.path(dir))).expect(0);
        let mut c = p.cortex(&["status"]);
        run(c.current_dir(p.path(dir))).expect(0).stdout
    };
    assert!(
        status("mine").contains("/mine ("),
        "a .cortex without settings, chunks or memories is no project"
    );
    fs::create_dir_all(p.path("mine/.git")).unwrap();
    assert!(status("mine/docs").contains("/mine (it holds .git)"));
    // A parent that every user may write to is not a project.
    let p = Project::folder();
    p.write("shared/.cortex/config.toml", "");
    p.write("shared/own/a.md", "# A\n\npotatoes\n");
    p.chmod("shared", 0o1777);
    let own = p.path("shared/own");
    run(p.cortex(&["search", "--exact", "potatoes"]).current_dir(&own)).error();
    run(p.cortex(&["index"]).current_dir(&own)).expect(0);
    assert!(p.path("shared/own/.cortex").is_dir());
}
