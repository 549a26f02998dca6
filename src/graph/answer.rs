//! The questions that the graph answers.

use serde::Serialize;

/// What is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// Who calls it.
    Callers,
    /// What it calls.
    Callees,
    /// What it uses in any way.
    Dependencies,
    /// What uses it in any way.
    Dependents,
    /// Where a type is used.
    TypeUsages,
    /// What implements or extends it.
    Implementations,
    /// How one symbol leads to another.
    Path,
    /// What a change of it may touch.
    Impact,
}

impl Operation {
    pub const ALL: [Self; 8] = [
        Self::Callers,
        Self::Callees,
        Self::Dependencies,
        Self::Dependents,
        Self::TypeUsages,
        Self::Implementations,
        Self::Path,
        Self::Impact,
    ];

    /// From the target to what it uses.
    #[must_use]
    pub fn points_outward(self) -> bool {
        matches!(self, Self::Callees | Self::Dependencies | Self::Path)
    }

    /// The one that is written so.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.as_str() == text)
    }

    /// As it is written.
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
        }
    }
}

/// A question to the graph.
#[derive(Debug, Clone, Copy)]
pub struct GraphQuery<'a> {
    pub operation: Operation,
    /// `name`, `Type::method`, `file.rs:line` or a file.
    pub target: &'a str,
    /// Where a path is to lead.
    pub to: Option<&'a str>,
    /// How many steps are followed; at most [`MAX_DEPTH`].
    pub depth: usize,
    /// Most results, and most candidates.
    pub limit: usize,
}

/// Steps that are followed at most.
pub const MAX_DEPTH: usize = 10;
/// From this confidence on, an answer is a result; below, a candidate.
pub const LEAST_CONFIDENCE: f32 = 0.5;
/// What the graph answers.
#[derive(Debug, Clone, Serialize)]
pub struct GraphAnswer {
    pub operation: Operation,
    /// What the target was taken for; empty: there is nothing of that name.
    pub targets: Vec<Node>,
    /// Nearest first, then by file and line; of a path in its order.
    pub results: Vec<Neighbour>,
    /// What may belong to the results, but is not sure enough: likeliest first.
    pub candidates: Vec<Neighbour>,
    /// Results that there are, where not all are given.
    pub total: usize,
    /// Whether results are left out, or the search ended early.
    pub truncated: bool,
}

impl GraphAnswer {
    /// The file that the uses of a result are in: of whoever uses.
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

/// A symbol, or a file as a whole.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct Node {
    pub file: String,
    /// Of a file as a whole, and of what stands in it outside of all symbols, `<module>`.
    pub name: String,
    /// The name with those around it.
    pub symbol: String,
    /// `function`, `struct` …, `file`.
    pub kind: String,
    /// Of its definition; 0 for a file.
    pub line: u32,
    pub end_line: u32,
}

/// One result.
#[derive(Debug, Clone, Serialize)]
pub struct Neighbour {
    #[serde(flatten)]
    pub node: Node,
    /// Lines of the calls or uses, in the file of the one that calls or uses.
    pub sites: Vec<u32>,
    /// 0 to 1.
    pub confidence: f32,
    /// Steps from the target.
    pub depth: usize,
    /// The symbol on the other side of the step.
    pub via: String,
}
