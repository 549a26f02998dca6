//! Builds the map: an outline of the project within a token budget, ranked by references with
//! `PageRank`.
//! Names are not resolved one by one: a use of a name that several symbols have counts a fraction
//! for each of them. That suffices for a ranking and takes one pass over all references.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use super::error::GraphError;
use super::rows::{SymbolId, SymbolRow};
use super::sql::Tables;
use crate::languages::names_of;
use crate::syntax::SymbolKind;
use crate::text::tokens_of_bytes;

/// Parameters of `PageRank`: the share of a rank that is passed on, and the number of iterations.
const DAMPING: f64 = 0.85;
const ROUNDS: usize = 20;
/// Share of the restart probability that files in focus get.
const FOCUS: f64 = 0.7;
/// A name with more definitions is ignored.
const MAX_DEFINITIONS: usize = 40;
const MAX_LINE_CHARS: usize = 110;

/// The outline: the most important files first, each with its most important symbols.
#[derive(Debug, Clone, Serialize)]
pub struct Map {
    pub files: Vec<MapFile>,
    /// Number of all symbols, including those that are left out.
    pub total: usize,
    /// Estimated number of tokens of its text.
    pub tokens: usize,
}

/// A file of the map.
#[derive(Debug, Clone, Serialize)]
pub struct MapFile {
    pub path: String,
    /// In the order of their lines.
    pub symbols: Vec<MapSymbol>,
}

/// A symbol of the map.
#[derive(Debug, Clone, Serialize)]
pub struct MapSymbol {
    pub name: String,
    pub kind: &'static str,
    pub line: u32,
    pub signature: String,
    /// The `PageRank`; the ranks of all symbols add up to at most 1.
    pub rank: f64,
}

impl Map {
    /// Returns the text form.
    #[must_use]
    pub fn text(&self) -> String {
        let mut out = String::new();
        for file in &self.files {
            out += &file.path;
            out.push('\n');
            for s in &file.symbols {
                out += &line(s);
            }
        }
        out
    }
}

fn line(symbol: &MapSymbol) -> String {
    let text: String = symbol.signature.chars().take(MAX_LINE_CHARS).collect();
    format!("{:>6} {text}\n", symbol.line)
}

pub(super) fn map(tables: &Tables, tokens: usize, focus: &[String]) -> Result<Map, GraphError> {
    let files: HashMap<i64, (String, &'static str)> = tables
        .files()?
        .into_iter()
        .map(|f| (f.id, (f.path, names_of(&f.language).family)))
        .collect();
    let symbols: Vec<SymbolRow> = tables.symbols()?;
    let ranks = ranks(tables, &files, &symbols, focus)?;
    let mut order: Vec<usize> = (0..symbols.len()).filter(|i| is_shown(&symbols[*i])).collect();
    order.sort_by(|a, b| ranks[*b].total_cmp(&ranks[*a]).then(symbols[*a].id.cmp(&symbols[*b].id)));
    let mut chosen: BTreeMap<i64, Vec<usize>> = BTreeMap::new();
    let mut bytes = 0;
    for i in order {
        let id = symbols[i].id;
        let Some((path, _)) = files.get(&id.file) else { continue };
        let head = if chosen.contains_key(&id.file) { 0 } else { path.len() + 1 };
        let more = head + line(&shown(&symbols[i], ranks[i])).len();
        if tokens_of_bytes(bytes + more) > tokens {
            break;
        }
        bytes += more;
        chosen.entry(id.file).or_default().push(i);
    }
    let mut out: Vec<(f64, MapFile)> = chosen
        .into_iter()
        .map(|(file, mut of)| {
            of.sort_by_key(|i| symbols[*i].line);
            let path = files.get(&file).map(|(p, _)| p.clone()).unwrap_or_default();
            let rank = of.iter().map(|i| ranks[*i]).sum();
            (
                rank,
                MapFile {
                    path,
                    symbols: of.iter().map(|i| shown(&symbols[*i], ranks[*i])).collect(),
                },
            )
        })
        .collect();
    out.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.path.cmp(&b.1.path)));
    Ok(Map {
        files: out.into_iter().map(|(_, f)| f).collect(),
        total: symbols.len(),
        tokens: tokens_of_bytes(bytes),
    })
}

/// Returns whether the map shows a symbol: types, functions and constants, but not fields, enum
/// members, modules, `impl` blocks or symbols without a signature.
fn is_shown(symbol: &SymbolRow) -> bool {
    !matches!(
        symbol.kind,
        SymbolKind::Impl | SymbolKind::Field | SymbolKind::EnumMember | SymbolKind::Module
    ) && !symbol.signature.is_empty()
}

fn shown(symbol: &SymbolRow, rank: f64) -> MapSymbol {
    MapSymbol {
        name: symbol.name.clone(),
        kind: symbol.kind.as_str(),
        line: symbol.line,
        signature: symbol.signature.clone(),
        rank,
    }
}

/// Returns the rank of each symbol.
fn ranks(
    tables: &Tables,
    files: &HashMap<i64, (String, &'static str)>,
    symbols: &[SymbolRow],
    focus: &[String],
) -> Result<Vec<f64>, GraphError> {
    let positions: HashMap<SymbolId, u32> =
        symbols.iter().zip(0..).map(|(s, i)| (s.id, i)).collect();
    let mut named: HashMap<&str, Vec<u32>> = HashMap::new();
    for (s, i) in symbols.iter().zip(0u32..).filter(|(s, _)| is_shown(s)) {
        named.entry(&s.name).or_default().push(i);
    }
    let family = |file: i64| files.get(&file).map(|(_, f)| *f);
    // References outside of all symbols start at one node, which all files share.
    let outside = u32::try_from(symbols.len()).unwrap_or(u32::MAX);
    let mut edges: Vec<(u32, u32, f64)> = Vec::new();
    tables.each_ref(|file, symbol, name, n| {
        let Some(to) = named.get(name) else { return };
        let to: Vec<u32> = to
            .iter()
            .copied()
            .filter(|i| family(symbols[*i as usize].id.file) == family(file))
            .collect();
        if to.is_empty() || to.len() > MAX_DEFINITIONS {
            return;
        }
        let from = positions.get(&SymbolId { file, n: symbol }).copied().unwrap_or(outside);
        let weight = (n as f64).sqrt() / to.len() as f64;
        edges.extend(to.into_iter().filter(|i| *i != from).map(|i| (from, i, weight)));
    })?;
    let start = start(files, symbols, focus);
    Ok(page_rank(symbols.len() + 1, &edges, &start))
}

/// Returns the restart probabilities: equal, except that files in focus get most.
fn start(
    files: &HashMap<i64, (String, &'static str)>,
    symbols: &[SymbolRow],
    focus: &[String],
) -> Vec<f64> {
    let even = 1.0 / (symbols.len() + 1) as f64;
    let is_focus =
        |s: &SymbolRow| files.get(&s.id.file).is_some_and(|(path, _)| focus.contains(path));
    let n = symbols.iter().filter(|s| is_focus(s)).count();
    if n == 0 {
        return vec![even; symbols.len() + 1];
    }
    let one =
        |s: &SymbolRow| even * (1.0 - FOCUS) + if is_focus(s) { FOCUS / n as f64 } else { 0.0 };
    symbols.iter().map(one).chain([even * (1.0 - FOCUS)]).collect()
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
