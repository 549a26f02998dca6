use std::collections::HashMap;
use std::ffi::OsStr;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

use super::super::{Attribution, ChangedFile};
use super::*;
use Attribution::{Git, Hand};
use OperationKind as Kind;

struct Repo {
    _dir: TempDir,
    top: PathBuf,
    root: PathBuf,
}

fn command(root: &Path, args: &[&str]) -> Command {
    let base = [
        "-c", "user.name=t", "-c", "user.email=t@t", "-c", "init.defaultBranch=main", "-c",
        "protocol.file.allow=always", "-c", "gc.auto=0", "-c", "maintenance.auto=false",
    ];
    let mut command = Command::new("git");
    command
        .current_dir(root)
        .args(base)
        .args(args)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1");
    command.env("GIT_EDITOR", "true").env("GIT_SEQUENCE_EDITOR", "true").stdin(Stdio::null());
    command
}

fn run(root: &Path, args: &[&str]) -> Output {
    command(root, args).output().unwrap()
}

fn git(root: &Path, args: &[&str]) -> String {
    let out = run(root, args);
    assert!(
        out.status.success(),
        "git {args:?}: {}{}",
        String::from_utf8_lossy(&out.stderr),
        String::from_utf8_lossy(&out.stdout)
    );
    String::from_utf8_lossy(&out.stdout).trim().to_string()
}

fn write(root: &Path, name: impl AsRef<Path>, text: &str) {
    let path = root.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Returns when the clock of the file system, which goes in ticks, is past all earlier writes.
fn await_tick() {
    let mut file = tempfile::tempfile().unwrap();
    let mut now = || {
        file.write_all(b"x").unwrap();
        file.metadata().unwrap().modified().unwrap()
    };
    let first = now();
    while now() == first {}
}

impl Repo {
    fn empty() -> Self {
        Self::with(&[])
    }

    fn with(init: &[&str]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        let root = top.join("r");
        fs::create_dir(&root).unwrap();
        git(&root, &[&["init", "-q"], init].concat());
        Self { _dir: dir, top, root }
    }

    /// `main` has two commits. `side` branches off the first and merges with the second;
    /// `conf` conflicts with it.
    fn new() -> Self {
        Self::empty().filled()
    }

    fn filled(self) -> Self {
        for i in 0..6 {
            self.write(&format!("f{i}"), &format!("one {i}\n").repeat(9));
        }
        self.commit("one");
        for i in 0..3 {
            self.write(&format!("f{i}"), &format!("two {i}\n").repeat(9));
        }
        self.write("new", "new\n");
        self.git(&["rm", "-q", "f5"]);
        self.commit("two");
        self.git(&["checkout", "-q", "-b", "side", "HEAD~1"]);
        self.write("f3", "side\n");
        self.write("s", "s\n");
        self.commit("side");
        self.git(&["checkout", "-q", "-b", "conf", "main~1"]);
        self.write("f0", "conf\n");
        self.write("f4", "conf\n");
        self.commit("conf");
        self.git(&["checkout", "-q", "main"]);
        self
    }

    fn git(&self, args: &[&str]) -> String {
        git(&self.root, args)
    }

    /// Runs git as if this many seconds had passed. Its logs have whole seconds.
    fn git_later(&self, passed: i64, args: &[&str]) {
        let date = format!("{} +0000", seconds(SystemTime::now()) + passed);
        let out = command(&self.root, args).env("GIT_COMMITTER_DATE", date).output().unwrap();
        assert!(out.status.success(), "git {args:?}: {out:?}");
    }

    fn write(&self, name: &str, text: &str) {
        write(&self.root, name, text);
    }

    fn commit(&self, subject: &str) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", subject]);
    }

    fn watch(&self) -> Watched {
        Watched::at(&self.root)
    }
}

/// Acts like a session: notes each event of git, and asks at the end which files changed.
struct Watched {
    root: PathBuf,
    watch: GitWatch,
    before: HashMap<PathBuf, Seen>,
}

type Seen = (SystemTime, u64, Vec<u8>);

impl Watched {
    fn at(root: &Path) -> Self {
        Self { root: root.to_path_buf(), watch: GitWatch::open(root).unwrap(), before: files(root) }
    }

    fn git(&mut self, args: &[&str]) {
        git(&self.root, args);
        self.watch.note();
    }

    fn fails(&mut self, args: &[&str]) {
        let out = run(&self.root, args);
        assert!(!out.status.success(), "git {args:?} should fail");
        self.watch.note();
    }

    fn edit(&self, name: &str, text: &str) {
        await_tick();
        write(&self.root, name, text);
    }

    /// Returns all files that were written since, in order, and who wrote them.
    fn close(&mut self) -> (Happened, Vec<(String, Attribution)>) {
        let now = files(&self.root);
        let mut names: Vec<&PathBuf> =
            now.keys().chain(self.before.keys().filter(|p| !now.contains_key(*p))).collect();
        names.retain(|p| now.get(*p) != self.before.get(*p));
        names.sort();
        let changed: Vec<ChangedFile> = names
            .iter()
            .map(|p| ChangedFile { path: (*p).clone(), exists: now.contains_key(*p) })
            .collect();
        let happened = self.watch.operations();
        let whose = self.watch.classify(&changed);
        let names = changed.iter().map(|c| c.path.to_string_lossy().into_owned());
        let result = names.zip(whose).collect();
        self.before = now;
        (happened, result)
    }

    /// Returns the kinds of operations, the files that git changed, and the other files.
    fn told(&mut self) -> (Vec<Kind>, String, String) {
        let (happened, files) = self.close();
        let of = |whose: Attribution| {
            files
                .iter()
                .filter(|f| f.1 == whose)
                .map(|f| f.0.as_str())
                .collect::<Vec<_>>()
                .join(" ")
        };
        (happened.operations.iter().map(|o| o.kind).collect(), of(Git), of(Hand))
    }
}

