//! TypeScript.

use super::{Grammar, Spec};

pub(super) static LANGUAGE: Grammar = Grammar::new(Spec {
    extensions: &["ts", "mts", "cts"],
    interpreters: &["ts-node"],
    outline: &[include_str!("outline.scm"), include_str!("../ecmascript/outline.scm")],
    references: &[include_str!("references.scm"), include_str!("../ecmascript/references.scm")],
    contexts: &["class C {\n§\n}", "v = §", "interface I {\n§\n}", "v = {\n§\n}"],
    ..Spec::of_scripts("typescript", tree_sitter_typescript::LANGUAGE_TYPESCRIPT)
});
