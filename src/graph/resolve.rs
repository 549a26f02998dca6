//! Resolves a name to symbols.
//! Meanings are not stored: they follow from the rows of several files and are computed at query
//! time. Without a compiler some are guesses, so each has a confidence. A scope or an import makes
//! a meaning nearly certain; a type in the text makes it likely; if only one symbol has the name,
//! that is a hint.

use std::collections::HashSet;
use std::sync::Arc;

use super::answer::LEAST_CONFIDENCE;
use super::error::GraphError;
use super::names;
use super::resolver::{Entity, KnownEntity, Meaning, Resolver};
use super::rows::{FileId, ImportRow, RefRow, SymbolId, SymbolRow, imported_as};
use super::scopes::{ExpectedKind, FileScope};
use crate::languages::Visibility;
use crate::syntax::{SymbolKind, as_written};
use crate::text::{directory, file_stem};

// Confidence of a symbol, by the reason why the name may mean it.
/// It is in the same scope.
const SAME_SCOPE: f32 = 0.97;
/// It is imported by name.
pub(super) const IMPORTED: f32 = 0.96;
/// It seems to be what the imported file exports by default.
const DEFAULT_EXPORT: f32 = 0.9;
/// It is in the same package.
const SAME_PACKAGE: f32 = 0.95;
/// Its whole module is imported.
const WHOLE_MODULE: f32 = 0.9;
/// What one step from module to module leaves of the confidence.
const HANDED_ON: f32 = 0.99;
/// It is imported from a module of the project where it was not found.
const ELSEWHERE_IN_PROJECT: f32 = 0.6;
/// It is in another file, in a language where names are visible in the whole project.
const IN_PROJECT: f32 = 0.8;
/// Nothing suggests it.
const ODD: f32 = 0.1;
/// From this many symbols of a name on, those with at most [`ODD`] are dropped.
const MANY: usize = 50;
/// Most symbols of a name that are examined for one reference.
const MAX_CANDIDATES: usize = 500;
/// Most meanings of a reference that are kept.
const MAX_MEANINGS: usize = 64;
/// Most modules that hand a name on from one to the next.
const MAX_HANDED_ON: u8 = 5;
/// Most files of one module that are searched for what they hand on.
pub(super) const MAX_MODULE_FILES: usize = 8;
/// The difference that makes one meaning clearly likelier than another.
pub(super) const CLEARLY: f32 = 0.05;
/// Largest confidence of a meaning when another is clearly likelier; it is never a result then.
const CANDIDATE: f32 = 0.45;

/// Returns the name that an import has in its module, if the module gives it one.
fn name_there(import: &ImportRow) -> &str {
    match import.name.as_str() {
        "" | "default" => &import.alias,
        name => name,
    }
}

/// The symbols of a name, as one module knows it.
struct NamedSymbols {
    /// Those that the module has, or a module below it, each with its confidence.
    inside: Vec<(f32, SymbolRow)>,
    /// Those of other modules.
    others: Vec<SymbolRow>,
}

impl Resolver {
    /// Returns the meanings of a reference, likeliest first.
    pub(super) fn resolve(&mut self, reference: &RefRow) -> Result<Vec<Meaning>, GraphError> {
        if let Some(known) = self.precisely(reference)? {
            return Ok(known);
        }
        let (from, wanted) = (reference.from, reference.kind.into());
        if reference.receiver.is_empty() {
            let meanings = self.bare(&reference.name, from, wanted)?;
            let meanings = self.last_before(&meanings, reference)?;
            return self.by_arity(meanings, reference);
        }
        let KnownEntity { entity, confidence } = match self.package_of(reference)? {
            Some(package) => package,
            None => self.evaluate(&reference.receiver, from)?,
        };
        let meanings = match &entity {
            Entity::Elsewhere => Vec::new(),
            Entity::Module { name, file } => {
                self.in_module(name, *file, &reference.name, from, wanted)?
            }
            Entity::Unknown => self.guess(reference)?,
            library if self.types_of(library)?.is_empty() => self.extensions(library, reference)?,
            known => {
                let members = self.members(known, &reference.name)?;
                let is_open =
                    members.is_empty() && self.types_of(known)?.iter().any(|t| t.confidence > 0.5);
                if is_open {
                    self.guess(reference)?
                        .into_iter()
                        .map(|m| Meaning { confidence: m.confidence * 0.4, ..m })
                        .collect()
                } else {
                    members
                }
            }
        };
        let meanings: Vec<Meaning> = meanings
            .into_iter()
            .map(|m| Meaning { confidence: m.confidence * confidence, ..m })
            .collect();
        self.by_arity(meanings, reference)
    }

