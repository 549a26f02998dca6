//! Source text of a parsed language → [`Outline`]: its symbols with nesting, its imports, and where it may be cut.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use tree_sitter::{Node, ParseOptions, ParseState, Parser, QueryCursor, QueryCursorOptions, QueryCursorState, StreamingIterator, Tree};

use self::definition::{
    accessors, base_type, before, definition_end, definition_line, fold_whitespace, innermost, is_called, is_exported, last_line, leading,
    line, signature, source, symbol_name, wrapped,
};
use super::symbol::{Symbol, SymbolKind};
use crate::languages::{Grammar, Hides};

pub(super) mod definition;
mod macros;
mod scripts;

/// What a source file defines. Lines are 1-based and inclusive everywhere.
#[derive(Debug, Default)]
pub struct Outline {
    /// In document order; a symbol's parent stands before it.
    pub symbols: Vec<Symbol>,
    /// Imported modules or headers as written, in document order, without repetition.
    pub imports: Vec<String>,
    /// For each line (index = line − 1): how deep in the syntax tree the outermost node lies that starts on it.
    /// `u16::MAX` = nothing starts there (inside a long string or comment, or blank). Cutting before a shallow line is best.
    pub cut_depth: Vec<u16>,
}

/// Trees deeper than this are generated; the outline stops there instead of overflowing the stack.
const MAX_TREE_DEPTH: u16 = 400;

/// Definitions nested deeper than this are generated, and finding what stands around a node takes as long as it is deep.
const MAX_NESTING: usize = 64;

thread_local! {
    static PARSER: RefCell<Parser> = RefCell::new(Parser::new());
}

/// The time that one file may take. Parsers and queries that look for sense in garbage may need quadratic time; a megabyte of
/// any real program takes a tenth of this.
pub(super) struct ParseBudget {
    start: Instant,
}

impl ParseBudget {
    const LIMIT: Duration = Duration::from_secs(4);

    pub(super) fn is_spent(&self) -> bool {
        self.start.elapsed() >= Self::LIMIT
    }

