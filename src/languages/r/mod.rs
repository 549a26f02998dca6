//! R.

use super::{Grammar, Modules, Names, Spec};

pub(super) static LANGUAGE: Grammar = Grammar::new(Spec {
    extensions: &["r"],
    interpreters: &["Rscript"],
    outline: &[include_str!("outline.scm")],
    references: &[include_str!("references.scm")],
    metavariable: 'µ',
    names: Names {
        open_imports: true,
        modules: Modules::Paths(&['/']),
        own_value: &["self", "private", "super"],
        ..Names::of("r")
    },
    ..Spec::of("r", tree_sitter_r::LANGUAGE)
});
