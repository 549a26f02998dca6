//! Decides which places of a name mean a symbol that is renamed. The text of the files says where the
//! name is written; the rows and the rules of the graph say what it means there.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::answer::{LEAST_CONFIDENCE, Line, Node};
use super::error::GraphError;
use super::names;
use super::resolver::Meaning;
use super::rows::{FileId, ImportRow, RefRow, SymbolId, SymbolRow, imported_as};
use super::scopes::ExpectedKind;
use super::traversal::Traversal;
use crate::syntax::{Occurrence, PlaceKind, ReferenceKind, Role, SymbolKind, as_written};

/// A place is renamed from this confidence on.
pub const SURE: f32 = 0.8;
/// A name without a receiver does not mean a symbol below this confidence.
const LEAST_BARE: f32 = 0.25;
/// A member of a value does not mean a symbol below this confidence.
const LEAST_MEMBER: f32 = 0.1;
/// The difference that makes one meaning clearly likelier than another.
const CLEARLY: f32 = 0.05;
/// Largest number of symbols that are renamed together.
const MAX_FAMILY: usize = 500;
/// Most levels of subtypes.
const MAX_LEVELS: usize = 10;
/// Supertypes that declare no methods of their own that anybody would rename.
pub(super) const PLAIN_BASES: &[&str] = &["object", "ABC", "Generic", "Protocol", "Enum", "Object"];

/// The places of a name in one file.
#[derive(Debug, Clone)]
pub struct NamedIn {
    pub file: String,
    pub places: Vec<Occurrence>,
}

/// What a place is for the change.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Verdict {
    Renamed,
    /// It may mean the symbol, with this confidence.
    Uncertain(f32),
    /// It means something else.
    Other,
    /// It is in a comment, a string or a document.
    Mention,
}

/// What a change of a name would be.
#[derive(Debug, Clone, Default)]
pub struct RenamePlan {
    /// The symbols that are renamed together; the requested one first.
    pub targets: Vec<Node>,
    /// The further symbols that the target matches, if it is not unique. Nothing else is known then.
    pub others: Vec<Node>,
    /// The present name.
    pub name: String,
    /// Why the symbol cannot be renamed.
    pub refused: Option<String>,
    /// Supertypes that are not in the project and may declare the method.
    pub outside: Vec<String>,
    /// Symbols and places to which the new name already belongs.
    pub collisions: Vec<(Line, String)>,
    /// One for each place that was found, in the same order.
    pub verdicts: Vec<Vec<Verdict>>,
    pub is_cut: bool,
}

/// What the rows say of one line.
type Rows = HashMap<(FileId, u32), Vec<RefRow>>;

impl Traversal {
    /// Plans a change of a name. `find` returns the places of a name in all files.
    pub(super) fn rename(
        &mut self,
        target: &str,
        new: &str,
        find: &dyn Fn(&str) -> Vec<NamedIn>,
    ) -> Result<RenamePlan, GraphError> {
        let mut plan = RenamePlan::default();
        let mut found = self.resolver.scopes.targets(target)?;
        for id in &mut found {
            // A constructor that is named as its type is renamed with it.
            if let Some(symbol) = self.resolver.scopes.symbol(*id)?
                && symbol.name == symbol.owner
                && let Some(owner) = self.owner_of(&symbol)?
            {
                *id = owner;
            }
        }
        let Some(first) = found.first().copied() else { return Ok(plan) };
        let Some(symbol) = self.resolver.scopes.symbol(first)? else {
            plan.targets.push(self.resolver.scopes.node(first)?);
            plan.refused = Some("it is a file: move the file instead".into());
            return Ok(plan);
        };
        let (family, doubtful) = self.family(first, &mut plan)?;
        for id in std::iter::once(first).chain(family.iter().copied().filter(|id| *id != first)) {
            plan.targets.push(self.resolver.scopes.node(id)?);
        }
        for id in found.iter().filter(|id| !family.contains(id) && !doubtful.contains_key(id)) {
            plan.others.push(self.resolver.scopes.node(*id)?);
        }
        if !plan.others.is_empty() {
            return Ok(plan);
        }
        plan.name.clone_from(&symbol.name);
        plan.refused = plan.refused.take().or_else(|| self.not_renamed(&symbol));
        if plan.refused.is_some() {
            return Ok(plan);
        }
        let named = find(&symbol.name);
        self.judge(&mut plan, &named, &family, &doubtful)?;
        self.collisions(&mut plan, &named, &family, new)?;
        plan.is_cut = self.resolver.work.is_spent();
        Ok(plan)
    }

