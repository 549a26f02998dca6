//! Takes secrets out of text before it is stored.
//!
//! [`redact`] puts `[REDACTED:rule-id]` in place of each API key, token, password and private key
//! that a rule finds. There are two sets of rules:
//!
//! - the rules of betterleaks (the maintained successor of gitleaks, MIT), kept as data in
//!   `secrets/secret_rules.tsv`, which `gen_secret_rules.py` beside it makes from a release of it;
//! - [`own::OWN`], a few rules that are looser than those of a scanner. A scanner must not cry wolf; here
//!   a word too many taken out costs little and a secret left in stays in the database.
//!
//! A rule costs nothing until one of its keywords occurs in the text: one pass of an Aho-Corasick
//! automaton finds the keywords of all rules, and only then are the regexes of those rules compiled,
//! once in a process. The regexes were written for Go, where `\w`, `\s` and `\b` are ASCII; they run
//! on bytes with Unicode off, which is also what makes them cheap to compile.

mod own;

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use aho_corasick::AhoCorasick;
use regex::bytes::{Regex, RegexBuilder};

use self::own::{Judge, OWN, is_placeholder, is_random};

/// The rules of betterleaks. The head of the file says what its columns are.
const DATA: &str = include_str!("secrets/secret_rules.tsv");

/// What a secret is replaced by starts with this, then come the id of the rule and `]`.
const MARK: &str = "[REDACTED:";

/// How often the output is looked at again. One more look nearly always finds nothing more.
const MAX_PASSES: usize = 8;

/// Text without its secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redacted {
    /// The text, with `[REDACTED:rule-id]` in place of each secret.
    pub text: String,
    /// How many secrets were taken out.
    pub n_secrets: usize,
}

/// Puts `[REDACTED:rule-id]` in place of each secret in `text`.
///
/// Redacting the result again changes nothing.
#[must_use]
pub fn redact(text: &str) -> Redacted {
    let mut out = Redacted { text: text.to_owned(), n_secrets: 0 };
    // A mark can end what hid a second secret from a rule, so look until nothing is found.
    for _ in 0..MAX_PASSES {
        let found = find(&out.text);
        if found.is_empty() {
            break;
        }
        out.n_secrets += found.len();
        out.text = replace(&out.text, &found);
    }
    out
}

/// How to find one kind of secret.
struct Rule {
    id: &'static str,
    regex: &'static str,
    /// The group that is the secret. 0: the first that took part, or else all that matched.
    group: usize,
    /// The least entropy of a secret, in bits a byte.
    entropy: f64,
    /// A regex of values that are no secret. May be empty.
    deny: &'static str,
    keywords: Vec<&'static str>,
    /// Set in our own rules only.
    judge: Option<Judge>,
    compiled: OnceLock<Option<(Regex, Option<Regex>)>>,
}

/// All rules, and what finds out which of them may match a text.
struct RuleSet {
    all: Vec<Rule>,
    keywords: AhoCorasick,
    /// For each keyword of the automaton the rules that have it.
    with_keyword: Vec<Vec<usize>>,
}

static RULES: LazyLock<RuleSet> = LazyLock::new(|| {
    let mut rules: Vec<Rule> = DATA.lines().filter(|line| !line.starts_with('#')).filter_map(parse).collect();
    rules.extend(OWN.iter().map(|&(id, keywords, regex, judge)| Rule {
        id,
        regex,
        group: 0,
        entropy: 0.0,
        deny: "",
        keywords: keywords.split('|').collect(),
        judge: Some(judge),
        compiled: OnceLock::new(),
    }));
    let mut number: HashMap<&str, usize> = HashMap::new();
    let mut words: Vec<&str> = Vec::new();
    let mut with_keyword: Vec<Vec<usize>> = Vec::new();
    for (i, rule) in rules.iter().enumerate() {
        for &word in &rule.keywords {
            let n = *number.entry(word).or_insert_with(|| {
                words.push(word);
                with_keyword.push(Vec::new());
                words.len() - 1
            });
            with_keyword[n].push(i);
        }
    }
    let keywords = AhoCorasick::builder().ascii_case_insensitive(true).build(&words).expect("a few hundred short words fit");
    RuleSet { all: rules, keywords, with_keyword }
});

/// One line of the data.
fn parse(line: &'static str) -> Option<Rule> {
    let mut columns = line.split('\t');
    Some(Rule {
        id: columns.next()?,
        entropy: columns.next()?.parse().ok()?,
        group: columns.next()?.parse().ok()?,
        keywords: columns.next()?.split('|').collect(),
        regex: columns.next()?,
        deny: columns.next()?,
        judge: None,
        compiled: OnceLock::new(),
    })
}

impl Rule {
    /// The regex and that of `deny`. A test sees to it that all of them compile.
    fn compiled(&self) -> Option<&(Regex, Option<Regex>)> {
        let compile = |regex| RegexBuilder::new(regex).unicode(false).size_limit(64 << 20).build().ok();
        self.compiled
            .get_or_init(|| {
                let deny = if self.deny.is_empty() { None } else { Some(compile(self.deny)?) };
                Some((compile(self.regex)?, deny))
            })
            .as_ref()
    }

