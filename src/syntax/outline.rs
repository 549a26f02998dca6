//! Makes the [`Outline`] of a source text in a parsed language: its symbols with nesting, its
//! imports, and where it may be cut.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::time::Duration;

use tree_sitter::{
    Node, ParseOptions, ParseState, Parser, QueryCursor, QueryCursorOptions, QueryCursorState,
    StreamingIterator, Tree,
};

use self::definition::{
    accessors, base_type, before, definition_end, definition_line, fold_whitespace, innermost,
    is_called, is_exported, last_line, leading, line, signature, source, symbol_name, wrapped,
};
use self::recovery::Broken;
pub(super) use self::recovery::Parsed;
use super::symbol::{Symbol, SymbolKind};
use crate::languages::{Grammar, Hides};
use crate::platform::thread_time;

pub(super) mod definition;
mod macros;
mod recovery;
mod scripts;

/// The definitions of a source file. All lines are 1-based and inclusive.
#[derive(Debug, Default)]
pub struct Outline {
    /// The symbols in document order, parents before their children.
    pub symbols: Vec<Symbol>,
    /// Imported modules or headers as written, in document order, without duplicates.
    pub imports: Vec<String>,
    /// For each line (index = line − 1): the depth in the syntax tree of the outermost node that
    /// starts on it, or `u16::MAX` if none does (a blank line, or inside a long string or comment).
    /// The best line to cut before is the one with the least depth.
    pub cut_depth: Vec<u16>,
    /// The line ranges that could not be parsed, in order. Definitions there may be missing.
    pub unparsed: Vec<(u32, u32)>,
}

/// Greatest depth of a tree that is visited. Deeper trees are of generated code, and
/// could overflow the stack.
const MAX_TREE_DEPTH: u16 = 400;

/// Greatest nesting of definitions. Deeper ones are generated, and searching around a node takes
/// time in proportion to its depth.
const MAX_NESTING: usize = 64;

thread_local! {
    static PARSER: RefCell<Parser> = RefCell::new(Parser::new());
    /// The limit that a parser or a query of this thread met last.
    static MET: Cell<Option<ParseLimit>> = const { Cell::new(None) };
}

/// A limit of the work for one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ParseLimit {
    /// Of steps. The same text meets it again.
    Steps,
    /// Of time of the processor. On a faster or less busy machine, the same text may not meet it.
    Time,
}

impl ParseLimit {
    /// Notes that this thread met the limit.
    fn note(self) {
        MET.set(MET.get().max(Some(self)));
    }
}

/// Calls `read`, and returns which limit a parser or a query met in it on this thread; time, if it was
/// both.
pub fn with_limit<T>(read: impl FnOnce() -> T) -> (T, Option<ParseLimit>) {
    let before = MET.take();
    let result = read();
    let met = MET.get();
    MET.set(met.max(before));
    (result, met)
}

/// The budget of one file. Parsers and queries may need quadratic time for garbage. The budget counts
/// their steps and the time that the processor works for them, but not that of the clock: a text has
/// the same outline however busy the machine is.
pub(super) struct ParseBudget {
    /// How many more times a parser or query may report.
    left: Cell<u64>,
    /// When the budget began, in time of this thread.
    start: Duration,
    /// Most time from then on.
    longest: Duration,
}

impl ParseBudget {
    /// The budget of a text.
    fn of(text: &str) -> Self {
        let left = LEAST_REPORTS + text.len() as u64 * REPORTS_PER_KB / 1024;
        Self { left: Cell::new(left), start: thread_time(), longest: LONGEST }
    }

    /// The budget for finding what the syntax errors of a text hide. It is another one, so that it
    /// takes nothing from that of the text.
    fn for_recovery(text: &str) -> Self {
        let whole = Self::of(text);
        whole.left.set(whole.left.get() / 2);
        whole
    }

    pub(super) fn is_spent(&self) -> bool {
        self.left.get() == 0
    }

    /// Tells a callback of a parser or query to stop when the budget is spent.
    pub(super) fn go_on(&self) -> ControlFlow<()> {
        let is_over = thread_time().saturating_sub(self.start) >= self.longest;
        let left = if is_over { 0 } else { self.left.get().saturating_sub(1) };
        self.left.set(left);
        if left > 0 {
            return ControlFlow::Continue(());
        }
        if is_over {
            ParseLimit::Time.note();
        } else {
            ParseLimit::Steps.note();
        }
        ControlFlow::Break(())
    }
}

