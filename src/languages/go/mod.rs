//! Go.

use super::{Export, Grammar, Hides, Modules, Names, Spec, Visibility};

pub(super) static LANGUAGE: Grammar = Grammar::new(Spec {
    name: "go",
    extensions: &["go"],
    filenames: &[],
    interpreters: &[],
    grammar: tree_sitter_go::LANGUAGE,
    outline: &[include_str!("outline.scm")],
    references: &[include_str!("references.scm")],
    template: None,
    wrappers: &["type_declaration", "const_declaration", "var_declaration"],
    separator: ".",
    export: Export::Uppercase,
    hides: Hides::Nothing,
    metavariable: 'µ',
    contexts: &[
        "package p\n\nfunc f() {\n§\n}",
        "package p\n\nvar v = §",
        "package p\n\n§",
        "package p\ntype t struct {\n§\n}",
    ],
    headers: &[],
    with_headers: &[],
    names: Names {
        family: "go",
        reach: Visibility::Directory,
        implicit_self: false,
        open_imports: false,
        structural: true,
        redefines: false,
        mixes_in: false,
        modules: Modules::Directories,
        own_value: &[],
        constructors: &[],
        transparent: &[],
        methods: &[],
        lone_member: super::LONE_MEMBER,
    },
});
