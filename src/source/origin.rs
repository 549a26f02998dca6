//! Computes what the settings and the tree declare about the origin of its files.
//!
//! Settings come before `.gitattributes`, which come before the licences of folders. The header of
//! a file and the names of its folders count where none of them says anything; others judge those.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

use globset::GlobSet;
use serde::{Deserialize, Serialize};

use super::ignored::{self, Gitignore};
use crate::dir::{Dir, FileKind};

/// What is declared about the origin of a file; `None` where nothing is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeclaredOrigin {
    /// Whether a program wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generated: Option<bool>,
    /// Whether another project did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vendored: Option<bool>,
    /// Whether other files of the tree show that a program built it. It counts where nothing is
    /// declared.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub built: bool,
}

/// Settings about the origin of files.
#[derive(Debug, Clone, Default)]
pub struct OriginSettings {
    /// Matches paths of code of other projects.
    pub vendored: GlobSet,
    /// Matches paths of the project's own code. It comes before `vendored`.
    pub ordinary: GlobSet,
}

impl DeclaredOrigin {
    /// Whether nothing is declared.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Name of the files with git's attributes.
pub(super) const ATTRIBUTES: &str = ".gitattributes";
/// A longer pattern in such a file, in bytes, is not used: no path needs it.
const MAX_PATTERN: usize = 1024;
/// A larger licence, in bytes, counts as absent.
const MAX_LICENCE: u64 = 64 << 10;
/// Most licences that are read in a folder.
const MAX_LICENCES: usize = 16;
/// Files that describe a package. A package with a licence of its own is a part of the project.
const PACKAGES: &str = "Cargo.toml build.gradle build.gradle.kts composer.json go.mod \
    mix.exs package.json pom.xml pubspec.yaml pyproject.toml setup.py";

/// The rules that apply in a folder.
#[derive(Debug, Clone, Default)]
pub(super) struct OriginRules {
    attributes: Option<Arc<Attributes>>,
    /// The copyright holders of the project; `None` if no licence at its root names one. Then
    /// nothing tells its folders from those of others.
    own: Option<Arc<BTreeSet<String>>>,
    /// Whether the folder, or one above, has the licence of another holder.
    is_of_others: bool,
}

/// The attributes that apply in a folder, as rules: a pattern sets one, and `!` unsets it.
#[derive(Debug)]
struct Attributes {
    above: Option<Arc<Attributes>>,
    generated: Gitignore,
    vendored: Gitignore,
    /// The number of these rules and those above.
    count: usize,
}

impl OriginRules {
    /// Returns the rules of the directories between the top of the repository and `root`
    /// (absolute).
    pub(super) fn above(root: &Path) -> Self {
        let add = |above, path: &Path| match Dir::open(path) {
            Ok(dir) => Attributes::within(above, &dir, path),
            Err(_) => above,
        };
        let attributes = ignored::repository_above(root).into_iter().fold(None, add);
        Self { attributes, ..Self::default() }
    }

    /// Returns the rules in a directory, added to those above it. `path` is its absolute path.
    pub(super) fn within(
        mut self,
        dir: &Dir,
        path: &Path,
        names: &[(OsString, FileKind)],
        is_root: bool,
    ) -> Self {
        let is_file = |(_, kind): &&(OsString, FileKind)| *kind == FileKind::File;
        let files = || names.iter().filter(is_file).filter_map(|(name, _)| name.to_str());
        if files().any(|name| name == ATTRIBUTES) {
            self.attributes = Attributes::within(self.attributes, dir, path);
        }
        let holders = || -> BTreeSet<String> {
            let names = files().filter(|name| is_licence(name)).take(MAX_LICENCES);
            let texts = names.filter_map(|name| dir.read(name, MAX_LICENCE).ok());
            texts.flat_map(|text| holders(&text)).collect()
        };
        if is_root {
            self.own = Some(holders()).filter(|found| !found.is_empty()).map(Arc::new);
        } else if let Some(own) = self.own.as_ref().filter(|_| !self.is_of_others)
            && !files().any(|name| PACKAGES.split(' ').any(|known| known == name))
        {
            let found = holders();
            self.is_of_others = !found.is_empty() && found.is_disjoint(own);
        }
        self
    }

