//! Divides the chunks of a file into regions, and a region into pieces that end where statements
//! end. A region is a function, a type without its functions, a section of a document, or the code
//! between such things.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::sync::Arc;

use crate::chunk::{Chunk, ChunkType, Name, is_callable};
use crate::languages;

/// A symbol of at most this many lines is shown whole, or not at all.
pub(super) const WHOLE: u32 = 60;
/// A region of at most this many lines is one piece.
const SHORT: usize = 14;
/// Pieces of longer regions have about this many lines.
const PIECE: usize = 7;
/// Number of lines shown above and below a line that a question names. Together they are one piece.
const AROUND: u32 = 6;
/// Most blank lines between two chunks.
const MAX_BETWEEN: usize = 3;
/// A signature has at most this many lines.
const MAX_SIGNATURE: usize = 5;

/// A line of a file with its number, 1-based.
pub(super) type Line = (u32, String);

/// First and last line of a definition, and the line that has its name.
pub(super) type NamedLines = ((u32, u32), u32);

/// What a region is called.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Label {
    /// Qualified name, or the path of headings; empty if the region has no name.
    pub name: String,
    /// The kind of the symbol, for example `function`; empty if it is not known.
    pub kind: String,
    /// First and last line of the whole symbol.
    pub lines: Option<(u32, u32)>,
}

/// Lines of a file that belong together.
#[derive(Debug, Default)]
pub(super) struct Region {
    pub(super) label: Label,
    /// In order; lines between them may be missing if their chunks were not given.
    pub(super) lines: Vec<Line>,
    /// The best score of its chunks.
    pub(super) score: f64,
    /// Whether it has no name.
    pub(super) is_between: bool,
    /// Index of the first line after the leading comment and attributes.
    pub(super) signature: usize,
    /// For each line, whether it is a comment or documentation of a symbol.
    pub(super) comments: Vec<bool>,
    /// For each line, whether it [`says`] something.
    pub(super) says: Vec<bool>,
    /// Whether it only declares what is done elsewhere: a prototype, a method of an interface, an
    /// overload.
    pub(super) is_stub: bool,
}

/// The symbols of a file, as far as some of its chunks name them. A file may define tens of thousands.
struct Symbols<'c> {
    /// Each with the symbol around its chunk.
    names: Vec<(&'c Name, Option<&'c str>)>,
    /// For each symbol, the next larger one around it.
    outer: Vec<Option<usize>>,
    /// For each line on which a symbol begins or has ended: the innermost symbol from there on that
    /// is not a field.
    starts: BTreeMap<u32, Option<usize>>,
    separator: &'static str,
}

impl<'c> Symbols<'c> {
    fn new(chunks: impl Iterator<Item = &'c Chunk>) -> Self {
        let mut names = Vec::new();
        let mut separator = ".";
        for chunk in chunks.filter(|chunk| chunk.chunk_type != ChunkType::Symbols) {
            let m = &chunk.metadata;
            separator = m.language.as_deref().map_or(separator, languages::separator);
            let known = m.names.iter().filter(|n| n.start_line > 0 && n.start_line <= n.end_line);
            // A method of Go is within no type, and its chunk has the name of one.
            let is_of_type = |name: &Name| {
                name.depth > 0
                    || m.symbol.as_deref().is_some_and(|path| {
                        path.len() > name.name.len() && path.ends_with(&*name.name)
                    })
            };
            let parent = |name: &Name| m.parent.as_deref().filter(|_| is_of_type(name));
            names.extend(known.map(|name| (name, parent(name))));
        }
        Self { outer: outer(&names), starts: starts(&names), names, separator }
    }

    /// Returns the position of the innermost symbol around a line that is not a field.
    fn around(&self, line: u32) -> Option<usize> {
        *self.starts.range(..=line).next_back()?.1
    }

    /// Returns the outermost short function around a symbol, or the symbol.
    fn short_function(&self, at: usize) -> usize {
        let around = std::iter::successors(self.outer[at], |i| self.outer[*i]);
        let is_short = |i: &usize| {
            let name = self.names[*i].0;
            name.is_function() && name.end_line - name.start_line < WHOLE
        };
        around.filter(is_short).last().unwrap_or(at)
    }

