//! Lua.

use super::{Export, Grammar, Hides, Modules, Names, Spec, Visibility};

pub(super) static LANGUAGE: Grammar = Grammar::new(Spec {
    name: "lua",
    extensions: &["lua"],
    filenames: &[],
    interpreters: &["lua"],
    grammar: tree_sitter_lua::LANGUAGE,
    outline: &[include_str!("outline.scm")],
    references: &[include_str!("references.scm")],
    template: None,
    wrappers: &["variable_declaration"],
    separator: ".",
    export: Export::Unless(&["local"]),
    hides: Hides::Nothing,
    metavariable: '$',
    contexts: &[],
    headers: &[],
    with_headers: &[],
    names: Names {
        family: "lua",
        reach: Visibility::Project,
        implicit_self: false,
        open_imports: true,
        structural: false,
        redefines: false,
        mixes_in: false,
        modules: Modules::Paths(&['.', '/']),
        own_value: &["self"],
        constructors: &[],
        transparent: &[],
        methods: &[],
        lone_member: super::LONE_MEMBER,
    },
});
