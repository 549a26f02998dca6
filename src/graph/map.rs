//! Ranks the files and symbols of a project by the references that lead to them, with `PageRank`.
//! Every reference is resolved as a query would resolve it, so that a call of `len` does not count
//! for a function `len` of the project, unless it means that one.

use std::collections::HashMap;
use std::hash::BuildHasher;

use rustc_hash::FxBuildHasher;
use schemars::JsonSchema;
use serde::Serialize;

use super::answer::LEAST_CONFIDENCE;
use super::error::GraphError;
use super::resolver::Resolver;
use super::rows::{RefRow, SymbolId, SymbolRow};
use super::sql::Tables;
use crate::syntax::SymbolKind;

/// Parameters of `PageRank`: the share of a rank that is passed on, and the number of iterations.
const DAMPING: f64 = 0.85;
const ROUNDS: usize = 20;
/// Share of the restart probability that files in focus get.
const FOCUS: f64 = 0.7;
/// Maximum number of references that are resolved. Of more, equally spaced ones are.
const MAX_REFERENCES: usize = 150_000;
/// Factor of the rank of a symbol that its file keeps to itself.
const PRIVATE: f64 = 0.3;
/// Factor of a reference within one file, which says little of what the others need.
const OWN_FILE: f64 = 0.2;
/// From this confidence on, a reference means one symbol, whatever other files define.
const SURE: f32 = 0.9;
/// Maximum number of symbols of a file that are returned.
const MAX_SYMBOLS: usize = 8;

/// What a map is about.
#[derive(Clone, Copy)]
pub struct MapQuery<'a> {
    /// Paths of the files that count most.
    pub focus: &'a [String],
    /// Whether a file is part of the map, and its references count: tests and examples do not.
    pub counts: &'a dyn Fn(&str) -> bool,
}

/// The files of a project by their importance.
#[derive(Debug, Clone, Default)]
pub struct Map {
    /// The most important first.
    pub files: Vec<MapFile>,
    /// Functions with which programs begin, in all files: path and line, in order.
    pub mains: Vec<(String, u32)>,
}

/// A file of the map.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct MapFile {
    /// Relative to the root.
    pub path: String,
    /// The `PageRank` of its symbols; the ranks of all files add up to at most 1.
    pub rank: f64,
    /// Its most important types and functions, the most important first.
    pub symbols: Vec<MapSymbol>,
}

/// A symbol of the map.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct MapSymbol {
    /// Name without the enclosing names.
    pub name: String,
    /// function, struct, class …
    pub kind: &'static str,
    /// 1-based.
    pub line: u32,
    /// Its declaration, in one line.
    pub signature: String,
    /// The `PageRank`, of a type with its members.
    pub rank: f64,
}

pub(super) fn map(mut resolver: Resolver, query: MapQuery) -> Result<Map, GraphError> {
    let tables = &*resolver.scopes.tables.clone();
    let files: Vec<(i64, String)> = resolver
        .scopes
        .files
        .iter()
        .filter(|file| (query.counts)(&file.row.path))
        .map(|file| (file.row.id, file.row.path.clone()))
        .collect();
    let mut by_file: HashMap<i64, Vec<SymbolRow>> = HashMap::new();
    for symbol in tables.symbols()? {
        by_file.entry(symbol.id.file).or_default().push(symbol);
    }
    let mut symbols: Vec<SymbolRow> = Vec::new();
    let mut of_file: Vec<std::ops::Range<usize>> = Vec::new();
    for (id, _) in &files {
        let first = symbols.len();
        symbols.extend(by_file.remove(id).unwrap_or_default());
        of_file.push(first..symbols.len());
    }
    let edges = edges(&mut resolver, tables, &files, &symbols)?;
    let start = start(&files, &of_file, symbols.len(), query.focus);
    let ranks = page_rank(symbols.len() + 1, &edges, &start);
    let mut out = Vec::new();
    for ((id, path), of) in files.iter().zip(&of_file) {
        let common = |name: &str| {
            resolver.scopes.file(*id).is_some_and(|file| file.names.is_common_method(name))
        };
        let own_ranks = &ranks[of.clone()];
        out.push(MapFile {
            path: path.clone(),
            rank: own_ranks.iter().sum(),
            symbols: important(&symbols[of.clone()], own_ranks, &common),
        });
    }
    out.sort_by(|a, b| b.rank.total_cmp(&a.rank).then_with(|| a.path.cmp(&b.path)));
    let is_main = |s: &&SymbolRow| {
        matches!(&*s.name, "main" | "Main") && s.kind.is_callable() && !s.prototype
    };
    let of_others = by_file.values().flatten();
    let mut mains: Vec<(String, u32)> = symbols
        .iter()
        .chain(of_others)
        .filter(is_main)
        .filter_map(|s| Some((resolver.scopes.file(s.id.file)?.row.path.clone(), s.line)))
        .collect();
    mains.sort_unstable();
    Ok(Map { files: out, mains })
}

