//! Parses a query into the terms and conditions that the search uses.

use super::filter::Filter;
use super::form::{Form, document_wording, is_imperative};
use super::operators::{Operators, operators};
use super::stop_words::is_stop_word;
use super::tokens::{Analyzer, STEM_MARK, last_component, lower, runs};

/// Longest query in characters; the rest is ignored.
const MAX_QUERY_CHARS: usize = 2_000;
/// Most terms that are looked up.
const MAX_TERMS: usize = 64;

/// A parsed query.
#[derive(Debug, Clone, Default)]
pub struct Query {
    /// The words as typed, within the length limit, without restricting prefixes.
    pub text: String,
    /// The restriction by prefixes.
    pub(super) only: Filter,
    /// Phrases in quotes.
    pub(super) phrases: Vec<String>,
    /// Whether there are no other words: then the phrases must occur.
    pub(super) is_quoted: bool,
    /// Paths that the query names.
    pub(super) paths: Vec<String>,
    /// Corrections that the caller should show.
    pub(super) notes: Vec<String>,
    pub(super) terms: Vec<QueryTerm>,
    /// Every word, lower case, unstemmed, with stop words.
    pub(super) words: Vec<String>,
    /// Names to compare with definitions, case-sensitive.
    pub(super) identifiers: Vec<String>,
    /// Capitalised plain words, which may be names of types.
    pub(super) capitalised: Vec<String>,
    /// Whether the query is a single identifier.
    pub(super) is_symbol: bool,
    /// Whether the query mentions tests.
    pub(super) about_tests: bool,
    /// Topic or statement.
    pub(super) form: Form,
    /// Whether the query starts with a verb.
    pub(super) is_imperative: bool,
    /// The logarithm of how much more probable it is that a document says this.
    pub(super) document_wording: f64,
    /// Whether a word of it is known as one of a natural language.
    pub(super) has_known_word: bool,
    /// Commits that do not count.
    pub(super) hidden_commits: Option<HiddenCommits>,
}

/// The commits that a measurement hides from a query because they give the answer away.
#[derive(Debug, Clone, Default)]
pub struct HiddenCommits {
    /// This commit and those that came later.
    pub since: Option<String>,
    /// Commits with five successive words of the query.
    pub quotes: bool,
}

/// One term of a query.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct QueryTerm {
    /// Index terms that count as this term; their frequencies are added.
    pub(super) variants: Vec<String>,
    /// The stem, or the whole identifier.
    pub(super) canonical: String,
    /// Whether it is a compound identifier as one term.
    pub(super) is_whole: bool,
}

impl Query {
    /// Parses a query. Every text is valid; one without words finds nothing by words.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let text: String = text.trim().chars().take(MAX_QUERY_CHARS).collect();
        let Operators { text, only, phrases, is_quoted } = operators(&text);
        Self { only, phrases, is_quoted, ..Self::words(&text) }
    }

    /// Returns the same query with other words.
    pub(super) fn with_words(self, text: &str, notes: Vec<String>) -> Self {
        Self {
            only: self.only,
            phrases: self.phrases,
            is_quoted: self.is_quoted,
            notes,
            ..Self::words(text)
        }
    }

    /// Parses a text as words only, without operators.
    pub(super) fn words(text: &str) -> Self {
        let text: String = text.trim().chars().take(MAX_QUERY_CHARS).collect();
        let all: Vec<(String, Vec<String>)> = runs(&text)
            .map(|r| {
                (text[r.range].to_string(), r.parts.into_iter().map(|p| lower(&text[p])).collect())
            })
            .collect();
        let mut kept: Vec<_> =
            all.iter().filter(|(run, _)| !is_stop_word(&run.to_lowercase())).collect();
        if kept.is_empty() {
            kept = all.iter().collect();
        }
        let mut analyzer = Analyzer::default();
        let mut terms: Vec<QueryTerm> = Vec::new();
        let mut add = |term: QueryTerm| {
            if terms.len() < MAX_TERMS && !terms.iter().any(|t| t.variants == term.variants) {
                terms.push(term);
            }
        };
        for (_, parts) in kept {
            for part in parts {
                add(stemmed(&mut analyzer, part));
            }
            if parts.len() > 1 {
                let whole = parts.concat();
                add(QueryTerm { variants: vec![whole.clone()], canonical: whole, is_whole: true });
            }
        }
        let mut words: Vec<String> = all.iter().flat_map(|(_, parts)| parts).cloned().collect();
        words.sort_unstable();
        words.dedup();
        words.truncate(MAX_TERMS);
        let is_symbol = !text.contains(char::is_whitespace) && looks_like_symbol(&text);
        Self {
            identifiers: identifiers(&text, is_symbol),
            capitalised: if is_symbol { Vec::new() } else { capitalised(&text) },
            about_tests: all.iter().flat_map(|(_, p)| p).any(|w| {
                matches!(
                    w.as_str(),
                    "test" | "tests" | "testing" | "mock" | "spec" | "bench" | "benchmark"
                )
            }),
            form: Form::of(&text),
            is_imperative: is_imperative(&text),
            document_wording: document_wording(&text),
            has_known_word: true,
            paths: paths(&text),
            is_symbol,
            terms,
            words,
            text,
            ..Self::default()
        }
    }

    /// Returns the same query with another form.
    #[must_use]
    pub fn with_form(self, form: Form) -> Self {
        Self { form, ..self }
    }

    /// Returns the same query, for which these commits do not count.
    #[must_use]
    pub fn without_commits(self, hidden: HiddenCommits) -> Self {
        Self { hidden_commits: Some(hidden), ..self }
    }

    /// Returns whether there is nothing to look for.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }
}

