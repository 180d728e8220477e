"""Computes passage tokens by winnowing, which keeps the smallest hash of every window of w shingles.

If two texts share a long enough passage, they share a token. With n words per shingle, a run of w + n - 1 words has w
shingles. If two texts share such a run, both keep the smallest hash of these shingles. It does not matter what
surrounds the run, or how long the texts are. About 2 / (w + 1) of all shingles are kept.

The original algorithm keeps the rightmost of equal hashes. For a set of tokens, it does not matter which one is kept.
The smallest hash has the smallest high bits, so only the high bits are compared.

Source: Schleimer, Wilkerson, Aiken 2003, "Winnowing: local algorithms for document fingerprinting".
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simdoc_search.analysis.distinct import distinct
from simdoc_search.analysis.settings import check_whole_number
from simdoc_search.sketch.tokens import TokenIds, empty_token_ids

PASSAGE_TOKEN_LENGTH = 5
"""Number of characters in a passage token, 6 bits each."""

_MAX_WINDOW = 10_000

ShingleHashes = NDArray[np.uint32]
"""The highest 30 bits of hashes of shingles."""


@dataclass(frozen=True, slots=True)
class PassageSettings:
    """Settings of passage tokens.

    Attributes:
        window: w, the number of shingles in a window, 1 to 10,000. The smallest hash of each window is kept.
    """

    window: int = 32

    def __post_init__(self) -> None:
        check_whole_number("window", self.window, 1, _MAX_WINDOW)

    @classmethod
    def for_run(cls, run_length: int, shingle_size: int) -> PassageSettings:
        """Return settings with which every shared run of at least `run_length` words is found.

        Raises:
            ValueError: the run is shorter than a shingle, or too long.
        """
        return cls(run_length - shingle_size + 1)

    def guaranteed_run_length(self, shingle_size: int) -> int:
        """Return the length in words of the shortest shared run that is always found."""
        return self.window + shingle_size - 1

    def probability_of_finding(self, word_count: int, shingle_size: int) -> float:
        """Return the probability, 0..1, that a query finds a shared run of `word_count` words.

        The query must contain all shingles of its text; see `shingle_token_ids`. The distance between two kept shingles
        is 1 to w, and all distances are equally likely. So s consecutive shingles contain no kept shingle with
        probability (w - s) (w - s + 1) / (w (w + 1)). The result is 1 for runs of at least `guaranteed_run_length`
        words.
        """
        miss = self.window - max(0, min(word_count - shingle_size + 1, self.window))
        return 1.0 - miss * (miss + 1) / (self.window * (self.window + 1))


def winnow_texts(hashes: ShingleHashes, counts: NDArray[np.int64], window: int) -> list[TokenIds]:
    """Return the passage token ids of many texts: the smallest hash of each window.

    Args:
        hashes: the highest 30 bits of the hash of each shingle, in text order; uint32, shape (shingles,).
        counts: number of shingles of each text; int64, shape (texts,).
        window: number of shingles in a window. If a text has fewer shingles, its smallest hash is returned.

    Returns:
        The token ids of each text; uint32, ascending, without repeats.
    """
    ends = np.cumsum(counts)
    text_begins = ends - counts
    owner, kept = _distinct_window_minima(hashes, text_begins, ends, window)
    has_shingles = np.flatnonzero(counts > 0)
    is_short = counts[has_shingles] < window
    if is_short.any():
        smallest = np.minimum.reduceat(hashes, text_begins[has_shingles])
        owner = np.concatenate((owner, has_shingles[is_short]))
        kept = np.concatenate((kept, smallest[is_short]))
    keys = distinct(owner.astype(np.uint64) << np.uint64(32) | kept)
    bounds = np.searchsorted(keys, np.arange(len(counts) + 1, dtype=np.uint64) << np.uint64(32)).tolist()
    values = keys.astype(np.uint32)
    return [values[begin:end] for begin, end in itertools.pairwise(bounds)]


class Winnowing:
    """Computes the passage token ids of one text from the shingles of its pieces."""

    def __init__(self, window: int) -> None:
        self._window = window
        # the last shingles of the pieces so far: windows that begin in them continue in the next piece
        self._last = empty_token_ids()
        self._kept: list[ShingleHashes] = []

    def add(self, hashes: ShingleHashes) -> None:
        """Add the shingles of the next piece. `hashes` are as in `winnow_texts`."""
        hashes = np.concatenate((self._last, hashes))
        self._last = hashes[max(0, len(hashes) - self._window + 1) :]
        if len(hashes) >= self._window:
            self._kept.append(distinct(_window_minima(hashes, self._window)))

    def token_ids(self) -> TokenIds:
        """Return the token ids of all pieces that were added; uint32, ascending, without repeats."""
        return distinct(np.concatenate(self._kept)) if self._kept else distinct(self._last)[:1]


def _distinct_window_minima(
    hashes: ShingleHashes, text_begins: NDArray[np.int64], ends: NDArray[np.int64], window: int
) -> tuple[NDArray[np.int64], ShingleHashes]:
    """Return two arrays: for each window, the index of its text, and its smallest hash.

    Windows that contain several texts are omitted.

    If consecutive windows have the same smallest hash, it is usually returned once.
    """
    if len(hashes) < window:
        return np.zeros(0, np.int64), empty_token_ids()
    smallest = _window_minima(hashes, window)
    differs = np.ones(len(smallest), bool)  # whether a window and the previous one have different hashes
    np.not_equal(smallest[1:], smallest[:-1], out=differs[1:])
    differs[text_begins[text_begins < len(differs)]] = True
    begins = np.flatnonzero(differs)
    owner = np.searchsorted(ends, begins, side="right")
    is_inside = begins + window <= ends[owner]
    return owner[is_inside], smallest[begins[is_inside]]


def _window_minima(hashes: ShingleHashes, window: int) -> ShingleHashes:
    """Return the smallest of every `window` consecutive hashes; shape (shingles - window + 1,).

    Each step doubles the length of the windows.
    """
    size, smallest = 1, hashes
    while 2 * size <= window:
        smallest = np.minimum(smallest[:-size], smallest[size:])
        size *= 2
    return np.minimum(smallest[: len(smallest) - (window - size)], smallest[window - size :])
