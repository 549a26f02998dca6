//! Tells what a repository is, from its own documents and build files: what it says about itself,
//! how it is built and tested, where its programs begin, and its main directories.
//!
//! All of it is found by reading a few files. What cannot be found is left out, never guessed.

mod about;
mod commands;
mod entry_points;
mod libraries;
mod modules;
mod packages;
mod test_commands;

pub use about::{About, about};
pub use commands::{Commands, commands};
pub use entry_points::{
    EntryPoint, entry_points, example_programs, is_migration, is_migration_folder,
};
pub use libraries::{Libraries, libraries};
pub use modules::{Module, modules};
pub use packages::{Package, packages};
pub use test_commands::{TestCommands, TestPlace, blocks_around, test_commands};

use crate::text::{cut, folded, join};

/// The files of a repository.
#[derive(Clone, Copy)]
pub struct Tree<'a> {
    /// The indexed paths, relative to the root, sorted.
    pub paths: &'a [&'a str],
    /// Whether a file is a part of the program: no test, example, document or copy.
    pub is_source: &'a dyn Fn(&str) -> bool,
    /// Whether a file exists, indexed or not.
    pub has: &'a dyn Fn(&str) -> bool,
    /// Returns the text of a file, if it can be read.
    pub read: &'a dyn Fn(&str) -> Option<String>,
}

impl Tree<'_> {
    fn is_indexed(&self, path: &str) -> bool {
        self.paths.binary_search(&path).is_ok()
    }

    /// Returns a JSON or TOML file as JSON, if it is there and valid.
    fn manifest(&self, path: &str) -> Option<serde_json::Value> {
        if !self.is_indexed(path) {
            return None;
        }
        let text = (self.read)(path)?;
        if extension(path) == "toml" {
            toml::from_str(&text).ok()
        } else {
            serde_json::from_str(&text).ok()
        }
    }
}

/// Returns the directory of a path; empty for the root.
fn directory(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(directory, _)| directory)
}

/// Returns the directory of a path and all above it; the root, which is empty, comes last.
fn directories_around(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(directory(path)), |&at| (!at.is_empty()).then(|| directory(at)))
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Returns the extension of a file name without the dot; empty if there is none.
fn extension(path: &str) -> &str {
    file_name(path).rsplit_once('.').map_or("", |(_, extension)| extension)
}

/// Returns the first sentence of a text, in one line of at most `max_chars` characters.
fn sentence(text: &str, max_chars: usize) -> String {
    let text = folded(text);
    cut(split_sentence(&text).0, max_chars)
}

/// Returns the first sentence of a text in one line, and the rest. `e.g. one` is no end.
fn split_sentence(text: &str) -> (&str, &str) {
    let is_end = |(at, _): &(usize, &str)| {
        *at > 15 && !text[at + 2..].starts_with(|c: char| c.is_lowercase())
    };
    let end = text.match_indices(". ").find(is_end);
    end.map_or((text, ""), |(at, _)| (&text[..=at], text[at + 2..].trim_start()))
}

/// Returns the text between two marks.
fn within<'t>(text: &'t str, start: &str, end: &str) -> Option<&'t str> {
    Some(text.split_once(start)?.1.split_once(end)?.0)
}

/// Whether a directory holds code that is not the program: what others wrote, or programs that
/// measure or fuzz it.
fn is_aside(folder: &str) -> bool {
    const ASIDE: &str = "fuzz fuzzing fuzz_targets bench benches benchmark benchmarks jmh perf \
        profiling snippets vendor vendored third_party third-party thirdparty node_modules \
        __fixtures__ testdata";
    // Below these, folders are the names of packages.
    let is_name = |folder: &str| matches!(folder, "java" | "kotlin" | "scala" | "groovy");
    let mut folders = folder.split('/').take_while(|folder| !is_name(folder));
    folders.any(|folder| {
        let folder = folder.to_lowercase();
        ASIDE.split_whitespace().any(|aside| aside == folder)
    })
}

#[cfg(test)]
mod tests;
