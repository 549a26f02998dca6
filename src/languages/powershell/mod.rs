//! PowerShell.

use super::{Called, Grammar, Modules, Names, Scoping, Spec};

pub(super) static LANGUAGE: Grammar = Grammar::new(Spec {
    extensions: &["ps1", "psm1", "psd1"],
    interpreters: &["pwsh"],
    outline: &[include_str!("outline.scm")],
    references: &[include_str!("references.scm")],
    metavariable: 'µ',
    contexts: &["function f {\n§\n}"],
    names: Names {
        open_imports: true,
        scoping: Scoping::Function,
        called_variables: Called::Never,
        modules: Modules::Paths(&['/', '\\']),
        own_value: &["this"],
        ..Names::of("powershell")
    },
    ..Spec::of("powershell", tree_sitter_powershell::LANGUAGE)
});
