//! C++.

use super::{Export, Grammar, Hides, Modules, Names, Spec, Visibility};

pub(super) static LANGUAGE: Grammar = Grammar::new(Spec {
    name: "cpp",
    extensions: &[
        "cc", "cpp", "cxx", "c++", "hpp", "hh", "hxx", "h++", "inc", "ipp", "tpp", "cu", "cuh",
        "ino",
    ],
    filenames: &[],
    interpreters: &[],
    grammar: tree_sitter_cpp::LANGUAGE,
    outline: &[include_str!("outline.scm")],
    references: &[include_str!("../c/references.scm"), include_str!("references.scm")],
    template: None,
    wrappers: &["template_declaration", "declaration", "type_definition"],
    separator: "::",
    export: Export::Unless(&["static"]),
    hides: Hides::Macros,
    metavariable: '𐀀',
    contexts: &["void f() {\n§\n}", "auto v = §;", "struct s {\n§\n};", "void f() {\n§;\n}"],
    headers: &["h", "hpp", "hh"],
    with_headers: &["cc", "cpp", "cxx"],
    names: Names {
        family: "c",
        reach: Visibility::Project,
        implicit_self: true,
        open_imports: true,
        structural: false,
        namespaces: true,
        open_inner_types: false,
        closed_files: &["cc", "cpp", "cxx"],
        redefines: false,
        mixes_in: true,
        modules: Modules::Paths(&['/']),
        own_value: &["this"],
        constructors: &[],
        transparent: &["unique_ptr", "shared_ptr", "weak_ptr"],
        methods: &[],
        lone_member: super::LONE_MEMBER,
    },
});
