//! C#.

use super::{Export, Grammar, Hides, Modules, Names, Spec, Visibility};

pub(super) static LANGUAGE: Grammar = Grammar::new(Spec {
    name: "csharp",
    extensions: &["cs", "csx"],
    filenames: &[],
    interpreters: &[],
    grammar: tree_sitter_c_sharp::LANGUAGE,
    outline: &[include_str!("outline.scm")],
    references: &[include_str!("references.scm")],
    template: None,
    wrappers: &["declaration", "variable_declaration"],
    separator: ".",
    export: Export::Unless(&["private", "protected", "internal"]),
    hides: Hides::Nothing,
    metavariable: 'µ',
    contexts: &[
        "class C {\nvoid F() {\n§\n}\n}",
        "class C {\nobject v = §;\n}",
        "class C {\n§\n}",
        "class C {\nvoid F() {\n§;\n}\n}",
    ],
    headers: &[],
    with_headers: &[],
    names: Names {
        family: "csharp",
        reach: Visibility::Project,
        implicit_self: true,
        open_imports: true,
        structural: false,
        redefines: false,
        mixes_in: false,
        modules: Modules::Names,
        own_value: &["this"],
        constructors: &[],
        transparent: &[],
        methods: &[],
        lone_member: super::LONE_MEMBER,
    },
});
