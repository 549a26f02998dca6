//! Changes of files while a server watches a project: each is recorded, and changes by git are told
//! apart from edits by hand. With real git.

use std::collections::BTreeSet;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::Value;

use crate::project::Project;
use crate::server::{Client, Server};
use crate::support::hooks::told;
use crate::support::wait_until;

/// Files of the first commit.
const N_FILES: usize = 60;

/// A repository with a memory.
struct Repository {
    project: Project,
    /// Ids of events that the test has seen.
    seen: BTreeSet<String>,
}

/// Recorded events: names of those by hand, of those by git, and of git operations, in order of
/// names.
type Told = (Vec<String>, Vec<String>, Vec<String>);

fn git(directory: &Path, args: &[&str]) -> bool {
    git_command(directory, args).output().unwrap().status.success()
}

fn git_command(directory: &Path, args: &[&str]) -> Command {
    let base = [
        "-c", "user.name=t", "-c", "user.email=t@t", "-c", "init.defaultBranch=main", "-c",
        "protocol.file.allow=always", "-c", "gc.auto=0",
    ];
    let mut command = Command::new("git");
    command
        .current_dir(directory)
        .args(base)
        .args(args)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1");
    command.env("GIT_EDITOR", "true");
    command
}

/// Runs git as if that many minutes ago.
#[track_caller]
fn git_past(directory: &Path, minutes: u64, args: &[&str]) {
    let at = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() - 60 * minutes;
    let mut command = git_command(directory, args);
    let out = command.env("GIT_COMMITTER_DATE", format!("{at} +0000")).output().unwrap();
    assert!(out.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&out.stderr));
}

/// Returns the arguments of a command of git.
fn words(command: &str) -> Vec<&str> {
    command.split(' ').collect()
}

fn file(i: usize) -> String {
    format!("src/part{}/file{i}.rs", i % 4)
}

fn code(i: usize, version: &str) -> String {
    format!(
        "/// The {version} version.\npub fn function_{i}() -> &'static str {{\n    \"{version}\"\n}}\n"
    )
}

impl Repository {
    /// `main` has two commits, the second of which changed 47 files; `side` branches off the first
    /// and changed three others.
    fn new() -> Self {
        let this = Self::without_memories();
        this.project.run(&["memory", "add", "The server is written in Rust."]).expect(0);
        this.project.index();
        this
    }

    /// The same repository, indexed before there is a memory.
    fn without_memories() -> Self {
        let this = Self { project: Project::new(), seen: BTreeSet::new() };
        // Git's log has whole seconds: an operation of the same second as the first index would be
        // one of those that the tests are about.
        let git = |args: &[&str]| git_past(&this.project.root(), 100, args);
        let commit = |subject: &str| {
            git(&["add", "-A"]);
            git(&["commit", "-q", "-m", subject]);
        };
        git(&["init", "-q"]);
        this.write_all(0..N_FILES, "first");
        commit("everything");
        this.write_all(0..47, "second");
        commit("47 files");
        git(&["checkout", "-q", "-b", "side", "HEAD~1"]);
        this.write_all(47..50, "side");
        commit("side");
        git(&["checkout", "-q", "main"]);
        this.project.index();
        this
    }

    /// `feat` adds two files to `main`, changes one and removes one. `main` is checked out, git ran
    /// the commands of `before` with `run`, and there is a memory.
    fn before_an_operation(before: &[&str], run: impl Fn(&Self, &[&str])) -> Self {
        let this = Self { project: Project::new(), seen: BTreeSet::new() };
        run(&this, &["init", "-q"]);
        for name in ["changed.rs", "removed.rs", "kept.rs"] {
            this.project.write(name, code(1, name));
        }
        let commit = |subject: &str| {
            run(&this, &["add", "-A"]);
            run(&this, &["commit", "-q", "-m", subject]);
        };
        commit("one");
        run(&this, &["checkout", "-q", "-b", "feat"]);
        for name in ["made.rs", "deep/below/made.rs"] {
            this.project.write(name, code(2, name));
        }
        this.project.write("changed.rs", code(1, "changed"));
        this.project.remove("removed.rs");
        commit("feat");
        run(&this, &["checkout", "-q", "main"]);
        for command in before {
            run(&this, &words(command));
        }
        this.project.index();
        begin(&this, "memory add");
        this
    }

