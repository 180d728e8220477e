"""Hashes texts, and the words of texts regardless of letter case and punctuation.

Both hashes are the BLAKE2b of UTF-8: 16 bytes, in hexadecimal. BLAKE2b is collision-resistant and available in every
programming language.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from simdoc_search.analysis.words import WordBatch, is_ascii

_HASH_BYTES = 16


def text_hash(text: str) -> str:
    """Return the hash of a text. It does not depend on the settings of an index."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_HASH_BYTES).hexdigest()


def hash_joined_words(joined_words: Iterable[bytes]) -> list[str]:
    """Return the `text_hash` of each result of `join_words`."""
    return [hashlib.blake2b(words, digest_size=_HASH_BYTES).hexdigest() for words in joined_words]


def join_words(batch: WordBatch) -> list[bytes]:
    """Return the normalised words of each text, joined by one space, in UTF-8."""
    last = np.cumsum(batch.counts)
    has_words = batch.counts > 0
    begins, ends = np.zeros(len(last), np.int64), np.zeros(len(last), np.int64)
    begins[has_words] = batch.starts[(last - batch.counts)[has_words]]
    ends[has_words] = batch.ends[last[has_words] - 1]
    spans = list(zip(begins.tolist(), ends.tolist(), strict=True))
    if is_ascii(batch.units):
        data = batch.units.astype(np.uint8).tobytes()
        return [data[begin:end] for begin, end in spans]
    return [_utf8(batch.units[begin:end]) for begin, end in spans]


class WordsHash:
    """Hashes the words of a text that is processed in several batches."""

    def __init__(self) -> None:
        self._state = hashlib.blake2b(digest_size=_HASH_BYTES)
        self._separator = b""

    def add(self, batch: WordBatch) -> None:
        """Add the words of the next piece of the text. The batch must contain only this piece."""
        if len(batch.starts):
            units = batch.units[int(batch.starts[0]) : int(batch.ends[-1])]
            self._state.update(self._separator + _utf8(units))
            self._separator = b" "

    def hexdigest(self) -> str:
        """Return the hash of all words that were added."""
        return self._state.hexdigest()


def _utf8(units: NDArray[np.uint16]) -> bytes:
    if is_ascii(units):
        return units.astype(np.uint8).tobytes()
    return units.astype("<u2", copy=False).tobytes().decode("utf-16-le").encode()
