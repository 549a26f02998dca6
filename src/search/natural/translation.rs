//! Translates the words of a question into the English ones that names, comments and documents of
//! software use, because the bundled model and most code know English only.
//!
//! A line of a dictionary is an entry and one to three English words. In a language with blanks between
//! words, an entry is the beginning that the forms of a word share (`verbind connection connect` is
//! for `Verbindungen`); `$` at its end means the whole word, and `_` is a blank. In the others it is a
//! word as it is written in a sentence. The longest entry at a place counts.

use std::collections::HashMap;
use std::ops::Range;

use super::super::tokens::lower;
use super::NaturalLanguage;

/// A part of a text, in English.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::search) struct Meant {
    /// Its bytes in the text.
    pub(in crate::search) range: Range<usize>,
    pub(in crate::search) english: Vec<&'static str>,
}

/// A part of a compound has at least so many letters.
const LEAST_PART: usize = 4;
/// Words of the longest entry.
const MOST_WORDS: usize = 4;

/// English words by entry.
pub(super) type Entries = HashMap<&'static str, &'static str>;

impl NaturalLanguage {
    fn entries(&'static self) -> &'static Entries {
        let lines = || self.dictionary.lines().filter_map(|line| line.split_once(' ')).collect();
        self.entries.get_or_init(lines)
    }

    /// Returns the words of a text that the dictionary has, in order.
    pub(in crate::search) fn translations(&'static self, text: &str) -> Vec<Meant> {
        let entries = self.entries();
        let words = words(text);
        let mut found: Vec<Meant> = Vec::new();
        let mut next = 0;
        while next < words.len() {
            let (meant, n) = if self.words.is_empty() {
                (within(text, words[next].clone(), entries), 1)
            } else {
                self.at(text, &words[next..], entries)
            };
            found.extend(meant);
            next += n;
        }
        found
    }

    /// Translates the first of some words, or several that are one entry; returns also how many.
    fn at(&self, text: &str, words: &[Range<usize>], entries: &Entries) -> (Vec<Meant>, usize) {
        for n in (2..=MOST_WORDS.min(words.len())).rev() {
            let range = words[0].start..words[n - 1].end;
            let joined: Vec<String> = words[..n].iter().map(|w| lower(&text[w.clone()])).collect();
            let joined = joined.join("_");
            let last = joined.rfind('_').map_or(0, |at| at + 1);
            if let Some((_, english)) = longest(&joined, last + 1, entries) {
                return (vec![Meant { range, english }], n);
            }
        }
        let range = words[0].clone();
        let word = lower(&text[range.clone()]);
        if self.has(&word) {
            return (Vec::new(), 1);
        }
        let english = if self.joins_words {
            parts(&word, entries)
        } else {
            longest(&word, 1, entries).map(|(_, english)| english).unwrap_or_default()
        };
        let meant = (!english.is_empty()).then_some(Meant { range, english });
        (meant.into_iter().collect(), 1)
    }
}

/// Returns the runs of letters of a text.
fn words(text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for (at, c) in text.char_indices().filter(|(_, c)| c.is_alphanumeric() || *c == '_') {
        let end = at + c.len_utf8();
        match found.last_mut().filter(|last| last.end == at) {
            Some(last) => last.end = end,
            None => found.push(at..end),
        }
    }
    found
}

/// Returns the longest entry of at least `least` bytes that a word begins with: its bytes, and the
/// English words.
fn longest(word: &str, least: usize, entries: &Entries) -> Option<(usize, Vec<&'static str>)> {
    let english = |text: &'static str| text.split(' ').collect::<Vec<_>>();
    if let Some(exact) = entries.get(format!("{word}$").as_str()) {
        return Some((word.len(), english(exact)));
    }
    let ends = word.char_indices().map(|(at, c)| at + c.len_utf8()).rev();
    let mut ends = ends.take_while(|end| *end >= least);
    ends.find_map(|end| Some((end, english(entries.get(&word[..end])?))))
}

/// Translates the parts of a compound: `Verbindungsfehler` is a connection and an error.
fn parts(word: &str, entries: &Entries) -> Vec<&'static str> {
    let mut found = Vec::new();
    let mut rest = word;
    while rest.chars().count() >= LEAST_PART || rest.len() == word.len() {
        let least = if found.is_empty() { 1 } else { LEAST_PART };
        match longest(rest, least, entries) {
            Some((n, english)) => {
                found.extend(english);
                rest = &rest[n..];
            }
            // A compound begins with a word of its own, and its other words follow endings.
            None if found.is_empty() => return found,
            None => rest = rest.char_indices().nth(1).map_or("", |(at, _)| &rest[at..]),
        }
    }
    found
}

/// Translates the words within a run of a language without blanks.
fn within(text: &str, run: Range<usize>, entries: &Entries) -> Vec<Meant> {
    let mut found = Vec::new();
    let mut at = run.start;
    while at < run.end {
        let rest = &text[at..run.end];
        let n = match longest(rest, 1, entries) {
            Some((n, english)) => {
                found.push(Meant { range: at..at + n, english });
                n
            }
            None => rest.chars().next().map_or(1, char::len_utf8),
        };
        at += n;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::LANGUAGES;
    use super::*;

    fn english(text: &str) -> String {
        let language = NaturalLanguage::of(text).expect("the language is recognised");
        let found = language.translations(text).into_iter().map(|meant| meant.english.join("/"));
        found.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn words_of_a_question_are_translated() {
        for (question, wanted) in [
            (
                "Wo wird die Verbindung nach einem Fehler geschlossen?",
                "connection/connect error close",
            ),
            ("Comment les mots de passe sont-ils chiffrés ?", "password encrypt"),
            ("¿Dónde se lee la base de datos?", "read database"),
            ("где закрывается соединение", "close connection"),
            ("キャッシュを削除する", "cache delete/remove"),
            ("如何解析配置文件", "parse config"),
            ("연결을 닫는 곳", "connect close"),
        ] {
            let found = english(question);
            let has = |word: &str| found.split([' ', '/']).any(|of| of == word);
            assert!(wanted.split([' ', '/']).any(has), "{question}: {found}");
            let n = wanted.split(' ').filter(|of| of.split('/').any(has)).count();
            assert_eq!(n, wanted.split(' ').count(), "{question}: {found}");
        }
    }

    #[test]
    fn a_compound_is_translated_by_its_parts() {
        let found = english("wie wird der Verbindungsfehler behandelt");
        assert!(found.contains("connection") && found.contains("error"), "{found}");
    }

    #[test]
    fn every_entry_has_english_words_and_stands_once() {
        for language in &LANGUAGES {
            let mut seen = std::collections::HashSet::new();
            for line in language.dictionary.lines() {
                let (entry, english) = line.split_once(' ').expect(line);
                assert!(seen.insert(entry), "{}: {entry} stands twice", language.name);
                assert!(
                    english.split(' ').all(
                        |word| !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase())
                    ),
                    "{}: {line}",
                    language.name
                );
            }
        }
    }
}