    /// Lets all files be an hour old, so that nothing is of just now.
    fn age(&self) {
        let old = SystemTime::now() - Duration::from_hours(1);
        let mut folders = vec![self.project.root()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).unwrap().map(Result::unwrap) {
                let name = entry.file_name();
                match entry.file_type().unwrap() {
                    t if t.is_dir() && name != ".git" && name != ".cortex" => {
                        folders.push(entry.path());
                    }
                    t if t.is_file() => set_modified(&entry.path(), old),
                    _ => {}
                }
            }
            set_modified(&folder, old);
        }
    }

    /// Starts a session, and returns its briefing.
    #[track_caller]
    fn briefing(&self, session: &str) -> String {
        told(
            &self.project,
            "session-start",
            serde_json::json!({ "session_id": session, "source": "startup" }),
        )
    }

    /// Indexes as if nothing had changed for long.
    fn index_later(&self) {
        let out = crate::project::run(
            self.project.cortex(&["index"]).env("CORTEX_MEMORY_WINDOW_MS", "0"),
        );
        assert_eq!(out.code, 0, "{}", out.stderr);
    }

    fn write_all(&self, files: std::ops::Range<usize>, version: &str) {
        files.for_each(|i| self.project.write(file(i), code(i, version)));
    }

    #[track_caller]
    fn git(&self, args: &[&str]) {
        assert!(git(&self.project.root(), args), "git {args:?}");
    }

    fn commit(&self, subject: &str) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", subject]);
    }

    fn serve(&self) -> Server {
        let mut command = self.project.cortex(&["serve", "--port", "0", "--watch"]);
        let server = Server::start(
            command.env("CORTEX_MEMORY_WINDOW_MS", "700").env("CORTEX_LIVE_DEBOUNCE_MS", "50"),
        );
        server.line();
        server
    }

    /// Returns the recorded events that the test has not seen.
    fn new_events(&self) -> Vec<Value> {
        let all = self.project.json(&["memory", "list", "-n", "10000"]);
        all["memories"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|m| !self.seen.contains(m["id"].as_str().unwrap()))
            .cloned()
            .collect()
    }

    fn told(&self) -> Told {
        let events = self.new_events();
        let of = |source: &str| {
            let own = events.iter().filter(|m| m["source"]["source"] == source);
            let mut names: Vec<String> =
                own.map(|m| m["name"].as_str().unwrap().to_string()).collect();
            names.sort();
            names
        };
        (of("filesystem_watch"), of("git_bulk_update"), of("git_metadata"))
    }

    /// Waits until exactly these events are recorded: files by hand, number of files by git, git
    /// operations (beginnings).
    #[track_caller]
    fn expect(&mut self, what: &str, by_hand: &[&str], n_by_git: usize, git_did: &[&str]) -> Told {
        let is_it = |(hand, git, did): &Told| {
            hand == by_hand
                && git.len() == n_by_git
                && did.len() == git_did.len()
                && did.iter().zip(git_did).all(|(did, start)| did.starts_with(start))
        };
        let mut last = self.told();
        let waited = catch_unwind(AssertUnwindSafe(|| {
            wait_until(what, || {
                last = self.told();
                is_it(&last)
            });
        }));
        assert!(
            waited.is_ok(),
            "{what}: by hand {:?}, by git {}: {:?}, git did {:?}",
            last.0,
            last.1.len(),
            last.1.iter().take(3).collect::<Vec<_>>(),
            last.2
        );
        self.seen.extend(self.new_events().iter().map(|m| m["id"].as_str().unwrap().to_string()));
        let fresh = self.project.fresh_copy().timeless();
        wait_until("the index is that of the tree", || self.project.timeless() == fresh);
        last
    }
}

#[test]
fn a_reset_over_47_files_costs_the_next_session_a_line() {
    let mut r = Repository::new();
    let _server = r.serve();
    told(
        &r.project,
        "session-start",
        serde_json::json!({ "session_id": "one", "source": "startup" }),
    );
    told(
        &r.project,
        "prompt-submit",
        serde_json::json!({ "session_id": "one", "prompt": "Undo the second version, it breaks the release." }),
    );
    r.project.write("src/by_hand.rs", "pub fn written_by_hand() {}\n");
    r.git(&["reset", "-q", "--hard", "HEAD~1"]);
    r.project.write(file(55), code(55, "edited"));
    let (_, git, did) = r.expect(
        "the reset",
        &["create src/by_hand.rs", &format!("update {}", file(55))],
        47,
        &["git reset --hard: 47 files at "],
    );
    assert!(git.iter().all(|name| name.starts_with("update src/part")), "{git:?}");
    assert_eq!(did.len(), 1);
    let all = r.project.json(&["memory", "list", "-n", "1000"]);
    let of = |source: &str| {
        all["memories"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|m| m["source"]["source"] == source)
            .cloned()
            .collect::<Vec<_>>()
    };
    let batches: BTreeSet<String> = [of("git_bulk_update"), of("git_metadata")]
        .concat()
        .iter()
        .map(|m| m["source"]["git_batch_id"].as_str().unwrap().to_string())
        .collect();
    assert_eq!(batches.len(), 1, "one operation");
    let context = of("git_context").pop().expect("why it was done");
    assert!(
        context["content"].as_str().unwrap().contains("it breaks the release")
            && context["session_id"] == "one",
        "{context}"
    );

    let text = told(
        &r.project,
        "session-start",
        serde_json::json!({ "session_id": "two", "source": "startup" }),
    );
    assert!(text.len() / 4 <= 500, "{} bytes", text.len());
    assert_eq!(text.matches("git reset --hard").count(), 1, "{text}");
    assert!(
        text.contains("create src/by_hand.rs: written_by_hand")
            && text.contains(&format!("update {}: function_55", file(55))),
        "{text}"
    );
    assert!(!text.contains(&file(3)), "{text}");
}

