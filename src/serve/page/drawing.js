// Draws what the server has placed: boxes that are links, and curves from a user to what it uses.

import { visible } from "./dom.js";

const NAMESPACE = "http://www.w3.org/2000/svg";
// Most characters of a name and of a place that fit into a box.
const NAME = 28;
const PLACE = 32;
// With more edges, the lines of the calls would cover each other.
const LABELLED = 12;

function s(tag, attributes, ...children) {
  const element = document.createElementNS(NAMESPACE, tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) element.setAttribute(name, String(value));
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

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
    return s("a", { class: "result", href: address(node.path, node.line, node.line ? node.symbol : null) },
    s("title", {}, visible(`${node.kind} ${node.symbol} ${place(node)}, ${steps}`)),
    s("svg", { x: node.x, y: node.y, width: drawing.box_width, height: drawing.box_height },
      s("rect", { class: node.is_target ? "box target" : "box", x: 1, y: 1, width: drawing.box_width - 2, height: drawing.box_height - 2, rx: 6 }),
      s("text", { x: 9, y: node.line ? 18 : 26 }, fitted(node.symbol, NAME)),
      node.line ? s("text", { class: "soft", x: 9, y: 34 }, fitted(place(node), PLACE)) : null));
  };
  const sites = (edge) => {
    if (!edge.sites.length || edges.length > LABELLED) return null;
    const [x, y] = edge.middle;
    const first = edge.sites[0];
    const more = edge.sites.length > 1 ? ` +${edge.sites.length - 1}` : "";
    return s("a", {
      href: address(nodes[edge.from].path, first, null),
      "aria-label": visible(`line ${first}${more} of ${nodes[edge.from].path}, which uses ${nodes[edge.to].symbol}`),
    }, s("text", { class: "site", x, y: y - 4, "text-anchor": "middle" }, `line ${first}${more}`));
  };
  const curve = (edge) =>
    s("path", { class: edge.is_unsure ? "edge unsure" : "edge", d: edge.curve, "marker-end": "url(#arrow)" });
  return s("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": visible(label) },
    s("defs", {}, s("marker", { id: "arrow", viewBox: "0 0 8 8", refX: 8, refY: 4, markerWidth: 8, markerHeight: 8, orient: "auto" },
      s("path", { d: "M0 0L8 4L0 8z" }))),
    s("g", { "aria-hidden": "true" }, ...edges.map(curve)),
    ...nodes.map(box), ...edges.map(sites));
}
