//! Recognises statements: sentences that decide something, set a rule, or explain an outcome. Rules
//! in a data file (`rules.tsv`) decide, without a model, so the same sentence is recognised on
//! every machine, in microseconds.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use unicode_segmentation::UnicodeSegmentation;
use uuid::{Builder, Uuid};
use xxhash_rust::xxh3::xxh3_128;

use super::{Episode, EpisodeSource, Memory, MemorySource, Speaker, question};
use crate::text::{cut_at_word as cut, folded};

/// Most statements of one text. If there are more, the first ones of the strongest kinds are kept.
const MOST: usize = 6;
/// Most sentences of a text that are examined.
const MOST_SENTENCES: usize = 1_000;
/// A sentence with fewer words says too little; a text with more words is not a sentence.
const LEAST_WORDS: usize = 3;
const MOST_WORDS: usize = 60;
/// Longest statement in bytes.
const LONGEST: usize = 400;
/// Most words that `*` matches.
const GAP: usize = 8;
/// Replaces code and quotations among the words of a sentence.
const MASKED: &str = "\u{fffc}";

/// The kind of a statement, strongest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum StatementKind {
    Decision,
    Rule,
    Fact,
}

/// Returns the statements of a text in order: the sentences that are memories of their own, in their
/// original words, each on one line. Code, quotations and program output are ignored.
fn statements(text: &str, speaker: Speaker) -> Vec<String> {
    let mut found: Vec<(StatementKind, usize, String)> = Vec::new();
    let mut known = BTreeSet::new();
    for (at, sentence) in sentences(text, speaker).into_iter().enumerate() {
        if let Some(kind) = sentence.kind
            && known.insert(key(&sentence.text))
        {
            found.push((kind, at, cut(&sentence.text, LONGEST)));
        }
    }
    found.sort();
    found.truncate(MOST);
    found.sort_by_key(|(_, at, _)| *at);
    found.into_iter().map(|(.., statement)| statement).collect()
}

/// Returns the sentences of a memory that are not statements and name a subject, on one line.
pub(super) fn rest(memory: &Memory) -> String {
    let is_rest = |s: &Sentence| s.kind.is_none() && !s.is_chat;
    let rest: Vec<String> = sentences(&memory.content, memory.speaker())
        .into_iter()
        .filter(is_rest)
        .map(|s| s.text)
        .collect();
    rest.join(" ")
}

/// Returns a key that is equal for texts with nearly the same words.
pub(super) fn key(text: &str) -> String {
    let words = words(text, false);
    let counts =
        |word: &&String| word.chars().any(char::is_alphanumeric) && !RULES.same.contains(*word);
    words.iter().filter(counts).map(String::as_str).collect::<Vec<_>>().join(" ")
}

/// Returns a memory for each statement of a text. They are deleted with `origin`, the first piece
/// of the text.
pub(super) fn memories(origin: &Memory) -> Vec<Memory> {
    let source = MemorySource::Episode(Episode::of(EpisodeSource::Message));
    let memory = |statement: String| Memory {
        id: id_of(&statement),
        created_at: origin.created_at,
        updated_at: origin.updated_at,
        group_id: origin.group_id.clone(),
        derived_from: vec![origin.id],
        said_by: Some(origin.speaker()),
        ..Memory::new(statement, source.clone(), &origin.session_id)
    };
    statements(&origin.content, origin.speaker()).into_iter().map(memory).collect()
}

/// Returns the id of a statement, made from its words: the same statement is always one memory.
pub(super) fn id_of(text: &str) -> Uuid {
    Builder::from_custom_bytes(xxh3_128(key(text).as_bytes()).to_be_bytes()).into_uuid()
}

/// Returns whether a memory is a statement that was recognised in another one.
pub(super) fn is_recognised(memory: &Memory) -> bool {
    !memory.derived_from.is_empty()
        && matches!(&memory.source, MemorySource::Episode(e) if e.source == EpisodeSource::Message)
}

/// Returns a statement without the label with which it calls itself a decision or a rule
/// (`Decision: `), for a list that has such a label already.
pub(super) fn without_label(text: &str) -> &str {
    let label = text.split_once(": ").filter(|(label, _)| {
        RULES.labels.contains(&label.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase())
    });
    label.map_or(text, |(_, rest)| rest.trim_start())
}

