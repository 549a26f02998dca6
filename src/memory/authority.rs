//! Decides which of two texts about one subject holds. A person outranks an agent; of two texts with
//! the same authority, the later one holds. A text that does not hold stays stored and names the one
//! that holds in its place ([`Memory::superseded_by`]).
//!
//! Two sentences are about one subject if they share enough of the words that name it: at least the
//! weight of [`LEAST_SHARED`], and [`MOST_SHARE`] of one sentence and [`LEAST_SHARE`] of the other.
//! The later one then takes the place of the other if it says that it replaces something ("no, …",
//! "instead", "from now on"). It also does if it denies the other: of a clause of one of them, at least
//! [`DENIED_SHARE`] are in the other, and the clauses that have most in common differ in being negative.

use std::collections::BTreeSet;

use uuid::Uuid;

use super::statements::{self, Clause};
use super::{Memory, MemorySource, Speaker};

/// Weight of a name with a mark in it, such as `x-forwarded-proto` or `src/a.rs`. A word weighs 1.
const NAME: f64 = 3.0;
const LEAST_SHARED: f64 = 2.0;
const MOST_SHARE: f64 = 0.6;
const LEAST_SHARE: f64 = 0.25;
const DENIED_SHARE: f64 = 0.75;
/// In a reply to the answer that makes the other statement, one word may be enough.
const SHARED_IN_REPLY: f64 = 1.0;
const SHARE_IN_REPLY: f64 = 0.5;
/// A sentence repeats another one if this share of it comes from there, and it holds most of it.
const REPEATED: f64 = 0.8;
/// Most sentences of a text that are compared.
const MOST_SENTENCES: usize = 30;
/// A longer text without a full stop is not a sentence.
const MOST_WORDS: usize = 60;
/// Words have one stem if they differ in at most this many letters at their ends, behind at least
/// [`STEM`] equal ones.
const ENDING: usize = 3;
const STEM: usize = 4;

/// Signs that make a difference between two texts of the same words.
const SIGNS: &str = "+-#*/=<>%&|^~{}[]";

/// A sentence as it is compared with others.
#[derive(Debug)]
pub(super) struct Claim {
    clauses: Vec<Clause>,
    weight: f64,
    replaces: bool,
    substitutes: bool,
}

impl Claim {
    /// Returns the claims of a text: its first sentences that name a subject, except for questions and
    /// what their author says to have done.
    pub(super) fn all(text: &str) -> Vec<Self> {
        let sentences = statements::plain_sentences(text).into_iter().take(MOST_SENTENCES);
        sentences.filter_map(|sentence| Self::of(&sentence)).collect()
    }

    fn of(sentence: &str) -> Option<Self> {
        let n_words = sentence.split_whitespace().take(MOST_WORDS + 1).count();
        if n_words > MOST_WORDS || sentence.ends_with('?') || is_report(sentence) {
            return None;
        }
        let clauses = statements::clauses(sentence);
        let weight: f64 = clauses.iter().flat_map(|c| &c.subject).map(|word| weight(word)).sum();
        let (replaces, substitutes) =
            (statements::replaces(sentence), statements::substitutes(sentence));
        (weight > 0.0).then_some(Self { clauses, weight, replaces, substitutes })
    }

    fn words(&self) -> impl Iterator<Item = &String> + Clone {
        self.clauses.iter().flat_map(|clause| &clause.subject)
    }

    /// Returns the share of this claim, by weight, that the other one holds.
    fn share_in(&self, other: &Self) -> f64 {
        self.clauses.iter().map(|clause| shared(clause, other)).sum::<f64>() / self.weight
    }

    /// Returns whether the clause that has most in common with the other claim is negative.
    fn is_negative_about(&self, other: &Self) -> bool {
        let by_share =
            self.clauses.iter().max_by(|a, b| shared(a, other).total_cmp(&shared(b, other)));
        by_share.is_some_and(|clause| clause.is_negative)
    }