/// Longest time of the processor for one file. A megabyte of any real program takes a tenth of it.
const LONGEST: Duration = Duration::from_secs(4);
/// Most reports of the parser and of all queries for a file: so many, and so many for each kilobyte. They
/// report every hundred steps. Real programs have at most 37 reports a kilobyte.
const LEAST_REPORTS: u64 = 1 << 13;
const REPORTS_PER_KB: u64 = 128;

/// For larger files, the head is parsed first. In text that is not a program, a parser may take all
/// memory in one step that cannot be interrupted.
const LARGE_FILE_BYTES: usize = 32 << 10;
const HEAD_BYTES: usize = 4 << 10;
/// Most progress reports of the parser for a kilobyte of text. It reports every hundred steps, and
/// real programs of nineteen languages have at most 22 reports a kilobyte.
const MAX_REPORTS_PER_KB: usize = 64;

/// Returns the complete lines in the first [`HEAD_BYTES`] of a text.
fn first_lines(text: &str) -> &str {
    let end = memchr::memrchr(b'\n', &text.as_bytes()[..HEAD_BYTES.min(text.len())]);
    &text[..end.map_or(0, |at| at + 1)]
}

/// Whether the parser takes so many steps for the head of a file that it cannot be a program.
fn is_garbage(parser: &mut Parser, head: &str) -> bool {
    let mut n_reports = 0;
    let in_steps = |_: &ParseState| {
        n_reports += 1;
        if n_reports * 1024 > MAX_REPORTS_PER_KB * head.len() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    parse(parser, head, in_steps).is_none()
}

/// Parses a text; `None` if the parser fails or `go_on` stops it.
fn parse(
    parser: &mut Parser,
    text: &str,
    mut go_on: impl FnMut(&ParseState) -> ControlFlow<()>,
) -> Option<Tree> {
    // The scanner of Perl reads on at the end of a text for ever, in a line of a here-document that
    // does not end, and no callback is asked there. So it gets complete lines only.
    let is_perl = parser.language().is_some_and(|language| language.name() == Some("perl"));
    let end = if is_perl {
        memchr::memrchr(b'\n', text.as_bytes()).map_or(0, |at| at + 1)
    } else {
        text.len()
    };
    let text = &text[..end];
    let options = ParseOptions::new().progress_callback(&mut go_on);
    let tree = parser.parse_with_options(
        &mut |i, _| text.as_bytes().get(i..).unwrap_or_default(),
        None,
        Some(options),
    );
    if tree.is_none() {
        // Without a reset, the next call would resume the parse that was stopped.
        parser.reset();
    }
    tree
}

/// Parses `text` and finds its symbols. Returns `None` if the parser has no usable result;
/// callers then cut by lines.
#[must_use]
pub fn outline(grammar: &Grammar, text: &str) -> Option<Outline> {
    outline_with(grammar, text, |_, _, _| ())
}

/// Finds the symbols of a text, and shows the trees, their symbols and the rest of the time budget
/// to `see`.
pub(super) fn outline_with(
    grammar: &Grammar,
    text: &str,
    see: impl FnOnce(&Parsed, &[Symbol], &ParseBudget),
) -> Option<Outline> {
    let (parsed, budget) = parsed(grammar, text)?;
    let (symbols, imports) = definitions(grammar, &parsed, text, &budget)?;
    see(&parsed, &symbols, &budget);
    let cut_depth = cut_depth(&parsed.tree, text);
    let n_lines = u32::try_from(cut_depth.len()).unwrap_or(u32::MAX);
    Some(Outline { symbols, imports, cut_depth, unparsed: parsed.unparsed(n_lines) })
}

/// Returns the syntax trees of a text, with what its errors hide, and the rest of its time budget.
pub(super) fn parsed(grammar: &Grammar, text: &str) -> Option<(Parsed, ParseBudget)> {
    let plain = plain(grammar, text);
    let (tree, mut budget) = plain_tree(grammar, &plain)?;
    let start = thread_time();
    let before = MET.get();
    let of_recovery = ParseBudget::for_recovery(&plain);
    let parse = |text: &str| tree_of(&grammar.language(), text, &of_recovery);
    let names_in = |tree: &Tree, text: &str| {
        let names = names_in(grammar, tree, text, &of_recovery);
        (!of_recovery.is_spent()).then_some(names)
    };
    let parsed = Parsed::recovered(&plain, tree, parse, names_in);
    // Without more of what errors hide, the file is not cut; but a later run may have more time.
    if MET.get() == Some(ParseLimit::Steps) {
        MET.set(before);
    }
    budget.start += thread_time().saturating_sub(start);
    Some((parsed, budget))
}

/// Returns the syntax tree of a text, and the rest of its time budget.
pub(super) fn tree(grammar: &Grammar, text: &str) -> Option<(Tree, ParseBudget)> {
    plain_tree(grammar, &plain(grammar, text))
}

/// Returns a text as its parser sees it: without what it cannot read.
fn plain<'t>(grammar: &Grammar, text: &'t str) -> Cow<'t, str> {
    let hidden = match grammar.spec.hides {
        Hides::Macros => macros::hide(text),
        Hides::AllButScripts => Some(scripts::alone(text)),
        Hides::Nothing | Hides::MacroCalls => None,
    };
    hidden.map_or(Cow::Borrowed(text), Cow::Owned)
}

