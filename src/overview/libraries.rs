//! Which files belong to libraries: what is public there may be used by other projects.

use std::collections::HashMap;

use super::{Tree, directories_around, directory, file_name, join};

/// A manifest that says whether the files below it are a library.
struct LibraryManifest {
    languages: &'static [&'static str],
    /// The name of the file, or its end after `*`.
    name: &'static str,
    /// Whether this text describes a library; `None` if it says nothing about that.
    is_library: fn(&Tree, &str, &str) -> Option<bool>,
}

const ECMASCRIPT: &[&str] = &["javascript", "jsx", "typescript", "tsx", "vue", "svelte"];
const PYTHON: &[&str] = &["python"];
const JVM: &[&str] = &["java", "kotlin", "scala", "groovy"];
const C: &[&str] = &["c", "cpp", "objc"];

const MANIFESTS: [LibraryManifest; 15] = [
    LibraryManifest { languages: &["rust"], name: "Cargo.toml", is_library: cargo },
    LibraryManifest { languages: ECMASCRIPT, name: "package.json", is_library: npm },
    LibraryManifest { languages: PYTHON, name: "pyproject.toml", is_library: python },
    LibraryManifest { languages: PYTHON, name: "setup.py", is_library: |_, _, _| Some(true) },
    LibraryManifest { languages: PYTHON, name: "setup.cfg", is_library: setup_cfg },
    LibraryManifest { languages: &["go"], name: "go.mod", is_library: |_, _, _| Some(true) },
    LibraryManifest { languages: &["php"], name: "composer.json", is_library: composer },
    LibraryManifest { languages: &["ruby"], name: "*.gemspec", is_library: |_, _, _| Some(true) },
    LibraryManifest { languages: JVM, name: "pom.xml", is_library: jvm },
    LibraryManifest { languages: JVM, name: "build.gradle", is_library: jvm },
    LibraryManifest { languages: JVM, name: "build.gradle.kts", is_library: jvm },
    LibraryManifest { languages: C, name: "CMakeLists.txt", is_library: c },
    LibraryManifest { languages: C, name: "Makefile.am", is_library: c },
    LibraryManifest { languages: C, name: "configure.ac", is_library: c },
    LibraryManifest { languages: C, name: "meson.build", is_library: c },
];
/// Languages in which code without a manifest is a program.
const PROGRAMS: &[&[&str]] = &[ECMASCRIPT, PYTHON, C, &["go", "rust", "php", "ruby"]];

/// The libraries of a project.
#[derive(Debug, Default)]
pub struct Libraries {
    /// By the first language of the family and the directory: whether it is a library.
    of_directory: HashMap<(&'static str, String), bool>,
}

/// Reads the manifests of a project.
#[must_use]
pub fn libraries(tree: &Tree) -> Libraries {
    let mut found = Libraries::default();
    for path in tree.paths {
        let name = file_name(path);
        let is_named = |manifest: &&LibraryManifest| match manifest.name.strip_prefix('*') {
            Some(end) => name.ends_with(end),
            None => name == manifest.name,
        };
        for manifest in MANIFESTS.iter().filter(is_named) {
            let Some(text) = (tree.read)(path) else { continue };
            let Some(is_library) = (manifest.is_library)(tree, directory(path), &text) else {
                continue;
            };
            let key = (manifest.languages[0], directory(path).to_string());
            let known = found.of_directory.entry(key).or_default();
            *known |= is_library;
        }
    }
    found
}

impl Libraries {
    /// Whether a file belongs to a library: the nearest manifest of its language says so. In languages
    /// whose manifests are not read, every file does.
    #[must_use]
    pub fn has(&self, path: &str, language: &str) -> bool {
        let of_language = |manifest: &&LibraryManifest| manifest.languages.contains(&language);
        let Some(manifest) = MANIFESTS.iter().find(of_language) else { return true };
        let known = |at: &str| self.of_directory.get(&(manifest.languages[0], at.to_string()));
        let is_library = directories_around(path).find_map(known).copied();
        is_library.unwrap_or_else(|| !PROGRAMS.iter().any(|family| family.contains(&language)))
    }
}

fn cargo(tree: &Tree, of: &str, text: &str) -> Option<bool> {
    let manifest: toml::Table = toml::from_str(text).ok()?;
    let package = manifest.get("package")?;
    let is_published = package.get("publish").and_then(toml::Value::as_bool) != Some(false);
    let has_library = manifest.contains_key("lib") || (tree.has)(&join(of, "src/lib.rs"));
    Some(is_published && has_library)
}

fn npm(_: &Tree, _: &str, text: &str) -> Option<bool> {
    let manifest: serde_json::Value = serde_json::from_str(text).ok()?;
    let is_private = manifest.get("private").and_then(serde_json::Value::as_bool) == Some(true);
    let has_entry = ["main", "module", "exports", "types", "typings", "browser"]
        .iter()
        .any(|key| manifest.get(key).is_some());
    Some(!is_private && has_entry)
}

fn python(_: &Tree, _: &str, text: &str) -> Option<bool> {
    let is_package = ["[project]", "[tool.poetry]", "[tool.flit", "[build-system]"]
        .iter()
        .any(|section| text.contains(section));
    is_package.then(|| !text.contains("Private :: Do Not Upload"))
}

fn setup_cfg(_: &Tree, _: &str, text: &str) -> Option<bool> {
    text.contains("[metadata]").then_some(true)
}

fn composer(_: &Tree, _: &str, text: &str) -> Option<bool> {
    let manifest: serde_json::Value = serde_json::from_str(text).ok()?;
    Some(manifest.get("type").and_then(serde_json::Value::as_str) != Some("project"))
}

#[expect(clippy::unnecessary_wraps, reason = "the other manifests may not say")]
fn jvm(_: &Tree, _: &str, text: &str) -> Option<bool> {
    let programs = ["<packaging>war<", "spring-boot-maven-plugin", "com.android.application"];
    let plugins = ["id 'application'", "id(\"application\")", "org.springframework.boot"];
    Some(!programs.iter().chain(&plugins).any(|word| text.contains(word)))
}

fn c(_: &Tree, of: &str, text: &str) -> Option<bool> {
    let words = ["add_library", "LTLIBRARIES", "LT_INIT", "library("];
    let is_library = words.iter().any(|word| text.contains(word));
    (is_library || of.is_empty()).then_some(is_library)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_manifest_says_whether_other_projects_use_a_file() {
        let texts = [
            ("Cargo.toml", "[workspace]\nmembers = [\"a\", \"b\"]\n"),
            ("a/Cargo.toml", "[package]\nname = \"a\"\n"),
            ("a/src/lib.rs", ""),
            ("b/Cargo.toml", "[package]\nname = \"b\"\npublish = false\n[lib]\n"),
            ("web/package.json", "{\"private\": true, \"main\": \"index.js\"}"),
        ];
        let paths: Vec<&str> = texts.iter().map(|(path, _)| *path).collect();
        let read = |path: &str| {
            texts.iter().find(|(of, _)| *of == path).map(|(_, text)| (*text).to_string())
        };
        let has = |path: &str| paths.contains(&path);
        let tree = Tree { paths: &paths, is_source: &|_| true, has: &has, read: &read };
        let found = libraries(&tree);
        assert!(found.has("a/src/x.rs", "rust"));
        assert!(!found.has("b/src/lib.rs", "rust") && !found.has("src/main.rs", "rust"));
        assert!(!found.has("web/index.js", "javascript"));
        assert!(found.has("Main.hs", "haskell"), "its manifests are not read");
    }
}
