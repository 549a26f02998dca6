//! Words of a language with the English ones that names, comments and documents of software use for
//! them.
//!
//! A line of a dictionary is an entry and one to three English words. In a language with blanks between
//! words, an entry is the beginning that the forms of a word share (`verbind connection connect` is
//! for `Verbindungen`); `$` at its end means the whole word, and `_` is a blank. In the others it is a
//! word as it is written in a sentence. The longest entry at a place counts.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::OnceLock;

use super::super::tokens::lower;

/// A part of a text, in English.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::search) struct Meant {
    /// Its bytes in the text.
    pub(in crate::search) range: Range<usize>,
    pub(in crate::search) english: Vec<&'static str>,
}

/// A part of a compound has at least so many letters.
const LEAST_PART: usize = 4;
/// Words of the longest entry, and its bytes.
const MOST_WORDS: usize = 4;
pub(super) const LONGEST: usize = 48;

/// English words by entry, and by the entry without the signs of its language.
type Entries = HashMap<Cow<'static, str>, &'static str>;

/// How a language writes the words of a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Writes {
    /// With blanks between them.
    Apart,
    /// With blanks, and compounds in one word.
    Compounds,
    /// Without blanks, or with endings that are words of their own.
    Together,
}

/// The words of a language that occur in questions about code.
#[derive(Debug)]
pub(super) struct Dictionary {
    lines: &'static str,
    writes: Writes,
    entries: OnceLock<Entries>,
}

impl Dictionary {
    pub(super) const fn new(writes: Writes, lines: &'static str) -> Self {
        Self { lines, writes, entries: OnceLock::new() }
    }

    pub(super) fn lines(&self) -> impl Iterator<Item = (&'static str, &'static str)> + use<> {
        self.lines.lines().filter_map(|line| line.split_once(' '))
    }

    fn entries(&self) -> &Entries {
        self.entries.get_or_init(|| {
            let without_signs = |(entry, english): (&'static str, _)| {
                folded(entry).into_iter().map(move |entry| (Cow::from(entry), english))
            };
            let written = self.lines().map(|(entry, english)| (Cow::from(entry), english));
            // Of two entries for a word, the one that is written so counts.
            self.lines().flat_map(without_signs).chain(written).collect()
        })
    }

    /// Returns the words of a text that are known, in order, without those that `is_left_out`.
    pub(super) fn translations(
        &self,
        text: &str,
        is_left_out: impl Fn(&str) -> bool,
    ) -> Vec<Meant> {
        let words = plain_words(text);
        let mut found: Vec<Meant> = Vec::new();
        let mut next = 0;
        while next < words.len() {
            if self.writes == Writes::Together {
                found.extend(self.within(text, words[next].clone()));
                next += 1;
            } else if let Some((meant, n)) = self.of_several(text, &words[next..]) {
                found.push(meant);
                next += n;
            } else {
                let range = words[next].clone();
                let word = lower(&text[range.clone()]);
                let english = if is_left_out(&word) { Vec::new() } else { self.of_word(&word) };
                found.extend((!english.is_empty()).then_some(Meant { range, english }));
                next += 1;
            }
        }
        found
    }

    /// Translates several words that are one entry; returns also how many.
    fn of_several(&self, text: &str, words: &[Range<usize>]) -> Option<(Meant, usize)> {
        (2..=MOST_WORDS.min(words.len())).rev().find_map(|n| {
            let joined: Vec<String> = words[..n].iter().map(|w| lower(&text[w.clone()])).collect();
            let joined = joined.join("_");
            let last = joined.rfind('_').map_or(0, |at| at + 1);
            let (_, english) = self.longest(&joined, last + 1)?;
            Some((Meant { range: words[0].start..words[n - 1].end, english }, n))
        })
    }

