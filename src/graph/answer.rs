//! The queries of the code graph and their answers.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

/// The kind of a query.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// The symbols that call the target.
    #[default]
    Callers,
    /// The symbols that the target calls.
    Callees,
    /// Everything that the target uses.
    Dependencies,
    /// Everything that uses the target.
    Dependents,
    /// The places that use a type.
    TypeUsages,
    /// The implementations and subtypes of a type, or the overrides of a method.
    Implementations,
    /// The shortest way from the target to another symbol.
    Path,
    /// Everything that a change of the target may affect.
    Impact,
    /// The tests that reach the target.
    Tests,
    /// The symbols of the target that nothing seems to use.
    Unused,
    /// The HTTP routes that match, with their handlers and what requests them.
    Routes,
}

impl Operation {
    pub const ALL: [Self; 11] = [
        Self::Callers,
        Self::Callees,
        Self::Dependencies,
        Self::Dependents,
        Self::TypeUsages,
        Self::Implementations,
        Self::Path,
        Self::Impact,
        Self::Tests,
        Self::Unused,
        Self::Routes,
    ];

    /// Returns whether the edges lead from the target to what it uses.
    #[must_use]
    pub fn points_outward(self) -> bool {
        matches!(self, Self::Callees | Self::Dependencies | Self::Path)
    }

    /// Returns whether the results are what uses the target, so that tests of it are among them.
    #[must_use]
    pub fn lists_users(self) -> bool {
        matches!(self, Self::Callers | Self::Dependents | Self::TypeUsages | Self::Impact)
    }

    /// Returns the operation with this name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.as_str() == text)
    }

    /// Returns the name of the operation.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Callers => "callers",
            Self::Callees => "callees",
            Self::Dependencies => "dependencies",
            Self::Dependents => "dependents",
            Self::TypeUsages => "type_usages",
            Self::Implementations => "implementations",
            Self::Path => "path",
            Self::Impact => "impact",
            Self::Tests => "tests",
            Self::Unused => "unused",
            Self::Routes => "routes",
        }
    }
}

/// A query of the code graph.
#[derive(Debug, Clone, Copy)]
pub struct GraphQuery<'a> {
    pub operation: Operation,
    /// `name`, `Type::method`, `file.rs#name`, `file.rs:line` or the path of a file.
    pub target: &'a str,
    /// The same, for the end of a path; used by [`Operation::Path`] only.
    pub to: Option<&'a str>,
    /// Largest number of steps; at most [`MAX_DEPTH`].
    pub depth: usize,
    /// Largest number of results, and of candidates. A path ignores it.
    pub limit: usize,
}

/// Largest value of [`GraphQuery::depth`].
pub const MAX_DEPTH: usize = 10;
/// A neighbour is a result from this confidence on, and a candidate below it.
pub const LEAST_CONFIDENCE: f32 = 0.5;

/// A name of a module that the project does not have.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ImportedName {
    /// As the code of the target has it.
    pub written: String,
    /// As the module has it; empty for what the module exports by default.
    pub name: String,
    /// The module as the import writes it, or the first name of a path that no import gives.
    pub module: String,
    /// The modules between this module and the name, outermost first. Where modules and values are
    /// written alike, they may be values.
    pub below: Vec<String>,
    /// The type that the name is a member of; empty if there is none.
    pub owner: String,
    pub is_macro: bool,
    /// Whether an import names the module. Otherwise it may be a variable, unless the text has `::`.
    pub is_named: bool,
    /// Whether no value whose type is unknown may be between the module and the name.
    pub is_sure: bool,
    /// The file of the target.
    pub file: String,
    /// The family of languages of this file.
    pub family: &'static str,
}

/// The answer to a query of the code graph.
#[derive(Debug, Clone, Default, Serialize)]
pub struct GraphAnswer {
    pub operation: Operation,
    /// The symbols and files that the target matched; empty if it matched none.
    pub targets: Vec<Node>,
    /// Number of symbols and files that it matched; those beyond a limit were not followed.
    pub n_matched: usize,
    /// Nearest first, then by file and line; the nodes of a path in its order.
    pub results: Vec<Neighbour>,
    /// Neighbours below [`LEAST_CONFIDENCE`], likeliest first.
    pub candidates: Vec<Neighbour>,
    /// What is known of the uses of the targets' names that are not in the answer.
    #[serde(skip)]
    pub name_uses: NameUses,
    /// Names that the targets use and that no symbol has, or whose receiver is unknown, with the
    /// lines.
    #[serde(skip)]
    pub unknown: BTreeMap<String, Vec<u32>>,
    /// Those of these names that come from a module outside of the project, with the lines.
    #[serde(skip)]
    pub imported: BTreeMap<ImportedName, Vec<u32>>,
    /// Number of results before the limit.
    pub total: usize,
    /// Whether results or targets are left out, or the search stopped early.
    pub truncated: bool,
    /// Whether the search stopped early, so that nobody knows how many results there are.
    pub is_cut: bool,
}

