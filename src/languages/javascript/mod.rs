//! JavaScript, with JSX.

use super::{Grammar, Spec};

pub(super) static LANGUAGE: Grammar = Grammar::new(Spec {
    extensions: &["js", "mjs", "cjs", "jsx"],
    interpreters: &["node", "nodejs", "deno", "bun"],
    outline: &[include_str!("outline.scm"), include_str!("../ecmascript/outline.scm")],
    references: &[
        include_str!("references.scm"),
        include_str!("../ecmascript/references.scm"),
        include_str!("../jsx/references.scm"),
    ],
    contexts: &["class C {\n§\n}", "v = §", "v = {\n§\n}"],
    ..Spec::of_scripts("javascript", tree_sitter_javascript::LANGUAGE)
});
