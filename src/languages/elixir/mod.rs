//! Elixir.

use super::{Export, Grammar, Hides, Modules, Names, Spec, Visibility};

pub(super) static LANGUAGE: Grammar = Grammar::new(Spec {
    name: "elixir",
    extensions: &["ex", "exs"],
    filenames: &[],
    interpreters: &["elixir", "escript"],
    grammar: tree_sitter_elixir::LANGUAGE,
    outline: &[include_str!("outline.scm")],
    references: &[include_str!("references.scm")],
    template: None,
    wrappers: &[],
    separator: ".",
    export: Export::Unless(&["defp", "defmacrop", "defguardp", "defnp", "typep"]),
    hides: Hides::Nothing,
    metavariable: 'µ',
    contexts: &[],
    headers: &[],
    with_headers: &[],
    names: Names {
        family: "elixir",
        reach: Visibility::File,
        implicit_self: true,
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
