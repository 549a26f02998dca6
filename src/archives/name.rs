//! The names of archives, which say what they are of.

use std::fmt;
use std::path::Path;

use crate::source::{self, sha256};

const EXTENSION: &str = ".index.zst";
/// Longest name of a project, in bytes.
const MAX_PROJECT: usize = 100;

/// What the name of an archive says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ArchiveName {
    /// [`key_of_rules`]
    pub(super) rules: String,
    /// When it was made, in seconds since 1970.
    pub(super) time: u64,
    /// Zeros outside a repository.
    pub(super) commit: String,
    /// SHA-256 of its bytes, in hexadecimal digits.
    pub(super) hash: String,
}

impl ArchiveName {
    /// Reads a name; `None` if it is not one that this program writes.
    pub(super) fn parse(name: &str) -> Option<Self> {
        let parts: Vec<&str> = name.strip_suffix(EXTENSION)?.split('-').collect();
        let [rules, time, commit, hash] = parts[..] else { return None };
        let is_hex = |text: &str, n: &[usize]| {
            n.contains(&text.len()) && text.bytes().all(|b| b.is_ascii_hexdigit())
        };
        let is_ours = is_hex(rules, &[16]) && is_hex(commit, &[40, 64]) && is_hex(hash, &[64]);
        let time = time.parse().ok().filter(|_| is_ours && time.len() <= 12)?;
        let [rules, commit, hash] = [rules, commit, hash].map(String::from);
        Some(Self { rules, time, commit, hash })
    }
}

impl fmt::Display for ArchiveName {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Self { rules, time, commit, hash } = self;
        write!(f, "{rules}-{time:010}-{commit}-{hash}{EXTENSION}")
    }
}

/// Returns the part of a name that is the same for indexes made by the same rules.
pub(super) fn key_of_rules(rules: &str) -> String {
    let mut key = sha256(rules.as_bytes());
    key.truncate(16);
    key
}

/// Returns the name by which a project is found on another machine: that of its remote repository, so
/// that a fork has the same, else that of its folder. Equal names of different projects cost only
/// time.
#[must_use]
pub fn project_name(root: &Path) -> String {
    let folder = || Some(root.file_name()?.to_string_lossy().into_owned());
    let name = source::remote_name(root).or_else(folder).unwrap_or_default();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let name: String =
        name.chars().map(|c| if is_plain(c) { c } else { '_' }).take(MAX_PROJECT).collect();
    let name = name.trim_start_matches('.');
    if name.is_empty() { "project".into() } else { name.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_this_program_writes_are_names() {
        let name = ArchiveName {
            rules: key_of_rules("rules"),
            time: 1_700_000_000,
            commit: "4f".repeat(20),
            hash: "ab".repeat(32),
        };
        let written = name.to_string();
        assert_eq!(ArchiveName::parse(&written), Some(name));
        for other in
            ["../x", "", &written[1..], &written.replace("4f", "zz"), &format!("{written}x")]
        {
            assert_eq!(ArchiveName::parse(other), None, "{other}");
        }
    }
}
