//! C++.

use super::{Export, Grammar, Hides, Modules, Names, Scoping, Spec};

pub(super) static LANGUAGE: Grammar = Grammar::new(Spec {
    extensions: &[
        "cc", "cpp", "cxx", "c++", "hpp", "hh", "hxx", "h++", "inc", "ipp", "tpp", "cu", "cuh",
        "ino",
    ],
    outline: &[include_str!("outline.scm")],
    references: &[include_str!("../c/references.scm"), include_str!("references.scm")],
    wrappers: &["template_declaration", "declaration", "type_definition"],
    separator: "::",
    export: Export::Unless(&["static"]),
    hides: Hides::Macros,
    metavariable: '𐀀',
    contexts: &["void f() {\n§\n}", "auto v = §;", "struct s {\n§\n};", "void f() {\n§;\n}"],
    headers: &["h", "hpp", "hh"],
    with_headers: &["cc", "cpp", "cxx"],
    names: Names {
        implicit_self: true,
        open_imports: true,
        namespaces: true,
        closed_files: &["cc", "cpp", "cxx"],
        mixes_in: true,
        scoping: Scoping::After,
        modules: Modules::Paths(&['/']),
        own_value: &["this"],
        transparent: &["unique_ptr", "shared_ptr", "weak_ptr"],
        ..Names::of("c")
    },
    ..Spec::of("cpp", tree_sitter_cpp::LANGUAGE)
});
