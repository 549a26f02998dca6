//! Bash and the shells like it.

use super::{Called, Export, Grammar, Modules, Names, Scoping, Spec};

pub(super) static LANGUAGE: Grammar = Grammar::new(Spec {
    extensions: &["sh", "bash", "bats", "zsh", "ksh"],
    filenames: &[".bashrc", ".profile"],
    interpreters: &["sh", "bash", "zsh", "dash", "ksh"],
    outline: &[include_str!("outline.scm")],
    references: &[include_str!("references.scm")],
    wrappers: &["declaration_command"],
    separator: "::",
    export: Export::NotUnderscore,
    names: Names {
        open_imports: true,
        scoping: Scoping::Function,
        called_variables: Called::Never,
        modules: Modules::Paths(&['/']),
        ..Names::of("shell")
    },
    ..Spec::of("bash", tree_sitter_bash::LANGUAGE)
});
