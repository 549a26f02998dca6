//! Judges each place of a name: does it mean a symbol that is renamed, something else, or is that
//! not known?
//!
//! The text decides first: what binds the name where it is written. A place that nothing in its file
//! binds is resolved by the rows and the rules of the graph. If neither says what it means, it counts
//! as the symbol only if nothing else in the project has the name and the language lets it reach the
//! symbol. Everything else is uncertain.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::answer::LEAST_CONFIDENCE;
use super::error::GraphError;
use super::names;
use super::rename::{NamedIn, SURE, Verdict};
use super::resolve::CLEARLY;
use super::resolver::{Entity, Meaning};
use super::rows::{FileId, ImportRow, RefRow, SymbolId, SymbolRow, imported_as};
use super::scopes::ExpectedKind;
use super::traversal::Traversal;
use crate::languages::{Modules, Names, Visibility};
use crate::syntax::{
    BinderKind, Occurrence, PlaceKind, ReferenceKind, Role, SymbolKind, as_written,
};
use crate::text::directory;

/// A place means another symbol from this confidence on.
const SURE_OTHER: f32 = 0.6;
/// Most modules that hand a name on from one to the next.
const MAX_HANDED_ON: u8 = 6;

const COMMENT: &str = "a comment";
const STRING: &str = "a string";
const DOCUMENT: &str = "a document or a setting";
/// What a line is whose language cannot use the symbol.
pub const OTHER_LANGUAGE: &str = "another language";
const MODULE: &str = "the name of a module or a file";
const VARIABLE: &str = "a variable or a parameter";
const KEY: &str = "a key or the name of an argument";
const OTHER: &str = "another symbol";
const OUTSIDE: &str = "not of this project";
const ALIAS: &str = "a name that the file chooses itself";
const UNREACHED: &str = "the symbol is not visible there";

const UNKNOWN: Verdict = Verdict::Uncertain(0.0, "nothing says what the name means there");
const OF_VALUE: Verdict = Verdict::Uncertain(0.0, "a member of a value whose type is not known");
const AT_ONCE: Verdict =
    Verdict::Uncertain(0.0, "a key and its value at once: write the key before it");
const MAYBE_LOCAL: Verdict =
    Verdict::Uncertain(0.0, "a variable or a parameter around it has this name");
const MAYBE_MODULE: Verdict = Verdict::Uncertain(0.0, "a module has this name, too");
const MAYBE_OUTSIDE: Verdict =
    Verdict::Uncertain(0.0, "the import may be of this project or of another one");
const OF_LOADED: Verdict =
    Verdict::Uncertain(0.0, "it may be taken from a module that the code loads while it runs");
const OF_KEY: Verdict = Verdict::Uncertain(0.0, "a key, which may be that of the symbol");
const IN_MARKUP: Verdict = Verdict::Uncertain(0.0, "in the markup beside the script");
const SYMBOLIC: Verdict = Verdict::Uncertain(0.0, "a symbol or an atom, which may be called");

/// What is renamed, and what else has the name.
pub(super) struct Judged<'a> {
    name: &'a str,
    family: &'a BTreeSet<SymbolId>,
    doubtful: &'a BTreeMap<SymbolId, f32>,
    symbols: Vec<SymbolRow>,
    rows: HashMap<(FileId, u32), Vec<RefRow>>,
    /// A file of the first symbol.
    home: FileId,
    is_type: bool,
    is_callable: bool,
    is_data: bool,
    is_macro: bool,
    /// Whether it belongs to a type, so that it is used through a value.
    is_member: bool,
    is_enum_member: bool,
    /// Whether it is a member that is added to a type outside of the project.
    is_extension: bool,
    /// Whether an object may have the member without naming its type.
    is_of_shape: bool,
    /// Whether no other symbol of the language family has the name.
    is_only: bool,
    /// Whether moreover no field, key or assigned member has it.
    is_only_member: bool,
    /// Symbols of the name that are told from it at each place.
    apart: Vec<SymbolRow>,
    /// Whether the mark of a variable is one of a member: `@name`, `#name`.
    is_marked: bool,
    /// Whether a file or a folder of the language has the name.
    has_module: bool,
}

