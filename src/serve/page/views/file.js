// A file or a symbol of it: its path above, its source, and beside that its outline, who uses it and
// what it uses; below, a drawing of what reaches it or of the path to another symbol.

import { call } from "../api.js";
import { code, colour, wordsOf } from "../code.js";
import { count, fileAddress, fill, h, visible } from "../dom.js";
import { draw } from "../drawing.js";
import { editorLink } from "../editor.js";

export const follows = true;
export const title = (parameters) => parameters.get("symbol") || parameters.get("path") || "File";

// Lines around a symbol or line of a file that is longer.
const MOST_LINES = 1500;
// Symbols that are shown with the one around them.
const PARTS = ["field", "enum_member"];
const MOST_STEPS = 5;
const FORMATS = [["svg", "SVG", "image/svg+xml"], ["dot", "DOT", "text/vnd.graphviz"], ["mermaid", "Mermaid", "text/plain"]];
const EXTENSIONS = { svg: "svg", dot: "dot", mermaid: "mmd" };

// What is shown, and for which address.
let shown = {};

export async function show(main, parameters, { go, signal }) {
  const subject = ["path", "line", "symbol"].map((name) => parameters.get(name)).join("\n");
  const address = String(parameters);
  // Another drawing of the same symbol. At the same address, the index has changed.
  if (shown.picture?.isConnected && shown.isDone && shown.subject === subject && shown.address !== address) {
    shown.address = address;
    return picture(shown, parameters, go, signal, true);
  }
  const path = parameters.get("path") ?? "";
  const line = Number(parameters.get("line")) || null;
  const outlined = call("outline", { path, depth: 10, max_tokens: 200000 }, signal).catch(() => ({ symbols: [] }));
  const first = line ? Math.max(1, line - MOST_LINES / 2) : 1;
  const reading = call("read", { path, offset: first, limit: MOST_LINES, max_tokens: 200000 }, signal);
  reading.catch(() => {});
  const outline = (await outlined).symbols ?? [];
  const named = parameters.get("symbol");
  const holds = (s) => line && s.start_line <= line && line <= s.end_line;
  const last = named?.split(/[^\p{L}\p{N}_$?!]+/u).filter(Boolean).at(-1);
  const alike = outline.filter((s) => last && s.name === last);
  const symbol = alike.find(holds) ?? alike[0] ?? outline.findLast((s) => holds(s) && !PARTS.includes(s.kind));
  const target = symbol ? `${path}:${symbol.definition_line ?? symbol.start_line}` : path;
  const isCalled = ["function", "method", "macro"].includes(symbol?.kind);
  // All questions at once: none needs the answer of another.
  const ask = (operation) => call("graph", { operation, target, limit: 60 }, signal).catch((error) => ({ error }));
  const users = ask(isCalled ? "callers" : "dependents");
  const used = ask(isCalled ? "callees" : "dependencies");
  const read = await reading;
  const current = line ?? symbol?.start_line;
  const block = code(read.path, read.content, read.start_line, {
    address: (n) => fileAddress(read.path, n),
    current,
    mark: last ? wordsOf(last) : null,
  });
  const left = h("section", { class: "side", "aria-label": "Users" });
  const right = h("section", { class: "side", "aria-label": "Uses" });
  const trust = h("p", { class: "hint trust" });
  const past = h("span", {}, line ? `Line ${line}` : "Click a number to see who changed its line last, and why.");
  const now = {
    subject, address, target, path: read.path, name: symbol?.name ?? read.path,
    bar: h("div", { class: "bar drawn-bar" }), picture: h("section", { class: "picture", "aria-label": "Drawing" }),
  };
  const counts = new Map();
  const entry = (s) => {
    const uses = h("span", { class: "uses" });
    counts.set(`${s.name}\n${s.start_line}`, uses);
    return h("li", { class: `depth${Math.min(s.depth, 4)}` },
      h("a", { href: fileAddress(read.path, s.start_line, s.name), title: s.kind, "aria-current": s === symbol ? "true" : null }, visible(s.name)), " ", uses);
  };
  const listed = outline.length ? h("details", { class: "outline", hidden: true, open: matchMedia("(min-width: 60rem)").matches, "aria-label": "Outline" }, h("summary", {}, count(outline.length, "symbol")),
    h("ul", {}, outline.map(entry))) : null;
  const isTaller = shown.subject !== subject;
  // Somebody who reads stays where they are when the index changes.
  const before = shown.path === read.path ? main.querySelector("pre.code") : null;
  const place = before?.source.first === read.start_line ? before.scrollTop : null;
  const isNew = isTaller || !main.querySelector(".file-head");
  const open = isNew ? [] : [...main.querySelectorAll("details[open]")].map(nameOf);
  shown = now;
  fill(main,
    h("div", { class: "file-head" },
      h("h1", {}, crumbs(read.path), symbol ? h("span", { class: "symbol" }, ` ${visible(symbol.name)}`) : null, " ", editorLink(read.path, current)),
      now.bar),
    ...(read.warnings ?? []).map((text) => h("p", { class: "hint" }, visible(text))),
    h("div", { class: "file-body" },
      h("section", { class: "source", "aria-label": "Source" }, block,
        h("div", { class: "strip" }, past, h("span", { class: "extent" }, read.start_line > 1 || read.end_line < read.total_lines
          ? `Lines ${read.start_line} to ${read.end_line} of ${read.total_lines}` : count(read.total_lines, "line")))),
      h("div", { class: "rail" }, listed, h("div", { class: "neighbours" }, left, right, trust))),
    now.picture,
  );
  // Of a path that is wider than the screen, the end says most.
  const head = main.querySelector(".file-head h1");
  head.scrollLeft = head.scrollWidth;
  // Only the code scrolls, so the path stays in view.
  const row = current ? block.querySelector(`#L${current}`) : null;
  if (place !== null) block.scrollTop = place;
  if (row && (isTaller || place === null)) reveal(block, row);
  // All in one frame, since on a narrow screen each is below the other.
  const columns = now.columns = Promise.all([users, used]).then(([users, used]) => {
    neighbours(left, isCalled ? "Called by" : "Used by", users, (row) => row.path);
    neighbours(right, isCalled ? "Calls" : "Uses", used, () => read.path);
    if (listed) listed.hidden = false;
    if (!isNew) for (const folded of main.querySelectorAll("details")) folded.open = open.includes(nameOf(folded));
    performance.mark("columns");
  });
  await Promise.all([
    colour([block], signal),
    columns,
    picture(now, parameters, go, signal, isTaller),
  ]);
  now.isDone = true;
  // Last, because these take longest and nothing waits for them.
  if (line && read.index?.head) blame(past, read.path, line, signal);
  const uses = await call("file_uses", { path: read.path }, signal).catch(() => null);
  if (!uses) return;
  fill(trust, trusted(uses));
  for (const s of uses.symbols) {
    const text = [s.users && count(s.users, "user"), s.tests && count(s.tests, "test")].filter(Boolean).join(", ");
    counts.get(`${s.name}\n${s.line}`)?.append(text);
  }
}

