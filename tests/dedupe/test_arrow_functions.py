"""The Arrow functions find the duplicates that `deduplicate` finds."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from simdoc_search.dedupe import DedupeOptions
from simdoc_search.dedupe.arrow_functions import sketch_rows
from simdoc_search.dedupe.arrow_pairs import pair_equal_keys
from tests.support.arrow_dedupe import dedupe_with_arrow, expected_duplicates, make_template_rows
from tests.support.datasets import make_rows


@pytest.mark.parametrize(
    ("words", "options"),
    [
        (8, {"keep": "max:score"}),
        (40, {"keep": "min:tags"}),
        (80, {}),
        (80, {"overlap": 0.5}),
        (300, {"measure": "containment"}),
    ],
    ids=str,
)
def test_the_same_duplicates_as_deduplicate(words: int, options: dict[str, Any]) -> None:
    table = pa.Table.from_pylist(make_rows(240, words, words))
    chosen = DedupeOptions(text="text", **options)
    found = dedupe_with_arrow(table, chosen)

    assert 40 < len(found)
    assert expected_duplicates(table, chosen) == found


@pytest.mark.parametrize("changed_words", [1, 4])
def test_rows_of_one_template(changed_words: int) -> None:
    table = pa.Table.from_pylist(make_template_rows(60, changed_words=changed_words))
    options = DedupeOptions(text="text")

    assert expected_duplicates(table, options) == dedupe_with_arrow(table, options)


def test_rows_without_words_have_no_sketch() -> None:
    sketches = sketch_rows(pa.RecordBatch.from_pydict({"text": ["a b", None, "", "..."]}), DedupeOptions(text="text"))

    assert [True, False, False, False] == sketches.column("words").is_valid().to_pylist()


def make_entries(keys: list[int]) -> pa.RecordBatch:
    ranks = [bytes([number // 200, number % 200]) for number in range(len(keys))]
    return pa.RecordBatch.from_arrays([pa.array(keys, pa.int64()), pa.array(ranks, pa.binary())], ["key", "rank"])


def read_pairs(
    batches: list[pa.RecordBatch], *, only_across_datasets: bool = False
) -> tuple[set[tuple[bytes, bytes]], set[bytes]]:
    rows = [
        row
        for batch in pair_equal_keys(batches, only_across_datasets=only_across_datasets)
        for row in batch.to_pylist()
    ]
    partly = {row["first"] for row in rows if row["second"] is None}
    return {(row["first"], row["second"]) for row in rows if row["second"] is not None}, partly


@pytest.mark.parametrize("size", [1, 10])
@pytest.mark.parametrize("only_across_datasets", [False, True])
def test_pairs_do_not_depend_on_the_batches(size: int, only_across_datasets: bool) -> None:
    entries = make_entries([1, 1, 2, 3, 3, 3, *[4] * 150, 5, *[6] * 64, *[7] * 130, 8, 8])
    batches = [entries.slice(begin, size) for begin in range(0, len(entries), size)]

    assert read_pairs([entries], only_across_datasets=only_across_datasets) == read_pairs(
        batches, only_across_datasets=only_across_datasets
    )


def test_a_frequent_key_pairs_each_row_with_two_rows() -> None:
    entries = make_entries([1] * 150)
    pairs, partly = read_pairs([entries])

    assert set(entries.column("rank").to_pylist()) == partly
    assert len(pairs) < 2 * 150
    assert {(b"\0\0", rank) for rank in entries.column("rank").to_pylist()[1:]} <= pairs


def test_a_frequent_key_across_two_sides_pairs_each_right_row_with_many_left_rows() -> None:
    entries = make_entries([1] * 300)  # 200 left rows and 100 right ones
    pairs, partly = read_pairs([entries], only_across_datasets=True)

    assert 64 * 100 == len(pairs)
    assert 200 - 64 == len(partly)
    assert {(0, 1)} == {(first[0], second[0]) for first, second in pairs}
