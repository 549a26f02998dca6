//! Addresses: how people, compilers and stack traces name places in files. Reads one address, finds
//! those of a longer text, and finds the file of a project that an address means.

mod trace;

use std::sync::LazyLock;

use regex::Regex;

pub use self::trace::{Frame, addresses_in, frames_in};
use crate::text::{regex, unquoted};

/// Longest extension of a file name, in bytes.
const MAX_EXTENSION: usize = 10;

/// A place in a file as somebody wrote it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Address {
    /// With `/`; it may be absolute, or of another machine.
    pub path: String,
    /// First and last line, 1-based.
    pub lines: Option<(u32, u32)>,
    /// The ranges of lines after the first one, as they were written.
    pub more: Vec<(u32, u32)>,
    /// A name or a path of names in the file.
    pub symbol: Option<String>,
}

impl Address {
    /// Reads an address: `path`, `path:10`, `path:10-40`, `path:10-40,80-90`, `path:10:5`,
    /// `path(10,5)`, `path#L10-L20`, `path#symbol`, `path.ext::symbol`, also as a URL `file://…`. Every
    /// text is an address, at least a path.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        static LINES: LazyLock<Regex> = LazyLock::new(|| {
            regex(
                r"^(?:(?:#L(?<a>\d+)(?:C\d+)?(?:-L?(?<b>\d+)(?:C\d+)?)?|:(?<c>\d+)(?:-(?<d>\d*)|(?::\d+)+|:)?)(?<more>(?:, ?L?\d+(?:-L?\d*)?)*)|\((?<e>\d+)(?:[,:]\d+)?\)|[:,]? ?line (?<f>\d+))$",
            )
        });
        let text = unquoted(text);
        // The first split whose end is a place; a path may itself contain these signs.
        for (at, _) in text.match_indices(['#', ':', '(', ',', ' ']).skip_while(|(at, _)| *at == 0)
        {
            let Some(found) = LINES.captures(&text[at..]) else { continue };
            let number = |name: &str| found.name(name).and_then(|n| n.as_str().parse::<u32>().ok());
            let Some(first) = ["a", "c", "e", "f"].into_iter().find_map(number) else { continue };
            // `10-` goes to the end.
            let open = found.name("d").is_some_and(|d| d.as_str().is_empty());
            let last =
                number("b").or_else(|| number("d")).unwrap_or(if open { u32::MAX } else { first });
            let more = found.name("more").map_or("", |more| more.as_str());
            let more = more.split(',').filter_map(|range| range_of(range.trim())).collect();
            let lines = Some(in_order(first, last));
            return Self { path: plain(&text[..at]), lines, more, symbol: None };
        }
        let in_file = text
            .split_once('#')
            .or_else(|| text.split_once("::").filter(|(path, _)| is_file_name(path)));
        match in_file {
            Some((path, symbol)) if !path.is_empty() && !symbol.is_empty() => {
                Self { path: plain(path), symbol: Some(symbol.to_string()), ..Self::default() }
            }
            _ => Self { path: plain(text), ..Self::default() },
        }
    }

    /// Returns all ranges of lines, as they were written.
    pub fn ranges(&self) -> impl Iterator<Item = (u32, u32)> {
        self.lines.into_iter().chain(self.more.iter().copied())
    }
}

/// Reads `10-40`, `10-` or `10`, also with the `L` of GitHub.
fn range_of(written: &str) -> Option<(u32, u32)> {
    let (first, last) = written.split_once('-').unwrap_or((written, written));
    let number = |text: &str| text.trim_start_matches('L').parse::<u32>().ok();
    let first = number(first)?;
    Some(in_order(first, if last.is_empty() { u32::MAX } else { number(last)? }))
}

/// Returns a range whose lines count from 1 and whose end is not before its beginning.
fn in_order(first: u32, last: u32) -> (u32, u32) {
    (first.max(1), last.max(first).max(1))
}

/// Whether a path ends as the name of a file does, with an extension: what follows `::` may be a symbol
/// of the file. In a sentence it is not.
fn is_file_name(path: &str) -> bool {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    name.rsplit_once('.').is_some_and(|(stem, extension)| {
        !stem.is_empty()
            && !path.contains(char::is_whitespace)
            && (1..=MAX_EXTENSION).contains(&extension.len())
            && extension.chars().all(|c| c.is_ascii_alphanumeric())
    })
}

