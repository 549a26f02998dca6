//! Finds the lines of code that write a pasted text. A text from a log has numbers, names and times
//! where the code has holes, so it is compared with lines of code by the runs of words that both have.

use std::cmp::Reverse;
use std::collections::HashSet;

use super::Slot;
use super::bm25::Lexical;
use super::corpus::Corpus;
use super::evidence::top;
use super::files::{FileGroup, lines};
use super::form::asks;
use super::places::NamedPlace;
use super::query::Query;
use super::text::TextError;
use super::tokens::{last_component, lower};
use crate::chunk::{Chunk, ChunkType, Entry};
use crate::text::place_of_word;

/// Most lines with a text that come first.
const MAX_LINES: usize = 3;
/// Number of chunks in which the lines of a text are sought.
const MAX_CHUNKS: usize = 200;
/// Most words of a text and of a line that are compared.
const MAX_WORDS: usize = 160;
const MAX_LINE_WORDS: usize = 80;
/// Number of lines over which code writes one text at most.
const MAX_JOINED: usize = 10;
/// A line has a text if they share this many words in runs, and this part of the letters of the text: more
/// of a text in plain prose, which describes code more often than code writes it.
const LEAST_WORDS: usize = 3;
const LEAST_SHARE: f64 = 0.45;
const LEAST_OF_PROSE: f64 = 0.65;
/// A line outside of quotes, such as one of a document, must have nearly all of the text.
const LEAST_UNQUOTED: f64 = 0.8;
/// A line of a test must have so much of the text.
const LEAST_OF_TEST: f64 = 0.9;
/// If the text has nearly all of the line's literal, less of the text is enough, and so many letters; fewer
/// of a literal of few words.
const WHOLE_LITERAL: f64 = 0.7;
const LEAST_OF_WHOLE: f64 = 0.2;
const LEAST_LETTERS: usize = 14;
const LEAST_SHORT: usize = 10;
/// A text with more words is no message.
const MOST_WORDS: usize = 60;
/// Most words of a value in quotes.
const MOST_QUOTED: usize = 8;
/// A chunk with more signs of long literals is data.
const MAX_MARKS: usize = 200;
/// A literal with holes is so many more signs like a text with values.
const HOLE: usize = 3;
/// Most blank lines between two chunks, and one.
const GAP: u32 = 4;
/// Lines with a smaller part of what the best line has do not come first. A line of the program may have
/// less than one of a document or a test, which has values where the program has holes.
const NEARLY_BEST: f64 = 0.9;
const OF_PROGRAM: f64 = 0.35;

/// A text that a line of code may have.
pub(super) struct SoughtText<'t> {
    /// As it was written, without quotes around it.
    text: &'t str,
    words: Vec<String>,
    /// Number of letters that are no values.
    n_letters: usize,
    /// Whether it is one word with signs, such as an option, a key or a constant.
    is_token: bool,
    /// Whether only the line is sought that declares it.
    is_declared: bool,
    /// Whether it has values and signs, as messages have, and is not plain prose.
    has_values: bool,
}

/// A line with a sought text.
struct FoundLine {
    group: FileGroup,
    is_quoted: bool,
    /// Letters that it shares with the text.
    n_letters: usize,
    /// Letters of its words that the text does not have.
    n_further: usize,
    /// How alike two lines with the same words are to what is sought.
    likeness: usize,
    slot: Slot,
    line: u32,
}

impl<'t> SoughtText<'t> {
    /// Returns `None` for a question.
    pub(super) fn new(text: &'t str) -> Option<Self> {
        let text = text.trim_matches(['"', '\'', '`']);
        let is_token = !text.contains(char::is_whitespace);
        let words = words_of(&without_links(text), MAX_WORDS);
        let n_plain = text.chars().filter(|c| c.is_alphanumeric()).count();
        let has_signs = n_plain < text.chars().count() || text.chars().all(|c| !c.is_lowercase());
        let is_one = is_token && n_plain >= LEAST_WORDS && has_signs;
        let is_message = (LEAST_WORDS..=MOST_WORDS).contains(&words.len()) && !asks(text);
        let has_values = text.contains(is_of_value) || text.contains(": ");
        (is_one || !is_token && is_message).then_some(Self {
            text,
            words,
            n_letters: letters_besides_values(text),
            is_token,
            is_declared: false,
            has_values,
        })
    }