    fn label(&self, at: usize) -> Label {
        let (name, parent) = self.names[at];
        let mut around: Vec<&Name> = std::iter::successors(self.outer[at], |i| self.outer[*i])
            .map(|i| self.names[i].0)
            .filter(|outer| outer.depth < name.depth)
            .collect();
        around.sort_by_key(|outer| outer.depth);
        around.dedup_by_key(|outer| outer.depth);
        let parent = parent.filter(|_| around.is_empty());
        let mut path: Vec<&str> = parent.into_iter().collect();
        path.extend(around.iter().map(|outer| &*outer.name));
        path.push(&name.name);
        Label {
            name: path.join(self.separator),
            kind: name.kind.clone(),
            lines: Some((name.start_line, name.end_line)),
        }
    }
}

/// Returns, for each symbol, the next larger one that encloses it.
fn outer(names: &[(&Name, Option<&str>)]) -> Vec<Option<usize>> {
    let lines = |i: usize| (names[i].0.start_line, names[i].0.end_line);
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_by_key(|i| (lines(*i).0, Reverse(lines(*i).1), names[*i].0.depth));
    let mut outer: Vec<Option<usize>> = vec![None; names.len()];
    let mut open: Vec<usize> = Vec::new();
    for i in order {
        while open.last().is_some_and(|o| lines(*o).1 < lines(i).1) {
            open.pop();
        }
        // A chunk may repeat the names of another one.
        outer[i] = match open.last() {
            Some(same) if lines(*same) == lines(i) => outer[*same],
            around => around.copied(),
        };
        open.push(i);
    }
    outer
}

fn starts(names: &[(&Name, Option<&str>)]) -> BTreeMap<u32, Option<usize>> {
    let mut order: Vec<usize> = (0..names.len()).filter(|i| !is_field(names[*i].0)).collect();
    // Larger symbols first, so that those inside overwrite them; of equal ones the first wins.
    order.sort_by_key(|i| (Reverse(names[*i].0.end_line - names[*i].0.start_line), Reverse(*i)));
    let mut starts: BTreeMap<u32, Option<usize>> = BTreeMap::new();
    for i in order {
        let (first, after) = (names[i].0.start_line, names[i].0.end_line.saturating_add(1));
        let before = starts.range(..=after).next_back().and_then(|(_, at)| *at);
        let inside: Vec<u32> = starts.range(first..after).map(|(at, _)| *at).collect();
        for at in inside {
            starts.remove(&at);
        }
        starts.entry(after).or_insert(before);
        starts.insert(first, Some(i));
    }
    starts
}

/// The names of the innermost symbols and sections around the lines of a file.
pub struct NamesAround<'c> {
    symbols: Symbols<'c>,
    sections: BTreeMap<u32, (u32, Option<&'c str>)>,
    labels: HashMap<usize, String>,
}

impl<'c> NamesAround<'c> {
    /// `chunks` are all of the file.
    #[must_use]
    pub fn new(chunks: &'c [Arc<Chunk>]) -> Self {
        let symbols = Symbols::new(chunks.iter().map(|chunk| &**chunk));
        let mut sections = BTreeMap::new();
        for chunk in chunks.iter().filter(|c| c.chunk_type == ChunkType::Documentation) {
            let m = &chunk.metadata;
            if let Some((first, last)) = m.start_line.zip(m.end_line) {
                sections.entry(first).or_insert((last, m.symbol.as_deref()));
            }
        }
        Self { symbols, sections, labels: HashMap::new() }
    }

    /// Returns the name around a line.
    pub fn at(&mut self, line: u32) -> Option<String> {
        if let Some(i) = self.symbols.around(line) {
            let name = || self.symbols.label(i).name;
            return Some(self.labels.entry(i).or_insert_with(name).clone());
        }
        let (_, (last, name)) = self.sections.range(..=line).next_back()?;
        name.filter(|_| line <= *last).map(String::from)
    }
}

