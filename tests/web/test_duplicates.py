"""The search for duplicates: its groups, the user's decisions, and the plan."""

from __future__ import annotations

import threading
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


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A corpus with copies, and its store."""
    write_corpus(tmp_path / "corpus")
    write(tmp_path / "corpus", {"again.txt": words(9000, 9200), "near.txt": words(9000, 9190) + " end"})
    output("index", tmp_path / "corpus", "--store", tmp_path / "store")
    return tmp_path


@pytest.fixture
def pages(folder: Path) -> Iterator[Pages]:
    """A server over this store."""
    with pages_over(folder / "store") as running:
        yield running


def found_groups(pages: Pages, **values: Any) -> list[Any]:
    """The groups of a new search."""
    assert "running" == pages.sent("/duplicates", 202, **values)["state"]
    return list(pages.finished("/duplicates")["groups"])


def saved_plan(pages: Pages, folder: Path) -> Path:
    """The downloaded plan."""
    response = pages.client.get("/duplicates/plan.tsv")
    assert "attachment" in response.headers["content-disposition"]
    (folder / "plan.tsv").write_text(response.text, "utf-8")
    return folder / "plan.tsv"


def test_the_groups_are_those_of_the_command_line(pages: Pages, folder: Path) -> None:
    """The groups come in parts, without the paths of files."""
    expected = answer("duplicates", "--overlap", "70", "--keep", "first", "--store", folder / "store")
    for cluster in expected["groups"]:
        for document in (cluster["kept"], *cluster["duplicates"]):
            document["path"] = None
    del expected["pairs"], expected["problems"]

    assert "none" == pages.json("/duplicates")["state"]
    groups = found_groups(pages, overlap=70, keep="first")
    assert {"state": "done", "next": None, **expected} == pages.json("/duplicates")
    first, second = pages.json("/duplicates", limit=1), pages.json("/duplicates", limit=1, start=1)
    assert 2 == len(groups)
    assert (groups, [1, None]) == (first["groups"] + second["groups"], [first["next"], second["next"]])
    assert [] == pages.json("/duplicates", start=10**8)["groups"]


def test_the_plan_is_that_of_the_command_line_with_the_decisions(pages: Pages, folder: Path) -> None:
    """The page remembers the decisions."""
    output("duplicates", "--overlap", "70", "--plan", folder / "own.tsv", "--store", folder / "store")
    groups = found_groups(pages, overlap=70)
    proposed = read_plan(saved_plan(pages, folder))
    rows = [(number, member) for number, group in enumerate(groups) for member in range(len(group["duplicate_ids"]))]
    form = {f"row-{number}-{member}": "keep" for number, member in rows}
    moved = pages.client.post("/duplicates/decide", data=form, headers=BROWSER)
    decided = read_plan(saved_plan(pages, folder))

    assert read_plan(folder / "own.tsv") == proposed
    assert {"drop", "decide"} <= {row.action for row in proposed}
    assert (303, "/duplicates") == (moved.status_code, moved.headers["location"])
    assert {"keep"} == {row.action for row in decided}
    assert pages.html("/duplicates").count('value="keep" checked') == len(rows)


def test_apply_carries_out_the_plan(pages: Pages, folder: Path) -> None:
    """`apply` moves both exact copies."""
    found_groups(pages)
    output("apply", saved_plan(pages, folder), "--move-to", folder / "gone", "--store", folder / "store")

    assert 2 == len([path for path in (folder / "gone").rglob("*.txt") if path.is_file()])


def test_a_file_that_changed_after_the_search_is_not_dropped(pages: Pages, folder: Path) -> None:
    """A decision to drop the file does not count."""
    changed = found_groups(pages)[0]["duplicate_ids"][0]
    (folder / "corpus" / changed).write_text("something else")
    pages.sent("/duplicates/decide", 202, **{"row-0-0": "drop"})

    assert ["decide"] == [row.action for row in read_plan(saved_plan(pages, folder)) if row.key.id == changed]


def test_a_malformed_decision_is_refused(pages: Pages) -> None:
    """No other decision of the same request is saved."""
    found_groups(pages)
    for name in ("row-99-0", "row-0-99", "row-", "row-0-0-0", "row-٣-0"):
        assert "there is no row" in pages.sent("/duplicates/decide", 400, **{"row-0-0": "keep", name: "keep"})["error"]
    problem = pages.sent("/duplicates/decide", 400, **{"row-0-0": "explode"})["error"]

    assert "must be keep, drop or decide" in problem
    assert {} == pages.served.duplicates.result.decisions  # type: ignore[union-attr]


def test_a_wrong_option_is_reported(pages: Pages) -> None:
    """Some options are checked at once, others in the search."""
    assert "over 100" in pages.sent("/duplicates", 400, overlap=200)["error"]

    pages.sent("/duplicates", 202, keep="odd")
    assert "odd" in pages.finished("/duplicates")["problem"]
    assert "odd" in pages.html("/duplicates")


def test_there_is_one_search_at_a_time_and_it_can_be_stopped(over: Callable[..., Pages]) -> None:
    """The page shows the progress."""
    busy = over({f"d{number}": words(number, number + 400) for number in range(250)})
    busy.sent("/duplicates", 202, overlap=1)
    running = busy.client.get("/duplicates", headers=BROWSER)
    refused = busy.client.post("/duplicates.json", json={})
    stopped = busy.sent("/duplicates/stop", 202)

    assert "2" == running.headers["refresh"]
    assert "<progress" in running.text
    assert (400, True) == (refused.status_code, "is already running" in refused.text)
    assert "stopping" == stopped["state"]
    assert "the search was stopped" == busy.finished("/duplicates")["problem"]


def test_a_search_ends_with_the_server(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The search does not fail with a traceback, although the store is closed."""
    begun, ended = threading.Event(), threading.Event()
    scan = LocalStore.scan

    def scan_slowly(self: LocalStore, **options: Any) -> Iterator[Record]:
        begun.set()
        ended.wait(60)
        return scan(self, **options)

    monkeypatch.setattr(LocalStore, "scan", scan_slowly)
    with pages_over(folder / "store") as pages:
        pages.sent("/duplicates", 202)
        begun.wait(60)
    ended.set()
    wait_until(lambda: pages.served.duplicates.state is None)

    assert "the search was stopped" == pages.served.duplicates.problem
