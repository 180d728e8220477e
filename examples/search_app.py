"""A search application to which "similar documents" was added: own index, full text, filters, permissions per user.

    python examples/search_app.py http://localhost:9200 [INDEX]

Three places are ours: the index template is composed of "simdoc", the loader passes its actions through
`fingerprint_actions`, and `similar` and `similar_to_text` ask. The rest is as it would be without. web_app.py puts it
into a web application.
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

SHOWN, ASKED_FOR = 20, 100
"""Hits that are shown, and that are asked for: some of those that the engine finds turn out not to be similar."""

MAPPINGS: Json = {
    "properties": {
        "title": {"type": "text"},
        "body": {"type": "text"},
        "language": {"type": "keyword"},
        "readers": {"type": "keyword"},
    }
}
# Searches that name no field look into these, not into ours: 512 is also a number of tokens, 20* begins some.
SETTINGS: Json = {"index.query.default_field": ["title", "body"]}


class Manuals:
    """The application. Each question names the user who asks, and is answered with that user's rights.

    Args:
        client: the application's own, with its credentials and retries.
        index: the name of its index.
    """

    def __init__(self, client: OpenSearch, index: str = "manuals") -> None:
        self.client = client
        self.index = index

    def create(self) -> None:
        """Make the index. The component template belongs to the cluster: it is put once, for all applications."""
        self.client.cluster.put_component_template(name="simdoc", body=component_template())
        template = {"settings": SETTINGS, "mappings": MAPPINGS}
        body = {"index_patterns": [self.index], "composed_of": ["simdoc"], "template": template}
        self.client.indices.put_index_template(name=self.index, body=body)
        self.client.indices.create(index=self.index)

    def load(self, documents: Iterable[Json]) -> int:
        """Index documents, each with its fingerprint."""
        actions = ({"_index": self.index, "_id": each["id"], "_source": each} for each in documents)
        loaded, _ = helpers.bulk(self.client, fingerprint_actions(actions, "body"), refresh=True)
        return int(loaded)

    def search(self, words: str, user: str, language: str | None = None) -> list[str]:
        """The titles of the documents with these words."""
        asked = {"simple_query_string": {"query": words, "fields": ["title^2", "body"], "default_operator": "and"}}
        filters = [readable_by(user)] + ([{"term": {"language": language}}] if language else [])
        hits = self._ask({"bool": {"must": [asked], "filter": filters}}, "title")
        return [hit["_source"]["title"] for hit in hits]

    def similar(
        self, document_id: str, user: str, *, overlap: float | None = None, probability: float | None = None
    ) -> list[tuple[str, float]]:
        """The titles of the documents that share text with this one, and how much, most first.

        The source is read like any other document: who may not read it learns nothing, not even that it exists.
        """
        mine = readable_by(user)
        source = self._ask({"bool": {"filter": [{"ids": {"values": [document_id]}}, mine]}}, "simdoc.tokens")
        if not source:
            return []
        ours = source[0]["_source"].get("simdoc") or {}  # without a text there is none, and without words no tokens
        asked = Similar(ours.get("tokens"), overlap, probability, buckets_field="simdoc.buckets")
        hits = self._ask(
            asked.clause(filters=[mine], exclude_id=document_id), "title", *asked.source_fields, size=ASKED_FOR
        )
        found = [(each.hit["_source"]["title"], each.overlap) for each in asked.refine(hits)]
        return sorted(found, key=lambda each: -each[1])[:SHOWN]

    def similar_to_text(self, text: str, user: str, *, overlap: float | None = None) -> list[Hit]:
        """The documents that share text with a draft, refined: hits have the overlap that their tokens estimate."""
        return self._similarity.similar_to_text(text, overlap=overlap, filters=[readable_by(user)]).hits

    @cached_property
    def _similarity(self) -> SimilaritySearch:
        return SimilaritySearch(open_store(client=self.client, index=self.index))

    def _ask(self, query: Json, *fields: str, size: int = SHOWN) -> list[Json]:
        answer = self.client.search(index=self.index, body={"query": query, "_source": list(fields), "size": size})
        hits: list[Json] = answer["hits"]["hits"]
        return hits


def readable_by(user: str) -> Json:
    """The clause that every search of this user has."""
    return {"terms": {"readers": [user, "everyone"]}}


def main(url: str, index: str = "manuals") -> None:
    """Load the documents beside this file if there is no index yet, and ask as three users."""
    with OpenSearch(url) as client:
        app = Manuals(client, index)
        if not client.indices.exists(index=index):
            app.create()
            lines = Path(__file__).with_name("manuals.jsonl").read_text("utf-8").splitlines()
            print(app.load(map(json.loads, lines)), "documents loaded")
        for user in ("ann", "ben", "eve"):
            print(f"{user} searches for code 31:", app.search("code 31", user, language="en"))
            for title, share in app.similar("stove-2024-draft", user, overlap=0.2, probability=0.8):
                print(f"{user} finds like the draft, overlap {share:.0%}: {title}")


if __name__ == "__main__":
    main(*sys.argv[1:])
