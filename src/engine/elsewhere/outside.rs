//! Leads from a name that code of the project imports to its definition in a package that the project
//! depends on, or in a project that a manifest ties by its path. It reads the indexes that are there and
//! makes none: to index a package takes seconds.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use globset::GlobSet;
use schemars::JsonSchema;
use serde::Serialize;

use crate::chunk::{Chunk, ChunkType, Name};
use crate::engine::door::serving::{Engine, View};
use crate::engine::elsewhere::deps::{DependenciesRequest, Dependency, Ecosystem};
use crate::engine::elsewhere::packages::{Shelf, label, numbers};
use crate::engine::elsewhere::tied::{TiedFolder, TiedProjects};
use crate::engine::{AskError, Call};
use crate::graph::ImportedName;

/// Most files of a package that are read for one name.
const MAX_FILES: usize = 50;
/// Most names of one answer that are looked up; the others stay unknown.
const MAX_NAMES: usize = 200;
/// Most packages that one answer opens.
const MAX_OPENED: usize = 16;
/// Most packages that belong to one, such as `clap_builder` to `clap`, that are searched for a name.
const MAX_COMPANIONS: usize = 8;
/// Most packages that the command that indexes them names; without names it indexes all.
const MAX_ADVISED: usize = 5;
/// Kinds of definitions that have members.
const TYPES: [&str; 7] = ["class", "struct", "enum", "interface", "trait", "impl", "type"];

/// A name that the target uses, and that a package or another project defines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OutsideName {
    /// The name as it is written.
    pub name: String,
    /// Lines of its uses in the target's file.
    pub lines: Vec<u32>,
    /// `name@version`, or the name of a project that a manifest ties by its path.
    pub package: String,
    /// The definition, as `cortex read` takes it: `serde@1.0.228/src/lib.rs:10-20`,
    /// `helix:src/lib.rs:10-20`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// Why there is no address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
}

/// Why a name of an indexed package has no address.
const NOT_FOUND: &str = "no definition found";
/// Why a name of a package has none that is one too many.
const NOT_OPENED: &str = "not looked up: it is in one of too many packages";
/// Why a name of another package has none.
const NOT_INDEXED: &str = "not indexed";

impl OutsideName {
    /// Returns the command that indexes the packages without an index; `None` if there are none. The
    /// names are those of a lock file, and the reader may run the command: it has plain names only.
    #[must_use]
    pub fn command_for(all: &[Self]) -> Option<String> {
        let missing = all.iter().filter(|o| o.missing.as_deref() == Some(NOT_INDEXED));
        let name_of = |o: &Self| {
            let end = o.package.rfind('@').filter(|at| *at > 0);
            o.package[..end.unwrap_or(o.package.len())].to_string()
        };
        let names: BTreeSet<String> = missing.map(name_of).collect();
        let is_plain = |name: &String| {
            name.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '@')
                && name.chars().all(|c| c.is_ascii_alphanumeric() || "@/._-".contains(c))
        };
        let listed = if names.len() > MAX_ADVISED || !names.iter().all(is_plain) {
            String::new()
        } else {
            names.iter().map(|name| format!(" {name}")).collect()
        };
        (!names.is_empty()).then(|| format!("cortex deps index{listed}"))
    }
}

/// Returns the ecosystem of a family of languages.
fn ecosystem(family: &str) -> Option<Ecosystem> {
    Some(match family {
        "rust" => Ecosystem::Cargo,
        "ecmascript" => Ecosystem::Npm,
        "python" => Ecosystem::Python,
        "go" => Ecosystem::Go,
        "php" => Ecosystem::Composer,
        _ => return None,
    })
}

/// Returns a name as Cargo and Python compare it.
fn normal(name: &str) -> String {
    name.to_lowercase().replace(['-', '.'], "_")
}

/// Returns the package of a module of npm: `@a/b` of `@a/b/c`.
fn npm_package(module: &str) -> &str {
    let n_parts = if module.starts_with('@') { 2 } else { 1 };
    module.match_indices('/').nth(n_parts - 1).map_or(module, |(at, _)| &module[..at])
}

