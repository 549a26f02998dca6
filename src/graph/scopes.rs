//! Reads the rows that the resolver needs: files, symbols, imports and bindings.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::error::GraphError;
use super::modules::{Module, ModulePath, modules};
use super::names;
use super::rows::{BaseRow, FileId, FileRow, ImportRow, SymbolId, SymbolRow};
use super::sql::Tables;
use crate::languages::{Modules, Names, Visibility, names_of};
use crate::syntax::{ReferenceKind, SymbolKind};
use crate::text::{directory, file_name};

/// Largest number of files that are included, directly or not, of which anything is said.
const MAX_INCLUDED: usize = 1_000;
/// Most assignments of one name that are followed.
const MAX_BINDINGS: usize = 4;

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
    /// By scope and name: types, or `=` and the chain of names that gives the value. There are several
    /// if the name is assigned several times.
    pub(super) bindings: HashMap<(i64, String), Vec<String>>,
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

    /// Returns the position of the innermost symbol at a line; -1 if there is none.
    pub(super) fn innermost(&self, line: u32) -> i64 {
        let around = self.symbols.iter().filter(|s| s.start_line <= line && line <= s.end_line);
        around.max_by_key(|s| (s.start_line, s.id.n)).map_or(-1, |s| s.id.n)
    }

    /// Returns the symbol that a call counts for. Code in the value of a constant counts for the
    /// symbol around the constant.
    pub(super) fn caller(&self, symbol: SymbolId) -> SymbolId {
        let caller = self.around(symbol).find(|s| !s.kind.is_data()).map(|s| s.id);
        caller.unwrap_or(SymbolId { n: -1, ..symbol })
    }

    /// Returns the innermost type around a symbol.
    pub(super) fn type_around(&self, symbol: SymbolId) -> Option<SymbolId> {
        self.around(symbol).find(|s| s.is_type()).map(|s| s.id)
    }

    /// Returns whether a symbol is a constant whose value has methods: `const api = { get() {} }`.
    pub(super) fn is_object(&self, symbol: &SymbolRow) -> bool {
        let mut inner = self.symbols.iter().filter(|s| s.parent == symbol.id.n);
        symbol.kind.is_data() && inner.any(|s| s.kind == SymbolKind::Method)
    }

    /// Returns the object of this name in a scope.
    pub(super) fn object(&self, scope: i64, name: &str) -> Option<SymbolId> {
        let named = self.symbols.iter().find(|s| s.parent == scope && s.name == name);
        named.filter(|s| self.is_object(s)).map(|s| s.id)
    }

    /// Returns the object whose method a symbol is or is in.
    pub(super) fn object_around(&self, symbol: SymbolId) -> Option<SymbolId> {
        let method = self.around(symbol).find(|s| s.kind == SymbolKind::Method)?;
        self.around(method.id).nth(1).filter(|s| s.kind.is_data()).map(|s| s.id)
    }

    /// Returns the name of the type that a symbol belongs to.
    pub(super) fn enclosing_type(&self, symbol: SymbolId) -> Option<String> {
        self.around(symbol).find_map(|s| {
            if s.is_type() {
                Some(s.name.clone())
            } else {
                Some(s.owner.clone()).filter(|o| !o.is_empty() && s.kind.is_callable())
            }
        })
    }

    /// Returns the bindings of a name in the innermost scope that binds it.
    pub(super) fn binding(&self, symbol: SymbolId, name: &str) -> Option<(i64, Vec<String>)> {
        // Members are not variables, but type parameters are visible in the whole type.
        let is_parameter = name.starts_with(char::is_uppercase);
        let scopes = self
            .around(symbol)
            .filter(|s| is_parameter || !s.is_type())
            .map(|s| s.id.n)
            .chain([-1]);
        scopes
            .into_iter()
            .find_map(|n| Some((n, self.bindings.get(&(n, name.to_string()))?.clone())))
    }
}

/// The expected kind of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum ExpectedKind {
    Callee,
    Macro,
    Type,
    Any,
}