    fn is_about_same(&self, other: &Self, is_reply: bool) -> bool {
        let (here, there) = (self.share_in(other), other.share_in(self));
        let (least, most) = (here.min(there), here.max(there));
        if is_reply {
            here * self.weight >= SHARED_IN_REPLY && most >= SHARE_IN_REPLY
        } else {
            here * self.weight >= LEAST_SHARED && most >= MOST_SHARE && least >= LEAST_SHARE
        }
    }

    /// Returns whether the claims are about one subject, and one denies what the other says.
    fn denies(&self, other: &Self, is_reply: bool) -> bool {
        let least = if is_reply { SHARED_IN_REPLY } else { LEAST_SHARED };
        let share = self.share_of_clause(other, least).max(other.share_of_clause(self, least));
        share >= DENIED_SHARE
            && self.share_in(other).min(other.share_in(self)) >= LEAST_SHARE
            && self.is_negative_about(other) != other.is_negative_about(self)
    }

    /// Returns the largest share of a clause that the other claim holds, if its weight is at least
    /// `least`.
    fn share_of_clause(&self, other: &Self, least: f64) -> f64 {
        let share = |clause: &Clause| {
            let (in_other, all) = (shared(clause, other), in_common(clause, &clause.subject));
            if in_other >= least { in_other / all } else { 0.0 }
        };
        self.clauses.iter().map(share).fold(0.0, f64::max)
    }

    /// Returns whether an earlier claim does not hold beside this one.
    fn refutes(&self, earlier: &Self, is_reply: bool) -> bool {
        self.denies(earlier, is_reply) || self.replaces && self.is_about_same(earlier, is_reply)
    }

    /// Returns whether this claim says what the other one says.
    fn repeats(&self, other: &Self) -> bool {
        let agrees = |own: &&Clause| {
            let shared = |theirs: &Clause| in_common(own, &theirs.subject);
            let nearest = other.clauses.iter().max_by(|a, b| shared(a).total_cmp(&shared(b)));
            nearest.is_some_and(|theirs| theirs.is_negative == own.is_negative)
        };
        self.share_in(other) >= REPEATED
            && other.share_in(self) >= MOST_SHARE
            && self.clauses.iter().filter(|own| shared(own, other) > 0.0).all(|own| agrees(&own))
    }
}

/// Returns the weight of the words of a clause that another claim holds, too.
fn shared(clause: &Clause, other: &Claim) -> f64 {
    in_common(clause, other.words())
}

fn in_common<'a>(clause: &Clause, words: impl IntoIterator<Item = &'a String>) -> f64 {
    let words: Vec<&String> = words.into_iter().collect();
    let is_there = |word: &&String| words.iter().any(|one| is_same(word, one));
    clause.subject.iter().filter(is_there).map(|word| weight(word)).sum()
}

fn weight(word: &str) -> f64 {
    if is_name(word) { NAME } else { 1.0 }
}

fn is_name(word: &str) -> bool {
    word.contains(|c: char| !c.is_alphabetic())
}

/// Returns whether two words are forms of one word. Names have one form.
fn is_same(a: &str, b: &str) -> bool {
    if a == b {
        return true;
    }
    let n_equal = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    let longest = a.chars().count().max(b.chars().count());
    !is_name(a) && !is_name(b) && n_equal >= STEM && n_equal + ENDING >= longest
}

/// Returns whether a sentence tells what its author did or will do: "I changed …". Advice counts as
/// a claim: "I would trust …".
fn is_report(sentence: &str) -> bool {
    let lower = sentence.to_lowercase().replace('’', "'");
    let mut words = lower.split_whitespace();
    let advises = |word: &str| {
        ["would", "suggest", "recommend", "propose", "think", "empfehle", "würde", "schlage"]
            .contains(&word)
    };
    match words.next() {
        Some("i" | "ich") => !words.next().is_some_and(advises),
        Some(first) => first.starts_with("i'") && first != "i'd",
        None => true,
    }
}

/// Returns whether the memory says what holds: a statement or a note, and not the text around it.
pub(super) fn is_said(memory: &Memory) -> bool {
    matches!(&memory.source, MemorySource::Episode(episode) if !episode.source.is_event())
}

