//! Dart.

use super::{Export, Grammar, Hides, Modules, Names, Spec, Visibility};

pub(super) static LANGUAGE: Grammar = Grammar::new(Spec {
    name: "dart",
    extensions: &["dart"],
    filenames: &[],
    interpreters: &[],
    grammar: tree_sitter_dart::LANGUAGE,
    outline: &[include_str!("outline.scm")],
    references: &[include_str!("references.scm")],
    template: None,
    wrappers: &[],
    separator: ".",
    export: Export::NotUnderscore,
    hides: Hides::Nothing,
    metavariable: '$',
    contexts: &["void f() {\n§\n}", "var v = §;", "class C {\n§\n}", "void f() {\n§;\n}"],
    headers: &[],
    with_headers: &[],
    names: Names {
        family: "dart",
        reach: Visibility::File,
        implicit_self: true,
        open_imports: true,
        structural: false,
        redefines: false,
        mixes_in: false,
        modules: Modules::Names,
        own_value: &["this"],
        constructors: &[],
        transparent: &["Future", "Stream"],
        methods: &["toString", "forEach", "isEmpty", "isNotEmpty"],
        lone_member: super::LONE_MEMBER,
    },
});
