//! Decides which places of a name mean a symbol that is renamed. The text of the files says where the
//! name is written; the rows and the rules of the graph say what it means there.

use std::collections::{BTreeMap, BTreeSet};

use super::answer::{LEAST_CONFIDENCE, Line, Node};
use super::error::GraphError;
use super::names;
use super::rows::{SymbolId, SymbolRow, imported_as};
use super::scopes::ExpectedKind;
use super::traversal::Traversal;
use crate::languages::Called;
use crate::syntax::{BinderKind, Occurrence, PlaceKind, Role, SymbolKind};

/// A place is renamed from this confidence on.
pub const SURE: f32 = 0.8;
/// A member of a value does not mean a symbol below this confidence.
const LEAST_MEMBER: f32 = 0.1;
/// Largest number of symbols that are renamed together.
const MAX_FAMILY: usize = 500;
/// Most places of a shortened name that an error names.
const MAX_SHORT: usize = 20;
/// Most levels of subtypes.
const MAX_LEVELS: usize = 10;
/// Supertypes that declare no methods of their own that anybody would rename.
pub(super) const PLAIN_BASES: &[&str] = &["object", "ABC", "Generic", "Protocol", "Enum", "Object"];

/// The places of a name in one file.
#[derive(Debug, Clone)]
pub struct NamedIn {
    pub file: String,
    pub places: Vec<Occurrence>,
    /// Lines of the file that use the new name, though nothing in the file binds it.
    pub taken: Vec<u32>,
}

/// What a place is for the change.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Verdict {
    Renamed,
    /// It may mean the symbol, with this confidence, and why that is not known.
    Uncertain(f32, &'static str),
    /// It is something else, and keeps the name.
    Left(&'static str),
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
        if let Some(why) = self.is_shortened(&symbol, find)? {
            plan.refused = Some(why);
            return Ok(plan);
        }
        let named = find(&symbol.name);
        plan.verdicts = self.judge(&plan.name, &named, &family, &doubtful)?;
        self.collisions(&mut plan, &named, &family, new)?;
        plan.is_cut = self.resolver.work.is_spent();
        Ok(plan)
    }

    /// Returns the places where C# writes an attribute without the end of its name, which no search
    /// for the name finds.
    fn is_shortened(
        &mut self,
        symbol: &SymbolRow,
        find: &dyn Fn(&str) -> Vec<NamedIn>,
    ) -> Result<Option<String>, GraphError> {
        let short = symbol.name.strip_suffix("Attribute").filter(|short| !short.is_empty());
        let is_csharp = self.resolver.scopes.family(symbol.id.file) == "csharp";
        let Some(short) = short.filter(|_| is_csharp) else { return Ok(None) };
        if !self.resolver.scopes.named(short)?.is_empty() {
            return Ok(None);
        }
        let places: Vec<String> = find(short)
            .iter()
            .flat_map(|NamedIn { file, places, .. }| {
                let uses =
                    places.iter().filter(|p| p.place == PlaceKind::Code && p.binds.is_none());
                uses.map(move |place| format!("{file}:{}", place.line))
            })
            .take(MAX_SHORT)
            .collect();
        Ok((!places.is_empty()).then(|| {
            format!("C# also writes it as `{short}` ({}): rename it by hand", places.join(", "))
        }))
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
                && other.kind.is_callable() == symbol.kind.is_callable()
                && other.owner == symbol.owner
                && self.resolver.scopes.family(symbol.id.file) == "c"
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

    /// Whether the symbols are used through a value, and not by their bare name.
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
        for (NamedIn { file: path, places: found, taken }, verdicts) in
            named.iter().zip(&plan.verdicts)
        {
            let Some(file) = self.resolver.scopes.file_at(path) else { continue };
            let mut is_imports_checked = false;
            let is_bare = self.resolver.scopes.file(file).is_some_and(|f| f.names.implicit_self);
            let is_bound = found.iter().zip(verdicts).any(|(place, verdict)| {
                *verdict == Verdict::Renamed
                    && matches!(place.binds, Some(BinderKind::Definition | BinderKind::Import))
                    && (is_bare || !place.is_member)
            });
            for line in taken.iter().filter(|_| is_bound) {
                let why = "the line would mean the renamed symbol".to_string();
                places.insert(((path.clone(), *line), why));
            }
            for (place, verdict) in found.iter().zip(verdicts) {
                if *verdict != Verdict::Renamed || !place.receiver.is_empty() {
                    continue;
                }
                if place.is_hidden {
                    let why = "a variable or parameter has this name around a use";
                    places.insert(((path.clone(), place.line), why.to_string()));
                }
                if place.role == Role::Definition && self.is_member(family)? {
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
                    // The text has said already what an inner block hides.
                    let is_inner = meaning.symbol.file == file
                        && !is_bare
                        && file_scope
                            .around(meaning.symbol)
                            .nth(1)
                            .is_some_and(|parent| parent.kind.is_callable() || parent.is_type());
                    if meaning.confidence >= LEAST_CONFIDENCE && !is_inner {
                        known.entry(meaning.symbol).or_insert("a changed file sees it");
                    }
                }
            }
        }
        let (mut is_function, mut is_type) = (false, false);
        for id in family {
            if let Some(symbol) = self.resolver.scopes.symbol(*id)? {
                is_function |= symbol.kind.is_callable();
                is_type |= symbol.is_type();
            }
        }
        is_function &= !is_type;
        for (id, why) in known {
            let other = self.resolver.scopes.symbol(id)?;
            if other.is_some_and(|other| self.is_apart(is_function, is_type, &other)) {
                continue;
            }
            let node = self.resolver.scopes.node(id)?;
            places
                .insert(((node.file, node.line), format!("{} {}: {why}", node.kind, node.symbol)));
        }
        plan.collisions = places.into_iter().collect();
        Ok(())
    }

    /// Whether another symbol of the name is a different thing in each place, so that neither hides the
    /// other: a variable beside a function in some languages, a tag of C beside a function.
    pub(super) fn is_apart(&self, is_function: bool, is_type: bool, other: &SymbolRow) -> bool {
        let Some(names) = self.resolver.scopes.names(other.id.file) else { return false };
        let has_marks = names.called_variables == Called::Never && names.family != "ruby";
        (has_marks && is_function && other.kind.is_data())
            || (names.family == "c"
                && ((is_function && other.is_type())
                    || (is_type && other.kind.is_callable() && other.owner.is_empty())))
    }
}
