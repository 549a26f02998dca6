//! Finds what a question is taken at its word for: the definitions of a name, and the lines that hold
//! a pasted text.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use super::Slot;
use super::corpus::Corpus;
use super::files::{FileGroup, LineRange, TYPE_KINDS, key};
use super::filter::Filter;
use super::hit::Hit;
use super::messages::SoughtText;
use super::places::NamedPlace;
use super::query::Query;
use super::text::TextError;
use super::tokens::last_component;
use crate::chunk::{Chunk, Entry, Name};
use crate::text::place_of_word;

/// Most definitions of a name that come first.
const MAX_DEFINITIONS: usize = 4;
/// Number of chunks in which the definitions of a name are sought.
const MAX_CHUNKS: usize = 200;
/// Most lines of a log that are sought one by one.
const MAX_MESSAGES: usize = 6;
/// A longer text is a report, and is read by its parts. In bytes.
const MAX_TEXT: usize = 2000;

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
    let places = |sought: SoughtText| sought.places(corpus, &allows);
    // Each line of a log may be a message of its own.
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let mut found = Vec::new();
    if (2..=MAX_MESSAGES).contains(&lines.len()) {
        for line in lines {
            let sought = SoughtText::new(line.trim()).filter(SoughtText::is_message);
            found.extend(sought.map(places).transpose()?.unwrap_or_default());
        }
    }
    if found.is_empty() {
        found = SoughtText::new(text).map(places).transpose()?.unwrap_or_default();
    }
    Ok(found)
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
        let entries: Vec<Arc<Entry>> = corpus.of_lines(file, self.lines).cloned().collect();
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
