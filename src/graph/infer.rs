//! Infers from the text which type or module an expression is.

use std::sync::Arc;

use super::error::GraphError;
use super::resolve::{IMPORTED, MAX_MODULE_FILES};
use super::resolver::{Entity, KnownEntity, MAX_BASES, MAX_INFERENCE, Resolver};
use super::rows::{FileId, RefRow, SymbolId, SymbolRow, imported_as};
use super::scopes::{ExpectedKind, FileScope};
use super::types;
use crate::languages::{Modules, Visibility};
use crate::syntax::SymbolKind;

const UNKNOWN: KnownEntity = KnownEntity { entity: Entity::Unknown, confidence: 1.0 };
const ELSEWHERE: KnownEntity = KnownEntity { entity: Entity::Elsewhere, confidence: 1.0 };

fn surely(entity: Entity) -> KnownEntity {
    KnownEntity { entity, confidence: 1.0 }
}

/// One name of a chain such as `a::B::new().items[]`.
#[derive(Debug, PartialEq)]
pub(super) struct Link<'a> {
    pub(super) name: &'a str,
    pub(super) is_called: bool,
    n_indexed: usize,
    /// Whether `::` is before or after the name.
    is_path: bool,
}

/// Takes a chain apart.
pub(super) fn steps(chain: &str) -> Vec<Link<'_>> {
    let mut out = Vec::new();
    let mut rest = chain;
    let mut follows_path = false;
    while !rest.is_empty() {
        let end = rest.find(['.', ':']).unwrap_or(rest.len());
        let (written, tail) = rest.split_at(end);
        let name = written.split(['(', '[', '{']).next().unwrap_or(written);
        out.push(Link {
            name,
            is_called: written.contains(['(', '{']),
            n_indexed: written.matches("[]").count(),
            is_path: follows_path || tail.starts_with("::"),
        });
        follows_path = tail.starts_with("::");
        rest = tail.trim_start_matches(['.', ':']);
    }
    out
}

impl Resolver {
    /// Returns the entity of a chain of names, as seen from a symbol.
    pub(super) fn evaluate(
        &mut self,
        chain: &str,
        at: SymbolId,
    ) -> Result<KnownEntity, GraphError> {
        self.evaluate_within(chain, at, MAX_INFERENCE)
    }

    pub(super) fn evaluate_within(
        &mut self,
        chain: &str,
        at: SymbolId,
        depth: u8,
    ) -> Result<KnownEntity, GraphError> {
        let Some(depth) = depth.checked_sub(1) else { return Ok(UNKNOWN) };
        let key = (at, chain.to_string());
        if let Some(known) = self.known.get(&key) {
            return Ok(known.clone());
        }
        // Until it is evaluated, the chain counts as unknown. So a chain that is defined by itself
        // ends.
        self.known.insert(key.clone(), UNKNOWN);
        let steps = steps(chain);
        let Some((root, rest)) = steps.split_first() else { return Ok(UNKNOWN) };
        let mut known = self.root(root, at, depth)?;
        known = self.indexed(known, root.n_indexed)?;
        for step in rest {
            known = self.step(known, step, at, depth)?;
            known = self.indexed(known, step.n_indexed)?;
        }
        self.known.insert(key, known.clone());
        Ok(known)
    }

