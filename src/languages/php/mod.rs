//! PHP.

use super::{Called, Export, Grammar, Modules, Names, Scoping, Spec};

pub(super) static LANGUAGE: Grammar = Grammar::new(Spec {
    extensions: &["php", "phtml"],
    interpreters: &["php"],
    outline: &[include_str!("outline.scm")],
    references: &[include_str!("references.scm")],
    wrappers: &["const_declaration"],
    separator: "::",
    export: Export::Unless(&["private", "internal", "protected", "fileprivate"]),
    metavariable: 'µ',
    contexts: &["<?php\n§", "<?php\n§;", "<?php\nclass C {\n§\n}"],
    names: Names {
        namespaces: true,
        scoping: Scoping::Function,
        called_variables: Called::Never,
        modules: Modules::Paths(&['/']),
        own_value: &["this", "self", "static"],
        constructors: &["__construct"],
        ..Names::of("php")
    },
    ..Spec::of("php", tree_sitter_php::LANGUAGE_PHP_ONLY)
});
