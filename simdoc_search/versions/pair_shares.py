"""Computes the shares of similar sentences for many pairs of documents at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simdoc_search.analysis.ragged_arrays import expand_runs, slices_by_cost
from simdoc_search.cancellation import check_stopped
from simdoc_search.sketch.hamming_search import HammingIndex
from simdoc_search.sketch.simhash import Simhashes, hamming_distances
from simdoc_search.sketch.thresholds import DEFAULT_MAX_DISTANCE, SimilarityThresholds
from simdoc_search.versions.matching import MIN_SHARED_SENTENCES

_CELLS_PER_BATCH = 1 << 20
_MAX_COMPARED_CELLS = 1 << 22
"""Maximum number of pairs of sentences that are all compared. If there are more, an index finds the similar ones."""

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Pairs = tuple[Ints, Ints]


@dataclass(frozen=True, slots=True, eq=False)
class PairShares:
    """The shares of similar sentences for many pairs of documents. `SentenceShares` describes the attributes."""

    share: Floats  # float64, shape (pairs,)
    share_of_other: Floats  # float64, shape (pairs,)
    has_too_few_matches: NDArray[np.bool_]  # bool, shape (pairs,)

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
