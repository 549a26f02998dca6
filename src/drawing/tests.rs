//! Tests of the layout and the formats.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::layout::{BOX, GAPS, layout};
use super::*;

fn node(symbol: &str, line: u32, depth: usize) -> DrawnNode {
    DrawnNode {
        symbol: symbol.into(),
        path: "src/a.rs".into(),
        line,
        kind: "function".into(),
        depth,
        is_target: depth == 0,
        x: 0,
        y: 0,
    }
}

fn edge(from: usize, to: usize, sites: &[u32], confidence: f64) -> DrawnEdge {
    DrawnEdge::new(from, to, sites.to_vec(), confidence, confidence < 0.5)
}

/// A function that calls itself, its caller, the caller of that, and one that may call it.
fn small() -> Drawing {
    let nodes =
        vec![node("get", 1, 0), node("Store::load", 5, 1), node("main", 9, 2), node("may", 12, 1)];
    let edges = vec![
        edge(0, 0, &[2], 1.0),
        edge(1, 0, &[6, 7, 8, 9], 0.9),
        edge(2, 1, &[10], 1.0),
        edge(3, 0, &[], 0.3),
    ];
    Drawing::new(nodes, edges, true, 3)
}

const FORMATS: [DrawingFormat; 3] =
    [DrawingFormat::Dot, DrawingFormat::Mermaid, DrawingFormat::Svg];

#[test]
fn three_formats() {
    let [dot, mermaid, svg] = FORMATS.map(|format| small().text(format));
    assert_eq!(
        dot,
        r#"digraph {
  rankdir=LR;
  node [shape=box];
  label="3 more symbols are not drawn";
  n0 [label="get\nsrc/a.rs:1", style=bold];
  n1 [label="Store::load\nsrc/a.rs:5"];
  n2 [label="main\nsrc/a.rs:9"];
  n3 [label="may\nsrc/a.rs:12"];
  n0 -> n0 [label="line 2"];
  n1 -> n0 [label="lines 6 7 8 …"];
  n2 -> n1 [label="line 10"];
  n3 -> n0 [style=dashed];
}"#
    );
    assert_eq!(
        mermaid,
        r#"graph LR
  n0["get<br/>src/a.rs:1"]
  n1["Store::load<br/>src/a.rs:5"]
  n2["main<br/>src/a.rs:9"]
  n3["may<br/>src/a.rs:12"]
  more["3 more symbols are not drawn"]
  n0 -->|line 2| n0
  n1 -->|lines 6 7 8 …| n0
  n2 -->|line 10| n1
  n3 -.-> n0
  style n0 stroke-width:3px"#
    );
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/drawing/small.svg");
        std::fs::write(path, format!("{svg}\n")).unwrap();
    } else {
        assert_eq!(svg, include_str!("small.svg").trim_end());
    }
}

/// No name ends a text, whatever it holds, and no character turns or hides what follows.
#[test]
fn names_stay_within_their_texts() {
    let hostile =
        "a\"b]--></svg></title><script>\\\n  n9[\u{202e}x\u{2066}`%%{init}&lt;\u{0}\u{ffff}";
    let nodes =
        vec![DrawnNode { path: hostile.into(), kind: hostile.into(), ..node(hostile, 1, 0) }];
    let drawing = Drawing::new(nodes, Vec::new(), false, 0);
    let [dot, mermaid, svg] = FORMATS.map(|format| drawing.text(format));
    for text in [&dot, &mermaid, &svg] {
        let is_plain = |c: char| !c.is_control() || c == '\n';
        assert!(text.chars().all(is_plain), "{text}");
        assert!(!text.contains(['\u{202e}', '\u{2066}']), "{text}");
    }
    assert!(!svg.contains('\u{ffff}'), "XML does not allow it: {svg}");
    assert_eq!(dot.lines().count(), 5, "{dot}");
    let quotes = dot.replace("\\\\", "").replace("\\\"", "");
    assert_eq!(quotes.matches('"').count(), 2, "{dot}");
    assert!(dot.contains("&amp;lt;"), "{dot}");
    assert_eq!(mermaid.lines().count(), 3, "{mermaid}");
    let label = mermaid.lines().nth(1).unwrap().strip_prefix("  n0[\"").unwrap();
    let label = label.strip_suffix("\"]").unwrap().replace("<br/>", "");
    assert!(!label.contains(['"', ']', '<', '>', '`', '%', '&', '\\']), "{mermaid}");
    let tags = svg.split('<').skip(1).map(|rest| rest.split([' ', '>', '/']).next().unwrap());
    let known = ["svg", "style", "defs", "marker", "path", "rect", "title", "text", ""];
    tags.for_each(|tag| assert!(known.contains(&tag), "<{tag}: {svg}"));
    assert_eq!(svg.matches("<svg").count(), svg.matches("</svg>").count(), "{svg}");
}

fn graphs() -> impl Strategy<Value = (Vec<usize>, Vec<(usize, usize)>)> {
    prop::collection::vec(0_usize..5, 0..60).prop_flat_map(|columns| {
        let n = columns.len().max(1);
        let edges =
            prop::collection::vec((0..n, 0..n), 0..if columns.is_empty() { 1 } else { 150 });
        (Just(columns), edges)
    })
}

proptest! {
    #[test]
    fn boxes_keep_apart_and_columns_in_order((columns, edges) in graphs()) {
        let edges = if columns.is_empty() { Vec::new() } else { edges };
        let placed = layout(&columns, &edges);
        prop_assert_eq!(&placed, &layout(&columns, &edges));
        let mut of_column: BTreeMap<usize, Vec<(u32, u32)>> = BTreeMap::new();
        for (column, corner) in columns.iter().zip(&placed.corners) {
            of_column.entry(*column).or_default().push(*corner);
            prop_assert!(corner.0 + BOX.0 <= placed.width && corner.1 + BOX.1 <= placed.height);
        }
        let mut right = 0;
        for corners in of_column.values_mut() {
            let x = corners[0].0;
            prop_assert!(x > right && corners.iter().all(|corner| corner.0 == x));
            right = x + BOX.0;
            corners.sort_unstable();
            prop_assert!(corners.windows(2).all(|two| two[0].1 + BOX.1 + GAPS.1 == two[1].1));
        }
    }
}

/// Callers of different functions stay beside their function.
#[test]
fn the_order_avoids_crossings() {
    // Column 0: callers 0 to 3; column 1: 4 and 5. The callers alternate.
    let edges = [(0, 5), (1, 4), (2, 5), (3, 4)];
    let placed = layout(&[0, 0, 0, 0, 1, 1], &edges);
    let crossings = edges
        .iter()
        .flat_map(|a| edges.iter().map(move |b| (a, b)))
        .filter(|(a, b)| {
            let y = |node: usize| placed.corners[node].1;
            y(a.0) < y(b.0) && y(a.1) > y(b.1)
        })
        .count();
    assert_eq!(crossings, 0, "{placed:?}");
}
