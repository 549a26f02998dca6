//! Python.

use super::{Export, Grammar, Hides, Modules, Names, Spec, Visibility};

pub(super) static LANGUAGE: Grammar = Grammar::new(Spec {
    name: "python",
    extensions: &["py", "pyi", "pyx", "pxd"],
    filenames: &["sconstruct", "sconscript", "wscript"],
    interpreters: &["python", "pypy"],
    grammar: tree_sitter_python::LANGUAGE,
    outline: &[include_str!("outline.scm")],
    references: &[include_str!("references.scm")],
    template: None,
    wrappers: &["decorated_definition", "expression_statement"],
    separator: ".",
    export: Export::NotUnderscore,
    hides: Hides::Nothing,
    metavariable: 'µ',
    contexts: &["class C:\n    §"],
    headers: &[],
    with_headers: &[],
    names: Names {
        family: "python",
        reach: Visibility::File,
        implicit_self: false,
        open_imports: false,
        structural: false,
        modules: Modules::Python,
        own_value: &["self", "cls"],
        constructors: &["__init__", "__new__"],
        transparent: &[
            "Optional",
            "Final",
            "ClassVar",
            "Annotated",
            "Type",
            "type",
            "Awaitable",
            "Coroutine",
        ],
        methods: &["endswith", "startswith", "lower", "upper", "strip", "items", "update"],
    },
});