    /// Whether a reference is to a member of a value of which nothing is known, so that it may mean
    /// any symbol of its name.
    pub(super) fn is_of_unknown(
        &mut self,
        reference: &RefRow,
        meanings: &[Meaning],
    ) -> Result<bool, GraphError> {
        let is_sure = meanings.iter().any(|m| m.confidence >= LEAST_CONFIDENCE);
        if reference.receiver.is_empty() || is_sure {
            return Ok(false);
        }
        Ok(self.evaluate(&reference.receiver, reference.from)?.entity == Entity::Unknown)
    }

    /// Whether a reference is to a member of a value whose type the project does not define.
    pub(super) fn is_of_elsewhere(&mut self, reference: &RefRow) -> Result<bool, GraphError> {
        if reference.receiver.is_empty() {
            return Ok(false);
        }
        let known = match self.package_of(reference)? {
            Some(package) => package,
            None => self.evaluate(&reference.receiver, reference.from)?,
        };
        Ok(match &known.entity {
            Entity::Elsewhere => true,
            Entity::Unknown | Entity::Module { .. } => false,
            library => self.types_of(library)?.is_empty(),
        })
    }

    /// Lowers the confidence of functions of one name that a file defines in several blocks, except of
    /// those that precede a use most closely: the rows know functions, not blocks.
    fn last_before(
        &mut self,
        meanings: &[Meaning],
        reference: &RefRow,
    ) -> Result<Vec<Meaning>, GraphError> {
        let mut out = meanings.to_vec();
        let file = reference.from.file;
        if out.len() < 2 || !self.scopes.is_npm(file) {
            return Ok(out);
        }
        let best = out[0].confidence;
        let is_equal = |m: &Meaning| m.symbol.file == file && m.confidence >= best - 0.001;
        let scope = self.scopes.scope_of(file)?;
        let lines: Vec<(SymbolId, u32)> = scope
            .symbols
            .iter()
            .filter(|s| out.iter().any(|m| is_equal(m) && m.symbol == s.id))
            .map(|s| (s.id, s.line))
            .collect();
        let nearest: HashSet<SymbolId> = reference
            .lines
            .iter()
            .filter_map(|line| {
                let before = lines.iter().filter(|(_, defined)| defined <= line);
                before.max_by_key(|(_, defined)| *defined).or(lines.first()).map(|(id, _)| *id)
            })
            .collect();
        for meaning in out.iter_mut().filter(|m| is_equal(m) && !nearest.contains(&m.symbol)) {
            meaning.confidence *= 0.3;
        }
        Ok(out)
    }

    /// Lowers the confidence of functions that take another number of arguments, and sorts the
    /// meanings, likeliest first.
    fn by_arity(
        &mut self,
        mut out: Vec<Meaning>,
        reference: &RefRow,
    ) -> Result<Vec<Meaning>, GraphError> {
        if out.len() > 1 {
            let mut fits = Vec::with_capacity(out.len());
            for meaning in &out {
                let arity = self.scopes.symbol(meaning.symbol)?.and_then(|s| s.arity);
                let counts = arity.zip(reference.arguments);
                fits.push(counts.is_none_or(|(takes, given)| takes == given));
            }
            if fits.contains(&true) {
                for (meaning, _) in out.iter_mut().zip(fits).filter(|(_, fits)| !fits) {
                    meaning.confidence *= 0.6;
                }
            }
        }
        out.sort_by(|a, b| b.confidence.total_cmp(&a.confidence).then(a.symbol.cmp(&b.symbol)));
        // If one is clearly likelier, the others are at most candidates.
        let best = out.first().map_or(0.0, |m| m.confidence);
        for weaker in out.iter_mut().filter(|m| m.confidence < best - CLEARLY) {
            weaker.confidence = weaker.confidence.min(CANDIDATE);
        }
        Ok(out)
    }

