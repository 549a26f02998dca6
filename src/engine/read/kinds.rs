//! The kinds of files that say the same many times, such as tests and translations. A short reply
//! counts their matching lines, so that they do not hide those of the program.
//!
//! Lock files and minified files are never searched, so they have no kind here.

use std::collections::BTreeMap;

use crate::chunk::Origin;
use crate::languages::{LanguageKind, detect, is_test_path};
use crate::overview::{is_migration, is_migration_folder};

/// A kind of files of which a project has many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::engine) enum FileKind {
    Tests,
    Locales,
    Migrations,
    Snapshots,
    Generated,
    Vendored,
}

/// Files of one kind that are counted and not listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fold {
    /// tests, locales …
    pub kind: &'static str,
    /// Number of their matching lines.
    pub lines: usize,
    /// Number of the files.
    pub files: usize,
    /// Files or folders, each with the number of its lines, most first.
    pub parts: Vec<(String, usize)>,
    /// Whether the parts are files.
    pub are_files: bool,
}

/// Most folders of a kind before the folder around all of them is named instead.
const MAX_FOLDERS: usize = 5;

/// Folders of translations.
const LOCALE_FOLDERS: [&str; 9] = [
    "locale", "locales", "_locales", "i18n", "l10n", "lang", "langs", "translation", "translations",
];
/// Folders that also hold code about languages: there, only a file named after one is a translation.
const LANGUAGE_FOLDERS: [&str; 2] = ["lang", "langs"];
/// Extensions of translations, wherever they are.
const TRANSLATIONS: [&str; 5] = ["po", "pot", "arb", "xliff", "xlf"];
/// Extensions of data in a folder of translations.
const DATA: [&str; 11] =
    ["yml", "yaml", "json", "json5", "properties", "toml", "strings", "ini", "xml", "ftl", "csv"];
/// The languages of ISO 639-1, and longer names that are common.
const ISO_639: &str = " aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu ast ckb fil kab ";

impl FileKind {
    /// Returns the kind of a file, if it has one. `origin` tells who wrote the file.
    pub(in crate::engine) fn of(path: &str, origin: impl FnOnce() -> Origin) -> Option<Self> {
        match origin() {
            Origin::Generated => return Some(Self::Generated),
            Origin::Vendored => return Some(Self::Vendored),
            Origin::Ordinary => {}
        }
        if is_snapshot(path) {
            Some(Self::Snapshots)
        } else if is_locale(path) {
            Some(Self::Locales)
        } else if is_migration(path) {
            Some(Self::Migrations)
        } else if is_test_path(path) && !is_document(path) {
            Some(Self::Tests)
        } else {
            None
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Tests => "tests",
            Self::Locales => "locales",
            Self::Migrations => "migrations",
            Self::Snapshots => "snapshots",
            Self::Generated => "generated",
            Self::Vendored => "vendored",
        }
    }

    /// Returns what a file is counted by: the outermost folder of its kind, or its own path.
    fn part(self, path: &str) -> &str {
        if self == Self::Tests {
            return path;
        }
        let mut folders = path.match_indices('/').map(|(at, _)| &path[..=at]);
        let own = path.rfind('/').map_or("", |at| &path[..=at]);
        folders.find(|folder| self.is_root(folder)).unwrap_or(own)
    }

    /// Whether the last name of a path of folders, which ends with `/`, is one of the kind.
    fn is_root(self, folders: &str) -> bool {
        let name = folders.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        match self {
            Self::Locales => LOCALE_FOLDERS.contains(&&*name.to_lowercase()) || name == "res",
            Self::Migrations => is_migration_folder(name),
            Self::Snapshots => is_snapshot_folder(name),
            Self::Vendored => Origin::of_path(folders) == Origin::Vendored,
            Self::Generated | Self::Tests => false,
        }
    }
}

impl Fold {
    /// Counts files by their kinds: each with its path and the number of its lines.
    pub(in crate::engine) fn all<'p>(
        files: impl Iterator<Item = (FileKind, &'p str, usize)>,
    ) -> Vec<Self> {
        let mut by_kind: BTreeMap<FileKind, (usize, BTreeMap<&str, usize>)> = BTreeMap::new();
        for (kind, path, lines) in files {
            let (n_files, parts) = by_kind.entry(kind).or_default();
            *n_files += 1;
            *parts.entry(kind.part(path)).or_default() += lines;
        }
        let fold = |(kind, (files, parts)): (FileKind, (usize, BTreeMap<&str, usize>))| {
            let are_files = kind == FileKind::Tests;
            let lines: usize = parts.values().sum();
            let around = folder_around(parts.keys().copied());
            let mut parts: Vec<(String, usize)> =
                if !are_files && parts.len() > MAX_FOLDERS && !around.is_empty() {
                    vec![(around, lines)]
                } else {
                    parts.into_iter().map(|(part, n)| (part.to_string(), n)).collect()
                };
            // The sort is stable: equal ones stay in the order of their paths.
            parts.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
            Self { kind: kind.name(), lines, files, parts, are_files }
        };
        by_kind.into_iter().map(fold).collect()
    }
}

/// Returns the innermost folder, with `/` at its end, that holds all of these folders; empty for the
/// root.
fn folder_around<'p>(mut folders: impl Iterator<Item = &'p str>) -> String {
    let first = folders.next().unwrap_or_default();
    let mut names: Vec<&str> = first.split_inclusive('/').collect();
    for folder in folders {
        let same = names.iter().zip(folder.split_inclusive('/')).take_while(|(a, b)| **a == *b);
        let n_same = same.count();
        names.truncate(n_same);
    }
    names.concat()
}

/// Whether a file is prose. Many projects have documents in a folder such as `specs`.
fn is_document(path: &str) -> bool {
    matches!(detect(path, "").kind, LanguageKind::Document(_))
}