impl Traversal {
    /// Judges the places of all files, in their order.
    pub(super) fn judge(
        &mut self,
        name: &str,
        named: &[NamedIn],
        family: &BTreeSet<SymbolId>,
        doubtful: &BTreeMap<SymbolId, f32>,
    ) -> Result<Vec<Vec<Verdict>>, GraphError> {
        let Some(first) = family.first().copied() else { return Ok(Vec::new()) };
        let mut judged = self.judged(name, first, family, doubtful)?;
        let mut all: Vec<Vec<Verdict>> = Vec::with_capacity(named.len());
        for NamedIn { file, places, .. } in named {
            let file = self.resolver.scopes.file_at(file);
            all.push(match file {
                Some(file) => self.judge_binders(&judged, file, places)?,
                None => vec![Verdict::Left(DOCUMENT); places.len()],
            });
        }
        for (NamedIn { file, places, .. }, verdicts) in named.iter().zip(&all) {
            let Some(file) = self.resolver.scopes.file_at(file) else { continue };
            if !self.resolver.scopes.is_same_family(file, judged.home) {
                continue;
            }
            for (place, verdict) in places.iter().zip(verdicts) {
                let is_other =
                    *verdict == Verdict::Left(OTHER) || *verdict == Verdict::Left(VARIABLE);
                let is_definition = is_other
                    && place.binds == Some(BinderKind::Definition)
                    && !judged.apart.iter().any(|s| s.id.file == file && s.line == place.line);
                judged.is_only &= !is_definition;
                let has_member = place.place == PlaceKind::Code
                    && (is_definition
                        || place.role == Role::Key
                        || (place.role == Role::Variable && judged.is_marked)
                        || (place.is_assigned && !place.receiver.is_empty()));
                judged.is_only_member &= !has_member;
            }
        }
        judged.is_only_member &= judged.is_only;
        for (NamedIn { file, places, .. }, verdicts) in named.iter().zip(&mut all) {
            let Some(file) = self.resolver.scopes.file_at(file) else { continue };
            if self.resolver.scopes.is_same_family(file, judged.home) {
                self.judge_uses(&judged, file, places, verdicts)?;
            }
        }
        Ok(all)
    }

