// A file or a symbol of it: who uses it on the left, the source in the middle, what it uses on the right.

import { call } from "../api.js";
import { code, colour, wordsOf } from "../code.js";
import { count, fileAddress, fill, h, visible } from "../dom.js";

export const follows = true;
export const title = (parameters) => parameters.get("symbol") || parameters.get("path") || "File";

// Lines around a symbol or line of a file that is longer.
const MOST_LINES = 1500;
// Symbols that are shown with the one around them.
const PARTS = ["field", "enum_member"];

export async function show(main, parameters, { signal }) {
  const path = parameters.get("path") ?? "";
  const line = Number(parameters.get("line")) || null;
  const outlined = call("outline", { path, depth: 10 }, signal).catch(() => ({ symbols: [] }));
  const first = line ? Math.max(1, line - MOST_LINES / 2) : 1;
  const read = await call("read", { path, offset: first, limit: MOST_LINES, max_tokens: 200000 }, signal);
  const outline = (await outlined).symbols ?? [];
  const named = parameters.get("symbol");
  const holds = (s) => line && s.start_line <= line && line <= s.end_line;
  const last = named?.split(/[^\p{L}\p{N}_$?!]+/u).filter(Boolean).at(-1);
  const alike = outline.filter((s) => last && s.name === last);
  const symbol = alike.find(holds) ?? alike[0] ?? outline.findLast((s) => holds(s) && !PARTS.includes(s.kind));
  const current = line ?? symbol?.start_line;
  const block = code(read.path, read.content, read.start_line, {
    address: (n) => fileAddress(read.path, n),
    current,
    mark: last ? wordsOf(last) : null,
  });
  const left = h("section", { class: "side", "aria-label": "Users" });
  const right = h("section", { class: "side", "aria-label": "Uses" });
  const listed = outline.length ? h("details", { class: "outline", hidden: true }, h("summary", {}, count(outline.length, "symbol")),
    h("ul", {}, outline.map((s) => h("li", { class: `depth${Math.min(s.depth, 4)}` },
      h("a", { href: fileAddress(read.path, s.start_line, s.name) }, visible(s.name)), ` ${s.kind}`)))) : null;
  fill(main,
    h("h1", {}, visible(read.path), symbol ? h("span", { class: "symbol" }, ` ${visible(symbol.name)}`) : null),
    ...(read.warnings ?? []).map((text) => h("p", { class: "hint" }, visible(text))),
    h("div", { class: "columns" }, left, h("section", { class: "source", "aria-label": "Source" }, block,
      read.start_line > 1 || read.end_line < read.total_lines
        ? h("p", { class: "hint" }, `Lines ${read.start_line} to ${read.end_line} of ${read.total_lines}.`) : null), right),
    listed,
  );
  if (current) block.querySelector(`#L${current}`)?.scrollIntoView({ block: "center" });
  const target = symbol ? `${read.path}:${symbol.definition_line ?? symbol.start_line}` : read.path;
  const isCalled = ["function", "method", "macro"].includes(symbol?.kind);
  const coloured = colour([block], signal);
  const columns = await Promise.all([
    neighbours(isCalled ? "callers" : "dependents", isCalled ? "called by" : "used by", target, signal),
    neighbours(isCalled ? "callees" : "dependencies", isCalled ? "calls" : "uses", target, signal),
  ]);
  // All in one frame, since on a narrow screen each is below the other.
  left.append(...columns[0]);
  right.append(...columns[1]);
  if (listed) listed.hidden = false;
  await coloured;
}

// Returns a column with the answer of the code graph. What is less certain is folded away.
async function neighbours(operation, heading, target, signal) {
  const column = [h("h2", {}, heading)];
  let answer;
  try {
    answer = await call("graph", { operation, target, limit: 60 }, signal);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    column.push(h("p", { class: "hint" }, visible(error.message)));
    return column;
  }
  const isOutward = operation === "callees" || operation === "dependencies";
  const item = (row) => {
    const at = row.line || 1;
    const sites = row.sites.map((n) => [h("a", { href: fileAddress(isOutward ? pathOf(target) : row.path, n) }, String(n)), " "]);
    return h("li", { class: row.confidence < 0.5 ? "unsure" : null },
      h("a", { class: "result", href: fileAddress(row.path, at, row.kind === "file" ? null : row.symbol) }, visible(row.symbol)),
      h("span", { class: "place" }, visible(row.kind === "file" ? "" : row.path), row.sites.length ? [" at ", sites] : null),
      row.reason ? h("span", { class: "place" }, visible(row.reason)) : null);
  };
  const rows = answer.results.map(item);
  column.push(rows.length ? h("ul", {}, rows) : h("p", { class: "hint" }, none(answer)));
  if (answer.total > rows.length) column.push(h("p", { class: "hint" }, `${rows.length} of ${answer.total} are shown.`));
  const unsure = answer.candidates ?? [];
  if (unsure.length) {
    column.push(h("details", {}, h("summary", {}, `${count(unsure.length, "candidate")}, less certain`), h("ul", {}, unsure.map(item))));
  }
  const unknown = answer.unresolved ?? [];
  if (unknown.length) {
    column.push(h("details", {}, h("summary", {}, `${count(answer.total_unresolved, "line")} with the name, of unknown meaning`),
      h("ul", {}, unknown.map((use) => h("li", {},
        h("a", { class: "result", href: fileAddress(use.path, use.line) }, `${visible(use.path)}:${use.line}`),
        h("code", {}, visible(use.text)))))));
  }
  return column;
}

const pathOf = (target) => target.replace(/:\d+$/, "");

function none(answer) {
  const is = (answer.candidates?.length ?? 0) + (answer.unresolved?.length ?? 0);
  return is ? "None is certain." : "None is found.";
}