fn files(root: &Path) -> HashMap<PathBuf, Seen> {
    let mut found = HashMap::new();
    let mut left = vec![root.to_path_buf()];
    while let Some(dir) = left.pop() {
        for entry in fs::read_dir(dir).unwrap().flatten().filter(|e| e.file_name() != ".git") {
            let (path, data) = (entry.path(), entry.path().symlink_metadata().unwrap());
            if data.is_dir() {
                left.push(path);
            } else {
                let text = if data.is_symlink() {
                    Vec::new()
                } else {
                    fs::read(&path).unwrap_or_default()
                };
                found.insert(
                    path.strip_prefix(root).unwrap().to_path_buf(),
                    (data.modified().unwrap(), data.len(), text),
                );
            }
        }
    }
    found
}

fn told(kinds: &[Kind], git: &str, hand: &str) -> (Vec<Kind>, String, String) {
    (kinds.to_vec(), git.to_string(), hand.to_string())
}

#[test]
fn outside_of_a_repository_there_is_nothing_to_watch() {
    let dir = tempfile::tempdir().unwrap();
    assert!(GitWatch::open(dir.path()).is_none());
    fs::create_dir(dir.path().join(".git")).unwrap();
    assert!(GitWatch::open(dir.path()).is_none(), "an empty .git is no repository");
}

#[test]
fn a_reset_over_47_files_is_told_from_what_was_edited_meanwhile() {
    let repo = Repo::empty();
    for i in 0..60 {
        repo.write(&format!("src/f{i:02}.rs"), &format!("fn f{i}() {{}}\n"));
    }
    repo.write(".gitignore", "*.log\n");
    repo.commit("one");
    for i in 0..47 {
        repo.write(&format!("src/f{i:02}.rs"), "broken");
    }
    let mut watched = repo.watch();
    watched.git(&["reset", "-q", "--hard"]);
    let (happened, changed) = watched.close();
    assert_eq!(changed.len(), 47);
    assert!(changed.iter().all(|(_, whose)| *whose == Git), "{changed:?}");
    assert_eq!(happened.commits, []);
    let [reset] = &happened.operations[..] else { panic!("{happened:?}") };
    assert_eq!((reset.kind, reset.subject.as_str()), (Kind::Reset, "reset: moving to HEAD"));
    assert_eq!(
        (&reset.from, reset.to.as_deref()),
        (&reset.to, Some(repo.git(&["rev-parse", "HEAD"]).as_str()))
    );
    let half = GitOperation { at: 15 * 3600 + 90, zone: 29, ..reset.clone() };
    assert_eq!(half.summary(47), "git reset --hard: 47 files at 15:30");
    assert_eq!(half.summary(1), "git reset --hard: 1 file at 15:30");

    repo.write("src/f00.rs", "broken");
    repo.write("src/f01.rs", "broken");
    watched.before = files(&repo.root);
    watched.git(&["reset", "-q", "--hard"]);
    watched.edit("src/f01.rs", "by hand, right after");
    watched.edit("src/f50.rs", "another one");
    watched.edit("src/untracked.rs", "new");
    watched.edit("x.log", "ignored");
    fs::remove_file(repo.root.join("src/f51.rs")).unwrap();
    let hand = "src/f01.rs src/f50.rs src/f51.rs src/untracked.rs x.log";
    assert_eq!(watched.told(), told(&[Kind::Reset], "src/f00.rs", hand));
}

#[test]
fn a_reset_to_another_commit_removes_and_brings_back_files() {
    let repo = Repo::new();
    repo.write("staged", "never committed\n");
    repo.git(&["add", "staged"]);
    repo.write("untracked", "stays");
    let mut watched = repo.watch();
    watched.git(&["reset", "-q", "--hard", "HEAD~1"]);
    assert_eq!(watched.told(), told(&[Kind::Reset], "f0 f1 f2 f5 new staged", ""));
    watched.git(&["reset", "-q", "--hard", "main@{1}"]);
    fs::remove_file(repo.root.join("untracked")).unwrap();
    assert_eq!(watched.told(), told(&[Kind::Reset], "f0 f1 f2 f5 new", "untracked"));
}

#[test]
fn another_branch_is_checked_out() {
    let repo = Repo::new();
    let mut watched = repo.watch();
    watched.git(&["checkout", "-q", "side"]);
    watched.edit("f4", "by hand");
    assert_eq!(watched.told(), told(&[Kind::Checkout], "f0 f1 f2 f3 f5 new s", "f4"));
    repo.git(&["checkout", "-q", "f4"]);
    watched.before = files(&repo.root);
    watched.git(&["switch", "-q", "--detach", "main~1"]);
    assert_eq!(watched.told(), told(&[Kind::Checkout], "f3 s", ""), "detached");
    watched.git(&["reset", "-q", "--hard", "main"]);
    assert_eq!(watched.told(), told(&[Kind::Reset], "f0 f1 f2 f5 new", ""), "while detached");
}

#[test]
fn a_new_branch_for_what_is_edited_and_committed_is_no_operation() {
    let repo = Repo::new();
    let mut watched = repo.watch();
    watched.edit("f3", "before");
    watched.git(&["checkout", "-q", "-b", "feature"]);
    watched.edit("f4", "after");
    watched.edit("more", "new");
    watched.git(&["add", "-A"]);
    watched.git(&["commit", "-q", "-m", "all of it"]);
    let (happened, files) = watched.close();
    assert_eq!(happened.operations, []);
    let [commit] = &happened.commits[..] else { panic!("{happened:?}") };
    assert_eq!(
        (commit.subject.as_str(), &commit.id),
        ("commit: all of it", &repo.git(&["rev-parse", "HEAD"]))
    );
    assert_eq!(files, ["f3", "f4", "more"].map(|f| (f.to_string(), Hand)));
}

#[test]
fn commits_and_added_files_are_by_hand_beside_a_checkout() {
    let repo = Repo::new();
    let mut watched = repo.watch();
    watched.git(&["checkout", "-q", "side"]);
    watched.edit("f4", "committed");
    watched.git(&["commit", "-q", "-am", "four"]);
    watched.edit("added", "added");
    fs::remove_file(repo.root.join("f2")).unwrap();
    watched.git(&["add", "-A"]);
    watched.git(&["commit", "-q", "--amend", "-m", "four and five"]);
    watched.edit("later", "only added");
    watched.git(&["add", "later"]);
    assert_eq!(watched.told(), told(&[Kind::Checkout], "f0 f1 f3 f5 new s", "added f2 f4 later"));
}

