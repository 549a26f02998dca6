//! `cortex search`: what it finds, in which order, and from which state of the tree.

use std::fmt::Write as _;

use serde_json::Value;

use crate::project::{Project, run};

fn results(reply: &Value) -> &Vec<Value> {
    reply["results"].as_array().unwrap()
}

/// The README's promise: one command indexes a new directory and answers. The answer is on stdout,
/// progress on stderr.
#[test]
fn the_first_search_indexes_and_answers() {
    let p = Project::sample();
    let out = p.run(&["search", "what happens after a failed attempt"]).expect(0);
    assert!(
        out.stdout.starts_with("src/retry.rs:1-4  function retry_with_backoff\n"),
        "{}",
        out.stdout
    );
    assert!(out.stderr.starts_with("indexed 4 files in "), "{}", out.stderr);
    assert!(!out.stdout.contains("indexed"), "{}", out.stdout);
    for (query, want) in [
        ("potatoes", "docs/guide.md"),
        ("paint_wall", "tools/colours.py"),
        ("server port", "settings.toml"),
        ("retry", "src/retry.rs"),
    ] {
        assert_eq!(p.found(&[query])[0], want, "{query}");
    }
    assert_eq!(
        p.run(&["search", "potatoes"]).expect(0).stderr,
        "",
        "the second search has nothing to tell"
    );
}

/// A search from a subdirectory, or with `--project`, searches the whole project.
#[test]
fn the_project_is_the_same_from_everywhere_in_it() {
    let p = Project::sample();
    p.index();
    let mut below = p.cortex(&["search", "potatoes"]);
    let out = crate::project::run(below.current_dir(p.path("src"))).expect(0);
    assert!(out.stdout.starts_with("../docs/guide.md:"), "{}", out.stdout);
    let mut elsewhere = p.cortex(&["search", "potatoes", "--project"]);
    let out = crate::project::run(elsewhere.arg(p.path("tools")).current_dir(p.home())).expect(0);
    assert!(out.stdout.starts_with("docs/guide.md:"), "{}", out.stdout);
    assert!(!p.path("src/.cortex").exists() && !p.path("tools/.cortex").exists());
}

/// Scripts can distinguish: found (0), nothing found (1), error (2, with a message on stderr).
#[test]
fn exit_codes_tell_found_nothing_and_error_apart() {
    let p = Project::sample();
    p.run(&["search", "potatoes"]).expect(0);
    let out = p.run(&["search", "--exact", "hovercraft"]).expect(1);
    assert!(out.stdout.is_empty() && out.stderr.contains("nothing found"), "{out:?}");
    let out = p.run(&["search", "--exact", "hovercraft", "--json"]).expect(1);
    assert_eq!(
        serde_json::from_str::<Value>(&out.stdout).unwrap()["results"],
        Value::Array(Vec::new())
    );
    for (args, message) in [
        (&["search"][..], "QUERY"),
        (&["search", "x", "--project", "no/such/place"], "no/such/place"),
        (&["search", "x", "--project", "settings.toml"], "not a directory"),
        (&["search", "x", "-n", "0"], "from 1 to 1000"),
        (&["search", "x", "-n", "1001"], "from 1 to 1000"),
        (&["search", "x", "--paths", "a["], "a["),
        (&["search", "x", "--types", "poems"], "definitions"),
        (&["frobnicate"], "frobnicate"),
    ] {
        let error = p.run(args).error();
        assert!(error.contains(message), "{args:?}: {error}");
    }
    let empty = Project::new();
    empty.run(&["search", "anything"]).expect(1);
    let error = Project::new().run(&["search", "anything", "--no-index"]).error();
    assert!(error.contains("cortex index"), "{error}");
}

/// The keys that a program reads from `--json`.
#[test]
fn json_names_file_lines_score_and_chunk() {
    let p = Project::sample();
    let reply = p.json(&["search", "tomatoes"]);
    assert_eq!(reply["query"], "tomatoes");
    assert_eq!((&reply["schema"], &reply["index"]["generation"]), (&2.into(), &1.into()));
    let first = &results(&reply)[0];
    assert_eq!(first["path"], "docs/guide.md");
    assert_eq!(first["chunk_type"], "documentation");
    assert_eq!(first["language"], "markdown");
    assert!(first["chunk_id"].as_str().unwrap().starts_with("docs/guide.md#"), "{first}");
    assert!(first["score"].is_f64() && first["others"].is_null(), "{first}");
    let (start, end) = (first["start_line"].as_u64().unwrap(), first["end_line"].as_u64().unwrap());
    assert!(start <= 9 && end == 9, "tomatoes are in line 9, not in {start}-{end}");
    assert!(first["text"].as_str().unwrap().contains("tomatoes at dawn"));
    assert!(first.get("explain").is_none());
    assert!(results(&p.json(&["search", "tomatoes", "--lines", "0"]))[0].get("text").is_none());
}