fn plain_tree(grammar: &Grammar, plain: &str) -> Option<(Tree, ParseBudget)> {
    let budget = ParseBudget::of(plain);
    let tree = PARSER.with_borrow_mut(|parser| {
        parser.set_language(&grammar.language()).ok()?;
        if plain.len() > LARGE_FILE_BYTES && is_garbage(parser, first_lines(plain)) {
            ParseLimit::Steps.note();
            return None;
        }
        parse(parser, plain, |_| budget.go_on())
    })?;
    Some((tree, budget))
}

/// Returns the number of levels of the syntax tree of a text.
pub(super) fn nesting(grammar: &Grammar, text: &str) -> usize {
    let budget = ParseBudget::of(text);
    let Some(tree) = tree_of(&grammar.language(), text, &budget) else { return usize::MAX };
    let (mut cursor, mut deepest) = (tree.walk(), 0);
    loop {
        deepest = deepest.max(cursor.depth() as usize);
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return deepest;
            }
        }
    }
}

/// Parses a text in another language, within the same time budget.
pub(super) fn tree_of(
    language: &tree_sitter::Language,
    text: &str,
    budget: &ParseBudget,
) -> Option<Tree> {
    PARSER.with_borrow_mut(|parser| {
        parser.set_language(language).ok()?;
        parse(parser, text, |_| budget.go_on())
    })
}

/// Returns the symbols and the imports of a text.
pub(super) fn definitions(
    grammar: &Grammar,
    parsed: &Parsed,
    text: &str,
    budget: &ParseBudget,
) -> Option<(Vec<Symbol>, Vec<String>)> {
    let mut matched = QueryMatches::default();
    for (tree, part) in parsed.trees() {
        run_query(grammar, tree, part, text, budget, &mut matched);
    }
    matched.arrange(text);
    if budget.is_spent() {
        return None;
    }
    let imports = std::mem::take(&mut matched.imports);
    let symbols = nest(grammar, &matched, text);
    // Even if the file as a whole does not parse, its parts may, such as C with an `#if`
    // around half a statement.
    let usable = !parsed.tree.root_node().is_error() || !symbols.is_empty();
    usable.then_some((symbols, imports))
}

/// Returns where the names of the definitions of a tree begin, except those of data, which a parser
/// also finds in garbage.
fn names_in(grammar: &Grammar, tree: &Tree, text: &str, budget: &ParseBudget) -> HashSet<usize> {
    let mut matched = QueryMatches::default();
    run_query(grammar, tree, None, text, budget, &mut matched);
    let found = matched.found.iter().filter(|f| f.kind.is_some_and(|kind| !kind.is_data()));
    found.map(|f| f.name.start_byte()).collect()
}

/// A definition, or (without a kind) the body of a function without a name,
/// whose contents are local.
struct DefinitionMatch<'t> {
    name: Node<'t>,
    node: Node<'t>,
    /// The byte at which it ends.
    end: usize,
    /// Its last line if the parser took more for a part of it.
    last_line: Option<u32>,
    kind: Option<SymbolKind>,
    prototype: bool,
    receiver: Option<Node<'t>>,
    /// Whether this is one of several clauses or equations of a function (`@clause`), which are
    /// joined into one symbol.
    clause: bool,
    pattern: usize,
}

/// The results of the query for a file.
#[derive(Default)]
struct QueryMatches<'t, 's> {
    found: Vec<DefinitionMatch<'t>>,
    /// First and last line of the documentation string of a definition, by the
    /// definition's node id.
    docs: HashMap<usize, (u32, u32)>,
    /// Nodes that belong to the definition below them. True if they document it.
    attached: HashMap<usize, bool>,
    /// Names in an export list (`@export`).
    exports: HashSet<&'s str>,
    imports: Vec<String>,
    /// The imports that were seen.
    imported: HashSet<String>,
    /// The documentation strings, before they are given to their definitions.
    documentation: Vec<Node<'t>>,
    /// The bodies of functions without a name, before they are put among the definitions.
    scopes: Vec<DefinitionMatch<'t>>,
}

