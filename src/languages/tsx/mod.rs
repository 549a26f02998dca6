//! TypeScript with JSX.

use super::{Grammar, Spec};

pub(super) static LANGUAGE: Grammar = Grammar::new(Spec {
    extensions: &["tsx"],
    interpreters: &["tsx"],
    outline: &[
        include_str!("../typescript/outline.scm"),
        include_str!("../ecmascript/outline.scm"),
    ],
    references: &[
        include_str!("../typescript/references.scm"),
        include_str!("../ecmascript/references.scm"),
        include_str!("../jsx/references.scm"),
    ],
    contexts: &["class C {\n§\n}", "v = §", "interface I {\n§\n}", "v = {\n§\n}"],
    ..Spec::of_scripts("tsx", tree_sitter_typescript::LANGUAGE_TSX)
});