    /// Seeks the line that declares a name.
    pub(super) fn declared(name: &'t str) -> Self {
        let text = last_component(name.trim_end_matches("()"));
        Self {
            text,
            words: Vec::new(),
            n_letters: 0,
            is_token: true,
            is_declared: true,
            has_values: false,
        }
    }

    /// Whether it has several words.
    pub(super) fn is_message(&self) -> bool {
        !self.is_token
    }

    /// Returns the places of the best lines.
    pub(super) fn places(
        &self,
        corpus: &Corpus,
        allows: &dyn Fn(&Entry) -> bool,
    ) -> Result<Vec<NamedPlace>, TextError> {
        let lexical = Lexical::new(&Query::words(self.text), corpus, None)?;
        let allowed = |slot: Slot| {
            let entry = corpus.entry(slot);
            entry.is_some_and(|e| e.chunk_type != ChunkType::Symbols && allows(e))
        };
        let score = |slot: Slot| ((slot, ()), lexical.fields(slot) + lexical.plain(slot));
        let scored = lexical.touched.iter().map(|(slot, _)| score(*slot));
        let slots: Vec<Slot> =
            top(corpus, scored, MAX_CHUNKS, allowed).into_iter().map(|(slot, ())| slot).collect();
        let mut found: Vec<FoundLine> = Vec::new();
        for slot in slots {
            let Some(chunk) = corpus.chunk(slot) else { continue };
            let file = &corpus.files[corpus.file_of[slot as usize] as usize];
            // Documents and data quote messages, and no program of the project writes them there.
            let group = file.group(corpus.examples);
            if !self.is_token && group == FileGroup::Document {
                continue;
            }
            // The description of a test is like that of others, and like what it tests.
            let least = if group > FileGroup::Document { LEAST_OF_TEST } else { 0.0 };
            let least = least * self.n_letters as f64;
            self.lines_in(&chunk, |line| {
                if self.is_token || line.n_letters as f64 >= least {
                    found.push(FoundLine { group, slot, ..line });
                }
            });
        }
        Ok(Self::best(found).into_iter().filter_map(|of| of.place(corpus)).collect())
    }

    /// Returns the best lines, the line of the program before those of others.
    fn best(mut found: Vec<FoundLine>) -> Vec<FoundLine> {
        let most = found.iter().map(|of| of.n_letters).max().unwrap_or(0) as f64;
        let is_source = |of: &FoundLine| of.group == FileGroup::Source && of.is_quoted;
        let of_program = found.iter().filter(|of| is_source(of)).map(|of| of.n_letters).max();
        let of_program = of_program.unwrap_or(0) as f64;
        found.retain(|of| {
            let n = of.n_letters as f64;
            let is_best = is_source(of) && n >= (OF_PROGRAM * most).max(NEARLY_BEST * of_program);
            is_best || n >= NEARLY_BEST * most
        });
        let worth = |of: &FoundLine| {
            let words = (Reverse(of.n_letters), of.n_further, Reverse(of.likeness));
            (of.group, Reverse(of.is_quoted), words, of.slot, of.line)
        };
        found.sort_by_key(worth);
        let mut seen = HashSet::new();
        found.retain(|of| seen.insert((of.slot, of.line)));
        found.truncate(MAX_LINES);
        found
    }

