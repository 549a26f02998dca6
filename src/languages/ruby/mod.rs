//! Ruby.

use super::{Called, Export, Grammar, Modules, Names, Scoping, Spec};

pub(super) static LANGUAGE: Grammar = Grammar::new(Spec {
    extensions: &["rb", "rake", "gemspec", "ru"],
    filenames: &["rakefile", "gemfile", "vagrantfile", "podfile", "guardfile"],
    interpreters: &["ruby"],
    outline: &[include_str!("outline.scm")],
    references: &[include_str!("references.scm")],
    separator: "::",
    export: Export::NotUnderscore,
    metavariable: 'µ',
    contexts: &["class C\n§\nend"],
    names: Names {
        implicit_self: true,
        open_imports: true,
        namespaces: true,
        open_inner_types: true,
        mixes_in: true,
        scoping: Scoping::After,
        called_variables: Called::Never,
        modules: Modules::Paths(&['/']),
        own_value: &["self", "@self"],
        constructors: &["initialize"],
        ..Names::of("ruby")
    },
    ..Spec::of("ruby", tree_sitter_ruby::LANGUAGE)
});