#[test]
fn an_edit_that_is_committed_and_then_rebased_stays_by_hand() {
    let repo = Repo::new();
    repo.git(&["checkout", "-q", "side"]);
    let mut watched = repo.watch();
    watched.edit("f4", "by hand");
    watched.git(&["commit", "-q", "-am", "four"]);
    watched.git(&["rebase", "-q", "main"]);
    let (kinds, git, hand) = watched.told();
    assert_eq!((kinds, git.as_str()), (vec![Kind::Rebase], "f0 f1 f2 f3 f5 new s"));
    assert_eq!(hand, "f4");
}

#[test]
fn only_adding_and_asking_opens_no_window() {
    let repo = Repo::new();
    let mut watched = repo.watch();
    watched.edit("f1", "by hand");
    watched.edit("un", "by hand");
    watched.git(&["add", "."]);
    watched.git(&["status"]);
    watched.git(&["branch", "other"]);
    watched.git(&["gc", "-q"]);
    assert_eq!(watched.told(), told(&[], "", "f1 un"));
    // The same within one clock tick of the file system.
    for i in 0..20 {
        write(&repo.root, "f2", &format!("{i}"));
        watched.git(&["add", "f2"]);
        assert_eq!(watched.told(), told(&[], "", "f2"));
    }
    // Old content is written again, as a loose object and packed.
    write(&repo.root, "copy", &fs::read_to_string(repo.root.join("new")).unwrap());
    watched.git(&["add", "copy"]);
    assert_eq!(watched.told(), told(&[], "", "copy"));
    repo.git(&["mv", "f3", "g3"]);
    repo.git(&["rm", "-q", "f4"]);
    assert_eq!(
        watched.told(),
        told(&[], "", "f3 f4 g3"),
        "they are moved and removed by hand, with git's help"
    );
}

#[test]
fn files_that_are_restored_leave_no_line_in_the_reflog() {
    let repo = Repo::new();
    for args in [
        &["checkout", "-q", "--", "f1"][..],
        &["restore", "f1"],
        &["checkout", "-q", "-f"],
        &["checkout", "-q", "HEAD~1", "--", "f1"],
    ] {
        repo.git(&["reset", "-q", "--hard"]);
        repo.write("f1", "to be lost");
        repo.write("f3", "to be staged");
        let mut watched = repo.watch();
        watched.edit("f2", "by hand");
        watched.git(args);
        watched.edit("f3", "by hand");
        watched.git(&["add", "f3"]);
        let (kinds, git, hand) = watched.told();
        assert_eq!(kinds, [], "{args:?}");
        let forced = args.contains(&"-f");
        assert_eq!(
            (git.as_str(), hand.as_str()),
            if forced { ("f1 f2", "f3") } else { ("f1", "f2 f3") },
            "{args:?}"
        );
    }
}

#[test]
fn stashes_are_put_away_and_taken() {
    let repo = Repo::new();
    let dirty = || {
        repo.write("f1", "dirty");
        repo.write("un", "untracked");
        repo.write("staged", "staged");
        repo.git(&["add", "staged"]);
    };
    dirty();
    let mut watched = repo.watch();
    watched.git(&["stash", "-q", "-u"]);
    watched.edit("f2", "by hand");
    let (happened, _) = watched.close();
    assert_eq!(happened.operations.len(), 1, "the reset is part of it: {happened:?}");
    repo.git(&["checkout", "-q", "f2"]);
    dirty();
    repo.git(&["stash", "drop", "-q"]);
    let mut watched = repo.watch();
    watched.git(&["stash", "-q", "-u"]);
    watched.edit("f2", "by hand");
    watched.edit("un2", "by hand");
    assert_eq!(watched.told(), told(&[Kind::Stash], "f1 staged un", "f2 un2"));
    repo.git(&["checkout", "-q", "f2"]);
    let mut watched = repo.watch();
    watched.git(&["stash", "pop", "-q"]);
    watched.edit("f3", "by hand");
    assert_eq!(watched.told(), told(&[Kind::StashPop], "f1 staged un", "f3"));
    repo.write("f1", "dirty once more");
    watched.git(&["stash", "push", "-q", "f1"]);
    watched.edit("f4", "by hand");
    assert_eq!(watched.told(), told(&[Kind::Stash], "f1", "f4"), "by name");
    watched.git(&["stash", "apply", "-q"]);
    assert_eq!(watched.told(), told(&[Kind::StashPop], "f1", ""), "applied");
    repo.git(&["checkout", "-q", "f1"]);
    let mut watched = repo.watch();
    watched.git(&["stash", "apply", "-q"]);
    watched.edit("f2", "by hand");
    assert_eq!(watched.told(), told(&[], "f1", "f2"), "applied once more; that is told nowhere");
    watched.git(&["stash", "drop", "-q"]);
    assert_eq!(watched.told(), told(&[], "", ""), "dropped");
    repo.git(&["reset", "-q", "--hard"]);
    repo.git(&["clean", "-qfd"]);
    repo.write("alone", "only untracked");
    repo.git(&["stash", "-q", "-u"]);
    let mut watched = repo.watch();
    watched.git(&["stash", "pop", "-q"]);
    assert_eq!(watched.told(), told(&[Kind::StashPop], "alone", ""), "nothing is merged");
}

/// Bug: the reset by which git stashes was told, because the stash was gone when the log was read.
#[test]
fn a_stash_that_was_taken_before_anybody_looked_is_no_reset() {
    let repo = Repo::new();
    let mut watched = repo.watch();
    for i in 0..5 {
        repo.write(&format!("f{i}"), "by hand");
    }
    repo.git(&["stash", "-q"]);
    repo.git(&["stash", "pop", "-q"]);
    assert_eq!(watched.told(), told(&[], "", "f0 f1 f2 f3 f4"));
    // A stash that is dropped loses the work.
    watched.edit("f0", "lost");
    repo.git(&["stash", "-q"]);
    repo.git(&["stash", "drop", "-q"]);
    let (happened, _) = watched.close();
    let kinds: Vec<Kind> = happened.operations.iter().map(|o| o.kind).collect();
    assert_eq!(kinds, [Kind::Stash]);
    assert!(happened.operations[0].subject.starts_with("WIP on main"), "{happened:?}");
    // A reset beside it is a reset.
    watched.edit("f1", "lost");
    repo.git_later(10, &["reset", "-q", "--hard"]);
    assert_eq!(watched.told().0, [Kind::Reset]);
}