/// Returns how many bytes of the name of a module name the package or project of this name; `None` if
/// the module is in another one, by the names alone. One of Go can be inside of another.
fn named_by(ecosystem: Ecosystem, name: &str, module: &str) -> Option<usize> {
    let is_of = match ecosystem {
        Ecosystem::Cargo => module.split("::").next() == Some(&normal(name)),
        Ecosystem::Npm => npm_package(module) == name,
        Ecosystem::Python => module.split('.').next().map(normal) == Some(normal(name)),
        Ecosystem::Go => {
            let rest = module.strip_prefix(name)?;
            return (rest.is_empty() || rest.starts_with('/')).then_some(name.len());
        }
        _ => false,
    };
    is_of.then_some(0)
}

/// Returns how many bytes of the name of a module name the package that it is in; `None` if it is in
/// another one. Only what a manifest names can be imported in Cargo and npm; the rest could have the
/// name of a module of the standard library.
fn provides(dependency: &Dependency, module: &str) -> Option<usize> {
    let named = named_by(dependency.ecosystem, &dependency.name, module);
    match dependency.ecosystem {
        Ecosystem::Cargo => {
            let is_standard = ["std", "core", "alloc"].contains(&&*normal(&dependency.name));
            named.filter(|_| dependency.is_direct && !is_standard)
        }
        Ecosystem::Npm => named.filter(|_| dependency.is_direct),
        Ecosystem::Python => {
            let first = module.split('.').next().unwrap_or_default();
            let is_part = |part: &String| part.strip_suffix(".py").unwrap_or(part) == first;
            named.or_else(|| dependency.parts.iter().any(is_part).then_some(0))
        }
        Ecosystem::Composer => {
            let module = format!("{module}\\");
            let prefixes = dependency.modules.iter().filter(|prefix| module.starts_with(&**prefix));
            prefixes.map(String::len).filter(|bytes| *bytes > 0).max()
        }
        _ => named,
    }
}

/// Returns whether a package holds a part of what another one exports.
fn accompanies(other: &Dependency, dependency: &Dependency) -> bool {
    let (name, of) = (&*other.name, &*dependency.name);
    other.ecosystem == dependency.ecosystem
        && match dependency.ecosystem {
            Ecosystem::Cargo => {
                normal(name).strip_prefix(&normal(of)).is_some_and(|rest| rest.starts_with('_'))
            }
            Ecosystem::Npm => {
                name.strip_prefix("@types/")
                    == Some(&*of.trim_start_matches('@').replace('/', "__"))
            }
            Ecosystem::Composer => {
                other.modules.iter().any(|prefix| dependency.modules.contains(prefix))
            }
            _ => false,
        }
}

/// Returns the dependency that a file means by a module: of several versions that of the nearest lock
/// file, then the newest.
fn package_of<'d>(all: &'d [Dependency], imported: &ImportedName) -> Option<&'d Dependency> {
    let ecosystem = ecosystem(imported.family)?;
    let nearness = |dependency: &Dependency| {
        let folders = dependency.from.iter().map(|from| from.rfind('/').map_or(0, |at| at + 1));
        let is_above =
            |(from, end): (&String, usize)| imported.file.starts_with(&from[..end]).then_some(end);
        dependency.from.iter().zip(folders).filter_map(is_above).max()
    };
    all.iter()
        .filter(|d| d.ecosystem == ecosystem)
        .filter_map(|d| Some((provides(d, &imported.module)?, d)))
        .max_by_key(|(n_bytes, d)| {
            (*n_bytes, nearness(d), d.is_direct, d.root.is_some(), numbers(&d.version))
        })
        .map(|(_, dependency)| dependency)
}

/// How strictly a definition must fit.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fit {
    /// It is a member of the owner; without an owner, it is outside of types.
    Exact,
    /// It is the only member of the name: the owner inherits it.
    OnlyMember,
}

/// Where a definition is looked for: the index of a package, or a folder of a tied project.
struct OutsidePlace {
    /// The name of the package or the project.
    name: String,
    /// What is between the name and the path in an address.
    mark: char,
    engine: Arc<Engine>,
    /// The folder of a project, and globs in it that are left out; `None` for all files.
    within: Option<(String, Arc<GlobSet>)>,
}

impl OutsidePlace {
    /// Whether those who use the package see a file.
    fn shows(&self, path: &str) -> bool {
        self.within.as_ref().is_none_or(|(folder, left_out)| {
            path.strip_prefix(&**folder).is_some_and(|path| !left_out.is_match(path))
        })
    }
}

