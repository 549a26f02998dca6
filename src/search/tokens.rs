//! Splits text into index terms.
//! An identifier gives its parts (`HTTPServer2` → `http`, `server2`) and, if there are several, the
//! whole (`httpserver2`). A part that differs from its stem also gives the stem, marked, at the
//! same position. So one field serves exact words, phrases and stemmed search. Each Chinese or
//! Japanese character is a term.

use std::collections::HashSet;
use std::ops::Range;

use frostem::{Algorithm, Stemmer};
use rustc_hash::FxHashMap;

use super::stop_words::is_stop_word;

/// Marks a stem that differs from its word.
pub(super) const STEM_MARK: char = '~';
/// Longer runs are encoded data, not words.
const MAX_RUN_BYTES: usize = 80;
/// A number this short belongs to the word before it: `http2`, `utf8`.
const MAX_DIGIT_TAIL: usize = 3;

/// A run of identifier characters and its parts, as byte ranges of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) range: Range<usize>,
    pub(super) parts: Vec<Range<usize>>,
}

/// Returns the parts of all identifiers of a text, lower case, in order.
pub(super) fn lower_parts(text: &str) -> impl Iterator<Item = String> {
    runs(text).flat_map(|run| run.parts).map(|part| lower(&text[part]))
}

/// Returns the identifier runs of a text, in order.
pub(super) fn runs(text: &str) -> impl Iterator<Item = Run> {
    let mut chars = text.char_indices().peekable();
    std::iter::from_fn(move || {
        loop {
            let (start, c) = chars.next()?;
            if is_ideograph(c) {
                let range = start..start + c.len_utf8();
                return Some(Run { parts: vec![range.clone()], range });
            }
            if !is_word(c) {
                continue;
            }
            let mut end = start + c.len_utf8();
            while let Some((i, c)) = chars.next_if(|(_, c)| is_word(*c) && !is_ideograph(*c)) {
                end = i + c.len_utf8();
            }
            let parts = parts(text, start..end);
            if !parts.is_empty() && end - start <= MAX_RUN_BYTES {
                return Some(Run { range: start..end, parts });
            }
        }
    })
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

pub(super) fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{2ffff}')
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Lower,
    Upper,
    Digit,
}

fn class(c: char) -> Option<Class> {
    if c == '_' {
        None
    } else if c.is_numeric() {
        Some(Class::Digit)
    } else if c.is_uppercase() {
        Some(Class::Upper)
    } else {
        Some(Class::Lower)
    }
}

/// Cuts a run at underscores, camel-case humps and numbers.
fn parts(text: &str, run: Range<usize>) -> Vec<Range<usize>> {
    let is_number = |r: &Range<usize>| text[r.clone()].chars().all(char::is_numeric);
    let mut out = cut(text, run.clone());
    // Alternating letters and digits, as in `a3f09b`, are a code and not words.
    let n_numbers = out.iter().filter(|r| text[(*r).clone()].ends_with(char::is_numeric)).count();
    let short = out.iter().filter(|r| !is_number(r) && r.len() <= 3).count();
    if n_numbers > 1 && short * 2 > out.len() && !text[run.clone()].contains('_') {
        out = vec![run];
    }
    out
}

fn cut(text: &str, run: Range<usize>) -> Vec<Range<usize>> {
    let mut out: Vec<Range<usize>> = Vec::new();
    let mut open: Option<(Range<usize>, Class)> = None;
    for (i, c) in text[run.clone()].char_indices() {
        let at = run.start + i;
        let end = at + c.len_utf8();
        let next = class(c);
        open = match (open, next) {
            (Some((part, _)), None) => {
                push(&mut out, part, text);
                None
            }
            (None, None) => None,
            (None, Some(k)) => Some((at..end, k)),
            (Some((part, k)), Some(n))
                if k == n
                    || (k == Class::Upper
                        && n == Class::Lower
                        && text[part.clone()].chars().count() == 1) =>
            {
                Some((part.start..end, n))
            }
            (Some((part, Class::Upper)), Some(Class::Lower)) => {
                // In `HTTPServer`, the last capital belongs to the next word.
                let last = text[part.clone()]
                    .char_indices()
                    .next_back()
                    .map_or(part.end, |(j, _)| part.start + j);
                push(&mut out, part.start..last, text);
                Some((last..end, Class::Lower))
            }
            (Some((part, _)), Some(n)) => {
                push(&mut out, part, text);
                Some((at..end, n))
            }
        };
    }
    if let Some((part, _)) = open {
        push(&mut out, part, text);
    }
    out
}

fn push(out: &mut Vec<Range<usize>>, part: Range<usize>, text: &str) {
    let is_number = |r: &Range<usize>| text[r.clone()].chars().all(char::is_numeric);
    match out.last_mut() {
        Some(previous)
            if is_number(&part)
                && part.len() <= MAX_DIGIT_TAIL
                && previous.end == part.start
                && !is_number(previous) =>
        {
            previous.end = part.end;
        }
        _ => out.push(part),
    }
}

