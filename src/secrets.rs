//! Takes secrets out of text before it is stored, indexed, shown or sent.
//!
//! [`redact`] replaces each API key, token, password and private key that a rule finds in a text
//! that somebody said by `[REDACTED:rule-id]`. [`redact_file`] does the same for a file of a
//! project, and keeps its lines. There are two sets of rules:
//!
//! - The rules of betterleaks (the maintained successor of gitleaks, MIT). `gen_secret_rules.py`
//!   generates the data in `secrets/secret_rules.tsv` from one of its releases.
//! - `own::OWN`, a few rules that are looser than those of a scanner. A scanner must avoid false
//!   alarms; in a memory, one word too many redacted costs little, and a secret left in stays in
//!   the database. In a file of a project, `password = "test"` is code that somebody searches for,
//!   so there these rules redact only what nobody would write as an example.
//!
//! A rule costs nothing until one of its keywords occurs in a text: an Aho-Corasick automaton
//! finds the keywords of all rules in one pass. Only then the regexes of those rules are
//! compiled, once in a process, and run on the lines around each keyword. They were written for
//! Go, where `\w`, `\s` and `\b` are ASCII, so they run on bytes with Unicode off, which also
//! makes them cheap to compile.

mod own;

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use regex::bytes::{Regex, RegexBuilder};

use self::own::{
    Judge, OWN, PASSWORD, URL_PASSWORD, entropy, is_code, is_example, is_placeholder, is_random,
    table,
};

/// The rules of betterleaks. The head of the file describes its columns.
const DATA: &str = include_str!("secrets/secret_rules.tsv");

/// The beginning of a mark, which replaces a secret. The id of the rule and `]` follow.
const MARK: &str = "[REDACTED:";

/// The warning beside text with marks: an edit that repeats one would destroy what it replaces.
pub const MARKED: &str = "secrets in the shown lines are replaced by [REDACTED:…]: do not write them back, and keep those lines out of an edit";

/// Most passes over the output. A second pass nearly always finds nothing more.
const MAX_PASSES: usize = 8;

/// How many lines around a keyword a regex sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RegexWindow {
    /// Only the line of the keyword.
    Line,
    /// As many lines as any rule of betterleaks needs: a command that continues over several lines.
    Lines,
    /// From the line of the keyword to the end of the document, which YAML marks with `---`.
    Document,
    /// From the line of the keyword to the end of the text.
    Rest,
}

/// Longest value, in bytes, that may be the name of another one. It keeps the search linear.
const MAX_NAME: usize = 60;

const LINES_BEFORE: usize = 1;
const LINES_AFTER: usize = 6;

/// A text without its secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redacted {
    /// The text, with `[REDACTED:rule-id]` in place of each secret.
    pub text: String,
    /// Number of secrets that were replaced.
    pub n_secrets: usize,
}

/// The text of a file without its secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedactedFile<'a> {
    /// The text with as many lines as before. It is borrowed if there was no secret.
    pub text: Cow<'a, str>,
    /// The line of each secret (from 1) and the rule that found it, in order of the lines.
    pub found: Vec<(u32, &'static str)>,
}

/// The origin of a text. It decides how much counts as a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TextOrigin {
    /// A text that somebody said.
    Said,
    /// A file of a project. It contains examples and names, and its line numbers must not change.
    File,
}

/// A secret in a text, and the rule that found it.
type Found = (Range<usize>, &'static str);

/// Replaces each secret in `text` by `[REDACTED:rule-id]`.
///
/// Redacting the result again changes nothing.
#[must_use]
pub fn redact(text: &str) -> Redacted {
    let mut n_secrets = 0;
    let text = redact_with(text, TextOrigin::Said, |_, found| n_secrets += found.len());
    Redacted { text: text.into_owned(), n_secrets }
}

/// Replaces each secret in the text of a file by `[REDACTED:rule-id]`. A secret of several lines
/// leaves its line breaks, so that the lines after it keep their numbers.
///
/// Redacting the result again changes nothing.
#[must_use]
pub fn redact_file(text: &str) -> RedactedFile<'_> {
    let mut lines = Vec::new();
    let text = redact_with(text, TextOrigin::File, |text, found| {
        let (mut line, mut done) = (1, 0);
        for (range, id) in found {
            line += n_breaks(&text[done..range.start]);
            done = range.start;
            lines.push((u32::try_from(line).unwrap_or(u32::MAX), *id));
        }
    });
    lines.sort_by_key(|(line, _)| *line);
    RedactedFile { text, found: lines }
}

