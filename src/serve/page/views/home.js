// The first view: what this repository is, how fresh the index is, what changed, what to ask, and
// what agents asked.

import { about, call } from "../api.js";
import { count, fileAddress, fill, h, link, visible } from "../dom.js";
import { ago, moment, toolName } from "../words.js";
import { overview } from "./map.js";

export const follows = true;
export const title = () => "Home";

const COMMITS = 10;
const ASKED = 6;
// Commits of the question what the last ones touch.
const TOUCHED = 3;
const MODULES = 8;
// Most languages that are named, and the least share of the lines of one.
const LANGUAGES = 3;
const MUCH = 0.1;

let shown = null;

export async function show(main, parameters, { signal }) {
  if (!main.querySelector(":scope > .home")) fill(main, skeleton());
  shown = Object.fromEntries([...main.querySelectorAll("[data-part]")].map((part) => [part.dataset.part, part]));
  const parts = shown;
  const [{ name, branch }, status] = await Promise.all([about(), call("status", {}, signal)]);
  fill(parts.name, visible(name));
  fill(parts.facts, facts(branch, status, []));
  // Without a commit, there is no past to ask.
  const past = status.index.head ? call("history", { paths: ["*"], limit: COMMITS }, signal) : Promise.resolve({ commits: [] });
  past.catch(() => {});
  parts.known = async () => {
    const map = await call("overview", {}, signal);
    parts.isPartial = !map.files.length;
    fill(parts.facts, facts(branch, status, map.languages));
    const { commits } = await past.catch(() => ({ commits: [] }));
    fill(parts.about, map.about ? visible(map.about.text) : null);
    fill(parts.questions, head("Questions that this repository can answer"), questions(map, commits.slice(0, TOUCHED).at(-1)));
    return map;
  };
  const [, , map] = await Promise.all([
    overview(signal).then(([box, total]) => fill(parts.map, head("Map", link("/map", {}, count(total.lines, "line"))), box)),
    // In this order, because one is below the other.
    activity(signal).then(() => past).then(({ commits }) => fill(parts.commits, head("Recent changes", link("/change", {}, "what is not committed")), log(commits))),
    parts.known(),
  ]);
  fill(parts.modules, modules(map));
}

export function heard(name, main, signal) {
  if (name !== "activity" || !main.querySelector(".home")) return;
  activity(signal).catch(() => {});
  // Somebody's question may have built the code graph.
  if (shown.isPartial) shown.known().then((map) => fill(shown.modules, modules(map))).catch(() => {});
}

function skeleton() {
  const panel = (part) => h("section", { class: "panel", "data-part": part });
  const waiting = h("ul", { class: "questions" }, ["Reading what this repository is …", "", ""].map((text) => h("li", { class: "hint" }, text)));
  const parts = { questions: panel("questions"), map: panel("map") };
  fill(parts.questions, head("Questions that this repository can answer"), waiting);
  fill(parts.map, head("Map"), h("div", { class: "treemap" }));
  return h("div", { class: "home" },
    h("h1", { "data-part": "name" }, "\u00a0"), h("p", { class: "facts-line", "data-part": "facts" }),
    h("p", { class: "lead", "data-part": "about" }),
    h("div", { class: "columns" },
      h("div", {}, parts.questions, parts.map),
      h("div", {}, panel("asked"), panel("commits"))),
    panel("modules"));
}

const head = (text, ...more) => h("h2", {}, text, more.length ? h("span", { class: "n" }, " · ", more) : null);

function facts(branch, { index, files }, languages) {
  const lines = languages.reduce((sum, row) => sum + row.lines, 0);
  const main = languages.filter((row) => row.lines > lines * MUCH).slice(0, LANGUAGES);
  return [
    branch ? ["On ", h("code", {}, visible(branch)), index.head ? ` at ${index.head.slice(0, 9)}` : null, " · "] : null,
    index.pending ? `${count(index.pending, "file")} waiting to be indexed` : "index up to date", ", last changed ", ago(index.indexed_at),
    ` · ${count(files, "file")}`, main.length ? `, mostly ${main.map(({ name }) => name).join(", ")}` : null,
  ];
}