    fn judged<'a>(
        &mut self,
        name: &'a str,
        first: SymbolId,
        family: &'a BTreeSet<SymbolId>,
        doubtful: &'a BTreeMap<SymbolId, f32>,
    ) -> Result<Judged<'a>, GraphError> {
        let mut rows: HashMap<(FileId, u32), Vec<RefRow>> = HashMap::new();
        for reference in self.resolver.scopes.tables.refs_named(name)? {
            for line in &reference.lines {
                rows.entry((reference.from.file, *line)).or_default().push(reference.clone());
            }
        }
        let all = self.resolver.scopes.named(name)?;
        let home = first.file;
        let symbols: Vec<SymbolRow> = all
            .iter()
            .filter(|s| s.kind != SymbolKind::Impl)
            .filter(|s| self.resolver.scopes.is_same_family(s.id.file, home))
            .cloned()
            .collect();
        let is_type = symbols.iter().any(|s| family.contains(&s.id) && s.is_type());
        let is_function =
            !is_type && symbols.iter().any(|s| family.contains(&s.id) && s.kind.is_callable());
        let (apart, symbols): (Vec<SymbolRow>, Vec<SymbolRow>) = symbols
            .into_iter()
            .partition(|s| !family.contains(&s.id) && self.is_apart(is_function, is_type, s));
        let ours = || symbols.iter().filter(|s| family.contains(&s.id));
        let is_only =
            symbols.iter().all(|s| family.contains(&s.id) || s.kind == SymbolKind::Module);
        let stem_is_name =
            |path: &str| path.split('/').any(|part| part.split('.').next() == Some(name));
        let has_module = self.resolver.scopes.files.iter().any(|file| {
            file.names.family == self.resolver.scopes.family(home) && stem_is_name(&file.row.path)
        });
        let (mut is_member, mut is_extension) = (false, false);
        for symbol in ours().filter(|s| !s.is_type() && s.name != s.owner) {
            is_member |=
                !symbol.owner.is_empty() && !self.resolver.scopes.is_module_member(symbol)?;
            // An extension of Kotlin is called on a value.
            let is_added = symbol.signature.contains(&format!(".{name}"));
            is_member |= is_added;
            let owners = self.resolver.scopes.named(&symbol.owner)?;
            let is_outside = !owners.iter().any(|o| o.is_type() && o.kind != SymbolKind::Impl);
            is_extension |= is_added || (is_outside && !symbol.owner.is_empty());
        }
        let mut is_of_shape = false;
        if self.resolver.scopes.family(home) == "ecmascript" {
            for id in family {
                let scope = self.resolver.scopes.scope_of(id.file)?;
                let owner = scope.around(*id).nth(1).map(|owner| owner.kind);
                is_of_shape |= matches!(owner, Some(SymbolKind::Interface | SymbolKind::Type));
            }
        }
        Ok(Judged {
            name,
            family,
            doubtful,
            home,
            is_type,
            is_callable: ours().all(|s| s.kind.is_callable() && s.kind != SymbolKind::Macro),
            is_data: ours().any(|s| s.kind.is_data()),
            is_macro: ours().any(|s| s.kind == SymbolKind::Macro),
            is_member,
            is_of_shape,
            is_extension,
            is_enum_member: ours().any(|s| s.kind == SymbolKind::EnumMember),
            is_only,
            is_only_member: true,
            apart,
            is_marked: !self.resolver.scopes.names(home).is_some_and(Names::marks_variables),
            has_module,
            symbols,
            rows,
        })
    }

    /// Judges what the text itself decides: text that is no code, and the places that bind the name.
    fn judge_binders(
        &mut self,
        judged: &Judged,
        file: FileId,
        places: &[Occurrence],
    ) -> Result<Vec<Verdict>, GraphError> {
        let is_ours = self.resolver.scopes.is_same_family(file, judged.home);
        let here: Vec<&SymbolRow> = judged.symbols.iter().filter(|s| s.id.file == file).collect();
        let mut verdicts = Vec::with_capacity(places.len());
        // Where the tree does not name a definition, it is the first place of its line.
        let mut is_found: HashSet<u32> = places
            .iter()
            .filter(|p| p.binds == Some(BinderKind::Definition))
            .map(|p| p.line)
            .collect();
        for place in places {
            verdicts.push(match place.place {
                PlaceKind::Comment => Verdict::Left(COMMENT),
                PlaceKind::Text => Verdict::Left(STRING),
                _ if !is_ours => Verdict::Left(OTHER_LANGUAGE),
                _ if place.role == Role::Module => Verdict::Left(MODULE),
                PlaceKind::Import => self.judge_import(judged, place, file)?,
                PlaceKind::Code => {
                    let defined: Vec<&SymbolRow> =
                        here.iter().copied().filter(|s| s.line == place.line).collect();
                    let is_first = !defined.is_empty()
                        && place.role != Role::Key
                        && is_found.insert(place.line);
                    match place.binds {
                        _ if is_first || place.binds == Some(BinderKind::Definition) => {
                            self.judge_definition(judged, place, file, &defined)?
                        }
                        Some(BinderKind::Local) if place.role == Role::Shorthand => {
                            self.judge_destructured(judged, place, file)?
                        }
                        Some(_) => Verdict::Left(VARIABLE),
                        None => UNKNOWN,
                    }
                }
            });
        }
        Ok(verdicts)
    }

    fn judge_definition(
        &mut self,
        judged: &Judged,
        place: &Occurrence,
        file: FileId,
        defined: &[&SymbolRow],
    ) -> Result<Verdict, GraphError> {
        let n_ours = defined.iter().filter(|s| judged.family.contains(&s.id)).count();
        if n_ours > 0 {
            return Ok(if n_ours == defined.len() {
                Verdict::Renamed
            } else {
                Verdict::Uncertain(0.5, "several definitions of this name are on the line")
            });
        }
        let doubtful = defined.iter().filter_map(|s| judged.doubtful.get(&s.id));
        if let Some(confidence) = doubtful.copied().reduce(f32::max) {
            return Ok(Verdict::Uncertain(confidence, "it may override the symbol"));
        }
        if !defined.is_empty() {
            let is_module = defined.iter().all(|s| s.kind == SymbolKind::Module);
            return Ok(Verdict::Left(if is_module { MODULE } else { OTHER }));
        }
        self.judge_destructured(judged, place, file)
    }

    /// Judges a variable, which may be what the file imports: `const { name } = require("./m")`.
    fn judge_destructured(
        &mut self,
        judged: &Judged,
        place: &Occurrence,
        file: FileId,
    ) -> Result<Verdict, GraphError> {
        let scope = self.resolver.scopes.scope_of(file)?;
        let import = scope.imports.iter().find(|i| {
            imported_as(i) == judged.name
                && (place.statement.0..=place.statement.1).contains(&i.line)
                && !i.module.is_empty()
        });
        match import {
            Some(import) if import.name == judged.name => {
                self.imported(judged, &import.module, file)
            }
            Some(import) => self.judge_default(judged, import, file),
            None if place.role == Role::Shorthand && (judged.is_member || judged.is_data) => {
                Ok(OF_KEY)
            }
            None if place.role == Role::Shorthand && place.is_of_loaded => Ok(OF_LOADED),
            None if judged.is_of_shape && place.binds == Some(BinderKind::Definition) => Ok(OF_KEY),
            None => Ok(Verdict::Left(if place.is_member { OTHER } else { VARIABLE })),
        }
    }

    /// Judges a name that a file gives to what a module exports without a name. It is a name of its
    /// own; it follows the symbol if it is the same.
    fn judge_default(
        &mut self,
        judged: &Judged,
        import: &ImportRow,
        file: FileId,
    ) -> Result<Verdict, GraphError> {
        if !self.resolver.scopes.is_npm(file) || import.name == "*" {
            return Ok(Verdict::Left(ALIAS));
        }
        let from = SymbolId { file, n: -1 };
        let meanings = self.resolver.bare(judged.name, from, ExpectedKind::Any)?;
        let best = meanings.first().filter(|m| m.confidence >= SURE);
        let is_ours = best.is_some_and(|m| judged.family.contains(&m.symbol));
        Ok(if is_ours { Verdict::Renamed } else { Verdict::Left(ALIAS) })
    }

    fn judge_import(
        &mut self,
        judged: &Judged,
        place: &Occurrence,
        file: FileId,
    ) -> Result<Verdict, GraphError> {
        let scope = self.resolver.scopes.scope_of(file)?;
        let (first, last) = place.statement;
        let here: Vec<&ImportRow> =
            scope.imports.iter().filter(|i| (first..=last).contains(&i.line)).collect();
        let mut verdicts: Vec<Verdict> = Vec::new();
        match place.role {
            Role::Alias => {
                for import in here.iter().filter(|i| imported_as(i) == judged.name) {
                    verdicts.push(if import.name == judged.name {
                        self.imported(judged, &import.module, file)?
                    } else {
                        self.judge_default(judged, import, file)?
                    });
                }
                return Ok(agreed(&verdicts).unwrap_or(Verdict::Left(ALIAS)));
            }
            // Only a type or a module has members that can be imported.
            Role::Path if !judged.is_type => return Ok(Verdict::Left(MODULE)),
            Role::Path => {
                for import in &here {
                    let Some(at) = position_of(&import.module, judged.name) else { continue };
                    let module = import.module[..at].trim_end_matches([':', '.', '\\', '/']);
                    verdicts.push(self.imported(judged, module, file)?);
                }
            }
            _ => {
                for import in here.iter().filter(|i| i.name == judged.name) {
                    verdicts.push(self.imported(judged, &import.module, file)?);
                }
                // `import a.Name` as one path.
                for import in here.iter().filter(|i| i.name.is_empty()) {
                    if names::last(&import.module) == judged.name {
                        let at = import.module.len() - judged.name.len();
                        let module = import.module[..at].trim_end_matches([':', '.', '\\', '/']);
                        verdicts.push(self.imported(judged, module, file)?);
                    }
                }
            }
        }
        Ok(agreed(&verdicts).unwrap_or(if judged.has_module { MAYBE_MODULE } else { UNKNOWN }))
    }

    /// Judges the name that a file imports from a module; one at the top of the file if `module` is
    /// empty.
    fn imported(
        &mut self,
        judged: &Judged,
        module: &str,
        file: FileId,
    ) -> Result<Verdict, GraphError> {
        let from = SymbolId { file, n: -1 };
        let name = judged.name;
        if module.is_empty() {
            let meanings = self.resolver.bare(name, from, ExpectedKind::Any)?;
            return Ok(verdict(&meanings, judged.family, UNKNOWN));
        }
        let exported = self.exported(judged, module, file, MAX_HANDED_ON)?;
        if exported == Some(false) {
            return Ok(Verdict::Left(ALIAS));
        }
        let has_files = self
            .resolver
            .scopes
            .names(file)
            .is_some_and(|names| matches!(names.modules, Modules::Rust | Modules::Python));
        let submodule = self.resolver.scopes.submodule(module, name, file);
        let is_module = judged.has_module
            && has_files
            && !self.resolver.scopes.files_of_module(&submodule, file).is_empty();
        let is_own = self.resolver.scopes.files_of_module(module, file).contains(&file);
        // In Rust one import brings both.
        let has_both = is_own || self.resolver.scopes.family(file) == "rust";
        if is_module && (exported != Some(true) || has_both) {
            return Ok(if exported == Some(true) { MAYBE_MODULE } else { Verdict::Left(MODULE) });
        }
        let meanings = self.resolver.in_module(module, file, name, from, ExpectedKind::Any)?;
        let judgement = verdict(&meanings, judged.family, UNKNOWN);
        if matches!(judgement, Verdict::Renamed | Verdict::Left(_)) {
            return Ok(judgement);
        }
        match self.is_module_of_project(module, file)? {
            Some(false) => return Ok(Verdict::Left(OUTSIDE)),
            None => return Ok(MAYBE_OUTSIDE),
            Some(true) => {}
        }
        // An import of the project cannot mean another symbol if there is none.
        Ok(if judged.is_only { Verdict::Renamed } else { judgement })
    }

    /// Returns whether a module gives the symbol under its own name (`true`) or gives that name to
    /// something else; `None` if the rows do not say.
    fn exported(
        &mut self,
        judged: &Judged,
        module: &str,
        from: FileId,
        depth: u8,
    ) -> Result<Option<bool>, GraphError> {
        let Some(depth) = depth.checked_sub(1) else { return Ok(None) };
        let files = self.resolver.scopes.files_of_module(module, from);
        let mut found = None;
        for file in files.iter().copied() {
            let is_home = judged
                .symbols
                .iter()
                .any(|s| s.id.file == file && judged.family.contains(&s.id) && s.owner.is_empty());
            let scope = self.resolver.scopes.scope_of(file)?;
            for import in scope.imports.iter().filter(|i| imported_as(i) == judged.name) {
                let is_same = import.name == judged.name;
                if !is_same && !import.name.is_empty() && import.name != "*" && !is_home {
                    return Ok(Some(false));
                }
                if is_same && !import.module.is_empty() {
                    found = found.or(self.exported(judged, &import.module, file, depth)?);
                }
            }
            if is_home {
                return Ok(Some(true));
            }
            for import in scope.imports.iter().filter(|i| i.name == "*" && i.alias.is_empty()) {
                found = found.or(self.exported(judged, &import.module, file, depth)?);
            }
        }
        Ok(found)
    }

    /// Whether a module is one of the project: the rules find it, or the project has all names of its
    /// path as files, folders, packages or symbols. `None` if that is not known, because the first
    /// name of the path may be a short one for a folder.
    fn is_module_of_project(
        &mut self,
        module: &str,
        file: FileId,
    ) -> Result<Option<bool>, GraphError> {
        if is_of_project(module) || self.resolver.scopes.module_exists(module, file) {
            return Ok(Some(true));
        }
        if !self.resolver.scopes.named(module)?.is_empty() {
            return Ok(Some(true));
        }
        let separators: &[char] = if module.contains('/') { &['/'] } else { &['.', ':', '\\'] };
        let mut parts: Vec<&str> = module.split(separators).filter(|p| !p.is_empty()).collect();
        let is_short = parts.len() > 1 && parts[0].starts_with(['@', '~', '#']);
        if is_short {
            parts.remove(0);
        }
        let family = self.resolver.scopes.family(file);
        for part in parts {
            let stem = part.split('.').next().unwrap_or(part);
            let is_file = self.resolver.scopes.files.iter().any(|f| {
                let mut names = f.row.path.split('/').filter_map(|part| part.split('.').next());
                let mut packages = f.row.package.split(['.', ':', '\\', ' ']);
                f.names.family == family
                    && (names.any(|name| name == stem) || packages.any(|name| name == part))
            });
            let symbols = self.resolver.scopes.named(part)?;
            let is_symbol = symbols.iter().any(|s| {
                (s.is_type() || s.kind == SymbolKind::Module)
                    && self.resolver.scopes.is_same_family(s.id.file, file)
            });
            if !is_file && !is_symbol {
                return Ok(Some(false));
            }
        }
        Ok((!is_short).then_some(true))
    }

    fn judge_uses(
        &mut self,
        judged: &Judged,
        file: FileId,
        places: &[Occurrence],
        verdicts: &mut [Verdict],
    ) -> Result<(), GraphError> {
        let bound: Vec<Verdict> = verdicts.to_vec();
        for (i, place) in places.iter().enumerate() {
            let is_use =
                place.place == PlaceKind::Code && place.binds.is_none() && verdicts[i] == UNKNOWN;
            let is_unknown_import = place.place == PlaceKind::Import && verdicts[i] == UNKNOWN;
            if is_unknown_import && judged.is_only {
                verdicts[i] = Verdict::Renamed;
            }
            if !is_use {
                continue;
            }
            verdicts[i] = if self.resolver.work.goes_on() {
                let binders: Vec<Verdict> = place.bound_by.iter().map(|by| bound[*by]).collect();
                let is_alone = places
                    .iter()
                    .filter(|p| p.line == place.line && p.place == PlaceKind::Code)
                    .count()
                    == 1;
                self.judge_use(judged, file, place, &binders, &bound, is_alone)?
            } else {
                UNKNOWN
            };
        }
        // Uses follow the import that binds them, also where that was uncertain.
        for (i, place) in places.iter().enumerate() {
            let follows = place.binds.is_none()
                && matches!(verdicts[i], Verdict::Uncertain(..))
                && !place.may_be_local
                && !place.bound_by.is_empty()
                && !matches!(place.role, Role::Shorthand | Role::Key)
                && place.bound_by.iter().all(|by| verdicts[*by] == Verdict::Renamed);
            if follows {
                verdicts[i] = Verdict::Renamed;
            }
        }
        Ok(())
    }

    fn judge_use(
        &mut self,
        judged: &Judged,
        file: FileId,
        place: &Occurrence,
        binders: &[Verdict],
        in_file: &[Verdict],
        is_alone: bool,
    ) -> Result<Verdict, GraphError> {
        let Some(names) = self.resolver.scopes.names(file) else { return Ok(UNKNOWN) };
        let language = self.resolver.scopes.language(file).to_string();
        let rows = judged.rows.get(&(file, place.line)).map_or(&[][..], Vec::as_slice);
        match place.role {
            Role::Template => {
                let is_used = in_file.contains(&Verdict::Renamed);
                return Ok(if is_used { IN_MARKUP } else { Verdict::Left(STRING) });
            }
            Role::Variable if !judged.is_data => return Ok(Verdict::Left(VARIABLE)),
            Role::Symbolic if rows.is_empty() => return Ok(SYMBOLIC),
            Role::Key => {
                let scope = self.resolver.scopes.scope_of(file)?;
                let is_imported = scope.imports.iter().any(|i| {
                    i.name == judged.name
                        && (place.statement.0..=place.statement.1).contains(&i.line)
                });
                if is_imported {
                    return self.judge_import(judged, place, file);
                }
                let is_static = is_static(names.family);
                let is_data = judged.is_data || judged.is_of_shape;
                if place.is_of_loaded && !judged.is_member {
                    return Ok(OF_LOADED);
                }
                return Ok(match (is_data, is_static && judged.is_only) {
                    (false, _) => Verdict::Left(KEY),
                    (true, true) => Verdict::Renamed,
                    (true, false) => OF_KEY,
                });
            }
            Role::Shorthand => {
                let is_other = !judged.is_data
                    && !binders.is_empty()
                    && binders.iter().all(|v| matches!(v, Verdict::Left(_)));
                return Ok(if is_other { Verdict::Left(VARIABLE) } else { AT_ONCE });
            }
            _ => {}
        }
        let is_run = judged.is_callable || judged.is_macro;
        if names.family == "rust" && is_run && place.is_macro != judged.is_macro {
            return Ok(Verdict::Left(OTHER));
        }
        let is_tag = names.family == "c" && judged.is_type && !judged.apart.is_empty();
        if (place.is_type && judged.is_callable) || (is_tag && !place.is_type) {
            return Ok(Verdict::Left(OTHER));
        }
        // Functions have no members, but modules do.
        if place.goes_on
            && judged.is_callable
            && (names.family == "rust" || (binders.is_empty() && judged.has_module))
        {
            return Ok(Verdict::Left(MODULE));
        }
        if place.receiver.is_empty() {
            let bound = agreed(binders);
            let is_doubtful = place.may_be_local && bound != Some(Verdict::Renamed);
            match bound {
                Some(verdict) if !is_doubtful => return Ok(verdict),
                _ if is_doubtful => {
                    let resolved = self.resolved(judged, file, place, rows, is_alone)?;
                    let is_other = matches!(resolved, Verdict::Left(_));
                    return Ok(if is_other { resolved } else { MAYBE_LOCAL });
                }
                _ => {}
            }
            // In these languages the name of a function is always followed by its arguments.
            if matches!(&*language, "java" | "elixir" | "php")
                && judged.is_callable
                && !place.is_called
            {
                return Ok(Verdict::Left(VARIABLE));
            }
        }
        if matches!(&*place.receiver, "exports" | "module.exports") {
            let is_here = judged.family.iter().any(|id| id.file == file);
            return Ok(if is_here && !judged.is_member { Verdict::Renamed } else { UNKNOWN });
        }
        // In these languages a method behind a dot is always called.
        if matches!(&*language, "rust" | "java")
            && place.is_behind_dot
            && !place.is_called
            && judged.is_callable
        {
            return Ok(Verdict::Left(OTHER));
        }
        let resolved = self.resolved(judged, file, place, rows, is_alone)?;
        if !matches!(resolved, Verdict::Uncertain(..)) {
            return Ok(resolved);
        }
        if place.receiver.is_empty() {
            self.without_binder(judged, file, names, resolved)
        } else {
            // The row knows the receiver also where the text before it is no chain.
            let row = rows.iter().find(|row| as_written(&row.receiver) == place.receiver);
            let only = rows.first().filter(|_| rows.len() == 1 && is_alone);
            let receiver = match (row, only) {
                (None, Some(only)) if !only.receiver.is_empty() => &only.receiver,
                _ => &place.receiver,
            };
            let judgement =
                self.behind_receiver(judged, file, receiver, place.line, names, resolved)?;
            let is_doubtful = judgement == Verdict::Left(OTHER) && place.is_of_loaded;
            Ok(if is_doubtful { OF_LOADED } else { judgement })
        }
    }

    /// Judges a place by the rows and the rules of the graph.
    fn resolved(
        &mut self,
        judged: &Judged,
        file: FileId,
        place: &Occurrence,
        rows: &[RefRow],
        is_alone: bool,
    ) -> Result<Verdict, GraphError> {
        let scope = self.resolver.scopes.scope_of(file)?;
        let mut matching: Vec<&RefRow> =
            rows.iter().filter(|row| as_written(&row.receiver) == place.receiver).collect();
        // The row of a type does not say in which path it is written.
        let is_other_form = |row: &RefRow| place.receiver == "?" || !row.receiver.is_empty();
        if matching.is_empty() && is_alone && (rows.len() == 1 || place.receiver == "?") {
            matching = rows.iter().filter(|row| is_other_form(row)).collect();
        }
        let own = RefRow {
            from: SymbolId { file, n: scope.innermost(place.line) },
            name: judged.name.to_string(),
            kind: if place.is_called { ReferenceKind::Call } else { ReferenceKind::Value },
            receiver: place.receiver.clone(),
            arguments: None,
            lines: vec![place.line],
        };
        if matching.is_empty() {
            matching.push(&own);
        }
        let mut verdicts = Vec::new();
        for row in matching {
            let mut meanings = self.resolver.resolve(row)?;
            // The text tells these symbols from the renamed one.
            meanings.retain(|m| !judged.apart.iter().any(|other| other.id == m.symbol));
            let unsure = if row.receiver.is_empty() { UNKNOWN } else { OF_VALUE };
            verdicts.push(verdict(&meanings, judged.family, unsure));
        }
        Ok(agreed(&verdicts).unwrap_or(UNKNOWN))
    }

    /// Judges a bare name that nothing in its file binds and no rule resolves.
    fn without_binder(
        &mut self,
        judged: &Judged,
        file: FileId,
        names: &Names,
        unsure: Verdict,
    ) -> Result<Verdict, GraphError> {
        if judged.is_member && !judged.is_enum_member {
            return Ok(if names.implicit_self { unsure } else { Verdict::Left(UNREACHED) });
        }
        if !judged.is_only {
            return Ok(unsure);
        }
        let (Some(here), Some(home)) =
            (self.resolver.scopes.file(file), self.resolver.scopes.file(judged.home))
        else {
            return Ok(unsure);
        };
        let is_near = directory(&here.row.path) == directory(&home.row.path);
        let scope = self.resolver.scopes.scope_of(file)?;
        Ok(match names.reach {
            Visibility::Directory if !is_near => Verdict::Left(UNREACHED),
            Visibility::Directory | Visibility::Project => Verdict::Renamed,
            Visibility::Package => unsure,
            Visibility::File => {
                let is_open = scope.imports.iter().any(|i| {
                    (i.name == "*" || names.open_imports) && !i.module.starts_with("dart:")
                });
                if is_open || file == judged.home { Verdict::Renamed } else { unsure }
            }
        })
    }

    /// Judges a name behind a receiver that no rule resolves.
    fn behind_receiver(
        &mut self,
        judged: &Judged,
        file: FileId,
        receiver: &str,
        line: u32,
        names: &Names,
        unsure: Verdict,
    ) -> Result<Verdict, GraphError> {
        let scope = self.resolver.scopes.scope_of(file)?;
        let from = SymbolId { file, n: scope.innermost(line) };
        let root = receiver.split(['.', ':', '(', '\\', '-', '[']).next().unwrap_or_default();
        let is_common = names.is_common_method(judged.name);
        if receiver.starts_with('"') {
            let is_ours = judged.is_extension && judged.is_only;
            return Ok(if is_ours { Verdict::Renamed } else { Verdict::Left(OTHER) });
        }
        let import = scope.imports.iter().find(|i| {
            let whole = i.alias.is_empty() && i.name.is_empty();
            let last = i.module.rsplit(['/', '.', ':', '\\']).next().unwrap_or_default();
            let first = i.module.split(['/', '.', ':', '\\']).next().unwrap_or_default();
            if whole { last == root || first == root } else { imported_as(i) == root }
        });
        if let Some(import) = import {
            // The module, or a type of it.
            let module = import.module.clone();
            let whole = format!("{module}.{}", import.name);
            let is_ours = match self.is_module_of_project(&whole, file)? {
                Some(true) => Some(true),
                _ => self.is_module_of_project(&module, file)?,
            };
            return Ok(match is_ours {
                Some(false) => Verdict::Left(OUTSIDE),
                Some(true) if judged.is_only => Verdict::Renamed,
                _ => unsure,
            });
        }
        let entity = self.resolver.evaluate(receiver, from)?.entity;
        if judged.is_member || judged.is_enum_member || judged.is_data {
            let is_likely = matches!(unsure, Verdict::Uncertain(c, _) if c >= LEAST_CONFIDENCE);
            return Ok(match entity {
                Entity::Unknown if judged.is_only_member && !is_common => Verdict::Renamed,
                Entity::Unknown => unsure,
                // The type is known.
                _ if is_likely && judged.is_only => Verdict::Renamed,
                // The rules may take a type for one of a library, but few libraries have a member of
                // an uncommon name.
                _ if is_common => Verdict::Left(OTHER),
                _ => unsure,
            });
        }
        let is_path = receiver.contains("::")
            || receiver.contains('\\')
            || root.starts_with(char::is_uppercase);
        if is_path || matches!(entity, Entity::Module { .. }) {
            let is_outside = entity == Entity::Elsewhere && names.family == "rust";
            return Ok(match () {
                () if is_outside => Verdict::Left(OUTSIDE),
                () if judged.is_only => Verdict::Renamed,
                () => unsure,
            });
        }
        // A function that belongs to no type is no member of a value.
        if is_static(names.family) || is_common {
            return Ok(Verdict::Left(OTHER));
        }
        Ok(unsure)
    }
}