/// Returns the text without its secrets. Calls `tell` with each version of the text and the secrets
/// that are replaced in it.
fn redact_with(
    text: &str,
    origin: TextOrigin,
    mut tell: impl FnMut(&str, &[Found]),
) -> Cow<'_, str> {
    let mut out = Cow::Borrowed(text);
    // A mark can remove what hid another secret from a rule, so repeat until nothing is found.
    for _ in 0..MAX_PASSES {
        let found = find(&out, origin);
        if found.is_empty() {
            break;
        }
        tell(&out, &found);
        out = Cow::Owned(replace(&out, &found, origin));
    }
    out
}

fn n_breaks(text: &str) -> usize {
    memchr::memchr_iter(b'\n', text.as_bytes()).count()
}

/// A rule that finds one kind of secret.
struct Rule {
    id: &'static str,
    regex: &'static str,
    /// The capture group that is the secret; 0 means the first group that took
    /// part, or the whole match.
    group: usize,
    /// Least entropy of a secret, in bits per byte.
    entropy: f64,
    /// A regex of values that are not secrets; may be empty.
    deny: &'static str,
    keywords: Vec<&'static str>,
    /// Decides whether a value is a secret. Only our own rules have it.
    judge: Option<Judge>,
    reach: RegexWindow,
    compiled: OnceLock<Option<(Regex, Option<Regex>)>>,
}

/// All rules, and the automaton that finds the rules which may match a text.
struct RuleSet {
    all: Vec<Rule>,
    keywords: AhoCorasick,
    /// For each keyword of the automaton, the rules that have it.
    with_keyword: Vec<Vec<usize>>,
    /// The rule whose keywords are the names of passwords.
    named: usize,
}

static RULES: LazyLock<RuleSet> = LazyLock::new(|| {
    let mut rules: Vec<Rule> =
        DATA.lines().filter(|line| !line.starts_with('#')).filter_map(parse).collect();
    rules.extend(OWN.iter().map(|&(id, keywords, regex, judge)| Rule {
        id,
        regex,
        group: 0,
        entropy: 0.0,
        deny: "",
        keywords: keywords.split('|').collect(),
        judge: Some(judge),
        reach: match id {
            own::PRIVATE_KEY => RegexWindow::Rest,
            own::KUBERNETES => RegexWindow::Document,
            own::ENTRY_PASSWORD | own::ENTRY_SECRET => RegexWindow::Lines,
            _ => RegexWindow::Line,
        },
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
    let keywords = AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .kind(Some(AhoCorasickKind::DFA))
        .build(&words)
        .expect("a few hundred short words fit");
    let named = rules.iter().position(|rule| rule.id == PASSWORD).unwrap_or(rules.len());
    RuleSet { all: rules, keywords, with_keyword, named }
});

/// Parses a line of the data.
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
        reach: RegexWindow::Lines,
        compiled: OnceLock::new(),
    })
}

impl Rule {
    /// Returns the compiled regex, and that of `deny`. A test checks that all rules compile.
    fn compiled(&self) -> Option<&(Regex, Option<Regex>)> {
        let compile =
            |regex| RegexBuilder::new(regex).unicode(false).size_limit(64 << 20).build().ok();
        self.compiled
            .get_or_init(|| {
                let deny = if self.deny.is_empty() { None } else { Some(compile(self.deny)?) };
                Some((compile(self.regex)?, deny))
            })
            .as_ref()
    }

