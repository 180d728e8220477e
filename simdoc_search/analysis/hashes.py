"""Hashes of texts, and of their words regardless of letter case and punctuation.

Both are BLAKE2b of UTF-8, 16 bytes in hexadecimal: collision-resistant, and available in every language.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from simdoc_search.analysis.words import WordBatch

_BYTES = 16


def text_hash(text: str) -> str:
    """Return the hash of a text; the same in every index, whatever its settings."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_BYTES).hexdigest()


def words_hashes(joined: Iterable[bytes]) -> list[str]:
    """Return the `text_hash` of each result of `joined_words_of`."""
    return [hashlib.blake2b(part, digest_size=_BYTES).hexdigest() for part in joined]


def joined_words_of(words: WordBatch) -> list[bytes]:
    """Yield the normalised words of each text of a batch, joined by one space, in UTF-8."""
    last = np.cumsum(words.counts)
    used = words.counts > 0
    begins, ends = np.zeros(len(last), np.int64), np.zeros(len(last), np.int64)
    begins[used] = words.starts[(last - words.counts)[used]]
    ends[used] = words.ends[last[used] - 1]
    spans = list(zip(begins.tolist(), ends.tolist(), strict=True))
    if _is_ascii(words.units):
        data = words.units.astype(np.uint8).tobytes()
        return [data[a:b] for a, b in spans]
    return [_utf8(words.units[a:b]) for a, b in spans]


class WordsHash:
    """The hash of the words of one text that arrives in several batches."""

    def __init__(self) -> None:
        self._state = hashlib.blake2b(digest_size=_BYTES)
        self._begun = False

    def add(self, words: WordBatch) -> None:
        """Add the words of the next piece, a batch of one text."""
        if not len(words.starts):
            return
        if self._begun:
            self._state.update(b" ")
        self._begun = True
        self._state.update(_utf8(words.units[int(words.starts[0]) : int(words.ends[-1])]))

    def hexdigest(self) -> str:
        """Return the hash of the words so far."""
        return self._state.hexdigest()


def _is_ascii(units: NDArray[np.uint16]) -> bool:
    return not len(units) or int(units.max()) < 128


def _utf8(units: NDArray[np.uint16]) -> bytes:
    if _is_ascii(units):
        return units.astype(np.uint8).tobytes()
    return units.astype("<u2", copy=False).tobytes().decode("utf-16-le").encode()