    /// Returns what is declared about a file. `full` is its absolute path, `path` that relative to
    /// the root.
    pub(super) fn of(&self, settings: &OriginSettings, full: &Path, path: &str) -> DeclaredOrigin {
        let is_ordinary = settings.ordinary.is_match(path);
        if is_ordinary || settings.vendored.is_match(path) {
            let (generated, vendored) = (Some(false), Some(!is_ordinary));
            return DeclaredOrigin { generated, vendored, built: false };
        }
        let nearest = |of: fn(&Attributes) -> &Gitignore| {
            let mut chain =
                std::iter::successors(self.attributes.as_deref(), |a| a.above.as_deref());
            chain.find_map(|attributes| ignored::last_rule(of(attributes), full))
        };
        DeclaredOrigin {
            generated: nearest(|a| &a.generated),
            vendored: nearest(|a| &a.vendored).or_else(|| self.is_of_others.then_some(true)),
            built: false,
        }
    }
}

impl Attributes {
    fn within(above: Option<Arc<Self>>, dir: &Dir, path: &Path) -> Option<Arc<Self>> {
        let Some(text) = ignored::text(dir, path, ATTRIBUTES) else { return above };
        let mut count = above.as_ref().map_or(0, |above| above.count);
        let mut rules = |attribute: &str| {
            // One line for each, so that warnings have the right number.
            let lines: Vec<String> =
                text.lines().map(|line| rule(line, attribute).unwrap_or_default()).collect();
            let rules = ignored::parsed(path, ATTRIBUTES, &lines.join("\n"), count);
            count += rules.len();
            rules
        };
        let (generated, vendored) = (rules("linguist-generated"), rules("linguist-vendored"));
        if generated.is_empty() && vendored.is_empty() {
            return above;
        }
        Some(Arc::new(Self { above, generated, vendored, count }))
    }
}

/// Returns the rule of an ignore file that says what a line says about an attribute.
fn rule(line: &str, attribute: &str) -> Option<String> {
    let line = line.trim_start_matches('\u{feff}').trim();
    let (pattern, rest) = match line.strip_prefix('"') {
        Some(quoted) => quoted.split_once('"')?,
        None => line.split_once(char::is_whitespace)?,
    };
    // Git allows no pattern that begins with `!`, and `[attr]` defines a name for attributes.
    if pattern.starts_with(['#', '!'])
        || pattern.starts_with("[attr]")
        || pattern.len() > MAX_PATTERN
    {
        return None;
    }
    let is_set = |word: &str| {
        let (is_set, word) = word.strip_prefix('-').map_or((true, word), |word| (false, word));
        match word.strip_prefix(attribute)? {
            "" => Some(is_set),
            value => value.strip_prefix('=').map(|value| value != "false"),
        }
    };
    let is_set = rest.split_whitespace().rev().find_map(is_set)?;
    Some(format!("{}{pattern}", if is_set { "" } else { "!" }))
}

/// Whether a file with this name holds a licence: `LICENSE`, `LICENSE-MIT`, `COPYING.LESSER`,
/// `license.txt`; not `license.rs` and `license-header.txt`.
pub(super) fn is_licence(name: &str) -> bool {
    const NAMES: [&str; 5] = ["license", "licence", "copying", "copyright", "unlicense"];
    const ENDINGS: [&str; 4] = ["md", "txt", "rst", "adoc"];
    let has_capital = |text: &str| text.contains(|c: char| c.is_uppercase());
    let lower = name.to_lowercase();
    let rest = NAMES.iter().find_map(|prefix| lower.strip_prefix(prefix));
    let ending = name.rsplit_once('.').map(|(_, ending)| ending);
    rest.is_some_and(|rest| {
        rest.is_empty()
            || rest.starts_with('.')
            || rest.starts_with(['-', '_']) && name.starts_with(char::is_uppercase)
    }) && ending.is_none_or(|ending| ENDINGS.contains(&ending) || has_capital(ending))
}

/// Returns the words of the names in the copyright lines of a licence, in lower case, without those
/// that say nothing about who it is.
fn holders(text: &[u8]) -> BTreeSet<String> {
    const NOBODY: &str = "all and author authors com contributors copyright corporation \
        foundation github http https inc llc ltd org other others present project reserved \
        rights the";
    let text = String::from_utf8_lossy(text).to_lowercase();
    let lines = text
        .lines()
        .map(|line| line.trim_start_matches(|c: char| c.is_whitespace() || "*#/-;>|".contains(c)));
    let has_year = |line: &str| line.split(|c: char| !c.is_ascii_digit()).any(|n| n.len() == 4);
    // The texts of the GNU licences have a holder and an example of their own.
    let is_of_text = |line: &str| {
        ["free software foundation", "<year>", "name of author"]
            .iter()
            .any(|text| line.contains(text))
    };
    let is_copyright = |line: &&str| {
        let is_marked = |line: &str| line.contains("(c)") || line.contains('©') || has_year(line);
        !is_of_text(line)
            && (line.starts_with("copyright") || line.starts_with("portions copyright"))
            && is_marked(line)
            || (line.starts_with("(c)") || line.starts_with('©')) && has_year(line)
    };
    lines
        .filter(is_copyright)
        .flat_map(|line| line.split(|c: char| !c.is_alphabetic()))
        .filter(|word| word.chars().count() > 2 && !NOBODY.split(' ').any(|nobody| nobody == *word))
        .map(String::from)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn licences_are_known_by_name() {
        for (name, want) in [
            ("LICENSE", true),
            ("LICENSE-MIT", true),
            ("license.txt", true),
            ("COPYING.LESSER", true),
            ("Licence.md", true),
            ("LICENSE.GPL-2", true),
            ("license.rs", false),
            ("license-header.txt", false),
            ("LicensePanel.form", false),
            ("licensed", false),
        ] {
            assert_eq!(is_licence(name), want, "{name}");
        }
    }

    #[test]
    fn holders_are_named_in_copyright_lines() {
        for (text, want) in [
            (
                "Copyright (c) 2014-present Sebastian McKenzie and other contributors",
                "mckenzie sebastian",
            ),
            (" * Copyright 2011 Diego Nehab", "diego nehab"),
            ("Copyright (c) Facebook, Inc. and its affiliates.", "affiliates facebook its"),
            ("© 2020 Zoë", "zoë"),
            ("Copyright (C) 2007 Free Software Foundation, Inc. <https://fsf.org/>", ""),
            ("    Copyright (C) <year>  <name of author>", ""),
            ("Copyright [yyyy] [name of copyright owner]", ""),
            ("(c) You must retain all copyright notices", ""),
            ("copyright notice and this permission notice", ""),
        ] {
            let found: Vec<String> = holders(text.as_bytes()).into_iter().collect();
            assert_eq!(found.join(" "), want, "{text}");
        }
    }

    #[test]
    fn a_line_of_attributes_is_a_rule() {
        for (line, want) in [
            ("*.go linguist-generated", Some("*.go")),
            ("a/** -diff linguist-generated=true text", Some("a/**")),
            ("a/** linguist-generated=false", Some("!a/**")),
            ("a -linguist-generated", Some("!a")),
            ("a linguist-generated -linguist-generated", Some("!a")),
            ("\"a b\" linguist-generated", Some("a b")),
            ("a linguist-generated-not", None),
            ("a linguist-vendored", None),
            ("# linguist-generated", None),
            ("!a linguist-generated", None),
            ("[attr]x linguist-generated", None),
            ("\"a linguist-generated", None),
            ("linguist-generated", None),
        ] {
            assert_eq!(rule(line, "linguist-generated").as_deref(), want, "{line}");
        }
    }
}
