//! What one project of a user parsed is known to the others by its content, and gives the same index.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::project::{CHUNK_FILES, Project, copy_tree, run, without_stamps};

/// A user with several projects: the cache is that of the first.
struct User(Project);

impl User {
    fn new() -> Self {
        Self(Project::new())
    }

    fn cache(&self) -> PathBuf {
        self.0.home().join(".cache")
    }

    fn database(&self) -> PathBuf {
        self.cache().join("cortex/store/known-1.db")
    }

    fn indexing(&self, p: &Project) -> Command {
        let mut command = p.cortex(&["index", "--json"]);
        command.env("XDG_CACHE_HOME", self.cache());
        command
    }

    fn index(&self, p: &Project) -> Value {
        serde_json::from_str(&run(&mut self.indexing(p)).expect(0).stdout).unwrap()
    }
}

/// Creates a project with files in every language.
fn polyglot() -> Project {
    let p = Project::new();
    for folder in ["src/languages", "src/index", "specs"] {
        fs::create_dir_all(p.path(folder)).unwrap();
        copy_tree(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &p.path(folder));
    }
    p.write("Cargo.toml", "[package]\nname = \"poly\"\n");
    p.write("secret.py", "token = \"ghp_0123456789abcdefghijABCDEFGHIJ012345\"\n");
    // The same bytes, but other paths: another language, another id, a test.
    for path in ["kettle.h", "kettle.hpp", "tests/kettle.h", "vendor/kettle.h"] {
        p.write(path, "struct Kettle { int cups; };\nint pour(struct Kettle *k);\n");
    }
    p.write("latin.c", b"/* caf\xe9 */ int pour(void) { return 1; }\n");
    p
}

/// Creates a project of the same files.
fn second(p: &Project) -> Project {
    let other = Project::new();
    copy_tree(&p.root(), &other.root());
    let _ = fs::remove_dir_all(other.path(".cortex"));
    other
}

/// Returns everything that an index says: chunks, files and the rows of the graph.
fn state(p: &Project) -> (Vec<String>, BTreeMap<String, Value>, Vec<String>) {
    let table: Value = serde_json::from_str(&p.read(".cortex/cache/sources.json")).unwrap();
    let mut files: BTreeMap<String, Value> =
        serde_json::from_value(table["files"].clone()).unwrap();
    for file in files.values_mut() {
        for stamp in ["modified_ns", "changed_ns"] {
            file.as_object_mut().unwrap().remove(stamp);
        }
    }
    let graph = rusqlite::Connection::open(p.path(".cortex/graph/code-graph.db")).unwrap();
    let mut rows = Vec::new();
    for table in ["files", "symbols", "refs", "imports", "bindings", "implementations"] {
        let mut statement =
            graph.prepare(&format!("SELECT * FROM {table} ORDER BY 1, 2, 3, 4")).unwrap();
        let n = statement.column_count();
        let row = |r: &rusqlite::Row| {
            let cells: rusqlite::Result<Vec<rusqlite::types::Value>> =
                (0..n).map(|i| r.get(i)).collect();
            Ok(format!("{table} {:?}", cells?))
        };
        rows.extend(statement.query_map([], row).unwrap().map(Result::unwrap));
    }
    (p.timeless(), files, rows)
}

#[track_caller]
fn assert_same(one: &Project, other: &Project) {
    let (one, other) = (state(one), state(other));
    assert!(one.2.len() > 10, "the graph has rows");
    assert_eq!(one.1, other.1, "files");
    assert!(one.0 == other.0, "chunks differ");
    assert!(one.2 == other.2, "rows of the graph differ");
}

