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

from simdoc_search.analysis.distinct import distinct
from simdoc_search.analysis.ragged_arrays import expand_runs, slices_by_cost
from simdoc_search.analysis.settings import Analysis
from simdoc_search.cancellation import check_stopped
from simdoc_search.chunks import sentence_spans
from simdoc_search.sketch.hamming_search import HammingIndex
from simdoc_search.sketch.sentences import sentence_simhashes
from simdoc_search.sketch.simhash import SIMHASH_BITS, Simhashes, hamming_distances
from simdoc_search.sketch.thresholds import DEFAULT_MAX_DISTANCE, SentenceShares, SimilarityThresholds

MIN_SHARED_SENTENCES = 2
"""Two versions must share at least this many distinct sentences, unless one of them has fewer.

A single similar sentence, for example in a short note, is weak evidence.
"""

_CELLS_PER_BATCH = 1 << 20
_MAX_COMPARED_CELLS = 1 << 22
"""Maximum number of pairs of sentences that are all compared. If there are more, an index finds the similar ones."""

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Pairs = tuple[Ints, Ints]


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
            _has_too_few_matches(len(similar), similar_in_other, len(self._values_a), len(other_values)),
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


def _has_too_few_matches(
    similar_count: int, other_similar_count: int, sentence_count: int, other_sentence_count: int
) -> bool:
    return min(similar_count, other_similar_count) < min(MIN_SHARED_SENTENCES, sentence_count, other_sentence_count)


@dataclass(frozen=True, slots=True, eq=False)
class PairShares:
    """The shares of similar sentences for many pairs of documents. `SentenceShares` describes the attributes.

    Attributes:
        share: float64, shape (pairs,).
        share_of_other: float64, shape (pairs,).
        has_too_few_matches: bool, shape (pairs,).
    """

    share: Floats
    share_of_other: Floats
    has_too_few_matches: NDArray[np.bool_]

    def scores(self, thresholds: SimilarityThresholds) -> Floats:
        """Return the score of each pair; -1 if the documents are not versions; float64, shape (pairs,)."""
        scores = np.full(len(self.share), -1.0)
        possible = ~self.has_too_few_matches & (np.maximum(self.share, self.share_of_other) >= thresholds.min_share)
        for pair in np.flatnonzero(possible).tolist():
            score = thresholds.score(float(self.share[pair]), float(self.share_of_other[pair]))
            scores[pair] = -1.0 if score is None else score
        return scores


def shares_of_pairs(
    values: Simhashes, begins: Ints, counts: Ints, pairs: Pairs, max_distance: int = DEFAULT_MAX_DISTANCE
) -> PairShares:
    """Return the shares of similar sentences for many pairs of documents.

    Args:
        values: simhashes of the sentences of all documents, one document after the other, distinct within a document;
            uint64.
        begins: position in `values` of the first sentence of each document; int64, shape (documents,).
        counts: number of sentences of each document, at least 1.
        pairs: indices of the two documents of each pair; int64, shape (pairs,).
        max_distance: maximum number of bits in which similar sentences differ.
    """
    first, second = pairs
    similar = np.zeros((2, len(first)), np.int64)
    cells_of_first = np.bincount(first, counts[first] * counts[second])
    has_many_cells = cells_of_first[first] > _CELLS_PER_BATCH
    if has_many_cells.any():
        matcher = _SentencesOfDocuments(values, begins, counts, max_distance)
        for same_first in _split_by_value(first, np.flatnonzero(has_many_cells)):
            document = int(first[same_first[0]])
            for part in slices_by_cost(np.maximum(counts[document], counts[second[same_first]]), _CELLS_PER_BATCH):
                check_stopped()
                similar[:, same_first[part]] = matcher.count_similar(document, second[same_first[part]])
    padded = _pad_counts(counts)
    shapes = padded[first] << 32 | padded[second]
    for same_shape in _split_by_value(shapes, np.flatnonzero(~has_many_cells)):
        shape = int(padded[first[same_shape[0]]]), int(padded[second[same_shape[0]]])
        for part in slices_by_cost(np.full(len(same_shape), shape[0] * shape[1]), _CELLS_PER_BATCH):
            chosen = same_shape[part]
            both = first[chosen], second[chosen]
            similar[:, chosen] = _count_similar_sentences(
                values, begins, counts, both, shape, max_distance=max_distance
            )
    count, other_count = counts[first], counts[second]
    has_too_few_matches = similar.min(axis=0) < np.minimum(MIN_SHARED_SENTENCES, np.minimum(count, other_count))
    return PairShares(similar[0] / count, similar[1] / other_count, has_too_few_matches)