// The path, whose folders lead to the map.
function crumbs(path) {
  const parts = path.split("/");
  return parts.map((part, i) => (i < parts.length - 1
    ? [h("a", { href: `/map?${new URLSearchParams({ path: parts.slice(0, i + 1).join("/") })}` }, visible(part)), h("span", { class: "at" }, "/")]
    : visible(part)));
}

// Scrolls a line into the middle of the code, unless it can be seen.
function reveal(block, row) {
  const top = row.offsetTop - block.scrollTop;
  if (top < 0 || top + row.offsetHeight > block.clientHeight) block.scrollTop = row.offsetTop - block.clientHeight / 2;
}

// Says which commit changed a line last, and what was said about it.
async function blame(place, path, line, signal) {
  const why = await call("why", { at: `${path}:${line}` }, signal).catch(() => null);
  if (!why) return;
  const [commit] = why.commits;
  const said = why.memories?.[0] ?? why.documents?.[0];
  fill(place, `Line ${line}: `,
    commit
      ? [h("a", { href: `/change?${new URLSearchParams({ range: `${commit.id}^..${commit.id}` })}` }, visible(commit.subject)),
        ` by ${visible(commit.author)}, ${commit.date}`]
      : why.missing ? visible(why.missing) : "changed since the last commit.",
    commit?.reasons.length ? ` · ${visible(commit.reasons.join(" "))}` : null,
    said ? ` · ${visible(said.name || said.content || said.text || said.path)}` : null);
  place.title = place.textContent;
}

