//! Finds the scripts that were built from other files of the tree. A folder named `dist` or `lib` is
//! evidence only: what else the tree has decides.

use std::collections::{BTreeMap, HashSet};

use crate::languages::code_family;
use crate::text::join;

/// Folders that hold what was built, and nothing else, if anything in them was built.
const OUTPUTS: [&str; 2] = ["dist", "out"];
/// Folders that may hold what was built beside what was written.
const MIXED: [&str; 5] = ["build", "cjs", "esm", "lib", "umd"];
/// Folders of sources beside these folders; the empty one is the folder around both.
const SOURCES: [&str; 4] = ["src", "source", "app", ""];
/// Folders in such a folder that hold the same for different loaders.
const FORMATS: [&str; 7] = ["browser", "cjs", "es", "esm", "node", "src", "umd"];
/// Extensions of what is built, the longest first.
const BUILT: [&str; 8] = [".d.mts", ".d.cts", ".d.ts", ".mjs", ".cjs", ".jsx", ".css", ".js"];
/// Extensions of languages that are compiled to these.
const COMPILED: [&str; 11] = [
    ".tsx", ".mts", ".cts", ".ts", ".coffee", ".svelte", ".vue", ".jsx", ".scss", ".sass", ".less",
];
/// Stems of files that any two folders may share.
const NAMELESS: [&str; 2] = ["index", "main"];
/// A folder of outputs is not what the project is written in, if there is at least one other file of
/// code for this many scripts in it.
const SCRIPTS_PER_SOURCE: usize = 4;

/// A script in a folder that may hold what was built.
struct Script<'p> {
    /// The folder, with the one around it.
    folder: &'p str,
    path: &'p str,
    has_source: bool,
}

/// Returns the scripts that were built from other files, by path.
pub(super) fn built<'p>(paths: &[&'p str]) -> HashSet<&'p str> {
    let folders = || paths.iter().filter_map(|path| Some((*path, output_folder(path)?)));
    if folders().next().is_none() {
        return HashSet::new();
    }
    let stems = Stems::of(paths);
    let scripts: Vec<Script> = folders()
        .map(|(path, folder)| Script { folder, path, has_source: stems.have_source(path, folder) })
        .collect();
    // By the folder: the scripts, and those with a source.
    let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for script in &scripts {
        let (all, with_source) = counts.entry(script.folder).or_default();
        *all += 1;
        *with_source += usize::from(script.has_source);
    }
    let n_in_outputs: usize =
        counts.iter().filter(|(folder, _)| is_output(folder)).map(|(_, (all, _))| all).sum();
    let others = paths.iter().filter(|path| {
        !is_declaration(path)
            && output_folder(path).is_none_or(|folder| !is_output(folder))
            && code_family(path).is_some()
    });
    let n_enough = n_in_outputs.div_ceil(SCRIPTS_PER_SOURCE);
    let has_others = n_in_outputs > 0 && others.take(n_enough).count() == n_enough;
    let is_built = |script: &&Script| {
        let (all, with_source) = counts[script.folder];
        let is_of_sources = with_source > 0 && with_source * 2 >= all;
        if is_output(script.folder) {
            has_others || is_of_sources
        } else {
            is_of_sources && script.has_source
        }
    };
    scripts.iter().filter(is_built).map(|script| script.path).collect()
}

/// Returns the folder that may hold what was built, if a path is a script in one. A folder below
/// sources is a part of them.
fn output_folder(path: &str) -> Option<&str> {
    stem(path, &BUILT)?;
    let (folders, _) = path.rsplit_once('/')?;
    let mut start = 0;
    for folder in folders.split('/') {
        let end = start + folder.len();
        if OUTPUTS.contains(&folder) || MIXED.contains(&folder) {
            return Some(&path[..end]);
        }
        if matches!(folder, "src" | "source") {
            return None;
        }
        start = end + 1;
    }
    None
}

fn is_output(folder: &str) -> bool {
    OUTPUTS.contains(&folder.rsplit('/').next().unwrap_or(folder))
}

fn is_declaration(path: &str) -> bool {
    [".d.ts", ".d.mts", ".d.cts"].iter().any(|end| path.ends_with(end))
}

/// Returns a path without its extension, if it is one of these.
fn stem<'p>(path: &'p str, extensions: &[&str]) -> Option<&'p str> {
    extensions.iter().find_map(|extension| path.strip_suffix(extension))
}

