//! Finds the folder of a dependency that a manifest ties by its path: `path = "../x"` of Cargo, uv and
//! Poetry, `file:../x`, `link:../x` and `workspace:*` of npm, `replace m => ../x` of Go.
//!
//! Strangers write manifests. The folder that one names is computed as text: nothing here opens it,
//! follows a link to it, or asks whether it is there.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use serde_json::{Map, Value};

use super::dependency::Ecosystem;
use super::folder::{around, entries, join};
use super::{go, npm, python};
use crate::dir::Dir;

/// Most bytes of a manifest.
const MAX_BYTES: u64 = 1 << 20;
/// Most bytes of all manifests that one question reads.
const MAX_ALL_BYTES: usize = 8 << 20;
/// Most folders around a file in which a manifest is looked for.
const MAX_LEVELS: usize = 32;
/// Most bytes of a path that a manifest names.
const MAX_PATH_BYTES: usize = 4096;
/// Archives of packages: a package manager unpacks them.
const ARCHIVES: [&str; 5] = ["tgz", "gz", "tar", "whl", "zip"];

/// Reads the manifests around the files of a project, each once.
pub struct Ties<'a> {
    root: &'a Dir,
    manifests: BTreeMap<String, Option<Value>>,
    n_bytes: usize,
}

/// How a manifest ties a dependency.
enum Tie<'m> {
    /// By a path, relative to the folder of the manifest.
    Path(&'m str),
    /// By its name: the package manager links `node_modules/NAME` to the folder.
    Installed(&'m str),
}

/// What the manifests further out may still say about a dependency.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Left {
    /// Everything: no manifest has named it.
    All,
    /// The folder, because the nearest manifest leaves that to its workspace.
    OfWorkspace,
    /// The folder of a patch that replaces it.
    Patch,
    Nothing,
}

/// Whether a name in a manifest is that of the dependency.
type IsIt<'f> = &'f dyn Fn(&str) -> bool;

/// How the manifests of an ecosystem are read.
struct Reader {
    manifest: &'static str,
    parse: fn(&str) -> Option<Value>,
    /// Returns how a manifest ties a dependency.
    tie: for<'m> fn(&'m Value, IsIt, &mut Left) -> Option<Tie<'m>>,
}

/// Returns how the manifests of an ecosystem are read; `None` if its ties are not known.
fn reader(ecosystem: Ecosystem) -> Option<Reader> {
    let toml = |text: &str| toml::from_str(text).ok();
    let json = |text: &str| serde_json::from_str(text.trim_start_matches('\u{feff}')).ok();
    let go = |text: &str| Some(replaced_in_go(text));
    Some(match ecosystem {
        Ecosystem::Cargo => Reader { manifest: "Cargo.toml", parse: toml, tie: of_cargo },
        Ecosystem::Npm => Reader { manifest: npm::MANIFEST, parse: json, tie: of_npm },
        Ecosystem::Python => Reader { manifest: python::MANIFEST, parse: toml, tie: of_python },
        Ecosystem::Go => Reader { manifest: go::MANIFEST, parse: go, tie: of_go },
        _ => return None,
    })
}

impl<'a> Ties<'a> {
    /// Reads the manifests of the project of `root`, an absolute path without links.
    #[must_use]
    pub fn new(root: &'a Dir) -> Self {
        Self { root, manifests: BTreeMap::new(), n_bytes: 0 }
    }

    /// Returns the folder that a manifest around a file of the project ties as a dependency, as an
    /// absolute path without `..`. It may be inside of the project, and it may not exist. `is_it` is
    /// asked about names of dependencies.
    pub fn folder(&mut self, ecosystem: Ecosystem, file: &str, is_it: IsIt) -> Option<PathBuf> {
        let reader = reader(ecosystem)?;
        let mut left = Left::All;
        for folder in around(file).skip(1).take(MAX_LEVELS) {
            let root = self.root;
            let manifest = self.manifest(&join(folder, reader.manifest), reader.parse);
            let tie = manifest.and_then(|manifest| (reader.tie)(manifest, is_it, &mut left));
            if let Some(tie) = tie {
                let tied = match tie {
                    Tie::Path(path) => resolved(&root.full(folder), Path::new(path)),
                    Tie::Installed(name) => installed(root, folder, name),
                };
                let is_archive = |end: &OsStr| ARCHIVES.iter().any(|archive| end == *archive);
                return tied.filter(|tied| !tied.extension().is_some_and(is_archive));
            }
            if left == Left::Nothing {
                return None;
            }
        }
        None
    }

    /// Returns the manifest of a path relative to the root, if it can be read.
    fn manifest(&mut self, path: &str, parse: fn(&str) -> Option<Value>) -> Option<&Value> {
        if !self.manifests.contains_key(path) {
            let may_read = self.n_bytes < MAX_ALL_BYTES;
            let text = may_read.then(|| self.root.read_text(path, MAX_BYTES).ok()).flatten();
            self.n_bytes += text.as_ref().map_or(0, String::len);
            self.manifests.insert(path.to_string(), text.and_then(|text| parse(&text)));
        }
        self.manifests.get(path)?.as_ref()
    }
}

