//! Reads SCIP indexes, which compilers and language servers write: what each name of a file means.
//! Format: <https://github.com/scip-code/scip/blob/main/scip.proto>.
//!
//! An index does not say of which text it was made. So a document counts only if its places are
//! names in the text as it is now; after a change in the middle of a file they are not.

use std::collections::{HashMap, HashSet};
use std::io::BufRead;
use std::path::Path;

use protobuf::rt::WireType;
use protobuf::{CodedInputStream, Message};
use scip::types::occurrence::Typed_range;
use scip::types::{Document, Metadata, Occurrence, PositionEncoding};

/// Role bit of a definition in `Occurrence.symbol_roles`.
const DEFINITION: i32 = 1;
/// Fields of the message `Index`.
const METADATA: u32 = 1;
const DOCUMENTS: u32 = 2;
/// Largest share of the places of a document that may begin or end within a word.
const MAX_BROKEN: f64 = 0.02;
const NO_DOCUMENTS: &str = "it has no documents, so it is no SCIP index";
/// Longest document that is read, in bytes.
const MAX_DOCUMENT: usize = 256 << 20;

/// Where a symbol is defined.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct SymbolPlace {
    pub(super) path: String,
    /// 1-based.
    pub(super) line: u32,
    /// The name as it stands there.
    pub(super) name: String,
}

/// A use of a name in a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Use {
    /// 1-based.
    pub(super) line: u32,
    /// The name as it stands there, which may be an alias.
    pub(super) name: String,
    pub(super) is_called: bool,
    /// Index in [`Precise::places`]; `None` for a symbol that no document defines.
    pub(super) means: Option<usize>,
}

/// What an index says about the files of a project.
#[derive(Debug, Default)]
pub(super) struct Precise {
    /// The program that wrote the index, and its version.
    pub(super) tool: String,
    pub(super) places: Vec<SymbolPlace>,
    /// Path and uses of each document whose places fit the text of today.
    pub(super) documents: Vec<(String, Vec<Use>)>,
    /// Paths of the documents whose file has changed since.
    pub(super) outdated: Vec<String>,
    /// Number of documents that are no files of the project.
    pub(super) n_others: usize,
}

/// Reads an index of (a part of) the project in the directory `root`. `open` is called twice, because
/// a symbol may be used before the document that defines it. `read` returns the text of a file of the
/// project.
///
/// # Errors
/// When the file cannot be read or is no SCIP index.
pub(super) fn read<R: BufRead>(
    root: &Path,
    open: impl Fn() -> std::io::Result<R>,
    read: impl Fn(&str) -> Option<String>,
) -> Result<Precise, String> {
    let mut precise = Precise::default();
    let mut known: HashMap<String, Vec<usize>> = HashMap::new();
    let mut fitting: HashSet<String> = HashSet::new();
    let mut n_documents = 0;
    let tool = each_document(root, open().map_err(|e| e.to_string())?, |document| {
        n_documents += 1;
        let Some(text) = read(&document.relative_path) else {
            precise.n_others += 1;
            return;
        };
        let lines: Vec<&str> = text.lines().collect();
        let (mut n_broken, mut n_names) = (0, 0);
        let mut definitions = Vec::new();
        for occurrence in &document.occurrences {
            match text_at(&lines, occurrence, &document) {
                Text::Broken => n_broken += 1,
                Text::NoName => {}
                Text::Name { line, name, .. } => {
                    n_names += 1;
                    if occurrence.symbol_roles & DEFINITION != 0 {
                        definitions.push((occurrence.symbol.clone(), line, name));
                    }
                }
            }
        }
        if f64::from(n_broken) > f64::from(n_names + n_broken) * MAX_BROKEN {
            precise.outdated.push(document.relative_path);
            return;
        }
        let path = document.relative_path;
        fitting.insert(path.clone());
        for (symbol, line, name) in definitions {
            let n = precise.places.len();
            precise.places.push(SymbolPlace { path: path.clone(), line, name });
            known.entry(key(&path, &symbol)).or_default().push(n);
        }
    })?;
    if n_documents == 0 {
        return Err(NO_DOCUMENTS.into());
    }
    precise.tool = tool;
    each_document(root, open().map_err(|e| e.to_string())?, |document| {
        let path = &document.relative_path;
        // A program may write a document twice.
        let text = fitting.remove(path).then(|| read(path)).flatten();
        let Some(text) = text else { return };
        let lines: Vec<&str> = text.lines().collect();
        let mut uses = Vec::new();
        for occurrence in &document.occurrences {
            if occurrence.symbol_roles & DEFINITION != 0 {
                continue;
            }
            let Text::Name { line, name, is_called, is_member } =
                text_at(&lines, occurrence, &document)
            else {
                continue;
            };
            let definitions = known.get(&key(path, &occurrence.symbol));
            if definitions.is_none() && is_local(&occurrence.symbol) {
                // scip-typescript writes so what `module.exports =` and re-exports bring in.
                continue;
            }
            let places = &precise.places;
            let Ok(means) = definition(definitions.map_or(&[], Vec::as_slice), places, path) else {
                continue;
            };
            let other_name = means.is_some_and(|n: usize| places[n].name != name);
            if other_name && is_member {
                // Some programs give an attribute the symbol of its class.
                continue;
            }
            uses.push(Use { line, name, is_called, means });
        }
        precise.documents.push((path.clone(), uses));
    })?;
    Ok(precise)
}

