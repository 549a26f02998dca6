//! Parses a query into the terms and conditions that the search uses.

use super::files::MIN_MENTION;
use super::filter::Filter;
use super::form::{
    Form, asks_for_document, asks_for_record, document_wording, is_imperative, is_question,
};
use super::natural::NaturalLanguage;
use super::operators::{Operators, operators};
use super::reading::{QuestionPart, Reading};
use super::stop_words::is_stop_word;
use super::tokens::{Analyzer, STEM_MARK, last_component, lower, lower_parts, runs};

/// Longest query in characters; the rest is ignored.
const MAX_QUERY_CHARS: usize = 16_000;
/// Most terms that are looked up.
const MAX_TERMS: usize = 64;
/// A text with more words is read by its parts.
const MAX_QUESTION_WORDS: usize = 30;
/// Weights of the parts of a long text; the terms of a part share its weight.
const TITLE: f32 = 1.0;
const LEAD: f32 = 0.5;
const PROSE: f32 = 0.25;
const CODE: f32 = 0.2;
/// A part with fewer terms shares its weight among this many.
const LEAST_TERMS: usize = 6;

/// A parsed query.
#[derive(Debug, Clone, Default)]
pub struct Query {
    /// The words as typed, within the length limit, without restricting prefixes.
    pub text: String,
    /// All that was typed, within the length limit.
    pub(super) asked: String,
    /// The restriction by prefixes.
    pub(super) only: Filter,
    /// Phrases in quotes.
    pub(super) phrases: Vec<String>,
    /// Whether there are no other words: then the phrases must occur.
    pub(super) is_quoted: bool,
    /// Paths that the query names.
    pub(super) paths: Vec<String>,
    /// What the caller should show: corrections, and the language if it is not English.
    pub notes: Vec<String>,
    pub(super) terms: Vec<QueryTerm>,
    /// Every word, lower case, unstemmed, with stop words, and its weight.
    pub(super) words: Vec<(String, f32)>,
    /// Names to compare with definitions, case-sensitive.
    pub(super) identifiers: Vec<String>,
    /// How many of them stand in prose; the others stand in code only.
    pub(super) n_said: usize,
    /// Whether it is a long text, of which [`Reading`] told the parts.
    pub(super) is_long: bool,
    /// Whether it is long and asks something, in contrast to a report.
    pub(super) is_question: bool,
    /// Whether it asks for a document.
    pub(super) asks_for_document: bool,
    /// Whether it asks when something changed, or how it is translated.
    pub(super) asks_for_record: bool,
    /// The text whose meaning counts.
    pub meant: String,
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
    /// Its natural language, if that is recognised as another one than English.
    pub(super) language: Option<&'static NaturalLanguage>,
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
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct QueryTerm {
    /// Index terms that count as this term; their frequencies are added.
    pub(super) variants: Vec<String>,
    /// The stem, or the whole identifier.
    pub(super) canonical: String,
    /// Whether it is a compound identifier as one term.
    pub(super) is_whole: bool,
    /// Its weight among the terms: 1 in a short question.
    pub(super) weight: f32,
}

impl Query {
    /// Parses a query. Every text is valid; one without words finds nothing by words.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self::of(text, NaturalLanguage::of)
    }

    /// Parses a question in another language of which some words were replaced by English ones.
    pub(super) fn translated(text: &str, language: &'static NaturalLanguage) -> Self {
        Self::of(text, |_| Some(language))
    }

    fn of(text: &str, language: impl Fn(&str) -> Option<&'static NaturalLanguage>) -> Self {
        let text: String = text.trim().chars().take(MAX_QUERY_CHARS).collect();
        let asked = text.clone();
        if is_long(&text) {
            return Self { asked, ..Self::long(&text, language) };
        }
        let Operators { text, only, phrases, is_quoted } = operators(&text);
        let language = language(&text);
        Self { asked, only, phrases, is_quoted, ..Self::words_in(&text, language) }
    }