/// What a term is of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// An identifier of several parts.
    Whole,
    /// A part, or an identifier of one part.
    Word,
    /// A stem that differs from its word, marked.
    Stem,
}

/// A term of a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Analyzed<'t> {
    pub(super) text: &'t str,
    pub(super) kind: Kind,
    /// Number of parts before it.
    pub(super) position: usize,
    /// Its bytes in the text.
    pub(super) range: Range<usize>,
}

/// Splits, lower-cases and stems words. It caches the stems.
#[derive(Clone)]
pub(super) struct Analyzer {
    stemmer: Stemmer,
    /// Position of a word's stem in `stems`.
    known: FxHashMap<Box<str>, usize>,
    /// `None` if the stem equals the word.
    stems: Vec<Option<Box<str>>>,
}

/// Limit of the cache.
const MAX_STEMS: usize = 200_000;

impl Default for Analyzer {
    fn default() -> Self {
        Self {
            stemmer: Stemmer::new(Algorithm::English),
            known: FxHashMap::default(),
            stems: Vec::new(),
        }
    }
}

impl Analyzer {
    /// Calls `emit` for each term of `text`: wholes, parts and stems.
    pub(super) fn terms(&mut self, text: &str, mut emit: impl FnMut(Analyzed)) {
        let mut position = 0;
        let (mut word, mut whole, mut marked) = (String::new(), String::new(), String::new());
        for run in runs(text) {
            if run.parts.len() > 1 {
                whole.clear();
                run.parts.iter().for_each(|p| push_lower(&mut whole, &text[p.clone()]));
                let range = run.range.clone();
                emit(Analyzed { text: &whole, kind: Kind::Whole, position, range });
            }
            for part in run.parts {
                word.clear();
                push_lower(&mut word, &text[part.clone()]);
                let range = part.clone();
                emit(Analyzed { text: &word, kind: Kind::Word, position, range });
                if let Some(stem) = self.stem(&word) {
                    marked.clear();
                    marked.push(STEM_MARK);
                    marked.push_str(stem);
                    let kind = Kind::Stem;
                    emit(Analyzed { text: &marked, kind, position, range: part });
                }
                position += 1;
            }
        }
    }

    /// Returns the stem of a lower-case word if it differs from the word.
    pub(super) fn stem(&mut self, word: &str) -> Option<&str> {
        let at = match self.known.get(word) {
            Some(at) => *at,
            None => {
                if self.stems.len() >= MAX_STEMS {
                    self.known.clear();
                    self.stems.clear();
                }
                let stem = stem(self.stemmer, word);
                self.known.insert(word.into(), self.stems.len());
                self.stems.push((stem != word).then(|| stem.into_boxed_str()));
                self.stems.len() - 1
            }
        };
        self.stems[at].as_deref()
    }

    /// Returns the form by which words are compared: the stem, which may be the word itself.
    pub(super) fn canonical(&mut self, word: &str) -> String {
        self.stem(word).unwrap_or(word).to_string()
    }
}

/// Lower-cases letter by letter, as in the index (a final sigma becomes an ordinary one).
pub(super) fn lower(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    push_lower(&mut out, text);
    out
}

fn push_lower(out: &mut String, part: &str) {
    if part.is_ascii() {
        out.push_str(part);
        let start = out.len() - part.len();
        out[start..].make_ascii_lowercase();
    } else {
        out.extend(part.chars().flat_map(char::to_lowercase));
    }
}

/// Applies Porter2 and removes agent suffixes, so that *formatter*, *formatting* and *format* have
/// one stem.
fn stem(stemmer: Stemmer, word: &str) -> String {
    if !word.is_ascii() || word.len() < 3 {
        return word.to_string();
    }
    let mut s = stemmer.stem(word).to_string();
    if s.len() >= 6 && (s.ends_with("er") || s.ends_with("or")) {
        s.truncate(s.len() - 2);
    }
    // `formatt`, `runn`
    if let [.., _, _, _, a, b] = s.as_bytes()
        && a == b
        && b"bdfgmnprt".contains(b)
    {
        s.pop();
    }
    if s.len() > 4 && s.ends_with('e') {
        s.pop();
    }
    if s.len() > 5 && s.ends_with("iz") {
        s.truncate(s.len() - 2);
    }
    s
}

/// Returns the words of a query in lower case, each once, without stop words.
#[must_use]
pub fn search_words(query: &str) -> Vec<String> {
    let mut words: Vec<String> = lower_parts(query).filter(|w| !is_stop_word(w)).collect();
    words.sort_unstable();
    words.dedup();
    words
}

/// Finds the words of a query, in any form, in the text of results.
pub struct Highlighter {
    analyzer: Analyzer,
    /// Canonical words; with `exact` the words themselves.
    wanted: HashSet<String>,
    /// Whether only the exact forms match.
    exact: bool,
}

impl Highlighter {
    /// Creates a highlighter for the words of `query`, without stop words.
    #[must_use]
    pub fn new(query: &str) -> Self {
        let mut analyzer = Analyzer::default();
        let words = lower_parts(query).filter(|w| !is_stop_word(w));
        let wanted = words.map(|w| analyzer.canonical(&w)).collect();
        Self { analyzer, wanted, exact: false }
    }

