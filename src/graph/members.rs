//! Finds the types of a value and the members of a type.

use super::error::GraphError;
use super::names;
use super::resolver::{Entity, MAX_BASES, MAX_INFERENCE, Meaning, Resolver};
use super::rows::{BaseRow, SymbolId, SymbolRow};
use super::scopes::ExpectedKind;
use super::types;
use crate::languages::Visibility;
use crate::syntax::SymbolKind;
use crate::text::directory;

/// How likely a member belongs to a type if no other type has its name.
const ONLY_TYPE: f32 = 0.9;

impl Resolver {
    /// Returns the project's symbols that are the type of a value; none for a type of a library.
    pub(super) fn types_of(&mut self, entity: &Entity) -> Result<Vec<Meaning>, GraphError> {
        match entity {
            Entity::Of(id) => Ok(vec![Meaning { symbol: *id, confidence: 1.0 }]),
            Entity::Super(id) => self.bases(*id),
            Entity::Instance { of, at } => self.types_written(of, *at, MAX_INFERENCE),
            _ => Ok(Vec::new()),
        }
    }

    pub(super) fn types_written(
        &mut self,
        written: &str,
        at: SymbolId,
        depth: u8,
    ) -> Result<Vec<Meaning>, GraphError> {
        let (Some(parsed), Some(depth)) = (types::parse(written), depth.checked_sub(1)) else {
            return Ok(Vec::new());
        };
        let file_scope = self.scopes.scope_of(at.file)?;
        if types::is_self_type(parsed.name) {
            let Some(name) = file_scope.enclosing_type(at) else { return Ok(Vec::new()) };
            return self.types_written(&name, at, depth);
        }
        // A type parameter: `T: Trait`.
        let bound = file_scope.binding(at, parsed.name);
        let bound = bound.and_then(|(scope, all)| Some((scope, all.into_iter().next()?)));
        if let Some((scope, is)) = bound.filter(|(_, is)| !is.starts_with('=') && is != written) {
            let is_local_type = file_scope
                .symbols
                .iter()
                .any(|s| s.is_type() && s.name == parsed.name && s.parent == scope);
            if !is_local_type {
                return self.types_written(&is, at, depth);
            }
        }
        let meanings = if parsed.path.is_empty() {
            (*self.bare(parsed.name, at, ExpectedKind::Type)?).clone()
        } else {
            let needs_import = self
                .scopes
                .file(at.file)
                .is_some_and(|f| matches!(f.names.reach, Visibility::File | Visibility::Directory));
            match self.path_of_type(parsed.path, at, depth)? {
                // A module of a library.
                Entity::Unknown if needs_import => Vec::new(),
                Entity::Module { name, file } => {
                    self.in_module(&name, file, parsed.name, at, ExpectedKind::Type)?
                }
                Entity::Elsewhere => Vec::new(),
                Entity::Of(id) if parsed.path.ends_with("Self") => {
                    vec![Meaning { symbol: id, confidence: 0.6 }]
                }
                outer => {
                    let inner = self.inner_types(&outer, parsed.name, depth)?;
                    if inner.is_empty() {
                        (*self.bare(parsed.name, at, ExpectedKind::Type)?).clone()
                    } else {
                        inner
                    }
                }
            }
        };
        let meanings: Vec<Meaning> = meanings.into_iter().filter(|m| m.confidence >= 0.3).collect();
        match parsed.inner {
            Some(inner) if meanings.is_empty() && self.is_transparent(parsed.name, at) => {
                self.types_written(inner, at, depth)
            }
            _ => Ok(meanings),
        }
    }

    /// Returns the types of this name that a type defines itself.
    fn inner_types(
        &mut self,
        outer: &Entity,
        name: &str,
        depth: u8,
    ) -> Result<Vec<Meaning>, GraphError> {
        let outer = match outer {
            Entity::Of(id) => vec![Meaning { symbol: *id, confidence: 1.0 }],
            Entity::Instance { of, at } => self.types_written(of, *at, depth)?,
            _ => Vec::new(),
        };
        let mut out = Vec::new();
        for of in outer {
            for symbol in self.own_members(of.symbol, name)? {
                if self.scopes.symbol(symbol)?.is_some_and(|s| s.is_type()) {
                    out.push(Meaning { symbol, ..of });
                }
            }
        }
        Ok(out)
    }

    /// Returns whether the members of a type are those of its type argument, as for smart pointers.
    fn is_transparent(&self, name: &str, at: SymbolId) -> bool {
        self.scopes.file(at.file).is_some_and(|f| f.names.transparent.contains(&name))
    }

