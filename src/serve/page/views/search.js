// Search as you type.

import { call } from "../api.js";
import { code, colour, wordsOf } from "../code.js";
import { count, fileAddress, fill, h, link, visible } from "../dom.js";
import { editorLink } from "../editor.js";

export const follows = true;
export const title = (parameters) => parameters.get("q") || "Search";

const FILTERS = [["languages", "language"], ["paths", "path"], ["types", "type"]];
const LINES = 8;
// Number of results, and of those that fill a screen.
const LIMIT = 20;
const FIRST = 5;
// How long the other results wait for a frame, in milliseconds.
const PATIENCE = 100;
// How long nothing is typed before the rest is asked for, in milliseconds.
const PAUSE = 150;

export async function show(main, parameters, { go, signal }) {
  const query = parameters.get("q")?.trim();
  if (!query) {
    fill(main, h("h1", {}, "Search"), h("p", { class: "lead" }, "Type a question, some words, or a name."),
      h("p", { class: "hint" }, "Results appear while you type. ", h("kbd", {}, "↓"), " goes to them, ", h("kbd", {}, "Enter"), " opens one."));
    return;
  }
  // At the top, only the first results are seen: the others are asked for once a frame shows these.
  const n = scrollY > 0 ? LIMIT : FIRST;
  const request = { query, limit: n, lines: LINES, include_stats: true, explain: parameters.has("why") };
  for (const [name] of FILTERS) if (parameters.has(name)) request[name] = parameters.getAll(name);
  if (parameters.has("tests")) request.tests = parameters.get("tests");
  const answer = await call("find", request, signal);
  const mark = wordsOf(query);
  const draw = (rows) => rows.map((row) => result(row, mark, parameters, go));
  const rows = draw(answer.results);
  const list = h("ol", { class: "results", "aria-busy": "true" }, rows);
  const time = answer.stats ? `, ${answer.stats.milliseconds.toFixed(1)} ms` : "";
  fill(main, 
    h("div", { class: "bar" },
      h("span", {}, `${count(answer.total, "file")}${time}`),
      chips(parameters, go),
      toggle(parameters, go, "tests", "none", "without tests"),
      toggle(parameters, go, "why", "1", "why this result")),
    ...(answer.notes ?? []).map((note) => h("p", { class: "hint" }, visible(note))),
    h("div", { class: "columns wide-left" },
      h("div", {},
        list,
        rows.length ? null : h("p", { class: "hint" }, "Nothing is found. Fewer or other words may help.")),
      aside),
  );
  await frame();
  if (signal.aborted) return;
  const colours = (items) => colour(items.flatMap((item) => [...item.querySelectorAll("pre.code")]), signal);
  const coloured = colours(rows);
  coloured.catch(() => {});
  // Who types on does not want the rest, and it would delay what the next key finds.
  if (document.activeElement?.id === "query") await new Promise((typed) => setTimeout(typed, PAUSE));
  if (signal.aborted) return;
  let others = [];
  if (n < LIMIT && answer.next_cursor) {
    const rest = { ...request, limit: LIMIT - n, cursor: answer.next_cursor };
    others = draw((await call("find", rest, signal)).results);
    if (signal.aborted) return;
    list.append(...others);
  }
  await Promise.all([coloured, colours(others), past(query, signal)]);
  list.removeAttribute("aria-busy");
}

// Waits until what is filled in can be seen. A tab in the background draws no frames.
const frame = () => new Promise((drawn) => {
  requestAnimationFrame(() => setTimeout(drawn));
  setTimeout(drawn, PATIENCE);
});

// What sessions and commits say, beside the code. It stays while the next answer is on its way.
const aside = h("section", { "aria-label": "Memories and commits" });

