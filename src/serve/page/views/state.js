// What the index holds, what happens to it, and what agents ask.

import { call } from "../api.js";
import { count, fileAddress, h, visible } from "../dom.js";
import { plot } from "../plot.js";
import { moment, toolName } from "../words.js";

export const follows = true;
export const title = () => "State";

// Rows of a log that are not folded away.
const LATEST = 10;

export async function show(main, parameters, { signal }) {
  const [status, activity] = await Promise.all([
    call("status", { verbose: true }, signal), call("activity", {}, signal),
  ]);
  if (!main.querySelector(":scope > #state-view")) main.replaceChildren(skeleton());
  ofStatus(main, status);
  ofActivity(main, activity);
  ofFacts(main, status, activity);
}

// Follows what agents ask: one request at a time, and one more if there was an event meanwhile.
let isAsking = false;
let isLate = false;
export async function heard(name, main, signal) {
  if (name !== "activity" || !main.querySelector("#state-view")) return;
  isLate = true;
  if (isAsking) return;
  isAsking = true;
  try {
    while (isLate) {
      isLate = false;
      const [status, activity] = await Promise.all([call("status", {}, signal), call("activity", {}, signal)]);
      ofActivity(main, activity);
      ofFacts(main, status, activity);
    }
  } catch {
    // The next event brings the next attempt.
  } finally {
    isAsking = false;
  }
}

const SECTIONS = ["facts", "warnings", "agents", "questions", "plots", "reloads", "details", "holds", "left-out", "secrets"];

function skeleton() {
  return h("div", { id: "state-view" }, h("h1", {}, "State"),
    SECTIONS.map((name) => h("section", { "data-section": name })));
}

// Draws a section unless it shows the same already. What was open or had the focus does so after it.
function draw(main, name, data, elements) {
  const section = main.querySelector(`[data-section="${name}"]`);
  const now = JSON.stringify(data);
  if (!section || section.shows === now) return;
  section.shows = now;
  const open = new Set([...section.querySelectorAll("details[open]")].map((element) => element.dataset.key));
  const held = section.contains(document.activeElement) ? document.activeElement : null;
  const nameOf = (element) => `${element.closest("[data-key]")?.dataset.key} ${element.tagName} ${element.textContent}`;
  const wanted = held && nameOf(held);
  section.replaceChildren(...elements().flat(Infinity).filter(Boolean));
  for (const element of section.querySelectorAll("details")) element.open = open.has(element.dataset.key);
  if (wanted) [...section.querySelectorAll("a, summary, [tabindex]")].find((element) => nameOf(element) === wanted)?.focus({ preventScroll: true });
}

function folded(key, summary, ...rest) {
  return h("details", { "data-key": key }, h("summary", {}, summary), ...rest);
}

function ofStatus(main, status) {
  const found = remedies(status);
  draw(main, "warnings", found, () => (found.length
    ? found.map((text) => h("p", { class: "remedy problem", role: "alert" }, visible(text)))
    : [h("p", { class: "remedy" }, "Nothing needs your attention.")]));
  draw(main, "details", status, () => [folded("details", "Details of the index", details(status))]);
  draw(main, "holds", [status.languages, status.chunk_types], () => [folded("holds", "Files by language, chunks by type", h("div", { class: "columns two" },
    table("Files by language", status.languages), table("Chunks by type", status.chunk_types)))]);
  draw(main, "left-out", [status.skipped, status.skipped_files, status.left_out], () => leftOut(status));
  draw(main, "secrets", status.secrets, () => secrets(status.secrets));
}

// What is wrong, each with what to do.
function remedies({ warnings, ignored_settings, index, memory, reload }) {
  return [
    ...(warnings ?? []), ...(ignored_settings ?? []),
    index.vectors_pending && `${count(index.vectors_pending, "chunk")} without a vector: words alone find them. Run cortex index to compute the vectors.`,
    memory?.given_up?.length && `The server gave up ${memory.given_up.join(", ")} to stay within live.memory_budget_mb. Raise it and start the server again.`,
    reload?.failed && `${count(reload.failed, "reload")} failed since the start. The list of reloads below says why.`,
  ].filter(Boolean);
}

