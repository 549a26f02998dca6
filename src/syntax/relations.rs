//! Extracts the [`Relations`] of a source text in a parsed language: what its definitions call,
//! mention, import and extend.
//!
//! Each text is read on its own, and nothing is resolved. Receivers are stored as written
//! (`self.pool.get()`), with the types that the text gives to names, so that queries can follow
//! them across files. The rules of each language are in `languages/*/references.scm`.

mod chain;
mod import;
mod macros;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};

use tree_sitter::{
    Node, Query, QueryCapture, QueryCursor, QueryCursorOptions, QueryCursorState,
    StreamingIterator, Tree,
};

use self::chain::{chain, chain_before, root, split};
use super::outline::definition::{MAX_NAME_CHARS, fold_whitespace, line, source};
use super::outline::{
    Outline, ParseBudget, Parsed, definitions, outline, outline_with, parsed, tree_of,
};
use super::symbol::Symbol;
use crate::languages::{Grammar, Hides, Names};
pub use import::Import;

/// The relations of a file to other code.
#[derive(Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Relations {
    /// The package that the file declares: `package gin`, `namespace App`. Of C++, the names of the
    /// namespaces that it opens, separated by spaces.
    pub package: Option<String>,
    /// The symbols of the outline.
    pub symbols: Vec<Symbol>,
    /// The shape of each symbol.
    pub shapes: Vec<Shape>,
    pub references: Vec<Reference>,
    pub imports: Vec<Import>,
    pub bindings: Vec<Binding>,
    pub bases: Vec<Base>,
    /// Parameters and variables, each with the index of its function.
    pub locals: BTreeSet<(usize, String)>,
}

/// The arguments and the result of a function.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Shape {
    /// Number of arguments without the receiver; `None` if it is not fixed.
    pub arity: Option<u32>,
    /// The type of the result as written, or `=` and the chain that every `return` has.
    pub result: Option<String>,
}

/// A use of a name, with all lines of one definition on which it is used in the same way.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Reference {
    /// Index of the innermost symbol around it.
    pub symbol: Option<usize>,
    pub name: String,
    pub kind: ReferenceKind,
    /// The expression before the name as a chain of names: `self.pool`, `Set::new()`, `?` if it is
    /// not a chain. Empty if there is none.
    pub receiver: String,
    /// Number of arguments of a call; `None` if it cannot be counted.
    pub arguments: Option<u32>,
    pub lines: Vec<u32>,
}

/// How a name is used.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
pub enum ReferenceKind {
    /// The name is called or constructed.
    Call,
    /// The name is called with the mark of a macro.
    Macro,
    /// The name is used as a type.
    Type,
    /// The name is used as a value.
    Value,
}

impl ReferenceKind {
    pub const ALL: [Self; 4] = [Self::Call, Self::Macro, Self::Type, Self::Value];

    /// Returns whether the name is called.
    #[must_use]
    pub fn is_call(self) -> bool {
        matches!(self, Self::Call | Self::Macro)
    }

    /// Returns the name in lower case.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Call => "call",
            Self::Macro => "macro",
            Self::Type => "type",
            Self::Value => "value",
        }
    }
}

/// A name whose type is stated in the text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub struct Binding {
    /// Where the name is valid: index of a function, or of the type that it is a member of;
    /// `None` for the whole file.
    pub scope: Option<usize>,
    pub name: String,
    /// A type as written, or `=` and the chain whose value the name has.
    pub is: String,
}

/// A supertype, a trait or an interface of a symbol, as written but without its arguments.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub struct Base {
    pub symbol: usize,
    pub name: String,
}

/// Most references of a file. Files with more are generated.
const MAX_REFERENCES: usize = 50_000;
/// Longest type that is kept.
const MAX_TYPE_CHARS: usize = 120;
/// Most parameters of closures in a file that are told apart from variables around them.
const MAX_INNER: usize = 1000;

