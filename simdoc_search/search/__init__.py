"""Searches a store for similar documents, shared passages, versions, related documents and duplicates.

Each kind of query has its options, finds candidates in the store, compares them, and returns a result.

similarity_search.py        `SimilaritySearch`, with one method per kind of query
async_similarity_search.py  the same methods for asyncio
threads.py                  threads for an event loop
keywords.py                 methods that take the fields of an options class
options.py                  options of all kinds of query
results.py                  base class and helpers of results
resolver.py                 from a query to a stored document
query_document.py           the query document, which is a stored document or a text
stored_texts.py             stored texts, read in batches and compared
files.py                    documents by the paths of their files
filter_check.py             unknown fields in filters
similar.py                  documents that share text
similar_candidates.py       plans, and the candidates that they find
similar_ranking.py          ranking by tokens or texts
similar_containment.py      measures other than the Jaccard similarity
similar_result.py           the result
nearest.py                  the document that a text duplicates
rejection.py                rejection of duplicates by `index`
passages.py                 documents that share passages
passages_candidates.py      candidates by tokens, phrases and fingerprints
passages_result.py          the result
versions.py                 versions of a document
versions_candidates.py      candidates by sentences or texts
versions_result.py          the result
related.py                  documents on the same topic
related_candidates.py       candidates by rare concepts
related_concepts.py         concepts of the query document, and their names
related_result.py           the result
concepts.py                 the concepts of a document
columns.py                  file, size, date and metadata of documents
document_list.py            all documents of a store or folder
watches.py                  new documents that are copies of watched documents
"""

from simdoc_search.search.async_similarity_search import AsyncSimilaritySearch
from simdoc_search.search.concepts import ConceptsResult, DocumentConcept
from simdoc_search.search.nearest import NearestDuplicate
from simdoc_search.search.passages_result import PassageHit, PassageResult
from simdoc_search.search.related_result import Explanation, RelatedHit, RelatedResult, SharedConcept
from simdoc_search.search.similar_result import Hit, SearchResult
from simdoc_search.search.similarity_search import SimilaritySearch
from simdoc_search.search.versions_result import Step, VersionEntry, VersionFamily, VersionHit, VersionsResult

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
