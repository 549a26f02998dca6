//! Questions to the code graph: users, impact, tests, routes, dead code, and a rename that rests on it.

pub(in crate::engine) mod affected;
pub(in crate::engine) mod changed;
pub(in crate::engine) mod drawing;
pub(in crate::engine) mod impact;
pub(in crate::engine) mod map;
pub(in crate::engine) mod query;
pub(in crate::engine) mod rename;
pub(in crate::engine) mod routes;
pub(in crate::engine) mod scip;
pub(in crate::engine) mod statements;
pub(in crate::engine) mod tested;
pub(in crate::engine) mod treemap;
pub(in crate::engine) mod unused;
pub(in crate::engine) mod used;
pub(in crate::engine) mod uses;

pub use crate::graph::Operation;
pub use affected::{TestGroup, TestsByClass};
pub use changed::How;
pub use drawing::{DrawingAnswer, DrawingRequest};
pub use impact::{ChangedSymbol, DeletedUse, ImpactAnswer, ImpactRequest, NextFile, Together};
pub use map::{MapAnswer, MapRequest};
pub use query::{
    AroundRequest, GraphAnswer, GraphNode, GraphRow, NameUse, Namesake, NotListed, TargetRows,
    UnknownName, UsesInFile, check_end,
};
pub use rename::{
    LineOfText, RenameAnswer, RenameRequest, RenamedFile, RenamedLine, UncertainLine,
};
pub use routes::Client;
pub use tested::TestsRequest;
pub use treemap::{TreemapAnswer, TreemapRequest, TreemapRow};
pub use unused::UnusedRequest;
pub use used::{FileUses, FileUsesRequest, MeasuredPrecision, SymbolUses};
