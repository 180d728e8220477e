"""Matches the similar sentences of two documents, to decide whether they are versions.

Two documents are versions if most sentences of one have a similar sentence in the other. Sentences are counted, not
words, so that a new or moved paragraph does not affect the other sentences. Source: Fowke, Hinze, Heese 2013 (Working
paper 12/2013, University of Waikato), sections 2.3 and 5.1.1. The paper does not fix the required share.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simdoc_search.analysis.distinct import distinct
from simdoc_search.analysis.settings import Analysis
from simdoc_search.chunks import sentence_spans
from simdoc_search.sketch.hamming_search import HammingIndex
from simdoc_search.sketch.limits import DEFAULT_MAX_DISTANCE, Limits
from simdoc_search.sketch.sentences import sentence_simhashes
from simdoc_search.sketch.simhash import SIMHASH_BITS, Simhashes, distances
from simdoc_search.versions.ragged_arrays import expand_runs, slices_by_cost

MIN_SENTENCES = 2
"""Two versions must share at least this many distinct sentences, unless one of them has fewer.

A single similar sentence, for example in a short note, is weak evidence.
"""

_CELLS_AT_ONCE = 1 << 20
_MAX_CELLS = 1 << 22
"""All sentences of two documents are compared if the product of their sentence counts is at most this."""

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class SentenceMatches:
    """The similar sentences of two documents.

    Attributes:
        a: positions of the sentences in the first document that have a similar one in the second, ascending; int64,
            shape (matched,).
        b: position of the most similar sentence in the second document for each of `a`. In a tie, the first one. If
            both documents repeat a sentence, the n-th occurrence in one matches the n-th in the other.
        bits: number of simhash bits in which the two sentences differ; uint8.
        share: share of the first document's distinct sentences that have a similar one in the second, 0..1.
        share_of_other: share of the second document's distinct sentences that have a similar one in the first, 0..1.
        has_too_few_matches: whether fewer than `MIN_SENTENCES` distinct sentences are similar, although both documents
            have at least that many sentences.
    """

    a: Ints
    b: Ints
    bits: NDArray[np.uint8]
    share: float
    share_of_other: float
    has_too_few_matches: bool = False


_NO_MATCHES = SentenceMatches(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.uint8), 0.0, 0.0)


def match_sentences(a: Simhashes, b: Simhashes, max_bits: int = DEFAULT_MAX_DISTANCE) -> SentenceMatches:
    """Match the sentences of two documents. Similar sentences differ in at most `max_bits` bits."""
    return match_with_many(a, [b], max_bits)[0]


def match_with_many(
    a: Simhashes, others: Sequence[Simhashes], max_bits: int = DEFAULT_MAX_DISTANCE
) -> list[SentenceMatches]:
    """Match the sentences of a document with the sentences of many others at once.

    Args:
        a: the simhashes of the document's sentences, in order; uint64.
        others: the simhashes of each other document.
        max_bits: maximum number of bits in which similar sentences differ.
    """
    similar = _SimilarSentences(a, others, max_bits)
    return [
        similar.match(values) if has_similar else _NO_MATCHES
        for values, has_similar in zip(others, similar.has_similar, strict=True)
    ]


class _SimilarSentences:
    """The distinct sentences of one document, and the similar sentences of many others.

    Attributes:
        has_similar: for each other document, whether it has any similar sentence; bool, shape (others,).
    """

    def __init__(self, a: Simhashes, others: Sequence[Simhashes], max_bits: int) -> None:
        self._values_a, self._number = np.unique(a, return_inverse=True)
        self._values_of_others, number = np.unique(
            np.concatenate([*others, np.zeros(0, np.uint64)]), return_inverse=True
        )
        which, self._near = HammingIndex(self._values_a, SIMHASH_BITS, max_bits).find_near(self._values_of_others)
        self._begins = np.searchsorted(which, np.arange(len(self._values_of_others) + 1))
        owner = np.repeat(np.arange(len(others)), [len(values) for values in others])
        self.has_similar = np.bincount(owner, np.diff(self._begins)[number], minlength=len(others)) > 0

    def match(self, values: Simhashes) -> SentenceMatches:
        """Match the sentences with the sentences of one of the other documents."""
        theirs, first = np.unique(values, return_index=True)
        numbers = np.searchsorted(self._values_of_others, theirs)
        counts = np.diff(self._begins)[numbers]
        theirs_of_pair, pair = expand_runs(self._begins[numbers], counts)
        mine_of_pair = self._near[pair]
        bits = distances(self._values_a[mine_of_pair], theirs[theirs_of_pair])
        order = np.lexsort((first[theirs_of_pair], bits, mine_of_pair))
        similar, nearest = np.unique(mine_of_pair[order], return_index=True)
        best = np.full(len(self._values_a), -1)
        best[similar] = theirs_of_pair[order][nearest]
        positions = np.flatnonzero(best[self._number] >= 0)
        own = self._number[positions]
        partners = _match_positions(own, best[own], values, theirs)
        similar_theirs = int(np.count_nonzero(counts))
        return SentenceMatches(
            positions,
            partners,
            distances(self._values_a[own], values[partners]),
            len(similar) / max(1, len(self._values_a)),
            similar_theirs / max(1, len(theirs)),
            _is_too_few(len(similar), similar_theirs, len(self._values_a), len(theirs)),
        )


def _match_positions(own: Ints, matches: Ints, values: Simhashes, distinct_values: Simhashes) -> Ints:
    """Return the position of each match. A repeated sentence gets the next position, or the last one again."""
    by_value = np.argsort(values, kind="stable")
    begins = np.searchsorted(values[by_value], distinct_values)
    counts = np.diff(np.append(begins, len(values)))
    order = np.argsort(own, kind="stable")
    repeats = np.empty(len(own), np.int64)
    repeats[order] = np.arange(len(own)) - np.searchsorted(own[order], own[order])
    positions: Ints = by_value[begins[matches] + np.minimum(repeats, counts[matches] - 1)]
    return positions


def _is_too_few(similar: int, similar_theirs: int, mine: int, theirs: int) -> bool:
    return min(similar, similar_theirs) < min(MIN_SENTENCES, mine, theirs)


@dataclass(frozen=True, slots=True, eq=False)
class PairShares:
    """The shares of similar sentences for many pairs of documents. `SentenceMatches` describes the attributes.

    Attributes:
        share: float64, shape (pairs,).
        share_of_other: float64, shape (pairs,).
        has_too_few_matches: bool, shape (pairs,).
    """

    share: Floats
    share_of_other: Floats
    has_too_few_matches: NDArray[np.bool_]

    def scores(self, limits: Limits) -> Floats:
        """Return the score of each pair; -1 if the documents are not versions; float64, shape (pairs,)."""
        scores = np.full(len(self.share), -1.0)
        possible = ~self.has_too_few_matches & (np.maximum(self.share, self.share_of_other) >= limits.min_share)
        for pair in np.flatnonzero(possible).tolist():
            score = limits.score(float(self.share[pair]), float(self.share_of_other[pair]))
            scores[pair] = -1.0 if score is None else score
        return scores


def shares_of_pairs(
    values: Simhashes, begins: Ints, counts: Ints, pairs: tuple[Ints, Ints], max_bits: int = DEFAULT_MAX_DISTANCE
) -> PairShares:
    """Return the shares of similar sentences for many pairs of documents.

    Args:
        values: simhashes of the sentences of all documents, one document after the other, distinct within a document;
            uint64.
        begins: position in `values` of the first sentence of each document; int64, shape (documents,).
        counts: number of sentences of each document, at least 1.
        pairs: indices of the two documents of each pair; int64, shape (pairs,).
        max_bits: maximum number of bits in which similar sentences differ.
    """
    first, second = pairs
    similar = np.zeros((2, len(first)), np.int64)
    padded = _pad_counts(counts)
    shapes = padded[first] << 32 | padded[second]
    order = np.argsort(shapes, kind="stable")
    edges = np.flatnonzero(np.diff(shapes[order])) + 1
    for same_shape in np.split(order, edges) if len(order) else []:
        shape = int(padded[first[same_shape[0]]]), int(padded[second[same_shape[0]]])
        for part in slices_by_cost(np.full(len(same_shape), shape[0] * shape[1]), _CELLS_AT_ONCE):
            chosen = same_shape[part]
            both = first[chosen], second[chosen]
            similar[:, chosen] = _count_similar(values, begins, counts, both, shape, max_bits=max_bits)
    mine, theirs = counts[first], counts[second]
    has_too_few_matches = similar.min(axis=0) < np.minimum(MIN_SENTENCES, np.minimum(mine, theirs))
    return PairShares(similar[0] / mine, similar[1] / theirs, has_too_few_matches)


def _pad_counts(counts: Ints) -> Ints:
    """Round sentence counts up to a few distinct values, so that many pairs of documents have the same shape."""
    steps = 1 << np.maximum(np.frexp(counts.astype(np.float64))[1] - 3, 0).astype(np.int64)
    padded: Ints = -(-counts // steps) * steps
    return padded


def _count_similar(
    values: Simhashes, begins: Ints, counts: Ints, pairs: tuple[Ints, Ints], shape: tuple[int, int], *, max_bits: int
) -> tuple[Ints, Ints]:
    """Count the sentences of both documents of each pair that have a similar one. All pairs have the same shape."""
    if shape[0] * shape[1] > _MAX_CELLS:  # there is a single pair of this shape
        a, b = (values[begins[side[0]] : begins[side[0]] + counts[side[0]]] for side in pairs)
        both = match_sentences(a, b, max_bits)
        return np.array([round(both.share * len(a))]), np.array([round(both.share_of_other * len(b))])
    first, second = (
        values[begins[side][:, np.newaxis] + np.minimum(np.arange(length), counts[side][:, np.newaxis] - 1)]
        for side, length in zip(pairs, shape, strict=True)
    )
    near = distances(first[:, :, np.newaxis], second[:, np.newaxis, :]) <= max_bits
    mine, theirs = (
        (has_near & (np.arange(length) < counts[side][:, np.newaxis])).sum(axis=1)
        for has_near, side, length in zip((near.any(axis=2), near.any(axis=1)), pairs, shape, strict=True)
    )
    return mine, theirs


class Shares(NamedTuple):
    """The shares of similar sentences for a maximum number of bits; see `SentenceMatches`."""

    share: float
    share_of_other: float
    has_too_few_matches: bool


def shares_by_bits(a: Simhashes, b: Simhashes, max_bits: int) -> list[Shares]:
    """Return the shares of `match_sentences` for each maximum number of bits from 0 to `max_bits`."""
    mine, theirs = distinct(a), distinct(b)
    which, near = HammingIndex(mine, SIMHASH_BITS, max_bits).find_near(theirs)
    bits = distances(mine[near], theirs[which])
    nearest = np.full(len(mine), SIMHASH_BITS), np.full(len(theirs), SIMHASH_BITS)
    np.minimum.at(nearest[0], near, bits)
    np.minimum.at(nearest[1], which, bits)
    shares = []
    for limit in range(max_bits + 1):
        one, other = (int(np.count_nonzero(side <= limit)) for side in nearest)
        has_too_few_matches = _is_too_few(one, other, len(mine), len(theirs))
        shares.append(Shares(one / max(1, len(mine)), other / max(1, len(theirs)), has_too_few_matches))
    return shares


Span = tuple[int, int]


class SentencePair(NamedTuple):
    """Two similar sentences."""

    a: Span  # begin and end of the first sentence in its text, in characters
    b: Span  # begin and end of the second sentence in its text
    bits: int  # number of bits in which the two differ


def sentence_pairs(a: str, b: str, analysis: Analysis, max_bits: int = DEFAULT_MAX_DISTANCE) -> list[SentencePair]:
    """Return each sentence of the first text that has a similar one in the second, with the most similar one.

    Similar sentences differ in at most `max_bits` bits.

    Raises:
        MissingExtraError: sentencex is not installed.
    """
    (spans_a, values_a), (spans_b, values_b) = (_read_sentences(text, analysis) for text in (a, b))
    both = match_sentences(values_a, values_b, max_bits)
    rows = zip(both.a.tolist(), both.b.tolist(), both.bits.tolist(), strict=True)
    return [SentencePair(spans_a[one], spans_b[other], bits) for one, other, bits in rows]


def _read_sentences(text: str, analysis: Analysis) -> tuple[list[Span], Simhashes]:
    spans = sentence_spans(text)
    values, kept = sentence_simhashes([text[begin:end] for begin, end in spans], analysis)
    return [spans[number] for number in kept.tolist()], values
