//! Processes that are killed at any moment, and several at once: a reader sees the complete old
//! index or the complete new one.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::project::{CHUNK_FILES, Project, Random};

/// Number of files of a tree of one generation, and the word that all of them hold.
const N_FILES: usize = 24;

/// Writes every file again with the number of its generation.
fn plant(p: &Project, generation: usize) {
    for i in 0..N_FILES {
        let filler = "    // It takes some lines to fill a file.\n".repeat(i + generation % 7);
        let text = match i % 3 {
            0 => format!("/// milestone tree {generation} end\npub fn open_{i}() {{\n{filler}}}\n"),
            1 => format!("# Part {i}\n\nmilestone tree {generation} end\n\n{filler}\n"),
            _ => format!(
                "[part{i}]\nnote = \"milestone tree {generation} end\"\n{}",
                filler.replace("//", "#")
            ),
        };
        p.write(format!("part{i}.{}", ["rs", "md", "toml"][i % 3]), text);
    }
}

/// Returns the generation that a search finds. The search must find all files, all of one
/// generation, with a valid index.
fn generation(p: &Project, args: &[&str]) -> usize {
    let reply = p.json(&[&["search", "--exact", "milestone", "-n", "100"], args].concat());
    let of = |r: &Value| {
        let text = r["text"].as_str().unwrap();
        let number = text.split("milestone tree ").nth(1).and_then(|t| t.split(' ').next());
        number.and_then(|n| n.parse().ok()).unwrap_or_else(|| panic!("no generation in {r}"))
    };
    let results = reply["results"].as_array().unwrap();
    let generations: BTreeSet<usize> = results.iter().map(of).collect();
    assert_eq!(
        (results.len(), generations.len()),
        (N_FILES, 1),
        "{generations:?}, {:?}",
        reply["warnings"]
    );
    assert!(reply.get("warnings").is_none(), "{}", reply["warnings"]);
    generations.into_iter().next().unwrap()
}

