"""Weights the concepts of a document by document frequency. Rare concepts weigh most."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from simdoc_search.analysis.distinct import distinct
from simdoc_search.sketch.concepts import PARAGRAPH_END, ParagraphConcepts
from simdoc_search.sketch.tokens import TokenIds
from simdoc_search.versions.relations import WeightedConcepts, concept_weights, similarities

MAX_QUERY_CONCEPTS = 256
"""Maximum number of concepts in a query: the rarest concepts that also occur in other documents."""

MAX_QUERY_POSTINGS = 50_000
"""Maximum sum of the document frequencies of the queried concepts. The 8 rarest concepts are always queried."""

_MIN_QUERY_CONCEPTS = 8

Ints = NDArray[np.int64]


class ConceptWeights:
    """The weights of the concepts of a document.

    `is_stored` says whether the document is in the store, so that the document frequencies include it. `document_count`
    is the number of documents in the store that have concepts.
    """

    def __init__(
        self, concepts: ParagraphConcepts, get_document_frequencies: Callable[[TokenIds], Ints], *, is_stored: bool
    ) -> None:
        self.concepts = concepts
        self._token_ids = distinct(concepts.token_ids)
        counts = get_document_frequencies(np.append(self._token_ids, np.uint32(PARAGRAPH_END)))
        self._counts = counts[:-1]
        self.document_count: int = int(counts[-1])  # every document that has concepts contains PARAGRAPH_END
        self._other_counts = self._counts - int(is_stored)
        self._weights = concept_weights(self._counts, self.document_count)
        self._get_document_frequencies = get_document_frequencies

    def query_token_ids(self) -> TokenIds:
        """Return the concepts to query: the rarest ones that other documents contain; uint32, shape (concepts,)."""
        order = np.argsort(self._counts, kind="stable")
        order = order[self._other_counts[order] > 0][:MAX_QUERY_CONCEPTS]
        count = int(np.count_nonzero(np.cumsum(self._counts[order]) <= MAX_QUERY_POSTINGS))
        return self._token_ids[order[: max(count, _MIN_QUERY_CONCEPTS)]]

    def weights_by_token_id(self) -> dict[int, float]:
        """Return the weight of each concept."""
        return dict(zip(self._token_ids.tolist(), self._weights.tolist(), strict=True))

    def frequencies_by_token_id(self) -> dict[int, int]:
        """Return the document frequency of each concept."""
        return dict(zip(self._token_ids.tolist(), self._counts.tolist(), strict=True))

    def count_shared(self, other: ParagraphConcepts) -> int:
        """Return the number of concepts that this and the other document share."""
        return int(np.count_nonzero(np.isin(self._token_ids, other.token_ids)))

    def shared_weight(self, other: ParagraphConcepts) -> float:
        """Return the weight of the shared concepts, relative to the length of the other document; at least 0.

        Candidates are selected by this weight.
        """
        shared = self._weights[np.isin(self._token_ids, other.token_ids)]
        return float((shared**2).sum()) / math.sqrt(max(1, len(distinct(other.token_ids))))

    def make_weighted_concepts(self, others: Sequence[ParagraphConcepts]) -> WeightedConcepts:
        """Return the weighted concepts of this document, which gets index 0, and of other documents."""
        token_ids = distinct(np.concatenate([self._token_ids, *(other.token_ids for other in others)]))
        is_own = np.isin(token_ids, self._token_ids)
        weights = np.empty(len(token_ids))
        weights[is_own] = self._weights
        weights[~is_own] = concept_weights(self._get_document_frequencies(token_ids[~is_own]), self.document_count)
        return WeightedConcepts([self.concepts, *others], token_ids, weights)

    @staticmethod
    def similarities(weighted_concepts: WeightedConcepts) -> list[float]:
        """Return the similarity of document 0 to each of the other documents, 0..1."""
        others = np.arange(1, len(weighted_concepts.paragraph_counts))
        values: list[float] = similarities(weighted_concepts, np.zeros_like(others), others).tolist()
        return values
