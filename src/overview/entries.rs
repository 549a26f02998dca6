//! Where the programs and libraries of a repository begin.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::{Tree, directory, extension, file_name, join};

/// Maximum number of entries.
const MAX_ENTRIES: usize = 12;

/// A place where a program or a library begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Entry {
    /// Relative to the root.
    pub path: String,
    /// The line of its main function.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// `program`, `library`, or the name of a command.
    pub what: String,
}

/// Returns the entries that manifests name, then those at usual places. `mains`: functions with
/// which a program may begin, as path and line.
#[must_use]
pub fn entries(tree: &Tree, mains: &[(String, u32)]) -> Vec<Entry> {
    let mut seen: BTreeSet<String> = BTreeSet::new();
    let mut out: Vec<Entry> = Vec::new();
    let mut add = |path: String, what: String| {
        if tree.is_indexed(&path) && (tree.is_source)(&path) && seen.insert(path.clone()) {
            let line = mains.iter().find(|(of, _)| *of == path).map(|(_, line)| *line);
            out.push(Entry { path, line, what });
        }
    };
    for (path, command) in named(tree) {
        add(path, command);
    }
    let mut programs: Vec<&str> =
        tree.paths.iter().copied().filter(|path| is_program(path)).collect();
    programs.extend(mains.iter().map(|(path, _)| &**path).filter(|path| is_main_file(path)));
    programs.sort_by_key(|path| (path.matches('/').count(), *path));
    for path in programs {
        add(path.to_string(), "program".into());
    }
    let mut libraries: Vec<&str> =
        tree.paths.iter().copied().filter(|path| is_library(path)).collect();
    libraries.sort_by_key(|path| (path.matches('/').count(), *path));
    for path in libraries {
        add(path.to_string(), "library".into());
    }
    out.truncate(MAX_ENTRIES);
    out
}

fn is_program(path: &str) -> bool {
    path.ends_with("src/main.rs")
        || (directory(path).ends_with("src/bin") && extension(path) == "rs")
        || matches!(file_name(path), "__main__.py" | "manage.py" | "config.ru")
}

/// Whether a file with a main function is one that a program begins with. In the languages where
/// any file may have such a function, only the usual names count.
fn is_main_file(path: &str) -> bool {
    let stem = file_name(path).split('.').next().unwrap_or_default();
    let is_script = matches!(extension(path), "py" | "rb" | "js" | "ts" | "sh" | "bash" | "rs");
    !is_script || matches!(stem, "main" | "cli" | "app" | "index")
}

fn is_library(path: &str) -> bool {
    let is_root = |name: &str| path == name || path == format!("src/{name}");
    path.ends_with("src/lib.rs")
        || ["index.ts", "index.js", "index.tsx", "index.mjs", "main.ts"]
            .iter()
            .any(|name| is_root(name))
        || (file_name(path) == "__init__.py" && {
            let package = directory(path);
            !package.is_empty() && matches!(directory(package), "" | "src")
        })
}

/// Returns the entries that manifests in the root name, each with the name of its command.
fn named(tree: &Tree) -> Vec<(String, String)> {
    let mut out = Vec::new();
    let text = |value: &Value| value.as_str().map(|path| path.trim_start_matches("./").to_string());
    if let Some(manifest) = tree.manifest("Cargo.toml") {
        for bin in manifest.get("bin").and_then(Value::as_array).into_iter().flatten() {
            let name = bin.get("name").and_then(text).unwrap_or_else(|| "program".into());
            out.extend(bin.get("path").and_then(text).map(|path| (path, name)));
        }
    }
    if let Some(manifest) = tree.manifest("package.json") {
        match manifest.get("bin") {
            Some(Value::Object(bins)) => {
                out.extend(
                    bins.iter().filter_map(|(name, path)| Some((text(path)?, name.clone()))),
                );
            }
            Some(path) => out.extend(text(path).map(|path| (path, "program".into()))),
            None => {}
        }
        let main = manifest.get("main").and_then(text);
        out.extend(main.map(|path| (path, "library".into())));
    }
    if let Some(manifest) = tree.manifest("pyproject.toml") {
        for pointer in ["/project/scripts", "/tool/poetry/scripts"] {
            let scripts = manifest.pointer(pointer).and_then(Value::as_object);
            for (name, target) in scripts.into_iter().flatten() {
                let module =
                    target.as_str().unwrap_or_default().split(':').next().unwrap_or_default();
                let path = module.replace('.', "/");
                let places = ["", "src"].iter().flat_map(|root| {
                    [join(root, &format!("{path}.py")), join(root, &format!("{path}/__init__.py"))]
                });
                out.extend(
                    places.filter(|path| tree.is_indexed(path)).map(|path| (path, name.clone())),
                );
            }
        }
    }
    out
}
