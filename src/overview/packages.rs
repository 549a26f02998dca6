//! The packages of a repository, by their manifests: what each is called, what it says that it is,
//! and which others it uses. A workspace is not followed from its list of members, which may hold
//! patterns, go in circles or leave parts out: a directory of the program with a manifest is one.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use serde_json::Value;

use super::{Tree, directories_around, directory, extension, file_name, is_aside, join, within};
use crate::text::folded;

/// Maximum number of manifests that are read.
const MAX_MANIFESTS: usize = 600;
/// Maximum number of bytes of a manifest; longer ones are data.
const MAX_BYTES: usize = 1 << 20;

/// A directory with a manifest.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Package {
    /// Relative to the root; empty for the root.
    pub directory: String,
    /// Path of the manifest.
    pub manifest: String,
    /// As other manifests name it.
    pub name: String,
    /// Its own words; empty if its manifest has none.
    pub about: String,
    /// `web application`, `worker`; empty if the manifest does not say.
    pub kind: &'static str,
    /// Number of other packages of the repository that it uses.
    pub uses: usize,
    /// Number of other packages of the repository that use it.
    pub users: usize,
    /// Names of packages that it needs.
    needs: Vec<String>,
}

/// Returns the packages that hold a part of the program, sorted by their directories.
#[must_use]
pub fn packages(tree: &Tree) -> Vec<Package> {
    let with_source: HashSet<&str> = tree
        .paths
        .iter()
        .filter(|path| (tree.is_source)(path))
        .flat_map(|path| directories_around(path))
        .collect();
    let is_member = |at: &str| with_source.contains(at) && !is_aside(at);
    let mut found: BTreeMap<String, Package> = BTreeMap::new();
    let manifests = tree.paths.iter().copied().filter(|path| is_member(directory(path)));
    let mut manifests: Vec<&str> = manifests.filter(|path| is_manifest(path)).collect();
    manifests.sort_by_key(|path| (path.matches('/').count(), *path));
    for path in manifests.into_iter().take(MAX_MANIFESTS) {
        let Some(text) = (tree.read)(path).filter(|text| text.len() <= MAX_BYTES) else { continue };
        for folder in included(path, &text).into_iter().filter(|folder| is_member(folder)) {
            let name = file_name(&folder).to_string();
            let empty = Package {
                directory: folder.clone(),
                manifest: path.into(),
                name,
                ..<_>::default()
            };
            found.entry(folder).or_insert(empty);
        }
        let Some(package) = package(path, &text) else { continue };
        match found.entry(package.directory.clone()) {
            std::collections::btree_map::Entry::Vacant(free) => _ = free.insert(package),
            // Two manifests of one directory complete each other.
            std::collections::btree_map::Entry::Occupied(mut known) => {
                let known = known.get_mut();
                if known.about.is_empty() {
                    known.about = package.about;
                }
                if known.kind.is_empty() {
                    known.kind = package.kind;
                }
                known.needs.extend(package.needs);
            }
        }
    }
    let mut packages: Vec<Package> = found.into_values().collect();
    let mut users: BTreeMap<String, usize> =
        packages.iter().map(|package| (package.name.clone(), 0)).collect();
    for package in &mut packages {
        let needs: BTreeSet<&String> = package.needs.iter().collect();
        for need in needs.into_iter().filter(|need| **need != package.name) {
            if let Some(users) = users.get_mut(need) {
                *users += 1;
                package.uses += 1;
            }
        }
    }
    for package in &mut packages {
        package.users = users.get(&package.name).copied().unwrap_or_default();
    }
    packages
}

/// Returns the package that a file belongs to: that of the nearest directory around it.
pub(super) fn package_of<'p>(packages: &'p [Package], path: &str) -> Option<&'p Package> {
    let at = |at: &str| packages.binary_search_by(|package| (*package.directory).cmp(at)).ok();
    directories_around(path).find_map(at).map(|at| &packages[at])
}