/// Returns the strongest kind of statement in a text.
pub(super) fn kind_of(text: &str) -> Option<StatementKind> {
    sentences(text, Speaker::Person).into_iter().filter_map(|s| s.kind).min()
}

struct Sentence {
    text: String,
    kind: Option<StatementKind>,
    is_chat: bool,
}

fn sentences(text: &str, speaker: Speaker) -> Vec<Sentence> {
    let mut all: Vec<Sentence> = Vec::new();
    for block in prose(text) {
        let from = all.len();
        for sentence in block.unicode_sentences() {
            if all.len() == MOST_SENTENCES {
                return all;
            }
            let mut text = folded(sentence);
            // A refusal may be a sentence of its own: "No. Use the other one."
            if speaker == Speaker::Person
                && all.len() > from
                && let Some(refusal) = all.pop_if(|before| is_refusal(&before.text))
            {
                let refusal = refusal.text.trim_end_matches(|c: char| !c.is_alphanumeric());
                text = format!("{refusal}, {text}");
            }
            let words = words(&text, true);
            let starts = starts(&words);
            let kind = recognised(&text, &words, &starts, speaker);
            let is_chat = kind.is_none()
                && RULES
                    .chat
                    .iter()
                    .any(|rule| rule.is_in(&words, &[0]) || rule.is_in(&words, &starts));
            // A sentence that depends on the one before is stored together with it.
            let is_dangling = |at: &usize| {
                let clause = clause(&words[*at..]);
                RULES.dangles.iter().any(|rule| rule.is_in(clause, &[0]))
            };
            let dangles = kind.is_some() && starts.iter().any(is_dangling);
            let before = all.last().filter(|b| {
                let leans = leans(&words, &starts) && b.kind.is_none();
                kind.is_some() && (dangles || leans) && all.len() > from
            });
            let together = before
                .map(|b| Sentence {
                    text: format!("{} {text}", b.text),
                    kind: b.kind.into_iter().chain(kind).min(),
                    is_chat,
                })
                .filter(|together| together.text.len() <= LONGEST);
            if let Some(together) = together {
                all.pop();
                all.push(together);
            } else {
                all.push(Sentence { text, kind: kind.filter(|_| !dangles), is_chat });
            }
        }
    }
    all
}

fn recognised(
    text: &str,
    words: &[String],
    starts: &[usize],
    speaker: Speaker,
) -> Option<StatementKind> {
    let n = words.iter().filter(|w| w.chars().any(char::is_alphanumeric)).count();
    let is_question =
        text.trim_end_matches(|c: char| !c.is_alphanumeric() && c != '?').ends_with('?');
    if !(LEAST_WORDS..=MOST_WORDS).contains(&n) || is_question {
        return None;
    }
    let is_any = |rules: &[Rule]| rules.iter().any(|rule| rule.is_in(words, starts));
    if is_any(&RULES.not) {
        return None;
    }
    let refuses = || {
        is_any(&RULES.refusals)
            && !is_any(&RULES.not_refusals)
            && question::subject(text).split_whitespace().count() > 1
    };
    let is_ordered = |kind: &StatementKind| {
        *kind == StatementKind::Rule
            && speaker == Speaker::Person
            && (is_any(&RULES.orders) || refuses())
    };
    let is_one = |known: &BTreeMap<StatementKind, Vec<Rule>>, kind: &StatementKind| {
        known.get(kind).is_some_and(|rules| is_any(rules))
    };
    let holds = |kind: &StatementKind| {
        (is_one(&RULES.kinds, kind) || is_ordered(kind)) && !is_one(&RULES.exceptions, kind)
    };
    [StatementKind::Decision, StatementKind::Rule, StatementKind::Fact].into_iter().find(holds)
}

/// Returns the words up to the end of the clause.
fn clause(words: &[String]) -> &[String] {
    let ends = |word: &String| matches!(&**word, "," | ":" | ";");
    &words[..words.iter().position(ends).unwrap_or(words.len())]
}

/// Returns whether a sentence is a refusal without anything else: "No."
fn is_refusal(text: &str) -> bool {
    let mut words = words(text, true);
    if words.len() != 1 {
        return false;
    }
    words.push(",".into());
    RULES.refusals.iter().any(|rule| rule.is_in(&words, &[]))
}

