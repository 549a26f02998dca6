//! Terraform and other HCL.

use super::{Export, Grammar, Hides, Modules, Names, Spec, Visibility};

pub(super) static LANGUAGE: Grammar = Grammar::new(Spec {
    name: "terraform",
    extensions: &["tf", "tfvars", "hcl"],
    filenames: &[],
    interpreters: &[],
    grammar: tree_sitter_hcl::LANGUAGE,
    outline: &[include_str!("outline.scm")],
    references: &[include_str!("references.scm")],
    template: None,
    wrappers: &[],
    separator: ".",
    export: Export::Always,
    hides: Hides::Nothing,
    metavariable: 'µ',
    contexts: &["a = §", "b {\n§\n}"],
    headers: &[],
    with_headers: &[],
    names: Names {
        family: "terraform",
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
