"""Documents in arrays: nothing of a record is lost, wherever it is held, and what cannot be compared is named."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from simdoc_search.documents import Place
from simdoc_search.duplicates.collection import Documents, collect
from simdoc_search.duplicates.keep_order import Keep
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.record import Origin, Record
from tests.support.stores import record


def collected(records: Iterable[Record], keep: str = "first", **options: object) -> Documents:
    return collect(records, Settings(), Keep(keep), **options)  # type: ignore[arg-type] # given on


def labels(numbers: Iterable[int]) -> list[int]:
    """Equal numbers stay equal, counted from 0."""
    seen: dict[int, int] = {}
    return [seen.setdefault(each, len(seen)) for each in numbers]


@pytest.mark.parametrize("token_bytes", [1 << 20, 0])
def test_documents_are_numbered_in_the_order_of_the_rule(token_bytes: int) -> None:
    """With their tokens, in memory or in a file."""
    some = [record("b", range(3)), record("a é\ud800", range(5, 9)), record("c", [1])]
    made = collected(some, token_bytes=token_bytes)

    assert ["a é\ud800", "b", "c"] == [made.id(each) for each in range(len(made))]
    assert [[5, 6, 7, 8], [0, 1, 2], [1]] == [
        made.table.tokens_of(np.array([each]))[0].tolist() for each in range(len(made))
    ]
    assert [1, 0, 2] == [made.came_as(each) for each in range(len(made))]
    assert (token_bytes == 0) == isinstance(made.table.codes, np.memmap)


def test_texts_and_words_are_equal_where_their_hashes_are() -> None:
    """One that is not known is equal to none."""
    some = [
        replace(record("a"), text_hash="1", words_hash="1"),
        replace(record("b"), text_hash="2", words_hash="1"),
        replace(record("c"), text_hash="", words_hash=""),
        replace(record("d"), text_hash="", words_hash=""),
        replace(record("e"), text_hash="1", words_hash="1"),
    ]
    made = collected(some)

    assert [0, 1, 2, 3, 0] == labels(made.texts.tolist())
    assert [0, 0, 1, 2, 0] == labels(made.words.tolist())


def test_documents_without_words_are_left_out() -> None:
    """Folders, pictures and blank pages are no copies of one another, and marks would hide all but one of them."""
    none = np.zeros(0, np.uint32)
    made = collected([record("a"), *(replace(record(id), codes=none, text_hash="9") for id in "bc")])

    assert (1, dict.fromkeys([Place("b"), Place("c")], "has no words")) == (len(made), made.left_out)


def test_where_documents_are_is_kept(tmp_path: Path) -> None:
    """Index and routing in an engine; file, size and date of what was read from one."""
    (tmp_path / "a.txt").touch()
    file = replace(record("x/a.txt"), origin=Origin(str(tmp_path), 7, 99, "x/"))
    made = collected([file, replace(record("z"), index="i", routing="r"), record("y")])

    assert [Place("x/a.txt"), Place("y"), Place("z", "i", "r")] == [made.place(each) for each in range(3)]
    assert [(str(tmp_path / "a.txt"), 7, 99), (None, -1, 0), (None, -1, 0)] == [
        (made.path(each), int(made.sizes[each]), int(made.changed[each])) for each in range(3)
    ]


def test_a_file_that_was_named_itself_is_its_own_path(tmp_path: Path) -> None:
    """Its root is the file."""
    (tmp_path / "a.txt").touch()
    made = collected([replace(record("a.txt"), origin=Origin(str(tmp_path / "a.txt"), 7, 99))])

    assert str(tmp_path / "a.txt") == made.path(0)


def test_what_cannot_be_compared_is_left_out_with_the_reason() -> None:
    """A fault of others, or no fingerprint; the rest is compared."""
    bare = replace(record("bare"), codes=np.zeros(0, np.uint32), text_hash="", words_hash="")
    made = collected([bare, replace(record("broken"), fault="has tokens that are there twice"), record("fine")])

    assert {Place("bare"): "has no fingerprint", Place("broken"): "has tokens that are there twice"} == made.left_out
    assert ["fine"] == [made.id(each) for each in range(len(made))]


def test_only_files_that_are_still_in_a_folder_are_taken(tmp_path: Path) -> None:
    """Not those of a folder whose name begins alike, none that are gone, and nothing without a file."""
    for name in ("in/a.txt", "in/deep/b.txt", "inner/c.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    names = ["in/a.txt", "in/deep/b.txt", "in/gone.txt", "inner/c.txt"]
    some = [replace(record(each), origin=Origin(str(tmp_path), 1, 1)) for each in names]
    made = collected([*some, record("row")], within=[str(tmp_path / "in")])

    assert ["in/a.txt", "in/deep/b.txt"] == [made.id(each) for each in range(len(made))]
    assert {Place("in/gone.txt"): "its file is gone"} == made.left_out


def test_an_unknown_number_of_shingles_is_what_fills_as_many_buckets() -> None:
    """400 of 512 buckets: 512 * ln(512 / 112); and never fewer than the tokens."""
    some = [replace(record("a", range(400)), shingles=0), replace(record("b", range(8)), shingles=3)]

    assert [779, 8] == collected(some).table.shingles.tolist()


def test_reading_is_told() -> None:
    """All documents, in the end."""
    read: list[int] = []
    collected((record(str(each)) for each in range(300)), progress=read.append)

    assert 300 == sum(read)
    assert 1 < len(read)


def test_a_field_that_decides_is_read() -> None:
    """And only if it does."""
    some = [record("a", year=1), record("b", year=2)]

    assert ["b", "a"] == [(made := collected(some, "max:year")).id(each) for each in range(2)]
    assert made.has_field
    assert not collected(some, "max:month").has_field
