//! Objective-C.

use super::{Export, Grammar, Hides, Modules, Names, Scoping, Spec};

pub(super) static LANGUAGE: Grammar = Grammar::new(Spec {
    extensions: &["m", "mm"],
    outline: &[include_str!("outline.scm"), include_str!("../c/outline.scm")],
    references: &[include_str!("references.scm"), include_str!("../c/references.scm")],
    wrappers: &["declaration", "type_definition"],
    export: Export::Unless(&["static"]),
    hides: Hides::Macros,
    metavariable: '𐀀',
    contexts: &[
        "void f() {\n§\n}", "int v = §;", "@interface C : D\n§\n@end",
        "@implementation C\n§\n@end", "void f() {\n§;\n}",
    ],
    headers: &["h"],
    with_headers: &["m", "mm"],
    names: Names {
        implicit_self: true,
        open_imports: true,
        namespaces: true,
        closed_files: &["m", "mm"],
        scoping: Scoping::After,
        modules: Modules::Paths(&['/']),
        own_value: &["self"],
        constructors: &["init"],
        ..Names::of("c")
    },
    ..Spec::of("objc", tree_sitter_objc::LANGUAGE)
});
