// The list that Ctrl K opens: views, recent files, and a search for what is typed.

import { fileAddress, fill, h, visible } from "./dom.js";

const RECENT = "cortex.recent";
const MOST_RECENT = 12;
const SCHEME = "cortex.scheme";
const SCHEMES = [["light dark", "Colours of the system"], ["light", "Light colours"], ["dark", "Dark colours"]];

const recent = () => JSON.parse(localStorage.getItem(RECENT) ?? "[]");

// Remembers in this browser that a file was shown.
export function remember(path) {
  const paths = [path, ...recent().filter((other) => other !== path)];
  localStorage.setItem(RECENT, JSON.stringify(paths.slice(0, MOST_RECENT)));
}

// Shows the page in the colours that somebody chose here.
export function dress() {
  document.documentElement.style.colorScheme = localStorage.getItem(SCHEME) ?? "";
}

// Opens the list. `views` are `[address, name, key]`; `go` shows an address.
export function openPalette(views, go) {
  if (document.querySelector("dialog[open]")) return;
  const items = [
    ...views.map(([address, name, key]) => ({ name, hint: key, act: () => go(address) })),
    ...recent().map((path) => ({ name: path, hint: "recent file", act: () => go(fileAddress(path)) })),
    ...SCHEMES.map(([scheme, name]) => ({ name, hint: "colours", act: () => { localStorage.setItem(SCHEME, scheme); dress(); } })),
  ];
  let shown = [];
  let at = 0;
  const list = h("ul", { id: "choices", role: "listbox", "aria-label": "Choices" });
  const field = h("input", {
    type: "text", role: "combobox", "aria-label": "Go to", "aria-controls": "choices", "aria-expanded": "true",
    placeholder: "Go to a view or a recent file, or search", autocomplete: "off", spellcheck: "false",
  });
  const choose = (item) => { dialog.close(); item.act(); };
  const draw = () => {
    fill(list, shown.map((item, i) => h("li", {
      id: `choice-${i}`, role: "option", "aria-selected": String(i === at), onclick: () => choose(item),
    }, h("span", {}, visible(item.name)), h("span", { class: "hint" }, item.hint))));
    field.setAttribute("aria-activedescendant", `choice-${at}`);
    list.children[at]?.scrollIntoView({ block: "nearest" });
  };
  const narrow = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    shown = items.filter(({ name }) => words.every((word) => name.toLowerCase().includes(word)));
    const query = field.value.trim();
    if (query) shown.push({ name: `Search for “${query}”`, hint: "Enter", act: () => go(`/search?${new URLSearchParams({ q: query })}`) });
    at = 0;
    draw();
  };
  field.addEventListener("input", narrow);
  field.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) at = (at + step + shown.length) % shown.length;
    else if (event.key !== "Enter") return;
    event.preventDefault();
    if (step) draw();
    else choose(shown[at]);
  });
  const dialog = h("dialog", {
    class: "palette", "aria-label": "Go to", onclose: () => dialog.remove(),
    onclick: (event) => event.target === dialog && dialog.close(),
  }, field, list);
  document.body.append(dialog);
  narrow();
  dialog.showModal();
  field.focus();
}
