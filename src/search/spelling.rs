//! Corrects words of a query that occur nowhere: the nearest name of the project joins them.
//!
//! Whether a word is corrected, and to which name, depends on the word alone, and not on the others
//! of the query; only a sentence in another language than English has words of its own.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::Slot;
use super::corpus::Corpus;
use super::names::{MIN_CHARS, Name};
use super::natural::{NaturalLanguage, is_function_word};
use super::query::Query;
use super::text::{Field, TextError};
use super::tokens::{lower, lower_parts, runs};

/// From this many characters on, a word may have two wrong letters; a shorter one may have one.
const TWO_WRONG: usize = 8;
/// Largest number of unknown words of a query for which a near name is looked up: more than a
/// question has.
const MAX_WORDS: usize = 40;
/// Number of translations that a note names.
const NAMED_PAIRS: usize = 6;
/// From this many characters on, a word with one wrong letter may be an English word.
const LONG_WORD: usize = 7;

/// The words and names by which a query is corrected.
pub(super) trait Vocabulary {
    type Error;

    /// Returns whether a part of a word, in lower case, occurs in a text, a name or a path.
    fn holds(&self, part: &str) -> Result<bool, Self::Error>;

    /// Returns the name, part of a name or word of a title that differs from `word` in the fewest
    /// letters, at most `allowed`; of several, the one that most chunks have. `is_meant` tells by the
    /// number of wrong letters and the name, in lower case, whether it counts.
    fn nearest(
        &self,
        word: &Name,
        allowed: usize,
        is_meant: &dyn Fn(usize, &str) -> bool,
    ) -> Result<Option<Near>, Self::Error>;
}

/// Parses a query, translates it if it is not English, and corrects the words that none of `corpora`
/// holds. The notes of the query name each correction, and the language if it is not English. `is_word`
/// tells the words of English, which are never misspelled names. Nothing is a misspelled English word
/// either, unless it is long: short words of any language resemble one.
pub(super) fn corrected<V: Vocabulary>(
    corpora: &[&V],
    text: &str,
    is_word: &dyn Fn(&str) -> bool,
) -> Result<Query, V::Error> {
    let mut query = Query::new(text);
    if let Some(found) = in_english(corpora, &query, is_word)? {
        let asked = query.asked;
        query = Query { asked, ..Query::translated(&found.text, found.language) };
        query.notes.push(found.note);
    }
    query.has_known_word = runs(&query.text).any(|run| is_word(&query.text[run.range]));
    // A pasted text has many words that are no names, and keeps its parts.
    if query.is_long {
        return Ok(query);
    }
    let mut corrected = String::new();
    let (mut end, mut n_checked, mut notes) = (0, 0, Vec::new());
    for run in runs(&query.text) {
        let word = &query.text[run.range.clone()];
        if n_checked == MAX_WORDS {
            break;
        }
        let is_of_language = is_function_word(&lower(word))
            || query.language.is_some() && word.chars().skip(1).all(is_plain);
        if is_of_language || is_word(word) || is_known(corpora, word)? {
            continue;
        }
        n_checked += 1;
        let is_long = word.chars().count() >= LONG_WORD;
        let is_meant = |wrong: usize, name: &str| !is_word(name) || is_long && wrong == 1;
        let Some(name) = nearest(corpora, word, &is_meant)? else { continue };
        // A word of a question stays beside its correction, in case it was meant.
        let kept = if query.is_symbol { run.range.start } else { run.range.end };
        corrected.push_str(&query.text[end..kept]);
        if !query.is_symbol {
            corrected.push(' ');
        }
        corrected.push_str(&name);
        end = run.range.end;
        notes.push(format!("`{word}` occurs nowhere: searched for `{name}`"));
    }
    if notes.is_empty() {
        return Ok(query);
    }
    corrected.push_str(&query.text[end..]);
    query.notes.extend(notes);
    Ok(query.with_words(&corrected))
}

/// A question in English.
pub(super) struct InEnglish {
    pub(super) text: String,
    /// What it was written in.
    pub(super) language: &'static NaturalLanguage,
    /// What a reader should know of it.
    pub(super) note: String,
}

