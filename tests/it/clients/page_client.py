"""Drives the page of a server in Chromium, and fails where a user would notice a fault. Prints each finding as a line of JSON.

    page_client.py PART ADDRESS [ARGUMENT]

It runs in the directory of the project that the server serves. tests/it/page.rs starts it."""

import difflib
import json
import re
import sys
import time
import traceback
import urllib.request
from pathlib import Path
from urllib.parse import quote_plus

from chromium import LONG, VIEWS, WIDTHS, Tab, chromium, served

faults = 0


def tell(**finding):
    print(json.dumps(finding, ensure_ascii=False), flush=True)


def check(holds, what, **more):
    """Records a fault unless a condition holds."""
    global faults
    if not holds:
        faults += 1
        tell(fault=what, **more)


def ended(tab, what, expected=()):
    """Closes a page, in which nothing went wrong but what is expected, as regular expressions."""
    wrong = [w for w in tab.close() if not any(re.search(e, w) for e in expected)]
    check(not wrong, "nothing goes wrong in the page", at=what, wrong=wrong[:10])


def timeless(tab):
    """Returns the text of a view without what differs from one moment to the next: durations, sizes, plots of times, and reloads."""
    text = tab.page.locator("main").evaluate("(main) => [...main.querySelectorAll('figure')].reduce((text, plot) => text.replace(plot.innerText, ''), main.innerText)")
    text = re.sub(r"[\d.,]+ (ms|MB)", r"_ \1", text)
    # The server reads the history in the background, so it may reload at any time.
    text = re.sub(r"\d+ since the start", "_ since the start", text)
    return re.sub(r"(Last )\d+( reload)s?(\n.*generation.*)(?:\n *\d\d:\d\d:\d\d\t.*)*", r"\1_\2s\3", text)


def active(tab):
    """Describes the element that has the focus; how it shows it; and whether it can be seen."""
    return tab.page.evaluate(
        """() => {
          const e = document.activeElement;
          if (e === document.body) return null;
          const style = getComputedStyle(e), box = e.getBoundingClientRect();
          const [head, foot] = ["header", "footer"].map((tag) => document.querySelector(tag).getBoundingClientRect());
          const isOfMain = document.querySelector("main").contains(e);
          return {
            tag: e.localName, id: e.id, href: e.getAttribute("href"), text: (e.getAttribute("aria-label") ?? e.textContent).slice(0, 60),
            ring: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0,
            seen: box.width > 0 && box.bottom > (isOfMain ? head.bottom : 0) && box.top < (isOfMain ? foot.top : innerHeight),
          };
        }"""
    )


def views(browser, base):
    """Each view shows something, without a complaint of the browser."""
    for view in VIEWS:
        tab = Tab(browser, base)
        tab.open(view.address, view.shows)
        check(tab.page.locator(".problem").count() == 0, "no problem is shown", view=view.name)
        check(tab.page.title().endswith(" – Cortex"), "the title names the view", view=view.name, title=tab.page.title())
        check("generation " in tab.page.locator("#state").inner_text(), "the foot tells the generation", view=view.name)
        ended(tab, view.name)

    tab = Tab(browser, base)
    tab.open("/search?q=error", "a.result")
    check(tab.page.locator("mark").first.inner_text().lower() == "error", "words of the query are marked")
    check(tab.page.locator("pre .c-keyword").count() > 0, "code has colours")
    tab.page.get_by_label("Only files below src/serve/").first.click()
    tab.drawn("[aria-label='Remove the filter path src/serve/']")
    others = [row for row in tab.page.locator("a.result").all_inner_texts() if not row.startswith("src/serve/")]
    check(not others, "a path restricts the results", others=others)
    tab.page.get_by_label("Only files of rust").first.click()
    tab.drawn("[aria-label='Remove the filter language rust']")
    check("languages=rust" in tab.page.url, "a filter is part of the address", url=tab.page.url)

    tab.open("/file?path=src%2Fserve%2Frefusal.rs&symbol=error", "[aria-label=Users] a.result")
    users = tab.page.locator("[aria-label=Users]").inner_text()
    check("src/serve/page.rs" in users, "a function has its callers on its left", users=users)
    tab.page.locator("[aria-label=Users] a.result", has_text="asset").first.click()
    tab.drawn("h1:has-text('src/serve/page.rs')")
    check("error" in tab.page.locator("[aria-label=Uses]").inner_text(), "a caller has the function on its right")

    tab.open("/change?range=HEAD%7E1..", "section a.result")
    check("added_by_the_last_commit" in tab.text(), "a range shows what its commits changed", text=tab.text())
    tab.open("/change", "section a.result")
    check("edited_since_the_commit" in tab.text(), "without a range, the working tree is shown", text=tab.text())

    tab.open("/state", ".facts dd")
    check("No agent asked this server yet" in tab.text(), "the page is no agent", text=tab.text())
    question = {"query": "error <img src=x onerror=alert(1)>"}
    request = urllib.request.Request(f"{base}/api/search", json.dumps(question).encode(), {"Content-Type": "application/json"})
    urllib.request.urlopen(request).read()
    tab.page.locator("main", has_text="error <img src=x onerror=alert(1)>").wait_for()
    check(tab.page.locator("[data-section=questions] a[href*='src%2Fserve%2F']").count() > 0, "a question is shown with what was shown", text=tab.text())
    tab.page.get_by_text("Files by language, chunks by type").click()
    check(re.search(r"rust\s+\d+", tab.text()), "files are counted by language", text=tab.text())
    ended(tab, "details")

    tab = Tab(browser, base)
    tab.open("/file?path=nothing%2Fhere.rs", "[role=alert]")
    check("nothing/here.rs" in tab.text(), "a file that is not there is named", text=tab.text())
    ended(tab, "a file that is not there", ["status of (400|404)", "status (400|404)"])


