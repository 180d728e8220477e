"""An application that writes to its alias or data stream in all ways, and knows its documents."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from tests.living.texts import Writer
from tests.living.truth import Key
from tests.support.backfill import to
from tests.support.engines import call
from tests.support.rolling_index import Rolling

__all__ = ["NOTE", "Application", "Document"]

TEAMS = ("sales", "legal", "design")
NOTE = " Seen and approved by the team of design this week."
"""A sentence in many documents."""


@dataclass(frozen=True, order=True)
class Document:
    """A document as the application knows it."""

    index: str
    id: str
    routing: str | None

    @property
    def key(self) -> Key:
        """The index and the id, as in answers."""
        return self.index, self.id

    @property
    def place(self) -> dict[str, str]:
        """The place in a bulk action."""
        return {"_index": self.index, "_id": self.id, **({"routing": self.routing} if self.routing else {})}


class Application:
    """Writes documents, and remembers their sources.

    Attributes:
        name: the alias or data stream.
        rolling: the same, with the engine.
        rollover: number of documents per index.
        sources: the source of each document, without our field.
        read_only: indices with a write block.
        left_out: indices that queries leave out, with their number of documents; None for a closed index.
    """

    def __init__(self, rolling: Rolling, rollover: int, seed: int) -> None:
        self.rolling = rolling
        self.name, self.engine = rolling.name, rolling.engine
        self.rollover = rollover
        self.sources: dict[Document, dict[str, Any]] = {}
        self.read_only: set[str] = set()
        self.left_out: dict[str, int | None] = {}
        self._rng = random.Random(seed)
        self._writer = Writer(seed)
        self._number = self._in_index = 0

    @property
    def texts(self) -> dict[Key, str | None]:
        """The texts of all documents that queries find."""
        return {document.key: source.get("body") for document, source in self._queried.items()}

    @property
    def open_sources(self) -> dict[Document, dict[str, Any]]:
        """The sources of all documents in open indices."""
        closed = {index for index, documents in self.left_out.items() if documents is None}
        return {document: source for document, source in self.sources.items() if document.index not in closed}

    def choose(self, count: int) -> list[Document]:
        """Choose documents with a text whose id is unique."""
        ids = Counter(document.id for document in self.sources)
        choice = [each for each in self._queried if ids[each.id] == 1 and self.sources[each].get("body")]
        return self._rng.sample(choice, min(count, len(choice)))

    def add(self, count: int) -> None:
        """Write new documents in bulks. The index rolls over when it is full."""
        while count:
            if self._in_index >= self.rollover:
                self.rolling.roll_over()
                self._in_index = 0
            part = min(count, self.rollover - self._in_index)
            self.write(f"{self.name[-4:]}-{self._number + number}" for number in range(part))
            self._number += part
            self._in_index += part
            count -= part

    def write(self, ids: Iterable[str], *, without: str = "", **further: Any) -> None:
        """Write new documents with these ids into the write index, without a field."""
        kind = "create" if self.rolling.is_stream else "index"
        documents = []
        for id in ids:
            source = {**self._source(), **further}
            source.pop(without, None)
            documents.append((id, self._routing(), source))
        actions = [
            ({kind: {"_id": id, **({"routing": routing} if routing else {})}}, source)
            for id, routing, source in documents
        ]
        for (id, routing, source), result in zip(documents, self._bulk(actions), strict=True):
            self.sources[Document(result["_index"], id, routing)] = source

    def update(self, document: Document, **values: Any) -> None:
        """Update a document, through the pipeline."""
        parameters = "?refresh=true" + (f"&routing={document.routing}" if document.routing else "")
        call(self.engine, "POST", f"/{document.index}/_update/{document.id}{parameters}", {"doc": values})
        self.sources[document] |= values

    def bulk_update(self, values: dict[Document, dict[str, Any]]) -> None:
        """Update documents in a bulk, which passes no pipeline."""
        list(self._bulk(({"update": document.place}, {"doc": doc}) for document, doc in values.items()))
        for document, doc in values.items():
            self.sources[document] |= doc

    def update_by_query(self, team: str) -> int:
        """Add a note to all texts of a team, and return their number."""
        script = {"source": "if (ctx._source.body != null) ctx._source.body += params.note", "params": {"note": NOTE}}
        body = {"query": {"term": {"team": team}}, "script": script}
        done = call(self.engine, "POST", f"/{self.name}/_update_by_query?refresh=true", body)
        assert not done["failures"]
        for source in self.sources.values():
            if source["team"] == team and source.get("body"):
                source["body"] += NOTE
        return int(done["updated"])

    def delete(self, documents: Iterable[Document]) -> None:
        """Delete documents in a bulk."""
        documents = list(documents)
        list(self._bulk(({"delete": document.place},) for document in documents))
        for document in documents:
            del self.sources[document]

    def delete_by_query(self, numbers: range) -> None:
        """Delete the documents with these numbers."""
        query = {"range": {"number": {"gte": numbers.start, "lt": numbers.stop}}}
        call(self.engine, "POST", f"/{self.name}/_delete_by_query?refresh=true", {"query": query})
        self.sources = {key: source for key, source in self.sources.items() if source["number"] not in numbers}

    def indices(self) -> list[str]:
        """Return the indices behind the name, oldest first."""
        return sorted(call(self.engine, "GET", f"/{self.name}/_settings/index.uuid"))

    def join(self, index: str, ids: Iterable[str]) -> None:
        """Put another index without our field behind the alias."""
        sources = {id: self._source() for id in ids}
        call(self.engine, "PUT", f"/{index}", {"mappings": {"properties": {"body": {"type": "text"}}}})
        list(self._bulk(({"index": {"_index": index, "_id": id}}, source) for id, source in sources.items()))
        call(self.engine, "POST", "/_aliases", {"actions": [{"add": {"index": index, "alias": self.name}}]})
        self.sources |= {Document(index, id, None): source for id, source in sources.items()}

    def reindex(self, index: str, target: str) -> None:
        """Replace an index by a new one with the same documents."""
        body = {"source": {"index": index}, "dest": {"index": target}}
        done = call(self.engine, "POST", "/_reindex?refresh=true", body)
        assert not done["failures"]
        actions = [
            {"add": {"index": target, "alias": self.name, "is_write_index": False}},
            {"remove_index": {"index": index}},
        ]
        call(self.engine, "POST", "/_aliases", {"actions": actions})
        self.sources = {
            replace(document, index=target) if document.index == index else document: source
            for document, source in self.sources.items()
        }

    def stored(self) -> dict[Document, dict[str, Any]]:
        """Return the sources in the engine, without our field."""
        call(self.engine, "POST", f"/{self.name}/_refresh?ignore_unavailable=true")
        body = {"size": 10_000, "_source": {"excludes": ["simdoc", "@timestamp"]}}
        hits = call(self.engine, "POST", f"/{self.name}/_search?ignore_unavailable=true", body)["hits"]["hits"]
        return {Document(hit["_index"], hit["_id"], hit.get("_routing")): hit["_source"] for hit in hits}

    def new_text(self) -> str:
        """Return a new text."""
        return self._writer.text()

    @property
    def _queried(self) -> dict[Document, dict[str, Any]]:
        return {document: source for document, source in self.sources.items() if document.index not in self.left_out}

    def _source(self) -> dict[str, Any]:
        number = len(self.sources) + self._rng.randrange(1000)
        return {"body": self.new_text(), "team": self._rng.choice(TEAMS), "number": number}

    def _routing(self) -> str | None:
        return self._rng.choice([None, None, "north"]) if not self.rolling.is_stream else None

    def _bulk(self, actions: Iterable[tuple[dict[str, Any], ...]]) -> Iterator[dict[str, Any]]:
        """Send a bulk that succeeds, and return its results."""
        lines = []
        for action, *source in actions:
            stamp = {"@timestamp": "2026-11-01"} if "create" in action else {}
            lines += [action, *({**stamp, **body} for body in source)]
        sent = "".join(f"{json.dumps(line)}\n" for line in lines).encode()
        with to(self.engine) as engine:
            done = engine.call("POST", [self.name, "_bulk"], sent, refresh=True)
        assert not done["errors"], done
        return (next(iter(item.values())) for item in done["items"])
