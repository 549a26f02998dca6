//! Scala.

use super::{Export, Grammar, Hides, Modules, Names, Spec, Visibility};

pub(super) static LANGUAGE: Grammar = Grammar::new(Spec {
    name: "scala",
    extensions: &["scala", "sc", "sbt"],
    filenames: &[],
    interpreters: &[],
    grammar: tree_sitter_scala::LANGUAGE,
    outline: &[include_str!("outline.scm")],
    references: &[include_str!("references.scm")],
    template: None,
    wrappers: &[],
    separator: ".",
    export: Export::Unless(&["private", "internal", "protected", "fileprivate"]),
    hides: Hides::Nothing,
    metavariable: '$',
    contexts: &["object O {\ndef f() = {\n§\n}\n}", "object O {\nval v = §\n}", "class C {\n§\n}"],
    headers: &[],
    with_headers: &[],
    names: Names {
        family: "jvm",
        reach: Visibility::Package,
        implicit_self: true,
        open_imports: false,
        structural: false,
        redefines: false,
        mixes_in: true,
        modules: Modules::Names,
        own_value: &["this"],
        constructors: &[],
        transparent: &[],
        methods: super::JVM_METHODS,
        lone_member: super::LONE_MEMBER,
    },
});