/// Returns the definition of a symbol that has these ones. Overloads have one symbol, and the last of
/// them is the function itself. Different functions may have one symbol, too: then it is an error.
fn definition(all: &[usize], places: &[SymbolPlace], path: &str) -> Result<Option<usize>, ()> {
    let Some(last) = all.last() else { return Ok(None) };
    if let Some(own) = all.iter().rev().find(|n| places[**n].path == path) {
        return Ok(Some(*own));
    }
    let is_one_file = all.iter().all(|n| places[*n].path == places[*last].path);
    if is_one_file { Ok(Some(*last)) } else { Err(()) }
}

/// Returns whether a symbol is valid in its document only.
fn is_local(symbol: &str) -> bool {
    symbol.starts_with("local ")
}

/// Returns the key of a symbol. Local symbols are numbered in each document.
fn key(path: &str, symbol: &str) -> String {
    if is_local(symbol) { format!("{path} {symbol}") } else { symbol.to_string() }
}

/// Calls `each` with every document, one at a time, because an index may be larger than the memory.
/// The path of a document becomes one below the directory `root`. Returns the name of the program
/// that wrote the index.
fn each_document(
    root: &Path,
    mut from: impl BufRead,
    mut each: impl FnMut(Document),
) -> Result<String, String> {
    let (mut tool, mut folder) = (String::new(), String::new());
    let mut input = CodedInputStream::from_buf_read(&mut from);
    let mut next = || -> protobuf::Result<bool> {
        let Some(tag) = input.read_raw_tag_or_eof()? else { return Ok(false) };
        let wire = WireType::new(tag & 7);
        match (tag >> 3, wire) {
            (METADATA, Some(WireType::LengthDelimited)) => {
                let metadata: Metadata = input.read_message()?;
                tool = format!("{} {}", metadata.tool_info.name, metadata.tool_info.version);
                folder = below(root, &metadata.project_root);
            }
            (DOCUMENTS, Some(WireType::LengthDelimited)) => {
                let length = input.read_raw_varint32()?;
                if length as usize > MAX_DOCUMENT {
                    input.skip_raw_bytes(length)?;
                } else {
                    let outer = input.push_limit(length.into())?;
                    let mut document = Document::new();
                    document.merge_from(&mut input)?;
                    input.pop_limit(outer);
                    document.relative_path.insert_str(0, &folder);
                    each(document);
                }
            }
            _ => protobuf::rt::skip_field_for_tag(tag, &mut input)?,
        }
        Ok(true)
    };
    while next().map_err(|e| format!("it is no SCIP index, or a damaged one: {e}"))? {}
    Ok(tool.trim().to_string())
}

