"""Stores of each kind that tests open with `open_store_async`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from elasticsearch import AsyncElasticsearch
from opensearchpy import AsyncOpenSearch

from simdoc_search import AsyncSimilaritySearch, Document, Settings, SimilaritySearch, open_store, open_store_async
from simdoc_search.sketch.concepts import ConceptSettings
from simdoc_search.sketch.sentences import SentenceSettings
from tests.support.cli import words
from tests.support.engines import discard, own_name
from tests.versions.paper import DOCUMENTS

SETTINGS = Settings(sentences=SentenceSettings(), concepts=ConceptSettings())
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


@dataclass(frozen=True)
class StoreLocation:
    """The location of a store in a folder or an engine."""

    kind: str  # `folder`, `opensearch` or `elasticsearch`
    location: str  # what `open_store` takes

    @asynccontextmanager
    async def search(self, **options: Any) -> AsyncIterator[AsyncSimilaritySearch]:
        """Open an asynchronous search; in an engine with an asynchronous client."""
        if self.kind == "folder":
            with await open_store_async(self.location) as store:
                async with AsyncSimilaritySearch(store, **options) as search:
                    yield search
            return
        url, _, index = self.location.rpartition("/")
        async with CLIENTS[self.kind](url) as client:
            store = await open_store_async(client=client, index=index)
            async with AsyncSimilaritySearch(store, **options) as search:
                yield search


@pytest.fixture(scope="module", params=["folder", "opensearch", "elasticsearch"])
def indexed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[StoreLocation]:
    """A store with overlapping texts, versions and related documents."""
    kind = request.param
    url = None if kind == "folder" else request.getfixturevalue(f"{kind}_url")
    location = f"{url}/{own_name()}" if url else str(tmp_path_factory.mktemp("store") / "store")
    texts = TEXTS | {f"paper/{number}": text for number, text in enumerate(DOCUMENTS, 1)}
    documents = (Document(id, text, {"size": len(text), "kind": id[:4]}) for id, text in texts.items())
    with open_store(location, SETTINGS, create=True) as store:
        assert not SimilaritySearch(store).index(documents).has_failed
    yield StoreLocation(kind, location)
    if url:
        discard(*location.rsplit("/", 1))


engines = pytest.mark.parametrize("indexed", ["opensearch", "elasticsearch"], indirect=True)
"""Runs a test only with the engines."""
