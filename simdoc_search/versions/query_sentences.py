"""Chooses which sentences of a document are used as queries."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from simdoc_search.analysis.distinct import distinct
from simdoc_search.sketch.hamming_search import HammingIndex
from simdoc_search.sketch.hash_functions import mix_bits
from simdoc_search.sketch.simhash import Simhashes

MAX_QUERY_SENTENCES = 64
"""Maximum number of queried sentences.

A version with a tenth of the document's sentences is missed if it contains none of the queried sentences. The
probability is 1 in 850 (0.9 to the power of 64). A version with half of the sentences is practically never missed.
"""

MAX_RARE_SHARE = 0.1
"""A sentence is rare if at most this share of the documents have a similar sentence."""


def choose_query_sentences(simhashes: Simhashes) -> Simhashes:
    """Return at most `MAX_QUERY_SENTENCES` distinct sentences of a document: those with the smallest hashes."""
    sentences = distinct(simhashes)
    chosen: Simhashes = sentences[np.argsort(mix_bits(sentences), kind="stable")[:MAX_QUERY_SENTENCES]]
    return chosen


def select_rare_sentences(queries: Simhashes, documents: Iterable[Simhashes], max_distance: int) -> Simhashes:
    """Return the query sentences that are rare among the given documents. If no sentence is rare, return all.

    Similar sentences differ in at most `max_distance` bits.
    """
    sentences = [distinct(values) for values in documents]
    owner = np.repeat(np.arange(len(sentences)), [len(values) for values in sentences])
    document_positions, query_positions = HammingIndex(queries, max_distance).find_near(
        np.concatenate([*sentences, np.zeros(0, np.uint64)])
    )
    matched_sentences = distinct(owner[document_positions] * len(queries) + query_positions) % max(1, len(queries))
    is_rare = np.bincount(matched_sentences, minlength=len(queries)) <= MAX_RARE_SHARE * len(sentences)
    return queries[is_rare] if is_rare.any() else queries
