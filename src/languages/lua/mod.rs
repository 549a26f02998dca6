//! Lua.

use super::{Export, Grammar, Modules, Names, Scoping, Spec};

pub(super) static LANGUAGE: Grammar = Grammar::new(Spec {
    extensions: &["lua"],
    interpreters: &["lua"],
    outline: &[include_str!("outline.scm")],
    references: &[include_str!("references.scm")],
    wrappers: &["variable_declaration"],
    export: Export::Unless(&["local"]),
    names: Names {
        open_imports: true,
        scoping: Scoping::After,
        modules: Modules::Paths(&['.', '/']),
        own_value: &["self"],
        ..Names::of("lua")
    },
    ..Spec::of("lua", tree_sitter_lua::LANGUAGE)
});
