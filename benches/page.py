#!/usr/bin/env python3
"""Measures the page of `cortex serve` as a user feels it, in Chromium, on a repository.

    target/clients/venv/bin/python benches/page.py target/release/cortex REPOSITORY

Needs what tests/it/clients/install.sh installs. Prints a line of JSON for each figure; times are milliseconds:

- keystroke: from the event of a key to the frame after the results of its text are drawn. `server_ms` is the part that the
  server tells, `wait_ms` the delay of the page before it asks, `request_ms` the request, and the rest is drawing;
- symbol: from a click to the frame after both columns are filled;
- memory after 200 navigations: the heap of the script after a collection, and the resident set of its process;
- first view: first contentful paint and transferred bytes of all that it loads, in a browser without a cache;
- files: bytes of src/serve/page, as they are and with gzip -9."""

import gzip
import json
import statistics
import sys
import time
from pathlib import Path
from urllib.parse import urlencode

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/it/clients"))
from chromium import Tab, chromium, served

QUERIES = ["open file", "undo history", "key event", "parse config", "theme color", "language server", "selection"]
SYMBOLS = 30
NAVIGATIONS = 200

# Marks when a key is pressed, when its search is asked and answered, and when its results are drawn: the frame after the view is filled.
MARKS = """
window.marks = null;
addEventListener("input", () => (window.marks = { start: performance.now() }), true);
addEventListener("click", () => (window.marks = { start: performance.now() }), true);
const { fetch } = window;
window.fetch = async (address, ...rest) => {
  const mine = window.marks;
  if (mine && String(address).startsWith("/api/")) mine.asked ??= performance.now();
  const response = await fetch(address, ...rest);
  const json = response.json.bind(response);
  response.json = async () => {
    const answer = await json();
    if (mine && address === "/api/find") { mine.answered = performance.now(); mine.server = answer.stats?.milliseconds; }
    if (mine && address === "/api/graph") mine.answered = performance.now();
    return answer;
  };
  return response;
};
const drawn = (mine, name) => requestAnimationFrame(() => setTimeout(() => (mine[name] = performance.now())));
document.addEventListener("DOMContentLoaded", () => new MutationObserver((changes) => {
  const mine = window.marks;
  if (!mine || !mine.answered) return;
  const into = (selector) => changes.some(({ target }) => target.matches?.(selector));
  if (into("#view") && !mine.results) { mine.results = true; drawn(mine, "end"); }
  if (into(".side")) { mine.columns = (mine.columns ?? 0) + 1; drawn(mine, "columnsEnd"); }
}).observe(document.querySelector("#view"), { childList: true, subtree: true }));
"""


def tell(figure, **values):
    print(json.dumps({"figure": figure, **values}), flush=True)


def spread(values):
    ordered = sorted(values)
    return {"n": len(ordered), "p50": round(statistics.median(ordered), 1), "p95": round(ordered[int(len(ordered) * 0.95)], 1), "most": round(ordered[-1], 1)}


def keystrokes(tab):
    page, taken, parts = tab.page, [], {"wait_ms": [], "request_ms": [], "server_ms": [], "drawing_ms": []}
    for query in QUERIES:
        tab.open("/", "main > *")
        page.locator("#query").focus()
        for letter in query:
            page.keyboard.type(letter)
            if letter == " ":
                continue  # The text is the same to the server.
            page.wait_for_function("() => window.marks?.end")
            m = page.evaluate("() => window.marks")
            taken.append(m["end"] - m["start"])
            parts["wait_ms"].append(m["asked"] - m["start"])
            parts["request_ms"].append(m["answered"] - m["asked"])
            parts["server_ms"].append(m["server"])
            parts["drawing_ms"].append(m["end"] - m["answered"])
            tab.drawn()
    tell("keystroke to results", **spread(taken), parts_p50={name: round(statistics.median(values), 1) for name, values in parts.items()})


def addresses(tab):
    """Returns addresses of symbols that searches find."""
    found = []
    for query in QUERIES:
        tab.open("/search?" + urlencode({"q": query}), "a.result")
        found += [a.get_attribute("href") for a in tab.page.locator("a.result[href*='symbol=']").all()]
    return list(dict.fromkeys(found))