    /// Tells the lines of a chunk that have the text.
    fn lines_in(&self, chunk: &Chunk, mut tell: impl FnMut(FoundLine)) {
        let first = chunk.metadata.start_line.unwrap_or(1);
        let all: Vec<&str> = chunk.text.lines().collect();
        if self.is_token {
            for (line, text) in (first..).zip(&all) {
                let Some((is_quoted, is_passed)) = self.token_in(text) else { continue };
                // The line that looks it up is better than one of a list.
                let n_letters = self.text.len() + usize::from(is_passed);
                tell(FoundLine::new(line, is_quoted, n_letters, text.trim().len(), 0));
            }
            return;
        }
        let known: HashSet<&str> = self.words.iter().map(String::as_str).collect();
        let all_letters = letters(self.words.iter());
        let is_known = |word: &String| known.contains(word.as_str());
        let mut literals = Literals::of(&chunk.text, chunk.metadata.language.as_deref());
        let said: Vec<Said> = all.iter().map(|line| literals.said_by(line)).collect();
        for (at, Said { words, is_quoted, .. }) in said.iter().enumerate() {
            // A run has two words at least.
            if words.iter().filter(|word| is_known(word)).count() < 2 {
                continue;
            }
            let mut joined: Vec<&String> = words.iter().collect();
            let (mut n_words, mut n_letters) = shared_runs(&self.words, &joined);
            // The line itself must have a part of it, or the next line is the place.
            if n_letters == 0 {
                continue;
            }
            let mut of_line = letters(joined.iter().copied());
            for next in at + 1..said.len().min(at + MAX_JOINED) {
                if !said[next - 1].goes_on && !goes_on(all[next - 1], all[next]) {
                    break;
                }
                // A value between two parts of a text.
                if *is_quoted && !said[next].is_quoted {
                    continue;
                }
                joined.extend(&said[next].words);
                let shared = shared_runs(&self.words, &joined);
                if shared.1 > n_letters {
                    (n_words, n_letters) = shared;
                    of_line = letters(joined.iter().copied());
                }
            }
            let of_text = if *is_quoted { self.n_letters } else { all_letters };
            let share = n_letters as f64 / of_text.max(1) as f64;
            let of_literal = n_letters as f64 / of_line.max(1) as f64;
            let is_short = n_words < LEAST_WORDS;
            let is_whole = self.has_values
                && *is_quoted
                && of_literal >= WHOLE_LITERAL
                && share >= LEAST_OF_WHOLE
                && n_letters >= if is_short { LEAST_SHORT } else { LEAST_LETTERS };
            let least = match (is_quoted, self.has_values) {
                // Prose outside of quotes is a comment, which ranking finds.
                (false, false) => continue,
                (false, true) => LEAST_UNQUOTED,
                (true, false) => LEAST_OF_PROSE,
                (true, true) => LEAST_SHARE,
            };
            if is_whole || !is_short && share >= least {
                let line = first + u32::try_from(at).unwrap_or(0);
                // Where the text has values, the literal has holes.
                let has_hole = ["{", "%", "\\("].iter().any(|hole| all[at].contains(hole));
                let likeness = shared_signs(self.text, all[at]) + if has_hole { HOLE } else { 0 };
                tell(FoundLine::new(line, *is_quoted, n_letters, of_line, likeness));
            }
        }
    }

    /// If a line has the one word that is sought: whether in quotes, and whether it is passed or looked
    /// up there, as in `getenv("NAME")`.
    fn token_in(&self, line: &str) -> Option<(bool, bool)> {
        if let Some(at) = place_of_word(line, self.text)
            && (!self.is_declared || declares(line, at, self.text.len()))
        {
            let before = line[..at].trim_end_matches(['"', '\'', '`']);
            return Some((is_in_quotes(line, at), before.ends_with(['(', '['])));
        }
        // A program may name its option without the dashes.
        let option = self.text.strip_prefix("--")?;
        let at = place_of_word(line, option)?;
        is_in_quotes(line, at).then_some((true, false))
    }
}

impl FoundLine {
    /// `of_line`: number of letters of the line.
    fn new(line: u32, is_quoted: bool, n_letters: usize, of_line: usize, likeness: usize) -> Self {
        let n_further = of_line.saturating_sub(n_letters);
        let (group, slot) = (FileGroup::Source, 0);
        Self { group, is_quoted, n_letters, n_further, likeness, slot, line }
    }

