"""The whole way: documents in, FINGERPRINT queries answered.

similarity_search.py   the one file that knows every step
async_similarity_search.py the same for asyncio
threads.py             what of it runs beside an event loop
similar_options.py     how is it asked?
resolver.py            which stored document does a query mean?
similar.py             from queries to answers
clauses.py             FINGERPRINT clauses in a query of an application's own
similar_ranking.py     which candidates are hits, and in what order?
similar_verification.py the same by their texts
overlap.py             how much of one document is in the other?
passages.py            which documents share passages, and where?
passages_source.py     what is asked with for that
stored_texts.py        stored texts, read and compared
files.py               which document is this file?
nearest.py             is this text there already?
rejection.py           which new documents are left out for that?
filter_check.py        why does a filter leave nothing?
similar_result.py      the answer
passages_result.py     the answer to who shares passages
versions.py            which documents are versions of one, and which is the newest?
versions_source.py     what is known of it and of them
versions_result.py     the answer to that
versions_family.py     a family of versions in its order
related.py             which documents are about the same?
document_concepts.py   which concepts does a document have, and which words led to them?
related_source.py      what is known of it
related_names.py       what is shared, by name
related_result.py      the answer to that
"""

from simdoc_search.search.async_similarity_search import AsyncSimilaritySearch
from simdoc_search.search.document_concepts import ConceptsResult, DocumentConcept
from simdoc_search.search.nearest import NearestDuplicate
from simdoc_search.search.passages_result import PassageHit, PassageResult
from simdoc_search.search.related_result import Explanation, RelatedHit, RelatedResult, SharedConcept
from simdoc_search.search.similar_ranking import Hit
from simdoc_search.search.similar_result import SearchResult
from simdoc_search.search.similarity_search import SimilaritySearch
from simdoc_search.search.versions_family import VersionFamily
from simdoc_search.search.versions_result import Step, VersionEntry, VersionHit, VersionsResult

__all__ = [
    "AsyncSimilaritySearch",
    "ConceptsResult",
    "DocumentConcept",
    "Explanation",
    "Hit",
    "NearestDuplicate",
    "PassageHit",
    "PassageResult",
    "RelatedHit",
    "RelatedResult",
    "SearchResult",
    "SharedConcept",
    "SimilaritySearch",
    "Step",
    "VersionEntry",
    "VersionFamily",
    "VersionHit",
    "VersionsResult",
]