#[test]
fn the_effect_of_a_reset_that_stays_at_its_commit_is_what_it_restored() {
    let repo = Repo::new();
    let mut watched = repo.watch();
    watched.edit("f0", "lost");
    watched.edit("f3", "lost");
    await_tick();
    repo.git(&["reset", "-q", "--hard"]);
    let (happened, _) = watched.close();
    let [reset] = &happened.operations[..] else { panic!("{happened:?}") };
    assert_eq!(watched.watch.effect_of(reset), (2, 2));
    watched.edit("f1", "stays");
    repo.git(&["add", "f1"]);
    await_tick();
    repo.git(&["reset", "-q"]);
    let (happened, _) = watched.close();
    let [reset] = &happened.operations[..] else { panic!("{happened:?}") };
    assert_eq!(watched.watch.effect_of(reset), (0, 0), "only the index changed");
}

#[test]
fn stashes_have_the_files_that_they_put_away_and_bring_back() {
    let repo = Repo::new();
    let mut watched = repo.watch();
    watched.edit("f0", "put away");
    watched.edit("f3", "put away");
    watched.git(&["stash", "-q"]);
    let made = watched.close().0.operations;
    assert_eq!(watched.watch.effect_of(&made[0]), (2, 2));
    assert_eq!(stashes(&repo.root), [made[0].to.clone().unwrap()]);
    watched.git(&["stash", "pop", "-q"]);
    let taken = watched.close().0.operations;
    assert_eq!((taken[0].kind, &taken[0].from), (Kind::StashPop, &made[0].to));
    assert_eq!(watched.watch.effect_of(&taken[0]), (2, 2));
    assert_eq!(stashes(&repo.root), Vec::<String>::new());
}

/// Bug: a squashed merge was told as edits by hand, because git leaves no trace of it once it is
/// committed.
#[test]
fn a_squashed_merge_that_is_committed_is_one_operation() {
    for is_removed in [false, true] {
        let repo = Repo::new();
        let mut watched = repo.watch();
        await_tick();
        repo.git(&["merge", "-q", "--squash", "side"]);
        repo.git(&["commit", "-q", "-m", "all of it"]);
        if is_removed {
            repo.git(&["checkout", "-q", "side"]);
            repo.git(&["checkout", "-q", "main"]);
            watched.watch = GitWatch::open(&repo.root).unwrap();
            repo.git(&["reset", "-q", "--hard", "HEAD~1"]);
            repo.git(&["merge", "-q", "--squash", "side"]);
            repo.git(&["commit", "-q", "-m", "all of it once more"]);
            repo.git(&["branch", "-q", "-D", "side"]);
        }
        watched.edit("f4", "by hand");
        let (happened, files) = watched.close();
        let merge = happened.operations.last().unwrap();
        assert_eq!((merge.kind, happened.commits.len()), (Kind::Merge, 0), "{happened:?}");
        assert!(merge.subject.starts_with("squash of side: all of it"), "{merge:?}");
        assert_eq!(merge.to, Some(repo.git(&["rev-parse", "HEAD"])));
        let of = |name: &str| files.iter().find(|(file, _)| file == name).map(|(_, by)| *by);
        assert_eq!([of("f3"), of("s"), of("f4")], [Some(Git), Some(Git), Some(Hand)]);
    }
}

#[test]
fn a_commit_by_hand_that_was_picked_elsewhere_is_no_squash() {
    let repo = Repo::new();
    let mut watched = repo.watch();
    watched.edit("f4", "by hand");
    watched.git(&["commit", "-q", "-am", "four"]);
    repo.git(&["checkout", "-q", "-b", "release", "HEAD~1"]);
    repo.git(&["cherry-pick", "main"]);
    repo.git(&["checkout", "-q", "-b", "after", "main"]);
    repo.git(&["commit", "-q", "--allow-empty", "-m", "nothing"]);
    repo.git(&["checkout", "-q", "main"]);
    let (happened, _) = watched.close();
    assert_eq!(happened.commits.len(), 2, "{happened:?}");
    assert!(happened.operations.iter().all(|o| o.kind != Kind::Merge), "{happened:?}");
}

/// Bug: an edit that git took back before it was recorded counted as a second change by git.
#[test]
fn former_versions_are_gits_if_git_has_put_them_there() {
    let repo = Repo::new();
    let mut watched = repo.watch();
    watched.git(&["checkout", "-q", "side"]);
    watched.git(&["checkout", "-q", "main"]);
    watched.close();
    let hash = |text: &str| Some(crate::source::sha256(text.as_bytes()));
    let former: [(PathBuf, Option<String>); 4] = [
        ("f3".into(), hash("side\n")),
        ("f3".into(), hash("by hand\n")),
        ("new".into(), None),
        ("f4".into(), None),
    ];
    assert_eq!(watched.watch.classify_former(&former), [Git, Hand, Git, Hand]);
}

#[test]
fn an_old_stash_that_is_dropped_is_no_operation() {
    let repo = Repo::new();
    for text in ["a", "b"] {
        repo.write("f1", text);
        repo.git(&["stash", "-q"]);
    }
    let mut watched = repo.watch();
    watched.edit("f2", "by hand");
    watched.git(&["stash", "drop", "-q"]);
    assert_eq!(watched.told(), told(&[], "", "f2"));
    watched.git(&["stash", "clear"]);
    assert_eq!(watched.told(), told(&[], "", ""));
}