/// Other places of a file belong to its one result: a file is listed once.
#[test]
fn the_text_of_a_row_is_that_of_its_place() {
    let filler = |part: &str| -> String {
        let function = |i: usize| {
            format!(
                "fn filler_{part}_{i}(cups: u32) -> u32 {{\n    let spoons = cups + {i};\n    spoons * {i} + cups\n}}\n\n"
            )
        };
        (0..25).map(function).collect()
    };
    let p = Project::new();
    p.write(
        "src/tea.rs",
        format!(
            "/// The kettle boils until the water is hot, the kettle boils again when the water is cold,\n\
             /// and the water of a kettle that boils over is lost: never boil water in a full kettle.\n\
             const HOT: u32 = 96;\n\n{}\
             fn boil_water(kettle: &mut Kettle) {{\n    while kettle.water() < HOT {{\n        kettle.heat();\n    }}\n}}\n\n{}",
            filler("a"),
            filler("b")
        ),
    );
    let out = p.run(&["search", "--json", "boil water in the kettle"]).expect(0);
    let reply: Value = serde_json::from_str(&out.stdout).unwrap();
    let row = &results(&reply)[0];
    assert_eq!(row["symbol"], "boil_water");
    let number = |field: &str| row[field].as_u64().unwrap();
    let lines = row["text"].as_str().unwrap().lines().count() as u64;
    let (first, last) = (number("text_start_line"), number("text_start_line") + lines - 1);
    assert!(first <= number("start_line") && number("end_line") <= last, "{row:#}");
}

#[test]
fn a_file_is_one_result_with_its_other_places() {
    let p = Project::new();
    let section = |n: usize| {
        format!(
            "## Harvest {n}\n\n{}\n",
            format!("Pick the ripe tomatoes of bed {n} before the rain comes.\n").repeat(25)
        )
    };
    p.write("garden.md", (1..=4).map(section).collect::<String>());
    let reply = p.json(&["search", "ripe tomatoes"]);
    assert_eq!(results(&reply).len(), 1);
    let others = results(&reply)[0]["others"].as_array().unwrap().clone();
    assert!(others.len() >= 2, "{others:?}");
    assert!(
        others.iter().all(|o| o["chunk_id"].is_string() && o["start_line"].is_u64()),
        "{others:?}"
    );
    let out = p.run(&["search", "ripe tomatoes"]).expect(0);
    assert!(out.stdout.contains("also "), "{}", out.stdout);
}

/// `--explain` is complete: the parts add up to the score.
#[test]
fn explained_parts_add_up_to_the_score() {
    let p = Project::sample();
    for args in [
        &["search", "retry_with_backoff", "--explain"][..],
        &["search", "--exact", "water", "--explain"],
    ] {
        let reply = p.json(args);
        assert!(!results(&reply).is_empty());
        for r in results(&reply) {
            let parts = r["explain"].as_array().unwrap();
            let sum: f64 = parts.iter().map(|t| t["contribution"].as_f64().unwrap()).sum();
            assert!((sum - r["score"].as_f64().unwrap()).abs() < 1e-9, "{r}");
            for t in parts {
                let product = t["value"].as_f64().unwrap() * t["weight"].as_f64().unwrap();
                assert!(
                    (product - t["contribution"].as_f64().unwrap()).abs() < 1e-9
                        && t["feature"].is_string(),
                    "{t}"
                );
            }
        }
    }
    let out = p.run(&["search", "retry", "--explain"]).expect(0);
    assert!(out.stdout.contains("score "), "{}", out.stdout);
}

/// The best three of ten are the best three: `-n` only shortens the list.
#[test]
fn the_number_of_results_asked_for_does_not_change_their_order() {
    let p = Project::new();
    for i in 0..12 {
        p.write(
            format!("src/part{i}.rs"),
            format!("/// Opens the valve{}.\npub fn valve_{i}() {{}}\n", " of the valve".repeat(i)),
        );
    }
    let all = p.found(&["open a valve", "-n", "12"]);
    assert_eq!(all.len(), 12);
    assert_eq!(p.found(&["open a valve", "-n", "3"]), all[..3]);
    assert_eq!(p.found(&["open a valve"]), all[..10], "ten unless asked");
}