/// Parses `text` and finds its relations. Returns `None` if the parser has no usable result.
#[must_use]
pub fn relations(grammar: &Grammar, text: &str) -> Option<Relations> {
    let opened = (grammar.spec.hides == Hides::MacroCalls).then(|| macros::open(text)).flatten();
    let text = opened.as_deref().unwrap_or(text);
    let (parsed, budget) = parsed(grammar, text)?;
    let (symbols, _) = definitions(grammar, &parsed, text, &budget)?;
    relations_in(grammar, &parsed, text, symbols, &budget)
}

/// Parses `text` once for its outline and its relations. Each of them is what [`outline`] and
/// [`relations`] return, so a text that is opened for its relations is parsed twice.
#[must_use]
pub fn outline_and_relations(
    grammar: &Grammar,
    text: &str,
) -> (Option<Outline>, Option<Relations>) {
    // A query that panics costs the relations, but not the outline.
    let caught =
        |read: &dyn Fn() -> Option<Relations>| catch_unwind(AssertUnwindSafe(read)).ok().flatten();
    if grammar.spec.hides == Hides::MacroCalls && macros::open(text).is_some() {
        return (outline(grammar, text), caught(&|| relations(grammar, text)));
    }
    let mut relations = None;
    let outline = outline_with(grammar, text, |parsed, symbols, budget| {
        relations = caught(&|| relations_in(grammar, parsed, text, symbols.to_vec(), budget));
    });
    (outline, relations)
}

/// Finds the relations in the trees of a text.
fn relations_in(
    grammar: &Grammar,
    parsed: &Parsed,
    text: &str,
    symbols: Vec<Symbol>,
    budget: &ParseBudget,
) -> Option<Relations> {
    let mut reader = RelationReader::new(text, &symbols, &grammar.spec.names);
    for (tree, part) in parsed.trees() {
        reader.run(grammar.references(), tree, part.map(|part| part.bytes.clone()), budget);
    }
    if budget.is_spent() {
        return None;
    }
    if let Some((language, query)) = grammar.components()
        && let Some(markup) = tree_of(&language, text, budget)
    {
        reader.run(query, &markup, None, budget);
    }
    let (references, bindings) = reader.references();
    let RelationReader { package, shapes, imports, bases, locals, .. } = reader;
    Some(Relations {
        package,
        shapes,
        references,
        imports,
        bindings,
        bases: bases.into_iter().collect(),
        locals,
        symbols,
    })
}

/// Returns the expression before a name as a chain of names: `?` if it is not one, empty if there is
/// none. A chain may go over several lines.
pub(super) fn receiver_before(text: &str, name: std::ops::Range<usize>) -> String {
    const MAX_BYTES: usize = 2000;
    let from = text.ceil_char_boundary(name.start.saturating_sub(MAX_BYTES));
    let before = text[from..name.start].trim_end();
    let is_range = before.ends_with("..");
    if is_range || !(before.ends_with('.') || before.ends_with("::") || before.ends_with("->")) {
        return String::new();
    }
    // White space before a dot does not end a chain.
    let mut joined = String::with_capacity(before.len());
    for line in before.split_inclusive(char::is_whitespace) {
        if line.starts_with(['.', '?']) && !line.starts_with("..") {
            joined.truncate(joined.trim_end().len());
        }
        joined.push_str(line);
    }
    let start = joined.len();
    joined.push_str(&text[name]);
    let whole = chain_before(&joined, start..joined.len());
    let receiver = whole.as_deref().and_then(split).map_or("?", |(receiver, _)| receiver);
    if receiver.is_empty() { "?".into() } else { receiver.to_string() }
}

type Use = (Option<usize>, String, ReferenceKind, String, Option<u32>);

/// Collects the matches of the queries.
struct RelationReader<'a> {
    text: &'a str,
    symbols: &'a [Symbol],
    names: &'a Names,
    /// The innermost symbol of each line.
    innermost: Vec<Option<usize>>,
    package: Option<String>,
    shapes: Vec<Shape>,
    /// Uses by position. If a name is found as several kinds, the first of [`ReferenceKind`] wins.
    uses: BTreeMap<usize, (Use, u32)>,
    /// End positions of names of definitions that look like calls.
    definition_ends: HashSet<usize>,
    imports: Vec<Import>,
    bindings: Vec<Binding>,
    /// Fields that are assigned in a function: index of the binding, and the function.
    assigned: Vec<(usize, usize)>,
    /// Index of a binding that follows from a chain, and where it is.
    followed: Vec<(usize, usize)>,
    inner: Vec<Inner>,
    /// The chain that a function returns; `None` if it returns several things or no chain.
    returned: BTreeMap<usize, Option<String>>,
    /// Names of local values, by function.
    locals: BTreeSet<(usize, String)>,
    bases: BTreeSet<Base>,
}