def live(browser, base):
    """An edit changes what is shown, without any action."""
    file = Path("src/serve/refusal.rs")
    before = file.read_text()
    tab = Tab(browser, base)
    tab.open("/search?q=zebra_crossing", "main > *")
    other = Tab(browser, base)
    other.open("/file?path=src%2Fserve%2Frefusal.rs", "pre.code .line")
    for name in ["zebra_crossing", "zebra_crossing_again", "zebra_crossing_at_last"]:
        start = time.monotonic()
        file.write_text(f"{before}\npub fn {name}() {{}}\n")
        tab.page.locator(f"pre.code:has-text('fn {name}()')").first.wait_for()
        found = time.monotonic() - start
        other.page.locator(f"pre.code:has-text('fn {name}()')").first.wait_for()
        tell(figure="an edit is shown after", edit=name, search_ms=round(found * 1000), both_ms=round((time.monotonic() - start) * 1000))
    ended(tab, "search")
    ended(other, "file")


def keyboard(browser, base):
    """Everything can be done without a mouse, and one sees where one is."""
    tab = Tab(browser, base)
    keys = tab.page.keyboard
    tab.open("/", "main > *")

    def focus(what, **wanted):
        found = active(tab)
        check(found and all(found[key] == value for key, value in wanted.items()), what, wanted=wanted, found=found)
        check(found and (found["ring"] or found["tag"] == "main") and found["seen"], "the focus can be seen", at=what, found=found)
        return found

    keys.press("/")
    focus("/ goes to the field", id="query")
    keys.type("events of the server")
    tab.searched("events of the server")
    rows = [link.get_attribute("href") for link in tab.page.locator("a.result").all()]
    keys.press("ArrowDown")
    focus("an arrow goes to the first result", href=rows[0])
    keys.press("ArrowDown")
    focus("an arrow goes to the next result", href=rows[1])
    keys.press("j")
    focus("so does j", href=rows[2])
    keys.press("k")
    keys.press("ArrowUp")
    keys.press("ArrowUp")
    focus("the first result leads back to the field", id="query")
    keys.press("Escape")
    check(active(tab) is None, "Esc leaves the field", found=active(tab))

    # What is shown is drawn again after an edit. Somebody who is on a result stays on it.
    keys.press("ArrowDown")
    keys.press("ArrowDown")
    on = focus("an arrow goes through results after Esc")
    Path("src/serve/fresh_from_the_keyboard.rs").write_text("/// Tells the events of the server to the server's log of events.\npub fn events_of_the_server() {}\n")
    tab.page.locator("main", has_text="fresh_from_the_keyboard.rs").wait_for()
    tab.drawn("a.result")
    focus("the focus is kept when the results change", href=on["href"])

    keys.press("Enter")
    tab.drawn("h1")
    check("/file?" in tab.page.url, "Enter opens the result", url=tab.page.url)
    focus("after that, the view has the focus", id="view")
    tab.page.go_back()
    tab.drawn("a.result")
    keys.press("g")
    keys.press("c")
    tab.drawn("form.bar")
    check("/change" in tab.page.url, "g c shows the change", url=tab.page.url)
    keys.press("g")
    keys.press("s")
    tab.drawn(".facts dd")
    check("/state" in tab.page.url, "g s shows the state", url=tab.page.url)
    keys.press("?")
    tab.page.locator("dialog[open]").wait_for()
    keys.press("Escape")
    tab.page.locator("dialog").wait_for(state="detached")
    keys.press("/")
    focus("/ goes back to the field", id="query")

    # The Tab key reaches everything that can be clicked; line numbers are reached by arrows or a mouse.
    for view in VIEWS:
        tab.open(view.address, view.shows)
        wanted = tab.page.evaluate(
            """() => {
              window.reached = new Set();
              document.addEventListener("focusin", (event) => reached.add(event.target));
              window.wanted = [...document.querySelectorAll("a[href], button, input, select, summary, [tabindex]")]
                .filter((e) => e.tabIndex >= 0 && e.checkVisibility());
              return wanted.length;
            }"""
        )
        for _ in range(wanted + 2):
            keys.press("Tab")
            found = active(tab)
            if found and not (found["ring"] and found["seen"]):
                check(False, "the focus can be seen", view=view.name, found=found)
                break
        left = tab.page.evaluate("() => wanted.filter((e) => !reached.has(e)).map((e) => e.outerHTML.slice(0, 200))")
        check(not left, "the Tab key reaches everything", view=view.name, left=left[:5], of=wanted)
    ended(tab, "keyboard")