    fn place(self, corpus: &Corpus) -> Option<NamedPlace> {
        let file = &corpus.files[corpus.file_of[self.slot as usize] as usize];
        let entry = corpus.entry(self.slot)?;
        let chunk = entry.chunk()?;
        let of = lines(&chunk)?;
        let mut entries = vec![entry.clone()];
        // The function around the line may go on in the next chunk.
        let near = (of.0.saturating_sub(GAP), of.1 + GAP);
        entries.extend(corpus.of_lines(file, near).filter(|e| e.id != entry.id).cloned());
        Some(NamedPlace {
            part: 0,
            path: file.path.clone(),
            line: self.line,
            definition: None,
            note: None,
            chunk,
            entries,
        })
    }
}

/// Returns the words of a text in lower case: runs of letters, and runs of digits.
fn words_of(text: &str, most: usize) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let kind = |c: char| if c.is_alphabetic() { 1 } else { u8::from(c.is_numeric()) * 2 };
    let mut last = 0;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        // The letter after a backslash is no word: `\n`.
        if c == '\\' && chars.peek().is_some_and(char::is_ascii_alphabetic) {
            chars.next();
        }
        let now = kind(c);
        if now != last && !word.is_empty() {
            words.push(lower(&std::mem::take(&mut word)));
        }
        if now > 0 {
            word.push(c);
        }
        last = now;
        if words.len() == most {
            return words;
        }
    }
    if !word.is_empty() {
        words.push(lower(&word));
    }
    words
}

/// Whether a sign is one of values, and seldom of prose or of the names in it.
fn is_of_value(c: char) -> bool {
    c.is_numeric() || "\"`;\\=<>[]{}()@#%$&|*~^".contains(c)
}

/// Returns a text without its web addresses, which documents and manifests have, too.
fn without_links(text: &str) -> String {
    let is_link = |word: &&str| word.contains("://");
    text.split_whitespace().filter(|word| !is_link(word)).collect::<Vec<_>>().join(" ")
}

/// Returns the number of letters of a text without its values, which code does not write: numbers, names
/// with signs inside, what is in quotes, and what a logger or an interpreter writes before a message.
fn letters_besides_values(text: &str) -> usize {
    const BEFORE_MESSAGES: [&str; 12] = [
        "debug", "err", "error", "exception", "fatal", "info", "notice", "panic", "trace",
        "uncaught", "warn", "warning",
    ];
    let words: Vec<&str> = text.split_whitespace().collect();
    let (mut n, mut at) = (0, 0);
    while let Some(word) = words.get(at) {
        at += 1;
        let begins = word.trim_start_matches(['(', '[', '{']);
        if let Some(quote) = begins.chars().next().filter(|c| ['"', '\'', '`'].contains(c)) {
            let ends = |word: &&str| {
                word.trim_end_matches(|c: char| ".,:;)]}".contains(c)).ends_with(quote)
            };
            let rest = std::iter::once(&begins[1..]).chain(words[at..].iter().copied());
            if let Some(last) = rest.take(MOST_QUOTED).position(|word| ends(&word)) {
                at += last;
                continue;
            }
        }
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        let is_label = word.ends_with([':', ']']);
        let is_before = (is_label || !bare.contains(char::is_lowercase))
            && BEFORE_MESSAGES.contains(&&*lower(bare));
        let is_type = word.ends_with(':')
            && ["Exception", "Error"].iter().any(|kind| bare.ends_with(kind) && bare != *kind);
        let is_value = bare.contains(|c: char| c.is_numeric() || "/\\=@<>".contains(c))
            || is_label && bare.contains(['.', ':', '_']);
        if !is_before && !is_type && !is_value {
            n += letters(words_of(bare, MAX_WORDS).iter());
        }
    }
    n.max(LEAST_SHORT)
}

/// Returns how many pairs of neighbouring signs of a line a text has, too.
fn shared_signs(text: &str, line: &str) -> usize {
    let signs = |text: &str| -> Vec<char> {
        text.chars().filter(|c| !c.is_alphanumeric() && !c.is_whitespace() && *c != '\\').collect()
    };
    let of_text = signs(text);
    let known: HashSet<&[char]> = of_text.windows(2).collect();
    signs(line).windows(2).filter(|pair| known.contains(*pair)).count()
}