#[test]
fn a_stash_that_conflicts() {
    let repo = Repo::new();
    repo.write("f1", "mine");
    repo.write("f4", "mine");
    repo.git(&["stash", "-q"]);
    repo.write("f1", "theirs");
    repo.commit("f1");
    let mut watched = repo.watch();
    watched.fails(&["stash", "pop", "-q"]);
    watched.edit("f2", "by hand");
    assert_eq!(watched.told(), told(&[Kind::StashPop], "f1 f4", "f2"));
}

#[test]
fn merges_fast_clean_and_with_conflicts() {
    let repo = Repo::new();
    let mut watched = repo.watch();
    watched.git(&["merge", "-q", "side"]);
    watched.edit("f4", "by hand");
    assert_eq!(watched.told(), told(&[Kind::Merge], "f3 s", "f4"));
    repo.git(&["checkout", "-q", "f4"]);
    let mut watched = repo.watch();
    watched.fails(&["merge", "-q", "conf"]);
    assert!(repo.git(&["ls-files", "-u"]).contains("f0"));
    watched.edit("f2", "by hand");
    assert_eq!(
        watched.told(),
        told(&[Kind::Merge], "f0 f4", "f2"),
        "with the marks of the conflict"
    );
    watched.edit("f0", "solved");
    assert_eq!(watched.told(), told(&[], "", "f0"), "in the same window");
    watched.git(&["commit", "-q", "-am", "merged"]);
    let (happened, _) = watched.close();
    assert_eq!(
        (happened.operations.len(), happened.commits[0].subject.as_str()),
        (0, "commit (merge): merged")
    );
    repo.git(&["checkout", "-q", "-b", "old", "main~1"]);
    let mut watched = repo.watch();
    watched.git(&["merge", "-q", "main"]);
    assert_eq!(watched.told(), told(&[Kind::Merge], "f0 f2 f4", ""), "fast");
}

#[test]
fn a_merge_whose_conflict_is_solved_and_committed_at_once() {
    let repo = Repo::new();
    let mut watched = repo.watch();
    watched.fails(&["merge", "-q", "conf"]);
    watched.edit("f0", "solved");
    watched.git(&["commit", "-q", "-am", "merged"]);
    assert_eq!(watched.told(), told(&[Kind::Merge], "f4", "f0"));
}

#[test]
fn merges_that_are_not_committed_and_given_up() {
    let repo = Repo::new();
    let mut watched = repo.watch();
    watched.git(&["merge", "-q", "--squash", "side"]);
    watched.edit("f4", "by hand");
    watched.git(&["add", "f4"]);
    assert_eq!(watched.told(), told(&[Kind::Merge], "f3 s", "f4"), "squashed");
    repo.git(&["reset", "-q", "--hard"]);
    let mut watched = repo.watch();
    watched.fails(&["merge", "-q", "conf"]);
    watched.git(&["merge", "--abort"]);
    watched.edit("f2", "by hand");
    assert_eq!(watched.told(), told(&[Kind::Reset], "f0 f4", "f2"), "given up");
}

#[test]
fn rebases_fast_in_progress_and_over() {
    let repo = Repo::new();
    repo.git(&["checkout", "-q", "side"]);
    let mut watched = repo.watch();
    watched.git(&["rebase", "-q", "main"]);
    watched.edit("f4", "by hand");
    let (happened, changed) = watched.close();
    let [rebase] = &happened.operations[..] else { panic!("{happened:?}") };
    assert_eq!(
        (rebase.kind, rebase.subject.as_str()),
        (Kind::Rebase, "rebase (finish): returning to refs/heads/side")
    );
    assert_eq!(rebase.from, Some(repo.git(&["rev-parse", "side@{1}"])), "from where it started");
    assert_eq!(rebase.to, Some(repo.git(&["rev-parse", "side"])));
    let hand: Vec<_> = changed.iter().filter(|c| c.1 == Hand).map(|c| c.0.as_str()).collect();
    assert_eq!((changed.len(), hand), (8, vec!["f4"]));

    repo.git(&["reset", "-q", "--hard"]);
    repo.git(&["checkout", "-q", "conf"]);
    let mut watched = repo.watch();
    watched.fails(&["rebase", "-q", "main"]);
    watched.edit("f3", "by hand");
    assert_eq!(watched.told(), told(&[Kind::Rebase], "f0 f1 f2 f4 f5 new", "f3"), "in progress");
    repo.git(&["checkout", "-q", "f3"]);
    let position = watched.watch.position();
    assert!(
        GitWatch::open_at(&repo.root, &position).is_some(),
        "it can be opened in the middle of it"
    );
    watched.before = files(&repo.root);
    watched.edit("f0", "solved");
    watched.git(&["add", "f0"]);
    watched.git(&["rebase", "--continue"]);
    assert_eq!(watched.told(), told(&[Kind::Rebase], "", "f0"), "solved by hand");

    repo.git(&["checkout", "-q", "-b", "conf2", "conf@{2}"]);
    repo.git(&["reset", "-q", "--hard", "main~1"]);
    repo.write("f0", "other\n");
    repo.commit("other");
    let mut watched = repo.watch();
    watched.fails(&["rebase", "-q", "main"]);
    watched.git(&["rebase", "--abort"]);
    assert_eq!(watched.told(), told(&[Kind::Rebase], "f0 f1 f2 f5", ""), "given up");
}

#[test]
fn pulls_fast_merged_and_rebased() {
    let repo = Repo::new();
    let (top, bare) = (&repo.top, repo.top.join("u.git"));
    git(top, &["clone", "-q", "--bare", "r", "u.git"]);
    git(top, &["clone", "-q", "u.git", "other"]);
    git(top, &["clone", "-q", "u.git", "mine"]);
    let (other, mine) = (top.join("other"), top.join("mine"));
    let upstream = |name: &str| {
        write(&other, name, "upstream\n");
        git(&other, &["add", "-A"]);
        git(&other, &["commit", "-q", "-m", name]);
        git(&other, &["push", "-q"]);
    };
    assert!(bare.exists());
    upstream("f4");
    let mut watched = Watched::at(&mine);
    watched.git(&["pull", "-q"]);
    watched.edit("f1", "by hand");
    assert_eq!(watched.told(), told(&[Kind::Pull], "f4", "f1"), "fast");
    git(&mine, &["commit", "-q", "-am", "mine"]);
    upstream("f2");
    let mut watched = Watched::at(&mine);
    watched.git(&["pull", "-q", "--no-rebase", "--no-edit"]);
    watched.edit("f3", "by hand");
    assert_eq!(watched.told(), told(&[Kind::Pull], "f2", "f3"), "merged");
    git(&mine, &["commit", "-q", "-am", "mine too"]);
    upstream("up");
    let mut watched = Watched::at(&mine);
    watched.git(&["pull", "-q", "--rebase"]);
    watched.edit("f0", "by hand");
    let (kinds, git, hand) = watched.told();
    assert_eq!((kinds, hand.as_str()), (vec![Kind::Pull], "f0"), "rebased");
    assert!(git.contains("up"), "{git}");
}