/// A parameter of a closure. It hides a variable of its name of the function around it.
struct Inner {
    closure: std::ops::Range<usize>,
    line: u32,
    name: String,
    /// As in [`Binding`]; `=?` if nothing is known.
    is: String,
}

/// Returns a receiver as the text has it, without the number of a closure.
#[must_use]
pub fn as_written(receiver: &str) -> String {
    let root = root(receiver);
    let written = root.split_once('\'').map_or(root, |(name, _)| name);
    format!("{written}{}", &receiver[root.len()..])
}

/// Returns `UserCard` of `user-card`.
#[must_use]
pub fn pascal_case(kebab: &str) -> String {
    let capital = |part: &str| {
        let mut letters = part.chars();
        let first = letters.next().into_iter().flat_map(char::to_uppercase);
        first.chain(letters).collect::<String>()
    };
    kebab.split('-').map(capital).collect()
}

/// The captures of one match.
struct Captures<'m, 't> {
    /// The labels of the query, by the index of a capture.
    labels: &'m [&'m str],
    captures: &'m [QueryCapture<'t>],
}

impl<'m, 't> Captures<'m, 't> {
    fn iter(&self) -> impl Iterator<Item = (&'m str, Node<'t>)> {
        self.captures.iter().map(|capture| (self.labels[capture.index as usize], capture.node))
    }

    fn get(&self, label: &str) -> Option<Node<'t>> {
        self.iter().find(|(other, _)| *other == label).map(|(_, node)| node)
    }
}

impl<'a> RelationReader<'a> {
    fn new(text: &'a str, symbols: &'a [Symbol], names: &'a Names) -> Self {
        let mut innermost = vec![None; text.lines().count() + 2];
        for (i, symbol) in symbols.iter().enumerate() {
            let end = (symbol.end_line as usize).min(innermost.len() - 1);
            innermost[symbol.start_line as usize..=end].fill(Some(i));
        }
        Self {
            text,
            symbols,
            names,
            innermost,
            package: None,
            shapes: vec![Shape::default(); symbols.len()],
            uses: BTreeMap::new(),
            definition_ends: HashSet::new(),
            imports: Vec::new(),
            bindings: Vec::new(),
            assigned: Vec::new(),
            followed: Vec::new(),
            inner: Vec::new(),
            returned: BTreeMap::new(),
            locals: BTreeSet::new(),
            bases: BTreeSet::new(),
        }
    }

    /// Takes the matches in a tree; with `part`, only those that are inside these bytes.
    fn run(
        &mut self,
        query: &Query,
        tree: &Tree,
        part: Option<std::ops::Range<usize>>,
        budget: &ParseBudget,
    ) {
        let labels = query.capture_names();
        let mut cursor = QueryCursor::new();
        if let Some(part) = part {
            cursor.set_byte_range(part.clone()).set_containing_byte_range(part);
        }
        let mut in_time = |_: &QueryCursorState| budget.go_on();
        let options = QueryCursorOptions::new().progress_callback(&mut in_time);
        let mut matches =
            cursor.matches_with_options(query, tree.root_node(), self.text.as_bytes(), options);
        while let Some(m) = matches.next() {
            self.take(&Captures { labels, captures: m.captures() });
            if self.uses.len() >= MAX_REFERENCES {
                break;
            }
        }
    }

