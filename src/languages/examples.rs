//! Tells the examples of a project from its own code, by the folders of a path and by what else the
//! project has: `samples` is a folder of examples beside a library, and the library itself where all
//! code is there.

use std::collections::BTreeMap;

use bitcode::{Decode, Encode};
use xxhash_rust::xxh3::xxh3_64;

use super::testing::is_test_path;
use super::{LanguageKind, detect};

/// Names of folders, and of files at the root, that hold examples.
const NAMES: [&str; 7] = ["example", "examples", "_examples", "sample", "samples", "demo", "demos"];
/// Folders in which the code of a package begins. Below them, and below the folders in them, names
/// are those of modules and packages.
const SOURCES: [&str; 3] = ["src", "source", "sources"];
/// First parts of the names of packages.
const DOMAINS: [&str; 9] = ["com", "de", "dev", "edu", "fr", "gov", "io", "net", "org"];
/// Extensions of languages whose folders are named after packages.
const OF_PACKAGES: [&str; 5] = ["clj", "groovy", "java", "kt", "scala"];
/// Languages whose files are pages or styles, and say nothing about where the programs are.
const NO_PROGRAMS: [&str; 2] = ["css", "html"];
/// Code is nearly all in folders of examples from this share on, in tenths.
const NEARLY_ALL: usize = 9;

/// Returns the folder that holds the examples to which a path belongs, by the names of its folders
/// alone: empty for a file at the root.
#[must_use]
pub fn example_folder(path: &str) -> Option<&str> {
    let Some((folders, file)) = path.rsplit_once('/') else {
        let stem = path.split('.').next().unwrap_or(path).to_lowercase();
        return NAMES.contains(&&*stem).then_some("");
    };
    let has_packages =
        file.rsplit_once('.').is_some_and(|(_, extension)| OF_PACKAGES.contains(&extension));
    let (mut start, mut is_last) = (0, false);
    for folder in folders.split('/') {
        let end = start + folder.len();
        let name = folder.to_lowercase();
        if NAMES.contains(&&*name) {
            return Some(&path[..end]);
        }
        if is_last || has_packages && DOMAINS.contains(&&*name) {
            return None;
        }
        is_last = SOURCES.contains(&&*name);
        start = end + 1;
    }
    None
}

/// Returns a number for the language of a file of code, the same for languages that refer to each
/// other; `None` for documents, data and pages.
#[must_use]
pub fn code_family(path: &str) -> Option<u64> {
    let language = detect(path, "");
    match language.kind {
        LanguageKind::Code(grammar) if !NO_PROGRAMS.contains(&language.name) => {
            Some(xxh3_64(grammar.spec.names.family.as_bytes()))
        }
        _ => None,
    }
}

/// Says which code counts as examples in a project.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Encode, Decode)]
pub struct Examples {
    /// Whether the project consists of what is in folders of examples: then nothing is one.
    is_all: bool,
    /// The language of most code, if its code is nearly all in such folders: then it is none.
    main: Option<u64>,
}

impl Examples {
    /// Judges a project by the paths of its files.
    #[must_use]
    pub fn of<'p>(paths: impl Iterator<Item = &'p str>) -> Self {
        let mut count = ExampleCount::default();
        for path in paths.filter(|path| !is_test_path(path)) {
            if let Some(family) = code_family(path) {
                count.add(family, example_folder(path).is_some());
            }
        }
        count.judged()
    }

    /// Whether a file is an example.
    #[must_use]
    pub fn holds(self, path: &str) -> bool {
        example_folder(path).is_some() && self.is_one(code_family(path))
    }

    /// Whether a file in a folder of examples is one. `family` is that of its code, if it is code.
    #[must_use]
    pub fn is_one(self, family: Option<u64>) -> bool {
        !self.is_all && (self.main.is_none() || family.is_some() && family != self.main)
    }
}

/// Counts the files of code of a project, without tests.
#[derive(Debug, Default)]
pub struct ExampleCount {
    /// By the language: all files, and those in folders of examples.
    families: BTreeMap<u64, (usize, usize)>,
}

impl ExampleCount {
    /// Counts a file of code.
    pub fn add(&mut self, family: u64, in_folder: bool) {
        let (all, in_folders) = self.families.entry(family).or_default();
        *all += 1;
        *in_folders += usize::from(in_folder);
    }

    /// Judges what was counted.
    #[must_use]
    pub fn judged(&self) -> Examples {
        let is_nearly_all =
            |(all, in_folders): (usize, usize)| all > 0 && in_folders * 10 >= all * NEARLY_ALL;
        let sum = |a: (usize, usize), b: &(usize, usize)| (a.0 + b.0, a.1 + b.1);
        let main = self.families.iter().max_by_key(|(_, n)| **n);
        Examples {
            is_all: is_nearly_all(self.families.values().fold((0, 0), sum)),
            main: main.filter(|(_, n)| is_nearly_all(**n)).map(|(family, _)| *family),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_of_examples_is_one_in_the_place_of_such_folders() {
        for (path, want) in [
            ("examples/stream/stream.cpp", Some("examples")),
            ("packages/web/demo/app.ts", Some("packages/web/demo")),
            ("src/samples/java/org/acme/Shop.java", Some("src/samples")),
            ("examples/shop/src/main/java/org/acme/Shop.java", Some("examples")),
            ("demo.py", Some("")),
            ("src/main/java/org/springframework/samples/petclinic/Pet.java", None),
            ("src/main/kotlin/com/example/demo/Shop.kt", None),
            ("src/com/example/Shop.java", None),
            ("org/acme/samples/Shop.java", None),
            ("src/audio/samples/mixer.c", None),
            ("src/sampler/examples_of.rs", None),
            ("src/demo.rs", None),
            ("resamples/a.c", None),
        ] {
            assert_eq!(example_folder(path), want, "{path}");
        }
    }

    /// Returns the paths that are examples.
    fn examples<'p>(paths: &[&'p str]) -> Vec<&'p str> {
        let examples = Examples::of(paths.iter().copied());
        paths.iter().copied().filter(|path| examples.holds(path)).collect()
    }

    #[test]
    fn examples_are_judged_by_what_else_there_is() {
        let beside = ["src/lib.rs", "src/read.rs", "examples/a.rs", "examples/README.md"];
        assert_eq!(examples(&beside), ["examples/a.rs", "examples/README.md"]);
        // A project of samples has tests, tools and documents, too.
        let only = ["samples/a/A.java", "samples/b/B.java", "tests/c.py", "check.py", "README.md"];
        assert!(examples(&only).is_empty());
        // A program in another language shows how the library is used.
        let other = ["src/a.c", "src/b.c", "src/c.c", "examples/app/App.swift", "examples/d.c"];
        assert_eq!(examples(&other), ["examples/app/App.swift", "examples/d.c"]);
        assert!(examples(&["examples/README.md", "samples/a.py"]).is_empty());
        assert_eq!(examples(&["examples/README.md", "a.py"]), ["examples/README.md"]);
    }
}
