"""Opens the pages of `compare`, `passages` and `duplicates --html` in Chromium, uses them, and takes pictures.

    python scripts/browser/check_pages.py --pictures FOLDER

It fails if a page writes to the console, requests another address, runs a hostile text, loses the keyboard focus, has
low contrast, or cannot be printed. Look at the pictures yourself.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from chromium import Browser
from list_pages import LISTS, sources_of_one_text
from page_texts import PAIRS, Pair

from simdoc_search.passages.compare import compare
from simdoc_search.passages.report import render_pair_page

SIZES = {1440: 900, 360: 740}
MIN_CONTRAST = 4.5
MAX_FRAME_SECONDS = 0.2  # the maximum time of 9 in 10 frames while a page is scrolled, in seconds
MIN_OVERLAP = 0.8  # the overlap from which on counterparts must be beside each other
MAX_INDENT = 24  # the maximum indentation of an entry below its heading in pixels
MAX_DISTANCE = 250  # the maximum distance of counterparts in pixels
MAX_BYTES = 3_000_000

FOCUS = """
const { dataset } = document.activeElement, side = document.activeElement.closest('.side');
return [dataset.n ?? dataset.d ?? dataset.p ?? '', side?.className ?? ''];
"""
INDENTS = """
const left = e => e.getBoundingClientRect().left;
return [...document.querySelectorAll('.lists li')].map(e => left(e) - left(e.closest('section').querySelector('h2')));
"""
HEIGHTS = """
return [...document.querySelectorAll('.text')].map(pane => {
  const e = pane.querySelector(arguments[0]);
  return e && e.getBoundingClientRect().top - pane.getBoundingClientRect().top;
})
"""
OPENED = """
const open = document.querySelectorAll('details.hit[open]');
return [open[0]?.querySelector('summary') === document.activeElement, open.length];
"""
OPENED_SOURCE = """
const heights = [...document.querySelectorAll('.own .text, .from.open .text')].map(pane => {
  const e = pane.querySelector('mark.now');
  return e && [e.getBoundingClientRect().top - pane.getBoundingClientRect().top, pane.clientHeight];
});
return [heights, document.activeElement.dataset.p];
"""
ELEMENTS = """
const odd = '[style], img, iframe, object, embed, base, form, [onclick], [onload], [onerror]';
const count = selector => document.querySelectorAll(selector).length;
return [count('script'), count('style, link'), count(odd), document.title];
"""
TOGETHER = """
const done = arguments[1], [a, b] = document.querySelectorAll('.text');
const top = (p, pane) => p.getBoundingClientRect().top - pane.getBoundingClientRect().top;
a.dispatchEvent(new Event('wheel'));
a.scrollTop = arguments[0] * (a.scrollHeight - a.clientHeight);
setTimeout(() => {
  const p = [...a.querySelectorAll('p[data-q]')].find(p => top(p, a) > a.clientHeight / 4);
  const before = p ? [...b.querySelectorAll('p')].filter(each => Number(each.dataset.o) <= Number(p.dataset.q)) : [];
  done(before.length ? Math.abs(top(p, a) - top(before.pop(), b)) : 0);
}, 1000);
"""
FRAMES = """
const done = arguments[0], pane = document.querySelector('.side.a .text'), times = [];
pane.dispatchEvent(new Event('wheel'));
let before = performance.now(), left = 60;
function next(now) {
  times.push(now - before); before = now;
  pane.scrollTop += pane.scrollHeight / 60;
  if (left--) requestAnimationFrame(next); else done(times.sort((x, y) => x - y)[54] / 1000);
}
requestAnimationFrame(next);
"""
CONTRASTS = """
const canvas = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
function rgb(colours) {
  canvas.clearRect(0, 0, 1, 1);
  for (const each of colours) { canvas.fillStyle = each; canvas.fillRect(0, 0, 1, 1); }
  return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
}
function light(colour) {
  const [r, g, b] = colour.map(v => v / 255).map(v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
  return .2126 * r + .7152 * g + .0722 * b;
}
const worst = {};
const texts = `h1, h2, dt, dd, summary, label, .which, .name p, .text p, mark, .n, del, ins, .gap, .escape, .page,
  .where, .ignored, .quote, .sum, .what, .figure, .how, .differs, .more, .found, .top p, figcaption`;
for (const e of document.querySelectorAll(texts)) {
  const grounds = [];
  for (let up = e; up; up = up.parentElement) grounds.unshift(getComputedStyle(up).backgroundColor);
  const [x, y] = [light(rgb(grounds)), light(rgb([...grounds, getComputedStyle(e).color]))];
  const ratio = (Math.max(x, y) + .05) / (Math.min(x, y) + .05);
  const name = e.tagName.toLowerCase() + '.' + e.className + ' in ' + e.closest('mark')?.className;
  if (!(ratio >= worst[name])) worst[name] = ratio;
}
return worst;
"""


def main() -> None:
    """Make and check the pages, and print the problems."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--pictures", type=Path, help="the folder for pictures and PDF files")
    parser.add_argument(
        "--only", choices=[*(pair.name for pair in PAIRS), *LISTS, "origin"], nargs="+", help="the pages to check"
    )
    arguments = parser.parse_args()
    pairs = [pair for pair in PAIRS if not arguments.only or pair.name in arguments.only]
    lists = [name for name in LISTS if not arguments.only or name in arguments.only]
    with tempfile.TemporaryDirectory() as folder:
        into = arguments.pictures or Path(folder)
        into.mkdir(parents=True, exist_ok=True)
        with Browser() as browser:
            problems = [f"{pair.name}: {each}" for pair in pairs for each in _check_pair(browser, pair, into)]
            problems += [f"{name}: {each}" for name in lists for each in _check_list(browser, name, into)]
            if not arguments.only or "origin" in arguments.only:
                problems += [f"origin: {each}" for each in _check_sources(browser, into)]
    print("\n".join(problems) or "no problems")
    sys.exit(1 if problems else 0)


