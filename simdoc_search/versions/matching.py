"""Matches the similar sentences of two documents, to decide whether they are versions of each other.

Two documents are versions of each other if most sentences of one have a similar sentence in the other. Sentences are
counted, not words, so that a new or moved paragraph affects no sentence outside it. Source: Fowke, Hinze, Heese 2013
(Working paper 12/2013, University of Waikato), sections 2.3 and 5.1.1. The paper does not fix the required share.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simdoc_search.analysis.distinct import distinct_in_order
from simdoc_search.analysis.ragged_arrays import expand_runs
from simdoc_search.analysis.settings import Analysis
from simdoc_search.chunks import sentence_spans
from simdoc_search.sketch.hamming_search import HammingIndex
from simdoc_search.sketch.sentences import sentence_simhashes
from simdoc_search.sketch.simhash import SIMHASH_BITS, Simhashes, hamming_distances
from simdoc_search.sketch.thresholds import DEFAULT_MAX_DISTANCE, SentenceShares
from simdoc_search.versions.letterheads import has_too_few_matches

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class SentenceMatches(SentenceShares):
    """The similar sentences of two documents.

    Attributes:
        a: positions of the sentences in the first document that have a similar one in the second, ascending; int64,
            shape (matched,).
        b: for each sentence of `a`, the position of the most similar sentence in the second document, or of the first
            one in a tie. If both documents repeat a sentence, their n-th occurrences match.
        distances: number of simhash bits in which the sentence of `a` and the sentence of `b` differ; uint8.
    """

    a: Ints
    b: Ints
    distances: NDArray[np.uint8]


_NO_MATCHES = SentenceMatches(0.0, 0.0, False, np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.uint8))


def match_sentences(a: Simhashes, b: Simhashes, max_distance: int = DEFAULT_MAX_DISTANCE) -> SentenceMatches:
    """Match the sentences of two documents. Similar sentences differ in at most `max_distance` bits."""
    return match_sentences_with_many(a, [b], max_distance)[0]


def match_sentences_with_many(
    a: Simhashes, others: Sequence[Simhashes], max_distance: int = DEFAULT_MAX_DISTANCE
) -> list[SentenceMatches]:
    """Match the sentences of a document with the sentences of many others at once.

    Similar sentences differ in at most `max_distance` bits.
    """
    similar = _SimilarSentences(a, others, max_distance)
    return [
        similar.match(values) if has_similar else _NO_MATCHES
        for values, has_similar in zip(others, similar.has_similar, strict=True)
    ]


class _SimilarSentences:
    """The distinct sentences of one document, and the similar sentences of many others.

    `has_similar` says whether each of the others has a similar sentence; bool, shape (others,).
    """

    def __init__(self, a: Simhashes, others: Sequence[Simhashes], max_distance: int) -> None:
        self._values_a, self._number = np.unique(a, return_inverse=True)
        self._distinct_a, self._max_distance = distinct_in_order(a), max_distance
        self._values_of_others, number = np.unique(
            np.concatenate([*others, np.zeros(0, np.uint64)]), return_inverse=True
        )
        which, self._near = HammingIndex(self._values_a, max_distance).find_near(self._values_of_others)
        self._begins = np.searchsorted(which, np.arange(len(self._values_of_others) + 1))
        owner = np.repeat(np.arange(len(others)), [len(values) for values in others])
        self.has_similar = np.bincount(owner, np.diff(self._begins)[number], minlength=len(others)) > 0

    def match(self, values: Simhashes) -> SentenceMatches:
        """Match the sentences with the sentences of one of the other documents."""
        other_values, first = np.unique(values, return_index=True)
        numbers = np.searchsorted(self._values_of_others, other_values)
        counts = np.diff(self._begins)[numbers]
        other_of_pair, pair = expand_runs(self._begins[numbers], counts)
        own_of_pair = self._near[pair]
        distance = hamming_distances(self._values_a[own_of_pair], other_values[other_of_pair])
        order = np.lexsort((first[other_of_pair], distance, own_of_pair))
        similar, nearest = np.unique(own_of_pair[order], return_index=True)
        best = np.full(len(self._values_a), -1)
        best[similar] = other_of_pair[order][nearest]
        positions = np.flatnonzero(best[self._number] >= 0)
        own = self._number[positions]
        partners = _assign_positions(own, best[own], values, other_values)
        similar_in_other = int(np.count_nonzero(counts))
        return SentenceMatches(
            len(similar) / max(1, len(self._values_a)),
            similar_in_other / max(1, len(other_values)),
            has_too_few_matches(
                (self._distinct_a, values[np.sort(first)]), (len(similar), similar_in_other), self._max_distance
            ),
            positions,
            partners,
            hamming_distances(self._values_a[own], values[partners]),
        )


def _assign_positions(sentences: Ints, matches: Ints, values: Simhashes, distinct_values: Simhashes) -> Ints:
    """Return the position of the match of each sentence.

    If a sentence is repeated, its n-th occurrence gets the position of the n-th occurrence of its match, or of the last
    one if there are fewer.
    """
    by_value = np.argsort(values, kind="stable")
    begins = np.searchsorted(values[by_value], distinct_values)
    counts = np.diff(np.append(begins, len(values)))
    order = np.argsort(sentences, kind="stable")
    repeats = np.empty(len(sentences), np.int64)
    repeats[order] = np.arange(len(sentences)) - np.searchsorted(sentences[order], sentences[order])
    positions: Ints = by_value[begins[matches] + np.minimum(repeats, counts[matches] - 1)]
    return positions


def shares_by_max_distance(a: Simhashes, b: Simhashes, max_distance: int) -> list[SentenceShares]:
    """Return the shares of `match_sentences` for each maximum distance from 0 to `max_distance` bits."""
    a, b = distinct_in_order(a), distinct_in_order(b)
    which, near = HammingIndex(a, max_distance).find_near(b)
    distance = hamming_distances(a[near], b[which])
    nearest = np.full(len(a), SIMHASH_BITS), np.full(len(b), SIMHASH_BITS)
    np.minimum.at(nearest[0], near, distance)
    np.minimum.at(nearest[1], which, distance)
    shares = []
    for limit in range(max_distance + 1):
        first, second = (int(np.count_nonzero(side <= limit)) for side in nearest)
        is_too_few = has_too_few_matches((a, b), (first, second), limit)
        shares.append(SentenceShares(first / max(1, len(a)), second / max(1, len(b)), is_too_few))
    return shares


Span = tuple[int, int]


class SentencePair(NamedTuple):
    """Two similar sentences."""

    a: Span  # begin and end of the first sentence in its text, in characters
    b: Span  # begin and end of the second sentence in its text
    distance: int  # number of simhash bits in which the two differ


def sentence_pairs(a: str, b: str, analysis: Analysis, max_distance: int = DEFAULT_MAX_DISTANCE) -> list[SentencePair]:
    """Pair each sentence of the first text with the most similar sentence of the second text, if one is similar.

    Similar sentences differ in at most `max_distance` bits.

    Raises:
        MissingExtraError: sentencex is not installed.
    """
    (spans_a, values_a), (spans_b, values_b) = (_read_sentences(text, analysis) for text in (a, b))
    both = match_sentences(values_a, values_b, max_distance)
    rows = zip(both.a.tolist(), both.b.tolist(), both.distances.tolist(), strict=True)
    return [SentencePair(spans_a[first], spans_b[second], distance) for first, second, distance in rows]


def _read_sentences(text: str, analysis: Analysis) -> tuple[list[Span], Simhashes]:
    spans = sentence_spans(text)
    values, kept = sentence_simhashes([text[begin:end] for begin, end in spans], analysis)
    return [spans[number] for number in kept.tolist()], values
