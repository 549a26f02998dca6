//! Scala.

use super::{Called, Export, Grammar, Names, Scoping, Spec, Visibility};

pub(super) static LANGUAGE: Grammar = Grammar::new(Spec {
    extensions: &["scala", "sc", "sbt"],
    outline: &[include_str!("outline.scm")],
    references: &[include_str!("references.scm")],
    export: Export::Unless(&["private", "internal", "protected", "fileprivate"]),
    contexts: &["object O {\ndef f() = {\n§\n}\n}", "object O {\nval v = §\n}", "class C {\n§\n}"],
    names: Names {
        reach: Visibility::Package,
        implicit_self: true,
        mixes_in: true,
        scoping: Scoping::Block,
        called_variables: Called::Maybe,
        own_value: &["this"],
        methods: super::JVM_METHODS,
        ..Names::of("jvm")
    },
    ..Spec::of("scala", tree_sitter_scala::LANGUAGE)
});
