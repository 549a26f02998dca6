// What the working tree, or a range of commits, touches.

import { call } from "../api.js";
import { count, fileAddress, fill, h, visible } from "../dom.js";

export const follows = true;
export const title = (parameters) => parameters.get("range") || "Change";

// Rows that are not folded away.
const FIRST = 8;
// How a symbol changes, as a difference marks it.
const MARKS = { added: "+", deleted: "−" };

export async function show(main, parameters, { go, signal }) {
  const range = parameters.get("range") ?? "";
  const field = h("input", { name: "range", value: range, "aria-label": "Commit or range", placeholder: "HEAD~3, main..", spellcheck: "false" });
  const form = h("form", {
    class: "bar",
    onsubmit: (event) => {
      event.preventDefault();
      go(field.value ? `/change?${new URLSearchParams({ range: field.value })}` : "/change");
    },
  }, h("label", {}, "Changes of ", field), h("button", {}, "Show"),
  h("span", { class: "hint" }, range ? h("a", { href: "/change" }, "Show the working tree") : "Without a range: the working tree."));
  let answer;
  try {
    answer = await call("impact", { ...(range && { range }), max_tokens: 20000 }, signal);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    fill(main, form, h("p", { class: "problem", role: "alert" }, visible(error.message)));
    return;
  }
  const place = (row, text) => h("a", { class: "result", href: fileAddress(row.path, row.line, row.kind === "file" ? null : row.symbol) }, visible(text ?? row.symbol ?? row.path));
  const file = (row, text = row.path) => place({ ...row, kind: "file" }, text);
  const list = (heading, rows, item, total) => rows?.length
    ? h("section", { class: "panel" }, h("h2", {}, heading, h("span", { class: "n" }, ` ${(total ?? rows.length).toLocaleString("en")}`)),
      more("rows", rows, item),
      total > rows.length ? h("p", { class: "hint" }, `${rows.length} of ${total.toLocaleString("en")} are shown.`) : null)
    : null;
  const reason = (text) => (text ? h("span", { class: "place" }, visible(text)) : null);
  fill(main, form,
    h("p", { class: "lead" }, answer.changed.length ? summary(answer) : `Nothing is changed (${visible(answer.of)}).`),
    ...(answer.warnings ?? []).map((text) => h("p", { class: "hint" }, visible(text))),
    h("div", { class: "columns two" },
      h("div", {},
        changed(answer, place, file),
        list("Users", answer.users, (row) => [place(row), reason(row.kind === "file" ? "" : row.path)], answer.total_users)),
      h("div", {},
        answer.commands.length ? h("section", { class: "panel" }, h("h2", {}, "Run"), answer.commands.map((command) => h("pre", { class: "command", tabindex: "0" }, visible(command)))) : null,
        list("Lines that still use a deleted name", answer.deleted_uses, (row) => [file(row, `${row.path}:${row.line}`), reason(row.text)]),
        list("Look at next", answer.files, (row) => [file(row), reason(row.reasons.join("; "))]),
        list("Tests", answer.tests, (row) => [place(row), reason(row.reason)], answer.total_tests))));
}

// A list whose later rows are folded away.
function more(kind, rows, item) {
  const list = (part) => h("ul", { class: kind }, part.map((row) => h("li", {}, item(row))));
  return [list(rows.slice(0, FIRST)),
    rows.length > FIRST ? h("details", {}, h("summary", {}, `${rows.length - FIRST} more`), list(rows.slice(FIRST))) : null];
}

function summary({ of, changed_files, total_changed, total_users, total_tests }) {
  return `${count(changed_files, "file")} with ${count(total_changed, "changed place")} (${visible(of)}). `
    + `${count(total_users, "user")} and ${count(total_tests, "test")} depend on what changed.`;
}

// The changed symbols, by file.
function changed({ changed, total_changed }, place, file) {
  if (!changed.length) return null;
  const files = new Map();
  for (const row of changed) files.set(row.path, [...(files.get(row.path) ?? []), row]);
  const mark = ({ how }) => h("span", { class: `how ${how}`, title: how, "aria-label": how, role: "img" }, MARKS[how] ?? "~");
  return h("section", { class: "panel" },
    h("h2", {}, "Changed", h("span", { class: "n" }, ` ${total_changed.toLocaleString("en")}`)),
    more("files-changed", [...files], ([path, rows]) => {
      const whole = rows.find((row) => row.kind === "file");
      const symbols = rows.filter((row) => row.kind !== "file");
      return [whole ? mark(whole) : null, file({ path, line: null }),
        symbols.length ? h("ul", { class: "symbols" }, symbols.map((row) =>
          h("li", { title: `${row.kind}, ${row.how}` }, mark(row), place(row), row.public ? h("span", { class: "place" }, " public") : null))) : null];
    }),
    total_changed > changed.length ? h("p", { class: "hint" }, `${changed.length} of ${total_changed.toLocaleString("en")} are shown.`) : null);
}
