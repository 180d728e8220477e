"""A search application that also finds similar documents. It has its own index, full text, filters and permissions.

    python examples/search_app.py http://localhost:9200 [INDEX]

Only three parts use simdoc-search: the index template includes the component template "simdoc", the loader passes its
actions through `fingerprint_actions`, and `similar` queries. web_app.py is a web application.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Any

from opensearchpy import OpenSearch, helpers

from simdoc_search import Hit, SimilaritySearch, open_store
from simdoc_search.attach.actions import fingerprint_actions
from simdoc_search.query import Similar
from simdoc_search.stores.remote.schema import component_template

Json = dict[str, Any]

PAGE_SIZE, CANDIDATE_COUNT = 20, 100
"""Number of hits to show, and number of hits to request. `refine` drops those that are not similar enough."""

MAPPINGS: Json = {
    "properties": {
        "title": {"type": "text"},
        "body": {"type": "text"},
        "language": {"type": "keyword"},
        "readers": {"type": "keyword"},
    }
}
# Searches that name no field search these fields. Otherwise, 512 or 20* could match the fingerprint.
SETTINGS: Json = {"index.query.default_field": ["title", "body"]}


class Manuals:
    """The application. Each query is restricted to the documents that the user may read.

    Args:
        client: the client of the application, with its credentials and retries.
        index: name of the index.
    """

    def __init__(self, client: OpenSearch, index: str = "manuals") -> None:
        self.client = client
        self.index = index

    def create(self) -> None:
        """Create the index. The cluster needs the component template only once, for all applications."""
        self.client.cluster.put_component_template(name="simdoc", body=component_template())
        template = {"settings": SETTINGS, "mappings": MAPPINGS}
        body = {"index_patterns": [self.index], "composed_of": ["simdoc"], "template": template}
        self.client.indices.put_index_template(name=self.index, body=body)
        self.client.indices.create(index=self.index)

    def load(self, documents: Iterable[Json]) -> int:
        """Index documents, each with its fingerprint."""
        actions = ({"_index": self.index, "_id": document["id"], "_source": document} for document in documents)
        loaded, _ = helpers.bulk(self.client, fingerprint_actions(actions, "body"), refresh=True)
        return int(loaded)

    def search(self, words: str, user: str, language: str | None = None) -> list[str]:
        """Return the titles of the documents with these words."""
        query = {"simple_query_string": {"query": words, "fields": ["title^2", "body"], "default_operator": "and"}}
        filters = [readable_by(user)] + ([{"term": {"language": language}}] if language else [])
        hits = self._search({"bool": {"must": [query], "filter": filters}}, "title")
        return [hit["_source"]["title"] for hit in hits]

    def similar(
        self, document_id: str, user: str, *, overlap: float | None = None, probability: float | None = None
    ) -> list[tuple[str, float]]:
        """Return the titles of the documents that share text with this document, and their overlaps, highest first.

        The query document is read with the user's filter. If the user may not read it, the result is empty, as for an
        unknown id.
        """
        readable = readable_by(user)
        found = self._search({"bool": {"filter": [{"ids": {"values": [document_id]}}, readable]}}, "simdoc.tokens")
        if not found:
            return []
        fingerprint = found[0]["_source"].get("simdoc") or {}  # empty without a text; without words, it has no tokens
        similar = Similar(fingerprint.get("tokens"), overlap, probability, fingerprint_size_field="simdoc.buckets")
        clause = similar.clause(filters=[readable], exclude_id=document_id)
        hits = self._search(clause, "title", *similar.source_fields, size=CANDIDATE_COUNT)
        titles = [(refined.hit["_source"]["title"], refined.overlap) for refined in similar.refine(hits)]
        return sorted(titles, key=lambda pair: -pair[1])[:PAGE_SIZE]

    def similar_to_text(self, text: str, user: str, *, overlap: float | None = None) -> list[Hit]:
        """Return the documents that share text with a draft, and their overlaps."""
        return self._similarity.similar(text=text, overlap=overlap, filters=[readable_by(user)]).hits

    @cached_property
    def _similarity(self) -> SimilaritySearch:
        return SimilaritySearch(open_store(client=self.client, index=self.index))

    def _search(self, query: Json, *fields: str, size: int = PAGE_SIZE) -> list[Json]:
        response = self.client.search(index=self.index, body={"query": query, "_source": list(fields), "size": size})
        hits: list[Json] = response["hits"]["hits"]
        return hits


def readable_by(user: str) -> Json:
    """Return the filter of every search of this user."""
    return {"terms": {"readers": [user, "everyone"]}}


def main(url: str, index: str = "manuals") -> None:
    """Create the index from manuals.jsonl if it does not exist, and query it as three users."""
    with OpenSearch(url) as client:
        app = Manuals(client, index)
        if not client.indices.exists(index=index):
            app.create()
            lines = Path(__file__).with_name("manuals.jsonl").read_text("utf-8").splitlines()
            print(app.load(map(json.loads, lines)), "documents loaded")
        for user in ("ann", "ben", "eve"):
            print(f"{user} searches for code 31:", app.search("code 31", user, language="en"))
            for title, share in app.similar("stove-2024-draft", user, overlap=0.2, probability=0.8):
                print(f"{user} finds a document similar to the draft, overlap {share:.0%}: {title}")


if __name__ == "__main__":
    main(*sys.argv[1:])
