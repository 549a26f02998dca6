//! Decides which of two texts about one subject holds. A person outranks an agent; of two texts with
//! the same authority, the later one holds. A text that does not hold stays stored and names the one
//! that holds in its place ([`Memory::superseded_by`]).
//!
//! Two sentences are about one subject if they share enough of the words that name it: at least the
//! weight of [`LEAST_SHARED`], and [`MOST_SHARE`] of one sentence and [`LEAST_SHARE`] of the other.
//! One contradicts the other if the clauses in which they share these words differ in being negative,
//! or if the later one says that it replaces something ("no, …", "instead", "from now on").

use std::collections::BTreeSet;

use uuid::Uuid;

use super::statements::{self, Clause};
use super::summary::is_summary;
use super::{Memory, MemorySource, Speaker};

/// Weight of a name with a mark in it, such as `x-forwarded-proto` or `src/a.rs`. A word weighs 1.
const NAME: f64 = 3.0;
const LEAST_SHARED: f64 = 2.0;
const MOST_SHARE: f64 = 0.6;
const LEAST_SHARE: f64 = 0.25;
/// In a reply to the answer that makes the other statement, one word may be enough.
const SHARED_IN_REPLY: f64 = 1.0;
const SHARE_IN_REPLY: f64 = 0.5;
/// A sentence repeats another one if this share of it comes from there, and it holds most of it.
const REPEATED: f64 = 0.8;
/// Most sentences of a text that are compared.
const MOST_SENTENCES: usize = 60;
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
    /// Returns the claims of a text: its sentences that name a subject, except for questions and what
    /// their author says to have done.
    pub(super) fn all(text: &str) -> Vec<Self> {
        let sentences = statements::plain_sentences(text).into_iter().take(MOST_SENTENCES);
        sentences.filter_map(|sentence| Self::of(&sentence)).collect()
    }

    fn of(sentence: &str) -> Option<Self> {
        if sentence.ends_with('?') || is_report(sentence) {
            return None;
        }
        let clauses = statements::clauses(sentence);
        let weight: f64 = clauses.iter().flat_map(|c| &c.subject).map(|word| weight(word)).sum();
        let (replaces, substitutes) =
            (statements::replaces(sentence), statements::substitutes(sentence));
        (weight > 0.0).then_some(Self { clauses, weight, replaces, substitutes })
    }

    fn words(&self) -> impl Iterator<Item = &String> {
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
        self.is_about_same(other, is_reply)
            && self.is_negative_about(other) != other.is_negative_about(self)
    }

    /// Returns whether an earlier claim does not hold beside this one.
    fn refutes(&self, earlier: &Self, is_reply: bool) -> bool {
        self.denies(earlier, is_reply) || self.replaces && self.is_about_same(earlier, is_reply)
    }

    /// Returns whether this claim says what the other one says.
    fn repeats(&self, other: &Self) -> bool {
        self.share_in(other) >= REPEATED
            && other.share_in(self) >= MOST_SHARE
            && self.is_negative_about(other) == other.is_negative_about(self)
    }
}

/// Returns the weight of the words of a clause that another claim holds, too.
fn shared(clause: &Clause, other: &Claim) -> f64 {
    let is_there = |word: &&String| other.words().any(|one| is_same(word, one));
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
fn is_said(memory: &Memory) -> bool {
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
        let is_it = |m: &&Memory| is_answer(m) && !is_summary(m) && m.session_id == session;
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
