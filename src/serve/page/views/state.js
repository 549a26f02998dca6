// What the index holds, and what happens to it.

import { call } from "../api.js";
import { count, fileAddress, fill, h, visible } from "../dom.js";

export const follows = true;
export const title = () => "State";

export async function show(main, parameters, { signal }) {
  const status = await call("status", { verbose: true }, signal);
  const { index } = status;
  const facts = [
    ["root", status.root], ["why", status.root_reason], ["index", status.kept_in],
    ["generation", `${index.generation}${index.head ? `, commit ${index.head}` : ""}`],
    ["indexed", index.indexed_at], ["waiting", count(index.pending, "file")],
    ["holds", `${count(status.files, "file")}, ${count(status.chunks, "chunk")}, ${count(status.commits ?? 0, "commit")}`],
    ["vectors", status.embedder],
    ["memory", status.memory && `${status.memory.resident_mb} MB`],
    ["follows", status.indexing && (status.indexing.leads ? status.indexing.watching : "another process follows the changes")],
    ["last reload", status.reload && `${status.reload.last_duration_ms} ms, ${count(status.reload.published, "reload")} since the start${status.reload.failed ? `, ${status.reload.failed} failed` : ""}`],
  ].filter(([, value]) => value);
  const warnings = status.warnings ?? [];
  fill(main, 
    h("h1", {}, "State"),
    ...warnings.map((text) => h("p", { class: "problem", role: "alert" }, visible(text))),
    h("dl", { class: "facts" }, facts.map(([name, value]) => [h("dt", {}, name), h("dd", {}, visible(String(value)))])),
    h("div", { class: "columns two" },
      table("files by language", status.languages),
      table("chunks by type", status.chunk_types)),
    skipped(status.skipped),
    secrets(status.secrets));
}

// Numbers by name, the largest first.
function table(caption, numbers) {
  const rows = Object.entries(numbers ?? {}).sort((a, b) => b[1] - a[1]);
  const most = rows[0]?.[1] ?? 1;
  return h("table", {}, h("caption", {}, caption), rows.map(([name, n]) => h("tr", {},
    h("th", { scope: "row" }, visible(name)), h("td", {}, n.toLocaleString("en")),
    h("td", { class: "bar-cell" }, h("meter", { min: 0, max: most, value: n, "aria-label": name })))));
}

function skipped(found) {
  if (!found) return null;
  const rows = Array.isArray(found) ? found : Object.entries(found);
  return h("section", {}, h("h2", {}, "not indexed"), h("ul", {}, rows.map((row) => h("li", {}, visible(Array.isArray(row) ? `${row[0]}: ${typeof row[1] === "number" ? row[1] : JSON.stringify(row[1])}` : JSON.stringify(row))))));
}

function secrets(found) {
  if (!found?.first?.length) return null;
  return h("section", {}, h("h2", {}, "redacted secrets"), h("ul", {}, found.first.map(({ path, line, rule }) =>
    h("li", {}, h("a", { class: "result", href: fileAddress(path, line) }, `${visible(path)}:${line}`), ` ${visible(rule)}`))));
}
