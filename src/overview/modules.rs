//! The main directories of a repository, each with one line from its own documentation.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::about::readme;
use super::packages::Package;
use super::{
    Tree, directories_around, directory, extension, file_name, is_aside, join, sentence, within,
};
use crate::syntax::leading_comment;

/// Number of directories that are worth a line.
const MAX_MODULES: usize = 24;
/// Of so many packages, none is opened: they are the parts.
const MANY_PACKAGES: usize = 4;
/// Maximum number of packages.
const MAX_PACKAGES: usize = 300;
/// A directory with at least this share of the program is replaced by the directories below it.
const LARGE: f64 = 0.12;
/// A directory with a smaller share of the program is left out.
const SMALL: f64 = 0.005;
/// Maximum number of characters of a description.
const MAX_CHARS: usize = 100;
/// Maximum number of bytes of a comment that are read.
const MAX_COMMENT: usize = 600;

/// A package, or a directory of the program.
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

/// Returns the packages and the main directories beside them, the largest first. `weight`: the
/// importance of a file.
#[must_use]
pub fn modules(tree: &Tree, packages: &[Package], weight: &dyn Fn(&str) -> f64) -> Vec<Module> {
    let members: Vec<&str> =
        packages.iter().map(|package| &*package.directory).filter(|at| !at.is_empty()).collect();
    let mut found = Directories::of(tree, weight);
    let total = found.total("");
    let mut chosen: Vec<&str> = vec![""];
    let holds_members = |path: &str| {
        members.iter().any(|member| path.is_empty() || member.starts_with(&format!("{path}/")))
    };
    // A directory with packages is opened, and then the heaviest one until there are enough of them.
    loop {
        let has_room = |path: &str| {
            if members.len() >= MANY_PACKAGES && members.contains(&path) {
                return false;
            }
            let share = found.total(path) / total.max(f64::MIN_POSITIVE);
            share >= LARGE && chosen.len() + found.below(path).len() <= MAX_MODULES * 2
        };
        let may_be = |path: &&&str| {
            let is_open = holds_members(path) && chosen.len() <= MAX_PACKAGES;
            !found.below(path).is_empty() && (is_open || has_room(path))
        };
        let order = |path: &str| (holds_members(path), found.total(path));
        let heaviest = |a: &&&str, b: &&&str| {
            let ((a_holds, a), (b_holds, b)) = (order(a), order(b));
            a_holds.cmp(&b_holds).then(a.total_cmp(&b))
        };
        let Some(next) = chosen.iter().filter(may_be).max_by(heaviest).copied() else { break };
        chosen.extend(found.below(next));
        chosen.retain(|path| *path != next);
        if found.direct(next) > 0 && !next.is_empty() {
            chosen.push(found.close(next));
        }
    }
    let is_member = |path: &str| members.binary_search(&path).is_ok();
    chosen.retain(|path| {
        let is_large = found.total(path) >= SMALL * total || is_member(path);
        is_large && !path.is_empty() && !is_hidden(path) && !is_aside(path)
    });
    chosen.sort_by(|a, b| found.own(b).total_cmp(&found.own(a)).then(a.cmp(b)));
    // All packages have a place; only so many of the other directories do.
    let mut n_others = MAX_MODULES.saturating_sub(members.len());
    chosen.retain(|path| {
        let is_kept = is_member(path) || n_others > 0;
        n_others -= usize::from(is_kept && !is_member(path));
        is_kept
    });
    let said = said_by_documents(tree);
    let module = |path: &&str| {
        let package = packages.iter().find(|package| package.directory == *path);
        Module {
            path: (*path).to_string(),
            about: describe(tree, path, package, &said),
            files: found.n_files(path),
        }
    };
    let is_worth =
        |module: &Module| module.files > 1 || !module.about.is_empty() || is_member(&module.path);
    chosen.iter().map(module).filter(is_worth).collect()
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

    /// Returns the weight of the files that a module stands for.
    fn own(&self, path: &str) -> f64 {
        let listed: f64 = if self.closed.contains(&path) {
            let below = self.sums.keys().filter(|other| !other.is_empty());
            below.filter(|other| directory(other) == path).map(|other| self.total(other)).sum()
        } else {
            0.0
        };
        self.total(path) - listed
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

/// Returns what a directory says about itself, or what a document in the root says of it, in one
/// line; else what its manifest makes of it.
fn describe(
    tree: &Tree,
    path: &str,
    package: Option<&Package>,
    said: &BTreeMap<String, String>,
) -> String {
    let worth = |text: String| Some(sentence(&text, MAX_CHARS)).filter(|text| says_something(text));
    let name = package.map_or("", |package| &package.name);
    let of_document = || {
        // The last part of a path alone may mean another directory.
        let short = package.map_or("", |_| file_name(path));
        [path, name, short].into_iter().find_map(|key| said.get(key)).cloned()
    };
    let of_readme = || readme(tree, path, |_| true).map(|(text, _)| plain(&text));
    package
        .and_then(|package| worth(package.about.clone()))
        // Such a row may have one word: `retry: Retrying`.
        .or_else(|| of_document().map(|text| sentence(&text, MAX_CHARS)))
        .or_else(|| comment(tree, path).and_then(worth))
        .or_else(|| of_readme().and_then(worth))
        .or_else(|| package.map(by_manifest))
        .unwrap_or_default()
}

/// Returns what a package is by its manifest, without words of its own.
fn by_manifest(package: &Package) -> String {
    let used = match package.users {
        0 => String::new(),
        1 => "used by one other package".into(),
        users => format!("used by {users} other packages"),
    };
    let parts = [package.kind, &used];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

/// Whether a sentence tells a reader something: no heading, no address, no beginning of a list.
fn says_something(text: &str) -> bool {
    text.split_whitespace().count() > 2
        && !text.ends_with(':')
        && !text.starts_with("http")
        && text.starts_with(|c: char| c.is_alphanumeric() || "\"'“(.".contains(c))
}

/// Returns what the lists and tables of the documents in the root say of directories and packages,
/// by the path or the name that a row begins with: ``- `src/store`: keeps the rows``.
fn said_by_documents(tree: &Tree) -> BTreeMap<String, String> {
    const DOCUMENTS: &str = "readme architecture agents claude contributing hacking structure";
    /// Maximum number of lines that are read of a document.
    const MAX_LINES: usize = 3_000;
    let is_document = |path: &&&str| {
        let name = file_name(path).to_lowercase();
        let stem = name.split('.').next().unwrap_or_default();
        matches!(directory(path), "" | "docs" | "doc")
            && DOCUMENTS.split(' ').any(|document| document == stem)
            && matches!(extension(&name), "md" | "adoc" | "rst" | "txt" | "markdown")
    };
    let mut said = BTreeMap::new();
    for path in tree.paths.iter().filter(is_document) {
        let text = (tree.read)(path).unwrap_or_default();
        for (name, about) in text.lines().take(MAX_LINES).filter_map(row) {
            said.entry(name).or_insert(about);
        }
    }
    said
}

/// Returns the name at the beginning of a row of a list or a table, and what follows it.
fn row(line: &str) -> Option<(String, String)> {
    let line = line.trim();
    let row = line.strip_prefix(['-', '*', '+', '|'])?.trim_start();
    let is_table = line.starts_with('|');
    let start = row.trim_start_matches(['`', '*', '[', '_']);
    let end = start.find(|c: char| c.is_whitespace() || "`*]:|".contains(c))?;
    let (name, rest) = start.split_at(end);
    let name = name.trim_start_matches("./").trim_end_matches(['/', '_']);
    if name.is_empty() {
        return None;
    }
    let rest = rest.trim_start_matches(['`', '*', ']', '_', '/']);
    // The address of a link.
    let rest = match rest.strip_prefix('(') {
        Some(link) if start.len() < row.len() => link.split_once(')')?.1,
        _ => rest,
    };
    let rest = rest.trim_start_matches(['`', '*', ']', '_', ' ']);
    let about = if is_table {
        let cells = rest.split('|').map(str::trim).filter(|cell| !cell.contains("!["));
        cells.map(plain).find(|cell| cell.split_whitespace().count() > 1)?
    } else {
        plain(rest.strip_prefix(['-', '–', '—', ':'])?.trim_start_matches(['-', ' ']))
    };
    Some((name.to_string(), about))
}

/// Returns a sentence without the marks of Markdown and `AsciiDoc`: a link is its text.
fn plain(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find('[') {
        let (before, link) = rest.split_at(start);
        let Some(label) = within(link, "[", "]") else { break };
        // The address of `AsciiDoc` is before the brackets.
        let address = before.rfind("http").filter(|at| !before[*at..].contains(' '));
        out.push_str(&before[..address.unwrap_or(before.len())]);
        out.push_str(label);
        let after = &link[label.len() + 2..];
        let target = after.strip_prefix('(').and_then(|after| after.split_once(')'));
        rest = target.map_or(after, |(_, after)| after);
    }
    out.push_str(rest);
    out.replace(['`', '*'], "").trim().to_string()
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
        } else if extension(&file) == "rs" && !text.contains("//!") {
            // Other comments are about the next lines.
            return None;
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
    Some(lines.collect::<Vec<_>>().join("\n").trim().to_string())
        .filter(|comment| comment.starts_with("Package"))
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
        let is_condition = ["elif", "else", "endif"].iter().any(|word| lower.starts_with(word));
        !is_condition && !TO_TOOLS.iter().any(|mark| lower.contains(mark))
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
