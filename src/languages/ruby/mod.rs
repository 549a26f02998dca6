//! Ruby.

use super::{Export, Grammar, Hides, Modules, Names, Spec, Visibility};

pub(super) static LANGUAGE: Grammar = Grammar::new(Spec {
    name: "ruby",
    extensions: &["rb", "rake", "gemspec", "ru"],
    filenames: &["rakefile", "gemfile", "vagrantfile", "podfile", "guardfile"],
    interpreters: &["ruby"],
    grammar: tree_sitter_ruby::LANGUAGE,
    outline: &[include_str!("outline.scm")],
    references: &[include_str!("references.scm")],
    template: None,
    wrappers: &[],
    separator: "::",
    export: Export::NotUnderscore,
    hides: Hides::Nothing,
    metavariable: 'µ',
    contexts: &["class C\n§\nend"],
    headers: &[],
    with_headers: &[],
    names: Names {
        family: "ruby",
        reach: Visibility::Project,
        implicit_self: true,
        open_imports: true,
        structural: false,
        redefines: false,
        mixes_in: true,
        modules: Modules::Paths(&['/']),
        own_value: &["self", "@self"],
        constructors: &["initialize"],
        transparent: &[],
        methods: &[],
        lone_member: super::LONE_MEMBER,
    },
});
