"""Finds similar documents with the DSL of opensearch-py.

    python examples/with_dsl.py http://localhost:9200 [INDEX]

search_app.py creates the index.
"""

from __future__ import annotations

import sys

from opensearchpy import OpenSearch, Search

from simdoc_search.query import Similar


def similar(
    documents: Search, document_id: str, *, overlap: float | None = None, probability: float | None = None
) -> list[tuple[str, float]]:
    """Return the titles of the documents that share text with this document, and their overlaps, highest first.

    Args:
        documents: a search for all documents that the user may read. The query document must be one of them.
        document_id: id of the query document.
        overlap: minimum Jaccard similarity, 0..1.
        probability: probability of finding a document of exactly that overlap.
    """
    found = documents.filter("ids", values=[document_id]).source(["simdoc.tokens"]).execute().hits
    if not found:
        return []
    fingerprint = found[0].to_dict().get("simdoc") or {}  # empty without a text; without words, it has no tokens
    similar = Similar(fingerprint.get("tokens"), overlap, probability, fingerprint_size_field="simdoc.buckets")
    search = documents.query(similar.clause(exclude_id=document_id)).source(["title", *similar.source_fields])[:100]
    hits = search.execute().to_dict()["hits"]["hits"]
    titles = [(refined.hit["_source"]["title"], refined.overlap) for refined in similar.refine(hits)]
    return sorted(titles, key=lambda pair: -pair[1])


def main(url: str, index: str = "manuals") -> None:
    """Query as two users."""
    with OpenSearch(url) as client:
        for user in ("ann", "eve"):
            readable = Search(using=client, index=index).filter("terms", readers=[user, "everyone"])
            for title, share in similar(readable, "stove-2024-draft", overlap=0.2, probability=0.8):
                print(f"{user}: overlap {share:.0%}, {title}")


if __name__ == "__main__":
    main(*sys.argv[1:])
