//! `cortex index`: what it writes, what it leaves unchanged, and which directory is the project.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::project::{CHUNK_FILES, Project, run};
use crate::server::{Server, initialize};
use crate::support::hooks::hook;

/// Returns inode and time of the chunk files and the manifest; writing a file again changes them.
fn stamps(p: &Project) -> Vec<(String, u64, SystemTime)> {
    let stamp = |name: &str| {
        let m = fs::metadata(p.path(".cortex/chunks").join(name)).unwrap();
        (name.to_string(), m.ino(), m.modified().unwrap())
    };
    CHUNK_FILES.into_iter().chain(["manifest.json"]).map(stamp).collect()
}

/// Each chunk's creation and update time, by id.
fn times(p: &Project) -> BTreeMap<String, (String, String)> {
    let text = |v: &Value| v.as_str().unwrap().to_string();
    p.chunks()
        .iter()
        .map(|c| (text(&c["id"]), (text(&c["created_at"]), text(&c["updated_at"]))))
        .collect()
}

/// If nothing changed, indexing again parses nothing and leaves every chunk file unchanged.
#[test]
fn indexing_again_writes_nothing() {
    let p = Project::sample();
    let first = p.index();
    assert_eq!(
        (&first["generation"], &first["changed"], &first["n_parsed"]),
        (&json!(1), &json!(true), &json!(4)),
        "{first:#}"
    );
    let before = stamps(&p);
    let again = p.index();
    assert_eq!(
        (&again["generation"], &again["changed"], &again["n_parsed"]),
        (&json!(1), &json!(false), &json!(0)),
        "{again:#}"
    );
    assert_eq!(again["chunks"], first["chunks"]);
    assert!(p.run(&["index"]).expect(0).stdout.starts_with("up to date: 4 files in "));
    p.run(&["search", "potatoes"]).expect(0);
    assert_eq!(stamps(&p), before);
    // The same holds when everything is parsed again.
    let full = p.json(&["index", "--full"]);
    assert_eq!((&full["generation"], &full["n_parsed"]), (&json!(1), &json!(4)), "{full:#}");
    assert_eq!(stamps(&p), before);
}

/// A new time stamp alone (`touch`, a git checkout back and forth) causes no parsing and no new
/// generation.
#[test]
fn touching_a_file_changes_nothing() {
    let p = Project::sample();
    p.index();
    let before = stamps(&p);
    p.set_modified("src/retry.rs", SystemTime::now() + Duration::from_secs(5));
    p.age("docs/guide.md");
    let again = p.index();
    assert_eq!((&again["changed"], &again["n_parsed"]), (&json!(false), &json!(0)), "{again:#}");
    assert_eq!(stamps(&p), before);
}

/// An edit of equal length within the resolution of the clock, with an equal time stamp, is
/// noticed.
#[test]
fn an_edit_that_leaves_no_trace_in_the_stamp_is_noticed() {
    let p = Project::with(&[("a.md", "# A\n\ncarrots\n")]);
    // In the future, so that a slow machine does not leave the clock's resolution.
    let stamp = SystemTime::now() + Duration::from_secs(30);
    p.set_modified("a.md", stamp);
    p.index();
    p.write("a.md", "# A\n\nturnips\n");
    p.set_modified("a.md", stamp);
    assert_eq!(p.found(&["--exact", "turnips"]), ["a.md"]);
    assert!(p.found(&["--exact", "carrots"]).is_empty());
}

