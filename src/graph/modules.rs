//! Finds the files that the written name of a module may mean.

use crate::languages::Modules;

/// Names of directories and files that module names leave out.
const UNNAMED: [&str; 11] = [
    "src", "lib", "mod", "main", "index", "__init__", "init", "packages", "crates", "source",
    "Sources",
];

/// The place of a file as imports name it: `crates/store/src/cache/mod.rs` is `store::cache`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ModulePath {
    pub(super) parts: Vec<String>,
    /// Number of parts that come from the directory.
    n_directory: usize,
    /// All directories of the path, including those that `parts` leaves out.
    above: Vec<String>,
    /// Number of parts above the last `src`, `tests`, `benches` or `examples`.
    n_root: usize,
    /// The name of the crate that the file belongs to. It is the first of `parts`.
    pub(super) own_crate: Option<String>,
}

/// Folders of a package of Cargo whose files are crates of their own.
const OTHER_TARGETS: [&str; 3] = ["tests", "benches", "examples"];

impl ModulePath {
    pub(super) fn new(path: &str) -> Self {
        let (directory, file) = path.rsplit_once('/').unwrap_or(("", path));
        let stem = file.strip_suffix(".d.ts").or(file.rsplit_once('.').map(|(stem, _)| stem));
        let stem = stem.filter(|s| !s.is_empty()).unwrap_or(file);
        let mut place = Self::default();
        for part in directory.split('/').filter(|p| !p.is_empty()) {
            place.above.push(part.to_string());
            if part == "src"
                || OTHER_TARGETS.contains(&part) && !place.above.contains(&"src".into())
            {
                place.n_root = place.parts.len();
            }
            push(&mut place.parts, part);
        }
        place.n_directory = place.parts.len();
        push(&mut place.parts, stem);
        place
    }

    /// Returns the place of a file in the package `name`, whose manifest is in the directory `root`.
    /// `target` is the directory of the nearest `lib.rs` or `main.rs` (both end with a `/`, or are
    /// empty). What is in `src` is the library; another target is a crate that only its own files
    /// name.
    pub(super) fn of_crate(path: &str, root: &str, name: &str, target: Option<&str>) -> Self {
        let below = path.strip_prefix(root).unwrap_or(path);
        let first = below.split('/').next().unwrap_or(below);
        let target = target.and_then(|target| target.strip_prefix(root)).filter(|t| *t != "src/");
        let (own, below) = match target {
            Some(target) if !target.is_empty() => {
                (format!("{name}#{target}"), below.strip_prefix(target).unwrap_or(below))
            }
            _ if OTHER_TARGETS.contains(&first) => {
                let below = below.split_once('/').map_or(below, |(_, rest)| rest);
                (format!("{name}#{first}"), below)
            }
            _ => (name.to_string(), below),
        };
        let mut place = Self::new(below);
        place.parts.insert(0, own);
        place.n_directory = place.parts.len().saturating_sub(1).max(1);
        place.n_root = 1;
        place.own_crate = Some(name.to_string());
        place
    }

    fn directory(&self) -> &[String] {
        &self.parts[..self.n_directory]
    }
}

fn push(parts: &mut Vec<String>, part: &str) {
    if !UNNAMED.contains(&part) {
        parts.push(part.replace('-', "_"));
    }
}

/// A place that an import may name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Module {
    parts: Vec<String>,
    /// Whether the parts begin at the root of the project.
    is_anchored: bool,
    /// Whether the module is exactly the files of a directory, as in Go.
    is_package: bool,
}

/// Returns the places that the written name of a module may mean in the file `from`.
pub(super) fn modules(written: &str, style: Modules, from: &ModulePath) -> Vec<Module> {
    match style {
        Modules::Rust => rust(written, from),
        Modules::Python if written.starts_with('.') => {
            let rest = written.trim_start_matches('.');
            let up = written.len() - rest.len() - 1;
            relative(&from.above, up, rest.split('.'))
        }
        _ if written.starts_with("./")
            || written.starts_with("../")
            || written == "."
            || written == ".." =>
        {
            let up = written.split('/').filter(|p| *p == "..").count();
            let rest: Vec<&str> =
                written.split('/').filter(|p| !p.is_empty() && *p != "." && *p != "..").collect();
            relative(&from.above, up, rest.into_iter().map(without_extension))
        }
        Modules::Paths(separators) if !written.contains('\\') => {
            // `package:app/src/a.dart` is `lib/src/a.dart` of the package.
            let package = written.strip_prefix("package:").and_then(|path| path.split_once('/'));
            let written = package.map_or(written, |(_, path)| path);
            let parts: Vec<&str> = if separators.contains(&'.') {
                written.split(separators).collect()
            } else {
                written.split(separators).map(without_extension).collect()
            };
            let mut out = relative(&from.above, 0, parts.iter().copied());
            out.push(floating(parts.into_iter()));
            out
        }
        Modules::Directories => vec![Module { is_package: true, ..floating(written.split('/')) }],
        _ => vec![floating(
            written
                .split(['.', '/', ':', '\\'])
                .filter(|p| !p.starts_with('@'))
                .map(without_extension),
        )],
    }
}