/// Returns a path up to the first dot of the file name: `app` of `app.bundle` and `app.umd`.
fn first_stem(path: &str) -> Option<&str> {
    let start = path.rfind('/').map_or(0, |at| at + 1);
    path[start..].find('.').map(|at| &path[..start + at])
}

/// The paths, without extensions, of the files of which scripts may be built.
struct Stems<'p> {
    /// Files in languages that are compiled.
    compiled: HashSet<&'p str>,
    /// Scripts, which other ones may be built of.
    scripts: HashSet<&'p str>,
}

impl<'p> Stems<'p> {
    fn of(paths: &[&'p str]) -> Self {
        let written = || paths.iter().filter(|path| !is_declaration(path));
        Self {
            compiled: written().filter_map(|path| stem(path, &COMPILED)).collect(),
            scripts: written().filter_map(|path| stem(path, &BUILT)).collect(),
        }
    }

    /// Whether there is a file of which this script in this folder may have been built.
    fn have_source(&self, path: &str, folder: &str) -> bool {
        let Some(inner) = stem(path, &BUILT).and_then(|stem| stem.get(folder.len() + 1..)) else {
            return false;
        };
        let (around, own) = folder.rsplit_once('/').unwrap_or(("", folder));
        let without_format = inner
            .split_once('/')
            .filter(|(format, _)| FORMATS.contains(format))
            .map(|(_, rest)| rest);
        let mut inners = vec![inner];
        inners.extend(without_format);
        let shorter: Vec<&str> = inners.iter().filter_map(|inner| first_stem(inner)).collect();
        inners.extend(shorter);
        let is_mixed = !OUTPUTS.contains(&own);
        inners.iter().any(|inner| {
            let is_nameless = NAMELESS.contains(&inner.rsplit('/').next().unwrap_or(inner));
            let in_sources = SOURCES.iter().any(|sources| {
                let stem = join(&join(around, sources), inner);
                let is_beside = sources.is_empty();
                self.compiled.contains(&*stem)
                    || !(is_beside || is_mixed && is_nameless) && self.scripts.contains(&*stem)
            });
            // A compiler without a folder of its own writes beside the sources.
            in_sources || self.compiled.contains(&*join(folder, inner))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the scripts of these paths that were built, in order.
    fn found<'p>(paths: &[&'p str]) -> Vec<&'p str> {
        let built = built(paths);
        paths.iter().copied().filter(|path| built.contains(path)).collect()
    }

    #[test]
    fn a_script_is_built_if_its_source_is_there() {
        for (path, source) in [
            ("dist/app.js", "src/app.ts"),
            ("lib/deep/read.js", "src/deep/read.ts"),
            ("lib/read.js", "src/read.js"),
            ("lib/index.js", "src/index.ts"),
            ("packages/a/build/read.mjs", "packages/a/src/read.mts"),
            ("build/cjs/read.cjs", "src/read.ts"),
            ("out/read.bundle.js", "src/read.js"),
            ("lib/read.js", "read.coffee"),
            ("lib/read.js", "lib/read.ts"),
            ("lib/style.css", "src/style.scss"),
            ("lib/read.d.ts", "src/read.ts"),
        ] {
            assert_eq!(found(&[path, source]), [path], "{source}");
        }
    }

    #[test]
    fn a_folder_of_written_scripts_is_not_built() {
        for paths in [
            &["lib/read.js", "lib/write.js", "test/read.js"][..],
            &["lib/index.js", "src/index.js"],
            // One of many names is shared.
            &["lib/read.js", "lib/a.js", "lib/b.js", "lib/c.js", "src/read.js", "src/d.js"],
            &["build/webpack.config.js", "build/utils.js", "src/app.ts"],
            &["src/dist/normal.js", "src/app.ts"],
            &["lib/cli.js", "cli.js"],
            // A package that has nothing else.
            &["dist/app.js", "dist/b.js", "dist/c.js", "dist/d.js", "dist/e.js", "index.js"],
            &["dist/app.js", "dist/app.d.ts", "README.md"],
            &["dist/notes.md", "src/a.rs"],
            &["mydist/a.js", "src/a.rs"],
        ] {
            assert!(found(paths).is_empty(), "{paths:?}");
        }
    }

    #[test]
    fn scripts_for_distribution_are_built_in_a_project_of_other_code() {
        let paths = ["dist/app.js", "src/lib.rs", "fs/event.c"];
        assert_eq!(found(&paths), ["dist/app.js"]);
        assert_eq!(found(&["web/dist/a.js", "web/dist/b.js", "web/main.go"]).len(), 2);
    }
}