    /// Returns the meanings of a name without a receiver.
    pub(super) fn bare(
        &mut self,
        name: &str,
        from: SymbolId,
        wanted: ExpectedKind,
    ) -> Result<Arc<Vec<Meaning>>, GraphError> {
        let key = (from, name.to_string(), wanted);
        if let Some(known) = self.bare.get(&key) {
            return Ok(known.clone());
        }
        let meanings = Arc::new(self.find_bare(name, from, wanted)?);
        self.bare.insert(key, meanings.clone());
        Ok(meanings)
    }

    fn find_bare(
        &mut self,
        name: &str,
        from: SymbolId,
        wanted: ExpectedKind,
    ) -> Result<Vec<Meaning>, GraphError> {
        let file_scope = self.scopes.scope_of(from.file)?;
        let around: Vec<&SymbolRow> = file_scope.around(from).collect();
        let explicit: Vec<&ImportRow> =
            file_scope.imports.iter().filter(|i| i.name != "*" && imported_as(i) == name).collect();
        let candidates = self.scopes.candidates(name, from.file, wanted)?;
        let mut scored: Vec<(f32, SymbolRow)> = Vec::new();
        for c in self.nearest(&candidates, from.file) {
            if !self.work.goes_on() {
                break;
            }
            let confidence = self.confidence_of_bare(c, from, wanted, &around, &file_scope)?;
            if confidence > ODD || candidates.len() < MANY {
                scored.push((confidence, c.clone()));
            }
        }
        if scored.iter().all(|(s, _)| *s < SAME_PACKAGE) {
            for import in &explicit {
                scored.extend(self.imported(import, from.file, wanted)?);
            }
            if explicit.is_empty() && scored.iter().all(|(s, _)| *s < 0.5) && !candidates.is_empty()
            {
                // What a wholly imported module hands on.
                for import in file_scope.imports.iter().filter(|i| i.name == "*") {
                    let handed = self.handed_on(
                        &import.module, from.file, name, from.file, wanted, MAX_HANDED_ON,
                    )?;
                    scored.extend(handed.into_iter().map(|(s, c)| (s * WHOLE_MODULE, c)));
                }
            }
            if !explicit.is_empty() {
                // The import says what the name is, so other symbols of that name are dropped.
                let is_ours = |i: &&ImportRow| self.scopes.is_of_project(&i.module, from.file);
                let is_foreign = !explicit.iter().any(is_ours);
                scored.retain(|(s, c)| {
                    (wanted == ExpectedKind::Any || *s >= 0.5)
                        && (!is_foreign || c.id.file == from.file)
                });
            }
        }
        Ok(self.likeliest(scored))
    }