/// Returns the sentences of a text, each on one line, without code, quotations and program output.
pub(super) fn plain_sentences(text: &str) -> Vec<String> {
    let blocks = prose(text);
    let all = blocks.iter().flat_map(|block| block.unicode_sentences()).map(folded);
    all.take(MOST_SENTENCES).collect()
}

/// A clause of a sentence.
#[derive(Debug, Default)]
pub(super) struct Clause {
    /// The words that name its subject.
    pub subject: Vec<String>,
    /// Whether it says that something is not so.
    pub is_negative: bool,
}

/// Returns the clauses of a sentence.
pub(super) fn clauses(sentence: &str) -> Vec<Clause> {
    let mut all = vec![Clause::default()];
    let words = words(sentence, false);
    // A refusal denies what was said before, and not what follows.
    let refuses = RULES.refusals.iter().any(|rule| rule.is_in(&words, &[]));
    for word in words.into_iter().skip(usize::from(refuses)) {
        let is_mark = matches!(&*word, "," | ":" | ";");
        if is_mark || RULES.clauses.contains(&word) {
            all.push(Clause::default());
        } else if let Some(last) = all.last_mut() {
            if RULES.negations.contains(&word) {
                // Two negations are none: "never without".
                last.is_negative = !last.is_negative;
            } else if word.chars().any(char::is_alphabetic)
                && !RULES.common.contains(&word)
                && !question::is_common(&word)
            {
                last.subject.push(word);
            }
        }
    }
    all
}

/// Returns whether a sentence does not hold beside an earlier one about the same subject.
pub(super) fn replaces(sentence: &str) -> bool {
    let words = words(sentence, true);
    let starts = starts(&words);
    let rules = [&RULES.refusals, &RULES.replaces, &RULES.substitutes];
    rules.into_iter().flatten().any(|rule| rule.is_in(&words, &starts))
}

/// Returns whether a sentence puts one thing in the place of another.
pub(super) fn substitutes(sentence: &str) -> bool {
    let words = words(sentence, true);
    RULES.substitutes.iter().any(|rule| rule.is_in(&words, &[]))
}

/// Returns whether a sentence begins with a word that refers to the sentence before.
fn leans(words: &[String], starts: &[usize]) -> bool {
    let is_any =
        |rules: &[Rule]| rules.iter().any(|rule| rule.is_in(words, &starts[..starts.len().min(1)]));
    is_any(&RULES.leans) && !is_any(&RULES.stands)
}

/// Returns where a sentence starts after opening words, and where the parts after a colon or
/// semicolon start.
fn starts(words: &[String]) -> Vec<usize> {
    let begins = |at: usize| at == 0 || matches!(&*words[at - 1], ":" | ";");
    let behind_openers = |at: usize| {
        let is_opener = |word: &&String| RULES.openers.contains(*word) || *word == ",";
        at + words[at..].iter().take_while(is_opener).count()
    };
    (0..words.len()).filter(|at| begins(*at)).map(behind_openers).collect()
}

/// Returns paragraphs and list items, each on one line, without code, quotations and program
/// output.
fn prose(text: &str) -> Vec<String> {
    let mut blocks: Vec<String> = vec![String::new()];
    let (mut fence, mut tag): (Option<&str>, Option<String>) = (None, None);
    let mut is_list = false;
    for line in text.lines() {
        let trimmed = line.trim();
        if let Some(mark) = fence {
            fence = (!trimmed.starts_with(mark)).then_some(mark);
            continue;
        }
        if let Some(end) = &tag {
            if trimmed.contains(&**end) {
                tag = None;
            }
            continue;
        }
        fence = ["```", "~~~"].into_iter().find(|mark| trimmed.starts_with(mark));
        tag = opened_tag(trimmed);
        let item = item(trimmed);
        is_list = item.is_some() || is_list && !trimmed.is_empty();
        let is_code = line.starts_with(['\t']) || line.starts_with("    ");
        let is_prose = fence.is_none()
            && !trimmed.starts_with(['>', '<'])
            && (is_list || !is_code)
            && is_prose(trimmed);
        if item.is_some() || trimmed.starts_with('#') || !is_prose {
            blocks.push(String::new());
        }
        if let Some(block) = blocks.last_mut().filter(|_| is_prose) {
            block.push_str(item.unwrap_or(trimmed.trim_start_matches('#')));
            block.push(' ');
        }
        if trimmed.starts_with('#') {
            blocks.push(String::new());
        }
    }
    blocks.retain(|b| !b.trim().is_empty());
    blocks
}