/// Translates the words of a question that the dictionary of its language has; `None` if it is English.
/// A word that one of `corpora` holds stays beside its translation, because documents may be in this
/// language.
pub(super) fn in_english<V: Vocabulary>(
    corpora: &[&V],
    query: &Query,
    is_word: &dyn Fn(&str) -> bool,
) -> Result<Option<InEnglish>, V::Error> {
    let text = &*query.asked;
    let by_phrase = || {
        let language = NaturalLanguage::of_phrase(text, is_word)?;
        Some((language, language.translations(text))).filter(|(_, found)| !found.is_empty())
    };
    let (language, found) = match query.language {
        Some(language) => {
            let found = language.translations(text);
            let other = language.resembled().filter(|_| found.is_empty());
            let other = other.map(|other| (other, other.translations(text)));
            other.filter(|(_, found)| !found.is_empty()).unwrap_or((language, found))
        }
        // A name of the project is what it is.
        None if query.is_symbol && is_known(corpora, text)? => return Ok(None),
        None => match by_phrase() {
            Some(found) => found,
            None => return Ok(None),
        },
    };
    let (mut out, mut end) = (String::new(), 0);
    let mut pairs: Vec<String> = Vec::new();
    for meant in found {
        let word = &text[meant.range.clone()];
        out.push_str(&known_part(corpora, &text[end..meant.range.start], language)?);
        if is_anywhere(corpora, word)? {
            out.push_str(word);
        }
        let english = meant.english.join(" ");
        out.extend([" ", &english, " "]);
        end = meant.range.end;
        let pair = format!("{word} → {english}");
        if lower(word) != english && !pairs.contains(&pair) {
            pairs.push(pair);
        }
    }
    out.push_str(&known_part(corpora, &text[end..], language)?);
    let name = language.name;
    let more = pairs.len().saturating_sub(NAMED_PAIRS);
    pairs.truncate(NAMED_PAIRS);
    let note = if pairs.is_empty() {
        format!(
            "the question seems to be {name}, and no word of it could be translated: ask in English"
        )
    } else {
        let more = if more > 0 { format!(", and {more} more") } else { String::new() };
        format!("the question seems to be {name}; searched in English: {}{more}", pairs.join(", "))
    };
    Ok(Some(InEnglish { text: out, language, note }))
}

/// Returns a text without the plain words that nothing holds: no translation is known of them, and they
/// would only make the others count less.
fn known_part<V: Vocabulary>(
    corpora: &[&V],
    text: &str,
    language: &NaturalLanguage,
) -> Result<String, V::Error> {
    let (mut out, mut end) = (String::new(), 0);
    for run in runs(text) {
        let word = &text[run.range.clone()];
        let is_plain_word = word.chars().skip(1).all(is_plain) && !language.has(&lower(word));
        if is_plain_word && !is_anywhere(corpora, word)? {
            out.push_str(&text[end..run.range.start]);
            end = run.range.end;
        }
    }
    out.push_str(&text[end..]);
    Ok(out)
}

