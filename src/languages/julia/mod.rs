//! Julia.

use super::{Export, Grammar, Modules, Names, Spec};

pub(super) static LANGUAGE: Grammar = Grammar::new(Spec {
    extensions: &["jl"],
    outline: &[include_str!("outline.scm")],
    references: &[include_str!("references.scm")],
    wrappers: &["const_statement"],
    export: Export::Listed,
    metavariable: 'µ',
    names: Names { open_imports: true, modules: Modules::Paths(&['/', '.']), ..Names::of("julia") },
    ..Spec::of("julia", tree_sitter_julia::LANGUAGE)
});
