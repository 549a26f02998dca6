//! The main directories of a repository, each with one line from its own documentation.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::about::{manifest, readme};
use super::{Tree, directories_around, directory, extension, file_name, join, sentence};
use crate::syntax::leading_comment;

/// Number of directories that are worth a line.
const MAX_MODULES: usize = 24;
/// A directory with at least this share of the program is replaced by the directories below it.
const LARGE: f64 = 0.12;
/// A directory with a smaller share of the program is left out.
const SMALL: f64 = 0.005;
/// Maximum number of characters of a description.
const MAX_CHARS: usize = 100;
/// Maximum number of bytes of a comment that are read.
const MAX_COMMENT: usize = 600;

/// A directory of the program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Module {
    /// Relative to the root.
    pub path: String,
    /// What it says about itself, in one line; empty if it says nothing.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// Number of files of the program in it: without those that other modules count.
    pub files: usize,
}

/// Returns the main directories, sorted by path. `weight`: the importance of a file.
#[must_use]
pub fn modules(tree: &Tree, weight: &dyn Fn(&str) -> f64) -> Vec<Module> {
    let mut found = Directories::of(tree, weight);
    let total = found.total("");
    let mut chosen: Vec<&str> = vec![""];
    // The heaviest directory is opened until there are enough of them.
    loop {
        let open = |path: &&&str| {
            let below = found.below(path);
            let share = found.total(path) / total.max(f64::MIN_POSITIVE);
            !below.is_empty() && share >= LARGE && chosen.len() + below.len() <= MAX_MODULES * 2
        };
        let heaviest = |a: &&&str, b: &&&str| found.total(a).total_cmp(&found.total(b));
        let Some(next) = chosen.iter().filter(open).max_by(heaviest).copied() else { break };
        chosen.extend(found.below(next));
        chosen.retain(|path| *path != next);
        if found.direct(next) > 0 && !next.is_empty() {
            chosen.push(found.close(next));
        }
    }
    chosen.retain(|path| found.total(path) >= SMALL * total && !is_hidden(path));
    chosen.sort_by(|a, b| found.total(b).total_cmp(&found.total(a)).then(a.cmp(b)));
    chosen.truncate(MAX_MODULES);
    chosen.sort_unstable();
    let module = |path: &&str| Module {
        path: (*path).to_string(),
        about: describe(tree, path),
        files: found.n_files(path),
    };
    let modules = chosen.iter().filter(|path| !path.is_empty()).map(module);
    modules.filter(|module| module.files > 1 || !module.about.is_empty()).collect()
}

/// Whether a directory is hidden.
fn is_hidden(path: &str) -> bool {
    path.split('/').any(|part| part.starts_with('.'))
}

/// The directories that hold files of the program.
struct Directories<'a> {
    /// Weight of the files in a directory and below it; number of files in it; number of files in
    /// it and below it.
    sums: BTreeMap<&'a str, (f64, usize, usize)>,
    /// Directories that stand for their own files only, because those below are listed.
    closed: Vec<&'a str>,
}

impl<'a> Directories<'a> {
    fn of(tree: &Tree<'a>, weight: &dyn Fn(&str) -> f64) -> Self {
        let mut sums: BTreeMap<&str, (f64, usize, usize)> = BTreeMap::new();
        for path in tree.paths.iter().filter(|path| (tree.is_source)(path)) {
            let (own, weight) = (directory(path), weight(path));
            sums.entry(own).or_default().1 += 1;
            for at in directories_around(path) {
                let sum = sums.entry(at).or_default();
                sum.0 += weight;
                sum.2 += 1;
            }
        }
        Self { sums, closed: Vec::new() }
    }

    fn total(&self, path: &str) -> f64 {
        self.sums.get(path).map_or(0.0, |sum| sum.0)
    }

    /// Returns the number of files in a directory itself.
    fn direct(&self, path: &str) -> usize {
        self.sums.get(path).map_or(0, |sum| sum.1)
    }

