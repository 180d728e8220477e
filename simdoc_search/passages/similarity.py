"""Are two stretches of text one passage, in other words and in another order perhaps, or alike by chance?"""

from __future__ import annotations

import numpy as np

from simdoc_search.passages.windows import Windows

_DICE = 0.35
"""The least Dice coefficient of the words' weights."""
_EVIDENCE = 0.6
"""Of a passage with just the least number of equal words this is the least."""

_INSIDE = 0.6
"""Or so much of the one's weight must be in the other, as if that were shortened,"""
_MANY = 1.5
"""with so many times the least number of words."""

_FREQUENT, _SHORT = 40, 400
"""A word that is one of 40 says nothing; a text is taken to have 400 words at least: those of a short one do."""


class Likeness:
    """Compares stretches of two texts by how many words they share, whatever their order.

    A word has the more weight the rarer it is: log(1 / (40 f)), where f is the greater of its frequencies in the texts.
    Passages that were reworded, translated there and back, or shuffled have a Dice coefficient over 0.4; what unrelated
    texts have by chance is under 0.3.

    Source: Sanchez-Perez, Sidorov, Gelbukh 2014, A winning approach to text alignment for text reuse detection (both
    measures of whole sentences, weighted by their inverse frequency).
    """

    def __init__(self, windows: Windows) -> None:
        self._a, self._b = windows.classes(1)
        size = int(max(self._a.max(), self._b.max())) + 1
        shares = [np.bincount(its, minlength=size) / max(len(its), _SHORT) for its in (self._a, self._b)]
        self._weights = -np.log(_FREQUENT * np.maximum(*shares)).clip(max=0)

    def shown(self, place: tuple[int, int, int, int], words: int, least: int) -> bool:
        """Whether two stretches are one passage.

        Args:
            place: the first word and the one after the last, in the first text and in the second.
            words: how many equal words were found in them.
            least: how many words the shortest passage has.
        """
        first, end, other, other_end = place
        if min(end - first, other_end - other) < least:
            return False
        a, times_a = np.unique(self._a[first:end], return_counts=True)
        b, times_b = np.unique(self._b[other:other_end], return_counts=True)
        _, in_a, in_b = np.intersect1d(a, b, assume_unique=True, return_indices=True)
        shared = float(self._weights[a[in_a]] @ np.minimum(times_a[in_a], times_b[in_b]))
        of_a, of_b = float(self._weights[a] @ times_a), float(self._weights[b] @ times_b)
        dice = 2 * shared / (of_a + of_b) if of_a + of_b else 1.0
        if dice >= _DICE and dice * words >= _EVIDENCE * least:
            return True
        return words >= _MANY * least and shared >= _INSIDE * min(of_a, of_b)