    /// Returns the members of this name that a value has, likeliest first.
    pub(super) fn members(
        &mut self,
        entity: &Entity,
        name: &str,
    ) -> Result<Vec<Meaning>, GraphError> {
        let mut out: Vec<Meaning> = Vec::new();
        for owner in self.types_of(entity)? {
            for m in self.members_of(owner.symbol, name)? {
                out.push(Meaning { confidence: m.confidence * owner.confidence, ..m });
            }
        }
        if out.is_empty()
            && let Entity::Instance { of, at } = entity
            && let Some(types::Type { name: outer, inner: Some(inner), .. }) = types::parse(of)
            && self.is_transparent(outer, *at)
        {
            return self.members(&Entity::Instance { of: inner.to_string(), at: *at }, name);
        }
        out.sort_by(|a, b| b.confidence.total_cmp(&a.confidence));
        Ok(out)
    }

    /// Returns the members of this name that a type has. Supertypes are searched only if the type
    /// itself has none.
    pub(super) fn members_of(
        &mut self,
        of: SymbolId,
        name: &str,
    ) -> Result<Vec<Meaning>, GraphError> {
        let key = (of, name.to_string());
        if let Some(known) = self.members.get(&key) {
            return Ok((**known).clone());
        }
        let members = self.members_within(of, name, MAX_BASES)?;
        self.members.insert(key, members.clone().into());
        Ok(members)
    }

    /// Returns the symbols that the written name of a supertype may mean.
    pub(super) fn base_meanings(&mut self, base: &BaseRow) -> Result<Vec<Meaning>, GraphError> {
        let file_scope = self.scopes.scope_of(base.symbol.file)?;
        let outside = file_scope.around(base.symbol).next().map_or(-1, |s| s.parent);
        self.types_written(
            &base.written,
            SymbolId { file: base.symbol.file, n: outside },
            MAX_INFERENCE,
        )
    }

    fn members_within(
        &mut self,
        of: SymbolId,
        name: &str,
        depth: u8,
    ) -> Result<Vec<Meaning>, GraphError> {
        let (Some(owner), Some(depth)) = (self.scopes.symbol(of)?, depth.checked_sub(1)) else {
            return Ok(Vec::new());
        };
        let mut out = Vec::new();
        let types = self.scopes.candidates(&owner.name, of.file, ExpectedKind::Type)?;
        let is_only_type = types.iter().filter(|t| !t.prototype).count() == 1;
        let candidates = self.scopes.candidates(name, of.file, ExpectedKind::Callee)?;
        let owners = self.scopes.by_owner(name)?;
        let of_owner = |owner: &str| owners.get(owner).map_or(&[][..], Vec::as_slice);
        let owned = of_owner(names::last(&owner.name)).iter().chain(of_owner("companion"));
        for id in owned {
            // They are in the order of their ids.
            let Ok(index) = candidates.binary_search_by_key(id, |c| c.id) else { continue };
            let c = &candidates[index];
            let is_companion = c.owner == "companion" && self.is_of_companion(c, of)?;
            if is_companion
                || (c.owner == names::last(&owner.name) && !self.is_of_another_type(c, of)?)
            {
                let near = self.closeness(of.file, c.id.file);
                let confidence = if is_only_type { near.max(ONLY_TYPE) } else { near };
                out.push(Meaning { symbol: c.id, confidence });
            }
        }
        let best = out.iter().map(|m| m.confidence).fold(0.0, f32::max);
        out.retain(|m| m.confidence >= best - 0.01);
        if !out.is_empty() {
            return Ok(out);
        }
        let file_scope = self.scopes.scope_of(of.file)?;
        if let Some(is) = file_scope
            .bindings
            .get(&(owner.parent, owner.name.clone()))
            .and_then(|all| all.first())
            .filter(|is| !is.starts_with('='))
        {
            // The type is an alias.
            for t in
                self.types_written(&is.clone(), SymbolId { file: of.file, n: owner.parent }, depth)?
            {
                out.extend(if t.symbol == of {
                    Vec::new()
                } else {
                    self.members_within(t.symbol, name, depth)?
                });
            }
        }
        for base in self.bases(of)? {
            if base.symbol != of && out.len() < 8 {
                let inherited = self.members_within(base.symbol, name, depth)?;
                out.extend(
                    inherited.into_iter().map(|m| Meaning {
                        confidence: m.confidence * base.confidence * 0.97,
                        ..m
                    }),
                );
            }
        }
        Ok(out)
    }

    /// Returns whether a member belongs to the companion object of a type, which Kotlin calls by the
    /// name of the type.
    fn is_of_companion(&mut self, member: &SymbolRow, of: SymbolId) -> Result<bool, GraphError> {
        let file_scope = self.scopes.scope_of(member.id.file)?;
        Ok(file_scope.around(member.id).nth(2).is_some_and(|outer| outer.id == of))
    }

