//! Protocol Buffers.

use super::{Export, Grammar, Hides, Modules, Names, Spec, Visibility};

pub(super) static LANGUAGE: Grammar = Grammar::new(Spec {
    name: "protobuf",
    extensions: &["proto"],
    filenames: &[],
    interpreters: &[],
    grammar: tree_sitter_proto::LANGUAGE,
    outline: &[include_str!("outline.scm")],
    references: &[include_str!("references.scm")],
    template: None,
    wrappers: &[],
    separator: ".",
    export: Export::Always,
    hides: Hides::Nothing,
    metavariable: '_',
    contexts: &["syntax = \"proto3\";\nmessage M {\n§\n}", "syntax = \"proto3\";\n§"],
    headers: &[],
    with_headers: &[],
    names: Names {
        family: "protobuf",
        reach: Visibility::Package,
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