def symbols(tab, links):
    taken, asked = [], []
    for link in links[:SYMBOLS]:
        tab.page.evaluate("(href) => { const a = document.createElement('a'); a.href = href; document.body.append(a); a.click(); a.remove(); }", link)
        tab.page.wait_for_function("() => window.marks?.columnsEnd")
        tab.drawn("pre.code")
        m = tab.page.evaluate("() => window.marks")
        taken.append(m["columnsEnd"] - m["start"])
        asked.append(m["answered"] - m["start"])
    tell("symbol view", **spread(taken), until_the_graph_answers=spread(asked))


def memory(browser, tab, links):
    session = tab.context.new_cdp_session(tab.page)

    def now():
        session.send("HeapProfiler.collectGarbage")
        session.send("Performance.enable")
        metrics = {m["name"]: m["value"] for m in session.send("Performance.getMetrics")["metrics"]}
        processes = browser.new_browser_cdp_session().send("SystemInfo.getProcessInfo")["processInfo"]
        sizes = {}
        for process in processes:
            if process["type"] == "renderer":
                status = Path(f"/proc/{process['id']}/status").read_text()
                sizes[process["id"]] = int(status.split("VmRSS:")[1].split()[0]) // 1024
        return {"heap_mb": round(metrics["JSHeapUsedSize"] / 1e6, 1), "nodes": int(metrics["Nodes"]), "renderers_rss_mb": max(sizes.values(), default=None)}

    before = now()
    pages = links[:20] + ["/search?" + urlencode({"q": query}) for query in QUERIES] + ["/state"]
    for i in range(NAVIGATIONS):
        tab.page.evaluate("(href) => { const a = document.createElement('a'); a.href = href; document.body.append(a); a.click(); a.remove(); }", pages[i % len(pages)])
        tab.drawn()
    tell(f"memory after {NAVIGATIONS} navigations", before=before, after=now())


def first_view(browser, base):
    tab = Tab(browser, base, watch_calls=False)
    session = tab.context.new_cdp_session(tab.page)
    session.send("Network.enable")
    transfers, kinds = {}, {}
    session.on("Network.loadingFinished", lambda e: transfers.update({e["requestId"]: e["encodedDataLength"]}))
    session.on("Network.responseReceived", lambda e: kinds.update({e["requestId"]: (e["response"]["url"].removeprefix(base), e["response"]["headers"].get("content-encoding"))}))
    start = time.monotonic()
    tab.page.goto(f"{base}/search?" + urlencode({"q": QUERIES[0]}))
    tab.page.locator("a.result").first.wait_for()
    shown = time.monotonic() - start
    tab.page.locator("pre .c-keyword").first.wait_for()
    tab.page.wait_for_function("() => performance.getEntriesByName('first-contentful-paint').length")
    paint = tab.page.evaluate("() => performance.getEntriesByName('first-contentful-paint')[0].startTime")
    by = {}
    for request, (url, _) in kinds.items():
        name = "assets" if url.startswith("/assets/") else url.split("?")[0]
        by[name] = by.get(name, 0) + int(transfers.get(request, 0))
    tell("first view", first_contentful_paint_ms=round(paint, 1), results_ms=round(shown * 1000), requests=len(kinds), bytes=sum(by.values()), by=by, encodings=sorted({e or "none" for _, e in kinds.values()}))
    tab.close()


def files():
    contents = [file.read_bytes() for file in sorted((ROOT / "src/serve/page").rglob("*")) if file.is_file()]
    tell("files of the page", files=len(contents), bytes=sum(map(len, contents)), gzip=sum(len(gzip.compress(c, 9)) for c in contents))


def main(program, repository):
    files()
    with served(program, repository) as base, chromium() as browser:
        tab = Tab(browser, base)
        tab.page.add_init_script(MARKS)
        tab.open("/search?q=index", "a.result")
        tab.page.locator("#state:has-text('generation')").wait_for()
        first_view(browser, base)
        keystrokes(tab)
        links = addresses(tab)
        symbols(tab, links)
        memory(browser, tab, links)
        for wrong in tab.close():
            sys.exit(wrong)


main(*sys.argv[1:])
