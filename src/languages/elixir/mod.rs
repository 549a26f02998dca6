//! Elixir.

use super::{Called, Export, Grammar, Names, Scoping, Spec, Visibility};

pub(super) static LANGUAGE: Grammar = Grammar::new(Spec {
    extensions: &["ex", "exs"],
    interpreters: &["elixir", "escript"],
    outline: &[include_str!("outline.scm")],
    references: &[include_str!("references.scm")],
    export: Export::Unless(&["defp", "defmacrop", "defguardp", "defnp", "typep"]),
    metavariable: 'µ',
    names: Names {
        reach: Visibility::File,
        implicit_self: true,
        open_imports: true,
        scoping: Scoping::After,
        called_variables: Called::Never,
        ..Names::of("elixir")
    },
    ..Spec::of("elixir", tree_sitter_elixir::LANGUAGE)
});
