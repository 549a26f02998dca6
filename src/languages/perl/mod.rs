//! Perl.

use super::{Export, Grammar, Hides, Modules, Names, Spec, Visibility};

pub(super) static LANGUAGE: Grammar = Grammar::new(Spec {
    name: "perl",
    extensions: &["pl", "pm", "t"],
    filenames: &[],
    interpreters: &["perl"],
    grammar: ts_parser_perl::LANGUAGE,
    outline: &[include_str!("outline.scm")],
    references: &[include_str!("references.scm")],
    template: None,
    wrappers: &[],
    separator: "::",
    export: Export::NotUnderscore,
    hides: Hides::Nothing,
    metavariable: 'µ',
    contexts: &["sub f {\n§\n}", "$v = §;", "§;"],
    headers: &[],
    with_headers: &[],
    names: Names {
        family: "perl",
        reach: Visibility::Project,
        implicit_self: false,
        open_imports: true,
        structural: false,
        redefines: false,
        mixes_in: false,
        modules: Modules::Names,
        own_value: &["self", "class"],
        constructors: &["new"],
        transparent: &[],
        methods: &[],
        lone_member: super::LONE_MEMBER,
    },
});
