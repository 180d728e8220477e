"""Which windows of two texts are equal, word for word: exact, by classes that are ranked and never hashed.

Karp, Miller, Rosenberg 1972: the class of a window of 2n words is the pair of classes of its halves.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, count

import numpy as np
from numpy.typing import NDArray

from simdoc_search.cancellation import check_stopped

Ints = NDArray[np.int64]


class Windows:
    """The words of two texts, one after the other, as classes of windows of 1, 2, 4, ... words.

    Attributes:
        first: number of words of the first text.
        second: number of words of the second.
    """

    def __init__(self, a: Sequence[str], b: Sequence[str]) -> None:
        numbers = dict(zip(dict.fromkeys(chain(a, b)), count(), strict=False))
        self.first: int = len(a)
        self.second: int = len(b)
        # Where a text ends stands a class of its own, which equals no other.
        both = [*map(numbers.__getitem__, a), len(numbers), *map(numbers.__getitem__, b), len(numbers) + 1]
        self._levels = [np.array(both, np.int64)]
        self._longest = False  # whether the last level is that of the longest equal windows

    @property
    def sizes(self) -> tuple[int, int]:
        """The number of words of the first text and of the second."""
        return self.first, self.second

    def classes(self, length: int) -> tuple[Ints, Ints]:
        """The class of the window of so many words that begins at each word of the first text, and of the second.

        Windows have the same class if their words are the same; int64, of as many windows as the texts have.
        """
        level = min(length.bit_length(), len(self._grown(length))) - 1
        found, known = self._levels[level], 2**level
        while known < length:
            shift = min(known, length - known)
            found, known = _joined(found, shift), known + shift
        split = self.first + 1
        return found[: max(self.first - length + 1, 0)], found[split : split + max(self.second - length + 1, 0)]

    def after(self, i: Ints, j: Ints) -> Ints:
        """How many words are equal from word i of the first text and word j of the second on; of the shape of i."""
        check_stopped()
        at, other = i.copy(), j + self.first + 1
        for level, values in reversed([*enumerate(self._grown())]):
            found = np.flatnonzero(np.maximum(at, other) < len(values))
            equal = found[values[at[found]] == values[other[found]]]
            at[equal] += 2**level
            other[equal] += 2**level
        return at - i

    def before(self, i: Ints, j: Ints) -> Ints:
        """How many words are equal up to the one before word i of the first text and word j of the second."""
        at, other = i.copy(), j + self.first + 1
        for level, values in reversed([*enumerate(self._grown())]):
            size = 2**level
            found = np.flatnonzero((at >= size) & (other - size > self.first))
            equal = found[values[at[found] - size] == values[other[found] - size]]
            at[equal] -= size
            other[equal] -= size
        return i - at

    def _grown(self, length: int | None = None) -> list[Ints]:
        """The levels up to so many words a window, or up to the longest that both texts have."""
        shorter = min(self.first, self.second)
        while not self._longest and (length is None or 2 ** len(self._levels) <= length):
            last, half = self._levels[-1], 2 ** (len(self._levels) - 1)
            self._longest = 2 * half > shorter or not self._is_shared(last)
            if not self._longest:
                self._levels.append(_joined(last, half))
        return self._levels

    def _is_shared(self, values: Ints) -> bool:
        """Whether a window of the first text is one of the second too."""
        split = self.first + 1
        seen = np.zeros(int(values.max()) + 1, bool)
        seen[values[:split]] = True
        return bool(seen[values[split:]].any())


def _joined(values: Ints, shift: int) -> Ints:
    """The classes of windows that are so many words longer."""
    check_stopped()
    pairs = values[:-shift] * (int(values.max(initial=0)) + 1) + values[shift:]
    classes: Ints = np.unique(pairs, return_inverse=True)[1].reshape(-1)
    return classes
