"""Searches a store for similar documents, shared passages, versions, related documents and duplicates.

For each kind of query, one class describes the options, one module finds candidates in the store, one module compares
them, and one class describes the result.

similarity_search.py        `SimilaritySearch`, with one method per kind of query
async_similarity_search.py  the same methods for asyncio
threads.py                  thread pool for an event loop
keyword_arguments.py        decorator for methods that take the fields of an options class
options.py                  options of all kinds of query
results.py                  base class and helpers of results
resolver.py                 lookup of the stored document of a query
query_document.py           the query document: a stored document or a text
stored_texts.py             reading and exact comparison of stored texts
files.py                    lookup of documents by the paths of their files
filter_check.py             detection of unknown fields and columns, and of wildcards
similar.py                  documents that share text
similar_candidates.py       query plans and the candidates that they find
similar_ranking.py          ranking of the candidates by tokens or texts
similar_containment.py      documents that contain a text or are contained in it
similar_result.py           the result of `similar`
duplicate_options.py        options of a search for duplicates
duplicates.py               groups of duplicates
nearest.py                  the stored document that a text duplicates
rejection.py                rejection of duplicates by `index`
passages.py                 documents that share passages
passage_candidates.py       candidates by tokens, phrases and fingerprints
passage_result.py           the result of `passages`
versions.py                 versions of a document, in order
version_candidates.py       candidates by sentences or texts
version_order.py            versions in order, and the evidence for the order
version_result.py           the result of `versions`
related.py                  documents on the same topic
related_candidates.py       candidates by rare concepts
related_concepts.py         concepts of the query document and their names
related_result.py           the result of `related`
concepts.py                 the concepts of a document
columns.py                  columns with the path, size, date and metadata of documents
document_list.py            list of the documents of a store or folder
watches.py                  stored queries that find copies of documents among new documents
"""

__all__: list[str] = []
