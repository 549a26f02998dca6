//! SQL: tables, views and functions.

use super::{Export, Grammar, Hides, Modules, Names, Spec, Visibility};

pub(super) static LANGUAGE: Grammar = Grammar::new(Spec {
    name: "sql",
    extensions: &["sql", "psql", "ddl"],
    filenames: &[],
    interpreters: &[],
    grammar: tree_sitter_sequel::LANGUAGE,
    outline: &[include_str!("outline.scm")],
    references: &[include_str!("references.scm")],
    template: None,
    wrappers: &[],
    separator: ".",
    export: Export::Always,
    hides: Hides::Nothing,
    metavariable: '$',
    contexts: &["§;"],
    headers: &[],
    with_headers: &[],
    names: Names {
        family: "sql",
        reach: Visibility::Project,
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