    fn root(&mut self, step: &Link, at: SymbolId, depth: u8) -> Result<KnownEntity, GraphError> {
        let Some(names) = self.scopes.names(at.file) else { return Ok(UNKNOWN) };
        let name = if step.name.starts_with("$crate") {
            step.name
        } else {
            names.without_marks(step.name)
        };
        if name.starts_with('"') || name.starts_with(|c: char| c.is_ascii_digit()) {
            return Ok(ELSEWHERE);
        }
        if name.is_empty() || name == "?" {
            return Ok(UNKNOWN);
        }
        let file_scope = self.scopes.scope_of(at.file)?;
        let is_rust_path = step.is_path && matches!(name, "self" | "super" | "crate" | "$crate");
        if is_rust_path {
            return Ok(surely(Entity::Module { name: name.into(), file: at.file }));
        }
        if name == names.super_value() {
            return Ok(file_scope.enclosing_type(at).map_or(UNKNOWN, |t| {
                match file_scope.type_around(at) {
                    Some(id) => surely(Entity::Super(id)),
                    None => surely(Entity::Instance { of: t, at }),
                }
            }));
        }
        if names.own_value.contains(&name) {
            if let Some(object) = file_scope.object_around(at) {
                return Ok(surely(Entity::Of(object)));
            }
            return Ok(file_scope
                .enclosing_type(at)
                .map_or(UNKNOWN, |of| surely(Entity::Instance { of, at })));
        }
        // A field without its object: Ruby's `@pool`.
        if step.name.starts_with('@')
            && let Some(of) = file_scope.enclosing_type(at)
        {
            let link = Link { name, ..*step };
            return self.member(&Entity::Instance { of, at }, 1.0, &link, depth);
        }
        if let Some((scope, is)) = file_scope.binding(at, name) {
            let scope = SymbolId { file: at.file, n: scope };
            if step.is_called {
                return Ok(UNKNOWN);
            }
            let known = self.bound(&is, scope, at, depth)?;
            return self.or_object(known, file_scope.object(scope.n, name));
        }
        let wanted = if step.is_called { ExpectedKind::Callee } else { ExpectedKind::Any };
        let meanings = self.bare(name, at, wanted)?;
        // `from package import module`, though something in the package has that name, too.
        let is_exported_type = match meanings.first().filter(|m| m.confidence >= 0.5) {
            Some(best) if self.scopes.is_npm(at.file) => {
                self.scopes.symbol(best.symbol)?.is_some_and(|s| s.is_type())
            }
            _ => false,
        };
        if !step.is_called
            && !is_exported_type
            && meanings.first().is_some_and(|m| m.confidence < IMPORTED)
        {
            let known = self.imported_module(&file_scope, step, name, at, depth)?;
            if matches!(known.entity, Entity::Module { .. }) {
                return Ok(known);
            }
        }
        if let Some(best) = meanings.first().filter(|m| m.confidence >= 0.5).copied()
            && let Some(symbol) = self.scopes.symbol(best.symbol)?
        {
            return self.symbol_as_value(&symbol, best.confidence, step.is_called, depth);
        }
        let known = self.imported_module(&file_scope, step, name, at, depth)?;
        // A name without a definition, import or binding is built in.
        let is_built_in =
            step.is_called && known.entity == Entity::Unknown && names.reach == Visibility::File;
        // A chain does not say whether it begins with a macro, whose value nobody knows.
        let is_built_in = is_built_in
            && meanings.is_empty()
            && self.bare(name, at, ExpectedKind::Macro)?.is_empty();
        Ok(if is_built_in { ELSEWHERE } else { known })
    }

    /// Returns the imported module that the receiver of a reference names, though a variable has that
    /// name too, if the module has the name of the reference: the text does not say in which block
    /// the variable is valid.
    pub(super) fn package_of(
        &mut self,
        reference: &RefRow,
    ) -> Result<Option<KnownEntity>, GraphError> {
        let (receiver, from) = (&*reference.receiver, reference.from);
        let file_scope = self.scopes.scope_of(from.file)?;
        let is_plain = !receiver.contains(['.', ':', '(', '[', '{']);
        if !is_plain || file_scope.binding(from, receiver).is_none() {
            return Ok(None);
        }
        let link = Link { name: receiver, is_called: false, n_indexed: 0, is_path: false };
        let known = self.imported_module(&file_scope, &link, receiver, from, MAX_INFERENCE)?;
        let Entity::Module { name, file } = &known.entity else { return Ok(None) };
        let meanings = self.in_module(name, *file, &reference.name, from, reference.kind.into())?;
        Ok(meanings.first().is_some_and(|m| m.confidence >= 0.5).then_some(known))
    }

    /// Returns the entity of the path before the name of a type: a module or a type.
    pub(super) fn path_of_type(
        &mut self,
        path: &str,
        at: SymbolId,
        depth: u8,
    ) -> Result<Entity, GraphError> {
        let file_scope = self.scopes.scope_of(at.file)?;
        if let [link] = &steps(path)[..] {
            // A field may have the name of the package of its type.
            let is_crate = self.scopes.file(at.file).is_some_and(|f| f.module.own_crate.is_some())
                && link.name.starts_with(char::is_lowercase);
            let link = Link { is_path: is_crate, ..*link };
            let known = self.imported_module(&file_scope, &link, link.name, at, depth)?;
            if matches!(known.entity, Entity::Module { .. } | Entity::Elsewhere) {
                return Ok(known.entity);
            }
        }
        Ok(self.evaluate_within(path, at, depth)?.entity)
    }