// The four facts: how fresh the index is, who keeps it fresh, what it costs, and who uses it.
function facts({ index, indexing, files, memory }, { tools, calls }) {
  const used = memory?.resident_mb;
  const budget = memory?.budget_mb;
  const sum = (name) => tools.reduce((total, row) => total + row[name], 0);
  const hint = (...text) => h("div", { class: "hint" }, text);
  const rows = [
    ["Index", [index.pending ? `${count(index.pending, "file")} waiting` : "Up to date", hint(`${count(files, "file")}, last changed `, moment(index.indexed_at))]],
    ["Changes of files", [indexing.leads ? "Followed by this server" : "Not followed by this server", hint(visible(indexing.watching))]],
    ["Memory", used ? [`${used} MB`, budget
      ? hint(`of ${budget} MB `, h("meter", { class: "short", min: 0, max: budget, high: budget * 0.9, value: Math.min(used, budget), "aria-label": "memory of the budget" }))
      : hint("No limit is set (live.memory_budget_mb).")] : "Not known"],
    ["Agents", calls
      ? [`${count(sum("calls"), "question")} today`, hint(`They read about ${count(sum("tokens_read"), "token")}.`)]
      : ["No agent asked this server yet", hint(h("code", {}, "cortex init"), " connects the agents of this machine.")]],
  ];
  return [h("dl", { class: "facts main" }, rows.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))))];
}

function details(status) {
  const { index, reload } = status;
  const rows = [
    ["Project", `${status.root} (${status.root_reason})`], ["Index in", status.kept_in],
    ["Generation", `${index.generation}${index.head ? `, commit ${index.head}` : ""}`],
    ["Holds", `${count(status.files, "file")}, ${count(status.chunks, "chunk")}, ${count(status.commits ?? 0, "commit")}`],
    ["Vectors", status.embedder],
    ["Reloads", reload && `${number(reload.published)} since the start${reload.failed ? `, ${reload.failed} failed` : ""}`],
  ].filter(([, value]) => value);
  return h("dl", { class: "facts" }, rows.map(([name, value]) => [h("dt", {}, name), h("dd", {}, visible(String(value)))]));
}

function ofFacts(main, status, activity) {
  draw(main, "facts", [status.index, status.indexing, status.files, status.memory, activity.calls, activity.tools], () => facts(status, activity));
}

function ofActivity(main, activity) {
  const { tools, questions, processes, reloads, latency, generations } = activity;
  draw(main, "agents", [tools, processes, activity.calls], () => agents(activity));
  draw(main, "questions", [questions, activity.keeps_questions], () => asked(activity));
  draw(main, "plots", [reloads, latency, generations], () => [folded("plots", "Times of answers and reloads", h("div", { class: "plots" }, plots(activity)))]);
  draw(main, "reloads", reloads, () => log(reloads));
}

const number = (n) => n.toLocaleString("en");
const clock = (at) => h("time", { datetime: at }, new Date(at).toLocaleTimeString("en", { hourCycle: "h23" }));
const head = (...names) => h("thead", {}, h("tr", {}, names.map((name) => h("th", { scope: "col" }, name))));
// A table that may be wider than the page.
const wide = (label, table) => h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": label }, table);
const bar = (name, value, most) => h("td", { class: "bar-cell" }, h("meter", { min: 0, max: most || 1, value, "aria-label": name }));

function agents({ tools, calls, day, processes }) {
  const rows = [...tools].sort((a, b) => b.tokens_read - a.tokens_read);
  const most = rows[0]?.tokens_read;
  const sum = (name) => rows.reduce((total, row) => total + row[name], 0);
  const where = ["Agents that run a ", h("code", {}, "cortex mcp"), " of their own are not counted here."];
  const process = [`This server is process ${processes.own_pid}`,
    processes.own_leads ? "and follows the changes of files." : processes.other_leads ? "; another process follows the changes of files." : "; no process follows the changes of files.",
    processes.is_writing ? " The index is being written." : ""].join(" ").replace(" ;", ";");
  return [folded("agents", "What agents read today",
    rows.length ? wide("Tokens by tool", h("table", {}, h("caption", { class: "unseen" }, `Calls and tokens by tool on ${day}`),
      head("tool", "calls", "failed", "asked", "read", "tokens read"),
      h("tbody", {}, rows.map((row) => h("tr", {}, h("th", { scope: "row" }, row.tool), h("td", {}, number(row.calls)),
        h("td", {}, number(row.failed)), h("td", {}, number(row.tokens_asked)), h("td", {}, number(row.tokens_read)), bar(row.tool, row.tokens_read, most)))),
      h("tfoot", {}, h("tr", {}, h("th", { scope: "row" }, "all"), ["calls", "failed", "tokens_asked", "tokens_read"].map((name) => h("td", {}, number(sum(name)))), h("td", {}))))) : null,
    h("p", { class: "hint" }, rows.length
      ? [`A reply had ${number(Math.round(sum("tokens_read") / sum("calls")))} tokens on average, estimated as one for 3.5 bytes. `, where]
      : calls ? "No agent asked this server today." : ["No agent asked this server yet. ", h("code", {}, "cortex init"), " connects the agents of this machine. ", where]),
    h("p", { class: "hint" }, `${process} The locks of other processes do not tell their ids.`))];
}