    /// Creates a highlighter for a query in exact syntax: the words that must occur, as written.
    #[must_use]
    pub fn exact(query: &str) -> Self {
        let mut wanted = HashSet::new();
        let mut excluded = false;
        for item in items(query) {
            let word = item.trim_start_matches('(');
            let excludes = std::mem::replace(&mut excluded, word == "NOT");
            if excludes || word.starts_with('-') || matches!(word, "OR" | "AND" | "NOT") {
                continue;
            }
            let word = word.trim_start_matches('+');
            let word = word
                .split_once(':')
                .filter(|(field, _)| field.chars().all(|c| c.is_ascii_lowercase()))
                .map_or(word, |(_, w)| w);
            wanted.extend(lower_parts(word));
        }
        Self { analyzer: Analyzer::default(), wanted, exact: true }
    }

    /// Returns the byte ranges of `text` to mark, in order.
    pub fn ranges(&mut self, text: &str) -> Vec<Range<usize>> {
        let parts = runs(text).flat_map(|r| r.parts);
        let mut form =
            |word: String| if self.exact { word } else { self.analyzer.canonical(&word) };
        parts.filter(|part| self.wanted.contains(&form(lower(&text[part.clone()])))).collect()
    }
}

/// Splits a query at white space outside quotes.
fn items(query: &str) -> impl Iterator<Item = &str> {
    let mut quoted = false;
    query.split(move |c: char| {
        quoted ^= c == '"';
        c.is_whitespace() && !quoted
    })
}

/// Returns the last component of a qualified name: `a::b` → `b`.
pub(super) fn last_component(name: &str) -> &str {
    let name = name.trim_end_matches(['(', ')', '!', ':', '.']);
    name.rsplit([':', '.', '\\', '>', '#', '/']).next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(text: &str) -> Vec<(String, usize)> {
        let mut out = Vec::new();
        Analyzer::default().terms(text, |t| out.push((t.text.to_string(), t.position)));
        out
    }

    fn words(text: &str) -> String {
        terms(text)
            .into_iter()
            .filter(|(t, _)| !t.starts_with(STEM_MARK))
            .map(|(t, _)| t)
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn identifiers_give_parts_and_whole() {
        assert_eq!(words("ChunkManager"), "chunkmanager chunk manager");
        assert_eq!(words("chunk_manager"), "chunkmanager chunk manager");
        assert_eq!(
            words("HTTPServer2.parse_request"),
            "httpserver2 http server2 parserequest parse request"
        );
        assert_eq!(words("sha256sum"), "sha256sum sha256 sum");
        assert_eq!(words("__init__ _x"), "init x");
        assert_eq!(words("w1a4q a3f09b12"), "w1a4q a3f09b12");
        assert_eq!(words("os.path.join"), "os path join");
        assert_eq!(words("port 8080, 404"), "port 8080 404");
    }

    #[test]
    fn unicode_words_and_ideographs() {
        assert_eq!(words("ÄnderungsZähler läuft"), "änderungszähler änderungs zähler läuft");
        assert_eq!(words("日本語 text"), "日 本 語 text");
        assert_eq!(words("ПриветМир"), "приветмир привет мир");
    }

    #[test]
    fn word_forms_share_a_stem() {
        let mut a = Analyzer::default();
        for group in [
            ["formatter", "formatting", "format"],
            ["loader", "loading", "loads"],
            ["parser", "parsing", "parse"],
        ] {
            let stems: Vec<String> = group.iter().map(|w| a.canonical(w)).collect();
            assert!(stems.iter().all(|s| *s == stems[0]), "{group:?} → {stems:?}");
        }
    }

    #[test]
    fn stems_and_wholes_stand_at_the_position_of_their_words() {
        assert_eq!(
            terms("loadChunks fast"),
            [("loadchunks", 0), ("load", 0), ("chunks", 1), ("~chunk", 1), ("fast", 2)]
                .map(|(t, p)| (t.to_string(), p))
        );
    }

    #[test]
    fn encoded_data_gives_no_terms() {
        assert!(terms(&"QUJD".repeat(40)).is_empty());
    }

    #[test]
    fn highlights_other_forms_of_the_words() {
        let text = "fn loadChunks() { loader.compare() }";
        let marked: Vec<&str> = Highlighter::new("how are chunks loaded")
            .ranges(text)
            .into_iter()
            .map(|r| &text[r])
            .collect();
        assert_eq!(marked, ["load", "Chunks", "loader"]);
    }

    #[test]
    fn an_exact_query_highlights_what_it_wants_and_only_that() {
        let text = "name load loaded lock slow fast or path";
        let marked = |q: &str| {
            Highlighter::exact(q).ranges(text).into_iter().map(|r| &text[r]).collect::<Vec<_>>()
        };
        assert_eq!(marked("name:load -lock -\"slow fast\""), ["load"]);
        assert_eq!(marked("(load OR +\"slow fast\") NOT path"), ["load", "slow", "fast"]);
    }
}