/// Whether a literal may go on from one line to the next: an operator joins them, or two strings stand
/// side by side. Another argument or statement is another text.
fn goes_on(line: &str, next: &str) -> bool {
    const QUOTES: [char; 3] = ['"', '\'', '`'];
    let (line, next) = (line.trim_end(), next.trim_start());
    line.ends_with(['+', '.', '&', '|', '<', '\\', '='])
        || next.starts_with(['+', '.', '&', '|', '<'])
        || line.ends_with(QUOTES)
            && next.trim_start_matches(char::is_alphabetic).starts_with(QUOTES)
}

fn letters<'w>(words: impl Iterator<Item = &'w String>) -> usize {
    words.map(String::len).sum()
}

/// What a line says.
struct Said {
    /// The words of its literals without their holes, or else all of its words.
    words: Vec<String>,
    /// Whether it has a literal with words.
    is_quoted: bool,
    /// Whether its last literal goes on in the next line.
    goes_on: bool,
}

/// Reads the literals of the lines of a chunk, one after the other.
struct Literals {
    /// Signs that begin and end a literal of several lines.
    marks: &'static [&'static str],
    /// The sign of the literal that goes on.
    open: Option<&'static str>,
    /// Whether it is a comment: Python's first statement of a function, Elixir's `@doc`.
    is_comment: bool,
    is_python: bool,
}

impl Literals {
    fn of(text: &str, language: Option<&str>) -> Self {
        const MARKS: [&str; 2] = ["\"\"\"", "'''"];
        // A chunk may begin within such a literal.
        let is_whole = MARKS.iter().all(|mark| {
            let n_marks = text.matches(mark).count();
            n_marks % 2 == 0 && n_marks <= MAX_MARKS
        });
        let is_python = language == Some("python");
        let marks: &[&str] = if is_whole { &MARKS } else { &[] };
        Self { marks, open: None, is_comment: false, is_python }
    }

    /// Reads the next line.
    fn said_by(&mut self, line: &str) -> Said {
        let (mut said, mut rest) = (String::new(), line);
        loop {
            let mark = match self.open {
                Some(mark) => rest.find(mark).map(|at| (at, mark)),
                None => self.marks.iter().filter_map(|mark| Some((rest.find(mark)?, *mark))).min(),
            };
            let (at, mark) = mark.map_or((rest.len(), ""), |(at, mark)| (at, mark));
            if self.open.is_none() || !self.is_comment {
                add_said(&rest[..at], self.open.is_some(), &mut said);
            }
            if mark.is_empty() {
                break;
            }
            if self.open.take().is_none() {
                let before = rest[..at].trim_start();
                let is_statement = before.len() <= 2 && before.chars().all(char::is_alphabetic);
                self.is_comment = self.is_python && is_statement || before.starts_with('@');
                self.open = Some(mark);
            }
            rest = &rest[at + mark.len()..];
        }
        let words = words_of(&said, MAX_LINE_WORDS);
        let is_quoted = !words.is_empty();
        let words = if is_quoted { words } else { words_of(line, MAX_LINE_WORDS) };
        Said { words, is_quoted, goes_on: self.open.is_some() }
    }
}

/// Adds what the literals of a part of a line say. `is_within`: the part is within one literal.
fn add_said(part: &str, is_within: bool, said: &mut String) {
    /// No sign of a line ends a literal of several lines.
    const ENDLESS: char = '\0';
    let (mut quote, mut depth) = (is_within.then_some(ENDLESS), 0usize);
    let mut chars = part.chars().peekable();
    let mut last = ' ';
    while let Some(c) = chars.next() {
        let next = chars.peek().copied();
        match quote {
            _ if depth > 0 => match c {
                '{' | '(' => depth += 1,
                '}' | ')' => depth -= 1,
                _ => {}
            },
            None if ['"', '\'', '`'].contains(&c) && !(c == '\'' && last.is_alphanumeric()) => {
                quote = Some(c);
            }
            None => {}
            Some(open) if c == open && !(c == '\'' && next.is_some_and(char::is_alphanumeric)) => {
                quote = None;
                said.push(' ');
            }
            // Swift's `\(x)`, and escaped signs.
            Some(_) if c == '\\' && next == Some('(') => said.push(' '),
            Some(_) if c == '\\' => {
                chars.next();
                said.push(' ');
            }
            Some(_) if c == '{' || c == '(' && last == '\\' => {
                depth = 1;
                said.push(' ');
            }
            // `%s`, `%-10.2f`, `%(name)s`
            Some(_) if c == '%' => {
                while chars.next_if(|c| "-+#.*0123456789".contains(*c)).is_some() {}
                chars.next_if(char::is_ascii_alphabetic);
                said.push(' ');
            }
            Some(_) => said.push(c),
        }
        last = c;
    }
    said.push(' ');
}

