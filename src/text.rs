//! Counts, cuts, estimates and joins short texts.

use std::any::Any;
use std::error::Error;

use regex::Regex;

/// Returns a count with its noun, such as `1 file`, `2 files` or `2 memories`.
#[must_use]
pub fn count(n: usize, what: &str) -> String {
    match what.strip_suffix("ry") {
        _ if n == 1 => format!("{n} {what}"),
        Some(stem) => format!("{n} {stem}ries"),
        None => format!("{n} {what}s"),
    }
}

/// Returns the path of something in a folder. The root is the empty path, and either may be empty.
#[must_use]
pub fn join(folder: &str, name: &str) -> String {
    match (folder, name) {
        ("", name) => name.into(),
        (folder, "") => folder.into(),
        (folder, name) => format!("{folder}/{name}"),
    }
}

/// Returns the folder of a path; empty at the root.
#[must_use]
pub fn directory(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(directory, _)| directory)
}

/// Returns the last name of a path.
#[must_use]
pub fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Returns the name of a file up to its first dot.
#[must_use]
pub fn file_stem(path: &str) -> &str {
    file_name(path).split('.').next().unwrap_or_default()
}

/// Returns a text without the quotation marks around it, of code or of a message.
#[must_use]
pub fn unquoted(text: &str) -> &str {
    text.trim().trim_matches(['`', '"', '\''])
}

/// Returns the text of an error with its causes, on one line.
#[must_use]
pub fn chain(e: &dyn Error) -> String {
    let mut text = e.to_string();
    let mut cause = e.source();
    while let Some(e) = cause {
        text.extend([": ", &e.to_string()]);
        cause = e.source();
    }
    text
}

/// Returns the message of a panic.
#[must_use]
pub fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "it panicked".into())
}

/// Compiles a pattern that is part of the source, and that a test uses.
#[must_use]
pub fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a pattern of the source is well-formed")
}

/// Largest number of characters that replies show of a line of code.
pub const MAX_LINE: usize = 200;

/// Returns the text, cut to at most `n_chars` characters and `…`.
#[must_use]
pub fn cut(text: &str, n_chars: usize) -> String {
    match text.char_indices().nth(n_chars) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_string(),
    }
}

/// Returns at most `n_chars` characters of a line, among them those from the byte `at` on, with `…` for
/// what is left out on either side.
#[must_use]
pub fn cut_around(line: &str, at: usize, n_chars: usize) -> String {
    let before = line[..line.floor_char_boundary(at)].chars().count();
    if before < n_chars * 3 / 4 {
        return cut(line, n_chars);
    }
    let from = before - n_chars / 4;
    let start = line.char_indices().nth(from).map_or(0, |(start, _)| start);
    format!("…{}", cut(&line[start..], n_chars))
}

/// Returns the beginning of a text, at most `n_bytes`, cut between characters.
#[must_use]
pub fn head(text: &str, n_bytes: usize) -> &str {
    &text[..text.floor_char_boundary(n_bytes)]
}

/// Estimates the tokens of a text: one per 3.5 bytes, rounded up. That is close to all common
/// tokenisers for code, and a little too many for prose.
#[must_use]
pub fn tokens(text: &str) -> usize {
    tokens_of_bytes(text.len())
}

/// Estimates the tokens of a text of `n_bytes`.
#[must_use]
pub fn tokens_of_bytes(n_bytes: usize) -> usize {
    (n_bytes * 2).div_ceil(7)
}

/// Returns the text on one line.
#[must_use]
pub fn folded(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Cuts a text to `n_bytes`, between characters, and at the end of a word if one ends near.
#[must_use]
pub fn cut_at_word(text: &str, n_bytes: usize) -> String {
    if text.len() <= n_bytes {
        return text.to_string();
    }
    let head = head(text, n_bytes.saturating_sub("…".len()));
    let word =
        head.rfind(char::is_whitespace).filter(|at| *at * 5 > head.len() * 4).unwrap_or(head.len());
    format!("{}…", head[..word].trim_end())
}

/// Returns the most bytes of a text that has at most `n_tokens`, as [`tokens`] counts them.
#[must_use]
pub fn bytes_of_tokens(n_tokens: usize) -> usize {
    n_tokens * 7 / 2
}

/// Returns where a line has a word, a name or an option that is not part of a longer one.
pub fn place_of_word(line: &str, word: &str) -> Option<usize> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let (starts, ends) = (word.starts_with(is_part), word.ends_with(is_part));
    let mut places = line.match_indices(word).map(|(at, _)| at);
    places.find(|at| {
        let before = line[..*at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        let goes_on = |c: char| is_part(c) || c == '-' && word.starts_with('-');
        let is_longer = starts && before.is_some_and(is_part) || ends && after.is_some_and(goes_on);
        !is_longer
    })
}
