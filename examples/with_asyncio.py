"""Finds similar documents with asyncio.

    python examples/with_asyncio.py http://localhost:9200 [INDEX]

search_app.py creates the index. Needs `pip install 'opensearch-py[async]'`.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from opensearchpy import AsyncOpenSearch

from simdoc_search import AsyncSimilaritySearch, open_store_async
from simdoc_search.attach.actions import fingerprint_field
from simdoc_search.errors import NoFingerprintError
from simdoc_search.query import FingerprintQuery


async def save(client: AsyncOpenSearch, index: str, document_id: str, document: dict[str, Any]) -> None:
    """Index one document with its fingerprint. A thread computes it, so a long text does not block other tasks."""
    values = await asyncio.to_thread(fingerprint_field, document["body"])
    await client.index(index=index, id=document_id, body={**document, "simdoc": values}, refresh="wait_for")


async def similar(
    client: AsyncOpenSearch,
    index: str,
    document_id: str,
    user: str,
    *,
    overlap: float | None = None,
    probability: float | None = None,
) -> list[tuple[str, float]]:
    """Return the titles of the documents that share text with this document, and their overlaps, highest first.

    If the user may not read the query document, the result is empty, as for an unknown id. An application opens the
    store once, when it starts.
    """
    readable = {"terms": {"readers": [user, "everyone"]}}
    query_document = {"bool": {"filter": [{"ids": {"values": [document_id]}}, readable]}}
    if not (await client.count(index=index, body={"query": query_document}))["count"]:
        return []
    async with AsyncSimilaritySearch(await open_store_async(client=client, index=index)) as search:
        try:
            query = FingerprintQuery(document_id)
            result = await search.similar(
                query, overlap=overlap, probability=probability, filters=[readable], fields=["title"]
            )
        except NoFingerprintError:  # the document has no words
            return []
    return [(str(hit.fields["title"]), round(hit.overlap, 2)) for hit in result.hits]


async def main(url: str, index: str = "manuals") -> None:
    """Query as two users at once."""
    async with AsyncOpenSearch(url) as client:
        users = ("ann", "eve")
        queries = [similar(client, index, "stove-2024-draft", user, overlap=0.2, probability=0.8) for user in users]
        answers = await asyncio.gather(*queries)
        for user, found in zip(users, answers, strict=True):
            print(f"{user}:", found)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