function log(commits) {
  if (!commits.length) return h("p", { class: "hint" }, "No commits are known here.");
  return h("ol", { class: "rows log" }, commits.map((commit) => h("li", {},
    h("a", { class: "commit", href: range(commit.id), title: visible(commit.subject) }, visible(commit.subject)),
    ago(commit.at))));
}

const range = (id) => `/change?${new URLSearchParams({ range: `${id}^..${id}` })}`;

// Three questions about the most important type, an explained directory, and the way in.
function questions({ files, modules, entries }, since) {
  const [file, next] = files;
  const symbol = file?.symbols[0];
  const [other] = next?.symbols ?? [];
  // Directories above others say least.
  const isOuter = ({ path }) => modules.some((other) => other.path.startsWith(`${path}/`));
  const told = modules.filter(({ path, about }) => about && path.includes("/")).sort((a, b) => isOuter(a) - isOuter(b) || b.files - a.files);
  const [explained] = told;
  const entry = entries[0];
  const rows = [
    symbol && [`What breaks if ${symbol.name} changes?`, `${symbol.kind} in ${file.path}`, `${fileAddress(file.path, symbol.line, symbol.name)}&draw=impact`],
    explained && [`How does ${explained.path} work?`, "search below it", `/search?${new URLSearchParams({ q: `How does ${explained.path} work?`, paths: `${explained.path}/**` })}`],
    !explained && other && [`Who uses ${other.name}?`, `${other.kind} in ${next.path}`, fileAddress(next.path, other.line, other.name)],
    entry && ["Where does the program start?", entry.path, fileAddress(entry.path, entry.line)],
    since && ["What do the last commits touch?", "users and tests", `/change?${new URLSearchParams({ range: `${since.id}^..` })}`],
  ].filter(Boolean).slice(0, 3);
  if (!rows.length) return h("p", { class: "hint" }, "Type a question into the field above.");
  return h("ul", { class: "questions" }, rows.map(([question, where, address]) =>
    h("li", {}, link(address, { class: "question-link" }, h("span", {}, visible(question)), h("span", { class: "hint" }, visible(where))))));
}

function modules({ modules, files }) {
  const rows = modules.filter(({ about }) => about).slice(0, MODULES);
  const types = files.slice(0, 2 * MODULES).map(({ path, symbols: [symbol] }) => symbol && [path, symbol]).filter(Boolean).slice(0, 2 * MODULES);
  return [
    rows.length ? [head("Parts"), h("ul", { class: "rows parts" }, rows.map(({ path, about }) => h("li", {},
      link(`/map?${new URLSearchParams({ path })}`, { class: "path" }, visible(path)), " ", h("span", { class: "hint" }, visible(about)))))] : null,
    types.length ? [head("Most used"), h("p", {}, types.map(([path, { name, line }]) =>
      [link(fileAddress(path, line, name), { class: "symbol", title: visible(path) }, visible(name)), "  "]))] : null,
  ];
}

async function activity(signal) {
  const { questions, tools, calls, keeps_questions } = await call("activity", {}, signal);
  const total = tools.reduce((sum, row) => sum + row.calls, 0);
  const tokens = tools.reduce((sum, row) => sum + row.tokens_read, 0);
  fill(shown.asked,
    head("What agents asked today", ...(total ? [link("/state", {}, count(total, "question"))] : [])),
    questions.length
      ? h("ol", { class: "rows log" }, questions.slice(0, ASKED).map((row) => h("li", {},
        h("span", { title: visible(row.question) }, h("span", { class: "hint" }, toolName(row.tool)), " ", visible(row.question.replace(/^(query|path|at|target|about): /, ""))),
        moment(row.at))))
      : h("p", { class: "hint" }, calls && !keeps_questions ? "Questions are not kept, because serve.activity is false."
        : ["No agent asked this server yet. ", h("code", {}, "cortex init"), " connects the agents of this machine."]),
    total ? h("p", { class: "hint" }, `They read about ${count(tokens, "token")}.`) : null);
}
