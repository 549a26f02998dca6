//! What a repository says about itself.

use schemars::JsonSchema;
use serde::Serialize;

use super::packages::{is_manifest, package};
use super::{Tree, directory, file_name, split_sentence};
use crate::languages::{LanguageKind, Markup, detect};
use crate::syntax::{Paragraph, is_description, paragraphs};
use crate::text::{cut, folded};

/// Maximum number of characters that are quoted.
const MAX_CHARS: usize = 300;

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

/// Returns the sentence that says what the repository is: of the opening of its README, of its
/// manifest, of the rest of the README, or of a directory in it, because some roots have neither.
/// `directories`: the main ones first.
#[must_use]
pub fn about<'d>(tree: &Tree, directories: impl IntoIterator<Item = &'d str>) -> Option<About> {
    let of = |is_wanted: &dyn Fn(&Paragraph) -> bool| readme(tree, "", is_wanted);
    of(&|paragraph| paragraph.is_opening && is_description(&paragraph.text))
        .or_else(|| manifest(tree, ""))
        .or_else(|| of(&|paragraph| paragraph.is_opening && !is_instruction(&paragraph.text)))
        .or_else(|| of(&|paragraph| is_description(&paragraph.text)))
        .or_else(|| directories.into_iter().find_map(|of| description(tree, of)))
        .or_else(|| of(&|_| true))
        .map(|(text, from)| About { text: telling_sentence(&text), from })
}

/// Returns the first sentence of a text that says what something is; else its first one.
fn telling_sentence(text: &str) -> String {
    let text = folded(text);
    let mut rest = &*text;
    let sentences = std::iter::from_fn(|| {
        let (sentence, after) = split_sentence(rest);
        rest = after;
        (!sentence.is_empty()).then_some(sentence)
    });
    let sentences: Vec<&str> = sentences.collect();
    let adds = |sentence: &str| {
        let first = sentence.split(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
        ["Additionally", "Also", "Furthermore", "However", "Moreover"].contains(&first)
    };
    let telling = sentences.iter().find(|sentence| is_description(sentence) && !adds(sentence));
    let found = telling.or(sentences.first()).copied().unwrap_or_default();
    cut(found.trim_end_matches(':'), MAX_CHARS)
}

/// Whether a text asks for money.
fn is_appeal(text: &str) -> bool {
    const WORDS: [&str; 6] =
        ["backers", "donat", "funding platform", "open collective", "patreon", "sponsor"];
    let text = text.to_lowercase();
    WORDS.iter().any(|word| text.contains(word))
}

/// Whether a text tells a reader what to do.
fn is_instruction(text: &str) -> bool {
    const VERBS: &str = "install run see use using download visit check please note click read open \
        make build clone add this these if for to when before";
    let first = text.split_whitespace().next().unwrap_or_default().to_lowercase();
    VERBS.split_whitespace().any(|verb| verb == first)
}

/// Returns what a directory says that it is, and the path of the file that says so.
fn description(tree: &Tree, of: &str) -> Option<(String, String)> {
    readme(tree, of, |paragraph| is_description(&paragraph.text)).or_else(|| manifest(tree, of))
}

/// Returns the first paragraph of this kind in the README of a directory, and its path.
pub(super) fn readme(
    tree: &Tree,
    of: &str,
    is_wanted: impl Fn(&Paragraph) -> bool,
) -> Option<(String, String)> {
    let is_readme = |path: &&&str| {
        let stem = file_name(path).split('.').next().unwrap_or_default();
        // `README_gpu.md` is about a part.
        directory(path) == of && stem.eq_ignore_ascii_case("readme")
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
        let mut first = paragraphs(markup, &text).into_iter().take(MAX_PARAGRAPHS);
        first.find(|p| is_wanted(p) && !is_appeal(&p.text)).map(|p| (p.text, (*path).to_string()))
    })
}

/// Returns the description of the package in a directory, and the path of its manifest.
fn manifest(tree: &Tree, of: &str) -> Option<(String, String)> {
    let beside = tree.paths.iter().filter(|path| directory(path) == of);
    beside.copied().find_map(|path| {
        let text = is_manifest(path).then(|| (tree.read)(path)).flatten()?;
        let about = package(path, &text)?.about;
        // `@scope/name` says nothing.
        (about.split_whitespace().count() > 2).then(|| (about, path.to_string()))
    })
}
