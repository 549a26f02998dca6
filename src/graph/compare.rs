//! Measures the inference of the graph against imported SCIP indexes, whose words count as true.
//!
//! A *pair* is a function and a function or type that it calls. A pair that is inferred counts as
//! wrong only where the index says that the call means something else: of calls that the index does
//! not know, nobody knows.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use serde::Serialize;

use super::answer::LEAST_CONFIDENCE;
use super::error::GraphError;
use super::precise::Means;
use super::resolver::Resolver;
use super::rows::{RefRow, SymbolId};
use crate::syntax::{ReferenceKind, SymbolKind};

/// Lower ends of the ranges of confidence that are counted apart.
const CONFIDENCES: [f32; 8] = [0.0, 0.1, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9];
/// Largest number of differences of each kind and language that are listed.
const MAX_DIFFERENCES: usize = 2_000;

/// How often inference and index agree, by language.
#[derive(Debug, Default, Serialize)]
pub struct Comparison {
    pub languages: BTreeMap<String, Counts>,
    #[serde(skip)]
    pub differences: Vec<Difference>,
}

/// Counts of one language.
#[derive(Debug, Default, Clone, Serialize)]
pub struct Counts {
    pub files: usize,
    /// Pairs that the index knows.
    pub pairs: usize,
    /// Pairs that both know.
    pub right: usize,
    /// Pairs that are inferred where the index says something else.
    pub wrong: usize,
    /// The same for calls of a member of a value.
    pub member_pairs: usize,
    pub member_right: usize,
    pub member_wrong: usize,
    /// Functions that the index knows to be called from another one.
    pub called: usize,
    /// Those of which no caller is inferred.
    pub without_caller: usize,
    /// Those of which no caller is even a candidate.
    pub without_candidate: usize,
    /// Pairs whose call the syntax rules do not see.
    pub unseen: usize,
    /// Inferred meanings by confidence: its lower end, how many there are, how many are right.
    pub confidences: Vec<(f32, usize, usize)>,
}

/// A call of which inference and index say different things.
#[derive(Debug, Clone, Serialize)]
pub struct Difference {
    pub language: String,
    /// `wrong`: inferred, and not so. `missed`: not inferred. `unseen`: no call for our rules.
    pub what: &'static str,
    pub path: String,
    pub line: u32,
    pub name: String,
    pub receiver: String,
    /// What is inferred, with its confidence.
    pub inferred: String,
    /// What the index says.
    pub indexed: String,
}

type Pair = (SymbolId, SymbolId);

#[derive(Default)]
struct Pairs {
    known: BTreeSet<Pair>,
    right: BTreeSet<Pair>,
    wrong: BTreeSet<Pair>,
    candidates: HashSet<SymbolId>,
}