/// Returns whether the memory is an answer of an agent, or the summary of a session.
fn is_answer(memory: &Memory) -> bool {
    matches!(memory.source, MemorySource::ClaudeResponse { .. })
}

/// Compares new memories of one moment with those that hold so far, newest first. Sets
/// [`Memory::superseded_by`] of new ones that contradict somebody with more authority, and returns
/// which of the others do not hold any longer (first) and which memory holds in their place (second).
pub(super) fn judge(new: &mut [Memory], known: &[Memory]) -> Vec<(Uuid, Uuid)> {
    let claims: Vec<Vec<Claim>> = new.iter().map(claims_of).collect();
    // Most memories share no word with the new ones, so their sentences need not be read.
    let stems: BTreeSet<String> =
        claims.iter().flatten().flat_map(Claim::words).map(|word| stem(word)).collect();
    let session = new.first().map(|m| m.session_id.clone()).filter(|id| !id.is_empty());
    let answered = session.and_then(|session| {
        let is_it = |m: &&Memory| m.is_answer() && m.session_id == session;
        known.iter().find(is_it).map(|m| m.id)
    });
    let is_answered =
        |m: &Memory| answered.is_some_and(|id| m.id == id || m.derived_from.contains(&id));
    let may_matter = |m: &&Memory| {
        let lower = m.content.to_lowercase();
        is_answered(m) || stems.iter().any(|stem| lower.contains(stem))
    };
    let known: Vec<(&Memory, Vec<Claim>)> = known
        .iter()
        .filter(|m| m.superseded_by.is_none() && new.iter().all(|n| n.id != m.id))
        .filter(may_matter)
        .map(|m| (m, claims_of(m)))
        .collect();

    for (memory, own) in new.iter_mut().zip(&claims) {
        let denied = |(other, theirs): &&(&Memory, Vec<Claim>)| {
            is_said(other)
                && other.speaker() > memory.speaker()
                && own.iter().any(|a| theirs.iter().any(|b| a.denies(b, false)))
        };
        if let Some((other, _)) = known.iter().find(denied) {
            memory.superseded_by = Some(other.id);
        }
    }
    let mut gone: Vec<(Uuid, Uuid)> = Vec::new();
    for (memory, own) in new.iter().zip(&claims) {
        if !is_said(memory) || memory.superseded_by.is_some() {
            continue;
        }
        let before = gone.len();
        let is_open = |gone: &[(Uuid, Uuid)], id: Uuid| gone.iter().all(|(one, _)| *one != id);
        for (other, theirs) in &known {
            let is_reply = memory.speaker() > other.speaker() && is_answered(other);
            if other.speaker() <= memory.speaker()
                && is_open(&gone, other.id)
                && own.iter().any(|a| theirs.iter().any(|b| a.refutes(b, is_reply)))
            {
                gone.push((other.id, memory.id));
            }
        }
        // "No, use the other one instead" names nothing of what it takes the place of.
        if gone.len() == before
            && memory.speaker() == Speaker::Person
            && own.iter().any(|claim| claim.substitutes)
        {
            let replied: Vec<&Memory> =
                known.iter().map(|(m, _)| *m).filter(|m| is_answered(m)).collect();
            if replied.iter().filter(|m| is_said(m)).count() == 1 {
                gone.extend(replied.iter().map(|m| (m.id, memory.id)));
            }
        }
    }
    gone
}

/// Returns which of the memories that a session received a new text only repeats.
pub(super) fn repeated<'a>(text: &str, received: &'a [Memory]) -> Option<&'a Memory> {
    let own = Claim::all(text);
    let theirs: Vec<(&Memory, Vec<Claim>)> =
        received.iter().map(|m| (m, Claim::all(&m.content))).collect();
    let said = |claim: &Claim| {
        theirs.iter().find(|(_, theirs)| theirs.iter().any(|one| claim.repeats(one)))
    };
    let sources: Option<Vec<&Memory>> =
        own.iter().map(|claim| said(claim).map(|(memory, _)| *memory)).collect();
    sources?.first().copied()
}

