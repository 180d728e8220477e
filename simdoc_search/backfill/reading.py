"""Documents as they were at one moment, page by page, with what guards an update of them."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol

from simdoc_search.backfill.patient import PatientEngine
from simdoc_search.errors import StoreError

__all__ = ["Hit", "Pages", "Part", "open_pages", "wanted_source"]

Hit = dict[str, Any]

KEPT_OPEN = "10m"
"""For how long the engine keeps a moment after the last page."""

_NOT_THERE = (400, 403, 404, 405)  # what engines answer that have no such request, or do not let us
_POINTS_IN_TIME = ((["_search", "point_in_time"], "pit_id"), (["_pit"], "id"))  # OpenSearch, Elasticsearch


@dataclass(slots=True)
class Part:
    """A shard's documents, and how far they are read.

    Attributes:
        number: of the shard.
        after: where the last page ended.
        finished: whether it was the last one.
    """

    number: int
    after: list[Any] | None = None
    finished: bool = False


class Pages(Protocol):
    """An index at one moment. Parts may be read side by side, each page by page."""

    parts: list[Part]

    def read(self, part: Part, size: int) -> list[Hit]:
        """The next documents of a part, no more than `size`; waits for a busy engine, and then asks for fewer."""

    def close(self) -> None:
        """Let the moment go."""


def wanted_source(text_field: str, field: str) -> list[str]:
    """What is read of a document: its text, and what its fingerprint was made of."""
    return [text_field, f"{field}.format", f"{field}.text_hash"]


def open_pages(engine: PatientEngine, index: str, shards: int, query: dict[str, Any], source: Iterable[str]) -> Pages:
    """Keep an index as it is now: by a point in time where the engine has one, else by a scroll.

    Raises:
        StoreError: the engine does not answer, or refuses.
    """
    body = {"query": query, "sort": ["_doc"], "_source": list(source), "seq_no_primary_term": True}
    for path, key in _POINTS_IN_TIME:
        answer = engine.ask("POST", [index, *path], allow=_NOT_THERE, keep_alive=KEPT_OPEN)
        if answer:
            return _PointInTime(engine, body, shards, _Moment(answer[key], path, key))
    return _Scroll(engine, index, body)


@dataclass(frozen=True, slots=True)
class _Moment:
    """What an engine calls a point in time, and where it lets go of it."""

    id: str
    path: list[str]
    key: str


class _PointInTime:
    """A part is a slice, as many as shards are: then engines give each its shard, in which `_doc` is an order."""

    def __init__(self, engine: PatientEngine, body: dict[str, Any], shards: int, moment: _Moment) -> None:
        self.parts = [Part(number) for number in range(shards)]
        self._engine = engine
        self._body = {**body, "track_total_hits": False}
        self._moment = moment
        self._id = moment.id

    def read(self, part: Part, size: int) -> list[Hit]:
        waiting = self._engine.patience()
        while True:
            try:
                hits: list[Hit] = self._page(part, size)
                break
            except StoreError as error:
                waiting.wait_after(error)
                size = max(1, size // 2)
        part.finished = len(hits) < size
        if hits:
            part.after = hits[-1]["sort"]
        return hits

    def close(self) -> None:
        id = [self._id] if self._moment.key == "pit_id" else self._id
        with suppress(StoreError):  # it goes by itself
            self._engine.engine.call("DELETE", self._moment.path, {self._moment.key: id}, allow=(404,))

    def _page(self, part: Part, size: int) -> Any:
        body = {**self._body, "size": size, "pit": {"id": self._id, "keep_alive": KEPT_OPEN}}
        if len(self.parts) > 1:
            body["slice"] = {"id": part.number, "max": len(self.parts)}
        if part.after is not None:
            body["search_after"] = part.after
        answer = self._engine.engine.call("POST", ["_search"], body, allow_partial_search_results=False)
        self._id = answer.get("pit_id", self._id)
        return answer["hits"]["hits"]


class _Scroll:
    """One part. A page that is lost on its way cannot be asked for again: that is an error."""

    def __init__(self, engine: PatientEngine, index: str, body: dict[str, Any]) -> None:
        self.parts = [Part(0)]
        self._engine = engine
        self._index = index
        self._body = body
        self._id: str | None = None

    def read(self, part: Part, size: int) -> list[Hit]:
        if self._id is None:
            kept = {"scroll": KEPT_OPEN, "allow_partial_search_results": False}
            answer = self._engine.ask("POST", [self._index, "_search"], {**self._body, "size": size}, **kept)
        else:
            answer = self._engine.engine.search_on(self._id, KEPT_OPEN)
        self._id = answer["_scroll_id"]
        hits: list[Hit] = answer["hits"]["hits"]
        part.finished = not hits
        return hits

    def close(self) -> None:
        if self._id is not None:
            with suppress(StoreError):  # it goes by itself
                self._engine.engine.call("DELETE", ["_search", "scroll"], {"scroll_id": [self._id]}, allow=(404,))