fn spawn(p: &Project, args: &[&str]) -> Child {
    p.cortex(args).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Kills the child (SIGKILL), unless it has ended.
fn kill(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Waits until a condition holds; returns false if the child ended first.
fn wait_until(child: &mut Child, mut holds: impl FnMut() -> bool) -> bool {
    let deadline = Instant::now() + Duration::from_mins(1);
    loop {
        if holds() {
            return true;
        }
        if child.try_wait().unwrap().is_some() {
            return false;
        }
        assert!(Instant::now() < deadline, "nothing happens");
        std::thread::yield_now();
    }
}

fn chunk_path(p: &Project, name: &str) -> PathBuf {
    p.path(".cortex/chunks").join(name)
}

fn assert_fresh(p: &Project) {
    assert!(
        p.timeless() == p.fresh_copy().timeless(),
        "the repaired index differs from a fresh one"
    );
}

/// `kill -9` at any moment of an index run: every chunk file is valid JSON, a search finds the
/// complete old or the complete new tree, and the next run makes the index what a fresh one would
/// be. With `STRESS=1`: a hundred kills.
#[test]
fn killed_at_any_moment_the_index_is_whole() {
    let n_kills = if std::env::var_os("STRESS").is_some() { 100 } else { 10 };
    let p = Project::new();
    plant(&p, 0);
    let start = Instant::now();
    p.index();
    let full_run = start.elapsed();
    let mut random = Random(42);
    let mut seen = BTreeSet::new();
    for n in 1..=n_kills {
        plant(&p, n);
        let mut child = spawn(&p, &["index"]);
        if n % 2 == 0 {
            // Between the moment at which the new set is complete and the end of its renames.
            wait_until(&mut child, || chunk_path(&p, "manifest.json.next").exists());
        } else {
            let moment = Instant::now() + full_run.mul_f64(random.below(1000) as f64 / 1000.0);
            wait_until(&mut child, || Instant::now() >= moment);
        }
        kill(child);
        for name in CHUNK_FILES {
            serde_json::from_str::<Value>(&p.chunk_file(name))
                .unwrap_or_else(|e| panic!("kill {n}: {name}: {e}"));
        }
        let found = generation(&p, &["--no-index"]);
        assert!(found <= n && seen.iter().all(|s| *s <= found), "kill {n}: {found} after {seen:?}");
        seen.insert(found);
        if n % 3 == 0 {
            p.index();
            assert_eq!(generation(&p, &["--no-index"]), n);
            seen.insert(n);
        }
    }
    assert_eq!(generation(&p, &[]), n_kills, "a search repairs as well");
    p.index();
    assert_fresh(&p);
}

/// A project that was indexed, changed and indexed again, for deaths between renames. Each case
/// starts from the same files.
struct TwoRuns {
    project: Project,
    /// The files of [`ALL_FILES`] of the first run.
    old: [(&'static str, Option<Vec<u8>>); ALL_FILES.len()],
    /// What the first run noted of the sources.
    old_sources: String,
    /// The chunk files of a fresh index of the same tree.
    fresh: Vec<String>,
}

impl TwoRuns {
    fn new() -> Self {
        let p = Project::new();
        plant(&p, 1);
        p.index();
        let old = ALL_FILES.map(|name| (name, Some(fs::read(chunk_path(&p, name)).unwrap())));
        let old_sources = p.read(".cortex/cache/sources.json");
        plant(&p, 2);
        p.index();
        let fresh = p.fresh_copy().timeless();
        copy(&p.path(".cortex"), &p.home().join("saved"));
        Self { project: p, old, old_sources, fresh }
    }

    /// Leaves the files as a second run does that died after `n_renamed` renames.
    fn after(&self, n_renamed: usize) -> &Project {
        let p = &self.project;
        fs::remove_dir_all(p.path(".cortex")).unwrap();
        copy(&p.home().join("saved"), &p.path(".cortex"));
        die_between_renames(p, &self.old, n_renamed);
        p
    }

    #[track_caller]
    fn assert_fresh(&self) {
        assert!(
            self.project.timeless() == self.fresh,
            "the repaired index differs from a fresh one"
        );
    }
}

/// Copies a directory with the times of its files.
fn copy(from: &Path, to: &Path) {
    assert!(Command::new("cp").arg("-a").args([from, to]).status().unwrap().success());
}

/// Leaves the chunk directory as a run does that died after `n_renamed` of the five renames of its
/// new set.
fn die_between_renames(p: &Project, old: &[(&str, Option<Vec<u8>>)], n_renamed: usize) {
    for (i, (name, old)) in old.iter().enumerate() {
        if i < n_renamed {
            continue;
        }
        fs::rename(chunk_path(p, name), chunk_path(p, &format!("{name}.next"))).unwrap();
        if let Some(old) = old {
            fs::write(chunk_path(p, name), old).unwrap();
        }
    }
}

const ALL_FILES: [&str; 6] = [
    CHUNK_FILES[0], CHUNK_FILES[1], CHUNK_FILES[2], CHUNK_FILES[3], CHUNK_FILES[4], "manifest.json",
];

/// The run died between two renames of a new set, which is complete by then: a search finds the new
/// tree (or, before the first rename, the old one), and the next run finishes the renames.
#[test]
fn a_death_between_renames_leaves_the_new_index() {
    let runs = TwoRuns::new();
    for n_renamed in 0..=ALL_FILES.len() {
        let p = runs.after(n_renamed);
        p.write(".cortex/cache/sources.json", &runs.old_sources);
        let found = generation(p, &["--no-index"]);
        assert!(found == 2 || (n_renamed == 0 && found == 1), "{n_renamed} renamed: {found}");
        if n_renamed % 2 == 0 {
            assert_eq!(generation(p, &[]), 2, "{n_renamed} renamed");
        }
        p.index();
        assert_eq!(generation(p, &["--no-index"]), 2, "{n_renamed} renamed");
        runs.assert_fresh();
        let left: Vec<_> = fs::read_dir(p.path(".cortex/chunks"))
            .unwrap()
            .map(|e| e.unwrap().file_name())
            .collect();
        assert_eq!(left.len(), ALL_FILES.len(), "{n_renamed} renamed: {left:?}");
    }
}

/// The same, but another program has written one of the files meanwhile: its file is kept, and the
/// index becomes complete again.
#[test]
fn a_death_between_renames_loses_nothing_of_another_program() {
    let theirs =
        r#"{"_metadata":{"generator":"other"},"chunks":[{"id":"theirs","text":"nougat"}]}"#;
    let runs = TwoRuns::new();
    for n_renamed in 0..=ALL_FILES.len() {
        for name in [CHUNK_FILES[0], CHUNK_FILES[3]] {
            let p = runs.after(n_renamed);
            fs::write(chunk_path(p, name), theirs).unwrap();
            assert_eq!(generation(p, &[]), 2, "{n_renamed} renamed, {name}");
            let aside = chunk_path(p, &name.replace(".json", ".other.json"));
            assert_eq!(fs::read_to_string(aside).unwrap(), theirs, "{n_renamed} renamed, {name}");
            assert_eq!(p.json(&["search", "--exact", "nougat"])["total"], 1);
            runs.assert_fresh();
        }
    }
}

/// The same in the very first run: there is no old set, so a search finds the complete new one, or
/// reports that there is none.
#[test]
fn a_death_in_the_first_run_leaves_no_half_index() {
    for n_renamed in 0..=ALL_FILES.len() {
        let p = Project::new();
        plant(&p, 1);
        p.index();
        die_between_renames(&p, &ALL_FILES.map(|name| (name, None)), n_renamed);
        fs::remove_file(p.path(".cortex/cache/sources.json")).unwrap();
        let out = p.run(&["search", "--exact", "milestone", "--no-index"]);
        if out.code == 2 {
            assert!(out.stderr.contains("has no index yet"), "{n_renamed} renamed: {}", out.stderr);
        } else {
            assert_eq!(generation(&p, &["--no-index"]), 1, "{n_renamed} renamed");
        }
        assert_eq!(generation(&p, &[]), 1, "{n_renamed} renamed: a search repairs");
        p.index();
        assert_fresh(&p);
    }
}

/// The run died while it wrote the new files: they are incomplete, and the old set is served.
#[test]
fn a_death_while_writing_leaves_the_old_index() {
    let p = Project::new();
    plant(&p, 1);
    p.index();
    let half = |name: &str| {
        let text = fs::read(chunk_path(&p, name)).unwrap();
        text[..text.len() / 2].to_vec()
    };
    for n_written in 1..=ALL_FILES.len() {
        for name in &ALL_FILES[..n_written] {
            fs::write(chunk_path(&p, &format!("{name}.next")), half(name)).unwrap();
        }
        assert_eq!(generation(&p, &["--no-index"]), 1);
        assert_eq!(generation(&p, &[]), 1);
    }
    plant(&p, 2);
    assert_eq!(generation(&p, &[]), 2);
    assert_fresh(&p);
}

/// Several runs at once take turns (or report that another one is busy), and the index is right: in
/// a directory without an index, and in one with an index.
#[test]
fn concurrent_index_runs_take_turns() {
    for _ in 0..4 {
        let p = Project::new();
        for n in 1..=2 {
            plant(&p, n);
            let commands: [&[&str]; 4] =
                [&["index"], &["index"], &["search", "milestone"], &["index"]];
            for child in commands.map(|args| spawn(&p, args)) {
                let out = child.wait_with_output().unwrap();
                let stderr = String::from_utf8_lossy(&out.stderr);
                let busy =
                    out.status.code() == Some(2) && stderr.contains("another cortex process");
                assert!(out.status.success() || busy, "{stderr}");
            }
            assert_eq!(generation(&p, &["--no-index"]), n);
            assert_eq!(p.index()["changed"], false);
        }
        assert_fresh(&p);
    }
}

/// A search beside a running indexer finds one complete generation of the tree, every time.
#[test]
fn searches_beside_an_indexer_see_one_generation() {
    let p = Project::new();
    plant(&p, 0);
    p.index();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for n in 1..=12 {
                plant(&p, n);
                p.index();
            }
            done.store(true, Ordering::Release);
        });
        let (mut last, mut n_searches) = (0, 0);
        while !done.load(Ordering::Acquire) || n_searches == 0 {
            let found = generation(&p, &["--no-index"]);
            assert!(found >= last, "{found} after {last}");
            (last, n_searches) = (found, n_searches + 1);
        }
    });
    assert_eq!(generation(&p, &["--no-index"]), 12);
}

