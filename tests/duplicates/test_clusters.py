"""All duplicates of a group overlap its kept document. A set with equal words is compared as one document."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search.duplicates import clusters as module
from simdoc_search.duplicates.arrays import Bools, Ints, pair_keys
from simdoc_search.duplicates.clusters import UNASSIGNED, SameWordsSets, assign_duplicates, find_copies

Pairs = list[tuple[int, int]]


def assign(count: int, pairs: Pairs, overlapping: set[tuple[int, int]]) -> tuple[list[int], Pairs]:
    """Return the kept document of each document, and the pairs that were compared."""
    ordered = sorted(pairs)
    first, second = (np.array([pair[side] for pair in ordered], np.int64) for side in (0, 1))
    compared: Pairs = []

    def overlaps(positions: Ints) -> Bools:
        compared.extend(ordered[position] for position in positions)
        return np.array([ordered[position] in overlapping for position in positions], bool)

    kept_document_of, assigning = assign_duplicates(count, pair_keys(first, second), overlaps)
    assert {(kept_document_of[ordered[position][1]], ordered[position][1]) for position in assigning} == {
        (kept, number) for number, kept in enumerate(kept_document_of) if kept != UNASSIGNED
    }
    return kept_document_of.tolist(), compared


def assign_one_by_one(count: int, overlapping: set[tuple[int, int]]) -> list[int]:
    """Assign duplicates by the simplest implementation of the rule."""
    kept_document_of = [UNASSIGNED] * count
    for first in range(count):
        if kept_document_of[first] == UNASSIGNED:
            for second in range(first + 1, count):
                if (first, second) in overlapping and kept_document_of[second] == UNASSIGNED:
                    kept_document_of[second] = first
    return kept_document_of


@pytest.mark.parametrize("at_once", [1 << 11, 5])
def test_a_chain_is_cut_into_pairs(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PAIRS_AT_ONCE", at_once)
    chain = [(n, n + 1) for n in range(3000)]

    assert [UNASSIGNED if n % 2 == 0 else n - 1 for n in range(3001)] == assign(3001, chain, set(chain))[0]


def test_only_pairs_that_matter_are_compared() -> None:
    """If 10 documents all overlap each other, 9 pairs are compared."""
    pairs = [(a, b) for a in range(10) for b in range(a + 1, 10)]

    assert ([UNASSIGNED] + [0] * 9, [(0, number) for number in range(1, 10)]) == assign(10, pairs, set(pairs))


@given(st.data())
def test_groups_are_those_of_the_simplest_implementation(data: st.DataObject) -> None:
    count = data.draw(st.integers(2, 12))
    every = [(a, b) for a in range(count) for b in range(a + 1, count)]
    pairs = data.draw(st.lists(st.sampled_from(every), unique=True))
    overlapping = set(data.draw(st.lists(st.sampled_from(pairs), unique=True))) if pairs else set()

    assert assign_one_by_one(count, overlapping) == assign(count, pairs, overlapping)[0]


def test_the_first_document_represents_a_set() -> None:
    sets = SameWordsSets(np.array([7, 3, 7, 9, 3, 7]))

    assert [0, 1, 3] == sets.representatives.tolist()
    assert [0, 1, 0, 3, 1, 0] == sets.representative_of.tolist()
    assert [3, 2, 3, 1, 2, 3] == sets.sizes.tolist()
    assert [0, 2, 5] == sets.members(2)
    assert [] == SameWordsSets(np.zeros(0, np.int64)).representatives.tolist()


def test_only_representatives_of_large_sets_are_paired() -> None:
    sets = SameWordsSets(np.array([1, 1, 1, 2, 2]))

    assert [(0, 1), (0, 2), (1, 2), (3, 4)] == list(sets.pairs_within(3))
    assert [(0, 1), (0, 2), (3, 4)] == list(sets.pairs_within(2))
    assert [(0, 3), (0, 4), (1, 3), (1, 4), (2, 3), (2, 4)] == list(sets.pairs_between(0, 3, 3))
    assert [(0, 3), (0, 4), (1, 3), (2, 3)] == list(sets.pairs_between(0, 3, 2))


def test_copies_are_the_documents_of_sets_with_a_new_document() -> None:
    labels = np.array([1, 2, 1, 3, 2])

    assert [[0, 1, 2, 4], [1, 4], []] == [find_copies(labels, first_new).tolist() for first_new in (0, 3, 5)]
