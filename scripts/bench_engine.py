"""Indices in an OpenSearch for the group `engine` of bench.py: loads them, measures them, and notes every search."""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar
from uuid import uuid4

from opensearchpy import OpenSearch, Transport, helpers

from simdoc_search import Document
from simdoc_search.attach.actions import fingerprint_actions
from simdoc_search.stores.remote.schema import component_template

BARE, OURS = "bare", "simdoc"
_FIELDS: dict[str, dict[str, Any]] = {BARE: {}, OURS: component_template()["template"]["mappings"]["properties"]}
_CHUNK_BYTES = 10_000_000
_ATTEMPTS = 120  # half a second apart


class RecordingTransport(Transport):
    """A transport that keeps the arguments of searches."""

    searches: ClassVar[list[tuple[Any, Any]]] = []

    def perform_request(self, *args: Any, **kwargs: Any) -> Any:
        """As in the base class."""
        if args[1].endswith("_search"):
            self.searches.append((args, kwargs))
        return super().perform_request(*args, **kwargs)


@dataclass
class Bench:
    """An engine, and the indices that were made in it, by kind."""

    client: OpenSearch
    indices: dict[str, str] = field(default_factory=dict)

    def load(self, kind: str, documents: Sequence[Document]) -> float:
        """Index documents into a new index, which replaces the last one of its kind. Return the seconds."""
        print(f"  indexing {len(documents):,} documents, {kind}", file=sys.stderr)
        self.drop(kind)
        index = self.indices[kind] = f"bench-{kind}-{uuid4().hex[:8]}"
        shape = {"number_of_shards": 1, "number_of_replicas": 0, "refresh_interval": "-1"}
        shape["store.stats_refresh_interval"] = "0s"  # otherwise sizes are up to 10 s old
        mappings = {"dynamic": False, "properties": {"body": {"type": "text"}, **_FIELDS[kind]}}
        self.client.indices.create(index=index, body={"settings": {"index": shape}, "mappings": mappings})
        began = time.perf_counter()
        bare = ({"_index": index, "_id": document.id, "body": document.text} for document in documents)
        actions = bare if kind == BARE else fingerprint_actions(bare, "body")
        deque(helpers.streaming_bulk(self.client, actions, max_chunk_bytes=_CHUNK_BYTES, max_retries=8), maxlen=0)
        self.client.indices.refresh(index=index)
        return time.perf_counter() - began

    def send(self, search: tuple[Any, Any]) -> Any:
        """Send a search of `RecordingTransport.searches` again."""
        args, kwargs = search
        return Transport.perform_request(self.client.transport, *args, **kwargs)

    def search_like_text(self, id: str) -> Any:
        """Find documents with the same words as a document, with `more_like_this` as applications use it."""
        like = {"fields": ["body"], "like": [{"_index": self.indices[BARE], "_id": id}], "min_doc_freq": 1}
        body = {"query": {"more_like_this": like}, "_source": False}
        return self.client.search(index=self.indices[BARE], body=body)

    def merged_bytes(self, kind: str) -> float:
        """Merge an index to one segment, and return its bytes per document."""
        index = self.indices[kind]
        self.client.indices.forcemerge(index=index, params={"max_num_segments": 1})
        for _ in range(_ATTEMPTS):
            self.client.indices.refresh(index=index)
            stats = self.client.indices.stats(index=index, params={"include_segment_file_sizes": "true"})
            found = stats["_all"]["primaries"]
            size = found["store"]["size_in_bytes"]
            other = size - sum(file["size_in_bytes"] for file in found["segments"]["file_sizes"].values())
            if found["segments"]["count"] == 1 and 0 <= other < 0.01 * size + 10_000:
                break
            time.sleep(0.5)
        else:
            print(f"  {index} still has files besides its one segment, so its bytes are not exact", file=sys.stderr)
        return float(size / found["docs"]["count"])

    def drop(self, kind: str) -> None:
        """Delete the index of a kind, if there is one."""
        if kind in self.indices:
            self.client.indices.delete(index=self.indices.pop(kind), params={"ignore_unavailable": "true"})


@contextmanager
def bench(url: str) -> Iterator[Bench]:
    """Connect to an engine. The indices are deleted at the end of the block."""
    client = OpenSearch(url, transport_class=RecordingTransport, timeout=600, max_retries=0)
    made = Bench(client)
    try:
        yield made
    finally:
        for kind in list(made.indices):
            made.drop(kind)
        client.close()
