//! Follows the edges of the graph from the targets of a query.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use super::answer::{
    Around, GraphAnswer, GraphQuery, ImportedName, LEAST_CONFIDENCE, MAX_DEPTH, Neighbour,
    Operation,
};
use super::error::GraphError;
use super::names;
use super::resolver::{Meaning, Resolver};
use super::rows::{BaseRow, FileId, ImportRow, RefRow, SymbolId, SymbolRow};
use crate::languages::{Modules, implements_silently};
use crate::syntax::{ReferenceKind, SymbolKind};
use crate::text::file_stem;
use crate::work::WorkBudget;

/// A neighbour with less confidence is dropped.
const LEAST_CANDIDATE: f32 = 0.1;
/// Largest number of symbols that one query visits.
const MAX_VISITED: usize = 5_000;
/// Most nodes whose steps are kept for a drawing, those nearest to the targets.
pub(super) const MAX_DRAWN: usize = 500;
/// Largest number of methods that a method overrides, on all levels, and that are looked at.
const MAX_OVERRIDDEN: usize = 20;
/// Largest number of types below one that a path looks at.
const MAX_SUBTYPES: usize = 200;
/// Most references of one name that are resolved for one query.
const MAX_REFERENCES: usize = 20_000;
/// The same if the query names more symbols than it follows, such as `new`: its answer is one of many.
const MAX_REFERENCES_OF_COMMON: usize = 1_000;
/// Largest number of steps of a path; a call through an interface counts as two.
const MAX_PATH: usize = 2 * MAX_DEPTH;
/// Largest number of targets that one query follows.
pub(super) const MAX_TARGETS: usize = 50;
/// Confidence that a type with the methods of an interface implements it, in languages in which most
/// types name what they implement.
const SILENT: f32 = 0.4;
/// Confidence that a call through a supertype reaches a given subtype.
const DISPATCHED: f32 = 0.45;

/// A step to another node.
#[derive(Debug, Clone)]
pub(super) struct Edge {
    pub(super) to: SymbolId,
    pub(super) lines: Vec<u32>,
    pub(super) confidence: f32,
}

/// The meanings of a reference, likeliest first.
type Meanings = Arc<Vec<Meaning>>;

/// The references of a name, and what those mean that were resolved.
#[derive(Clone)]
pub(super) struct NamedRefs {
    pub(super) rows: Arc<Vec<RefRow>>,
    meanings: Arc<[OnceLock<Meanings>]>,
}

impl NamedRefs {
    fn new(rows: Arc<Vec<RefRow>>) -> Self {
        let meanings = rows.iter().map(|_| OnceLock::new()).collect();
        Self { rows, meanings }
    }

    /// Returns the meanings of the reference at a position, likeliest first.
    pub(super) fn meanings(
        &self,
        n: usize,
        resolver: &mut Resolver,
    ) -> Result<Meanings, GraphError> {
        if let Some(known) = self.meanings[n].get() {
            return Ok(known.clone());
        }
        let meanings = Arc::new(resolver.resolve(&self.rows[n])?);
        Ok(self.meanings[n].get_or_init(|| meanings).clone())
    }
}