/// Returns the first and last lines of the symbols that a name or a path of names means. `chunks`
/// are all of the file.
#[must_use]
pub fn symbols_named(chunks: &[Arc<Chunk>], written: &str) -> Vec<(u32, u32)> {
    let parts = |name: &str| -> Vec<String> {
        let parts = name.split([':', '.', '#', '/', '\\', '>', ' ']).filter(|p| !p.is_empty());
        parts.map(|part| part.trim_end_matches("()").to_string()).collect()
    };
    let wanted = parts(written);
    let symbols = Symbols::new(chunks.iter().map(|chunk| &**chunk));
    let is_it = |label: &Label| !wanted.is_empty() && parts(&label.name).ends_with(&wanted);
    let labels = (0..symbols.names.len()).map(|i| symbols.label(i)).filter(is_it);
    let mut found: Vec<(u32, u32)> = labels.filter_map(|label| label.lines).collect();
    for chunk in chunks {
        let m = &chunk.metadata;
        let is_section = chunk.chunk_type == ChunkType::Documentation
            && m.symbol.as_deref().is_some_and(|name| parts(name).ends_with(&wanted));
        if is_section && !wanted.is_empty() {
            found.extend(m.start_line.zip(m.end_line));
        } else if chunk.chunk_type == ChunkType::Documentation {
            found.extend(section(chunk, written));
        }
    }
    found
}

/// Returns the functions of a type with these lines, each with its first line, in their order: those
/// within it, and those of the file that belong to its name, as in an `impl`.
#[must_use]
pub fn members_of(chunks: &[Arc<Chunk>], name: &str, lines: (u32, u32)) -> Vec<(String, u32)> {
    let symbols = Symbols::new(chunks.iter().map(|chunk| &**chunk));
    let mut found: Vec<(String, u32)> = Vec::new();
    for (at, (of, _)) in symbols.names.iter().enumerate().filter(|(_, of)| of.0.is_function()) {
        let label = symbols.label(at).name;
        let owner = label.strip_suffix(&*of.name).unwrap_or_default();
        let owner = owner.trim_end_matches(|c: char| !c.is_alphanumeric() && c != '_');
        let is_owner = owner == name
            || owner.ends_with(name)
                && owner[..owner.len() - name.len()].ends_with([':', '.', '#']);
        let is_inside = lines.0 <= of.start_line && of.end_line <= lines.1;
        let is_known = found.iter().any(|known| known.1 == of.start_line);
        if is_owner && (is_inside || lines.1 < of.start_line || of.end_line < lines.0) && !is_known
        {
            found.push((of.name.clone(), of.start_line));
        }
    }
    found.sort_by_key(|of| of.1);
    found
}

/// Returns the lines of the section with this heading, if it begins in a chunk of a Markdown file.
fn section(chunk: &Chunk, heading: &str) -> Option<(u32, u32)> {
    let mut lines = (chunk.metadata.start_line?..).zip(chunk.text.lines());
    let (first, _) = lines.find(|(_, line)| {
        line.starts_with('#') && line.trim_start_matches('#').trim() == heading.trim()
    })?;
    let next = lines.find(|(_, line)| line.starts_with('#')).map(|(number, _)| number - 1);
    Some((first, next.or(chunk.metadata.end_line)?))
}