#[test]
fn every_operation_of_git_is_told_from_edits_meanwhile() {
    let mut r = Repository::new();
    let _server = r.serve();
    let edited = |r: &Repository, version: &str| r.project.write("edited.rs", code(0, version));
    edited(&r, "one");
    r.expect("an edit", &["create edited.rs"], 0, &[]);

    r.git(&["checkout", "-q", "side"]);
    edited(&r, "two");
    // Edits of one file are one event, which the test has seen.
    r.expect("a checkout", &[], 50, &["git checkout: 50 files"]);
    r.git(&["checkout", "-q", "main"]);
    r.expect("and back", &[], 50, &["git checkout: 50 files"]);

    r.project.write(file(51), code(51, "stashed"));
    r.expect("what is to be stashed", &[&format!("update {}", file(51))], 0, &[]);
    r.git(&["stash", "-q"]);
    r.expect("a stash", &[], 1, &["git stash: 1 file"]);
    r.git(&["stash", "pop", "-q"]);
    r.project.write("beside.rs", code(1, "beside"));
    r.expect("a stash that is taken", &["create beside.rs"], 1, &["git stash pop: 1 file"]);

    r.commit("work");
    r.expect("a commit", &[], 0, &["commit "]);
    r.git(&["rebase", "-q", "side"]);
    r.project.write("beside.rs", code(1, "after the rebase"));
    let (_, by_git, _) = r.expect("a rebase", &[], 3, &["git rebase: 3 files"]);
    assert_eq!(
        by_git.into_iter().collect::<BTreeSet<_>>(),
        [47, 48, 49].map(|i| format!("update {}", file(i))).into()
    );

    r.git(&["commit", "-q", "-am", "beside"]);
    r.expect("one more commit", &[], 0, &["commit "]);
    r.git(&["checkout", "-q", "-b", "other", "HEAD~1"]);
    r.expect("a new branch", &[], 1, &["git checkout: 1 file"]);
    r.project.write("beside.rs", code(1, "otherwise"));
    r.project.write("third.rs", code(3, "third"));
    r.commit("other");
    r.expect("an edit that is committed at once", &["create third.rs"], 0, &["commit "]);
    assert!(!git(&r.project.root(), &["merge", "main"]), "beside.rs conflicts");
    r.project.write("meanwhile.rs", code(4, "meanwhile"));
    r.expect("a merge with a conflict", &["create meanwhile.rs"], 1, &["git merge: 1 file"]);
    r.project.write("beside.rs", code(1, "agreed"));
    r.commit("merged");
    r.expect("a conflict that is solved", &[], 0, &["commit "]);
    r.git(&["mv", "third.rs", "renamed.rs"]);
    r.expect("a file that is renamed", &["rename third.rs to renamed.rs"], 0, &[]);
    fs::create_dir(r.project.path("moved")).unwrap();
    r.project.rename("renamed.rs", "moved/renamed.rs");
    r.expect("a file that is moved", &["move renamed.rs to moved/renamed.rs"], 0, &[]);
}

#[test]
fn what_comes_from_elsewhere_is_gits() {
    let mut r = Repository::new();
    let elsewhere = Repository::new();
    let url = elsewhere.project.root().to_str().unwrap().to_string();
    r.git(&["remote", "add", "origin", &url]);
    r.git(&["fetch", "-q"]);
    r.git(&["reset", "-q", "--hard", "origin/main"]);
    r.git(&["branch", "-q", "-u", "origin/main"]);
    r.project.index();
    let _server = r.serve();
    r.project.write("edited.rs", code(0, "one"));
    r.expect("an edit", &["create edited.rs"], 0, &[]);
    elsewhere.write_all(10..15, "third");
    elsewhere.commit("third");
    r.git(&["pull", "-q", "--no-rebase"]);
    r.project.write(file(20), code(20, "meanwhile"));
    r.expect("a pull", &[&format!("update {}", file(20))], 5, &["git pull: 5 files"]);

    // A linked work tree in the tree is left out; a submodule is a repository of its own.
    r.git(&["worktree", "add", "-q", "tree", "-b", "tree", "side~1"]);
    assert!(git(&r.project.path("tree"), &["reset", "-q", "--hard", "main~1"]));
    r.project.write("tree/inside.rs", code(5, "inside"));
    thread::sleep(Duration::from_secs(1));
    r.git(&["worktree", "remove", "--force", "tree"]);
    r.project.write("outside.rs", code(5, "outside"));
    r.expect("nothing of a work tree", &["create outside.rs"], 0, &[]);
    r.git(&["submodule", "--quiet", "add", &url, "sub"]);
    r.expect("a submodule", &[], N_FILES, &["git: 60 files"]);
    assert!(git(&r.project.path("sub"), &["checkout", "-q", "HEAD~2"]));
    r.project.write("sub/inside.rs", code(5, "inside"));
    r.expect(
        "a checkout in a submodule",
        &["create sub/inside.rs"],
        47,
        &["git checkout: 47 files"],
    );
}

/// No process watched: the next server detects the changes.
#[test]
fn what_happened_while_nothing_ran_is_found_at_the_start() {
    let mut r = Repository::new();
    let mut server = r.serve();
    r.project.write("edited.rs", code(0, "one"));
    r.expect("an edit", &["create edited.rs"], 0, &[]);
    server.signal("TERM");
    server.ended();
    r.git(&["reset", "-q", "--hard", "HEAD~1"]);
    r.project.remove(&file(57));
    r.project.write(file(58), code(58, "edited"));
    r.git(&["commit", "-q", "-am", "edited"]);
    let _server = r.serve();
    let hand = [format!("delete {}", file(57)), format!("update {}", file(58))];
    r.expect(
        "what happened",
        &[&hand[0], &hand[1]],
        47,
        &["commit ", "git reset --hard: 47 files"],
    );
}

