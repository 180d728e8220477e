"""Similar documents with the DSL of opensearch-py.

    python examples/with_dsl.py http://localhost:9200 [INDEX]

The index is the one that search_app.py made.
"""

from __future__ import annotations

import sys

from opensearchpy import OpenSearch, Search

from simdoc_search.query import Similar


def similar(
    documents: Search, document_id: str, *, overlap: float | None = None, probability: float | None = None
) -> list[tuple[str, float]]:
    """The titles of the documents that share text with this one, and how much, most first.

    Args:
        documents: a search for all that the caller may read; the source must be among it, too.
        document_id: the source.
        overlap: least Jaccard similarity, 0..1.
        probability: chance of finding a document of exactly that overlap.
    """
    source = documents.filter("ids", values=[document_id]).source(["simdoc.tokens"]).execute().hits
    if not source:
        return []
    ours = source[0].to_dict().get("simdoc") or {}  # without a text there is none, and without words no tokens
    asked = Similar(ours.get("tokens"), overlap, probability, buckets_field="simdoc.buckets")
    answer = (
        documents.query(asked.clause(exclude_id=document_id)).source(["title", *asked.source_fields])[:100].execute()
    )
    found = [(each.hit["_source"]["title"], each.overlap) for each in asked.refine(answer.to_dict()["hits"]["hits"])]
    return sorted(found, key=lambda each: -each[1])


def main(url: str, index: str = "manuals") -> None:
    """Ask as two users."""
    with OpenSearch(url) as client:
        for user in ("ann", "eve"):
            readable = Search(using=client, index=index).filter("terms", readers=[user, "everyone"])
            for title, share in similar(readable, "stove-2024-draft", overlap=0.2, probability=0.8):
                print(f"{user}: overlap {share:.0%}, {title}")


if __name__ == "__main__":
    main(*sys.argv[1:])
