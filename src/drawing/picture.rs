//! The nodes and edges of a drawing, with their places.

use std::fmt::Write;

use schemars::JsonSchema;
use serde::Serialize;

use super::layout::{BOX, MARGIN, layout};

/// Most nodes of a drawing. Nobody reads a larger one.
pub const MAX_NODES: usize = 150;

/// A drawing of symbols and their uses, in pixels.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
pub struct Drawing {
    pub nodes: Vec<DrawnNode>,
    /// Each leads from a user to what it uses.
    pub edges: Vec<DrawnEdge>,
    /// Number of symbols that have no place in it.
    pub left_out: usize,
    pub width: u32,
    pub height: u32,
    /// Width of the box of every node.
    pub box_width: u32,
    /// Height of the box of every node.
    pub box_height: u32,
}

/// A symbol or a file of a drawing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DrawnNode {
    /// Name, qualified by the enclosing names.
    pub symbol: String,
    /// Relative to the root.
    pub path: String,
    /// First line of the definition; 0 for a file.
    pub line: u32,
    /// function, struct, file …
    pub kind: String,
    /// Number of steps from the target.
    pub depth: usize,
    /// Whether the question is about it.
    pub is_target: bool,
    /// Left edge of its box.
    pub x: u32,
    /// Upper edge of its box.
    pub y: u32,
}

/// The uses of a node by another one.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct DrawnEdge {
    /// Number of the user in `nodes`.
    pub from: usize,
    /// Number of what it uses.
    pub to: usize,
    /// Lines of the uses, in the file of the user.
    pub sites: Vec<u32>,
    /// From 0 to 1.
    pub confidence: f64,
    /// Whether the confidence is so low that the edge is dashed.
    pub is_unsure: bool,
    /// The curve, as path data of SVG.
    pub curve: String,
    /// The middle of the curve.
    pub middle: (u32, u32),
}

impl DrawnEdge {
    /// Creates an edge that has no place yet.
    #[must_use]
    pub fn new(from: usize, to: usize, sites: Vec<u32>, confidence: f64, is_unsure: bool) -> Self {
        Self { from, to, sites, confidence, is_unsure, curve: String::new(), middle: (0, 0) }
    }
}

impl Drawing {
    /// Places nodes and edges. The nodes of one depth are a column; the columns begin at the left with
    /// the targets, or end with them if the others use the targets. Edges whose ends are no nodes are
    /// dropped.
    #[must_use]
    pub fn new(
        mut nodes: Vec<DrawnNode>,
        mut edges: Vec<DrawnEdge>,
        targets_are_last: bool,
        left_out: usize,
    ) -> Self {
        edges.retain(|edge| edge.from.max(edge.to) < nodes.len());
        let deepest = nodes.iter().map(|node| node.depth).max().unwrap_or(0);
        let column = |node: &DrawnNode| {
            if targets_are_last { deepest - node.depth } else { node.depth }
        };
        let columns: Vec<usize> = nodes.iter().map(column).collect();
        let ends: Vec<(usize, usize)> = edges.iter().map(|edge| (edge.from, edge.to)).collect();
        let places = layout(&columns, &ends);
        for (node, corner) in nodes.iter_mut().zip(places.corners) {
            (node.x, node.y) = corner;
        }
        for edge in &mut edges {
            (edge.curve, edge.middle) = curve(&nodes[edge.from], &nodes[edge.to]);
        }
        let is_at_the_end = |edge: &DrawnEdge| {
            let [from, to] = [edge.from, edge.to].map(|end| nodes[end].x + BOX.0 + MARGIN);
            from == to && to == places.width
        };
        let room = if edges.iter().any(is_at_the_end) { BEND } else { 0 };
        Self {
            nodes,
            edges,
            left_out,
            width: places.width + room,
            height: places.height,
            box_width: BOX.0,
            box_height: BOX.1,
        }
    }
}

/// How far a curve leaves a box before it turns back.
const BEND: u32 = 40;

/// Returns the curve between two boxes, and its middle.
fn curve(from: &DrawnNode, to: &DrawnNode) -> (String, (u32, u32)) {
    let (y1, y2) = (from.y + BOX.1 / 2, to.y + BOX.1 / 2);
    let mut out = String::new();
    if from.x == to.x {
        // Within a column, and from a symbol to itself: around the right side.
        let (x, bend) = (from.x + BOX.0, from.x + BOX.0 + BEND);
        let (y1, y2) = if from.y == to.y { (y1 - BOX.1 / 4, y1 + BOX.1 / 4) } else { (y1, y2) };
        let _ = write!(out, "M{x} {y1}C{bend} {y1} {bend} {y2} {x} {y2}");
        return (out, (x + BEND * 3 / 4, u32::midpoint(y1, y2)));
    }
    let is_forward = from.x < to.x;
    let (x1, x2) = if is_forward { (from.x + BOX.0, to.x) } else { (from.x, to.x + BOX.0) };
    let middle = u32::midpoint(x1, x2);
    let _ = write!(out, "M{x1} {y1}C{middle} {y1} {middle} {y2} {x2} {y2}");
    (out, (middle, u32::midpoint(y1, y2)))
}
