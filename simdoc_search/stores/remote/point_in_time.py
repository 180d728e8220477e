"""What a search finds, all of it, as it is at one moment.

An engine keeps the moment for us as a point in time, of which any page can be asked for twice. Where it has none, a
scroll does: a page that is lost on its way is lost, and that is an error. In both cases the hits are counted: fewer
than the engine found are an error too.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Protocol

from simdoc_search.errors import StoreError, StoreUnavailableError
from simdoc_search.stores.remote.engine import Engine, same_copies
from simdoc_search.stores.remote.errors import TooLargeError, is_no_engine
from simdoc_search.stores.remote.retry import is_retryable

RawHit = dict[str, Any]
"""What an engine says of a document that it found."""

PAGE = 500
"""Hits that are read at once."""

KEPT_OPEN = "10m"
"""For how long the engine keeps a moment after the last page."""

_NOT_THERE = (400, 403, 404, 405)  # what engines answer that have no such request, or do not let us
_POINTS_IN_TIME: tuple[tuple[list[str], str, dict[str, Any]], ...] = (  # OpenSearch, Elasticsearch
    (["_search", "point_in_time"], "pit_id", {"allow_partial_pit_creation": False}),
    (["_pit"], "id", {}),
)


@dataclass(slots=True)
class Slice:
    """The hits of one shard, and how far they are read.

    Attributes:
        only: what is added to a search for this part.
        after: where the last page ended.
        read: how many hits were read.
        total: how many there are; None before the first page.
        is_finished: whether the last page was read.
    """

    only: dict[str, Any] = field(default_factory=dict)
    after: list[Any] | None = None
    read: int = 0
    total: int | None = None
    is_finished: bool = False

    def take(self, engine: Engine, answer: Mapping[str, Any], size: int) -> list[RawHit]:
        """The hits of a page, which are counted.

        Raises:
            StoreError: the engine gave fewer hits than it had found, or others.
        """
        hits: list[RawHit] = answer["hits"]["hits"]
        if self.total is None:
            self.total = total_hits(engine, answer)
        self.read += len(hits)
        self.is_finished = self.read >= self.total or len(hits) < size
        if len(hits) > size or (self.is_finished and self.read != self.total):
            found = f"{self.read:,} of {self.total:,} hits"
            raise StoreError(f"{engine.name} gave {found}, so some were lost on the way; run it again")
        return hits


class PointInTime(Protocol):
    """What a search finds, at one moment. Parts may be read side by side, each page by page."""

    slices: list[Slice]

    def read(self, part: Slice, size: int) -> list[RawHit]:
        """The next hits of a part, no more than `size`; waits for a busy engine, and then asks for fewer.

        Raises:
            StoreError: the engine does not answer, or not with all hits.
        """

    def rewind(self) -> None:
        """Let all parts be read from their beginning."""

    def ask(self, bodies: Sequence[dict[str, Any]]) -> list[Any]:
        """The answers to other searches, in order, by one request; waits for a busy engine."""

    def close(self) -> None:
        """Let the moment go."""


def total_hits(engine: Engine, answer: Mapping[str, Any]) -> int:
    """How many hits a search has that was to count them.

    Raises:
        StoreError: the engine did not, or gives more than it counted.
    """
    total = answer["hits"].get("total", {}).get("value")
    if total is None or total < len(answer["hits"]["hits"]):
        raise is_no_engine(engine.name, "hits.total is missing or too small")
    return int(total)


def open_point_in_time(
    engine: Engine,
    index: str,
    body: dict[str, Any],
    shards: Mapping[str, int] | None = None,
    of_shard: Callable[[int], dict[str, Any]] | None = None,
) -> PointInTime:
    """Keep what a search finds.

    Args:
        engine: where the index is.
        index: its name, or that of an alias.
        body: of the search, with a `sort` by `_doc` alone or by `_score` alone.
        shards: how many primary shards each concrete index has; None: the engine is asked.
        of_shard: a filter for each shard of a concrete index, by its number.

    Raises:
        StoreError: the engine does not answer, or refuses.
    """
    for path, key, whole in _POINTS_IN_TIME:
        params = {**whole, **same_copies(body), "keep_alive": KEPT_OPEN}
        answer = engine.call("POST", [index, *path], allow=_NOT_THERE, **params)
        if answer is None:
            continue
        moment = _Pit(engine, body, answer[key], path, key)
        try:
            counts = shards or _shards_of(engine, index)
        except BaseException:
            moment.close()
            raise
        if counts:
            moment.divide(counts, of_shard)
            return moment
        moment.close()
    count = sum((shards or {}).values()) if of_shard else 1
    return _Scroll(engine, index, body, [_only(body, number, count, of_shard) for number in range(count)])


def all_hits(engine: Engine, index: str, body: dict[str, Any]) -> Iterator[RawHit]:
    """All hits of a search, in the order of its `sort`: by `_score`, or by `_doc`, which is any order.

    Raises:
        StoreError: as `PointInTime.read`.
    """
    with closing(open_point_in_time(engine, index, body)) as moment:
        pages = _pages(moment)
        yield from heapq.merge(*pages, key=lambda hit: -hit["_score"]) if body["sort"] == ["_score"] else chain(*pages)


def all_hits_at(moment: PointInTime) -> Iterator[RawHit]:
    """All hits of a moment, one part after the other."""
    return chain.from_iterable(_pages(moment))


def _pages(moment: PointInTime) -> list[Iterator[RawHit]]:
    return [_hits_of(moment, part, max(10, PAGE // len(moment.slices))) for part in moment.slices]


def _hits_of(moment: PointInTime, part: Slice, size: int) -> Iterator[RawHit]:
    while not part.is_finished:
        yield from moment.read(part, size)


def _shards_of(engine: Engine, index: str) -> dict[str, int]:
    """How many primary shards each concrete index behind a name has; none if the engine does not tell us."""
    settings = engine.call("GET", [index, "_settings", "index.number_of_shards"], allow=(403,)) or {}
    return {name: int(each["settings"]["index"]["number_of_shards"]) for name, each in settings.items()}


class _Pit:
    """A part is a slice of a concrete index, as many as it has shards.

    Then each slice is a shard, in which `_doc` tells all documents apart: only so a page can begin after another one.
    """

    def __init__(self, engine: Engine, body: dict[str, Any], id: str, path: list[str], key: str) -> None:
        self.slices: list[Slice] = []
        self._engine = engine
        self._body = body if body["sort"] == ["_doc"] else {**body, "sort": [*body["sort"], "_doc"]}
        self._id = id
        self._path = path
        self._key = key

    def divide(self, shards: Mapping[str, int], of_shard: Callable[[int], dict[str, Any]] | None = None) -> None:
        """Say of which shards it is, and what filter each has."""
        for index, count in sorted(shards.items()):
            for number in range(count):
                only = _only(self._body, number, count, of_shard, [{"term": {"_index": index}}] * (len(shards) > 1))
                self.slices.append(Slice(only))

    def read(self, part: Slice, size: int) -> list[RawHit]:
        retries = self._engine.retries()
        while True:
            try:
                answer = self._page(part, size)
                break
            except StoreError as error:
                if not isinstance(error, TooLargeError) or size == 1:
                    retries.pause_after(error)
                size = max(1, size // 2)
        self._id = answer.get("pit_id", self._id)
        hits = part.take(self._engine, answer, size)
        if hits:
            part.after = hits[-1].get("sort")
            if not part.is_finished and not part.after:
                raise is_no_engine(self._engine.name, "sort is missing")
        return hits

    def rewind(self) -> None:
        self.slices = [Slice(each.only) for each in self.slices]

    def ask(self, bodies: Sequence[dict[str, Any]]) -> list[Any]:
        pit = {"id": self._id, "keep_alive": KEPT_OPEN}
        return self._engine.search_many(None, [{**each, "pit": pit} for each in bodies])

    def close(self) -> None:
        self._engine.release(self._path, {self._key: [self._id] if self._key == "pit_id" else self._id})

    def _page(self, part: Slice, size: int) -> Any:
        body = {**self._body, **part.only, "size": size, "pit": {"id": self._id, "keep_alive": KEPT_OPEN}}
        body["track_total_hits"] = part.total is None
        if part.after is not None:
            body["search_after"] = part.after
        return self._engine.call_once("POST", ["_search"], body)


def _only(
    body: Mapping[str, Any],
    number: int,
    count: int,
    of_shard: Callable[[int], dict[str, Any]] | None,
    filters: Sequence[dict[str, Any]] = (),
) -> dict[str, Any]:
    """What is added to a search for one of so many shards."""
    only: dict[str, Any] = {} if count == 1 else {"slice": {"id": number, "max": count}}
    kept = [*filters, *([of_shard(number)] if of_shard else [])]
    return only | ({"query": {"bool": {"must": [body["query"]], "filter": kept}}} if kept else {})


class _Scroll:
    """Parts whose pages come in turn: a scroll for each. What is asked for by shards is so at a moment for each."""

    def __init__(self, engine: Engine, index: str, body: dict[str, Any], only: Sequence[dict[str, Any]]) -> None:
        self.slices = [Slice(each) for each in only]
        self._engine = engine
        self._index = index
        self._body = {**body, "track_total_hits": True}
        self._scrolls: dict[int, tuple[str, int]] = {}  # of a part: its id, and the size of its pages

    def read(self, part: Slice, size: int) -> list[RawHit]:
        id, size = self._scrolls.get(key := self.slices.index(part), (None, size))
        if id is None:
            body = {**self._body, **part.only, "size": size}
            answer = self._engine.search(self._index, body, scroll=KEPT_OPEN)
        else:
            answer = self._next(id)
        if not (id := answer.get("_scroll_id")):
            raise is_no_engine(self._engine.name, "_scroll_id is missing")
        self._scrolls[key] = id, size
        return part.take(self._engine, answer, size)

    def rewind(self) -> None:
        self.close()
        self.slices, self._scrolls = [Slice(each.only) for each in self.slices], {}

    def ask(self, bodies: Sequence[dict[str, Any]]) -> list[Any]:
        return self._engine.search_many(self._index, bodies)

    def close(self) -> None:
        if self._scrolls:
            self._engine.release(["_search", "scroll"], {"scroll_id": [id for id, _ in self._scrolls.values()]})

    def _next(self, id: str) -> Any:
        try:
            return self._engine.call_once("POST", ["_search", "scroll"], {"scroll": KEPT_OPEN, "scroll_id": id})
        except StoreError as error:
            if not is_retryable(error):
                raise
            lost = "so a page is lost, which cannot be asked for again; run it again"
            raise StoreUnavailableError(f"{error}, {lost}") from error
