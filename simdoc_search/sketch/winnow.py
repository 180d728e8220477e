"""Passage tokens: of every few consecutive shingles the smallest hash, so that a shared passage is a shared token.

A run of w + n - 1 words (n in a shingle) has w shingles. Where two texts both have it, both keep the smallest of these,
whatever stands around it and however long they are. About 2 / (w + 1) of the shingles are kept.

Of equal hashes the rightmost counts, which makes no difference to a set of tokens. The smallest of some hashes has the
smallest top bits of them, so these alone are looked at.

Source: Schleimer, Wilkerson, Aiken 2003, "Winnowing: local algorithms for document fingerprinting".
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simdoc_search.analysis.distinct import distinct

PASSAGE_LENGTH = 5
"""Characters of a passage token, of 6 bits each."""

MOST = 10_000

Codes = NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class Passages:
    """How passage tokens are made.

    Attributes:
        window: w, the number of consecutive shingles of which the smallest hash is kept, 1 to 10,000.
    """

    window: int = 32

    def __post_init__(self) -> None:
        if not isinstance(self.window, int) or isinstance(self.window, bool) or not 1 <= self.window <= MOST:
            raise ValueError(f"window must be a whole number from 1 to {MOST:,}, not {self.window!r}")

    @classmethod
    def of_run(cls, run: int, shingle_size: int) -> Passages:
        """Those that promise to find every shared run of so many words.

        Raises:
            ValueError: that is fewer words than a shingle has, or too many.
        """
        return cls(run - shingle_size + 1)

    def run(self, shingle_size: int) -> int:
        """The words of a run that is always found."""
        return self.window + shingle_size - 1

    def chance(self, words: int, shingle_size: int) -> float:
        """The probability, 0..1, that a shared run of so many words is found by asking with all shingles of a text.

        The gaps between shingles that the other text keeps are 1 to w, each as likely, so s shingles in a row have none
        of them with (w - s) (w - s + 1) / (w (w + 1)); from `run` on it is certain.
        """
        missed = self.window - max(0, min(words - shingle_size + 1, self.window))
        return 1.0 - missed * (missed + 1) / (self.window * (self.window + 1))


def no_passages() -> Codes:
    """The codes of a text of which there are none, or none are known."""
    return np.zeros(0, np.uint32)


def winnowed(codes: Codes, counts: NDArray[np.int64], window: int) -> list[Codes]:
    """The passage tokens of many texts as numbers.

    Args:
        codes: top bits of the hashes of all their shingles, in text order; uint32, shape (shingles,).
        counts: number of shingles of each text; int64, shape (texts,).
        window: how many consecutive ones keep their smallest; a text of fewer keeps its smallest.

    Returns:
        For each text its codes, uint32, ascending, none twice.
    """
    ends = np.cumsum(counts)
    first = ends - counts
    owner, kept = _of_windows(codes, first, ends, window)
    short = np.flatnonzero((counts > 0) & (counts < window))
    if len(short):
        smallest = np.minimum.reduceat(codes, first[counts > 0])  # those of no shingles lie in no one's way
        owner = np.concatenate((owner, short))
        kept = np.concatenate((kept, smallest[np.searchsorted(np.flatnonzero(counts > 0), short)]))
    keys = distinct(owner.astype(np.uint64) << np.uint64(32) | kept)
    bounds = np.searchsorted(keys, np.arange(len(counts) + 1, dtype=np.uint64) << np.uint64(32)).tolist()
    values = keys.astype(np.uint32)
    return [values[a:b] for a, b in itertools.pairwise(bounds)]


class Winnowing:
    """The same for one text whose shingles come piece by piece."""

    def __init__(self, window: int) -> None:
        self._window = window
        self._last = no_passages()  # shingles that a window of the next piece begins with
        self._kept: list[Codes] = []

    def add(self, codes: Codes) -> None:
        """Go on with the shingles of the next piece."""
        codes = np.concatenate((self._last, codes))
        self._last = codes[max(0, len(codes) - self._window + 1) :]
        if len(codes) >= self._window:
            self._kept.append(distinct(_smallest(codes, self._window)))

    def codes(self) -> Codes:
        """Those of the text so far, uint32, ascending, none twice."""
        return distinct(np.concatenate(self._kept)) if self._kept else distinct(self._last)[:1]


def _of_windows(
    codes: Codes, first: NDArray[np.int64], ends: NDArray[np.int64], window: int
) -> tuple[NDArray[np.int64], Codes]:
    """The smallest of each window that lies in one text, and whose it is; mostly once for windows that share it."""
    if len(codes) < window:
        return np.zeros(0, np.int64), no_passages()
    smallest = _smallest(codes, window)
    begins = np.ones(len(smallest), bool)  # where it is another one than that of the window before
    np.not_equal(smallest[1:], smallest[:-1], out=begins[1:])
    begins[first[first < len(begins)]] = True
    at = np.flatnonzero(begins)
    owner = np.searchsorted(ends, at, side="right")
    inside = at + window <= ends[owner]
    return owner[inside], smallest[at[inside]]


def _smallest(codes: Codes, window: int) -> Codes:
    """The smallest of every `window` consecutive codes, by doubling; shape (shingles - window + 1,)."""
    size, found = 1, codes
    while 2 * size <= window:
        found = np.minimum(found[:-size], found[size:])
        size *= 2
    return np.minimum(found[: len(found) - (window - size)], found[window - size :])
