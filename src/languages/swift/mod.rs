//! Swift.

use super::{Export, Grammar, Hides, Modules, Names, Spec, Visibility};

pub(super) static LANGUAGE: Grammar = Grammar::new(Spec {
    name: "swift",
    extensions: &["swift"],
    filenames: &[],
    interpreters: &[],
    grammar: tree_sitter_swift::LANGUAGE,
    outline: &[include_str!("outline.scm")],
    references: &[include_str!("references.scm")],
    template: None,
    wrappers: &[],
    separator: ".",
    export: Export::Unless(&["private", "internal", "protected", "fileprivate"]),
    hides: Hides::Nothing,
    metavariable: 'µ',
    contexts: &["func f() {\n§\n}", "let v = §", "class C {\n§\n}"],
    headers: &[],
    with_headers: &[],
    names: Names {
        family: "swift",
        reach: Visibility::Project,
        implicit_self: true,
        open_imports: true,
        structural: false,
        redefines: false,
        mixes_in: false,
        modules: Modules::Names,
        own_value: &["self", "Self"],
        constructors: &["init"],
        transparent: &["Optional"],
        methods: &[],
        lone_member: super::LONE_MEMBER,
    },
});