/// Returns whether two texts are one fact: the same words, but for those that make no difference, and
/// the same signs of formulas and names (`C` and `C++` are two).
pub(super) fn is_equal(a: &str, b: &str) -> bool {
    let signs = |text: &str| text.chars().filter(|c| SIGNS.contains(*c)).collect::<String>();
    let key = statements::key(a);
    a == b || !key.is_empty() && key == statements::key(b) && signs(a) == signs(b)
}

/// Returns whether a memory may say what holds. A prompt does not: its statements do.
pub(super) fn makes_claims(memory: &Memory) -> bool {
    is_said(memory) || is_answer(memory)
}

fn claims_of(memory: &Memory) -> Vec<Claim> {
    if makes_claims(memory) { Claim::all(&memory.content) } else { Vec::new() }
}

/// Returns the beginning that all forms of a word have.
fn stem(word: &str) -> String {
    let n = word.chars().count();
    let kept = if is_name(word) { n } else { n.saturating_sub(ENDING).max(STEM.min(n)) };
    word.chars().take(kept).collect()
}

#[cfg(test)]
mod tests {
    use super::super::{Episode, EpisodeSource, ResponseType};
    use super::*;

    fn said(by: Speaker, text: &str) -> Memory {
        let source = MemorySource::Episode(Episode::of(EpisodeSource::Message));
        Memory { said_by: Some(by), ..Memory::new(text, source, "s") }
    }

    fn answered(text: &str) -> Memory {
        let response_type = ResponseType::StopResponse;
        Memory::new(text, MemorySource::ClaudeResponse { response_type }, "s")
    }

    /// Returns whether `later` takes the place of `earlier`.
    fn replaces(later: Memory, earlier: &Memory) -> bool {
        let id = later.id;
        judge(&mut [later], std::slice::from_ref(earlier)) == [(earlier.id, id)]
    }

    const PAIRS: [(&str, &str); 12] = [
        ("The right fix is to trust X-Forwarded-Proto.", "no, never trust X-Forwarded-Proto"),
        (
            "The fix is to trust X-Forwarded-Proto.",
            "Never trust X-Forwarded-Proto, clients can forge it, because it is not signed.",
        ),
        (
            "We always retry failed payments three times.",
            "Don't ever retry failed payments: customers are charged twice.",
        ),
        ("We store session tokens in Redis.", "No, store session tokens in Postgres instead."),
        ("We store session tokens in Redis.", "From now on session tokens are stored in Postgres."),
        ("We deploy without migration tests.", "Never deploy without migration tests."),
        ("Prices are rounded with floats.", "Prices are never rounded with floats."),
        ("Wir vertrauen dem Header X-Real-IP.", "Vertraue nie dem Header X-Real-IP."),
        ("Wir speichern Preise als Float.", "Nein, speichere Preise als Decimal."),
        ("Wir speichern Tokens in Redis.", "Ab jetzt speichern wir Tokens in Postgres."),
        (
            "The dog cache keeps wolves for ten minutes",
            "Correction: the dog cache keeps wolves for twenty minutes, not ten",
        ),
        ("Der Cache hält Bilder zehn Minuten.", "Der Cache hält Bilder nicht mehr zehn Minuten."),
    ];

    #[test]
    fn a_person_strikes_what_an_agent_says_about_the_same() {
        for (earlier, later) in PAIRS {
            let agents = said(Speaker::Agent, earlier);
            assert!(replaces(said(Speaker::Person, later), &agents), "{later}");
            assert!(replaces(said(Speaker::Person, later), &answered(earlier)), "{later}");
            assert!(replaces(said(Speaker::Agent, later), &agents), "a later agent: {later}");
            let persons = said(Speaker::Person, earlier);
            assert!(replaces(said(Speaker::Person, later), &persons), "another mind: {later}");
            assert!(!replaces(said(Speaker::Agent, later), &persons), "a person: {later}");
        }
    }

