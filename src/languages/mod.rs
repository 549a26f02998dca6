//! What is known of each language, as data: how its files are told, its grammar and queries, how its names and modules work.
//!
//! A language that is parsed is a folder: `mod.rs` with its [`Spec`], the two queries, and a sample with all that must be found in it (`expected.txt`).
//! The build script finds the folders, so that a new one needs no line here. `CONTRIBUTING.md` has the recipe.

use std::sync::OnceLock;

mod detect;
mod plain;
mod spec;

pub use detect::detect;
pub use spec::{COMMON_METHODS, Export, Grammar, Hides, Lang, Language, LanguageKind, Markup, Modules, Names, Reach, Spec, Template};
use spec::{ECMASCRIPT_METHODS, ECMASCRIPT_TRANSPARENT, JVM_METHODS};

// `PARSED`: the grammars of all folders, in order of their names.
include!(concat!(env!("OUT_DIR"), "/languages.rs"));

/// Every language: first those that are parsed.
pub fn languages() -> &'static [Language] {
    static TABLE: OnceLock<Vec<Language>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let parsed = PARSED.iter().map(|grammar| {
            let Spec { name, extensions, filenames, interpreters, .. } = grammar.spec;
            Language { name, extensions, filenames, interpreters, kind: LanguageKind::Code(grammar) }
        });
        parsed.chain(plain::languages()).collect()
    })
}

/// The grammars of all languages that are parsed.
#[must_use]
pub fn grammars() -> &'static [&'static Grammar] {
    PARSED
}

/// The grammar of the language of this name.
#[must_use]
pub fn grammar(name: &str) -> Option<&'static Grammar> {
    PARSED.iter().copied().find(|grammar| grammar.spec.name == name)
}

/// How names of the language of this name are resolved; for one that is not parsed, as loosely as can be.
#[must_use]
pub fn names_of(language: &str) -> &'static Names {
    static OTHER: Names = Names {
        family: "",
        reach: Reach::Project,
        implicit_self: false,
        open_imports: true,
        structural: false,
        modules: Modules::Names,
        own_value: &[],
        constructors: &[],
        transparent: &[],
        methods: &[],
    };
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
