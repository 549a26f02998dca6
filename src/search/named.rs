//! Finds what a question is taken at its word for: the definitions of a name, and the lines that hold
//! a pasted text. A text from a log has numbers, names and times where the code has holes, so it is
//! compared with lines of code by the runs of words that both have.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use super::Slot;
use super::bm25::Lexical;
use super::corpus::Corpus;
use super::evidence::top;
use super::files::{FileGroup, IndexedFile, LineRange, TYPE_KINDS, key, lines};
use super::filter::Filter;
use super::form::asks;
use super::hit::Hit;
use super::places::NamedPlace;
use super::query::Query;
use super::text::TextError;
use super::tokens::{last_component, lower};
use crate::chunk::{Chunk, ChunkType, Entry, Name};
use crate::text::place_of_word;

/// Most definitions of a name, and most lines with a text, that come first.
const MAX_DEFINITIONS: usize = 4;
const MAX_LINES: usize = 3;
/// Number of chunks in which the lines of a text, or the definitions of a name, are sought.
const MAX_CHUNKS: usize = 200;
/// A longer text is a report, and is read by its parts. In bytes.
const MAX_TEXT: usize = 2000;
/// Most words of a text and of a line that are compared.
const MAX_WORDS: usize = 160;
const MAX_LINE_WORDS: usize = 80;
/// Number of lines over which code writes one text at most.
const MAX_JOINED: usize = 6;
/// A line has a text if they share this many words in runs, and this part of the letters of the text: more
/// of a text in plain prose, which describes code more often than code writes it. If the text has nearly
/// all of the line's literal, less of it is enough.
const LEAST_WORDS: usize = 3;
const LEAST_SHARE: f64 = 0.45;
const LEAST_OF_PROSE: f64 = 0.65;
const WHOLE_LITERAL: f64 = 0.7;
const LEAST_OF_WHOLE: f64 = 0.2;
const LEAST_LETTERS: usize = 14;
/// A short literal counts if it is nearly all of the text.
const LEAST_SHORT: usize = 10;
const MOST_WORDS: usize = 60;
/// A line outside of quotes, such as one of a document, must have nearly all of the text.
const LEAST_UNQUOTED: f64 = 0.8;
/// Most blank lines between two chunks, and one.
const GAP: u32 = 4;
/// Lines with a smaller part of what the best line has do not come first. A line of the program may have
/// less than one of a document or a test, which has values where the program has holes.
const NEARLY_BEST: f64 = 0.9;
const OF_PROGRAM: f64 = 0.5;

/// Returns the places that a question names: the definitions if it is a name, or the lines that have
/// its text. `hits` are the ranked files.
pub(super) fn named_places(
    corpus: &Corpus,
    query: &Query,
    filter: &Filter,
    hits: &[Hit],
) -> Result<Vec<NamedPlace>, TextError> {
    let allows = |entry: &Entry| filter.allows(entry) && query.only.allows(entry);
    if query.is_symbol {
        let found = definitions(corpus, &query.text, &allows, hits);
        if !found.is_empty() {
            return Ok(found);
        }
        // A file that the parser does not understand has no symbols, and still has the line.
        let found = SoughtText::declared(&query.text).places(corpus, &allows)?;
        if !found.is_empty() {
            return Ok(found);
        }
    }
    let text = query.asked.trim();
    if text.len() > MAX_TEXT || text.is_empty() {
        return Ok(Vec::new());
    }
    match SoughtText::new(text) {
        Some(sought) => sought.places(corpus, &allows),
        None => Ok(Vec::new()),
    }
}

/// A definition of a name.
struct Defined {
    order: (FileGroup, bool, u8, bool, u16, usize, Reverse<u32>),
    path: Arc<str>,
    lines: LineRange,
    slot: Slot,
}

