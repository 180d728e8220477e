"""Similar documents with asyncio.

    python examples/with_asyncio.py http://localhost:9200 [INDEX]

The index is the one that search_app.py made. Needs `pip install 'opensearch-py[async]'`.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from opensearchpy import AsyncOpenSearch

from simdoc_search.attach.actions import fingerprint_field
from simdoc_search.query import similar_query


async def save(client: AsyncOpenSearch, index: str, document_id: str, document: dict[str, Any]) -> None:
    """Index one document with its fingerprint, which is made in a thread: others need not wait for a long text."""
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
) -> list[tuple[str, int]]:
    """The titles of the documents that share text with this one, and the number of equal tokens."""
    mine = {"terms": {"readers": [user, "everyone"]}}
    wanted = {"bool": {"filter": [{"ids": {"values": [document_id]}}, mine]}}
    source = await client.search(index=index, body={"query": wanted, "_source": ["simdoc.tokens"]})
    if not source["hits"]["hits"]:
        return []
    ours = source["hits"]["hits"][0]["_source"].get("simdoc") or {
        "tokens": ""
    }  # a text without words has no fingerprint
    query = similar_query(
        ours["tokens"].split(), overlap, probability, filters=[mine], exclude_id=document_id, score="tokens"
    )
    found = await client.search(index=index, body={"query": query, "_source": ["title"]})
    return [(hit["_source"]["title"], round(hit["_score"])) for hit in found["hits"]["hits"]]


async def main(url: str, index: str = "manuals") -> None:
    """Ask as two users at once."""
    async with AsyncOpenSearch(url) as client:
        users = ("ann", "eve")
        questions = [similar(client, index, "stove-2024-draft", user, overlap=0.2, probability=0.8) for user in users]
        answers = await asyncio.gather(*questions)
        for user, found in zip(users, answers, strict=True):
            print(f"{user}:", found)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