    /// Returns why a symbol must keep its name.
    fn not_renamed(&self, symbol: &SymbolRow) -> Option<String> {
        let file = self.resolver.scopes.file(symbol.id.file)?;
        let name = symbol.name.as_str();
        let is_of_language = file.names.constructors.contains(&name)
            || (name.len() > 4 && name.starts_with("__") && name.ends_with("__"))
            || (name == "main" && symbol.owner.is_empty());
        if is_of_language {
            return Some(format!("the language calls it by the name `{name}`"));
        }
        match symbol.kind {
            SymbolKind::Module => Some("a module has the name of its file or folder".into()),
            SymbolKind::Table | SymbolKind::Block | SymbolKind::Rule | SymbolKind::Element => {
                Some(format!("the uses of a {} are not in the code graph", symbol.kind.as_str()))
            }
            _ => None,
        }
    }

    /// Returns the symbols that must have the same name, and those that may have to, each with its
    /// confidence.
    fn family(
        &mut self,
        first: SymbolId,
        plan: &mut RenamePlan,
    ) -> Result<(BTreeSet<SymbolId>, BTreeMap<SymbolId, f32>), GraphError> {
        let (mut family, mut doubtful) = (BTreeSet::from([first]), BTreeMap::new());
        let mut todo = vec![first];
        while let Some(id) = todo.pop() {
            if family.len() > MAX_FAMILY || !self.resolver.work.goes_on() {
                self.resolver.work.spend();
                break;
            }
            let Some(symbol) = self.resolver.scopes.symbol(id)? else { continue };
            let mut sure = self.variants(&symbol)?;
            let owner = self.owner_of(&symbol)?;
            if owner.is_some() && !symbol.is_type() && symbol.kind != SymbolKind::EnumMember {
                sure.extend(self.overridden(&symbol)?);
                for edge in self.overrides(&symbol, MAX_LEVELS)? {
                    if edge.confidence >= SURE {
                        sure.push(edge.to);
                    } else if edge.confidence >= LEAST_MEMBER {
                        let known = doubtful.entry(edge.to).or_insert(edge.confidence);
                        *known = known.max(edge.confidence);
                    }
                }
                sure.extend(self.declared_for(&symbol)?);
            }
            if symbol.kind.is_callable() {
                self.note_outside(&symbol, owner, plan)?;
            }
            todo.extend(sure.into_iter().filter(|id| family.insert(*id)));
        }
        doubtful.retain(|id, _| !family.contains(id));
        Ok((family, doubtful))
    }

