//! TypeScript with JSX.

use super::{Export, Grammar, Modules, Names, Scoping, Spec, Visibility};

pub(super) static LANGUAGE: Grammar = Grammar::new(Spec {
    extensions: &["tsx"],
    interpreters: &["tsx"],
    outline: &[
        include_str!("../typescript/outline.scm"),
        include_str!("../ecmascript/outline.scm"),
    ],
    references: &[
        include_str!("../typescript/references.scm"),
        include_str!("../ecmascript/references.scm"),
        include_str!("../jsx/references.scm"),
    ],
    wrappers: &[
        "export_statement",
        "lexical_declaration",
        "variable_declaration",
        "expression_statement",
        "ambient_declaration",
    ],
    export: Export::Keyword("export"),
    contexts: &["class C {\n§\n}", "v = §", "interface I {\n§\n}", "v = {\n§\n}"],
    reserved: super::ECMASCRIPT_RESERVED,
    soft_keywords: super::ECMASCRIPT_SOFT,
    names: Names {
        reach: Visibility::File,
        scoping: Scoping::Block,
        modules: Modules::Npm,
        own_value: &["this"],
        constructors: &["constructor"],
        transparent: super::ECMASCRIPT_TRANSPARENT,
        methods: super::ECMASCRIPT_METHODS,
        lone_member: 0.4,
        ..Names::of("ecmascript")
    },
    ..Spec::of("tsx", tree_sitter_typescript::LANGUAGE_TSX)
});