/// Whether a file is the manifest of a package.
pub(super) fn is_manifest(path: &str) -> bool {
    const NAMES: &str = "Cargo.toml package.json pyproject.toml composer.json go.mod pom.xml \
        build.gradle build.gradle.kts settings.gradle settings.gradle.kts mix.exs pubspec.yaml \
        CMakeLists.txt Package.swift dune-project build.sbt";
    NAMES.split(' ').any(|name| name == file_name(path))
        || matches!(extension(path), "csproj" | "fsproj" | "vbproj" | "gemspec" | "cabal")
}

/// Returns the directories that the settings of Gradle include; their modules may have no file of
/// their own.
fn included(path: &str, text: &str) -> Vec<String> {
    if !file_name(path).starts_with("settings.gradle") {
        return Vec::new();
    }
    let mut out = Vec::new();
    let mut is_inside = false;
    for line in text.lines().map(str::trim) {
        is_inside |= line.starts_with("include") && !line.starts_with("includeBuild");
        if is_inside {
            let names = line.split(['"', '\'']).skip(1).step_by(2);
            out.extend(names.map(|name| {
                join(directory(path), &name.trim_start_matches(':').replace(':', "/"))
            }));
            is_inside = line.ends_with([',', '(']);
        }
    }
    out
}

/// Reads a manifest.
pub(super) fn package(path: &str, text: &str) -> Option<Package> {
    let at = directory(path);
    let own = |name: Option<String>| name.unwrap_or_else(|| file_name(at).to_string());
    let mut found = Package { directory: at.into(), manifest: path.into(), ..<_>::default() };
    let json = |text: &str| serde_json::from_str::<Value>(text).ok();
    let toml = |text: &str| toml::from_str::<Value>(text).ok();
    let string = |of: &Value, at: &str| of.pointer(at).and_then(Value::as_str).map(folded);
    let keys = |of: &Value, at: &str| -> Vec<String> {
        let table = of.pointer(at).and_then(Value::as_object);
        table.into_iter().flat_map(|table| table.keys().cloned()).collect()
    };
    match (file_name(path), extension(path)) {
        ("Cargo.toml", _) => {
            let manifest = toml(text)?;
            manifest.get("package")?;
            found.name = own(string(&manifest, "/package/name"));
            found.about = string(&manifest, "/package/description").unwrap_or_default();
            found.needs = keys(&manifest, "/dependencies");
        }
        ("package.json" | "composer.json", _) => {
            let manifest = json(text)?;
            manifest.get("name").or_else(|| manifest.get("scripts"))?;
            found.name = own(string(&manifest, "/name"));
            found.about = string(&manifest, "/description").unwrap_or_default();
            found.needs = [keys(&manifest, "/dependencies"), keys(&manifest, "/require")].concat();
        }
        ("pyproject.toml", _) => {
            let manifest = toml(text)?;
            let of = |key: &str| {
                string(&manifest, &format!("/project/{key}"))
                    .or_else(|| string(&manifest, &format!("/tool/poetry/{key}")))
            };
            found.name = own(of("name"));
            found.about = of("description").unwrap_or_default();
        }
        ("pubspec.yaml", _) | (_, "cabal") => {
            let of = |key: &str| {
                let line =
                    text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?;
                Some(folded(line.trim().trim_matches(['"', '\''])))
            };
            found.name = own(of("name"));
            let about = of("description").filter(|about| !about.starts_with(['>', '|']));
            found.about = of("synopsis").or(about).unwrap_or_default();
        }
        ("pom.xml", _) => {
            // The parent and the dependencies have names of their own.
            let head = text.split("<dependencies>").next().unwrap_or(text);
            let head = head.split("</parent>").last().unwrap_or(head);
            found.name = own(element(head, "artifactId"));
            found.about = element(head, "description").unwrap_or_default();
            found.needs =
                text.split("<artifactId>").skip(1).filter_map(|of| up_to(of, "<")).collect();
        }
        (_, "csproj" | "fsproj" | "vbproj") => {
            let name = file_name(path);
            found.name = name.rsplit_once('.').map_or(name, |(stem, _)| stem).to_string();
            found.about = element(text, "Description").unwrap_or_default();
            found.kind = kind_of_dotnet(text);
            let needs = text.split("<ProjectReference").skip(1).filter_map(|of| {
                let file = of.split("Include=\"").nth(1)?.split('"').next()?;
                let file = file.rsplit(['\\', '/']).next()?;
                Some(file.rsplit_once('.')?.0.to_string())
            });
            found.needs = needs.collect();
        }
        ("settings.gradle" | "settings.gradle.kts", _) => return None,
        (name, _) => {
            found.name = own(None);
            found.about = match name {
                "CMakeLists.txt" => after(text, "DESCRIPTION"),
                "dune-project" => after(text, "(synopsis"),
                _ if extension(name) == "gemspec" => {
                    setting(text, "summary").or_else(|| setting(text, "description"))
                }
                _ => setting(text, "description"),
            }
            .unwrap_or_default();
            if name.starts_with("build.gradle") {
                let needs = text.split("project(").skip(1).filter_map(|of| up_to(of, ")"));
                let last =
                    |of: String| Some(of.trim_matches(['"', '\'']).rsplit(':').next()?.to_string());
                found.needs = needs.filter_map(last).collect();
            }
            if name == "mix.exs" {
                let lines = text.lines().filter(|line| line.contains("in_umbrella: true"));
                let needs = lines.filter_map(|line| up_to(line.split("{:").nth(1)?, ","));
                found.needs = needs.collect();
            }
            if name == "CMakeLists.txt" && !["project(", "add_"].iter().any(|w| text.contains(w)) {
                return None;
            }
        }
    }
    Some(found)
}

