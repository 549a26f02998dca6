//! PHP.

use super::{Export, Grammar, Hides, Modules, Names, Spec, Visibility};

pub(super) static LANGUAGE: Grammar = Grammar::new(Spec {
    name: "php",
    extensions: &["php", "phtml"],
    filenames: &[],
    interpreters: &["php"],
    grammar: tree_sitter_php::LANGUAGE_PHP_ONLY,
    outline: &[include_str!("outline.scm")],
    references: &[include_str!("references.scm")],
    template: None,
    wrappers: &["const_declaration"],
    separator: "::",
    export: Export::Unless(&["private", "internal", "protected", "fileprivate"]),
    hides: Hides::Nothing,
    metavariable: 'µ',
    contexts: &["<?php\n§", "<?php\n§;", "<?php\nclass C {\n§\n}"],
    headers: &[],
    with_headers: &[],
    names: Names {
        family: "php",
        reach: Visibility::Project,
        implicit_self: false,
        open_imports: false,
        structural: false,
        redefines: false,
        mixes_in: false,
        modules: Modules::Paths(&['/']),
        own_value: &["this", "self", "static"],
        constructors: &["__construct"],
        transparent: &[],
        methods: &[],
        lone_member: super::LONE_MEMBER,
    },
});