/// Returns the number of words, and of their letters, in the runs of words that two texts share in the
/// same order. A run of one word counts only beside longer ones, and half.
fn shared_runs(text: &[String], line: &[&String]) -> (usize, usize) {
    // For each pair of positions: the best letters from there on, with the words; and the run that
    // begins there.
    let (n, m) = (text.len(), line.len());
    let mut best = vec![(0usize, 0usize); (n + 1) * (m + 1)];
    let mut run = vec![0usize; (n + 1) * (m + 1)];
    let at = |i: usize, j: usize| i * (m + 1) + j;
    for i in (0..n).rev() {
        for j in (0..m).rev() {
            if text[i] == *line[j] {
                run[at(i, j)] = run[at(i + 1, j + 1)] + 1;
            }
            let mut now = best[at(i + 1, j)].max(best[at(i, j + 1)]);
            let length = run[at(i, j)];
            if length > 0 {
                let letters: usize = text[i..i + length].iter().map(String::len).sum();
                let (counted, words) =
                    if length == 1 { (letters / 2, 0) } else { (letters, length) };
                let rest = best[at(i + length, j + length)];
                now = now.max((rest.0 + counted, rest.1 + words));
            }
            best[at(i, j)] = now;
        }
    }
    let (letters, words) = best[at(0, 0)];
    (words, if words == 0 { 0 } else { letters })
}

/// Whether a line declares the name at this place.
fn declares(line: &str, at: usize, length: usize) -> bool {
    const WORDS: [&str; 26] = [
        "class", "struct", "type", "interface", "enum", "trait", "protocol", "object", "record",
        "union", "typedef", "func", "function", "fun", "fn", "def", "const", "let", "var", "val",
        "static", "final", "define", "module", "namespace", "message",
    ];
    let (before, after) = (line[..at].trim(), line[at + length..].trim_start());
    let is_given =
        after.starts_with([':', '=']) && !after.starts_with("==") && !after.starts_with("=>");
    // `const NAME`, but not `const x = f(NAME)`.
    let is_after_word = before
        .split(|c: char| !c.is_alphanumeric())
        .next_back()
        .is_some_and(|w| WORDS.contains(&w))
        && !before.contains(['=', '(', '{', '"', '\'', '`']);
    is_after_word || before.is_empty() && is_given
}