#[test]
fn cherry_picks_and_reverts() {
    let repo = Repo::new();
    let mut watched = repo.watch();
    watched.git(&["cherry-pick", "side"]);
    watched.edit("f4", "by hand");
    assert_eq!(watched.told(), told(&[Kind::CherryPick], "f3 s", "f4"));
    repo.git(&["checkout", "-q", "f4"]);
    let mut watched = repo.watch();
    watched.git(&["revert", "--no-edit", "HEAD~1"]);
    watched.edit("f4", "by hand");
    assert_eq!(watched.told(), told(&[Kind::Revert], "f0 f1 f2 f5 new", "f4"));
    repo.git(&["reset", "-q", "--hard", "HEAD~1"]);
    let mut watched = repo.watch();
    watched.fails(&["cherry-pick", "conf"]);
    watched.edit("f2", "by hand");
    assert_eq!(watched.told(), told(&[Kind::CherryPick], "f0 f4", "f2"), "with conflicts");
    watched.git(&["checkout", "-q", "--ours", "f0"]);
    assert_eq!(watched.told(), told(&[], "f0", ""), "one side of it");
    repo.git(&["cherry-pick", "--quit"]);
    repo.git(&["reset", "-q", "--hard"]);
    let mut watched = repo.watch();
    watched.git(&["revert", "-n", "HEAD"]);
    watched.edit("f2", "by hand");
    assert_eq!(watched.told(), told(&[Kind::Revert], "f3 s", "f2"), "not committed");
}

#[test]
fn a_linked_work_tree_is_watched_by_itself() {
    let repo = Repo::new();
    let linked = repo.top.join("linked");
    let mut main = repo.watch();
    main.git(&["worktree", "add", "-q", linked.to_str().unwrap(), "-b", "linked"]);
    assert_eq!(main.told(), told(&[], "", ""), "it changes nothing here");
    let mut watched = Watched::at(&linked);
    let own = repo.root.join(".git/worktrees/linked");
    assert_eq!(watched.watch.directories()[..2], [own.clone(), own.join("logs")]);
    assert!(watched.watch.is_relevant(&own.join("index.lock")));
    assert!(watched.watch.is_relevant(&repo.root.join(".git/refs/stash")));
    assert!(
        !watched.watch.is_relevant(&repo.root.join(".git/index")),
        "that is another work tree's"
    );
    watched.git(&["reset", "-q", "--hard", "HEAD~1"]);
    watched.edit("f3", "by hand");
    assert_eq!(watched.told(), told(&[Kind::Reset], "f0 f1 f2 f5 new", "f3"));
    assert_eq!(main.told(), told(&[], "", ""));
    watched.git(&["stash", "-q"]);
    assert_eq!(watched.told(), told(&[Kind::Stash], "f3", ""));
    assert_eq!(main.told(), told(&[], "", ""), "the stash is shared, but it was not made here");
    main.git(&["stash", "pop", "-q"]);
    assert_eq!(main.told(), told(&[Kind::StashPop], "f3", ""));
    assert_eq!(watched.told(), told(&[], "", ""), "it was not taken here");
}

#[test]
fn files_that_git_did_not_know_are_removed_by_hand() {
    let repo = Repo::new();
    repo.write("un", "untracked");
    repo.write("un2", "untracked");
    let mut watched = repo.watch();
    watched.fails(&["merge", "-q", "conf"]);
    fs::remove_file(repo.root.join("un")).unwrap();
    assert_eq!(watched.told(), told(&[Kind::Merge], "f0 f4", "un"), "during a merge");
    repo.git(&["reset", "-q", "--hard"]);
    repo.write("f1", "dirty");
    let mut watched = repo.watch();
    watched.git(&["stash", "-q"]);
    fs::remove_file(repo.root.join("un2")).unwrap();
    fs::remove_file(repo.root.join("f2")).unwrap();
    assert_eq!(
        watched.told(),
        told(&[Kind::Stash], "f1", "f2 un2"),
        "during a stash, also one that it has"
    );
}

#[test]
fn a_reset_that_leaves_the_files_alone_takes_none_of_them() {
    let repo = Repo::new();
    let mut watched = repo.watch();
    watched.edit("f1", "by hand");
    watched.git(&["commit", "-q", "-am", "c"]);
    watched.git(&["reset", "-q", "--soft", "HEAD"]);
    assert_eq!(watched.told(), told(&[Kind::Reset], "", "f1"));
    watched.edit("f1", "by hand once more");
    watched.git(&["commit", "-q", "-am", "d"]);
    watched.git(&["reset", "-q", "HEAD~1"]);
    assert_eq!(watched.told(), told(&[Kind::Reset], "", "f1"));
}

#[test]
fn a_submodule_is_a_repository_of_its_own() {
    let (inner, outer) = (Repo::new(), Repo::new());
    outer.git(&["submodule", "--quiet", "add", inner.root.to_str().unwrap(), "sub"]);
    outer.commit("sub");
    let sub = outer.root.join("sub");
    let mut watched = Watched::at(&sub);
    assert_eq!(watched.watch.directories()[0], outer.root.join(".git/modules/sub"));
    watched.git(&["checkout", "-q", "HEAD~1"]);
    watched.edit("f3", "by hand");
    assert_eq!(watched.told(), told(&[Kind::Checkout], "f0 f1 f2 f5 new", "f3"));
    git(&sub, &["checkout", "-q", "f3"]);
    watched.before = files(&sub);
    git(&outer.root, &["submodule", "--quiet", "update"]);
    watched.edit("f4", "by hand");
    assert_eq!(
        watched.told(),
        told(&[Kind::Checkout], "f0 f1 f2 f5 new", "f4"),
        "by the one around it"
    );
}