    /// Adds the secrets that this rule finds in a part of `text`.
    fn find(
        &'static self,
        text: &str,
        part: &Range<usize>,
        origin: TextOrigin,
        found: &mut Vec<Found>,
    ) {
        let Some((regex, deny)) = self.compiled() else { return };
        let bytes = &text.as_bytes()[part.clone()];
        let mut at = 0;
        while let Some(groups) = (at <= bytes.len()).then(|| regex.captures_at(bytes, at)).flatten()
        {
            let Some(whole) = groups.get(0) else { break };
            at = whole.end().max(at + 1);
            let secret = if self.group > 0 {
                groups.get(self.group)
            } else {
                groups.iter().skip(1).flatten().find(|m| !m.is_empty())
            };
            // A match of our own rules without a group is an exception that they name.
            let is_exception = self.judge.is_some() && groups.len() > 1;
            let Some(secret) = secret.or(Some(whole).filter(|_| !is_exception)) else { continue };
            // The regexes match bytes, so a match may begin or end inside a character.
            let range = text.floor_char_boundary(part.start + secret.start())
                ..text.ceil_char_boundary(part.start + secret.end());
            let value = &text[range.clone()];
            let is_secret = match self.judge {
                Some(judge) => {
                    judge(value)
                        && (self.id == URL_PASSWORD || !is_code(value))
                        && !(origin == TextOrigin::File && is_example(self.id, value))
                }
                // A value with the prefix of its issuer needs no other proof.
                None => {
                    self.is_marked(value)
                        || (entropy(value) >= self.entropy && !is_placeholder(value))
                }
            };
            if is_secret && !deny.as_ref().is_some_and(|deny| deny.is_match(value.as_bytes())) {
                found.push((range, self.id));
            } else if self.judge.is_some()
                && secret.start() > whole.start()
                && secret.len() <= MAX_NAME
            {
                // The value may be the name of the next one: `(token, "api-key", "x")`.
                at = secret.start();
            }
        }
    }

    /// Whether `value` starts with a keyword that is too long for a coincidence.
    fn is_marked(&self, value: &str) -> bool {
        self.keywords.iter().any(|k| {
            k.len() >= 4 && value.get(..k.len()).is_some_and(|head| head.eq_ignore_ascii_case(k))
        })
    }
}

/// Returns the secrets in `text` and the rules that found them, in order and without overlaps.
fn find(text: &str, origin: TextOrigin) -> Vec<Found> {
    let rules = &*RULES;
    let mut parts: Vec<Vec<Range<usize>>> = Vec::new();
    let mut line = 0..0;
    for hit in rules.keywords.find_overlapping_iter(text) {
        if parts.is_empty() {
            parts.resize(rules.all.len(), Vec::new());
        }
        if hit.end() > line.end || hit.start() < line.start {
            line = lines_around(text, hit.range(), 0, 0);
        }
        for &rule in &rules.with_keyword[hit.pattern().as_usize()] {
            let part = match rules.all[rule].reach {
                RegexWindow::Line => line.clone(),
                RegexWindow::Lines => lines_around(text, line.clone(), LINES_BEFORE, LINES_AFTER),
                // A document is searched for its end once, not for each keyword in it.
                RegexWindow::Document
                    if parts[rule].last().is_some_and(|last| line.end <= last.end) =>
                {
                    continue;
                }
                RegexWindow::Document => {
                    let end = text[line.end..].find("\n---").map_or(text.len(), |n| line.end + n);
                    line.start..end
                }
                RegexWindow::Rest => line.start..text.len(),
            };
            match parts[rule].last_mut() {
                Some(last) if part.start < last.end => last.end = last.end.max(part.end),
                _ => parts[rule].push(part),
            }
        }
    }
    let mut found = Vec::new();
    for (rule, parts) in rules.all.iter().zip(&parts) {
        for part in parts {
            rule.find(text, part, origin, &mut found);
        }
    }
    let named = parts.get(rules.named).map(Vec::as_slice).unwrap_or_default();
    found.extend(in_tables(text, named, origin));
    let mut found = without_marks(text, found);
    // The sort is stable: of two matches with the same start, that of the earlier rule stays first.
    found.sort_by_key(|(range, _)| range.start);
    let mut joined: Vec<Found> = Vec::with_capacity(found.len());
    for (range, id) in found {
        match joined.last_mut() {
            Some((last, _)) if range.start < last.end => last.end = last.end.max(range.end),
            _ => joined.push((range, id)),
        }
    }
    joined
}

