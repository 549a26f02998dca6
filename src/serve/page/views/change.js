// What the working tree, or a range of commits, touches.

import { call } from "../api.js";
import { count, fileAddress, fill, h, visible } from "../dom.js";

export const follows = true;
export const title = (parameters) => parameters.get("range") || "Change";

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
  h("span", { class: "hint" }, range ? "" : "Without a range: the working tree."));
  let answer;
  try {
    answer = await call("impact", range ? { range } : {}, signal);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    fill(main, form, h("p", { class: "problem", role: "alert" }, visible(error.message)));
    return;
  }
  const place = (row, text) => h("a", { class: "result", href: fileAddress(row.path, row.line, row.kind === "file" ? null : row.symbol) }, visible(text ?? row.symbol ?? row.path));
  const list = (heading, rows, item, total) => rows?.length
    ? h("section", {}, h("h2", {}, `${heading} (${total ?? rows.length})`), h("ul", {}, rows.map((row) => h("li", {}, item(row)))))
    : null;
  const reason = (text) => h("span", { class: "place" }, ` ${visible(text)}`);
  fill(main, form,
    ...(answer.warnings ?? []).map((text) => h("p", { class: "hint" }, visible(text))),
    answer.changed.length ? null : h("p", { class: "hint" }, `Nothing is changed (${answer.of}).`),
    h("div", { class: "columns two" },
      h("div", {},
        list("changed", answer.changed, (row) => [place(row), reason(`${row.kind}, ${row.how}${row.public ? ", public" : ""}`), reason(row.kind === "file" ? "" : row.path)], answer.total_changed),
        list("still use a deleted name", answer.deleted_uses, (row) => [place({ ...row, kind: "file" }, `${row.path}:${row.line}`), reason(row.text)]),
        list("users", answer.users, (row) => [place(row), reason(row.kind === "file" ? "" : row.path)], answer.total_users)),
      h("div", {},
        list("look at next", answer.files, (row) => [place({ ...row, kind: "file" }, row.path), reason(row.reasons.join("; "))]),
        list("tests", answer.tests, (row) => [place(row), reason(row.reason)], answer.total_tests),
        answer.commands.length ? h("section", {}, h("h2", {}, "run"), answer.commands.map((command) => h("pre", { class: "command", tabindex: "0" }, visible(command)))) : null)));
  if (answer.total_users > answer.users.length) main.append(h("p", { class: "hint" }, `${answer.users.length} of ${count(answer.total_users, "user")} are shown.`));
}