    /// Returns whether a member belongs to another type of the same name, which its file defines.
    fn is_of_another_type(&mut self, member: &SymbolRow, of: SymbolId) -> Result<bool, GraphError> {
        if member.id.file == of.file {
            return Ok(false);
        }
        let file_scope = self.scopes.scope_of(member.id.file)?;
        Ok(file_scope
            .symbols
            .iter()
            .any(|s| s.is_type() && s.kind != SymbolKind::Impl && s.name == member.owner))
    }

    /// Returns how likely code in one file belongs to a type in another, by their directories.
    fn closeness(&self, a: i64, b: i64) -> f32 {
        if a == b {
            return 0.95;
        }
        let (Some(a), Some(b)) = (self.scopes.file(a), self.scopes.file(b)) else { return 0.0 };
        let (a, b) = (&a.row.path, &b.row.path);
        let same = a.split('/').zip(b.split('/')).take_while(|(a, b)| a == b).count();
        let is_near = directory(a) == directory(b);
        if is_near {
            0.9
        } else if same > 0 {
            0.75
        } else {
            0.6
        }
    }

    /// Returns the supertypes of a type.
    pub(super) fn bases(&mut self, of: SymbolId) -> Result<Vec<Meaning>, GraphError> {
        let Some(symbol) = self.scopes.symbol(of)? else { return Ok(Vec::new()) };
        // Rust's `impl Trait for Type` may be in another file.
        let parts: Vec<SymbolRow> =
            self.scopes.named(&symbol.name)?.iter().filter(|s| s.is_type()).cloned().collect();
        let mut out = Vec::new();
        for part in parts {
            let is_it = part.id == of
                || (part.kind == SymbolKind::Impl && self.closeness(of.file, part.id.file) >= 0.75);
            if !is_it {
                continue;
            }
            let file_scope = self.scopes.scope_of(part.id.file)?;
            let outside = SymbolId { file: part.id.file, n: part.parent };
            let delegates = self.scopes.file(part.id.file).and_then(|f| f.names.delegates);
            for base in file_scope.bases.iter().filter(|b| b.symbol == part.id) {
                let meanings = self.types_written(&base.written, outside, MAX_INFERENCE)?;
                out.extend(meanings.into_iter().take(2));
                // `impl Deref for Name { type Target = Token; }`
                let alias = delegates.filter(|(of, _)| *of == names::last(&base.written));
                let all = alias.and_then(|(_, alias)| {
                    file_scope.bindings.get(&(part.id.n, alias.to_string()))
                });
                if let Some(is) = all.and_then(|all| all.first()) {
                    out.extend(self.types_written(is, part.id, MAX_INFERENCE)?);
                }
            }
        }
        Ok(out)
    }

    /// Returns what is written of the type of a field, and the type that declares the field.
    pub(super) fn field(
        &mut self,
        of: SymbolId,
        name: &str,
        depth: u8,
    ) -> Result<Option<(Vec<String>, SymbolId)>, GraphError> {
        let Some(depth) = depth.checked_sub(1) else { return Ok(None) };
        let file_scope = self.scopes.scope_of(of.file)?;
        if let Some(is) = file_scope.bindings.get(&(of.n, name.to_string())) {
            return Ok(Some((is.clone(), of)));
        }
        // In Go, an embedded type is a field of its name.
        let embedded = file_scope
            .bases
            .iter()
            .find(|b| b.symbol == of && names::last(b.written.trim_start_matches('*')) == name);
        if let Some(base) = embedded
            && self.scopes.file(of.file).is_some_and(|f| f.names.structural)
        {
            return Ok(Some((vec![base.written.clone()], of)));
        }
        for base in self.bases(of)? {
            if base.symbol != of
                && let Some(field) = self.field(base.symbol, name, depth)?
            {
                return Ok(Some(field));
            }
        }
        Ok(None)
    }

    /// Returns the members of this name that a type defines itself. It may define them in several
    /// files of a directory.
    pub(super) fn own_members(
        &mut self,
        of: SymbolId,
        name: &str,
    ) -> Result<Vec<SymbolId>, GraphError> {
        let Some(owner) = self.scopes.symbol(of)? else { return Ok(Vec::new()) };
        if owner.kind == SymbolKind::Impl {
            let file_scope = self.scopes.scope_of(of.file)?;
            let is_member = |s: &&SymbolRow| s.name == name && s.parent == of.n;
            return Ok(file_scope.symbols.iter().filter(is_member).map(|s| s.id).collect());
        }
        let directory = self.scopes.directory_of(of.file);
        let owners = self.scopes.by_owner(name)?;
        let members = owners.get(names::last(&owner.name)).into_iter().flatten().copied();
        Ok(members.filter(|id| self.scopes.directory_of(id.file) == directory).collect())
    }
}