/// The ways in which the first memory is made.
fn begin(r: &Repository, how: &str) {
    match how {
        "memory add" => {
            drop(r.project.run(&["memory", "add", "The server is written in Rust."]).expect(0));
        }
        // A hook that runs out of time on a busy machine spools the prompt.
        "a hook" => wait_until("a hook remembers", || {
            told(
                &r.project,
                "prompt-submit",
                serde_json::json!({ "session_id": "one", "prompt": "What is slow here?" }),
            );
            r.project.path(".cortex/memory.db").exists()
        }),
        "an import" => {
            let other = Project::new();
            other.run(&["memory", "add", "The server is written in Rust."]).expect(0);
            let exported = other.run(&["memory", "export"]).expect(0).stdout;
            r.project.write(".git/exported.jsonl", exported);
            r.project.run(&["memory", "import", ".git/exported.jsonl"]).expect(0);
        }
        "a tool" => {
            let server = Server::start(
                &mut r.project.cortex(&["serve", "--port", "0", "--no-watch", "--tools", "memory"]),
            );
            let memory = serde_json::json!({ "name": "language", "episode_body": "The server is written in Rust." });
            Client::new(&server.line()).call("add_memory", &memory);
        }
        _ => unreachable!("{how}"),
    }
}

#[test]
fn the_first_operation_of_git_after_memory_begins_is_gits() {
    for how in ["memory add", "a hook", "an import", "a tool"] {
        for is_before in [false, true] {
            let mut r = Repository::without_memories();
            let steps: [&dyn Fn(); 2] =
                [&|| begin(&r, how), &|| r.git(&["reset", "-q", "--hard", "HEAD~1"])];
            steps[usize::from(is_before)]();
            steps[usize::from(!is_before)]();
            r.project.write(file(55), code(55, "edited"));
            r.index_later();
            let what = format!("{how}, reset before: {is_before}");
            r.expect(
                &what,
                &[&format!("update {}", file(55))],
                47,
                &["git reset --hard: 47 files"],
            );
        }
    }
}

#[test]
fn the_first_operation_under_a_server_is_gits_however_soon_it_comes() {
    for does_wait in [false, true] {
        let mut r = Repository::without_memories();
        let _server = r.serve();
        begin(&r, "memory add");
        if does_wait {
            r.project.write("waited.rs", code(1, "waited"));
            r.expect("an edit", &["create waited.rs"], 0, &[]);
        }
        r.git(&["reset", "-q", "--hard", "HEAD~1"]);
        r.expect("the reset", &[], 47, &["git reset --hard: 47 files"]);
    }
}

#[test]
fn the_first_operation_in_a_submodule_is_gits() {
    let mut r = Repository::without_memories();
    let library = Repository::without_memories();
    r.git(&["submodule", "--quiet", "add", library.project.root().to_str().unwrap(), "sub"]);
    r.project.index();
    begin(&r, "memory add");
    let sub = r.project.path("sub");
    assert!(git(&sub, &["reset", "-q", "--hard", "HEAD~1"]));
    r.project.write("sub/by_hand.rs", code(1, "by hand"));
    assert!(git(&sub, &["add", "by_hand.rs"]) && git(&sub, &["commit", "-q", "-m", "by hand"]));
    r.index_later();
    r.expect(
        "a reset and a commit",
        &["create sub/by_hand.rs"],
        47,
        &["commit ", "git reset --hard: 47 files"],
    );
}

/// There was no repository when memory began, so there is no position in git's logs to continue
/// from.
#[test]
fn the_first_operation_in_a_repository_that_came_after_the_memories_is_gits() {
    let r = Repository::without_memories();
    fs::rename(r.project.path(".git"), r.project.home().join("git")).unwrap();
    begin(&r, "memory add");
    fs::rename(r.project.home().join("git"), r.project.path(".git")).unwrap();
    r.git(&["reset", "-q", "--hard", "HEAD~1"]);
    r.index_later();
    let (by_hand, by_git, _) = r.told();
    assert_eq!((by_hand, by_git.len()), (Vec::new(), 47));
}

/// Without a server, the indexing process stores the changes, and records them once git had time to
/// write its log.
#[test]
fn without_a_server_the_next_run_records() {
    let mut r = Repository::new();
    let index = Repository::index_later;
    r.project.write("edited.rs", code(0, "one"));
    index(&r);
    r.expect("an edit", &["create edited.rs"], 0, &[]);
    r.git(&["reset", "-q", "--hard", "HEAD~1"]);
    r.project.write("edited.rs", code(0, "two"));
    index(&r);
    r.expect("a reset", &[], 47, &["git reset --hard: 47 files"]);
    r.project.write("edited.rs", code(0, "three"));
    r.project.index();
    assert_eq!(r.told(), Told::default(), "too new");
}

fn set_modified(path: &Path, at: SystemTime) {
    fs::File::open(path).unwrap().set_modified(at).unwrap();
}

