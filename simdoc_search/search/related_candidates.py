"""Finds the candidates of `related`: documents that share rare concepts."""

from __future__ import annotations

from dataclasses import dataclass

from simdoc_search.documents import DocumentKey
from simdoc_search.search.options import RelatedQuery
from simdoc_search.search.stored_texts import read_records
from simdoc_search.sketch.concepts import ParagraphConcepts, decode_paragraph_concepts
from simdoc_search.stores.base import Store
from simdoc_search.stores.record import Record
from simdoc_search.versions.idf import ConceptWeights

DEFAULT_MAX_READ_DOCUMENTS = 200
"""Maximum number of documents whose concepts are read.

If more than 50 hits are needed, the maximum is 4 times the number of hits.
"""

DEFAULT_MAX_COMPARED_DOCUMENTS = 50
"""Maximum number of documents that are compared.

If more than 25 hits are needed, the maximum is 2 times the number of hits.
"""

_READ_PER_HIT, _COMPARED_PER_HIT = 4, 2


@dataclass(frozen=True, slots=True)
class RelatedCandidates:
    """Documents that may be related to the query document."""

    documents: list[tuple[Record, ParagraphConcepts]]  # to compare, with their concepts
    total: int  # number of documents that share a rare concept


def find_related_candidates(
    store: Store, weights: ConceptWeights, query: RelatedQuery, exclude: DocumentKey | None
) -> RelatedCandidates:
    """Return, of the documents that share rare concepts, those with the highest `ConceptWeights.shared_weight`.

    Raises:
        FormatMismatchError: the store has no concepts.
    """
    needed_hit_count = query.offset + query.size
    concept_matches = store.documents_sharing_tokens(
        weights.query_token_ids(),
        kind="concepts",
        filters=query.filters,
        exclude=exclude,
        size=max(DEFAULT_MAX_READ_DOCUMENTS, _READ_PER_HIT * needed_hit_count),
    )
    keys = [candidate.key for candidate in concept_matches.documents]
    records = read_records(store, keys, load={"sentences", "concepts"}).values()
    documents = [(record, decode_paragraph_concepts(record.concepts)) for record in records]
    ranked = sorted(
        ((record, concepts) for record, concepts in documents if concepts.paragraph_count),
        key=lambda document: (-weights.shared_weight(document[1]), document[0].id),
    )
    return RelatedCandidates(
        ranked[: max(DEFAULT_MAX_COMPARED_DOCUMENTS, _COMPARED_PER_HIT * needed_hit_count)], concept_matches.total
    )
