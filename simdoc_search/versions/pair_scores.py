"""Computes the scores of many pairs of documents at once, from their similar sentences."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from simdoc_search.analysis.ragged_arrays import expand_runs, slices_by_cost
from simdoc_search.cancellation import check_stopped
from simdoc_search.sketch.hamming_search import HammingIndex
from simdoc_search.sketch.simhash import Simhashes, hamming_distances
from simdoc_search.sketch.thresholds import SimilarityThresholds
from simdoc_search.versions.letterheads import has_too_few_matches

_CELLS_PER_BATCH = 1 << 20
_MAX_COMPARED_CELLS = 1 << 22
"""Maximum number of pairs of sentences that are all compared. If there are more, an index finds the similar ones."""

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Pairs = tuple[Ints, Ints]


def score_pairs(
    values: Simhashes, begins: Ints, counts: Ints, pairs: Pairs, thresholds: SimilarityThresholds
) -> Floats:
    """Return the score of each pair of documents; -1 if they are not versions; float64, shape (pairs,).

    Args:
        values: simhashes of the sentences of all documents, one document after the other, in the order of the texts,
            distinct within a document; uint64.
        begins: position in `values` of the first sentence of each document; int64, shape (documents,).
        counts: number of sentences of each document, at least 1.
        pairs: indices of the two documents of each pair; int64, shape (pairs,).
        thresholds: the thresholds that decide whether two documents are versions of each other.
    """
    first, second = pairs
    similar = _count_similar_of_pairs(values, begins, counts, pairs, thresholds.max_distance)
    scores = np.full(len(first), -1.0)
    shares = similar / counts[np.vstack(pairs)]
    larger = shares.max(axis=0, initial=0.0)
    for pair in np.flatnonzero(larger >= thresholds.min_share).tolist():
        a, b = (values[begins[side] : begins[side] + counts[side]] for side in (first[pair], second[pair]))
        similar_counts = int(similar[0, pair]), int(similar[1, pair])
        if has_too_few_matches((a, b), similar_counts, thresholds.max_distance):
            continue
        score = thresholds.score(float(shares[0, pair]), float(shares[1, pair]))
        scores[pair] = -1.0 if score is None else score
    return scores


def _count_similar_of_pairs(
    values: Simhashes, begins: Ints, counts: Ints, pairs: Pairs, max_distance: int
) -> NDArray[np.int64]:
    """For each pair, count the sentences of both documents that have a similar one in the other; shape (2, pairs)."""
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
    return similar


def _split_by_value(values: Ints, positions: Ints) -> list[Ints]:
    """Split positions in `values` into arrays of positions with equal values."""
    ordered = positions[np.argsort(values[positions], kind="stable")]
    return np.split(ordered, np.flatnonzero(np.diff(values[ordered])) + 1) if len(ordered) else []


class _SentencesOfDocuments:
    """The sentences of many documents. `score_pairs` describes the arguments."""

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
