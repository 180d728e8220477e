"""An application: what it writes to its alias or data stream, in all ways, and what its documents are then."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from tests.living.texts import Writer
from tests.living.truth import Key
from tests.support.backfill import to
from tests.support.engines import call
from tests.support.living import Rolling

__all__ = ["NOTE", "Application", "Document"]

TEAMS = ("sales", "legal", "design")
NOTE = " Seen and approved by the team of design this week."
"""What many documents say."""


@dataclass(frozen=True, order=True)
class Document:
    """A document as the application knows it."""

    index: str
    id: str
    routing: str | None

    @property
    def key(self) -> Key:
        """What answers name it by."""
        return self.index, self.id

    @property
    def place(self) -> dict[str, str]:
        """What a bulk action is told."""
        return {"_index": self.index, "_id": self.id, **({"routing": self.routing} if self.routing else {})}


class Application:
    """Writes documents, and remembers what each of them must be.

    Attributes:
        name: its alias or data stream.
        rolling: the same, with the engine.
        rollover: how many documents an index gets.
        sources: what each document must have, but for our field.
        read_only: the indices that are not written any more.
        left_out: those that no answer is from, with the number of their documents; None: it is closed.
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
        """Of all documents that answers are from."""
        return {each.key: source.get("body") for each, source in self._asked.items()}

    @property
    def open_sources(self) -> dict[Document, dict[str, Any]]:
        """Of all documents that are not in a closed index."""
        closed = {index for index, documents in self.left_out.items() if documents is None}
        return {each: source for each, source in self.sources.items() if each.index not in closed}

    def some(self, count: int, *, with_text: bool = True) -> list[Document]:
        """Some documents, no two of one id."""
        ids = [each.id for each in self.sources]
        single = [each for each in self._asked if ids.count(each.id) == 1]
        chosen = [each for each in single if not with_text or self.sources[each].get("body")]
        return self._rng.sample(chosen, min(count, len(chosen)))

    def add(self, count: int) -> None:
        """New documents, in bulks; the index rolls over when it is full."""
        while count:
            if self._in_index >= self.rollover:
                self.rolling.roll_over()
                self._in_index = 0
            part = min(count, self.rollover - self._in_index)
            self.write(f"{self.name[-4:]}-{self._number + each}" for each in range(part))
            self._number += part
            self._in_index += part
            count -= part

    def write(self, ids: Iterable[str], *, without: str = "", **further: Any) -> None:
        """New documents of these ids, in the index that is written now; a field may be missing."""
        made = [(id, {**self._source(), **further}) for id in ids]
        for _, source in made:
            source.pop(without, None)
        sent = [(id, self._routing(), source) for id, source in made]
        kind = "create" if self.rolling.is_stream else "index"
        actions = [
            ({kind: {"_id": id, **({"routing": routing} if routing else {})}}, source) for id, routing, source in sent
        ]
        for (id, routing, source), done in zip(sent, self._bulk(actions), strict=True):
            self.sources[Document(done["_index"], id, routing)] = source

    def update(self, document: Document, **values: Any) -> None:
        """One request to `_update`."""
        asked = f"?refresh=true&routing={document.routing}" if document.routing else "?refresh=true"
        call(self.engine, "POST", f"/{document.index}/_update/{document.id}{asked}", {"doc": values})
        self.sources[document] |= values

    def bulk_update(self, values: dict[Document, dict[str, Any]]) -> None:
        """The same of many in one request, past all pipelines."""
        list(self._bulk(({"update": each.place}, {"doc": doc}) for each, doc in values.items()))
        for each, doc in values.items():
            self.sources[each] |= doc

    def update_by_query(self, team: str) -> int:
        """Add a note to all texts of a team; how many."""
        script = {"source": "if (ctx._source.body != null) ctx._source.body += params.note", "params": {"note": NOTE}}
        body = {"query": {"term": {"team": team}}, "script": script}
        done = call(self.engine, "POST", f"/{self.name}/_update_by_query?refresh=true", body)
        assert not done["failures"]
        for source in self.sources.values():
            if source["team"] == team and source.get("body"):
                source["body"] += NOTE
        return int(done["updated"])

    def delete(self, documents: Iterable[Document]) -> None:
        """In one bulk."""
        gone = list(documents)
        list(self._bulk(({"delete": each.place},) for each in gone))
        for each in gone:
            del self.sources[each]

    def delete_by_query(self, numbers: range) -> None:
        """All documents with a number of these."""
        query = {"range": {"number": {"gte": numbers.start, "lt": numbers.stop}}}
        call(self.engine, "POST", f"/{self.name}/_delete_by_query?refresh=true", {"query": query})
        self.sources = {each: source for each, source in self.sources.items() if source["number"] not in numbers}

    def indices(self) -> list[str]:
        """The indices behind the name, oldest first."""
        return sorted(call(self.engine, "GET", f"/{self.name}/_settings/index.uuid"))

    def join(self, index: str, ids: Iterable[str]) -> None:
        """Documents of another index, which knows nothing of us, come behind the alias."""
        sources = {id: self._source() for id in ids}
        call(self.engine, "PUT", f"/{index}", {"mappings": {"properties": {"body": {"type": "text"}}}})
        list(self._bulk(({"index": {"_index": index, "_id": id}}, source) for id, source in sources.items()))
        call(self.engine, "POST", "/_aliases", {"actions": [{"add": {"index": index, "alias": self.name}}]})
        self.sources |= {Document(index, id, None): source for id, source in sources.items()}

    def reindex(self, index: str, target: str) -> None:
        """Into a new index that takes the place of the old one."""
        body = {"source": {"index": index}, "dest": {"index": target}}
        done = call(self.engine, "POST", "/_reindex?refresh=true", body)
        assert not done["failures"]
        actions = [
            {"add": {"index": target, "alias": self.name, "is_write_index": False}},
            {"remove_index": {"index": index}},
        ]
        call(self.engine, "POST", "/_aliases", {"actions": actions})
        self.sources = {
            replace(each, index=target) if each.index == index else each: source
            for each, source in self.sources.items()
        }

    def stored(self) -> dict[Document, dict[str, Any]]:
        """What the engine has, but for our field."""
        call(self.engine, "POST", f"/{self.name}/_refresh?ignore_unavailable=true")
        body = {"size": 10_000, "_source": {"excludes": ["simdoc", "@timestamp"]}}
        hits = call(self.engine, "POST", f"/{self.name}/_search?ignore_unavailable=true", body)["hits"]["hits"]
        return {Document(hit["_index"], hit["_id"], hit.get("_routing")): hit["_source"] for hit in hits}

    def new_text(self) -> str:
        """The next text of the users."""
        return self._writer.text()

    @property
    def _asked(self) -> dict[Document, dict[str, Any]]:
        return {each: source for each, source in self.sources.items() if each.index not in self.left_out}

    def _source(self) -> dict[str, Any]:
        number = len(self.sources) + self._rng.randrange(1000)
        return {"body": self.new_text(), "team": self._rng.choice(TEAMS), "number": number}

    def _routing(self) -> str | None:
        return self._rng.choice([None, None, "north"]) if not self.rolling.is_stream else None

    def _bulk(self, actions: Iterable[tuple[dict[str, Any], ...]]) -> Iterator[dict[str, Any]]:
        """What became of each action; all must have succeeded."""
        lines = []
        for action, *source in actions:
            stamp = {"@timestamp": "2026-11-01"} if "create" in action else {}
            lines += [action, *({**stamp, **each} for each in source)]
        sent = "".join(f"{json.dumps(line)}\n" for line in lines).encode()
        with to(self.engine) as engine:
            done = engine.call("POST", [self.name, "_bulk"], sent, refresh=True)
        assert not done["errors"], done
        return (next(iter(item.values())) for item in done["items"])