    /// Returns the further definitions of the same symbol: its declaration in a header, overloads, and
    /// variants of which one is compiled. For a type, also its constructors.
    fn variants(&mut self, symbol: &SymbolRow) -> Result<Vec<SymbolId>, GraphError> {
        let rows = self.resolver.scopes.named(&symbol.name)?;
        let file_scope = self.resolver.scopes.scope_of(symbol.id.file)?;
        let is_plain_impl = |n: i64| {
            file_scope.around(SymbolId { n, ..symbol.id }).next().is_some_and(|s| {
                s.kind == SymbolKind::Impl && !file_scope.bases.iter().any(|b| b.symbol == s.id)
            })
        };
        let mut out = Vec::new();
        for other in rows.iter().filter(|s| s.id != symbol.id && s.kind != SymbolKind::Impl) {
            let is_here = other.id.file == symbol.id.file;
            let is_constructor = symbol.is_type()
                && is_here
                && other.parent == symbol.id.n
                && other.owner == symbol.name;
            let is_sibling = is_here
                && other.owner == symbol.owner
                && other.kind.is_callable() == symbol.kind.is_callable()
                && (other.parent == symbol.parent
                    || (is_plain_impl(other.parent) && is_plain_impl(symbol.parent)));
            let is_declaration = other.prototype != symbol.prototype
                && other.owner == symbol.owner
                && self.resolver.scopes.file(symbol.id.file).is_some_and(|f| f.names.family == "c")
                && self.resolver.scopes.is_same_family(other.id.file, symbol.id.file);
            if is_constructor || is_sibling || is_declaration {
                out.push(other.id);
            }
        }
        Ok(out)
    }

    /// Returns the methods of interfaces that a type has without naming the interface.
    fn declared_for(&mut self, symbol: &SymbolRow) -> Result<Vec<SymbolId>, GraphError> {
        if !self.resolver.scopes.file(symbol.id.file).is_some_and(|f| f.names.structural) {
            return Ok(Vec::new());
        }
        let rows = self.resolver.scopes.named(&symbol.name)?;
        let mut out = Vec::new();
        for other in rows.iter().filter(|s| s.id != symbol.id && !s.owner.is_empty()) {
            let Some(owner) = self.owner_of(other)? else { continue };
            let is_interface = self
                .resolver
                .scopes
                .symbol(owner)?
                .is_some_and(|s| matches!(s.kind, SymbolKind::Interface | SymbolKind::Trait));
            if is_interface && self.overrides(other, 1)?.iter().any(|edge| edge.to == symbol.id) {
                out.push(other.id);
            }
        }
        Ok(out)
    }

    /// Notes the supertypes of a method's type that are not in the project.
    fn note_outside(
        &mut self,
        symbol: &SymbolRow,
        owner: Option<SymbolId>,
        plan: &mut RenamePlan,
    ) -> Result<(), GraphError> {
        let Some(owner) = owner else { return Ok(()) };
        let file_scope = self.resolver.scopes.scope_of(owner.file)?;
        let is_impl = file_scope.around(owner).next().is_some_and(|s| s.kind == SymbolKind::Impl);
        for base in file_scope.bases.iter().filter(|base| base.symbol == owner) {
            let is_known = self
                .resolver
                .base_meanings(base)?
                .iter()
                .any(|meaning| meaning.confidence >= LEAST_CONFIDENCE);
            if is_known || PLAIN_BASES.contains(&names::last(&base.written)) {
                continue;
            }
            if is_impl && plan.refused.is_none() {
                plan.refused = Some(format!(
                    "`{}` belongs to `{}`, which is not in the project",
                    symbol.name, base.written
                ));
            } else if !plan.outside.contains(&base.written) {
                plan.outside.push(base.written.clone());
            }
        }
        Ok(())
    }

