"""What keeps its order: the longest common subsequence of words, and the heaviest of runs."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

EqualRun = tuple[int, int, int]
"""First word in the first text, first word in the second, and how many words are equal from there."""


def common_words(a: Sequence[str], b: Sequence[str]) -> list[EqualRun]:
    """As many equal words as two lists have in the same order, as runs: a longest common subsequence.

    One step for each word of a, over all words of b at once, as bits of a number; memory of len(a) x len(b) bits.

    Source: Hyyrö 2004, Bit-parallel LCS-length computation revisited.
    """
    places: dict[str, int] = {}
    for at, word in enumerate(b):
        places[word] = places.get(word, 0) | 1 << at
    everywhere = (1 << len(b)) - 1
    row, rows = everywhere, []
    for word in a:
        # A bit is 0 where the subsequence grows by a word: up to there in b, and in a up to this word.
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


def in_order(runs: Sequence[EqualRun]) -> list[EqualRun]:
    """Of runs in the order of the first text those that are in the order of the second too; as many words as can be.

    They have no words in common. The heaviest increasing subsequence, by a tree of the best so far (Fenwick 1994).
    """
    order = sorted(j for _, j, _ in runs)
    best = [(0, -1)] * (len(runs) + 1)  # words, and the last run, of what ends in a part of `order`
    before: list[int] = []
    for this, (_, j, size) in enumerate(runs):
        rank = bisect_left(order, j)
        words, last = _best(best, rank)
        before.append(last)
        at = rank + 1
        while at < len(best):
            best[at] = max(best[at], (words + size, this))
            at += at & -at
    chosen: list[EqualRun] = []
    this = _best(best, len(runs))[1]
    while this >= 0:
        chosen.append(runs[this])
        this = before[this]
    return chosen[::-1]


def _best(tree: list[tuple[int, int]], end: int) -> tuple[int, int]:
    """The best of the first so many places."""
    found = (0, -1)
    while end:
        found = max(found, tree[end])
        end &= end - 1
    return found