    /// Returns the module that a name means; if it means none, whether it comes from elsewhere.
    fn imported_module(
        &mut self,
        file_scope: &Arc<FileScope>,
        step: &Link,
        name: &str,
        at: SymbolId,
        depth: u8,
    ) -> Result<KnownEntity, GraphError> {
        let file = at.file;
        // Where an import names a file, it brings the names of the file, but none for the file.
        let has_files = self
            .scopes
            .file(file)
            .is_some_and(|f| f.names.open_imports && matches!(f.names.modules, Modules::Paths(_)));
        for import in &file_scope.imports {
            let is_module = match (import.alias.as_str(), import.name.as_str()) {
                ("", "") if has_files => false,
                ("", "") => {
                    self.scopes.name_of_module(&import.module, file) == name
                        || import.module.split(['.', '/']).next() == Some(name)
                }
                _ => imported_as(import) == name,
            };
            if !is_module {
                continue;
            }
            let module = match (import.name.as_str(), import.alias.as_str()) {
                // `import a.b` is used as `a.b.f()`.
                ("", "") if self.scopes.name_of_module(&import.module, file) != name => {
                    name.to_string()
                }
                ("" | "default" | "*", _) => import.module.clone(),
                (of, _) if import.module.is_empty() => of.to_string(),
                (of, _) if import.module.ends_with('.') => format!("{}{of}", import.module),
                (of, _) => {
                    format!("{}{}{of}", import.module, separator(&import.module, step.is_path))
                }
            };
            if self.scopes.module_exists(&module, file) {
                return Ok(surely(Entity::Module { name: module, file }));
            }
            if !self.scopes.module_exists(&import.module, file) {
                return Ok(ELSEWHERE);
            }
            let is_named = !matches!(import.name.as_str(), "" | "default" | "*");
            return match depth.checked_sub(1).filter(|_| is_named) {
                Some(depth) => self.module_handed_on(&import.module, file, &import.name, depth),
                None => Ok(UNKNOWN),
            };
        }
        if step.is_path || self.scopes.is_namespace(name, file)? {
            let exists =
                self.scopes.module_exists(name, file) || self.scopes.is_namespace(name, file)?;
            return Ok(if exists {
                surely(Entity::Module { name: name.into(), file })
            } else {
                ELSEWHERE
            });
        }
        // A type that no file defines comes from elsewhere.
        let is_type = name.starts_with(char::is_uppercase);
        Ok(if is_type && self.scopes.named(name)?.is_empty() { ELSEWHERE } else { UNKNOWN })
    }

    /// Returns the module that another one hands on under this name: `pub use other::inner`,
    /// `export * as inner from`.
    fn module_handed_on(
        &mut self,
        module: &str,
        from: FileId,
        name: &str,
        depth: u8,
    ) -> Result<KnownEntity, GraphError> {
        let link = Link { name, is_called: false, n_indexed: 0, is_path: false };
        for file in self.scopes.files_of_module(module, from).iter().take(MAX_MODULE_FILES) {
            let scope = self.scopes.scope_of(*file)?;
            let at = SymbolId { file: *file, n: -1 };
            let known = self.imported_module(&scope, &link, name, at, depth)?;
            if matches!(known.entity, Entity::Module { .. }) {
                return Ok(known);
            }
        }
        Ok(UNKNOWN)
    }

    /// Returns the entity of a name that is bound to types or to the values of chains: the first that
    /// is a type of the project, else the first that is known.
    fn bound(
        &mut self,
        all: &[String],
        scope: SymbolId,
        at: SymbolId,
        depth: u8,
    ) -> Result<KnownEntity, GraphError> {
        let at = if scope.n < 0 { scope } else { at };
        let mut best = UNKNOWN;
        for is in all {
            let known = match is.strip_prefix('=') {
                Some(chain) => self.evaluate_within(chain, at, depth)?,
                None => surely(Entity::Instance { of: is.clone(), at }),
            };
            if all.len() == 1 || !self.types_of(&known.entity)?.is_empty() {
                return Ok(known);
            }
            if best.entity == Entity::Unknown {
                best = known;
            }
        }
        Ok(best)
    }