#[test]
fn a_second_worktree_parses_nothing_and_gets_the_same_index() {
    let user = User::new();
    let p = polyglot();
    let first = user.index(&p);
    assert_eq!(first["n_known"], 0);
    let worktree = second(&p);
    let summary = user.index(&worktree);
    assert_eq!(summary["n_known"], first["n_parsed"], "{summary}");
    assert_eq!(summary["n_parsed"], 0, "{summary}");
    assert_same(&p, &worktree);
    // A user who wants every file parsed gets that, and those who want no store have none.
    assert_eq!(
        run(user.indexing(&worktree).arg("--full"))
            .expect(0)
            .stdout
            .matches("\"n_known\": 0")
            .count(),
        1
    );
    assert_same(&p, &worktree);
    let third = second(&p);
    let none = run(user.indexing(&third).env("CORTEX_INDEX_KNOWN_MB", "0")).expect(0);
    assert!(none.stdout.contains("\"n_known\": 0"), "{}", none.stdout);
    assert_same(&p, &third);
}

#[test]
fn a_branch_that_comes_back_parses_nothing() {
    let p = Project::new();
    for i in 0..30 {
        p.write(
            format!("src/part{i}.rs"),
            format!("/// Boils.\nfn kettle_{i}() {{ pour_{i}() }}\n"),
        );
    }
    p.git(&["init", "-q"]);
    p.write(".gitignore", ".cortex\n");
    p.commit("one");
    p.index();
    let one = state(&p);
    p.git(&["checkout", "-q", "-b", "other"]);
    for i in 0..20 {
        p.write(
            format!("src/part{i}.rs"),
            format!("/// Cools.\nfn kettle_{i}() {{ drain_{i}() }}\n"),
        );
    }
    p.commit("two");
    assert_eq!(p.index()["n_parsed"], 20);
    for branch in ["main", "other", "main"] {
        p.git(&["checkout", "-q", branch]);
        let summary = p.index();
        assert_eq!(
            (&summary["n_parsed"], &summary["n_known"]),
            (&0.into(), &20.into()),
            "{branch}"
        );
    }
    assert_eq!(state(&p).0, one.0);
}

#[test]
fn a_damaged_store_costs_only_time() {
    let user = User::new();
    let p = Project::new();
    for i in 0..80 {
        p.write(
            format!("src/part{i}.rs"),
            format!("/// Boils {i}.\nfn kettle_{i}() {{ pour_{i}() }}\n"),
        );
    }
    user.index(&p);
    let whole = fs::read(user.database()).unwrap();
    for step in 0..6 {
        let mut bytes = whole.clone();
        match step {
            0 => bytes.truncate(whole.len() / 3),
            1 => bytes.fill(0),
            2 => bytes.clear(),
            _ => (0..200 * step).for_each(|_| {
                let at = fastrand::usize(4096..bytes.len());
                bytes[at] = fastrand::u8(..);
            }),
        }
        fs::write(user.database(), bytes).unwrap();
        let worktree = second(&p);
        user.index(&worktree);
        assert_same(&p, &worktree);
    }
}

#[test]
fn two_indexers_at_once_give_the_same_index() {
    let user = User::new();
    let (p, expected) = (polyglot(), polyglot());
    expected.index();
    let q = second(&p);
    let children: Vec<_> = [&p, &q]
        .map(|p| user.indexing(p).stdout(std::process::Stdio::null()).spawn().unwrap())
        .into();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert_same(&p, &expected);
    assert_same(&q, &expected);
}

#[test]
fn a_store_behind_a_link_is_not_used() {
    let user = User::new();
    let p = polyglot();
    user.index(&p);
    let stolen = user.0.home().join("stolen");
    fs::rename(user.cache().join("cortex/store"), &stolen).unwrap();
    std::os::unix::fs::symlink(&stolen, user.cache().join("cortex/store")).unwrap();
    let worktree = second(&p);
    assert_eq!(user.index(&worktree)["n_known"], 0);
    assert_same(&p, &worktree);
}

