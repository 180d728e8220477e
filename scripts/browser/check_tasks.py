"""Does the five jobs of `simdoc-search serve` in Chromium as a person does: by typing, dropping a file, and clicking.

    python scripts/browser/check_tasks.py --pictures FOLDER --axe axe.min.js

It indexes a folder, starts the server with --allow-apply, and does each job at two sizes and in both colour schemes.
It only follows links and buttons that a person can see, by their labels, and it fails if a job cannot be done.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from check_serve import AXE, SIZES, WIDE
from chromium import Browser, read_arguments

_WAIT_SECONDS = 8
_TOPICS = {
    "leases/flat.txt": "tenant landlord rent flat kitchen deposit heating repair neighbour stairs",
    "leases/office.txt": "office lease parking company invoice lift meeting desk cleaning alarm",
    "recipes/bread.txt": "flour water yeast oven dough knead crust salt bowl rest",
    "letters/aunt.txt": "garden roses summer letter train visit cousin weather tea piano",
}
_FIND = """
const [label, within] = arguments;
const clean = (text) => text.replace(/\\s+/g, ' ').trim();
const parts = 'section, form, li, fieldset, details, .card, nav';
const scopes = within ? [...document.querySelectorAll(parts)] : [document.body];
const matching = scopes.filter((e) => !within || clean(e.textContent).includes(within));
const scope = matching.sort((a, b) => a.textContent.length - b.textContent.length);
for (const each of scope) {
  for (const e of each.querySelectorAll('a, button, summary, label, h2, .entry, [role=link]')) {
    if (e.checkVisibility({ visibilityProperty: true }) && clean(e.textContent) === label) return e;
  }
}
return null;
"""
_DROP = """
const [form, text, name] = arguments;
const data = new DataTransfer();
data.items.add(new File([text], name, { type: 'text/plain' }));
form.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
"""
_SEEN = "return (document.querySelector('main') ?? document.body).innerText.replace(/\\s+/g, ' ')"
_LABELS = "return [...document.querySelectorAll('a, button')].map(e => e.textContent.replace(/\\s+/g, ' ').trim())"
_VISIBLE_MARK = """
const box = document.querySelector(arguments[0])?.getBoundingClientRect();
return !!box && box.height > 0 && box.bottom > 0 && box.top < innerHeight;
"""


class TaskError(Exception):
    """A job cannot be done."""


def make_text(topic: str, words: int, seed: int) -> str:
    """Return a text of short sentences about a topic."""
    rng, vocabulary = random.Random(seed), topic.split()
    nonsense = ["".join(rng.choice(("la", "ve", "ro", "min", "ta", "su")) for _ in range(3)) for _ in range(300)]
    sentences = [
        f"The {rng.choice(vocabulary)} {' '.join(rng.sample(nonsense, 5))} the {rng.choice(vocabulary)}."
        for _ in range(words // 8)
    ]
    return "\n\n".join(" ".join(sentences[start : start + 5]) for start in range(0, len(sentences), 5))


def write_folder(folder: Path) -> dict[str, str]:
    """Write the files of a person: letters, leases in three versions, copies, and a picture. Return the texts."""
    texts = {name: make_text(topic, 400, seed) for seed, (name, topic) in enumerate(_TOPICS.items())}
    first = make_text(_TOPICS["leases/flat.txt"], 500, 7)
    sentences = first.split(". ")
    texts["contract/contract v1 2021-03-01.txt"] = first
    texts["contract/contract v2 2022-03-01.txt"] = ". ".join([*sentences[:40], "A new clause about bicycles"])
    texts["contract/contract v3 2023-03-01.txt"] = ". ".join(
        ["A new beginning", *sentences[:40], "A clause about cats"]
    )
    texts["old backup/bread.txt"] = texts["old backup/bread (2).txt"] = texts["recipes/bread.txt"]
    aunt = texts["letters/aunt.txt"].split(". ")
    texts["letters/aunt draft.txt"] = ". ".join([*aunt[:45], "Yours, with love"])
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    (folder / "holiday.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(500))
    return texts


@contextmanager
def serving(home: Path) -> Iterator[str]:
    """Index a folder and serve it with the command line. Yields the address."""
    environment = {**os.environ, "HOME": str(home)}
    command = [sys.executable, "-m", "simdoc_search"]
    store = str(home / "index")
    subprocess.run([*command, "index", str(home / "files"), "--store", store, "--quiet"], env=environment, check=True)
    process = subprocess.Popen(
        [*command, "serve", "--store", store, "--port", "0", "--allow-apply"],
        env=environment, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        yield process.stdout.readline().split()[0].rstrip("/") if process.stdout else ""
    finally:
        process.send_signal(signal.SIGINT)
        process.wait()


class Person:
    """Does jobs with the labels that are visible on a page."""

    def __init__(self, browser: Browser, url: str, picture: Callable[[str], None]) -> None:
        self._browser, self._url, self._picture = browser, url, picture

    def open_home(self) -> None:
        """Open the first page, with no windows besides it."""
        driver = self._browser.driver
        for handle in driver.window_handles[1:]:
            driver.switch_to.window(handle)
            driver.close()
        driver.switch_to.window(driver.window_handles[0])
        driver.get(self._url + "/")
        self._browser.wait()

    def find(self, label: str, within: str = "") -> Any:
        """Return the visible control with a label, in the smallest part of the page that contains a text."""
        found = self._browser.run(_FIND, label, within)
        if found is None:
            raise TaskError(f"{self.where}: no control {label!r}{f' near {within!r}' if within else ''}")
        return found

    @property
    def where(self) -> str:
        """The page, for messages."""
        return str(self._browser.driver.current_url).removeprefix(self._url)

    def click(self, label: str, within: str = "", *, opens_window: bool = False) -> None:
        """Click a control."""
        found = self.find(label, within)
        self._browser.run("arguments[0].scrollIntoView({ block: 'center' })", found)
        self._browser.wait()
        found.click()
        if not opens_window:  # a page in the background draws no frames
            self._browser.wait()

    def click_beginning(self, label: str) -> None:
        """Click the link whose label begins with a text."""
        self.click(next((each for each in self._browser.run(_LABELS) if each.startswith(label)), label))

    def type(self, label: str, text: str) -> None:
        """Type into the field with a label."""
        field = self.find(label)
        id = field.get_attribute("for")
        box = self._browser.driver.find_element("css selector", f"#{id}") if id else field.find_element(
            "css selector", "input, textarea, select"
        )  # fmt: skip
        if box.get_attribute("type") == "date":
            self._browser.run("arguments[0].value = arguments[1]", box, text)  # the keys depend on the locale
        else:
            box.clear()
            box.send_keys(text)

    def drop(self, name: str, text: str) -> None:
        """Drop a file on the form with the button for copied passages."""
        form = self.find("Find copied passages").find_element("xpath", "ancestor::form")
        self._browser.run(_DROP, form, text, name)

    def expect(self, *texts: str) -> None:
        """Wait until the page shows texts, such as the result of a search that takes a while."""
        missing: list[str] = []
        for _ in range(_WAIT_SECONDS * 4):
            seen = self.seen()
            missing = [text for text in texts if text not in seen]
            if not missing:
                return
            time.sleep(0.25)
        raise TaskError(f"{self.where}: the page does not show {missing}: {self.seen()[:400]}")

    def expect_not(self, text: str) -> None:
        """Check that the page does not show a text."""
        if text in self.seen():
            raise TaskError(f"{self.where}: the page shows {text!r}")

    def expect_visible(self, selector: str) -> None:
        """Check that an element is in the visible part of the page."""
        self._browser.wait(0.5)
        if not self._browser.run(_VISIBLE_MARK, selector):
            raise TaskError(f"{self.where}: {selector} is not in view")

    def seen(self) -> str:
        """Return the text of the page."""
        from selenium.common.exceptions import WebDriverException  # noqa: PLC0415 - a page that reloads

        try:
            return str(self._browser.run(_SEEN))
        except WebDriverException:
            return ""

    def picture(self, name: str) -> None:
        """Take a picture, and check the page."""
        self._picture(name)

    def go_to_new_window(self) -> None:
        """Go to the window that the last click opened."""
        if not self._browser.go_to_new_window(_WAIT_SECONDS):
            raise TaskError(f"{self.where}: no new window was opened")


def find_copies(person: Person, home: Path) -> None:
    """Which documents are copies? Edit the plan, and download it with the command that applies it."""
    person.open_home()
    person.picture("home")
    person.click("Find copies")
    person.expect("3 groups with 4 duplicates")
    person.picture("copies")
    person.click("Keep this one instead", "aunt draft.txt")
    person.expect("bread.txt")
    person.click("remove", "aunt.txt")
    person.click("Continue to the plan")
    person.expect("Plan for the copies", "3 copies to remove")
    person.picture("plan")
    person.find("Copy", "apply")
    downloads = home / "downloads"
    for old in downloads.iterdir():
        old.unlink()
    person.click_beginning("Download ")
    for _ in range(_WAIT_SECONDS * 4):
        if plans := list(downloads.glob("*.tsv")):
            break
        time.sleep(0.25)
    else:
        raise TaskError("the plan was not downloaded")
    removed = [line for line in plans[0].read_text("utf-8").splitlines() if line.startswith("drop\t")]
    if len(removed) != 3 or not any("letters/aunt.txt" in line for line in removed):
        raise TaskError(f"the plan does not have the decisions: {removed}")


def apply_and_undo(person: Person, home: Path) -> None:
    """Move the copies into a folder, and move them back."""
    before = list_files(home)
    person.open_home()
    person.click("Copies")
    person.expect("group")
    person.click("Continue to the plan")
    person.click("Move 3 files")
    person.expect("3 files were moved")
    person.picture("moved")
    if len(list_files(home)) != len(before) - 3:
        raise TaskError("the files were not moved")
    person.click("Undo")
    person.expect("3 files were moved back", "Their documents are in the index again")
    person.picture("moved_back")
    if list_files(home) != before:
        raise TaskError("the files were not moved back")


def list_files(home: Path) -> list[str]:
    """Return the files of the person."""
    return sorted(str(path) for path in (home / "files").rglob("*") if path.is_file())


def find_sources(person: Person, texts: dict[str, str]) -> None:
    """Where is this from? Paste a text, drop a file, and follow a passage to both texts."""
    taken = texts["leases/office.txt"][600:1500]
    essay = f"{make_text('my own words about ships', 200, 99)}\n\n{taken}\n\nThe end of my essay."
    person.open_home()
    person.type("Paste a text", essay.replace("\n\n", " "))
    person.click("Find copied passages")
    person.expect("leases/office.txt", "%")
    person.picture("coverage")
    person.open_home()
    person.drop("essay.txt", essay)
    person.click("Find copied passages")
    person.expect("essay.txt", "leases/office.txt")
    person.click("Each document with its longest passages")
    person.click("Compare", "leases/office.txt", opens_window=True)
    person.go_to_new_window()
    person.expect("leases/office.txt")
    person.expect_visible("#a1")
    person.picture("passage_in_both")


def find_newest(person: Person) -> None:
    """Which is the newest version? Find the timeline with its evidence, and what changed."""
    person.open_home()
    person.type("Id or file name of a document", "contract v1 2021-03-01.txt")
    person.click("Find versions", "Which is the newest version?")
    person.expect("2 other versions", "contract v3 2023-03-01.txt", "newest")
    person.picture("timeline")
    person.click("What changed", "contract v3 2023-03-01.txt")
    person.expect("bicycles")


def see_what_is_here(person: Person, texts: dict[str, str]) -> None:
    """What is here? Filter by name, folder and date, see what was skipped, and open an original file."""
    person.open_home()
    person.click("List documents")
    person.expect(f"{len(texts)} documents")
    person.picture("documents")
    person.type("Name contains", "bread")
    person.click("Show")
    person.expect("3 documents")
    person.click("old backup/ 2")
    person.expect("2 documents")
    person.click("All documents")
    person.type("Written from", "2022-01-01")
    person.type("Written until", "2022-12-31")
    person.click("Show")
    person.expect("contract v2 2022-03-01.txt")
    person.expect_not("contract v1")
    person.picture("filtered")
    person.click("Open file", "contract v2 2022-03-01.txt", opens_window=True)
    person.go_to_new_window()
    person.expect("bicycles")
    person.open_home()
    person.click("Documents")
    person.click("Which files were skipped, and why?")
    person.click_beginning("Find skipped files" if "Find skipped files" in person.seen() else "Search again")
    person.expect("image")
    person.picture("skipped")


def follow_link(person: Person, texts: dict[str, str]) -> None:
    """Open a document of the list, its shared passages, and a pair at the passage that was clicked."""
    person.open_home()
    person.click("List documents")
    person.expect(f"{len(texts)} documents")
    person.click("letters/aunt draft.txt")
    person.expect("Similar documents")
    person.picture("document")
    person.click("Shared passages")
    person.expect("letters/aunt.txt")
    person.click("Each document with its longest passages")
    person.click("Compare", "letters/aunt.txt")
    person.expect_visible("#a1")
    address = person.where
    if "at=" not in address:
        raise TaskError(f"the address of the pair does not name the passage: {address}")


def do_all(person: Person, home: Path, texts: dict[str, str]) -> Iterator[str]:
    """Do all jobs, and yield those that cannot be done."""
    from selenium.common.exceptions import WebDriverException  # noqa: PLC0415 - Browser explains how to get it

    jobs: dict[str, Callable[[], None]] = {
        "find copies": partial(find_copies, person, home),
        "apply and undo": partial(apply_and_undo, person, home),
        "find sources": partial(find_sources, person, texts),
        "find the newest": partial(find_newest, person),
        "see what is here": partial(see_what_is_here, person, texts),
        "follow a link": partial(follow_link, person, texts),
    }
    for job, work in jobs.items():
        try:
            work()
        except (TaskError, WebDriverException) as error:
            yield f"{job}: {error}"
            person.picture(f"failed_{job.replace(' ', '_')}")


def main() -> None:
    """Do all jobs at all sizes and in both colour schemes, and print which cannot be done."""
    pictures, axe = read_arguments(__doc__ or "")
    problems: list[str] = []
    with tempfile.TemporaryDirectory() as folder, Browser() as browser:
        home = Path(folder)
        (home / "downloads").mkdir()
        texts = write_folder(home / "files")
        browser.tell("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(home / "downloads")})
        into = pictures or home / "pictures"
        into.mkdir(parents=True, exist_ok=True)

        def check_page(which: str, name: str) -> None:
            browser.picture(into / f"task_{name}_{which}.png")
            if (wide := browser.run(WIDE)) > 0:
                problems.append(f"{name} {which}: {wide} pixels wider than the window")
            if axe is not None:
                browser.run(axe)
                broken = browser.driver.execute_async_script(AXE)
                problems.extend(f"{name} {which}: axe {rule}: {places[:3]}" for rule, places in broken)

        with serving(home) as url:
            for width, height in SIZES.items():
                for dark in (False, True):
                    browser.resize(width, height, dark=dark)
                    which = f"{width}_{'dark' if dark else 'light'}"
                    person = Person(browser, url, partial(check_page, which))
                    problems.extend(f"{which} {problem}" for problem in do_all(person, home, texts))
                    complaints = (each for each in browser.complaints() if "favicon.ico" not in each)  # of a text file
                    problems.extend(f"{which}: {each}" for each in complaints)
    print("\n".join(problems) or "no problems")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
