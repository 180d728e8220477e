"""The engine of bench_opensearch.py: its indices, loading them, their bytes, and a note of every request."""

from __future__ import annotations

import signal
import sys
import time
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar
from uuid import uuid4

from bench_opensearch_material import Material
from opensearchpy import OpenSearch, Transport, TransportError, helpers

from simdoc_search.attach.actions import fingerprint_actions
from simdoc_search.stores.remote.schema import component_template

BARE, OURS, KEYWORDS = "bare", "simdoc", "keywords"
_FIELDS: dict[str, dict[str, Any]] = {
    BARE: {},
    OURS: component_template()["template"]["mappings"]["properties"],
    KEYWORDS: {"hashes": {"type": "keyword"}, "buckets": {"type": "short"}},
}
_PARTS = {"fdt": "_source", "tim": "terms", "tip": "terms", "doc": "terms", "psm": "terms"}  # of Lucene's files
_CHUNK_BYTES = 10_000_000
_ATTEMPTS, _BUSY = 120, 429  # attempts half a second apart, and the status of a busy engine

Action = dict[str, Any]


class Meter(Transport):
    """A transport that notes of each request the milliseconds until its answer was read, and its `took`.

    It also keeps the arguments of searches.
    A small heap answers 429 while it is full; such requests are counted and sent again.
    """

    noted: ClassVar[list[tuple[float, float]]] = []
    searches: ClassVar[list[tuple[Any, Any]]] = []
    refused: ClassVar[int] = 0

    def perform_request(self, *args: Any, **kwargs: Any) -> Any:
        """As in the base class."""
        if args[1].endswith("_search"):
            self.searches.append((args, kwargs))
        for left in reversed(range(_ATTEMPTS)):
            began = time.perf_counter()
            try:
                answer = super().perform_request(*args, **kwargs)
            except TransportError as error:
                if error.status_code != _BUSY or not left:
                    raise
                type(self).refused += 1
                time.sleep(0.5)
                continue
            took = answer.get("took", 0) if isinstance(answer, dict) else 0
            self.noted.append((1000 * (time.perf_counter() - began), took))
            return answer
        raise AssertionError


@dataclass(frozen=True)
class Loaded:
    """Seconds that loading took, and those of it that the engine says it worked (more, if requests overlap)."""

    seconds: float
    took: float


@dataclass
class Bench:
    """An engine, and the indices that were made in it by what they hold."""

    client: OpenSearch
    codec: str
    threads: int
    indices: dict[str, str] = field(default_factory=dict)

    def load(self, kind: str, material: Material) -> Loaded:
        """Index all documents into a new index, in the place of the last one of its kind."""
        print(f"  {material.name}: indexing {len(material.documents):,} documents, {kind}", file=sys.stderr)
        self.drop(kind)
        index = self.indices[kind] = f"bench-{kind}-{uuid4().hex[:8]}"
        shape = {"number_of_shards": 1, "number_of_replicas": 0, "refresh_interval": "-1", "codec": self.codec}
        shape["store.stats_refresh_interval"] = "0s"  # else sizes are up to 10 s old
        mappings = {"dynamic": False, "properties": {"body": {"type": "text"}, **_FIELDS[kind]}}
        self.client.indices.create(index=index, body={"settings": {"index": shape}, "mappings": mappings})
        Meter.noted.clear()
        began = time.perf_counter()
        actions = _actions(kind, index, material)
        if self.threads > 1:
            sent = helpers.parallel_bulk(self.client, actions, self.threads, max_chunk_bytes=_CHUNK_BYTES)
        else:
            sent = helpers.streaming_bulk(self.client, actions, max_chunk_bytes=_CHUNK_BYTES, max_retries=8)
        deque(sent, maxlen=0)
        self.client.indices.refresh(index=index)
        return Loaded(time.perf_counter() - began, sum(took for _, took in Meter.noted) / 1000)

    def send(self, search: tuple[Any, Any]) -> Any:
        """Send a search of `Meter.searches` again."""
        args, kwargs = search
        return Transport.perform_request(self.client.transport, *args, **kwargs)

    def fingerprinting(self, material: Material) -> float:
        """Seconds for making the actions with our field, without sending them."""
        began = time.perf_counter()
        deque(_actions(OURS, "none", material), maxlen=0)
        return time.perf_counter() - began

    def merged_bytes(self, kind: str) -> dict[str, float]:
        """Merge to one segment; bytes per document by what they are for, and `all`."""
        index = self.indices[kind]
        self.client.indices.forcemerge(index=index, params={"max_num_segments": 1})
        for _ in range(_ATTEMPTS):
            self.client.indices.refresh(index=index)
            stats = self.client.indices.stats(index=index, params={"include_segment_file_sizes": "true"})
            found = stats["_all"]["primaries"]
            files = {end: each["size_in_bytes"] for end, each in found["segments"]["file_sizes"].items()}
            size, beside = found["store"]["size_in_bytes"], found["store"]["size_in_bytes"] - sum(files.values())
            if found["segments"]["count"] == 1 and 0 <= beside < 0.01 * size + 10_000:
                break
            time.sleep(0.5)
        else:
            print(f"  {index} has files beside its one segment still: its bytes are not exact", file=sys.stderr)
        sizes: dict[str, float] = defaultdict(float, all=size)
        for end, size in files.items():
            sizes[_PARTS.get(end, "rest")] += size
        return defaultdict(float, {part: size / found["docs"]["count"] for part, size in sizes.items()})

    def drop(self, kind: str) -> None:
        """Delete the index of a kind, if there is one."""
        if kind in self.indices:
            self.client.indices.delete(index=self.indices[kind], params={"ignore_unavailable": "true"})
            del self.indices[kind]


@contextmanager
def bench(url: str, codec: str, threads: int) -> Iterator[Bench]:
    """An engine; the indices are deleted whatever ends the block."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    client = OpenSearch(url, transport_class=Meter, timeout=600, max_retries=0)
    made = Bench(client, codec, threads)
    try:
        yield made
    finally:
        for kind in list(made.indices):
            made.drop(kind)
        client.close()
        if Meter.refused:
            print(
                f"  {Meter.refused} requests waited for memory; times are too long, a larger heap helps",
                file=sys.stderr,
            )


def _actions(kind: str, index: str, material: Material) -> Iterable[Action]:
    bodies: Iterator[Action] = ({"_index": index, "_id": each.id, "body": each.text} for each in material.documents)
    if kind == BARE:
        return bodies
    filled = fingerprint_actions(bodies, "body")
    return filled if kind == OURS else map(_with_keywords, filled)


def _with_keywords(action: Action) -> Action:
    """The tokens as they would lie in an array of keywords."""
    ours = action.pop("simdoc", None)
    return action | ({"hashes": ours["tokens"].split(), "buckets": ours["buckets"]} if ours else {})
