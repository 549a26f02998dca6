//! Haskell.

use super::{Export, Grammar, Hides, Modules, Names, Spec, Visibility};

pub(super) static LANGUAGE: Grammar = Grammar::new(Spec {
    name: "haskell",
    extensions: &["hs", "lhs", "hsc"],
    filenames: &[],
    interpreters: &["runghc", "runhaskell", "stack"],
    grammar: tree_sitter_haskell::LANGUAGE,
    outline: &[include_str!("outline.scm")],
    references: &[include_str!("references.scm")],
    template: None,
    wrappers: &[],
    separator: ".",
    export: Export::Listed,
    hides: Hides::Nothing,
    metavariable: 'µ',
    contexts: &["v = §", "v = do\n  §"],
    headers: &[],
    with_headers: &[],
    names: Names {
        family: "haskell",
        reach: Visibility::File,
        implicit_self: false,
        open_imports: true,
        structural: false,
        redefines: false,
        mixes_in: false,
        modules: Modules::Names,
        own_value: &[],
        constructors: &[],
        transparent: &[],
        methods: &[],
        lone_member: super::LONE_MEMBER,
    },
});
