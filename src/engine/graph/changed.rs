//! Finds the symbols that a change adds, changes and deletes: from the texts of a file before and
//! after, and the lines that differ.

use std::collections::HashMap;

use crate::engine::door::project::Project;
use crate::languages::{LanguageKind, detect, separator};
use crate::source::{self, DiffError, DiffFile, Hunk};
use crate::syntax::{PlaceKind, Places, Symbol, SymbolKind, outline};

/// Largest number of files whose texts are compared.
pub(in crate::engine) const MAX_COMPARED: usize = 300;

/// What a change does to a symbol or file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    Changed,
    Added,
    Deleted,
    Renamed,
    /// Somebody is about to change it.
    Planned,
}

impl How {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Changed => "changed",
            Self::Added => "added",
            Self::Deleted => "deleted",
            Self::Renamed => "renamed",
            Self::Planned => "planned",
        }
    }
}

/// A symbol that a change touches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::engine) struct SymbolChange {
    /// The name alone.
    pub(in crate::engine) name: String,
    /// The name, after those of the symbols around it.
    pub(in crate::engine) symbol: String,
    pub(in crate::engine) kind: SymbolKind,
    pub(in crate::engine) how: How,
    /// Whether it is visible outside its module.
    pub(in crate::engine) public: bool,
    /// Line of the definition; of a deleted symbol, the line afterwards at which it was.
    pub(in crate::engine) line: u32,
    pub(in crate::engine) end_line: u32,
    /// Number of its lines that differ, before and after; blank ones do not count.
    pub(in crate::engine) n_lines: u32,
    /// The declaration without its body.
    pub(in crate::engine) signature: String,
    /// The declaration before, if it is another one.
    pub(in crate::engine) old_signature: Option<String>,
    /// The lines below the declaration, of a symbol that is added or deleted.
    pub(in crate::engine) body: Vec<String>,
}

/// The symbols that a change of a file touches.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::engine) struct FileChange {
    /// In the order of the file; deleted ones last.
    pub(in crate::engine) symbols: Vec<SymbolChange>,
    /// Whether lines outside of all symbols differ.
    pub(in crate::engine) outside: bool,
    /// Whether the file has symbols at all.
    pub(in crate::engine) has_symbols: bool,
}

/// A text with its symbols.
struct Outlined<'a> {
    lines: Vec<&'a str>,
    symbols: Vec<Symbol>,
    /// The path of names of each symbol.
    paths: Vec<String>,
    /// The innermost symbol at each line.
    innermost: Vec<Option<usize>>,
    /// What the parts of a line are.
    places: Option<Places>,
}

impl<'a> Outlined<'a> {
    fn new(path: &str, text: &'a str) -> Self {
        let language = detect(path, text);
        let (symbols, places) = match language.kind {
            LanguageKind::Code(grammar) => {
                (outline(grammar, text).map(|outline| outline.symbols), Places::new(grammar, text))
            }
            _ => (None, None),
        };
        let symbols = symbols.unwrap_or_default();
        let mut paths: Vec<String> = Vec::with_capacity(symbols.len());
        for symbol in &symbols {
            let above = symbol.parent.map(|parent| &*paths[parent]).or(symbol.receiver.as_deref());
            paths.push(match above {
                Some(above) => [above, &symbol.name].join(separator(language.name)),
                None => symbol.name.clone(),
            });
        }
        let lines: Vec<&str> = text.lines().collect();
        let mut innermost = vec![None; lines.len() + 1];
        for (i, symbol) in symbols.iter().enumerate() {
            // A field says little alone: its type changes.
            let counted = match symbol.parent {
                Some(parent)
                    if matches!(symbol.kind, SymbolKind::Field | SymbolKind::EnumMember) =>
                {
                    parent
                }
                _ => i,
            };
            let end = (symbol.end_line as usize).min(innermost.len() - 1);
            if let Some(of_symbol) = innermost.get_mut(symbol.start_line as usize..=end) {
                of_symbol.fill(Some(counted));
            }
        }
        Self { lines, symbols, paths, innermost, places }
    }