impl From<ReferenceKind> for ExpectedKind {
    fn from(kind: ReferenceKind) -> Self {
        match kind {
            ReferenceKind::Call => Self::Callee,
            ReferenceKind::Macro => Self::Macro,
            ReferenceKind::Type => Self::Type,
            ReferenceKind::Value => Self::Any,
        }
    }
}

impl ExpectedKind {
    fn admits(self, symbol: &SymbolRow, names: &Names) -> bool {
        let is_macro = symbol.kind == SymbolKind::Macro;
        match self {
            _ if symbol.kind == SymbolKind::Impl => false,
            Self::Macro => {
                let result = symbol.result.as_deref().zip(names.macro_result);
                is_macro || result.is_some_and(|(result, of_macro)| names::last(result) == of_macro)
            }
            Self::Callee if is_macro && names.macro_result.is_some() => false,
            Self::Callee | Self::Any => symbol.kind != SymbolKind::Module,
            Self::Type => symbol.is_type(),
        }
    }
}

/// Reads rows and caches them.
pub(super) struct Scopes {
    pub(super) tables: Arc<Tables>,
    pub(super) files: Vec<SourceFile>,
    by_id: HashMap<FileId, usize>,
    /// Indices of files by the last part of their module path.
    by_last_part: HashMap<String, Vec<usize>>,
    /// The directories of packages of npm with a scope, by their names.
    packages: HashMap<String, String>,
    /// The names that a package of npm gives its own modules (`#utils`, `#lib/*`), by its directory.
    aliases: HashMap<String, Vec<ImportRow>>,
    /// The paths of modules of Go, by the directory of their `go.mod` (with a `/` at its end, or
    /// empty).
    go_modules: HashMap<String, String>,
    /// The names of packages of Go, by their directory.
    go_packages: HashMap<String, String>,
    /// The files of a module, as named from a file.
    exact: HashMap<(String, FileId), Arc<Vec<FileId>>>,
    by_file: HashMap<FileId, Arc<FileScope>>,
    named: HashMap<String, Arc<Vec<SymbolRow>>>,
    /// The members of each name, by their owner.
    members: HashMap<String, Arc<HashMap<String, Vec<SymbolId>>>>,
    /// By name, family of languages and expected kind.
    candidates: HashMap<(String, &'static str, ExpectedKind), Arc<Vec<SymbolRow>>>,
    matches: HashMap<(String, FileId, FileId), f32>,
    exists: HashMap<(String, FileId), bool>,
    /// The files of each file name; empty until a file that includes others asks.
    by_file_name: HashMap<String, Vec<FileId>>,
    /// What a file includes, and in turn what that includes.
    included: HashMap<FileId, Arc<HashSet<FileId>>>,
}

impl Scopes {
    pub(super) fn new(tables: Arc<Tables>) -> Result<Self, GraphError> {
        let rows = tables.files()?;
        // Each manifest of this name that names a package, with its directory.
        let manifests = |name: &'static str| {
            let named = rows.iter().filter(|row| !row.package.is_empty());
            named.filter_map(move |row| Some((row.path.strip_suffix(name)?, &*row.package)))
        };
        let crates: HashMap<String, String> = manifests("Cargo.toml")
            .map(|(directory, package)| (directory.to_string(), package.replace('-', "_")))
            .collect();
        let targets: HashSet<String> = rows
            .iter()
            .filter(|row| row.language == "rust")
            .filter_map(|row| {
                ["lib.rs", "main.rs"].iter().find_map(|root| row.path.strip_suffix(root))
            })
            .filter(|directory| directory.is_empty() || directory.ends_with('/'))
            .map(String::from)
            .collect();
        let packages: HashMap<String, String> = manifests("package.json")
            .filter(|(_, package)| package.starts_with('@'))
            .map(|(directory, package)| (package.into(), directory.trim_end_matches('/').into()))
            .collect();
        let go_modules: HashMap<String, String> =
            manifests("go.mod").map(|(directory, path)| (directory.into(), path.into())).collect();
        let go_packages: HashMap<String, String> = rows
            .iter()
            .filter(|row| row.language == "go" && !row.path.ends_with("_test.go"))
            .map(|row| (directory(&row.path).to_string(), row.package.clone()))
            .collect();
        let mut aliases = HashMap::new();
        for row in &rows {
            if let Some(directory) = row.path.strip_suffix("package.json") {
                let names = tables.imports_of(row.id)?;
                if !names.is_empty() {
                    aliases.insert(directory.to_string(), names);
                }
            }
        }
        let files: Vec<SourceFile> = rows
            .into_iter()
            .map(|row| {
                let own_crate = Some(&row).filter(|row| row.language == "rust");
                let own_crate = own_crate.and_then(|row| {
                    directories_above(&row.path).find_map(|above| crates.get_key_value(above))
                });
                let module = match own_crate {
                    Some((root, name)) => {
                        let target = directories_above(&row.path).find(|d| targets.contains(*d));
                        ModulePath::of_crate(&row.path, root, name, target)
                    }
                    None => ModulePath::new(&row.path),
                };
                SourceFile { module, names: names_of(&row.language), row }
            })
            .collect();
        let by_id = files.iter().enumerate().map(|(i, f)| (f.row.id, i)).collect();
        let mut by_last_part: HashMap<String, Vec<usize>> = HashMap::new();
        for (i, file) in files.iter().enumerate() {
            let last = file.module.parts.last().cloned().unwrap_or_default();
            by_last_part.entry(last).or_default().push(i);
        }
        Ok(Self {
            tables,
            files,
            by_id,
            by_last_part,
            packages,
            aliases,
            go_modules,
            go_packages,
            exact: HashMap::new(),
            by_file: HashMap::new(),
            named: HashMap::new(),
            members: HashMap::new(),
            candidates: HashMap::new(),
            matches: HashMap::new(),
            exists: HashMap::new(),
            by_file_name: HashMap::new(),
            included: HashMap::new(),
        })
    }