/// Returns the folder below `root` that an index describes, with a `/` at its end; empty for `root`
/// itself, and for a place that is not below it, such as the checkout of another machine.
fn below(root: &Path, described: &str) -> String {
    let path = Path::new(described.strip_prefix("file://").unwrap_or(described));
    match path.strip_prefix(root).ok().and_then(Path::to_str) {
        Some(folder) if !folder.is_empty() => format!("{}/", folder.trim_end_matches('/')),
        _ => String::new(),
    }
}

/// What is at the place of an occurrence.
enum Text {
    /// A whole name.
    Name { line: u32, name: String, is_called: bool, is_member: bool },
    /// No name, such as an operator, a path in quotes or a whole file.
    NoName,
    /// A part of a word, or no text: the place is one of another text.
    Broken,
}

fn text_at(lines: &[&str], occurrence: &Occurrence, document: &Document) -> Text {
    let (line, start, end) = match (&occurrence.typed_range, &occurrence.range[..]) {
        (Some(Typed_range::SingleLineRange(r)), _) => (r.line, r.start_character, r.end_character),
        (None, [line, start, end]) => (*line, *start, *end),
        (None, [line, start, last, end]) if line == last => (*line, *start, *end),
        _ => return Text::NoName,
    };
    let encoding = document.position_encoding.enum_value_or_default();
    let line = usize::try_from(line).unwrap_or(usize::MAX);
    // The place of a whole file may be in an empty one.
    let text = lines.get(line).copied().unwrap_or_default();
    let at = |units: i32| offset(text, usize::try_from(units).ok()?, encoding);
    let range = at(start).zip(at(end)).filter(|(start, end)| start <= end);
    let Some((start, end)) = range else { return Text::Broken };
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
    let (before, name, after) = (&text[..start], &text[start..end], &text[end..]);
    let is_cut = (name.starts_with(is_part) && before.ends_with(is_part))
        || (name.ends_with(is_part) && after.starts_with(is_part));
    if is_cut {
        return Text::Broken;
    }
    let name = name.trim_start_matches(['@', '#']);
    // Names of Ruby may end so.
    let bare = name.trim_end_matches(['?', '!', '=']);
    match u32::try_from(line + 1) {
        Ok(line) if !bare.is_empty() && bare.chars().all(is_part) => {
            let (is_called, is_member) = (is_called(after), before.ends_with('.'));
            Text::Name { line, name: name.to_string(), is_called, is_member }
        }
        _ => Text::NoName,
    }
}

/// Returns whether the text after a name calls it: `(`, after type arguments or the `!` of a macro.
fn is_called(after: &str) -> bool {
    let after = after.trim_start();
    let after = after.strip_prefix('!').unwrap_or(after).trim_start();
    let after = after.strip_prefix("::").or_else(|| after.strip_prefix("?.")).unwrap_or(after);
    if !after.starts_with('<') {
        return after.starts_with('(');
    }
    let mut depth = 0;
    for (at, c) in after.char_indices() {
        match c {
            '<' => depth += 1,
            '>' => depth -= 1,
            ';' | '{' => return false,
            _ => {}
        }
        if depth == 0 {
            return after[at + 1..].starts_with('(');
        }
    }
    false
}

/// Returns the offset in bytes of a column.
fn offset(line: &str, units: usize, encoding: PositionEncoding) -> Option<usize> {
    if line.is_ascii() || encoding == PositionEncoding::UTF8CodeUnitOffsetFromLineStart {
        return line.is_char_boundary(units).then_some(units);
    }
    let mut seen = 0;
    for (at, c) in line.char_indices() {
        if seen >= units {
            return (seen == units).then_some(at);
        }
        seen += match encoding {
            PositionEncoding::UTF32CodeUnitOffsetFromLineStart => 1,
            // What does not say it counts as JavaScript does.
            _ => c.len_utf16(),
        };
    }
    (seen == units).then_some(line.len())
}
