"""Longest common and heaviest increasing subsequences, against all there are."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from simdoc_search.passages.subsequences import common_words, in_order

few_words = st.lists(st.sampled_from("abcd"), max_size=12)


def longest(a: list[str], b: list[str]) -> int:
    """The length of the longest common subsequence, by its definition."""
    row = [0] * (len(b) + 1)
    for word in a:
        above = row
        row = [0]
        for at, other in enumerate(b):
            row.append(above[at] + 1 if word == other else max(row[at], above[at + 1]))
    return row[-1]


@given(few_words, few_words)
def test_as_many_words_as_can_be_are_common(a: list[str], b: list[str]) -> None:
    """The runs are equal, ascend in both texts, and are as long as the longest common subsequence."""
    runs = common_words(a, b)

    assert longest(a, b) == sum(size for _, _, size in runs)
    assert [a[i : i + size] for i, _, size in runs] == [b[j : j + size] for _, j, size in runs]
    assert all(i + size <= k and j + size <= m for (i, j, size), (k, m, _) in itertools.pairwise(runs))


@given(st.permutations(range(6)), st.lists(st.integers(1, 9), min_size=6, max_size=6))
def test_what_stays_in_order_has_the_most_words(order: list[int], sizes: list[int]) -> None:
    """Of all choices of runs whose order is the same in both texts none has more words."""
    runs = [(100 * at, 100 * other, size) for at, (other, size) in enumerate(zip(order, sizes, strict=True))]
    choices = itertools.chain.from_iterable(itertools.combinations(runs, count) for count in range(7))
    ordered = [choice for choice in choices if sorted(choice, key=lambda run: run[1]) == list(choice)]
    stay = in_order(runs)

    assert tuple(stay) in ordered
    assert max(sum(size for _, _, size in choice) for choice in ordered) == sum(size for _, _, size in stay)


def test_nothing_has_no_subsequence() -> None:
    """Of empty lists and of no runs."""
    assert [] == common_words([], ["a"]) == common_words(["a"], [])
    assert [] == in_order([])