/// Returns the most important symbols of a file. The rank of a type includes that of its members.
fn important(
    symbols: &[SymbolRow],
    ranks: &[f64],
    is_common: &dyn Fn(&str) -> bool,
) -> Vec<MapSymbol> {
    let mut with_members = ranks.to_vec();
    let types: HashMap<&str, usize> = (0..symbols.len())
        .rev()
        .filter(|i| is_shown_type(&symbols[*i]))
        .map(|i| (&*symbols[i].name, i))
        .collect();
    for (i, symbol) in symbols.iter().enumerate() {
        if let Some(owner) = types.get(&*symbol.owner).filter(|owner| **owner != i) {
            with_members[*owner] += ranks[i];
        }
    }
    for (rank, symbol) in with_members.iter_mut().zip(symbols) {
        if !symbol.exported {
            *rank *= PRIVATE;
        }
    }
    // What is local to a function, a type or a test module says nothing about its file.
    let is_outer = |s: &SymbolRow| {
        let parent = usize::try_from(s.parent).ok().and_then(|n| symbols.get(n));
        parent.is_none_or(|parent| {
            parent.kind == SymbolKind::Module && !matches!(&*parent.name, "test" | "tests")
        })
    };
    let is_shown = |s: &SymbolRow| {
        let is_function = s.kind.is_callable() && s.owner.is_empty() && !is_common(&s.name);
        (is_function || is_shown_type(s)) && is_outer(s) && s.name.len() > 2 && !s.prototype
    };
    let mut order: Vec<usize> = (0..symbols.len()).filter(|i| is_shown(&symbols[*i])).collect();
    order.sort_by(|a, b| with_members[*b].total_cmp(&with_members[*a]).then(a.cmp(b)));
    let mut out: Vec<MapSymbol> = Vec::new();
    for i in order {
        let s = &symbols[i];
        if out.len() < MAX_SYMBOLS && out.iter().all(|other| other.name != s.name) {
            out.push(MapSymbol {
                name: s.name.clone(),
                kind: s.kind.as_str(),
                line: s.line,
                signature: s.signature.clone(),
                rank: with_members[i],
            });
        }
    }
    out
}

/// Whether a symbol is a type that the map shows. An `impl` is a part of its type.
fn is_shown_type(symbol: &SymbolRow) -> bool {
    symbol.is_type() && symbol.kind != SymbolKind::Impl
}