fn rust(written: &str, from: &ModulePath) -> Vec<Module> {
    let parts: Vec<&str> = written.split("::").filter(|p| !p.is_empty()).collect();
    let anchored = |base: &[String], rest: &[&str]| relative(base, 0, rest.iter().copied());
    match parts.as_slice() {
        ["crate" | "$crate", rest @ ..] => {
            anchored(&from.parts[..from.n_root.min(from.parts.len())], rest)
        }
        ["self", rest @ ..] => anchored(&from.parts, rest),
        ["super", rest @ ..] => {
            let up = 1 + rest.iter().take_while(|p| **p == "super").count();
            let rest = &rest[up - 1..];
            // A module within the file counts as a level, too.
            let levels = [up, up.saturating_sub(1)]
                .map(|n| &from.parts[..from.parts.len().saturating_sub(n)]);
            levels.iter().flat_map(|base| anchored(base, rest)).collect()
        }
        rest => {
            let mut out = anchored(&from.parts, rest);
            if from.parts.first().is_some_and(|first| first.contains('#')) {
                // Each file of `tests` is a crate, and its modules are beside it.
                out.extend(anchored(&from.parts[..1], rest));
            }
            // The name of a crate; without manifests, anything.
            let place = floating(rest.iter().copied());
            out.push(Module { is_anchored: from.own_crate.is_some(), ..place });
            out
        }
    }
}

fn without_extension(part: &str) -> &str {
    match part.rsplit_once('.') {
        Some((
            stem,
            "js" | "ts" | "tsx" | "jsx" | "mjs" | "cjs" | "vue" | "svelte" | "h" | "hpp" | "hh"
            | "c" | "cc" | "cpp" | "rb" | "php" | "zig" | "sh" | "dart",
        )) => stem,
        _ => part,
    }
}

fn relative<'a>(base: &[String], up: usize, rest: impl Iterator<Item = &'a str>) -> Vec<Module> {
    let mut parts = Vec::new();
    base[..base.len().saturating_sub(up)].iter().for_each(|p| push(&mut parts, p));
    rest.filter(|p| !p.is_empty()).for_each(|p| push(&mut parts, p));
    vec![Module { parts, is_anchored: true, is_package: false }]
}

fn floating<'a>(written: impl Iterator<Item = &'a str>) -> Module {
    let mut parts = Vec::new();
    written.filter(|p| !p.is_empty()).for_each(|p| push(&mut parts, p));
    Module { parts, is_anchored: false, is_package: false }
}

impl Module {
    /// Returns the package of the files in this directory.
    pub(super) fn of_directory(directory: &str) -> Self {
        let parts = directory.split('/').filter(|p| !p.is_empty()).map(String::from).collect();
        Self { parts, is_anchored: true, is_package: true }
    }

    /// Returns the last part; empty if there is none.
    pub(super) fn last(&self) -> &str {
        self.parts.last().map_or("", String::as_str)
    }

    /// Returns how likely a file is this module: 1 if it is, less if it is below it (and may be
    /// re-exported), 0 if not.
    pub(super) fn matches(&self, place: &ModulePath, package: &str) -> f32 {
        const BELOW: f32 = 0.85;
        let (parts, mine) = (&place.parts, &self.parts);
        if self.is_package {
            let directory = place.directory();
            let is_it = if self.is_anchored {
                *mine == place.above
            } else if directory.is_empty() {
                mine.last().is_some_and(|l| l == package)
            } else {
                mine.ends_with(directory)
            };
            return if is_it { 1.0 } else { 0.0 };
        }
        if parts == mine {
            return 1.0;
        }
        if self.is_anchored {
            return if parts.starts_with(mine) { BELOW } else { 0.0 };
        }
        match mine.len() {
            0 => 0.0,
            // A single word matches only at the start of a path.
            1 if !parts.starts_with(mine) => 0.0,
            1 => BELOW,
            _ if parts.ends_with(mine) => 1.0,
            n if parts.windows(n).any(|w| w == mine) => BELOW,
            _ => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::languages::names_of;

    #[test]
    fn imports_lead_to_files() {
        for (language, from, written, to, want) in [
            ("rust", "src/live/manager.rs", "crate::store", "src/store/mod.rs", 1.0),
            ("rust", "src/live/manager.rs", "super", "src/live/mod.rs", 1.0),
            ("rust", "src/live/manager.rs", "super", "src/store/mod.rs", 0.0),
            ("rust", "tokio/src/fs/file.rs", "crate::sync", "tokio/src/sync/mutex.rs", 0.85),
            ("rust", "tokio-util/src/codec/mod.rs", "tokio::sync", "tokio/src/sync/mutex.rs", 0.85),
            ("rust", "src/a.rs", "std::sync", "src/sync.rs", 0.0),
            ("python", "mypy/checker.py", "mypy.nodes", "mypy/nodes.py", 1.0),
            ("python", "pkg/a/b.py", "..c", "pkg/c.py", 1.0),
            ("python", "pkg/a/b.py", ".", "pkg/a/__init__.py", 1.0),
            ("python", "pkg/a.py", "io", "pkg/io.py", 0.0),
            ("go", "gin.go", "github.com/gin-gonic/gin/binding", "binding/binding.go", 1.0),
            ("go", "gin.go", "encoding/json", "internal/json/json.go", 0.0),
            ("typescript", "packages/a/src/x.ts", "./y", "packages/a/src/y.ts", 1.0),
            ("typescript", "packages/a/src/x.ts", "../b/index.js", "packages/a/b/index.ts", 1.0),
            (
                "typescript",
                "packages/a/src/x.ts",
                "@vue/shared",
                "packages/shared/src/general.ts",
                0.85,
            ),
            (
                "java",
                "A.java",
                "org.apache.lang",
                "src/main/java/org/apache/lang/Strings.java",
                0.85,
            ),
            ("c", "src/a.c", "util/b.h", "src/util/b.h", 1.0),
        ] {
            let package = if to.contains('/') { "" } else { "gin" };
            let place = ModulePath::new(to);
            let got = modules(written, names_of(language).modules, &ModulePath::new(from))
                .iter()
                .map(|m| m.matches(&place, package))
                .fold(0.0, f32::max);
            assert!((got - want).abs() < 0.01, "{language} {from}: {written} → {to} is {got}");
        }
    }
}