    #[test]
    fn an_agent_does_not_bring_back_what_a_person_denied() {
        let rule = said(Speaker::Person, "Never trust X-Forwarded-Proto.");
        for text in ["The right fix is to trust X-Forwarded-Proto.", "Trust X-Forwarded-Proto."] {
            for mut new in [[said(Speaker::Agent, text)], [answered(text)]] {
                assert!(judge(&mut new, std::slice::from_ref(&rule)).is_empty(), "{text}");
                assert_eq!(new[0].superseded_by, Some(rule.id), "{text}");
            }
        }
        for text in [
            "The app no longer trusts X-Forwarded-Proto.",
            "I trusted X-Forwarded-Proto in the test, and it fails now.",
            "The proxy sets three headers.",
        ] {
            let mut new = [answered(text)];
            assert!(judge(&mut new, std::slice::from_ref(&rule)).is_empty(), "{text}");
            assert_eq!(new[0].superseded_by, None, "{text}");
        }
    }

    #[test]
    fn what_agrees_or_is_about_something_else_stands() {
        for (earlier, later) in [
            ("Never trust X-Forwarded-Proto.", "X-Forwarded-Proto is never to be trusted."),
            ("We store session tokens in Redis.", "Never log session tokens."),
            ("The upload limit is ten megabytes.", "Never change the upload form without a test."),
            ("The cache is one file.", "Never rename the session cookie."),
            ("CI runs with 8 workers.", "Staging runs with 4 workers."),
            ("We chose SQLite because it is one file.", "From now on answer in German."),
            ("We put part 1 on page 1 of the atlas.", "We put part 2 on page 2 of the atlas."),
        ] {
            let agents = said(Speaker::Agent, earlier);
            assert!(!replaces(said(Speaker::Person, later), &agents), "{earlier} {later}");
        }
    }

    /// In a reply, the answer before says what is meant.
    #[test]
    fn a_reply_needs_to_name_less() {
        let answer = answered("Let me plan that. We go with Redis for sessions.");
        let decision = Memory {
            derived_from: vec![answer.id],
            ..said(Speaker::Agent, "We go with Redis for sessions.")
        };
        for text in ["No, use Postgres for that instead.", "Nein, nimm stattdessen Postgres."] {
            let rule = said(Speaker::Person, text);
            let id = rule.id;
            let gone = judge(&mut [rule], &[decision.clone(), answer.clone()]);
            assert_eq!(gone, [(decision.id, id), (answer.id, id)], "{text}");
        }
        let other = said(Speaker::Person, "From now on answer in German.");
        assert!(judge(&mut [other], &[decision, answer]).is_empty());
    }

    #[test]
    fn an_echo_is_told_from_news() {
        let told = [said(Speaker::Person, "We decided on SQLite because it is one file.")];
        for text in [
            "We decided on SQLite because it is one file.",
            "According to the notes, we decided on SQLite, because it is one file.",
            "- We decided on SQLite because it is one file. (message, 2026-01-31)",
        ] {
            assert_eq!(repeated(text, &told).map(|m| m.id), Some(told[0].id), "{text}");
        }
        for text in [
            "We decided against SQLite because it is one file.",
            "We decided on SQLite with a write-ahead log and two readers for the reports.",
            "We decided on SQLite because it is one file. The log is kept for ten days.",
            "Done.",
            "",
        ] {
            assert_eq!(repeated(text, &told).map(|m| m.id), None, "{text}");
        }
    }

    #[test]
    fn equal_facts_differ_in_nothing_but_form() {
        let fact = "The dog cache keeps wolves for ten minutes";
        for same in [fact, "Remember: the dog cache keeps wolves for ten minutes!"] {
            assert!(is_equal(fact, same), "{same}");
        }
        for other in ["The dog cache keeps wolves for two minutes", "The dog cache keeps wolves"] {
            assert!(!is_equal(fact, other), "{other}");
        }
        assert!(!is_equal("We write C.", "We write C++."));
        assert!(is_equal("…", "…") && !is_equal("…", "—"));
    }

    #[test]
    fn any_text_is_compared() {
        for odd in ["", "\u{0}", "no", "No.", "…", "never ".repeat(2_000).as_str(), "ß€ 最近"]
        {
            let _ = judge(&mut [said(Speaker::Person, odd)], &[answered(odd)]);
            let _ = repeated(odd, &[answered(odd)]);
        }
    }
}
