// Shows code: with line numbers, with marked words, and with the colours that the server tells.

import { call } from "./api.js";
import { h, visible } from "./dom.js";

// Returns a block of code. `mark` is a regular expression of words to mark; `address(line)` is where
// the number of a line leads.
export function code(path, text, first, { mark, address, current } = {}) {
  const block = h("pre", { class: "code", tabindex: "0", "aria-label": `Code of ${path}` });
  text.split("\n").forEach((line, i) => {
    const number = first + i;
    const body = h("code", {});
    body.append(...marked(line, mark));
    block.append(
      h("div", { class: number === current ? "line current" : "line", id: current ? `L${number}` : null },
        h("a", { class: "number", href: address?.(number), tabindex: "-1" }, String(number)),
        body,
      ),
    );
  });
  block.source = { path, text, mark, first };
  return block;
}

function marked(text, mark) {
  if (!mark) return [visible(text)];
  const parts = [];
  let at = 0;
  for (const match of text.matchAll(mark)) {
    if (!match[0]) continue;
    parts.push(visible(text.slice(at, match.index)), h("mark", {}, visible(match[0])));
    at = match.index + match[0].length;
  }
  parts.push(visible(text.slice(at)));
  return parts;
}

// Colours blocks, all with one request. Until it answers, they are plain.
export async function colour(blocks, signal) {
  if (!blocks.length) return;
  const parts = blocks.map(({ source }) => ({ path: source.path, text: source.text }));
  const answer = await call("colours", { parts }, signal);
  answer.parts.forEach((lines, i) => {
    const { text, mark } = blocks[i].source;
    const bodies = blocks[i].querySelectorAll("code");
    text.split("\n").forEach((line, n) => {
      if (!lines[n]?.some(([kind]) => kind !== "plain")) return;
      let at = 0;
      const runs = lines[n].map(([kind, length]) => {
        const part = marked(line.slice(at, (at += length)), mark);
        return kind === "plain" ? part : h("span", { class: `c-${kind}` }, part);
      });
      bodies[n].replaceChildren(...runs.flat(), ...marked(line.slice(at), mark));
    });
  });
}

// Words that say nothing about what is looked for.
const COMMON = new Set("an and are as at be by do does for from has have how if in into is it its of on or that the then this to was what when where which who why will with".split(" "));

// Returns a regular expression that finds the words of a query.
export function wordsOf(query) {
  const words = (query.match(/[\p{L}\p{N}_]{2,}/gu) ?? []).filter((word) => !COMMON.has(word.toLowerCase()));
  if (!words.length) return null;
  const escaped = words.sort((a, b) => b.length - a.length).slice(0, 20);
  return new RegExp(escaped.join("|"), "giu");
}