    /// Decides what each place is.
    fn judge(
        &mut self,
        plan: &mut RenamePlan,
        named: &[NamedIn],
        family: &BTreeSet<SymbolId>,
        doubtful: &BTreeMap<SymbolId, f32>,
    ) -> Result<(), GraphError> {
        let mut rows: Rows = HashMap::new();
        for reference in self.resolver.scopes.tables.refs_named(&plan.name)? {
            for line in &reference.lines {
                rows.entry((reference.from.file, *line)).or_default().push(reference.clone());
            }
        }
        let symbols = self.resolver.scopes.named(&plan.name)?;
        let is_data = symbols.iter().any(|s| family.contains(&s.id) && s.kind.is_data());
        let is_only = symbols.iter().all(|s| family.contains(&s.id) || s.kind == SymbolKind::Impl);
        for NamedIn { file: path, places } in named {
            let mut verdicts = vec![Verdict::Mention; places.len()];
            let file = self.resolver.scopes.file_at(path);
            let Some(file) = file else {
                plan.verdicts.push(verdicts);
                continue;
            };
            let defined: HashMap<u32, &SymbolRow> = symbols
                .iter()
                .filter(|s| s.id.file == file && s.kind != SymbolKind::Impl)
                .map(|s| (s.line, s))
                .collect();
            let mut is_found: BTreeSet<u32> = places
                .iter()
                .filter(|p| p.role == Role::Definition && p.place == PlaceKind::Code)
                .map(|p| p.line)
                .collect();
            for (at, place) in places.iter().enumerate() {
                if !matches!(place.place, PlaceKind::Code | PlaceKind::Import) {
                    continue;
                }
                let definition = defined.get(&place.line).filter(|_| {
                    place.role == Role::Definition
                        // Where the tree does not name it, the first one is the definition.
                        || (place.receiver.is_empty() && is_found.insert(place.line))
                });
                let judged = match definition {
                    Some(symbol) if family.contains(&symbol.id) => Verdict::Renamed,
                    Some(symbol) => match doubtful.get(&symbol.id) {
                        Some(confidence) => Verdict::Uncertain(*confidence),
                        None => Verdict::Other,
                    },
                    None if !self.resolver.work.goes_on() => Verdict::Uncertain(0.0),
                    None if place.place == PlaceKind::Import => {
                        self.judge_import(place, file, &plan.name, family)?
                    }
                    None => {
                        let here = rows.get(&(file, place.line)).map_or(&[][..], Vec::as_slice);
                        let is_alone = places
                            .iter()
                            .filter(|p| p.line == place.line && p.place == PlaceKind::Code)
                            .count()
                            == 1;
                        self.judge_use(place, file, here, is_alone, is_data, &plan.name, family)?
                    }
                };
                // An import of the project cannot mean another symbol if there is none.
                verdicts[at] = match judged {
                    Verdict::Uncertain(confidence)
                        if is_only
                            && confidence >= LEAST_CONFIDENCE
                            && (place.receiver.is_empty()
                                || place.place == PlaceKind::Import
                                || is_path_of_project(&place.receiver)) =>
                    {
                        Verdict::Renamed
                    }
                    judged => judged,
                };
            }
            doubt_imports(places, &mut verdicts, is_only);
            plan.verdicts.push(verdicts);
        }
        Ok(())
    }

    fn judge_import(
        &mut self,
        place: &Occurrence,
        file: FileId,
        name: &str,
        family: &BTreeSet<SymbolId>,
    ) -> Result<Verdict, GraphError> {
        let file_scope = self.resolver.scopes.scope_of(file)?;
        let (first, last) = place.statement;
        let here: Vec<&ImportRow> =
            file_scope.imports.iter().filter(|i| (first..=last).contains(&i.line)).collect();
        let mut verdicts: Vec<Verdict> = Vec::new();
        for import in &here {
            let (module, named) = match place.role {
                // `use a::name::Member` names a type or a module.
                Role::Path => {
                    let Some(at) = position_of(&import.module, name) else { continue };
                    (import.module[..at].trim_end_matches([':', '.']).to_string(), name)
                }
                Role::Alias if imported_as(import) != name => continue,
                Role::Alias => (import.module.clone(), import.name.as_str()),
                _ if import.name == name => (import.module.clone(), name),
                _ => continue,
            };
            // An alias keeps its name, unless it is the same name.
            if place.role == Role::Alias && named != name {
                verdicts.push(Verdict::Other);
                continue;
            }
            verdicts.push(self.imported(&module, named, file, family)?);
        }
        Ok(agreed(&verdicts).unwrap_or(Verdict::Other))
    }

