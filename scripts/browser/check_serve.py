"""Opens all pages of `simdoc-search serve` in Chromium, uses them with mouse and keyboard, and takes pictures.

    python scripts/browser/check_serve.py --pictures FOLDER --axe axe.min.js

It fails if a page is wider than the window, writes to the console, requests another address, runs a hostile text, does
not work with the keyboard, or breaks a rule of axe-core (`npm pack axe-core`). Look at the pictures yourself.
"""

from __future__ import annotations

import json
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from chromium import Browser, read_arguments
from page_texts import PAIRS

from simdoc_search import Document, SimilaritySearch, open_store
from simdoc_search.sketch.concepts import ConceptSettings
from simdoc_search.sketch.sentences import SentenceSettings
from simdoc_search.sketch.settings import Settings
from simdoc_search.web import ServedStore, Server, make_app, open_listening_socket

SIZES = {1440: 900, 360: 740}
_MAX_CHARACTERS = 60_000
TEXT = PAIRS[0].texts[0][:6_000]
AXE = "const done = arguments[0]; axe.run().then(r => done(r.violations.map(v => [v.id, v.nodes.map(n => n.html)])))"
WIDE = "const page = document.documentElement; return page.scrollWidth - page.clientWidth"
FOCUSED = """
const e = document.activeElement, style = getComputedStyle(e);
if (e === document.body) return null;
const box = e.getClientRects()[0], seen = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
const isMarked = style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2;
return {
  place: [...document.querySelectorAll('*')].indexOf(e),
  html: e.outerHTML.slice(0, 80),
  isSeen: isMarked && (e.contains(seen) || !!seen?.contains(e)),
};
"""
DROP = """
const data = new DataTransfer();
data.items.add(new File([arguments[0]], 'dropped.txt', { type: 'text/plain' }));
const drop = new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true });
document.querySelector('#text').dispatchEvent(drop);
"""
MAX_TABS = 60
PLAN = "const done = arguments[0]; fetch('/duplicates/plan.tsv').then(r => r.text()).then(done, e => done(String(e)))"
COUNTS = "return document.querySelector('.plan-counts').textContent"
ODD = "[style], iframe, object, embed, base, [onclick], [onload], [onerror], style, script:not([src])"


CUT_OFF = """
const parts = [...document.querySelectorAll('.measures dt, .measures dd, .name h2, .name p')];
return parts.filter(e => e.scrollWidth > e.clientWidth).map(e => e.textContent);
"""
POSITIONS = """
const top = selector => document.querySelector(selector).getBoundingClientRect().top;
return [top('main .found'), top('.sources li'), top('.own'), innerHeight];
"""


def address(path: str, **values: str) -> str:
    """A path with values."""
    return f"{path}?" + "&".join(f"{name}={quote(value)}" for name, value in values.items())


LONG_NAME = f"archive/{'very_long_folder_name_' * 4}{{}}/supply.txt"
PAGES = {
    "home": "/",
    "similar": address("/similar", q="contracts/supply_2023.txt", show="year"),
    "filtered": address("/similar", q="contracts/supply_2023.txt", filter="year=2024", overlap="10"),
    "unlike": address("/similar", id="hebrew.txt"),
    "document": address("/document", id="contracts/supply_2023.txt"),
    "hostile": address("/document", id=PAIRS[4].names[0]),
    "hostile_similar": address("/similar", id=PAIRS[4].names[0], show="<b>odd</b>"),
    "passages": address("/passages", id="contracts/supply_2023.txt"),
    "versions": address("/versions", id="contracts/supply_2023.txt"),
    "related": address("/related", id="lease.pdf"),
    "compare": address("/compare", a="contracts/supply_2023.txt", b="contracts/supply_2024.txt"),
    "compare_long": address("/compare", a=LONG_NAME.format(0), b=LONG_NAME.format(1)),
    "status": "/status",
    "missing": address("/document", id="contracts/suply"),
    "wrong": address("/similar", q="lease.pdf", overlap="200"),
    "duplicates_before": "/duplicates",
}


def main() -> None:
    """Serve a store, check its pages, and print the problems."""
    pictures, axe = read_arguments(__doc__ or "")
    with tempfile.TemporaryDirectory() as folder, served() as url, Browser() as browser:
        into = pictures or Path(folder)
        into.mkdir(parents=True, exist_ok=True)
        problems = list(Check(browser, url, into, axe).all())
    print("\n".join(problems) or "no problems")
    sys.exit(1 if problems else 0)