def addresses(browser, base):
    """An address shows the same to whom it is sent, and to whom goes back to it."""
    tab = Tab(browser, base)
    tab.open("/", "main > *")
    seen = []

    def remember():
        seen.append((tab.page.url.removeprefix(base), tab.page.title(), timeless(tab)))

    tab.page.locator("#query").press_sequentially("error")
    tab.searched("error")
    remember()
    tab.page.get_by_role("button", name="why this result").click()
    tab.drawn("table.why")
    remember()
    tab.page.locator("a.result[href*='refusal.rs']").first.click()
    tab.drawn("[aria-label=Users] a.result")
    remember()
    tab.page.locator("[aria-label=Users] a.result", has_text="asset").first.click()
    tab.drawn("h1:has-text('src/serve/page.rs')")
    tab.drawn("[aria-label=Users] h2")
    remember()
    tab.page.get_by_role("link", name="Change").click()
    tab.drawn("section a.result")
    remember()
    tab.page.get_by_label("Commit or range").fill("HEAD~1..")
    tab.page.get_by_role("button", name="Show").click()
    tab.drawn("main:has-text('added_by_the_last_commit')")
    remember()
    tab.page.get_by_role("link", name="State").click()
    tab.drawn(".facts dd")
    remember()
    check(len({address for address, _, _ in seen}) == len(seen), "each has an address of its own", seen=[s[0] for s in seen])

    def same(where, address, title, text):
        check(tab.page.url.removeprefix(base) == address, where, wanted=address, found=tab.page.url)
        check(tab.page.title() == title, where, address=address, wanted=title, found=tab.page.title())
        differences = list(difflib.unified_diff(text.splitlines(), timeless(tab).splitlines(), "wanted", "found", n=1, lineterm=""))
        check(not differences, where, address=address, differences=differences[:20])

    for address, title, text in reversed(seen[:-1]):
        tab.page.go_back()
        tab.page.wait_for_function("(title) => document.title === title", arg=title)
        tab.drawn()
        same("the back button shows it again", address, title, text)
    for address, title, text in seen:
        tab.open(address)
        same("the address shows it", address, title, text)
    # The way back leads to the place where one was.
    tab.open("/search?q=error", "a.result")
    tab.page.mouse.move(400, 400)
    tab.page.mouse.wheel(0, 700)
    tab.page.wait_for_function("() => scrollY > 300")
    place = tab.page.evaluate("() => scrollY")
    tab.page.evaluate("() => [...document.querySelectorAll('a.result')].find((e) => e.getBoundingClientRect().top > 60).click()")
    tab.drawn("pre.code .line")
    tab.page.go_back()
    tab.drawn("a.result")
    tab.page.wait_for_function("(y) => Math.abs(scrollY - y) < 2", arg=place)
    ended(tab, "addresses")


def typing(browser, base):
    """Who types fast sees the results of the last text, whenever an earlier answer comes."""
    tab = Tab(browser, base)
    tab.open("/", "main > *")
    held, cancelled = [], []

    def hold(route):
        is_first = route.request.post_data_json["query"] == "metrics"
        held.append(route) if is_first and not held else route.continue_()

    tab.page.route("**/api/find", hold)
    tab.page.on("requestfailed", lambda request: cancelled.append(request.post_data_json and request.post_data_json.get("query")))
    field = tab.page.locator("#query")
    field.press_sequentially("metrics")
    deadline = time.monotonic() + LONG / 1000
    while not held and time.monotonic() < deadline:
        tab.page.wait_for_timeout(5)
    check(held, "a request is sent without Enter")
    field.press_sequentially(" of events", delay=15)
    tab.searched("metrics of events")
    check("metrics" in cancelled, "an earlier request is cancelled", cancelled=cancelled)
    # What is around a result is added when the server knows it, so only the results are compared.
    results = lambda: tab.page.locator("a.result").all_inner_texts()
    before = results()
    for route in held:
        try:
            route.continue_()
        except Exception:
            pass  # It was cancelled, and this is what is tested.
    tab.drawn("a.result")
    shown = results()
    check(shown == before, "a late answer changes nothing", shown=shown[:3], before=before[:3])
    tab.open("/search?q=metrics+of+events", "a.result")
    check(results() == shown, "the results are those of the last text", shown=shown[:3])
    check(field.input_value() == "metrics of events", "the field has the last text", value=field.input_value())
    ended(tab, "typing")