    fn take(&mut self, captures: &Captures) {
        for (label, node) in captures.iter() {
            match label {
                "call" => self.use_of(node, ReferenceKind::Call, captures.get("receiver")),
                "call.macro" => self.use_of(node, ReferenceKind::Macro, None),
                "call.token" => self.token_call(node),
                "call.symbol" => self.symbol_call(node),
                "call.word" => self.word(node, ReferenceKind::Call),
                "name.word" => self.word(node, ReferenceKind::Value),
                "component" => self.component(node),
                "own" => _ = self.definition_ends.insert(node.end_byte()),
                "call.value" => {
                    self.use_of(node, ReferenceKind::Value, captures.get("receiver"));
                }
                "name" => self.use_of(node, ReferenceKind::Value, None),
                "type" => self.use_of(node, ReferenceKind::Type, None),
                "binding" | "field" => self.binding(node, captures),
                "inner" => self.inner(node, captures),
                "element" => self.element(node),
                "local" => self.local(node),
                "base" => self.base(node),
                "namespace" => self.namespace(source(node, self.text)),
                "package" => self.package = Some(fold_whitespace(source(node, self.text))),
                "parameters" => self.parameters(node),
                "result" => self.result(node),
                "returned" => self.returned(node),
                "import.path" | "import.module" => self.import(node, captures),
                // `export { own as name }` names no module.
                "import.alias"
                    if !["import.path", "import.module"]
                        .iter()
                        .any(|l| captures.get(l).is_some()) =>
                {
                    self.import(node, captures);
                }
                _ => {}
            }
        }
    }

    fn symbol_at(&self, line: u32) -> Option<usize> {
        self.innermost.get(line as usize).copied().flatten()
    }

    /// Returns the symbol at a line and its parents, from the inside out.
    fn around(&self, line: u32) -> impl Iterator<Item = usize> {
        std::iter::successors(self.symbol_at(line), |i| self.symbols[*i].parent)
    }

    fn note(
        &mut self,
        node: Node,
        kind: ReferenceKind,
        receiver: &str,
        name: &str,
        arguments: Option<u32>,
    ) {
        if kind == ReferenceKind::Call && name.starts_with('$') && self.names.marks_variables() {
            // A call through a variable.
            return;
        }
        let name = self.names.without_marks(name);
        if name.is_empty()
            || name.len() > MAX_NAME_CHARS
            || name.starts_with(|c: char| c.is_ascii_digit())
        {
            return;
        }
        // A chain of calls may begin lines above the name.
        let line = last_line(node);
        let symbol = self.symbol_at(line);
        let is_defined_here =
            |s: usize| self.symbols[s].definition_line == line && self.symbols[s].name == name;
        if !kind.is_call() && self.around(line).any(is_defined_here) {
            // This is the definition itself, not a use.
            return;
        }
        let entry = ((symbol, name.into(), kind, receiver.into(), arguments), line);
        // The end is used, since `a.b()` and its `a` begin at the same place.
        let place = node.end_byte();
        match self.uses.get(&place) {
            Some(((_, _, there, ..), _)) if *there <= kind => {}
            _ => _ = self.uses.insert(place, entry),
        }
    }

    fn use_of(&mut self, node: Node, kind: ReferenceKind, receiver: Option<Node>) {
        let written = source(node, self.text);
        // A token is a name as it stands: in Ruby it may end with `?` or `!`.
        let is_token = node.child_count() == 0 && written.ends_with(['?', '!', '=']);
        let whole = if is_token {
            written.to_string()
        } else {
            chain(written).unwrap_or_else(|| after_last_separator(written))
        };
        let Some((before, name)) = (if is_token { Some(("", written)) } else { split(&whole) })
        else {
            return;
        };
        let receiver = match receiver {
            Some(receiver) => chain(source(receiver, self.text)).unwrap_or_else(|| "?".into()),
            None => before.to_string(),
        };
        let arguments = if kind == ReferenceKind::Call { arguments(node) } else { None };
        self.note(node, kind, &receiver, name, arguments);
    }

    /// Notes a function that is named for a later call: `before_save :update_score`.
    fn symbol_call(&mut self, symbol: Node) {
        let name = source(symbol, self.text).trim_start_matches(':');
        self.note(symbol, ReferenceKind::Call, "", name, None);
    }

    /// Notes a name that is not an expression and may contain characters that
    /// separate names elsewhere.
    fn word(&mut self, node: Node, kind: ReferenceKind) {
        self.note(node, kind, "", source(node, self.text), None);
    }

