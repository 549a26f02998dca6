//! Draws an answer of the code graph.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::engine::GraphAnswer;

/// Returns the nodes by name, and the edges from user to used.
fn drawn(answer: &GraphAnswer) -> (BTreeMap<&str, usize>, Vec<(usize, usize)>) {
    let mut nodes: BTreeMap<&str, usize> = BTreeMap::new();
    let mut number = |name| {
        let next = nodes.len();
        *nodes.entry(name).or_insert(next)
    };
    let mut edges = Vec::new();
    for target in &answer.targets {
        number(&target.symbol);
    }
    for found in &answer.results {
        let (this, via) = (
            number(&found.node.symbol),
            if found.via.is_empty() { None } else { Some(number(&found.via)) },
        );
        edges.extend(
            via.map(
                |via| if answer.operation.points_outward() { (via, this) } else { (this, via) },
            ),
        );
    }
    (nodes, edges)
}

/// Formats for Graphviz.
pub(super) fn dot(answer: &GraphAnswer) -> String {
    let (nodes, edges) = drawn(answer);
    let mut out = String::from("digraph {\n  rankdir=LR;\n  node [shape=box];\n");
    for (name, number) in nodes {
        let _ = writeln!(
            out,
            "  n{number} [label=\"{}\"];",
            name.replace('\\', "\\\\").replace('"', "\\\"")
        );
    }
    for (from, to) in edges {
        let _ = writeln!(out, "  n{from} -> n{to};");
    }
    out + "}"
}

pub(super) fn mermaid(answer: &GraphAnswer) -> String {
    let (nodes, edges) = drawn(answer);
    let mut out = String::from("graph LR\n");
    for (name, number) in nodes {
        let _ = writeln!(out, "  n{number}[\"{}\"]", name.replace('"', "#quot;"));
    }
    for (from, to) in edges {
        let _ = writeln!(out, "  n{from} --> n{to}");
    }
    out.trim_end().to_string()
}