    /// Adds where this rule finds secrets in `text`.
    fn find(&'static self, text: &str, found: &mut Vec<(Range<usize>, &'static str)>) {
        let Some((regex, deny)) = self.compiled() else { return };
        for groups in regex.captures_iter(text.as_bytes()) {
            let secret = if self.group > 0 { groups.get(self.group) } else { groups.iter().skip(1).flatten().find(|m| !m.is_empty()) };
            let Some(secret) = secret.or_else(|| groups.get(0)) else { continue };
            // The regexes see bytes, so a match may begin or end within a character.
            let range = text.floor_char_boundary(secret.start())..text.ceil_char_boundary(secret.end());
            let value = &text[range.clone()];
            let is_secret = match self.judge {
                Some(judge) => judge(value),
                // What starts with the mark of its maker needs no other proof.
                None => self.is_marked(value) || (entropy(value) >= self.entropy && !is_placeholder(value)),
            };
            if is_secret && !deny.as_ref().is_some_and(|deny| deny.is_match(value.as_bytes())) {
                found.push((range, self.id));
            }
        }
    }

    /// Says if `value` starts with a keyword that is long enough to be no accident.
    fn is_marked(&self, value: &str) -> bool {
        self.keywords.iter().any(|k| k.len() >= 4 && value.get(..k.len()).is_some_and(|head| head.eq_ignore_ascii_case(k)))
    }
}

/// Where secrets are in `text` and which rules found them, in order, none touching another.
fn find(text: &str) -> Vec<(Range<usize>, &'static str)> {
    let rules = &*RULES;
    let mut may_match = vec![false; rules.all.len()];
    let mut seen = vec![false; rules.with_keyword.len()];
    for hit in rules.keywords.find_overlapping_iter(text) {
        let word = hit.pattern().as_usize();
        if !std::mem::replace(&mut seen[word], true) {
            for &rule in &rules.with_keyword[word] {
                may_match[rule] = true;
            }
        }
    }
    let mut found = Vec::new();
    for (rule, _) in rules.all.iter().zip(may_match).filter(|(_, may)| *may) {
        rule.find(text, &mut found);
    }
    let mut found = without_marks(text, found);
    // A stable sort: of two that start together the rule that is first in the file stays first.
    found.sort_by_key(|(range, _)| range.start);
    let mut joined: Vec<(Range<usize>, &'static str)> = Vec::with_capacity(found.len());
    for (range, id) in found {
        match joined.last_mut() {
            Some((last, _)) if range.start < last.end => last.end = last.end.max(range.end),
            _ => joined.push((range, id)),
        }
    }
    joined
}

/// Takes the marks of an earlier redaction out of the ranges, and with them what little is left beside.
fn without_marks(text: &str, found: Vec<(Range<usize>, &'static str)>) -> Vec<(Range<usize>, &'static str)> {
    let marks = marks(text);
    if marks.is_empty() {
        return found;
    }
    let mut out = Vec::new();
    for (range, id) in found {
        let mut start = range.start;
        let first = marks.partition_point(|mark| mark.end <= range.start);
        let mut is_cut = false;
        for mark in marks[first..].iter().take_while(|mark| mark.start < range.end) {
            is_cut = true;
            push_part(text, start..mark.start.max(start), id, &mut out);
            start = mark.end;
        }
        if is_cut {
            push_part(text, start.min(range.end)..range.end, id, &mut out);
        } else {
            out.push((range, id));
        }
    }
    out
}

/// Adds what is left of a range beside a mark if it is more than a quote and a word.
fn push_part(text: &str, part: Range<usize>, id: &'static str, out: &mut Vec<(Range<usize>, &'static str)>) {
    let value = &text[part.clone()];
    if value.trim().len() >= 8 && is_random(value) {
        out.push((part, id));
    }
}

/// Where the marks of an earlier redaction are.
fn marks(text: &str) -> Vec<Range<usize>> {
    text.match_indices(MARK)
        .filter_map(|(start, _)| {
            let id = &text.as_bytes()[start + MARK.len()..];
            let len = id.iter().position(|c| !(c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, b'-' | b'.')))?;
            (len > 0 && id[len] == b']').then(|| start..start + MARK.len() + len + 1)
        })
        .collect()
}

/// `text` with a mark in place of each range.
fn replace(text: &str, found: &[(Range<usize>, &'static str)]) -> String {
    let mut out = String::with_capacity(text.len() + 16 * found.len());
    let mut done = 0;
    for (range, id) in found {
        out.push_str(&text[done..range.start]);
        out.push_str(MARK);
        out.push_str(id);
        out.push(']');
        done = range.end;
    }
    out.push_str(&text[done..]);
    out
}

/// The Shannon entropy of `value` in bits a byte.
fn entropy(value: &str) -> f64 {
    let mut counts = [0_usize; 256];
    for byte in value.bytes() {
        counts[usize::from(byte)] += 1;
    }
    let len = value.len() as f64;
    counts.iter().filter(|&&n| n > 0).map(|&n| n as f64 / len).map(|p| -p * p.log2()).sum()
}

#[cfg(test)]
mod tests;
