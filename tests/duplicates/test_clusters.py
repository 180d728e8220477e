"""Groups are stars: each member overlaps the document that is kept, which itself belongs to nobody. No chains."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search.duplicates import clusters as module
from simdoc_search.duplicates.clusters import FREE, Stars
from simdoc_search.duplicates.identical_words import SameWordsSets
from simdoc_search.duplicates.table import Ints

Pairs = list[tuple[int, int]]


def stars(count: int, pairs: Pairs, enough: set[tuple[int, int]]) -> tuple[list[int], list[tuple[int, int]]]:
    """Who is kept for each, and the pairs that were judged."""
    ordered = sorted(pairs)
    first, second = (np.array([each[side] for each in ordered], np.int64) for side in (0, 1))
    asked: list[tuple[int, int]] = []

    def judge(some: Ints) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        asked.extend(ordered[each] for each in some)
        return np.array([ordered[each] in enough for each in some], bool)

    made = Stars(count)
    by = made.take(first, second, judge)
    assert {(made.kept_for[ordered[each][1]], ordered[each][1]) for each in by} == {
        (kept, who) for who, kept in enumerate(made.kept_for) if kept != FREE
    }
    return made.kept_for.tolist(), asked


def one_by_one(count: int, enough: set[tuple[int, int]]) -> list[int]:
    """The rule, as plainly as it can be written."""
    kept_for = [FREE] * count
    for first in range(count):
        if kept_for[first] == FREE:
            for second in range(first + 1, count):
                if (first, second) in enough and kept_for[second] == FREE:
                    kept_for[second] = first
    return kept_for


def test_a_chain_is_cut() -> None:
    """0 ~ 1 ~ 2 ~ 3: 0 takes 1; 2 does not overlap 0, so it stays, and takes 3."""
    chain = [(0, 1), (1, 2), (2, 3)]

    assert [FREE, 0, FREE, 2] == stars(4, chain, set(chain))[0]


@pytest.mark.parametrize("at_once", [1 << 11, 5])
def test_a_chain_of_thousands_has_no_wrong_member(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every second one is kept, each for its neighbour."""
    monkeypatch.setattr(module, "_PAIRS_AT_ONCE", at_once)
    chain = [(n, n + 1) for n in range(3000)]

    assert [FREE if n % 2 == 0 else n - 1 for n in range(3001)] == stars(3001, chain, set(chain))[0]


def test_only_what_decides_is_judged() -> None:
    """Of 10 documents that all overlap each other, 9 pairs; what was taken is asked for no more."""
    pairs = [(a, b) for a in range(10) for b in range(a + 1, 10)]
    kept_for, asked = stars(10, pairs, set(pairs))

    assert [FREE] + [0] * 9 == kept_for
    assert [(0, each) for each in range(1, 10)] == asked


def test_a_pair_that_does_not_hold_lets_both_go_on() -> None:
    """1 is no duplicate of 0, and takes 2."""
    assert [FREE, FREE, 1] == stars(3, [(0, 1), (0, 2), (1, 2)], {(1, 2)})[0]


def test_the_more_preferred_of_two_takes() -> None:
    """8 goes to 1, though 6 could have it before it is known whether 1 stays."""
    pairs = [(0, 1), (1, 8), (6, 8)]

    assert 1 == stars(9, pairs, {(1, 8), (6, 8)})[0][8]
    assert 6 == stars(9, pairs, {(0, 1), (1, 8), (6, 8)})[0][8]


@given(st.data())
def test_stars_are_those_of_the_plain_rule(data: st.DataObject) -> None:
    """For any pairs, any judgement and any order of work; whoever goes, goes for one that stays and overlaps it."""
    count = data.draw(st.integers(2, 12))
    every = [(a, b) for a in range(count) for b in range(a + 1, count)]
    pairs = data.draw(st.lists(st.sampled_from(every), unique=True))
    enough = set(data.draw(st.lists(st.sampled_from(pairs), unique=True))) if pairs else set()
    kept_for, _ = stars(count, pairs, enough)

    assert one_by_one(count, enough) == kept_for
    assert all(kept_for[kept] == FREE and (kept, who) in enough for who, kept in enumerate(kept_for) if kept != FREE)


# --- sets of the same words ---


def test_the_first_of_a_set_stands_for_it() -> None:
    """Sets by their labels, in the order of the documents."""
    alike = SameWordsSets(np.array([7, 3, 7, 9, 3, 7]))

    assert [0, 1, 3] == alike.firsts.tolist()
    assert [0, 1, 0, 3, 1, 0] == alike.first.tolist()
    assert [3, 2, 3, 1, 2, 3] == alike.sizes.tolist()
    assert [0, 2, 5] == alike.of(2)
    assert [] == SameWordsSets(np.zeros(0, np.int64)).firsts.tolist()


def test_pairs_of_sets_are_all_or_those_of_the_first() -> None:
    """Up to the limit all with all; beyond it the first with each."""
    alike = SameWordsSets(np.array([1, 1, 1, 2, 2]))

    assert [(0, 1), (0, 2), (1, 2), (3, 4)] == list(alike.pairs_within(3))
    assert [(0, 1), (0, 2), (3, 4)] == list(alike.pairs_within(2))
    assert [(0, 3), (0, 4), (1, 3), (1, 4), (2, 3), (2, 4)] == list(alike.pairs_between(0, 3, 3))
    assert [(0, 3), (0, 4), (1, 3), (2, 3)] == list(alike.pairs_between(0, 3, 2))
