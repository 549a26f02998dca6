//! Writes a drawing as Graphviz, Mermaid or SVG. Names come from a repository, so each format escapes
//! everything that could end a text in it.

use std::fmt::Write;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::picture::{Drawing, DrawnEdge, DrawnNode};
use crate::source::printable;
use crate::text::cut;

/// The form of a drawing as a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DrawingFormat {
    /// Graphviz
    Dot,
    Mermaid,
    /// A picture that is its own file
    Svg,
}

/// Most characters of a name and of a place that fit into a box.
const NAME: usize = 28;
const PLACE: usize = 32;
/// Most lines of calls at an edge.
const SITES: usize = 3;
/// Edges of a drawing with more of them show no lines of calls: these would cover each other.
const LABELLED: usize = 12;

impl Drawing {
    /// Writes the drawing in a format, without a line break at the end.
    #[must_use]
    pub fn text(&self, format: DrawingFormat) -> String {
        match format {
            DrawingFormat::Dot => self.dot(),
            DrawingFormat::Mermaid => self.mermaid(),
            DrawingFormat::Svg => self.svg(),
        }
    }

    /// Says what has no place in the drawing.
    #[must_use]
    pub fn left_out(&self) -> Option<String> {
        (self.left_out > 0).then(|| match self.left_out {
            1 => "1 more symbol is not drawn".to_string(),
            n => format!("{n} more symbols are not drawn"),
        })
    }

    fn dot(&self) -> String {
        let mut out = String::from("digraph {\n  rankdir=LR;\n  node [shape=box];\n");
        if let Some(left_out) = self.left_out() {
            let _ = writeln!(out, "  label=\"{}\";", in_dot(&left_out));
        }
        for (n, node) in self.nodes.iter().enumerate() {
            let bold = if node.is_target { ", style=bold" } else { "" };
            let (name, place) = (in_dot(&node.symbol), place(node));
            let place = place.map(|place| format!("\\n{}", in_dot(&place))).unwrap_or_default();
            let _ = writeln!(out, "  n{n} [label=\"{name}{place}\"{bold}];");
        }
        for edge in &self.edges {
            let mut attributes = Vec::new();
            if edge.is_unsure {
                attributes.push("style=dashed".to_string());
            }
            if let Some(sites) = self.sites(edge) {
                attributes.push(format!("label=\"{sites}\""));
            }
            let attributes = match &attributes[..] {
                [] => String::new(),
                some => format!(" [{}]", some.join(", ")),
            };
            let _ = writeln!(out, "  n{} -> n{}{attributes};", edge.from, edge.to);
        }
        out + "}"
    }

    fn mermaid(&self) -> String {
        let mut out = String::from("graph LR\n");
        for (n, node) in self.nodes.iter().enumerate() {
            let name = in_mermaid(&node.symbol);
            let place = place(node).map(|place| format!("<br/>{}", in_mermaid(&place)));
            let _ = writeln!(out, "  n{n}[\"{name}{}\"]", place.unwrap_or_default());
        }
        if let Some(left_out) = self.left_out() {
            let _ = writeln!(out, "  more[\"{}\"]", in_mermaid(&left_out));
        }
        for edge in &self.edges {
            let line = if edge.is_unsure { "-.->" } else { "-->" };
            let sites = self.sites(edge).map(|sites| format!("|{sites}|")).unwrap_or_default();
            let _ = writeln!(out, "  n{} {line}{sites} n{}", edge.from, edge.to);
        }
        let targets: Vec<String> = (0..self.nodes.len())
            .filter(|n| self.nodes[*n].is_target)
            .map(|n| format!("n{n}"))
            .collect();
        if !targets.is_empty() {
            let _ = writeln!(out, "  style {} stroke-width:3px", targets.join(","));
        }
        out.trim_end().to_string()
    }

