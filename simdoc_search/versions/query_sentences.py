"""Chooses the sentences of a document to query."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from simdoc_search.analysis.distinct import distinct
from simdoc_search.sketch.hash_functions import mixed
from simdoc_search.sketch.near_bits import NearBits
from simdoc_search.sketch.simhash import SIMHASH_BITS, Simhashes

MAX_QUERIED = 64
"""Maximum number of queried sentences.

If a version contains a tenth of a document's sentences, it contains none of the queried sentences in one of 850 cases
(0.9 to the power of 64). If it contains half of the sentences, this practically never happens.
"""

RARITY = 10
"""A sentence is rare if at most one in this many documents has a similar one."""


def query_sentences(values: Simhashes) -> Simhashes:
    """Return at most `MAX_QUERIED` distinct sentences of a document. Those with the smallest hashes are chosen."""
    sentences = distinct(values)
    chosen: Simhashes = sentences[np.argsort(mixed(sentences), kind="stable")[:MAX_QUERIED]]
    return chosen


def rare_sentences(queried: Simhashes, documents: Iterable[Simhashes], max_bits: int) -> Simhashes:
    """Return the queried sentences that are rare in some documents. If none is rare, return all.

    Args:
        queried: simhashes of distinct sentences; uint64.
        documents: simhashes of the sentences of each document.
        max_bits: maximum number of bits in which similar sentences differ.
    """
    sentences = [distinct(values) for values in documents]
    owner = np.repeat(np.arange(len(sentences)), [len(values) for values in sentences])
    which, near = NearBits(queried, SIMHASH_BITS, max_bits).near(np.concatenate([*sentences, np.zeros(0, np.uint64)]))
    having = distinct(owner[which] * len(queried) + near) % max(1, len(queried))
    is_rare = RARITY * np.bincount(having, minlength=len(queried)) <= len(sentences)
    return queried[is_rare] if is_rare.any() else queried
