//! Julia.

use super::{Export, Grammar, Hides, Modules, Names, Spec, Visibility};

pub(super) static LANGUAGE: Grammar = Grammar::new(Spec {
    name: "julia",
    extensions: &["jl"],
    filenames: &[],
    interpreters: &[],
    grammar: tree_sitter_julia::LANGUAGE,
    outline: &[include_str!("outline.scm")],
    references: &[include_str!("references.scm")],
    template: None,
    wrappers: &["const_statement"],
    separator: ".",
    export: Export::Listed,
    hides: Hides::Nothing,
    metavariable: 'µ',
    contexts: &[],
    headers: &[],
    with_headers: &[],
    names: Names {
        family: "julia",
        reach: Visibility::Project,
        implicit_self: false,
        open_imports: true,
        structural: false,
        redefines: false,
        mixes_in: false,
        modules: Modules::Paths(&['/', '.']),
        own_value: &[],
        constructors: &[],
        transparent: &[],
        methods: &[],
        lone_member: super::LONE_MEMBER,
    },
});