/// Starts a command, and waits until it is blocked by the lock that this process holds.
#[cfg(target_os = "linux")]
fn spawn_behind_lock(p: &Project, args: &[&str]) -> (Child, fs::File) {
    let path = p.path(".cortex/write.lock").canonicalize().unwrap();
    let lock = fs::File::options().write(true).open(&path).unwrap();
    lock.lock().unwrap();
    let mut child = spawn(p, args);
    let opened = format!("/proc/{}/fd", child.id());
    let waits = || {
        fs::read_dir(&opened).is_ok_and(|mut fds| {
            fds.any(|fd| fs::read_link(fd.unwrap().path()).is_ok_and(|to| to == path))
        })
    };
    assert!(wait_until(&mut child, waits), "it does not wait for the lock");
    (child, lock)
}

/// A run that waited while `clean` removed the index creates a new one.
#[test]
#[cfg(target_os = "linux")]
fn an_index_that_waited_for_a_clean_succeeds() {
    let p = Project::new();
    plant(&p, 1);
    p.index();
    let (child, lock) = spawn_behind_lock(&p, &["index"]);
    // The same that `clean` does under the lock.
    fs::remove_dir_all(p.path(".cortex/chunks")).unwrap();
    fs::remove_dir_all(p.path(".cortex/cache")).unwrap();
    drop(lock);
    let out = child.wait_with_output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    assert_eq!(generation(&p, &["--no-index"]), 1);
}

