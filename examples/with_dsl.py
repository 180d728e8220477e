"""Similar documents with the DSL of opensearch-py.

    python examples/with_dsl.py http://localhost:9200 [INDEX]

The index is the one that search_app.py made.
"""

from __future__ import annotations

import sys

from opensearchpy import OpenSearch, Search

from simdoc_search.query import similar_query


def similar(
    documents: Search, document_id: str, *, overlap: float | None = None, probability: float | None = None
) -> list[tuple[str, int]]:
    """The titles of the documents that share text with this one, and the number of equal tokens.

    Args:
        documents: a search for all that the caller may read; the source must be among it, too.
        document_id: the source.
        overlap: least Jaccard similarity, 0..1.
        probability: chance of finding a document of exactly that overlap.
    """
    source = documents.filter("ids", values=[document_id]).source(["simdoc.tokens"]).execute().hits
    if not source:
        return []
    ours = source[0].to_dict().get("simdoc") or {"tokens": ""}  # a text without words has no fingerprint
    query = similar_query(ours["tokens"].split(), overlap, probability, exclude_id=document_id, score="tokens")
    return [(hit.title, round(hit.meta.score)) for hit in documents.query(query).source(["title"])]


def main(url: str, index: str = "manuals") -> None:
    """Ask as two users."""
    with OpenSearch(url) as client:
        for user in ("ann", "eve"):
            readable = Search(using=client, index=index).filter("terms", readers=[user, "everyone"])
            print(f"{user}:", similar(readable, "stove-2024-draft", overlap=0.2, probability=0.8))


if __name__ == "__main__":
    main(*sys.argv[1:])
