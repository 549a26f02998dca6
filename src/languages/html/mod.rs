//! HTML.

use super::{Grammar, Modules, Names, Spec};

pub(super) static LANGUAGE: Grammar = Grammar::new(Spec {
    extensions: &["html", "htm", "xhtml"],
    outline: &[include_str!("outline.scm")],
    references: &[include_str!("references.scm")],
    metavariable: '_',
    names: Names { open_imports: true, modules: Modules::Paths(&['/']), ..Names::of("ecmascript") },
    ..Spec::of("html", tree_sitter_html::LANGUAGE)
});
