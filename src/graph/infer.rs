//! What stands before a name: which type or module an expression is, as far as the text tells.

use std::rc::Rc;

use super::GraphError;
use super::names;
use super::resolve::{FileScope, Meaning, Resolver, Wanted, imported_as};
use super::rows::{BaseRow, SymbolId, SymbolRow};
use super::types;
use crate::languages::Reach;
use crate::syntax::SymbolKind;

/// What an expression is.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Entity {
    /// Of a type, as written in a symbol. (A type itself is taken for a value of it: members are found in the same way.)
    Instance {
        of: String,
        at: SymbolId,
    },
    /// Of this very type.
    Of(SymbolId),
    /// The supertypes of a type.
    Super(SymbolId),
    Module {
        name: String,
        file: i64,
    },
    /// Nothing of this project.
    Elsewhere,
    Unknown,
}

/// An entity, and how surely it is that.
#[derive(Debug, Clone)]
pub(super) struct Known {
    pub(super) entity: Entity,
    pub(super) confidence: f32,
}

const UNKNOWN: Known = Known { entity: Entity::Unknown, confidence: 1.0 };
const ELSEWHERE: Known = Known { entity: Entity::Elsewhere, confidence: 1.0 };

fn surely(entity: Entity) -> Known {
    Known { entity, confidence: 1.0 }
}

/// One name of a chain.
#[derive(Debug, PartialEq)]
struct Step<'a> {
    name: &'a str,
    is_called: bool,
    n_indexed: usize,
    /// It stands before `::`.
    is_path: bool,
}

fn steps(chain: &str) -> Vec<Step<'_>> {
    let mut out = Vec::new();
    let mut rest = chain;
    while !rest.is_empty() {
        let end = rest.find(['.', ':']).unwrap_or(rest.len());
        let (written, tail) = rest.split_at(end);
        let name = written.split(['(', '[', '{']).next().unwrap_or(written);
        out.push(Step {
            name,
            is_called: written.contains(['(', '{']),
            n_indexed: written.matches("[]").count(),
            is_path: tail.starts_with("::"),
        });
        rest = tail.trim_start_matches(['.', ':']);
    }
    out
}

/// Chains of inference longer than this are given up.
const MAX_DEPTH: u8 = 6;
/// Supertypes of supertypes.
const MAX_BASES: u8 = 6;