    /// Decides what a name means that a file imports from a module.
    fn imported(
        &mut self,
        module: &str,
        name: &str,
        file: FileId,
        family: &BTreeSet<SymbolId>,
    ) -> Result<Verdict, GraphError> {
        let from = SymbolId { file, n: -1 };
        let meanings = if module.is_empty() {
            (*self.resolver.bare(name, from, ExpectedKind::Any)?).clone()
        } else {
            self.resolver.in_module(module, file, name, from, ExpectedKind::Any)?
        };
        // The rules may not find a module of which the text says that it is in the project.
        if meanings.is_empty() && is_of_project(module) {
            return Ok(Verdict::Uncertain(LEAST_CONFIDENCE));
        }
        Ok(verdict(&meanings, family, LEAST_BARE))
    }

    #[expect(clippy::too_many_arguments, reason = "all of them say what the place is")]
    fn judge_use(
        &mut self,
        place: &Occurrence,
        file: FileId,
        rows: &[RefRow],
        is_alone: bool,
        is_data: bool,
        name: &str,
        family: &BTreeSet<SymbolId>,
    ) -> Result<Verdict, GraphError> {
        // `export { name }` is an import of a file's own name.
        let file_scope = self.resolver.scopes.scope_of(file)?;
        let is_listed = |i: &ImportRow| {
            i.name == name && (place.statement.0..=place.statement.1).contains(&i.line)
        };
        if place.receiver.is_empty() && rows.is_empty() && file_scope.imports.iter().any(is_listed)
        {
            return self.judge_import(place, file, name, family);
        }
        if matches!(place.role, Role::Key | Role::Alias) {
            return Ok(if is_data { Verdict::Uncertain(0.0) } else { Verdict::Other });
        }
        // It defines something that is no symbol, such as a field or a variable.
        if place.role == Role::Definition && place.receiver.is_empty() && !is_data {
            return Ok(Verdict::Other);
        }
        if place.role == Role::Shorthand && (is_data || !place.is_local) {
            return Ok(Verdict::Uncertain(0.0));
        }
        // In these languages a method behind a dot is always called.
        let language = self.resolver.scopes.file(file).map_or("", |f| &f.row.language);
        if matches!(language, "rust" | "java")
            && place.is_behind_dot
            && !place.is_called
            && !is_data
        {
            return Ok(Verdict::Other);
        }
        let mut matching: Vec<&RefRow> =
            rows.iter().filter(|row| as_written(&row.receiver) == place.receiver).collect();
        // The row of a type does not say in which path it is written.
        let is_other_form = |row: &RefRow| place.receiver == "?" || !row.receiver.is_empty();
        if matching.is_empty() && is_alone && (rows.len() == 1 || place.receiver == "?") {
            matching = rows.iter().filter(|row| is_other_form(row)).collect();
        }
        let from = SymbolId { file, n: file_scope.innermost(place.line) };
        let own = RefRow {
            from,
            name: name.to_string(),
            kind: if place.is_called { ReferenceKind::Call } else { ReferenceKind::Value },
            receiver: place.receiver.clone(),
            arguments: None,
            lines: vec![place.line],
        };
        if matching.is_empty() && place.is_local {
            // `let count = count(x)` uses the function and binds the variable.
            let may_be = place.is_called
                && verdict(&self.resolver.resolve(&own)?, family, LEAST_BARE) != Verdict::Other;
            return Ok(if may_be { Verdict::Uncertain(0.0) } else { Verdict::Other });
        }
        if matching.is_empty() {
            matching.push(&own);
        }
        let mut verdicts = Vec::new();
        for row in matching {
            let meanings = self.resolver.resolve(row)?;
            let least = if row.receiver.is_empty() { LEAST_BARE } else { LEAST_MEMBER };
            let mut judged = verdict(&meanings, family, least);
            let is_open = judged == Verdict::Other
                && !row.receiver.is_empty()
                && meanings.iter().all(|m| m.confidence < LEAST_CONFIDENCE);
            // A name that the rules do not find means what the import says.
            if judged == Verdict::Other && row.receiver.is_empty() && meanings.is_empty() {
                let import = file_scope.imports.iter().find(|i| imported_as(i) == name);
                if let Some(import) = import.filter(|import| import.name == name) {
                    judged = self.imported(&import.module, name, file, family)?;
                }
            }
            if judged == Verdict::Other && meanings.is_empty() && is_path_of_project(&row.receiver)
            {
                judged = Verdict::Uncertain(LEAST_CONFIDENCE);
            }
            if is_open && self.is_member(family)? && self.may_be_member(row, &meanings, family)? {
                judged = Verdict::Uncertain(0.0);
            }
            verdicts.push(judged);
        }
        Ok(agreed(&verdicts).unwrap_or(Verdict::Other))
    }

