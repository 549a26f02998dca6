//! Reads the entries of a call.

use std::sync::LazyLock;

use regex::Regex;

use crate::engine::read::places::ReadPlace;
use crate::graph::Node;
use crate::text::regex;

/// Shortest name that counts, in bytes.
const LEAST_NAME: usize = 3;

/// What an entry is.
pub(super) enum Entry {
    /// Lines of a file, or a file.
    Place(String, Box<ReadPlace>),
    /// A name with its symbols, the most probable first.
    Symbols(String, Vec<Node>),
    /// A question, a key, a message, or a name that no symbol has.
    Text(String),
}

/// Returns the names and keys in the entries of a call, each once: all words that are marked as code,
/// and those that look like it.
pub(super) fn names_in(about: &[String]) -> Vec<String> {
    static MARKED: LazyLock<Regex> = LazyLock::new(|| regex(r#"`([^`]+)`|"([^"]{3,80})""#));
    static WORD: LazyLock<Regex> = LazyLock::new(|| regex(r"[\p{L}_][\p{L}\p{N}_]*"));
    let mut names: Vec<String> = Vec::new();
    let mut add = |name: &str| {
        if name.len() >= LEAST_NAME && !names.iter().any(|known| known == name) {
            names.push(name.to_string());
        }
    };
    for entry in about {
        for marked in MARKED.captures_iter(entry) {
            let text = marked.get(1).or_else(|| marked.get(2)).map_or("", |m| m.as_str());
            WORD.find_iter(text).for_each(|word| add(word.as_str()));
        }
        let is_alone = !entry.contains(char::is_whitespace);
        for word in WORD.find_iter(entry).map(|word| word.as_str()) {
            if is_alone || looks_like_code(word) {
                add(word);
            }
        }
    }
    names
}

/// Whether a word has an underscore, a digit, or a capital letter after a small one.
fn looks_like_code(word: &str) -> bool {
    let humps =
        word.chars().zip(word.chars().skip(1)).any(|(a, b)| a.is_lowercase() && b.is_uppercase());
    humps || word.contains(|c: char| c == '_' || c.is_numeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_what_is_marked_or_looks_like_code() {
        let about = [
            "why does `terminate job` not call send_signal on the PoolWorker".to_string(),
            "retry".to_string(),
            "the key \"sync.frequency\" of send_signal".to_string(),
        ];
        let names = names_in(&about);
        assert_eq!(
            names,
            ["terminate", "job", "send_signal", "PoolWorker", "retry", "sync", "frequency"]
        );
    }
}