    /// Returns the first symbol of each path of names.
    fn by_path(&self) -> HashMap<&str, usize> {
        let mut first = HashMap::new();
        for (at, path) in self.paths.iter().enumerate() {
            first.entry(path.as_str()).or_insert(at);
        }
        first
    }

    /// Returns the declaration of a symbol, unless it has this one, too: of an overloaded name, the
    /// first.
    fn other_signature(&self, path: &str, signature: &str) -> Option<String> {
        let of_path = || {
            let all = self.paths.iter().zip(&self.symbols);
            all.filter(|(other, _)| *other == path).map(|(_, symbol)| &symbol.signature)
        };
        if of_path().any(|other| other == signature) {
            return None;
        }
        of_path().next().cloned()
    }

    fn is_blank(&self, line: u32) -> bool {
        self.lines.get((line as usize).wrapping_sub(1)).is_none_or(|text| text.trim().is_empty())
    }

    /// Whether a line is nothing but a comment, which changes no symbol.
    fn is_comment(&self, line: u32) -> bool {
        let Some(text) = self.lines.get((line as usize).wrapping_sub(1)) else { return false };
        let (first, last) = (text.len() - text.trim_start().len(), text.trim_end().len() - 1);
        let is_comment = |places: &Places| {
            [first, last].iter().all(|at| places.kind(line, *at) == PlaceKind::Comment)
        };
        self.places.as_ref().is_some_and(is_comment)
    }

    fn at(&self, line: u32) -> Option<usize> {
        self.innermost.get(line as usize).copied().flatten()
    }

    /// Returns the lines of a range that say something.
    fn said(&self, start: u32, n: u32) -> impl Iterator<Item = u32> {
        let end = start.saturating_add(n).min(u32::try_from(self.innermost.len()).unwrap_or(start));
        (start..end).filter(|line| !self.is_blank(*line) && !self.is_comment(*line))
    }

    fn change(&self, at: usize, how: How, line: u32, n_lines: u32) -> SymbolChange {
        let symbol = &self.symbols[at];
        let body = match how {
            How::Added | How::Deleted => (symbol.definition_line + 1..=symbol.end_line)
                .filter(|line| !self.is_blank(*line))
                .map(|line| self.lines[line as usize - 1].trim().to_string())
                .collect(),
            _ => Vec::new(),
        };
        SymbolChange {
            name: symbol.name.clone(),
            symbol: self.paths[at].clone(),
            kind: symbol.kind,
            how,
            public: symbol.exported,
            line,
            end_line: if how == How::Deleted { line } else { symbol.end_line },
            n_lines,
            signature: symbol.signature.clone(),
            old_signature: None,
            body,
        }
    }
}

/// Returns the files of a difference that may be shown, and the number of the others: they are hidden
/// or may hold secrets. The files of Cortex itself are left out.
pub(in crate::engine) fn shown(project: &Project, files: Vec<DiffFile>) -> (Vec<DiffFile>, usize) {
    let may_read = |path: &str| project.may_read(path) && !source::may_hold_secrets(path);
    let is_own = |file: &DiffFile| file.path.starts_with(".cortex/");
    let (shown, hidden): (Vec<DiffFile>, Vec<DiffFile>) = files
        .into_iter()
        .filter(|file| !is_own(file))
        .partition(|file| may_read(&file.path) && file.before.as_deref().is_none_or(may_read));
    (shown, hidden.len())
}

/// Whether the symbols of a file are compared.
pub(in crate::engine) fn is_compared(path: &str) -> bool {
    is_code(path) && !source::is_never_read(path)
}

pub(in crate::engine) fn is_code(path: &str) -> bool {
    matches!(detect(path, "").kind, LanguageKind::Code(_))
}

/// The texts of files before and after, by path; `None` for one that does not exist then.
pub(in crate::engine) type Texts = HashMap<String, (Option<String>, Option<String>)>;