function asked({ questions, keeps_questions }) {
  if (!keeps_questions) return [folded("questions", "Last questions", h("p", { class: "hint" }, "They are not kept, because serve.activity is false."))];
  if (!questions.length) return [];
  const rows = (part) => h("ol", { class: "asked" }, part.map((row) => h("li", {}, folded(
    `${row.at} ${row.tool}`, [clock(row.at), ` ${toolName(row.tool)} `, h("span", { class: "question" }, visible(row.question))],
    h("p", { class: "hint" }, `${visible(row.by)}, ${row.milliseconds} ms, ${count(row.tokens_read, "token")}${row.failed ? `, failed: ${row.failed}` : ""}`),
    row.shown.length
      ? h("ul", {}, row.shown.map((path) => h("li", {}, h("a", { class: "result", href: fileAddress(path) }, visible(path)))))
      : h("p", { class: "hint" }, "The reply names no indexed file.")))));
  return [folded("questions", "Last questions", ...latest("older questions", questions, rows))];
}

// The first rows, and the others folded away.
function latest(key, all, rows) {
  const older = all.slice(LATEST);
  return [rows(all.slice(0, LATEST)), older.length ? folded(key, `${number(older.length)} older`, rows(older)) : null];
}

function plots({ reloads, latency, generations }) {
  const time = (row) => Date.parse(row.at);
  const types = [...new Set(generations.flatMap(({ chunks }) => Object.keys(chunks)))];
  return [
    plot("Time of answers by minute", "ms", ["p50", "p99"].map((name) => ({ name, points: latency.map((row) => [time(row), row[`${name}_ms`]]) }))),
    plot("Time of reloads", "ms", [{ name: "reload", points: reloads.toReversed().map((row) => [time(row), row.milliseconds]) }]),
    plot("Chunks by type", "chunks", types.map((name) => ({ name, points: generations.map((row) => [time(row), row.chunks[name] ?? 0]) }))),
  ];
}

function log(reloads) {
  if (!reloads.length) return [];
  const rows = (part) => wide("Reloads", h("table", {}, head("time", "generation", "ms", "added", "updated", "deleted", "files"),
    h("tbody", {}, part.map((row) => h("tr", {}, h("th", { scope: "row" }, clock(row.at)),
      [row.generation, row.milliseconds, row.added, row.updated, row.deleted].map((n) => h("td", {}, number(n))),
      h("td", { class: "files" }, row.error ? h("p", { class: "problem" }, visible(row.error)) : null,
        row.files.map((path, i) => [i ? ", " : "", h("a", { href: fileAddress(path) }, visible(path))])))))));
  return [folded("reloads", "Last reloads", ...latest("older reloads", reloads, rows))];
}

// Numbers by name, the largest first.
function table(caption, numbers) {
  const rows = Object.entries(numbers ?? {}).sort((a, b) => b[1] - a[1]);
  const most = rows[0]?.[1] ?? 1;
  return h("table", {}, h("caption", {}, caption), rows.map(([name, n]) => h("tr", {},
    h("th", { scope: "row" }, visible(name)), h("td", {}, number(n)), bar(name, n, most))));
}

// What is not indexed, by its reason. Files of one reason are folded under it.
function leftOut({ skipped_files, left_out }) {
  const byReason = new Map();
  const add = (reason, item) => byReason.set(reason, [...(byReason.get(reason) ?? []), item]);
  for (const [path, reason] of Object.entries(skipped_files ?? {})) add(reason, [visible(path)]);
  for (const { path, reason, rule, partly } of left_out?.first ?? []) {
    const place = rule && `${rule.path}:${rule.line}`;
    const isInside = rule && !rule.path.startsWith("/");
    add(reason, [visible(path), rule ? [" by ", isInside ? h("a", { href: fileAddress(rule.path, rule.line) }, visible(place)) : visible(place), " ", h("code", {}, visible(rule.glob))] : "",
      partly ? ", except what index.include names" : ""]);
  }
  if (!byReason.size) return [];
  const shown = left_out?.first.length ?? 0;
  return [folded("left-out", "Not indexed",
    [...byReason].sort((a, b) => b[1].length - a[1].length).map(([reason, items]) =>
      folded(reason, `${visible(reason)} (${number(items.length)})`, h("ul", { class: "paths" }, items.map((item) => h("li", {}, item))))),
    left_out && left_out.total > shown ? h("p", { class: "hint" }, `${number(shown)} of ${number(left_out.total)} that a name or an ignore file leaves out are shown.`) : null,
    h("p", { class: "hint" }, "index.include has files indexed although a rule leaves them out; index.max_file_bytes is the limit of size."))];
}

function secrets(found) {
  if (!found?.first?.length) return [];
  return [folded("secrets", "Redacted secrets", h("ul", {}, found.first.map(({ path, line, rule }) =>
    h("li", {}, h("a", { class: "result", href: fileAddress(path, line) }, `${visible(path)}:${line}`), ` ${visible(rule)}`))))];
}
