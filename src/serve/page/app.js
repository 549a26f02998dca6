// Shows the view that the address names, and what happens on the server.

import { follow } from "./api.js";
import { count, h, link } from "./dom.js";
import * as search from "./views/search.js";
import * as file from "./views/file.js";
import * as change from "./views/change.js";
import * as state from "./views/state.js";

const VIEWS = { "/search": search, "/file": file, "/change": change, "/state": state };
const main = document.querySelector("#view");
const query = document.querySelector("#query");
let shown = { view: null, stop: null };

export function go(address, replace = false) {
  history[replace ? "replaceState" : "pushState"](null, "", address);
  show();
}

function show() {
  const view = VIEWS[location.pathname] ?? search;
  shown.stop?.abort();
  const stop = new AbortController();
  const parameters = new URLSearchParams(location.search);
  const isSame = shown.view === view;
  shown = { view, stop };
  document.title = `${view.title(parameters)} – Cortex`;
  if (view === search && document.activeElement !== query) query.value = parameters.get("q") ?? "";
  for (const item of document.querySelectorAll("#views a")) {
    const isCurrent = item.pathname === location.pathname;
    item.toggleAttribute("aria-current", isCurrent);
  }
  if (!isSame) main.replaceChildren();
  view.show(main, parameters, { go, signal: stop.signal }).catch((error) => {
    if (error.name === "AbortError" || stop.signal.aborted) return;
    main.replaceChildren(h("p", { class: "problem", role: "alert" }, error.message));
  });
}

document.querySelector("#views").append(
  link("/search", {}, "Search"), link("/change", {}, "Change"), link("/state", {}, "State"),
  h("button", { type: "button", onclick: help, "aria-label": "Keys" }, "?"),
);

document.addEventListener("click", (event) => {
  const target = event.target.closest?.("a[href]");
  const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
  if (!target || !isPlain || target.origin !== location.origin || target.target) return;
  if (!(target.pathname in VIEWS)) return;
  event.preventDefault();
  go(target.pathname + target.search + target.hash);
});
addEventListener("popstate", show);

let typing;
query.addEventListener("input", () => {
  clearTimeout(typing);
  const isSearch = location.pathname === "/search" || location.pathname === "/";
  typing = setTimeout(() => ask(isSearch), 30);
});
document.querySelector("#ask").addEventListener("submit", (event) => {
  event.preventDefault();
  clearTimeout(typing);
  ask(false);
  main.querySelector("a.result")?.focus();
});

function ask(replace) {
  const now = new URLSearchParams(location.pathname === "/search" ? location.search : "");
  now.set("q", query.value);
  go(`/search?${now}`, replace);
}

const KEYS = [
  ["/", "search"], ["↓ ↑  or  j k", "next and previous result"], ["Enter", "open"],
  ["Esc", "leave the field"], ["g c, g s", "change, state"], ["?", "these keys"],
];
let prefix = "";
document.addEventListener("keydown", (event) => {
  if (event.metaKey || event.ctrlKey || event.altKey) return;
  const isTyping = event.target === query;
  if (isTyping && event.key === "Escape") return query.blur();
  if (isTyping && event.key !== "ArrowDown") return;
  const results = [...main.querySelectorAll("a.result")];
  const step = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[event.key];
  if (step && results.length && !event.target.closest?.("pre")) {
    const next = results.indexOf(document.activeElement) + step;
    event.preventDefault();
    return next < 0 ? query.focus() : results[Math.min(next, results.length - 1)].focus();
  }
  const key = prefix + event.key;
  prefix = event.key === "g" ? "g" : "";
  if (key === "/") { event.preventDefault(); query.focus(); query.select(); }
  else if (key === "?") help();
  else if (key === "gc") go("/change");
  else if (key === "gs") go("/state");
});

function help() {
  const rows = KEYS.flatMap(([key, what]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, what)]);
  const dialog = h("dialog", { "aria-label": "Keys", onclick: () => dialog.close(), onclose: () => dialog.remove() },
    h("h2", {}, "Keys"), h("dl", {}, rows));
  document.body.append(dialog);
  dialog.showModal();
}

// The state of the index, at the foot of every view.
const foot = document.querySelector("#state");
const now = { reload: null, indexing: null, lost: false };
let generation = null;
follow((name, data) => {
  if (name === "lost") now.lost = true;
  else if (name === "found") now.lost = false;
  else now[name] = data;
  const { reload, indexing } = now;
  foot.classList.toggle("lost", now.lost);
  foot.textContent = now.lost
    ? "The server does not answer. This page goes on when it is back."
    : [
        reload && `generation ${reload.generation}, ${count(reload.chunks, "chunk")}`,
        indexing?.total ? `indexing ${indexing.done} of ${indexing.total}` : null,
        indexing?.pending ? `${count(indexing.pending, "file")} waiting` : null,
      ].filter(Boolean).join(" · ");
  // What is shown follows the index, unless somebody is in the middle of it.
  if (name === "reload" && generation !== null && generation !== data.generation) shown.view.follows && show();
  if (name === "reload") generation = data.generation;
  shown.view.heard?.(name, main, shown.stop.signal);
  if (name === "found" && main.querySelector(".problem")) show();
});

show();
