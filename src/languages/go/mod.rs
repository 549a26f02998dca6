//! Go.

use super::{Export, Grammar, Modules, Names, Scoping, Spec, Visibility};

pub(super) static LANGUAGE: Grammar = Grammar::new(Spec {
    extensions: &["go"],
    outline: &[include_str!("outline.scm")],
    references: &[include_str!("references.scm")],
    wrappers: &["type_declaration", "const_declaration", "var_declaration"],
    export: Export::Uppercase,
    metavariable: 'µ',
    contexts: &[
        "package p\n\nfunc f() {\n§\n}",
        "package p\n\nvar v = §",
        "package p\n\n§",
        "package p\ntype t struct {\n§\n}",
    ],
    reserved: &["nil", "true", "false", "iota", "init", "_"],
    soft_keywords: &["make", "new"],
    names: Names {
        reach: Visibility::Directory,
        structural: true,
        scoping: Scoping::After,
        modules: Modules::Directories,
        ..Names::of("go")
    },
    ..Spec::of("go", tree_sitter_go::LANGUAGE)
});

/// Returns the path that a `go.mod` gives its module.
#[must_use]
pub fn go_module(manifest: &str) -> Option<String> {
    let path = manifest.lines().find_map(|line| line.trim().strip_prefix("module "))?;
    let path = path.split("//").next()?.trim().trim_matches(['"', '`']);
    Some(path.to_string()).filter(|path| !path.is_empty())
}
