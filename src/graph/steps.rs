//! Lists the steps between the nodes of an answer, for a drawing.

use std::collections::{BTreeMap, HashMap};

use super::answer::{GraphAnswer, GraphQuery, Neighbour, Node, Operation};
use super::error::GraphError;
use super::rows::SymbolId;
use super::traversal::Traversal;

/// A use of a node of an answer by another one. The numbers count the targets, then the results, then
/// the candidates.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// The symbol that calls, uses or extends the other one.
    pub from: usize,
    pub to: usize,
    /// Lines of the uses, in the file of `from`.
    pub sites: Vec<u32>,
    /// From 0 to 1.
    pub confidence: f32,
}

impl Traversal {
    /// Answers a query, and returns the steps between the nodes of the answer.
    pub(super) fn answer_with_steps(
        &mut self,
        query: GraphQuery,
    ) -> Result<(GraphAnswer, Vec<Step>), GraphError> {
        self.steps = Some(BTreeMap::new());
        let answer = self.answer(query)?;
        let found = self.steps.take().unwrap_or_default();
        let mut numbers: HashMap<&Node, usize> = HashMap::new();
        let rows = answer.results.iter().chain(&answer.candidates).map(|found| &found.node);
        for (number, node) in answer.targets.iter().chain(rows).enumerate() {
            numbers.entry(node).or_insert(number);
        }
        if query.operation == Operation::Path {
            let step = |pair: &[Neighbour]| {
                let [before, at] = pair else { return None };
                let (from, to) = (*numbers.get(&before.node)?, *numbers.get(&at.node)?);
                Some(Step { from, to, sites: at.sites.clone(), confidence: at.confidence })
            };
            let steps = answer.results.windows(2).filter_map(step).collect();
            drop(numbers);
            return Ok((answer, steps));
        }
        let mut known: HashMap<SymbolId, Option<usize>> = HashMap::new();
        let mut steps = Vec::new();
        for (at, edges) in found {
            for edge in edges.into_values() {
                let mut ends = [None; 2];
                for (end, id) in ends.iter_mut().zip([at, edge.to]) {
                    *end = match known.get(&id) {
                        Some(number) => *number,
                        None => {
                            let node = self.resolver.scopes.node(id)?;
                            *known.entry(id).or_insert(numbers.get(&node).copied())
                        }
                    };
                }
                let [Some(at), Some(to)] = ends else { continue };
                let (from, to) = if query.operation.points_outward() { (at, to) } else { (to, at) };
                steps.push(Step { from, to, sites: edge.lines, confidence: edge.confidence });
            }
        }
        drop(numbers);
        Ok((answer, steps))
    }
}
