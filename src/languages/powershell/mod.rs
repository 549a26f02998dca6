//! PowerShell.

use super::{Export, Grammar, Hides, Modules, Names, Spec, Visibility};

pub(super) static LANGUAGE: Grammar = Grammar::new(Spec {
    name: "powershell",
    extensions: &["ps1", "psm1", "psd1"],
    filenames: &[],
    interpreters: &["pwsh"],
    grammar: tree_sitter_powershell::LANGUAGE,
    outline: &[include_str!("outline.scm")],
    references: &[include_str!("references.scm")],
    template: None,
    wrappers: &[],
    separator: ".",
    export: Export::Always,
    hides: Hides::Nothing,
    metavariable: 'µ',
    contexts: &["function f {\n§\n}"],
    headers: &[],
    with_headers: &[],
    names: Names {
        family: "powershell",
        reach: Visibility::Project,
        implicit_self: false,
        open_imports: true,
        structural: false,
        redefines: false,
        mixes_in: false,
        modules: Modules::Paths(&['/', '\\']),
        own_value: &["this"],
        constructors: &[],
        transparent: &[],
        methods: &[],
        lone_member: super::LONE_MEMBER,
    },
});
