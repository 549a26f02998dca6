//! Perl.

use super::{Called, Export, Grammar, Names, Scoping, Spec};

pub(super) static LANGUAGE: Grammar = Grammar::new(Spec {
    extensions: &["pl", "pm", "t"],
    interpreters: &["perl"],
    outline: &[include_str!("outline.scm")],
    references: &[include_str!("references.scm")],
    separator: "::",
    export: Export::NotUnderscore,
    metavariable: 'µ',
    contexts: &["sub f {\n§\n}", "$v = §;", "§;"],
    names: Names {
        open_imports: true,
        scoping: Scoping::Function,
        called_variables: Called::Never,
        own_value: &["self", "class"],
        constructors: &["new"],
        ..Names::of("perl")
    },
    ..Spec::of("perl", ts_parser_perl::LANGUAGE)
});
