//! Kotlin.

use super::{Export, Grammar, Hides, Modules, Names, Spec, Visibility};

pub(super) static LANGUAGE: Grammar = Grammar::new(Spec {
    name: "kotlin",
    extensions: &["kt", "kts"],
    filenames: &[],
    interpreters: &[],
    grammar: tree_sitter_kotlin_sg::LANGUAGE,
    outline: &[include_str!("outline.scm")],
    references: &[include_str!("references.scm")],
    template: None,
    wrappers: &[],
    separator: ".",
    export: Export::Unless(&["private", "internal", "protected", "fileprivate"]),
    hides: Hides::Nothing,
    metavariable: 'µ',
    contexts: &["fun f() {\n§\n}", "val v = §", "class C {\n§\n}"],
    headers: &[],
    with_headers: &[],
    names: Names {
        family: "jvm",
        reach: Visibility::Package,
        implicit_self: true,
        open_imports: false,
        structural: false,
        redefines: false,
        mixes_in: false,
        modules: Modules::Names,
        own_value: &["this"],
        constructors: &["constructor", "init"],
        transparent: &[],
        methods: super::JVM_METHODS,
        lone_member: super::LONE_MEMBER,
    },
});
