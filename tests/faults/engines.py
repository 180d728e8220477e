"""Commands that write to an engine over an unreliable connection, and commands that are killed while they write."""

from __future__ import annotations

import json
import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import count

from simdoc_search import Document, fingerprint, open_store
from simdoc_search.analysis.hashes import text_hash
from tests.faults.attack import Attack, Place, command, killed
from tests.support.cli import json_lines
from tests.support.engines import call
from tests.support.http_server import Answer, Handler, Request, TempIndices, error, forward, indices, serving
from tests.support.texts import documents

__all__ = ["ATTACKS", "Unreliable", "until_done"]

BUSY = error(503, "cluster_block_exception", "no master"), error(429, "rejected_execution_exception", "queue full")


SHARD = {"status": 503, "reason": {"type": "node_disconnected_exception", "reason": "a node is deleted"}}
"""The reason why a shard did not answer."""


class Unreliable:
    """Forwards requests to an engine, but loses, delays, repeats or truncates some of them.

    Args:
        rng: chooses the faults.
        handle: forwards a request.
        faults: maximum number of faults.
        often: share of the requests that fail, except bulk writes, of which half fail.
    """

    def __init__(self, rng: random.Random, handle: Handler, faults: int, often: float = 0.05) -> None:
        self._rng = rng
        self._often = often
        self._handle = handle
        self._left = faults
        self._lock = threading.Lock()
        self._late: list[Request] = []

    def __call__(self, request: Request) -> Answer | None:
        match self._choose_fault(request.path.startswith("/_bulk")):
            case "busy":
                return self._rng.choice(BUSY)
            case "lost":
                return None
            case "unheard":
                self._handle(request)
                return None
            case "twice":
                self._handle(request)
            case "late":
                self._late.append(request)
                return None
            case "cut" | "half" as fault:
                done = self._handle(request)
                return _halved(done) if fault == "half" else done and replace(done, cut=True)
        return self._handle(request)

    def deliver_late(self) -> None:
        """Forward the delayed requests, after all later writes."""
        for request in self._late:
            self._handle(request)
        self._late.clear()

    def _choose_fault(self, is_write: bool) -> str:
        with self._lock:
            if not self._left or self._rng.random() > (0.5 if is_write else self._often):
                return "done"
            self._left -= 1
            writes = ["lost", "unheard", "twice", "late", "cut", "busy", "half"]
            return self._rng.choice(writes if is_write else ["lost", "busy", "cut", "half"])


def _halved(done: Answer | None) -> Answer | None:
    """The answer of half of the shards, or with half of the writes refused."""
    value = json.loads(done.body) if done else None
    if not isinstance(value, dict):
        return done
    if "_shards" in value:
        value["_shards"] = {"total": 2, "successful": 1, "failed": 1, "failures": [SHARD]}
    for item in value.get("items", ())[::2]:
        for kind, result in item.items():
            refused = {"type": "rejected_execution_exception", "reason": "queue full"}
            item[kind] = {"_index": result["_index"], "_id": result["_id"], "status": 429, "error": refused}
    return done and replace(done, body=json.dumps(value).encode())


def _random_documents(rng: random.Random, number: int) -> dict[str, Document]:
    return {document.id: document for document in documents(rng.random(), number, 40)}


def _index(url: str, texts: dict[str, Document], place: Place) -> None:
    file = place.folder / "documents.jsonl"
    file.write_text(json_lines(*({"id": document.id, "text": document.text} for document in texts.values())), "utf-8")
    until_done(lambda: command("index", file, "--store", url, cwd=place.folder).code == 0)


def _delete(ids: list[str], url: str, direct_url: str, place: Place) -> bool:
    """Delete the documents that still exist. Return whether all are deleted."""
    with open_store(direct_url) as store:
        remaining = [record.id for record in store.records(ids)]
    return not remaining or command("delete", *remaining, "--store", url, cwd=place.folder).code == 0


