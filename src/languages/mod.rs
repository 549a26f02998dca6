//! Knowledge of each language, as data: how its files are detected, its grammar and queries, how
//! its names and modules work.
//!
//! Each parsed language has a folder: `mod.rs` with its [`Spec`], the two queries, and a sample
//! with everything that must be found in it (`expected.txt`). The build script finds the folders,
//! so a new one needs no line here. `CONTRIBUTING.md` has the recipe.

use std::sync::OnceLock;

mod detect;
mod ecmascript;
mod examples;
mod measured;
mod outside;
mod plain;
mod routes;
mod spec;
mod testing;

pub use detect::detect;
pub use examples::{ExampleCount, Examples, code_family, example_folder};
pub use go::go_module;
pub use measured::{Precision, precision};
pub use outside::{
    Declaration, OutsideUser, implements_silently, other_spellings, shorter_name, used_from_outside,
};
pub use plain::is_record;
pub use routes::{
    ACTIONS, FRAMEWORKS, GROUPS, NO_REQUESTS, RouteRules, all_route_rules, framework_in,
    framework_of, route_rules,
};
use spec::JVM_METHODS;
pub use spec::{
    COMMON_METHODS, Called, Export, Grammar, Hides, Lang, Language, LanguageKind, Markup, Modules,
    Names, Scoping, Spec, Template, Visibility,
};
pub use testing::{
    Function, TestRole, has_test_blocks, is_named_after, is_test_file, is_test_named_after,
    is_test_path, nearness, test_role,
};

// Defines `PARSED`, the grammars of all folders in the order of their names.
include!(concat!(env!("OUT_DIR"), "/languages.rs"));

/// Returns every language, the parsed ones first.
pub fn languages() -> &'static [Language] {
    static TABLE: OnceLock<Vec<Language>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let parsed = PARSED.iter().map(|grammar| {
            let Spec { name, extensions, filenames, interpreters, .. } = grammar.spec;
            Language {
                name,
                extensions,
                filenames,
                interpreters,
                kind: LanguageKind::Code(grammar),
            }
        });
        parsed.chain(plain::languages()).collect()
    })
}

/// Returns the grammars of all parsed languages.
#[must_use]
pub fn grammars() -> &'static [&'static Grammar] {
    PARSED
}

/// Returns the grammar of the language with this name; `None` if it is not parsed.
#[must_use]
pub fn grammar(name: &str) -> Option<&'static Grammar> {
    PARSED.iter().copied().find(|grammar| grammar.spec.name == name)
}

/// Returns the separator between the names of a symbol's path.
#[must_use]
pub fn separator(language: &str) -> &'static str {
    grammar(language).map_or(".", |grammar| grammar.spec.separator)
}

/// Returns how names of this language are resolved. For a language that is not parsed, these
/// are the loosest rules.
#[must_use]
pub fn names_of(language: &str) -> &'static Names {
    static OTHER: Names = Names { open_imports: true, ..Names::of("") };
    grammar(language).map_or(&OTHER, |grammar| &grammar.spec.names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_query_compiles_and_captures_names() {
        for grammar in grammars() {
            let name = grammar.spec.name;
            assert!(grammar.outline().capture_names().contains(&"name"), "{name} has no @name");
            assert!(!grammar.references().capture_names().is_empty(), "{name} finds no references");
        }
    }
}