    /// Whether a member without a likely meaning may be one of the symbols all the same.
    fn may_be_member(
        &mut self,
        row: &RefRow,
        meanings: &[Meaning],
        family: &BTreeSet<SymbolId>,
    ) -> Result<bool, GraphError> {
        if row.receiver.starts_with('"') || self.resolver.precisely(row)?.is_some() {
            return Ok(false);
        }
        // A trait may be implemented for types that are not in the project. And the rules may take a
        // type for one of a library, but few libraries have a method of an uncommon name.
        let names = self.resolver.scopes.file(row.from.file).map(|file| file.names);
        let is_common = names.is_none_or(|names| names.is_common_method(&row.name));
        Ok(!is_common || self.is_of_trait(family)? || self.resolver.is_of_unknown(row, meanings)?)
    }

    /// Whether one of the symbols is declared in a trait.
    fn is_of_trait(&mut self, family: &BTreeSet<SymbolId>) -> Result<bool, GraphError> {
        for id in family {
            let file_scope = self.resolver.scopes.scope_of(id.file)?;
            if file_scope.around(*id).nth(1).is_some_and(|s| s.kind == SymbolKind::Trait) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn is_member(&mut self, family: &BTreeSet<SymbolId>) -> Result<bool, GraphError> {
        let Some(first) = family.first() else { return Ok(false) };
        let Some(symbol) = self.resolver.scopes.symbol(*first)? else { return Ok(false) };
        Ok(!symbol.owner.is_empty() && !self.resolver.scopes.is_module_member(&symbol)?)
    }

    /// Notes what has the new name where the symbols or their uses are.
    fn collisions(
        &mut self,
        plan: &mut RenamePlan,
        named: &[NamedIn],
        family: &BTreeSet<SymbolId>,
        new: &str,
    ) -> Result<(), GraphError> {
        let mut known: BTreeMap<SymbolId, &str> = BTreeMap::new();
        for id in family {
            let Some(symbol) = self.resolver.scopes.symbol(*id)? else { continue };
            if let Some(owner) = self.owner_of(&symbol)?.filter(|_| !symbol.owner.is_empty()) {
                for member in self.resolver.members_of(owner, new)? {
                    if member.confidence >= LEAST_CONFIDENCE {
                        known.insert(member.symbol, "its type has this member");
                    }
                }
                let renamed = SymbolRow { name: new.to_string(), ..symbol.clone() };
                for edge in self.overrides(&renamed, MAX_LEVELS)? {
                    known.insert(edge.to, "a subtype has this member");
                }
            }
            for other in self.resolver.scopes.named(new)?.iter() {
                if other.id.file == id.file
                    && other.parent == symbol.parent
                    && other.owner == symbol.owner
                    && other.kind != SymbolKind::Impl
                {
                    known.insert(other.id, "it is in the same scope");
                }
            }
            if symbol.owner.is_empty() || symbol.is_type() {
                let from = SymbolId { file: id.file, n: symbol.parent };
                for meaning in self.resolver.bare(new, from, ExpectedKind::Any)?.iter() {
                    if meaning.confidence >= LEAST_CONFIDENCE {
                        known.insert(meaning.symbol, "the file of the definition sees it");
                    }
                }
            }
        }
        let mut places = BTreeSet::new();
        for (NamedIn { file: path, places: found }, verdicts) in named.iter().zip(&plan.verdicts) {
            let Some(file) = self.resolver.scopes.file_at(path) else { continue };
            let mut is_imports_checked = false;
            for (place, verdict) in found.iter().zip(verdicts) {
                if *verdict != Verdict::Renamed || !place.receiver.is_empty() {
                    continue;
                }
                if place.is_hidden {
                    let why = "a variable or parameter has this name around a use";
                    places.insert(((path.clone(), place.line), why.to_string()));
                }
                if place.role == Role::Definition && !self.is_free(family)? {
                    continue;
                }
                let file_scope = self.resolver.scopes.scope_of(file)?;
                if !is_imports_checked {
                    is_imports_checked = true;
                    for import in file_scope.imports.iter().filter(|i| imported_as(i) == new) {
                        let why = "a changed file imports this name".to_string();
                        places.insert(((path.clone(), import.line), why));
                    }
                }
                let from = SymbolId { file, n: file_scope.innermost(place.line) };
                for meaning in self.resolver.bare(new, from, ExpectedKind::Any)?.iter() {
                    if meaning.confidence >= LEAST_CONFIDENCE {
                        known.entry(meaning.symbol).or_insert("a changed file sees it");
                    }
                }
            }
        }
        for (id, why) in known {
            let node = self.resolver.scopes.node(id)?;
            places
                .insert(((node.file, node.line), format!("{} {}: {why}", node.kind, node.symbol)));
        }
        plan.collisions = places.into_iter().collect();
        Ok(())
    }

    /// Whether a symbol is used by its bare name.
    fn is_free(&mut self, family: &BTreeSet<SymbolId>) -> Result<bool, GraphError> {
        Ok(!self.is_member(family)?)
    }
}

/// Returns what meanings say of a place. Below `least` they say nothing.
fn verdict(meanings: &[Meaning], family: &BTreeSet<SymbolId>, least: f32) -> Verdict {
    let best = |is_ours: bool| {
        meanings
            .iter()
            .filter(|m| family.contains(&m.symbol) == is_ours)
            .map(|m| m.confidence)
            .fold(0.0, f32::max)
    };
    let (ours, other) = (best(true), best(false));
    if ours >= SURE && other < ours - CLEARLY {
        Verdict::Renamed
    } else if ours < least || (other >= LEAST_CONFIDENCE && ours < other - CLEARLY) {
        Verdict::Other
    } else {
        Verdict::Uncertain((ours * 100.0).round() / 100.0)
    }
}

/// Returns the verdict of several that speak of the same place: one that is not shared by all is
/// uncertain.
fn agreed(verdicts: &[Verdict]) -> Option<Verdict> {
    let first = *verdicts.first()?;
    let is_shared = verdicts.iter().all(|verdict| *verdict == first);
    let highest = verdicts.iter().fold(0.0, |most: f32, verdict| match verdict {
        Verdict::Uncertain(confidence) => most.max(*confidence),
        _ => most,
    });
    Some(if is_shared { first } else { Verdict::Uncertain(highest) })
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

/// Doubts that an import means something else if the names in its file mean the symbol.
fn doubt_imports(places: &[Occurrence], verdicts: &mut [Verdict], is_only: bool) {
    let is_used = places.iter().zip(&*verdicts).any(|(place, verdict)| {
        place.place == PlaceKind::Code
            && place.role != Role::Definition
            && place.receiver.is_empty()
            && *verdict == Verdict::Renamed
    });
    for (place, verdict) in places.iter().zip(verdicts) {
        let is_import = place.place == PlaceKind::Import && place.role == Role::Plain;
        if is_used && is_import && *verdict == Verdict::Other {
            *verdict =
                if is_only { Verdict::Renamed } else { Verdict::Uncertain(LEAST_CONFIDENCE) };
        }
    }
}

/// Whether a receiver is a path that begins at a module of the same project.
fn is_path_of_project(receiver: &str) -> bool {
    receiver != "self" && !receiver.contains(['.', '(']) && is_of_project(receiver)
}