fn is_snapshot_folder(name: &str) -> bool {
    matches!(name, "__snapshots__" | "__image_snapshots__" | "__file_snapshots__" | "snapshots")
}

/// Whether a file holds what a test expects, as a test runner wrote it.
fn is_snapshot(path: &str) -> bool {
    const ENDS: [&str; 6] =
        [".snap", ".snap.new", ".ambr", ".approved.txt", ".verified.txt", ".received.txt"];
    let (folders, _) = path.rsplit_once('/').unwrap_or_default();
    let mut folders = folders.split('/').filter(|name| is_snapshot_folder(name));
    ENDS.iter().any(|end| path.ends_with(end))
        // A program may have snapshots of another kind.
        || folders.any(|name| name.starts_with("__") || is_test_path(path))
}

/// Whether a file holds the texts of a program in one language.
fn is_locale(path: &str) -> bool {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
    if TRANSLATIONS.contains(&extension) {
        return true;
    }
    let folders: Vec<&str> = folders.split('/').collect();
    // Android: `res/values-de/strings.xml`; Apple: `de.lproj/Localizable.strings`.
    let is_of_platform = |folder: &&str| {
        folder.strip_suffix(".lproj").is_some()
            || extension == "xml" && folder.strip_prefix("values-").is_some_and(is_language)
    };
    if folders.iter().any(is_of_platform) {
        return true;
    }
    // Java: `messages_de.properties`, `messages_pt_BR.properties`.
    let ends = || stem.match_indices('_').map(|(at, _)| &stem[at + 1..]);
    if extension == "properties" && ends().any(is_language) {
        return true;
    }
    let is_of_locales = |folder: &&str| LOCALE_FOLDERS.contains(&&*folder.to_lowercase());
    let Some(at) = folders.iter().position(is_of_locales) else { return false };
    let is_plain = !LANGUAGE_FOLDERS.contains(&&*folders[at].to_lowercase());
    let is_named = folders[at + 1..].iter().any(|folder| is_language(folder))
        || stem.split('.').any(is_language);
    is_named || is_plain && DATA.contains(&extension)
}

/// Whether a name is that of a language, with or without a country: `de`, `pt-BR`, `zh_Hans_CN`.
fn is_language(name: &str) -> bool {
    let mut parts = name.split(['-', '_', '@']);
    let is_known = |part: &str| {
        part.bytes().all(|b| b.is_ascii_lowercase()) && ISO_639.contains(&format!(" {part} "))
    };
    let is_region = |part: &str| {
        (2..=5).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_alphanumeric())
    };
    parts.next().is_some_and(is_known) && parts.all(is_region)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_tells_the_kind_of_a_file_of_which_there_are_many() {
        for (path, want) in [
            ("config/locales/client.de.yml", Some(FileKind::Locales)),
            ("app/locales/pt-BR.json", Some(FileKind::Locales)),
            ("locale/de/LC_MESSAGES/django.po", Some(FileKind::Locales)),
            ("src/locales/de.ts", Some(FileKind::Locales)),
            ("resources/lang/de/auth.php", Some(FileKind::Locales)),
            ("app/src/main/res/values-pt-rBR/strings.xml", Some(FileKind::Locales)),
            ("App/de.lproj/Localizable.strings", Some(FileKind::Locales)),
            ("src/main/resources/messages_de.properties", Some(FileKind::Locales)),
            ("src/i18n/index.ts", None),
            ("src/lang/lexer.go", None),
            ("src/lang/settings.json", None),
            ("src/main/resources/application_main.properties", None),
            ("db/migrate/20240101_add_tags.rb", Some(FileKind::Migrations)),
            ("Data/Migrations/20240101_Initial.cs", Some(FileKind::Migrations)),
            ("db/post_migrate/20240101_drop.rb", Some(FileKind::Migrations)),
            ("alembic/versions/ae1027a6acf_add.py", Some(FileKind::Migrations)),
            ("src/migrations/executor.py", None),
            ("web/__snapshots__/a.test.ts.snap", Some(FileKind::Snapshots)),
            ("tests/snapshots/a.json", Some(FileKind::Snapshots)),
            ("src/snapshots/mod.rs", None),
            ("tests/a_test.py", Some(FileKind::Tests)),
            ("spec/models/user_spec.rb", Some(FileKind::Tests)),
            ("specs/grep.md", None),
            ("vendor/a/locales/de.yml", Some(FileKind::Vendored)),
            ("src/a.rs", None),
        ] {
            assert_eq!(FileKind::of(path, || Origin::of_path(path)), want, "{path}");
        }
        let origin = || Origin::Generated;
        assert_eq!(FileKind::of("src/api.pb.go", origin), Some(FileKind::Generated));
    }

    #[test]
    fn many_folders_of_a_kind_are_named_by_the_folder_around_them() {
        let fold = |paths: &[String], kind| {
            let files = paths.iter().map(|path| (kind, &**path, 2));
            Fold::all(files).pop().unwrap()
        };
        let apps: Vec<String> =
            (0..9).map(|n| format!("apps/a{n}/migrations/0001_initial.py")).collect();
        let many = fold(&apps, FileKind::Migrations);
        assert_eq!((many.lines, many.files), (18, 9));
        assert_eq!(many.parts, [("apps/".to_string(), 18)]);
        let few = fold(&apps[..2], FileKind::Migrations);
        assert_eq!(few.parts.len(), 2);
        assert_eq!(few.parts[0], ("apps/a0/migrations/".to_string(), 2));
        let tests = fold(&["tests/a.py".to_string()], FileKind::Tests);
        assert_eq!(tests.parts, [("tests/a.py".to_string(), 2)]);
    }
}