/// Returns what a project of .NET makes; empty if it makes a library.
fn kind_of_dotnet(text: &str) -> &'static str {
    const KINDS: [(&str, &str); 8] = [
        ("Aspire.AppHost", "Aspire host that starts the others"),
        ("<IsAspireHost>true", "Aspire host that starts the others"),
        ("<UseMaui>true", "MAUI application"),
        ("Microsoft.NET.Sdk.Worker", "worker"),
        ("Microsoft.NET.Sdk.BlazorWebAssembly", "Blazor application"),
        ("Microsoft.NET.Sdk.Web\"", "web application"),
        ("<OutputType>WinExe", "Windows application"),
        ("<OutputType>Exe", "program"),
    ];
    // A library may use the tools of the web.
    if text.contains("<OutputType>Library") {
        return "";
    }
    KINDS.iter().find(|(mark, _)| text.contains(mark)).map_or("", |(_, kind)| kind)
}

fn up_to(text: &str, end: &str) -> Option<String> {
    text.split_once(end).map(|(before, _)| folded(before))
}

/// Returns the text of the first element of this name in XML.
fn element(text: &str, name: &str) -> Option<String> {
    let inside = within(text, &format!("<{name}>"), &format!("</{name}>"))?;
    let text = inside.trim().trim_start_matches("<![CDATA[").trim_end_matches("]]>");
    let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
    let text = folded(&text.replace("&amp;", "&"));
    (!text.is_empty() && !text.starts_with(['$', '<'])).then_some(text)
}

/// Returns the text in quotes after a word.
fn after(text: &str, word: &str) -> Option<String> {
    text.split_once(word).and_then(|(_, rest)| quoted(rest))
}

/// Returns the text in quotes at the beginning of a text.
fn quoted(text: &str) -> Option<String> {
    let text = text.trim_start_matches(|c: char| c.is_whitespace() || "=:(".contains(c));
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let inside = text[1..].split(quote).next()?;
    Some(folded(inside)).filter(|inside| !inside.is_empty())
}

/// Returns the text that a line of a script sets: `s.summary = "…"`, `description: "…"`.
fn setting(text: &str, name: &str) -> Option<String> {
    let of_line = |line: &str| {
        let line = line.trim_start();
        let (object, rest) = line.split_once(name)?;
        let is_alone = object.is_empty() || object.ends_with('.') && !object.contains(' ');
        if is_alone { quoted(rest) } else { None }
    };
    text.lines().find_map(of_line)
}