/// `clean` waits for a running indexer. A search of an up-to-date index needs no lock.
#[test]
#[cfg(target_os = "linux")]
fn clean_waits_for_the_indexer() {
    let p = Project::new();
    plant(&p, 1);
    p.index();
    let (child, lock) = spawn_behind_lock(&p, &["clean"]);
    assert_eq!(generation(&p, &[]), 1);
    assert!(chunk_path(&p, "manifest.json").exists());
    drop(lock);
    assert!(child.wait_with_output().unwrap().status.success());
    assert!(!p.path(".cortex/chunks").exists());
}

#[test]
fn unfinished_folders_of_killed_writers_are_removed() {
    use std::fs;
    let p = Project::sample();
    p.run(&["search", "retry"]).expect(0);
    let left = p.path(".cortex/cache/unfinished-0123");
    fs::create_dir(&left).unwrap();
    fs::write(left.join("writer.lock"), "").unwrap();
    let held = p.path(".cortex/cache/unfinished-4567");
    fs::create_dir(&held).unwrap();
    let writer = fs::File::create(held.join("writer.lock")).unwrap();
    writer.lock().unwrap();
    p.write("src/new.rs", "pub fn newcomer() {}\n");
    p.run(&["search", "newcomer"]).expect(0);
    assert!(!left.exists(), "its writer is dead");
    assert!(held.exists(), "its writer is at it");
}

#[test]
fn a_limit_of_file_sizes_is_named() {
    let p = Project::sample();
    let text = "pub fn filler() { let x = 1; }\n".repeat(9_000);
    p.write("src/large.rs", text);
    let mut shell = p.command("sh");
    shell.args(["-c", "ulimit -f 64; exec \"$0\" index", env!("CARGO_BIN_EXE_cortex")]);
    let error = crate::project::run(&mut shell).error();
    assert!(error.contains("File too large"), "{error}");
    p.index();
}

/// What a process cannot open for want of descriptors counts neither as deleted nor as unreadable.
#[test]
fn a_process_that_may_open_few_files_indexes_all_or_nothing() {
    let p = Project::new();
    let folder = |i: usize| (1..=i).map(|depth| format!("d{depth}/")).collect::<String>();
    for i in 1..=12 {
        p.write(format!("{}x/y/f{i}.py", folder(i)), format!("def f{i}():\n    pass\n"));
        p.write(format!("{}.gitignore", folder(i)), "*.log\n");
        p.write(format!("{}noise.log", folder(i)), "noise\n");
    }
    let index = |n_files: usize| {
        let script = format!("ulimit -n {n_files}; exec \"$0\" index --json");
        crate::project::run(p.command("sh").args(["-c", &*script, env!("CARGO_BIN_EXE_cortex")]))
    };
    let indexed = || p.json(&["index"])["n_files"].as_u64().unwrap();
    for n_files in (10..40).step_by(3) {
        let _ = fs::remove_dir_all(p.path(".cortex"));
        for is_first in [true, false] {
            let before = (!is_first).then(|| {
                assert_eq!(indexed(), 12);
                let before = p.timeless();
                p.write("d1/x/y/f1.py", format!("def f1():\n    return {n_files}\n"));
                before
            });
            let out = index(n_files);
            if out.code == 0 {
                let summary: Value = serde_json::from_str(&out.stdout).unwrap();
                assert_eq!(summary["n_files"], 12, "{n_files}: {}", out.stderr);
                continue;
            }
            assert!(out.stderr.contains("ulimit -n"), "{n_files}: {}", out.stderr);
            match before {
                Some(before) => assert_eq!(p.timeless(), before, "{n_files}"),
                None => assert!(!chunk_path(&p, "manifest.json").exists(), "{n_files}"),
            }
        }
    }
}

#[test]
fn many_first_processes_do_not_disturb_each_other() {
    for _ in 0..5 {
        let p = Project::sample();
        let mut children: Vec<_> = (0..6)
            .map(|_| p.cortex(&["search", "retry"]).stdout(Stdio::null()).spawn().unwrap())
            .collect();
        for child in &mut children {
            assert!(child.wait().unwrap().success());
        }
    }
}
