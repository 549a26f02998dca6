//! R.

use super::{Export, Grammar, Hides, Modules, Names, Spec, Visibility};

pub(super) static LANGUAGE: Grammar = Grammar::new(Spec {
    name: "r",
    extensions: &["r"],
    filenames: &[],
    interpreters: &["Rscript"],
    grammar: tree_sitter_r::LANGUAGE,
    outline: &[include_str!("outline.scm")],
    references: &[include_str!("references.scm")],
    template: None,
    wrappers: &[],
    separator: ".",
    export: Export::Always,
    hides: Hides::Nothing,
    metavariable: 'µ',
    contexts: &[],
    headers: &[],
    with_headers: &[],
    names: Names {
        family: "r",
        reach: Visibility::Project,
        implicit_self: false,
        open_imports: true,
        structural: false,
        redefines: false,
        mixes_in: false,
        modules: Modules::Paths(&['/']),
        own_value: &["self", "private", "super"],
        constructors: &[],
        transparent: &[],
        methods: &[],
        lone_member: super::LONE_MEMBER,
    },
});
