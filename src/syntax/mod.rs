//! Analyses the text of one file: outline of symbols, sections, relations to other code,
//! matches of patterns.
//!
//! It parses with the grammars and queries of `languages`, and does not know chunks,
//! files on disk or search.

mod bindings;
mod colours;
mod markup;
mod occurrence;
mod opening;
mod outline;
mod pattern;
mod place;
mod relations;
mod routes;
#[cfg(test)]
mod samples;
mod symbol;

pub use bindings::BinderKind;
pub use colours::{Colour, Run, colours};
pub use markup::{Section, sections};
pub use occurrence::{
    Occurrence, Occurrences, Role, is_longer_name, may_be_renamed, occurrences, plain_occurrences,
};
pub use opening::{Paragraph, Preamble, is_description, leading_comment, paragraphs, preambles};
pub use outline::{Outline, ParseLimit, outline, with_limit};
pub use pattern::{Pattern, PatternError};
pub use place::{PlaceKind, Places};
pub use relations::{
    Base, Binding, Import, Reference, ReferenceKind, Relations, Shape, as_written,
    outline_and_relations, pascal_case, relations,
};
pub use routes::{
    Constant, Expression, Handler, MountAt, Mounted, Request, RouteAt, RouteFile, RouterAt,
    ScopeAt, UNKNOWN, UNKNOWN_METHOD, constant, requests, routes,
};
pub use symbol::{Symbol, SymbolKind};
