//! Svelte: the scripts of a component as TypeScript, and the components that its markup uses.

use super::{Called, Export, Grammar, Hides, Modules, Names, Scoping, Spec, Template, Visibility};

pub(super) static LANGUAGE: Grammar = Grammar::new(Spec {
    name: "svelte",
    extensions: &["svelte"],
    filenames: &[],
    interpreters: &[],
    grammar: tree_sitter_typescript::LANGUAGE_TYPESCRIPT,
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
    separator: ".",
    export: Export::Keyword("export"),
    hides: Hides::AllButScripts,
    metavariable: '$',
    contexts: &["class C {\n§\n}", "v = §"],
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
        scoping: Scoping::Block,
        called_variables: Called::Always,
        modules: Modules::Npm,
        macro_result: None,
        delegates: None,
        own_value: &["this"],
        constructors: &["constructor"],
        transparent: &[],
        methods: &[],
        lone_member: 0.4,
    },
});