/// Returns the regions of a file. `parts` are chunks of it with their scores. The definition that a
/// question `named` is among them, however little it says.
pub(super) fn regions(parts: &[(Arc<Chunk>, f64)], named: Option<NamedLines>) -> Vec<Region> {
    let symbols = Symbols::new(parts.iter().map(|(chunk, _)| &**chunk));
    // By the first and last line of the owner, and the run of its lines.
    let mut found: BTreeMap<(u32, u32, usize), Region> = BTreeMap::new();
    let mut n_runs = 0;
    for (chunk, score) in parts {
        let first = chunk.metadata.start_line.unwrap_or(1);
        let mut last_owner = None;
        for (number, line) in (first..).zip(chunk.text.lines()) {
            let owner = symbols.around(number).map(|i| symbols.short_function(i));
            let symbol = owner.map(|i| symbols.names[i].0);
            let span = symbol.map_or((0, 0), |n| (n.start_line, n.end_line));
            if last_owner != Some(span) {
                n_runs += 1;
                last_owner = Some(span);
            }
            // The lines of a function or a short type are one region, wherever they are.
            let is_one = symbol
                .is_some_and(|name| name.is_function() || name.end_line - name.start_line < WHOLE);
            let run = if is_one { 0 } else { n_runs };
            let region = found.entry((span.0, span.1, run)).or_insert_with(|| Region {
                label: owner.map_or_else(|| label_of(chunk), |i| symbols.label(i)),
                score: *score,
                is_between: owner.is_none() && chunk.chunk_type == ChunkType::Definitions,
                is_stub: symbol.is_some_and(|name| name.prototype) || is_declaration_file(chunk),
                ..Region::default()
            });
            region.score = region.score.max(*score);
            region.lines.push((number, line.to_string()));
        }
    }
    let comments: Vec<(u32, u32)> =
        parts.iter().flat_map(|(chunk, _)| chunk.metadata.comment_lines.clone()).collect();
    let ends: BTreeSet<u32> = parts
        .iter()
        .map(|(chunk, _)| chunk.metadata.start_line.unwrap_or(1) + n_lines(chunk))
        .collect();
    let mut regions: Vec<Region> = found.into_values().collect();
    for region in &mut regions {
        region.sort_lines();
        region.add_lines_between(&ends);
        region.trim();
        let in_comment =
            |n: u32| comments.iter().any(|(first, last)| (*first..=*last).contains(&n));
        let is_comment = |(n, line): &Line| {
            in_comment(*n) || region.is_between && begins_with_comment_mark(line)
        };
        region.comments = region.lines.iter().map(is_comment).collect();
        region.says = what_says(&region.lines);
        let code = region.lines.iter().zip(&region.comments);
        let is_attribute =
            |line: &str| line.is_empty() || line.starts_with(['@', '[']) || line.starts_with("#[");
        let first = code.enumerate().find(|(_, (l, c))| !**c && !is_attribute(l.1.trim()));
        region.signature = first.filter(|_| !region.is_between).map_or(0, |(i, _)| i);
        region.is_stub |= region.is_function() && region.has_no_body();
    }
    regions.retain(|region| {
        let n = region.says.iter().filter(|says| **says).count();
        // Closing brackets say nothing, and the first line of a type only what its members repeat.
        let is_part = region.label.lines.is_some_and(|(first, last)| last - first > 1);
        n > usize::from(is_part) || named.is_some_and(|lines| region.is_named(lines))
    });
    regions
}

/// Returns the lines around a line of a file, within its function.
pub(super) fn around(parts: &[(Arc<Chunk>, f64)], line: u32) -> Option<Region> {
    let symbols = Symbols::new(parts.iter().map(|(chunk, _)| &**chunk));
    let symbol = symbols.around(line);
    let is_near = |number: u32| {
        number.abs_diff(line) <= AROUND
            && symbol.is_none_or(|i| {
                let name = symbols.names[i].0;
                (name.start_line..=name.end_line).contains(&number)
            })
    };
    let numbered = |(chunk, _): &(Arc<Chunk>, f64)| {
        let first = chunk.metadata.start_line.unwrap_or(1);
        let lines: Vec<Line> = (first..).zip(chunk.text.lines().map(String::from)).collect();
        lines
    };
    let mut lines: Vec<Line> = parts.iter().flat_map(numbered).filter(|l| is_near(l.0)).collect();
    lines.sort();
    lines.dedup_by_key(|l| l.0);
    let (first, last) = (lines.first()?.0, lines.last()?.0);
    let label = symbol.map(|i| symbols.label(i)).unwrap_or_default();
    let label = Label { lines: Some((first, last)), ..label };
    let comments = vec![false; lines.len()];
    let says = what_says(&lines);
    Some(Region { label, lines, comments, says, ..Region::default() })
}

/// Whether a name belongs to the lines of the type around it.
fn is_field(name: &Name) -> bool {
    matches!(name.kind.as_str(), "field" | "enum_member")
}

pub(super) fn is_type(kind: &str) -> bool {
    matches!(kind, "class" | "struct" | "enum" | "interface" | "trait" | "type")
}

fn n_lines(chunk: &Chunk) -> u32 {
    u32::try_from(chunk.text.lines().count()).unwrap_or(u32::MAX)
}