/// Filters apply before the best are selected: a file in a language whose files rank far behind 220
/// others is still found, and the same holds for paths and types.
#[test]
fn filters_apply_before_the_best_are_taken() {
    let p = Project::new();
    for i in 0..220 {
        p.write(
            format!("src/valve_{i}.rs"),
            format!("/// Opens the valve.\npub fn open_valve_{i}() {{ open_valve() }}\n"),
        );
    }
    let prose = "Nobody knows why the pipes sing at night. ".repeat(12);
    for i in 0..3 {
        p.write(
            format!("deep/down/below/note_{i}.py"),
            format!("\"\"\"{prose}\nSomebody might open a valve.\n\"\"\"\nX = {i}\n"),
        );
    }
    p.write("deep/down/below/valve.rs", format!("// {prose}\n// A valve.\n"));
    let unfiltered = p.found(&["open valve", "-n", "50"]);
    assert!(
        unfiltered.iter().all(|f| f.starts_with("src/")),
        "the test is about files outside the top 50: {unfiltered:?}"
    );
    let notes = |args: &[&str]| {
        let mut found = p.found(&[&["open valve", "-n", "5"], args].concat());
        found.sort();
        found
    };
    let python: Vec<String> = (0..3).map(|i| format!("deep/down/below/note_{i}.py")).collect();
    assert_eq!(notes(&["--languages", "python"]), python);
    assert_eq!(notes(&["--languages", "Python"]), python, "case does not matter");
    assert_eq!(notes(&["--paths", "*.py"]), python);
    assert_eq!(notes(&["--paths", "deep", "--languages", "python"]), python);
    assert_eq!(notes(&["--paths", "deep/down/below/*.rs"]), ["deep/down/below/valve.rs"]);
    assert_eq!(notes(&["--paths", "deep", "--exact"]), python);
    assert_eq!(notes(&["--languages", "python,rust"]).len(), 5);
    assert_eq!(notes(&["-T", "Rust"]), python, "an excluded language is left out");
    assert_eq!(notes(&["--not-type", "rs"]), python, "by its extension as well");
    assert_eq!(notes(&["-t", "rust,python", "-T", "rs"]), python);
    assert_eq!(notes(&["--languages", "!rust"]), python, "as agents write it");
    assert_eq!(notes(&["lang:!rust"]), python);
    assert_eq!(notes(&["--paths", "deep/**/*.py", "--paths", "nowhere"]), python);
    assert_eq!(notes(&["--paths", "deep/**/*.py,nowhere"]), python);
    let grep = p.run(&["grep", "valve", "deep", "-l", "-T", "rs"]).expect(0);
    assert_eq!(grep.stdout.lines().collect::<Vec<_>>(), python);
    let files = p.run(&["files", "--by", "file", "-T", "rust", "--sort", "name"]).expect(0);
    assert!(files.stdout.contains("note_2.py") && !files.stdout.contains(".rs"), "{files:?}");
    let pattern = p.run(&["pattern", "$A()", "-T", "rust"]).expect(1);
    assert!(pattern.stderr.contains("(3 files searched)"), "{pattern:?}");
    assert_eq!(notes(&["--languages", "cobol"]), Vec::<String>::new());
}

/// A path filter accepts what people type: a folder in any spelling, a glob, or `.` for everything.
#[test]
fn the_path_filter_takes_any_spelling() {
    let p = Project::with(&[
        ("src/a.md", "# A\n\nmarzipan\n"),
        ("src/in/b.md", "# B\n\nmarzipan\n"),
        ("src2/c.txt", "marzipan\n"),
    ]);
    let found = |globs: &[&str]| {
        let args: Vec<&str> = globs.iter().flat_map(|g| ["--paths", g]).collect();
        let mut found = p.found(&[&["--exact", "marzipan"], &args[..]].concat());
        found.sort();
        found
    };
    for glob in ["src", "src/", "./src", "./src/", "src/**", "*.md", "**/*.md"] {
        assert_eq!(found(&[glob]), ["src/a.md", "src/in/b.md"], "{glob}");
    }
    for glob in [".", "./", "*", "**", "src*"] {
        assert_eq!(found(&[glob]).len(), 3, "{glob}");
    }
    assert_eq!(found(&["src/*.md"]), ["src/a.md"]);
    assert_eq!(found(&["in", "*.txt"]), ["src/in/b.md", "src2/c.txt"]);
    assert!(found(&["nowhere"]).is_empty());
}