def until_done(attempt: Callable[[], bool]) -> None:
    """Repeat a command that failed, as its message says."""
    assert any(attempt() for _ in range(6)), "the command failed six times"


def unreliable_connection(rng: random.Random, place: Place) -> None:
    """Repeated commands write, replace and delete documents exactly, although requests are lost, late or repeated."""
    with indices(place.engine) as temp_indices, serving(forward(place.engine)) as server:
        connection = server.handle = Unreliable(rng, forward(place.engine), faults=rng.randint(1, 6))
        name = temp_indices.name()
        expected = _random_documents(rng, rng.randint(50, 1500))
        _index(f"{server.url}/{name}", expected, place)
        changed = {
            id: Document(id, document.text + " changed") for id, document in expected.items() if rng.random() < 0.3
        }
        _index(f"{server.url}/{name}", changed, place)
        deleted = rng.sample(sorted(expected), rng.randint(1, 20))
        until_done(lambda: _delete(deleted, f"{server.url}/{name}", f"{place.engine}/{name}", place))
        connection.deliver_late()
        call(place.engine, "POST", f"/{name}/_refresh")
        expected = {id: document for id, document in {**expected, **changed}.items() if id not in deleted}
        with open_store(f"{place.engine}/{name}") as store:
            stored = {record.id: record.text for record in store.scan(load={"text"})}

        assert {id: document.text for id, document in expected.items()} == stored


@contextmanager
def _writing(rng: random.Random, temp_indices: TempIndices, name: str, texts: dict[str, str]) -> Iterator[None]:
    """Let an application write during the block. `texts` has its last texts."""
    stop = threading.Event()

    def write() -> None:
        for number in count():
            if stop.wait(0.02):
                return
            id = rng.choice(sorted(texts)) if rng.random() < 0.8 else f"new{number}"
            texts[id] = f"{rng.random()} written at step {number} by the application that owns the index"
            body = {"doc": {"body": texts[id]}, "doc_as_upsert": True}
            call(temp_indices.engine, "POST", f"/{name}/_update/{id}?retry_on_conflict=20", body)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        yield
    finally:
        stop.set()
        writer.join()


def killed_backfill(rng: random.Random, place: Place) -> None:
    """Kill `backfill` several times while an application writes. No write is lost, and all texts get fingerprints."""
    with indices(place.engine) as temp_indices:
        name = temp_indices.make({"properties": {"body": {"type": "text"}}})
        texts = {document.id: document.text for document in documents(rng.random(), 300, 40)}
        lines = (json.dumps(line) for id in texts for line in ({"index": {"_id": id}}, {"body": texts[id]}))
        _bulk(place.engine, name, lines)
        arguments = ("backfill", f"{place.engine}/{name}", "--text-field", "body")
        with _writing(rng, temp_indices, name, texts):
            for _ in range(3):
                killed(rng.uniform(0.1, 1.5), *arguments, "--throttle", 150, cwd=place.folder)
        time.sleep(0.1)
        assert 0 == command(*arguments, "--stale", cwd=place.folder).code
        found = call(place.engine, "POST", f"/{name}/_search?size=2000")["hits"]["hits"]
        sources = {hit["_id"]: hit["_source"] for hit in found}

        assert texts == {id: source["body"] for id, source in sources.items()}
        for source in sources.values():
            assert text_hash(source["body"]) == source["simdoc"]["text_hash"]
            assert fingerprint(source["body"]).tokens() == source["simdoc"]["tokens"].split()


def _bulk(engine: str, index: str, lines: Iterator[str]) -> None:
    send = forward(engine)
    body = "".join(f"{line}\n" for line in lines).encode()
    done = send(Request("POST", f"/{index}/_bulk?refresh=true", {"content-type": "application/x-ndjson"}, body))
    assert done is not None
    assert not json.loads(done.body)["errors"]


ATTACKS = [
    Attack("writes lost, late or twice", unreliable_connection, needs_engine=True),
    Attack("killed backfills", killed_backfill, needs_engine=True),
]
