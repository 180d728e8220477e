"""Finds longest common subsequences and heaviest increasing subsequences."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

EqualRun = tuple[int, int, int]
"""The first word in the first text, the first word in the second text, and the number of equal words."""


def longest_common(a: Sequence[str], b: Sequence[str]) -> list[EqualRun]:
    """A longest common subsequence of two lists of words, as runs.

    Each step compares one word of `a` with all words of `b` at once, as the bits of an integer. This takes
    len(a) x len(b) bits of memory.

    Source: Hyyrö 2004, Bit-parallel LCS-length computation revisited.
    """
    places: dict[str, int] = {}
    for position, word in enumerate(b):
        places[word] = places.get(word, 0) | 1 << position
    everywhere = (1 << len(b)) - 1
    row, rows = everywhere, []
    for word in a:
        # Bit j is 0 if the subsequence of a up to this word and of b[: j + 1] is longer than with b[:j].
        both = row & places.get(word, 0)
        row = ((row + both) | (row - both)) & everywhere
        rows.append(row)
    runs: list[EqualRun] = []
    i, j = len(a), len(b)
    while i and j:
        if rows[i - 1] >> (j - 1) & 1:
            j -= 1
        elif i > 1 and not rows[i - 2] >> (j - 1) & 1:
            i -= 1
        else:
            i, j = i - 1, j - 1
            if runs and runs[-1][:2] == (i + 1, j + 1):
                runs[-1] = (i, j, runs[-1][2] + 1)
            else:
                runs.append((i, j, 1))
    return runs[::-1]


def heaviest_increasing(runs: Sequence[EqualRun]) -> list[EqualRun]:
    """The runs that are in the same order in both texts, chosen to have as many words as possible.

    The search uses a Fenwick tree of the best subsequences. Source: Fenwick 1994, A new data structure for cumulative
    frequency tables.

    Args:
        runs: Runs in the order of the first text, without overlaps.
    """
    order = sorted(j for _, j, _ in runs)
    tree = [(0, -1)] * (len(runs) + 1)  # the words and the last run of the best subsequence in a range of `order`
    previous: list[int] = []
    for number, (_, j, size) in enumerate(runs):
        rank = bisect_left(order, j)
        words, last = _best(tree, rank)
        previous.append(last)
        node = rank + 1
        while node < len(tree):
            tree[node] = max(tree[node], (words + size, number))
            node += node & -node
    chosen: list[EqualRun] = []
    number = _best(tree, len(runs))[1]
    while number >= 0:
        chosen.append(runs[number])
        number = previous[number]
    return chosen[::-1]


def _best(tree: list[tuple[int, int]], end: int) -> tuple[int, int]:
    """The best subsequence before a rank."""
    best = (0, -1)
    while end:
        best = max(best, tree[end])
        end &= end - 1
    return best