def restart(browser, base, program):
    """The page says that the server is gone, and goes on when it is back. This part runs its own servers."""
    with served(program, ".") as base:
        tab = Tab(browser, base)
        tab.open("/search?q=error", "a.result")
        tab.page.locator("#state:has-text('generation')").wait_for()
        shown = tab.page.locator("a.result").all_inner_texts()
    tab.page.locator("#state.lost:has-text('does not answer')").wait_for()
    check(tab.page.locator("a.result").all_inner_texts() == shown, "what was shown stays")
    tab.page.locator("#query").fill("metrics")
    tab.page.locator("main [role=alert]:has-text('does not answer')").wait_for()
    start = time.monotonic()
    with served(program, ".", base.rsplit(":", 1)[1]) as again:
        check(again == base, "the server has its address again", base=base, again=again)
        tab.page.locator("#state:not(.lost):has-text('generation')").wait_for()
        tab.drawn("a.result[href*='metrics.rs']")
        tell(figure="the page is back after the start of the server", ms=round((time.monotonic() - start) * 1000))
        ended(tab, "restart", ["ERR_CONNECTION_REFUSED", "ERR_INCOMPLETE_CHUNKED_ENCODING", "ERR_CONNECTION_RESET", "ERR_EMPTY_RESPONSE"])


def hostile(browser, base, names):
    """The names and contents of files are text, whatever they look like."""
    tab = Tab(browser, base)
    page = tab.page

    def is_text(what):
        made = page.evaluate("() => document.querySelectorAll('main :is(img, script, iframe, style, object, embed, svg:not(.plot), [style]:not(.box), [onerror], [onload], [onmouseover], [href^=javascript])').length")
        check(made == 0, "no element is made of text", at=what)
        check(page.title().endswith(" – Cortex"), "no script runs", at=what, title=page.title())
        check(not re.search("[\u202a-\u202e\u2066-\u2069]", page.locator("main").text_content()), "no text turns around", at=what)

    for name in json.loads(names):
        shown = name.replace("\u202e", "\\u{202e}")
        tab.open("/search?q=hostile_file&paths=" + quote_plus("src/**"), "a.result")
        is_text(f"search: {name}")
        link = page.locator("a.result").filter(has_text=shown)
        check(link.count() == 1, "a name is shown as it is", name=name, found=page.locator("a.result").all_inner_texts())
        link.first.click()
        tab.drawn("pre.code")
        check(page.locator("h1").inner_text().startswith(f"src/{shown}"), "the link leads to its file", name=name, h1=page.locator("h1").inner_text())
        check("</pre><script>" in page.locator("pre.code").inner_text(), "the content is shown as it is", name=name)
        is_text(f"file: {name}")
    for address, shows in [("/change", "section a.result"), ("/memory", ".memories li"), ("/map", "a.box"), ("/state", ".facts dd")]:
        tab.open(address, shows)
        is_text(address)
    # Addresses are hostile, too: anybody can send one.
    for address in ["/search?q=<img+src=x+onerror=alert(1)>", "/search?q=%22%27%3E%3Cscript%3Edocument.title=1%3C/script%3E&languages=<b>", "/file?path=<img+src=x>&symbol=<script>&line=1e9", "/change?range=--output=/tmp/x", "/change?range=<img+src=x+onerror=alert(1)>"]:
        tab.open(address)
        is_text(address)
    ended(tab, "hostile", ["status of 4", "status 4"])


# Text whose boxes share more than a rim: text over text. What has scrolled below a head that stays is not seen.
COVERED = """() => {
  const main = document.querySelector("main"), boxes = [];
  const heads = [...main.querySelectorAll("*")].filter((e) => getComputedStyle(e).position === "sticky");
  const walker = document.createTreeWalker(main, NodeFilter.SHOW_TEXT);
  for (let node; (node = walker.nextNode()); ) {
    if (!node.data.trim() || !node.parentElement.checkVisibility()) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (let { left, top, right, bottom } of range.getClientRects()) {
      for (let e = node.parentElement; e !== main; e = e.parentElement) {
        if (getComputedStyle(e).overflowX === "visible") continue;
        const box = e.getBoundingClientRect();
        left = Math.max(left, box.left); right = Math.min(right, box.right);
        top = Math.max(top, box.top); bottom = Math.min(bottom, box.bottom);
      }
      for (const head of heads) {
        const box = head.getBoundingClientRect();
        if (!head.contains(node) && top < box.bottom && bottom > box.top) top = box.bottom;
      }
      if (right - left > 1 && bottom - top > 1) boxes.push({ node, left, top, right, bottom });
    }
  }
  boxes.sort((a, b) => a.top - b.top);
  const found = [];
  boxes.forEach((a, i) => {
    for (let n = i + 1; n < boxes.length && boxes[n].top < a.bottom - 4; n++) {
      const b = boxes[n];
      if (a.node !== b.node && Math.min(a.right, b.right) - Math.max(a.left, b.left) > 3) found.push([a.node.data.trim().slice(0, 40), b.node.data.trim().slice(0, 40)]);
    }
  });
  return found;
}"""
TOO_WIDE = """() => {
  const root = document.documentElement;
  if (root.scrollWidth <= innerWidth) return null;
  const widest = [...document.querySelectorAll("body *")].filter((e) => e.getBoundingClientRect().right > innerWidth + 1);
  return [root.scrollWidth, widest.slice(0, 3).map((e) => e.outerHTML.slice(0, 120))];
}"""


