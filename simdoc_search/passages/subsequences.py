"""Finds longest common subsequences and heaviest increasing subsequences."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

EqualRun = tuple[int, int, int]
"""The index of the first word in the first text, its index in the second text, and the number of equal words."""


def longest_common_subsequence(a: Sequence[str], b: Sequence[str]) -> list[EqualRun]:
    """Return a longest common subsequence of two lists of words, as runs.

    Each step compares one word of `a` with all words of `b` at once, as the bits of an integer. This takes
    len(a) x len(b) bits of memory.

    Source: Hyyrö 2004, Bit-parallel LCS-length computation revisited.
    """
    positions: dict[str, int] = {}  # bit j is 1 if the word is at position j of b
    for position, word in enumerate(b):
        positions[word] = positions.get(word, 0) | 1 << position
    all_bits = (1 << len(b)) - 1
    row, rows = all_bits, []
    for word in a:
        # `row` describes the words of a so far: bit j is 0 if b[: j + 1] has a longer common subsequence with them than
        # b[:j] has.
        both = row & positions.get(word, 0)
        row = ((row + both) | (row - both)) & all_bits
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


def heaviest_increasing_subsequence(runs: Sequence[EqualRun]) -> list[EqualRun]:
    """Return runs that are in the same order in both texts, chosen to have as many words as possible.

    The search uses a Fenwick tree of the best subsequences. Source: Fenwick 1994, A new data structure for cumulative
    frequency tables. The runs are in the order of the first text, and do not overlap.
    """
    order = sorted(j for _, j, _ in runs)
    tree = [(0, -1)] * (len(runs) + 1)  # (word count, last run) of the best subsequence in a range of `order`
    previous: list[int] = []
    for number, (_, j, size) in enumerate(runs):
        rank = bisect_left(order, j)
        words, last = _find_best(tree, rank)
        previous.append(last)
        node = rank + 1
        while node < len(tree):
            tree[node] = max(tree[node], (words + size, number))
            node += node & -node
    chosen: list[EqualRun] = []
    number = _find_best(tree, len(runs))[1]
    while number >= 0:
        chosen.append(runs[number])
        number = previous[number]
    return chosen[::-1]


def _find_best(tree: list[tuple[int, int]], end: int) -> tuple[int, int]:
    """Return the word count and the last run of the best subsequence of runs with a rank below `end`.

    The rank of a run is its position in the order of the second text.
    """
    best = (0, -1)
    while end:
        best = max(best, tree[end])
        end &= end - 1
    return best
