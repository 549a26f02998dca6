//! Measures the inference of the graph against imported SCIP indexes, whose words count as true.
//!
//! A *pair* is a function and a function or type that it calls. A pair that is inferred counts as
//! wrong only where the index says that the call means something else: of calls that the index does
//! not know, nobody knows. Overloads and variants (`#if`, `#else`) of a function in one file count as
//! one, also if the file only declares it.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use serde::Serialize;

use super::answer::LEAST_CONFIDENCE;
use super::error::GraphError;
use super::resolver::{Meaning, Means, PreciseMeaning, Resolver};
use super::rows::{FileId, FileRow, RefRow, SymbolId, SymbolRow};
use crate::syntax::{SymbolKind, as_written};

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

impl Pairs {
    fn count_wrong(&self) -> usize {
        self.wrong.difference(&self.right).count()
    }
}

/// What is counted for one language.
#[derive(Default)]
struct Tally {
    counts: Counts,
    all: Pairs,
    members: Pairs,
}

/// A difference whose symbols have no names yet.
struct Found {
    what: &'static str,
    line: u32,
    name: String,
    receiver: String,
    inferred: Vec<Meaning>,
    indexed: Vec<SymbolId>,
}

pub(super) fn compare(mut resolver: Resolver) -> Result<Comparison, GraphError> {
    resolver.is_precise = false;
    let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
    let mut differences = Vec::new();
    for file in resolver.scopes.tables.precise_files()? {
        let Some(row) = resolver.scopes.file(file).map(|f| f.row.clone()) else { continue };
        let tally = tallies.entry(row.language.clone()).or_default();
        let found = compare_file(&mut resolver, file, tally)?;
        for difference in found {
            let same = |d: &&Difference| d.what == difference.what && d.language == row.language;
            if differences.iter().filter(same).count() < MAX_DIFFERENCES {
                differences.push(difference.named(&mut resolver, &row)?);
            }
        }
    }
    let sums = tallies.into_iter().map(|(language, tally)| (language, tally.sum()));
    // Data has no calls.
    let languages = sums.filter(|(_, sum)| sum.pairs + sum.wrong > 0).collect();
    Ok(Comparison { languages, differences })
}

/// Counts the calls in one file, and returns the differences.
fn compare_file(
    resolver: &mut Resolver,
    file: FileId,
    tally: &mut Tally,
) -> Result<Vec<Found>, GraphError> {
    let Some(uses) = resolver.precise_uses(file)? else { return Ok(Vec::new()) };
    tally.counts.files += 1;
    let mut seen: HashSet<(u32, String)> = HashSet::new();
    let mut found = Vec::new();
    let refs = resolver.scopes.tables.refs_of(file)?;
    for reference in refs.iter().filter(|r| r.kind.is_call()) {
        for line in &reference.lines {
            let place = (*line, reference.name.clone());
            let Some(truth) = uses.get(&place) else { continue };
            seen.insert(place);
            if let Some(truth) = resolver.callees(truth)? {
                found.extend(compare_call(resolver, reference, *line, &truth, tally)?);
            }
        }
    }
    let scope = resolver.scopes.scope_of(file)?;
    for ((line, name), truth) in uses.iter().filter(|(place, _)| !seen.contains(place)) {
        for id in truth.iter().filter(|m| m.is_called).filter_map(|m| m.symbol()) {
            let from = scope.caller(SymbolId { file, n: scope.innermost(*line) });
            // What looks like the construction of a type may be a pattern.
            let is_function =
                resolver.scopes.symbol(id)?.is_some_and(|s| s.kind.is_callable()) && from != id;
            if is_function {
                tally.all.known.insert((from, id));
                tally.counts.unseen += 1;
                found.push(Found {
                    what: "unseen",
                    line: *line,
                    name: name.clone(),
                    receiver: String::new(),
                    inferred: Vec::new(),
                    indexed: vec![id],
                });
            }
        }
    }
    Ok(found)
}

/// Counts one call, which means `truth`.
fn compare_call(
    resolver: &mut Resolver,
    reference: &RefRow,
    line: u32,
    truth: &[SymbolId],
    tally: &mut Tally,
) -> Result<Option<Found>, GraphError> {
    let from = resolver.scopes.scope_of(reference.from.file)?.caller(reference.from);
    let inferred = resolver.resolve(reference)?;
    let Tally { counts, all, members } = tally;
    let is_member = !reference.receiver.is_empty();
    let (mut is_right, mut is_sure) = (false, false);
    let mut fitting = Vec::new();
    for meaning in &inferred {
        fitting.push(resolver.same_function(meaning.symbol, truth)?);
    }
    for pairs in [Some(all), is_member.then_some(members)].into_iter().flatten() {
        pairs.known.extend(truth.iter().map(|id| (from, *id)));
        for (meaning, fits) in inferred.iter().zip(&fitting) {
            pairs.candidates.insert(fits.unwrap_or(meaning.symbol));
            if meaning.confidence >= LEAST_CONFIDENCE {
                is_sure = true;
                is_right |= fits.is_some();
                match fits {
                    Some(id) => pairs.right.insert((from, *id)),
                    None => pairs.wrong.insert((from, meaning.symbol)),
                };
            }
        }
    }
    for (meaning, fits) in inferred.iter().zip(&fitting) {
        counts.note(meaning.confidence, fits.is_some());
    }
    let agree = is_right || (truth.is_empty() && !is_sure);
    Ok((!agree).then(|| Found {
        what: if is_sure { "wrong" } else { "missed" },
        line,
        name: reference.name.clone(),
        receiver: as_written(&reference.receiver),
        inferred,
        indexed: truth.to_vec(),
    }))
}

