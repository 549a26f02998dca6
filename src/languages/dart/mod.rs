//! Dart.

use super::{Export, Grammar, Modules, Names, Scoping, Spec, Visibility};

pub(super) static LANGUAGE: Grammar = Grammar::new(Spec {
    extensions: &["dart"],
    outline: &[include_str!("outline.scm")],
    references: &[include_str!("references.scm")],
    export: Export::NotUnderscore,
    contexts: &["void f() {\n§\n}", "var v = §;", "class C {\n§\n}", "void f() {\n§;\n}"],
    names: Names {
        reach: Visibility::File,
        implicit_self: true,
        open_imports: true,
        scoping: Scoping::Block,
        modules: Modules::Paths(&['/']),
        own_value: &["this"],
        transparent: &["Future", "Stream"],
        methods: &["toString", "forEach", "isEmpty", "isNotEmpty"],
        ..Names::of("dart")
    },
    ..Spec::of("dart", tree_sitter_dart::LANGUAGE)
});
