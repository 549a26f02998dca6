//! Python.

use super::{Export, Grammar, Modules, Names, Scoping, Spec, Visibility};

pub(super) static LANGUAGE: Grammar = Grammar::new(Spec {
    extensions: &["py", "pyi", "pyx", "pxd"],
    filenames: &["sconstruct", "sconscript", "wscript"],
    interpreters: &["python", "pypy"],
    outline: &[include_str!("outline.scm")],
    references: &[include_str!("references.scm")],
    wrappers: &["decorated_definition", "expression_statement"],
    export: Export::NotUnderscore,
    metavariable: 'µ',
    contexts: &["class C:\n    §"],
    reserved: &["async", "await", "None", "True", "False", "print", "exec", "match", "nonlocal"],
    soft_keywords: &["case", "type"],
    names: Names {
        reach: Visibility::File,
        redefines: true,
        mixes_in: true,
        scoping: Scoping::Function,
        modules: Modules::Python,
        own_value: &["self", "cls"],
        constructors: &["__init__", "__new__"],
        transparent: &[
            "Optional", "Final", "ClassVar", "Annotated", "Type", "type", "Awaitable", "Coroutine",
        ],
        methods: &["endswith", "startswith", "lower", "upper", "strip", "items", "update"],
        lone_member: 0.4,
        ..Names::of("python")
    },
    ..Spec::of("python", tree_sitter_python::LANGUAGE)
});
