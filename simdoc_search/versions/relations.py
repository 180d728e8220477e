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

import numpy as np
from numpy.typing import NDArray

from simdoc_search.sketch.concepts import Paragraphs, paragraph_simhashes
from simdoc_search.sketch.limits import SHOWN, THETA
from simdoc_search.sketch.simhash import Simhashes, distances

__all__ = ["SHOWN", "Weighted", "relation_score", "similarity", "weights_of"]

RELATED = 0.25
"""The similarity that has this score."""

_DAMPING = 1.0
_LEAST_PARAGRAPHS = 2

Codes = NDArray[np.uint32]
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def weights_of(frequencies: Ints, documents: int) -> Floats:
    """What concepts weigh that so many of all documents have: 1 of one that a single one has, near 0 if all have it."""
    others = np.maximum(frequencies, 1)
    found: Floats = np.log1p(max(documents, 1) / others) / math.log1p(max(documents, 1))
    return found


class Weighted:
    """The concepts of a document, weighted.

    Args:
        paragraphs: its concepts.
        codes: all of these, ascending; there may be others.
        weights: what each of `codes` weighs, see `weights_of`; shape (codes,).
    """

    def __init__(self, paragraphs: Paragraphs, codes: Codes, weights: Floats) -> None:
        self.count = paragraphs.count
        self.whole = _Vectors(paragraphs.whole(), codes, weights)
        self.parts = _Vectors(paragraphs, codes, weights)
        self.simhashes = paragraph_simhashes(paragraphs), paragraph_simhashes(paragraphs, self.parts.weighted)


class _Vectors:
    """Concepts of paragraphs: what each weighs where it is, without and with how often it is there."""

    def __init__(self, paragraphs: Paragraphs, codes: Codes, weights: Floats) -> None:
        self.codes, self.numbers, self.count = paragraphs.codes, paragraphs.numbers, paragraphs.count
        self.plain = weights[np.searchsorted(codes, paragraphs.codes)]
        self.weighted = self.plain * (1 + np.log(paragraphs.times))
        self.lengths = [np.sqrt(np.bincount(self.numbers, each**2, self.count)) for each in (self.plain, self.weighted)]


def similarity(a: Weighted, b: Weighted) -> float:
    """How alike two documents are in what they are about, 0..1; see above. Of one without concepts it is 0."""
    if not a.count or not b.count:
        return 0.0
    whole = _cosines(a.whole, b.whole, np.zeros(1, np.int64), 0.0)[0]
    ways = [(a, b)] if a.count < b.count else [(b, a)] if b.count < a.count else [(a, b), (b, a)]
    return float(whole + max(_of_paragraphs(fewer, more) for fewer, more in ways)) / 2


def relation_score(similar: float) -> float:
    """The score of a similarity, 0..`THETA`: `SHOWN` for `RELATED`, and straight lines to both ends."""
    if similar < RELATED:
        return SHOWN * similar / RELATED
    return SHOWN + (THETA - SHOWN) * min(1.0, (similar - RELATED) / (1 - RELATED))


def _of_paragraphs(fewer: Weighted, more: Weighted) -> float:
    cosines = np.sort(_cosines(fewer.parts, more.parts, _nearest(fewer.simhashes, more.simhashes), _DAMPING))[::-1]
    counted = min(len(cosines), max(_LEAST_PARAGRAPHS, math.ceil(len(cosines) / 2)))
    return float(cosines[:counted].mean())


def _nearest(a: tuple[Simhashes, Simhashes], b: tuple[Simhashes, Simhashes]) -> Ints:
    """For each paragraph the one of the other document that differs in fewest bits, of either simhash."""
    bits = [distances(mine[:, np.newaxis], theirs[np.newaxis]) for mine, theirs in zip(a, b, strict=True)]
    found: Ints = np.minimum(*bits).argmin(axis=1)
    return found


def _cosines(a: _Vectors, b: _Vectors, partners: Ints, damping: float) -> Floats:
    """The cosine of each paragraph and its partner, the greater one of both."""
    wanted = partners[a.numbers].astype(np.uint64) << np.uint64(32) | a.codes
    keys = b.numbers.astype(np.uint64) << np.uint64(32) | b.codes  # ascending
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    shared = keys[at] == wanted
    found = np.zeros((2, a.count))
    for way, (mine, theirs) in enumerate(((a.plain, b.plain), (a.weighted, b.weighted))):
        products = np.bincount(a.numbers, np.where(shared, mine * theirs[at], 0.0), a.count)
        found[way] = products / (a.lengths[way] * b.lengths[way][partners] + damping)
    best: Floats = found.max(axis=0)
    return best
