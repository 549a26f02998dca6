//! Memories are kept: whatever happens to the database, its disk or its settings, nothing is lost
//! silently.

use std::fs::{self, Permissions};
use std::os::unix::fs::{FileExt, PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use crate::project::{Project, run};
use crate::server::{Client, Server};
use crate::support::hooks::{EVENTS, contents, hook, told, with_input};

/// Creates a project with a memory and a backup.
fn remembering() -> Project {
    let p = Project::sample();
    p.run(&["memory", "add", "--pin", "Something to know of kettles."]).expect(0);
    assert!(p.path(".cortex/memory.backup.db").is_file());
    p
}

/// Returns where hooks spool memories that they cannot store.
fn spool_of(p: &Project) -> PathBuf {
    let records = fs::read_dir(p.home().join(".local/state/cortex/memories")).unwrap();
    assert!(records.count() >= 1, "the project is recorded");
    let name =
        format!("{:032x}", xxhash_rust::xxh3::xxh3_128(p.root().as_os_str().as_encoded_bytes()));
    p.home().join(".local/state/cortex/projects").join(name).join("memory.spool")
}

fn prompt(p: &Project, text: &str) {
    told(p, "prompt-submit", json!({ "session_id": "s", "prompt": text }));
}

/// Bug: an emptied database answered that nothing was found in 0 memories, and was filled again.
#[test]
fn an_emptied_database_is_told_and_restored() {
    for (what, bytes) in
        [("emptied", Vec::new()), ("overwritten", b"no database at all\n".repeat(500))]
    {
        let p = remembering();
        fs::write(p.path(".cortex/memory.db"), &bytes).unwrap();
        for args in [
            &["memory", "list"][..],
            &["memory", "search", "kettles"],
            &["memory", "add", "More."],
            &["memory", "export"],
            &["memory", "stats"],
        ] {
            let e = p.run(args).error();
            assert!(
                e.contains(".cortex/memory.db")
                    && e.contains("damaged")
                    && e.contains("cortex memory restore"),
                "{what} {args:?}: {e}"
            );
        }
        // Hooks continue and spool their memories.
        let text = told(&p, "session-start", json!({ "session_id": "s", "source": "startup" }));
        assert!(text.contains("cortex memory restore"), "{what}: {text}");
        prompt(&p, "Who boils the water?");
        let server = Server::start(
            &mut p.cortex(&["serve", "--port", "0", "--no-watch", "--tools", "memory"]),
        );
        let client = Client::new(&server.line());
        let (status, body) =
            client.try_call("search_memory_nodes", &json!({ "query": "kettles" })).unwrap();
        assert!(status == 500 && body.contains("cortex memory restore"), "{status} {body}");

        let out = p.run(&["memory", "restore"]).expect(0);
        assert!(
            out.stderr.contains("restoring 1 memory from ")
                && out.stderr.contains(".cortex/memory.backup.db, made 20"),
            "{}",
            out.stderr
        );
        let all = contents(&p);
        assert!(
            all.len() == 2
                && all.iter().any(|c| c.contains("boils"))
                && all.iter().any(|c| c.contains("kettles")),
            "{all:?}"
        );
        let kept = out.stdout.split("kept as ").nth(1).unwrap().trim();
        assert!(kept.contains("memory.damaged-20") && fs::read(kept).unwrap() == bytes, "{kept}");
        // A server that was running meanwhile sees it, too.
        let found = client.call("search_memory_nodes", &json!({ "query": "kettles" }));
        assert!(found["results"].to_string().contains("kettles"), "{found}");
        let e = p.run(&["memory", "restore"]).error();
        assert!(e.contains("is not damaged") && e.contains("--from"), "{e}");
    }
}

#[test]
fn a_database_that_is_gone_is_not_begun_anew() {
    let p = remembering();
    for name in ["memory.db", "memory.db-wal", "memory.db-shm"] {
        let _ = fs::remove_file(p.path(".cortex").join(name));
    }
    for args in [&["memory", "list"][..], &["memory", "add", "More."]] {
        let e = p.run(args).error();
        assert!(
            e.contains("memory.db: the database of memories is gone")
                && e.contains("memory.backup.db"),
            "{e}"
        );
    }
    assert!(!p.path(".cortex/memory.db").exists());
    prompt(&p, "Who boils the water?");
    p.run(&["memory", "restore"]).expect(0);
    assert_eq!(contents(&p).len(), 2);

    // The database came from elsewhere, and there is no backup.
    fs::rename(p.path(".cortex/memory.backup.db"), p.path("saved.db")).unwrap();
    p.write(".cortex/memory.db", "");
    let e = p.run(&["memory", "restore"]).error();
    assert!(e.contains("there is no backup") && e.contains("--from"), "{e}");
    for bad in ["settings.toml", "docs", "nowhere"] {
        let e = p.run(&["memory", "restore", "--from", bad]).error();
        assert!(e.contains(bad) && e.contains("cannot be restored"), "{e}");
    }
    let restored = p.json(&["memory", "restore", "--from", "saved.db"]);
    assert_eq!(restored["memories"], 1, "{restored}");
    assert!(p.path("saved.db").is_file());
    assert_eq!(contents(&p).len(), 1);
}

/// Pages in the middle are lost: the rest is read, and the loss is reported.
#[test]
fn damage_in_the_middle_is_told_and_replaces_no_backup() {
    let p = Project::new();
    let line = |i: usize| {
        let source = json!({ "type": "Episode", "source": "text" });
        let at = "2026-01-01T00:00:00Z";
        let text = format!("Decision {i}: {}", "the bridge is closed ".repeat(20));
        json!({ "id": format!("00000000-0000-4000-8000-{i:012}"), "content": text, "source": source, "created_at": at, "updated_at": at, "session_id": "", "word_count": 8 }).to_string() + "\n"
    };
    p.write("all.jsonl", (0..300).map(line).collect::<String>());
    p.run(&["memory", "import", "all.jsonl"]).expect(0);
    let backup = fs::read(p.path(".cortex/memory.backup.db")).unwrap();
    let db = fs::File::options().write(true).open(p.path(".cortex/memory.db")).unwrap();
    let n = db.metadata().unwrap().len();
    db.write_all_at(&vec![0xab; usize::try_from(n / 2).unwrap()], n / 2).unwrap();
    p.set_modified(
        ".cortex/memory.backup.db",
        std::time::SystemTime::now() - std::time::Duration::from_hours(30),
    );
    let e = p.run(&["memory", "list", "-n", "1000"]).error();
    assert!(e.contains("cortex memory restore"), "{e}");
    told(&p, "session-end", json!({ "session_id": "s" }));
    assert_eq!(fs::read(p.path(".cortex/memory.backup.db")).unwrap(), backup);
    assert!(p.read(".cortex/memory.log").contains("cortex memory restore"));
    p.run(&["memory", "restore"]).expect(0);
    assert_eq!(contents(&p).len(), 300);
}

#[test]
fn the_end_of_a_session_makes_a_backup_a_day_and_keeps_two() {
    let p = remembering();
    let backups = || {
        let of = |name: &str| p.run(&["memory", "restore", "--from", name, "--json"]).stdout;
        [".cortex/memory.backup.db", ".cortex/memory.backup.1.db"].map(|name| {
            serde_json::from_str::<Value>(&of(name)).map_or(0, |r| r["memories"].as_u64().unwrap())
        })
    };
    prompt(&p, "Who boils the water?");
    told(&p, "session-end", json!({ "session_id": "s" }));
    assert!(!p.path(".cortex/memory.backup.1.db").exists(), "one a day");
    p.set_modified(
        ".cortex/memory.backup.db",
        std::time::SystemTime::now() - std::time::Duration::from_hours(25),
    );
    told(&p, "session-end", json!({ "session_id": "s" }));
    assert_eq!(backups(), [3, 1], "the prompt and the summary are in the new one");
    p.run(&["index"]).expect(0);
    let listed = p
        .command("git")
        .args(["init", "-q"])
        .status()
        .unwrap()
        .success()
        .then(|| p.command("git").args(["status", "--porcelain", "-uall"]).output().unwrap());
    let listed = String::from_utf8(listed.unwrap().stdout).unwrap();
    assert!(!listed.contains("memory"), "{listed}");
}

/// Bugs: a line that was too long made every command fail for ever; one bad byte lost all lines; a
/// pipe blocked every command.
#[test]
fn a_spool_of_any_kind_stops_no_command() {
    let p = remembering();
    let memory = |text: &str| {
        let source = json!({ "type": "Episode", "source": "text" });
        let at = "2026-01-01T00:00:00Z";
        json!({ "id": uuid(text.len()), "content": text, "source": source, "created_at": at, "updated_at": at, "session_id": "", "word_count": 8 }).to_string()
    };
    let mut bytes =
        format!("{}\n{}\n", memory(&"x".repeat(10_001)), memory("A late one.")).into_bytes();
    bytes.extend_from_slice(b"\xff\n");
    // The spool is in the user's state directory, because one in the project could have come with
    // it.
    p.write(".cortex/memory.spool", memory("A spool that came with a clone.") + "\n");
    let spool = spool_of(&p);
    fs::create_dir_all(spool.parent().unwrap()).unwrap();
    fs::write(&spool, bytes).unwrap();
    let out = p.run(&["memory", "list"]).expect(0);
    assert!(
        out.stdout.contains("A late one.")
            && !out.stdout.contains("with a clone")
            && out.stderr.contains("memory.spool.bad"),
        "{out:?}"
    );
    assert_eq!(p.run(&["memory", "list"]).expect(0).stderr, "", "it is told once");
    assert_eq!(
        fs::read(spool.with_file_name("memory.spool.bad")).unwrap().split(|b| *b == b'\n').count(),
        3
    );

    symlink("/dev/zero", &spool).unwrap();
    let out = p.run(&["memory", "list"]).expect(0);
    assert!(out.stdout.contains("A late one.") && out.stderr.contains("symbolic link"), "{out:?}");
    fs::remove_file(&spool).unwrap();
    assert!(p.command("mkfifo").arg(&spool).status().unwrap().success());
    let out = p.run(&["memory", "list"]).expect(0);
    assert!(out.stdout.contains("A late one.") && out.stderr.contains("named pipe"), "{out:?}");
    for event in EVENTS {
        hook(
            &p,
            event,
            json!({ "session_id": "s", "cwd": p.root(), "prompt": "x" }).to_string().as_bytes(),
        )
        .expect(0);
    }
}

fn uuid(i: usize) -> String {
    format!("00000000-0000-4000-8000-{i:012}")
}

/// Checks a read-only database: reading works, writing reports an error, and a session gets its
/// briefing.
fn is_readable(p: &Project, command: &dyn Fn(&[&str]) -> Command) {
    let listed = run(&mut command(&["memory", "list"])).expect(0);
    assert!(listed.stdout.contains("kettles") && listed.stderr.is_empty(), "{listed:?}");
    let found = run(&mut command(&["memory", "search", "kettles"])).expect(0);
    assert!(found.stdout.contains("kettles"), "{found:?}");
    assert!(run(&mut command(&["memory", "export"])).expect(0).stdout.contains("kettles"));
    let e = run(&mut command(&["memory", "add", "More."])).error();
    assert!(e.contains("memory.db") && e.contains("can be read, but not written"), "{e}");
    let input = json!({ "session_id": "s", "cwd": p.root(), "source": "startup" });
    let out =
        with_input(command(&["hook", "session-start"]), input.to_string().as_bytes()).expect(0);
    assert!(out.stdout.contains("kettles") && out.stderr.is_empty(), "{out:?}");
}

#[test]
fn memories_on_a_disk_that_may_only_be_read_are_read() {
    let p = Project::sample();
    p.open_to_all();
    fs::set_permissions(p.home(), Permissions::from_mode(0o777)).unwrap();
    let add = &["memory", "add", "--pin", "Something to know of kettles."];
    run(&mut p.unprivileged(add)).expect(0);
    p.chmod(".cortex", 0o555);
    is_readable(&p, &|args| p.unprivileged(args));
    p.chmod(".cortex/memory.db", 0o444);
    p.chmod(".cortex", 0o755);
    p.remove(".cortex/.gitignore");
    p.chmod(".cortex", 0o555);
    is_readable(&p, &|args| p.unprivileged(args));
    p.chmod(".cortex", 0o755);
}

#[test]
fn memories_on_a_full_disk_are_read() {
    let p = remembering();
    // No file can grow, as on a full disk.
    let full = |args: &[&str]| {
        let mut c = p.command("sh");
        c.args([
            "-c",
            "trap '' XFSZ; ulimit -f 0; exec \"$@\"",
            "sh",
            env!("CARGO_BIN_EXE_cortex"),
        ])
        .args(args);
        c
    };
    is_readable(&p, &full);
    // The same when the other files of the directory cannot be created.
    p.remove(".cortex/.gitignore");
    fs::remove_dir_all(p.path(".cortex/chunks")).unwrap();
    is_readable(&p, &full);
    assert_eq!(contents(&p).len(), 1);
}

#[test]
fn memories_are_exported_whatever_is_wrong_with_the_settings() {
    for broken in [
        "[memory",
        "memory = 5\n",
        "[index]\nmax_file_bytes = \"many\"\n",
        "[embed]\nurl = \"nowhere\"\n",
        "unknown = 1\n",
    ] {
        let p = remembering();
        p.write(".cortex/config.toml", broken);
        p.configure(broken);
        assert!(p.run(&["memory", "export"]).expect(0).stdout.contains("kettles"), "{broken}");
    }
    let p = remembering();
    let _ = fs::remove_file(p.path(".cortex/config.toml"));
    symlink("/dev/zero", p.path(".cortex/config.toml")).unwrap();
    assert!(p.run(&["memory", "export"]).expect(0).stdout.contains("kettles"));
    p.write(".cortex/memory.db", "");
    p.run(&["memory", "restore"]).expect(0);
}

/// Bug: the editor's file was readable for every user.
#[test]
fn what_is_edited_is_for_the_user_alone() {
    let p = remembering();
    let id = p.json(&["memory", "list"])["memories"][0]["id"].as_str().unwrap().to_string();
    let temporary = p.home().join("tmp");
    fs::create_dir(&temporary).unwrap();
    let script = p.path("editor.sh");
    fs::write(&script, "stat -c '%a %n' \"$1\" \"$(dirname \"$1\")\" > seen\nsed -i s/kettles/pots/ \"$1\"\nexit ${FAIL:-0}\n").unwrap();
    let edit = |fail: &str| {
        let mut c = p.cortex(&["memory", "edit", &id]);
        run(c
            .env("EDITOR", format!("sh {}", script.display()))
            .env("TMPDIR", &temporary)
            .env("FAIL", fail))
    };
    assert!(edit("1").error().contains("nothing was changed"));
    edit("0").expect(0);
    let seen = p.read("seen");
    let modes: Vec<&str> = seen.lines().map(|l| l.split(' ').next().unwrap()).collect();
    assert_eq!(modes, ["600", "700"], "{seen}");
    assert_eq!(fs::read_dir(&temporary).unwrap().count(), 0);
    assert_eq!(contents(&p), ["Something to know of pots."]);
}
