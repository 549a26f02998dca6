//! SQL: tables, views and functions.

use super::{Grammar, Names, Spec};

pub(super) static LANGUAGE: Grammar = Grammar::new(Spec {
    extensions: &["sql", "psql", "ddl"],
    outline: &[include_str!("outline.scm")],
    references: &[include_str!("references.scm")],
    contexts: &["§;"],
    names: Names { open_imports: true, ..Names::of("sql") },
    ..Spec::of("sql", tree_sitter_sequel::LANGUAGE)
});
