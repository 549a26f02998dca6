//! CSS.

use super::{Export, Grammar, Hides, Modules, Names, Spec, Visibility};

pub(super) static LANGUAGE: Grammar = Grammar::new(Spec {
    name: "css",
    extensions: &["css"],
    filenames: &[],
    interpreters: &[],
    grammar: tree_sitter_css::LANGUAGE,
    outline: &[include_str!("outline.scm")],
    references: &[include_str!("references.scm")],
    template: None,
    wrappers: &[],
    separator: ".",
    export: Export::Always,
    hides: Hides::Nothing,
    metavariable: '_',
    contexts: &["a {\n§\n}", "a {\n§;\n}"],
    headers: &[],
    with_headers: &[],
    names: Names {
        family: "css",
        reach: Visibility::Project,
        implicit_self: false,
        open_imports: true,
        structural: false,
        redefines: false,
        mixes_in: false,
        modules: Modules::Paths(&['/']),
        own_value: &[],
        constructors: &[],
        transparent: &[],
        methods: &[],
        lone_member: super::LONE_MEMBER,
    },
});
