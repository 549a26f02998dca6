// Talks to the client of the Model Context Protocol that shows this page in a frame (MCP Apps). It
// stands in the place of api.js.

let last = 0;
const waiting = new Map();
const told = {};

export class Failed extends Error {}

function post(message) {
  window.parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
}

export function tell(method, params) {
  post({ method, params });
}

// Calls `on(params)` when the client tells `method`.
export function hear(method, on) {
  told[method] = on;
}

export function request(method, params) {
  last += 1;
  post({ id: last, method, params });
  return new Promise((resolve, reject) => waiting.set(last, { resolve, reject }));
}

addEventListener("message", ({ source, data }) => {
  if (source !== window.parent || data?.jsonrpc !== "2.0") return;
  if (data.method) {
    if (data.id === undefined) return told[data.method]?.(data.params ?? {});
    if (data.method === "ping" || data.method === "ui/resource-teardown") return post({ id: data.id, result: {} });
    return post({ id: data.id, error: { code: -32601, message: "there is no such method" } });
  }
  const call = waiting.get(data.id);
  waiting.delete(data.id);
  if (data.error) call?.reject(new Failed(data.error.message));
  else call?.resolve(data.result);
});

// Calls a tool through the client. What the page asks beside tools cannot be had there.
export async function call(name, body) {
  if (name === "colours") return { parts: body.parts.map(() => []) };
  const result = await request("tools/call", { name: `cortex_${name}`, arguments: { ...body, format: "json" } });
  if (result.isError) throw new Failed(result.content?.[0]?.text ?? "The call failed.");
  return result.structuredContent;
}

export function about() {
  return Promise.reject(new Failed("The client opens no editor."));
}