/// Bug: with default settings the change that an index run found was always too new, and no later
/// run looked again.
#[test]
fn without_a_server_every_command_records_what_ended_before() {
    let edited = format!("update {}", file(55));
    for how in ["index", "search", "memory", "session-start", "stop", "session-end"] {
        let r = Repository::new();
        r.project.write(file(55), code(55, "edited"));
        r.project.index();
        assert_eq!(r.told(), Told::default(), "{how}: of just now");
        r.age();
        match how {
            "index" => drop(r.project.index()),
            "search" => drop(r.project.run(&["search", "function"]).expect(0)),
            "memory" => drop(r.project.run(&["memory", "add", "One more."]).expect(0)),
            hook => {
                let input = serde_json::json!({ "session_id": "one", "source": "startup", "last_assistant_message": "Done." });
                told(&r.project, hook, input);
            }
        }
        let all = r.project.json(&["memory", "list", "-n", "100", "--sources", "filesystem_watch"]);
        let is_by_how = all["memories"].as_array().unwrap().len() == 1;
        assert!(is_by_how, "{how}: {all}");
        assert_eq!(r.told().0.join(""), edited, "{how}");
    }
}

/// Bug: hooks recorded an edit only after some other command had compared the tree with the index.
#[test]
fn without_a_server_hooks_alone_record_an_edit() {
    for hook in ["session-start", "stop", "session-end"] {
        let r = Repository::new();
        r.project.write(file(55), code(55, "edited"));
        r.age();
        let input = serde_json::json!({ "session_id": "one", "source": "startup", "last_assistant_message": "Done." });
        let text = told(&r.project, hook, input);
        assert_eq!(r.told().0.join(""), format!("update {}", file(55)), "{hook}");
        if hook == "session-start" {
            assert!(text.contains(&file(55)), "the briefing has it: {text}");
        }
    }
}

/// Bug: hooks did not look at git, and an index run looked only if a file had changed.
#[test]
fn without_a_server_a_session_is_told_each_operation_of_git() {
    let case = |(said, before, operation): (&str, &[&str], &str)| {
        // The times of git's own files are all that tells of these.
        if ["--squash", " -n ", " -- "].iter().any(|part| operation.contains(part)) {
            return;
        }
        let run = |r: &Repository, args: &[&str]| git_past(&r.project.root(), 50, args);
        let mut r = Repository::before_an_operation(before, run);
        run(&r, &words(operation));
        r.project.write("by_hand.rs", code(3, "by hand"));
        r.age();
        let line = format!("{said}: 4 files at ");
        for session in ["one", "two"] {
            let text = r.briefing(session);
            assert_eq!(text.matches(&line).count(), 1, "{operation}: {text}");
        }
        r.project.index();
        r.project.index();
        r.expect(operation, &["create by_hand.rs"], 4, &[&line]);
    };
    try_operations(case);
}

/// Bug: the two cancelled each other out for the index, so the reset was dropped and its commit kept.
#[test]
fn a_commit_that_a_reset_discards_at_once_is_told_as_discarded() {
    for with_index in [false, true] {
        let r = Repository::new();
        r.write_all(50..52, "discarded");
        r.project.write("new.rs", code(60, "new"));
        git_past(&r.project.root(), 40, &["add", "-A"]);
        git_past(&r.project.root(), 40, &["commit", "-q", "-m", "two edits"]);
        if with_index {
            r.age();
            r.project.index();
            let text = r.briefing("before");
            assert!(text.contains(": two edits") && !text.contains("not in HEAD"), "{text}");
            assert!(text.contains("create new.rs"), "{text}");
        }
        r.project.run(&["memory", "add", "The part of src/part3/file59.rs is final."]).expect(0);
        git_past(&r.project.root(), 30, &["reset", "-q", "--hard", "HEAD~1"]);
        r.age();
        for session in ["one", "two"] {
            let text = r.briefing(session);
            assert!(text.contains("git reset --hard: 3 files at "), "{text}");
            let is_marked = |part: &str| {
                let line = text.lines().find(|line| line.contains(part)).unwrap();
                line.contains("not in HEAD: commit ") && line.contains(" was discarded by reset")
            };
            assert!(is_marked(": two edits") && is_marked("is final"), "{text}");
            assert!(!is_marked("written in Rust"), "{text}");
            assert!(!text.contains("new.rs: "), "the edit is gone: {text}");
            r.project.index();
        }
        let did = r.told().2;
        assert_eq!(did.len(), 2, "{did:?}");
        let found = r.project.run(&["memory", "search", "two edits"]).expect(0).stdout;
        assert!(found.contains("was discarded by reset"), "{found}");
        git_past(&r.project.root(), 20, &["merge", "-q", "ORIG_HEAD"]);
        r.age();
        let text = r.briefing("three");
        assert!(text.contains("git merge: 3 files") && !text.contains("not in HEAD"), "{text}");
    }
}

/// The reflog names a reset, but not its kind: this one changed no file.
#[test]
fn a_soft_reset_is_not_told_as_one_that_changed_files() {
    let r = Repository::new();
    git_past(&r.project.root(), 30, &["reset", "-q", "--soft", "HEAD~1"]);
    r.age();
    let text = r.briefing("one");
    assert!(text.contains("git reset: no files at ") && !text.contains("--hard"), "{text}");
    r.project.index();
    assert_eq!(r.told().2.len(), 1);
}

