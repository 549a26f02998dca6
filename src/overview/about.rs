//! What a repository says about itself.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Tree, directory, file_name, sentences};
use crate::languages::{LanguageKind, Markup, detect};
use crate::syntax::{is_description, paragraphs};

/// Maximum number of characters that are quoted.
const MAX_CHARS: usize = 500;

/// Number of paragraphs of a README among which the description is looked for.
const MAX_PARAGRAPHS: usize = 8;

/// A description, with the file that it comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct About {
    /// In one line.
    pub text: String,
    /// Relative to the root.
    pub from: String,
}

/// Returns the paragraph that says what the repository is: of its README, its manifest, or of a
/// directory in it, because some roots have neither. `directories`: the main ones first.
#[must_use]
pub fn about<'d>(tree: &Tree, directories: impl IntoIterator<Item = &'d str>) -> Option<About> {
    description(tree, "")
        .or_else(|| directories.into_iter().find_map(|of| description(tree, of)))
        .or_else(|| readme(tree, "", |_| true))
        .map(|(text, from)| About { text: sentences(&text, MAX_CHARS), from })
}

/// Returns what a directory says that it is, and the path of the file that says so.
pub(super) fn description(tree: &Tree, of: &str) -> Option<(String, String)> {
    readme(tree, of, is_description).or_else(|| manifest(tree, of))
}

/// Returns the first paragraph of this kind in the README of a directory, and its path.
pub(super) fn readme(
    tree: &Tree,
    of: &str,
    is_wanted: impl Fn(&str) -> bool,
) -> Option<(String, String)> {
    let is_readme = |path: &&&str| {
        directory(path) == of && file_name(path).to_lowercase().starts_with("readme")
    };
    // `README.md` comes before `README.zh.md`.
    let mut found: Vec<&&str> = tree.paths.iter().filter(is_readme).collect();
    found.sort_by_key(|path| path.len());
    found.into_iter().find_map(|path| {
        let text = (tree.read)(path)?;
        let markup = match detect(path, &text).kind {
            LanguageKind::Document(markup) => markup,
            _ => Markup::Plain,
        };
        let first = paragraphs(markup, &text).into_iter().take(MAX_PARAGRAPHS);
        first.into_iter().find(|p| is_wanted(p)).map(|p| (p, (*path).to_string()))
    })
}

/// Returns the description of the package in a directory, and the path of its manifest.
pub(super) fn manifest(tree: &Tree, of: &str) -> Option<(String, String)> {
    const PLACES: [(&str, &str); 5] = [
        ("Cargo.toml", "/package/description"),
        ("pyproject.toml", "/project/description"),
        ("pyproject.toml", "/tool/poetry/description"),
        ("package.json", "/description"),
        ("composer.json", "/description"),
    ];
    PLACES.iter().find_map(|(name, pointer)| {
        let path = super::join(of, name);
        let text = tree.manifest(&path)?.pointer(pointer)?.as_str()?.trim().to_string();
        // `@scope/name` says nothing.
        (text.split_whitespace().count() > 2).then_some((text, path))
    })
}
