"""Indices that are asked from an event loop, in each kind of store."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from elasticsearch import AsyncElasticsearch
from opensearchpy import AsyncOpenSearch

from simdoc_search import AsyncSimilaritySearch, Document, Settings, SimilaritySearch, open_store, open_store_async
from simdoc_search.sketch.concepts import Concepts
from simdoc_search.sketch.sentences import Sentences
from tests.support.cli import words
from tests.support.engines import discard, own_name
from tests.versions.paper import DOCUMENTS

SETTINGS = Settings(sentences=Sentences(), concepts=Concepts())
TEXTS = {
    "whole": words(0, 300),
    "near": words(0, 280),
    "half": words(0, 150),
    "copy": words(0, 300),
    "far/name.txt": words(500, 600),
    "near/name.txt": words(500, 590),
    "empty": "",
}
CLIENTS: dict[str, Any] = {"opensearch": AsyncOpenSearch, "elasticsearch": AsyncElasticsearch}


def documents() -> Iterator[Document]:
    """Texts that overlap, versions, and some that are about the same."""
    papers = {f"paper/{number}": text for number, text in enumerate(DOCUMENTS, 1)}
    return (Document(id, text, {"size": len(text), "kind": id[:4]}) for id, text in (TEXTS | papers).items())


class Place:
    """Where an index is, and how it is opened from an event loop."""

    def __init__(self, kind: str, place: str) -> None:
        self.kind = kind
        self.place = place

    @asynccontextmanager
    async def search(self, **options: Any) -> AsyncIterator[AsyncSimilaritySearch]:
        """An asynchronous search over it; in an engine by an asynchronous client."""
        if self.kind == "folder":
            with await open_store_async(self.place) as store:
                async with AsyncSimilaritySearch(store, **options) as search:
                    yield search
            return
        url, _, index = self.place.rpartition("/")
        async with CLIENTS[self.kind](url) as client:
            store = await open_store_async(client=client, index=index)
            async with AsyncSimilaritySearch(store, **options) as search:
                yield search


@contextmanager
def place_of(kind: str, request: pytest.FixtureRequest, folder: Path) -> Iterator[Place]:
    """An index of these documents in a folder or an engine, which is removed from an engine afterwards."""
    if kind == "folder":
        place = str(folder / "store")
    else:
        url = request.getfixturevalue(f"{kind}_url")
        place = f"{url}/{own_name()}"
    with open_store(place, SETTINGS, create=True) as store:
        assert not SimilaritySearch(store).index(documents()).failed
    yield Place(kind, place)
    if kind != "folder":
        discard(*place.rsplit("/", 1))