/// Programs that watch the chunks see exactly the changes: an unchanged chunk keeps both times, a
/// moved or edited one keeps its creation time, and every id survives lines inserted above.
#[test]
fn chunks_keep_their_ids_and_times() {
    let filler =
        |n: usize| format!("    // {}\n", "Something is done here, at some length. ".repeat(n));
    let function =
        |name: &str| format!("/// Makes {name}.\npub fn make_{name}() {{\n{}}}\n\n", filler(25));
    let p = Project::new();
    p.write("a.rs", ["bread", "soup", "cake"].map(function).concat());
    p.write("b.rs", function("tea"));
    p.index();
    let before = times(&p);
    assert_eq!(before.len(), 6, "two outlines, four functions: {before:?}");

    // Soup is edited; cake moves; bread stays.
    let text =
        p.read("a.rs").replace("pub fn make_soup() {\n", "pub fn make_soup() {\n    stir();\n");
    p.write("a.rs", text);
    p.index();
    let edited = times(&p);
    assert_eq!(edited.keys().collect::<Vec<_>>(), before.keys().collect::<Vec<_>>());
    for (id, want_same) in [
        ("a.rs#make_bread", true),
        ("a.rs#make_soup", false),
        ("a.rs#make_cake", false),
        ("a.rs#@outline", false),
        ("b.rs#make_tea", true),
    ] {
        assert_eq!(edited[id].0, before[id].0, "{id} was created when it was");
        assert_eq!(
            edited[id].1 == before[id].1,
            want_same,
            "{id}: {:?} → {:?}",
            before[id],
            edited[id]
        );
    }

    // With lines inserted at the top, everything in the file moves.
    p.write("a.rs", format!("// One.\n\n// Two.\n\n{}", p.read("a.rs")));
    p.index();
    let moved = times(&p);
    assert_eq!(moved.keys().collect::<Vec<_>>(), before.keys().collect::<Vec<_>>());
    for (id, (created, updated)) in &moved {
        assert_eq!(created, &before[id].0, "{id}");
        assert_eq!(*updated == edited[id].1, id.starts_with("b.rs"), "{id}");
    }
}

/// `.cortex/cache` is only a cache: without it nothing is lost, not even a time stamp.
#[test]
fn the_cache_can_be_deleted() {
    let p = Project::sample();
    p.index();
    let (before, files) = (times(&p), stamps(&p));
    fs::remove_dir_all(p.path(".cortex/cache")).unwrap();
    assert_eq!(p.found(&["--no-index", "potatoes"])[0], "docs/guide.md");
    p.index();
    assert_eq!(times(&p), before);
    assert_eq!(stamps(&p), files);
    fs::remove_dir_all(p.path(".cortex/cache")).unwrap();
    p.write("more.md", "# More\n\nLeeks.\n");
    p.index();
    let after = times(&p);
    assert_eq!(after.len(), before.len() + 1);
    assert!(before.iter().all(|(id, t)| after[id] == *t), "{before:?} → {after:?}");
}

/// Other programs see by the time stamps what changed, so whatever happens to the files that describe
/// the chunk files, an unchanged chunk keeps its times.
#[test]
fn unchanged_chunks_keep_their_times_whatever_is_lost() {
    type Damage = fn(&Project);
    let damages: [(&str, Damage); 6] = [
        ("no manifest", |p| p.remove(".cortex/chunks/manifest.json")),
        ("an empty manifest", |p| p.write(".cortex/chunks/manifest.json", "")),
        ("a damaged manifest", |p| {
            let text = p.read(".cortex/chunks/manifest.json");
            p.write(".cortex/chunks/manifest.json", text.replacen("xxh3:", "xxh3:0", 1));
        }),
        ("a manifest of somebody else", |p| {
            let manifest = r#"{"generation":1,"files":{}}"#;
            p.write(".cortex/chunks/manifest.json", manifest);
        }),
        ("neither manifest nor cache", |p| {
            p.remove(".cortex/chunks/manifest.json");
            fs::remove_dir_all(p.path(".cortex/cache")).unwrap();
        }),
        ("a chunk file without its end", |p| {
            let mut options = fs::OpenOptions::new();
            let file = options.write(true).open(p.path(".cortex/chunks/doc-chunks.json")).unwrap();
            file.set_len(file.metadata().unwrap().len() - 1).unwrap();
        }),
    ];
    let p = Project::sample();
    p.write("two.md", "# One\n\nLeeks.\n\n# Two\n\nOnions.\n");
    p.index();
    let mut before = times(&p);
    for (i, (what, damage)) in damages.into_iter().enumerate() {
        damage(&p);
        p.index();
        assert_eq!(times(&p), before, "{what}");
        // A chunk that changed at the same time is seen.
        damage(&p);
        let text = format!("# One\n\nLeeks.\n\n# Two\n\nOnions, {i}.\n");
        p.write("two.md", text);
        p.index();
        let after = times(&p);
        let changed: Vec<&String> = after.keys().filter(|id| after[*id] != before[*id]).collect();
        assert!(
            !changed.is_empty() && changed.iter().all(|id| id.starts_with("two.md#")),
            "{what}: {changed:?}"
        );
        assert!(changed.iter().all(|id| after[*id].0 == before[*id].0), "{what}: {changed:?}");
        before = after;
    }
    // The stamps of a file that came from elsewhere may be anything, but not in the future.
    let path = ".cortex/chunks/doc-chunks.json";
    let text = p.read(path).replace("\"updated_at\":\"2", "\"updated_at\":\"9");
    p.write(path, text);
    p.remove(".cortex/chunks/manifest.json");
    p.index();
    assert!(
        times(&p).values().all(|(created, updated)| created <= updated && updated.as_str() < "9")
    );
}

