"""Duplicates: a search that runs beside, its groups in parts, what a person decides, and the plan of it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from simdoc_search.duplicates.plan import read_plan
from simdoc_search.stores.local.store import LocalStore
from simdoc_search.stores.record import Record
from tests.support.cli import answer, output, words, write, write_corpus
from tests.support.waiting import wait_until
from tests.support.web import BROWSER, Pages, pages_over

FORM = {"content-type": "application/x-www-form-urlencoded"}


def waited(pages: Pages, **values: Any) -> Any:
    """What is found when the search has ended."""
    for _ in range(200):
        said = pages.client.get("/duplicates.json", params=values).json()
        if said["state"] != "running":
            return said
        time.sleep(0.05)
    raise AssertionError("the search does not end")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A corpus with copies, and its store."""
    write_corpus(tmp_path / "corpus")
    write(tmp_path / "corpus", {"again.txt": words(9000, 9200), "near.txt": words(9000, 9190) + " end"})
    output("index", tmp_path / "corpus", "--store", tmp_path / "store")
    return tmp_path


@pytest.fixture
def pages(folder: Path) -> Iterator[Pages]:
    """The pages over it."""
    with pages_over(folder / "store") as running:
        yield running


def test_a_search_is_started_and_its_groups_are_those_of_the_command_line(pages: Pages, folder: Path) -> None:
    """Without pairs, and without the paths of files."""
    expected = answer("duplicates", "--overlap", "70", "--keep", "first", "--store", folder / "store")
    assert "none" == pages.json("/duplicates")["state"]
    started = pages.sent("/duplicates", 202, overlap=70, keep="first")
    found = waited(pages)
    for cluster in expected["clusters"]:
        for each in (cluster["kept"], *cluster["duplicates"]):
            each["path"] = None
    del expected["pairs"], expected["problems"]

    assert "running" == started["state"]
    assert {"state": "done", "next": None, **expected} == found


def test_groups_come_in_parts(pages: Pages) -> None:
    """One after the other, with the number of the next; beyond the last there are none."""
    pages.sent("/duplicates", 202, overlap=70)
    whole = waited(pages)["clusters"]
    first, second = waited(pages, limit=1), waited(pages, limit=1, start=1)

    assert 2 == len(whole)
    assert (whole, [1, None]) == (first["clusters"] + second["clusters"], [first["next"], second["next"]])
    assert [] == waited(pages, start=10**8)["clusters"]


def test_what_is_decided_stands_in_the_plan(pages: Pages, folder: Path) -> None:
    """The plan is as `duplicates --plan` writes it, but for what was decided; it is remembered on the page, too."""
    output("duplicates", "--overlap", "70", "--plan", folder / "own.tsv", "--store", folder / "store")
    pages.sent("/duplicates", 202, overlap=70)
    groups = waited(pages)["clusters"]
    proposed = pages.client.get("/duplicates/plan.tsv")
    (folder / "proposed.tsv").write_text(proposed.text, "utf-8")
    rows = [(number, member) for number, group in enumerate(groups) for member in range(len(group["members"]))]
    form = {f"row-{number}-{member}": "keep" for number, member in rows}
    moved = pages.client.post("/duplicates/decide", data=form, headers=BROWSER)
    (folder / "plan.tsv").write_text(pages.client.get("/duplicates/plan.tsv").text, "utf-8")
    plan = read_plan(folder / "plan.tsv")

    assert "attachment" in proposed.headers["content-disposition"]
    assert read_plan(folder / "own.tsv") == read_plan(folder / "proposed.tsv")
    assert (303, "/duplicates") == (moved.status_code, moved.headers["location"])
    assert {"keep"} == {row.action for row in plan}
    assert {"drop", "decide"} <= {row.action for row in read_plan(folder / "own.tsv")}
    assert pages.html("/duplicates").count('value="keep" checked') == len(rows)
    assert "To keep another one of a group in place of the first, change the plan" in pages.html("/duplicates")


def test_a_plan_of_the_pages_can_be_applied(pages: Pages, folder: Path) -> None:
    """By the command line, as any other."""
    pages.sent("/duplicates", 202)
    waited(pages)
    (folder / "plan.tsv").write_text(pages.client.get("/duplicates/plan.tsv").text, "utf-8")
    command = ["apply", folder / "plan.tsv", "--move-to", folder / "gone", "--store", folder / "store"]

    output(*command)

    assert 2 == len([path for path in (folder / "gone").rglob("*.txt") if path.is_file()])


def test_a_file_that_changed_is_not_dropped_whatever_is_decided(pages: Pages, folder: Path) -> None:
    """What it was when it was found is not known any more."""
    pages.sent("/duplicates", 202)
    groups = waited(pages)["clusters"]
    changed = groups[0]["members"][0]
    (folder / "corpus" / changed).write_text("something else")
    pages.sent("/duplicates/decide", 202, **{"row-0-0": "drop"})
    (folder / "plan.tsv").write_text(pages.client.get("/duplicates/plan.tsv").text, "utf-8")

    assert ["decide"] == [row.action for row in read_plan(folder / "plan.tsv") if row.place.id == changed]


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"row-99-0": "keep"}, "is no row"),
        ({"row-0-99": "keep"}, "is no row"),
        ({"row-": "keep"}, "is no row"),
        ({"row-0-0-0": "keep"}, "is no row"),
        ({"row-٣-0": "keep"}, "is no row"),
        ({"row-0-0": "explode"}, "must be keep, drop or decide"),
    ],
)
def test_what_is_no_decision_is_refused(pages: Pages, values: dict[str, str], said: str) -> None:
    """And nothing of it is noted."""
    pages.sent("/duplicates", 202)
    waited(pages)

    assert said in pages.sent("/duplicates/decide", 400, **values)["error"]
    assert {} == pages.collection.finding.found.decided  # type: ignore[union-attr]


def test_what_cannot_be_searched_is_said(pages: Pages) -> None:
    """At once, or when the search has ended."""
    assert "over 100" in pages.sent("/duplicates", 400, overlap=200)["error"]

    pages.sent("/duplicates", 202, keep="odd")
    assert "odd" in waited(pages)["problem"]
    assert "odd" in pages.html("/duplicates")


def test_there_is_one_search_at_a_time_and_it_can_be_stopped(over: Callable[..., Pages]) -> None:
    """Another one is refused while it runs, and its page says how far it is."""
    busy = over({f"d{number}": words(number, number + 400) for number in range(250)})
    busy.sent("/duplicates", 202, overlap=1)
    running = busy.client.get("/duplicates", headers=BROWSER)
    refused = busy.client.post("/duplicates.json", json={})
    stopped = busy.sent("/duplicates/stop", 202)

    assert "2" == running.headers["refresh"]
    assert "<progress" in running.text
    assert (400, True) == (refused.status_code, "is running" in refused.text)
    assert "stopping" == stopped["state"]
    assert "the search was stopped" == waited(busy)["problem"]


def test_a_search_ends_with_the_server(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a traceback, though the store is closed under it."""
    begun, ended = threading.Event(), threading.Event()
    read = LocalStore.scan

    def slowly(self: LocalStore, **options: Any) -> Iterator[Record]:
        begun.set()
        ended.wait(60)
        return read(self, **options)

    monkeypatch.setattr(LocalStore, "scan", slowly)
    with pages_over(folder / "store") as pages:
        pages.sent("/duplicates", 202)
        begun.wait(60)
    ended.set()
    wait_until(lambda: pages.collection.finding.state is None)

    assert "the search was stopped" == pages.collection.finding.problem