async function past(query, signal) {
  const { memories, commits } = await call("past", { query }, signal);
  const day = (at) => h("span", { class: "at" }, ` ${at.slice(0, 10)}`);
  const list = (heading, rows, item) => (rows.length
    ? [h("h2", {}, heading), h("ul", {}, rows.map((row) => h("li", {}, item(row))))] : null);
  fill(aside,
    list("Memories", memories, (row) => [
      link(`/memory?${new URLSearchParams({ q: query })}`, {}, visible(row.name || row.content.slice(0, 160))), day(row.created_at),
      row.doubt ? h("span", { class: "place" }, `may be out of date: ${visible(row.doubt)}`) : null]),
    list("Commits", commits, (row) => [
      link(`/change?${new URLSearchParams({ range: `${row.id}^..${row.id}` })}`, {}, visible(row.title)), day(row.at),
      h("span", { class: "place" }, row.files.map((path) => [link(fileAddress(path), {}, visible(path)), " "]),
        row.total_files > row.files.length ? `and ${row.total_files - row.files.length} more` : null)]));
}

function change(parameters, edit) {
  const next = new URLSearchParams(parameters);
  edit(next);
  return `/search?${next}`;
}

// The filters that are set; a click removes one.
function chips(parameters, go) {
  return FILTERS.flatMap(([name, what]) => parameters.getAll(name).map((value) =>
    h("button", {
      type: "button", class: "chip", "aria-label": `Remove the filter ${what} ${value}`,
      onclick: () => go(change(parameters, (next) => next.delete(name, value))),
    }, `${what}: ${visible(value)} ×`)));
}

function toggle(parameters, go, name, value, text) {
  const has = parameters.has(name);
  return h("button", {
    type: "button", class: "chip", "aria-pressed": String(has),
    onclick: () => go(change(parameters, (next) => (has ? next.delete(name) : next.set(name, value)))),
  }, text);
}

function result(row, mark, parameters, go) {
  const path = row.path ?? row.chunk_id;
  const best = row.excerpts?.[0];
  const window = best?.windows?.[0];
  const line = window?.start_line ?? row.start_line;
  const others = (row.others ?? []).filter((other) => other.symbol).slice(0, 4);
  const filter = (name, value, what) => value && h("button", {
    type: "button", class: "chip quiet", "aria-label": `Only ${what} ${value}`,
    onclick: () => go(change(parameters, (next) => next.has(name, value) || next.append(name, value))),
  }, visible(value));
  const folder = path.includes("/") ? path.slice(0, path.lastIndexOf("/") + 1) : null;
  return h("li", {},
    h("div", { class: "head" },
      h("a", { class: "result", href: fileAddress(path, line, best?.symbol) },
        visible(path), h("span", { class: "at" }, `:${line}`)),
      best?.symbol ? h("span", { class: "symbol" }, visible(best.symbol)) : null,
      filter("languages", row.language, "files of"),
      filter("types", row.chunk_type, "chunks of the type"),
      filter("paths", folder, "files below"),
      editorLink(path, line)),
    window ? code(path, window.text, line, { mark, address: (n) => fileAddress(path, n) }) : null,
    others.length
      ? h("p", { class: "more" }, "Also in this file: ", others.map((other) => [
          h("a", { class: "symbol", href: fileAddress(path, other.start_line, other.symbol) }, visible(other.symbol)), " "]))
      : null,
    row.changed_by ? h("p", { class: "more" }, "In its history ", visible(row.changed_by)) : null,
    row.explain?.length ? why(row.explain) : null);
}

// The parts that add up to the score, as bars.
function why(parts) {
  const rows = parts.filter(({ contribution }) => contribution).sort((a, b) => Math.abs(b.contribution) - Math.abs(a.contribution));
  const most = Math.abs(rows[0]?.contribution ?? 1);
  return h("table", { class: "why" }, h("caption", {}, "Parts of the score"),
    rows.map(({ feature, contribution }) => h("tr", {},
      h("th", { scope: "row" }, feature),
      h("td", {}, contribution.toFixed(2)),
      h("td", { class: "bar-cell" }, h("meter", { class: contribution < 0 ? "less" : null, min: 0, max: most, value: Math.abs(contribution), "aria-label": feature })))));
}