#[test]
fn a_filter_of_the_repository_is_no_program_that_is_run() {
    for ending in ["clean", "process"] {
        let repo = Repo::new();
        let marker = repo.root.join(".git/marker");
        repo.git(&["config", "filter.up.required", "true"]);
        repo.git(&[
            "config",
            &format!("filter.up.{ending}"),
            &format!("touch {}; cat", marker.display()),
        ]);
        repo.write(".git/info/attributes", "* filter=up\n");
        repo.write("f1", "dirty");
        let mut watched = repo.watch();
        fs::rename(repo.root.join(".git/info/attributes"), repo.root.join(".git/info/aside"))
            .unwrap();
        watched.git(&["reset", "-q", "--hard"]);
        fs::rename(repo.root.join(".git/info/aside"), repo.root.join(".git/info/attributes"))
            .unwrap();
        watched.edit("f3", "by hand");
        assert_eq!(watched.told(), told(&[Kind::Reset], "f1", "f3"));
        assert!(!marker.exists(), "{ending}");
    }
}

#[test]
fn line_ends_differ_on_disk() {
    let repo = Repo::new();
    repo.git(&["config", "core.autocrlf", "true"]);
    repo.write("f1", "dirty");
    repo.write("f2", "two 2\r\n");
    let mut watched = repo.watch();
    watched.git(&["reset", "-q", "--hard"]);
    watched.edit("f3", "by hand\r\n");
    assert!(fs::read_to_string(repo.root.join("f1")).unwrap().starts_with("two 1\r\n"));
    assert_eq!(watched.told(), told(&[Kind::Reset], "f1 f2", "f3"));
    // Line ends that were committed as they are stay as they are.
    repo.git(&["config", "core.autocrlf", "false"]);
    repo.write("crlf", "a\r\nb\r\n");
    repo.commit("crlf");
    repo.git(&["config", "core.autocrlf", "true"]);
    repo.write("crlf", "dirty");
    let mut watched = repo.watch();
    watched.git(&["reset", "-q", "--hard"]);
    watched.edit("f3", "x\r\n");
    let (_, git, hand) = watched.told();
    assert!(git.contains("crlf") && hand == "f3", "{git:?} {hand:?}");
}

#[test]
fn names_may_hold_any_bytes() {
    let repo = Repo::empty();
    let names: [&[u8]; 9] = [
        b"a b",
        b"line\nfeed",
        b"\"quoted\"",
        b"back\\slash",
        "ä/ö ü".as_bytes(),
        b"bytes\xff\xfe",
        b"-dash",
        b"tab\tand\rreturn",
        b":colon: missing",
    ];
    let path = |name: &[u8]| PathBuf::from(OsStr::from_bytes(name));
    for name in names {
        write(&repo.root, path(name), "one");
    }
    repo.commit("one");
    for odd in [true, false] {
        for name in names {
            write(&repo.root, path(name), "dirty");
        }
        let mut watched = repo.watch();
        watched.git(&["reset", "-q", "--hard"]);
        watched.watch.operations();
        let of = |names: &[&[u8]]| {
            names.iter().map(|n| ChangedFile { path: path(n), exists: true }).collect::<Vec<_>>()
        };
        let asked: Vec<&[u8]> =
            names.into_iter().filter(|n| odd || !n.iter().any(u8::is_ascii_control)).collect();
        assert_eq!(watched.watch.classify(&of(&asked)), vec![Git; asked.len()]);
        for name in names {
            write(&repo.root, path(name), "by hand");
        }
        assert_eq!(watched.watch.classify(&of(&asked)), vec![Hand; asked.len()]);
    }
    // Now the change comes by a step from commit to commit.
    repo.commit("two");
    let mut watched = repo.watch();
    watched.git(&["reset", "-q", "--hard", "HEAD~1"]);
    let (_, changed) = watched.close();
    assert_eq!((changed.len(), changed.iter().filter(|c| c.1 == Git).count()), (9, 9));
}

#[test]
fn links_and_files_that_cannot_be_read() {
    let repo = Repo::new();
    symlink("f0", repo.root.join("link")).unwrap();
    symlink("nowhere", repo.root.join("broken")).unwrap();
    repo.commit("links");
    for name in ["link", "broken"] {
        fs::remove_file(repo.root.join(name)).unwrap();
        symlink("elsewhere", repo.root.join(name)).unwrap();
    }
    repo.write("f1", "dirty");
    let mut watched = repo.watch();
    watched.git(&["reset", "-q", "--hard"]);
    fs::remove_file(repo.root.join("f2")).unwrap();
    symlink("by hand", repo.root.join("f2")).unwrap();
    assert_eq!(watched.told(), told(&[Kind::Reset], "broken f1 link", "f2"));
    // A file that is gone when git looks must not hide the files after it.
    let changed = ["f0", "gone", "f1"].map(|n| ChangedFile { path: n.into(), exists: true });
    assert_eq!(watched.watch.classify(&changed), [Git, Hand, Git]);
}

#[test]
fn a_repository_without_a_commit_and_its_first_one() {
    let repo = Repo::empty();
    let mut watched = repo.watch();
    watched.edit("a", "a");
    assert_eq!(watched.told(), told(&[], "", "a"));
    watched.git(&["add", "a"]);
    watched.git(&["commit", "-q", "-m", "first"]);
    watched.edit("b", "b");
    let (happened, files) = watched.close();
    assert_eq!(happened.operations, []);
    assert_eq!(happened.commits[0].subject, "commit (initial): first");
    assert_eq!(files, [("b".to_string(), Hand)]);
    watched.edit("a", "dirty");
    watched.before = self::files(&repo.root);
    watched.git(&["reset", "-q", "--hard"]);
    assert_eq!(watched.told(), told(&[Kind::Reset], "a", ""));
}