def _check_pair(browser: Browser, pair: Pair, folder: Path) -> Iterator[str]:
    page = folder / f"{pair.name}.html"
    comparison = compare(*pair.texts)
    page.write_text(render_pair_page(comparison, pair.texts, pair.names), "utf-8", newline="\n")
    if page.stat().st_size > MAX_BYTES:
        yield f"{page.stat().st_size:,} bytes"
    browser.requests()  # forget those of the previous page
    for width, height in SIZES.items():
        for dark in (False, True):
            browser.resize(width, height, dark=dark)
            took = browser.open(page)
            yield from _check_keys(browser, len(comparison.passages), len(comparison.differences))
            browser.picture(folder / f"{pair.name}_{width}_{'dark' if dark else 'light'}.png")
            yield from _check_safety(browser, page)
            yield from _check_contrast(browser, f"{width} {'dark' if dark else 'light'}")
            if width == max(SIZES) and not dark:
                if (indent := max(browser.run(INDENTS), default=0)) > MAX_INDENT:
                    yield f"an entry of the lists is indented by {indent} pixels"
                yield from _check_click(browser, len(comparison.passages))
                if comparison.jaccard > MIN_OVERLAP:
                    yield from _check_scrolling(browser)
                slow = browser.driver.execute_async_script(FRAMES)
                size = page.stat().st_size
                print(f"{pair.name}: {size:,} bytes, open in {took:.2f} s, 9 of 10 frames within {slow:.3f} s")
                if slow > MAX_FRAME_SECONDS:
                    yield f"one frame in ten took over {slow:.2f} s"
                browser.pdf(folder / f"{pair.name}.pdf")
    browser.resize(max(SIZES), SIZES[max(SIZES)], script=False)
    browser.driver.get(page.resolve().as_uri())
    browser.driver.save_screenshot(str(folder / f"{pair.name}_without_script.png"))
    yield from browser.complaints()


def _check_list(browser: Browser, name: str, folder: Path) -> Iterator[str]:
    """Check a list: Tab selects an entry, Enter opens it, and letters go through the open pair."""
    page = folder / f"{name}.html"
    page.write_text(LISTS[name](), "utf-8", newline="\n")
    browser.requests()
    for width, height in SIZES.items():
        for dark in (False, True):
            browser.resize(width, height, dark=dark)
            took = browser.open(page)
            which = f"{width} {'dark' if dark else 'light'}"
            browser.picture(folder / f"{name}_{which.replace(' ', '_')}.png")
            browser.press("Tab", "Enter")
            if browser.run(OPENED) != [True, 1]:
                yield f"Tab and Enter do not open the first pair ({which})"
            browser.press("n")
            if not browser.run(FOCUS)[0]:
                yield f"n does not go to a passage of the pair that is open ({which})"
            browser.picture(folder / f"{name}_{which.replace(' ', '_')}_open.png")
            yield from _check_safety(browser, page)
            browser.run("document.querySelectorAll('details.hit').forEach(e => e.open = true)")
            yield from _check_contrast(browser, which)
    print(f"{name}: {page.stat().st_size:,} bytes, open in {took:.2f} s")
    browser.pdf(folder / f"{name}.pdf")
    yield from browser.complaints()


