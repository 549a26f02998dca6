// Talks to the server that the page came from.

const KEY = "cortex.token";
const given = new URLSearchParams(location.hash.slice(1)).get("token");
if (given) {
  sessionStorage.setItem(KEY, given);
  history.replaceState(history.state, "", location.pathname + location.search);
}

export class Failed extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

function headers(more) {
  const token = sessionStorage.getItem(KEY);
  return token ? { ...more, Authorization: `Bearer ${token}` } : more;
}

// Calls `/api/NAME` and returns the answer. With `keepalive` the call outlives the page.
export async function call(name, body, signal, keepalive = false) {
  let response;
  try {
    response = await fetch(`/api/${name}`, {
      method: "POST",
      headers: headers({ "Content-Type": "application/json" }),
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
  const hint = response.status === 401 ? " Open the page once with #token=… at the end of its address." : "";
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
      const response = await fetch("/events", { headers: headers({}) });
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