/// Whether the file only declares what other files do.
fn is_declaration_file(chunk: &Chunk) -> bool {
    let path = chunk.metadata.file_path.as_deref().unwrap_or_default();
    [".pyi", ".d.ts", ".d.mts", ".d.cts", ".mli"].iter().any(|end| path.ends_with(end))
}

/// Whether a line continues or ends the block before it, and so says little without it.
fn continues(line: &str) -> bool {
    let line = line.trim_start_matches(['}', ')', ']', ' ', '\t']);
    let word = line.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    ["else", "elif", "elsif", "elseif", "except", "rescue", "catch", "finally", "ensure"]
        .contains(&word)
}

/// Returns the label of lines that belong to no symbol of the chunk.
fn label_of(chunk: &Chunk) -> Label {
    let m = &chunk.metadata;
    match chunk.chunk_type {
        ChunkType::Documentation => Label {
            name: m.symbol.clone().unwrap_or_default(),
            kind: if m.symbol.is_some() { "section".into() } else { String::new() },
            lines: None,
        },
        // A function that began in a chunk that was not given.
        _ if m.names.is_empty() => {
            Label { name: m.symbol.clone().unwrap_or_default(), ..Label::default() }
        }
        _ => Label { name: m.parent.clone().unwrap_or_default(), ..Label::default() },
    }
}

/// Whether a line outside definitions is a comment, such as one about the whole file.
fn begins_with_comment_mark(line: &str) -> bool {
    let line = line.trim_start();
    let is_directive = |rest: &str| rest.starts_with(|c: char| c.is_alphabetic() || c == '[');
    line.strip_prefix('#').is_some_and(|rest| !is_directive(rest))
        || ["//", "/*", "*", "--", ";;", "\"\"\"", "'''", "(*", "{-"]
            .iter()
            .any(|mark| line.starts_with(mark))
}

/// Whether a line says something, in contrast to blank lines and lines of brackets, marks of comments
/// or words that only close a block.
#[must_use]
pub fn says(line: &str) -> bool {
    let has_word = |c: char| c.is_alphanumeric() || !c.is_ascii() || "._?!$%&+~@^:\\".contains(c);
    let closes = |line: &str| ["end", "fi", "done", "esac"].contains(&line);
    let line = line.trim();
    line.contains(has_word) && !closes(line.trim_end_matches([')', ']', '}', ';', ',']))
}

/// Returns for each line whether it [`says`] something.
fn what_says(lines: &[Line]) -> Vec<bool> {
    lines.iter().map(|(_, line)| says(line)).collect()
}

impl Region {
    /// Returns the first and last line of its symbol, or of its lines.
    pub(super) fn place(&self) -> (u32, u32) {
        let line = |line: Option<&Line>| line.map_or(0, |(number, _)| *number);
        self.label.lines.unwrap_or((line(self.lines.first()), line(self.lines.last())))
    }

    /// Whether it has the line with the name of a definition.
    pub(super) fn is_named(&self, (lines, named): NamedLines) -> bool {
        self.label.lines == Some(lines) && self.lines.iter().any(|line| line.0 == named)
    }

    /// Whether a line of the file belongs to it.
    pub(super) fn holds(&self, line: u32) -> bool {
        let (first, last) = self.place();
        (first..=last).contains(&line)
    }

    fn sort_lines(&mut self) {
        self.lines.sort_by_key(|l| l.0);
        self.lines.dedup_by_key(|l| l.0);
    }

    /// Adds the blank lines between adjacent chunks, which no chunk holds. `ends` has the number of
    /// the line after each chunk.
    fn add_lines_between(&mut self, ends: &BTreeSet<u32>) {
        let between = self.lines.windows(2).map(|pair| pair[0].0 + 1..pair[1].0);
        let missing: Vec<Line> = between
            .filter(|lines| lines.len() <= MAX_BETWEEN && ends.contains(&lines.start))
            .flatten()
            .map(|number| (number, String::new()))
            .collect();
        self.lines.extend(missing);
        self.sort_lines();
    }

