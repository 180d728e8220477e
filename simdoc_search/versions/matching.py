"""Matches the similar sentences of two documents, to decide whether they are versions.

Two documents are versions if the other document has most sentences of one of them. Sentences are counted, not words, so
that a new or moved paragraph leaves the others as they are. Source: Fowke, Hinze, Heese 2013 (Working paper 12/2013,
University of Waikato), sections 2.3 and 5.1.1, which leaves the required share open.
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
from simdoc_search.sketch.limits import BITS, Limits
from simdoc_search.sketch.near_bits import NearBits
from simdoc_search.sketch.sentences import sentence_simhashes
from simdoc_search.sketch.simhash import BITS as SIMHASH_BITS
from simdoc_search.sketch.simhash import Simhashes, distances
from simdoc_search.versions.ragged_arrays import expand_runs, slices_by_cost

MIN_SENTENCES = 2
"""Minimum number of distinct similar sentences, if both documents have as many. A single one, as of a short note, says
little."""

_CELLS_AT_ONCE = 1 << 20
_MAX_CELLS = 1 << 22
"""Maximum number of sentences of one document times those of the other that are compared all with all."""

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Matched:
    """The sentences of one document that have a similar one in another.

    Attributes:
        a: these sentences of the first document, ascending; int64, shape (matched,).
        b: for each the most similar sentence of the second document, of several the first. If a sentence is repeated,
            the first one has the first, the second one the second, and so on.
        bits: number of simhash bits in which they differ; uint8.
        share: share of the first document's distinct sentences that have a similar one, 0..1.
        share_of_other: share of the second document's distinct sentences that have a similar one in the first, 0..1.
        too_few: whether fewer than `MIN_SENTENCES` distinct sentences are similar, though both documents have as many.
    """

    a: Ints
    b: Ints
    bits: NDArray[np.uint8]
    share: float
    share_of_other: float
    too_few: bool = False


_NOTHING = Matched(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.uint8), 0.0, 0.0)


def matched(a: Simhashes, b: Simhashes, most: int = BITS) -> Matched:
    """Match the sentences of two documents; similar ones differ in at most `most` bits."""
    return matched_with_many(a, [b], most)[0]


def matched_with_many(a: Simhashes, others: Sequence[Simhashes], most: int = BITS) -> list[Matched]:
    """Match the sentences of a document with those of many others at once.

    Args:
        a: the simhashes of the document's sentences, in order; uint64.
        others: the simhashes of each other document.
        most: maximum number of bits in which similar sentences differ.
    """
    near = _SimilarSentences(a, others, most)
    return [
        near.matched(values) if is_any_near else _NOTHING
        for values, is_any_near in zip(others, near.is_any_near, strict=True)
    ]


class _SimilarSentences:
    """The distinct sentences of one document, and the similar sentences of others.

    Attributes:
        is_any_near: whether each other document has any similar sentence.
    """

    def __init__(self, a: Simhashes, others: Sequence[Simhashes], most: int) -> None:
        self._mine, self._number = np.unique(a, return_inverse=True)
        self._theirs, number = np.unique(np.concatenate([*others, np.zeros(0, np.uint64)]), return_inverse=True)
        which, self._near = NearBits(self._mine, SIMHASH_BITS, most).near(self._theirs)
        self._begins = np.searchsorted(which, np.arange(len(self._theirs) + 1))
        owner = np.repeat(np.arange(len(others)), [len(values) for values in others])
        self.is_any_near = np.bincount(owner, np.diff(self._begins)[number], minlength=len(others)) > 0

    def matched(self, values: Simhashes) -> Matched:
        """Match one of the other documents."""
        theirs, first = np.unique(values, return_index=True)
        numbers = np.searchsorted(self._theirs, theirs)
        counts = np.diff(self._begins)[numbers]
        theirs_of_pair, pair = expand_runs(self._begins[numbers], counts)
        mine_of_pair = self._near[pair]
        bits = distances(self._mine[mine_of_pair], theirs[theirs_of_pair])
        order = np.lexsort((first[theirs_of_pair], bits, mine_of_pair))
        similar, nearest = np.unique(mine_of_pair[order], return_index=True)
        best = np.full(len(self._mine), -1)
        best[similar] = theirs_of_pair[order][nearest]
        places = np.flatnonzero(best[self._number] >= 0)
        mine = self._number[places]
        partners = _partners(mine, best[mine], values, theirs)
        similar_theirs = int(np.count_nonzero(counts))
        return Matched(
            places,
            partners,
            distances(self._mine[mine], values[partners]),
            len(similar) / max(1, len(self._mine)),
            similar_theirs / max(1, len(theirs)),
            _is_too_few(len(similar), similar_theirs, len(self._mine), len(theirs)),
        )


def _partners(mine: Ints, wanted: Ints, values: Simhashes, distinct_values: Simhashes) -> Ints:
    """Return the places of the wanted sentences. Repeated ones get the next place, or the last if there is none."""
    by_value = np.argsort(values, kind="stable")
    begins = np.searchsorted(values[by_value], distinct_values)
    counts = np.diff(np.append(begins, len(values)))
    order = np.argsort(mine, kind="stable")
    repeats = np.empty(len(mine), np.int64)
    repeats[order] = np.arange(len(mine)) - np.searchsorted(mine[order], mine[order])
    places: Ints = by_value[begins[wanted] + np.minimum(repeats, counts[wanted] - 1)]
    return places


def _is_too_few(similar: int, similar_theirs: int, mine: int, theirs: int) -> bool:
    return min(similar, similar_theirs) < min(MIN_SENTENCES, mine, theirs)


@dataclass(frozen=True, slots=True, eq=False)
class PairShares:
    """What pairs of documents share, as the attributes of `Matched` with the same names.

    Attributes:
        share: float64, shape (pairs,).
        share_of_other: float64, shape (pairs,).
        too_few: bool, shape (pairs,).
    """

    share: Floats
    share_of_other: Floats
    too_few: NDArray[np.bool_]

    def scores(self, limits: Limits) -> Floats:
        """Return the scores of the pairs, -1 for pairs that are not versions; float64, shape (pairs,)."""
        scores = np.full(len(self.share), -1.0)
        possible = ~self.too_few & (np.maximum(self.share, self.share_of_other) >= limits.enough)
        for pair in np.flatnonzero(possible).tolist():
            score = limits.score(float(self.share[pair]), float(self.share_of_other[pair]))
            scores[pair] = -1.0 if score is None else score
        return scores


def shares_of_pairs(
    values: Simhashes, begins: Ints, counts: Ints, pairs: tuple[Ints, Ints], most: int = BITS
) -> PairShares:
    """Return what many pairs of documents share.

    Args:
        values: the distinct sentences of the first document, then of the second, and so on; uint64.
        begins: first place of each document; int64, shape (documents,).
        counts: number of sentences of each document, at least 1.
        pairs: the numbers of both documents of each pair; int64, shape (pairs,).
        most: maximum number of bits in which similar sentences differ.
    """
    first, second = pairs
    similar = np.zeros((2, len(first)), np.int64)
    padded = _padded(counts)
    shapes = padded[first] << 32 | padded[second]
    order = np.argsort(shapes, kind="stable")
    edges = np.flatnonzero(np.diff(shapes[order])) + 1
    for same_shape in np.split(order, edges) if len(order) else []:
        shape = int(padded[first[same_shape[0]]]), int(padded[second[same_shape[0]]])
        for part in slices_by_cost(np.full(len(same_shape), shape[0] * shape[1]), _CELLS_AT_ONCE):
            chosen = same_shape[part]
            both = first[chosen], second[chosen]
            similar[:, chosen] = _similar_counts(values, begins, counts, both, shape, most=most)
    mine, theirs = counts[first], counts[second]
    too_few = similar.min(axis=0) < np.minimum(MIN_SENTENCES, np.minimum(mine, theirs))
    return PairShares(similar[0] / mine, similar[1] / theirs, too_few)


def _padded(counts: Ints) -> Ints:
    """Round up to few distinct lengths, so that many pairs of documents have the same shape."""
    steps = 1 << np.maximum(np.frexp(counts.astype(np.float64))[1] - 3, 0).astype(np.int64)
    padded: Ints = -(-counts // steps) * steps
    return padded


def _similar_counts(
    values: Simhashes, begins: Ints, counts: Ints, pairs: tuple[Ints, Ints], shape: tuple[int, int], *, most: int
) -> tuple[Ints, Ints]:
    """Count the sentences of both documents of each pair that have a similar one, for pairs of one padded shape."""
    if shape[0] * shape[1] > _MAX_CELLS:  # then it is a single pair
        a, b = (values[begins[side[0]] : begins[side[0]] + counts[side[0]]] for side in pairs)
        both = matched(a, b, most)
        return np.array([round(both.share * len(a))]), np.array([round(both.share_of_other * len(b))])
    first, second = (
        values[begins[side][:, np.newaxis] + np.minimum(np.arange(length), counts[side][:, np.newaxis] - 1)]
        for side, length in zip(pairs, shape, strict=True)
    )
    near = distances(first[:, :, np.newaxis], second[:, np.newaxis, :]) <= most
    mine, theirs = (
        (has_near & (np.arange(length) < counts[side][:, np.newaxis])).sum(axis=1)
        for has_near, side, length in zip((near.any(axis=2), near.any(axis=1)), pairs, shape, strict=True)
    )
    return mine, theirs


class SharesAt(NamedTuple):
    """The shares of `Matched` for one number of bits."""

    share: float
    share_of_other: float
    too_few: bool


def shares_by_bits(a: Simhashes, b: Simhashes, most: int) -> list[SharesAt]:
    """Return the shares of `matched` for each number of bits from 0 to `most`, computed at once."""
    mine, theirs = distinct(a), distinct(b)
    which, near = NearBits(mine, SIMHASH_BITS, most).near(theirs)
    bits = distances(mine[near], theirs[which])
    nearest = np.full(len(mine), SIMHASH_BITS), np.full(len(theirs), SIMHASH_BITS)
    np.minimum.at(nearest[0], near, bits)
    np.minimum.at(nearest[1], which, bits)
    shares = []
    for limit in range(most + 1):
        one, other = (int(np.count_nonzero(side <= limit)) for side in nearest)
        too_few = _is_too_few(one, other, len(mine), len(theirs))
        shares.append(SharesAt(one / max(1, len(mine)), other / max(1, len(theirs)), too_few))
    return shares


Span = tuple[int, int]


class SentencePair(NamedTuple):
    """Two similar sentences: first character and end of each, and the number of bits in which they differ."""

    a: Span
    b: Span
    bits: int


def sentence_pairs(a: str, b: str, analysis: Analysis, most: int = BITS) -> list[SentencePair]:
    """Return the sentences of the first text that have a similar one in the second, each with the most similar.

    Similar sentences differ in at most `most` bits.

    Raises:
        MissingExtraError: sentencex is not installed.
    """
    (spans_a, values_a), (spans_b, values_b) = (_sentences(text, analysis) for text in (a, b))
    both = matched(values_a, values_b, most)
    rows = zip(both.a.tolist(), both.b.tolist(), both.bits.tolist(), strict=True)
    return [SentencePair(spans_a[one], spans_b[other], bits) for one, other, bits in rows]


def _sentences(text: str, analysis: Analysis) -> tuple[list[Span], Simhashes]:
    spans = sentence_spans(text)
    values, kept = sentence_simhashes([text[begin:end] for begin, end in spans], analysis)
    return [spans[number] for number in kept.tolist()], values
