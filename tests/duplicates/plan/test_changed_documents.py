"""A document of an application is removed only if it and the kept one are as they were when the plan was written."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from simdoc_search import SimilaritySearch, open_store
from simdoc_search.duplicates.plan import apply_plan, read_plan, write_plan
from simdoc_search.stores.remote import updates
from tests.support.cli import output, run, words
from tests.support.engines import call
from tests.support.http_server import TempIndices, indices

TEXT, OTHER_TEXT = words(0, 60), words(100, 160)
UNUSUAL: dict[str, Any] = {
    "empty": [],
    "object": {},
    "null": None,
    "lists": [[], [{}], [1.50, 1e5, None]],
    "long": 12345678901234567890,
}
SOURCE = {"title": "Regatta", "tags": ["sport"], "text": TEXT, "unusual": UNUSUAL}
MAPPINGS = {
    "properties": {
        "title": {"type": "text"},
        "tags": {"type": "keyword"},
        "text": {"type": "text"},
        "unusual": {"type": "object", "enabled": False},
    }
}

CHANGED = "the document has changed since the plan was written"
CHANGES: list[dict[str, Any]] = [
    {"text": OTHER_TEXT},
    {"title": "Regatta 2026"},
    {"tags": ["sport", "featured"]},
    {"unusual": {"empty": [0]}},
]


@pytest.fixture
def created(opensearch_url: str) -> Iterator[TempIndices]:
    """Creates indices, and deletes them after the test."""
    with indices(opensearch_url) as new:
        yield new


class Application:
    """An application with an index whose documents have fingerprints. `url` is its store."""

    def __init__(self, created: TempIndices, **sources: dict[str, Any]) -> None:
        self.engine, self.index = created.engine, created.make(MAPPINGS, {"refresh_interval": "-1"})
        self.url = f"{self.engine}/{self.index}"
        for id, source in sources.items():
            created.put(self.index, id, source)
        output("backfill", self.url, "--text-field", "text")

    def update(self, id: str, fields: dict[str, Any], refresh: str = "true") -> None:
        """Change fields of a document, but not its fingerprint."""
        call(self.engine, "POST", f"/{self.index}/_update/{id}?refresh={refresh}", {"doc": fields})

    def ids(self) -> list[str]:
        """Return the ids of all documents."""
        call(self.engine, "POST", f"/{self.index}/_refresh")
        hits = call(self.engine, "GET", f"/{self.index}/_search?_source=false")["hits"]["hits"]
        return sorted(hit["_id"] for hit in hits)

    def left_alone(self, plan: Path) -> list[str]:
        """Apply a plan, and return the lines about documents that were left alone. A dry run must say the same."""
        command = ("apply", plan, "--delete", "--store", self.url)
        dry, real = (
            [line for line in run(*command, option).stderr.splitlines() if line.startswith("left alone: ")]
            for option in ("--dry-run", "--yes")
        )
        assert dry == real
        return real


@pytest.mark.parametrize("refresh", ["true", "false"])
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("id", ["a", "b"])
def test_a_pair_with_a_changed_document_is_left_alone(
    created: TempIndices, tmp_path: Path, id: str, change: dict[str, Any], refresh: str
) -> None:
    """The change is noticed even if the fingerprint was not renewed, and if searches do not show it yet."""
    app, plan = Application(created, a=SOURCE, b=SOURCE), tmp_path / "plan.tsv"
    output("duplicates", "--store", app.url, "--plan", plan)
    assert ["keep", "drop"] == [row.action for row in read_plan(plan)]
    app.update(id, change, refresh)

    kept = f"{app.index}/a should be kept instead, but " if id == "a" else ""
    assert [f"left alone: {app.index}/b: {kept}{CHANGED}"] == app.left_alone(plan)
    assert ["a", "b"] == app.ids()


def test_unchanged_documents_are_removed_whatever_happens_to_their_fingerprints(
    created: TempIndices, tmp_path: Path
) -> None:
    app, plan = Application(created, a=SOURCE, b=SOURCE, c=SOURCE), tmp_path / "plan.tsv"
    output("duplicates", "--store", app.url, "--plan", plan)
    output("duplicates", "--store", app.url, "--mark")
    output("backfill", app.url, "--stale", "--force")

    assert [] == app.left_alone(plan)
    assert ["a"] == app.ids()


def test_a_document_that_the_user_drops_must_be_unchanged_too(created: TempIndices, tmp_path: Path) -> None:
    """The documents have the same words, so the plan proposes no action."""
    sources = {id: {**SOURCE, "title": id, "text": text} for id, text in {"a": TEXT, "b": TEXT.upper()}.items()}
    app, plan = Application(created, **sources), tmp_path / "plan.tsv"
    output("duplicates", "--store", app.url, "--plan", plan)
    plan.write_text(plan.read_text().replace("\ndecide\t", "\ndrop\t"))
    app.update("b", {"title": "changed"})

    assert [f"left alone: {app.index}/b: {CHANGED}"] == app.left_alone(plan)
    app.update("b", {"title": "b"})
    assert [] == app.left_alone(plan)
    assert ["a"] == app.ids()


@pytest.mark.parametrize("id", ["a", "b"])
@pytest.mark.parametrize(
    ("change", "note"),
    [
        ({"title": "Regatta 2026"}, "the content of the document has changed"),
        ({"text": OTHER_TEXT}, "the text has changed since it was compared"),
        ({"text": None}, "the content of the document has changed"),
    ],
)
def test_a_plan_drops_no_document_that_changed_after_the_comparison(
    created: TempIndices, tmp_path: Path, id: str, change: dict[str, Any], note: str
) -> None:
    app = Application(created, a=SOURCE, b=SOURCE)
    store = open_store(app.url)
    found = SimilaritySearch(store).duplicates()
    app.update(id, change)
    write_plan(found, tmp_path / "plan.tsv", store)

    _, row = read_plan(tmp_path / "plan.tsv")
    assert "decide" == row.action
    assert note in row.note


@pytest.mark.parametrize("change", [{"text": OTHER_TEXT}, {"text": None}])
def test_the_option_drop_does_not_drop_a_document_for_one_whose_text_changed(
    created: TempIndices, tmp_path: Path, change: dict[str, Any]
) -> None:
    app = Application(created, a=SOURCE, b={**SOURCE, "title": "Another"})
    store = open_store(app.url)
    found = SimilaritySearch(store).duplicates(drop="same-words")
    assert 1 == found.drop_count
    app.update("a", change)
    write_plan(found, tmp_path / "plan.tsv", store)

    assert "decide" == read_plan(tmp_path / "plan.tsv")[1].action


def test_a_change_during_the_removal_is_not_lost(
    created: TempIndices, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The document is changed after the check, just before the request that deletes it."""
    app, plan = Application(created, a=SOURCE, b=SOURCE), tmp_path / "plan.tsv"
    output("duplicates", "--store", app.url, "--plan", plan)
    store = open_store(app.url)
    write_actions = updates._write_actions

    def update_and_write(*arguments: Any) -> Any:
        app.update("b", {"title": "Regatta 2026"})
        return write_actions(*arguments)

    monkeypatch.setattr(updates, "_write_actions", update_and_write)
    report = apply_plan(read_plan(plan), "delete", tmp_path / "undo", store=store)

    assert [(f"{app.index}/b", CHANGED, True)] == report.left_alone
    assert ["a", "b"] == app.ids()


