"""Longest common and heaviest increasing subsequences, compared with all possible ones."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from simdoc_search.passages.subsequences import heaviest_increasing_subsequence, longest_common_subsequence

few_words = st.lists(st.sampled_from("abcd"), max_size=12)


def longest(a: list[str], b: list[str]) -> int:
    """The length of the longest common subsequence, by its definition."""
    row = [0] * (len(b) + 1)
    for word in a:
        above = row
        row = [0]
        for index, other in enumerate(b):
            row.append(above[index] + 1 if word == other else max(row[index], above[index + 1]))
    return row[-1]


@given(few_words, few_words)
def test_the_common_subsequence_is_the_longest(a: list[str], b: list[str]) -> None:
    """The runs are equal and in the same order in both texts."""
    runs = longest_common_subsequence(a, b)

    assert longest(a, b) == sum(size for _, _, size in runs)
    assert [a[i : i + size] for i, _, size in runs] == [b[j : j + size] for _, j, size in runs]
    assert all(i + size <= k and j + size <= m for (i, j, size), (k, m, _) in itertools.pairwise(runs))


@given(st.permutations(range(6)), st.lists(st.integers(1, 9), min_size=6, max_size=6))
def test_the_increasing_subsequence_has_the_most_words(order: list[int], sizes: list[int]) -> None:
    runs = [(100 * index, 100 * other, size) for index, (other, size) in enumerate(zip(order, sizes, strict=True))]
    choices = itertools.chain.from_iterable(itertools.combinations(runs, count) for count in range(7))
    ordered = [choice for choice in choices if sorted(choice, key=lambda run: run[1]) == list(choice)]
    chosen = heaviest_increasing_subsequence(runs)

    assert tuple(chosen) in ordered
    assert max(sum(size for _, _, size in choice) for choice in ordered) == sum(size for _, _, size in chosen)