/// Derived files stay out of git, in a new repository and in one whose `.cortex` holds the user's
/// settings.
#[test]
fn git_does_not_see_the_index() {
    for own_config in [false, true] {
        let p = Project::sample();
        if own_config {
            p.write(".cortex/config.toml", "[search]\nlimit = 5\n");
        }
        run(p.command("git").args(["init", "--quiet"])).expect(0);
        p.index();
        p.run(&["search", "potatoes"]).expect(0);
        let status = run(p.command("git").args(["status", "--porcelain", "--untracked-files=all"]))
            .expect(0)
            .stdout;
        let ours: Vec<&str> =
            status.lines().filter_map(|l| l.strip_prefix("?? .cortex/")).collect();
        assert!(
            ours.iter().all(|f| [".gitignore", "config.toml"].contains(f)),
            "own config: {own_config}; git sees {ours:?}"
        );
    }
}

/// The project is the nearest directory above with `.cortex` or `.git` (a worktree's `.git` is a
/// file); else the one given.
#[test]
fn the_root_is_the_nearest_marked_directory() {
    for marker in [".git/HEAD", ".cortex/config.toml", ".git"] {
        let p = Project::folder();
        p.write("a/b/c.md", "# C\n");
        p.write("top.md", "# Top\n");
        p.write(marker, "");
        let summary = p.json(&["index", "a/b"]);
        assert_eq!(summary["n_files"], 2, "{marker}");
        assert!(
            p.path(".cortex/chunks/manifest.json").exists() && !p.path("a/b/.cortex").exists(),
            "{marker}"
        );
    }
    let p = Project::folder();
    p.write("a/b/c.md", "# C\n");
    p.write("top.md", "# Top\n");
    assert_eq!(p.json(&["index", "a"])["n_files"], 1);
    assert!(p.path("a/.cortex/chunks/manifest.json").exists() && !p.path(".cortex").exists());
    assert_eq!(p.json(&["index", "a/b"])["n_files"], 1, "a is a project now");
    assert!(!p.path("a/b/.cortex").exists());
}

/// The home directory and `/` are never indexed by mistake, and nothing is written there.
#[test]
fn home_and_the_file_system_root_are_refused() {
    let p = Project::new();
    fs::write(p.home().join("notes.md"), "# Notes\n").unwrap();
    fs::create_dir(p.home().join(".git")).unwrap();
    let home = p.home();
    for args in [&["index"][..], &["search", "notes"], &["status"]] {
        let error = run(p.cortex(args).current_dir(&home)).error();
        assert!(
            error.contains("the home directory") && error.contains("give the folder of a project"),
            "{args:?}: {error}"
        );
        let error = run(p.cortex(args).current_dir("/")).error();
        assert!(error.contains("the root of the file system"), "{args:?}: {error}");
    }
    assert!(!home.join(".cortex").exists() && !std::path::Path::new("/.cortex").exists());
    // A folder in a home directory that is a git repository (dotfiles) is a project of its own.
    fs::create_dir(home.join("work")).unwrap();
    fs::write(home.join("work/plan.md"), "# Plan\n").unwrap();
    run(p.cortex(&["index"]).current_dir(home.join("work"))).expect(0);
    assert!(home.join("work/.cortex").exists() && !home.join(".cortex").exists());
}

/// `clean` removes derived files and nothing else.
#[test]
fn clean_keeps_what_is_the_users() {
    let p = Project::sample();
    p.write(".cortex/config.toml", "[search]\nlimit = 5\n");
    p.write(".cortex/notes.txt", "mine");
    p.index();
    p.run(&["clean"]).expect(0);
    assert!(!p.path(".cortex/chunks").exists() && !p.path(".cortex/cache").exists());
    assert_eq!(p.read(".cortex/config.toml"), "[search]\nlimit = 5\n");
    assert_eq!(p.read(".cortex/notes.txt"), "mine");
    assert!(p.path("src/retry.rs").exists() && p.path("docs/guide.md").exists());
    assert!(p.run(&["clean"]).expect(0).stdout.contains("nothing to remove"));
    assert_eq!(p.found(&["potatoes"])[0], "docs/guide.md", "a search makes a new index");
}