def looks(browser, base, axe):
    """Light and dark, wide and on a phone: nothing is too wide, nothing covers a text, and axe finds nothing serious."""
    source = Path(axe).read_text()
    for dark in [False, True]:
        for size in WIDTHS:
            tab = Tab(browser, base, size=size, dark=dark)
            tab.page.goto(base)
            back = tab.page.evaluate("() => getComputedStyle(document.documentElement).backgroundColor.match(/\\d+/g).map(Number)")
            check((max(back) < 64) if dark else (min(back) > 192), "the page has the colours that one asks for", dark=dark, back=back)
            for view in VIEWS:
                where = {"view": view.name, "dark": dark, "size": size}
                tab.open(view.address, view.shows)
                wide = tab.page.evaluate(TOO_WIDE)
                check(wide is None, "the page is no wider than the window", **where, wide=wide)
                covered = tab.page.evaluate(COVERED)
                check(not covered, "no text covers a text", **where, covered=covered[:3])
                # The policy forbids the page other scripts; those of a debugger are none of the page's.
                tab.page.evaluate(source)
                result = tab.page.evaluate("() => axe.run(document, { resultTypes: ['violations'] })")
                for found in result["violations"]:
                    nodes = [f"{' '.join(node['target'])}: {node['failureSummary']}"[:400] for node in found["nodes"]]
                    finding = {**where, "rule": found["id"], "impact": found["impact"], "help": found["help"], "nodes": nodes[:3], "count": len(nodes)}
                    if found["impact"] in ("serious", "critical"):
                        check(False, "axe finds nothing serious", **finding)
                    else:
                        tell(axe=finding)
            ended(tab, f"dark {dark}, {size}")


SHIFTS = """
window.shifts = [];
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) {
    const moved = entry.sources.map(({ node, previousRect, currentRect }) =>
      `${(node?.outerHTML ?? node?.textContent ?? "?").slice(0, 100)} ${previousRect.y} -> ${currentRect.y}`);
    shifts.push({ value: entry.value, moved });
  }
}).observe({ type: "layout-shift", buffered: true });
"""
MOST_SHIFT = 0.05


def still(browser, base):
    """Nothing moves once it is shown: not while one types, and not when colours and callers arrive."""
    for size in WIDTHS:
        tab = Tab(browser, base, size=size)
        tab.page.add_init_script(SHIFTS)

        def moved(what):
            shifts = tab.page.evaluate("() => shifts.splice(0)")
            total = sum(shift["value"] for shift in shifts)
            tell(figure="layout shift", at=what, size=size, value=round(total, 4))
            check(total <= MOST_SHIFT, "nothing moves once it is shown", at=what, size=size, total=total, shifts=shifts[:4])

        for view in VIEWS:
            tab.open(view.address, view.shows)
            moved(f"opening {view.name}")
        tab.open("/", "main > *")
        text = "where are events"
        for i, letter in enumerate(text):
            tab.page.locator("#query").press_sequentially(letter)
            tab.searched(text[: i + 1], "main > *")
        moved("typing")
        tab.page.locator("a.result").first.click()
        tab.drawn("pre.code")
        moved("a click on a result")
        ended(tab, f"still, {size}")


def token(browser, base, secret, ticket):
    """A token stays out of what the server is sent with an address, and is needed for data. A ticket opens the page once."""
    without = Tab(browser, base)
    without.open("/state", "[role=alert]")
    check("token" in without.text(), "the page asks for the token", text=without.text())
    ended(without, "without a token", ["401"])
    tab = Tab(browser, base)
    tab.open(f"/state#token={secret}", ".facts dd")
    check(secret not in tab.page.url and secret not in tab.page.content(), "the token is not shown", url=tab.page.url)
    tab.page.locator("#query").fill("retry")
    tab.searched("retry")
    check(secret not in json.dumps(tab.context.storage_state()), "the browser keeps no token")
    ended(tab, "token")

    check(secret not in ticket, "the address that other users can see holds no token", ticket=ticket)
    ticket = ticket.removeprefix(base)
    tab = Tab(browser, base)
    tab.open(ticket, ".facts dd")
    check("#" not in tab.page.url, "the ticket leaves the address", url=tab.page.url)
    other = tab.context.new_page()
    other.goto(f"{base}/state")
    other.locator(".facts dd").first.wait_for()
    ended(tab, "ticket")
    again = Tab(browser, base)
    again.open(ticket, "[role=alert]")
    check("cortex open" in again.text(), "a ticket opens the page once, and the page says what to do", text=again.text())
    ended(again, "a used ticket", ["401"])