/// A commit is not discarded while a branch has it, and it belongs to HEAD again after a checkout.
#[test]
fn work_on_another_branch_is_told_as_such() {
    let r = Repository::new();
    git_past(&r.project.root(), 50, &["checkout", "-q", "-b", "work"]);
    r.project.write(file(55), code(55, "worked on"));
    r.age();
    r.project.index();
    git_past(&r.project.root(), 40, &["commit", "-q", "-am", "the work"]);
    let line = |session: &str, part: &str| {
        let text = r.briefing(session);
        text.lines().find(|line| line.contains(part)).unwrap_or_default().to_string()
    };
    let told = line("one", ": the work");
    assert!(!told.is_empty() && !told.contains("not in HEAD"), "{told}");
    let edited = format!("update {}", file(55));
    assert!(!line("two", &edited).is_empty());
    git_past(&r.project.root(), 30, &["checkout", "-q", "main"]);
    r.age();
    assert!(line("three", ": the work").contains(" is on another branch"));
    assert_eq!(line("four", &edited), "", "the file is as it was before");
    git_past(&r.project.root(), 20, &["checkout", "-q", "work"]);
    r.age();
    assert!(!line("five", ": the work").contains("not in HEAD"));
    assert!(!line("six", &edited).is_empty());
}

#[test]
fn a_commit_belongs_to_the_session_in_which_it_happened() {
    let r = Repository::new();
    let hook = |event: &str, session: &str, prompt: &str| {
        let input =
            serde_json::json!({ "session_id": session, "source": "startup", "prompt": prompt });
        told(&r.project, event, input);
    };
    hook("session-start", "past", "");
    hook("prompt-submit", "past", "Add the parser of invoices to the importer.");
    hook("session-end", "past", "");
    let past = rusqlite::Connection::open(r.project.path(".cortex/memory.db")).unwrap();
    past.execute_batch(
        "UPDATE sessions SET started_at = started_at - 7200000, ended_at = ended_at - 6000000;
         UPDATE memories SET created_at = created_at - 7200000;",
    )
    .unwrap();
    drop(past);
    hook("session-start", "present", "");
    hook("prompt-submit", "present", "Translate the manual into Danish.");
    for (minutes, subject) in [(110, "during"), (60, "between"), (5, "before")] {
        git_past(&r.project.root(), minutes, &["commit", "-q", "--allow-empty", "-m", subject]);
    }
    r.project.index();
    let all = r.project.json(&["memory", "list", "-n", "1000"]);
    let all = all["memories"].as_array().unwrap();
    let of = |subject: &str| {
        let is_it = |m: &&Value| m["name"].as_str().unwrap().ends_with(&format!(": {subject}"));
        let is_commit = |m: &&Value| m["source"]["source"] == "git_metadata";
        all.iter().filter(is_commit).find(is_it).unwrap()["session_id"].clone()
    };
    assert_eq!([of("during"), of("between"), of("before")], ["past", "", ""]);
    let reasons: Vec<&Value> =
        all.iter().filter(|m| m["source"]["source"] == "git_context").collect();
    assert_eq!(reasons.len(), 1, "{reasons:?}");
    assert!(reasons[0]["content"].as_str().unwrap().contains("invoices"), "{reasons:?}");
}

/// Changes that git would not report, reports in quotes, or has forgotten: the comparison with the
/// tree finds them, and parses no other file.
#[test]
fn every_change_while_nothing_ran_is_indexed_and_nothing_else() {
    let p = Project::new();
    let git = |args: &[&str]| assert!(git(&p.root(), args), "git {args:?}");
    let step = |what: &str, n_parsed: u64, n_removed: u64| {
        let summary = p.index();
        // A content that was there before is known, and not parsed.
        let number = |name: &str| summary[name].as_u64().unwrap();
        assert_eq!(
            (number("n_parsed") + number("n_known"), number("n_removed")),
            (n_parsed, n_removed),
            "{what}"
        );
        assert_eq!(p.index()["changed"], false, "{what}: nothing twice");
        assert_eq!(p.timeless(), p.fresh_copy().timeless(), "{what}");
    };
    git(&["init", "-q"]);
    (0..20).for_each(|i| p.write(format!("file{i}.rs"), code(i, "first")));
    step("no commit yet", 20, 0);
    git(&["add", "-A"]);
    p.write("file0.rs", code(0, "staged and changed again"));
    step("staged", 1, 0);
    git(&["commit", "-q", "-am", "one"]);
    step("a commit changes no file", 0, 0);
    p.write("file1.rs", code(1, "uncommitted"));
    p.write("grün \"und\"\tblau.rs", code(1, "untracked"));
    git(&["mv", "file2.rs", "renamed.rs"]);
    p.remove("file3.rs");
    step("uncommitted, untracked in quotes, renamed, deleted", 3, 2);
    git(&["checkout", "-q", "file1.rs", "file3.rs"]);
    p.remove("grün \"und\"\tblau.rs");
    step("taken back, of which git knows nothing", 2, 1);
    git(&["commit", "-q", "-am", "two"]);
    p.write("file4.rs", code(4, "amended"));
    git(&["commit", "-q", "-a", "--amend", "-m", "other"]);
    git(&["reflog", "expire", "--expire=now", "--all"]);
    git(&["gc", "-q", "--prune=now"]);
    step("the commit that was indexed is gone", 1, 0);
}