    /// Notes a tag of a template that is not an HTML element: `UserCard`, or `user-card`,
    /// which means the same.
    fn component(&mut self, tag: Node) {
        let written = source(tag, self.text);
        if written.contains('-') || written.starts_with(char::is_uppercase) {
            self.note(tag, ReferenceKind::Call, "", &pascal_case(written), None);
        }
    }

    /// Notes a call in the arguments of a macro, which the grammar sees only as tokens.
    fn token_call(&mut self, name: Node) {
        let kind = match self.text.as_bytes().get(name.end_byte()) {
            Some(b'(') => ReferenceKind::Call,
            Some(b'!') => ReferenceKind::Macro,
            _ => return,
        };
        let whole = chain_before(self.text, name.byte_range())
            .unwrap_or_else(|| format!("?.{}", source(name, self.text)));
        if let Some((receiver, name_text)) = split(&whole) {
            self.note(name, kind, receiver, name_text, None);
        }
    }

    /// Returns the function or the type that a binding belongs to.
    fn scope(&self, line: u32, is_field: bool) -> Option<usize> {
        self.around(line).find(|i| {
            let kind = self.symbols[*i].kind;
            !(kind.is_data() || is_field && kind.is_callable())
        })
    }

    fn inner(&mut self, name: Node, captures: &Captures) {
        let Some(closure) = captures.get("closure").filter(|_| self.inner.len() < MAX_INNER) else {
            return;
        };
        let is = captures.get("is").map(|is| fold_whitespace(source(is, self.text)));
        self.inner.push(Inner {
            closure: closure.byte_range(),
            line: line(name),
            name: self.names.without_marks(source(name, self.text)).to_string(),
            is: is.filter(|is| is.len() <= MAX_TYPE_CHARS).unwrap_or_else(|| "=?".into()),
        });
    }

    /// Gives the parameters of closures that hide another variable a name of their own (`r'1`), and
    /// returns the chains at these places with it: the rows know functions, not blocks.
    fn separate_inner(&mut self) {
        let mut hiding: HashMap<String, Vec<(std::ops::Range<usize>, String)>> = HashMap::new();
        for (n, inner) in std::mem::take(&mut self.inner).into_iter().enumerate() {
            let around: HashSet<usize> = self.around(inner.line).collect();
            let is_hidden = |b: &&Binding| {
                b.name == inner.name
                    && b.is != inner.is
                    && b.scope.is_none_or(|s| around.contains(&s))
            };
            if !self.bindings.iter().any(|b| is_hidden(&b)) {
                continue;
            }
            let name = format!("{}'{}", inner.name, n + 1);
            let scope = self.scope(inner.line, false);
            let is_it =
                |b: &&mut Binding| (b.scope, &b.name, &b.is) == (scope, &inner.name, &inner.is);
            match self.bindings.iter_mut().find(is_it) {
                Some(binding) => binding.name.clone_from(&name),
                None => self.bindings.push(Binding { scope, name: name.clone(), is: inner.is }),
            }
            hiding.entry(inner.name).or_default().push((inner.closure, name));
        }
        if hiding.is_empty() {
            return;
        }
        let renamed = |chain: &str, offset: usize| {
            let written = root(chain);
            let all = hiding.get(self.names.without_marks(written))?;
            let innermost = all.iter().filter(|(closure, _)| closure.contains(&offset));
            let (_, name) = innermost.min_by_key(|(closure, _)| closure.len())?;
            Some(format!("{name}{}", &chain[written.len()..]))
        };
        for (end, ((_, _, _, receiver, _), _)) in &mut self.uses {
            if let Some(new) = renamed(receiver, end - 1) {
                *receiver = new;
            }
        }
        for (binding, offset) in std::mem::take(&mut self.followed) {
            let is = &mut self.bindings[binding].is;
            if let Some(new) = is.strip_prefix('=').and_then(|chain| renamed(chain, offset)) {
                *is = format!("={new}");
            }
        }
    }

    /// Binds a member without a name. Its name is its position in the list.
    fn element(&mut self, is: Node) {
        let Some(all) = is.parent() else { return };
        let place =
            all.children_by_field_name("type", &mut all.walk()).position(|other| other == is);
        if let (Some(place), Some(scope)) = (place, self.scope(line(is), true)) {
            self.bindings.push(Binding {
                scope: Some(scope),
                name: place.to_string(),
                is: fold_whitespace(source(is, self.text)),
            });
        }
    }