/// Returns where the nearest `node_modules` of the project links a package to.
fn installed(root: &Dir, folder: &str, name: &str) -> Option<PathBuf> {
    around(folder).take(MAX_LEVELS).find_map(|around| {
        let link = join(around, &format!("{}/{name}", npm::MODULES));
        let path = root.link_text(&link).ok()?;
        resolved(root.full(&link).parent()?, &path)
    })
}

/// Returns where a path leads from a folder, by its text alone.
fn resolved(folder: &Path, path: &Path) -> Option<PathBuf> {
    if path.as_os_str().is_empty() || path.as_os_str().len() > MAX_PATH_BYTES {
        return None;
    }
    let mut found = folder.to_path_buf();
    for part in path.components() {
        match part {
            Component::RootDir => found = PathBuf::from("/"),
            Component::CurDir => {}
            Component::ParentDir => found.pop().then_some(())?,
            Component::Normal(name) => found.push(name),
            Component::Prefix(_) => return None,
        }
    }
    Some(found)
}

/// Returns the first entry of these tables that is the dependency.
fn named<'m>(
    tables: impl IntoIterator<Item = &'m Value>,
    is_it: IsIt,
) -> Option<(&'m String, &'m Value)> {
    let mut all = tables.into_iter().filter_map(Value::as_object).flatten();
    all.find(|(name, _)| is_it(name))
}

fn path_in(entry: &Value) -> Option<&str> {
    entry.get("path")?.as_str()
}

/// A crate names its dependencies, its workspace the folders of those that it leaves to it, and a
/// patch of the workspace replaces any.
fn of_cargo<'m>(manifest: &'m Value, is_it: IsIt, left: &mut Left) -> Option<Tie<'m>> {
    const TABLES: [&str; 3] = ["dependencies", "dev-dependencies", "build-dependencies"];
    if *left == Left::All {
        let targets = entries(manifest, "target").map(|(_, target)| target);
        let own = [manifest].into_iter().chain(targets);
        let tables = own.flat_map(|of| TABLES.iter().filter_map(|table| of.get(table)));
        let entry = named(tables, is_it).map(|(_, entry)| entry);
        if let Some(path) = entry.and_then(path_in) {
            return Some(Tie::Path(path));
        }
        let is_shared = |entry: &Value| entry.get("workspace") == Some(&Value::Bool(true));
        if entry.is_some_and(is_shared) {
            *left = Left::OfWorkspace;
        } else if entry.is_some() || manifest.get("package").is_some() {
            *left = Left::Patch;
        }
    }
    let workspace = manifest.get("workspace").filter(|_| *left == Left::OfWorkspace);
    let shared = named(workspace.and_then(|workspace| workspace.get("dependencies")), is_it);
    let shared = shared.map(|(_, entry)| entry);
    if shared.is_some() {
        *left = Left::Patch;
    }
    let patches = entries(manifest, "patch").map(|(_, patch)| patch);
    let patch = || named(patches, is_it).and_then(|(_, entry)| path_in(entry));
    let path = shared.and_then(path_in).or_else(patch);
    path.map(Tie::Path)
}

fn of_npm<'m>(manifest: &'m Value, is_it: IsIt, left: &mut Left) -> Option<Tie<'m>> {
    let tables = npm::NAMED_IN.iter().filter_map(|table| manifest.get(table));
    let (name, range) = named(tables, is_it)?;
    *left = Left::Nothing;
    let (protocol, path) = range.as_str()?.split_once(':')?;
    match protocol {
        "file" | "link" | "portal" => Some(Tie::Path(path.strip_prefix("//").unwrap_or(path))),
        "workspace" => Some(Tie::Installed(name)),
        _ => None,
    }
}

fn of_python<'m>(manifest: &'m Value, is_it: IsIt, left: &mut Left) -> Option<Tie<'m>> {
    let tool = manifest.get("tool")?;
    let poetry = tool.get("poetry");
    let groups = poetry.into_iter().flat_map(|poetry| entries(poetry, "group"));
    let of_poetry = groups.map(|(_, group)| group).chain(poetry).flat_map(|of| {
        ["dependencies", "dev-dependencies"].iter().filter_map(|table| of.get(table))
    });
    let of_uv = tool.get("uv").and_then(|uv| uv.get("sources"));
    let (_, entry) = named(of_uv.into_iter().chain(of_poetry), is_it)?;
    *left = Left::Nothing;
    // uv has a list where the source depends on the platform.
    let path = path_in(entry).or_else(|| entry.as_array()?.iter().find_map(path_in));
    path.map(Tie::Path)
}

/// Reads the folders by which `go.mod` replaces modules, by the names of the modules.
fn replaced_in_go(text: &str) -> Value {
    let folders = go::replaced_by_folders(text).into_iter();
    let folders = folders.map(|(name, path)| (name.to_string(), Value::from(path)));
    Value::Object(folders.collect::<Map<_, _>>())
}

fn of_go<'m>(manifest: &'m Value, is_it: IsIt, left: &mut Left) -> Option<Tie<'m>> {
    *left = Left::Nothing;
    let named = manifest.as_object()?.iter().filter(|(name, _)| is_it(name));
    // The longest name is the innermost module.
    let (_, folder) = named.max_by_key(|(name, _)| name.len())?;
    folder.as_str().map(Tie::Path)
}
