//! CSS.

use super::{Grammar, Modules, Names, Spec};

pub(super) static LANGUAGE: Grammar = Grammar::new(Spec {
    extensions: &["css"],
    outline: &[include_str!("outline.scm")],
    references: &[include_str!("references.scm")],
    metavariable: '_',
    contexts: &["a {\n§\n}", "a {\n§;\n}"],
    names: Names { open_imports: true, modules: Modules::Paths(&['/']), ..Names::of("css") },
    ..Spec::of("css", tree_sitter_css::LANGUAGE)
});
