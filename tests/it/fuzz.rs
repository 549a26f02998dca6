//! Runs the corpora of the fuzz targets, and mutations of them that are the same in every run.
//!
//! `STRESS=1` makes a hundred times as many mutations. cargo-fuzz itself needs a nightly toolchain:
//! see `fuzz/Cargo.toml`.

use std::collections::BTreeSet;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::thread;

use cortex::fuzz::{TARGETS, Target};

use crate::project::Random;

/// Number of mutations for each target.
const N_MUTATIONS: usize = 600;
/// Number of mutations that run at once.
const N_THREADS: usize = 4;
/// Longer inputs are cut; seeds test what grows with the input.
const MAX_BYTES: usize = 1 << 14;
/// Bytes that break readers of text, JSON, TOML, globs and queries.
const TOKENS: [&[u8]; 44] = [
    b"\0", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\\", b"\"", b"'", b"`", b"{",
    b"}", b"[", b"]", b"(", b")", b"\r\n", b"\n", b"\t", b"*", b"**", b"?", b"!", b"/", b"//",
    b"../", b"-", b"-1", b"0", b"18446744073709551616", b"1e999", b"NaN", b"null", b"true",
    b"\\ud800", b"\\u0000", b"~1", b"~", b"\xe2\x80\xae", b"\xef\xbb\xbf", b"_metadata", b"path:",
    b" OR ", b"[[[[[[[[[[[[[[[[", b"{{{{{{{{{{{{{{{{",
];

fn corpus(target: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(target);
    let mut paths: Vec<PathBuf> =
        fs::read_dir(&directory).unwrap().map(|e| e.unwrap().path()).collect();
    paths.sort();
    assert!(paths.len() >= 5, "{} has too few seeds", directory.display());
    paths.into_iter().map(|path| (path.clone(), fs::read(path).unwrap())).collect()
}

/// Runs a target. A panic prints the input, so that it can become a seed.
fn run(target: Target, what: &str, bytes: &[u8]) {
    assert!(
        catch_unwind(AssertUnwindSafe(|| target(bytes))).is_ok(),
        "{what}: b\"{}\"",
        bytes.escape_ascii()
    );
}

fn mutated(seeds: &[(PathBuf, Vec<u8>)], random: &mut Random) -> Vec<u8> {
    let mut bytes = seeds[random.below(seeds.len())].1.clone();
    bytes.truncate(MAX_BYTES);
    for _ in 0..=random.below(4) {
        let at = random.below(bytes.len() + 1);
        let end = (at + random.below(32)).min(bytes.len());
        match random.below(7) {
            0 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            1 => drop(bytes.splice(at..at, TOKENS[random.below(TOKENS.len())].iter().copied())),
            2 => drop(bytes.splice(at..end, TOKENS[random.below(TOKENS.len())].iter().copied())),
            3 => drop(bytes.drain(at..end)),
            4 => bytes.truncate(at),
            5 => {
                let part = bytes[at..end].repeat(1 + random.below(40));
                bytes.splice(at..at, part);
            }
            _ => {
                let other = &seeds[random.below(seeds.len())].1;
                bytes.truncate(at);
                bytes.extend(&other[random.below(other.len() + 1)..]);
            }
        }
        bytes.truncate(MAX_BYTES);
    }
    bytes
}

fn try_all(name: &str) {
    let (_, target) = TARGETS.into_iter().find(|(n, _)| *n == name).unwrap();
    let seeds = corpus(name);
    for (path, bytes) in &seeds {
        run(target, &path.display().to_string(), bytes);
    }
    let mut random = Random(name.len() as u64);
    let n = if std::env::var_os("STRESS").is_some() { 100 * N_MUTATIONS } else { N_MUTATIONS };
    for batch in (0..n).step_by(N_MUTATIONS) {
        let inputs: Vec<Vec<u8>> = (0..N_MUTATIONS).map(|_| mutated(&seeds, &mut random)).collect();
        // Several at once, because a target may wait for files to settle.
        thread::scope(|scope| {
            for first in 0..N_THREADS {
                let inputs = inputs.iter().enumerate().skip(first).step_by(N_THREADS);
                scope.spawn(move || {
                    for (i, bytes) in inputs {
                        run(target, &format!("{name}, mutation {}", batch + i), bytes);
                    }
                });
            }
        });
    }
}

#[test]
fn chunk_files_of_anybody_are_read() {
    try_all("chunk_file");
}

#[test]
fn manifests_of_anybody_are_read() {
    try_all("manifest");
}

#[test]
fn any_query_is_answered() {
    try_all("query");
}

#[test]
fn any_configuration_is_read() {
    try_all("config");
}

#[test]
fn any_input_of_a_hook_is_read() {
    try_all("hook_input");
}

#[test]
fn any_json_is_edited_or_left_alone() {
    try_all("json_edit");
}

#[test]
fn any_ignore_file_is_obeyed() {
    try_all("cortexignore");
}

/// cargo-fuzz has the same targets as this test.
#[test]
fn every_target_has_its_program_and_its_corpus() {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz");
    let names: BTreeSet<String> = TARGETS.iter().map(|(name, _)| (*name).to_string()).collect();
    let stems = |directory: &str| -> BTreeSet<String> {
        let entries = fs::read_dir(fuzz.join(directory)).unwrap().map(|e| e.unwrap().path());
        entries.map(|path| path.file_stem().unwrap().to_str().unwrap().to_string()).collect()
    };
    assert_eq!((stems("fuzz_targets"), stems("corpus")), (names.clone(), names.clone()));
    let manifest = fs::read_to_string(fuzz.join("Cargo.toml")).unwrap();
    for name in names {
        assert!(manifest.contains(&format!("path = \"fuzz_targets/{name}.rs\"")), "{name}");
        let program = fs::read_to_string(fuzz.join(format!("fuzz_targets/{name}.rs"))).unwrap();
        assert!(program.contains(&format!("cortex::fuzz::{name}(bytes)")), "{program}");
    }
}
