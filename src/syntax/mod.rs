//! Text of one file → what is in it: language, outline of symbols, sections, relations to other code.
//!
//! Parses with the grammars of `languages`, by the queries there. Knows nothing of chunks, files on disk or search.

mod markup;
mod outline;
mod pattern;
mod relations;
#[cfg(test)]
mod samples;
mod symbol;

pub use markup::{Section, sections};
pub use outline::{Outline, outline};
pub use pattern::{Pattern, PatternError};
pub use relations::{Base, Binding, Import, Reference, ReferenceKind, Relations, Shape, relations};
pub use symbol::{Symbol, SymbolKind};
