// The symbol view inside of a client of the Model Context Protocol: the answer of cortex_graph as a
// page that can be walked.

import { call, hear, request, tell } from "./bridge.js";
import { h } from "./dom.js";
import { show } from "./views/file.js";

const main = document.querySelector("#view");
let stop = new AbortController();

function go(parameters) {
  stop.abort();
  stop = new AbortController();
  show(main, parameters, { go: () => {}, signal: stop.signal }).catch((error) => say(error.message));
}

function say(text) {
  main.replaceChildren(h("p", { class: "hint" }, text));
}

document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[href]");
  if (!link) return;
  event.preventDefault();
  const address = new URL(link.getAttribute("href"), "http://page/");
  if (address.pathname === "/file") go(address.searchParams);
});

hear("ui/notifications/tool-input", async ({ arguments: asked }) => {
  if (!asked?.target) return say("This answer has no view.");
  try {
    const { targets } = await call("graph", { ...asked, limit: 1 });
    const [node] = targets;
    if (!node) return say("This answer has no view.");
    go(new URLSearchParams({ path: node.path, ...(node.line && { line: node.line, symbol: node.symbol }) }));
  } catch (error) {
    say(error.message);
  }
});
hear("ui/notifications/host-context-changed", dress);

function dress({ theme }) {
  if (theme) document.documentElement.style.colorScheme = theme;
}

const { hostContext } = await request("ui/initialize", {
  protocolVersion: "2026-01-26", appInfo: { name: "cortex", version: "1" }, appCapabilities: {},
});
dress(hostContext ?? {});
tell("ui/notifications/initialized", {});
new ResizeObserver(() => {
  tell("ui/notifications/size-changed", { height: document.documentElement.scrollHeight });
}).observe(document.body);
