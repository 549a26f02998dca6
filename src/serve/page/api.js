// Talks to the server that the page came from.

// The key that the server gave for the ticket or token in the address. It ends with the server, so
// it may stay for other tabs; the token itself is not kept.
const KEY = "cortex.key";
const fragment = new URLSearchParams(location.hash.slice(1));
const given = fragment.get("ticket") ?? fragment.get("token");
const ready = given ? enter(given) : Promise.resolve();

async function enter(given) {
  history.replaceState(history.state, "", location.pathname + location.search);
  const sent = { Authorization: `Bearer ${given}`, "Content-Type": "application/json" };
  const response = await fetch("/api/key", { method: "POST", headers: sent }).catch(() => null);
  const { key } = response?.ok ? await response.json() : {};
  if (key) localStorage.setItem(KEY, key);
}

export class Failed extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

async function headers(more) {
  await ready;
  const key = localStorage.getItem(KEY);
  return key ? { ...more, Authorization: `Bearer ${key}` } : more;
}

// Calls `/api/NAME` and returns the answer. With `keepalive` the call outlives the page.
export async function call(name, body, signal, keepalive = false) {
  let response;
  try {
    response = await fetch(`/api/${name}`, {
      method: "POST",
      headers: await headers({ "Content-Type": "application/json" }),
      body: JSON.stringify(body),
      signal,
      keepalive,
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Failed(0, "The server does not answer. This page goes on when it is back.");
  }
  const answer = await response.json().catch(() => ({}));
  if (response.ok) return answer;
  const hint = response.status === 401 ? " Run `cortex open`, or open the page once with #token=… at the end of its address." : "";
  throw new Failed(response.status, (answer.error ?? `The server says ${response.status}.`) + hint);
}

let known = null;

// Returns what the server says about itself and the project, asked once.
export function about() {
  known ??= call("about", {}).catch((error) => {
    known = null;
    throw error;
  });
  return known;
}

// Tells `on(name, data)` every event of the server, and `on("lost")` while there is no connection.
export async function follow(on) {
  for (;;) {
    try {
      const response = await fetch("/events", { headers: await headers({}) });
      if (!response.ok) throw new Error(String(response.status));
      on("found");
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      let text = "";
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        text += value;
        const blocks = text.split("\n\n");
        text = blocks.pop();
        for (const block of blocks) {
          const field = (name) =>
            block.split("\n").find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
          if (field("event") && field("data")) on(field("event"), JSON.parse(field("data")));
        }
      }
    } catch {
      on("lost");
    }
    await new Promise((wake) => setTimeout(wake, 1000));
  }
}
