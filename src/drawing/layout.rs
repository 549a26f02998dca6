//! Orders the nodes of each column so that few edges cross, and places them.
//!
//! A walk gives every node its distance from the target, which is its column. No edge of a walk skips
//! a column, so nothing has to be led around the boxes between.

use std::collections::BTreeMap;

/// Width and height of the box of a node, in pixels.
pub(super) const BOX: (u32, u32) = (232, 42);
/// Space between columns, and between the boxes of a column.
pub(super) const GAPS: (u32, u32) = (96, 14);
/// Space around the drawing.
pub(super) const MARGIN: u32 = 12;
/// Number of times that all columns are ordered. More change little.
const SWEEPS: usize = 4;

/// Where the boxes are.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// The upper left corner of each node, in pixels.
    pub(super) corners: Vec<(u32, u32)>,
    pub(super) width: u32,
    pub(super) height: u32,
}

/// Places nodes, given the column of each, and the edges between them.
pub(super) fn layout(columns: &[usize], edges: &[(usize, usize)]) -> Layout {
    let mut by_column: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (node, column) in columns.iter().enumerate() {
        by_column.entry(*column).or_default().push(node);
    }
    let mut ordered: Vec<Vec<usize>> = by_column.into_values().collect();
    order(&mut ordered, columns.len(), edges);
    let n_rows = ordered.iter().map(Vec::len).max().unwrap_or(0);
    let length = |n: usize, size: u32, gap: u32| {
        let n = u32::try_from(n).unwrap_or(u32::MAX);
        n.saturating_mul(size + gap).saturating_sub(gap)
    };
    let height = length(n_rows, BOX.1, GAPS.1);
    let mut corners = vec![(0, 0); columns.len()];
    let mut x = MARGIN;
    for column in &ordered {
        // The middles of all columns are at one height.
        let mut y = MARGIN + (height - length(column.len(), BOX.1, GAPS.1)) / 2;
        for node in column {
            corners[*node] = (x, y);
            y = y.saturating_add(BOX.1 + GAPS.1);
        }
        x = x.saturating_add(BOX.0 + GAPS.0);
    }
    let width = length(ordered.len(), BOX.0, GAPS.0);
    Layout { corners, width: width + 2 * MARGIN, height: height + 2 * MARGIN }
}

/// Sorts each column by the mean place of the neighbours of its nodes (the barycentre), from the left
/// to the right and back.
fn order(columns: &mut [Vec<usize>], n_nodes: usize, edges: &[(usize, usize)]) {
    let mut neighbours: Vec<Vec<usize>> = vec![Vec::new(); n_nodes];
    for (from, to) in edges.iter().copied().filter(|(from, to)| from != to) {
        neighbours[from].push(to);
        neighbours[to].push(from);
    }
    // The place of a node: how far it is from the middle of its column, in boxes.
    let mut places = vec![0.0_f64; n_nodes];
    let mut column_of = vec![0; n_nodes];
    for (n, column) in columns.iter().enumerate() {
        note(column, &mut places);
        for node in column {
            column_of[*node] = n;
        }
    }
    for sweep in 0..SWEEPS {
        let rightwards = sweep % 2 == 0;
        for step in 1..columns.len() {
            let at = if rightwards { step } else { columns.len() - 1 - step };
            let before = if rightwards { at - 1 } else { at + 1 };
            let mean = |node: &usize| {
                let near = neighbours[*node].iter().filter(|other| column_of[**other] == before);
                let (sum, n) =
                    near.fold((0.0, 0.0), |(sum, n), other| (sum + places[*other], n + 1.0));
                if n > 0.0 { sum / n } else { places[*node] }
            };
            let column = &mut columns[at];
            let means: BTreeMap<usize, f64> =
                column.iter().map(|node| (*node, mean(node))).collect();
            column.sort_by(|a, b| means[a].total_cmp(&means[b]));
            note(column, &mut places);
        }
    }
}

fn note(column: &[usize], places: &mut [f64]) {
    let middle = (column.len() as f64 - 1.0) / 2.0;
    column.iter().enumerate().for_each(|(row, node)| places[*node] = row as f64 - middle);
}
