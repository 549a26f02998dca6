//! Zig.

use super::{Export, Grammar, Modules, Names, Spec, Visibility};

pub(super) static LANGUAGE: Grammar = Grammar::new(Spec {
    extensions: &["zig", "zon"],
    outline: &[include_str!("outline.scm")],
    references: &[include_str!("references.scm")],
    export: Export::Keyword("pub"),
    metavariable: '_',
    contexts: &["fn f() void {\n§\n}", "const v = §;", "fn f() void {\n§;\n}"],
    names: Names {
        reach: Visibility::File,
        implicit_self: true,
        modules: Modules::Paths(&['/']),
        own_value: &["self", "Self"],
        constructors: &["init"],
        ..Names::of("zig")
    },
    ..Spec::of("zig", tree_sitter_zig::LANGUAGE)
});
