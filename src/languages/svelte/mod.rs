//! Svelte: the scripts of a component as TypeScript, and the components that its markup uses.

use super::{Export, Grammar, Hides, Modules, Names, Scoping, Spec, Template, Visibility};

pub(super) static LANGUAGE: Grammar = Grammar::new(Spec {
    extensions: &["svelte"],
    outline: &[
        include_str!("../typescript/outline.scm"),
        include_str!("../ecmascript/outline.scm"),
    ],
    references: &[
        include_str!("../typescript/references.scm"),
        include_str!("../ecmascript/references.scm"),
    ],
    template: Some(Template {
        grammar: tree_sitter_html::LANGUAGE,
        references: include_str!("../html/components.scm"),
    }),
    wrappers: &[
        "export_statement",
        "lexical_declaration",
        "variable_declaration",
        "expression_statement",
        "ambient_declaration",
    ],
    export: Export::Keyword("export"),
    hides: Hides::AllButScripts,
    contexts: &["class C {\n§\n}", "v = §"],
    names: Names {
        reach: Visibility::File,
        scoping: Scoping::Block,
        modules: Modules::Npm,
        own_value: &["this"],
        constructors: &["constructor"],
        lone_member: 0.4,
        ..Names::of("ecmascript")
    },
    ..Spec::of("svelte", tree_sitter_typescript::LANGUAGE_TYPESCRIPT)
});
