// What the working tree, or a range of commits, changes: the lines, and beside them what they touch.

import { call } from "../api.js";
import { colour } from "../code.js";
import { count, fileAddress, fill, h, visible } from "../dom.js";

export const follows = true;
export const title = (parameters) => named(parameters.get("range")) || "Change";

// Returns a range as somebody reads it: with short hashes, and what one commit changed as this commit.
function named(range) {
  const short = (range ?? "").replace(/\b([0-9a-f]{9})[0-9a-f]{31,}\b/g, "$1");
  return short.replace(/^([0-9a-f]{9})\^\.\.\1$/, "commit $1");
}

// Rows that are not folded away, and files whose lines are not.
const FIRST = 8;
const OPEN = 30;
// How a symbol or file changes, as a difference marks it.
const MARKS = { added: "+", deleted: "−" };

export async function show(main, parameters, { go, signal }) {
  const range = parameters.get("range") ?? "";
  const request = range ? { range } : {};
  const touched = call("impact", { ...request, max_tokens: 20000 }, signal).catch((error) => ({ error }));
  const field = h("input", { name: "range", value: range, "aria-label": "Commit or range", placeholder: "HEAD~3, main..", spellcheck: "false" });
  const form = h("form", {
    class: "bar",
    onsubmit: (event) => {
      event.preventDefault();
      go(field.value ? `/change?${new URLSearchParams({ range: field.value })}` : "/change");
    },
  }, h("label", {}, "Changes of ", field), h("button", {}, "Show"),
  h("span", { class: "hint" }, range ? h("a", { href: "/change" }, "Show the working tree") : "Without a range: the working tree."));
  let patch;
  try {
    patch = await call("patch", request, signal);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    fill(main, form, h("p", { class: "problem", role: "alert" }, visible(error.message)));
    return;
  }
  // Somebody who reads stays where they are when the index changes.
  const isNew = main.querySelector(".change")?.dataset.range !== range;
  const folded = new Map(isNew ? [] : [...main.querySelectorAll(".patch")].map((file) => [file.dataset.path, file.lastChild.hidden]));
  const of = visible(named(range) || "working tree against HEAD");
  const aside = h("div", { class: "touched" }, isNew && patch.total_files ? h("p", { class: "hint" }, "Reading the code graph, which knows users and tests …") : null);
  // On a narrow screen, they are below the difference.
  const lead = h("h1", { class: "lead" }, patch.total_files ? `${count(patch.total_files, "file")} (${of}) ` : `Nothing is changed (${of}).`,
    patch.total_files ? h("button", { type: "button", class: "chip narrow", onclick: () => aside.scrollIntoView() }, "Users and tests") : null);
  const files = patch.files.map((row, i) => changedFile(row, folded.get(row.path) ?? i >= OPEN));
  const body = h("div", { class: "change", "data-range": range },
    h("section", { class: "patches", "aria-label": "Difference" }, (patch.limits ?? []).map((text) => h("p", { class: "hint" }, visible(text))), files), aside);
  const finish = (answer) => {
    if (answer.error) fill(aside, h("p", { class: "problem", role: "alert" }, visible(answer.error.message)));
    else fill(aside, sections(answer, patch.limits ?? []));
  };
  // What is beside the difference stays until the new answer is there.
  const answer = isNew ? null : await touched;
  if (answer) finish(answer);
  fill(main, form, lead, body);
  const blocks = files.map((file) => file.querySelector("pre")).filter(Boolean);
  await Promise.all([colour(blocks, signal), touched.then((found) => {
    if (found.error?.name === "AbortError") throw found.error;
    if (!answer) finish(found);
  })]);
}

// A file with the lines that differ.
function changedFile(row, isFolded) {
  const n = (text, kind) => h("span", { class: kind }, text);
  const body = h("div", { hidden: isFolded },
    row.note ? h("p", { class: "hint" }, visible(row.note)) : null,
    row.parts.length ? lines(row) : null,
    row.left_out ? h("p", { class: "hint" }, `${count(row.left_out, "more line")} ${row.left_out === 1 ? "is" : "are"} not shown.`) : null);
  const fold = h("button", {
    type: "button", class: "fold", "aria-label": `Lines of ${row.path}`, "aria-expanded": String(!isFolded),
    onclick: () => {
      body.hidden = !body.hidden;
      fold.setAttribute("aria-expanded", String(!body.hidden));
    },
  });
  return h("section", { class: "patch", "data-path": row.path },
    h("div", { class: "patch-head" }, fold, mark(row),
      h("a", { class: "result", href: fileAddress(row.path) }, visible(row.path)),
      row.from ? h("span", { class: "place" }, ` was ${visible(row.from)}`) : null,
      h("span", { class: "counts" },
        row.added_lines ? n(`+${row.added_lines.toLocaleString("en")}`, "added") : null, " ",
        row.deleted_lines ? n(`−${row.deleted_lines.toLocaleString("en")}`, "deleted") : null)),
    body);
}