/// Reads the texts of files before and after a difference. `at_commit`: whether the difference ends
/// at a commit and not at the working tree.
///
/// # Errors
/// When git does not answer.
pub(in crate::engine) fn texts(
    project: &Project,
    at_commit: bool,
    files: &[&DiffFile],
) -> Result<Texts, DiffError> {
    let root = project.layout.root();
    let of_end = |file: &DiffFile| file.new_blob.clone().filter(|_| at_commit);
    let ids: Vec<String> =
        files.iter().flat_map(|file| [file.old_blob.clone(), of_end(file)]).flatten().collect();
    let ids: Vec<&str> = ids.iter().map(|id| &**id).collect();
    let blobs = source::blobs(root, &ids)?;
    let text = |id: &Option<String>| id.as_ref().and_then(|id| blobs.get(id)).cloned();
    let pair = |file: &&DiffFile| {
        let new = match at_commit {
            _ if !file.exists => None,
            true => text(&file.new_blob),
            false => source::read_exact(root, &file.path).ok(),
        };
        (file.path.clone(), (text(&file.old_blob), new))
    };
    Ok(files.iter().map(pair).collect())
}

/// Returns what a file of a difference is: new, gone, under another name, or changed.
pub(in crate::engine) fn how_of(file: &DiffFile) -> How {
    match &file.before {
        None => How::Added,
        Some(_) if !file.exists => How::Deleted,
        Some(before) if *before != file.path => How::Renamed,
        Some(_) => How::Changed,
    }
}