def test_documents_behind_an_alias_with_routing_are_checked(created: TempIndices, tmp_path: Path) -> None:
    """Both indices have documents with the same ids."""
    mappings = {**MAPPINGS, "_routing": {"required": True}}
    names = [created.make(mappings) for _ in "12"]
    for number, name in enumerate(names):
        for id, routing in [("x", "one"), ("y", "two")]:
            created.put(name, id, {**SOURCE, "text": words(1000 * number, 1000 * number + 60)}, routing=routing)
    url, plan = f"{created.engine}/{created.alias(*names)}", tmp_path / "plan.tsv"
    output("backfill", url, "--text-field", "text")
    output("duplicates", "--store", url, "--plan", plan)
    dropped = [row for row in read_plan(plan) if row.action == "drop"]
    changed, unchanged = (row.key for row in dropped)
    place = f"/{changed.index}/_update/{changed.id}?refresh=true&routing={changed.routing}"
    call(created.engine, "POST", place, {"doc": {"title": "changed"}})

    result = run("apply", plan, "--delete", "--yes", "--store", url)
    assert 1 == result.stderr.count(CHANGED)
    assert f"deleted  {unchanged.index}/{unchanged.id} " in result.stdout
    assert "1 document removed from the index" in result.stdout
    assert f"run: simdoc-search duplicates --plan NEW --store {url}\n" in result.stderr
