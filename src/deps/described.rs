//! What the manifest of a package says that it is.

use serde_json::Value;

use super::dependency::{Dependency, Ecosystem};
use super::folder::{join, small_file, text};
use crate::dir::Dir;
use crate::text::cut;

/// Most characters of a description.
const MAX_CHARS: usize = 400;

/// Returns the description in the manifest of a package whose folder is `root`; empty if its
/// ecosystem keeps none there.
#[must_use]
pub fn description(root: &Dir, dependency: &Dependency) -> String {
    let json = |name: &str| -> Option<String> {
        let manifest: Value = serde_json::from_str(&small_file(root, name)?).ok()?;
        Some(text(&manifest, "description").to_string())
    };
    let found = match dependency.ecosystem {
        Ecosystem::Cargo => small_file(root, "Cargo.toml").and_then(|manifest| {
            let manifest: Value = toml::from_str(&manifest).ok()?;
            Some(text(manifest.get("package")?, "description").to_string())
        }),
        Ecosystem::Npm => json("package.json"),
        Ecosystem::Composer => json("composer.json"),
        Ecosystem::Python => {
            let metadata = dependency.parts.iter().find(|part| part.ends_with(".dist-info"));
            metadata.and_then(|folder| small_file(root, &join(folder, "METADATA"))).and_then(
                |metadata| {
                    let headers = metadata.lines().take_while(|line| !line.is_empty());
                    let mut summaries = headers.filter_map(|line| line.strip_prefix("Summary: "));
                    summaries.next().map(String::from)
                },
            )
        }
        Ecosystem::Go
        | Ecosystem::Maven
        | Ecosystem::Bundler
        | Ecosystem::Hex
        | Ecosystem::Swift => None,
    };
    cut(found.unwrap_or_default().trim(), MAX_CHARS)
}