impl Resolver<'_> {
    /// What a chain of names is, seen from a symbol.
    pub(super) fn evaluate(&mut self, chain: &str, at: SymbolId) -> Result<Known, GraphError> {
        self.evaluate_within(chain, at, MAX_DEPTH)
    }

    fn evaluate_within(&mut self, chain: &str, at: SymbolId, depth: u8) -> Result<Known, GraphError> {
        let Some(depth) = depth.checked_sub(1) else { return Ok(UNKNOWN) };
        let key = (at, chain.to_string());
        if let Some(known) = self.known.get(&key) {
            return Ok(known.clone());
        }
        // What is defined by itself is unknown.
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

    fn root(&mut self, step: &Step, at: SymbolId, depth: u8) -> Result<Known, GraphError> {
        let name = if step.name.starts_with("$crate") { step.name } else { step.name.trim_start_matches('$') };
        if name.starts_with('"') || name.starts_with(|c: char| c.is_ascii_digit()) {
            return Ok(ELSEWHERE);
        }
        if name.is_empty() || name == "?" {
            return Ok(UNKNOWN);
        }
        let context = self.context(at.file)?;
        let is_rust_path = step.is_path && matches!(name, "self" | "super" | "crate" | "$crate");
        if is_rust_path {
            return Ok(surely(Entity::Module { name: name.into(), file: at.file }));
        }
        if name == "super" {
            return Ok(enclosing_type(&context, at).map_or(UNKNOWN, |t| match type_around(&context, at) {
                Some(id) => surely(Entity::Super(id)),
                None => surely(Entity::Instance { of: t, at }),
            }));
        }
        if self.file(at.file).is_some_and(|f| f.names.own_value.contains(&name)) {
            return Ok(enclosing_type(&context, at).map_or(UNKNOWN, |of| surely(Entity::Instance { of, at })));
        }
        if let Some((scope, is)) = binding(&context, at, name) {
            return if step.is_called { Ok(UNKNOWN) } else { self.bound(&is, SymbolId { file: at.file, n: scope }, at, depth) };
        }
        let wanted = if step.is_called { Wanted::Callee } else { Wanted::Any };
        let found = self.bare(name, at, wanted)?;
        if let Some(best) = found.first().filter(|m| m.confidence >= 0.5).copied()
            && let Some(symbol) = self.symbol(best.symbol)?
        {
            return self.symbol_as_value(&symbol, best.confidence, step.is_called, depth);
        }
        let known = self.imported_module(&context, step, name, at)?;
        // What nobody defines, imports or binds is built in.
        let is_built_in =
            step.is_called && known.entity == Entity::Unknown && self.file(at.file).is_some_and(|f| f.names.reach == Reach::File);
        Ok(if is_built_in && found.is_empty() { ELSEWHERE } else { known })
    }

    /// A name that is a module, or comes from one.
    fn imported_module(&mut self, context: &Rc<FileScope>, step: &Step, name: &str, at: SymbolId) -> Result<Known, GraphError> {
        let file = at.file;
        for import in &context.imports {
            let is_module = match (import.alias.as_str(), import.name.as_str()) {
                ("", "") => names::last(&import.module) == name || import.module.split(['.', '/']).next() == Some(name),
                _ => imported_as(import) == name,
            };
            if !is_module {
                continue;
            }
            let module = match (import.name.as_str(), import.alias.as_str()) {
                // `import a.b` is used as `a.b.f()`.
                ("", "") if names::last(&import.module) != name => name.to_string(),
                ("" | "default" | "*", _) => import.module.clone(),
                (of, _) if import.module.is_empty() => of.to_string(),
                (of, _) if import.module.ends_with('.') => format!("{}{of}", import.module),
                (of, _) => format!("{}{}{of}", import.module, separator(&import.module, step.is_path)),
            };
            if self.module_exists(&module, file) {
                return Ok(surely(Entity::Module { name: module, file }));
            }
            let is_ours = self.module_exists(&import.module, file);
            return Ok(if is_ours { UNKNOWN } else { ELSEWHERE });
        }
        if step.is_path {
            let exists = self.module_exists(name, file);
            return Ok(if exists { surely(Entity::Module { name: name.into(), file }) } else { ELSEWHERE });
        }
        // A type of a module or a namespace by its own name: whatever is called so.
        let is_type = name.starts_with(char::is_uppercase);
        let reaches = self.file(file).is_some_and(|f| f.names.reach != Reach::File);
        Ok(if is_type && !reaches && !self.named(name)?.iter().any(SymbolRow::is_type) { ELSEWHERE } else { UNKNOWN })
    }

    /// What a name is that is bound to a type or to the value of a chain.
    fn bound(&mut self, is: &str, scope: SymbolId, at: SymbolId, depth: u8) -> Result<Known, GraphError> {
        match is.strip_prefix('=') {
            Some(chain) => self.evaluate_within(chain, if scope.n < 0 { scope } else { at }, depth),
            None => Ok(surely(Entity::Instance { of: is.to_string(), at: if scope.n < 0 { scope } else { at } })),
        }
    }

    /// What the use of a symbol gives: a type itself, what a function returns, the type of a value.
    fn symbol_as_value(&mut self, symbol: &SymbolRow, confidence: f32, is_called: bool, depth: u8) -> Result<Known, GraphError> {
        if symbol.is_type() {
            return Ok(Known { entity: Entity::Of(symbol.id), confidence });
        }
        if symbol.kind.is_callable() {
            let Some(result) = symbol.result.clone() else { return Ok(UNKNOWN) };
            let entity = if is_self_type(&result) && !symbol.owner.is_empty() {
                Entity::Instance { of: symbol.owner.clone(), at: symbol.id }
            } else {
                Entity::Instance { of: result, at: symbol.id }
            };
            return Ok(Known { entity, confidence });
        }
        let context = self.context(symbol.id.file)?;
        let scope = SymbolId { file: symbol.id.file, n: symbol.parent };
        match context.bindings.get(&(symbol.parent, symbol.name.clone())) {
            Some(is) if !is_called => self.bound(&is.clone(), scope, scope, depth),
            _ => Ok(UNKNOWN),
        }
    }

    fn step(&mut self, known: Known, step: &Step, at: SymbolId, depth: u8) -> Result<Known, GraphError> {
        let Known { entity, confidence } = known;
        if step.name == "?" {
            return self.unwrapped(entity, confidence);
        }
        if let (Entity::Instance { of, at }, Ok(n)) = (&entity, step.name.parse())
            && let Some(element) = types::element(of, n)
        {
            return Ok(Known { entity: Entity::Instance { of: element.to_string(), at: *at }, confidence });
        }
        match &entity {
            Entity::Unknown | Entity::Elsewhere => Ok(Known { entity, confidence }),
            Entity::Module { name, file } => {
                let (module, file) = (name.clone(), *file);
                let found = self.in_module(&module, file, step.name, at, if step.is_called { Wanted::Callee } else { Wanted::Any })?;
                if let Some(best) = found.first().filter(|m| m.confidence >= 0.5).copied()
                    && let Some(symbol) = self.symbol(best.symbol)?
                {
                    return self.symbol_as_value(&symbol, confidence * best.confidence, step.is_called, depth);
                }
                let inner = format!("{module}{}{}", separator(&module, step.is_path), step.name);
                if self.module_exists(&inner, file) {
                    return Ok(surely(Entity::Module { name: inner, file }));
                }
                Ok(if self.module_exists(&module, file) { UNKNOWN } else { ELSEWHERE })
            }
            _ => self.member(&entity, confidence, step, depth),
        }
    }

    /// What a member of a value is.
    fn member(&mut self, entity: &Entity, confidence: f32, step: &Step, depth: u8) -> Result<Known, GraphError> {
        for found in self.types_of(entity)? {
            if let Some((is, scope)) = self.field(found.symbol, step.name, MAX_BASES)? {
                let known = self.bound(&is, scope, scope, depth)?;
                return Ok(Known { confidence: known.confidence * confidence * found.confidence, ..known });
            }
        }
        if let Some(best) = self.members(entity, step.name)?.first().filter(|m| m.confidence >= 0.4).copied()
            && let Some(symbol) = self.symbol(best.symbol)?
        {
            let known = self.symbol_as_value(&symbol, confidence * best.confidence, step.is_called, depth)?;
            return Ok(Known { entity: with_argument(known.entity, entity), ..known });
        }
        // A type of a library: what it holds, if anything, comes out of it sooner or later.
        if self.types_of(entity)?.is_empty() { self.unwrapped(entity.clone(), confidence * 0.9) } else { Ok(UNKNOWN) }
    }

    /// What a value holds: `T` of `Option<T>`.
    fn unwrapped(&mut self, entity: Entity, confidence: f32) -> Result<Known, GraphError> {
        let Entity::Instance { of, at } = &entity else { return Ok(Known { entity, confidence }) };
        let Some(written) = types::parse(of) else { return Ok(UNKNOWN) };
        if !self.types_of(&entity)?.is_empty() && !matches!(written.name, "Option" | "Result") {
            return Ok(Known { entity, confidence });
        }
        Ok(match written.inner {
            Some(inner) => Known { entity: Entity::Instance { of: inner.to_string(), at: *at }, confidence },
            // `io::Result` and the like hide it.
            None if written.name.ends_with("Result") => UNKNOWN,
            None => ELSEWHERE,
        })
    }

    fn indexed(&mut self, mut known: Known, n: usize) -> Result<Known, GraphError> {
        for _ in 0..n {
            known = self.unwrapped(known.entity, known.confidence)?;
        }
        Ok(known)
    }

    /// The symbols of the project that are the type of a value; none when it is a type of a library.
    pub(super) fn types_of(&mut self, entity: &Entity) -> Result<Vec<Meaning>, GraphError> {
        match entity {
            Entity::Of(id) => Ok(vec![Meaning { symbol: *id, confidence: 1.0 }]),
            Entity::Super(id) => self.bases(*id),
            Entity::Instance { of, at } => self.types_written(of, *at, MAX_DEPTH),
            _ => Ok(Vec::new()),
        }
    }

    fn types_written(&mut self, written: &str, at: SymbolId, depth: u8) -> Result<Vec<Meaning>, GraphError> {
        let (Some(parsed), Some(depth)) = (types::parse(written), depth.checked_sub(1)) else { return Ok(Vec::new()) };
        let context = self.context(at.file)?;
        if is_self_type(parsed.name) {
            let Some(name) = enclosing_type(&context, at) else { return Ok(Vec::new()) };
            return self.types_written(&name, at, depth);
        }
        // `T: Trait`
        if let Some((scope, is)) = binding(&context, at, parsed.name).filter(|(_, is)| !is.starts_with('=') && is != written) {
            let own = context.symbols.iter().any(|s| s.is_type() && s.name == parsed.name && s.parent == scope);
            if !own {
                return self.types_written(&is, at, depth);
            }
        }
        let found = if parsed.path.is_empty() {
            (*self.bare(parsed.name, at, Wanted::Type)?).clone()
        } else {
            match self.evaluate_within(parsed.path, at, depth)?.entity {
                Entity::Module { name, file } => self.in_module(&name, file, parsed.name, at, Wanted::Type)?,
                Entity::Elsewhere => Vec::new(),
                Entity::Of(id) if parsed.path.ends_with("Self") => vec![Meaning { symbol: id, confidence: 0.6 }],
                _ => (*self.bare(parsed.name, at, Wanted::Type)?).clone(),
            }
        };
        let found: Vec<Meaning> = found.into_iter().filter(|m| m.confidence >= 0.3).collect();
        match parsed.inner {
            Some(inner) if found.is_empty() && self.is_transparent(parsed.name, at) => self.types_written(inner, at, depth),
            _ => Ok(found),
        }
    }

    /// Whether members of a type are those of what it holds.
    fn is_transparent(&self, name: &str, at: SymbolId) -> bool {
        self.file(at.file).is_some_and(|f| f.names.transparent.contains(&name))
    }

    /// The members of a name that a value has, its own before those of its supertypes.
    pub(super) fn members(&mut self, entity: &Entity, name: &str) -> Result<Vec<Meaning>, GraphError> {
        let mut out: Vec<Meaning> = Vec::new();
        for found in self.types_of(entity)? {
            for m in self.members_of(found.symbol, name)? {
                out.push(Meaning { confidence: m.confidence * found.confidence, ..m });
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

    /// The same of a type.
    pub(super) fn members_of(&mut self, of: SymbolId, name: &str) -> Result<Vec<Meaning>, GraphError> {
        let key = (of, name.to_string());
        if let Some(known) = self.members.get(&key) {
            return Ok((**known).clone());
        }
        let found = self.members_within(of, name, MAX_BASES)?;
        self.members.insert(key, found.clone().into());
        Ok(found)
    }

    /// What a supertype as written means.
    pub(super) fn base_meanings(&mut self, base: &BaseRow) -> Result<Vec<Meaning>, GraphError> {
        let context = self.context(base.symbol.file)?;
        let outside = context.around(base.symbol).next().map_or(-1, |s| s.parent);
        self.types_written(&base.written, SymbolId { file: base.symbol.file, n: outside }, MAX_DEPTH)
    }

    fn members_within(&mut self, of: SymbolId, name: &str, depth: u8) -> Result<Vec<Meaning>, GraphError> {
        let (Some(owner), Some(depth)) = (self.symbol(of)?, depth.checked_sub(1)) else { return Ok(Vec::new()) };
        let mut out = Vec::new();
        for c in self.candidates(name, of.file, Wanted::Callee)?.iter() {
            if c.owner == owner.name && !self.is_of_another_type(c, of)? {
                out.push(Meaning { symbol: c.id, confidence: self.closeness(of.file, c.id.file) });
            }
        }
        let best = out.iter().map(|m| m.confidence).fold(0.0, f32::max);
        out.retain(|m| m.confidence >= best - 0.01);
        if !out.is_empty() {
            return Ok(out);
        }
        let context = self.context(of.file)?;
        if let Some(is) = context.bindings.get(&(owner.parent, owner.name.clone())).filter(|is| !is.starts_with('=')) {
            // Another name of a type.
            for t in self.types_written(&is.clone(), SymbolId { file: of.file, n: owner.parent }, depth)? {
                out.extend(if t.symbol == of { Vec::new() } else { self.members_within(t.symbol, name, depth)? });
            }
        }
        for base in self.bases(of)? {
            if base.symbol != of && out.len() < 8 {
                let inherited = self.members_within(base.symbol, name, depth)?;
                out.extend(inherited.into_iter().map(|m| Meaning { confidence: m.confidence * base.confidence * 0.97, ..m }));
            }
        }
        Ok(out)
    }

    /// Whether a member is written beside another type of the same name.
    fn is_of_another_type(&mut self, member: &SymbolRow, of: SymbolId) -> Result<bool, GraphError> {
        if member.id.file == of.file {
            return Ok(false);
        }
        let context = self.context(member.id.file)?;
        Ok(context.symbols.iter().any(|s| s.is_type() && s.kind != SymbolKind::Impl && s.name == member.owner))
    }

    /// How likely what is written in one file belongs to a type of another.
    fn closeness(&self, a: i64, b: i64) -> f32 {
        if a == b {
            return 0.95;
        }
        let (Some(a), Some(b)) = (self.file(a), self.file(b)) else { return 0.0 };
        let (a, b) = (&a.row.path, &b.row.path);
        let same = a.split('/').zip(b.split('/')).take_while(|(a, b)| a == b).count();
        let is_near = super::resolve::directory(a) == super::resolve::directory(b);
        if is_near {
            0.9
        } else if same > 0 {
            0.75
        } else {
            0.6
        }
    }

    /// The symbols that a type names as its supertypes.
    pub(super) fn bases(&mut self, of: SymbolId) -> Result<Vec<Meaning>, GraphError> {
        let Some(symbol) = self.symbol(of)? else { return Ok(Vec::new()) };
        // Rust's `impl Trait for Type` may stand in another file.
        let parts: Vec<SymbolRow> = self.named(&symbol.name)?.iter().filter(|s| s.is_type()).cloned().collect();
        let mut out = Vec::new();
        for part in parts {
            let is_it = part.id == of || (part.kind == SymbolKind::Impl && self.closeness(of.file, part.id.file) >= 0.75);
            if !is_it {
                continue;
            }
            let context = self.context(part.id.file)?;
            let outside = SymbolId { file: part.id.file, n: part.parent };
            for base in context.bases.iter().filter(|b| b.symbol == part.id) {
                out.extend(self.types_written(&base.written.clone(), outside, MAX_DEPTH)?.into_iter().take(2));
            }
        }
        Ok(out)
    }

    /// The type of a field as written, and where.
    fn field(&mut self, of: SymbolId, name: &str, depth: u8) -> Result<Option<(String, SymbolId)>, GraphError> {
        let Some(depth) = depth.checked_sub(1) else { return Ok(None) };
        let context = self.context(of.file)?;
        if let Some(is) = context.bindings.get(&(of.n, name.to_string())) {
            return Ok(Some((is.clone(), of)));
        }
        for base in self.bases(of)? {
            if base.symbol != of
                && let Some(found) = self.field(base.symbol, name, depth)?
            {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }
}

/// What a method of a value returns, with what the value holds in the place of its type's parameter: `get` of `Set<User>` returns
/// `Option<T>`.
fn with_argument(result: Entity, of: &Entity) -> Entity {
    let is_parameter = |name: &str| name.len() <= 2 && name.chars().all(char::is_uppercase);
    if let (Entity::Instance { of: written, .. }, Entity::Instance { of: receiver, at }) = (&result, of)
        && let (Some(parsed), Some(argument)) = (types::parse(written), types::parse(receiver).and_then(|t| t.inner))
    {
        let name = match parsed.inner {
            _ if is_parameter(parsed.name) => Some(argument.to_string()),
            Some(inner) if types::parse(inner).is_some_and(|t| is_parameter(t.name)) => Some(format!("{}<{argument}>", parsed.name)),
            _ => None,
        };
        return name.map_or(result, |of| Entity::Instance { of, at: *at });
    }
    result
}

fn is_self_type(written: &str) -> bool {
    matches!(types::parse(written).map(|t| t.name), Some("Self" | "this" | "self" | "static"))
}

fn type_around(context: &FileScope, at: SymbolId) -> Option<SymbolId> {
    context.around(at).find(|s| s.is_type()).map(|s| s.id)
}

/// The name of the type that a symbol belongs to.
fn enclosing_type(context: &FileScope, at: SymbolId) -> Option<String> {
    context.around(at).find_map(|s| {
        if s.is_type() { Some(s.name.clone()) } else { Some(s.owner.clone()).filter(|o| !o.is_empty() && s.kind.is_callable()) }
    })
}

/// What a name is bound to, in the innermost scope that binds it.
fn binding(context: &FileScope, at: SymbolId, name: &str) -> Option<(i64, String)> {
    // Members are no variables; but the parameters of a type are known in all of it.
    let is_parameter = name.starts_with(char::is_uppercase);
    let scopes = context.around(at).filter(|s| is_parameter || !s.is_type()).map(|s| s.id.n).chain([-1]);
    scopes.into_iter().find_map(|n| Some((n, context.bindings.get(&(n, name.to_string()))?.clone())))
}

/// What joins the parts of a module.
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
        let names = |chain| steps(chain).iter().map(|s| (s.name.to_string(), s.is_called, s.n_indexed, s.is_path)).collect::<Vec<_>>();
        assert_eq!(
            names("a::B::new().?.items[].len"),
            [
                ("a".into(), false, 0, true),
                ("B".into(), false, 0, true),
                ("new".into(), true, 0, false),
                ("?".into(), false, 0, false),
                ("items".into(), false, 1, false),
                ("len".into(), false, 0, false)
            ]
        );
    }
}
