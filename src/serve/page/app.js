// Shows the view that the address names, and what happens on the server.

import { about, follow } from "./api.js";
import { count, fill, h, link, visible } from "./dom.js";
import { dress, openPalette, remember } from "./palette.js";
import * as home from "./views/home.js";
import * as search from "./views/search.js";
import * as file from "./views/file.js";
import * as change from "./views/change.js";
import * as memory from "./views/memory.js";
import * as map from "./views/map.js";
import * as state from "./views/state.js";

const VIEWS = {
  "/": home, "/search": search, "/file": file, "/change": change, "/memory": memory, "/map": map, "/state": state,
};
const main = document.querySelector("#view");
const query = document.querySelector("#query");
let shown = { view: null, stop: null };

export function go(address, replace = false) {
  // The way back leads to the same place.
  if (!replace) history.replaceState({ y: scrollY }, "");
  history[replace ? "replaceState" : "pushState"](null, "", address);
  if (!replace) scrollTo(0, 0);
  show();
}

function show() {
  const view = VIEWS[location.pathname] ?? home;
  shown.stop?.abort();
  const stop = new AbortController();
  const parameters = new URLSearchParams(location.search);
  const isSame = shown.view === view;
  if (!isSame) shown.view?.leave?.();
  shown = { view, stop };
  const title = view.title(parameters);
  document.title = `${title} – Cortex`;
  about().then(({ name }) => {
    if (!stop.signal.aborted) document.title = `${title} – ${visible(name)} – Cortex`;
  }).catch(() => {});
  if (view === file && parameters.get("path")) remember(parameters.get("path"));
  if (view === search && document.activeElement !== query) query.value = parameters.get("q") ?? "";
  for (const item of document.querySelectorAll("#views a")) {
    if (item.pathname === location.pathname) item.setAttribute("aria-current", "page");
    else item.removeAttribute("aria-current");
  }
  if (!isSame) fill(main);
  view.show(main, parameters, { go, signal: stop.signal }).catch((error) => {
    if (error.name === "AbortError" || stop.signal.aborted) return;
    main.replaceChildren(h("p", { class: "problem", role: "alert" }, error.message));
  });
}

dress();
document.querySelector("#views").append(
  link("/search", {}, "Search"), link("/change", {}, "Change"), link("/memory", {}, "Memory"),
  link("/map", {}, "Map"), link("/state", {}, "State"),
  h("button", { type: "button", class: "palette-button", onclick: palette }, h("span", { class: "unseen" }, "Go to "), h("kbd", {}, "Ctrl K")),
  h("button", { type: "button", onclick: help, "aria-label": "Keys" }, "?"),
);
about().then(({ name, branch }) => {
  fill(document.querySelector("#project"), visible(name));
  fill(document.querySelector("#branch"), branch ? visible(branch) : null);
}).catch(() => {});

document.addEventListener("click", (event) => {
  const target = event.target.closest?.("a[href]");
  const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
  if (!target || !isPlain || target.hasAttribute("target") || target.hasAttribute("download")) return;
  // A link within a drawing has no parts of its own.
  const to = new URL(target.getAttribute("href"), location.href);
  if (to.origin !== location.origin || !(to.pathname in VIEWS)) return;
  event.preventDefault();
  go(to.pathname + to.search + to.hash);
});
addEventListener("popstate", () => {
  show();
  scrollBack(history.state?.y ?? 0);
});
history.scrollRestoration = "manual";

// Scrolls to where somebody was once that much is drawn, unless they do something meanwhile.
const PATIENCE = 5000;
function scrollBack(y) {
  const until = performance.now() + PATIENCE;
  let isOver = false;
  for (const act of ["wheel", "keydown", "pointerdown"]) addEventListener(act, () => { isOver = true; }, { once: true });
  const step = () => {
    if (isOver) return;
    scrollTo(0, y);
    if (Math.abs(scrollY - y) > 1 && performance.now() < until) requestAnimationFrame(step);
  };
  step();
}
addEventListener("pagehide", () => {
  history.replaceState({ y: scrollY }, "");
  shown.view?.leave?.(true);
});

