//! Tells what a repository is, from its own documents and build files: what it says about itself,
//! how it is built and tested, where its programs begin, and its main directories.
//!
//! All of it is found by reading a few files. What cannot be found is left out, never guessed.

mod about;
mod commands;
mod entry_points;
mod libraries;
mod modules;
mod test_commands;

pub use about::{About, about};
pub use commands::{Commands, commands};
pub use entry_points::{
    EntryPoint, entry_points, example_programs, is_migration, is_migration_folder,
};
pub use libraries::{Libraries, libraries};
pub use modules::{Module, modules};
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

/// Returns the first sentences of a text, in one line of at most `max_chars` characters.
fn sentences(text: &str, max_chars: usize) -> String {
    let text = folded(text);
    if text.chars().count() <= max_chars {
        return text;
    }
    let head: String = text.chars().take(max_chars).collect();
    match head.rmatch_indices(". ").next() {
        Some((end, _)) if end * 3 > head.len() => head[..=end].to_string(),
        _ => cut(&text, max_chars),
    }
}

/// Returns the first sentence of a text, in one line of at most `max_chars` characters.
fn sentence(text: &str, max_chars: usize) -> String {
    let text = folded(text);
    let end = text.find(". ").filter(|end| *end > 15).map_or(text.len(), |end| end + 1);
    cut(&text[..end], max_chars)
}

#[cfg(test)]
mod tests;
