//! Kotlin.

use super::{Called, Export, Grammar, Names, Scoping, Spec, Visibility};

pub(super) static LANGUAGE: Grammar = Grammar::new(Spec {
    extensions: &["kt", "kts"],
    outline: &[include_str!("outline.scm")],
    references: &[include_str!("references.scm")],
    export: Export::Unless(&["private", "internal", "protected", "fileprivate"]),
    metavariable: 'µ',
    contexts: &["fun f() {\n§\n}", "val v = §", "class C {\n§\n}"],
    names: Names {
        reach: Visibility::Package,
        implicit_self: true,
        scoping: Scoping::After,
        called_variables: Called::Maybe,
        own_value: &["this"],
        constructors: &["constructor", "init"],
        methods: super::JVM_METHODS,
        ..Names::of("jvm")
    },
    ..Spec::of("kotlin", tree_sitter_kotlin_sg::LANGUAGE)
});