impl Counts {
    fn note(&mut self, confidence: f32, is_right: bool) {
        if self.confidences.is_empty() {
            self.confidences = CONFIDENCES.iter().map(|from| (*from, 0, 0)).collect();
        }
        if let Some(step) = self.confidences.iter_mut().rev().find(|step| step.0 <= confidence) {
            step.1 += 1;
            step.2 += usize::from(is_right);
        }
    }
}

impl Tally {
    fn sum(self) -> Counts {
        let Self { counts, all, members } = self;
        let called: BTreeSet<SymbolId> =
            all.known.iter().filter(|(from, to)| from != to).map(|(_, to)| *to).collect();
        let found: HashSet<SymbolId> = all.right.iter().map(|(_, to)| *to).collect();
        Counts {
            pairs: all.known.len(),
            right: all.right.len(),
            wrong: all.count_wrong(),
            member_pairs: members.known.len(),
            member_right: members.right.len(),
            member_wrong: members.count_wrong(),
            called: called.len(),
            without_caller: called.iter().filter(|id| !found.contains(id)).count(),
            without_candidate: called.iter().filter(|id| !all.candidates.contains(id)).count(),
            ..counts
        }
    }
}

impl Found {
    fn named(self, resolver: &mut Resolver, file: &FileRow) -> Result<Difference, GraphError> {
        const SHOWN: usize = 3;
        let mut inferred = Vec::new();
        for meaning in self.inferred.iter().take(SHOWN) {
            let name = named(resolver, meaning.symbol)?;
            inferred.push(format!("{name} {:.2}", meaning.confidence));
        }
        let mut indexed = Vec::new();
        for id in self.indexed.iter().take(SHOWN) {
            indexed.push(named(resolver, *id)?);
        }
        Ok(Difference {
            language: file.language.clone(),
            what: self.what,
            path: file.path.clone(),
            line: self.line,
            name: self.name,
            receiver: self.receiver,
            inferred: inferred.join(", "),
            indexed: indexed.join(", "),
        })
    }
}

/// Returns a symbol as differences show it.
fn named(resolver: &mut Resolver, id: SymbolId) -> Result<String, GraphError> {
    let node = resolver.scopes.node(id)?;
    Ok(format!("{}:{}#{}", node.file, node.line, node.symbol))
}

impl Resolver {
    /// Returns the one of these symbols that is this one, or an overload or a variant of it in a file
    /// that defines or declares it.
    fn same_function(
        &mut self,
        id: SymbolId,
        among: &[SymbolId],
    ) -> Result<Option<SymbolId>, GraphError> {
        if among.contains(&id) {
            return Ok(Some(id));
        }
        let Some(symbol) = self.scopes.symbol(id)? else { return Ok(None) };
        let rows = self.scopes.named(&symbol.name)?;
        for id in among {
            let Some(other) = self.scopes.symbol(*id)? else { continue };
            if other.name != symbol.name || other.owner != symbol.owner {
                continue;
            }
            let is_overload = other.id.file == symbol.id.file && other.parent == symbol.parent;
            let declares =
                |s: &SymbolRow| s.prototype && s.id.file == id.file && s.owner == symbol.owner;
            if is_overload || rows.iter().any(declares) {
                return Ok(Some(*id));
            }
        }
        Ok(None)
    }

    /// Returns the functions and types that a call means; none if it means something outside of the
    /// project. `None` for a call of a variable, which is neither right nor wrong.
    fn callees(
        &mut self,
        meanings: &[PreciseMeaning],
    ) -> Result<Option<Vec<SymbolId>>, GraphError> {
        let mut out = Vec::new();
        for meaning in meanings {
            let id = match meaning.means {
                Means::Symbol(id) => id,
                Means::Elsewhere => continue,
                Means::Unlisted => return Ok(None),
            };
            let is_callee = self.scopes.symbol(id)?.is_some_and(|s| {
                s.kind.is_callable() || s.is_type() || s.kind == SymbolKind::EnumMember
            });
            if !is_callee {
                return Ok(None);
            }
            out.push(id);
        }
        Ok(Some(out))
    }
}
