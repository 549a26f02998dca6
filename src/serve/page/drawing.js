// Draws what the server has placed: boxes that are links, and curves from a user to what it uses.

import { svg, visible } from "./dom.js";

// Most characters of a name and of a place that fit into a box.
const NAME = 28;
const PLACE = 32;
// With more edges, the lines of the calls would cover each other.
const LABELLED = 12;

// Keeps the end of a text: the name of a method, the line of a place.
function fitted(text, most) {
  const shown = [...visible(text)];
  return shown.length > most ? `…${shown.slice(1 - most).join("")}` : shown.join("");
}

// Returns the drawing. `address(path, line, symbol)` is where a box leads; `label` says what it is.
export function draw(drawing, label, address) {
  const { nodes, edges, width, height } = drawing;
  const place = (node) => (node.line ? `${node.path}:${node.line}` : "");
  const box = (node) => {
    const steps = node.is_target ? "the target" : node.depth === 1 ? "1 step" : `${node.depth} steps`;
    return svg("a", { class: "result", href: address(node.path, node.line, node.line ? node.symbol : null) },
    svg("title", {}, visible(`${node.kind} ${node.symbol} ${place(node)}, ${steps}`)),
    svg("svg", { x: node.x, y: node.y, width: drawing.box_width, height: drawing.box_height },
      svg("rect", { class: node.is_target ? "box target" : "box", x: 1, y: 1, width: drawing.box_width - 2, height: drawing.box_height - 2, rx: 6 }),
      svg("text", { x: 9, y: node.line ? 18 : 26 }, fitted(node.symbol, NAME)),
      node.line ? svg("text", { class: "soft", x: 9, y: 34 }, fitted(place(node), PLACE)) : null));
  };
  const sites = (edge) => {
    if (!edge.sites.length || edges.length > LABELLED) return null;
    const [x, y] = edge.middle;
    const first = edge.sites[0];
    const more = edge.sites.length > 1 ? ` +${edge.sites.length - 1}` : "";
    return svg("a", {
      href: address(nodes[edge.from].path, first, null),
      "aria-label": visible(`line ${first}${more} of ${nodes[edge.from].path}, which uses ${nodes[edge.to].symbol}`),
    }, svg("text", { class: "site", x, y: y - 4, "text-anchor": "middle" }, `line ${first}${more}`));
  };
  const curve = (edge) =>
    svg("path", { class: edge.is_unsure ? "edge unsure" : "edge", d: edge.curve, "marker-end": "url(#arrow)" });
  return svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": visible(label) },
    svg("defs", {}, svg("marker", { id: "arrow", viewBox: "0 0 8 8", refX: 8, refY: 4, markerWidth: 8, markerHeight: 8, orient: "auto" },
      svg("path", { d: "M0 0L8 4L0 8z" }))),
    svg("g", { "aria-hidden": "true" }, ...edges.map(curve)),
    ...nodes.map(box), ...edges.map(sites));
}