    /// Returns the value of a symbol: a type itself, the result of a function, the type of a
    /// variable.
    fn symbol_as_value(
        &mut self,
        symbol: &SymbolRow,
        confidence: f32,
        is_called: bool,
        depth: u8,
    ) -> Result<KnownEntity, GraphError> {
        if symbol.is_type() {
            return Ok(KnownEntity { entity: Entity::Of(symbol.id), confidence });
        }
        let around = SymbolId { n: symbol.parent, ..symbol.id };
        if symbol.kind == SymbolKind::EnumMember && symbol.parent >= 0 {
            return Ok(KnownEntity { entity: Entity::Of(around), confidence });
        }
        if symbol.kind.is_callable() {
            let Some(result) = symbol.result.clone() else { return Ok(UNKNOWN) };
            if let Some(chain) = result.strip_prefix('=') {
                let known = self.evaluate_within(chain, symbol.id, depth)?;
                return Ok(KnownEntity { confidence: known.confidence.min(confidence), ..known });
            }
            let entity = if types::is_self_type(&result) && !symbol.owner.is_empty() {
                Entity::Instance { of: symbol.owner.clone(), at: symbol.id }
            } else {
                Entity::Instance { of: result, at: symbol.id }
            };
            return Ok(KnownEntity { entity, confidence });
        }
        let file_scope = self.scopes.scope_of(symbol.id.file)?;
        let known = match file_scope.bindings.get(&(symbol.parent, symbol.name.clone())) {
            Some(is) if !is_called => self.bound(&is.clone(), around, around, depth)?,
            _ => UNKNOWN,
        };
        let object = Some(symbol.id).filter(|_| !is_called && file_scope.is_object(symbol));
        self.or_object(known, object)
    }

    /// Returns what is known of a variable, or the object that is its value if it has no type of the
    /// project.
    fn or_object(
        &mut self,
        known: KnownEntity,
        object: Option<SymbolId>,
    ) -> Result<KnownEntity, GraphError> {
        Ok(match object {
            Some(object) if self.types_of(&known.entity)?.is_empty() => surely(Entity::Of(object)),
            _ => known,
        })
    }

    fn step(
        &mut self,
        known: KnownEntity,
        step: &Link,
        at: SymbolId,
        depth: u8,
    ) -> Result<KnownEntity, GraphError> {
        let KnownEntity { entity, confidence } = known;
        if step.name == "?" {
            return self.unwrapped(entity, confidence);
        }
        if let (Entity::Instance { of, at }, Ok(n)) = (&entity, step.name.parse())
            && let Some(element) = types::element(of, n)
        {
            return Ok(KnownEntity {
                entity: Entity::Instance { of: element.to_string(), at: *at },
                confidence,
            });
        }
        match &entity {
            Entity::Unknown | Entity::Elsewhere => Ok(KnownEntity { entity, confidence }),
            Entity::Module { name, file } => {
                let (module, file) = (name.clone(), *file);
                let meanings = self.in_module(
                    &module,
                    file,
                    step.name,
                    at,
                    if step.is_called { ExpectedKind::Callee } else { ExpectedKind::Any },
                )?;
                if let Some(best) = meanings.first().filter(|m| m.confidence >= 0.5).copied()
                    && let Some(symbol) = self.scopes.symbol(best.symbol)?
                {
                    return self.symbol_as_value(
                        &symbol,
                        confidence.min(best.confidence),
                        step.is_called,
                        depth,
                    );
                }
                let inner = format!("{module}{}{}", separator(&module, step.is_path), step.name);
                if self.scopes.module_exists(&inner, file)
                    || self.scopes.is_namespace(step.name, file)?
                {
                    return Ok(surely(Entity::Module { name: inner, file }));
                }
                let handed_on = self.module_handed_on(&module, file, step.name, depth)?;
                if matches!(handed_on.entity, Entity::Module { .. }) {
                    return Ok(handed_on);
                }
                let may_have_it = self.scopes.module_exists(&module, file)
                    && !self.scopes.is_opened(&module, file);
                Ok(if may_have_it { UNKNOWN } else { ELSEWHERE })
            }
            _ => self.member(&entity, confidence, step, depth),
        }
    }

    /// Returns the entity of a value's member.
    fn member(
        &mut self,
        entity: &Entity,
        confidence: f32,
        step: &Link,
        depth: u8,
    ) -> Result<KnownEntity, GraphError> {
        let mut members = Vec::new();
        for member in self.members(entity, step.name)?.iter().filter(|m| m.confidence >= 0.4) {
            members.extend(self.scopes.symbol(member.symbol)?.map(|s| (member.confidence, s)));
        }
        // A method may have the name of a field.
        let method = members.iter().position(|(_, s)| s.kind.is_callable());
        let method = method.filter(|_| step.is_called).map(|i| members.swap_remove(i));
        if let Some((likely, symbol)) = method {
            return self.symbol_of_member(&symbol, confidence.min(likely), entity, step, depth);
        }
        for owner in self.types_of(entity)? {
            if let Some((is, scope)) = self.field(owner.symbol, step.name, MAX_BASES)? {
                let known = self.bound(&is, scope, scope, depth)?;
                return Ok(KnownEntity {
                    confidence: known.confidence.min(confidence).min(owner.confidence),
                    ..known
                });
            }
        }
        if let Some((likely, symbol)) = members.into_iter().next() {
            return self.symbol_of_member(&symbol, confidence.min(likely), entity, step, depth);
        }
        // For a type of a library, a member is assumed to return the element type, if it has one.
        let is_new = |id: SymbolId| {
            let names = self.scopes.names(id.file);
            names.is_some_and(|names| names.new_method() == Some(step.name))
        };
        if matches!(entity, Entity::Of(id) if is_new(*id)) {
            return Ok(KnownEntity { entity: entity.clone(), confidence });
        }
        if self.types_of(entity)?.is_empty() {
            self.unwrapped(entity.clone(), confidence * 0.9)
        } else {
            Ok(UNKNOWN)
        }
    }