/// `--types` returns only chunks of that type.
#[test]
fn the_type_filter_gives_only_that_type() {
    let p = Project::sample();
    p.write(
        "src/limits.rs",
        "/// Most retries.\npub const MAX_RETRIES: u32 = 5;\n\n/// Retries.\npub fn retry() {}\n",
    );
    p.write("docs/retry.md", "# Retries\n\nHow a retry works.\n");
    for kind in ["symbols", "definitions", "data", "documentation"] {
        let reply = p.json(&["search", "retry", "--types", kind]);
        assert!(!results(&reply).is_empty(), "{kind}");
        assert!(results(&reply).iter().all(|r| r["chunk_type"] == kind), "{kind}: {reply:#}");
    }
}

/// `--tags` requires all given tags. Our indexer sets none: they come from chunks of other
/// programs.
#[test]
fn the_tag_filter_asks_for_all_tags() {
    let p = Project::new();
    let chunk = |i: usize, tags: &str| {
        format!(r#"{{"id":"n{i}","title":"Note {i}","text":"about valves","tags":[{tags}]}}"#)
    };
    let mut chunks: Vec<String> = (0..60).map(|i| chunk(i, "")).collect();
    chunks.extend([chunk(60, r#""red""#), chunk(61, r#""red","round""#), chunk(62, r#""round""#)]);
    p.write(".cortex/chunks/doc-chunks.json", format!("{{\"chunks\":[{}]}}", chunks.join(",")));
    let ids = |args: &[&str]| {
        let reply = p.json(&[&["search", "valves", "-n", "5"], args].concat());
        let mut ids: Vec<String> =
            results(&reply).iter().map(|r| r["chunk_id"].as_str().unwrap().to_string()).collect();
        ids.sort();
        ids
    };
    assert_eq!(ids(&["--tags", "red"]), ["n60", "n61"]);
    assert_eq!(ids(&["--tags", "red", "--tags", "round"]), ["n61"]);
    assert_eq!(ids(&["--tags", "round", "--exact"]), ["n61", "n62"]);
}

/// `--exact` finds exactly what the query says.
#[test]
fn exact_queries_mean_what_they_say() {
    let p = Project::with(&[
        ("lock.rs", "/// Takes the write lock.\npub fn acquire() {}\n"),
        (
            "other.rs",
            "/// Locks the door, then writes a note: write, lock.\npub fn leave() { acquire() }\n",
        ),
        ("door.py", "def open_door(key):\n    return key\n"),
    ]);
    let found = |query: &str| {
        let mut found = p.found(&["--exact", "--", query]);
        found.sort();
        found
    };
    assert_eq!(found("write lock"), ["lock.rs", "other.rs"], "all words must occur");
    assert_eq!(found("lock key"), Vec::<String>::new());
    assert_eq!(found("\"the write lock\""), ["lock.rs"]);
    assert_eq!(found("\"takes the\" OR key"), ["door.py", "lock.rs"]);
    assert_eq!(found("lock -door"), ["lock.rs"]);
    assert_eq!(found("+lock note"), ["other.rs"]);
    assert_eq!(found("acquire"), ["lock.rs", "other.rs"]);
    assert_eq!(found("name:acquire"), ["lock.rs"]);
    assert_eq!(found("path:door"), ["door.py"]);
    assert_eq!(found("signature:key"), ["door.py"]);
    assert_eq!(found("comment:note"), ["other.rs"]);
    assert_eq!(found("open_door"), ["door.py"]);
    assert_eq!(found("OPEN_DOOR"), ["door.py"]);
    assert_eq!(found("(note OR key) -leave"), ["door.py"]);
}

/// A mistake in an exact query is an error that shows the right syntax.
#[test]
fn a_mistake_in_an_exact_query_names_the_remedy() {
    let p = Project::sample();
    for (query, what) in [
        ("\"no end", "not well-formed"),
        ("(potatoes", "not well-formed"),
        ("nosuch:potatoes", "there is no field `nosuch`"),
        ("-potatoes", "what to find"),
        ("potatoes OR", "not well-formed"),
    ] {
        let out = p.run(&["search", "--exact", "--", query]);
        assert!(out.stderr.contains(what) && out.stderr.len() < 1000, "{query}: {out:?}");
        if query.contains('"') {
            let error = out.error();
            assert!(
                error.contains("field:word") && error.contains("name, path"),
                "{query}: {error}"
            );
        } else {
            // As for agents: code as written is rarely a valid query.
            assert!(
                out.code < 2 && out.stderr.contains("searched as a phrase"),
                "{query}: {out:?}"
            );
        }
    }
}

/// A search sees the present tree: edited, new, deleted and renamed files. `--no-index` sees the
/// tree as it was indexed.
#[test]
fn a_search_is_up_to_date_unless_told_otherwise() {
    let p = Project::sample();
    p.index();
    p.write("docs/guide.md", "# Guide\n\nFry the aubergines.\n");
    p.write("docs/new.md", "# New\n\nPeel the parsnips.\n");
    p.remove("tools/colours.py");
    p.rename("src/retry.rs", "src/again.rs");
    let found = |query, more: &[&str]| p.found(&[&["--exact", query], more].concat());
    for (query, was) in [
        ("potatoes", "docs/guide.md"),
        ("colour", "tools/colours.py"),
        ("attempts", "src/retry.rs"),
        ("localhost", "settings.toml"),
    ] {
        assert_eq!(found(query, &["--no-index"]), [was]);
    }
    assert!(
        found("aubergines", &["--no-index"]).is_empty()
            && found("parsnips", &["--no-index"]).is_empty()
    );
    let now: [(&str, &[&str]); 6] = [
        ("potatoes", &[]),
        ("aubergines", &["docs/guide.md"]),
        ("parsnips", &["docs/new.md"]),
        ("colour", &[]),
        ("attempts", &["src/again.rs"]),
        ("localhost", &["settings.toml"]),
    ];
    for (query, is) in now {
        assert_eq!(found(query, &[]), is, "{query}");
    }
    let all = p.found(&["paint a wall after a failed attempt", "-n", "50"]);
    assert!(!all.iter().any(|f| f == "tools/colours.py" || f == "src/retry.rs"), "{all:?}");
}

/// Any text is a query: an empty one, punctuation only, and ten thousand characters quickly give an
/// answer or a clear error.
#[test]
fn any_text_is_a_query() {
    let p = Project::sample();
    for empty in ["", "   ", "\n"] {
        let error = p.run(&["search", empty]).error();
        assert!(error.contains("the query is empty"), "{error}");
        let error = p.run(&["search", "--exact", empty]).error();
        assert!(error.contains("the query is empty"), "{error}");
    }
    for punctuation in ["?!", "...", "{}[]()<>", "🦀", "'\"`", "%s %d"] {
        assert!(p.run(&["search", "--", punctuation]).code < 2, "{punctuation}");
    }
    let mut words = String::from("potatoes ");
    let mut n = 0;
    while words.len() < 10_000 {
        n += 1;
        let _ = write!(words, "word{} ", n * 7919);
    }
    assert_eq!(p.found(&[&words])[0], "docs/guide.md", "the start of a long query counts");
    for long in ["potato".repeat(1700), "potatoes ".repeat(1200), "{".repeat(10_000)] {
        assert!(p.run(&["search", &long]).code < 2);
    }
    assert_eq!(p.found(&["--exact", &"potatoes OR ".repeat(800)[..9596]])[0], "docs/guide.md");
}

/// Ten thousand open brackets are an error like any other.
#[test]
fn a_deeply_nested_exact_query_is_an_error_not_a_crash() {
    let p = Project::sample();
    p.index();
    for deep in ["(".repeat(10_000), format!("{}potatoes{}", "(".repeat(5_000), ")".repeat(5_000))]
    {
        let out = p.run(&["search", "--exact", &deep]);
        assert!(
            (0..=2).contains(&out.code) && !out.stderr.contains("overflow"),
            "exit code {}: {}",
            out.code,
            out.stderr
        );
        assert!(out.stderr.len() < 2_000, "the message does not repeat ten thousand characters");
    }
}

/// A statement describes a function: the result shows the whole function, and may show a second
/// place of the same file.
#[test]
fn a_sentence_finds_functions_and_a_topic_finds_files() {
    let p = Project::new();
    let function = |name: &str, doc: &str| {
        let body: String =
            (0..45).map(|i| format!("    let value_{i} = step(value, {i});\n")).collect();
        format!("/// {doc}\nfn {name}(value: u32) -> u32 {{\n{body}    value\n}}\n\n")
    };
    let text = ["melt", "freeze", "evaporate"]
        .map(|n| function(n, &format!("Will {n} the ice when the water is told to.")))
        .concat();
    p.write("src/matter.rs", text);
    p.write("src/other.rs", "/// Counts birds.\nfn birds() {}\n");
    let places = |query: &str| {
        let reply = p.json(&["search", query, "-n", "1"]);
        let place = |r: &Value| {
            (r["path"].clone(), r["start_line"].as_u64().unwrap(), r["end_line"].as_u64().unwrap())
        };
        results(&reply).iter().map(place).collect::<Vec<_>>()
    };
    let found = places("the water is told when it should freeze the ice");
    let (path, first, last) = &found[0];
    assert!(
        path == "src/matter.rs" && *first <= 51 && *last >= 98,
        "the whole of `freeze`: {found:?}"
    );
    assert!(found.len() <= 2 && found.iter().all(|f| f.0 == *path), "-n counts files: {found:?}");
    assert_eq!(places("freeze ice").len(), 1, "a topic: one place a file");
}

/// Operators, a phrase and a misspelt name, as they are typed.
#[test]
fn queries_are_read_as_people_type_them() {
    let p = Project::with(&[
        ("src/store/lock.rs", "/// Takes the write lock, or waits.\npub fn acquire_lock() {}\n"),
        ("src/serve/lock.rs", "/// The door has a lock; write to us.\npub fn open_door() {}\n"),
        ("tools/lock.py", "def release_lock():\n    return 'the write lock is free'\n"),
        ("docs/lock.md", "# Locks\n\nHow the write lock is taken.\n"),
    ]);
    let first = |query: &str| p.found(&[query]);
    assert_eq!(first("lang:python lock"), ["tools/lock.py"]);
    assert_eq!(first("lang:py lock"), ["tools/lock.py"], "an extension names a language");
    assert_eq!(first("path:src/store lock"), ["src/store/lock.rs"]);
    assert_eq!(first("type:docs lock"), ["docs/lock.md"]);
    let phrase = first("\"write lock\"");
    assert!(phrase.len() == 3 && !phrase.contains(&"src/serve/lock.rs".to_string()), "{phrase:?}");
    let boosted = first("who waits for the \"write lock\" of the door");
    let at = |path: &str| boosted.iter().position(|p| p == path).unwrap();
    assert!(
        at("src/store/lock.rs") < at("src/serve/lock.rs"),
        "other words beside a phrase find files without it, further down: {boosted:?}"
    );
    assert_eq!(first("serve/lock.rs")[0], "src/serve/lock.rs", "a path is a name");
    let reply = p.json(&["search", "aquire_lock"]);
    assert_eq!(results(&reply)[0]["path"], "src/store/lock.rs");
    assert!(reply["notes"][0].as_str().unwrap().contains("searched for `acquire_lock`"), "{reply}");
    let out = p.run(&["search", "\"no such phrase\" lock"]).expect(0);
    assert!(out.stderr.contains("no file holds “no such phrase”"), "{}", out.stderr);
    assert!(
        p.run(&["search", "lang:rust"]).expect(2).stderr.contains("no words"),
        "a restriction alone asks for nothing"
    );
}

#[test]
fn change_logs_and_translations_stand_behind_what_they_list() {
    let said = "Close the lock of the cache when the server stops";
    let query = "close its lock when the cache of the server is stopped";
    let p = Project::with(&[
        (
            "src/cache.rs",
            "pub struct Cache;\nimpl Cache {\n    pub fn stop(&self) {\n        self.lock.close();\n        self.server.wait();\n    }\n}\n",
        ),
        ("CHANGES.md", &format!("# Changes\n\n## 2.1\n\n- {said}.\n- {said} twice.\n")),
        ("locale/da.po", &format!("msgid \"{said}\"\nmsgstr \"Luk\"\n")),
    ]);
    let paths = |query: &str| -> Vec<String> {
        let reply = p.json(&["search", query]);
        results(&reply).iter().map(|row| row["path"].as_str().unwrap().to_string()).collect()
    };
    assert_eq!(paths(query)[0], "src/cache.rs");
    for query in [
        "changelog: close the lock of the cache",
        "in which version does it close the lock of the cache when the server stops",
    ] {
        assert_eq!(paths(query)[0], "CHANGES.md", "{query}");
    }
}

#[test]
fn a_report_finds_what_is_wrong_and_not_the_test_that_it_quotes() {
    let p = Project::with(&[
        (
            "src/kettle.py",
            "def boil(water):\n    while water.cold:\n        water.heat()\n    return water\n",
        ),
        (
            "tests/test_kettle.py",
            "from kettle import boil\n\n\ndef test_boil_of_cold_water_ends():\n    assert boil(cold_water()).hot\n",
        ),
    ]);
    let report = "boil of cold water never ends\n\nSince I upgraded yesterday, my call boil(cold_water()) hangs for ever, \
                  because it keeps heating water that is not getting any hotter as the lid is open, and nothing that I \
                  tried helps.\n";
    assert!(report.split_whitespace().count() > 30);
    assert_eq!(results(&p.json(&["search", report]))[0]["path"], "src/kettle.py");
    let short = "test boil of cold_water";
    assert_eq!(results(&p.json(&["search", short]))[0]["path"], "tests/test_kettle.py");
}

#[test]
fn questions_in_other_languages_find_english_code() {
    let p = Project::with(&[
        (
            "src/close.rs",
            "/// Closes the connection after an error.\npub fn close_connection() {}\n",
        ),
        ("src/password.rs", "/// Encrypts the password.\npub fn encrypt_password() {}\n"),
        ("src/cache.rs", "/// Removes expired entries of the cache.\npub fn remove_expired() {}\n"),
    ]);
    for (question, path, language, pair) in [
        (
            "Wo wird die Verbindung nach einem Fehler geschlossen?",
            "src/close.rs",
            "German",
            "Verbindung → ",
        ),
        (
            "Comment est chiffré le mot de passe ?",
            "src/password.rs",
            "French",
            "mot de passe → password",
        ),
        (
            "期限切れのキャッシュはどこで削除されますか",
            "src/cache.rs",
            "Japanese",
            "キャッシュ → cache",
        ),
        ("Verbindung schließen", "src/close.rs", "German", "Verbindung → "),
        (
            "где закрывается соединение после ошибки",
            "src/close.rs",
            "Russian",
            "соединение → connection",
        ),
    ] {
        let reply = p.json(&["search", question]);
        assert_eq!(results(&reply)[0]["path"], path, "{question}: {reply}");
        let notes = reply["notes"].to_string();
        assert!(notes.contains(language) && notes.contains(pair), "{question}: {notes}");
        let explored = p.run(&["explore", question]).expect(0);
        assert!(explored.stdout.contains(path), "{question}: {}", explored.stdout);
        assert!(explored.stderr.contains(pair), "{question}: {}", explored.stderr);
    }
}

#[test]
fn questions_in_other_languages_find_words_and_not_what_resembles_them() {
    let p = Project::with(&[
        ("src/pass.rs", "/// Checks each word of the text.\npub fn pass(word: &str) {}\n"),
        ("src/word.rs", "/// A word of the text.\npub fn word() {}\n"),
        ("locale/de.json", "{\"a\": \"dass die wird\", \"b\": \"wie dass die\"}\n"),
        ("docs/ende.md", "# Ende\n\nDie Verbindung wird geschlossen, wenn der Server endet.\n"),
    ]);
    let question = "wie wird sichergestellt, dass die Verbindung geschlossen wird";
    let reply = p.json(&["search", question]);
    assert_eq!(results(&reply)[0]["path"], "docs/ende.md", "{reply}");
    let notes = reply["notes"].as_array().unwrap();
    let [note] = &**notes else { panic!("{notes:?}") };
    let note = note.as_str().unwrap();
    assert!(note.contains("German") && note.contains("geschlossen → close"), "{note}");
}

#[test]
fn a_typo_is_corrected_whatever_stands_around_it() {
    let p = Project::with(&[("src/lock.rs", "pub fn acquire_lock() {}\n")]);
    for question in [
        "aquire_lock",
        "where is aquire_lock used",
        "Returns early when aquire_lock is not free and the caller has to wait",
    ] {
        let reply = p.json(&["search", question]);
        assert_eq!(results(&reply)[0]["path"], "src/lock.rs", "{question}");
        let notes = reply["notes"].to_string();
        assert!(notes.contains("searched for `acquire_lock`"), "{question}: {notes}");
    }
}

/// A question of an agent names something that one test alone holds. Its other words were worth
/// more than that name.
#[test]
fn an_identifier_of_one_file_wins_against_the_words_around_it() {
    let mut files = vec![(
        "tests/door_test.rs".to_string(),
        "#[test]\nfn opens() {\n    let stuck_hinge_count = 2;\n    assert_eq!(stuck_hinge_count, 2);\n}\n".to_string(),
    )];
    for i in 0..12 {
        let text = format!(
            "/// Explains how the request is handled, which role the system plays, and the count of each stuck hinge.\npub fn handle_request_{i}(system: u8) -> u8 {{\n    system + {i}\n}}\n"
        );
        files.push((format!("src/system/request{i}.rs"), text));
    }
    let files: Vec<(&str, &str)> = files.iter().map(|(p, t)| (&**p, &**t)).collect();
    let p = Project::with(&files);
    let question = "What role does stuck_hinge_count play in the system when a request is handled?";
    assert_eq!(p.found(&[question])[0], "tests/door_test.rs");
}

/// In a directory below the root, paths and globs are those of this directory first.
#[test]
fn paths_are_relative_to_the_working_directory() {
    let p = Project::sample();
    p.write("docs/src/notes.md", "# Retries\n\nHow to retry.\n");
    p.index();
    let in_docs = |args: &[&str]| run(p.cortex(args).current_dir(p.path("docs"))).stdout;
    assert_eq!(in_docs(&["search", "-l", "retry", "--paths", "src"]), "src/notes.md\n");
    assert_eq!(in_docs(&["grep", "-il", "retr", "src"]), "src/notes.md\n");
    assert_eq!(in_docs(&["grep", "-il", "retr", "."]), "src/notes.md\n");
    assert_eq!(in_docs(&["grep", "-il", "retr", ".."]), "../src/retry.rs\nsrc/notes.md\n");
    assert_eq!(in_docs(&["grep", "-il", "retr", "../src"]), "../src/retry.rs\n");
    assert_eq!(in_docs(&["grep", "-l", "retry_with", "../src/*.rs"]), "../src/retry.rs\n");
    assert_eq!(in_docs(&["grep", "-il", "retr", "../../src"]), "");
    assert_eq!(in_docs(&["grep", "-il", "retr", "nowhere,src"]), "src/notes.md\n");
    assert_eq!(in_docs(&["grep", "-il", "retr", "--exclude", "nowhere,src"]), "../src/retry.rs\n");
    let place = in_docs(&["search", "--exact", "retry_with_backoff", "--lines", "0"]);
    assert!(place.starts_with("../src/retry.rs:1-"), "{place}");
    assert!(in_docs(&["related", "src/notes.md"]).contains("  ../src/retry.rs:"));
    assert!(in_docs(&["pattern", "attempts * 2"]).contains("\n../src/retry.rs:"));
    let files = in_docs(&["files", "--by", "file"]);
    assert!(files.contains("  src/notes.md\n") && files.contains("  ../src/retry.rs\n"), "{files}");
    let folders = in_docs(&["files", "--by", "directory", "--sort", "name"]);
    assert!(folders.contains("  .\n") && folders.contains("  ../src\n"), "{folders}");
    let all = in_docs(&["outline", ".."]);
    assert!(all.contains("\n../src/retry.rs: ") && all.contains("\nsrc/notes.md: "), "{all}");
    let json = in_docs(&["grep", "--json", "retry_with"]);
    assert!(
        json.contains("\"src/retry.rs\"") && !json.contains(".."),
        "JSON keeps the root: {json}"
    );
    assert_eq!(in_docs(&["grep", "-il", "retr", "--exclude", "src", "--exclude", "*.rs"]), "");
    assert!(in_docs(&["read", "src/notes.md:3"]).contains("How to retry."));
    assert!(in_docs(&["read", "src/retry.rs"]).contains("fn retry"), "the root counts, too");
    assert!(in_docs(&["outline", "src"]).contains("notes.md"));
}

/// Greek capitals end in another sigma than small letters.
#[test]
fn a_word_is_found_by_itself_in_any_script() {
    let p = Project::with(&[("a.md", "# Οδοί\n\nΟΔΟΣ\n")]);
    assert_eq!(p.found(&["ΟΔΟΣ"]), ["a.md"]);
}