@contextmanager
def served() -> Iterator[str]:
    """Serve contracts, several scripts, hostile texts and copies. Yields the address."""
    store = open_store(":memory:", Settings(sentences=SentenceSettings(), concepts=ConceptSettings()), create=True)
    search = SimilaritySearch(store)
    report = search.index(documents())
    if report.skipped:
        sys.exit(f"not indexed: {report.skipped}")
    listening = open_listening_socket("127.0.0.1", 0)
    server = Server(make_app(ServedStore(lambda: search)))
    thread = threading.Thread(target=server.run, args=([listening],))
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


def documents() -> Iterator[Document]:
    """The texts of check_pages.py, and some copies."""
    for pair in PAIRS[:8]:
        for at, (name, text) in enumerate(zip(pair.names, pair.texts, strict=True)):
            if text.strip():
                year = 2023 + at
                begin = text[:_MAX_CHARACTERS].encode("utf-8", "replace").decode()
                yield Document(name, begin, {"year": year, "<b>odd</b>": "<i>x</i>"})
    for number in range(12):
        yield Document(LONG_NAME.format(number), PAIRS[0].texts[0], {"year": 2020})


class Check:
    """Checks all pages."""

    def __init__(self, browser: Browser, url: str, folder: Path, axe: str | None) -> None:
        self._browser, self._url, self._folder, self._axe = browser, url, folder, axe
        self._which = ""

    def all(self) -> Iterator[str]:
        """The problems of each page, at each size and in both colour schemes."""
        for width, height in SIZES.items():
            for dark in (False, True):
                self._browser.resize(width, height, dark=dark)
                self._which = f"{width}_{'dark' if dark else 'light'}"
                for name, path in PAGES.items():
                    if name != "duplicates_before" or (width == max(SIZES) and not dark):
                        self._browser.driver.get(self._url + path)
                        yield from self._check(name)
                yield from self._pasted()
                yield from self._dropped()
                yield from self._duplicates()
        yield from self._narrow()
        yield from self._keyboard()
        yield from self._without_script()

    def _check(self, name: str) -> Iterator[str]:
        browser, where = self._browser, f"{name} {self._which}"
        browser.wait()
        browser.picture(self._folder / f"{name}_{self._which}.png")
        if (wide := browser.run(WIDE)) > 0:
            yield f"{where}: {wide} pixels wider than the window"
        if "pwned" in browser.driver.title or browser.run(
            f"return document.querySelectorAll({json.dumps(ODD)}).length"
        ):
            yield f"{where}: a text has an effect"
        outside = [each for each in browser.requests() if not each.startswith((self._url, "data:"))]
        yield from (f"{where}: requests {each}" for each in outside)
        statuses = ("status of 404", "status of 400")  # of the error pages
        yield from (f"{where}: {each}" for each in browser.complaints() if not any(s in each for s in statuses))
        if self._axe is not None:
            browser.run(self._axe)
            for rule, places in browser.driver.execute_async_script(AXE):
                yield f"{where}: axe {rule}: {places[:3]}"

    def _pasted(self) -> Iterator[str]:
        """A pasted text finds documents, and can be compared with one of them."""
        browser = self._browser
        for name, button in (("pasted_passages", "button.main"), ("pasted", "[formaction='/similar']")):
            browser.driver.get(f"{self._url}/")
            browser.run("document.querySelector('#text').value = arguments[0]", TEXT)
            browser.click(f"form[method=post] {button}")
            yield from self._check(name)
        browser.click(".hits button.act", opens_window=True)
        if not browser.go_to_new_window():
            yield "pasted_compare: no new window was opened"
        yield from self._check("pasted_compare")

    def _dropped(self) -> Iterator[str]:
        """A file can be dropped anywhere on the form."""
        browser = self._browser
        browser.driver.get(f"{self._url}/")
        browser.run(DROP, TEXT)
        browser.click("form[method=post] [formaction='/similar']")
        yield from self._check("dropped")
        if "dropped.txt" not in browser.driver.title or not browser.run("return !!document.querySelector('.hits li')"):
            yield f"dropped {self._which}: the file was not taken: {browser.driver.title}"

    def _plan(self) -> Iterator[str]:
        """The plan has the decisions."""
        text = self._browser.driver.execute_async_script(PLAN)
        if text.count("\ndecide\t") < 1 or "simdoc-search apply" not in text:
            yield f"plan {self._which}: {text[:200]}"

    def _duplicates(self) -> Iterator[str]:
        """Start a search, wait for it, and decide by keys."""
        browser = self._browser
        browser.driver.get(f"{self._url}/duplicates")
        browser.run("document.querySelector('details.card').open = true")
        browser.run("document.querySelector('details.card button.main').click()")
        time.sleep(0.5)  # the next page reloads itself
        for _ in range(100):
            if browser.run("return !!document.querySelector('.decide')"):
                break
            time.sleep(0.2)
            browser.driver.get(f"{self._url}/duplicates")
        browser.press("k", "k", "u")
        chosen = browser.run("return [...document.querySelectorAll('.member input:checked')].map(e => e.value)")
        if chosen[:2] != ["keep", "decide"]:
            yield f"duplicates {self._which}: the keys k and u decided {chosen[:2]}"
        yield from self._check("duplicates")
        yield from self._saved("Saved.", chosen)
        yield from self._plan()
        browser.run("window.fetch = () => Promise.reject(new TypeError('Failed to fetch'))")
        browser.press("r", "r")
        yield from self._saved("Not saved: the server does not answer. To try again, click Save.", chosen)

    def _saved(self, expected: str, chosen: list[str]) -> Iterator[str]:
        """The page says whether it saved the decisions. After a reload, it shows those that it saved."""
        browser = self._browser
        for _ in range(20):
            if (status := browser.run("return document.querySelector('.save-status').textContent")) == expected:
                break
            time.sleep(0.2)
        else:
            yield f"duplicates {self._which}: the page says {status!r}, not {expected!r}"
        counts = browser.run(COUNTS)
        browser.driver.get(f"{self._url}/duplicates")
        kept = browser.run("return [...document.querySelectorAll('.member input:checked')].map(e => e.value)")
        if kept != chosen:
            yield f"duplicates {self._which}: {kept} is saved, not {chosen}"
        if counts != browser.run(COUNTS):
            yield f"duplicates {self._which}: {counts!r} is {browser.run(COUNTS)!r} after a reload"

    def _narrow(self) -> Iterator[str]:
        """On a phone, names and figures are whole, and the answer comes before the text."""
        browser = self._browser
        browser.resize(min(SIZES), SIZES[min(SIZES)])
        browser.driver.get(self._url + PAGES["compare_long"])
        yield from (f"compare: {text!r} is cut off" for text in browser.run(CUT_OFF))
        for summary in browser.driver.find_elements("css selector", ".help summary"):
            if summary.text == "Details":
                summary.click()
        shown = browser.driver.find_element("css selector", ".help[open]").text
        yield from (
            f"compare: {name} is not in the details" for name in map(LONG_NAME.format, (0, 1)) if name not in shown
        )
        browser.driver.get(self._url + PAGES["passages"])
        browser.wait()
        *positions, height = browser.run(POSITIONS)
        if positions != sorted(positions) or positions[1] > height:
            yield f"passages: the summary, the sources and the text are at {positions} of {height} pixels"
        browser.resize(max(SIZES), SIZES[max(SIZES)])

    def _keyboard(self) -> Iterator[str]:
        """Tab goes to every control in the order of the page, the focus is visible, and Enter submits."""
        browser = self._browser
        for name, path in {**PAGES, "duplicates": "/duplicates"}.items():
            browser.driver.get(self._url + path)
            places: list[int] = []
            for _ in range(MAX_TABS):
                browser.press("Tab")
                focused = browser.run(FOCUSED)
                if focused is None:
                    break
                if places and focused["place"] <= places[-1]:
                    yield f"{name}: Tab goes back to {focused['html']}"
                places.append(focused["place"])
                if not focused["isSeen"]:
                    yield f"{name}: the focus is not visible: {focused['html']}"
            print(f"{name}: Tab goes to {len(places)} controls")
        browser.driver.get(f"{self._url}/")
        browser.run("document.querySelector('#q').focus()")
        browser.press(*"lease", ".", *"pdf", "Enter")
        if "/similar?q=lease.pdf" not in browser.driver.current_url:
            yield f"Enter leads to {browser.driver.current_url}"

    def _without_script(self) -> Iterator[str]:
        browser, self._which = self._browser, "without_script"
        browser.resize(1440, 900, script=False)
        for name in ("home", "similar", "document", "compare", "duplicates_before"):
            browser.driver.get(self._url + PAGES[name])
            browser.driver.save_screenshot(str(self._folder / f"{name}_without_script.png"))
            if not browser.driver.find_elements("css selector", "main h1"):
                yield f"{name}: it shows nothing without scripts"


if __name__ == "__main__":
    main()
