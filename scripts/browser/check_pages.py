"""Opens the pages of `compare`, `passages` and `duplicates --html` in Chromium: reads, types, clicks, takes pictures.

    python scripts/browser/check_pages.py --pictures FOLDER

Prints what it looked at, and fails if a page says anything on the console, asks for anything outside, does what a
hostile text wants, loses the keyboard's place, is hard to read, or does not print. Look at the pictures yourself.
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
from simdoc_search.passages.report import pair_page

SIZES = {1440: 900, 360: 740}
LEAST_CONTRAST = 4.5
SLOW = 0.2  # seconds that one frame in ten may take while a page is scrolled
VERSIONS = 0.8  # the overlap from which on paragraphs have their like beside them
APART = 250  # pixels, at most, between paragraphs that are scrolled together
LARGEST = 3_000_000

FOCUS = """
const { dataset } = document.activeElement, side = document.activeElement.closest('.side');
return [dataset.n ?? dataset.d ?? dataset.p ?? '', side?.className ?? ''];
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
  const like = p && [...b.querySelectorAll('p')].filter(each => Number(each.dataset.o) <= Number(p.dataset.q)).pop();
  done(like ? Math.abs(top(p, a) - top(like, b)) : 0);
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
const texts = `h1, h2, dt, dd, summary, label, .which, .name p, .text p, mark, .n, del, ins, .gap, .sign, .page, .where,
  .ignored, .quote, .sum, .what, .figure, .how, .differs, .more, .found, .top p, figcaption`;
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
    """Make the pages, look at them, say what is wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--pictures", type=Path, help="a folder for pictures and PDF files")
    parser.add_argument(
        "--only", choices=[*(pair.name for pair in PAIRS), *LISTS, "origin"], nargs="+", help="some of the pages"
    )
    arguments = parser.parse_args()
    pairs = [pair for pair in PAIRS if not arguments.only or pair.name in arguments.only]
    lists = [name for name in LISTS if not arguments.only or name in arguments.only]
    with tempfile.TemporaryDirectory() as folder:
        into = arguments.pictures or Path(folder)
        into.mkdir(parents=True, exist_ok=True)
        with Browser() as browser:
            wrong = [f"{pair.name}: {each}" for pair in pairs for each in _looked_at(browser, pair, into)]
            wrong += [f"{name}: {each}" for name in lists for each in _looked_through(browser, name, into)]
            if not arguments.only or "origin" in arguments.only:
                wrong += [f"origin: {each}" for each in _traced(browser, into)]
    print("\n".join(wrong) or "nothing is wrong")
    sys.exit(1 if wrong else 0)


def _looked_at(browser: Browser, pair: Pair, folder: Path) -> Iterator[str]:
    page = folder / f"{pair.name}.html"
    comparison = compare(*pair.texts)
    page.write_text(pair_page(comparison, pair.texts, pair.names), "utf-8", newline="\n")
    if page.stat().st_size > LARGEST:
        yield f"{page.stat().st_size:,} bytes"
    browser.requests()  # those of the page before
    for width, height in SIZES.items():
        for dark in (False, True):
            browser.become(width, height, dark=dark)
            took = browser.open(page)
            yield from _keyboard(browser, len(comparison.passages), len(comparison.differences))
            browser.picture(folder / f"{pair.name}_{width}_{'dark' if dark else 'light'}.png")
            yield from _still(browser, page)
            yield from _readable(browser, f"{width} {'dark' if dark else 'light'}")
            if width == max(SIZES) and not dark:
                yield from _mouse(browser, len(comparison.passages))
                if comparison.jaccard > VERSIONS:
                    yield from _together(browser)
                slow = browser.driver.execute_async_script(FRAMES)
                size = page.stat().st_size
                print(f"{pair.name}: {size:,} bytes, open in {took:.2f} s, 9 of 10 frames within {slow:.3f} s")
                if slow > SLOW:
                    yield f"one frame in ten took over {slow:.2f} s while scrolling"
                browser.pdf(folder / f"{pair.name}.pdf")
    browser.become(max(SIZES), SIZES[max(SIZES)], script=False)
    browser.driver.get(page.resolve().as_uri())
    browser.driver.save_screenshot(str(folder / f"{pair.name}_without_script.png"))
    yield from browser.complaints()


def _looked_through(browser: Browser, name: str, folder: Path) -> Iterator[str]:
    """A list: Tab comes to a line, Enter opens it, and the letters go through the pair that is open."""
    page = folder / f"{name}.html"
    page.write_text(LISTS[name](), "utf-8", newline="\n")
    browser.requests()
    for width, height in SIZES.items():
        for dark in (False, True):
            browser.become(width, height, dark=dark)
            took = browser.open(page)
            which = f"{width} {'dark' if dark else 'light'}"
            browser.picture(folder / f"{name}_{which.replace(' ', '_')}.png")
            browser.press("Tab", "Enter")
            if browser.ask(OPENED) != [True, 1]:
                yield f"Tab and Enter do not open the first pair ({which})"
            browser.press("n")
            if not browser.ask(FOCUS)[0]:
                yield f"n does not go to a passage of the pair that is open ({which})"
            browser.picture(folder / f"{name}_{which.replace(' ', '_')}_open.png")
            yield from _still(browser, page)
            browser.ask("document.querySelectorAll('details.hit').forEach(e => e.open = true)")
            yield from _readable(browser, which)
    print(f"{name}: {page.stat().st_size:,} bytes, open in {took:.2f} s")
    browser.pdf(folder / f"{name}.pdf")
    yield from browser.complaints()


def _traced(browser: Browser, folder: Path) -> Iterator[str]:
    """A text with its sources: a click on a source opens its text, both at the passage, and Escape goes back."""
    page = folder / "origin.html"
    page.write_text(sources_of_one_text(), "utf-8", newline="\n")
    browser.requests()
    for width, height in SIZES.items():
        for dark in (False, True):
            browser.become(width, height, dark=dark)
            took = browser.open(page)
            which = f"{width} {'dark' if dark else 'light'}"
            browser.picture(folder / f"origin_{which.replace(' ', '_')}.png")
            browser.click('.sources a[data-s="4"]')
            browser.wait(0.3)
            heights, focus = browser.ask(OPENED_SOURCE)
            if None in heights or not all(0 <= top <= tall for top, tall in heights) or focus != "4-1":
                yield f"a source opens at {heights}, focus on {focus} ({which})"
            browser.picture(folder / f"origin_{which.replace(' ', '_')}_open.png")
            browser.click(".from.open .next")
            if browser.ask(OPENED_SOURCE)[1] == "4-1":
                yield f"the next passage is not chosen ({which})"
            yield from _still(browser, page)
            yield from _readable(browser, which)
            browser.press("Escape")
            if browser.ask("return document.activeElement.dataset.s") != "4":
                yield f"Escape does not go back to the list ({which})"
    slow = browser.driver.execute_async_script(FRAMES.replace(".side.a .text", ".own .text"))
    print(f"origin: {page.stat().st_size:,} bytes, open in {took:.2f} s, 9 of 10 frames within {slow:.3f} s")
    if slow > SLOW:
        yield f"one frame in ten took over {slow:.2f} s while scrolling"
    browser.pdf(folder / "origin.pdf")
    browser.become(max(SIZES), SIZES[max(SIZES)], script=False)
    browser.driver.get("about:blank")
    browser.driver.get(page.resolve().as_uri() + "#s4-1")
    browser.driver.save_screenshot(str(folder / "origin_without_script.png"))
    yield from browser.complaints()


def _keyboard(browser: Browser, passages: int, differences: int) -> Iterator[str]:
    """Letters and arrows go from passage to passage, Enter to the like, d from difference to difference."""
    browser.press("d")
    if differences and browser.ask(FOCUS)[0] == "":
        yield "d does not go to a difference"
    browser.press("Escape", "n")
    if not passages:
        return
    first = browser.ask(FOCUS)
    if not first[0] or first[1] not in {"side a", "side b"}:
        yield f"n goes to {first}"
    heights = browser.ask(HEIGHTS, f'a.n[data-n="{first[0]}"]')
    if None in heights:
        yield f"passage {first[0]} is in one text only"
    browser.press("Enter")
    like = browser.ask(FOCUS)
    if like[0] != first[0] or like[1] == first[1]:
        yield f"Enter goes from {first} to {like}"
    browser.press("n", "ArrowRight", "p", "ArrowLeft")
    if browser.ask(FOCUS)[0] != first[0]:
        yield f"there and back again is {browser.ask(FOCUS)}, not {first}"


def _mouse(browser: Browser, passages: int) -> Iterator[str]:
    """A number brings its like to the same height; so does the strip."""
    if not passages:
        return
    number = browser.ask("return document.querySelectorAll('.side.a a.n')[0].dataset.n")
    browser.click(f'.lists a[data-n="{number}"]')
    browser.wait(0.2)
    a, b = browser.ask(HEIGHTS, f'a.n[data-n="{number}"]')
    tops = browser.ask("return [...document.querySelectorAll('.text')].map(e => e.scrollTop)")
    if abs(a - b) > 3 and min(tops) > 0:
        yield f"the likes of passage {number} stand at {a:.0f} and {b:.0f} pixels"


def _together(browser: Browser) -> Iterator[str]:
    """Scrolling one text scrolls the other: the like of a paragraph stands beside it, within some lines."""
    for share in (0.2, 0.5, 0.8):
        apart = browser.driver.execute_async_script(TOGETHER, share)
        if apart > APART:
            yield f"a paragraph and its like stand {apart:.0f} pixels apart at {share:.0%}"


def _still(browser: Browser, page: Path) -> Iterator[str]:
    """Nothing that a text says is done, and nothing is asked of the outside."""
    outside = [url for url in browser.requests() if url != page.resolve().as_uri()]
    if outside:
        yield f"asks for {outside}"
    scripts, styles, odd, title = browser.ask(ELEMENTS)
    if (scripts, styles, odd) != (1, 1, 0) or title == "pwned":
        yield f"{scripts} scripts, {styles} styles, {odd} odd elements, title {title}"
    wide = browser.ask("return document.documentElement.scrollWidth - innerWidth")
    if wide > 0:
        yield f"the page is {wide} pixels too wide"


def _readable(browser: Browser, which: str) -> Iterator[str]:
    for name, ratio in browser.ask(CONTRASTS).items():
        if ratio < LEAST_CONTRAST:
            yield f"contrast of {name} is {ratio:.2f} ({which})"


if __name__ == "__main__":
    main()