/// Returns the references between symbols: from, to, and weight. References outside of all symbols
/// begin at one node, which all files share.
fn edges(
    resolver: &mut Resolver,
    tables: &Tables,
    files: &[(i64, String)],
    symbols: &[SymbolRow],
) -> Result<Vec<(u32, u32, f64)>, GraphError> {
    let positions: HashMap<SymbolId, u32> =
        symbols.iter().zip(0..).map(|(s, i)| (s.id, i)).collect();
    // In how many files a name is defined: a reference to a common name says little of each.
    let mut n_files: HashMap<&str, (i64, u32)> = HashMap::new();
    for symbol in symbols.iter().filter(|symbol| symbol.owner.is_empty() || symbol.is_type()) {
        let (last, n) = n_files.entry(&symbol.name).or_insert((symbol.id.file, 1));
        if *last != symbol.id.file {
            (*last, *n) = (symbol.id.file, *n + 1);
        }
    }
    let outside = u32::try_from(symbols.len()).unwrap_or(u32::MAX);
    let every = tables.count_refs()?.div_ceil(MAX_REFERENCES).max(1);
    let mut edges = Vec::new();
    // In no order of names, so that the part that the budget allows is a sample of all files.
    let mut order: Vec<&(i64, String)> = files.iter().collect();
    order.sort_by_cached_key(|(_, path)| FxBuildHasher.hash_one(path));
    for (id, path) in order {
        if !resolver.work.goes_on() {
            break;
        }
        // Each file begins its sample at another reference.
        let offset =
            usize::try_from(FxBuildHasher.hash_one(path) % every as u64).unwrap_or_default();
        let references: Vec<RefRow> = tables.refs_of(*id)?;
        for reference in references.iter().skip(offset).step_by(every) {
            if !resolver.work.goes_on() {
                break;
            }
            let from = positions.get(&reference.from).copied().unwrap_or(outside);
            for meaning in resolver.resolve(reference)? {
                let Some(to) = positions.get(&meaning.symbol) else { continue };
                if meaning.confidence >= LEAST_CONFIDENCE && *to != from {
                    let uses = (reference.lines.len() as f64).sqrt();
                    let weight = if meaning.symbol.file == *id {
                        OWN_FILE
                    } else if meaning.confidence >= SURE {
                        1.0
                    } else {
                        let name = &*symbols[*to as usize].name;
                        1.0 / f64::from(n_files.get(name).map_or(1, |(_, n)| *n))
                    };
                    edges.push((from, *to, weight * uses * f64::from(meaning.confidence)));
                }
            }
        }
    }
    Ok(edges)
}

/// Returns the restart probabilities: equal, except that files in focus get most.
fn start(
    files: &[(i64, String)],
    of_file: &[std::ops::Range<usize>],
    n_symbols: usize,
    focus: &[String],
) -> Vec<f64> {
    let even = 1.0 / (n_symbols + 1) as f64;
    let mut start = vec![even; n_symbols + 1];
    let in_focus: Vec<usize> = files
        .iter()
        .zip(of_file)
        .filter(|((_, path), _)| focus.contains(path))
        .flat_map(|(_, of)| of.clone())
        .collect();
    if !in_focus.is_empty() {
        for s in &mut start {
            *s *= 1.0 - FOCUS;
        }
        for i in &in_focus {
            start[*i] += FOCUS / in_focus.len() as f64;
        }
    }
    start
}

fn page_rank(n: usize, edges: &[(u32, u32, f64)], start: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; n];
    for (from, _, weight) in edges {
        out[*from as usize] += weight;
    }
    let mut ranks = start.to_vec();
    for _ in 0..ROUNDS {
        let lost: f64 = (0..n).filter(|i| out[*i] == 0.0).map(|i| ranks[i]).sum();
        let mut next: Vec<f64> =
            start.iter().map(|s| s * (1.0 - DAMPING + DAMPING * lost)).collect();
        for (from, to, weight) in edges {
            next[*to as usize] += DAMPING * ranks[*from as usize] * weight / out[*from as usize];
        }
        ranks = next;
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rank_flows_along_edges_and_is_not_lost() {
        let ranks = page_rank(3, &[(0, 2, 1.0), (1, 2, 1.0)], &[1.0 / 3.0; 3]);
        assert!(ranks[2] > 2.0 * ranks[0]);
        assert!((ranks.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    }
}