    fn svg(&self) -> String {
        let caption = self.left_out();
        let (width, height) = (self.width, self.height + if caption.is_some() { 24 } else { 0 });
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" role=\"img\">\n{SVG_STYLE}<rect class=\"back\" width=\"{width}\" height=\"{height}\"/>\n"
        );
        for edge in &self.edges {
            let (from, to) = (&self.nodes[edge.from], &self.nodes[edge.to]);
            let dashed = if edge.is_unsure { " stroke-dasharray=\"5 4\"" } else { "" };
            let _ = writeln!(
                out,
                "<path class=\"edge\" d=\"{}\" marker-end=\"url(#end)\"{dashed}><title>{}</title></path>",
                edge.curve,
                in_xml(&format!("{} → {}", from.symbol, to.symbol))
            );
            if let Some(sites) = self.sites(edge) {
                let (x, y) = edge.middle;
                let _ = writeln!(
                    out,
                    "<text class=\"soft\" x=\"{x}\" y=\"{}\" text-anchor=\"middle\">{sites}</text>",
                    y.saturating_sub(4)
                );
            }
        }
        for node in &self.nodes {
            let target = if node.is_target { " target" } else { "" };
            let place = place(node);
            let whole = format!("{} {} {}", node.kind, node.symbol, place.as_deref().unwrap_or(""));
            let _ = write!(
                out,
                "<svg x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"><title>{}</title><rect class=\"box{target}\" x=\"1\" y=\"1\" width=\"{}\" height=\"{}\" rx=\"6\"/><text x=\"9\" y=\"18\">{}</text>",
                node.x,
                node.y,
                self.box_width,
                self.box_height,
                in_xml(whole.trim_end()),
                self.box_width - 2,
                self.box_height - 2,
                in_xml(&fitted(&node.symbol, NAME)),
            );
            if let Some(place) = place {
                let place = in_xml(&fitted(&place, PLACE));
                let _ = write!(out, "<text class=\"soft\" x=\"9\" y=\"34\">{place}</text>");
            }
            out += "</svg>\n";
        }
        if let Some(caption) = caption {
            let _ = writeln!(
                out,
                "<text class=\"soft\" x=\"12\" y=\"{}\">{}</text>",
                height - 10,
                in_xml(&caption)
            );
        }
        out + "</svg>"
    }

    /// Returns the lines of the calls of an edge, if the drawing has room for them.
    fn sites(&self, edge: &DrawnEdge) -> Option<String> {
        if edge.sites.is_empty() || self.edges.len() > LABELLED {
            return None;
        }
        let lines: Vec<String> = edge.sites.iter().take(SITES).map(u32::to_string).collect();
        let more = if edge.sites.len() > SITES { " …" } else { "" };
        let what = if edge.sites.len() == 1 { "line" } else { "lines" };
        Some(format!("{what} {}{more}", lines.join(" ")))
    }
}

/// The colours of a picture that is its own file, in light and dark.
const SVG_STYLE: &str = "<style>
text{font:12px ui-monospace,Menlo,Consolas,monospace;fill:#1b1f24}
.soft{font-size:11px;fill:#59636e}
.back{fill:#fff}.box{fill:#f5f7f9;stroke:#8a94a0}.target{stroke:#1d5cb8;stroke-width:2}
.edge{fill:none;stroke:#59636e}#end path{fill:#59636e}
@media(prefers-color-scheme:dark){text{fill:#e4e8ec}.soft{fill:#9aa5b1}.back{fill:#14171b}.box{fill:#1c2127;stroke:#6b7682}.target{stroke:#82b3ff}.edge{stroke:#9aa5b1}#end path{fill:#9aa5b1}}
</style>
<defs><marker id=\"end\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\"/></marker></defs>
";

/// Returns `path:line`; nothing for a file, whose name is its path.
fn place(node: &DrawnNode) -> Option<String> {
    (node.line > 0).then(|| format!("{}:{}", node.path, node.line))
}

/// Keeps the end of a text that is too long: the name of a method, the line of a place.
fn fitted(text: &str, n_chars: usize) -> String {
    let text = printable(text);
    match text.chars().count().saturating_sub(n_chars) {
        0 => text.into_owned(),
        over => format!("…{}", text.chars().skip(over + 1).collect::<String>()),
    }
}

/// Most characters of a name or place in a text format.
const LONGEST: usize = 300;

/// Escapes for a quoted text of Graphviz, which reads entities, too.
fn in_dot(text: &str) -> String {
    cut(&printable(text), LONGEST).replace('\\', "\\\\").replace('"', "\\\"").replace('&', "&amp;")
}

/// Escapes for a quoted text of Mermaid, which may read Markdown, HTML and directives in it.
fn in_mermaid(text: &str) -> String {
    let mut out = String::new();
    for c in cut(&printable(text), LONGEST).chars() {
        if c.is_alphanumeric() || " _-.,:/()…".contains(c) {
            out.push(c);
        } else {
            let _ = write!(out, "#{};", u32::from(c));
        }
    }
    out
}

/// Escapes for a text of XML, which some characters may not be in.
fn in_xml(text: &str) -> String {
    let mut out = String::new();
    for c in cut(&printable(text), LONGEST).chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