// What a folded part is about, whatever its numbers.
const nameOf = (details) => details.closest("section")?.ariaLabel + details.querySelector("summary").textContent.replace(/[\d,]+/g, "");

// Fills a column with an answer of the code graph. What is less certain is folded away.
function neighbours(column, heading, answer, fileOf) {
  column.append(h("h2", {}, heading, answer.total ? h("span", { class: "n" }, ` ${answer.total}`) : null));
  if (answer.error) {
    if (answer.error.name === "AbortError") throw answer.error;
    column.append(h("p", { class: "hint" }, visible(answer.error.message)));
    return;
  }
  const item = (row) => {
    const at = row.line || 1;
    const sites = row.sites.map((n) => [h("a", { href: fileAddress(fileOf(row), n) }, String(n)), " "]);
    return h("li", { class: row.confidence < 0.5 ? "unsure" : null },
      h("a", { class: "result", href: fileAddress(row.path, at, row.kind === "file" ? null : row.symbol) }, visible(row.symbol)),
      h("span", { class: "place" }, visible(row.kind === "file" ? "" : row.path), row.sites.length ? [row.kind === "file" ? "line " : ", line ", sites] : null),
      row.reason ? h("span", { class: "place" }, visible(row.reason)) : null);
  };
  const rows = answer.results.map(item);
  column.append(rows.length ? h("ul", {}, rows) : h("p", { class: "hint" }, none(answer)));
  if (answer.total > rows.length) column.append(h("p", { class: "hint" }, `${rows.length} of ${answer.total} are shown.`));
  const unsure = answer.candidates ?? [];
  if (unsure.length) {
    column.append(h("details", {}, h("summary", {}, `${count(unsure.length, "candidate")}, less certain`), h("ul", {}, unsure.map(item))));
  }
  const unknown = answer.unresolved ?? [];
  if (unknown.length) {
    column.append(h("details", {}, h("summary", {}, `${count(answer.total_unresolved, "line")} with the name, of unknown meaning`),
      h("ul", {}, unknown.map((use) => h("li", {},
        h("a", { class: "result", href: fileAddress(use.path, use.line) }, `${visible(use.path)}:${use.line}`),
        h("code", {}, visible(use.text)))))));
  }
}

function none(answer) {
  const is = (answer.candidates?.length ?? 0) + (answer.unresolved?.length ?? 0);
  return is ? "None is certain." : "None is found.";
}

// Says how often the calls that are shown are right in a language.
function trusted({ language, is_code, precision }) {
  if (!is_code) return "";
  if (!precision) return `How often the calls that are shown are right was not measured for ${language}.`;
  const { lowest, highest, repositories } = precision;
  const share = lowest === highest ? lowest : `${lowest} to ${highest}`;
  return `${language}: ${share} % of the calls that are shown were right in ${repositories} measured repositories. Candidates are right less often; they are dashed.`;
}

