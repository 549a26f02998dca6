"""Opens the page of a server in Chromium. Shared by the tests of the page, docs/screenshots.py and benches/page.py."""

import shutil
import subprocess
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from playwright.sync_api import TimeoutError, sync_playwright

# The names under which distributions install it.
BROWSERS = ["chromium", "chromium-browser", "google-chrome"]
WIDTHS = {"wide": (1280, 900), "phone": (360, 800)}
SECOND = 1000  # milliseconds, Playwright's unit
# Longer than any step, except on a busy machine.
LONG = 30 * SECOND


class View(NamedTuple):
    """A view of this repository: its address, and an element that is there once it shows something."""

    name: str
    address: str
    shows: str


# A new view is one line here: the tests and the screenshots go through this list.
VIEWS = [
    View("home", "/", "a.commit"),
    View("search", "/search?q=which+files+changed+since+the+last+run", "a.result"),
    View("why", "/search?q=limit+of+connections&why=1", "table.why"),
    View("file", "/file?path=src%2Fserve%2Fmetrics.rs", "pre.code .line"),
    View("symbol", "/file?path=src%2Fserve%2Frefusal.rs&symbol=error", "[aria-label=Users] a.result"),
    View("drawing", "/file?path=src%2Fserve%2Frefusal.rs&symbol=error&draw=impact&depth=2", "[aria-label=Drawing] svg"),
    View("change", "/change?range=HEAD%7E1..", "section a.result"),
    View("memory", "/memory", ".memories li"),
    View("map", "/map", "a.box"),
    View("state", "/state", ".facts dd"),
]

# Counts the calls of the API that are not read to their end, so that a test can wait for none.
COUNT_CALLS = """
window.openCalls = 0;
const { fetch } = window;
window.fetch = async (address, ...rest) => {
  if (!String(address).startsWith("/api/")) return fetch(address, ...rest);
  window.openCalls++;
  try {
    const response = await fetch(address, ...rest);
    const text = await response.text();
    return new Response(text, { status: response.status, headers: response.headers });
  } finally {
    // The caller gets its answer first.
    setTimeout(() => window.openCalls--);
  }
};
"""
IS_DONE = "window.openCalls === 0 && !document.querySelector('[aria-busy=true]')"
IS_DRAWN = f"() => {IS_DONE} && new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(() => drawn({IS_DONE}))))"


@contextmanager
def chromium():
    """Yields a browser, and ends it."""
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    with sync_playwright() as playwright:
        # A container's /dev/shm may be too small.
        browser = playwright.chromium.launch(executable_path=program, args=["--disable-dev-shm-usage"])
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def served(program, folder, port="0", environment=None):
    """Yields the address of a server of a folder, and ends the server."""
    command = [str(Path(program).absolute()), "serve", "--port", port, "--watch"]
    server = subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        address = server.stdout.readline().strip()
        if not address:
            raise SystemExit(f"{' '.join(command)} does not start in {folder}")
        yield address
    finally:
        server.terminate()
        server.wait()


class Tab:
    """A page of a server, with a context of its own, and a record of what goes wrong in it."""

    def __init__(self, browser, base, *, size="wide", dark=False, watch_calls=True):
        self.base = base
        width, height = WIDTHS[size]
        self.context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light", device_scale_factor=1
        )
        self.page = self.context.new_page()
        self.page.set_default_timeout(LONG)
        self.wrong = []
        if watch_calls:
            self.page.add_init_script(COUNT_CALLS)
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.wrong.append(f"error of the page: {error}"))
        self.page.on("dialog", self._dialog)
        self.page.on("request", self._request)
        self.page.on("response", self._response)

    def _console(self, message):
        if message.type in ("error", "warning"):
            self.wrong.append(f"console: {message.text} ({message.location.get('url')})")

    def _dialog(self, dialog):
        self.wrong.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _request(self, request):
        if urlsplit(request.url).netloc != urlsplit(self.base).netloc:
            self.wrong.append(f"request to another host: {request.url}")

    def _response(self, response):
        if response.status >= 400:
            self.wrong.append(f"status {response.status}: {response.url}")

    def open(self, address, shows="main > *"):
        """Opens an address and waits until it is drawn."""
        self.page.goto(self.base + address)
        self.drawn(shows)

    def drawn(self, shows="main > *"):
        """Waits until an element is there, all answers are, and a frame has been drawn since."""
        try:
            self.page.locator(shows).first.wait_for()
        except TimeoutError as error:
            raise AssertionError(f"there is no {shows} at {self.page.url}, but: {self.text()[:2000]}") from error
        self.page.wait_for_function(IS_DRAWN)

    def searched(self, query, shows="a.result"):
        """Waits until the results of a query that was typed are drawn."""
        self.page.wait_for_function("(query) => new URLSearchParams(location.search).get('q') === query", arg=query)
        self.drawn(shows)

    def text(self):
        """Returns the text of the view."""
        return self.page.locator("main").inner_text()

    def close(self):
        """Closes the page, and returns what went wrong."""
        self.context.close()
        return self.wrong
