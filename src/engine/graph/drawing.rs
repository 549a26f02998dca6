//! Draws an answer of the code graph.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::drawing::{Drawing, DrawingFormat, DrawnEdge, DrawnNode, MAX_NODES};
use crate::engine::door::freshness::AnswerState;
use crate::engine::door::serving::Engine;
use crate::engine::graph::query::{check_end, steps};
use crate::engine::{AskError, Call};
use crate::graph::{CodeGraph, GraphQuery, LEAST_CONFIDENCE, Node, Operation, Step};
use crate::work::WorkBudget;

/// Default of [`DrawingRequest::limit`].
const LIMIT: usize = 60;
/// Most targets that are drawn although nothing leads to them.
const MAX_ALONE: usize = 5;

/// The arguments of a drawing.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct DrawingRequest {
    /// The question: which symbols are drawn.
    #[schemars(extend("enum" = drawn()))]
    pub operation: String,
    /// A name, `Type::method`, `file.rs:line` or a file.
    pub target: String,
    /// path: the symbol or file at its end.
    pub to: Option<String>,
    /// Maximum number of steps. Default: 1.
    #[schemars(range(min = 1, max = 10))]
    pub depth: Option<usize>,
    /// Maximum number of symbols beside the targets. Default: 60.
    #[schemars(range(min = 1, max = 150))]
    pub limit: Option<usize>,
    /// Whether to draw candidates, too: uses with a confidence below .5, dashed. Default: true.
    pub candidates: Option<bool>,
    /// Answer with the text in this format, too.
    pub format: Option<DrawingFormat>,
}

/// A drawing of an answer of the code graph.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct DrawingAnswer {
    /// Empty if the target matches nothing.
    #[serde(flatten)]
    pub drawing: Drawing,
    /// The drawing in the format of the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    #[serde(flatten)]
    pub state: AnswerState,
}

/// Whether the answer of an operation is a graph.
fn is_drawn(operation: Operation) -> bool {
    !matches!(operation, Operation::Tests | Operation::Unused | Operation::Routes)
}

fn drawn() -> Vec<&'static str> {
    Operation::ALL.into_iter().filter(|one| is_drawn(*one)).map(Operation::as_str).collect()
}

impl Engine {
    /// Draws an answer of the code graph.
    ///
    /// # Errors
    /// When the request is not valid, the operation has no drawing, or the graph cannot be read.
    pub fn drawing(
        &self,
        request: &DrawingRequest,
        call: &Call,
    ) -> Result<DrawingAnswer, AskError> {
        let operation = Operation::parse(&request.operation).filter(|one| is_drawn(*one));
        let Some(operation) = operation else {
            return Err(AskError::Arguments(format!(
                "`{}` has no drawing: give one of {}",
                request.operation,
                drawn().join(", ")
            )));
        };
        check_end(operation, request.to.as_deref())?;
        let depth = steps(request.depth, 1)?;
        let limit = request.limit.unwrap_or(LIMIT);
        if !(1..=MAX_NODES).contains(&limit) {
            return Err(AskError::Arguments(format!(
                "limit is {limit}, but must be from 1 to {MAX_NODES}"
            )));
        }
        let target = &*self.graph_target(&request.target, call);
        let to = request.to.as_deref().map(|to| self.graph_target(to, call));
        let mut state = self.state(call)?;
        let query = GraphQuery { operation, target, to: to.as_deref(), depth, limit: MAX_NODES };
        let ask = |graph: &CodeGraph, work: &WorkBudget| graph.answer_with_steps(query, work);
        let ((answer, steps), ..) = self.ask_graph_in_time(call, ask)?;
        call.check()?;
        if answer.is_cut {
            state.warnings.push("the search of the code graph was cut: there may be more".into());
        }
        let with_candidates = request.candidates.unwrap_or(true);
        let candidates = if with_candidates { &answer.candidates[..] } else { &[] };
        let is_kept = |step: &&Step| with_candidates || step.confidence >= LEAST_CONFIDENCE;
        let mut is_end = vec![false; answer.targets.len()];
        for step in steps.iter().filter(is_kept) {
            for end in [step.from, step.to] {
                is_end.get_mut(end).into_iter().for_each(|is_end| *is_end = true);
            }
        }
        // Numbers of the drawing, by the numbers of the answer.
        let mut numbers =
            vec![None; answer.targets.len() + answer.results.len() + candidates.len()];
        let mut nodes: Vec<DrawnNode> = Vec::new();
        let mut left_out = answer.total.saturating_sub(answer.results.len());
        for (number, target) in answer.targets.iter().enumerate() {
            let has_place = is_end[number] || number < MAX_ALONE && !is_end.contains(&true);
            if has_place && self.project.has_file(&target.file) {
                numbers[number] = Some(nodes.len());
                nodes.push(drawn_node(target, 0, true));
            }
        }
        let n_targets = nodes.len();
        for (number, found) in (answer.targets.len()..).zip(answer.results.iter().chain(candidates))
        {
            // What uses itself, and the beginning of a path.
            if answer.targets.contains(&found.node) {
                continue;
            }
            if nodes.len() >= n_targets + limit || nodes.len() >= MAX_NODES {
                left_out += 1;
                continue;
            }
            numbers[number] = Some(nodes.len());
            nodes.push(drawn_node(&found.node, found.depth, false));
        }
        let edges = steps
            .iter()
            .filter(is_kept)
            .filter_map(|step| {
                let number = |n: usize| numbers.get(n).copied().flatten();
                let confidence = (f64::from(step.confidence) * 100.0).round() / 100.0;
                let is_unsure = step.confidence < LEAST_CONFIDENCE;
                let (from, to) = (number(step.from)?, number(step.to)?);
                Some(DrawnEdge::new(from, to, step.sites.clone(), confidence, is_unsure))
            })
            .collect();
        let drawing = Drawing::new(nodes, edges, !operation.points_outward(), left_out);
        let text = request.format.map(|format| drawing.text(format));
        Ok(DrawingAnswer { drawing, text, state })
    }
}

fn drawn_node(node: &Node, depth: usize, is_target: bool) -> DrawnNode {
    DrawnNode {
        symbol: node.symbol.clone(),
        path: node.file.clone(),
        line: node.line,
        kind: node.kind.clone(),
        depth,
        is_target,
        x: 0,
        y: 0,
    }
}