// Shows the controls of the drawing, and the drawing that the address names.
async function picture(now, parameters, go, signal, comes) {
  const to = parameters.get("to") ?? "";
  const operation = to ? "path" : parameters.get("draw");
  const depth = Math.min(Math.max(Number(parameters.get("depth")) || 1, 1), MOST_STEPS);
  const candidates = parameters.get("candidates") === "1";
  const changed = (changes, kept = parameters) => {
    const next = new URLSearchParams(kept);
    for (const [name, value] of Object.entries(changes)) {
      if (value === null) next.delete(name);
      else next.set(name, value);
    }
    return `/file?${next}`;
  };
  // A box shows its symbol with the same drawing.
  const address = (path, line, symbol) => {
    const drawn = operation === "path" ? {} : { draw: operation, depth };
    return changed(drawn, new URL(fileAddress(path, line, symbol), location).searchParams);
  };
  const step = (what) => h("a", {
    class: "chip", href: changed({ draw: what === operation ? null : what, to: null }),
    "aria-current": what === operation ? "true" : null,
  }, what);
  const field = h("input", { name: "to", value: to, "aria-label": "Path to another symbol", placeholder: "path to …", autocomplete: "off", spellcheck: "false" });
  const select = h("select", {
    "aria-label": "Steps", disabled: operation === "path",
    onchange: () => go(changed({ draw: operation ?? "impact", depth: select.value })),
  }, Array.from({ length: MOST_STEPS }, (_, i) =>
    h("option", { value: i + 1, selected: i + 1 === depth }, i ? `${i + 1} steps` : "1 step")));
  const held = now.bar.contains(document.activeElement) ? document.activeElement.getAttribute("aria-label") : null;
  fill(now.bar, "Draw ", ["impact", "callers", "callees"].map(step), select,
    h("form", { role: "search", onsubmit: (event) => {
      event.preventDefault();
      const end = field.value.trim();
      go(changed({ to: end || null, draw: null }));
    } }, field));
  if (held) [...now.bar.querySelectorAll("[aria-label]")].find((one) => one.getAttribute("aria-label") === held)?.focus();
  if (!["impact", "callers", "callees", "path"].includes(operation)) return fill(now.picture);
  const request = { operation, target: now.target, depth: operation === "path" ? 1 : depth, candidates };
  if (to) request.to = to;
  const heading = h("h2", {}, to ? `path from ${visible(now.name)} to ${visible(to)}` : `${operation} of ${visible(now.name)}, ${depth} step${depth === 1 ? "" : "s"}`);
  let drawing;
  try {
    // What is above it comes first, or it would be moved.
    [drawing] = await Promise.all([call("drawing", request, signal), now.columns]);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    return fill(now.picture, heading, h("p", { class: "problem", role: "alert" }, visible(error.message)));
  }
  const isEmpty = !drawing.edges.length;
  const box = isEmpty
    ? h("p", { class: "hint" }, to ? "No path is found." : "Nothing is found.")
    : h("div", { class: "drawing", tabindex: "0", role: "region", "aria-label": heading.textContent },
      draw(drawing, heading.textContent, address));
  const say = h("span", { role: "status" });
  fill(now.picture, heading,
    h("div", { class: "bar" },
      to ? null : h("a", { class: "chip", href: changed({ candidates: candidates ? null : "1" }), "aria-current": candidates ? "true" : null }, "candidates, less certain"),
      isEmpty ? null : FORMATS.map(([format, name, type]) => h("button", { type: "button", class: "chip", onclick: () =>
        save(request, format, type, `${operation}-${now.name}`).catch((error) => fill(say, visible(error.message))) }, name)),
      say),
    ...(drawing.warnings ?? []).map((text) => h("p", { class: "hint" }, visible(text))),
    box,
    drawing.left_out ? h("p", { class: "hint" }, `${count(drawing.left_out, "symbol")} more ${drawing.left_out === 1 ? "is" : "are"} not drawn.`) : null);
  if (comes) now.picture.scrollIntoView({ block: "nearest" });
  const target = drawing.nodes.find((node) => node.is_target);
  if (target && !isEmpty) box.scrollTo(target.x - 20, target.y - box.clientHeight / 2);
}

// Saves the drawing as a file. The name of a symbol may hold anything.
async function save(request, format, type, name) {
  const { text } = await call("drawing", { ...request, format });
  const address = URL.createObjectURL(new Blob([text], { type }));
  const safe = name.replace(/[^\p{L}\p{N}_-]+/gu, "-").replace(/^-+|-+$/g, "").slice(0, 80);
  h("a", { href: address, download: `${safe}.${EXTENSIONS[format]}` }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}