/// Whether a place of a line is within quotes.
fn is_in_quotes(line: &str, at: usize) -> bool {
    let mut quote = None;
    for c in line[..at].chars().filter(|c| ['"', '\'', '`'].contains(c)) {
        quote = match quote {
            None => Some(c),
            Some(open) if open == c => None,
            open => open,
        };
    }
    quote.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn literals(text: &str, language: &str) -> Vec<(String, bool)> {
        let mut literals = Literals::of(text, Some(language));
        let said = text.lines().map(|line| literals.said_by(line));
        said.map(|said| (said.words.join(" "), said.is_quoted)).collect()
    }

    fn said(line: &str) -> (String, bool) {
        literals(line, "").remove(0)
    }

    #[test]
    fn the_holes_of_a_literal_are_no_words() {
        for (line, want) in [
            (r#"log("retry {} of {max} in %d ms", n)"#, "retry of in ms"),
            (r#"raise "no #{job["class"]} at #{host}""#, "no at"),
            ("console.log(`got ${a + b} bytes`)", "got bytes"),
            (r#"print("lost \(count) of %-10.2f kg\n")"#, "lost of kg"),
            (r#"f"can't open {path!r}""#, "can t open"),
            (r#""one " + name + " two""#, "one two"),
        ] {
            assert_eq!(said(line), (want.to_string(), true), "{line}");
        }
        assert_eq!(said("// nothing is quoted here"), ("nothing is quoted here".into(), false));
    }

    #[test]
    fn a_literal_of_several_lines_is_one_and_a_docstring_is_none() {
        let text = "f(\n\"\"\"\nno shelf \\(n) for\n\\(parcel) today\n\"\"\")";
        let found = literals(text, "swift");
        let words: Vec<&str> = found.iter().filter(|of| of.1).map(|of| &*of.0).collect();
        assert_eq!(words, ["no shelf for", "today"]);
        let text = "def f():\n    \"\"\"Says no shelf.\n\n    For all.\"\"\"\n    return \"\"\"so\n be it\"\"\"";
        let found = literals(text, "python");
        let words: Vec<&str> = found.iter().filter(|of| of.1).map(|of| &*of.0).collect();
        assert_eq!(words, ["so", "be it"]);
        let found = literals("@doc \"\"\"\nNo shelf.\n\"\"\"", "elixir");
        assert!(found.iter().all(|of| !of.1), "{found:?}");
    }

    #[test]
    fn values_and_words_before_a_message_are_no_letters_of_it() {
        let length = |text: &str| text.chars().filter(|c| c.is_alphabetic()).count();
        for (text, rest) in [
            (
                "2024-05-14T08:12:33.121Z pid=41 tid=2a1h INFO: Adding dead Depot::Job job 9f3c",
                "Adding dead DepotJob job",
            ),
            (
                "a.b.EmptyShelfException: Shelf 'east wing' has no parcels (3)",
                "Shelf has no parcels",
            ),
            (
                "Uncaught error: GET `https://x/y z` gave a `404 Not Found` response",
                "Uncaught GET gave a response",
            ),
            ("[depot:err] Error: can't take the 'parcel away", "can't take the parcel away"),
        ] {
            assert_eq!(letters_besides_values(text), length(rest), "{text}");
        }
    }

    #[test]
    fn another_argument_or_statement_is_another_text() {
        assert!(goes_on("a = \"no \" +", "    \"shelf\"") && goes_on("f(\"no \"", "  f\"shelf\")"));
        assert!(
            goes_on("    + name", "    + \" is lost\"") && !goes_on("a = \"no\"", "b = \"shelf\"")
        );
        assert!(goes_on("say(\"no \")", "  .append(\"shelf\")"));
        assert!(!goes_on("new(\"no\")", "new(\"shelf\")") && !goes_on("\"no\",", "\"shelf\","));
    }

    #[test]
    fn runs_of_words_count_in_their_order() {
        let text = |text: &str| words_of(text, MAX_WORDS);
        let shared = |a: &str, b: &str| {
            let (a, b) = (text(a), text(b));
            shared_runs(&a, &b.iter().collect::<Vec<_>>())
        };
        assert_eq!(shared("shelf 12 lost its parcel", "shelf lost its parcel"), (3, 13 + 2));
        assert_eq!(shared("lost its parcel", "parcel its lost").0, 0);
        assert_eq!(shared("a question", "another line"), (0, 0));
    }

    #[test]
    fn a_line_declares_a_name_and_a_use_does_not() {
        let declared = |line: &str| {
            let at = place_of_word(line, "NAME").unwrap();
            declares(line, at, "NAME".len())
        };
        for line in [
            "export type NAME<T> = T",
            "NAME = Union[A, B]",
            "    private const val NAME = 64",
            "#define NAME 3",
            "  NAME: 3,",
        ] {
            assert!(declared(line), "{line}");
        }
        for line in ["const x = f(NAME)", "if NAME == 3", "return NAME", "NAME => 3", "f(NAME)"] {
            assert!(!declared(line), "{line}");
        }
    }

    #[test]
    fn questions_and_single_plain_words_are_no_texts() {
        let is_text = |text: &str| SoughtText::new(text).is_some();
        assert!(!is_text("where is the lock taken") && !is_text("retry") && !is_text("two words"));
        assert!(is_text("--max-retries") && is_text("sync.frequency") && is_text("MAX_RETRIES"));
        assert!(is_text("cannot open file: permission denied"));
    }
}
