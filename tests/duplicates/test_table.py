"""Fingerprints of many documents in arrays: the same counts as one by one, whatever the form they are held in."""

from __future__ import annotations

import numpy as np
import pytest

from simdoc_search.duplicates import table as module
from simdoc_search.duplicates.table import distinct
from simdoc_search.sketch.estimate import shared_and_union
from tests.support.fingerprints import BITS, pair, shingles, table


@pytest.mark.parametrize("whole_board", [True, False])
def test_pairs_are_counted_as_one_by_one(whole_board: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Equal tokens and the union of buckets are those of `shared_and_union`, with one board for all or for some."""
    monkeypatch.setattr(module, "_WHOLE_BOARD", 1 << 20 if whole_board else 0)
    monkeypatch.setattr(module, "_PAIRS_AT_ONCE", 7)
    rng = np.random.default_rng(1)
    sets = [each for size in (1, 3, 40, 900) for overlap in (0.0, 0.4, 1.0) for each in pair(rng, size + 1, overlap)]
    sets = [each for each in sets if len(each)]
    made = table(sets)
    first, second = np.triu_indices(len(sets), 1)
    shared, union = made.shared_and_union(first, second)
    alone = [made.tokens_of(np.array([each]))[0] for each in range(len(sets))]

    assert [shared_and_union(alone[a], alone[b], BITS) for a, b in zip(first, second, strict=True)] == list(
        zip(shared.tolist(), union.tolist(), strict=True)
    )


def test_windows_of_equal_fingerprints_are_equal_and_of_others_are_not() -> None:
    """Each band of two equal documents has one key, that of a third another one."""
    rng = np.random.default_rng(2)
    one, other = shingles(rng, 300), shingles(rng, 300)
    keys = list(table([one, one, other]).windows(np.arange(3), 3, 20))

    assert 20 == len(keys)
    assert all(a == b != c for a, b, c in keys)


def test_a_window_goes_on_with_the_first_tokens_after_the_last() -> None:
    """A document of two tokens has windows of three: each token, and the first one again."""
    rng = np.random.default_rng(3)
    few = shingles(rng, 2)
    keys = [int(each[0]) for each in table([few]).windows(np.arange(1), 3, 8)]

    assert 2 == len(set(keys))


def test_tokens_of_some_documents_come_in_their_order() -> None:
    """One document after the other, each with the number of its place."""
    made = table([np.array([1 << 54], np.uint64), np.array([2 << 54, 3 << 54], np.uint64)])
    tokens, owner = made.tokens_of(np.array([1, 0]))

    assert [2, 3, 1] == [int(each) >> BITS for each in tokens]
    assert [0, 0, 1] == owner.tolist()


def test_distinct_sorts_and_drops_repeats() -> None:
    """Also of nothing."""
    assert [1, 3] == distinct(np.array([3, 1, 3])).tolist()
    assert [] == distinct(np.zeros(0, np.int64)).tolist()