def _split_by_value(values: Ints, positions: Ints) -> list[Ints]:
    """Split positions in `values` into arrays of positions with equal values."""
    ordered = positions[np.argsort(values[positions], kind="stable")]
    return np.split(ordered, np.flatnonzero(np.diff(values[ordered])) + 1) if len(ordered) else []


class _SentencesOfDocuments:
    """The sentences of many documents. `shares_of_pairs` describes the arguments."""

    def __init__(self, values: Simhashes, begins: Ints, counts: Ints, max_distance: int) -> None:
        self._values, self._begins, self._counts, self._max_distance = values, begins, counts, max_distance
        distinct_values, self._numbers = np.unique(values, return_inverse=True)  # equal sentences have equal numbers
        self._position_of_number = np.empty(len(distinct_values), np.int64)  # only valid inside of `count_similar`

    def count_similar(self, document: int, others: Ints) -> tuple[Ints, Ints]:
        """Return the counts of `_count_similar_sentences` for a document and each of the others.

        Each distinct sentence of the others is compared only once. Versions have most sentences in common.
        """
        owner, position = expand_runs(self._begins[others], self._counts[others])
        numbers = self._numbers[position]
        occurrences, positions = np.arange(len(numbers)), self._position_of_number
        positions[numbers] = occurrences
        chosen = np.flatnonzero(positions[numbers] == occurrences)  # one occurrence of each distinct sentence
        positions[numbers[chosen]] = np.arange(len(chosen))
        own = self._values[self._begins[document] : self._begins[document] + self._counts[document]]
        which, near = _find_near(own, self._values[position[chosen]], self._max_distance)
        begins_of_near = np.searchsorted(which, np.arange(len(chosen) + 1))
        sentence = positions[numbers]
        is_similar = np.diff(begins_of_near)[sentence] > 0
        owner, sentence = owner[is_similar], sentence[is_similar]
        of_pair, pair = expand_runs(begins_of_near[sentence], np.diff(begins_of_near)[sentence])
        is_in_other = np.zeros((len(others), len(own)), np.bool_)
        is_in_other[owner[of_pair], near[pair]] = True
        return is_in_other.sum(axis=1), np.bincount(owner, minlength=len(others))


def _find_near(values: Simhashes, queries: Simhashes, max_distance: int) -> tuple[Ints, Ints]:
    """Return the same as `HammingIndex.find_near`."""
    if len(values) * len(queries) > _MAX_COMPARED_CELLS:
        return HammingIndex(values, max_distance).find_near(queries)
    which, near = np.nonzero(hamming_distances(queries[:, np.newaxis], values) <= max_distance)
    return which, near


def _pad_counts(counts: Ints) -> Ints:
    """Round sentence counts up to a few distinct values, so that many pairs of documents have the same shape."""
    steps = 1 << np.maximum(np.frexp(counts.astype(np.float64))[1] - 3, 0).astype(np.int64)
    padded: Ints = -(-counts // steps) * steps
    return padded


def _count_similar_sentences(
    values: Simhashes, begins: Ints, counts: Ints, pairs: Pairs, shape: tuple[int, int], *, max_distance: int
) -> tuple[Ints, Ints]:
    """For each pair, count the sentences of both documents that have a similar sentence in the other document.

    All pairs have the same `shape`: the padded sentence counts of both documents.
    """
    first, second = (
        values[begins[side][:, np.newaxis] + np.minimum(np.arange(length), counts[side][:, np.newaxis] - 1)]
        for side, length in zip(pairs, shape, strict=True)
    )
    near = hamming_distances(first[:, :, np.newaxis], second[:, np.newaxis, :]) <= max_distance
    similar, similar_in_other = (
        (has_near & (np.arange(length) < counts[side][:, np.newaxis])).sum(axis=1)
        for has_near, side, length in zip((near.any(axis=2), near.any(axis=1)), pairs, shape, strict=True)
    )
    return similar, similar_in_other


def shares_by_max_distance(a: Simhashes, b: Simhashes, max_distance: int) -> list[SentenceShares]:
    """Return the shares of `match_sentences` for each maximum distance from 0 to `max_distance` bits."""
    a, b = distinct(a), distinct(b)
    which, near = HammingIndex(a, max_distance).find_near(b)
    distance = hamming_distances(a[near], b[which])
    nearest = np.full(len(a), SIMHASH_BITS), np.full(len(b), SIMHASH_BITS)
    np.minimum.at(nearest[0], near, distance)
    np.minimum.at(nearest[1], which, distance)
    shares = []
    for limit in range(max_distance + 1):
        first, second = (int(np.count_nonzero(side <= limit)) for side in nearest)
        has_too_few_matches = _has_too_few_matches(first, second, len(a), len(b))
        shares.append(SentenceShares(first / max(1, len(a)), second / max(1, len(b)), has_too_few_matches))
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