    /// Translates a lower-case word; returns nothing if it is not known.
    pub(super) fn of_word(&self, word: &str) -> Vec<&'static str> {
        match self.writes {
            Writes::Compounds => self.of_parts(word),
            _ => self.longest(word, 1).map(|(_, english)| english).unwrap_or_default(),
        }
    }

    /// Returns the longest entry of at least `least` bytes that a word begins with: its bytes, and the
    /// English words.
    fn longest(&self, word: &str, least: usize) -> Option<(usize, Vec<&'static str>)> {
        let entries = self.entries();
        let english = |text: &'static str| text.split(' ').collect::<Vec<_>>();
        let is_short = word.len() < LONGEST;
        let exact = is_short.then(|| entries.get(format!("{word}$").as_str())).flatten();
        if let Some(exact) = exact {
            return Some((word.len(), english(exact)));
        }
        let ends = (least..=word.len().min(LONGEST)).rev();
        let mut ends = ends.filter(|end| word.is_char_boundary(*end));
        ends.find_map(|end| Some((end, english(entries.get(&word[..end])?))))
    }

    /// Translates the parts of a compound: `Verbindungsfehler` is a connection and an error.
    fn of_parts(&self, word: &str) -> Vec<&'static str> {
        let mut found = Vec::new();
        let mut rest = word;
        while rest.chars().nth(LEAST_PART - 1).is_some() || rest.len() == word.len() {
            let least = if found.is_empty() { 1 } else { LEAST_PART };
            match self.longest(rest, least) {
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

    /// Translates the words within a run of letters.
    fn within(&self, text: &str, run: Range<usize>) -> Vec<Meant> {
        let mut found = Vec::new();
        let mut at = run.start;
        while at < run.end {
            let rest = &text[at..run.end];
            let first = rest.chars().next().map_or(1, char::len_utf8);
            // One syllable within a Korean word is most often an ending.
            let least = if at > run.start && rest.starts_with(is_hangul) { first + 1 } else { 1 };
            let n = match self.longest(rest, least) {
                Some((n, english)) => {
                    found.push(Meant { range: at..at + n, english });
                    n
                }
                None => first,
            };
            at += n;
        }
        found
    }
}

pub(super) fn is_hangul(c: char) -> bool {
    matches!(c, '\u{ac00}'..='\u{d7a3}')
}

/// Returns the plain words of a text: none in quotes, and none that is a part of a name, a path or
/// an address.
pub(super) fn plain_words(text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let (mut quote_end, mut before) = (0, ' ');
    let mut never_closed: Vec<char> = Vec::new();
    for (at, c) in text.char_indices() {
        let next = at + c.len_utf8();
        let is_within = at < quote_end;
        // An apostrophe is within a word.
        let opens = !is_within && (c != '\'' || !before.is_alphanumeric());
        let closed_by = QUOTES.iter().find(|(open, _)| opens && *open == c).map(|(_, end)| *end);
        if let Some(end) = closed_by.filter(|end| !never_closed.contains(end)) {
            match text[next..].find(end) {
                Some(n) => quote_end = next + n + end.len_utf8(),
                None => never_closed.push(end),
            }
        } else if !is_within && (c.is_alphanumeric() || c == '_') {
            match found.last_mut().filter(|last| last.end == at) {
                Some(last) => last.end = next,
                None => found.push(at..next),
            }
        }
        before = c;
    }
    found.retain(|word| is_plain(text, word));
    found
}

const QUOTES: [(char, char); 6] =
    [('"', '"'), ('\'', '\''), ('`', '`'), ('“', '”'), ('„', '“'), ('«', '»')];
/// Signs between the parts of a name, a path or an address.
const JOINTS: [char; 8] = ['.', '_', '/', '\\', ':', '#', '@', '$'];

/// Whether a word is neither a part of something longer nor written like an identifier.
fn is_plain(text: &str, word: &Range<usize>) -> bool {
    let written = &text[word.clone()];
    let joins = |sides: [Option<char>; 2]| {
        let [sign, beyond] = sides;
        sign.is_some_and(|sign| JOINTS.contains(&sign))
            && beyond.is_some_and(|c| c.is_alphanumeric() || c == sign.unwrap_or(' '))
    };
    let mut before = text[..word.start].chars().rev();
    let mut after = text[word.end..].chars();
    let is_name = written.chars().any(|c| c == '_' || c.is_numeric())
        || written.chars().skip(1).any(char::is_uppercase);
    !is_name && !joins([before.next(), before.next()]) && !joins([after.next(), after.next()])
}

/// Returns a word as people write it without the signs of their language: `fur` and `fuer` for `für`.
/// Returns nothing if it is the same.
fn folded(word: &str) -> Vec<String> {
    let plain = |c: char| match c {
        'à' | 'á' | 'â' | 'ã' | 'ä' | 'å' | 'ą' => "a",
        'ç' | 'ć' => "c",
        'è' | 'é' | 'ê' | 'ë' | 'ę' => "e",
        'ì' | 'í' | 'î' | 'ï' => "i",
        'ł' => "l",
        'ñ' | 'ń' => "n",
        'ò' | 'ó' | 'ô' | 'õ' | 'ö' => "o",
        'ś' => "s",
        'ß' => "ss",
        'ù' | 'ú' | 'û' | 'ü' => "u",
        'ź' | 'ż' => "z",
        'œ' => "oe",
        'ё' => "е",
        _ => "",
    };
    let with = |of: &dyn Fn(char) -> &'static str| -> String {
        let mut out = String::new();
        for c in word.chars() {
            match of(c) {
                "" => out.push(c),
                other => out.push_str(other),
            }
        }
        out
    };
    let german = |c: char| match c {
        'ä' => "ae",
        'ö' => "oe",
        'ü' => "ue",
        _ => plain(c),
    };
    let mut found = vec![with(&plain), with(&german)];
    found.retain(|other| other != word);
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_paths_and_quotes_are_no_plain_words() {
        let text = "Wo wird lang.value in 'Datei fehlt' gesetzt, wenn src/datei/fehler.rs und documentFehler \
                    l'erreur Datei. fehlt: ja";
        let words: Vec<&str> = plain_words(text).into_iter().map(|word| &text[word]).collect();
        assert_eq!(
            words,
            ["Wo", "wird", "in", "gesetzt", "wenn", "und", "l", "erreur", "Datei", "fehlt", "ja"]
        );
    }
}
