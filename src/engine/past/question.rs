//! The commits that answer a question beside its code: an agent that explores asks why, too.

use std::collections::HashSet;
use std::time::Duration;

use crate::engine::door::commits::Commits;
use crate::engine::door::project::LONG_WAIT;
use crate::engine::door::serving::{Engine, Upkeep};
use crate::engine::past::history::{HistoryRow, RankedCommits, ranked};
use crate::engine::read::search::Page;
use crate::engine::{AskError, Call};
use crate::index::without_undone;
use crate::search::QueryWords;
use crate::source;
use crate::store::ChunkFiles;
use crate::text::cut_at_word;

/// Most commits of an answer.
const MAX_COMMITS: usize = 6;
/// Most bytes of a message.
const MAX_SAID: usize = 300;
/// Most files that are named for a commit.
const MAX_FILES: usize = 6;
/// How long a question to a server waits until the commits are read.
const PATIENCE: Duration = Duration::from_millis(500);

/// Words that ask for the past or for a reason.
const PAST: &str = "why rationale motivation introduced reintroduced regression regressions \
    regressed reverted historically originally";
/// Words that do so together.
const PAST_PAIRS: [(&str, &str); 10] = [
    ("since", "when"),
    ("when", "did"),
    ("when", "was"),
    ("when", "were"),
    ("how", "come"),
    ("who", "added"),
    ("who", "changed"),
    ("who", "removed"),
    ("who", "wrote"),
    ("git", "blame"),
];
/// Words that ask for the past in a sentence, unless it asks how or where something is done: a program
/// may have a history of its own. A single word is a name that somebody guesses.
const SUBJECTS: &str = "history reason reasons decision decisions decided";
/// A sentence with fewer words beside these does not say what it is about.
const LEAST_WORDS: usize = 2;
/// Shorter words say nothing of the subject.
const LEAST_LETTERS: usize = 4;

/// Whether a word is one of a list.
fn is_in(list: &str, word: &str) -> bool {
    list.split(' ').any(|known| known == word)
}

/// Returns the words of a sentence, in lower case. What is marked or written as code keeps its marks.
fn words(text: &str) -> Vec<String> {
    let word = |word: &str| {
        let word = word.trim_start_matches(['(', '[']);
        let word = word.trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']']);
        word.split(['\'', '’']).next().unwrap_or_default().to_lowercase()
    };
    text.split_whitespace().map(word).collect()
}

/// Whether an entry asks for a reason or for the past of code.
#[must_use]
pub(in crate::engine) fn asks_for_past(entry: &str) -> bool {
    let words = words(entry);
    let has = |known: &str| words.iter().any(|word| is_in(known, word));
    let has_pair = words.windows(2).any(|two| PAST_PAIRS.contains(&(&*two[0], &*two[1])));
    has(PAST) || has_pair || words.len() > 1 && has(SUBJECTS) && !has("how where")
}

/// Returns what the entries ask of the past. An entry such as `since when` leaves the subject to the
/// others.
fn question_of(about: &[String]) -> Option<String> {
    let asking: Vec<&str> =
        about.iter().map(String::as_str).filter(|entry| asks_for_past(entry)).collect();
    let is_subject = |word: &String| {
        word.chars().count() >= LEAST_LETTERS && !is_in(PAST, word) && !is_in(SUBJECTS, word)
    };
    let has_subject =
        |entry: &&str| words(entry).iter().filter(|word| is_subject(word)).count() >= LEAST_WORDS;
    if asking.is_empty() {
        return None;
    }
    Some(if asking.iter().any(has_subject) { asking.join(" ") } else { about.join(" ") })
}

impl Engine {
    /// Returns the commits that speak most for the entries of a call, if one of them asks for a reason
    /// or for the past. Of each it has the sentences that answer, and of the files those that are
    /// shown. `shown`: path, first and last line.
    ///
    /// # Errors
    /// [`AskError::NotYet`] while a server still reads the commits, and when they cannot be read.
    pub fn past_of_question(
        &self,
        about: &[String],
        shown: &[(String, u32, u32)],
        call: &Call,
    ) -> Result<Vec<HistoryRow>, AskError> {
        let Some(question) = question_of(about) else { return Ok(Vec::new()) };
        if source::head(self.project.layout.root()).is_none() {
            return Ok(Vec::new());
        }
        let commits = match &self.upkeep {
            Upkeep::Command(_) => {
                let tell = || self.tell_of_commits();
                self.commits.up_to_date(&self.project, LONG_WAIT, &tell)?
            }
            Upkeep::Server(_) => {
                let read = self.commits.within(&self.project, PATIENCE);
                let not_yet = "the commits are being read, so none is shown: call again";
                read.unwrap_or_else(|| Err(AskError::NotYet(not_yet.into())))?
            }
        };
        call.check()?;
        let snapshot = commits.manager.current();
        let Some(served) = snapshot.feed(ChunkFiles::NAME) else { return Ok(Vec::new()) };
        let page = Page::new(None, MAX_COMMITS, commits.stamp.generation)?;
        let RankedCommits { mut rows, mut wanted, .. } =
            ranked(&served.corpus, &question, None, &page, None)?;
        let shown: HashSet<&str> = shown.iter().map(|(path, ..)| &**path).collect();
        for row in &mut rows {
            row.reverts = commits.notes_on(&row.id);
            shorten(row, &commits, &shown, &mut wanted);
        }
        Ok(rows)
    }
}

