//! OCaml.

use super::{Grammar, Modules, Names, Spec, Visibility};

pub(super) static LANGUAGE: Grammar = Grammar::new(Spec {
    extensions: &["ml"],
    outline: &[include_str!("outline.scm")],
    references: &[include_str!("references.scm")],
    wrappers: &["type_definition"],
    metavariable: 'µ',
    contexts: &["let v = §"],
    names: Names {
        reach: Visibility::File,
        open_imports: true,
        modules: Modules::Paths(&['.']),
        own_value: &["self"],
        ..Names::of("ocaml")
    },
    ..Spec::of("ocaml", tree_sitter_ocaml::LANGUAGE_OCAML)
});