/// Returns the definitions of a name: of several, types first, then those outside of others, then those
/// of the better file. Qualified names mean what is in the named type.
fn definitions(
    corpus: &Corpus,
    written: &str,
    allows: &dyn Fn(&Entry) -> bool,
    hits: &[Hit],
) -> Vec<NamedPlace> {
    let written = written.trim_end_matches("()").trim_end_matches(['!', '?']);
    let simple = last_component(written);
    let around = written.strip_suffix(simple).unwrap_or_default();
    let owner = last_component(around.trim_end_matches(|c: char| !c.is_alphanumeric()));
    let name_key = key(simple);
    let mut found: Vec<Defined> = Vec::new();
    let mut known: HashSet<(Arc<str>, LineRange)> = HashSet::new();
    let mut n_read = 0;
    for file in &corpus.files {
        let of_name = file.definitions.iter().filter(|d| d.name == name_key).map(|d| d.slot);
        for slot in of_name.collect::<BTreeSet<Slot>>() {
            let Some(entry) = corpus.entry(slot).filter(|entry| allows(entry)) else { continue };
            n_read += 1;
            if n_read > MAX_CHUNKS {
                break;
            }
            let Some(chunk) = entry.chunk() else { continue };
            let is_it = |name: &&Name| {
                last_component(&name.name) == simple
                    && name.kind != "impl"
                    && (1..=name.end_line).contains(&name.start_line)
            };
            for name in chunk.metadata.names.iter().filter(is_it) {
                if !owner.is_empty() && !is_within(&chunk, name, owner) {
                    continue;
                }
                let at = hits.iter().position(|hit| *hit.path == *file.path);
                let order = (
                    file.group(corpus.examples),
                    name.prototype,
                    order_of_kind(name),
                    at.is_none(),
                    name.depth,
                    at.unwrap_or(usize::MAX),
                    // A declaration of an overload is shorter than what it declares.
                    Reverse(name.end_line - name.start_line),
                );
                let lines = (name.start_line, name.end_line);
                if known.insert((file.path.clone(), lines)) {
                    found.push(Defined { order, path: file.path.clone(), lines, slot });
                }
            }
        }
    }
    found.sort_by(|a, b| (a.order, &a.path, a.lines).cmp(&(b.order, &b.path, b.lines)));
    // A file may define a name many times: its first definition stands for all.
    let mut paths = HashSet::new();
    found.retain(|of| paths.insert(of.path.clone()));
    found.truncate(MAX_DEFINITIONS);
    found.into_iter().filter_map(|of| of.place(simple, corpus)).collect()
}

impl Defined {
    /// Returns the place at the line that has the name.
    fn place(self, name: &str, corpus: &Corpus) -> Option<NamedPlace> {
        let file = &corpus.files[corpus.file_of[self.slot as usize] as usize];
        let entries: Vec<Arc<Entry>> = of_lines(corpus, file, self.lines).cloned().collect();
        let named = entries.iter().find_map(|entry| {
            let chunk = entry.chunk()?;
            let line = line_with_name(&chunk, name, self.lines)?;
            Some((line, entry, chunk))
        });
        let (line, entry, chunk) = match named {
            Some((line, entry, chunk)) => (line, entry.clone(), chunk),
            None => {
                let entry = corpus.entry(self.slot)?.clone();
                let chunk = entry.chunk()?;
                (self.lines.0, entry, chunk)
            }
        };
        let mut all = vec![entry];
        all.extend(entries.iter().filter(|of| of.id != all[0].id).cloned().collect::<Vec<_>>());
        Some(NamedPlace {
            part: 0,
            path: self.path,
            line,
            definition: Some(self.lines),
            note: None,
            chunk,
            entries: all,
        })
    }
}

/// Returns the first of these lines that has the name and is no comment.
fn line_with_name(chunk: &Chunk, name: &str, of: LineRange) -> Option<u32> {
    let m = &chunk.metadata;
    let is_comment = |number: u32, line: &str| {
        let marks = ["//", "/*", "* ", "*/", "--", "# ", ";;", "\"\"\"", "'''"];
        m.comment_lines.iter().any(|(first, last)| (*first..=*last).contains(&number))
            || marks.iter().any(|mark| line.trim_start().starts_with(mark))
    };
    let lines = (m.start_line?..).zip(chunk.text.lines());
    let mut lines = lines.filter(|(number, line)| {
        (of.0..=of.1).contains(number)
            && place_of_word(line, name).is_some()
            && !is_comment(*number, line)
    });
    lines.next().map(|(number, _)| number)
}

