//! C.

use super::{Export, Grammar, Hides, Modules, Names, Scoping, Spec};

pub(super) static LANGUAGE: Grammar = Grammar::new(Spec {
    extensions: &["c"],
    outline: &[include_str!("outline.scm")],
    references: &[include_str!("references.scm")],
    wrappers: &["declaration", "type_definition"],
    separator: "::",
    export: Export::Unless(&["static"]),
    hides: Hides::Macros,
    metavariable: '𐀀',
    contexts: &["void f() {\n§\n}", "int v = §;", "struct s {\n§\n};", "void f() {\n§;\n}"],
    headers: &["h"],
    with_headers: &["c", "m"],
    names: Names {
        implicit_self: true,
        open_imports: true,
        namespaces: true,
        closed_files: &["c"],
        scoping: Scoping::After,
        modules: Modules::Paths(&['/']),
        own_value: &["this"],
        ..Names::of("c")
    },
    ..Spec::of("c", tree_sitter_c::LANGUAGE)
});