def memory(browser, base, fixed):
    """Memories are found, pinned and forgotten; what is forgotten can be taken back until the view is left."""
    tab = Tab(browser, base)
    tab.open("/memory", ".memories li")
    page = tab.page
    row = lambda text: page.locator(".memories > li", has_text=text)
    briefing = lambda: page.get_by_label("Briefing").inner_text()
    check("1 secret removed" in row("rename is atomic").inner_text(), "a removed secret is counted", text=tab.text())
    check("may be out of date" in row("there is one pump").inner_text(), "a memory about changed code says so", text=tab.text())
    check("Only pump water" in briefing() and re.search(r"\d+ tokens? of at most 500", briefing()), "the briefing is shown with its size", briefing=briefing())

    row("rename is atomic").get_by_role("button", name="pin", exact=True).click()
    row("rename is atomic").get_by_role("button", name="unpin").wait_for()
    check("2 pinned memories" in briefing(), "a pinned memory is in the briefing", briefing=briefing())
    check(active(tab)["text"] == "unpin", "the focus stays at the memory", found=active(tab))
    page.get_by_role("button", name="pinned", exact=True).click()
    tab.drawn("[aria-pressed=true]")
    check(page.locator(".memories > li").count() == 2 and "pinned=1" in page.url, "pinned ones alone", text=tab.text())
    tab.open("/memory?doubtful=1", ".memories li")
    check(page.locator(".memories > li").count() == 1, "those that may be out of date alone", text=tab.text())
    page.get_by_label("Find in memories").fill("renaming a file")
    page.keyboard.press("Enter")
    page.wait_for_url("**q=renaming*")

    tab.open("/memory", ".memories li")
    row("soon forgotten").get_by_role("button", name="forget").click()
    row("soon forgotten").get_by_role("button", name="undo").click()
    row("soon forgotten").get_by_role("button", name="pin", exact=True).wait_for()
    row("soon forgotten").get_by_role("button", name="forget").click()
    row("soon forgotten").get_by_text("forgotten when you leave").wait_for()
    row("first to go").get_by_role("button", name="forget").click()
    row("first to go").get_by_role("button", name="forget now").click()
    row("first to go").wait_for(state="detached")
    page.keyboard.press("g")
    page.keyboard.press("s")
    tab.drawn(".facts dd")
    tab.open("/memory", ".memories li")
    check(row("soon forgotten").count() == 0, "what was forgotten is gone once the view is left", text=tab.text())
    row("goes with the page").get_by_role("button", name="forget").click()
    row("goes with the page").get_by_text("forgotten when you leave").wait_for()
    page.goto(f"{base}/healthz")
    for _ in range(50):
        tab.open("/memory", ".memories li")
        if row("goes with the page").count() == 0:
            break
    else:
        check(False, "what was forgotten goes with the page", text=tab.text())
    ended(tab, "memory", ["favicon", "404"])

    tab = Tab(browser, fixed)
    tab.open("/memory", ".memories li")
    check(tab.page.locator(".memories button").count() == 0, "nothing can be changed with --read-only")
    statuses = tab.page.evaluate(
        """() => Promise.all(["pin", "delete_memory", "add_memory"].map((name) => fetch(`/api/${name}`, {
          method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ id: "x", pinned: true, content: "x" }),
        }).then(({ status }) => status)))"""
    )
    check(statuses == [403, 404, 404], "and nothing by a request", statuses=statuses)
    ended(tab, "read only", ["40[34]"])