/// Adds the matches of a tree, in all of it or in a part of the text.
fn run_query<'t, 's>(
    grammar: &Grammar,
    tree: &'t Tree,
    part: Option<&Broken>,
    text: &'s str,
    budget: &ParseBudget,
    out: &mut QueryMatches<'t, 's>,
) {
    let query = grammar.outline();
    let captures = query.capture_names();
    let mut cursor = QueryCursor::new();
    if let Some(part) = part {
        cursor.set_byte_range(part.bytes.clone());
    }
    let is_in = |node: Node| part.is_none_or(|part| part.bytes.contains(&node.start_byte()));
    let end_of = |node: Node| part.map_or(usize::MAX, |part| part.bytes.end).min(node.end_byte());
    let last_line = part.map(|part| part.last_line);
    let mut in_time = |_: &QueryCursorState| budget.go_on();
    let options = QueryCursorOptions::new().progress_callback(&mut in_time);
    let mut matches =
        cursor.matches_with_options(query, tree.root_node(), text.as_bytes(), options);
    while let Some(m) = matches.next() {
        let (mut name, mut definition, mut receiver, mut clause, mut declarator) =
            (None, None, None, false, false);
        for capture in m.captures() {
            let node = capture.node;
            match captures[capture.index as usize] {
                "scope" | "doc" | "attached" | "attached.doc" | "export" | "import"
                    if !is_in(node) => {}
                "name" => name = Some(node),
                "declarator" => (name, declarator) = (Some(innermost(node)), true),
                "receiver" => receiver = Some(node),
                "clause" => clause = true,
                "scope" => out.scopes.push(DefinitionMatch {
                    name: node,
                    node,
                    end: end_of(node),
                    last_line,
                    kind: None,
                    prototype: false,
                    receiver: None,
                    clause: false,
                    pattern: usize::MAX,
                }),
                "doc" => out.documentation.push(node),
                "attached" => _ = out.attached.entry(node.id()).or_insert(false),
                "attached.doc" => _ = out.attached.insert(node.id(), true),
                "export" => _ = out.exports.insert(source(node, text)),
                "import" => {
                    let import =
                        import(node, text).filter(|import| out.imported.insert(import.clone()));
                    out.imports.extend(import);
                }
                label => match label.split_once('.') {
                    Some(("definition", kind)) => {
                        definition = Some((node, SymbolKind::parse(kind), false));
                    }
                    Some(("prototype", kind)) => {
                        definition = Some((node, SymbolKind::parse(kind), true));
                    }
                    _ => {}
                },
            }
        }
        if let (Some(name), Some((node, Some(mut kind), mut prototype))) = (name, definition)
            && is_in(name)
        {
            if declarator && kind.is_data() && is_called(name) {
                (kind, prototype) = (SymbolKind::Function, true);
            }
            out.found.push(DefinitionMatch {
                name,
                node,
                end: end_of(node),
                last_line,
                kind: Some(kind),
                prototype,
                receiver,
                clause,
                pattern: m.pattern_index,
            });
        }
    }
}

impl QueryMatches<'_, '_> {
    /// Leaves one definition for each name, gives the documentation strings to their definitions,
    /// and puts definitions and scopes in document order.
    fn arrange(&mut self, text: &str) {
        // Of several patterns that match a name, the first in the query file counts.
        self.found.sort_by_key(|f| (f.name.start_byte(), f.name.end_byte(), f.pattern));
        self.found.dedup_by_key(|f| f.name.byte_range());
        let definitions: HashSet<usize> = self.found.iter().map(|f| f.node.id()).collect();
        for doc in std::mem::take(&mut self.documentation) {
            let owner = std::iter::successors(doc.parent(), Node::parent)
                .take(4)
                .find(|n| definitions.contains(&n.id()));
            if let Some(owner) = owner {
                self.docs.entry(owner.id()).or_insert((line(doc), last_line(doc, text)));
            }
        }
        self.found.append(&mut self.scopes);
        self.found.sort_by_key(|f| {
            (f.node.start_byte(), Reverse(f.end), f.kind.is_none(), f.name.start_byte())
        });
    }
}

/// Returns the module or header that an import names.
fn import(node: Node, text: &str) -> Option<String> {
    let import = fold_whitespace(source(node, text));
    // If an import has no node of its own, the whole statement is captured.
    let import =
        ["import ", "use "].iter().find_map(|word| import.strip_prefix(word)).unwrap_or(&import);
    Some(import.trim_matches(['"', '\'', '<', '>', ' ', ';']).to_string())
        .filter(|import| !import.is_empty())
}

