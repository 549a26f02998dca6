//! Protocol Buffers.

use super::{Grammar, Modules, Names, Spec, Visibility};

pub(super) static LANGUAGE: Grammar = Grammar::new(Spec {
    extensions: &["proto"],
    outline: &[include_str!("outline.scm")],
    references: &[include_str!("references.scm")],
    metavariable: '_',
    contexts: &["syntax = \"proto3\";\nmessage M {\n§\n}", "syntax = \"proto3\";\n§"],
    names: Names {
        reach: Visibility::Package,
        open_imports: true,
        modules: Modules::Paths(&['/']),
        ..Names::of("protobuf")
    },
    ..Spec::of("protobuf", tree_sitter_proto::LANGUAGE)
});