    /// Number of rows that it holds, apart from the list of files.
    pub(super) fn n_rows(&self) -> usize {
        let of_file = |scope: &Arc<FileScope>| {
            scope.symbols.len() + scope.imports.len() + scope.bindings.len() + scope.bases.len()
        };
        self.by_file.values().map(of_file).sum::<usize>()
            + self
                .named
                .values()
                .chain(self.candidates.values())
                .map(|rows| rows.len())
                .sum::<usize>()
            + self.matches.len()
            + self.exists.len()
    }

    pub(super) fn file(&self, id: FileId) -> Option<&SourceFile> {
        self.by_id.get(&id).map(|i| &self.files[*i])
    }

    /// Returns the file with this path.
    pub(super) fn file_at(&self, path: &str) -> Option<FileId> {
        let index = self.files.binary_search_by(|f| f.row.path.as_str().cmp(path)).ok()?;
        Some(self.files[index].row.id)
    }

    /// Returns the rules for names in the language of a file.
    pub(super) fn names(&self, file: FileId) -> Option<&'static Names> {
        self.file(file).map(|f| f.names)
    }

    /// Returns the family of the language of a file; empty if there is no such file.
    pub(super) fn family(&self, file: FileId) -> &'static str {
        self.names(file).map_or("", |names| names.family)
    }

    /// Returns the language of a file; empty if there is no such file.
    pub(super) fn language(&self, file: FileId) -> &str {
        self.file(file).map_or("", |f| &f.row.language)
    }

    pub(super) fn scope_of(&mut self, file: FileId) -> Result<Arc<FileScope>, GraphError> {
        if let Some(file_scope) = self.by_file.get(&file) {
            return Ok(file_scope.clone());
        }
        let mut bindings: HashMap<(i64, String), Vec<String>> = HashMap::new();
        for (scope, name, is) in self.tables.bindings_of(file)? {
            let all = bindings.entry((scope, name)).or_default();
            if all.len() < MAX_BINDINGS {
                all.push(is);
            }
        }
        let file_scope = Arc::new(FileScope {
            symbols: self.tables.symbols_of(file)?,
            imports: self.tables.imports_of(file)?,
            bindings,
            bases: self.tables.bases_of(file)?,
        });
        self.by_file.insert(file, file_scope.clone());
        Ok(file_scope)
    }

    /// Returns all symbols of a name.
    pub(super) fn named(&mut self, name: &str) -> Result<Arc<Vec<SymbolRow>>, GraphError> {
        if let Some(rows) = self.named.get(name) {
            return Ok(rows.clone());
        }
        let rows = Arc::new(self.tables.symbols_named(name)?);
        self.named.insert(name.to_string(), rows.clone());
        Ok(rows)
    }

    /// Returns all symbols of a name by their owners: a name may have ten thousands of them.
    pub(super) fn by_owner(
        &mut self,
        name: &str,
    ) -> Result<Arc<HashMap<String, Vec<SymbolId>>>, GraphError> {
        if let Some(owners) = self.members.get(name) {
            return Ok(owners.clone());
        }
        let mut owners: HashMap<String, Vec<SymbolId>> = HashMap::new();
        for row in self.named(name)?.iter() {
            owners.entry(row.owner.clone()).or_default().push(row.id);
        }
        let owners = Arc::new(owners);
        self.members.insert(name.to_string(), owners.clone());
        Ok(owners)
    }

    pub(super) fn symbol(&mut self, id: SymbolId) -> Result<Option<SymbolRow>, GraphError> {
        let file_scope = self.scope_of(id.file)?;
        Ok(file_scope.around(id).next().cloned())
    }

    pub(super) fn is_same_family(&self, a: FileId, b: FileId) -> bool {
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
    ) -> Result<Arc<Vec<SymbolRow>>, GraphError> {
        let family = self.family(from);
        let key = (name.to_string(), family, wanted);
        if let Some(rows) = self.candidates.get(&key) {
            return Ok(rows.clone());
        }
        let rows = Arc::new(self.find_candidates(name, from, wanted)?);
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
        let Some(names) = self.names(from) else { return Ok(Vec::new()) };
        let mut rows: Vec<SymbolRow> = rows
            .iter()
            .filter(|s| wanted.admits(s, names) && self.is_same_family(s.id.file, from))
            .cloned()
            .collect();
        if names.redefines {
            let mut last: HashMap<(FileId, i64), i64> = HashMap::new();
            for s in &rows {
                last.insert((s.id.file, s.parent), s.id.n);
            }
            rows.retain(|s| last[&(s.id.file, s.parent)] == s.id.n);
        }
        // Types that are declared beside code have no uses of their own.
        rows.retain(|s| !self.is_declared_beside(s.id.file));
        // A constructor that is named as its type counts as the type.
        if rows.iter().any(SymbolRow::is_type) {
            rows.retain(|s| s.owner != s.name || s.is_type());
        }
        if rows.iter().any(|s| s.prototype) && rows.iter().any(|s| !s.prototype) {
            let defined: HashSet<String> =
                rows.iter().filter(|s| !s.prototype).map(|s| s.owner.clone()).collect();
            rows.retain(|s| !s.prototype || !defined.contains(&s.owner));
        }
        Ok(rows)
    }

    /// Returns whether no other file sees the macros and private functions of a file.
    fn is_closed(&self, file: FileId) -> bool {
        self.file(file).is_some_and(|f| {
            let end = f.row.path.rsplit_once('.').map(|(_, end)| end);
            end.is_some_and(|end| f.names.closed_files.contains(&end))
        })
    }

    /// Returns whether a symbol is visible in its file only: a macro of C or a `static` function that
    /// is not in a header.
    pub(super) fn is_private_to_its_file(&self, symbol: &SymbolRow) -> bool {
        let is_private = symbol.kind == SymbolKind::Macro || !symbol.exported;
        is_private && self.is_closed(symbol.id.file)
    }

    /// Returns whether a source file of C lacks the include that a symbol needs: no file that it
    /// includes, however deep, has the name of a header that defines it or of a file that declares it.
    /// A source file that includes nothing is itself included somewhere.
    pub(super) fn lacks_include(
        &mut self,
        symbol: &SymbolRow,
        from: FileId,
    ) -> Result<bool, GraphError> {
        let included = self.included(from)?;
        let is_part = self.scope_of(from)?.imports.is_empty();
        if !self.is_closed(from) || is_part || included.len() >= MAX_INCLUDED {
            return Ok(false);
        }
        let rows = self.named(&symbol.name)?;
        let mut declared = rows.iter().filter(|s| s.prototype).peekable();
        let needs_include = !self.is_closed(symbol.id.file) || declared.peek().is_some();
        Ok(needs_include
            && !included.contains(&symbol.id.file)
            && !declared.any(|s| included.contains(&s.id.file)))
    }

    /// Returns a file and what it includes, however deep: at most [`MAX_INCLUDED`] files. Which
    /// directories are searched is not known, so an include is every file of its name.
    fn included(&mut self, file: FileId) -> Result<Arc<HashSet<FileId>>, GraphError> {
        if let Some(known) = self.included.get(&file) {
            return Ok(known.clone());
        }
        if self.by_file_name.is_empty() {
            for file in &self.files {
                let name = file_name(&file.row.path).to_string();
                self.by_file_name.entry(name).or_default().push(file.row.id);
            }
        }
        let mut included = HashSet::from([file]);
        let mut open = vec![file];
        while let Some(next) = open.pop().filter(|_| included.len() < MAX_INCLUDED) {
            for import in self.tables.imports_of(next)? {
                let named = self.by_file_name.get(file_name(&import.module));
                open.extend(named.into_iter().flatten().filter(|id| included.insert(**id)));
            }
        }
        let included = Arc::new(included);
        self.included.insert(file, included.clone());
        Ok(included)
    }

    /// Returns whether the code opens a module or a namespace of this name, in a language where many
    /// files open one.
    pub(super) fn is_namespace(&mut self, name: &str, from: FileId) -> Result<bool, GraphError> {
        if !self.file(from).is_some_and(|f| f.names.namespaces) {
            return Ok(false);
        }
        let rows = self.named(name)?;
        Ok(rows
            .iter()
            .any(|s| s.kind == SymbolKind::Module && self.is_same_family(s.id.file, from)))
    }

    /// Returns whether a symbol is a type within another type.
    pub(super) fn is_inner_type(&mut self, symbol: &SymbolRow) -> Result<bool, GraphError> {
        let file_scope = self.scope_of(symbol.id.file)?;
        Ok(symbol.is_type() && file_scope.around(symbol.id).nth(1).is_some_and(SymbolRow::is_type))
    }

    /// Returns whether a type is within another one, and is called with that one before it as every
    /// member is: `Self::Err(…)`.
    pub(super) fn is_called_as_member(
        &mut self,
        symbol: &SymbolRow,
        wanted: ExpectedKind,
    ) -> Result<bool, GraphError> {
        let needs_owner = self.file(symbol.id.file).is_some_and(|f| !f.names.implicit_self);
        Ok(needs_owner && wanted == ExpectedKind::Callee && self.is_inner_type(symbol)?)
    }

    /// Returns whether a file declares the types of a file of JavaScript beside it: `a.d.ts` of `a.js`.
    fn is_declared_beside(&self, file: FileId) -> bool {
        let stem = self.file(file).and_then(|f| f.row.path.strip_suffix(".d.ts"));
        stem.is_some_and(|stem| {
            ["js", "mjs", "cjs", "jsx"]
                .iter()
                .any(|end| self.file_at(&format!("{stem}.{end}")).is_some())
        })
    }

    /// Returns whether a file is JavaScript, or a language that becomes it.
    pub(super) fn is_npm(&self, file: FileId) -> bool {
        self.file(file).is_some_and(|f| f.names.modules == Modules::Npm)
    }

    /// Returns whether two files belong to one crate of Rust.
    pub(super) fn is_same_crate(&self, a: FileId, b: FileId) -> bool {
        let name = |id| self.file(id)?.module.own_crate.as_deref();
        name(a).is_some_and(|a| Some(a) == name(b))
    }

    /// Returns whether a symbol belongs to a module and not to a type.
    pub(super) fn is_module_member(&mut self, symbol: &SymbolRow) -> Result<bool, GraphError> {
        let file_scope = self.scope_of(symbol.id.file)?;
        Ok(file_scope.around(symbol.id).nth(1).is_some_and(|p| p.kind == SymbolKind::Module))
    }

    /// Returns whether a symbol is a method of the object that its module exports:
    /// `module.exports = { get() {} }`.
    pub(super) fn is_exported_member(&mut self, symbol: &SymbolRow) -> Result<bool, GraphError> {
        if !self.is_npm(symbol.id.file) || symbol.kind != SymbolKind::Method {
            return Ok(false);
        }
        let file_scope = self.scope_of(symbol.id.file)?;
        Ok(file_scope.around(symbol.id).nth(1).is_some_and(|object| {
            object.kind.is_data() && matches!(&*object.name, "module.exports" | "default")
        }))
    }

    /// Returns the places that the written name of a module may mean in a file.
    fn places(&self, module: &str, from: &SourceFile) -> Vec<Module> {
        let style = from.names.modules;
        if style == Modules::Npm
            && module.starts_with('#')
            && let Some(directory) =
                directories_above(&from.row.path).find(|d| self.aliases.contains_key(*d))
        {
            let manifest = ModulePath::new(&format!("{directory}package.json"));
            let paths = aliased(module, &self.aliases[directory]);
            return paths.iter().flat_map(|path| modules(path, style, &manifest)).collect();
        }
        if style == Modules::Directories && self.has_go_module(&from.row.path) {
            let directory = self.go_directory(module);
            return directory.iter().map(|directory| Module::of_directory(directory)).collect();
        }
        // `@scope/name/rest`; `@/rest` is an alias of a folder.
        let scoped = (from.names.modules == Modules::Npm && !self.packages.is_empty())
            .then(|| module.strip_prefix('@'))
            .flatten()
            .filter(|rest| !rest.starts_with('/'));
        let Some((scope, rest)) = scoped.and_then(|rest| rest.split_once('/')) else {
            return modules(module, style, &from.module);
        };
        let (name, rest) = rest.split_once('/').unwrap_or((rest, ""));
        match self.packages.get(&format!("@{scope}/{name}")) {
            Some(directory) => modules(&format!("{directory}/{rest}"), style, &from.module),
            None => Vec::new(),
        }
    }

    /// Returns whether a `go.mod` is above a file.
    fn has_go_module(&self, path: &str) -> bool {
        directories_above(path).any(|directory| self.go_modules.contains_key(directory))
    }

    /// Returns the directory of a package of Go; `None` if it is one of another project.
    fn go_directory(&self, package: &str) -> Option<String> {
        let below = |(directory, module): (&String, &String)| {
            let rest = package.strip_prefix(module.as_str())?;
            let rest = if rest.is_empty() { Some("") } else { rest.strip_prefix('/') }?;
            let path = format!("{directory}{rest}");
            Some((module.len(), path.trim_end_matches('/').to_string()))
        };
        self.go_modules.iter().filter_map(below).max().map(|(_, directory)| directory)
    }

    /// Returns the name under which a file uses a module that it imports without one.
    pub(super) fn name_of_module<'m>(&'m self, module: &'m str, from: FileId) -> &'m str {
        let Some(file) = self.file(from) else { return "" };
        if file.names.modules != Modules::Directories {
            return names::last(module);
        }
        let directory = self.go_directory(module);
        let package = directory.and_then(|directory| self.go_packages.get(&directory));
        package.map_or_else(|| names::last(without_version(module)), String::as_str)
    }

    /// Returns the confidence, from 0 to 1, that `target` is the module that the file `from` names.
    pub(super) fn module_matches(&mut self, module: &str, from: FileId, target: FileId) -> f32 {
        let key = (module.to_string(), from, target);
        if let Some(known) = self.matches.get(&key) {
            return *known;
        }
        let matches = self.match_of(module, from, target);
        self.matches.insert(key, matches);
        matches
    }

    /// Returns the same for one of many pairs, which are not worth keeping.
    pub(super) fn match_of(&self, module: &str, from: FileId, target: FileId) -> f32 {
        let (Some(a), Some(b)) = (self.file(from), self.file(target)) else { return 0.0 };
        if is_package(b, module) { 1.0 } else { best_match(&self.places(module, a), b) }
    }

    /// Returns the files that are exactly the module that the file `from` names, not below it.
    pub(super) fn files_of_module(&mut self, module: &str, from: FileId) -> Arc<Vec<FileId>> {
        let key = (module.to_string(), from);
        if let Some(known) = self.exact.get(&key) {
            return known.clone();
        }
        let mut exact = Vec::new();
        if let Some(a) = self.file(from) {
            let places = self.places(module, a);
            let lasts: HashSet<&str> = places.iter().map(Module::last).collect();
            for last in lasts {
                let files = self.by_last_part.get(last).into_iter().flatten();
                let files = files.map(|i| &self.files[*i]);
                exact.extend(files.filter(|f| best_match(&places, f) >= 1.0).map(|f| f.row.id));
            }
        }
        exact.sort_unstable();
        exact.dedup();
        let exact = Arc::new(exact);
        self.exact.insert(key, exact.clone());
        exact
    }

    /// Returns whether any file of the project is this module or is in it.
    pub(super) fn module_exists(&mut self, module: &str, from: FileId) -> bool {
        let key = (module.to_string(), from);
        if let Some(known) = self.exists.get(&key) {
            return *known;
        }
        let Some(a) = self.file(from) else { return false };
        let places = self.places(module, a);
        let exists =
            self.files.iter().any(|f| best_match(&places, f) > 0.0 || is_package(f, module));
        self.exists.insert(key, exists);
        exists
    }

    /// Returns whether the project has a module, or at least the package at the beginning of its
    /// path.
    pub(super) fn is_of_project(&mut self, module: &str, from: FileId) -> bool {
        let package = module.split([':', '.', '/', '\\']).next().unwrap_or("");
        package.is_empty()
            || self.module_exists(module, from)
            || self.by_last_part.contains_key(package)
            || self.module_exists(package, from)
            || self.is_namespace(package, from).unwrap_or(true)
    }

    /// Returns whether a module is a namespace, all of whose files say that they are in it.
    pub(super) fn is_opened(&self, module: &str, from: FileId) -> bool {
        self.file(from).is_some_and(|f| f.names.reach == Visibility::Project)
            && self.files.iter().any(|f| is_package(f, module))
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

/// Returns a path of Go without the number of a major version at its end: `a/b` of `a/b/v5`.
fn without_version(module: &str) -> &str {
    let is_version = |end: &str| {
        let digits = end.strip_prefix('v');
        digits.is_some_and(|d| !d.is_empty() && d.bytes().all(|b| b.is_ascii_digit()))
    };
    match module.rsplit_once('/') {
        Some((rest, end)) if is_version(end) => rest,
        _ => module,
    }
}

/// Returns the paths that a name like `#lib/a` means. Of the names with a `*`, the longest one that
/// fits counts.
fn aliased(module: &str, names: &[ImportRow]) -> Vec<String> {
    let filled = |import: &ImportRow| match import.alias.split_once('*') {
        None => (import.alias == module).then(|| (usize::MAX, import.module.clone())),
        Some((before, after)) => {
            let inner = module.strip_prefix(before)?.strip_suffix(after)?;
            Some((before.len(), import.module.replace('*', inner)))
        }
    };
    let paths: Vec<(usize, String)> = names.iter().filter_map(filled).collect();
    let best = paths.iter().map(|(length, _)| *length).max();
    paths.into_iter().filter(|(length, _)| Some(*length) == best).map(|(_, path)| path).collect()
}

/// Returns whether a file declares this package. (In Go a directory determines the package, and
/// many packages share a name.)
fn is_package(file: &SourceFile, module: &str) -> bool {
    let package = &file.row.package;
    if file.names.modules == Modules::Directories || package.is_empty() {
        return false;
    }
    // A file of C++ opens several namespaces, which are separated by spaces.
    let is_open = |part: &str| package.split(' ').any(|open| open == part);
    package == module
        || (module.contains("::") || package.contains(' ')) && {
            let mut parts = module.split("::").filter(|part| !part.is_empty()).peekable();
            parts.peek().is_some() && parts.all(is_open)
        }
}

/// Returns the directories of a path, from the inside out, each with a `/` at its end.
fn directories_above(path: &str) -> impl Iterator<Item = &str> {
    path.rmatch_indices('/').map(|(index, _)| &path[..=index]).chain([""])
}

fn best_match(places: &[Module], file: &SourceFile) -> f32 {
    places.iter().map(|m| m.matches(&file.module, &file.row.package)).fold(0.0, f32::max)
}