    /// Whether it is a type that is shown whole.
    pub(super) fn is_short_type(&self) -> bool {
        let short = |(first, last): (u32, u32)| last - first < WHOLE;
        is_type(&self.label.kind) && self.label.lines.is_some_and(short)
    }

    /// Adds the lines of another region of its file.
    pub(super) fn join(&mut self, other: &Self) {
        let comments = self.comments.iter().chain(&other.comments).copied();
        let lines = self.lines.iter().chain(&other.lines).cloned();
        let all: BTreeMap<u32, (String, bool)> = lines
            .zip(comments)
            .map(|((number, line), is_comment)| (number, (line, is_comment)))
            .collect();
        self.signature = all.keys().position(|n| *n == self.lines[self.signature].0).unwrap_or(0);
        (self.lines, self.comments) =
            all.into_iter().map(|(n, (line, is_comment))| ((n, line), is_comment)).unzip();
        self.says = what_says(&self.lines);
    }

    /// Whether it is a part of a document below a heading.
    pub(super) fn is_section(&self) -> bool {
        self.label.kind == "section"
    }

    fn is_function(&self) -> bool {
        is_callable(&self.label.kind)
    }

    /// Whether it is a function with a body.
    pub(super) fn is_done(&self) -> bool {
        self.is_function() && !self.is_stub
    }

    /// Returns its name without the names around it.
    pub(super) fn short_name(&self) -> &str {
        self.label.name.rsplit(['.', ':', '#', '\\']).next().unwrap_or_default()
    }

    /// Whether an attribute says that another function does it, or its body is `...`.
    fn has_no_body(&self) -> bool {
        let marks =
            ["@overload", "@typing.overload", "@t.overload", "@abstractmethod", "@abc.abstract"];
        let text = |i: usize| self.lines[i].1.trim();
        (0..self.signature).any(|i| marks.iter().any(|mark| text(i).starts_with(mark)))
            || self
                .lines
                .last()
                .is_some_and(|(_, last)| last.trim() == "..." || last.ends_with(": ..."))
    }

    /// Returns the lines after the signature whose blocks enclose some lines, by their indexes. A
    /// line such as `else` brings the first line of its block, because it says nothing alone.
    pub(super) fn enclosing(&self, lines: &[usize]) -> Vec<usize> {
        let text = |i: usize| self.lines[i].1.as_str();
        let indent = |i: usize| text(i).len() - text(i).trim_start().len();
        let body = self.signature_end();
        let inside = lines.iter().copied().filter(|i| *i >= body && self.says[*i]);
        let Some(first) = inside.min() else { return Vec::new() };
        let mut found = Vec::new();
        let mut least = indent(first) + usize::from(continues(text(first)));
        for i in (body..first).rev().filter(|i| !text(*i).trim().is_empty()) {
            if indent(i) < least {
                let is_part =
                    continues(text(i)) || !self.says[i] || text(i).trim_start().starts_with(')');
                found.push(i);
                found.extend((continues(text(i)) && i + 1 < first).then_some(i + 1));
                least = indent(i) + usize::from(is_part);
            }
        }
        found
    }

    /// Removes blank lines at both ends.
    fn trim(&mut self) {
        let blank = |line: &Line| line.1.trim().is_empty();
        while self.lines.last().is_some_and(blank) {
            self.lines.pop();
        }
        let first = self.lines.iter().position(|l| !blank(l)).unwrap_or(0);
        self.lines.drain(..first);
    }

    /// Returns its text.
    pub(super) fn text(&self) -> String {
        self.lines.iter().map(|line| line.1.as_str()).collect::<Vec<_>>().join("\n")
    }

    /// Returns its text without comments.
    pub(super) fn code(&self) -> String {
        let code = self.lines.iter().zip(&self.comments).filter(|(_, is_comment)| !**is_comment);
        code.map(|(line, _)| line.1.as_str()).collect::<Vec<_>>().join("\n")
    }

