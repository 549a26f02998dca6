// The repository as a treemap: directories and files by size.

import { call } from "../api.js";
import { count, fileAddress, fill, h, link, visible } from "../dom.js";

export const follows = true;
export const title = (parameters) => parameters.get("path") || "Map";

const COLOURS = { language: "language", changes: "change frequency", references: "references" };
const HUES = 8;
const HEATS = 5;
// Height of the name of a directory, and the least height and width of a box with a name, in pixels.
const HEAD = 20;
const LEAST = [16, 40];

export async function show(main, parameters, { signal }) {
  const path = parameters.get("path") ?? "";
  const by = parameters.get("by") in COLOURS ? parameters.get("by") : "language";
  const address = (path, by) => `/map?${new URLSearchParams({ ...(path && { path }), ...(by !== "language" && { by }) })}`;
  const answer = await call("treemap", { path, references: by === "references" }, signal);
  const parts = path ? path.split("/") : [];
  const colour = by === "language" ? languages(answer) : heat(answer, by);
  const box = treemap(answer, by, colour, address, signal);
  fill(main,
    h("h1", {}, link(address("", by), {}, "root"),
      parts.map((part, i) => [" / ", i < parts.length - 1 ? link(address(parts.slice(0, i + 1).join("/"), by), {}, visible(part)) : visible(part)])),
    h("div", { class: "bar" },
      h("span", {}, `${count(answer.total.files, "file")}, ${count(answer.total.lines, "line")}`),
      h("span", {}, "Colour by "),
      Object.entries(COLOURS).map(([key, what]) => link(address(path, key), { class: "chip", "aria-current": key === by ? "true" : null }, what))),
    ...(answer.warnings ?? []).map((text) => h("p", { class: "hint" }, visible(text))),
    answer.rows.length ? h("div", { class: "legend" }, colour.legend) : h("p", { class: "hint" }, "Nothing is indexed yet."),
    box);
}

// Returns the treemap of an answer, drawn again whenever it changes its size.
function treemap(answer, by, colour, address, signal) {
  const box = h("div", { class: "treemap", role: "group", "aria-label": `Parts of ${answer.path || "the repository"}` });
  const draw = () => {
    const focused = document.activeElement?.dataset?.path;
    const shown = boxes(answer.rows, 0, 0, box.clientWidth, box.clientHeight, by, colour.of, address);
    fill(box, shown);
    if (focused) shown.flat(9).find((element) => element?.dataset?.path === focused)?.focus();
  };
  const seen = new ResizeObserver(draw);
  seen.observe(box);
  signal.addEventListener("abort", () => seen.disconnect());
  return box;
}

// Returns the treemap of the whole repository by language, for another view.
export async function overview(signal) {
  const answer = await call("treemap", {}, signal);
  const address = (path) => `/map?${new URLSearchParams({ path })}`;
  return [treemap(answer, "language", languages(answer), address, signal), answer.total];
}

// Returns the boxes of rows in a rectangle, each with those of its own rows.
function boxes(rows, left, top, width, height, by, colour, address) {
  const total = rows.reduce((sum, row) => sum + row.lines, 0);
  if (!total || width < 2 || height < 2) return [];
  return squarified(rows.filter((row) => row.lines), left, top, width, height, total).map(([row, x, y, w, hgt]) => {
    const inner = row.rows?.length && hgt > 2 * HEAD && w > LEAST[1];
    const facts = [count(row.files, "file"), count(row.lines, "line"), row.language,
      by === "changes" ? count(row.changes, "change") : null,
      by === "references" ? `${((row.references ?? 0) * 100).toFixed(1)} % of the references` : null].filter(Boolean).join(", ");
    const name = row.is_directory ? `${row.name}/` : row.name;
    const isNamed = hgt >= LEAST[0] && w >= LEAST[1];
    const element = h(row.path ? "a" : "div", {
      class: `box ${inner ? "outer" : ""} ${colour(row)}`, title: `${visible(row.path || row.name)}: ${facts}`,
      "aria-label": `${visible(name)}: ${facts}`, "data-path": row.path || null,
      href: row.path ? (row.is_directory ? address(row.path, by) : fileAddress(row.path)) : null,
      role: row.path ? null : "img",
    }, isNamed ? visible(name) : null);
    Object.assign(element.style, { left: `${x}px`, top: `${y}px`, width: `${Math.max(w - 1, 1)}px`, height: `${Math.max(hgt - 1, 1)}px` });
    return [element, inner ? boxes(row.rows, x + 3, y + HEAD, w - 7, hgt - HEAD - 4, by, colour, address) : null];
  });
}

// Divides a rectangle among rows by their lines, in rows or columns whose boxes are nearly squares.
function squarified(rows, left, top, width, height, total) {
  const out = [];
  let rest = [...rows].sort((a, b) => b.lines - a.lines);
  while (rest.length) {
    const scale = (width * height) / total;
    const side = Math.min(width, height);
    const worst = (strip) => {
      const sum = strip.reduce((all, row) => all + row.lines * scale, 0);
      return Math.max(...strip.map((row) => {
        const area = row.lines * scale;
        return Math.max((side * side * area) / (sum * sum), (sum * sum) / (side * side * area));
      }));
    };
    let n = 1;
    while (n < rest.length && worst(rest.slice(0, n + 1)) <= worst(rest.slice(0, n))) n += 1;
    const strip = rest.slice(0, n);
    const lines = strip.reduce((sum, row) => sum + row.lines, 0);
    const depth = n === rest.length ? Math.max(width, height) : (lines * scale) / side;
    let at = 0;
    for (const row of strip) {
      const length = (row.lines / lines) * side;
      out.push(width < height ? [row, left + at, top, length, depth] : [row, left, top + at, depth, length]);
      at += length;
    }
    if (width < height) { top += depth; height -= depth; } else { left += depth; width -= depth; }
    total -= lines;
    rest = rest.slice(n);
  }
  return out;
}

// The languages with the most lines have colours of their own.
function languages(answer) {
  const lines = new Map();
  for (const row of answer.rows.flatMap((row) => (row.rows?.length ? row.rows : [row]))) {
    if (row.language) lines.set(row.language, (lines.get(row.language) ?? 0) + row.lines);
  }
  const main = [...lines].sort((a, b) => b[1] - a[1]).slice(0, HUES).map(([name]) => name);
  const of = ({ language }) => (main.includes(language) ? `hue${main.indexOf(language)}` : "other");
  return { of, legend: main.map((name) => h("span", { class: `swatch ${of({ language: name })}` }, name)) };
}

// Parts with more changes or references for each file are darker.
function heat(answer, by) {
  const much = (row) => (row[by] ?? 0) / Math.max(row.files, 1);
  const all = answer.rows.flatMap((row) => [row, ...(row.rows ?? [])]).map(much).sort((a, b) => a - b);
  const of = (row) => {
    const below = all.filter((other) => other < much(row)).length;
    return `heat${Math.min(HEATS - 1, Math.floor((below / all.length) * HEATS))}`;
  };
  const what = by === "changes" ? "changes for each file" : "references for each file";
  const keys = [...Array(HEATS).keys()].map((i) => h("span", { class: `swatch heat${i}` }, i === 0 ? "few" : i === HEATS - 1 ? "many" : "\u00a0"));
  return { of, legend: [`${what}: `, keys] };
}