impl GraphAnswer {
    /// Returns the file that contains the sites of a result: the file of the symbol that calls or
    /// uses the other one.
    #[must_use]
    pub fn file_of_uses<'a>(&'a self, found: &'a Neighbour) -> &'a str {
        if !self.operation.points_outward() {
            return &found.node.file;
        }
        let all = self.targets.iter().chain(self.results.iter().map(|f| &f.node));
        all.into_iter()
            .find(|node| node.symbol == found.via)
            .map_or(&found.node.file, |node| &node.file)
    }
}

/// The name of a node that is a whole file.
const MODULE: &str = "<module>";

/// A symbol, or a file as a whole.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize)]
pub struct Node {
    pub file: String,
    /// `<module>` for a file as a whole, and for code outside of all symbols.
    pub name: String,
    /// The name, after those of the symbols around it: `Type::method`. For a file: its path.
    pub symbol: String,
    /// `function`, `struct` …, `file`.
    pub kind: String,
    /// Line of its definition, 1-based; 0 for a file.
    pub line: u32,
    pub end_line: u32,
    /// Line at which its comments and attributes begin.
    #[serde(skip)]
    pub start_line: u32,
}

impl Node {
    /// A file as a whole.
    pub(super) fn of_file(path: &str) -> Self {
        let (name, kind) = (MODULE.into(), "file".into());
        Self { file: path.into(), name, symbol: path.into(), kind, ..Self::default() }
    }

    /// Whether it is a function, a method or a macro.
    #[must_use]
    pub fn is_function(&self) -> bool {
        matches!(&*self.kind, "function" | "method" | "macro")
    }
}

/// A result or a candidate: a node, and the step that leads to it.
#[derive(Debug, Clone, Serialize)]
pub struct Neighbour {
    #[serde(flatten)]
    pub node: Node,
    /// Lines of the calls or uses, in the file that [`GraphAnswer::file_of_uses`] returns.
    pub sites: Vec<u32>,
    /// From 0 to 1.
    pub confidence: f32,
    /// Number of steps from the target.
    pub depth: usize,
    /// The symbol at the other end of the step.
    pub via: String,
    /// Whether it does not call the function, but takes it as a value, such as a table of functions.
    pub is_value: bool,
    /// Whether it belongs to tests. Only answers that tell tests from other code set it.
    #[serde(skip)]
    pub is_test: bool,
}

impl Neighbour {
    /// Returns a node so many steps from the target.
    #[must_use]
    pub fn new(node: Node, sites: Vec<u32>, confidence: f32, depth: usize) -> Self {
        let (via, is_value, is_test) = (String::new(), false, false);
        Self { node, sites, confidence, depth, via, is_value, is_test }
    }
}

/// What the graph knows of a symbol on all sides, one step from it.
#[derive(Debug, Clone, Default)]
pub struct Around {
    pub node: Node,
    /// What calls or uses it, except tests.
    pub users: Vec<Neighbour>,
    /// What may use it, below [`LEAST_CONFIDENCE`], except tests.
    pub candidates: Vec<Neighbour>,
    /// Users in files of tests; if none is certain, those that may use it.
    pub tests: Vec<Neighbour>,
    /// What a function calls.
    pub calls: Vec<Neighbour>,
    /// Whether the search stopped early.
    pub is_cut: bool,
}

/// A line of a file: path, and number from 1 on.
pub type Line = (String, u32);

/// What the graph knows of the names that uses of the targets are written with.
#[derive(Debug, Clone, Default)]
pub struct NameUses {
    /// The names; empty if the targets are files.
    pub names: BTreeSet<String>,
    /// Lines that are in the answer, or that define a symbol of this name.
    pub accounted: BTreeSet<Line>,
    /// The first lines of the symbols of this name. The name itself may stand on a later line.
    pub defined: BTreeSet<Line>,
    /// implementations: lines that use the target, but neither implement nor extend it.
    pub of_target: BTreeSet<Line>,
    /// Lines that use another symbol of this name, with that symbol.
    pub of_others: BTreeMap<Line, Node>,
    /// Lines that use the name of a value whose type the project does not define.
    pub elsewhere: BTreeSet<Line>,
}

/// Most lines from the first one of a definition to that with its name.
const MAX_HEAD: u32 = 3;

impl NameUses {
    /// Whether a line with the name is in the answer, or defines a symbol of the name. `last`: the line
    /// before it that has the name, 0 if there is none.
    #[must_use]
    pub fn accounts_for(&self, line: &Line, last: u32) -> bool {
        let (path, number) = line;
        let begins = |first: u32| self.defined.contains(&(path.clone(), first));
        let is_own_name = || (number.saturating_sub(MAX_HEAD).max(last + 1)..*number).any(begins);
        self.accounted.contains(line) || is_own_name()
    }

    /// Number of lines of a file of which the meaning is known.
    #[must_use]
    pub fn known_in(&self, path: &str) -> usize {
        let of_file = (path.to_string(), 0)..=(path.to_string(), u32::MAX);
        let mut lines: BTreeSet<&Line> = self.accounted.range(of_file.clone()).collect();
        lines.extend(self.of_target.range(of_file.clone()));
        lines.extend(self.of_others.range(of_file).map(|(line, _)| line));
        lines.len()
    }
}