/// The direction of the steps, and the kinds of references that count.
#[derive(Debug, Clone, Copy)]
pub(super) enum Follow {
    Incoming(&'static [ReferenceKind]),
    Outgoing(&'static [ReferenceKind]),
    Derived,
    /// Everything that a change may affect.
    Touched,
    /// Towards the tests that reach a symbol.
    Tested,
}

pub(super) const CALLS: &[ReferenceKind] = &[ReferenceKind::Call, ReferenceKind::Macro];
pub(super) const USES: &[ReferenceKind] = &ReferenceKind::ALL;

pub(super) struct Traversal {
    pub(super) resolver: Resolver,
    refs: HashMap<FileId, Arc<Vec<RefRow>>>,
    /// The targets of the query. Of a name with too many references, those near them are resolved.
    near: Vec<SymbolId>,
    /// Most references of one name that are resolved.
    max_references: usize,
    /// Module and alias of the imports that give a name to a whole module.
    default_imports: Option<Vec<(String, String)>>,
    /// The files in which a symbol is a test.
    pub(super) with_tests: Option<Arc<HashSet<FileId>>>,
    /// The files that use a file, by the kinds of references that count.
    users_of_files: HashMap<(FileId, Vec<ReferenceKind>), Vec<Edge>>,
    /// What is around symbols. Each was asked alone.
    pub(super) around: HashMap<SymbolId, Around>,
    /// The rows of the references of each name that was searched, if any query may follow them all.
    rows_by_name: HashMap<String, Arc<Vec<RefRow>>>,
    by_name: HashMap<String, NamedRefs>,
    /// Uses of the name of a target whose receiver is unknown.
    unresolved: BTreeMap<SymbolId, Edge>,
    /// Names that a target uses and that no symbol has, or whose receiver is unknown, with the lines.
    unknown: BTreeMap<String, Vec<u32>>,
    /// Those of these names that come from outside of the project.
    imported: BTreeMap<ImportedName, Vec<u32>>,
    /// If a drawing asks for them, the steps of the walk by the node that they begin at.
    pub(super) steps: Option<BTreeMap<SymbolId, BTreeMap<SymbolId, Edge>>>,
}

impl Traversal {
    pub(super) fn new(resolver: Resolver) -> Self {
        Self {
            resolver,
            refs: HashMap::new(),
            near: Vec::new(),
            max_references: MAX_REFERENCES,
            default_imports: None,
            with_tests: None,
            users_of_files: HashMap::new(),
            around: HashMap::new(),
            rows_by_name: HashMap::new(),
            by_name: HashMap::new(),
            unresolved: BTreeMap::new(),
            unknown: BTreeMap::new(),
            imported: BTreeMap::new(),
            steps: None,
        }
    }

    /// Returns a traversal for another answer within this budget, with what this one knows.
    pub(super) fn again(mut self, work: &WorkBudget) -> Self {
        self.resolver.work = work.clone();
        (self.near, self.max_references, self.steps) = (Vec::new(), MAX_REFERENCES, None);
        self
    }

    /// Forgets what was resolved, and keeps what was read. What a name means may depend on what was
    /// resolved before it, where definitions go in circles or deep, so an answer must not begin with
    /// the meanings of another one.
    pub(super) fn forget(&mut self) {
        self.resolver.forget();
        self.by_name.clear();
        self.users_of_files.clear();
        self.unresolved.clear();
        self.unknown.clear();
        self.imported.clear();
    }

    /// Number of rows that it holds.
    pub(super) fn n_rows(&self) -> usize {
        let n_around = |of: &Around| {
            1 + of.users.len() + of.candidates.len() + of.tests.len() + of.calls.len()
        };
        self.resolver.n_rows()
            + self.refs.values().map(|rows| rows.len()).sum::<usize>()
            + self.rows_by_name.values().map(|rows| rows.len()).sum::<usize>()
            + self.around.values().map(n_around).sum::<usize>()
    }

    pub(super) fn answer(&mut self, question: GraphQuery) -> Result<GraphAnswer, GraphError> {
        let targets = self.resolver.scopes.targets(question.target)?;
        let mut answer = GraphAnswer {
            operation: question.operation,
            n_matched: targets.len(),
            truncated: targets.len() > MAX_TARGETS,
            ..GraphAnswer::default()
        };
        if answer.truncated {
            self.max_references = MAX_REFERENCES_OF_COMMON;
        }
        let targets = &targets[..targets.len().min(MAX_TARGETS)];
        for target in targets {
            answer.targets.push(self.resolver.scopes.node(*target)?);
        }
        let depth = question.depth.clamp(1, MAX_DEPTH);
        let step = match question.operation {
            Operation::Callers => Follow::Incoming(CALLS),
            Operation::Callees => Follow::Outgoing(CALLS),
            Operation::Dependencies => Follow::Outgoing(USES),
            Operation::Dependents | Operation::TypeUsages => Follow::Incoming(USES),
            Operation::Implementations => Follow::Derived,
            Operation::Impact => Follow::Touched,
            Operation::Tests => Follow::Tested,
            // They have no edges: `CodeGraph::unused` and the routes answer them.
            Operation::Unused | Operation::Routes => return Ok(answer),
            Operation::Path => {
                let goals = self.resolver.scopes.targets(question.to.unwrap_or(""))?;
                answer.results = self.path(targets, &goals)?;
                answer.total = answer.results.len();
                // A path that was found is the shortest, however little of the rest was searched.
                answer.is_cut = answer.results.is_empty() && self.resolver.work.is_spent();
                answer.truncated |= answer.is_cut;
                return Ok(answer);
            }
        };
        let (mut results, mut candidates) = self.walk(targets, step, depth)?;
        if question.operation == Operation::Callers {
            let values = self.takers(targets, &results)?;
            results.extend(values);
        }
        if question.operation.points_outward() {
            answer.unknown = std::mem::take(&mut self.unknown);
            answer.imported = std::mem::take(&mut self.imported);
        } else {
            let answered = results.iter().chain(&candidates);
            answer.name_uses = self.name_uses(question.operation, targets, answered)?;
        }
        answer.total = results.len();
        answer.is_cut = self.resolver.work.is_spent();
        answer.truncated |= answer.is_cut || results.len() > question.limit;
        results.truncate(question.limit);
        candidates.truncate(question.limit);
        (answer.results, answer.candidates) = (results, candidates);
        Ok(answer)
    }

    /// Whether the budget of the answer allows further work.
    fn goes_on(&self) -> bool {
        self.resolver.work.goes_on()
    }

    /// Follows steps from the targets, level by level. Returns results and candidates; only results
    /// are followed further.
    pub(super) fn walk(
        &mut self,
        targets: &[SymbolId],
        step: Follow,
        depth: usize,
    ) -> Result<(Vec<Neighbour>, Vec<Neighbour>), GraphError> {
        self.near = targets.to_vec();
        let mut seen: HashSet<SymbolId> = HashSet::new();
        let (mut results, mut candidates) = (Vec::new(), BTreeMap::new());
        let mut frontier: Vec<(SymbolId, f32)> = targets.iter().map(|t| (*t, 1.0)).collect();
        let mut is_expanded: HashSet<SymbolId> = targets.iter().copied().collect();
        for level in 1..=depth {
            let mut reached: BTreeMap<SymbolId, (Edge, SymbolId)> = BTreeMap::new();
            for (from, sure) in std::mem::take(&mut frontier) {
                if is_expanded.len() > MAX_VISITED || !self.goes_on() {
                    self.resolver.work.spend();
                    break;
                }
                for edge in self.edges(from, step, level == 1)? {
                    let edge = Edge { confidence: edge.confidence * sure, ..edge };
                    self.note_step(from, &edge);
                    let better = reached
                        .get(&edge.to)
                        .is_none_or(|(known, _)| known.confidence < edge.confidence);
                    match reached.get_mut(&edge.to) {
                        Some((known, _))
                            if known.confidence >= LEAST_CONFIDENCE
                                && edge.confidence >= LEAST_CONFIDENCE =>
                        {
                            merge(&mut known.lines, &edge.lines);
                        }
                        _ if better => _ = reached.insert(edge.to, (edge, from)),
                        _ => {}
                    }
                }
            }
            for (to, (edge, via)) in reached {
                if edge.confidence < LEAST_CANDIDATE || seen.contains(&to) {
                    continue;
                }
                let node = self.resolver.scopes.node(to)?;
                let neighbour = Neighbour {
                    via: self.resolver.scopes.node(via)?.symbol,
                    ..Neighbour::new(node, edge.lines, rounded(edge.confidence), level)
                };
                if neighbour.confidence < LEAST_CONFIDENCE {
                    candidates.entry(to).or_insert(neighbour);
                    continue;
                }
                seen.insert(to);
                results.push(neighbour);
                if is_expanded.insert(to) {
                    frontier.push((to, edge.confidence));
                }
            }
        }
        let mut candidates: Vec<Neighbour> =
            candidates.into_iter().filter(|(id, _)| !seen.contains(id)).map(|(_, f)| f).collect();
        candidates.sort_by(|a, b| {
            b.confidence.total_cmp(&a.confidence).then_with(|| key(a).cmp(&key(b)))
        });
        results.sort_by(|a, b| a.depth.cmp(&b.depth).then_with(|| key(a).cmp(&key(b))));
        Ok((results, candidates))
    }

    fn note_step(&mut self, from: SymbolId, edge: &Edge) {
        let Some(steps) = &mut self.steps else { return };
        let has_room = steps.len() < MAX_DRAWN || steps.contains_key(&from);
        if has_room && edge.confidence >= LEAST_CANDIDATE {
            add(steps.entry(from).or_default(), edge.to, &edge.lines, edge.confidence);
        }
    }

    /// Returns what takes the targets as values, without those that also call them.
    fn takers(
        &mut self,
        targets: &[SymbolId],
        callers: &[Neighbour],
    ) -> Result<Vec<Neighbour>, GraphError> {
        let mut takers: BTreeMap<SymbolId, Edge> = BTreeMap::new();
        for target in targets.iter().filter(|target| target.n >= 0) {
            let symbol = self.resolver.scopes.symbol(*target)?;
            if !symbol.is_some_and(|symbol| symbol.kind.is_callable()) {
                continue;
            }
            for edge in self.incoming(*target, &[ReferenceKind::Value], false)? {
                if edge.confidence >= LEAST_CONFIDENCE && edge.to != *target {
                    self.note_step(*target, &edge);
                    add(&mut takers, edge.to, &edge.lines, edge.confidence);
                }
            }
        }
        let mut out = Vec::new();
        for (from, edge) in takers {
            let node = self.resolver.scopes.node(from)?;
            if callers.iter().any(|caller| caller.node == node) {
                continue;
            }
            let taker = Neighbour::new(node, edge.lines, rounded(edge.confidence), 1);
            out.push(Neighbour { is_value: true, ..taker });
        }
        out.sort_by(|a, b| key(a).cmp(&key(b)));
        Ok(out)
    }

    /// Returns the uses whose receiver is unknown.
    pub(super) fn unresolved_uses(&mut self) -> Result<Vec<Neighbour>, GraphError> {
        let mut out = Vec::new();
        for (from, edge) in std::mem::take(&mut self.unresolved) {
            out.push(Neighbour::new(self.resolver.scopes.node(from)?, edge.lines, 0.0, 1));
        }
        out.sort_by(|a, b| key(a).cmp(&key(b)));
        Ok(out)
    }

    /// Finds the shortest path of uses from one of the starts to one of the goals.
    fn path(
        &mut self,
        starts: &[SymbolId],
        goals: &[SymbolId],
    ) -> Result<Vec<Neighbour>, GraphError> {
        let mut came_from: HashMap<SymbolId, Option<(SymbolId, Edge)>> =
            starts.iter().map(|s| (*s, None)).collect();
        let mut frontier = starts.to_vec();
        let goal =
            |came_from: &HashMap<_, _>| goals.iter().copied().find(|g| came_from.contains_key(g));
        for _ in 0..MAX_PATH {
            if goal(&came_from).is_some() || frontier.is_empty() {
                break;
            }
            for from in std::mem::take(&mut frontier) {
                if came_from.len() > MAX_VISITED || !self.goes_on() {
                    self.resolver.work.spend();
                    break;
                }
                // A call of a declared method runs one of its implementations.
                let mut edges = self.edges(from, Follow::Outgoing(USES), false)?;
                let symbol = self.resolver.scopes.symbol(from)?;
                if let Some(method) = symbol.filter(|symbol| symbol.kind.is_callable()) {
                    edges.extend(self.overrides(&method, MAX_DEPTH)?);
                }
                for edge in edges {
                    if edge.confidence >= LEAST_CONFIDENCE && !came_from.contains_key(&edge.to) {
                        frontier.push(edge.to);
                        came_from.insert(edge.to, Some((from, edge)));
                    }
                }
            }
        }
        let mut out = Vec::new();
        let mut next = goal(&came_from);
        while let Some(id) = next {
            let before = came_from.get(&id).cloned().flatten();
            let (sites, confidence, via) = match &before {
                Some((from, edge)) => {
                    (edge.lines.clone(), edge.confidence, self.resolver.scopes.node(*from)?.symbol)
                }
                None => (Vec::new(), 1.0, String::new()),
            };
            let node = self.resolver.scopes.node(id)?;
            out.push(Neighbour { via, ..Neighbour::new(node, sites, confidence, 0) });
            next = before.map(|(from, _)| from);
        }
        out.reverse();
        for (depth, neighbour) in out.iter_mut().enumerate() {
            neighbour.depth = depth;
        }
        Ok(out)
    }

    /// Returns the steps from a node; `is_target` if the query is about it.
    fn edges(
        &mut self,
        from: SymbolId,
        step: Follow,
        is_target: bool,
    ) -> Result<Vec<Edge>, GraphError> {
        match step {
            Follow::Incoming(kinds) if from.n < 0 => self.users_of_file(from.file, kinds),
            Follow::Incoming(kinds) => self.incoming(from, kinds, is_target),
            Follow::Outgoing(kinds) if from.n < 0 => self.used_by_file(from.file, kinds),
            Follow::Outgoing(kinds) => self.outgoing(from, kinds, is_target),
            Follow::Derived => self.derived(from),
            Follow::Tested => self.towards_tests(from, is_target),
            Follow::Touched if from.n < 0 => self.users_of_file(from.file, USES),
            Follow::Touched => {
                let mut edges = self.incoming(from, USES, is_target)?;
                edges.extend(self.derived(from)?);
                Ok(edges)
            }
        }
    }

    /// Returns the symbols that use a symbol. Of a target, it also notes the uses of its name whose
    /// receiver is unknown.
    pub(super) fn incoming(
        &mut self,
        of: SymbolId,
        kinds: &[ReferenceKind],
        is_target: bool,
    ) -> Result<Vec<Edge>, GraphError> {
        let Some(symbol) = self.resolver.scopes.symbol(of)? else { return Ok(Vec::new()) };
        let mut wanted: HashMap<SymbolId, f32> = HashMap::from([(of, 1.0)]);
        let mut searched = vec![symbol.name.clone()];
        searched.extend(self.resolver.scopes.tables.aliases_of(&symbol.name)?);
        searched.extend(self.default_aliases(&symbol)?);
        let above =
            if is_target { self.overridden_above(&symbol)? } else { self.overridden(&symbol)? };
        wanted.extend(above.into_iter().map(|above| (above, DISPATCHED)));
        if self.is_constructor(&symbol) {
            // A constructor is called by the name of its type.
            wanted.extend(self.owner_of(&symbol)?.map(|owner| (owner, 1.0)));
            searched.extend(self.resolver.scopes.tables.aliases_of(&symbol.owner)?);
            searched.push(symbol.owner.clone());
            searched.push("super".into());
        }
        let mut edges: BTreeMap<SymbolId, Edge> = BTreeMap::new();
        for name in searched {
            let refs = self.refs_named(&name)?;
            for (n, reference) in refs.rows.iter().enumerate() {
                if !self.goes_on() {
                    break;
                }
                if !kinds.contains(&reference.kind) {
                    continue;
                }
                let meanings = refs.meanings(n, &mut self.resolver)?;
                let sure = meanings
                    .iter()
                    .filter_map(|m| Some(m.confidence * wanted.get(&m.symbol)?))
                    .fold(0.0, f32::max);
                let is_open = is_target && self.resolver.is_of_unknown(reference, &meanings)?;
                if sure < LEAST_CANDIDATE && !is_open {
                    continue;
                }
                let from = if kinds == CALLS {
                    self.resolver.scopes.scope_of(reference.from.file)?.caller(reference.from)
                } else {
                    reference.from
                };
                if sure >= LEAST_CANDIDATE {
                    add(&mut edges, from, &reference.lines, sure);
                } else {
                    add(&mut self.unresolved, from, &reference.lines, 0.0);
                }
            }
        }
        for (from, line, is_call) in self.resolver.precise_uses_of(&symbol)? {
            // Outside of symbols, what is not called is mostly an import.
            let counts = if is_call {
                kinds.contains(&ReferenceKind::Call)
            } else {
                kinds == USES && from.n >= 0
            };
            if counts {
                let from = if kinds == CALLS {
                    self.resolver.scopes.scope_of(from.file)?.caller(from)
                } else {
                    from
                };
                add(&mut edges, from, &[line], 1.0);
            }
        }
        Ok(edges.into_values().collect())
    }

    /// Returns the names under which files of JavaScript import what this symbol's file exports by
    /// default.
    fn default_aliases(&mut self, symbol: &SymbolRow) -> Result<Vec<String>, GraphError> {
        let Some(file) = self.resolver.scopes.file(symbol.id.file) else { return Ok(Vec::new()) };
        if file.names.modules != Modules::Npm || !symbol.exported || symbol.parent >= 0 {
            return Ok(Vec::new());
        }
        let own_stem = file_stem(&file.row.path).to_string();
        if self.default_imports.is_none() {
            self.default_imports = Some(self.resolver.scopes.tables.default_imports()?);
        }
        let mut out = Vec::new();
        for (module, alias) in self.default_imports.iter().flatten() {
            let is_likely =
                alias.eq_ignore_ascii_case(&symbol.name) || file_stem(module) == own_stem;
            if is_likely && *alias != symbol.name && !out.contains(alias) {
                out.push(alias.clone());
            }
        }
        Ok(out)
    }

    pub(super) fn is_constructor(&self, symbol: &SymbolRow) -> bool {
        let names = self.resolver.scopes.names(symbol.id.file);
        let is_named_so = names.is_some_and(|n| n.constructors.contains(&symbol.name.as_str()));
        !symbol.owner.is_empty() && (is_named_so || symbol.name == symbol.owner)
    }

    /// Returns the type that a member belongs to.
    pub(super) fn owner_of(&mut self, symbol: &SymbolRow) -> Result<Option<SymbolId>, GraphError> {
        let file_scope = self.resolver.scopes.scope_of(symbol.id.file)?;
        Ok(file_scope.around(symbol.id).skip(1).find(|s| s.is_type()).map(|s| s.id))
    }

    /// Returns the methods that a call may name and that run this one: those of supertypes, and those
    /// of the other supertypes of a type that mixes its type in.
    pub(super) fn overridden(&mut self, symbol: &SymbolRow) -> Result<Vec<SymbolId>, GraphError> {
        let Some(owner) = self.owner_of(symbol)? else { return Ok(Vec::new()) };
        let mut above = self.resolver.bases(owner)?;
        let owner_row = self.resolver.scopes.symbol(owner)?;
        let has_mixins = self.resolver.scopes.file(owner.file).is_some_and(|f| f.names.mixes_in);
        if let Some(owner_row) = owner_row.filter(|_| has_mixins && symbol.kind.is_callable()) {
            for subtype in self.subtypes(&owner_row)?.into_iter().take(MAX_SUBTYPES) {
                above.extend(self.resolver.bases(subtype.to)?);
            }
        }
        above.sort_by_key(|base| base.symbol);
        above.dedup_by_key(|base| base.symbol);
        let mut out = Vec::new();
        for base in above.iter().filter(|base| base.symbol != owner) {
            out.extend(
                self.resolver.members_of(base.symbol, &symbol.name)?.into_iter().map(|m| m.symbol),
            );
        }
        out.retain(|id| *id != symbol.id);
        Ok(out)
    }

    /// Returns the overridden methods of all levels above: a method that overrides another one may run
    /// where that is called by the name of the topmost type.
    pub(super) fn overridden_above(
        &mut self,
        symbol: &SymbolRow,
    ) -> Result<Vec<SymbolId>, GraphError> {
        let mut all = self.overridden(symbol)?;
        let mut n_looked_at = 0;
        while n_looked_at < all.len() && all.len() < MAX_OVERRIDDEN {
            let above = self.resolver.scopes.symbol(all[n_looked_at])?;
            n_looked_at += 1;
            let Some(above) = above else { continue };
            let Some(owner) = self.owner_of(&above)? else { continue };
            for base in self.resolver.bases(owner)? {
                if base.symbol == owner {
                    continue;
                }
                for member in self.resolver.members_of(base.symbol, &symbol.name)? {
                    if member.symbol != symbol.id && !all.contains(&member.symbol) {
                        all.push(member.symbol);
                    }
                }
            }
        }
        Ok(all)
    }

    /// Returns the references of a name. A name in a large project may have too many to resolve all:
    /// then they are those nearest to the targets, and the answer is not complete.
    pub(super) fn refs_named(&mut self, name: &str) -> Result<NamedRefs, GraphError> {
        if let Some(refs) = self.by_name.get(name) {
            return Ok(refs.clone());
        }
        let rows = match self.rows_by_name.get(name) {
            Some(rows) => rows.clone(),
            None => self.read_refs_named(name)?,
        };
        let refs = NamedRefs::new(rows);
        self.by_name.insert(name.to_string(), refs.clone());
        Ok(refs)
    }

    fn read_refs_named(&mut self, name: &str) -> Result<Arc<Vec<RefRow>>, GraphError> {
        let mut rows = self.resolver.scopes.tables.refs_named(name)?;
        if rows.len() <= MAX_REFERENCES_OF_COMMON {
            let rows = Arc::new(rows);
            self.rows_by_name.insert(name.to_string(), rows.clone());
            return Ok(rows);
        }
        if rows.len() > self.max_references {
            self.resolver.work.spend();
            let files: HashSet<FileId> = self.near.iter().map(|target| target.file).collect();
            let scopes = &self.resolver.scopes;
            let directories: HashSet<String> =
                files.iter().map(|file| scopes.directory_of(*file)).collect();
            rows.sort_by_cached_key(|row| {
                let file = row.from.file;
                let is_near = directories.contains(&scopes.directory_of(file));
                (!files.contains(&file), !is_near, file, row.from.n)
            });
            rows.truncate(self.max_references);
        }
        Ok(Arc::new(rows))
    }

    fn refs_of(&mut self, file: FileId) -> Result<Arc<Vec<RefRow>>, GraphError> {
        if let Some(refs) = self.refs.get(&file) {
            return Ok(refs.clone());
        }
        let refs = Arc::new(self.resolver.scopes.tables.refs_of(file)?);
        self.refs.insert(file, refs.clone());
        Ok(refs)
    }

    /// Returns the symbols that a symbol uses; for a type also those that its members use.
    /// Of a target, it also notes the names whose meaning is unknown.
    fn outgoing(
        &mut self,
        of: SymbolId,
        kinds: &[ReferenceKind],
        is_target: bool,
    ) -> Result<Vec<Edge>, GraphError> {
        let file_scope = self.resolver.scopes.scope_of(of.file)?;
        let Some(symbol) = file_scope.around(of).next() else { return Ok(Vec::new()) };
        let is_callable = symbol.kind.is_callable();
        let mut edges = BTreeMap::new();
        for reference in self.refs_of(of.file)?.iter().filter(|r| kinds.contains(&r.kind)) {
            if !self.goes_on() {
                break;
            }
            let is_inside = reference.from == of
                || (!is_callable && file_scope.around(reference.from).any(|s| s.id == of));
            if is_inside && !self.add_meanings(reference, &mut edges)? && is_target {
                merge(self.unknown.entry(reference.name.clone()).or_default(), &reference.lines);
                if let Some(name) = self.resolver.imported_name(reference)? {
                    merge(self.imported.entry(name).or_default(), &reference.lines);
                }
            }
        }
        if let Some(uses) = self.resolver.precise_uses(of.file)? {
            for ((line, _), meanings) in uses.iter() {
                let around = file_scope.around(SymbolId { n: file_scope.innermost(*line), ..of });
                if !around.into_iter().any(|s| s.id == of) {
                    continue;
                }
                for meaning in meanings.iter().filter(|m| kinds == USES || m.is_called) {
                    meaning.symbol().into_iter().for_each(|to| add(&mut edges, to, &[*line], 1.0));
                }
            }
        }
        if !is_callable {
            edges.remove(&of);
        }
        Ok(edges.into_values().collect())
    }

    /// Adds the symbols that a reference may mean. Returns whether there is one.
    fn add_meanings(
        &mut self,
        reference: &RefRow,
        edges: &mut BTreeMap<SymbolId, Edge>,
    ) -> Result<bool, GraphError> {
        const MAX_MEANINGS: usize = 5;
        let mut is_known = false;
        for meaning in self
            .resolver
            .resolve(reference)?
            .iter()
            .take(MAX_MEANINGS)
            .filter(|m| m.confidence >= LEAST_CANDIDATE)
        {
            add(edges, meaning.symbol, &reference.lines, meaning.confidence);
            is_known = true;
        }
        Ok(is_known)
    }

    /// Returns the files that a file uses.
    fn used_by_file(
        &mut self,
        file: FileId,
        kinds: &[ReferenceKind],
    ) -> Result<Vec<Edge>, GraphError> {
        let mut symbols = BTreeMap::new();
        for reference in self.refs_of(file)?.iter().filter(|r| kinds.contains(&r.kind)) {
            if !self.goes_on() {
                break;
            }
            self.add_meanings(reference, &mut symbols)?;
        }
        let mut edges = BTreeMap::new();
        for edge in
            symbols.into_values().filter(|e| e.to.file != file && e.confidence >= LEAST_CONFIDENCE)
        {
            add(&mut edges, SymbolId { n: -1, ..edge.to }, &edge.lines, edge.confidence);
        }
        let imports = self.resolver.scopes.scope_of(file)?;
        for import in &imports.imports {
            for file in self.imported_files(import) {
                add(&mut edges, SymbolId { file, n: -1 }, &[import.line], 0.95);
            }
        }
        Ok(edges.into_values().collect())
    }

    /// Returns the other files that an import names.
    fn imported_files(&self, import: &ImportRow) -> Vec<FileId> {
        let all = self.resolver.scopes.files.iter().map(|f| f.row.id);
        all.filter(|file| self.imports_file(import, *file)).collect()
    }

    /// Whether another file is exactly the imported module, or the module of the imported name.
    fn imports_file(&self, import: &ImportRow, file: FileId) -> bool {
        let scopes = &self.resolver.scopes;
        let is_it = |module: &str| scopes.match_of(module, import.file, file) >= 1.0;
        import.file != file
            && (is_it(&import.module)
                || is_it(&scopes.submodule(&import.module, &import.name, import.file)))
    }

    /// Returns the files that use a file.
    pub(super) fn users_of_file(
        &mut self,
        file: FileId,
        kinds: &[ReferenceKind],
    ) -> Result<Vec<Edge>, GraphError> {
        let key = (file, kinds.to_vec());
        if let Some(known) = self.users_of_files.get(&key) {
            return Ok(known.clone());
        }
        let users = self.find_users_of_file(file, kinds)?;
        self.users_of_files.insert(key, users.clone());
        Ok(users)
    }

    fn find_users_of_file(
        &mut self,
        file: FileId,
        kinds: &[ReferenceKind],
    ) -> Result<Vec<Edge>, GraphError> {
        let file_scope = self.resolver.scopes.scope_of(file)?;
        let mut users = BTreeMap::new();
        for symbol in file_scope.symbols.iter().filter(|s| s.is_of_file()) {
            if !self.goes_on() {
                break;
            }
            for edge in self.incoming(symbol.id, kinds, false)? {
                if edge.to.file != file && edge.confidence >= LEAST_CONFIDENCE {
                    add(&mut users, SymbolId { n: -1, ..edge.to }, &edge.lines, edge.confidence);
                }
            }
        }
        for import in self.resolver.scopes.tables.imports()? {
            if !self.goes_on() {
                break;
            }
            if self.imports_file(&import, file) {
                add(&mut users, SymbolId { file: import.file, n: -1 }, &[import.line], 0.95);
            }
        }
        Ok(users.into_values().collect())
    }

    /// Returns the members of a symbol's name in the types below its own, down to so many levels. A
    /// subtype that is not certain has no levels of its own.
    pub(super) fn overrides(
        &mut self,
        symbol: &SymbolRow,
        levels: usize,
    ) -> Result<Vec<Edge>, GraphError> {
        let mut frontier = Vec::from_iter(self.owner_of(symbol)?);
        let (mut seen, mut out) = (HashSet::new(), Vec::new());
        for _ in 0..levels {
            for id in std::mem::take(&mut frontier) {
                if seen.len() > MAX_SUBTYPES || !self.goes_on() {
                    return Ok(out);
                }
                let Some(owner) = self.resolver.scopes.symbol(id)? else { continue };
                for subtype in self.subtypes(&owner)? {
                    if !seen.insert(subtype.to) {
                        continue;
                    }
                    if subtype.confidence >= LEAST_CONFIDENCE {
                        frontier.push(subtype.to);
                    }
                    let members = self.resolver.own_members(subtype.to, &symbol.name)?;
                    let others = members.into_iter().filter(|to| *to != symbol.id);
                    let confidence = subtype.confidence;
                    out.extend(others.map(|to| Edge { to, lines: Vec::new(), confidence }));
                }
            }
        }
        Ok(out)
    }

    /// Returns the implementations and subtypes of a type, and the overrides of a method.
    fn derived(&mut self, of: SymbolId) -> Result<Vec<Edge>, GraphError> {
        let Some(symbol) = self.resolver.scopes.symbol(of)? else { return Ok(Vec::new()) };
        if symbol.is_type() {
            return self.subtypes(&symbol);
        }
        self.overrides(&symbol, 1)
    }

    fn subtypes(&mut self, symbol: &SymbolRow) -> Result<Vec<Edge>, GraphError> {
        let mut subtypes = BTreeMap::new();
        for base in self.resolver.scopes.tables.derived_from(&symbol.name)? {
            if !self.goes_on() {
                break;
            }
            for meaning in self.resolver.base_meanings(&base)? {
                if meaning.symbol == symbol.id {
                    let line = self.resolver.scopes.symbol(base.symbol)?.map_or(0, |s| s.line);
                    add(&mut subtypes, base.symbol, &[line], meaning.confidence);
                }
            }
        }
        if let Some(most) = self.structural_confidence(symbol)? {
            for meaning in self.structural(symbol)? {
                if meaning.symbol != symbol.id {
                    add(&mut subtypes, meaning.symbol, &[], meaning.confidence.min(most));
                }
            }
        }
        Ok(subtypes.into_values().collect())
    }

    /// Returns the most confidence that a type implements this one because it has its methods; `None`
    /// if it must name it.
    fn structural_confidence(&mut self, of: &SymbolRow) -> Result<Option<f32>, GraphError> {
        let Some(file) = self.resolver.scopes.file(of.id.file) else { return Ok(None) };
        if file.names.structural {
            return Ok(Some(1.0));
        }
        if !implements_silently(&file.row.language) {
            return Ok(None);
        }
        let file_scope = self.resolver.scopes.scope_of(of.id.file)?;
        let is_protocol =
            |base: &BaseRow| base.symbol == of.id && names::last(&base.written) == "Protocol";
        let is_interface =
            of.kind == SymbolKind::Interface || file_scope.bases.iter().any(is_protocol);
        Ok(is_interface.then_some(SILENT))
    }

    /// Returns the types that have the methods of an interface.
    fn structural(&mut self, interface: &SymbolRow) -> Result<Vec<Meaning>, GraphError> {
        let file_scope = self.resolver.scopes.scope_of(interface.id.file)?;
        let methods: Vec<&SymbolRow> = file_scope
            .symbols
            .iter()
            .filter(|s| s.parent == interface.id.n && s.kind == SymbolKind::Method)
            .collect();
        let Some((first, rest)) = methods.split_first() else { return Ok(Vec::new()) };
        let owners = |rows: &[SymbolRow], like: &SymbolRow| -> HashSet<(String, String)> {
            let fits =
                |s: &&SymbolRow| !s.prototype && !s.owner.is_empty() && s.arity == like.arity;
            rows.iter()
                .filter(fits)
                .map(|s| (s.owner.clone(), self.resolver.scopes.directory_of(s.id.file)))
                .collect()
        };
        let mut all = owners(&self.resolver.scopes.tables.symbols_named(&first.name)?, first);
        for method in rest {
            let those = owners(&self.resolver.scopes.tables.symbols_named(&method.name)?, method);
            all.retain(|o| those.contains(o));
        }
        let confidence = if methods.len() > 1 { 0.9 } else { 0.7 };
        let mut out = Vec::new();
        for (owner, directory) in all {
            if !self.goes_on() {
                break;
            }
            let rows = self.resolver.scopes.named(&owner)?;
            let here = rows.iter().filter(|s| {
                s.is_type() && self.resolver.scopes.directory_of(s.id.file) == directory
            });
            out.extend(here.map(|s| Meaning { symbol: s.id, confidence }));
        }
        Ok(out)
    }
}

fn rounded(confidence: f32) -> f32 {
    (confidence * 100.0).round() / 100.0
}

fn key(neighbour: &Neighbour) -> (&str, u32) {
    (&neighbour.node.file, neighbour.node.line)
}

pub(super) fn add(
    edges: &mut BTreeMap<SymbolId, Edge>,
    to: SymbolId,
    lines: &[u32],
    confidence: f32,
) {
    let edge = edges.entry(to).or_insert_with(|| Edge { to, lines: Vec::new(), confidence: 0.0 });
    let (was_sure, is_sure) = (edge.confidence >= LEAST_CONFIDENCE, confidence >= LEAST_CONFIDENCE);
    if is_sure && !was_sure {
        // An edge that becomes certain keeps only its certain sites.
        edge.lines.clear();
    }
    if is_sure || !was_sure {
        merge(&mut edge.lines, lines);
    }
    edge.confidence = edge.confidence.max(confidence);
}

fn merge(lines: &mut Vec<u32>, more: &[u32]) {
    lines.extend(more);
    lines.sort_unstable();
    lines.dedup();
}