/// The packages of a project, opened for one answer.
struct Packages<'a> {
    engine: &'a Engine,
    all: Vec<Dependency>,
    shelf: Option<Arc<Shelf>>,
    opened: BTreeMap<String, Result<Arc<Engine>, String>>,
}

impl<'a> Packages<'a> {
    fn of(engine: &'a Engine, call: &Call) -> Result<Self, AskError> {
        let all = engine.project.dependencies(&DependenciesRequest::default(), call)?.dependencies;
        let shelf = (!all.is_empty()).then(Shelf::open).transpose()?;
        Ok(Self { engine, all, shelf, opened: BTreeMap::new() })
    }

    /// Opens the package of a module, and those that hold a part of it. Returns them, the name of the
    /// package, and why it has no definition if none is found.
    fn places(&mut self, imported: &ImportedName, call: &Call) -> Option<Sought> {
        let dependency = package_of(&self.all, imported)?;
        let shelf = self.shelf.as_ref()?;
        let companions = self.all.iter().filter(|other| accompanies(other, dependency));
        let (mut candidates, types): (Vec<_>, Vec<_>) = std::iter::once(dependency)
            .chain(companions.take(MAX_COMPANIONS))
            .partition(|one| !one.name.starts_with("@types/"));
        // As in an editor, declarations come before the code that they describe.
        candidates.splice(0..0, types);
        let mut sought = Sought {
            places: Vec::new(),
            default: dependency.name.clone(),
            label: label(dependency),
            missing: NOT_FOUND.to_string(),
        };
        for one in candidates {
            let label = address_of(&self.all, one);
            let n_opened = self.opened.values().filter(|engine| engine.is_ok()).count();
            let engine = self.opened.entry(label.clone()).or_insert_with(|| {
                if n_opened >= MAX_OPENED {
                    return Err(NOT_OPENED.to_string());
                }
                let package = shelf.package(one.clone())?;
                package.record().ok_or(NOT_INDEXED)?;
                self.engine.engine_of(&package, call).map_err(|e| e.to_string())
            });
            match engine {
                Ok(engine) => sought.places.push(OutsidePlace {
                    name: label,
                    mark: '/',
                    engine: engine.clone(),
                    within: None,
                }),
                Err(why) if *one == *dependency => sought.missing.clone_from(why),
                Err(_) => {}
            }
        }
        Some(sought)
    }
}

/// Where the definition of a name is looked for.
struct Sought {
    /// The best first.
    places: Vec<OutsidePlace>,
    /// The name of the package, which what it exports by default mostly has.
    default: String,
    /// What is said if no definition is found: where it should be, and why it is missing.
    label: String,
    missing: String,
}

impl Sought {
    /// Looks in the folder of a project.
    fn of_project(tied: TiedFolder, imported: &ImportedName) -> Self {
        let TiedFolder { name, within, left_out, engine } = tied;
        let default = npm_package(&imported.module).to_string();
        let mut sought =
            Self { places: Vec::new(), default, label: name.clone(), missing: NOT_FOUND.into() };
        match engine {
            Ok(engine) => {
                let within = Some((within, left_out));
                sought.places.push(OutsidePlace { name, mark: ':', engine, within });
            }
            Err(why) => sought.missing = why,
        }
        sought
    }
}