/// Returns the passwords in tables. `named` are the lines that name a password.
fn in_tables(text: &str, named: &[Range<usize>], origin: TextOrigin) -> Vec<Found> {
    let (mut found, mut end) = (Vec::new(), 0);
    for line in named {
        // A row of a table begins no other one.
        let Some((cells, after)) = (line.start >= end).then(|| table(text, line)).flatten() else {
            continue;
        };
        end = after;
        let is_secret = |cell: &Range<usize>| {
            let value = &text[cell.clone()];
            !(is_code(value) || origin == TextOrigin::File && is_example(PASSWORD, value))
        };
        found.extend(cells.into_iter().filter(is_secret).map(|cell| (cell, PASSWORD)));
    }
    found
}

/// Returns the lines of `part`, and some before and after it.
fn lines_around(text: &str, part: Range<usize>, before: usize, after: usize) -> Range<usize> {
    let bytes = text.as_bytes();
    let start =
        memchr::memrchr_iter(b'\n', &bytes[..part.start]).nth(before).map_or(0, |at| at + 1);
    let end = memchr::memchr_iter(b'\n', &bytes[part.end..])
        .nth(after)
        .map_or(bytes.len(), |at| part.end + at);
    start..end
}

/// Removes the marks of an earlier redaction from the ranges, and short remains beside them.
fn without_marks(text: &str, found: Vec<Found>) -> Vec<Found> {
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

/// Adds the remains of a range beside a mark, if they are more than a quote and a word.
fn push_part(text: &str, part: Range<usize>, id: &'static str, out: &mut Vec<Found>) {
    let value = &text[part.clone()];
    if value.trim().len() >= 8 && is_random(value) {
        out.push((part, id));
    }
}

/// Whether a text holds the mark of a secret that a rule found. Other text in this form is no mark.
#[must_use]
pub fn has_mark(text: &str) -> bool {
    marks(text).into_iter().any(|mark| {
        let id = &text[mark.start + MARK.len()..mark.end - 1];
        RULES.all.iter().any(|rule| rule.id == id)
    })
}

/// Returns the marks of an earlier redaction.
fn marks(text: &str) -> Vec<Range<usize>> {
    text.match_indices(MARK)
        .filter_map(|(start, _)| {
            let id = &text.as_bytes()[start + MARK.len()..];
            let len = id.iter().position(|c| {
                !(c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, b'-' | b'.'))
            })?;
            (len > 0 && id[len] == b']').then(|| start..start + MARK.len() + len + 1)
        })
        .collect()
}

/// Returns `text` with a mark in place of each range; in a file, also with its line breaks.
fn replace(text: &str, found: &[Found], origin: TextOrigin) -> String {
    let mut out = String::with_capacity(text.len() + 16 * found.len());
    let mut done = 0;
    for (range, id) in found {
        out.push_str(&text[done..range.start]);
        out.push_str(MARK);
        out.push_str(id);
        out.push(']');
        let n_breaks = if origin == TextOrigin::File { n_breaks(&text[range.clone()]) } else { 0 };
        if n_breaks > 0 {
            // Repeat the mark on the last line: a file that ends with the secret
            // would lose a line otherwise.
            out.extend(std::iter::repeat_n('\n', n_breaks));
            out.push_str(MARK);
            out.push_str(id);
            out.push(']');
        }
        done = range.end;
    }
    out.push_str(&text[done..]);
    out
}

/// Texts in which a secret, written as `%`, stands apart from the name that reveals it.
#[cfg(test)]
pub(crate) const FORMS_APART_FROM_NAME: [&str; 5] = [
    "- name: API_TOKEN\n  value: %",
    "ENV API_TOKEN %",
    "setPassword(\"%\")",
    "mysql -u root -p% app",
    "<password>%</password>",
];

#[cfg(test)]
mod tests;