    /// Returns the same query with other words. It asks in the same form.
    pub(super) fn with_words(self, text: &str) -> Self {
        Self {
            only: self.only,
            asked: self.asked,
            phrases: self.phrases,
            is_quoted: self.is_quoted,
            notes: self.notes,
            form: self.form,
            is_imperative: self.is_imperative,
            document_wording: self.document_wording,
            ..Self::words_in(text, self.language)
        }
    }

    /// Lets each word match an identifier whose parts make the word: `sqlite` finds `SQLite`.
    #[must_use]
    pub fn in_any_spelling(mut self) -> Self {
        let mut analyzer = Analyzer::default();
        for (word, _) in &self.words {
            let canonical = analyzer.canonical(word);
            let is_it = |term: &&mut QueryTerm| !term.is_whole && term.canonical == canonical;
            for term in self.terms.iter_mut().filter(is_it) {
                if !term.variants.contains(word) {
                    term.variants.push(word.clone());
                }
            }
        }
        self
    }

    /// Joins the words of several queries. A word of several of them weighs more.
    pub(super) fn of_all(queries: &[Self]) -> Self {
        const MOST: f32 = 3.0;
        let mut terms: Vec<QueryTerm> = Vec::new();
        for term in queries.iter().flat_map(|query| &query.terms) {
            match terms.iter_mut().find(|known| known.variants == term.variants) {
                Some(known) => known.weight += 1.0,
                None => terms.push(QueryTerm { weight: 1.0, ..term.clone() }),
            }
        }
        for term in &mut terms {
            term.weight = term.weight.min(MOST).sqrt();
        }
        Self { terms, ..Self::default() }
    }

    /// Parses a text as words only, without operators.
    pub(super) fn words(text: &str) -> Self {
        Self::words_in(text, NaturalLanguage::of(text))
    }

    fn words_in(text: &str, language: Option<&'static NaturalLanguage>) -> Self {
        let text: String = text.trim().chars().take(MAX_QUERY_CHARS).collect();
        let is_symbol = !text.contains(char::is_whitespace) && looks_like_symbol(&text);
        let about = Self::about(&text, &text, Terms::of(&[(1.0, &text)], language));
        Self {
            language,
            identifiers: identifiers(&text, is_symbol),
            capitalised: if is_symbol { Vec::new() } else { capitalised(&text) },
            paths: paths(&text),
            is_symbol,
            form: if language.is_some() { Form::Topic } else { about.form },
            ..about
        }
    }

    /// Parses a long text by its parts. Operators and quotes in it are those of what was pasted.
    fn long(text: &str, language: impl Fn(&str) -> Option<&'static NaturalLanguage>) -> Self {
        let reading = Reading::of(text);
        let part = |part: QuestionPart| reading.text(&[part]);
        let (title, lead, prose, code) = (
            part(QuestionPart::Title),
            part(QuestionPart::Lead),
            part(QuestionPart::Prose),
            part(QuestionPart::Code),
        );
        let meant = reading.text(&[QuestionPart::Title, QuestionPart::Lead, QuestionPart::Prose]);
        let language = language(&meant);
        let parts = [(TITLE, &*title), (LEAD, &*lead), (PROSE, &*prose), (CODE, &*code)];
        let terms = Terms::of(&parts, language);
        let mut names = identifiers(&meant, false);
        let n_said = names.len();
        for name in identifiers(&code, false) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        Self {
            identifiers: names,
            n_said,
            capitalised: capitalised(&title),
            // Names of files without a folder are often those of an example.
            paths: paths(&meant).into_iter().filter(|path| path.contains('/')).collect(),
            is_long: true,
            is_question: code.is_empty() && is_question(&title, text),
            language,
            meant,
            ..Self::about(text, &title, terms)
        }
    }