/// Returns the entries of a file that have some of these lines.
fn of_lines<'c>(
    corpus: &'c Corpus,
    file: &'c IndexedFile,
    of: LineRange,
) -> impl Iterator<Item = &'c Arc<Entry>> {
    let has = move |lines: LineRange| lines.0 <= of.1 && of.0 <= lines.1;
    let parts = file.parts.iter().filter(|part| part.chunk_type != ChunkType::Symbols);
    parts.filter(move |part| part.lines.is_some_and(has)).filter_map(|p| corpus.entry(p.slot))
}

/// Whether a name is in a type or module of this name, as far as its chunk tells.
fn is_within(chunk: &Chunk, name: &Name, owner: &str) -> bool {
    let encloses = |of: &Name| {
        of.depth < name.depth && of.start_line <= name.start_line && name.end_line <= of.end_line
    };
    let m = &chunk.metadata;
    let enclosing = m.names.iter().filter(|of| encloses(of)).map(|of| &of.name);
    let said = m.parent.iter().chain(m.symbol.iter()).chain(enclosing);
    said.flat_map(|text| text.split(|c: char| !c.is_alphanumeric() && c != '_'))
        .any(|part| part == owner)
}

/// Returns how late definitions of this kind come.
fn order_of_kind(name: &Name) -> u8 {
    match name.kind.as_str() {
        "module" | "constant" => 2,
        kind if TYPE_KINDS.contains(&kind) => 0,
        _ if name.is_function() => 1,
        _ => 3,
    }
}

/// A text that a line of code may have.
struct SoughtText<'t> {
    /// As it was written, without quotes around it.
    text: &'t str,
    words: Vec<String>,
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
    slot: Slot,
    line: u32,
}

impl<'t> SoughtText<'t> {
    /// Returns `None` for a question.
    fn new(text: &'t str) -> Option<Self> {
        let text = text.trim_matches(['"', '\'', '`']);
        let is_token = !text.contains(char::is_whitespace);
        let words = words_of(text, MAX_WORDS);
        let n_plain = text.chars().filter(|c| c.is_alphanumeric()).count();
        let has_signs = n_plain < text.chars().count() || text.chars().all(|c| !c.is_lowercase());
        let is_one = is_token && n_plain >= LEAST_WORDS && has_signs;
        let is_message = (LEAST_WORDS..=MOST_WORDS).contains(&words.len()) && !asks(text);
        let has_values = text.trim_end_matches(['.', '!']).contains(is_of_value);
        (is_one || !is_token && is_message).then_some(Self {
            text,
            words,
            is_token,
            is_declared: false,
            has_values,
        })
    }

    /// Seeks the line that declares a name.
    fn declared(name: &'t str) -> Self {
        let text = last_component(name.trim_end_matches("()"));
        Self { text, words: Vec::new(), is_token: true, is_declared: true, has_values: false }
    }

