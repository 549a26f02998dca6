//! Detects the form of a query: a topic ("retry with back-off", "how are files locked") or a
//! statement ("Returns the number of bytes that were written", "fix crash when the list is empty").
//! A question about a topic uses words of names, so file names answer it. A statement describes
//! code in ordinary words: there the text decides, and names mislead.

use super::stop_words::is_one_of;
use super::tokens::lower;

/// Words of sentences only: finite verbs, pronouns, conjunctions, articles.
const SENTENCE_WORDS: &str = " a an the is are was were be been being will would can cannot could should may might must has have had does did doesn't \
don't isn't aren't won't you your we our us they it its it's this that's these those if when whether not no instead after before because so than but which ";

/// First words of a question. A question asks for a topic, however long it is. A text that begins
/// with `when`, `does` or `is` is one only if it ends with a question mark: most such texts are
/// sentences of documents.
const QUESTION_WORDS: &str = " how what where why which who whose ";

/// First words of commit messages and comments.
const VERBS: &str = " add adds fix fixes use uses remove removes make makes allow allows support supports move moves improve improves avoid avoids \
update updates change changes refactor implement ensure ensures return returns enable disable handle handles rename replace replaces set sets get gets \
check checks prevent prevents introduce clean correct reduce expose convert converts pass include create creates skip skips simplify switch drop \
optimize optimise deprecate bump merge revert keep extend apply extract restore expand raise raises call calls give gives read reads write writes parse \
parses build builds compute computes wrap wraps determine determines indicate indicates represents contains provides defines tells tries ";

/// Words of questions about documents.
const DOCUMENTS: &str = " documentation docs doc readme guide tutorial changelog manual document documented documents faq roadmap contributing ";

/// Words of questions about changes, versions and translations.
const RECORDS: &str = " breaking deprecated dropped history i18n language languages locale locales news release released releases translated \
translation translations version versions ";

/// A text with more words is a statement.
const LONG: usize = 12;
/// A text with fewer words is a topic.
const SHORT: usize = 3;

/// Words that tell sentences of documents from comments, commit messages and descriptions of tests:
/// the word, and the logarithm of how much more probable a document is. Fitted on questions of known
/// origin (specs/retrieval.md).
const WORDING: [(&str, f64); 16] = [
    ("the", 0.87),
    ("you", 2.2),
    ("your", 1.4),
    ("is", 0.82),
    ("are", 1.28),
    ("be", 1.05),
    ("will", 1.24),
    ("can", 1.12),
    ("this", 1.11),
    ("to", 0.66),
    ("as", 0.56),
    ("a", 0.43),
    ("when", -0.43),
    ("if", -0.62),
    ("fix", -0.98),
    ("given", -1.0),
];
/// The same for first words, in addition.
const OPENING: [(&str, f64); 7] = [
    ("the", 1.77),
    ("a", 1.2),
    ("if", 0.96),
    ("this", 0.82),
    ("fix", -0.75),
    ("should", -0.75),
    ("add", -1.04),
];
const COMMA: f64 = 1.62;
/// The logarithm for a sentence without any of these.
const NO_WORDING: f64 = -1.77;
/// The wording is no stronger evidence than this.
const MOST_WORDING: f64 = 2.0;

/// The form of a query.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Form {
    /// Names of things.
    #[default]
    Topic,
    /// A sentence about what code does.
    Statement,
}

fn words(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '-' && c != '_')
        .filter(|w| !w.is_empty())
        .map(lower)
        .collect()
}

/// Returns the logarithm of how much more probable it is that a document says a sentence than that
/// a comment, a commit or a test does; −2 to 2.
pub(super) fn document_wording(text: &str) -> f64 {
    let words = words(text);
    let holds = |word: &str| words.iter().any(|w| w == word);
    let of_words: f64 = WORDING.iter().filter(|(word, _)| holds(word)).map(|(_, log)| log).sum();
    let opens = |word: &str| words.first().is_some_and(|w| w == word);
    let of_opening: f64 = OPENING.iter().filter(|(word, _)| opens(word)).map(|(_, log)| log).sum();
    let of_comma = if text.contains(',') { COMMA } else { 0.0 };
    (NO_WORDING + of_words + of_opening + of_comma).clamp(-MOST_WORDING, MOST_WORDING)
}