    /// Describes a text, of which `head` says what is wanted.
    fn about(text: &str, head: &str, terms: Terms) -> Self {
        let names_tests = |word: String| {
            matches!(
                word.as_str(),
                "test" | "tests" | "testing" | "mock" | "spec" | "bench" | "benchmark"
            )
        };
        Self {
            about_tests: lower_parts(head).any(names_tests),
            asks_for_document: asks_for_document(head),
            asks_for_record: asks_for_record(head),
            form: Form::of(head),
            is_imperative: is_imperative(head),
            document_wording: document_wording(head),
            has_known_word: true,
            meant: head.to_string(),
            text: text.to_string(),
            terms: terms.terms,
            words: terms.words,
            ..Self::default()
        }
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

/// Whether a text has more words than a question: it is a report, or a paragraph.
fn is_long(text: &str) -> bool {
    text.split_whitespace().nth(MAX_QUESTION_WORDS).is_some()
}

/// The terms and words of a query with their weights.
#[derive(Default)]
struct Terms {
    terms: Vec<QueryTerm>,
    words: Vec<(String, f32)>,
}

impl Terms {
    /// Reads the parts of a query, the most important first. All terms of a part share its weight,
    /// so a long part does not drown the others; the largest weight of a term is 1. The function
    /// words of another language than English are in no text of English, and would count as rare.
    fn of(parts: &[(f32, &str)], language: Option<&NaturalLanguage>) -> Self {
        let is_of_language = |word: &str| language.is_some_and(|language| language.has(word));
        let mut out = Self::default();
        let mut analyzer = Analyzer::default();
        for (mass, text) in parts {
            let mut own = Self::default();
            let all: Vec<(String, Vec<String>)> = runs(text)
                .map(|r| {
                    (
                        text[r.range].to_string(),
                        r.parts.into_iter().map(|p| lower(&text[p])).collect(),
                    )
                })
                .collect();
            let is_kept = |run: &str| !is_stop_word(run) && !is_of_language(run);
            let mut kept: Vec<_> =
                all.iter().filter(|(run, _)| is_kept(&run.to_lowercase())).collect();
            if kept.is_empty() && parts.len() == 1 {
                kept = all.iter().collect();
            }
            for (_, parts) in kept {
                for part in parts {
                    own.add(stemmed(&mut analyzer, part));
                }
                if parts.len() > 1 {
                    let whole = parts.concat();
                    own.add(QueryTerm {
                        variants: vec![whole.clone()],
                        canonical: whole,
                        is_whole: true,
                        weight: 0.0,
                    });
                }
            }
            for word in all.iter().flat_map(|(_, parts)| parts) {
                if !is_of_language(word) && !own.words.iter().any(|(known, _)| known == word) {
                    own.words.push((word.clone(), 0.0));
                }
            }
            let share = |n: usize| mass / n.max(LEAST_TERMS) as f32;
            let (of_term, of_word) = (share(own.terms.len()), share(own.words.len()));
            for term in own.terms {
                if let Some(known) = out.terms.iter_mut().find(|t| t.variants == term.variants) {
                    known.weight += of_term;
                } else if out.terms.len() < MAX_TERMS {
                    out.terms.push(QueryTerm { weight: of_term, ..term });
                }
            }
            for (word, _) in own.words {
                if let Some(known) = out.words.iter_mut().find(|(known, _)| *known == word) {
                    known.1 += of_word;
                } else if out.words.len() < MAX_TERMS {
                    out.words.push((word, of_word));
                }
            }
        }
        let most =
            |weights: &mut dyn Iterator<Item = f32>| weights.fold(f32::MIN_POSITIVE, f32::max);
        let (of_terms, of_words) = (
            most(&mut out.terms.iter().map(|t| t.weight)),
            most(&mut out.words.iter().map(|w| w.1)),
        );
        out.terms.iter_mut().for_each(|term| term.weight /= of_terms);
        out.words.iter_mut().for_each(|word| word.1 /= of_words);
        out.words.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        out
    }

    fn add(&mut self, term: QueryTerm) {
        if !self.terms.iter().any(|t| t.variants == term.variants) {
            self.terms.push(term);
        }
    }
}

fn stemmed(analyzer: &mut Analyzer, word: &str) -> QueryTerm {
    let canonical = analyzer.canonical(word);
    let mut variants = vec![format!("{STEM_MARK}{canonical}")];
    // A word that equals its stem is indexed without the mark.
    if analyzer.stem(&canonical).is_none() {
        variants.push(canonical.clone());
    }
    QueryTerm { variants, canonical, is_whole: false, weight: 0.0 }
}

fn looks_like_symbol(text: &str) -> bool {
    text.chars().all(|c| {
        c.is_alphanumeric()
            || matches!(c, '_' | ':' | '.' | '\\' | '-' | '>' | '#' | '!' | '?' | '$' | '(' | ')')
    }) && text.chars().any(char::is_alphabetic)
}

/// Returns the words that look like identifiers: camel case, underscores, qualified names, what stands
/// between backticks or before a bracket; for a symbol query its last component.
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
    for name in written_as_code(text) {
        add(name);
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

/// Returns the names between backticks, and those of calls (`inspect(`).
fn written_as_code(text: &str) -> impl Iterator<Item = &str> {
    let is_name = |word: &&str| word.len() >= MIN_MENTION && !word.starts_with(char::is_numeric);
    let last_of = |text| runs(text).last().map(|run| &text[run.range]);
    let quoted = text.lines().flat_map(|line| line.split('`').skip(1).step_by(2));
    let quoted = quoted.filter(|of| !of.contains(char::is_whitespace)).filter_map(last_of);
    let called = text.rsplit_once('(').into_iter().flat_map(|(before, _)| before.split('('));
    let called = called.filter_map(move |before| {
        let name = last_of(before)?;
        before.ends_with(name).then_some(name)
    });
    quoted.chain(called).filter(is_name)
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
    fn function_words_of_other_languages_are_not_searched_for() {
        let query = Query::new("wie wird die Verbindung geschlossen");
        let words: Vec<&str> = query.words.iter().map(|(word, _)| &**word).collect();
        assert_eq!(words, ["geschlossen", "verbindung"]);
        assert_eq!(query.terms.len(), 2);
        assert!(Query::new("a die roll").words.iter().any(|(word, _)| word == "die"));
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
        assert_eq!(
            Query::new("why does `inspect` call retry(3) and not wait").identifiers,
            ["inspect", "retry"]
        );
        assert_eq!(Query::new("Server.Start()").identifiers, ["Start"]);
        assert!(Query::new("Session handling").identifiers.is_empty());
        assert_eq!(Query::new("Session handling").capitalised, ["Session"]);
        assert!(Query::new("load").is_symbol);
        assert!(!Query::new("load it").is_symbol);
    }

    #[test]
    fn the_title_of_a_long_text_weighs_most_and_names_of_examples_little() {
        let text = "Kettle boils over when the lid is open\n\nThe `Lid.is_open` flag changed and the kettle went on \
                    heating, see src/kettle/heat.rs for the loop that should look at it.\n\n```\nimport example.rst\n\
                    brew_tea(\"path:a lang:b\")\n```\n";
        let q = Query::new(text);
        assert!(q.is_long);
        let weight = |word: &str| q.terms.iter().find(|t| t.canonical == word).unwrap().weight;
        assert!(weight("boil") > 2.0 * weight("heat"), "{:?}", q.terms);
        assert!(weight("heat") > weight("brew"), "{:?}", q.terms);
        assert!(weight("kettl") > 0.99, "{:?}", q.terms);
        let at = |name: &str| q.identifiers.iter().position(|i| i == name).unwrap();
        assert!(at("is_open") < q.n_said && at("brew_tea") >= q.n_said, "{:?}", q.identifiers);
        assert_eq!(q.paths, ["src/kettle/heat.rs"]);
        assert!(q.phrases.is_empty() && q.only.is_empty());
        assert!(!q.meant.contains("brew_tea"), "{}", q.meant);
    }

    #[test]
    fn a_long_text_keeps_its_first_words() {
        let text: String =
            ('a'..='z').rev().flat_map(|a| ('a'..='z').map(move |b| format!("{a}{b}x "))).collect();
        let q = Query::new(&text);
        assert_eq!(q.words.len(), MAX_TERMS);
        assert!(q.words.iter().any(|(word, _)| word == "zax"));
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