/// An enclosing definition or nameless function body, while its contents are visited.
struct OpenDefinition {
    start: usize,
    end: usize,
    symbol: Option<usize>,
    /// Whether its direct contents are local to a function.
    local: bool,
}

/// Turns a flat list of matches into symbols with parents, and drops those that are
/// local to a function.
fn nest(grammar: &Grammar, matched: &QueryMatches, text: &str) -> Vec<Symbol> {
    let mut symbols: Vec<Symbol> = Vec::new();
    let mut open: Vec<OpenDefinition> = Vec::new();
    // The last symbol of each depth, which the next clause may join.
    let mut last: Vec<(usize, bool)> = Vec::new();
    let mut extent: Option<Extent> = None;
    for f in &matched.found {
        let (start, end) = (f.node.start_byte(), f.end);
        // The second of two names in one declaration (`int a, b;`) is a sibling of the
        // first, not its child.
        while open.last().is_some_and(|o| {
            o.end <= start || (f.kind.is_some() && o.start == start && o.end == end)
        }) {
            open.pop();
        }
        let parent = open.last().and_then(|o| o.symbol);
        let Some(kind) = f.kind else {
            open.push(OpenDefinition { start, end, symbol: parent, local: true });
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
        let Some(symbol) = extent.as_ref().and_then(|e| {
            symbol(grammar, f, kind, e, (parent, parent.map(|p| &symbols[p])), matched, text)
        }) else {
            continue;
        };
        let depth = usize::from(symbol.depth);
        let joined = last.get(depth).copied().filter(|(i, clause)| {
            f.clause && *clause && symbols[*i].parent == parent && symbols[*i].name == symbol.name
        });
        let index = if let Some((i, _)) = joined {
            let first = &mut symbols[i];
            first.end_line = first.end_line.max(symbol.end_line);
            first.prototype &= symbol.prototype;
            first.comment = first.comment.or(symbol.comment);
            i
        } else {
            last.truncate(depth);
            // No depth is skipped: a symbol is one deeper than its parent, which
            // was pushed before it.
            last.resize(depth, (usize::MAX, false));
            last.push((symbols.len(), f.clause));
            symbols.push(symbol);
            symbols.len() - 1
        };
        open.push(OpenDefinition {
            start,
            end,
            symbol: Some(index),
            local: symbols[index].kind.is_callable(),
        });
    }
    symbols
}

/// The properties that the symbols of one declaration share (`int a, b, …;` may have thousands).
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
        let most = f.last_line.unwrap_or(u32::MAX);
        let end = definition_end(accessors(outer), text).min(most).max(definition);
        let comment = matched.docs.get(&f.node.id()).copied().or(leading_comment);
        Self {
            node: f.node.id(),
            outer,
            lines: (line(first), definition, end),
            comment: comment.map(|(first, last)| (first, last.min(end))),
            // A parser may take the definitions after a broken one for a part of its head.
            signature: signature(f.node, outer, text.get(..f.end).unwrap_or(text)),
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
        // This is a local variable of a function that could not be parsed.
        return None;
    }
    let in_type =
        parent_symbol.is_some_and(|p| !p.kind.is_callable() && p.kind != SymbolKind::Module);
    let kind = if kind == SymbolKind::Function && in_type { SymbolKind::Method } else { kind };
    let (start_line, definition_line, end_line) = extent.lines;
    Some(Symbol {
        exported: is_exported(
            grammar.spec.export,
            &name,
            kind,
            before(outer, f.name, text),
            parent_symbol,
            &matched.exports,
        ),
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
        // The children of a node in a single row start in no other row, and are deeper.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_that_a_parser_meets_is_known() {
        let budget =
            |left, longest| ParseBudget { left: Cell::new(left), start: Duration::ZERO, longest };
        let spend = |budget: ParseBudget| while budget.go_on().is_continue() {};
        let (steps, time) = (|| budget(3, Duration::MAX), || budget(3, Duration::ZERO));
        assert_eq!(with_limit(|| spend(steps())).1, Some(ParseLimit::Steps));
        assert_eq!(with_limit(|| spend(time())).1, Some(ParseLimit::Time));
        // The one around another knows both.
        let around = with_limit(|| {
            spend(time());
            with_limit(|| spend(steps())).1
        });
        assert_eq!(around, (Some(ParseLimit::Steps), Some(ParseLimit::Time)));
        assert_eq!(with_limit(|| budget(3, Duration::MAX).go_on()).1, None);
    }
}