def map(browser, base):
    """The map goes down by clicks and keys, and its colours say what is asked for."""
    tab = Tab(browser, base)
    tab.open("/map", "a.box")
    page = tab.page
    areas = page.evaluate("() => [...document.querySelectorAll('a.box')].map((e) => [e.dataset.path, e.offsetWidth * e.offsetHeight])")
    sizes = dict(areas)
    check(sizes["src"] > sizes["src/serve"] > 0, "a directory holds its parts", sizes=sizes)
    outside = page.evaluate(
        """() => {
          const box = document.querySelector(".treemap").getBoundingClientRect();
          return [...document.querySelectorAll(".box")].filter((e) => e.getBoundingClientRect().right > box.right + 1).length;
        }"""
    )
    check(outside == 0, "no part is outside", outside=outside)
    page.get_by_role("link", name="src/serve/", exact=False).or_(page.locator("a.box[data-path='src/serve']")).first.focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/map?path=src%2Fserve*")
    tab.drawn("a.box[data-path='src/serve/http.rs']")
    page.get_by_role("link", name="change frequency").click()
    tab.drawn(".legend:has-text('changes for each file')")
    check("heat4" in page.locator("a.box[data-path='src/serve/refusal.rs']").get_attribute("class"), "the file of two commits is the darkest")
    page.get_by_role("link", name="references").click()
    tab.drawn(".legend:has-text('references for each file')")
    check("% of the references" in page.locator("a.box[data-path='src/serve/refusal.rs']").get_attribute("title"), "a part says its references")
    page.locator("a.box[data-path='src/serve/refusal.rs']").click()
    tab.drawn("h1:has-text('src/serve/refusal.rs')")
    page.go_back()
    tab.drawn("a.box")
    page.get_by_role("link", name="root").click()
    page.wait_for_url("**/map?by=references")
    ended(tab, "map")


def change(browser, base):
    """A change shows its lines, which fold, and beside them what it touches."""
    tab = Tab(browser, base)
    page = tab.page
    tab.open("/change?range=HEAD%7E1..", ".touched h2")
    patch = page.locator(".patch[data-path='src/serve/refusal.rs']")
    added = patch.locator(".line.added")
    check("added_by_the_last_commit" in added.filter(has_text="pub fn").inner_text(), "an added line is marked", text=patch.inner_text())
    check(patch.locator(".line.deleted").count() == 0, "no line is gone")
    check(patch.locator(".counts").inner_text().strip().startswith("+"), "lines are counted", text=patch.locator(".counts").inner_text())
    box = lambda selector: page.locator(selector).first.bounding_box()
    check(box(".touched")["x"] >= box(".patches")["x"] + box(".patches")["width"], "what it touches is beside it")
    fold = patch.locator("button.fold")
    fold.focus()
    page.keyboard.press("Enter")
    check(fold.get_attribute("aria-expanded") == "false" and not patch.locator("pre").is_visible(), "the lines of a file fold")
    page.keyboard.press("Enter")
    check(patch.locator("pre").is_visible(), "and unfold")
    added.locator("a.number[href]").last.click()
    tab.drawn("h1:has-text('refusal.rs')")
    check("line=" in page.url, "the number of a line leads to it", url=page.url)
    # A link of the home and of blame leads to the first commit, too.
    tab.open("/", "a.commit")
    page.locator("a.commit").last.click()
    tab.drawn(".patch")
    check(page.locator(".problem").count() == 0 and page.locator(".patch .line.added").count() > 0, "the first commit adds all of its lines", text=tab.text()[:300])
    ended(tab, "change")


def path(browser, base):
    """On a phone, the path of a file is in view wherever one reads."""
    tab = Tab(browser, base, size="phone")
    page = tab.page
    tab.open("/file?path=src%2Fserve%2Frefusal.rs&symbol=error", "[aria-label=Users] a.result")
    for y in [0, 300, 100000]:
        page.evaluate("(y) => scrollTo(0, y)", y)
        seen = page.evaluate(
            """() => {
              const [name, head] = ["main h1", "header"].map((e) => document.querySelector(e).getBoundingClientRect());
              return { below: name.top >= head.bottom - 1, near: name.top < head.bottom + 40, high: name.height, y: scrollY };
            }"""
        )
        check(seen["below"] and seen["near"] and seen["high"] < 60, "the path is in view", at=y, seen=seen)
    check(page.locator("main h1").evaluate("(e) => e.scrollLeft + e.clientWidth >= e.scrollWidth - 1"), "the end of a long path is shown")
    ended(tab, "path")


