//! TypeScript with JSX.

use super::{Export, Grammar, Hides, Modules, Names, Spec, Visibility};

pub(super) static LANGUAGE: Grammar = Grammar::new(Spec {
    name: "tsx",
    extensions: &["tsx"],
    filenames: &[],
    interpreters: &["tsx"],
    grammar: tree_sitter_typescript::LANGUAGE_TSX,
    outline: &[
        include_str!("../typescript/outline.scm"),
        include_str!("../ecmascript/outline.scm"),
    ],
    references: &[
        include_str!("../typescript/references.scm"),
        include_str!("../ecmascript/references.scm"),
        include_str!("../jsx/references.scm"),
    ],
    template: None,
    wrappers: &[
        "export_statement",
        "lexical_declaration",
        "variable_declaration",
        "expression_statement",
        "ambient_declaration",
    ],
    separator: ".",
    export: Export::Keyword("export"),
    hides: Hides::Nothing,
    metavariable: '$',
    contexts: &["class C {\n§\n}", "v = §", "interface I {\n§\n}", "v = {\n§\n}"],
    headers: &[],
    with_headers: &[],
    names: Names {
        family: "ecmascript",
        reach: Visibility::File,
        implicit_self: false,
        open_imports: false,
        structural: false,
        namespaces: false,
        open_inner_types: false,
        closed_files: &[],
        redefines: false,
        mixes_in: false,
        modules: Modules::Npm,
        own_value: &["this"],
        constructors: &["constructor"],
        transparent: super::ECMASCRIPT_TRANSPARENT,
        methods: super::ECMASCRIPT_METHODS,
        lone_member: 0.4,
    },
});