#[test]
fn hashes_may_be_longer() {
    let repo = Repo::with(&["--object-format=sha256"]).filled();
    let mut watched = repo.watch();
    watched.git(&["checkout", "-q", "side"]);
    watched.edit("f4", "by hand");
    assert_eq!(watched.told(), told(&[Kind::Checkout], "f0 f1 f2 f3 f5 new s", "f4"));
    let position = watched.watch.position();
    repo.git(&["checkout", "-q", "-f", "main"]);
    let happened = GitWatch::open_at(&repo.root, &position).unwrap().operations();
    assert_eq!(happened.operations[0].to.as_ref().map(String::len), Some(64));
}

#[test]
fn a_folder_of_a_repository() {
    let repo = Repo::empty();
    repo.write("in/a", "a");
    repo.write("in/b", "b");
    repo.write("a", "other");
    repo.write("b", "other");
    repo.commit("one");
    repo.write("in/a", "dirty");
    let mut watched = Watched::at(&repo.root.join("in"));
    watched.git(&["reset", "-q", "--hard"]);
    watched.edit("b", "other");
    assert_eq!(watched.told(), told(&[Kind::Reset], "a", "b"));
}

#[test]
fn packed_references_and_no_reflog() {
    let repo = Repo::new();
    repo.git(&["pack-refs", "--all"]);
    repo.git(&["config", "core.logAllRefUpdates", "false"]);
    fs::remove_dir_all(repo.root.join(".git/logs")).unwrap();
    let mut watched = repo.watch();
    assert_eq!(watched.watch.head, Some(repo.git(&["rev-parse", "HEAD"])));
    watched.git(&["checkout", "-q", "side"]);
    watched.edit("f4", "by hand");
    assert_eq!(watched.told(), told(&[Kind::Other], "f0 f1 f2 f3 f5 new s", "f4"));
    watched.edit("f3", "by hand");
    watched.git(&["commit", "-q", "-am", "c"]);
    let (happened, changed) = watched.close();
    assert_eq!((happened.operations.len(), happened.commits.len()), (0, 1));
    assert_eq!(changed, [("f3".to_string(), Hand)]);
}

#[test]
fn what_git_did_while_nothing_ran() {
    let repo = Repo::new();
    let watched = repo.watch();
    let position = watched.watch.position();
    repo.git(&["checkout", "-q", "side"]);
    repo.write("f4", "by hand\n");
    repo.git(&["commit", "-q", "-am", "four"]);
    let before = watched.before.clone();
    let again = |position: &str| Watched {
        root: repo.root.clone(),
        watch: GitWatch::open_at(&repo.root, position).unwrap(),
        before: before.clone(),
    };
    assert_eq!(again(&position).told(), told(&[Kind::Checkout], "f0 f1 f2 f3 f5 new s", "f4"));
    let mut late = again(&position);
    assert_eq!(late.close().0.commits.len(), 1);
    assert_eq!(late.watch.operations(), Happened::default(), "told once");
    assert_eq!(
        again(&late.watch.position()).watch.operations(),
        Happened::default(),
        "and not again later"
    );
    assert_eq!(
        again("what").watch.operations(),
        Happened::default(),
        "a position that cannot be read"
    );

    // The reflog is rewritten: with the same lines, with fewer, with none.
    let position = late.watch.position();
    repo.git(&["gc", "-q"]);
    assert_eq!(again(&position).watch.operations(), Happened::default(), "gc");
    repo.git(&["reflog", "delete", "--rewrite", "HEAD@{3}"]);
    repo.git(&["reflog", "delete", "--rewrite", "HEAD@{1}"]);
    assert_eq!(again(&position).watch.operations(), Happened::default(), "lines before are gone");
    repo.git(&["reset", "-q", "--hard", "main"]);
    assert_eq!(again(&position).watch.operations().operations.len(), 1, "and there is a new one");
    repo.git(&["reflog", "delete", "HEAD@{1}"]);
    repo.git_later(10, &["checkout", "-q", "conf"]);
    let found = again(&position).watch.operations().operations;
    assert_eq!(
        found.last().map(|o| o.kind),
        Some(Kind::Checkout),
        "the line it was at is gone: {found:?}"
    );
    let position = again(&position).watch.position();
    repo.git(&["reflog", "expire", "--expire=now", "--all"]);
    let mut watch = again(&position).watch;
    watch.operations();
    assert_eq!(watch.operations(), Happened::default(), "no line is left");
    repo.git_later(20, &["checkout", "-q", "main"]);
    assert_eq!(watch.operations().operations.len(), 1);
}

#[test]
fn stashes_that_were_taken_while_nothing_ran() {
    let repo = Repo::new();
    repo.write("f1", "dirty");
    repo.git(&["stash", "-q"]);
    let mut watched = repo.watch();
    let position = watched.watch.position();
    repo.git(&["stash", "pop", "-q"]);
    watched.watch = GitWatch::open_at(&repo.root, &position).unwrap();
    assert_eq!(watched.told(), told(&[Kind::StashPop], "f1", ""));
}

#[test]
fn paths_that_say_something() {
    let repo = Repo::new();
    let watch = repo.watch().watch;
    let dot_git = repo.root.join(".git");
    for name in [
        "index.lock", "index", "HEAD", "HEAD.lock", "ORIG_HEAD", "logs/HEAD", "AUTO_MERGE",
        "refs/stash", "logs/refs/stash", "rebase-merge",
    ] {
        assert!(watch.is_relevant(&dot_git.join(name)), "{name}");
    }
    for name in [
        "COMMIT_EDITMSG", "FETCH_HEAD", "objects", "config", "description", "refs/heads",
        "index.stash.7",
    ] {
        assert!(!watch.is_relevant(&dot_git.join(name)), "{name}");
    }
    assert!(!watch.is_relevant(&repo.root.join("HEAD")), "a file of the tree");
    assert_eq!(watch.directories(), ["", "logs", "refs", "logs/refs"].map(|d| dot_git.join(d)));
}
