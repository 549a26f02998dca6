//! Chunks of a parsed source file: its outline (symbols), its definitions, its data.

use std::fmt::Write as _;

use super::draft::{Draft, LineIndex, MAX_BYTES, MIN_BYTES, file_name};
use super::pieces::{split, with_text};
use crate::chunk::{ChunkType, Name};
use crate::languages::Grammar;
use crate::syntax::{Outline, Symbol, SymbolKind, leading_comment};

/// A run of lines that becomes one chunk, or a part of one.
#[derive(Debug, Clone)]
struct Piece {
    first: u32,
    last: u32,
    /// The symbol that encloses the piece, unless the piece is that whole symbol.
    parent: Option<usize>,
    /// Whether the piece has only constants.
    data: bool,
    /// The symbol of which this piece is one of several parts.
    part_of: Option<usize>,
}

/// A piece that has no symbol and fewer bytes joins its neighbour, whatever that is.
const CRUMB_BYTES: usize = 200;
/// Most signatures kept for one chunk.
const MAX_SIGNATURES: usize = 24;
/// Most bytes of a file's leading comment that its outline quotes, give or take a line.
const MAX_HEAD_BYTES: usize = 600;

/// Returns all chunks of the file.
pub(super) fn drafts(
    path: &str,
    grammar: &Grammar,
    outline: &Outline,
    lines: &LineIndex,
) -> Vec<Draft> {
    let tree = Tree { grammar, outline, lines, children: children(outline) };
    let mut pieces = Vec::new();
    tree.level(None, 1, lines.len(), &mut pieces);
    let pieces = tree.merge(pieces);
    let mut out = vec![tree.outline_draft(path)];
    out.extend(pieces.iter().flat_map(|p| with_text(tree.draft(path, p), lines)));
    out.extend(tree.enum_values());
    out
}

struct Tree<'a> {
    grammar: &'a Grammar,
    outline: &'a Outline,
    lines: &'a LineIndex<'a>,
    /// The children of each symbol, and last those of the file.
    children: Vec<Vec<usize>>,
}

fn children(outline: &Outline) -> Vec<Vec<usize>> {
    let n = outline.symbols.len();
    let mut children = vec![Vec::new(); n + 1];
    for (i, s) in outline.symbols.iter().enumerate() {
        children[s.parent.unwrap_or(n)].push(i);
    }
    children
}

