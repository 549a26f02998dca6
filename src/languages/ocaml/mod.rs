//! OCaml.

use super::{Export, Grammar, Hides, Modules, Names, Spec, Visibility};

pub(super) static LANGUAGE: Grammar = Grammar::new(Spec {
    name: "ocaml",
    extensions: &["ml"],
    filenames: &[],
    interpreters: &[],
    grammar: tree_sitter_ocaml::LANGUAGE_OCAML,
    outline: &[include_str!("outline.scm")],
    references: &[include_str!("references.scm")],
    template: None,
    wrappers: &["type_definition"],
    separator: ".",
    export: Export::Always,
    hides: Hides::Nothing,
    metavariable: 'µ',
    contexts: &["let v = §"],
    headers: &[],
    with_headers: &[],
    names: Names {
        family: "ocaml",
        reach: Visibility::File,
        implicit_self: false,
        open_imports: true,
        structural: false,
        redefines: false,
        mixes_in: false,
        modules: Modules::Paths(&['.']),
        own_value: &["self"],
        constructors: &[],
        transparent: &[],
        methods: &[],
        lone_member: super::LONE_MEMBER,
    },
});