pub(super) fn compare(mut resolver: Resolver) -> Result<Comparison, GraphError> {
    resolver.is_precise = false;
    let mut out = Comparison::default();
    let mut all: BTreeMap<String, (Pairs, Pairs)> = BTreeMap::new();
    for file in resolver.scopes.tables.precise_files()? {
        let Some(uses) = resolver.precise_uses(file)? else { continue };
        let Some(row) = resolver.scopes.file(file).map(|f| f.row.clone()) else { continue };
        let scope = resolver.scopes.scope_of(file)?;
        let caller = |at: SymbolId| {
            let caller = scope.around(at).find(|s| !s.kind.is_data()).map(|s| s.id);
            caller.unwrap_or(SymbolId { n: -1, ..at })
        };
        let counts = out.languages.entry(row.language.clone()).or_default();
        counts.files += 1;
        if counts.confidences.is_empty() {
            counts.confidences = CONFIDENCES.iter().map(|c| (*c, 0, 0)).collect();
        }
        let (pairs, members) = all.entry(row.language.clone()).or_default();
        let mut seen: HashSet<(u32, String)> = HashSet::new();
        let mut differences = Vec::new();
        let refs = resolver.scopes.tables.refs_of(file)?;
        let lines = |r: &RefRow| r.lines.clone();
        for (reference, line) in refs.iter().flat_map(|r| lines(r).into_iter().map(move |l| (r, l)))
        {
            if reference.kind != ReferenceKind::Call {
                continue;
            }
            seen.insert((line, reference.name.clone()));
            let Some(truth) = uses.get(&(line, reference.name.clone())) else { continue };
            // A variable that holds a function is neither right nor wrong.
            if truth.iter().any(|m| m.means == Means::Unlisted) {
                continue;
            }
            let truth: Vec<SymbolId> = truth.iter().filter_map(|m| m.symbol()).collect();
            let mut is_callee = true;
            for id in &truth {
                is_callee &= resolver.is_callee(*id)?;
            }
            if !is_callee {
                continue;
            }
            let from = caller(reference.from);
            let is_member = !reference.receiver.is_empty();
            let found = resolver.resolve(reference)?;
            let mut is_right = false;
            for meaning in &found {
                let fits = truth.contains(&meaning.symbol);
                let step = counts.confidences.iter_mut().rev().find(|c| c.0 <= meaning.confidence);
                if let Some(step) = step {
                    step.1 += 1;
                    step.2 += usize::from(fits);
                }
                let pair = (from, meaning.symbol);
                let pairs = [Some(&mut *pairs), is_member.then_some(&mut *members)];
                for pairs in pairs.into_iter().flatten() {
                    pairs.candidates.insert(meaning.symbol);
                    if meaning.confidence < LEAST_CONFIDENCE {
                        continue;
                    }
                    if fits { &mut pairs.right } else { &mut pairs.wrong }.insert(pair);
                }
                is_right |= fits && meaning.confidence >= LEAST_CONFIDENCE;
            }
            for id in &truth {
                pairs.known.insert((from, *id));
                if is_member {
                    members.known.insert((from, *id));
                }
            }
            let is_sure = found.iter().any(|m| m.confidence >= LEAST_CONFIDENCE);
            if is_right || (truth.is_empty() && !is_sure) {
                continue;
            }
            let what = if is_sure { "wrong" } else { "missed" };
            differences.push((what, line, reference.clone(), found, truth));
        }
        for ((line, name), truth) in uses.iter() {
            if seen.contains(&(*line, name.clone())) {
                continue;
            }
            for id in truth.iter().filter(|m| m.is_called).filter_map(|m| m.symbol()) {
                // What looks like the construction of a type may be a pattern.
                if !resolver.scopes.symbol(id)?.is_some_and(|s| s.kind.is_callable()) {
                    continue;
                }
                let from = caller(SymbolId { file, n: scope.innermost(*line) });
                if from == id {
                    continue;
                }
                pairs.known.insert((from, id));
                counts.unseen += 1;
                let reference = RefRow {
                    from,
                    name: name.clone(),
                    kind: ReferenceKind::Call,
                    receiver: String::new(),
                    arguments: None,
                    lines: vec![*line],
                };
                differences.push(("unseen", *line, reference, Vec::new(), vec![id]));
            }
        }
        for (what, line, reference, found, truth) in differences {
            let n = out.differences.iter().filter(|d| d.what == what && d.language == row.language);
            if n.count() >= MAX_DIFFERENCES {
                continue;
            }
            let mut inferred = Vec::new();
            for meaning in found.iter().take(3) {
                let name = named(&mut resolver, meaning.symbol)?;
                inferred.push(format!("{name} {:.2}", meaning.confidence));
            }
            let mut indexed = Vec::new();
            for id in &truth {
                indexed.push(named(&mut resolver, *id)?);
            }
            out.differences.push(Difference {
                language: row.language.clone(),
                what,
                path: row.path.clone(),
                line,
                name: reference.name,
                receiver: reference.receiver,
                inferred: inferred.join(", "),
                indexed: indexed.join(", "),
            });
        }
    }
    for (language, (pairs, members)) in all {
        let Some(counts) = out.languages.get_mut(&language) else { continue };
        counts.pairs = pairs.known.len();
        counts.right = pairs.right.len();
        counts.wrong = pairs.wrong.difference(&pairs.right).count();
        counts.member_pairs = members.known.len();
        counts.member_right = members.right.len();
        counts.member_wrong = members.wrong.difference(&members.right).count();
        let called: BTreeSet<SymbolId> =
            pairs.known.iter().filter(|(from, to)| from != to).map(|(_, to)| *to).collect();
        let found: HashSet<SymbolId> = pairs.right.iter().map(|(_, to)| *to).collect();
        counts.called = called.len();
        counts.without_caller = called.iter().filter(|id| !found.contains(id)).count();
        counts.without_candidate =
            called.iter().filter(|id| !pairs.candidates.contains(id)).count();
    }
    Ok(out)
}

/// Returns a symbol as differences show it.
fn named(resolver: &mut Resolver, id: SymbolId) -> Result<String, GraphError> {
    let node = resolver.scopes.node(id)?;
    Ok(format!("{}:{}#{}", node.file, node.line, node.symbol))
}

impl Resolver<'_> {
    /// Whether a symbol can be called: a function, or something that is constructed.
    fn is_callee(&mut self, id: SymbolId) -> Result<bool, GraphError> {
        Ok(self.scopes.symbol(id)?.is_some_and(|s| {
            s.kind.is_callable() || s.is_type() || s.kind == SymbolKind::EnumMember
        }))
    }
}
