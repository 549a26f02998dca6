//! C.

use super::{Export, Grammar, Macros, Modules, Names, Reach, Spec};

pub(super) static LANGUAGE: Grammar = Grammar::new(Spec {
    name: "c",
    extensions: &["c"],
    filenames: &[],
    interpreters: &[],
    grammar: tree_sitter_c::LANGUAGE,
    outline: &[include_str!("outline.scm")],
    references: &[include_str!("references.scm")],
    wrappers: &["declaration", "type_definition"],
    separator: "::",
    export: Export::Unless(&["static"]),
    macros: Macros::Preprocessor,
    metavariable: '𐀀',
    headers: &["h"],
    with_headers: &["c", "m"],
    names: Names {
        family: "c",
        reach: Reach::Project,
        implicit_self: true,
        open_imports: true,
        structural: false,
        modules: Modules::Paths(&['/']),
        own_value: &["this"],
        constructors: &[],
        transparent: &[],
        methods: &[],
    },
});
