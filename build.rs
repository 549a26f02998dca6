//! Lists the folders of languages, so that a new language needs no line elsewhere, and
//! computes versions of the data that is kept on disk, which change with every change
//! of the code that makes it.

#![expect(clippy::disallowed_methods, reason = "it uses the files of this repository alone")]

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

#[path = "build/versions.rs"]
mod versions;
use versions::{Hash, KEPT, LANGUAGES};

const LOCK: &str = "Cargo.lock";

fn main() {
    name_the_commit();
    let root =
        PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo says where the project is"));
    list_languages(&root.join(LANGUAGES));
    // A package that is built without its lock file has none.
    let lock = fs::read_to_string(root.join(LOCK)).unwrap_or_default();
    if !lock.is_empty() {
        println!("cargo::rerun-if-changed={LOCK}");
    }
    for kept in KEPT {
        let mut hash = Hash::default();
        for source in kept.sources {
            println!("cargo::rerun-if-changed={source}");
            add(&root.join(source), &mut hash);
        }
        for package in kept.locked(&lock) {
            hash.add(package.as_bytes());
        }
        println!("cargo::rustc-env={}={}", kept.variable, hash.version());
    }
}

/// Passes on the commit of a release build: that of the environment (`BUILD_COMMIT`), of the
/// package, or of git. A build for development names none, because it would be rebuilt with every
/// commit.
fn name_the_commit() {
    println!("cargo::rerun-if-env-changed=BUILD_COMMIT");
    let given = env::var("BUILD_COMMIT").ok();
    let packaged = || {
        let text = fs::read_to_string(".cargo_vcs_info.json").ok()?;
        let (_, after) = text.split_once("\"sha1\": \"")?;
        Some(after.split('"').next()?.to_string())
    };
    let checked_out = || {
        println!("cargo::rerun-if-changed=.git/logs/HEAD");
        let describe = ["describe", "--always", "--dirty", "--abbrev=12"];
        let out =
            Command::new("git").args(describe).output().ok().filter(|o| o.status.success())?;
        Some(String::from_utf8(out.stdout).ok()?.trim().to_string())
    };
    let is_release = env::var("PROFILE").is_ok_and(|profile| profile == "release");
    let of_release = || if is_release { packaged().or_else(checked_out) } else { None };
    let commit = given.or_else(of_release).unwrap_or_default();
    println!("cargo::rustc-env=BUILD_COMMIT={commit}");
}

/// Writes `languages.rs`: a module for each folder, and the table of the grammars.
fn list_languages(folder: &Path) {
    println!("cargo::rerun-if-changed={LANGUAGES}");
    let is_language = |path: &PathBuf| path.join("mod.rs").is_file();
    let (mut code, mut table) = (String::new(), String::new());
    for path in entries(folder).into_iter().filter(is_language) {
        let (file, name) = (
            path.join("mod.rs"),
            path.file_name()
                .and_then(|name| name.to_str())
                .expect("a language has a name")
                .to_owned(),
        );
        // Writing to a string cannot fail.
        let _ = writeln!(code, "#[path = \"{}\"]\nmod {name};", file.display());
        let _ = write!(table, "&{name}::LANGUAGE, ");
    }
    let _ = writeln!(code, "static PARSED: &[&Grammar] = &[{table}];");
    let out =
        Path::new(&env::var("OUT_DIR").expect("cargo says where to write")).join("languages.rs");
    fs::write(out, code).expect("the list of languages can be written");
}

/// Adds a file, or all files of a folder, to a hash, without tests: they do
/// not change what is kept.
fn add(path: &Path, hash: &mut Hash) {
    if path.is_dir() {
        for entry in entries(path) {
            add(&entry, hash);
        }
    } else if path.file_stem().is_none_or(|stem| stem != "tests") {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        hash.add(name.as_bytes());
        hash.add(&fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display())));
    }
}

/// Returns the paths in a folder, sorted.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths
}