impl Form {
    /// Detects the form of a text.
    pub(super) fn of(text: &str) -> Self {
        let words = words(text);
        let is_question = words.first().is_some_and(|w| is_one_of(QUESTION_WORDS, w))
            || text.trim_end().ends_with('?');
        if is_question || words.len() < SHORT {
            return Self::Topic;
        }
        let is_statement = is_imperative(text)
            || words.len() > LONG
            || words.iter().any(|w| is_one_of(SENTENCE_WORDS, w));
        if is_statement { Self::Statement } else { Self::Topic }
    }
}

/// Returns whether the text is a question.
pub(super) fn asks(text: &str) -> bool {
    words(text).first().is_some_and(|w| is_one_of(QUESTION_WORDS, w))
}

/// Returns whether a long text asks something: its title has a question word, or it is one paragraph
/// with a question mark.
pub(super) fn is_question(title: &str, text: &str) -> bool {
    words(title).iter().any(|w| is_one_of(QUESTION_WORDS, w))
        || text.contains('?') && !text.trim().contains('\n')
}

/// Returns whether the text asks for a document.
pub(super) fn asks_for_document(text: &str) -> bool {
    words(text).iter().any(|w| is_one_of(DOCUMENTS, w))
}

/// Returns whether the text asks when something changed, or how it is translated: it has such a word or
/// the number of a version, or begins with *when*.
pub(super) fn asks_for_record(text: &str) -> bool {
    let is_version = |w: &str| {
        let number = w.trim_matches(|c: char| !c.is_ascii_digit());
        number.split_once('.').is_some_and(|(major, minor)| {
            !major.is_empty()
                && major.chars().all(|c| c.is_ascii_digit())
                && minor.starts_with(|c: char| c.is_ascii_digit())
        })
    };
    let words = words(text);
    words.first().is_some_and(|w| w == "when")
        || words.iter().any(|w| is_one_of(RECORDS, w))
        || text.split_whitespace().any(is_version)
}

/// Returns whether the text starts with a verb: an order, or the report of a change.
pub(super) fn is_imperative(text: &str) -> bool {
    words(text).first().is_some_and(|w| is_one_of(VERBS, w))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_of_documents_are_told_from_comments_and_commits() {
        for text in [
            "You can change this, and the server will read your settings again",
            "The cache is cleared when you restart, as are the logs",
        ] {
            assert!(document_wording(text) > 1.0, "{text}: {}", document_wording(text));
        }
        for text in [
            "fix crash when the list is empty",
            "Returns whether a path was ignored",
            "should wait longer after each failed attempt",
        ] {
            assert!(document_wording(text) < 0.0, "{text}: {}", document_wording(text));
        }
        assert!(document_wording("you, your, the, is, are, will, can").abs() <= MOST_WORDING);
    }

    #[test]
    fn questions_about_changes_and_translations_ask_for_records() {
        for text in [
            "in which version was Ecto.Enum added",
            "when was support for Python dropped",
            "what is new in v7.4.5",
            "translations of the button",
        ] {
            assert!(asks_for_record(text), "{text}");
        }
        for text in ["close the lock when the server stops", "wait 3 seconds. Then close", "a.b"] {
            assert!(!asks_for_record(text), "{text}");
        }
    }

    #[test]
    fn questions_and_names_are_topics() {
        for q in [
            "how does the server handle a lost connection",
            "retry with backoff",
            "ChunkManager",
            "session cookie signing",
            "is it cached?",
        ] {
            assert_eq!(Form::of(q), Form::Topic, "{q}");
        }
    }

    #[test]
    fn sentences_are_statements() {
        for q in [
            "returns the number of bytes that were written",
            "fix crash on empty list",
            "The cache is cleared when the limit is reached",
            "When the limit is reached the cache is cleared",
        ] {
            assert_eq!(Form::of(q), Form::Statement, "{q}");
        }
    }
}