impl Engine {
    /// Finds the packages and the tied projects of imported names, and their definitions there. Other
    /// names are left out.
    ///
    /// # Errors
    /// When the dependencies cannot be listed, or the call was cancelled.
    pub(in crate::engine) fn outside(
        &self,
        imported: &BTreeMap<ImportedName, Vec<u32>>,
        call: &Call,
    ) -> Result<Vec<OutsideName>, AskError> {
        if imported.is_empty() {
            return Ok(Vec::new());
        }
        let mut packages = Packages::of(self, call)?;
        let mut tied = TiedProjects::new(&self.project, call)?;
        let mut texts: BTreeMap<&str, String> = BTreeMap::new();
        let mut out: Vec<OutsideName> = Vec::new();
        for (name, lines) in imported.iter().take(MAX_NAMES) {
            call.check()?;
            let Some(ecosystem) = ecosystem(name.family) else { continue };
            let is_it = |key: &str| named_by(ecosystem, key, &name.module).is_some();
            let sought = match tied.of(ecosystem, &name.file, &is_it) {
                Some(tied) => Some(Sought::of_project(tied, name)),
                None => packages.places(name, call),
            };
            let Some(Sought { places, default, label, mut missing }) = sought else { continue };
            if !name.is_named {
                let text = texts
                    .entry(&name.file)
                    .or_insert_with(|| self.project.read_text(&name.file).unwrap_or_default());
                if !is_path_at(text, &name.module, lines) {
                    continue;
                }
            }
            let mut found = None;
            for fit in [Fit::Exact, Fit::OnlyMember] {
                for place in &places {
                    if found.is_some() {
                        continue;
                    }
                    match place.definition(name, &default, fit, call) {
                        Ok(at) => found = at.map(|at| (place, at)),
                        Err(e) => {
                            call.check()?;
                            // A damaged index costs only its own answers.
                            missing = e.to_string();
                        }
                    }
                }
            }
            let package = found.as_ref().map_or(label, |(place, _)| place.name.clone());
            let address =
                found.map(|(OutsidePlace { name, mark, .. }, at)| format!("{name}{mark}{at}"));
            // Without a definition, a value may be of any type.
            if address.is_none() && !name.is_sure {
                continue;
            }
            let missing = address.is_none().then_some(missing);
            let same = out
                .iter_mut()
                .find(|o| o.name == name.written && o.package == package && o.address == address);
            match same {
                Some(same) => {
                    same.lines.extend(lines);
                    same.lines.sort_unstable();
                    same.lines.dedup();
                }
                None => out.push(OutsideName {
                    name: name.written.clone(),
                    lines: lines.clone(),
                    package,
                    address,
                    missing,
                }),
            }
        }
        out.sort_by(|a, b| (&a.lines, &a.name).cmp(&(&b.lines, &b.name)));
        Ok(out)
    }
}

impl OutsidePlace {
    /// Finds the definition of a name, as path and lines.
    fn definition(
        &self,
        wanted: &ImportedName,
        package: &str,
        fit: Fit,
        call: &Call,
    ) -> Result<Option<String>, AskError> {
        // What a package exports by default mostly has its name.
        let by_package = package.rsplit('/').next().unwrap_or(package);
        let name = if wanted.name.is_empty() { by_package } else { &wanted.name };
        self.engine.with_code(&call.of_package(), |View { code, .. }| {
            let files_of = |name: &str| {
                let files = code.corpus.files_defining(name).into_iter();
                files.filter(|path| self.shows(path)).take(MAX_FILES).collect::<Vec<_>>()
            };
            let mut found: Vec<Definition> = Vec::new();
            for (group, path) in files_of(name).into_iter().enumerate() {
                call.check()?;
                let chunks = code.corpus.chunks().read_file(path);
                let names: Vec<Name> =
                    chunks.iter().flat_map(|chunk| &chunk.metadata.names).cloned().collect();
                let of_file = definitions(&names, name, path, group);
                let is_rust = wanted.family == "rust";
                found.extend(of_file.into_iter().filter(|d| !is_rust || d.is_public(&chunks)));
            }
            if fit == Fit::OnlyMember {
                // Only a type of this package inherits from its types.
                if files_of(&wanted.owner).is_empty() {
                    return Ok(None);
                }
                found.retain(|d| d.owner.is_some() && !wanted.owner.is_empty());
                let mut owners: Vec<_> = found.iter().map(|d| d.owner.clone()).collect();
                owners.sort_unstable();
                owners.dedup();
                if owners.len() != 1 {
                    return Ok(None);
                }
            } else {
                let owner = Some(&wanted.owner).filter(|owner| !owner.is_empty());
                found.retain(|d| d.owner.as_ref() == owner);
                // `current_user.profile`, where `current_user` is a value and no module.
                let may_be_value = wanted.family != "rust" && !wanted.below.is_empty();
                found.retain(|d| !may_be_value || n_in_path(&wanted.below, d.path) > 0);
            }
            let best = found.into_iter().min_by_key(|d| d.rank(wanted));
            Ok(best.map(|d| format!("{}:{}-{}", d.path, d.name.start_line, d.name.end_line)))
        })
    }
}