    fn binding(&mut self, name: Node, captures: &Captures) {
        let is_field = captures.get("field").is_some();
        let (line, offset) = (line(name), name.start_byte());
        let name = self.names.without_marks(source(name, self.text)).to_string();
        if self.around(line).any(|i| {
            self.symbols[i].kind.is_callable()
                && self.symbols[i].name == name
                && self.symbols[i].definition_line == line
        }) {
            return;
        }
        let followed = |label: &str, end: &str| {
            captures
                .get(label)
                .and_then(|v| Some(format!("={}{end}", chain(source(v, self.text))?)))
        };
        let is = match captures.get("is") {
            Some(is) => Some(fold_whitespace(source(is, self.text))),
            None => [("from", ""), ("each", "[]"), ("first", ".0"), ("second", ".1")]
                .iter()
                .find_map(|(label, end)| followed(label, end)),
        };
        let mut scope = self.scope(line, is_field);
        // An alias is no variable, and belongs to what is around its definition.
        let is_alias = |i: usize| {
            self.symbols[i].name == name && self.symbols[i].definition_line == line && !is_field
        };
        if let Some(alias) = scope.filter(|i| is_alias(*i)) {
            scope = self.symbols[alias].parent;
        } else if let (false, Some(function)) = (is_field, scope) {
            self.locals.insert((function, name.clone()));
        }
        if is_field && scope.is_none() {
            return;
        }
        if let Some(is) = is.filter(|is| is.len() <= MAX_TYPE_CHARS) {
            let function = if is_field { self.scope(line, false) } else { None };
            if let Some(function) = function.filter(|_| is.starts_with('=')) {
                self.assigned.push((self.bindings.len(), function));
            }
            if is.starts_with('=') {
                self.followed.push((self.bindings.len(), offset));
            }
            self.bindings.push(Binding { scope, name, is });
        }
    }

    /// Gives the fields that are assigned a variable (`self.pool = pool`) what is written of that
    /// variable, since it is not known outside of its function.
    fn follow_assigned(&mut self) {
        for (field, function) in std::mem::take(&mut self.assigned) {
            let is = &self.bindings[field].is;
            let chain = is.trim_start_matches('=');
            let (first, rest) = chain.split_at(root(chain).len());
            let of_first =
                |b: &&Binding| b.scope == Some(function) && b.name == first && b.is != *is;
            let Some(variable) = self.bindings.iter().find(of_first) else { continue };
            let known = match variable.is.strip_prefix('=') {
                Some(chain) => format!("={chain}{rest}"),
                None if rest.is_empty() => variable.is.clone(),
                None => continue,
            };
            self.bindings[field].is = known;
        }
    }

    /// Adds the names of a namespace, which the file opens, to its package.
    fn namespace(&mut self, written: &str) {
        let package = self.package.get_or_insert_default();
        for name in written.split("::").map(str::trim).filter(|name| !name.is_empty()) {
            if package.len() < MAX_TYPE_CHARS && !package.split(' ').any(|open| open == name) {
                let gap = if package.is_empty() { "" } else { " " };
                package.push_str(gap);
                package.push_str(name);
            }
        }
    }

    fn local(&mut self, name: Node) {
        if let Some(function) = self.scope(line(name), false) {
            self.locals.insert((function, source(name, self.text).to_string()));
        }
    }

    fn base(&mut self, node: Node) {
        let written = source(node, self.text);
        let name = written
            .split(['<', '(', '[', '{', '\n'])
            .next()
            .unwrap_or(written)
            .trim()
            .trim_start_matches(['*', '&', '?', '!']);
        let is_type =
            |i: &usize| !self.symbols[*i].kind.is_data() && !self.symbols[*i].kind.is_callable();
        let owner = self.around(line(node)).find(is_type);
        if let Some(symbol) = owner.filter(|_| !name.is_empty() && name.len() <= MAX_NAME_CHARS) {
            self.bases.insert(Base { symbol, name: name.to_string() });
        }
    }