/// `--quiet` prints nothing, `--json` nothing but JSON, and `indexer` is another name of `index`.
#[test]
fn index_says_as_much_as_it_is_asked_to() {
    let p = Project::sample();
    let out = p.run(&["indexer", "--quiet"]).expect(0);
    assert_eq!((out.stdout.as_str(), out.stderr.as_str()), ("", ""));
    assert!(p.path(".cortex/chunks/manifest.json").exists());
    p.write("new.md", "# New\n");
    let out = p.run(&["index", "--json"]).expect(0);
    assert_eq!(out.stderr, "");
    let summary: Value = serde_json::from_str(&out.stdout).unwrap();
    assert_eq!((&summary["n_files"], &summary["n_parsed"]), (&json!(5), &json!(1)), "{summary:#}");
    p.remove("new.md");
    let out = p.run(&["index"]).expect(0);
    assert!(
        out.stdout.starts_with("indexed 4 files in ") && out.stdout.contains("1 removed"),
        "{}",
        out.stdout
    );
}

/// A mistake in the settings is an error with file, line and a suggestion; the command does nothing
/// else.
#[test]
fn a_mistake_in_the_settings_names_its_line_and_the_remedy() {
    for (config, place, remedy) in [
        ("# mine\n[search]\nlimitt = 3\n", "config.toml:3", "did you mean `search.limit`"),
        ("[search]\ncontext = 4\n\ncontex = 6\n", "config.toml:4", "did you mean `search.context`"),
        ("[search]\nlimit = 3\n[index]\nlimit = 4\n", "config.toml:4", "search.limit"),
        ("[search]\nlimit = 3\n[serch]\n# limit\nlimit = 4\n", "config.toml:5", "search.limit"),
        ("[search]\nlimit = \"many\"\n", "config.toml", "search.limit"),
    ] {
        let p = Project::sample();
        p.write(".cortex/config.toml", config);
        for args in [&["index"][..], &["search", "retry"]] {
            let told = p.run(args).expect(0).stderr;
            assert!(told.contains(place) && told.contains(remedy), "{config:?}: {told}");
        }
    }
    let p = Project::sample();
    p.write(".cortex/config.toml", "[search]\nlimit = = 3\n");
    let error = p.run(&["index"]).error();
    assert!(error.contains("config.toml:2"), "{error}");
    assert!(!p.path(".cortex/chunks").exists());
}

/// A typo in the user's own settings must cost neither the tools of an agent nor a prompt.
#[test]
fn a_typo_of_the_user_neither_ends_the_server_nor_drops_the_prompt() {
    let p = Project::sample();
    let file = p.home().join(".config/cortex/config.toml");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, "[search]\nlimitt = 3\n").unwrap();
    let mut server = Server::start(&mut p.cortex(&["mcp"]));
    let told = server.ask("initialize", &initialize("2025-11-25"));
    assert_eq!(told["result"]["serverInfo"]["name"], "cortex", "{told}");
    let prompt = "We never retry a payment, because the bank counts attempts.";
    for (event, input) in [
        ("session-start", serde_json::json!({ "session_id": "s" })),
        ("prompt-submit", serde_json::json!({ "session_id": "s", "prompt": prompt })),
    ] {
        let cwd = serde_json::json!(p.root());
        let mut input = input;
        input["cwd"] = cwd;
        hook(&p, event, input.to_string().as_bytes()).expect(0);
    }
    let found = p.run(&["memory", "search", "retry a payment"]).expect(0).stdout;
    assert!(found.contains("the bank counts attempts"), "{found}");
}