/// Git operations that bring the files of the branch `feat`: created, changed and deleted ones.
/// First the commands that run before there is a memory, then the operation.
const OPERATIONS: [(&str, &[&str], &str); 16] = [
    ("git pull", &["branch -q -u feat"], "pull -q --no-rebase"),
    ("git pull", &["branch -q -u feat"], "pull -q --ff-only"),
    ("git pull", &["branch -q -u feat"], "pull -q --rebase"),
    ("git rebase", &["branch -q -u feat", "commit -q --allow-empty -m local"], "rebase -q"),
    ("git pull", &["branch -q -u feat", "commit -q --allow-empty -m local"], "pull -q --rebase"),
    ("git pull", &["branch -q -u feat", "commit -q --allow-empty -m local"], "pull -q --no-rebase"),
    ("git merge", &[], "merge -q --ff-only feat"),
    ("git merge", &[], "merge -q --no-ff -m merged feat"),
    ("git merge", &[], "merge -q --squash feat"),
    ("git checkout", &[], "checkout -q feat"),
    ("git checkout", &[], "switch -q feat"),
    ("git reset --hard", &[], "reset -q --hard feat"),
    ("git cherry-pick", &["commit -q --allow-empty -m local"], "cherry-pick feat"),
    ("git cherry-pick", &[], "cherry-pick -n feat"),
    ("git", &[], "checkout -q feat -- made.rs deep/below/made.rs changed.rs"),
    ("git revert", &["checkout -q -b back feat", "revert --no-edit HEAD"], "revert --no-edit HEAD"),
];

