"""Finds equal windows of words in two texts. Each distinct window has a number, called its class. No hashes are used.

The class of a window of 2n words follows from the classes of its two halves. Source: Karp, Miller, Rosenberg 1972,
Rapid identification of repeated patterns in strings, trees and arrays.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import chain, count

import numpy as np
from numpy.typing import NDArray

from simdoc_search.cancellation import check_stopped

Ints = NDArray[np.int64]


class Windows:
    """The windows of 1, 2, 4, ... words of two texts.

    `sizes` are the numbers of words of the two texts. With `only_shared`, longer windows that occur in only one of the
    texts are not distinguished from each other. This is faster if the texts share little.
    """

    def __init__(self, a: Sequence[Hashable], b: Sequence[Hashable], *, only_shared: bool = False) -> None:
        numbers = dict(zip(dict.fromkeys(chain(a, b)), count(), strict=False))
        self.sizes: tuple[int, int] = len(a), len(b)
        self._second_start = len(a) + 1  # position of the first word of the second text
        # A unique number after each text prevents windows that extend beyond the end of a text from being equal.
        both = [*map(numbers.__getitem__, a), len(numbers), *map(numbers.__getitem__, b), len(numbers) + 1]
        self._levels = [np.array(both, np.int64)]
        self._only_shared = only_shared
        self._is_complete = False  # whether no further level is needed, because no longer window is shared

    def classes(self, length: int) -> tuple[Ints, Ints]:
        """Return the class of the window of `length` words that begins at each word, for both texts.

        Two windows have the same class if their words are equal.
        """
        level = min(length.bit_length(), len(self._levels_up_to(length))) - 1
        classes, size = self._levels[level], 2**level
        while size < length:
            shift = min(size, length - size)
            classes, size = self._extend_classes(classes, shift), size + shift
        first, second = (max(words - length + 1, 0) for words in self.sizes)
        return classes[:first], classes[self._second_start : self._second_start + second]

    def count_equal_after(self, i: Ints, j: Ints) -> Ints:
        """Count the equal words that begin at word i of the first text and word j of the second, for each pair."""
        check_stopped()
        in_a, in_b = i.copy(), j + self._second_start
        for level, classes in reversed([*enumerate(self._levels_up_to())]):
            inside = np.flatnonzero(np.maximum(in_a, in_b) < len(classes))
            equal = inside[classes[in_a[inside]] == classes[in_b[inside]]]
            in_a[equal] += 2**level
            in_b[equal] += 2**level
        return in_a - i

    def count_equal_before(self, i: Ints, j: Ints) -> Ints:
        """Count the equal words directly before word i of the first text and word j of the second, for each pair."""
        in_a, in_b = i.copy(), j + self._second_start
        for level, classes in reversed([*enumerate(self._levels_up_to())]):
            size = 2**level
            inside = np.flatnonzero((in_a >= size) & (in_b - size >= self._second_start))
            equal = inside[classes[in_a[inside] - size] == classes[in_b[inside] - size]]
            in_a[equal] -= size
            in_b[equal] -= size
        return i - in_a

    def _levels_up_to(self, length: int | None = None) -> list[Ints]:
        """Compute the classes of windows of 1, 2, 4, ... words, and return all computed classes.

        The longest windows have at most `length` words. If `length` is None, they are the longest ones that occur in
        both texts.
        """
        while not self._is_complete and (length is None or 2 ** len(self._levels) <= length):
            last, half = self._levels[-1], 2 ** (len(self._levels) - 1)
            self._is_complete = 2 * half > min(self.sizes) or not self._are_shared(last).any()
            if not self._is_complete:
                self._levels.append(self._extend_classes(last, half))
        return self._levels

    def _are_shared(self, classes: Ints) -> NDArray[np.bool_]:
        """Return whether both texts have a window of each class; bool, shape (highest class + 1,)."""
        is_in_first, is_in_second = np.zeros((2, int(classes.max(initial=0)) + 1), np.bool_)
        is_in_first[classes[: self._second_start]] = True
        is_in_second[classes[self._second_start :]] = True
        are_shared: NDArray[np.bool_] = is_in_first & is_in_second
        return are_shared

    def _extend_classes(self, classes: Ints, shift: int) -> Ints:
        """Return the classes of windows that are `shift` words longer."""
        check_stopped()
        first, second = classes[:-shift], classes[shift:]
        if not self._only_shared:
            return _number_pairs(first, second)
        are_shared = self._are_shared(classes)
        maybe_shared = np.flatnonzero(are_shared[first] & are_shared[second])
        joined = (np.arange(len(first)) >= self._second_start).astype(np.int64)  # 0 and 1: only in one text
        joined[maybe_shared] = 2 + _number_pairs(first[maybe_shared], second[maybe_shared])
        return joined


def _number_pairs(first: Ints, second: Ints) -> Ints:
    """Return a number for each pair. Equal pairs have equal numbers."""
    pairs = first * (int(second.max(initial=0)) + 1) + second
    numbers: Ints = np.unique(pairs, return_inverse=True)[1].reshape(-1)
    return numbers