    /// Returns the function whose head contains this node.
    fn function(&self, node: Node) -> Option<usize> {
        let line = line(node);
        self.around(line).find(|i| {
            self.symbols[*i].kind.is_callable() && self.symbols[*i].definition_line <= line
        })
    }

    fn parameters(&mut self, node: Node) {
        let Some(function) = self.function(node) else { return };
        let shape = &self.shapes[function];
        if shape.arity.is_none() {
            self.shapes[function].arity = arity(node, self.text);
        }
    }

    fn result(&mut self, node: Node) {
        let Some(function) = self.function(node) else { return };
        let result = fold_whitespace(source(node, self.text));
        if self.shapes[function].result.is_none() && result.len() <= MAX_TYPE_CHARS {
            self.shapes[function].result = Some(result);
        }
    }

    /// Notes the value of a `return` of a function that is a symbol; those of closures in it do not
    /// count.
    fn returned(&mut self, node: Node) {
        const NOTHING: [&str; 4] = ["null", "undefined", "false", "None"];
        let is_function = |node: &Node| {
            ["function", "method", "closure", "lambda"].iter().any(|k| node.kind().contains(k))
        };
        let mut around = std::iter::successors(node.parent(), Node::parent);
        let Some(function) = around.find(is_function) else { return };
        let head = line(function);
        let Some(symbol) = self.scope(line(node), false).filter(|s| {
            let symbol = &self.symbols[*s];
            symbol.kind.is_callable()
                && (symbol.start_line..=symbol.definition_line).contains(&head)
        }) else {
            return;
        };
        let written = source(node, self.text);
        if NOTHING.contains(&written) {
            return;
        }
        let is_generator = function.kind().contains("generator");
        let value = chain(written).filter(|c| !is_generator && c.len() < MAX_TYPE_CHARS);
        self.returned
            .entry(symbol)
            .and_modify(|known| *known = known.take().filter(|k| Some(k) == value.as_ref()))
            .or_insert(value);
    }

    fn import(&mut self, node: Node, captures: &Captures) {
        let text = |label| captures.get(label).map(|n| source(n, self.text));
        let line = line(node);
        let imports = match text("import.path") {
            Some(path) => import::paths(path, text("import.alias"), line),
            None => vec![Import::new(
                text("import.module").unwrap_or(""),
                text("import.name"),
                text("import.alias"),
                line,
            )],
        };
        self.imports
            .extend(imports.into_iter().filter(|i| !i.module.is_empty() || !i.name.is_empty()));
    }

    /// Returns the references, with equal uses of a name in a function merged, and the
    /// bindings that they need.
    fn references(&mut self) -> (Vec<Reference>, Vec<Binding>) {
        let mut places: BTreeMap<(Use, usize), Vec<u32>> = BTreeMap::new();
        let mut defined: HashMap<&str, Vec<u32>> = HashMap::new();
        for symbol in self.symbols {
            defined.entry(&symbol.name).or_default().push(symbol.definition_line);
        }
        self.separate_inner();
        for (function, chain) in std::mem::take(&mut self.returned) {
            let result = &mut self.shapes[function].result;
            if let (None, Some(chain)) = (&result, chain) {
                *result = Some(format!("={chain}"));
            }
        }
        let definition_ends = std::mem::take(&mut self.definition_ends);
        for (_, (used, line)) in std::mem::take(&mut self.uses)
            .into_iter()
            .filter(|(end, _)| !definition_ends.contains(end))
        {
            let may_be_local = used.2 != ReferenceKind::Call || !self.names.marks_variables();
            if used.3.is_empty() && may_be_local && self.is_local(used.0, &used.1) {
                continue;
            }
            // A name that the file defines several times may mean another definition further down.
            let n_before = match defined.get(&*used.1) {
                Some(all) if all.len() > 1 && used.3.is_empty() => {
                    all.iter().filter(|defined| **defined <= line).count()
                }
                _ => 0,
            };
            let lines = places.entry((used, n_before)).or_default();
            if lines.last() != Some(&line) {
                lines.push(line);
            }
        }
        let references: Vec<Reference> = places
            .into_iter()
            .map(|(((symbol, name, kind, receiver, arguments), _), mut lines)| {
                lines.sort_unstable();
                lines.dedup();
                Reference { symbol, name, kind, receiver, arguments, lines }
            })
            .collect();
        self.follow_assigned();
        self.bindings.sort();
        self.bindings.dedup();
        let values = self.bindings.iter().filter_map(|b| b.is.strip_prefix('='));
        let results = self.shapes.iter().filter_map(|s| s.result.as_ref()?.strip_prefix('='));
        let values = values.chain(results);
        let roots = references.iter().map(|r| root(&r.receiver)).chain(values.map(root));
        let needed: HashSet<&str> = roots.map(|root| self.names.without_marks(root)).collect();
        let is_needed = |b: &&Binding| {
            let is_local = b.scope.is_some_and(|s| self.symbols[s].kind.is_callable());
            !is_local || needed.contains(b.name.as_str()) || b.name.starts_with(char::is_uppercase)
        };
        let bindings = self.bindings.iter().filter(is_needed).cloned().collect();
        (references, bindings)
    }

