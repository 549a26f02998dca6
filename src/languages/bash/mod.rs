//! Bash and the shells like it.

use super::{Export, Grammar, Hides, Modules, Names, Spec, Visibility};

pub(super) static LANGUAGE: Grammar = Grammar::new(Spec {
    name: "bash",
    extensions: &["sh", "bash", "bats", "zsh", "ksh"],
    filenames: &[".bashrc", ".profile"],
    interpreters: &["sh", "bash", "zsh", "dash", "ksh"],
    grammar: tree_sitter_bash::LANGUAGE,
    outline: &[include_str!("outline.scm")],
    references: &[include_str!("references.scm")],
    template: None,
    wrappers: &["declaration_command"],
    separator: "::",
    export: Export::NotUnderscore,
    hides: Hides::Nothing,
    metavariable: '$',
    contexts: &[],
    headers: &[],
    with_headers: &[],
    names: Names {
        family: "shell",
        reach: Visibility::Project,
        implicit_self: false,
        open_imports: true,
        structural: false,
        redefines: false,
        mixes_in: false,
        modules: Modules::Paths(&['/']),
        own_value: &[],
        constructors: &[],
        transparent: &[],
        methods: &[],
        lone_member: super::LONE_MEMBER,
    },
});
