//! C#.

use super::{Export, Grammar, Names, Scoping, Spec};

pub(super) static LANGUAGE: Grammar = Grammar::new(Spec {
    extensions: &["cs", "csx"],
    outline: &[include_str!("outline.scm")],
    references: &[include_str!("references.scm")],
    wrappers: &["declaration", "variable_declaration"],
    export: Export::Unless(&["private", "protected", "internal"]),
    metavariable: 'µ',
    contexts: &[
        "class C {\nvoid F() {\n§\n}\n}",
        "class C {\nobject v = §;\n}",
        "class C {\n§\n}",
        "class C {\nvoid F() {\n§;\n}\n}",
    ],
    names: Names {
        implicit_self: true,
        open_imports: true,
        namespaces: true,
        scoping: Scoping::Block,
        own_value: &["this"],
        ..Names::of("csharp")
    },
    ..Spec::of("csharp", tree_sitter_c_sharp::LANGUAGE)
});