    /// Returns whether a method returns the object it is called on, which may be of a subtype.
    fn returns_itself(&self, method: &SymbolRow) -> bool {
        let chain = method.result.as_ref().and_then(|result| result.strip_prefix('='));
        chain.zip(self.scopes.file(method.id.file)).is_some_and(|(chain, file)| {
            file.names.own_value.contains(&file.names.without_marks(chain))
        })
    }

    /// Returns the value of a symbol that is a member of `entity`.
    fn symbol_of_member(
        &mut self,
        symbol: &SymbolRow,
        confidence: f32,
        entity: &Entity,
        step: &Link,
        depth: u8,
    ) -> Result<KnownEntity, GraphError> {
        if self.returns_itself(symbol) {
            return Ok(KnownEntity { entity: entity.clone(), confidence });
        }
        let known = self.symbol_as_value(symbol, confidence, step.is_called, depth)?;
        Ok(KnownEntity { entity: with_argument(known.entity, entity), ..known })
    }

    /// Returns the value inside a value: `T` of `Option<T>`.
    fn unwrapped(&mut self, entity: Entity, confidence: f32) -> Result<KnownEntity, GraphError> {
        let Entity::Instance { of, at } = &entity else {
            return Ok(KnownEntity { entity, confidence });
        };
        let Some(written) = types::parse(of) else { return Ok(UNKNOWN) };
        if !self.types_of(&entity)?.is_empty() && !matches!(written.name, "Option" | "Result") {
            return Ok(KnownEntity { entity, confidence });
        }
        Ok(match written.inner {
            Some(inner) => KnownEntity {
                entity: Entity::Instance { of: inner.to_string(), at: *at },
                confidence,
            },
            // Type aliases such as `io::Result` hide the type inside.
            None if written.name.ends_with("Result") => UNKNOWN,
            None => ELSEWHERE,
        })
    }

    fn indexed(&mut self, mut known: KnownEntity, n: usize) -> Result<KnownEntity, GraphError> {
        for _ in 0..n {
            known = self.unwrapped(known.entity, known.confidence)?;
        }
        Ok(known)
    }
}

/// Returns the result of a method, with the type argument of the receiver in place of the type
/// parameter: `get` of `Set<User>` returns `Option<User>`.
fn with_argument(result: Entity, of: &Entity) -> Entity {
    let is_parameter = |name: &str| name.len() <= 2 && name.chars().all(char::is_uppercase);
    if let (Entity::Instance { of: written, .. }, Entity::Instance { of: receiver, at }) =
        (&result, of)
        && let (Some(parsed), Some(argument)) =
            (types::parse(written), types::parse(receiver).and_then(|t| t.inner))
    {
        let name = match parsed.inner {
            _ if is_parameter(parsed.name) => Some(argument.to_string()),
            Some(inner) if types::parse(inner).is_some_and(|t| is_parameter(t.name)) => {
                Some(format!("{}<{argument}>", parsed.name))
            }
            _ => None,
        };
        return name.map_or(result, |of| Entity::Instance { of, at: *at });
    }
    result
}

/// Returns the separator between the parts of a module path.
fn separator(module: &str, is_path: bool) -> &'static str {
    if is_path || module.contains("::") || matches!(module, "crate" | "super" | "self") {
        "::"
    } else if module.contains('/') {
        "/"
    } else if module.contains('\\') {
        "\\"
    } else {
        "."
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_have_steps() {
        let names = |chain| {
            steps(chain)
                .iter()
                .map(|s| (s.name.to_string(), s.is_called, s.n_indexed, s.is_path))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            names("a::B::new().?.items[].len"),
            [
                ("a".into(), false, 0, true),
                ("B".into(), false, 0, true),
                ("new".into(), true, 0, true),
                ("?".into(), false, 0, false),
                ("items".into(), false, 1, false),
                ("len".into(), false, 0, false)
            ]
        );
    }
}