/// Whether values of the language have no other members than their types.
fn is_static(family: &str) -> bool {
    matches!(family, "rust" | "go" | "c" | "csharp" | "jvm" | "swift" | "dart")
}

/// Returns what meanings say of a place; `unsure` if they do not decide.
fn verdict(meanings: &[Meaning], family: &BTreeSet<SymbolId>, unsure: Verdict) -> Verdict {
    let best = |is_ours: bool| {
        meanings
            .iter()
            .filter(|m| family.contains(&m.symbol) == is_ours)
            .map(|m| m.confidence)
            .fold(0.0, f32::max)
    };
    let (ours, other) = (best(true), best(false));
    let ours_rounded = (ours * 100.0).round() / 100.0;
    if ours >= SURE && other < ours - CLEARLY {
        Verdict::Renamed
    } else if other >= SURE_OTHER && ours < other - CLEARLY {
        Verdict::Left(OTHER)
    } else if ours >= LEAST_CONFIDENCE / 5.0 {
        Verdict::Uncertain(ours_rounded, "it may mean the symbol")
    } else {
        unsure
    }
}

/// Returns the verdict of several that speak of the same place: one that is not shared by all is
/// uncertain.
fn agreed(verdicts: &[Verdict]) -> Option<Verdict> {
    let first = *verdicts.first()?;
    let is_renamed = first == Verdict::Renamed;
    let is_shared = verdicts.iter().all(|verdict| match verdict {
        Verdict::Left(_) => matches!(first, Verdict::Left(_)),
        verdict => {
            (*verdict == Verdict::Renamed) == is_renamed && !matches!(first, Verdict::Left(_))
        }
    });
    let highest = verdicts.iter().fold(0.0, |most: f32, verdict| match verdict {
        Verdict::Uncertain(confidence, _) => most.max(*confidence),
        _ => most,
    });
    Some(if is_shared {
        first
    } else {
        Verdict::Uncertain(highest, "several things have this name there")
    })
}

/// Returns where a path of names has this name as one of its parts.
fn position_of(path: &str, name: &str) -> Option<usize> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    path.match_indices(name)
        .map(|(at, _)| at)
        .find(|at| !path[..*at].ends_with(is_part) && !path[at + name.len()..].starts_with(is_part))
}

/// Whether a path of an import is one of the same project in every case.
fn is_of_project(module: &str) -> bool {
    module.starts_with('.')
        || ["crate", "self", "super"].iter().any(|root| {
            module.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
        })
}
