// What is remembered: by session, and what the next session is told.

import { about, call } from "../api.js";
import { count, fileAddress, fill, h, link, visible } from "../dom.js";
import { moment, sourceName } from "../words.js";

export const follows = true;
export const title = () => "Memory";

const PAGE = 50;
// Longer texts are folded.
const SHORT = 400;
// Memories to forget once the view is left, by id.
const leaving = new Set();

export async function show(main, parameters, { go, signal }) {
  const offset = Number(parameters.get("offset")) || 0;
  const request = { query: parameters.get("q") ?? "", limit: PAGE, offset };
  for (const flag of ["pinned", "doubtful"]) request[flag] = parameters.has(flag);
  if (parameters.has("source")) request.sources = [parameters.get("source")];
  if (parameters.has("session")) request.session = parameters.get("session");
  const [answer, briefing, { read_only: isFixed }] = await Promise.all([
    call("memories", request, signal), call("briefing", {}, signal), about(),
  ]);
  const again = () => show(main, parameters, { go, signal });
  const address = (edit) => {
    const next = new URLSearchParams(parameters);
    next.delete("offset");
    edit(next);
    return `/memory?${next}`;
  };
  const groups = [];
  for (const row of answer.memories) {
    if (request.query || groups.at(-1)?.id !== row.session) groups.push({ id: row.session, rows: [] });
    groups.at(-1).rows.push(row);
  }
  const offer = { again, isFixed };
  fill(main,
    h("h1", {}, "Memory"),
    bar(request, answer, parameters, address, go),
    ...(answer.warnings ?? []).map((text) => h("p", { class: "hint" }, visible(text))),
    h("div", { class: "columns wide-left" },
      h("div", {},
        groups.map(({ id, rows }) => h("section", {},
          request.query ? null : sessionHead(answer.sessions.find((session) => session.id === id), id, address),
          h("ul", { class: "memories" }, rows.map((row) => memory(row, offer))))),
        answer.memories.length ? null : h("p", { class: "lead" }, request.query || request.pinned || request.doubtful || request.sources
          ? "No memory is like this." : "Nothing is remembered yet. Agents that are connected leave notes here, and `cortex memory add` does."),
        h("p", { class: "bar" },
          offset ? link(address((next) => offset > PAGE && next.set("offset", offset - PAGE)), {}, "newer") : null,
          answer.more ? link(address((next) => next.set("offset", offset + PAGE)), {}, request.query ? "more" : "older") : null)),
      h("section", { "aria-label": "Briefing", class: "panel" },
        h("h2", {}, "What the next session is told"),
        briefing.text ? h("pre", { class: "command", tabindex: "0" }, visible(briefing.text)) : h("p", { class: "hint" }, "Nothing yet."),
        h("p", { class: "hint" }, `It takes ${count(briefing.tokens, "token")} of at most ${briefing.max_tokens}, and contains ${count(answer.pinned, "pinned memory", "pinned memories")}.`,
          answer.redacted ? ` ${count(answer.redacted, "secret")} removed before texts were stored.` : ""))));
}

function bar(request, answer, parameters, address, go) {
  const field = h("input", { name: "q", type: "search", value: request.query, "aria-label": "Find in memories", placeholder: "Find in memories" });
  const sources = h("select", {
    "aria-label": "Source",
    onchange: () => go(address((next) => (sources.value ? next.set("source", sources.value) : next.delete("source")))),
  }, h("option", { value: "" }, "From anywhere"),
  Object.entries(answer.sources).map(([name, n]) =>
    h("option", { value: name, selected: parameters.get("source") === name }, `From ${sourceName(name)} (${n})`)));
  const flag = (name, text) => {
    const has = parameters.has(name);
    return h("button", {
      type: "button", class: "chip", "aria-pressed": String(has),
      onclick: () => go(address((next) => (has ? next.delete(name) : next.set(name, "1")))),
    }, text);
  };
  return h("form", {
    class: "bar", role: "search",
    onsubmit: (event) => {
      event.preventDefault();
      go(address((next) => (field.value ? next.set("q", field.value) : next.delete("q"))));
    },
  }, field, sources, flag("pinned", "pinned"), flag("doubtful", "may be out of date"),
  parameters.has("session")
    ? h("button", { type: "button", class: "chip", onclick: () => go(address((next) => next.delete("session"))) }, "one session ×") : null);
}

const ENDS = { Active: "It is still open", Completed: "It is finished", Abandoned: "It was broken off" };

function sessionHead(session, id, address) {
  if (!session) return h("h2", {}, id ? `Session ${visible(id)}` : "Noted outside of sessions");
  return h("h2", { title: visible(id) }, link(address((next) => next.set("session", id)), {}, "Session of ", moment(session.started_at)),
    h("span", { class: "n" }, ` ${ENDS[session.status] ?? session.status} and left ${count(session.memories, "memory", "memories")}.`));
}

function memory(row, offer) {
  const isLeaving = leaving.has(row.id);
  const text = visible(row.content);
  const body = h("div", { class: "text" }, text);
  const act = (work) => async () => {
    try {
      await work();
      await offer.again();
      document.getElementById(`m-${row.id}`)?.querySelector("button")?.focus();
    } catch (error) {
      failed.textContent = error.message;
    }
  };
  const failed = h("span", { class: "doubt", role: "alert" });
  const buttons = offer.isFixed ? null : (isLeaving
    ? [h("span", { class: "doubt" }, "forgotten when you leave this view "),
      button("undo", act(() => leaving.delete(row.id))),
      button("forget now", act(() => forget(row.id)))]
    : [button(row.pinned ? "unpin" : "pin", act(() => call("pin", { id: row.id, pinned: !row.pinned }))),
      button("forget", act(() => leaving.add(row.id)))]);
  return h("li", { id: `m-${row.id}`, class: [row.pinned && "pinned", isLeaving && "leaving"].filter(Boolean).join(" ") || null },
    h("div", { class: "head" },
      row.name ? h("strong", {}, visible(row.name)) : null,
      row.path ? h("a", { class: "result", href: fileAddress(row.path) }, visible(row.path)) : null),
    text.length > SHORT ? h("details", {}, h("summary", {}, `${text.slice(0, SHORT / 2)}…`), body) : body,
    row.doubt ? h("p", { class: "doubt" }, "This may be out of date: ", visible(row.doubt)) : null,
    h("div", { class: "more" }, `From ${sourceName(row.source)}, `, moment(row.created_at), ".",
      row.pinned ? " Every session is told this." : null,
      row.redacted ? ` ${count(row.redacted, "secret")} removed.` : null, " ", buttons, failed));
}

function button(text, onclick) {
  return [h("button", { type: "button", class: "chip", onclick }, text), " "];
}

async function forget(id, isLast = false) {
  leaving.delete(id);
  await call("delete_memory", { id }, undefined, isLast);
}

// Called when another view is shown, or the page is closed.
export function leave(isLast = false) {
  for (const id of [...leaving]) forget(id, isLast).catch((error) => console.warn(error.message));
}