/// Returns how the address of a file of a package begins, with the ecosystem if it needs it.
fn address_of(all: &[Dependency], dependency: &Dependency) -> String {
    let written = label(dependency);
    let is_other = |d: &Dependency| d.ecosystem != dependency.ecosystem && label(d) == written;
    if all.iter().any(is_other) {
        format!("{}:{written}", dependency.ecosystem.name())
    } else {
        written
    }
}

/// A definition in a file of a package.
struct Definition<'p> {
    name: Name,
    /// The type that it is a member of.
    owner: Option<String>,
    path: &'p str,
    /// The position of the file among those that define the name.
    at: usize,
}

impl Definition<'_> {
    /// Returns whether another crate can use a definition of Rust. A member without `pub` may be one of
    /// a trait.
    fn is_public(&self, chunks: &[Arc<Chunk>]) -> bool {
        let first = self.name.start_line;
        let lines = chunks.iter().find_map(|chunk| {
            let is_text = chunk.chunk_type != ChunkType::Symbols;
            let start = chunk.metadata.start_line.filter(|start| is_text && *start <= first)?;
            chunk.metadata.end_line.filter(|end| first <= *end)?;
            Some(chunk.text.lines().skip((first - start) as usize))
        });
        let mut head = lines.into_iter().flatten().map(str::trim_start);
        let is_restricted =
            head.find(|line| line.contains(last(&self.name.name)) && !line.starts_with("//"));
        let is_restricted = is_restricted.is_some_and(|line| line.starts_with("pub("));
        !is_restricted && (self.name.exported || self.owner.is_some() || self.name.kind == "macro")
    }

    /// Orders definitions of one name, the one that users of the package mean first.
    fn rank(&self, wanted: &ImportedName) -> impl Ord + use<> {
        let (kind, path) = (&*self.name.kind, self.path);
        let parts: Vec<String> =
            wanted.module.split([':', '/', '.', '\\']).skip(1).map(String::from).collect();
        (
            wanted.is_macro != (kind == "macro"),
            matches!(kind, "field" | "constant" | "module"),
            !self.name.exported,
            Reverse(n_in_path(&parts, path) + n_in_path(&wanted.below, path)),
            self.name.depth,
            path.matches('/').count(),
            self.at,
            self.name.start_line,
        )
    }
}

/// Returns whether one of the lines has a path that begins with a module: a variable may have its name.
fn is_path_at(text: &str, module: &str, lines: &[u32]) -> bool {
    let path = format!("{module}::");
    let mut texts = text.lines().zip(1..).filter(|(_, line)| lines.contains(line));
    texts.any(|(text, _)| text.contains(&path))
}

/// Returns how many of some modules are in a path.
fn n_in_path(modules: &[String], path: &str) -> usize {
    let is_in_path = |module: &&String| path.split(['/', '.']).any(|part| part == **module);
    modules.iter().filter(is_in_path).count()
}

/// Returns the definitions of a name in a file, whose definitions are given in any order.
fn definitions<'p>(names: &[Name], name: &str, path: &'p str, at: usize) -> Vec<Definition<'p>> {
    let is_wanted = |n: &&Name| {
        last(&n.name) == name && n.kind != "impl" && n.start_line > 0 && n.start_line <= n.end_line
    };
    let found = names.iter().filter(is_wanted).map(|n| {
        let around = names.iter().filter(|o| {
            o.depth < n.depth && o.start_line <= n.start_line && n.end_line <= o.end_line
        });
        let around = around.max_by_key(|o| o.depth);
        let written = n.name.rfind(['.', ':']).map(|end| n.name[..end].trim_end_matches(':'));
        let owner = around.filter(|o| TYPES.contains(&&*o.kind)).map(|o| &*o.name).or(written);
        let is_inner = around.is_some_and(|o| matches!(&*o.kind, "function" | "method"));
        (!is_inner).then(|| Definition {
            name: n.clone(),
            owner: owner.map(|owner| last(owner).to_string()),
            path,
            at,
        })
    });
    found.flatten().collect()
}

/// Returns a name without the names around it and without type arguments.
fn last(name: &str) -> &str {
    let name = name.split('<').next().unwrap_or(name);
    name.rsplit(['.', ':', ' ']).next().unwrap_or(name)
}
