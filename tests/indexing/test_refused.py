"""A refused write or deletion is not counted, is listed with its reason, and fails the run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from simdoc_search import Document, SimilaritySearch, open_store
from simdoc_search.corpus import read_corpus
from simdoc_search.errors import StoreError, WriteRefusedError
from simdoc_search.stores.base import Store
from tests.support.cli import run, write
from tests.support.engines import call, own_name


@pytest.fixture
def place(opensearch_url: str) -> Iterator[str]:
    """The URL of a store in an engine."""
    url = f"{opensearch_url}/{own_name()}"
    with ExitStack() as after:
        after.callback(call, opensearch_url, "DELETE", f"/{url.rpartition('/')[2]}?ignore_unavailable=true")
        yield url


@pytest.fixture
def store(place: str) -> Iterator[Store]:
    """The store at that URL."""
    with ExitStack() as after:
        opened = open_store(place, create=True)
        after.callback(opened.close)
        yield opened


@contextmanager
def blocked(place: str) -> Iterator[None]:
    """Block writes to the index during the block."""
    url, _, index = place.rpartition("/")
    call(url, "PUT", f"/{index}/_settings", {"index.blocks.write": True})
    try:
        yield
    finally:
        call(url, "PUT", f"/{index}/_settings", {"index.blocks.write": False})


def ids(store: Store) -> list[str]:
    return sorted(record.id for record in store.scan())


# --- the library ---


def test_a_refused_deletion_is_an_error_that_names_the_documents(place: str, store: Store) -> None:
    search = SimilaritySearch(store)
    search.index([Document("a", "text a"), Document("b", "text b")])
    with blocked(place), pytest.raises(WriteRefusedError, match="2 of 2") as raised:
        search.delete(["a", "b"])

    assert isinstance(raised.value, StoreError)
    assert ({"a", "b"}, 0) == (set(raised.value.reasons_by_id), raised.value.accepted_count)
    assert "index.blocks.write" in raised.value.reasons_by_id["a"]
    assert ["a", "b"] == ids(store)
    assert 2 == search.delete(["a", "b"])


def test_refused_documents_are_listed_apart_from_skipped_ones(place: str, store: Store) -> None:
    search = SimilaritySearch(store)
    search.index([Document("a", "text a")])
    with blocked(place):
        report = search.index([Document("a", "another"), Document("b", "new"), Document("c", "...")])

    assert (0, 0, 0, 0) == (report.added_count, report.replaced_count, report.deleted_count, report.unchanged_count)
    assert ({"a", "b"}, ["c"], True) == (
        set(report.refused),
        [skipped.path for skipped in report.skipped],
        report.has_failed,
    )
    assert ["a"] == ids(store)


def test_a_refused_removal_is_not_counted_as_deleted(place: str, store: Store, tmp_path: Path) -> None:
    folder = write(tmp_path / "folder", {"gone.txt": "text a", "empty.txt": "text b", "kept.txt": "text c"})
    search = SimilaritySearch(store)
    search.index(read_corpus([folder]))
    (folder / "gone.txt").unlink()
    write(folder, {"empty.txt": "... ... ..."})
    with blocked(place):
        report = search.index(read_corpus([folder]), prune=True)

    assert (0, 1, {"gone.txt", "empty.txt"}) == (report.deleted_count, report.unchanged_count, set(report.refused))
    assert ["empty.txt", "gone.txt", "kept.txt"] == ids(store)


# --- the commands ---


def test_the_delete_command_fails_if_the_store_refuses(place: str, store: Store) -> None:
    SimilaritySearch(store).index([Document("a", "text a"), Document("b", "text b")])
    with blocked(place):
        shown, machine = run("delete", "a", "--store", place), run("delete", "a", "b", "--store", place, "--json")

    assert (1, "0 documents deleted, 1 refused\n") == (shown.exit_code, shown.stdout)
    assert shown.stderr.startswith("  a: the index test-")
    assert (1, 0) == (machine.exit_code, json.loads(machine.stdout)["deleted_count"])
    assert ["a", "b"] == [refused["id"] for refused in json.loads(machine.stdout)["refused"]]
    assert all("index.blocks.write" in refused["reason"] for refused in json.loads(machine.stdout)["refused"])


@pytest.mark.parametrize("all_of_them", [True, False])
def test_the_index_command_fails_if_the_store_refuses(
    place: str, store: Store, tmp_path: Path, all_of_them: bool
) -> None:
    folder = write(tmp_path / "folder", {"a.txt": "text a", "b.txt": "text b"})
    if not all_of_them:
        SimilaritySearch(store).index(read_corpus([folder]))
        write(folder, {"b.txt": "another text b"})
    with blocked(place):
        shown, machine = run("index", folder, "--store", place), run("index", folder, "--store", place, "--json")
    count = 2 if all_of_them else 1

    assert (1, f"0 indexed, {2 - count} unchanged, {count} refused") == (shown.exit_code, shown.stdout.split(" in ")[0])
    assert "  b.txt: the index test-" in shown.stderr
    assert (1, count) == (machine.exit_code, len(json.loads(machine.stdout)["refused"]))