/// Returns what the change of a file touches. A text is `None` if the file does not exist then.
/// Without hunks, all lines differ.
pub(in crate::engine) fn changed(
    path: &str,
    old: Option<&str>,
    new: Option<&str>,
    hunks: &[Hunk],
) -> FileChange {
    let (old, new) = (
        Outlined::new(path, old.unwrap_or_default()),
        Outlined::new(path, new.unwrap_or_default()),
    );
    let all = |of: &Outlined| u32::try_from(of.lines.len()).unwrap_or(u32::MAX);
    let whole = Hunk { old_start: 1, old_lines: all(&old), new_start: 1, new_lines: all(&new) };
    let hunks = if hunks.is_empty() { std::slice::from_ref(&whole) } else { hunks };
    let (before, after) = (old.by_path(), new.by_path());
    let is_gone = |at: usize| !after.contains_key(&*old.paths[at]);
    let mut touched = vec![false; new.symbols.len()];
    let mut n_lines = vec![0; new.symbols.len()];
    // The deleted symbols, each with the line afterwards and the number of its lines.
    let mut gone: HashMap<usize, (u32, u32)> = HashMap::new();
    let mut outside = false;
    for hunk in hunks {
        let mut note = |at: Option<usize>| match at {
            Some(at) => touched[at] = true,
            None => outside = true,
        };
        for line in new.said(hunk.new_start, hunk.new_lines) {
            note(new.at(line));
            if let Some(at) = new.at(line) {
                n_lines[at] += 1;
            }
        }
        for line in old.said(hunk.old_start, hunk.old_lines) {
            let around = std::iter::successors(old.at(line), |at| old.symbols[*at].parent);
            let outermost_gone = around.take_while(|at| is_gone(*at)).last();
            match outermost_gone {
                Some(at) => gone.entry(at).or_insert((hunk.new_start.max(1), 0)).1 += 1,
                None => {
                    let now = old.at(line).and_then(|at| after.get(&*old.paths[at])).copied();
                    // Lines that were taken out change the symbol that they were in.
                    if hunk.new_lines == 0 {
                        note(now);
                    }
                    if let Some(now) = now {
                        n_lines[now] += 1;
                    }
                }
            }
        }
    }
    let is_new = |at: usize| !before.contains_key(&*new.paths[at]);
    let mut symbols: Vec<SymbolChange> = Vec::new();
    for at in (0..touched.len()).filter(|at| touched[*at]) {
        let mut above = std::iter::successors(new.symbols[at].parent, |at| new.symbols[*at].parent);
        // What is in an added symbol is a part of it.
        if !above.any(|above| touched[above] && is_new(above)) {
            let how = if is_new(at) { How::Added } else { How::Changed };
            let mut found = new.change(at, how, new.symbols[at].definition_line, n_lines[at]);
            if how == How::Changed {
                found.old_signature = old.other_signature(&new.paths[at], &found.signature);
            }
            symbols.push(found);
        }
    }
    let mut gone: Vec<(usize, (u32, u32))> = gone.into_iter().collect();
    gone.sort_unstable();
    let deleted = |(at, (line, n))| old.change(at, How::Deleted, line, n);
    symbols.extend(gone.into_iter().map(deleted));
    FileChange {
        symbols,
        outside,
        has_symbols: !(new.symbols.is_empty() && old.symbols.is_empty()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = "\
use a::b;

/// Gets.
pub fn get() -> u8 {
    1
}

fn put() {
    two();
    three();
}

struct Row {
    one: u8,
}

impl Row {
    fn len(&self) {}

    fn gone(&self) {}
}
";

    fn hunk(old_start: u32, old_lines: u32, new_start: u32, new_lines: u32) -> Hunk {
        Hunk { old_start, old_lines, new_start, new_lines }
    }

    /// Replaces lines, and says which symbols that touches.
    fn told(start: usize, n: usize, by: &[&str]) -> (Vec<String>, bool) {
        let mut lines: Vec<&str> = OLD.lines().collect();
        lines.splice(start - 1..start - 1 + n, by.iter().copied());
        let new = lines.join("\n") + "\n";
        let side = |start: usize, n: usize| {
            let (start, n) = (u32::try_from(start).unwrap(), u32::try_from(n).unwrap());
            (if n == 0 { start - 1 } else { start }, n)
        };
        let ((old_start, old_lines), (new_start, new_lines)) =
            (side(start, n), side(start, by.len()));
        let found = changed(
            "a.rs",
            Some(OLD),
            Some(&new),
            &[hunk(old_start, old_lines, new_start, new_lines)],
        );
        let told = found.symbols.iter().map(|s| format!("{} {}", s.how.as_str(), s.symbol));
        (told.collect(), found.outside)
    }

    #[test]
    fn the_innermost_symbols_at_the_lines_are_those_that_change() {
        let one = |text: &str, outside| (vec![text.to_string()], outside);
        assert_eq!(told(5, 1, &["    2"]), one("changed get", false));
        assert_eq!(told(3, 1, &["/// Gets it."]), (vec![], false), "its comment");
        assert_eq!(told(9, 1, &[]), one("changed put", false), "a line that was taken out");
        assert_eq!(told(14, 1, &["    two: u16,"]), one("changed Row", false), "a field");
        assert_eq!(told(1, 1, &["use a::c;"]), (vec![], true));
        assert_eq!(told(7, 0, &["", "fn new() {", "    1", "}"]), one("added new", false));
        assert_eq!(told(8, 4, &[]), one("deleted put", false));
        assert_eq!(told(19, 2, &[]), one("deleted Row::gone", false), "the rest of the type stays");
        assert_eq!(
            told(8, 1, &["fn set() {"]),
            (vec!["added set".into(), "deleted put".into()], false),
            "a new name"
        );
        assert_eq!(told(2, 1, &["", ""]), (vec![], false), "blank lines");
    }

    #[test]
    fn a_file_that_comes_or_goes_names_its_outermost_symbols() {
        let of = |old, new| {
            let found = changed("a.rs", old, new, &[]);
            found
                .symbols
                .into_iter()
                .map(|s| format!("{} {}", s.how.as_str(), s.symbol))
                .collect::<Vec<_>>()
        };
        let came = of(None, Some(OLD));
        assert!(came.contains(&"added get".into()) && came.len() < 6, "{came:?}");
        let went = of(Some(OLD), None);
        assert!(went.contains(&"deleted put".into()) && went.len() < 6, "{went:?}");
        assert!(changed("a.txt", None, Some("words\n"), &[]).outside);
        // The graph has a limit of lines, and hunks may lie.
        let wild = [hunk(0, u32::MAX, u32::MAX, u32::MAX), hunk(9_999, 3, 9_999, 0)];
        changed("a.rs", Some(OLD), Some("x"), &wild);
    }
}