def _check_sources(browser: Browser, folder: Path) -> Iterator[str]:
    """Check a text with its sources: a click on a source opens it at the passage, and Escape goes back."""
    page = folder / "origin.html"
    page.write_text(sources_of_one_text(), "utf-8", newline="\n")
    browser.requests()
    for width, height in SIZES.items():
        for dark in (False, True):
            browser.resize(width, height, dark=dark)
            took = browser.open(page)
            which = f"{width} {'dark' if dark else 'light'}"
            browser.picture(folder / f"origin_{which.replace(' ', '_')}.png")
            browser.click('.sources a[data-s="4"]')
            browser.wait(0.3)
            heights, focus = browser.run(OPENED_SOURCE)
            if None in heights or not all(0 <= top <= tall for top, tall in heights) or focus != "4-1":
                yield f"a source opens at {heights}, focus on {focus} ({which})"
            browser.picture(folder / f"origin_{which.replace(' ', '_')}_open.png")
            browser.click(".from.open .next")
            if browser.run(OPENED_SOURCE)[1] == "4-1":
                yield f"the next passage is not chosen ({which})"
            yield from _check_safety(browser, page)
            yield from _check_contrast(browser, which)
            browser.press("Escape")
            if browser.run("return document.activeElement.dataset.s") != "4":
                yield f"Escape does not go back to the list ({which})"
    slow = browser.driver.execute_async_script(FRAMES.replace(".side.a .text", ".own .text"))
    print(f"origin: {page.stat().st_size:,} bytes, open in {took:.2f} s, 9 of 10 frames within {slow:.3f} s")
    if slow > MAX_FRAME_SECONDS:
        yield f"one frame in ten took over {slow:.2f} s"
    browser.pdf(folder / "origin.pdf")
    browser.resize(max(SIZES), SIZES[max(SIZES)], script=False)
    browser.driver.get("about:blank")
    browser.driver.get(page.resolve().as_uri() + "#s4-1")
    browser.driver.save_screenshot(str(folder / "origin_without_script.png"))
    yield from browser.complaints()


def _check_keys(browser: Browser, passages: int, differences: int) -> Iterator[str]:
    """Letters and arrows go to the next passage, Enter to its counterpart, and d to the next difference."""
    browser.press("d")
    if differences and browser.run(FOCUS)[0] == "":
        yield "d does not go to a difference"
    browser.press("Escape", "n")
    if not passages:
        return
    first = browser.run(FOCUS)
    if not first[0] or first[1] not in {"side a", "side b"}:
        yield f"n goes to {first}"
    heights = browser.run(HEIGHTS, f'a.n[data-n="{first[0]}"]')
    if None in heights:
        yield f"passage {first[0]} is in one text only"
    browser.press("Enter")
    counterpart = browser.run(FOCUS)
    if counterpart[0] != first[0] or counterpart[1] == first[1]:
        yield f"Enter goes from {first} to {counterpart}"
    browser.press("n", "ArrowRight", "p", "ArrowLeft")
    if browser.run(FOCUS)[0] != first[0]:
        yield f"n → p ← go to {browser.run(FOCUS)}, not {first}"


def _check_click(browser: Browser, passages: int) -> Iterator[str]:
    """A click on a passage scrolls its counterpart to the same height."""
    if not passages:
        return
    number = browser.run("return document.querySelectorAll('.side.a a.n')[0].dataset.n")
    browser.click(f'.lists a[data-n="{number}"]')
    browser.wait(0.2)
    a, b = browser.run(HEIGHTS, f'a.n[data-n="{number}"]')
    tops = browser.run("return [...document.querySelectorAll('.text')].map(e => e.scrollTop)")
    if abs(a - b) > 3 and min(tops) > 0:
        yield f"passage {number} is at {a:.0f} and {b:.0f} pixels"


def _check_scrolling(browser: Browser) -> Iterator[str]:
    """Scrolling one text scrolls the other, so that counterparts are beside each other."""
    for share in (0.2, 0.5, 0.8):
        apart = browser.driver.execute_async_script(TOGETHER, share)
        if apart > MAX_DISTANCE:
            yield f"a paragraph and its counterpart are {apart:.0f} pixels apart at {share:.0%}"


def _check_safety(browser: Browser, page: Path) -> Iterator[str]:
    """Hostile texts have no effect, and no other address is requested."""
    outside = [url for url in browser.requests() if url != page.resolve().as_uri()]
    if outside:
        yield f"requests {outside}"
    scripts, styles, odd, title = browser.run(ELEMENTS)
    if (scripts, styles, odd) != (1, 1, 0) or title == "pwned":
        yield f"{scripts} scripts, {styles} styles, {odd} odd elements, title {title}"
    wide = browser.run("return document.documentElement.scrollWidth - innerWidth")
    if wide > 0:
        yield f"the page is {wide} pixels too wide"


def _check_contrast(browser: Browser, which: str) -> Iterator[str]:
    for name, ratio in browser.run(CONTRASTS).items():
        if ratio < MIN_CONTRAST:
            yield f"contrast of {name} is {ratio:.2f} ({which})"


if __name__ == "__main__":
    main()
