//! C.

use super::{Export, Grammar, Hides, Modules, Names, Spec, Visibility};

pub(super) static LANGUAGE: Grammar = Grammar::new(Spec {
    name: "c",
    extensions: &["c"],
    filenames: &[],
    interpreters: &[],
    grammar: tree_sitter_c::LANGUAGE,
    outline: &[include_str!("outline.scm")],
    references: &[include_str!("references.scm")],
    template: None,
    wrappers: &["declaration", "type_definition"],
    separator: "::",
    export: Export::Unless(&["static"]),
    hides: Hides::Macros,
    metavariable: '𐀀',
    contexts: &["void f() {\n§\n}", "int v = §;", "struct s {\n§\n};", "void f() {\n§;\n}"],
    headers: &["h"],
    with_headers: &["c", "m"],
    names: Names {
        family: "c",
        reach: Visibility::Project,
        implicit_self: true,
        open_imports: true,
        structural: false,
        redefines: false,
        mixes_in: false,
        modules: Modules::Paths(&['/']),
        own_value: &["this"],
        constructors: &[],
        transparent: &[],
        methods: &[],
        lone_member: super::LONE_MEMBER,
    },
});
