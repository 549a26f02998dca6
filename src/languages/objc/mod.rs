//! Objective-C.

use super::{Export, Grammar, Hides, Modules, Names, Spec, Visibility};

pub(super) static LANGUAGE: Grammar = Grammar::new(Spec {
    name: "objc",
    extensions: &["m", "mm"],
    filenames: &[],
    interpreters: &[],
    grammar: tree_sitter_objc::LANGUAGE,
    outline: &[include_str!("outline.scm"), include_str!("../c/outline.scm")],
    references: &[include_str!("references.scm"), include_str!("../c/references.scm")],
    template: None,
    wrappers: &["declaration", "type_definition"],
    separator: ".",
    export: Export::Unless(&["static"]),
    hides: Hides::Macros,
    metavariable: '𐀀',
    contexts: &[
        "void f() {\n§\n}",
        "int v = §;",
        "@interface C : D\n§\n@end",
        "@implementation C\n§\n@end",
        "void f() {\n§;\n}",
    ],
    headers: &["h"],
    with_headers: &["m", "mm"],
    names: Names {
        family: "c",
        reach: Visibility::Project,
        implicit_self: true,
        open_imports: true,
        structural: false,
        redefines: false,
        mixes_in: false,
        modules: Modules::Paths(&['/']),
        own_value: &["self"],
        constructors: &["init"],
        transparent: &[],
        methods: &[],
        lone_member: super::LONE_MEMBER,
    },
});
