//! Haskell.

use super::{Export, Grammar, Names, Spec, Visibility};

pub(super) static LANGUAGE: Grammar = Grammar::new(Spec {
    extensions: &["hs", "lhs", "hsc"],
    interpreters: &["runghc", "runhaskell", "stack"],
    outline: &[include_str!("outline.scm")],
    references: &[include_str!("references.scm")],
    export: Export::Listed,
    metavariable: 'µ',
    contexts: &["v = §", "v = do\n  §"],
    names: Names { reach: Visibility::File, open_imports: true, ..Names::of("haskell") },
    ..Spec::of("haskell", tree_sitter_haskell::LANGUAGE)
});
