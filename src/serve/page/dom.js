// Builds elements. Text from a repository only ever becomes a text node.

export function h(tag, attributes, ...children) {
  return made(document.createElement(tag), attributes, children);
}

// Builds elements of a picture.
export function svg(tag, attributes, ...children) {
  return made(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function made(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  fill(element, children);
  return element;
}

// Replaces what an element holds; `null` stands for nothing. The focus goes to what took the place of the
// element that had it, or to the whole.
export function fill(element, ...children) {
  const held = element.contains(document.activeElement) && document.activeElement !== element ? document.activeElement : null;
  element.replaceChildren(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  if (held) (alike(element, held) ?? element).focus({ preventScroll: true });
}

function alike(element, old) {
  const name = (e) => e.getAttribute("href") ?? e.getAttribute("aria-label") ?? e.textContent;
  return [...element.querySelectorAll(old.localName)].find((e) => name(e) === name(old));
}

export function link(address, attributes, ...children) {
  return h("a", { href: address, ...attributes }, ...children);
}

// Characters that turn the direction of a text, or show as nothing, in a visible form.
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu;

export function visible(text) {
  return text.replace(UNSEEN, (c) => `\\u{${c.codePointAt(0).toString(16)}}`);
}

export function count(n, what, many = `${what}s`) {
  return `${n.toLocaleString("en")} ${n === 1 ? what : many}`;
}

export function fileAddress(path, line, symbol) {
  const query = new URLSearchParams({ path });
  if (line) query.set("line", line);
  if (symbol) query.set("symbol", symbol);
  return `/file?${query}`;
}
