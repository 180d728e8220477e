"""Documents are read into arrays, in keep order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from simdoc_search.documents import DocumentKey
from simdoc_search.duplicates.clusters import find_copies
from simdoc_search.duplicates.document_arrays import Documents
from simdoc_search.duplicates.keep_order import KeepRule
from simdoc_search.duplicates.paths import is_within
from simdoc_search.sketch.settings import Settings
from simdoc_search.sketch.tokens import HASH_BITS
from simdoc_search.stores.record import Origin, Record
from tests.support.stores import record


def collect(records: Iterable[Record], keep: str = "first", **options: int) -> Documents:
    return Documents(records, Settings(), KeepRule(keep), **options)  # type: ignore[arg-type]


def ids(documents: Documents) -> list[str]:
    return [documents.id(number) for number in range(len(documents))]


@pytest.mark.parametrize("max_token_bytes", [1 << 20, 0])
def test_documents_are_numbered_in_keep_order(max_token_bytes: int) -> None:
    """Their tokens are in memory or in a temporary file."""
    records = [record("b", range(3)), record("a é\ud800", range(5, 9)), record("c", [1])]
    made = collect(records, max_token_bytes=max_token_bytes)

    assert ["a é\ud800", "b", "c"] == ids(made)
    assert [[5, 6, 7, 8], [0, 1, 2], [1]] == [
        (made.table.token_ids_of_documents(np.array([number]))[0] >> HASH_BITS).tolist() for number in range(3)
    ]
    assert [1, 0, 2] == [made.input_position(number) for number in range(3)]
    assert (max_token_bytes == 0) == isinstance(made.table.token_ids, np.memmap)


def test_labels_are_equal_where_hashes_are() -> None:
    """An unknown hash differs from every other hash."""
    hashes = [("1", "1"), ("2", "1"), ("", ""), ("", ""), ("1", "1")]
    made = collect(
        replace(record(id), text_hash=text, words_hash=words) for id, (text, words) in zip("abcde", hashes, strict=True)
    )

    assert [True, False, False, False, True] == (made.text_labels == made.text_labels[0]).tolist()
    assert [True, True, False, False, True] == (made.same_words_labels == made.same_words_labels[0]).tolist()
    assert 4 == len(set(made.text_labels.tolist()))


def test_a_document_whose_text_changed_no_longer_has_the_same_words_as_others() -> None:
    made = collect(replace(record(id), words_hash=words) for id, words in zip("abcde", "12132", strict=True))
    before = find_copies(made.same_words_labels, 0).tolist()
    made.leave_out_changed(0)

    assert [0, 1, 2, 4] == before
    assert [1, 4] == find_copies(made.same_words_labels, 0).tolist()
    assert {DocumentKey("a"): "changed after indexing"} == made.left_out


def test_the_key_and_the_file_of_a_document_are_returned(tmp_path: Path) -> None:
    (tmp_path / "a.txt").touch()
    below = replace(record("x/a.txt"), origin=Origin(str(tmp_path), 7, 99, "x/"))
    itself = replace(record("a.txt"), origin=Origin(str(tmp_path / "a.txt"), 7, 99))
    made = collect([below, itself, replace(record("z"), index="i", routing="r")])

    assert [DocumentKey("a.txt"), DocumentKey("x/a.txt"), DocumentKey("z", "i", "r")] == [
        made.key(number) for number in range(3)
    ]
    file = str(tmp_path / "a.txt"), 7, 99
    assert [file, file, (None, -1, 0)] == [
        (made.path(number), int(made.file_sizes[number]), int(made.mtimes[number])) for number in range(3)
    ]


def test_documents_that_cannot_be_compared_are_left_out_with_the_reason(tmp_path: Path) -> None:
    bare = replace(record("bare"), token_ids=np.zeros(0, np.uint32), text_hash="")
    blank = replace(record("blank"), token_ids=np.zeros(0, np.uint32), text_hash="9")
    broken = replace(record("broken"), fault="has repeated tokens")
    gone = replace(record("gone.txt"), origin=Origin(str(tmp_path), 1, 1))
    made = collect([bare, blank, broken, gone, record("fine")])

    assert ["fine"] == ids(made)
    assert {
        DocumentKey("bare"): "has no fingerprint",
        DocumentKey("blank"): "has no words",
        DocumentKey("broken"): "has repeated tokens",
        DocumentKey("gone.txt"): "the file is gone",
    } == made.left_out
    assert {str(tmp_path): 1} == made.missing_files


def test_a_folder_whose_name_is_only_a_prefix_does_not_contain_the_file(tmp_path: Path) -> None:
    names = ["in/a.txt", "in/deep/b.txt", "inner/c.txt"]
    records = [replace(record(name), origin=Origin(str(tmp_path), 1, 1)) for name in names]

    all_records = (*records, record("row"))
    assert [True, True, False, False] == [is_within(each, [str(tmp_path / "in")]) for each in all_records]


def test_an_unknown_number_of_shingles_is_estimated_from_the_buckets() -> None:
    """400 of 512 buckets give 512 * ln(512 / 112) shingles. There are never fewer shingles than tokens."""
    records = [replace(record("a", range(400)), shingle_count=0), replace(record("b", range(8)), shingle_count=3)]

    assert [779, 8] == collect(records).table.shingle_counts.tolist()


def test_the_metadata_field_of_a_rule_orders_documents() -> None:
    records = [record("a", year=1), record("b", year=2)]

    assert (["b", "a"], True) == (ids(made := collect(records, "max:year")), made.has_field)
    assert not collect(records, "max:month").has_field