/// Leaves of a commit what answers, and the shown files that it changed, if there are any.
fn shorten(
    row: &mut HistoryRow,
    commits: &Commits,
    shown: &HashSet<&str>,
    wanted: &mut QueryWords,
) {
    let Some(chunk) = commits.chunk(&row.id) else { return };
    let body = chunk.text.strip_prefix(&*chunk.title).unwrap_or_default();
    let (said, more) = answering_sentences(body, wanted);
    (row.message, row.more) = (said.into_iter().collect(), more);
    let changed = chunk.metadata.files.iter().filter(|file| shown.contains(&***file));
    let changed: Vec<String> = changed.take(MAX_FILES).cloned().collect();
    if !changed.is_empty() {
        row.files = changed;
    }
}

/// Returns the sentence of a message that holds most of the wanted words, with those after it that
/// have room, and whether the message has more.
fn answering_sentences(body: &str, wanted: &mut QueryWords) -> (Option<String>, bool) {
    let sentences = sentences(body);
    let mut best = (0.0, 0);
    for (at, sentence) in sentences.iter().enumerate() {
        let share = wanted.share_in(sentence);
        if share > best.0 {
            best = (share, at);
        }
    }
    let Some(first) = sentences.get(best.1) else { return (None, false) };
    let (mut said, mut n) = (cut_at_word(first, MAX_SAID), 1);
    for next in &sentences[best.1 + 1..] {
        if said.len() + 1 + next.len() > MAX_SAID {
            break;
        }
        said = format!("{said} {next}");
        n += 1;
    }
    (Some(said), n < sentences.len() || first.len() > MAX_SAID)
}

/// Returns the sentences of a message without those that only name an undone commit. An item of a list
/// is a sentence.
fn sentences(body: &str) -> Vec<String> {
    let mut paragraphs: Vec<String> = Vec::new();
    let mut is_new = true;
    for line in body.lines().map(str::trim) {
        let is_item = line.starts_with(['-', '*']);
        match paragraphs.last_mut() {
            Some(last) if !is_new && !is_item => last.extend([" ", line]),
            _ => paragraphs.push(line.to_string()),
        }
        is_new = line.is_empty();
    }
    let paragraphs: Vec<String> = paragraphs.iter().map(|text| without_undone(text)).collect();
    paragraphs.iter().flat_map(|text| split(text)).map(String::from).collect()
}

/// Splits a paragraph after each mark that ends a sentence.
fn split(paragraph: &str) -> Vec<&str> {
    let is_end = |end: &usize| {
        let rest = &paragraph[*end..];
        rest.starts_with(' ') && rest.trim_start().starts_with(char::is_uppercase)
    };
    let ends = paragraph.match_indices(['.', '!', '?']).map(|(at, mark)| at + mark.len());
    let (mut parts, mut from) = (Vec::new(), 0);
    for end in ends.filter(is_end).chain([paragraph.len()]) {
        parts.push(paragraph[from..end].trim());
        from = end;
    }
    parts.retain(|part| part.chars().any(char::is_alphanumeric));
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_that_ask_for_reasons_or_the_past_are_told_from_those_about_code() {
        for entry in [
            "why does retry wait twice?",
            "Why's the limit 50?",
            "(why) is this sorted",
            "what is the reason for the lock",
            "rationale of the two caches",
            "since when is the cache bounded",
            "When did uploads become parallel?",
            "when was RETRY_LIMIT raised",
            "which commit introduced the flag",
            "a regression in the parser, since 2.0",
            "was the streaming reader reverted?",
            "the history of the retry limit",
            "Which decision led to SQLite?",
            "who added the timeout",
            "how come the queue is a list",
            "why",
        ] {
            assert!(asks_for_past(entry), "{entry}");
        }
        for entry in [
            "how is the history of commands stored",
            "where is the reason phrase of a response set",
            "history",
            "History::search",
            "`why`",
            "src/engine/past/why.rs:10-20",
            "--why",
            "whyever reasoning historyless introduces",
            "when is the cache cleared",
            "since the cache is bounded, who reads it",
            "revert_changes",
            "",
        ] {
            assert!(!asks_for_past(entry), "{entry}");
        }
    }

    #[test]
    fn an_entry_without_a_subject_leaves_it_to_the_others() {
        let of = |about: &[&str]| {
            question_of(&about.iter().map(|entry| (*entry).to_string()).collect::<Vec<_>>())
        };
        assert_eq!(of(&["how is it stored", "Store"]), None);
        assert_eq!(
            of(&["why are retries limited", "RETRIES", "ask"]).as_deref(),
            Some("why are retries limited")
        );
        assert_eq!(of(&["why", "RETRIES"]).as_deref(), Some("why RETRIES"));
        assert_eq!(of(&["why this reason?", "retry"]).as_deref(), Some("why this reason? retry"));
    }

    #[test]
    fn a_message_is_answered_by_its_sentence_with_those_after_it() {
        let body = "\n\nThis reverts commit 1234567890.\n\nUploads are slow. The balancer drops the first\nrequest after a pause, e.g. at night. So we ask\nagain.\n\n- one item\n* another one, of v1.2";
        assert_eq!(
            sentences(body),
            [
                "Uploads are slow.",
                "The balancer drops the first request after a pause, e.g. at night.",
                "So we ask again.",
                "- one item",
                "* another one, of v1.2"
            ]
        );
        let mut wanted = QueryWords::of_words("why does the balancer drop a request");
        let (said, more) = answering_sentences(body, &mut wanted);
        let said = said.unwrap();
        assert!(said.starts_with("The balancer drops the first request"), "{said}");
        assert!(said.ends_with("of v1.2") && more, "{said}");
        let long = format!("It drops {}", "requests ".repeat(100));
        let (said, more) = answering_sentences(&long, &mut wanted);
        assert!(said.unwrap().len() <= MAX_SAID && more);
        assert_eq!(answering_sentences("\n", &mut wanted), (None, false));
    }
}