/// Whether one of `corpora` holds every part of a word.
fn is_anywhere<V: Vocabulary>(corpora: &[&V], word: &str) -> Result<bool, V::Error> {
    for corpus in corpora {
        let mut holds_all = true;
        for part in lower_parts(word) {
            holds_all = holds_all && corpus.holds(&part)?;
        }
        if holds_all {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a letter after the first one is that of a word, and not of an identifier.
fn is_plain(c: char) -> bool {
    c.is_alphabetic() && !c.is_uppercase()
}

/// Returns whether every part of a word occurs in one of `corpora`.
fn is_known<V: Vocabulary>(corpora: &[&V], word: &str) -> Result<bool, V::Error> {
    let anywhere = |part: &str| {
        for corpus in corpora {
            if corpus.holds(part)? {
                return Ok(true);
            }
        }
        Ok(false)
    };
    for part in lower_parts(word) {
        // Numbers and short words are never corrected.
        if part.chars().count() >= MIN_CHARS
            && !part.starts_with(char::is_numeric)
            && !anywhere(&part)?
        {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns the name in any of `corpora` that differs from `word` in the fewest letters, of those that
/// `is_meant` counts.
fn nearest<V: Vocabulary>(
    corpora: &[&V],
    word: &str,
    is_meant: &dyn Fn(usize, &str) -> bool,
) -> Result<Option<String>, V::Error> {
    let word = Name::written(word);
    let allowed = if word.text.chars().count() < TWO_WRONG { 1 } else { 2 };
    let mut best: Option<Near> = None;
    for corpus in corpora {
        let near = corpus.nearest(&word, allowed, is_meant)?;
        best = [best, near].into_iter().flatten().min();
    }
    Ok(best.map(|near| near.2))
}

/// The number of wrong letters, the number of chunks that have the name, and the name.
pub(super) type Near = (usize, Reverse<usize>, String);

impl Vocabulary for Corpus {
    type Error = TextError;

    fn holds(&self, part: &str) -> Result<bool, TextError> {
        for field in [Field::Body, Field::Name, Field::Path] {
            if self.text.contains(field, part)? {
                return Ok(true);
            }
        }
        for stem in Query::words(part).terms.iter().flat_map(|t| &t.variants) {
            if self.text.contains(Field::Body, stem)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn nearest(
        &self,
        word: &Name,
        allowed: usize,
        is_meant: &dyn Fn(usize, &str) -> bool,
    ) -> Result<Option<Near>, TextError> {
        let mut near: BTreeMap<&str, usize> = BTreeMap::new();
        for name in self.names()? {
            let wrong = word.distance(name, allowed).filter(|wrong| is_meant(*wrong, &name.text));
            near.extend(wrong.map(|wrong| (&*name.text, wrong)));
        }
        let mut best: Option<(usize, Reverse<usize>, &str, Slot)> = None;
        for (name, wrong) in near {
            let mut slots = Vec::new();
            self.text.postings(Field::Name, name, |p| slots.push(p.slot))?;
            let id = |slot: &Slot| self.entry(*slot).map(|e| e.id.clone());
            // A name without postings belongs to chunks that were deleted.
            let Some(first) = slots.iter().copied().min_by_key(id) else { continue };
            let candidate = (wrong, Reverse(slots.len()), name, first);
            if best.as_ref().is_none_or(|b| candidate < *b) {
                best = Some(candidate);
            }
        }
        Ok(best.map(|(wrong, n, name, slot)| {
            (wrong, n, as_written(self, slot, name).unwrap_or_else(|| name.to_string()))
        }))
    }
}

/// Returns how a chunk writes a name that is known in lower case.
fn as_written(corpus: &Corpus, slot: Slot, name: &str) -> Option<String> {
    let chunk = corpus.chunk(slot)?;
    let texts = chunk.metadata.names.iter().map(|n| n.name.as_str()).chain([chunk.title.as_str()]);
    let words = texts.flat_map(|text| {
        runs(text).flat_map(|run| std::iter::once(run.range).chain(run.parts)).map(|r| &text[r])
    });
    words.filter(|word| *Name::written(word).text == *name).min().map(String::from)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    /// The names of a project, each of one chunk.
    struct Names(&'static [&'static str]);

    impl Vocabulary for Names {
        type Error = Infallible;

        fn holds(&self, part: &str) -> Result<bool, Infallible> {
            Ok(self.0.iter().any(|name| lower_parts(name).any(|known| known == part)))
        }

        fn nearest(
            &self,
            word: &Name,
            allowed: usize,
            is_meant: &dyn Fn(usize, &str) -> bool,
        ) -> Result<Option<Near>, Infallible> {
            let near = |name: &&str| {
                let known = Name::written(name);
                let wrong = word.distance(&known, allowed)?;
                is_meant(wrong, &known.text).then(|| (wrong, Reverse(1), (*name).to_string()))
            };
            Ok(self.0.iter().filter_map(near).min())
        }
    }

    /// Returns the notes of a question to a project with some names.
    fn notes(question: &str) -> Vec<String> {
        const ENGLISH: &str = " a date free from how is list lock open pass retrieve returns row sort the they what when where word ";
        let names =
            Names(&["PostgresConnector", "pass", "word", "sort", "date", "list", "retrieve"]);
        let is_word = |word: &str| ENGLISH.contains(&format!(" {} ", word.to_lowercase()));
        corrected(&[&names], question, &is_word).unwrap().notes
    }

    #[test]
    fn a_typo_has_the_same_correction_in_each_sentence() {
        for (typo, name) in [("PosgresConnector", "PostgresConnector"), ("retreive", "retrieve")] {
            let want = format!("`{typo}` occurs nowhere: searched for `{name}`");
            for question in [
                typo.to_string(),
                format!("where is {typo}"),
                format!("Returns what they {typo} from the row when the lock is free"),
                format!("uno dos tres cuatro cinco seis siete ocho nueve {typo}"),
            ] {
                assert!(notes(&question).contains(&want), "{question}: {:?}", notes(&question));
            }
        }
        let german = notes("wie wird der PosgresConnector geöffnet, wenn er nicht frei ist");
        assert!(german.iter().any(|note| note.contains("`PostgresConnector`")), "{german:?}");
    }

    #[test]
    fn words_of_other_languages_are_not_misspelled_english() {
        for question in ["dass", "wird", "Wort", "Datei", "Liste", "pasa", "mots", "wrod"] {
            let notes = notes(question);
            assert!(
                notes.iter().all(|note| !note.contains("occurs nowhere")),
                "{question}: {notes:?}"
            );
        }
        assert!(notes("wrod").is_empty());
        for (question, language) in [
            ("wie wird sichergestellt, dass ein Wort in der Datei steht", "German"),
            ("où sont les mots de la liste", "French"),
            ("cuando pasa por la lista de los datos", "Spanish"),
        ] {
            let notes = notes(question);
            let [note] = &*notes else { panic!("{question}: {notes:?}") };
            assert!(note.contains(language) && note.contains("English"), "{note}");
        }
    }
}