    fn places(
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
            if !self.is_token && file.group(corpus.examples) == FileGroup::Document {
                continue;
            }
            self.lines_in(&chunk, |line, is_quoted, n_letters, n_further| {
                let group = file.group(corpus.examples);
                found.push(FoundLine { group, is_quoted, n_letters, n_further, slot, line });
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
            (of.group, Reverse(of.is_quoted), Reverse(of.n_letters), of.n_further, of.slot, of.line)
        };
        found.sort_by_key(worth);
        let mut seen = HashSet::new();
        found.retain(|of| seen.insert((of.slot, of.line)));
        found.truncate(MAX_LINES);
        found
    }

    /// Tells the lines of a chunk that have the text: the line, whether the text is in quotes, the
    /// number of letters that they share, and of letters that only the line has.
    fn lines_in(&self, chunk: &Chunk, mut tell: impl FnMut(u32, bool, usize, usize)) {
        let first = chunk.metadata.start_line.unwrap_or(1);
        let all: Vec<&str> = chunk.text.lines().collect();
        if self.is_token {
            for (number, line) in (first..).zip(&all) {
                if let Some(at) = place_of_word(line, self.text)
                    && (!self.is_declared || declares(line, at, self.text.len()))
                {
                    tell(number, is_in_quotes(line, at), self.text.len(), line.trim().len());
                } else if let Some(option) = self.text.strip_prefix("--")
                    && let Some(at) = place_of_word(line, option)
                    && is_in_quotes(line, at)
                {
                    // A program may name its option without the dashes.
                    tell(number, true, self.text.len(), line.trim().len());
                }
            }
            return;
        }
        let known: HashSet<&str> = self.words.iter().map(String::as_str).collect();
        let all_letters = letters(self.words.iter());
        let words: Vec<(Vec<String>, bool)> = all.iter().map(|line| said_by(line)).collect();
        for (at, (own, is_quoted)) in words.iter().enumerate() {
            if !own.iter().any(|word| known.contains(word.as_str())) {
                continue;
            }
            let mut joined: Vec<&String> = Vec::new();
            let mut best = (0, 0, 0);
            for (more, is_literal) in words[at..].iter().take(MAX_JOINED) {
                // Code goes on with a literal, and with nothing else.
                if !joined.is_empty() && is_literal != is_quoted {
                    break;
                }
                joined.extend(more);
                if joined.iter().filter(|word| known.contains(word.as_str())).count() < 2 {
                    continue;
                }
                let (n_words, n_letters) = shared_runs(&self.words, &joined);
                if n_letters > best.1 {
                    best = (n_words, n_letters, letters(joined.iter().copied()));
                }
            }
            let (n_words, n_letters, of_line) = best;
            // The line itself must have a part of it, or the next line is the place.
            if n_words < 2 || shared_runs(&self.words, &own.iter().collect::<Vec<_>>()).1 == 0 {
                continue;
            }
            let share = n_letters as f64 / all_letters.max(1) as f64;
            let of_literal = n_letters as f64 / of_line.max(1) as f64;
            let is_short = n_words < LEAST_WORDS;
            let is_whole = self.has_values
                && of_literal >= WHOLE_LITERAL
                && share >= LEAST_OF_WHOLE
                && n_letters >= if is_short { LEAST_SHORT } else { LEAST_LETTERS }
                && (*is_quoted || n_words > LEAST_WORDS);
            let least = match (is_quoted, self.has_values) {
                // Prose outside of quotes is a comment, which ranking finds.
                (false, false) => continue,
                (false, true) => LEAST_UNQUOTED,
                (true, false) => LEAST_OF_PROSE,
                (true, true) => LEAST_SHARE,
            };
            if is_whole || !is_short && share >= least {
                let line = first + u32::try_from(at).unwrap_or(0);
                tell(line, *is_quoted, n_letters, of_line.saturating_sub(n_letters));
            }
        }
    }
}

impl FoundLine {
    fn place(self, corpus: &Corpus) -> Option<NamedPlace> {
        let file = &corpus.files[corpus.file_of[self.slot as usize] as usize];
        let entry = corpus.entry(self.slot)?;
        let chunk = entry.chunk()?;
        let of = lines(&chunk)?;
        let mut entries = vec![entry.clone()];
        // The function around the line may go on in the next chunk.
        let near = (of.0.saturating_sub(GAP), of.1 + GAP);
        entries.extend(of_lines(corpus, file, near).filter(|e| e.id != entry.id).cloned());
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

/// Whether a sign is one of values, and seldom of prose.
fn is_of_value(c: char) -> bool {
    c.is_numeric() || "\"`:;/\\_=<>[]{}()@#%$&|*~^".contains(c)
}

fn letters<'w>(words: impl Iterator<Item = &'w String>) -> usize {
    words.map(String::len).sum()
}

/// Returns the words of the literals of a line without their holes, and whether it has any; or else all
/// of its words.
fn said_by(line: &str) -> (Vec<String>, bool) {
    let mut said = String::new();
    let (mut quote, mut depth) = (None, 0usize);
    let mut chars = line.chars().peekable();
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
    let words = words_of(&said, MAX_LINE_WORDS);
    if words.is_empty() { (words_of(line, MAX_LINE_WORDS), false) } else { (words, true) }
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
    let is_after_word = before.split(|c: char| !c.is_alphanumeric()).any(|w| WORDS.contains(&w))
        && !before.contains(['=', '(', '{', '"', '\'']);
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

    fn said(line: &str) -> (String, bool) {
        let (words, is_literal) = said_by(line);
        (words.join(" "), is_literal)
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
