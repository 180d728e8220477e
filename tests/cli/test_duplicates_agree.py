"""The terminal, JSON, the page, the browser and the plan give the same verdict on each document."""

from __future__ import annotations

import html
import os
import random
import re
import time
from pathlib import Path
from typing import Any

import pytest

from simdoc_search.display import format_bytes
from tests.support.cli import answer, output, words, write
from tests.support.folders import posix_only
from tests.support.web import Pages, pages_over

Verdicts = dict[str, tuple[str, str]]
"""Maps ids to action and reason. The reason of a kept document is empty."""

_TERMINAL = re.compile(r"^ *(keep|drop|decide) .*?docs/(\S+)(?:  \((.*)\)|\n {10}(.*))?$", re.MULTILINE)
_PAGE = re.compile(r'<bdi class="what">docs/(.*?)</bdi><span class="how">(.*?)</span>')
_FIELDSET = re.compile(r"<fieldset.*?</fieldset>", re.DOTALL)


def random_groups(rng: random.Random, folder: Path, groups: int) -> None:
    """Write groups of files: a text, and random copies, hard links, and similar pages and texts."""
    for number in range(groups):
        base = words(200 * number, 200 * number + 50)
        name = f"g{number:04}"
        write(folder, {f"{name}_a.txt": base})
        for member in range(rng.randrange(1, 4)):
            path = folder / f"{name}_b{member}.txt"
            match rng.choice(["copy", "hard link", "page", "symbols", "words"]):
                case "copy":
                    path.write_text(base)
                case "hard link":
                    os.link(folder / f"{name}_a.txt", path)
                case "page":
                    path.with_suffix(".html").write_text(f"<p>{base}</p><img src={rng.randrange(2)}.png>")
                case "symbols":
                    path.write_text(base.replace(" ", " -", rng.randrange(1, 4)))
                case "words":
                    path.write_text(f"{base} end{rng.randrange(2)}")


def verdicts_of_terminal(shown: str) -> Verdicts:
    return {id: (action, inline or below) for action, id, inline, below in _TERMINAL.findall(shown)}


def verdicts_of_json(found: dict[str, Any]) -> Verdicts:
    verdicts: Verdicts = {}
    for cluster in found["groups"]:
        verdicts[cluster["kept"]["id"]] = ("keep", "")
        verdicts |= {other["id"]: (other["action"], other["reason"]) for other in cluster["duplicates"]}
    return verdicts


def verdicts_of_page(page: str) -> Verdicts:
    found = {name: html.unescape(how).partition(": ") for name, how in _PAGE.findall(page)}
    return {name: ("keep", "") if how == "kept" else (how, why) for name, (how, _, why) in found.items()}


def verdicts_of_plan(lines: str) -> Verdicts:
    rows = [line.split("\t") for line in lines.splitlines() if not line.startswith("#")][1:]
    return {row[8]: (row[0], row[12]) for row in rows}


def verdicts_of_browser(page: str) -> Verdicts:
    """Return the verdicts on the documents that are not kept."""
    verdicts = {}
    for fieldset in _FIELDSET.findall(page):
        (name, *_) = re.findall(r"g\d+_\w+\.\w+", fieldset)
        (reason,) = re.findall(r'<span class="how">(.*?)(?: <span|</span>)', fieldset)
        (action,) = re.findall(r'value="(\w+)" checked', fieldset)
        verdicts[name] = (action, html.unescape(reason))
    return verdicts


def verdicts_of_serve(pages: Pages) -> tuple[Verdicts, Verdicts, dict[str, Any]]:
    """Return the verdicts of the pages and the JSON of `serve`, and the counts."""
    pages.sent("/duplicates", 202, overlap=60)
    while pages.client.get("/duplicates.json").json()["state"] == "running":
        time.sleep(0.1)
    in_pages: Verdicts = {}
    in_json: Verdicts = {}
    start: int | None = 0
    while start is not None:
        found = pages.json("/duplicates", start=start, limit=100)
        in_json |= verdicts_of_json(found)
        in_pages |= verdicts_of_browser(pages.html("/duplicates", start=start, limit=100))
        start = found["next"]
    return in_pages, in_json, found


@posix_only
@pytest.mark.parametrize(("seed", "groups"), [(1, 20), pytest.param(2, 250, marks=pytest.mark.slow)])
def test_all_outputs_agree(seed: int, groups: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They agree on action and reason of each document, and on the bytes to free."""
    monkeypatch.chdir(tmp_path)
    random_groups(random.Random(seed), tmp_path / "docs", groups)
    result = answer("duplicates", "docs", "--overlap", "60", "--html", "page.html", "--plan", "plan.tsv")
    terminal = output("duplicates", "docs", "--overlap", "60")
    page = Path("page.html").read_text("utf-8")
    with pages_over(tmp_path / ".simdoc") as pages:
        in_pages, in_json, counts = verdicts_of_serve(pages)
        plan = pages.client.get("/duplicates/plan.tsv").text
        browser = pages.html("/duplicates")
    verdicts = verdicts_of_json(result)
    others = {id: verdict for id, verdict in verdicts.items() if verdict[0] != "keep"}

    assert groups == result["group_count"]
    assert {"drop", "decide"} == {action for action, _ in others.values()}
    assert verdicts == verdicts_of_terminal(terminal) == verdicts_of_page(page) == in_json
    assert verdicts == verdicts_of_plan(Path("plan.tsv").read_text("utf-8")) == verdicts_of_plan(plan)
    assert others == in_pages
    dropped = {id for id, (action, _) in verdicts.items() if action == "drop"}
    freed = {os.lstat(Path("docs", id)).st_ino: os.lstat(Path("docs", id)).st_size for id in dropped}
    assert sum(freed.values()) == result["bytes_freed"] == counts["bytes_freed"]
    assert all(f"{format_bytes(result['bytes_freed'])} to free" in text for text in (terminal, page, browser))