def drawing(browser, base):
    """A symbol is drawn with what reaches it; the address holds the drawing, and a name is text in every format."""
    tab = Tab(browser, base)
    page = tab.page
    drawn = page.get_by_label("Drawing")
    tab.open("/file?path=src/a.rs&line=1&symbol=low&draw=impact&depth=2", "[aria-label=Drawing] svg")
    box = drawn.locator("a:has(title:has-text('function high src/a.rs:7, 2 steps'))")
    check(box.count() == 1, "a box says how far it is", drawn=drawn.text_content())
    check("line 8" in drawn.text_content(), "an edge has the line of its call", text=drawn.text_content())
    text = page.locator("main").inner_text()
    check("rust: 93 to 100 % of the calls that are shown were right in 6 measured repositories" in text, "the page says how far to trust it", text=text[-600:])
    check("1 user" in page.locator(".outline").text_content(), "the outline counts users")
    for name, begins in [("SVG", "<svg"), ("DOT", "digraph"), ("Mermaid", "graph")]:
        with page.expect_download() as download:
            drawn.get_by_role("button", name=name).or_(page.get_by_role("button", name=name)).first.click()
        saved = Path(download.value.path()).read_text()
        check(saved.startswith(begins) and "middle" in saved, "a drawing is saved", format=name, begins=saved[:60])
    box.focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**symbol=high**")
    page.go_back()
    page.wait_for_url("**symbol=low**")
    tab.drawn("[aria-label=Drawing] svg")

    tab.open("/file?path=src/a.rs&line=7&symbol=high&to=low", "[aria-label=Drawing] svg")
    places = [drawn.locator(f"text=/^{name}$/").first.bounding_box()["x"] for name in ["high", "middle", "low"]]
    check(places == sorted(places), "a path goes from the left to the right", places=places)
    tab.open("/file?path=src/b.ex&line=2&symbol=run", "pre.code")
    page.locator(".trust", has_text="was not measured for elixir").wait_for()
    odd = quote_plus("src/</svg><script>document.title='owned'</script>.py", safe="")
    tab.open(f"/file?path={odd}&line=1&symbol=callee&draw=callers", "[aria-label=Drawing] svg")
    check("function caller src/</svg><script>" in drawn.locator("a:has(title:has-text('function caller'))").text_content(), "a hostile name is text")
    check("owned" not in page.title(), "and runs nothing", title=page.title())
    ended(tab, "drawing")


# A client that shows the symbol view in a frame, as MCP Apps says, with the strictest policy that it allows.
HOST = """async ([html, target]) => {
  const policy = "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'none'";
  const frame = document.createElement("iframe");
  frame.sandbox = "allow-scripts";
  frame.id = "app";
  frame.srcdoc = html.replace("<head>", `<head><meta http-equiv="Content-Security-Policy" content="${policy}">`);
  window.messages = [];
  const post = (message) => frame.contentWindow.postMessage({ jsonrpc: "2.0", ...message }, "*");
  addEventListener("message", async ({ source, data }) => {
    if (source !== frame.contentWindow) return;
    messages.push(data.method);
    if (data.method === "ui/initialize") post({ id: data.id, result: { protocolVersion: "2026-01-26", hostInfo: {}, hostCapabilities: {}, hostContext: { theme: "dark" } } });
    if (data.method === "ui/notifications/initialized") post({ method: "ui/notifications/tool-input", params: { arguments: { operation: "callers", target } } });
    if (data.method === "tools/call") {
      const response = await fetch("/mcp", {
        method: "POST",
        headers: { "Content-Type": "application/json", Accept: "application/json, text/event-stream" },
        body: JSON.stringify({ jsonrpc: "2.0", id: data.id, method: "tools/call", params: data.params }),
      });
      frame.contentWindow.postMessage(await response.json(), "*");
    }
  });
  document.body.replaceChildren(frame);
  frame.width = 900; frame.height = 600;
}"""


def app(browser, base):
    """A client of the protocol shows the symbol view in a frame, and it can be walked."""
    tab = Tab(browser, base, watch_calls=False)
    tab.page.goto(f"{base}/healthz")
    ask = """async ([method, params]) => (await (await fetch("/mcp", {
      method: "POST", headers: { "Content-Type": "application/json", Accept: "application/json, text/event-stream" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    })).json()).result"""
    tools = tab.page.evaluate(ask, ["tools/list", {}])["tools"]
    address = next(tool["_meta"]["ui"]["resourceUri"] for tool in tools if tool["name"] == "cortex_graph")
    [content] = tab.page.evaluate(ask, ["resources/read", {"uri": address}])["contents"]
    check(content["mimeType"] == "text/html;profile=mcp-app" and address.startswith("ui://"), "the view is a page of the extension", content=content["mimeType"])
    tell(figure="bytes of the view in a client", bytes=len(content["text"].encode()))
    tab.page.evaluate(HOST, [content["text"], "src/serve/refusal.rs#error"])
    frame = tab.page.frame_locator("#app")
    frame.locator("[aria-label=Users] a.result", has_text="asset").first.click()
    frame.locator("h1:has-text('src/serve/page.rs')").wait_for()
    frame.locator("[aria-label=Uses] a.result", has_text="error").first.wait_for()
    scheme = frame.locator("html").evaluate("(e) => getComputedStyle(e).colorScheme")
    check(scheme == "dark", "the view has the colours of the client", scheme=scheme)
    sent = tab.page.evaluate("() => messages")
    check("ui/notifications/size-changed" in sent, "the view tells its size", sent=sent[:10])
    ended(tab, "app", ["favicon", "404"])


PARTS = {part.__name__: part for part in (views, live, keyboard, addresses, typing, restart, hostile, looks, still, token, memory, map, drawing, app, change, path)}


def main(part, *arguments):
    try:
        with chromium() as browser:
            PARTS[part](browser, *arguments)
    except Exception:
        check(False, "the part comes to its end", why=traceback.format_exc())
    sys.exit(1 if faults else 0)


main(*sys.argv[1:])
