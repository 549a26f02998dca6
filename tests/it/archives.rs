//! The first index of a project begins with the archive that CI or a colleague left, and is the same.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::project::{Project, copy_tree, run};

const HONEST: &str = "fn brew() { let kettle = 1; }\n";
const FORGED: &str = "fn brew() { let poison = 1; }\n";

/// A place for archives, and the project of which CI leaves them.
struct Team {
    ci: Project,
    place: tempfile::TempDir,
}

impl Team {
    fn new() -> Self {
        let ci = Project::new();
        for folder in ["src/languages/python", "src/languages/rust", "specs"] {
            fs::create_dir_all(ci.path(folder)).unwrap();
            copy_tree(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &ci.path(folder));
        }
        ci.write("secret.py", "token = \"ghp_0123456789abcdefghijABCDEFGHIJ012345\"\n");
        ci.write("picture.bin", b"\0\x01\x02");
        ci.write("brew.rs", HONEST);
        Self { ci, place: tempfile::tempdir().unwrap() }
    }

    fn index(&self, p: &Project, flag: &str) -> Value {
        let place = self.place.path().to_str().unwrap();
        serde_json::from_str(
            &run(&mut p.cortex(&["index", "--json", flag, place])).expect(0).stdout,
        )
        .unwrap()
    }

    /// The same files on another machine.
    fn colleague(&self) -> Project {
        let other = Project::new();
        copy_tree(&self.ci.root(), &other.root());
        let _ = fs::remove_dir_all(other.path(".cortex"));
        other
    }

    fn archive(&self) -> PathBuf {
        let folder = fs::read_dir(self.place.path().join("cortex-1")).unwrap().next().unwrap();
        fs::read_dir(folder.unwrap().path()).unwrap().next().unwrap().unwrap().path()
    }
}

/// What the projects of one machine are called decides which archives they find.
fn named(p: &Project) {
    p.git(&["init", "-q"]);
    p.git(&["remote", "add", "origin", "git@host:team/kettle.git"]);
}

#[test]
fn the_first_index_begins_with_what_ci_left_and_only_differences_are_parsed() {
    let team = Team::new();
    named(&team.ci);
    let left = team.index(&team.ci, "--cache-to");
    let p = team.colleague();
    let summary = team.index(&p, "--cache-from");
    assert_eq!(summary["downloaded_bytes"], left["uploaded_bytes"], "{summary}");
    assert!(summary["downloaded_bytes"].as_u64().unwrap() > 1000, "{summary}");
    assert_eq!((&summary["n_parsed"], &summary["n_files"]), (&0.into(), &left["n_files"]));
    assert!(p.timeless() == team.ci.timeless(), "chunks differ");
    // What a colleague changed is parsed, and nothing else.
    let other = team.colleague();
    other.write("brew.rs", "fn pour() {}\n");
    let summary = team.index(&other, "--cache-from");
    assert_eq!(summary["n_parsed"], 1, "{summary}");
    run(&mut other.cortex(&["search", "--exact", "kettle = 1"])).expect(1);
    // With an index, nothing is taken.
    assert!(team.index(&other, "--cache-from").get("downloaded_bytes").is_none());
}

#[test]
fn a_damaged_or_missing_archive_costs_only_time() {
    let team = Team::new();
    named(&team.ci);
    let left = team.index(&team.ci, "--cache-to");
    let archive = team.archive();
    let whole = fs::read(&archive).unwrap();
    let mut flipped = whole.clone();
    let middle = whole.len() / 2;
    flipped[middle] ^= 1;
    for (what, bytes) in [("cut", &whole[..middle]), ("flipped", &flipped), ("empty", &[])] {
        fs::write(&archive, bytes).unwrap();
        let p = team.colleague();
        let summary = team.index(&p, "--cache-from");
        assert!(summary.get("downloaded_bytes").is_none(), "{what}: {summary}");
        assert_eq!(summary["n_files"], left["n_files"], "{what}");
        assert!(p.timeless() == team.ci.timeless(), "{what}: chunks differ");
        let aside = p.home().join(".cache/cortex/aside");
        assert_eq!(fs::read_dir(aside).unwrap().count(), 0, "{what}");
    }
    fs::remove_file(&archive).unwrap();
    assert_eq!(team.index(&team.colleague(), "--cache-from")["n_files"], left["n_files"]);
    let p = team.colleague();
    let said = run(&mut p.cortex(&["index", "--cache-from", "/nowhere/at/all"])).expect(0);
    assert!(said.stderr.contains("/nowhere/at/all"), "{}", said.stderr);
}

/// Somebody who can write to the place says of a file what it does not hold.
#[test]
fn what_an_archive_says_of_a_file_must_be_in_the_file() {
    let team = Team::new();
    named(&team.ci);
    let p = team.colleague();
    team.ci.write("brew.rs", FORGED);
    let old = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_600_000_000);
    fs::File::options()
        .write(true)
        .open(team.ci.path("brew.rs"))
        .unwrap()
        .set_modified(old)
        .unwrap();
    team.ci.index();
    let sources = team.ci.read(".cortex/cache/sources.json");
    let hash = |text: &str| cortex::source::sha256(text.as_bytes());
    assert!(sources.contains(&hash(FORGED)));
    team.ci.write(".cortex/cache/sources.json", sources.replace(&hash(FORGED), &hash(HONEST)));
    team.index(&team.ci, "--cache-to");
    let summary = team.index(&p, "--cache-from");
    assert!(summary["downloaded_bytes"].as_u64().is_some(), "{summary}");
    assert_eq!(summary["n_parsed"], 1, "{summary}");
    assert!(!p.timeless().concat().contains("poison"), "the text of no file is found");
}
