//! Text of one file → what is in it: language, outline of symbols, sections, relations to other code.
//!
//! Owns the language table and every grammar. Knows nothing of chunks, files on disk or search.
//! The difficult part is in the per-language queries (`queries/*.scm`), which are data: a new language is
//! one row in `language.rs` and one query file.

mod language;
mod markup;
mod outline;
mod pattern;
mod relations;
#[cfg(test)]
mod samples;

pub use language::{Grammar, Kind, Language, Markup, detect, languages};
pub use markup::{Section, sections};
pub use outline::{Outline, Symbol, SymbolKind, outline};
pub use pattern::{Pattern, PatternError};
pub use relations::{Base, Binding, Import, Reference, ReferenceKind, Relations, Shape, relations};