    fn n_files(&self, path: &str) -> usize {
        if self.closed.contains(&path) {
            self.direct(path)
        } else {
            self.sums.get(path).map_or(0, |sum| sum.2)
        }
    }

    /// Returns the directories in a directory, none if it is closed.
    fn below(&self, path: &str) -> Vec<&'a str> {
        if self.closed.contains(&path) {
            return Vec::new();
        }
        self.sums
            .keys()
            .copied()
            .filter(|other| !other.is_empty() && directory(other) == path)
            .collect()
    }

    fn close(&mut self, path: &'a str) -> &'a str {
        self.closed.push(path);
        path
    }
}

/// Returns what a directory says about itself, in one line.
fn describe(tree: &Tree, path: &str) -> String {
    let text = manifest(tree, path)
        .map(|(text, _)| text)
        .or_else(|| comment(tree, path))
        .or_else(|| readme(tree, path, |_| true).map(|(text, _)| text))
        .unwrap_or_default();
    sentence(&text, MAX_CHARS)
}

/// Returns the comment of the file that speaks for a directory.
fn comment(tree: &Tree, path: &str) -> Option<String> {
    const NAMES: &str = "mod.rs lib.rs src/lib.rs main.rs src/main.rs __init__.py doc.go \
        package-info.java index.ts index.js src/index.ts src/index.js index.tsx mod.ts";
    let own = file_name(path);
    let beside =
        ["rs", "ex", "rb", "hs", "lua", "ml"].map(|extension| format!("{path}.{extension}"));
    let inside = ["go", "py", "c", "h", "ts", "js", "rb", "php"]
        .map(|extension| join(path, &format!("{own}.{extension}")));
    let named = NAMES.split(' ').map(|name| join(path, name));
    let of_go = tree
        .paths
        .iter()
        .filter(|file| directory(file) == path && extension(file) == "go")
        .take(12);
    let candidates = named.chain(beside).chain(inside).chain(of_go.map(|file| (*file).to_string()));
    candidates.filter(|file| tree.is_indexed(file)).find_map(|file| {
        let text = (tree.read)(&file)?;
        let comment = if extension(&file) == "go" {
            package_comment(&text)?
        } else {
            leading_comment(&text, MAX_COMMENT)
        };
        Some(without_marks(&comment)).filter(|text| text.len() > 10)
    })
}

/// Returns the comment right above the package clause of a Go file.
fn package_comment(text: &str) -> Option<String> {
    let before = &text[..=text.find("\npackage ")?];
    let block = before.rsplit("\n\n").next()?;
    let lines =
        block.lines().map(|line| line.trim_start_matches(['/', '*', ' ']).trim_end_matches("*/"));
    Some(lines.collect::<Vec<_>>().join("\n")).filter(|comment| comment.starts_with("Package"))
}

/// Returns the first paragraph of a comment, without headings, markup of documentation and lines
/// that speak to tools.
fn without_marks(comment: &str) -> String {
    const TO_TOOLS: [&str; 12] = [
        "frozen_string_literal", "-*-", "coding:", "eslint", "prettier", "vim:", "typed:", "@ts-",
        "@flow", "pylint", "use strict", "generated by",
    ];
    let is_told = |line: &&str| {
        let lower = line.to_lowercase();
        !TO_TOOLS.iter().any(|mark| lower.contains(mark))
    };
    let mut out = String::new();
    for line in comment.lines().filter(is_told) {
        let line = line.trim().trim_end_matches("*/").trim_end_matches("\"\"\"").trim();
        let is_rule = !line.chars().any(char::is_alphanumeric);
        if is_rule && out.is_empty() {
            continue;
        }
        if is_rule {
            break;
        }
        out.push_str(line);
        out.push(' ');
    }
    let out = out.split("---").next().unwrap_or_default();
    out.replace(['`', '[', ']'], "").trim().to_string()
}