/// Returns the text after the marker of a list item.
fn item(line: &str) -> Option<&str> {
    let number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let rest = if number.len() < line.len() {
        number.strip_prefix(['.', ')'])
    } else {
        line.strip_prefix(['-', '*', '+', '•'])
    };
    rest.filter(|rest| rest.starts_with(' ')).map(str::trim_start)
}

/// Returns the closing tag of an element that a line opens and does not close.
fn opened_tag(line: &str) -> Option<String> {
    let name: String = line
        .strip_prefix('<')?
        .chars()
        .take_while(|c| c.is_alphanumeric() || matches!(c, '-' | '_'))
        .collect();
    let end = format!("</{name}>");
    (!name.is_empty() && line.contains('>') && !line.contains(&end)).then_some(end)
}

/// Returns whether a line is mostly words and does not look like program output.
fn is_prose(line: &str) -> bool {
    let n = line.chars().count();
    let letters = line.chars().filter(|c| c.is_alphabetic() || *c == ' ').count();
    letters * 10 >= n * 7 && !RULES.lines.iter().any(|start| line.starts_with(start.as_str()))
}

/// Returns the words of a text in lower case with contractions expanded; punctuation that ends a
/// clause is a word of its own. With `is_masked`, code and quotations are one word each.
fn words(text: &str, is_masked: bool) -> Vec<String> {
    let mut all = Vec::new();
    let is_part = |c: char| {
        c.is_alphanumeric() || matches!(c, '_' | '\'' | '’' | '-' | '/' | '.' | '+' | '#' | '@')
    };
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let closing = match c {
            _ if !is_masked => None,
            '`' | '"' => Some(c),
            '“' => Some('”'),
            '«' => Some('»'),
            _ => None,
        };
        if let Some(end) = closing.and_then(|closing| {
            rest[c.len_utf8()..].find(closing).map(|at| at + c.len_utf8() + closing.len_utf8())
        }) {
            all.push(MASKED.to_string());
            rest = &rest[end..];
        } else if is_part(c) {
            let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
            in_full(&rest[..end].to_lowercase().replace('’', "'"), &mut all);
            rest = &rest[end..];
        } else {
            if matches!(c, ',' | ':' | ';' | '—' | '–') {
                all.push(if matches!(c, '—' | '–') { ";".into() } else { c.to_string() });
            }
            rest = &rest[c.len_utf8()..];
        }
    }
    all
}

/// Adds a word without surrounding punctuation; a contraction becomes its words.
fn in_full(word: &str, all: &mut Vec<String>) {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '_');
    let mut push = |parts: &[&str]| {
        all.extend(parts.iter().filter(|p| !p.is_empty()).map(|p| (*p).to_string()));
    };
    match word {
        "can't" | "cannot" => return push(&["can", "not"]),
        "won't" => return push(&["will", "not"]),
        "let's" => return push(&["let", "us"]),
        "that's" | "it's" | "there's" | "here's" | "what's" => {
            return push(&[&word[..word.len() - 2], "is"]);
        }
        _ => {}
    }
    for (end, full) in [
        ("n't", "not"),
        ("'ll", "will"),
        ("'re", "are"),
        ("'ve", "have"),
        ("'d", "would"),
        ("'m", "am"),
    ] {
        if let Some(start) = word.strip_suffix(end) {
            return push(&[start, full]);
        }
    }
    push(&[word]);
}

/// The rules of the data file.
#[derive(Default)]
struct Rules {
    kinds: BTreeMap<StatementKind, Vec<Rule>>,
    orders: Vec<Rule>,
    refusals: Vec<Rule>,
    not_refusals: Vec<Rule>,
    substitutes: Vec<Rule>,
    replaces: Vec<Rule>,
    negations: BTreeSet<String>,
    clauses: BTreeSet<String>,
    common: BTreeSet<String>,
    exceptions: BTreeMap<StatementKind, Vec<Rule>>,
    not: Vec<Rule>,
    chat: Vec<Rule>,
    openers: BTreeSet<String>,
    leans: Vec<Rule>,
    dangles: Vec<Rule>,
    stands: Vec<Rule>,
    same: BTreeSet<String>,
    labels: BTreeSet<String>,
    lines: Vec<String>,
}