/// Tries each operation of [`OPERATIONS`], several at once, because each mostly waits: for the disk,
/// for git, or for a server.
fn try_operations(case: impl Fn((&str, &[&str], &str)) + Sync) {
    let (rest, failed) = (Mutex::new(OPERATIONS.into_iter()), Mutex::new(Vec::new()));
    let next = || rest.lock().unwrap().next();
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(row) = next() {
                    if catch_unwind(AssertUnwindSafe(|| case(row))).is_err() {
                        failed.lock().unwrap().push(row.2);
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap();
    assert!(failed.is_empty(), "{failed:?}");
}

/// Each operation of [`OPERATIONS`], and an edit right after it.
fn operations_that_make_change_and_remove_files_are_gits(with_server: bool) {
    let case = |(said, before, operation): (&str, &[&str], &str)| {
        let mut r = Repository::before_an_operation(before, Repository::git);
        let _server = with_server.then(|| r.serve());
        r.git(&words(operation));
        r.project.write("by_hand.rs", code(3, "by hand"));
        if !with_server {
            r.index_later();
        }
        let n = if operation.contains(" -- ") { 3 } else { 4 };
        r.expect(operation, &["create by_hand.rs"], n, &[&format!("{said}: {n} files")]);
    };
    try_operations(case);
}

#[test]
fn files_that_an_operation_makes_are_gits() {
    operations_that_make_change_and_remove_files_are_gits(false);
}

#[test]
fn files_that_an_operation_makes_under_a_server_are_gits() {
    operations_that_make_change_and_remove_files_are_gits(true);
}

#[test]
fn untracked_files_of_a_stash_are_gits() {
    for with_server in [false, true] {
        let mut r = Repository::without_memories();
        r.project.write("untracked.rs", code(1, "untracked"));
        r.project.write(file(3), code(3, "stashed"));
        r.project.index();
        begin(&r, "memory add");
        let _server = with_server.then(|| r.serve());
        for (operation, said) in [
            (&["stash", "-q", "-u"][..], "git stash: 2 files"),
            (&["stash", "pop", "-q"], "git stash pop: 2 files"),
        ] {
            r.git(operation);
            if !with_server {
                r.index_later();
            }
            r.expect(said, &[], 2, &[said]);
        }
    }
}

/// Bug: after a rebase, living work was told as discarded, each commit in a line of its own.
#[test]
fn a_rebase_costs_the_next_session_one_line_and_discards_nothing() {
    for onto in ["rebase -q main", "pull -q --rebase . main"] {
        let r = Repository::new();
        let past = |minutes: u64, args: &str| git_past(&r.project.root(), minutes, &words(args));
        past(60, "checkout -q side");
        for i in 51..55 {
            r.project.write(file(i), code(i, "rebased"));
            past(50, &format!("commit -q -a -m work-on-{i}"));
        }
        r.age();
        r.project.index();
        r.project.run(&["memory", "add", "The part of src/part3/file51.rs is final."]).expect(0);
        let text = r.briefing("before");
        assert!(text.contains("work-on-54") && !text.contains("not in HEAD"), "{text}");
        past(20, onto);
        r.age();
        for session in ["one", "two"] {
            let text = r.briefing(session);
            assert!(!text.contains("not in HEAD"), "{onto}: {text}");
            assert!(!text.contains("> commit "), "{onto}: {text}");
            let line = if onto.starts_with("pull") { "> git pull: " } else { "> git rebase: " };
            assert_eq!(text.matches(line).count(), 1, "{onto}: {text}");
            assert!(text.contains(&format!("update {}", file(54))), "{onto}: {text}");
        }
        past(10, "reset -q --hard main");
        r.age();
        let text = r.briefing("three");
        assert!(text.contains(" was discarded by "), "{onto}: {text}");
    }
}

/// Bug: a session that started together with the server was told nothing of what happened before.
#[test]
fn a_session_that_starts_together_with_the_server_is_told_what_happened() {
    let run = |r: &Repository, args: &[&str]| git_past(&r.project.root(), 50, args);
    let mut r = Repository::before_an_operation(&[], run);
    run(&r, &["merge", "-q", "--ff-only", "feat"]);
    r.project.write("by_hand.rs", code(3, "by hand"));
    r.age();
    let server = Server::start(&mut r.project.cortex(&["serve", "--port", "0", "--watch"]));
    for session in ["one", "two"] {
        let text = r.briefing(session);
        assert_eq!(text.matches("> git merge: 4 files at ").count(), 1, "{text}");
        assert_eq!(text.matches("> create by_hand.rs").count(), 1, "{text}");
    }
    server.line();
    r.expect("both, once", &["create by_hand.rs"], 4, &["git merge: 4 files at "]);
    drop(server);
    r.index_later();
    assert_eq!(r.told(), Told::default(), "nothing twice");
}

/// Bug: such a reset was not told, because the index saw neither the edits nor the reset.
#[test]
fn a_reset_of_edits_that_nobody_saw_is_told() {
    let mut r = Repository::new();
    r.write_all(0..47, "lost");
    r.git(&["reset", "-q", "--hard"]);
    r.index_later();
    r.expect("the reset", &[], 0, &["git reset --hard: 47 files at "]);
}

/// Bug: it was told as a reset of all its files.
#[test]
fn a_stash_that_was_taken_again_leaves_the_edits() {
    let mut r = Repository::new();
    r.write_all(0..47, "kept");
    r.git(&["stash", "-q"]);
    r.git(&["stash", "pop", "-q"]);
    r.index_later();
    let mut edited: Vec<String> = (0..47).map(|i| format!("update {}", file(i))).collect();
    edited.sort();
    let edited: Vec<&str> = edited.iter().map(String::as_str).collect();
    r.expect("stashed and taken", &edited, 0, &[]);
}

/// Bug: the briefing went on to tell of a stash that was taken.
#[test]
fn a_stash_is_told_as_long_as_it_is_there() {
    let r = Repository::new();
    r.project.write(file(55), code(55, "stashed"));
    r.git(&["stash", "-q"]);
    r.index_later();
    assert!(r.briefing("one").contains("> git stash: 1 file at "));
    r.git(&["stash", "pop", "-q"]);
    r.index_later();
    let text = r.briefing("two");
    assert!(!text.contains("> git stash: "), "{text}");
}

/// Bug: an agent's edit that was reset before it was recorded counted as two changes by git.
#[test]
fn an_edit_that_is_reset_stays_with_who_made_it() {
    for is_of_agent in [false, true] {
        let mut r = Repository::new();
        let hook = |event: &str| {
            let input = serde_json::json!({ "session_id": "one", "source": "startup" });
            told(&r.project, event, input);
        };
        if is_of_agent {
            hook("session-start");
        }
        r.project.write(file(55), code(55, "edited"));
        r.project.index();
        if is_of_agent {
            hook("session-end");
        }
        r.git(&["reset", "-q", "--hard"]);
        r.index_later();
        let edited = format!("update {}", file(55));
        r.expect("the reset", &[&edited], 1, &["git reset --hard: 1 file at "]);
        assert!(!r.briefing("two").contains(&edited), "it was taken back");
    }
}

#[test]
fn an_edit_that_is_stashed_and_taken_stays_with_who_made_it() {
    let r = Repository::new();
    r.project.write(file(55), code(55, "edited"));
    r.project.index();
    r.git(&["stash", "-q"]);
    r.project.index();
    r.git(&["stash", "pop", "-q"]);
    r.index_later();
    let (by_hand, _, did) = r.told();
    assert_eq!(by_hand, [format!("update {}", file(55))], "{did:?}");
    assert!(!did.iter().any(|did| did.contains("reset")), "{did:?}");
    assert!(r.briefing("one").contains(&format!("update {}", file(55))));
}

/// Bug: a squashed merge that was committed was told as that many edits by hand.
#[test]
fn a_squashed_merge_is_one_operation() {
    let mut r = Repository::new();
    r.git(&["merge", "-q", "--squash", "side"]);
    r.git(&["commit", "-q", "-m", "three files"]);
    r.git(&["branch", "-q", "-D", "side"]);
    r.project.write(file(55), code(55, "edited"));
    r.index_later();
    let edited = format!("update {}", file(55));
    r.expect("a squashed merge", &[&edited], 3, &["git merge: 3 files at "]);
    let text = r.briefing("one");
    assert!(text.contains("squash of side: three files") && !text.contains("> commit "), "{text}");
}
