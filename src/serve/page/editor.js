// Opens a place in the user's editor.

import { about } from "./api.js";
import { h } from "./dom.js";

// Returns a link whose address is filled in once the server has told the editor.
export function editorLink(path, line) {
  const link = h("a", { class: "editor", "aria-label": `edit ${path}`, title: "open in the editor (o)" }, "edit");
  about().then(({ root, editor }) => {
    const whole = encodeURI(`${root}/${path}`).replace(/[?#&]/g, encodeURIComponent);
    link.href = editor.replace("{path}", () => whole).replace("{line}", String(line || 1));
  }).catch(() => {});
  return link;
}
