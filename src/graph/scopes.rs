//! Reads the rows that the resolver needs: files, symbols, imports and bindings.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::error::GraphError;
use super::modules::{Module, ModulePath, modules};
use super::rows::{BaseRow, FileId, FileRow, ImportRow, SymbolId, SymbolRow};
use super::sql::Tables;
use crate::languages::{Modules, Names, names_of};
use crate::syntax::{ReferenceKind, SymbolKind};

/// A file of the project.
#[derive(Debug)]
pub(super) struct SourceFile {
    pub(super) row: FileRow,
    /// Its path as imports name it.
    pub(super) module: ModulePath,
    pub(super) names: &'static Names,
}

/// The rows that determine what names mean in a file.
#[derive(Debug, Default)]
pub(super) struct FileScope {
    pub(super) symbols: Vec<SymbolRow>,
    pub(super) imports: Vec<ImportRow>,
    /// By scope and name: a type, or `=` and the chain of names that gives the value.
    pub(super) bindings: HashMap<(i64, String), String>,
    pub(super) bases: Vec<BaseRow>,
}

impl FileScope {
    /// Returns a symbol and the symbols around it, from the inside out.
    pub(super) fn around(&self, symbol: SymbolId) -> impl Iterator<Item = &SymbolRow> {
        let row = |n: i64| usize::try_from(n).ok().and_then(|n| self.symbols.get(n));
        // In a database of our own, a symbol is inside of an earlier one.
        std::iter::successors(row(symbol.n), move |s| {
            row(s.parent).filter(|outer| outer.id.n < s.id.n)
        })
    }

    /// Returns the innermost type around a symbol.
    pub(super) fn type_around(&self, at: SymbolId) -> Option<SymbolId> {
        self.around(at).find(|s| s.is_type()).map(|s| s.id)
    }

    /// Returns the name of the type that a symbol belongs to.
    pub(super) fn enclosing_type(&self, at: SymbolId) -> Option<String> {
        self.around(at).find_map(|s| {
            if s.is_type() {
                Some(s.name.clone())
            } else {
                Some(s.owner.clone()).filter(|o| !o.is_empty() && s.kind.is_callable())
            }
        })
    }

    /// Returns the binding of a name in the innermost scope that binds it.
    pub(super) fn binding(&self, at: SymbolId, name: &str) -> Option<(i64, String)> {
        // Members are not variables, but type parameters are visible in the whole type.
        let is_parameter = name.starts_with(char::is_uppercase);
        let scopes =
            self.around(at).filter(|s| is_parameter || !s.is_type()).map(|s| s.id.n).chain([-1]);
        scopes
            .into_iter()
            .find_map(|n| Some((n, self.bindings.get(&(n, name.to_string()))?.clone())))
    }
}

/// The expected kind of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum ExpectedKind {
    Callee,
    Type,
    Any,
}

impl From<ReferenceKind> for ExpectedKind {
    fn from(kind: ReferenceKind) -> Self {
        match kind {
            ReferenceKind::Call => Self::Callee,
            ReferenceKind::Type => Self::Type,
            ReferenceKind::Value => Self::Any,
        }
    }
}

impl ExpectedKind {
    fn admits(self, symbol: &SymbolRow) -> bool {
        match self {
            _ if symbol.kind == SymbolKind::Impl => false,
            Self::Callee | Self::Any => symbol.kind != SymbolKind::Module,
            Self::Type => symbol.is_type(),
        }
    }
}

/// Reads rows and caches them for one answer.
pub(super) struct Scopes<'a> {
    pub(super) tables: &'a Tables,
    pub(super) files: Vec<SourceFile>,
    by_id: HashMap<FileId, usize>,
    by_file: HashMap<FileId, Rc<FileScope>>,
    named: HashMap<String, Rc<Vec<SymbolRow>>>,
    /// By name, family of languages and expected kind.
    candidates: HashMap<(String, &'static str, ExpectedKind), Rc<Vec<SymbolRow>>>,
    matches: HashMap<(String, FileId, FileId), f32>,
    exists: HashMap<(String, FileId), bool>,
}

impl<'a> Scopes<'a> {
    pub(super) fn new(tables: &'a Tables) -> Result<Self, GraphError> {
        let rows = tables.files()?;
        let crates: HashMap<String, String> = rows
            .iter()
            .filter(|row| !row.package.is_empty())
            .filter_map(|row| Some((row.path.strip_suffix("Cargo.toml")?, &row.package)))
            .map(|(directory, package)| (directory.to_string(), package.replace('-', "_")))
            .collect();
        let files: Vec<SourceFile> = rows
            .into_iter()
            .map(|row| {
                let own_crate = Some(&row).filter(|row| row.language == "rust");
                let own_crate = own_crate.and_then(|row| crate_of(&row.path, &crates));
                let mut module = ModulePath::new(&row.path);
                module.own_crate = own_crate;
                SourceFile { module, names: names_of(&row.language), row }
            })
            .collect();
        let by_id = files.iter().enumerate().map(|(i, f)| (f.row.id, i)).collect();
        Ok(Self {
            tables,
            files,
            by_id,
            by_file: HashMap::new(),
            named: HashMap::new(),
            candidates: HashMap::new(),
            matches: HashMap::new(),
            exists: HashMap::new(),
        })
    }

    pub(super) fn file(&self, id: FileId) -> Option<&SourceFile> {
        self.by_id.get(&id).map(|i| &self.files[*i])
    }

