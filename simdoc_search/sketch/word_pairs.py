"""Hashes of pairs of adjacent words, which a local store uses to find short quotations.

A document that contains a phrase contains all pairs of the phrase. Other documents rarely contain them by chance. A
document of 5,000 words has a given hash with a probability of 1 in 8. It has all five hashes of a phrase of six words
with a probability of 1 in 30,000. In a trial with 12,847 documents of 280 words, a query by single words read 8,000
documents, and a query by pairs read only the documents that contain a phrase of the query.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from simdoc_search.analysis.distinct import distinct
from simdoc_search.sketch.hash_functions import murmur3_x64_128
from simdoc_search.sketch.tokens import TokenIds, empty_token_ids

PAIR_BITS = 15
"""Number of bits of a token id. It contains the highest bits of the hash of both words. Stored ids depend on it."""

_SPACE, _LINE_FEED = ord(" "), ord("\n")


def word_pair_token_ids(joined_words: Sequence[str]) -> list[TokenIds]:
    """Return the token ids of the word pairs of each text, ascending and distinct; see `hash_word_pairs`."""
    token_ids, counts = hash_word_pairs(joined_words)
    return list(map(distinct, np.split(token_ids, np.cumsum(counts)[:-1]))) if joined_words else []


def hash_word_pairs(joined_words: Sequence[str]) -> tuple[TokenIds, NDArray[np.int64]]:
    """Return the token ids of the pairs of adjacent words, text by text (uint32), and the number of pairs of each text.

    A text with fewer than two words has no pairs.

    Args:
        joined_words: for each text, the normalised words, joined by one space. A word that contains a space counts as
            two words.
    """
    if not joined_words:
        return empty_token_ids(), np.zeros(0, np.int64)
    units = np.frombuffer("\n".join(joined_words).encode("utf-16-le", "surrogatepass"), np.uint16)
    separators = np.flatnonzero((units == _SPACE) | (units == _LINE_FEED))  # a line feed is never in a word
    starts, ends = np.concatenate(([0], separators + 1)), np.concatenate((separators, [len(units)]))
    is_pair = units[separators] == _SPACE
    hashes, _ = murmur3_x64_128(units, starts[:-1][is_pair], ends[1:][is_pair])
    token_ids = (hashes >> np.uint64(64 - PAIR_BITS)).astype(np.uint32)
    texts = np.cumsum(~is_pair)[is_pair]
    return token_ids, np.bincount(texts, minlength=len(joined_words))
