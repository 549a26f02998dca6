//! Terraform and other HCL.

use super::{Grammar, Modules, Names, Spec};

pub(super) static LANGUAGE: Grammar = Grammar::new(Spec {
    extensions: &["tf", "tfvars", "hcl"],
    outline: &[include_str!("outline.scm")],
    references: &[include_str!("references.scm")],
    metavariable: 'µ',
    contexts: &["a = §", "b {\n§\n}"],
    names: Names { open_imports: true, modules: Modules::Paths(&['/']), ..Names::of("terraform") },
    ..Spec::of("terraform", tree_sitter_hcl::LANGUAGE)
});
