"""Computes the similarity of two documents from their concepts.

A concept weighs less if more documents contain it. Two cosines are computed from these weights. The first one uses only
the distinct concepts. The second one also uses the number of occurrences of each concept. Both are 0 if no concept is
shared. The first one is 1 if all concepts are shared. The greater cosine is used (Fowke, Hinze, Heese 2013, section
5.2.3, Working paper 12/2013, University of Waikato).

The similarity is the mean of two such cosines:

- **Whole documents** (section 5.2.1). Because of this cosine, two long documents are not similar if they share only a
  few paragraphs.
- **Paragraphs** (section 5.2.2). Each paragraph of the document with fewer paragraphs is compared with the paragraph of
  the other document that has the nearest simhash. The result is the mean of the highest half of these cosines, or of
  both if there are two. A paragraph on another topic therefore does not reduce the similarity. `_DAMPING` is added to
  the product of the vector lengths, so that the cosine is small if the concepts of the paragraphs are few and frequent.

Similarities of 352 real documents in one collection, with the extractor `keywords`:

| Pairs | Similarity |
|---|---|
| documents on different topics (1,953 pairs) | up to 0.16, but 0.25 in Greek (no stop words) |
| chapters of different books (256 pairs) | up to 0.1 |
| a chapter in two translations | 0.32 to 0.55 |
| articles of a handbook in one language | mostly 0.2 to 0.46 |
| documents 3 and 4 of the paper | 0.31 to 0.37 |
| other pairs of documents of the paper | up to 0.05 |

With simhashes alone, documents on different topics have similarities of up to 0.77.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simdoc_search.analysis.ragged_arrays import expand_runs, positions_in_runs, slices_by_cost
from simdoc_search.cancellation import check_stopped
from simdoc_search.sketch.concepts import ParagraphConcepts, concatenate_paragraphs, paragraph_simhashes
from simdoc_search.sketch.simhash import hamming_distances
from simdoc_search.sketch.thresholds import DEFAULT_MIN_SCORE, MIN_VERSION_SCORE
from simdoc_search.sketch.tokens import TokenIds

MIN_RELATED_SIMILARITY = 0.2
"""Documents with this similarity get the score `DEFAULT_MIN_SCORE`."""

_DAMPING = 1.0
_MIN_PARAGRAPHS = 2
_CELLS_PER_BATCH = 1 << 20
_TOKEN_ID_BITS = np.uint64(32)

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def concept_weights(frequencies: Ints, document_count: int) -> Floats:
    """Return the weight of each concept: 1 if only one document contains it, near 0 if all documents contain it."""
    weights: Floats = np.log1p(max(document_count, 1) / np.maximum(frequencies, 1)) / math.log1p(max(document_count, 1))
    return weights


class WeightedConcepts:
    """The weighted concepts of some documents.

    Args:
        documents: the concepts of each document.
        token_ids: the concepts of all documents, ascending. Additional concepts are allowed.
        weights: weight of each concept in `token_ids`; see `concept_weights`; float64, shape (concepts,).

    Attributes:
        paragraph_counts: number of paragraphs of each document; int64, shape (documents,).
    """

    def __init__(self, documents: Sequence[ParagraphConcepts], token_ids: TokenIds, weights: Floats) -> None:
        counts = [document.paragraph_count for document in documents]
        self.paragraph_counts: NDArray[np.int64] = np.array(counts, np.int64)
        self.begins: NDArray[np.int64] = np.cumsum(self.paragraph_counts) - self.paragraph_counts
        has_any = np.flatnonzero(self.paragraph_counts)
        self._number = np.zeros(len(documents), np.int64)  # position of each document among those that have concepts
        self._number[has_any] = np.arange(len(has_any))
        self._whole = _Vectors(
            concatenate_paragraphs([documents[number].as_one_paragraph() for number in has_any.tolist()]),
            token_ids,
            weights,
        )
        self._parts = _Vectors(concatenate_paragraphs(documents), token_ids, weights)
        parts = self._parts.paragraphs
        self._simhashes = paragraph_simhashes(parts), paragraph_simhashes(parts, self._parts.weighted)

    def document_cosines(self, a: Ints, b: Ints) -> _Cosines:
        """Return the cosines of pairs of whole documents. All documents of the pairs must have concepts."""
        return _compute_cosines(self._whole, self._number[a], self._number[b], 0.0)

    def paragraph_cosines(self, smaller_documents: Ints, larger_documents: Ints) -> _ParagraphCosines:
        """Return the mean cosine of paragraphs for each pair of documents.

        A document in `smaller_documents` has at most as many paragraphs as its counterpart in `larger_documents`.
        """
        pair, mine = expand_runs(self.begins[smaller_documents], self.paragraph_counts[smaller_documents])
        row, theirs = expand_runs(self.begins[larger_documents][pair], self.paragraph_counts[larger_documents][pair])
        bits = np.minimum(
            *(hamming_distances(simhashes[mine[row]], simhashes[theirs]) for simhashes in self._simhashes)
        )
        first = np.cumsum(self.paragraph_counts[larger_documents][pair]) - self.paragraph_counts[larger_documents][pair]
        nearest = np.minimum.reduceat(bits.astype(np.int64) << 32 | theirs, first) & 0xFFFFFFFF
        cosines = _compute_cosines(self._parts, mine, nearest, _DAMPING)
        counts = self.paragraph_counts[smaller_documents]
        used = np.minimum(counts, np.maximum(_MIN_PARAGRAPHS, -(-counts // 2)))
        order = np.lexsort((-cosines.values, pair))
        rank = np.empty(len(order), np.int64)
        rank[order] = positions_in_runs(0, counts)
        weights_in_mean = np.where(rank < used[pair], 1 / used[pair], 0.0)
        means = np.asarray(np.bincount(pair, weights_in_mean * cosines.values, len(smaller_documents)), np.float64)
        return _ParagraphCosines(means, cosines, weights_in_mean)


def similarities(documents: WeightedConcepts, first: Ints, second: Ints) -> Floats:
    """Return the similarities of pairs of documents. A document without concepts has a similarity of 0.

    Args:
        documents: the documents of all pairs. Additional documents are allowed.
        first: index of one document of each pair; int64, shape (pairs,).
        second: index of the other document of each pair; int64, shape (pairs,).

    Returns:
        float64, shape (pairs,), 0..1.
    """
    values = np.zeros(len(first))
    cells = documents.paragraph_counts[first] * documents.paragraph_counts[second]
    nonempty = np.flatnonzero(cells)
    for part in slices_by_cost(cells[nonempty], _CELLS_PER_BATCH):
        check_stopped()
        pairs = nonempty[part]
        a, b = first[pairs], second[pairs]
        smaller_documents, larger_documents = _order_by_paragraphs(documents, a, b)
        means = documents.paragraph_cosines(smaller_documents, larger_documents).values
        equal = np.flatnonzero(documents.paragraph_counts[a] == documents.paragraph_counts[b])
        means[equal] = np.maximum(
            means[equal], documents.paragraph_cosines(larger_documents[equal], smaller_documents[equal]).values
        )
        values[pairs] = (documents.document_cosines(a, b).values + means) / 2
    return values


@dataclass(frozen=True, slots=True, eq=False)
class SimilarityExplanation:
    """The parts of the similarity of two documents."""

    similarity: float  # the mean of `document_similarity` and `paragraph_similarity`, 0..1
    document_similarity: float  # cosine of the whole documents, 0..1
    paragraph_similarity: float  # mean cosine of the most similar half of the paragraphs, 0..1
    token_ids: TokenIds  # shared concepts, ascending; uint32, shape (shared,)
    contributions: Floats  # contribution of each shared concept to the similarity; float64, shape (shared,)


def explain_similarity(documents: WeightedConcepts, a: int, b: int) -> SimilarityExplanation:
    """Return the parts of the similarity of two documents. Both documents must have concepts."""
    one, other = np.array([a]), np.array([b])
    whole = documents.document_cosines(one, other)
    smaller_documents, larger_documents = _order_by_paragraphs(documents, one, other)
    pairs = [(smaller_documents, larger_documents), (larger_documents, smaller_documents)][
        : 1 + int(documents.paragraph_counts[a] == documents.paragraph_counts[b])
    ]
    best = max((documents.paragraph_cosines(*pair) for pair in pairs), key=lambda cosines: float(cosines.values[0]))
    inside = best.cosines
    token_ids, which = np.unique(np.append(whole.token_ids, inside.token_ids), return_inverse=True)
    parts = np.append(whole.contributions, inside.contributions * best.weights_in_mean[inside.pair]) / 2
    of_whole, of_paragraphs = float(whole.values[0]), float(best.values[0])
    return SimilarityExplanation(
        (of_whole + of_paragraphs) / 2,
        of_whole,
        of_paragraphs,
        token_ids,
        np.asarray(np.bincount(which, parts, len(token_ids)), np.float64),
    )


def relation_score(similarity: float) -> float:
    """Convert a similarity into a score, 0..`MIN_VERSION_SCORE`.

    A similarity of `MIN_RELATED_SIMILARITY` has the score `DEFAULT_MIN_SCORE`. The score is linear below and above it.
    """
    if similarity < MIN_RELATED_SIMILARITY:
        return DEFAULT_MIN_SCORE * similarity / MIN_RELATED_SIMILARITY
    return DEFAULT_MIN_SCORE + (MIN_VERSION_SCORE - DEFAULT_MIN_SCORE) * min(
        1.0, (similarity - MIN_RELATED_SIMILARITY) / (1 - MIN_RELATED_SIMILARITY)
    )


class _Vectors:
    """Vectors of paragraphs.

    `plain` contains the weight of each concept. `weighted` contains this weight times 1 + ln(number of occurrences of
    the concept in the paragraph).
    """

    def __init__(self, paragraphs: ParagraphConcepts, token_ids: TokenIds, weights: Floats) -> None:
        self.paragraphs = paragraphs
        numbers, count = paragraphs.paragraph_indices, paragraphs.paragraph_count
        # The keys ascend, as `np.searchsorted` requires.
        self.keys = numbers.astype(np.uint64) << _TOKEN_ID_BITS | paragraphs.token_ids
        self.concept_counts = np.bincount(numbers, minlength=count)
        self.begins = np.cumsum(self.concept_counts) - self.concept_counts
        self.plain = weights[np.searchsorted(token_ids, paragraphs.token_ids)]
        self.weighted = self.plain * (1 + np.log(paragraphs.frequencies))
        self.lengths = [np.sqrt(np.bincount(numbers, vector**2, count)) for vector in (self.plain, self.weighted)]


@dataclass(frozen=True, slots=True, eq=False)
class _Cosines:
    """The cosines of pairs of paragraphs."""

    values: Floats  # cosine of each pair; float64, shape (pairs,)
    pair: Ints  # for each shared concept, the index of its pair; int64, shape (shared,)
    token_ids: TokenIds  # the shared concepts; uint32, shape (shared,)
    contributions: Floats  # contribution of each shared concept to the cosine of its pair; float64, shape (shared,)


@dataclass(frozen=True, slots=True, eq=False)
class _ParagraphCosines:
    """The mean cosines of the paragraphs of pairs of documents."""

    values: Floats  # mean cosine of each pair of documents; float64, shape (pairs,)
    cosines: _Cosines  # cosine of each paragraph and the nearest paragraph of the other document
    weights_in_mean: Floats  # weight of each of these cosines in the mean; float64, shape (paragraphs,)


def _compute_cosines(vectors: _Vectors, a: Ints, b: Ints, damping: float) -> _Cosines:
    """Return the cosine of each pair of paragraphs: the greater of the cosines of their plain and weighted vectors."""
    pair, mine = expand_runs(vectors.begins[a], vectors.concept_counts[a])
    wanted = b[pair].astype(np.uint64) << _TOKEN_ID_BITS | vectors.paragraphs.token_ids[mine]
    theirs = np.minimum(np.searchsorted(vectors.keys, wanted), len(vectors.keys) - 1)
    shared = np.flatnonzero(vectors.keys[theirs] == wanted)
    pair, mine, theirs = pair[shared], mine[shared], theirs[shared]
    values, parts = np.zeros((2, len(a))), np.zeros((2, len(pair)))
    for row, (vector, lengths) in enumerate(zip((vectors.plain, vectors.weighted), vectors.lengths, strict=True)):
        parts[row] = vector[mine] * vector[theirs] / (lengths[a] * lengths[b] + damping)[pair]
        values[row] = np.bincount(pair, parts[row], len(a))
    best = values.argmax(axis=0)
    token_ids = vectors.paragraphs.token_ids[mine]
    return _Cosines(values.max(axis=0), pair, token_ids, parts[best[pair], np.arange(len(pair))])


def _order_by_paragraphs(documents: WeightedConcepts, a: Ints, b: Ints) -> tuple[Ints, Ints]:
    """For each pair, return the document with fewer paragraphs, and the other document."""
    is_less = documents.paragraph_counts[a] <= documents.paragraph_counts[b]
    return np.where(is_less, a, b), np.where(is_less, b, a)