/// Returns a path with `/`, without what tools put before it.
fn plain(path: &str) -> String {
    let path = path.trim();
    let mut path = path.replace('\\', "/");
    for before in ["file://", "webpack:///", "webpack://", "webpack-internal:///", "(", "\"", "'"] {
        if let Some(rest) = path.strip_prefix(before) {
            path = rest.to_string();
        }
    }
    // Dart writes `package:name/file`.
    if let Some(rest) = path.strip_prefix("package:") {
        path = rest.split_once('/').map_or(rest, |(_, file)| file).to_string();
    }
    path.strip_prefix("./").map_or_else(|| path.clone(), str::to_string)
}

/// How an address fits a file of the project; a later one fits better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    /// The last names of both paths are the same, this many.
    End(usize),
    /// One path ends with the other.
    Whole(usize),
    Equal,
}

/// Returns the files that a path may mean, all those that fit best: the file itself, or the files
/// whose paths end in the same way. A path of another machine fits by its last names.
#[must_use]
pub fn matching<'f>(path: &str, files: impl Iterator<Item = &'f str>) -> Vec<&'f str> {
    // An installed package may be the project itself.
    let installed = ["/site-packages/", "/dist-packages/"];
    let package = installed.iter().find_map(|folder| path.rsplit_once(folder));
    let (path, is_foreign) = match package {
        Some((_, file)) => (file, true),
        None => (path, is_foreign(path)),
    };
    let wanted: Vec<&str> =
        path.split('/').filter(|part| !matches!(*part, "" | "." | "..")).collect();
    let Some(name) = wanted.last() else { return Vec::new() };
    let is_absolute = path.starts_with('/') || path.get(1..3) == Some(":/");
    let mut best: Vec<(Fit, &str)> = Vec::new();
    for file in files {
        if !file.ends_with(name) {
            continue;
        }
        let n_names = file.split('/').count();
        let common =
            wanted.iter().rev().zip(file.rsplit('/')).take_while(|(a, b)| **a == *b).count();
        let fit = match common {
            0 => continue,
            _ if file == path && !is_foreign => Fit::Equal,
            // A file at the root of the project may have any namesake elsewhere.
            1 if is_foreign => continue,
            n if n == wanted.len() || n == n_names => Fit::Whole(n),
            n if !is_foreign && (n >= 2 || !is_absolute) => Fit::End(n),
            _ => continue,
        };
        match best.first().map(|(f, _)| *f) {
            Some(known) if known > fit => {}
            Some(known) if known == fit => best.push((fit, file)),
            _ => best = vec![(fit, file)],
        }
    }
    let mut found: Vec<&str> = best.into_iter().map(|(_, file)| file).collect();
    found.sort_unstable();
    found
}

/// Returns the part of a path after the folder of a project, if a folder in it has the project's name,
/// also with a version as packages have: `gems/depot-1.2.0/lib/a.rb`, `mod/depot@v1.2.0/a.go`.
#[must_use]
pub fn within<'p>(path: &'p str, project: &str) -> Option<&'p str> {
    let is_folder = |part: &str| {
        part.strip_prefix(project).is_some_and(|rest| {
            let version = rest.trim_start_matches(['@', '-']).trim_start_matches('v');
            rest.is_empty() || version.len() < rest.len() && version.starts_with(char::is_numeric)
        })
    };
    let begin = |end: usize| path[..end].rfind('/').map_or(0, |at| at + 1);
    let mut ends = path.rmatch_indices('/').map(|(at, _)| at);
    let last = ends.find(|end| is_folder(&path[begin(*end)..*end]))?;
    Some(&path[last + 1..])
}

/// Whether a path is in a folder of libraries, whose files are rarely the project's.
fn is_foreign(path: &str) -> bool {
    const FOLDERS: [&str; 12] = [
        "/node_modules/", "/.cargo/", "/rustc/", "/rustlib/", "/usr/", "/gems/", "/pkg/mod/",
        "/.m2/", "/lib/python", "/.pub-cache/", "/vendor/", "node:internal/",
    ];
    FOLDERS.iter().any(|folder| path.contains(folder))
}

#[cfg(test)]
mod tests;
