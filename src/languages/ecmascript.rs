//! What the languages of the family of JavaScript have in common.

use tree_sitter_language::LanguageFn;

use super::{Export, Hides, Modules, Names, Scoping, Spec, Template, Visibility};

const NAMES: Names = Names {
    reach: Visibility::File,
    scoping: Scoping::Block,
    modules: Modules::Npm,
    own_value: &["this"],
    constructors: &["constructor"],
    lone_member: 0.4,
    ..Names::of("ecmascript")
};

/// Words of the grammars of JavaScript and TypeScript that are names as well.
const SOFT: &[&str] = &[
    "get", "set", "of", "from", "as", "async", "type", "declare", "abstract", "readonly",
    "namespace", "module", "is", "infer", "require", "asserts", "accessor", "override",
    "satisfies", "unique", "object", "number", "string", "boolean", "symbol", "global", "target",
    "meta", "using",
];

/// Words that JavaScript and TypeScript reserve, and their grammars read as names.
const RESERVED: &[&str] =
    &["await", "enum", "implements", "interface", "package", "private", "let"];

impl Spec {
    /// A language of scripts.
    pub(super) const fn of_scripts(name: &'static str, grammar: LanguageFn) -> Self {
        Self {
            wrappers: &[
                "export_statement", "lexical_declaration", "variable_declaration",
                "expression_statement", "ambient_declaration",
            ],
            export: Export::Keyword("export"),
            reserved: RESERVED,
            soft_keywords: SOFT,
            names: Names {
                transparent: &[
                    "Promise", "Readonly", "Partial", "Required", "NonNullable", "Pick", "Omit",
                ],
                methods: &[
                    "charAt", "forEach", "indexOf", "toString", "then", "endsWith", "startsWith",
                ],
                ..NAMES
            },
            ..Self::of(name, grammar)
        }
    }

    /// A language of components: the scripts of a component are TypeScript, and the markup around them
    /// names other components.
    pub(super) const fn of_components(name: &'static str) -> Self {
        Self {
            outline: &[
                include_str!("typescript/outline.scm"),
                include_str!("ecmascript/outline.scm"),
            ],
            references: &[
                include_str!("typescript/references.scm"),
                include_str!("ecmascript/references.scm"),
            ],
            template: Some(Template {
                grammar: tree_sitter_html::LANGUAGE,
                references: include_str!("html/components.scm"),
            }),
            hides: Hides::AllButScripts,
            contexts: &["class C {\n§\n}", "v = §"],
            reserved: &[],
            soft_keywords: &[],
            names: NAMES,
            ..Self::of_scripts(name, tree_sitter_typescript::LANGUAGE_TYPESCRIPT)
        }
    }
}