/// One line of the rules: parts that must follow each other.
struct Rule(Vec<SentencePart>);

enum SentencePart {
    /// The first word of the sentence.
    First,
    Start,
    End,
    Gap,
    /// Any of these words; the flag says whether it is optional.
    Word(Vec<&'static str>, bool),
    /// A word that is none of these.
    Other(Vec<&'static str>),
}

static RULES: LazyLock<Rules> = LazyLock::new(|| Rules::new(include_str!("rules.tsv")));

impl Rules {
    fn new(text: &'static str) -> Self {
        let mut rules = Self::default();
        for (what, rule) in
            text.lines().filter(|l| !l.starts_with('#')).filter_map(|l| l.split_once('\t'))
        {
            let words = rule.split(' ').map(String::from);
            let list = match what {
                "decision" => rules.kinds.entry(StatementKind::Decision).or_default(),
                "rule" => rules.kinds.entry(StatementKind::Rule).or_default(),
                "fact" => rules.kinds.entry(StatementKind::Fact).or_default(),
                "not-rule" => rules.exceptions.entry(StatementKind::Rule).or_default(),
                "not-fact" => rules.exceptions.entry(StatementKind::Fact).or_default(),
                "order" => &mut rules.orders,
                "refusal" => &mut rules.refusals,
                "not-refusal" => &mut rules.not_refusals,
                "substitutes" => &mut rules.substitutes,
                "replaces" => &mut rules.replaces,
                "chat" => &mut rules.chat,
                "not" => &mut rules.not,
                "dangles" => &mut rules.dangles,
                "leans" => &mut rules.leans,
                "stands" => &mut rules.stands,
                other => {
                    match other {
                        "negation" => rules.negations.extend(words),
                        "clause" => rules.clauses.extend(words),
                        "common" => rules.common.extend(words),
                        "opener" => rules.openers.extend(words),
                        "same" => rules.same.extend(words),
                        "label" => drop(rules.labels.insert(rule.into())),
                        "line" => rules.lines.push(rule.into()),
                        // A test checks that the file has no other kind of rule.
                        _ => {}
                    }
                    continue;
                }
            };
            list.push(Rule::new(rule));
        }
        rules
    }
}

impl Rule {
    fn new(text: &'static str) -> Self {
        let part = |part: &'static str| match part {
            "<" => SentencePart::First,
            "^" => SentencePart::Start,
            "$" => SentencePart::End,
            "*" => SentencePart::Gap,
            word if word.starts_with('!') => SentencePart::Other(word[1..].split('|').collect()),
            word => SentencePart::Word(
                word.trim_end_matches('?').split('|').collect(),
                word.ends_with('?'),
            ),
        };
        Self(text.split(' ').map(part).collect())
    }

    fn is_in(&self, words: &[String], starts: &[usize]) -> bool {
        (0..words.len()).any(|at| follows(&self.0, words, at, starts))
    }
}

fn follows(parts: &[SentencePart], words: &[String], at: usize, starts: &[usize]) -> bool {
    let Some((part, rest)) = parts.split_first() else { return true };
    match part {
        SentencePart::First => at == 0 && follows(rest, words, at, starts),
        SentencePart::Other(none) => {
            words.get(at).is_some_and(|word| !none.contains(&&**word))
                && follows(rest, words, at + 1, starts)
        }
        SentencePart::Start => starts.contains(&at) && follows(rest, words, at, starts),
        SentencePart::End => at == words.len() && follows(rest, words, at, starts),
        SentencePart::Gap => {
            (1..=GAP).any(|n| at + n <= words.len() && follows(rest, words, at + n, starts))
        }
        SentencePart::Word(any, may_be_absent) => {
            let is_here = words.get(at).is_some_and(|word| any.contains(&&**word));
            is_here && follows(rest, words, at + 1, starts)
                || *may_be_absent && follows(rest, words, at, starts)
        }
    }
}

#[cfg(test)]
mod tests;