/// A repository with a linked working tree at another commit, in the folder `linked` of the home.
fn with_worktree() -> (Project, PathBuf) {
    let p = Project::sample();
    p.git(&["init", "-q"]);
    p.commit("first");
    p.write("src/late.rs", "pub fn arrive_late() {}\n");
    fs::remove_file(p.path("docs/guide.md")).unwrap();
    p.commit("second");
    p.index();
    p.run(&["graph", "callers", "retry_with_backoff"]);
    let linked = p.home().join("linked");
    p.git(&["worktree", "add", "-q", "--detach", linked.to_str().unwrap(), "HEAD~1"]);
    (p, linked)
}

fn index_at(p: &Project, root: &Path) -> Value {
    let args = ["index", "--json", root.to_str().unwrap()];
    serde_json::from_str(&run(&mut p.cortex(&args)).expect(0).stdout).unwrap()
}

/// A new working tree of an indexed repository is indexed as far as it differs.
#[test]
fn a_new_worktree_begins_with_the_index_of_another() {
    let (p, linked) = with_worktree();
    let summary = index_at(&p, &linked);
    let n = |name: &str| summary[name].as_u64().unwrap_or_else(|| panic!("{summary}"));
    // The guide is parsed, the late file is removed, and the others are only hashed.
    assert_eq!((n("n_parsed") + n("n_known"), n("n_removed")), (1, 1), "{summary}");
    let lines = || {
        let chunks = linked.join(".cortex/chunks");
        CHUNK_FILES.map(|name| {
            let text = fs::read_to_string(chunks.join(name)).unwrap();
            text.lines().map(|l| without_stamps(l).to_string()).collect::<Vec<_>>()
        })
    };
    let begun = lines();
    fs::remove_dir_all(linked.join(".cortex")).unwrap();
    fs::remove_dir_all(p.path(".cortex")).unwrap();
    index_at(&p, &linked);
    assert_eq!(begun, lines(), "as if nothing had been taken");
}

#[test]
fn what_differs_between_worktrees_is_no_edit() {
    let (p, linked) = with_worktree();
    let at = linked.to_str().unwrap();
    run(&mut p.cortex(&["memory", "add", "harbour", "--project", at])).expect(0);
    index_at(&p, &linked);
    let found = run(&mut p.cortex(&["memory", "list", "--json", "--project", at])).stdout;
    assert!(found.contains("harbour") && !found.contains("late.rs"), "{found}");
    // All working trees of a repository have the same memories.
    run(&mut p.cortex(&["memory", "add", "lighthouse"])).expect(0);
    let found = run(&mut p.cortex(&["memory", "list", "--json", "--project", at])).stdout;
    assert!(found.contains("lighthouse") && !found.contains("late.rs"), "{found}");
}

/// A folder from an archive that claims to be a working tree of a private repository takes nothing.
#[test]
fn a_forged_worktree_takes_no_index() {
    let (p, linked) = with_worktree();
    let forged = p.home().join("forged");
    fs::create_dir_all(forged.join("src")).unwrap();
    fs::write(forged.join("src/a.rs"), "pub fn own() {}\n").unwrap();
    fs::copy(linked.join(".git"), forged.join(".git")).unwrap();
    let summary = index_at(&p, &forged);
    assert_eq!(summary["n_parsed"], 1, "{summary}");
    assert!(summary["n_removed"].as_u64().unwrap_or_default() == 0, "{summary}");
}

/// Bytes that are not those of the manifest are not taken, and nothing is left of the attempt.
#[test]
fn a_damaged_index_of_another_worktree_is_not_taken() {
    let (p, linked) = with_worktree();
    let file = p.path(".cortex/chunks/code-definitions.json");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replacen("retry", "steal", 1)).unwrap();
    let summary = index_at(&p, &linked);
    assert_eq!(summary["n_files"], 4, "{summary}");
    let chunks = fs::read_to_string(linked.join(".cortex/chunks/code-definitions.json")).unwrap();
    assert!(!chunks.contains("steal"));
}