impl Tree<'_> {
    fn symbol(&self, i: usize) -> &Symbol {
        &self.outline.symbols[i]
    }

    fn children(&self, parent: Option<usize>) -> &[usize] {
        &self.children[parent.unwrap_or(self.outline.symbols.len())]
    }

    /// Cuts the lines of one level. A child that fits stays whole, a larger one becomes a level of
    /// its own or is cut as text; the lines between children are gaps.
    fn level(&self, parent: Option<usize>, first: u32, last: u32, out: &mut Vec<Piece>) {
        let mut next = first;
        for &child in self.children(parent) {
            let symbol = self.symbol(child);
            let (start, end) = (symbol.start_line.max(next), symbol.end_line.min(last));
            if end < start {
                continue; // Two definitions share one line, which is already in a piece.
            }
            self.gap(parent, next, start - 1, out);
            if self.lines.bytes(start, end) <= MAX_BYTES {
                let data = symbol.kind == SymbolKind::Constant
                    && parent.is_none_or(|p| self.symbol(p).kind == SymbolKind::Module);
                out.push(Piece { first: start, last: end, parent, data, part_of: None });
            } else if self.has_members(child) {
                self.level(Some(child), start, end, out);
            } else {
                self.parts(parent, Some(child), start, end, out);
            }
            next = end + 1;
        }
        self.gap(parent, next, last, out);
    }

    /// Whether a symbol is better cut at its children than as text: it is a type or module, or a
    /// function that mostly holds other functions.
    fn has_members(&self, i: usize) -> bool {
        let inner: usize = self.children[i]
            .iter()
            .map(|c| self.lines.bytes(self.symbol(*c).start_line, self.symbol(*c).end_line))
            .sum();
        let symbol = self.symbol(i);
        inner * 2 > self.lines.bytes(symbol.start_line, symbol.end_line)
            || (inner > 0 && !symbol.kind.is_callable())
    }

    /// Adds lines that belong to no symbol of this level. Blank lines join the piece before them.
    fn gap(&self, parent: Option<usize>, first: u32, last: u32, out: &mut Vec<Piece>) {
        if first > last {
            return;
        }
        match out.last_mut() {
            Some(previous) if self.lines.is_blank(first, last) => previous.last = last,
            _ => self.parts(parent, None, first, last, out),
        }
    }

    fn parts(
        &self,
        parent: Option<usize>,
        part_of: Option<usize>,
        first: u32,
        last: u32,
        out: &mut Vec<Piece>,
    ) {
        let ranges = split(self.lines, &self.outline.cut_depth, first, last);
        let part_of = part_of.filter(|_| ranges.len() > 1);
        out.extend(ranges.into_iter().map(|(first, last)| Piece {
            first,
            last,
            parent,
            data: false,
            part_of,
        }));
    }

    fn merge(&self, pieces: Vec<Piece>) -> Vec<Piece> {
        let mut out: Vec<Piece> = Vec::new();
        for piece in pieces {
            let Some(previous) = out.last_mut() else {
                out.push(piece);
                continue;
            };
            let total = self.lines.bytes(previous.first, piece.last);
            let crumb = |p: &Piece| {
                self.names(p).is_empty()
                    && p.part_of.is_none()
                    && self.lines.bytes(p.first, p.last) < CRUMB_BYTES
            };
            let siblings = previous.parent == piece.parent
                && previous.part_of.is_none()
                && piece.part_of.is_none();
            let same = siblings && previous.data == piece.data && total <= MIN_BYTES;
            // The head of a type or file joins the piece after it; closing lines
            // join the piece before them.
            let joins_next = (crumb(previous) || self.is_head(previous)) && total <= MAX_BYTES;
            let joins_previous = crumb(&piece) && total <= MAX_BYTES + CRUMB_BYTES;
            if same || joins_next || joins_previous {
                previous.last = piece.last;
                if joins_next && !same {
                    (previous.parent, previous.data, previous.part_of) =
                        (piece.parent, piece.data, piece.part_of);
                }
            } else {
                out.push(piece);
            }
        }
        out
    }

    /// Whether a piece is the first lines of a type whose members follow as separate pieces.
    fn is_head(&self, piece: &Piece) -> bool {
        let names = self.names(piece);
        names.len() == 1
            && piece.parent.is_some_and(|p| self.symbol(p) == &names[0])
            && self.lines.bytes(piece.first, piece.last) < CRUMB_BYTES
    }

    /// Returns the symbols that are defined in a piece, in order.
    fn names(&self, piece: &Piece) -> &[Symbol] {
        let symbols = &self.outline.symbols;
        // Symbols are in document order, so their definition lines ascend, except for
        // wrappers on shared lines.
        let start = symbols.partition_point(|s| s.definition_line < piece.first);
        let n = symbols[start..].iter().take_while(|s| s.definition_line <= piece.last).count();
        &symbols[start..start + n]
    }

    fn draft(&self, path: &str, piece: &Piece) -> Draft {
        let names = self.names(piece);
        let main =
            piece.part_of.map(|i| self.symbol(i)).or_else(|| names.iter().min_by_key(|s| s.depth));
        let symbol = main.map(|s| self.path(s));
        let enclosing = main.map_or(piece.parent, |s| s.parent).map(|p| self.path(self.symbol(p)));
        let parent = enclosing.or_else(|| main.and_then(|s| s.receiver.clone()));
        let chunk_type = if piece.data { ChunkType::Data } else { ChunkType::Definitions };
        let key = match (&symbol, &parent) {
            (Some(s), _) => s.clone(),
            (None, Some(p)) => format!("{p}{}", self.grammar.spec.separator),
            (None, None) => String::new(),
        };
        let title = symbol
            .clone()
            .or_else(|| parent.clone())
            .unwrap_or_else(|| file_name(path).to_string());
        let signatures: Vec<&str> = names
            .iter()
            .filter(|s| !s.kind.is_data())
            .take(MAX_SIGNATURES)
            .map(|s| &*s.signature)
            .collect();
        let comments = names
            .iter()
            .filter_map(|s| s.comment)
            .map(|(a, b)| (a.max(piece.first), b.min(piece.last)));
        let mut draft = Draft::new(chunk_type, key, title, "", (piece.first, piece.last));
        draft.comment_lines = comments.filter(|(a, b)| a <= b).collect();
        draft.comment_lines.sort_unstable();
        draft.comment_lines.dedup();
        draft.signature = (!signatures.is_empty()).then(|| signatures.join("\n"));
        draft.names = names.iter().map(name).collect();
        draft.symbol = symbol;
        draft.parent = parent;
        draft
    }

    /// Returns the full name of a symbol, such as `ChunkManager::load`.
    fn path(&self, symbol: &Symbol) -> String {
        let mut parts = vec![symbol.name.as_str()];
        let mut parent = symbol.parent;
        while let Some(p) = parent {
            parts.push(&self.symbol(p).name);
            parent = self.symbol(p).parent;
        }
        // In `func (s *Server) Start`, Start is a member of Server although
        // it is defined outside it.
        if symbol.parent.is_none() {
            parts.extend(symbol.receiver.as_deref());
        }
        parts.reverse();
        parts.join(self.grammar.spec.separator)
    }

    /// Makes the one outline chunk of the file: its leading comment, its imports, and every type
    /// and function with its lines.
    fn outline_draft(&self, path: &str) -> Draft {
        let mut text = format!("{path}\n");
        let head = leading_comment(self.lines.text, MAX_HEAD_BYTES);
        if !head.is_empty() {
            text.push_str(&head);
            text.push('\n');
        }
        if !self.outline.imports.is_empty() {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "imports: {}", self.outline.imports.join(", "));
        }
        for s in self
            .outline
            .symbols
            .iter()
            .filter(|s| !matches!(s.kind, SymbolKind::Field | SymbolKind::EnumMember))
        {
            let what = if s.signature.is_empty() {
                format!("{} {}", s.kind.as_str(), s.name)
            } else {
                s.signature.clone()
            };
            let _ = writeln!(
                text,
                "{}{what}  [{}-{}]",
                "  ".repeat(s.depth.into()),
                s.start_line,
                s.end_line
            );
        }
        // No symbol path contains `@`, so no definition can have this key.
        let mut draft = Draft::new(
            ChunkType::Symbols,
            "@outline".into(),
            path.to_string(),
            text.trim_end(),
            (1, self.lines.len()),
        );
        draft.imports.clone_from(&self.outline.imports);
        draft.unparsed.clone_from(&self.outline.unparsed);
        draft
    }

    /// Makes a data chunk for the values of each enum that has some.
    fn enum_values(&self) -> Vec<Draft> {
        let is_enum = |i: &usize| self.symbol(*i).kind == SymbolKind::Enum;
        let values = |i: usize| {
            let symbol = self.symbol(i);
            let members: Vec<&Symbol> = self.children[i]
                .iter()
                .map(|c| self.symbol(*c))
                .filter(|s| s.kind == SymbolKind::EnumMember)
                .collect();
            let (first, last) = (members.first()?.start_line, members.last()?.end_line);
            let path = self.path(symbol);
            let mut draft = Draft::new(
                ChunkType::Data,
                format!("{path}@values"),
                path.clone(),
                "",
                (first, last),
            );
            draft.names = members.into_iter().map(name).collect();
            draft.parent = Some(path.clone());
            draft.symbol = Some(path);
            Some(with_text(draft, self.lines))
        };
        (0..self.outline.symbols.len()).filter(is_enum).filter_map(values).flatten().collect()
    }
}

fn name(s: &Symbol) -> Name {
    Name {
        name: s.name.clone(),
        kind: s.kind.as_str().to_string(),
        depth: s.depth,
        exported: s.exported,
        prototype: s.prototype,
        start_line: s.start_line,
        end_line: s.end_line,
    }
}