fn stemmed(analyzer: &mut Analyzer, word: &str) -> QueryTerm {
    let canonical = analyzer.canonical(word);
    let mut variants = vec![format!("{STEM_MARK}{canonical}")];
    // A word that equals its stem is indexed without the mark.
    if analyzer.stem(&canonical).is_none() {
        variants.push(canonical.clone());
    }
    QueryTerm { variants, canonical, is_whole: false }
}

fn looks_like_symbol(text: &str) -> bool {
    text.chars().all(|c| {
        c.is_alphanumeric()
            || matches!(c, '_' | ':' | '.' | '\\' | '-' | '>' | '#' | '!' | '?' | '$' | '(' | ')')
    }) && text.chars().any(char::is_alphabetic)
}

/// Returns the words that look like identifiers: camel case, underscores, qualified names; for a
/// symbol query its last component.
fn identifiers(text: &str, is_symbol: bool) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut add = |name: &str| {
        if !name.is_empty() && !out.iter().any(|n| n == name) {
            out.push(name.to_string());
        }
    };
    if is_symbol {
        add(last_component(text));
        return out;
    }
    for word in text.split_whitespace() {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '_');
        let qualified = ["::", "->", "."].iter().any(|s| word.contains(s)) || word.contains('\\');
        if qualified {
            add(last_component(word));
        }
        for run in runs(word) {
            let run = &word[run.range.clone()];
            let humps = run
                .chars()
                .zip(run.chars().skip(1))
                .any(|(a, b)| !a.is_uppercase() && b.is_uppercase());
            let acronym =
                run.chars().take(2).all(char::is_uppercase) && run.chars().any(char::is_lowercase);
            if humps || acronym || (run.contains('_') && run.len() > 1) {
                add(run);
            }
        }
    }
    out
}

/// Returns the words that look like paths: `src/live`, `rank.rs`.
fn paths(text: &str) -> Vec<String> {
    let like_path = |w: &&str| {
        let name = w.rsplit('/').next().unwrap_or_default();
        let has_extension = name
            .rsplit_once('.')
            .is_some_and(|(stem, e)| !stem.is_empty() && (1..=8).contains(&e.len()));
        (w.contains('/') || has_extension)
            && w.chars().all(|c| c.is_alphanumeric() || "/._-+@".contains(c))
            && w.contains(char::is_alphanumeric)
    };
    let trim = |w: &'_ str| {
        w.trim_matches(['`', ',', '(', ')', '\'', '?', ':', ';']).trim_end_matches('.').to_string()
    };
    let words: Vec<String> = text.split_whitespace().map(trim).collect();
    words
        .iter()
        .map(String::as_str)
        .filter(like_path)
        .map(|w| w.trim_start_matches("./").trim_matches('/').to_string())
        .collect()
}

fn capitalised(text: &str) -> Vec<String> {
    let plain = |w: &&str| {
        let mut chars = w.chars();
        chars.next().is_some_and(char::is_uppercase) && w.len() > 1 && chars.all(char::is_lowercase)
    };
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(plain).map(String::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn canonical(q: &str) -> Vec<String> {
        Query::new(q).terms.into_iter().map(|t| t.canonical).collect()
    }

    #[test]
    fn stop_words_go_unless_nothing_else_is_there() {
        assert_eq!(canonical("how is the cache cleared"), ["cach", "clear"]);
        assert_eq!(canonical("what is it"), ["what", "is", "it"]);
        assert_eq!(canonical(""), Vec::<String>::new());
    }

    #[test]
    fn identifiers_are_found_in_sentences_and_alone() {
        assert_eq!(
            Query::new("where does ChunkManager call load_all").identifiers,
            ["ChunkManager", "load_all"]
        );
        assert_eq!(Query::new("absl::flat_hash_map iteration").identifiers, ["flat_hash_map"]);
        assert_eq!(Query::new("Server.Start()").identifiers, ["Start"]);
        assert!(Query::new("Session handling").identifiers.is_empty());
        assert_eq!(Query::new("Session handling").capitalised, ["Session"]);
        assert!(Query::new("load").is_symbol);
        assert!(!Query::new("load it").is_symbol);
    }

    #[test]
    fn a_very_long_query_is_cut() {
        let q = Query::new(&"word ".repeat(10_000));
        assert_eq!(q.terms.len(), 1);
        assert!(q.text.chars().count() <= MAX_QUERY_CHARS);
        let many: String = (0..500).map(|i| format!("w{}x ", i * 7919)).collect();
        assert!(Query::new(&many).terms.len() <= MAX_TERMS);
    }
}