// Keys that follow each other faster than this, as of a paste or a held key, are one question; in
// milliseconds.
const PAUSE = 40;
let typing;
let lastKey = 0;
query.addEventListener("input", () => {
  clearTimeout(typing);
  const isSearch = location.pathname === "/search";
  const isFast = performance.now() - lastKey < PAUSE;
  lastKey = performance.now();
  if (isFast) typing = setTimeout(() => ask(isSearch), PAUSE);
  else ask(isSearch);
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
  ["/", "Search"], ["Ctrl K", "Go to a view or a recent file"], ["↓ ↑  or  j k", "Next and previous result"], ["Enter", "Open the result"],
  ["o", "Open it in the editor"], ["Esc", "Leave the field"], ["g h", "Home"], ["g c, g m", "Change, memory"], ["g p, g s", "Map, state"], ["?", "These keys"],
];
const GO = { gh: "/", gc: "/change", gm: "/memory", gp: "/map", gs: "/state" };
const PLACES = [
  ["/", "Home", "g h"], ["/search", "Search", "/"], ["/change", "Change: what the working tree or commits touch", "g c"], ["/memory", "Memory: what earlier sessions left", "g m"],
  ["/map", "Map: files by size, language and changes", "g p"], ["/state", "State of the index", "g s"],
];
let prefix = "";
document.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key === "k") {
    event.preventDefault();
    return palette();
  }
  if (event.metaKey || event.ctrlKey || event.altKey) return;
  if (event.target.closest?.("dialog")) return;
  const isTyping = event.target === query;
  const isField = !isTyping && event.target.matches?.("input, select, textarea");
  if ((isTyping || isField) && event.key === "Escape") return event.target.blur();
  if (isField) return;
  if (isTyping && event.key !== "ArrowDown") return;
  const results = [...main.querySelectorAll("a.result")];
  const step = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[event.key];
  if (step && results.length && !event.target.closest?.("pre") && !event.target.matches?.(".drawing")) {
    const next = results.indexOf(document.activeElement) + step;
    event.preventDefault();
    return next < 0 ? query.focus() : results[Math.min(next, results.length - 1)].focus();
  }
  const key = prefix + event.key;
  prefix = event.key === "g" ? "g" : "";
  if (key === "/") { event.preventDefault(); query.focus(); query.select(); }
  else if (key === "?") help();
  else if (key === "o") openInEditor();
  else if (key in GO) go(GO[key]);
});

// Opens the focused result, or else the first place that can be opened.
function openInEditor() {
  const around = document.activeElement?.closest?.("li");
  const target = around?.querySelector("a.editor[href]") ?? main.querySelector("a.editor[href]");
  target?.click();
}

function palette() {
  openPalette(PLACES, go);
}

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
let reloaded = null;
follow((name, data) => {
  if (name === "lost") now.lost = true;
  else if (name === "found") now.lost = false;
  else now[name] = data;
  const { reload, indexing } = now;
  foot.classList.toggle("lost", now.lost);
  foot.textContent = now.lost
    ? "The server does not answer. This page goes on when it is back."
    : [
        indexing?.total ? `Indexing ${indexing.done} of ${count(indexing.total, "file")}`
          : indexing?.pending ? `${count(indexing.pending, "file")} waiting to be indexed`
            : indexing && "The index is up to date",
        reload && `generation ${reload.generation}, ${count(reload.chunks, "chunk")}`,
      ].filter(Boolean).join(" · ");
  shown.view.heard?.(name, main, shown.stop.signal);
  if (name === "found" && main.querySelector(".problem")) show();
  // What is shown follows the index, unless somebody is in the middle of it.
  if (name !== "reload") return;
  const next = JSON.stringify(data);
  const isTyping = main.contains(document.activeElement) && document.activeElement.matches("input");
  if (reloaded !== null && reloaded !== next && !isTyping && shown.view.follows) show();
  reloaded = next;
});

show();
scrollBack(history.state?.y ?? 0);
