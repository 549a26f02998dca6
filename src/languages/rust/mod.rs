//! Rust.

use super::{Export, Grammar, Hides, Modules, Names, Scoping, Spec, Visibility};

pub(super) static LANGUAGE: Grammar = Grammar::new(Spec {
    extensions: &["rs"],
    outline: &[include_str!("outline.scm")],
    references: &[include_str!("references.scm")],
    separator: "::",
    export: Export::Keyword("pub"),
    hides: Hides::MacroCalls,
    metavariable: 'µ',
    contexts: &[
        "fn f() {\n§\n}", "const V: T = §;", "impl T {\n§\n}", "struct S {\n§\n}",
        "fn f() {\n§;\n}",
    ],
    reserved: &[
        "abstract", "async", "await", "become", "box", "do", "dyn", "final", "gen", "macro",
        "override", "priv", "try", "typeof", "unsized", "virtual", "yield", "Self", "self",
        "crate", "super", "static", "_",
    ],
    soft_keywords: &[
        "union", "default", "auto", "raw", "block", "expr", "expr_2021", "ident", "item",
        "literal", "lifetime", "meta", "pat", "pat_param", "path", "stmt", "tt", "ty", "vis",
    ],
    names: Names {
        reach: Visibility::File,
        scoping: Scoping::After,
        modules: Modules::Rust,
        macro_result: Some("TokenStream"),
        delegates: Some(("Deref", "Target")),
        own_value: &["self", "Self"],
        transparent: &[
            "Arc", "Rc", "Box", "Pin", "Ref", "RefMut", "Cow", "MutexGuard", "RwLockReadGuard",
            "RwLockWriteGuard",
        ],
        methods: &[
            "and_then", "as_bytes", "as_mut", "as_ref", "as_str", "cmp", "collect", "deref",
            "drain", "fmt", "get_mut", "into", "into_iter", "is_empty", "is_none", "is_some",
            "iter", "iter_mut", "unwrap", "unwrap_or", "to_owned", "to_string", "try_into",
            "with_capacity", "to_vec", "ok_or", "map_err",
        ],
        lone_member: 0.45,
        ..Names::of("rust")
    },
    ..Spec::of("rust", tree_sitter_rust::LANGUAGE)
});
