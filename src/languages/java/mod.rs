//! Java.

use super::{Export, Grammar, Hides, Modules, Names, Spec, Visibility};

pub(super) static LANGUAGE: Grammar = Grammar::new(Spec {
    name: "java",
    extensions: &["java"],
    filenames: &[],
    interpreters: &[],
    grammar: tree_sitter_java::LANGUAGE,
    outline: &[include_str!("outline.scm")],
    references: &[include_str!("references.scm")],
    template: None,
    wrappers: &[],
    separator: ".",
    export: Export::Keyword("public"),
    hides: Hides::Nothing,
    metavariable: '$',
    contexts: &[
        "class C {\nvoid f() {\n§\n}\n}",
        "class C {\nObject v = §;\n}",
        "class C {\n§\n}",
        "class C {\nvoid f() {\n§;\n}\n}",
    ],
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
        constructors: &[],
        transparent: &["Optional"],
        methods: super::JVM_METHODS,
        lone_member: super::LONE_MEMBER,
    },
});
