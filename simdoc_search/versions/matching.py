"""Which sentences do two documents have in common, nearly word for word, and is that enough to be versions?

A is a version of B when most of what one says the other says too. Sentences, not words, are counted: a paragraph that
is new, or stands elsewhere, leaves the others as they are. Source: Fowke, Hinze, Heese 2013 (Working paper 12/2013,
University of Waikato), sections 2.3 and 5.1.1; which share is enough it leaves open.
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
from simdoc_search.sketch.simhash import BITS as OF_BITS
from simdoc_search.sketch.simhash import Simhashes, distances
from simdoc_search.versions.ragged_arrays import at_once

LEAST_SENTENCES = 2
"""Distinct ones that are near, of documents that have as many: one in common, as of a short note, says little."""

_CELLS_AT_ONCE = 1 << 20
_MOST_CELLS = 1 << 22
"""Sentences of one document times those of the other; of more they are looked up instead of compared all with all."""

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Matched:
    """Which sentences of one document have a near one in another.

    Attributes:
        a: the sentences of the first that have one, ascending; int64, shape (matched,).
        b: for each the one that is nearest: of fewest bits, then the first such. Of equal sentences the first has the
            first, the second the second, and so on.
        bits: in how many bits they differ; uint8.
        share: the share of the first document's sentences that have one, 0..1; a sentence that it repeats counts once.
        share_of_other: the share of the other's sentences that have a near one in the first, likewise.
        too_few: whether less than `LEAST_SENTENCES` distinct ones are near, and both documents have as many.
    """

    a: Ints
    b: Ints
    bits: NDArray[np.uint8]
    share: float
    share_of_other: float
    too_few: bool = False


_NOTHING = Matched(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.uint8), 0.0, 0.0)


def matched(a: Simhashes, b: Simhashes, most: int = BITS) -> Matched:
    """Which sentences of `a` have a near one in `b`; two are near that differ in up to `most` bits."""
    return matched_with_many(a, [b], most)[0]


def matched_with_many(a: Simhashes, others: Sequence[Simhashes], most: int = BITS) -> list[Matched]:
    """The same for many documents at once, of which all sentences are looked up together.

    Args:
        a: the simhashes of the sentences of a document, in order; uint64.
        others: those of each other document.
        most: in how many bits two sentences may differ and are near.
    """
    near = _Near(a, others, most)
    return [near.matched(each) if any_near else _NOTHING for each, any_near in zip(others, near.any, strict=True)]


@dataclass(frozen=True, slots=True, eq=False)
class PairShares:
    """How much pairs of documents have in common: of each what `Matched` says under the same names.

    Attributes:
        share: float64, shape (pairs,).
        share_of_other: the same.
        too_few: bool, shape (pairs,).
    """

    share: Floats
    share_of_other: Floats
    too_few: NDArray[np.bool_]

    def scores(self, limits: Limits) -> Floats:
        """The scores of the pairs; -1 of those that are no versions. float64, shape (pairs,)."""
        found = np.full(len(self.share), -1.0)
        possible = ~self.too_few & (np.maximum(self.share, self.share_of_other) >= limits.enough)
        for at in np.flatnonzero(possible).tolist():
            score = limits.score(float(self.share[at]), float(self.share_of_other[at]))
            found[at] = -1.0 if score is None else score
        return found


def shares_of_pairs(
    values: Simhashes, begins: Ints, counts: Ints, pairs: tuple[Ints, Ints], most: int = BITS
) -> PairShares:
    """How much many pairs of documents have in common.

    Args:
        values: the distinct sentences of the first document, then those of the second, and so on; uint64.
        begins: where those of each document begin; int64, shape (documents,).
        counts: how many each has, at least 1.
        pairs: the number of one document of each pair, and that of the other; int64, shape (pairs,).
        most: in how many bits two sentences may differ and are near.
    """
    first, second = pairs
    found = np.zeros((2, len(first)), np.int64)
    wide = _wider(counts)
    shapes = wide[first] << 32 | wide[second]
    order = np.argsort(shapes, kind="stable")
    edges = np.flatnonzero(np.diff(shapes[order])) + 1
    for alike in np.split(order, edges) if len(order) else []:
        sizes = int(wide[first[alike[0]]]), int(wide[second[alike[0]]])
        for part in at_once(np.full(len(alike), sizes[0] * sizes[1]), _CELLS_AT_ONCE):
            at = alike[part]
            found[:, at] = _near_counts(values, begins, counts, (first[at], second[at]), sizes, most=most)
    mine, theirs = counts[first], counts[second]
    too_few = found.min(axis=0) < np.minimum(LEAST_SENTENCES, np.minimum(mine, theirs))
    return PairShares(found[0] / mine, found[1] / theirs, too_few)


def _wider(counts: Ints) -> Ints:
    """Lengths of which there are few, each a little more than the count, so that many pairs have the same ones."""
    steps = 1 << np.maximum(np.frexp(counts.astype(np.float64))[1] - 3, 0).astype(np.int64)
    found: Ints = -(-counts // steps) * steps
    return found


def _near_counts(
    values: Simhashes, begins: Ints, counts: Ints, who: tuple[Ints, Ints], sizes: tuple[int, int], *, most: int
) -> tuple[Ints, Ints]:
    """How many sentences of both documents of each pair have a near one in the other; both are of about these sizes."""
    if sizes[0] * sizes[1] > _MOST_CELLS:  # one pair
        a, b = (values[begins[each[0]] : begins[each[0]] + counts[each[0]]] for each in who)
        both = matched(a, b, most)
        return np.array([round(both.share * len(a))]), np.array([round(both.share_of_other * len(b))])
    of_first, of_second = (
        values[begins[each][:, np.newaxis] + np.minimum(np.arange(size), counts[each][:, np.newaxis] - 1)]
        for each, size in zip(who, sizes, strict=True)
    )
    near = distances(of_first[:, :, np.newaxis], of_second[:, np.newaxis, :]) <= most
    has_near = (near.any(axis=2), near.any(axis=1))
    mine, theirs = (
        (each & (np.arange(size) < counts[one][:, np.newaxis])).sum(axis=1)
        for each, one, size in zip(has_near, who, sizes, strict=True)
    )
    return mine, theirs


class SharesAt(NamedTuple):
    """The shares of `Matched` for some number of bits."""

    share: float
    share_of_other: float
    too_few: bool


def shares_by_bits(a: Simhashes, b: Simhashes, most: int) -> list[SharesAt]:
    """What `matched` says of shares for each number of bits, from 0 to `most`; for less than asking each time."""
    mine, theirs = distinct(a), distinct(b)
    which, near = NearBits(mine, OF_BITS, most).near(theirs)
    bits = distances(mine[near], theirs[which])
    nearest = np.full(len(mine), OF_BITS), np.full(len(theirs), OF_BITS)
    np.minimum.at(nearest[0], near, bits)
    np.minimum.at(nearest[1], which, bits)
    found = [tuple(int(np.count_nonzero(each <= at)) for each in nearest) for at in range(most + 1)]
    sizes = len(mine), len(theirs)
    return [
        SharesAt(one / max(1, sizes[0]), other / max(1, sizes[1]), _too_few(one, other, *sizes)) for one, other in found
    ]


def _too_few(found: int, near: int, mine: int, theirs: int) -> bool:
    return min(found, near) < min(LEAST_SENTENCES, mine, theirs)


class _Near:
    """The distinct sentences of one document, and which of those of all others are near to each.

    Attributes:
        any: whether each other has a near one at all.
    """

    def __init__(self, a: Simhashes, others: Sequence[Simhashes], most: int) -> None:
        self._mine, self._where = np.unique(a, return_inverse=True)
        self._theirs, at = np.unique(np.concatenate([*others, np.zeros(0, np.uint64)]), return_inverse=True)
        which, self._near = NearBits(self._mine, OF_BITS, most).near(self._theirs)
        self._begins = np.searchsorted(which, np.arange(len(self._theirs) + 1))
        of_document = np.repeat(np.arange(len(others)), [len(each) for each in others])
        self.any = np.bincount(of_document, np.diff(self._begins)[at], minlength=len(others)) > 0

    def matched(self, values: Simhashes) -> Matched:
        """With one of the others."""
        theirs, first = np.unique(values, return_index=True)
        at = np.searchsorted(self._theirs, theirs)
        counts = self._begins[at + 1] - self._begins[at]
        of_other = np.repeat(np.arange(len(theirs)), counts)
        inside = np.arange(len(of_other)) - np.repeat(np.cumsum(counts) - counts, counts)
        of_mine = self._near[np.repeat(self._begins[at], counts) + inside]
        order = np.lexsort((first[of_other], distances(self._mine[of_mine], theirs[of_other]), of_mine))
        found, at_best = np.unique(of_mine[order], return_index=True)
        best = np.full(len(self._mine), -1)
        best[found] = of_other[order][at_best]
        places = np.flatnonzero(best[self._where] >= 0)
        numbers = self._where[places]
        partner = _partners(numbers, best[numbers], values, theirs)
        near = int(np.count_nonzero(counts))
        return Matched(
            places,
            partner,
            distances(self._mine[numbers], values[partner]),
            len(found) / max(1, len(self._mine)),
            near / max(1, len(theirs)),
            _too_few(len(found), near, len(self._mine), len(theirs)),
        )


def _partners(mine: Ints, wanted: Ints, values: Simhashes, distinct: Simhashes) -> Ints:
    """The places of the sentences that are wanted: for equal ones the next, and the last where there is none."""
    by_number = np.argsort(values, kind="stable")
    begins = np.searchsorted(values[by_number], distinct)
    counts = np.diff(np.append(begins, len(values)))
    rank = np.minimum(_ranks(mine), counts[wanted] - 1)
    partner: Ints = by_number[begins[wanted] + rank]
    return partner


def _ranks(numbers: Ints) -> Ints:
    """How many equal ones stand before each."""
    order = np.argsort(numbers, kind="stable")
    ordered = numbers[order]
    ranks = np.empty(len(numbers), np.int64)
    ranks[order] = np.arange(len(numbers)) - np.searchsorted(ordered, ordered)
    return ranks


Span = tuple[int, int]


class SentencePair(NamedTuple):
    """Two sentences: their first characters and those after their last, and in how many bits they differ."""

    a: Span
    b: Span
    bits: int


def sentence_pairs(a: str, b: str, analysis: Analysis, most: int = BITS) -> list[SentencePair]:
    """The sentences of the first text that have a near one in the second, in order, each with the nearest.

    Two sentences are near that differ in up to `most` bits.

    Raises:
        MissingExtraError: sentencex is not installed.
    """
    (spans_a, values_a), (spans_b, values_b) = (_sentences(text, analysis) for text in (a, b))
    found = matched(values_a, values_b, most)
    rows = zip(found.a.tolist(), found.b.tolist(), found.bits.tolist(), strict=True)
    return [SentencePair(spans_a[one], spans_b[other], bits) for one, other, bits in rows]


def _sentences(text: str, analysis: Analysis) -> tuple[list[Span], Simhashes]:
    spans = sentence_spans(text)
    values, kept = sentence_simhashes([text[begin:end] for begin, end in spans], analysis)
    return [spans[each] for each in kept.tolist()], values
