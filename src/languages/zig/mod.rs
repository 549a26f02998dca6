//! Zig.

use super::{Export, Grammar, Hides, Modules, Names, Spec, Visibility};

pub(super) static LANGUAGE: Grammar = Grammar::new(Spec {
    name: "zig",
    extensions: &["zig", "zon"],
    filenames: &[],
    interpreters: &[],
    grammar: tree_sitter_zig::LANGUAGE,
    outline: &[include_str!("outline.scm")],
    references: &[include_str!("references.scm")],
    template: None,
    wrappers: &[],
    separator: ".",
    export: Export::Keyword("pub"),
    hides: Hides::Nothing,
    metavariable: '_',
    contexts: &["fn f() void {\n§\n}", "const v = §;", "fn f() void {\n§;\n}"],
    headers: &[],
    with_headers: &[],
    names: Names {
        family: "zig",
        reach: Visibility::File,
        implicit_self: true,
        open_imports: false,
        structural: false,
        redefines: false,
        mixes_in: false,
        modules: Modules::Paths(&['/']),
        own_value: &["self", "Self"],
        constructors: &["init"],
        transparent: &[],
        methods: &[],
        lone_member: super::LONE_MEMBER,
    },
});
