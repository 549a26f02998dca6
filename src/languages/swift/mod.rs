//! Swift.

use super::{Called, Export, Grammar, Names, Scoping, Spec};

pub(super) static LANGUAGE: Grammar = Grammar::new(Spec {
    extensions: &["swift"],
    outline: &[include_str!("outline.scm")],
    references: &[include_str!("references.scm")],
    export: Export::Unless(&["private", "internal", "protected", "fileprivate"]),
    metavariable: 'µ',
    contexts: &["func f() {\n§\n}", "let v = §", "class C {\n§\n}"],
    names: Names {
        implicit_self: true,
        open_imports: true,
        scoping: Scoping::After,
        called_variables: Called::Maybe,
        own_value: &["self", "Self"],
        constructors: &["init"],
        transparent: &["Optional"],
        ..Names::of("swift")
    },
    ..Spec::of("swift", tree_sitter_swift::LANGUAGE)
});