    /// Returns the symbols of a name that are examined, those of the same file first. More symbols
    /// than [`MAX_CANDIDATES`] mean that the answer is not complete.
    fn nearest<'c>(
        &self,
        all: &'c [SymbolRow],
        file: FileId,
    ) -> impl Iterator<Item = &'c SymbolRow> + use<'c> {
        if all.len() > MAX_CANDIDATES {
            self.work.spend();
        }
        // The rows are in the order of their files.
        let of_file =
            all.partition_point(|c| c.id.file < file)..all.partition_point(|c| c.id.file <= file);
        let others = all[..of_file.start].iter().chain(&all[of_file.end..]);
        all[of_file].iter().chain(others).take(MAX_CANDIDATES)
    }

    /// Returns the confidence that a bare name means this symbol. Imports by name are not
    /// considered.
    fn confidence_of_bare(
        &mut self,
        c: &SymbolRow,
        from: SymbolId,
        wanted: ExpectedKind,
        around: &[&SymbolRow],
        file_scope: &FileScope,
    ) -> Result<f32, GraphError> {
        let Some(names) = self.scopes.names(from.file) else { return Ok(0.0) };
        let is_in_scope =
            c.id.file == from.file && (c.parent < 0 || around.iter().any(|s| s.id.n == c.parent));
        let is_member = !c.is_type()
            || self.scopes.is_called_as_member(c, wanted)?
                && around.first().is_none_or(|s| s.id.n != c.parent);
        if !c.owner.is_empty()
            && is_member
            && c.kind != SymbolKind::EnumMember
            && !self.scopes.is_module_member(c)?
        {
            if !names.implicit_self {
                return Ok(if is_in_scope && !around.is_empty() && c.kind.is_data() {
                    0.6
                } else {
                    0.05
                });
            }
            let is_own =
                around.iter().any(|s| s.owner == c.owner || (s.is_type() && s.name == c.owner));
            if is_own {
                return Ok(if c.id.file == from.file { SAME_SCOPE } else { WHOLE_MODULE });
            }
            for owner in around {
                let of = if owner.is_type() {
                    Entity::Of(owner.id)
                } else if owner.owner.is_empty() {
                    continue;
                } else {
                    Entity::Instance { of: owner.owner.clone(), at: owner.id }
                };
                let bases = self.members(&of, &c.name)?;
                if bases.iter().any(|m| m.symbol == c.id) {
                    return Ok(WHOLE_MODULE);
                }
            }
            return Ok(ODD);
        }
        if c.id.file == from.file {
            return Ok(if is_in_scope {
                SAME_SCOPE
            } else if c.parent >= 0 && !self.scopes.is_module_member(c)? {
                0.3
            } else {
                0.7
            });
        }
        let is_inner = !names.open_inner_types && self.scopes.is_inner_type(c)?;
        let is_nested = (c.parent >= 0 && !c.is_type()) || is_inner;
        let (Some(a), Some(b)) = (self.scopes.file(from.file), self.scopes.file(c.id.file)) else {
            return Ok(0.0);
        };
        let is_same_package = match names.reach {
            Visibility::Directory => directory(&a.row.path) == directory(&b.row.path),
            Visibility::Package => a.row.package == b.row.package,
            Visibility::File | Visibility::Project => false,
        };
        if is_same_package && !is_nested {
            return Ok(SAME_PACKAGE);
        }
        let mut whole: f32 = 0.0;
        for import in file_scope.imports.iter().filter(|i| {
            i.name == "*" || (names.open_imports && i.name.is_empty() && i.alias.is_empty())
        }) {
            // `use Kind::*` imports the members of a type.
            let is_owner = !c.owner.is_empty() && names::last(&import.module) == c.owner;
            if is_owner {
                return Ok(WHOLE_MODULE);
            }
            let matches = self.scopes.module_matches(&import.module, from.file, c.id.file);
            whole = whole.max(matches * WHOLE_MODULE);
        }
        if whole > 0.0 && (!is_nested || self.scopes.is_module_member(c)?) {
            return Ok(whole);
        }
        let reaches = match names.reach {
            Visibility::Project => {
                !self.scopes.is_private_to_its_file(c)
                    && !self.scopes.lacks_include(c, from.file)?
            }
            // The order of the text decides where a macro of the crate is visible.
            _ => c.kind == SymbolKind::Macro && self.scopes.is_same_crate(from.file, c.id.file),
        };
        Ok(if reaches && !is_nested { IN_PROJECT } else { ODD })
    }

    /// Returns the symbols that an import by name may mean, each with its confidence.
    fn imported(
        &mut self,
        import: &ImportRow,
        from: FileId,
        wanted: ExpectedKind,
    ) -> Result<Vec<(f32, SymbolRow)>, GraphError> {
        let name = name_there(import);
        if import.name.is_empty() || import.name == "default" {
            let default = self.default_exports(import, from, wanted)?;
            if !default.is_empty() {
                return Ok(default);
            }
        }
        let named = self.named_in(&import.module, from, name, from, wanted, MAX_HANDED_ON)?;
        if named.inside.iter().any(|(s, _)| *s >= 0.5)
            || !self.scopes.module_exists(&import.module, from)
        {
            return Ok(named.inside);
        }
        let others =
            named.others.into_iter().filter(|c| c.exported).map(|c| (ELSEWHERE_IN_PROJECT, c));
        Ok(named.inside.into_iter().chain(others).collect())
    }

    /// Returns what an import of JavaScript without a name may mean: the file exports it without a
    /// name, or under that of the import or of the file. Types that are declared beside code are left
    /// out.
    fn default_exports(
        &mut self,
        import: &ImportRow,
        from: FileId,
        wanted: ExpectedKind,
    ) -> Result<Vec<(f32, SymbolRow)>, GraphError> {
        if !self.scopes.is_npm(from) {
            return Ok(Vec::new());
        }
        let mut out = Vec::new();
        for file in self.scopes.files_of_module(&import.module, from).iter() {
            let Some(path) = self.scopes.file(*file).map(|f| f.row.path.clone()) else { continue };
            let stem = file_stem(&path);
            let is_meant = |s: &&SymbolRow| {
                let like = |name: &str| s.name.eq_ignore_ascii_case(name);
                s.exported
                    && s.parent < 0
                    && (like("default")
                        || like("module.exports")
                        || like(&import.alias)
                        || like(stem))
            };
            let scope = self.scopes.scope_of(*file)?;
            let is_default = |i: &&ImportRow| {
                i.module.is_empty() && matches!(&*i.alias, "default" | "module.exports")
            };
            if let Some(exported) = scope.imports.iter().find(is_default) {
                let name = &exported.name;
                let mut found = self.handed_from("", name, *file, from, wanted, MAX_HANDED_ON)?;
                let mut imports = scope.imports.iter();
                let imported = imports
                    .find(|i| !i.module.is_empty() && i.name != "*" && imported_as(i) == name);
                if let Some(import) = imported.filter(|_| found.is_empty()) {
                    let (module, name) = (&import.module, name_there(import));
                    found = self.handed_from(module, name, *file, from, wanted, MAX_HANDED_ON)?;
                }
                out.extend(found);
                continue;
            }
            if !path.ends_with(".d.ts") {
                let meant = scope.symbols.iter().filter(is_meant);
                out.extend(meant.take(1).map(|s| (DEFAULT_EXPORT, s.clone())));
            }
        }
        Ok(out)
    }

    /// Returns the symbols of a name in a module.
    pub(super) fn in_module(
        &mut self,
        module: &str,
        file: FileId,
        name: &str,
        from: SymbolId,
        wanted: ExpectedKind,
    ) -> Result<Vec<Meaning>, GraphError> {
        let named = self.named_in(module, file, name, from.file, wanted, MAX_HANDED_ON)?;
        let mut scored = named.inside;
        let owner = names::last(module);
        let mut others = Vec::new();
        for c in named.others {
            if c.owner == owner {
                // An inline module or a namespace.
                scored.push((WHOLE_MODULE, c));
            } else if c.exported {
                others.push((ELSEWHERE_IN_PROJECT, c));
            }
        }
        if scored.iter().all(|(s, _)| *s < 0.5)
            && self.scopes.module_exists(module, file)
            && !self.scopes.is_opened(module, file)
        {
            scored.extend(others);
        }
        Ok(self.likeliest(scored))
    }

    /// Finds a name in the module that the file `from` names: among what the module defines, what it
    /// hands on from other modules (`pub use`, `export … from`, imports of `__init__.py`), and what
    /// modules below it define.
    fn named_in(
        &mut self,
        module: &str,
        from: FileId,
        name: &str,
        family: FileId,
        wanted: ExpectedKind,
        depth: u8,
    ) -> Result<NamedSymbols, GraphError> {
        let owner = names::last(module).to_string();
        let (mut exact, mut below, mut others) = (Vec::new(), Vec::new(), Vec::new());
        let candidates = self.scopes.candidates(name, family, wanted)?;
        for c in self.nearest(&candidates, family) {
            if c.id.file != from && self.scopes.is_private_to_its_file(c) {
                continue;
            }
            let is_owner = !c.owner.is_empty() && owner == c.owner;
            let matches = self.scopes.module_matches(module, from, c.id.file);
            let is_free = c.owner.is_empty()
                || c.is_type() && !self.scopes.is_called_as_member(c, wanted)?
                || is_owner
                || self.scopes.is_module_member(c)?
                || self.scopes.is_exported_member(c)?;
            match matches {
                m if m >= 1.0 && is_free => exact.push((IMPORTED, c.clone())),
                _ if is_owner => exact.push((IMPORTED * 0.95, c.clone())),
                m if m > 0.0 && is_free => below.push((IMPORTED * m, c.clone())),
                m if m > 0.0 => below.push((0.2 * m, c.clone())),
                _ if is_free => others.push(c.clone()),
                _ => {}
            }
        }
        if exact.is_empty() {
            exact = self.handed_on(module, from, name, family, wanted, depth)?;
        }
        if !exact.is_empty() {
            for (confidence, _) in &mut below {
                *confidence *= 0.3;
            }
        }
        exact.extend(below);
        Ok(NamedSymbols { inside: exact, others })
    }

    /// Returns the symbols that a module imports under this name, so that others find it there.
    fn handed_on(
        &mut self,
        module: &str,
        from: FileId,
        name: &str,
        family: FileId,
        wanted: ExpectedKind,
        depth: u8,
    ) -> Result<Vec<(f32, SymbolRow)>, GraphError> {
        let Some(depth) = depth.checked_sub(1) else { return Ok(Vec::new()) };
        let asked = (module.to_string(), from, name.to_string(), family, wanted, depth);
        if let Some(known) = self.handed.get(&asked) {
            return Ok(known.clone());
        }
        let mut out = Vec::new();
        for file in self.scopes.files_of_module(module, from).iter().take(MAX_MODULE_FILES) {
            if !self.work.goes_on() {
                break;
            }
            let scope = self.scopes.scope_of(*file)?;
            let by_name = scope.imports.iter().filter(|i| i.name != "*" && imported_as(i) == name);
            let mut ways: Vec<(&str, &str)> = by_name
                .map(|i| (i.module.as_str(), if i.name.is_empty() { name } else { &i.name }))
                .collect();
            if ways.is_empty() {
                let whole = scope.imports.iter().filter(|i| i.name == "*" && i.alias.is_empty());
                ways = whole.map(|i| (i.module.as_str(), name)).collect();
            }
            for (module, name) in ways {
                out.extend(self.handed_from(module, name, *file, family, wanted, depth)?);
            }
        }
        // Many ways lead to one symbol, and each module hands all of them on.
        out.sort_by(|a, b| a.1.id.cmp(&b.1.id).then(b.0.total_cmp(&a.0)));
        out.dedup_by_key(|(_, c)| c.id);
        self.handed.insert(asked, out.clone());
        Ok(out)
    }

    /// Returns the symbols of a name that a file hands on from a module; without a module, its own:
    /// `export { own as name }`.
    fn handed_from(
        &mut self,
        module: &str,
        name: &str,
        file: FileId,
        family: FileId,
        wanted: ExpectedKind,
        depth: u8,
    ) -> Result<Vec<(f32, SymbolRow)>, GraphError> {
        let mut found: Vec<(f32, SymbolRow)> = if module.is_empty() {
            let rows = self.scopes.candidates(name, file, wanted)?;
            let of_file = rows.iter().filter(|c| c.id.file == file && c.parent < 0);
            of_file.map(|c| (IMPORTED, c.clone())).collect()
        } else {
            self.named_in(module, file, name, family, wanted, depth)?.inside
        };
        found.retain(|(confidence, _)| *confidence >= 0.5);
        for (confidence, _) in &mut found {
            *confidence *= HANDED_ON;
        }
        Ok(found)
    }

    /// Turns symbols into meanings, likeliest first. Equally likely symbols share the confidence if
    /// they are in different directories. In one directory they are probably variants, of which one
    /// is compiled.
    fn likeliest(&self, mut scored: Vec<(f32, SymbolRow)>) -> Vec<Meaning> {
        scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.id.cmp(&b.1.id)));
        scored.dedup_by_key(|(_, c)| c.id);
        let best = scored.first().map_or(0.0, |(s, _)| *s);
        let is_best = |s: f32| s >= best - 0.001;
        let places: HashSet<&str> = scored
            .iter()
            .filter(|(s, _)| is_best(*s))
            .filter_map(|(_, c)| Some(directory(&self.scopes.file(c.id.file)?.row.path)))
            .collect();
        let share = 1.0 / (places.len().max(1) as f32);
        // Next to a likely meaning, all others are less likely.
        let rest = if best >= 0.5 { 0.3 } else { 1.0 };
        if scored.len() > MAX_MEANINGS {
            self.work.spend();
        }
        scored
            .iter()
            .take(MAX_MEANINGS)
            .map(|(s, c)| Meaning {
                symbol: c.id,
                confidence: s * share * if is_best(*s) { 1.0 } else { rest },
            })
            .collect()
    }

    /// Returns the members of this name that a value of a library type may have: those of the type
    /// inside it, or those that a trait of the project adds.
    fn extensions(
        &mut self,
        library: &Entity,
        reference: &RefRow,
    ) -> Result<Vec<Meaning>, GraphError> {
        let held = self.members(library, &reference.name)?;
        if !held.is_empty() {
            return Ok(held);
        }
        let mut out = Vec::new();
        for meaning in self.guess(reference)? {
            let file_scope = self.scopes.scope_of(meaning.symbol.file)?;
            if file_scope
                .around(meaning.symbol)
                .nth(1)
                .is_some_and(|owner| owner.kind == SymbolKind::Trait)
            {
                out.push(meaning);
            }
        }
        Ok(out)
    }

    /// Returns the members of this name of all types, for an unknown receiver.
    fn guess(&mut self, reference: &RefRow) -> Result<Vec<Meaning>, GraphError> {
        const LIKE: f32 = 1.6;
        const NEAR: f32 = 1.3;
        /// From this many on, no member of a name has a confidence that counts.
        const MANY_OWNERS: usize = 131;
        let from = reference.from.file;
        let rows = self.scopes.candidates(&reference.name, from, reference.kind.into())?;
        let members: Vec<&SymbolRow> = rows.iter().filter(|c| !c.owner.is_empty()).collect();
        // Equal members are next to each other in a file, so few owners of a long list are counted.
        let mut owners: HashSet<(&str, FileId)> = HashSet::new();
        for c in &members {
            owners.insert((c.owner.as_str(), c.id.file));
            if owners.len() > MANY_OWNERS {
                return Ok(Vec::new());
            }
        }
        let is_common =
            self.scopes.file(from).is_some_and(|f| f.names.is_common_method(&reference.name));
        let common = if is_common { 0.3 } else { 1.0 };
        let lone = self.scopes.file(from).map_or(0.0, |f| f.names.lone_member);
        let share = lone * common / (owners.len().max(1) as f32).sqrt();
        if share * LIKE * NEAR < ODD {
            return Ok(Vec::new());
        }
        // `server.start()` is more likely a member of `Server`.
        let receiver = as_written(&reference.receiver);
        let hint = names::last(receiver.trim_end_matches("()")).to_lowercase().replace('_', "");
        // A method that calls one of its name for another value mostly wraps that value.
        let caller = self.scopes.scope_of(from)?.caller(reference.from);
        let wraps = self.scopes.symbol(caller)?.is_some_and(|s| s.name == reference.name);
        let most = if wraps { CANDIDATE } else { 0.85 };
        let guessed = members.iter().map(|c| {
            let owner = c.owner.to_lowercase();
            let is_like = hint.len() > 2 && (owner.contains(&hint) || hint.contains(&owner));
            let confidence = share
                * if is_like { LIKE } else { 1.0 }
                * if c.id.file == from { NEAR } else { 1.0 };
            Meaning { symbol: c.id, confidence: confidence.min(most) }
        });
        let mut out: Vec<Meaning> = guessed.collect();
        out.sort_by(|a, b| b.confidence.total_cmp(&a.confidence));
        Ok(out)
    }
}
