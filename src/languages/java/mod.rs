//! Java.

use super::{Called, Export, Grammar, Names, Scoping, Spec, Visibility};

pub(super) static LANGUAGE: Grammar = Grammar::new(Spec {
    extensions: &["java"],
    outline: &[include_str!("outline.scm")],
    references: &[include_str!("references.scm")],
    export: Export::Keyword("public"),
    contexts: &[
        "class C {\nvoid f() {\n§\n}\n}",
        "class C {\nObject v = §;\n}",
        "class C {\n§\n}",
        "class C {\nvoid f() {\n§;\n}\n}",
    ],
    reserved: &["goto", "const", "enum", "assert", "strictfp", "native", "_"],
    names: Names {
        reach: Visibility::Package,
        implicit_self: true,
        scoping: Scoping::After,
        called_variables: Called::Never,
        own_value: &["this"],
        transparent: &["Optional"],
        methods: super::JVM_METHODS,
        ..Names::of("jvm")
    },
    ..Spec::of("java", tree_sitter_java::LANGUAGE)
});