    pub(super) fn scope_of(&mut self, file: FileId) -> Result<Rc<FileScope>, GraphError> {
        if let Some(file_scope) = self.by_file.get(&file) {
            return Ok(file_scope.clone());
        }
        let bindings = self
            .tables
            .bindings_of(file)?
            .into_iter()
            .map(|(scope, name, is)| ((scope, name), is))
            .collect();
        let file_scope = Rc::new(FileScope {
            symbols: self.tables.symbols_of(file)?,
            imports: self.tables.imports_of(file)?,
            bindings,
            bases: self.tables.bases_of(file)?,
        });
        self.by_file.insert(file, file_scope.clone());
        Ok(file_scope)
    }

    /// Returns all symbols of a name.
    pub(super) fn named(&mut self, name: &str) -> Result<Rc<Vec<SymbolRow>>, GraphError> {
        if let Some(rows) = self.named.get(name) {
            return Ok(rows.clone());
        }
        let rows = Rc::new(self.tables.symbols_named(name)?);
        self.named.insert(name.to_string(), rows.clone());
        Ok(rows)
    }

    pub(super) fn symbol(&mut self, id: SymbolId) -> Result<Option<SymbolRow>, GraphError> {
        let file_scope = self.scope_of(id.file)?;
        Ok(file_scope.around(id).next().cloned())
    }

    fn is_same_family(&self, a: FileId, b: FileId) -> bool {
        a == b
            || self.file(a).zip(self.file(b)).is_some_and(|(a, b)| a.names.family == b.names.family)
    }

    /// Returns the symbols of a name that may be visible in a file. A declaration is dropped in
    /// favour of its definition.
    pub(super) fn candidates(
        &mut self,
        name: &str,
        from: FileId,
        wanted: ExpectedKind,
    ) -> Result<Rc<Vec<SymbolRow>>, GraphError> {
        let family = self.file(from).map_or("", |f| f.names.family);
        let key = (name.to_string(), family, wanted);
        if let Some(rows) = self.candidates.get(&key) {
            return Ok(rows.clone());
        }
        let rows = Rc::new(self.find_candidates(name, from, wanted)?);
        self.candidates.insert(key, rows.clone());
        Ok(rows)
    }

    fn find_candidates(
        &mut self,
        name: &str,
        from: FileId,
        wanted: ExpectedKind,
    ) -> Result<Vec<SymbolRow>, GraphError> {
        let rows = self.named(name)?;
        let mut rows: Vec<SymbolRow> = rows
            .iter()
            .filter(|s| wanted.admits(s) && self.is_same_family(s.id.file, from))
            .cloned()
            .collect();
        if rows.iter().any(|s| s.prototype) && rows.iter().any(|s| !s.prototype) {
            let defined: HashSet<String> =
                rows.iter().filter(|s| !s.prototype).map(|s| s.owner.clone()).collect();
            rows.retain(|s| !s.prototype || !defined.contains(&s.owner));
        }
        Ok(rows)
    }

    /// Returns whether a symbol belongs to a module and not to a type.
    pub(super) fn is_module_member(&mut self, symbol: &SymbolRow) -> Result<bool, GraphError> {
        let file_scope = self.scope_of(symbol.id.file)?;
        Ok(file_scope.around(symbol.id).nth(1).is_some_and(|p| p.kind == SymbolKind::Module))
    }

    /// Returns the confidence, from 0 to 1, that `target` is the module that the file `from` names.
    pub(super) fn module_matches(&mut self, module: &str, from: FileId, target: FileId) -> f32 {
        let key = (module.to_string(), from, target);
        if let Some(known) = self.matches.get(&key) {
            return *known;
        }
        let (Some(a), Some(b)) = (self.file(from), self.file(target)) else { return 0.0 };
        let places = modules(module, a.names.modules, &a.module);
        let matches = if is_package(b, module) { 1.0 } else { best_match(&places, b) };
        self.matches.insert(key, matches);
        matches
    }

    /// Returns whether any file of the project is this module or is in it.
    pub(super) fn module_exists(&mut self, module: &str, from: FileId) -> bool {
        let key = (module.to_string(), from);
        if let Some(known) = self.exists.get(&key) {
            return *known;
        }
        let Some(a) = self.file(from) else { return false };
        let places = modules(module, a.names.modules, &a.module);
        let exists =
            self.files.iter().any(|f| best_match(&places, f) > 0.0 || is_package(f, module));
        self.exists.insert(key, exists);
        exists
    }

    /// Returns the module path that an imported name has if it is a module.
    pub(super) fn submodule(&self, module: &str, name: &str, from: FileId) -> String {
        match (self.file(from).map(|f| f.names.modules), name) {
            (_, "" | "*" | "default") => module.to_string(),
            (Some(Modules::Rust), name) => format!("{module}::{name}"),
            (Some(Modules::Python), name) if module.ends_with('.') => format!("{module}{name}"),
            (_, name) => format!("{module}.{name}"),
        }
    }

    pub(super) fn directory_of(&self, file: FileId) -> String {
        self.file(file).map_or(String::new(), |f| directory(&f.row.path).to_string())
    }
}

/// Returns whether a file declares this package. (In Go a directory determines the package, and
/// many packages share a name.)
fn is_package(file: &SourceFile, module: &str) -> bool {
    file.names.modules != Modules::Directories
        && !file.row.package.is_empty()
        && file.row.package == module
}

/// Returns the name of the crate in the nearest directory above a file that has one.
fn crate_of(path: &str, crates: &HashMap<String, String>) -> Option<String> {
    let above = path.rmatch_indices('/').map(|(at, _)| &path[..=at]).chain([""]);
    above.into_iter().find_map(|directory| crates.get(directory)).cloned()
}

fn best_match(places: &[Module], file: &SourceFile) -> f32 {
    places.iter().map(|m| m.matches(&file.module, &file.row.package)).fold(0.0, f32::max)
}

pub(super) fn directory(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(d, _)| d)
}
