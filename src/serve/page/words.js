// Says times and names of the program in words.

import { count, h } from "./dom.js";

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
// The longest time first.
const UNITS = [[365 * DAY, "year"], [30 * DAY, "month"], [DAY, "day"], [60 * MINUTE, "hour"], [MINUTE, "minute"]];

// Returns how long ago a time was, with the time itself as a hint.
export function ago(at) {
  const passed = Date.now() - Date.parse(at);
  const [size, unit] = UNITS.find(([size]) => passed >= size) ?? [];
  const text = unit ? `${count(Math.floor(passed / size), unit)} ago` : "just now";
  return h("time", { datetime: at, title: new Date(at).toLocaleString("en-GB") }, text);
}

// Returns the time of a day, and the day unless it is today.
export function moment(at) {
  const date = new Date(at);
  const isToday = date.toDateString() === new Date().toDateString();
  const clock = { hour: "2-digit", minute: "2-digit" };
  const text = isToday
    ? `today at ${date.toLocaleTimeString("en-GB", clock)}`
    : date.toLocaleString("en-GB", { day: "numeric", month: "short", year: "numeric", ...clock });
  return h("time", { datetime: at }, text);
}

// Where a memory comes from, as the end of "It comes from …".
const SOURCES = {
  hook_description: "the work of an agent",
  claude_response: "an answer of an agent",
  md_file_chunk: "a note in Markdown",
  filesystem_watch: "a changed file",
  git_bulk_update: "git, which changed files",
  git_metadata: "git",
  git_context: "git",
  text: "a note",
  json: "a note of a program",
  message: "a conversation",
};
const TOOLS = {
  explore: "explored", search: "searched", grep: "searched for lines", map: "asked for the map", related: "looked for similar code",
  why: "asked why", history: "asked the past", changes: "asked what changed", outline: "outlined", read: "read", status: "asked for the state",
  graph: "asked the code graph", impact: "asked what a change touches", pattern: "looked for a structure", files: "counted files",
};

export const sourceName = (source) => SOURCES[source] ?? source.replaceAll("_", " ");
export const toolName = (tool) => TOOLS[tool.replace(/^cortex_/, "")] ?? tool.replace(/^cortex_/, "").replaceAll("_", " ");
