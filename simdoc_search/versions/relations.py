"""How related are two documents, by their concepts?

The similarity is a cosine: 0 of documents that share no concept, 1 of such as have the same ones. It is computed twice,
over distinct concepts and over how often they occur, and the greater counts (Fowke, Hinze, Heese 2013, section 5.2.3,
Working paper 12/2013, University of Waikato); both times a concept weighs less the more documents have it, as else what
all have in common would make all related. That is done for whole documents (their section 5.2.1) and for paragraphs
(5.2.2), and the mean of both is the similarity of the two:

- Of the document with fewer paragraphs, each is compared with the one of the other that is nearest by its simhashes,
  wherever that stands. The better half of them counts, two at least, so that a paragraph about something else takes
  nothing away. A paragraph of few common concepts counts little: `_DAMPING` is added to the product of the lengths.
- Whole documents are compared as well: of long ones, some two paragraphs are always alike.

Measured with `yake` on pairs of 325 real documents in one collection: documents on different subjects have up to 0.1
(of 3,000 pairs), chapters of different books up to 0.1, one chapter in two translations 0.37 to 0.6, articles of one
handbook in one language mostly 0.22 to 0.5, documents 3 and 4 of the paper 0.3 to 0.36 and other pairs of its five up
to 0.13. By their simhashes alone pairs on different subjects look like 0.77.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simdoc_search.cancellation import check_stopped
from simdoc_search.sketch.concepts import Paragraphs, joined, paragraph_simhashes
from simdoc_search.sketch.limits import SHOWN, THETA
from simdoc_search.sketch.simhash import distances
from simdoc_search.versions.ragged_arrays import at_once, expanded

RELATED = 0.25
"""The similarity that has this score."""

_DAMPING = 1.0
_LEAST_PARAGRAPHS = 2
_CELLS_AT_ONCE = 1 << 20
_32 = np.uint64(32)

Codes = NDArray[np.uint32]
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def weights_of(frequencies: Ints, documents: int) -> Floats:
    """What concepts weigh that so many of all documents have: 1 of one that a single one has, near 0 if all have it."""
    others = np.maximum(frequencies, 1)
    found: Floats = np.log1p(max(documents, 1) / others) / math.log1p(max(documents, 1))
    return found


class Weighted:
    """The concepts of some documents, weighted; the documents are known by their numbers.

    Args:
        documents: the concepts of each.
        codes: all of these, ascending; there may be others.
        weights: what each of `codes` weighs, see `weights_of`; shape (codes,).

    Attributes:
        counts: how many paragraphs each document has; int64, shape (documents,).
    """

    def __init__(self, documents: Sequence[Paragraphs], codes: Codes, weights: Floats) -> None:
        self.counts: NDArray[np.int64] = np.array([each.count for each in documents], np.int64)
        self.begins: NDArray[np.int64] = np.cumsum(self.counts) - self.counts
        has_any = np.flatnonzero(self.counts)
        self._number = np.zeros(len(documents), np.int64)  # of its whole text, among those that have concepts
        self._number[has_any] = np.arange(len(has_any))
        self._whole = _Vectors(joined([documents[each].whole() for each in has_any.tolist()]), codes, weights)
        self._parts = _Vectors(joined(documents), codes, weights)
        parts = self._parts.paragraphs
        self._simhashes = paragraph_simhashes(parts), paragraph_simhashes(parts, self._parts.weighted)

    def whole(self, a: Ints, b: Ints) -> _Cosines:
        """The cosines of pairs of whole documents, none of them without concepts."""
        return _cosines(self._whole, self._number[a], self._number[b], 0.0)

    def paragraphs(self, fewer: Ints, more: Ints) -> _OfParagraphs:
        """The same of the paragraphs of one document of each pair, which has not more of them than the other."""
        pair, mine = expanded(self.begins[fewer], self.counts[fewer])
        row, theirs = expanded(self.begins[more][pair], self.counts[more][pair])
        bits = np.minimum(*(distances(each[mine[row]], each[theirs]) for each in self._simhashes))
        first = np.cumsum(self.counts[more][pair]) - self.counts[more][pair]
        nearest = np.minimum.reduceat(bits.astype(np.int64) << 32 | theirs, first) & 0xFFFFFFFF
        cosines = _cosines(self._parts, mine, nearest, _DAMPING)
        counted = np.minimum(self.counts[fewer], np.maximum(_LEAST_PARAGRAPHS, -(-self.counts[fewer] // 2)))
        order = np.lexsort((-cosines.values, pair))
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order)) - np.repeat(np.cumsum(self.counts[fewer]) - self.counts[fewer],
                                                        self.counts[fewer])  # fmt: skip
        share = np.where(rank < counted[pair], 1 / counted[pair], 0.0)
        means = np.asarray(np.bincount(pair, share * cosines.values, len(fewer)), np.float64)
        return _OfParagraphs(means, cosines, share)


def similarities(documents: Weighted, first: Ints, second: Ints) -> Floats:
    """How alike pairs of documents are in what they are about; see above. Of one without concepts it is 0.

    Args:
        documents: both of each pair, and perhaps others.
        first: the number of one document of each pair; int64, shape (pairs,).
        second: that of the other.

    Returns:
        float64, shape (pairs,), 0..1.
    """
    found = np.zeros(len(first))
    cells = documents.counts[first] * documents.counts[second]
    some = np.flatnonzero(cells)
    for part in at_once(cells[some], _CELLS_AT_ONCE):
        check_stopped()
        at = some[part]
        a, b = first[at], second[at]
        fewer, more = _by_paragraphs(documents, a, b)
        of_paragraphs = documents.paragraphs(fewer, more).values
        even = np.flatnonzero(documents.counts[a] == documents.counts[b])
        other = documents.paragraphs(more[even], fewer[even]).values
        of_paragraphs[even] = np.maximum(of_paragraphs[even], other)
        found[at] = (documents.whole(a, b).values + of_paragraphs) / 2
    return found


@dataclass(frozen=True, slots=True, eq=False)
class Explained:
    """What the similarity of two documents is made of.

    Attributes:
        similarity: that of the two, the mean of `whole` and `paragraphs`, 0..1.
        whole: the cosine of the whole documents, 0..1.
        paragraphs: the mean cosine of the paragraphs that count, 0..1.
        codes: the concepts that both have, ascending; uint32, shape (shared,).
        parts: what each adds to the similarity, which is the sum of all; float64, shape (shared,).
    """

    similarity: float
    whole: float
    paragraphs: float
    codes: Codes
    parts: Floats


def explained(documents: Weighted, a: int, b: int) -> Explained:
    """What the similarity of two documents is made of; both have concepts."""
    one, other = np.array([a]), np.array([b])
    whole = documents.whole(one, other)
    fewer, more = _by_paragraphs(documents, one, other)
    ways = [(fewer, more), (more, fewer)][: 1 + int(documents.counts[a] == documents.counts[b])]
    best = max((documents.paragraphs(*way) for way in ways), key=lambda each: float(each.values[0]))
    inside = best.cosines
    codes, which = np.unique(np.append(whole.codes, inside.codes), return_inverse=True)
    parts = np.append(whole.parts, inside.parts * best.share[inside.pair]) / 2
    of_whole, of_paragraphs = float(whole.values[0]), float(best.values[0])
    return Explained(
        (of_whole + of_paragraphs) / 2,
        of_whole,
        of_paragraphs,
        codes,
        np.asarray(np.bincount(which, parts, len(codes)), np.float64),
    )


def relation_score(similar: float) -> float:
    """The score of a similarity, 0..`THETA`: `SHOWN` for `RELATED`, and straight lines to both ends."""
    if similar < RELATED:
        return SHOWN * similar / RELATED
    return SHOWN + (THETA - SHOWN) * min(1.0, (similar - RELATED) / (1 - RELATED))


class _Vectors:
    """Concepts of paragraphs: what each weighs where it is, without and with how often it is there."""

    def __init__(self, paragraphs: Paragraphs, codes: Codes, weights: Floats) -> None:
        self.paragraphs = paragraphs
        numbers, count = paragraphs.numbers, paragraphs.count
        self.keys = numbers.astype(np.uint64) << _32 | paragraphs.codes  # ascending
        self.counts = np.bincount(numbers, minlength=count)
        self.begins = np.cumsum(self.counts) - self.counts
        self.plain = weights[np.searchsorted(codes, paragraphs.codes)]
        self.weighted = self.plain * (1 + np.log(paragraphs.times))
        self.lengths = [np.sqrt(np.bincount(numbers, each**2, count)) for each in (self.plain, self.weighted)]


@dataclass(frozen=True, slots=True, eq=False)
class _Cosines:
    """The cosines of pairs of paragraphs, and what each concept that both have adds to them: pair, code and part."""

    values: Floats
    pair: Ints
    codes: Codes
    parts: Floats


@dataclass(frozen=True, slots=True, eq=False)
class _OfParagraphs:
    """Of pairs of documents the mean cosine, and of each paragraph its cosine and how much that counts in the mean."""

    values: Floats
    cosines: _Cosines
    share: Floats


def _cosines(vectors: _Vectors, a: Ints, b: Ints, damping: float) -> _Cosines:
    """The cosine of each paragraph and its partner, the greater one of both ways."""
    pair, mine = expanded(vectors.begins[a], vectors.counts[a])
    wanted = b[pair].astype(np.uint64) << _32 | vectors.paragraphs.codes[mine]
    theirs = np.minimum(np.searchsorted(vectors.keys, wanted), len(vectors.keys) - 1)
    shared = np.flatnonzero(vectors.keys[theirs] == wanted)
    pair, mine, theirs = pair[shared], mine[shared], theirs[shared]
    found, parts = np.zeros((2, len(a))), np.zeros((2, len(pair)))
    for way, (each, lengths) in enumerate(zip((vectors.plain, vectors.weighted), vectors.lengths, strict=True)):
        parts[way] = each[mine] * each[theirs] / (lengths[a] * lengths[b] + damping)[pair]
        found[way] = np.bincount(pair, parts[way], len(a))
    best = found.argmax(axis=0)
    codes = vectors.paragraphs.codes[mine]
    return _Cosines(found.max(axis=0), pair, codes, parts[best[pair], np.arange(len(pair))])


def _by_paragraphs(documents: Weighted, a: Ints, b: Ints) -> tuple[Ints, Ints]:
    """Of each pair the document of fewer paragraphs, and the other."""
    is_less = documents.counts[a] <= documents.counts[b]
    return np.where(is_less, a, b), np.where(is_less, b, a)