function mark({ how }) {
  return h("span", { class: `how ${how}`, title: how, "aria-label": how, role: "img" }, MARKS[how] ?? "~");
}

// The lines with their numbers before and after, as one block of code.
function lines({ path, how, parts }) {
  const number = (n, address) => h("a", { class: "number", href: address, tabindex: "-1" }, n ? String(n) : "");
  const line = ({ old, new: now, text }) => {
    const [kind, sign] = !old ? ["added", "+"] : !now ? ["deleted", "−"] : ["", ""];
    return h("div", { class: `line ${kind}` }, number(old), number(now, now && how !== "deleted" ? fileAddress(path, now) : null),
      h("span", { class: "sign" }, sign), h("code", {}, visible(text)));
  };
  const block = h("pre", { class: "code", tabindex: "0", "aria-label": `Difference of ${path}` },
    parts.map((part, i) => [i ? h("div", { class: "gap", "aria-hidden": "true" }, "⋯") : null, part.lines.map(line)]));
  block.source = { path, text: parts.flatMap((part) => part.lines.map((line) => line.text)).join("\n") };
  return block;
}

// What the change touches, as sections.
function sections(answer, known) {
  const place = (row, text) => h("a", { class: "result", href: fileAddress(row.path, row.line, row.kind === "file" ? null : row.symbol) }, visible(text ?? row.symbol ?? row.path));
  const file = (row, text = row.path) => place({ ...row, kind: "file" }, text);
  const list = (heading, rows, item, total) => rows?.length
    ? h("section", { class: "panel" }, h("h2", {}, heading, h("span", { class: "n" }, ` ${(total ?? rows.length).toLocaleString("en")}`)),
      more("rows", rows, item),
      total > rows.length ? h("p", { class: "hint" }, `${rows.length} of ${total.toLocaleString("en")} are shown.`) : null)
    : null;
  const reason = (text) => (text ? h("span", { class: "place" }, visible(text)) : null);
  return [
    answer.changed.length ? h("p", { class: "hint" }, summary(answer)) : null,
    (answer.warnings ?? []).filter((text) => !known.includes(text)).map((text) => h("p", { class: "hint" }, visible(text))),
    list("Lines that still use a deleted name", answer.deleted_uses, (row) => [file(row, `${row.path}:${row.line}`), reason(row.text)]),
    list("Users", answer.users, (row) => [place(row), reason(row.kind === "file" ? "" : row.path)], answer.total_users),
    list("Tests", answer.tests, (row) => [place(row), reason(row.reason)], answer.total_tests),
    answer.commands.length ? h("section", { class: "panel" }, h("h2", {}, "Run"), answer.commands.map((command) => h("pre", { class: "command", tabindex: "0" }, visible(command)))) : null,
    changed(answer, place, file),
    list("Look at next", answer.files, (row) => [file(row), reason(row.reasons.join("; "))]),
  ];
}

// A list whose later rows are folded away.
function more(kind, rows, item) {
  const list = (part) => h("ul", { class: kind }, part.map((row) => h("li", {}, item(row))));
  return [list(rows.slice(0, FIRST)),
    rows.length > FIRST ? h("details", {}, h("summary", {}, `${rows.length - FIRST} more`), list(rows.slice(FIRST))) : null];
}

function summary({ total_changed, total_users, total_tests }) {
  return `${count(total_users, "user")} and ${count(total_tests, "test")} depend on ${count(total_changed, "changed place")}.`;
}

// The changed symbols, by file.
function changed({ changed, total_changed }, place, file) {
  if (!changed.some((row) => row.kind !== "file")) return null;
  const files = new Map();
  for (const row of changed) files.set(row.path, [...(files.get(row.path) ?? []), row]);
  return h("section", { class: "panel" },
    h("h2", {}, "Changed", h("span", { class: "n" }, ` ${total_changed.toLocaleString("en")}`)),
    more("rows", [...files], ([path, rows]) => {
      const whole = rows.find((row) => row.kind === "file");
      const symbols = rows.filter((row) => row.kind !== "file");
      return [whole ? mark(whole) : null, file({ path, line: null }),
        symbols.length ? h("ul", { class: "symbols" }, symbols.map((row) =>
          h("li", { title: `${row.kind}, ${row.how}` }, mark(row), place(row), row.public ? h("span", { class: "place" }, " public") : null))) : null];
    }),
    total_changed > changed.length ? h("p", { class: "hint" }, `${changed.length} of ${total_changed.toLocaleString("en")} are shown.`) : null);
}