    /// Whether a name is a parameter or a variable of an enclosing function.
    fn is_local(&self, symbol: Option<usize>, name: &str) -> bool {
        std::iter::successors(symbol, |i| self.symbols[*i].parent)
            .any(|i| self.locals.contains(&(i, name.to_string())))
    }
}

/// Returns the line at which a node ends, counted from 1.
fn last_line(node: Node) -> u32 {
    u32::try_from(node.end_position().row + 1).unwrap_or(u32::MAX)
}

/// Returns `?.name` for an expression that is not a chain but ends with a name.
fn after_last_separator(written: &str) -> String {
    let name = written.rsplit(['.', ':', '>']).next().unwrap_or("").trim();
    let is_name = !name.is_empty()
        && name.len() < written.len()
        && name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$');
    if is_name { format!("?.{name}") } else { String::new() }
}

/// Returns the number of arguments of a call; `None` if they cannot be counted.
fn arguments(callee: Node) -> Option<u32> {
    let mut node = callee;
    // The callee of a generic function, or a name after a receiver, is one level deeper.
    for _ in 0..2 {
        node = node.parent()?;
        if let Some(arguments) = node.child_by_field_name("arguments") {
            return count(arguments, |kind| {
                ["splat", "spread", "variadic", "keyword", "dictionary", "generator"]
                    .iter()
                    .any(|k| kind.contains(k))
            });
        }
    }
    None
}

/// Counts the named children; `None` if one of them `defies` counting.
fn count(list: Node, defies: impl Fn(&str) -> bool) -> Option<u32> {
    let mut cursor = list.walk();
    let mut n = 0;
    for child in list
        .named_children(&mut cursor)
        .filter(|c| !c.kind().contains("comment") && c.kind() != "comma")
    {
        if defies(child.kind()) {
            return None;
        }
        n += 1;
    }
    Some(n)
}

fn arity(parameters: Node, text: &str) -> Option<u32> {
    let written = source(parameters, text);
    if written.contains(['=', '*', '?', '/'])
        && !written.contains("=>")
        && !is_pointer_list(parameters)
        || written.contains("...")
    {
        return None;
    }
    let mut cursor = parameters.walk();
    let mut n = 0;
    for (i, child) in parameters.named_children(&mut cursor).enumerate() {
        let kind = child.kind();
        let is_self =
            i == 0 && (kind == "self_parameter" || matches!(source(child, text), "self" | "cls"));
        if is_self || kind == "comma" || kind.contains("comment") || kind == "attribute_item" {
            continue;
        }
        let mut cursor = child.walk();
        n +=
            u32::try_from(child.children_by_field_name("name", &mut cursor).count().max(1)).ok()?;
    }
    Some(n)
}

/// Whether `*` and `&` in a list of parameters belong to types.
fn is_pointer_list(parameters: Node) -> bool {
    let mut cursor = parameters.walk();
    parameters
        .named_children(&mut cursor)
        .any(|c| matches!(c.kind(), "parameter_declaration" | "parameter" | "self_parameter"))
}

#[cfg(test)]
mod tests;
