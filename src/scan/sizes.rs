//! Counts files, lines and bytes.

use std::collections::BTreeMap;
use std::path::Path;

use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::source;

/// The size of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Size {
    pub path: String,
    pub language: String,
    pub lines: u64,
    pub bytes: u64,
}

/// The counts of one group.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FileCount {
    /// Name of the language, directory or file.
    pub name: String,
    /// Number of files.
    pub files: u64,
    /// Number of lines.
    pub lines: u64,
    /// Number of bytes.
    pub bytes: u64,
}

/// The grouping of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    Language,
    /// By directory, with at most this many levels of the path.
    Directory(usize),
    File,
}

/// The order of the rows: largest first, or by name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CountSort {
    #[default]
    Lines,
    Bytes,
    Files,
    Name,
}

/// Returns the sizes of files, given as (path, language). Files that cannot be read are left out.
#[must_use]
pub fn sizes(root: &Path, files: &[(String, String)]) -> Vec<Size> {
    let size = |(path, language): &(String, String)| {
        let text = source::read_exact(root, path).ok()?;
        Some(Size {
            path: path.clone(),
            language: language.clone(),
            lines: text.lines().count() as u64,
            bytes: text.len() as u64,
        })
    };
    files.par_iter().filter_map(size).collect()
}

/// Groups sizes and sorts the groups. Groups that are equal in `sort` are in the order of names.
#[must_use]
pub fn grouped(sizes: &[Size], by: By, sort: CountSort) -> Vec<FileCount> {
    let mut groups: BTreeMap<&str, FileCount> = BTreeMap::new();
    for size in sizes {
        let name = match by {
            By::Language => &size.language,
            By::Directory(depth) => directory(&size.path, depth),
            By::File => &size.path,
        };
        let group = groups.entry(name).or_default();
        group.files += 1;
        group.lines += size.lines;
        group.bytes += size.bytes;
    }
    let named = |(name, group): (&str, FileCount)| FileCount { name: name.into(), ..group };
    let mut groups: Vec<FileCount> = groups.into_iter().map(named).collect();
    let key = |group: &FileCount| match sort {
        CountSort::Lines => group.lines,
        CountSort::Bytes => group.bytes,
        CountSort::Files => group.files,
        CountSort::Name => 0,
    };
    groups.sort_by_key(|group| std::cmp::Reverse(key(group)));
    groups
}

/// Returns the sum of all groups, with the name `total`.
#[must_use]
pub fn total(groups: &[FileCount]) -> FileCount {
    let sum = |of: fn(&FileCount) -> u64| groups.iter().map(of).sum();
    FileCount {
        name: "total".into(),
        files: sum(|g| g.files),
        lines: sum(|g| g.lines),
        bytes: sum(|g| g.bytes),
    }
}

/// Returns the directory of a file, cut to at most `depth` levels; `.` for the root.
fn directory(path: &str, depth: usize) -> &str {
    let ends = path.match_indices('/').map(|(at, _)| at).take(depth.max(1));
    ends.last().map_or(".", |at| &path[..at])
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn files_are_taken_together_and_put_in_order() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("src/deep/er")).unwrap();
        for (path, text) in [
            ("a.md", "one\ntwo"),
            ("src/b.rs", "1\n2\n3\n"),
            ("src/deep/er/c.rs", ""),
            ("src/deep/d.rs", "x\n"),
        ] {
            fs::write(dir.path().join(path), text).unwrap();
        }
        let language = |path: &str| if path.ends_with("md") { "markdown" } else { "rust" };
        let files = ["a.md", "src/b.rs", "src/deep/er/c.rs", "src/deep/d.rs", "gone.rs"]
            .map(|p| (p.to_string(), language(p).to_string()));
        let sizes = sizes(dir.path(), &files);
        let told = |by, sort| {
            grouped(&sizes, by, sort)
                .into_iter()
                .map(|g| (g.name, g.files, g.lines))
                .collect::<Vec<_>>()
        };
        let row = |name: &str, files, lines| (name.to_string(), files, lines);
        assert_eq!(
            told(By::Language, CountSort::Lines),
            [row("rust", 3, 4), row("markdown", 1, 2)]
        );
        assert_eq!(told(By::Directory(1), CountSort::Name), [row(".", 1, 2), row("src", 3, 4)]);
        assert_eq!(told(By::Directory(2), CountSort::Files)[0], row("src/deep", 2, 1));
        assert_eq!(told(By::File, CountSort::Bytes)[0], row("a.md", 1, 2));
    }
}