/// Settings come from the file; the environment overrides it, and a flag overrides both. Files that
/// a new setting excludes leave the index.
#[test]
fn flags_beat_environment_beats_file() {
    let p = Project::sample();
    p.write("src/other.rs", "/// Fails after some attempts.\npub fn fail() {}\n");
    p.write(".cortex/config.toml", "[search]\nlimit = 1\n");
    let n = |variable: Option<&str>, args: &[&str]| {
        let mut c = p.cortex(&["search", "failed attempts", "--json"]);
        c.args(args);
        if let Some(value) = variable {
            c.env("CORTEX_SEARCH_LIMIT", value);
        }
        let reply: Value = serde_json::from_str(&run(&mut c).expect(0).stdout).unwrap();
        reply["results"].as_array().unwrap().len()
    };
    assert_eq!(n(None, &[]), 1);
    assert_eq!(n(Some("2"), &[]), 2);
    assert_eq!(n(Some("2"), &["-n", "1"]), 1);
    let error = run(p.cortex(&["index"]).env("CORTEX_SEARCH_LIMITS", "2")).expect(0).stderr;
    assert!(error.contains("did you mean `CORTEX_SEARCH_LIMIT`"), "{error}");
    p.write(".cortex/config.toml", "[index]\nexclude = [\"src\"]\n");
    let summary = p.index();
    assert_eq!(
        (&summary["n_files"], &summary["skipped"]["excluded by configuration"]),
        (&json!(3), &json!(2)),
        "{summary:#}"
    );
    assert!(p.found(&["--exact", "attempts"]).is_empty());
}

/// An index that another version of the program made is made anew, and keeps nothing outdated.
#[test]
fn an_index_of_an_earlier_version_is_served() {
    let p = Project::sample();
    p.index();
    p.run(&["search", "retry"]).expect(0);
    // As another build left it: other headings in all chunks, and its own versions in all files.
    let replace = |path: std::path::PathBuf, pairs: &[(&str, &str)]| {
        let text = std::fs::read_to_string(&path).unwrap();
        let changed = pairs.iter().fold(text.clone(), |t, (from, to)| t.replace(from, to));
        assert_ne!(text, changed, "{}", path.display());
        std::fs::write(path, changed).unwrap();
    };
    let version = format!("cortex {}", env!("CARGO_PKG_VERSION"));
    replace(p.path(".cortex/cache/sources.json"), &[(&version, "cortex 0.0.9")]);
    for saved in std::fs::read_dir(p.path(".cortex/cache")).unwrap().flatten() {
        if saved.file_name().to_str().unwrap().starts_with("index-") {
            replace(saved.path().join("saved.json"), &[(&version, "cortex 0.0.9")]);
        }
    }
    let stale: std::collections::BTreeSet<_> = std::fs::read_dir(p.path(".cortex/cache"))
        .unwrap()
        .flatten()
        .map(|e| e.file_name())
        .collect();
    p.run(&["search", "retry"]).expect(0);
    let fresh = p.fresh_copy();
    assert_eq!(p.timeless(), fresh.timeless());
    let now: std::collections::BTreeSet<_> = std::fs::read_dir(p.path(".cortex/cache"))
        .unwrap()
        .flatten()
        .map(|e| e.file_name())
        .collect();
    let left = |name: &std::ffi::OsString| name.to_str().unwrap().starts_with("index-");
    assert!(!stale.intersection(&now).any(left), "the saved index is made anew: {now:?}");
    let search = |p: &Project| p.json(&["search", "retry", "--explain"])["results"].clone();
    assert_eq!(search(&p), search(&fresh));
}

/// A search that reads a touched file notes its new time, so that the next one does not read it.
#[test]
fn a_touched_file_is_read_once() {
    let p = Project::sample();
    p.index();
    p.age("docs/guide.md");
    p.found(&["potatoes"]);
    let table = p.read(".cortex/cache/sources.json");
    let stamp = fs::metadata(p.path("docs/guide.md")).unwrap().modified().unwrap();
    let ns = stamp.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_nanos();
    assert!(table.contains(&ns.to_string()), "the new stamp is noted");
}

/// `tar -x`, `rsync -t` and generators with a fixed time set an old time stamp on a new file.
#[test]
fn a_file_of_equal_size_and_time_that_took_anothers_place_is_indexed() {
    let p = Project::with(&[("a.rs", "fn aaaa_one() {}\n")]);
    p.age("a.rs");
    p.index();
    let modified = fs::metadata(p.path("a.rs")).unwrap().modified().unwrap();
    p.write("n.tmp", "fn bbbb_two() {}\n");
    p.set_modified("n.tmp", modified);
    p.rename("n.tmp", "a.rs");
    assert_eq!(p.found(&["bbbb_two"]), ["a.rs"]);
}