    /// Returns the lines of its pieces, in order; the first piece is its head.
    pub(super) fn pieces(&self) -> Vec<Range<usize>> {
        let n = self.lines.len();
        if n <= SHORT {
            return std::iter::once(0..n).collect();
        }
        let head = if self.is_between { 0..0 } else { self.signature..self.signature_end() };
        let statements = Statements::new(self);
        let mut pieces = Vec::new();
        if head.start > 0 {
            statements.split(0..head.start, &mut pieces);
        }
        let before = pieces.len();
        statements.split(head.end..n, &mut pieces);
        if head.end > head.start {
            pieces.insert(before, head);
            // The head comes first, whatever is above it.
            pieces[..=before].rotate_right(1);
        }
        pieces
    }

    /// Returns the index after the last line of the signature.
    fn signature_end(&self) -> usize {
        let ends = |line: &str| {
            let line = line.trim_end();
            let ending = ["{", ":", "=", "=>", "->", ";", "do", "then", "end", "}"];
            ending.iter().any(|e| line.ends_with(e))
        };
        let from = &self.lines[self.signature..];
        let n = from.iter().take(MAX_SIGNATURE).position(|(_, line)| ends(line));
        self.signature + n.map_or(1, |n| n + 1).min(from.len())
    }
}

/// What is known of the lines of a region, to split it where statements begin.
struct Statements<'r> {
    says: &'r [bool],
    /// `None` for blank lines.
    indents: Vec<Option<usize>>,
    /// Whether the line closes or continues the block before it.
    closes: Vec<bool>,
}

impl<'r> Statements<'r> {
    fn new(region: &'r Region) -> Self {
        let closing = ["}", ")", "]", "else", "elif", "except", "catch", "finally", "end"];
        let of_line = |(_, line): &Line| {
            let text = line.trim_start();
            let indent = (!text.is_empty()).then(|| line.len() - text.len());
            (indent, closing.iter().any(|word| text.starts_with(word)))
        };
        let (indents, closes) = region.lines.iter().map(of_line).unzip();
        Self { says: &region.says, indents, closes }
    }

    /// Splits lines where statements begin, into pieces of about [`PIECE`] lines.
    fn split(&self, range: Range<usize>, pieces: &mut Vec<Range<usize>>) {
        let range = self.without_blanks(range);
        if range.len() <= PIECE + PIECE / 2 {
            let says = self.says[range.clone()].contains(&true);
            match pieces.last_mut().filter(|last| !says && last.end <= range.start) {
                // Closing brackets alone stay with what they close.
                Some(last) => last.end = range.end,
                None if !range.is_empty() => pieces.push(range),
                None => {}
            }
            return;
        }
        let indent = |i: usize| self.indents[i];
        // The bracket that closes the block around these lines begins no statement of them.
        let open = range.clone().filter(|i| !self.closes[*i]);
        let least = open.filter_map(indent).min().unwrap_or(0);
        let begins = |i: usize| indent(i) == Some(least) && !self.closes[i];
        let starts: Vec<usize> = range.clone().filter(|i| *i > range.start && begins(*i)).collect();
        if starts.is_empty() {
            // One statement: its first line and its last lines stay with the lines next to them.
            let inner = (range.start + 1..range.end)
                .find(|i| indent(*i).is_some_and(|x| x > least))
                .filter(|i| *i < range.end - 1);
            let (a, b) = match inner {
                Some(inner) if range.end - inner > PIECE => (inner, range.end),
                _ => (range.start + range.len().min(PIECE), range.end),
            };
            pieces.push(range.start..a);
            self.split(a..b, pieces);
            return;
        }
        let mut at = range.start;
        for (start, next) in starts.iter().zip(starts.iter().skip(1).copied().chain([range.end])) {
            // A statement joins the piece before it while there is room.
            if next - at > PIECE && *start > at {
                self.split(at..*start, pieces);
                at = *start;
            }
        }
        if at == range.start {
            let middle = starts[starts.len() / 2];
            self.split(at..middle, pieces);
            self.split(middle..range.end, pieces);
        } else {
            self.split(at..range.end, pieces);
        }
    }

    fn without_blanks(&self, range: Range<usize>) -> Range<usize> {
        let blank = |i: &usize| self.indents[*i].is_none();
        let start = range.clone().find(|i| !blank(i)).unwrap_or(range.end);
        let end = range.rev().find(|i| !blank(i)).map_or(start, |i| i + 1);
        start..end.max(start)
    }
}