    /// For the callbacks of parsers and queries.
    pub(super) fn go_on(&self) -> ControlFlow<()> {
        if self.is_spent() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// Of a larger file the head is parsed first. In text that is no program a parser may take all memory, in one step that
/// cannot be interrupted.
const LARGE_FILE_BYTES: usize = 32 << 10;
const HEAD_BYTES: usize = 4 << 10;
/// The parser reports every hundred steps. Real programs of nineteen languages take at most 22 reports a kilobyte.
const MAX_REPORTS_PER_KB: usize = 64;

/// The first lines of a text.
fn first_lines(text: &str) -> &str {
    let end = memchr::memrchr(b'\n', &text.as_bytes()[..HEAD_BYTES.min(text.len())]);
    &text[..end.unwrap_or(0)]
}

/// Whether the parser takes too many steps for the head of a file: it is no program.
fn is_garbage(parser: &mut Parser, head: &str) -> bool {
    let mut n_reports = 0;
    let in_steps = |_: &ParseState| {
        n_reports += 1;
        if n_reports * 1024 > MAX_REPORTS_PER_KB * head.len() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    parse(parser, head, in_steps).is_none()
}

/// The tree of a text; `None` when the parser fails or is told to stop.
fn parse(parser: &mut Parser, text: &str, mut go_on: impl FnMut(&ParseState) -> ControlFlow<()>) -> Option<Tree> {
    let options = ParseOptions::new().progress_callback(&mut go_on);
    let tree = parser.parse_with_options(&mut |i, _| text.as_bytes().get(i..).unwrap_or_default(), None, Some(options));
    if tree.is_none() {
        // A parse that was given up would be resumed by the next one.
        parser.reset();
    }
    tree
}

/// Parses `text` and finds its symbols. `None` when the parser gives nothing usable: the caller cuts by lines then.
#[must_use]
pub fn outline(grammar: &Grammar, text: &str) -> Option<Outline> {
    let (tree, budget) = tree(grammar, text)?;
    let (symbols, imports) = definitions(grammar, &tree, text, &budget)?;
    Some(Outline { symbols, imports, cut_depth: cut_depth(&tree, text) })
}

/// The syntax tree of a text, and what is left of the time for it.
pub(super) fn tree(grammar: &Grammar, text: &str) -> Option<(Tree, ParseBudget)> {
    let budget = ParseBudget { start: Instant::now() };
    let hidden = match grammar.spec.hides {
        Hides::Macros => macros::hide(text),
        Hides::AllButScripts => Some(scripts::alone(text)),
        Hides::Nothing | Hides::MacroCalls => None,
    };
    let plain = hidden.as_deref().unwrap_or(text);
    let tree = PARSER.with_borrow_mut(|parser| {
        parser.set_language(&grammar.language()).ok()?;
        if text.len() > LARGE_FILE_BYTES && is_garbage(parser, first_lines(plain)) {
            return None;
        }
        parse(parser, plain, |_| budget.go_on())
    })?;
    Some((tree, budget))
}

/// The tree of a text in another language, within the time that is left.
pub(super) fn tree_of(language: &tree_sitter::Language, text: &str, budget: &ParseBudget) -> Option<Tree> {
    PARSER.with_borrow_mut(|parser| {
        parser.set_language(language).ok()?;
        parse(parser, text, |_| budget.go_on())
    })
}

/// Symbols and imports of a tree.
pub(super) fn definitions(grammar: &Grammar, tree: &Tree, text: &str, budget: &ParseBudget) -> Option<(Vec<Symbol>, Vec<String>)> {
    let mut matched = run_query(grammar, tree, text, budget);
    if budget.is_spent() {
        return None;
    }
    let imports = std::mem::take(&mut matched.imports);
    let symbols = nest(grammar, &matched, text);
    // A file that is wrong as a whole may still be right in its parts, say C with an `#if` around half a statement.
    let usable = !tree.root_node().is_error() || !symbols.is_empty();
    usable.then_some((symbols, imports))
}

/// A definition, or (without a kind) a function body that has no name: what lies in it is local.
struct DefinitionMatch<'t> {
    name: Node<'t>,
    node: Node<'t>,
    kind: Option<SymbolKind>,
    prototype: bool,
    receiver: Option<Node<'t>>,
    /// One of several clauses or equations of a function (`@clause`): it joins the one before it.
    clause: bool,
    pattern: usize,
}

/// What the query found in a file.
#[derive(Default)]
struct QueryMatches<'t, 's> {
    found: Vec<DefinitionMatch<'t>>,
    /// Documentation string (first and last line) of a definition, by the definition's node id.
    docs: HashMap<usize, (u32, u32)>,
    /// Nodes that belong to the definition below them; true = it documents the definition.
    attached: HashMap<usize, bool>,
    /// Names in an export list (`@export`).
    exports: HashSet<&'s str>,
    imports: Vec<String>,
}

fn run_query<'t, 's>(grammar: &Grammar, tree: &'t Tree, text: &'s str, budget: &ParseBudget) -> QueryMatches<'t, 's> {
    let query = grammar.outline();
    let captures = query.capture_names();
    let mut cursor = QueryCursor::new();
    let mut out = QueryMatches::default();
    let (mut docs, mut scopes) = (Vec::new(), Vec::new());
    let mut seen = HashSet::new();
    let mut in_time = |_: &QueryCursorState| budget.go_on();
    let options = QueryCursorOptions::new().progress_callback(&mut in_time);
    let mut matches = cursor.matches_with_options(query, tree.root_node(), text.as_bytes(), options);
    while let Some(m) = matches.next() {
        let (mut name, mut definition, mut receiver, mut clause, mut declarator) = (None, None, None, false, false);
        for capture in m.captures() {
            let node = capture.node;
            match captures[capture.index as usize] {
                "name" => name = Some(node),
                "declarator" => (name, declarator) = (Some(innermost(node)), true),
                "receiver" => receiver = Some(node),
                "clause" => clause = true,
                "scope" => scopes.push(node),
                "doc" => docs.push(node),
                "attached" => _ = out.attached.entry(node.id()).or_insert(false),
                "attached.doc" => _ = out.attached.insert(node.id(), true),
                "export" => _ = out.exports.insert(source(node, text)),
                "import" => {
                    let import = fold_whitespace(source(node, text));
                    // Where an import has no node of its own, the whole statement is captured.
                    let import = ["import ", "use "].iter().find_map(|word| import.strip_prefix(word)).unwrap_or(&import);
                    let import = import.trim_matches(['"', '\'', '<', '>', ' ', ';']).to_string();
                    if !import.is_empty() && seen.insert(import.clone()) {
                        out.imports.push(import);
                    }
                }
                label => match label.split_once('.') {
                    Some(("definition", kind)) => definition = Some((node, SymbolKind::parse(kind), false)),
                    Some(("prototype", kind)) => definition = Some((node, SymbolKind::parse(kind), true)),
                    _ => {}
                },
            }
        }
        if let (Some(name), Some((node, Some(mut kind), mut prototype))) = (name, definition) {
            if declarator && kind.is_data() && is_called(name) {
                (kind, prototype) = (SymbolKind::Function, true);
            }
            out.found.push(DefinitionMatch { name, node, kind: Some(kind), prototype, receiver, clause, pattern: m.pattern_index });
        }
    }
    // One definition a name: of several patterns that match it, the first in the query file.
    out.found.sort_by_key(|f| (f.name.start_byte(), f.name.end_byte(), f.pattern));
    out.found.dedup_by_key(|f| f.name.byte_range());
    let definitions: HashSet<usize> = out.found.iter().map(|f| f.node.id()).collect();
    for doc in docs {
        let owner = std::iter::successors(doc.parent(), Node::parent).take(4).find(|n| definitions.contains(&n.id()));
        if let Some(owner) = owner {
            out.docs.entry(owner.id()).or_insert((line(doc), last_line(doc, text)));
        }
    }
    let scope =
        |node| DefinitionMatch { name: node, node, kind: None, prototype: false, receiver: None, clause: false, pattern: usize::MAX };
    out.found.extend(scopes.into_iter().map(scope));
    out.found.sort_by_key(|f| (f.node.start_byte(), Reverse(f.node.end_byte()), f.kind.is_none(), f.name.start_byte()));
    out
}

/// An enclosing definition or nameless function body, while its contents are visited.
struct Open {
    start: usize,
    end: usize,
    symbol: Option<usize>,
    /// What lies directly in it is local to a function.
    local: bool,
}

/// Turns flat matches into symbols with parents; drops what is local to a function.
fn nest(grammar: &Grammar, matched: &QueryMatches, text: &str) -> Vec<Symbol> {
    let mut symbols: Vec<Symbol> = Vec::new();
    let mut open: Vec<Open> = Vec::new();
    // The last symbol of each depth, for clauses to join.
    let mut last: Vec<(usize, bool)> = Vec::new();
    let mut extent: Option<Extent> = None;
    for f in &matched.found {
        let (start, end) = (f.node.start_byte(), f.node.end_byte());
        // The second of two names in one declaration (`int a, b;`) stands beside the first, not in it.
        while open.last().is_some_and(|o| o.end <= start || (f.kind.is_some() && o.start == start && o.end == end)) {
            open.pop();
        }
        let parent = open.last().and_then(|o| o.symbol);
        let Some(kind) = f.kind else {
            open.push(Open { start, end, symbol: parent, local: true });
            continue;
        };
        let local = open.last().is_some_and(|o| o.local);
        if local && (kind.is_data() || f.prototype || kind == SymbolKind::Method) {
            continue;
        }
        if open.len() >= MAX_NESTING {
            continue;
        }
        if extent.as_ref().is_none_or(|e| e.node != f.node.id()) {
            extent = Some(Extent::new(grammar, f, matched, text));
        }
        let Some(symbol) = extent.as_ref().and_then(|e| symbol(grammar, f, kind, e, (parent, parent.map(|p| &symbols[p])), matched, text))
        else {
            continue;
        };
        let depth = usize::from(symbol.depth);
        let joined = last
            .get(depth)
            .copied()
            .filter(|(i, clause)| f.clause && *clause && symbols[*i].parent == parent && symbols[*i].name == symbol.name);
        let index = if let Some((i, _)) = joined {
            let first = &mut symbols[i];
            first.end_line = first.end_line.max(symbol.end_line);
            first.prototype &= symbol.prototype;
            first.comment = first.comment.or(symbol.comment);
            i
        } else {
            last.truncate(depth);
            // Depths skip none: a symbol is one deeper than its parent, which was pushed before it.
            last.resize(depth, (usize::MAX, false));
            last.push((symbols.len(), f.clause));
            symbols.push(symbol);
            symbols.len() - 1
        };
        open.push(Open { start, end, symbol: Some(index), local: symbols[index].kind.is_callable() });
    }
    symbols
}

/// What the symbols of one declaration have in common (`int a, b, …;` may be thousands).
struct Extent<'t> {
    node: usize,
    outer: Node<'t>,
    lines: (u32, u32, u32),
    comment: Option<(u32, u32)>,
    signature: String,
}

impl<'t> Extent<'t> {
    fn new(grammar: &Grammar, f: &DefinitionMatch<'t>, matched: &QueryMatches, text: &str) -> Self {
        let outer = wrapped(grammar, f.node);
        let (first, leading_comment) = leading(outer, &matched.attached, text);
        let definition = definition_line(f.node);
        Self {
            node: f.node.id(),
            outer,
            lines: (line(first), definition, definition_end(accessors(outer), text).max(definition)),
            comment: matched.docs.get(&f.node.id()).copied().or(leading_comment),
            signature: signature(f.node, outer, text),
        }
    }
}

fn symbol(
    grammar: &Grammar,
    f: &DefinitionMatch,
    kind: SymbolKind,
    extent: &Extent,
    parent: (Option<usize>, Option<&Symbol>),
    matched: &QueryMatches,
    text: &str,
) -> Option<Symbol> {
    let name = symbol_name(f.name, kind, text);
    if name.is_empty() || name == "_" {
        return None;
    }
    let (parent, parent_symbol) = parent;
    let outer = extent.outer;
    let astray = outer.start_position().column > 0 && outer.parent().is_some_and(|p| p.is_error());
    if astray && parent.is_none() && (kind.is_data() || f.prototype) {
        // A local variable of a function that could not be parsed.
        return None;
    }
    let in_type = parent_symbol.is_some_and(|p| !p.kind.is_callable() && p.kind != SymbolKind::Module);
    let kind = if kind == SymbolKind::Function && in_type { SymbolKind::Method } else { kind };
    let (start_line, definition_line, end_line) = extent.lines;
    Some(Symbol {
        exported: is_exported(grammar.spec.export, &name, kind, before(outer, f.name, text), parent_symbol, &matched.exports),
        signature: extent.signature.clone(),
        kind,
        depth: parent_symbol.map_or(0, |p| p.depth.saturating_add(1)),
        parent,
        start_line,
        definition_line,
        end_line,
        comment: extent.comment,
        prototype: f.prototype,
        receiver: f.receiver.map(|r| base_type(source(r, text))),
        name,
    })
}

fn cut_depth(tree: &Tree, text: &str) -> Vec<u16> {
    let mut depths = vec![u16::MAX; text.lines().count().max(1)];
    let mut cursor = tree.walk();
    let mut depth = 0u16;
    loop {
        let node = cursor.node();
        let row = node.start_position().row;
        if depth > 0
            && let Some(d) = depths.get_mut(row)
        {
            *d = (*d).min(depth);
        }
        // What lies in a single row starts in no other, and deeper.
        let is_in_row = depth > 0 && node.end_position().row == row;
        if !is_in_row && depth < MAX_TREE_DEPTH && cursor.goto_first_child() {
            depth += 1;
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return depths;
            }
            depth -= 1;
        }
    }
}
