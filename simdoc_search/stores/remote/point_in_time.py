"""Reads all hits of a search at one point in time.

A page of a point in time can be read again. Engines without points in time have scrolls, and the loss of a page of a
scroll is an error. In both cases it is an error to receive fewer hits than the engine has counted.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, TypeAlias

from simdoc_search.errors import StoreError, StoreUnavailableError
from simdoc_search.stores.remote.engine import Engine, shard_preference
from simdoc_search.stores.remote.errors import TooLargeError
from simdoc_search.stores.remote.retry import is_retryable

RawHit = dict[str, Any]
"""A hit in the answer of an engine."""

ShardFilter = Callable[[int], dict[str, Any]]
"""Returns the clause for the shard with a number."""

PAGE_SIZE = 500
"""Number of hits that all slices together read at once."""

KEEP_ALIVE = "10m"
"""How long the engine keeps a point in time or a scroll after each page."""

_UNSUPPORTED = (400, 403, 404, 405)  # the engine does not have this request, or does not allow it
_OPENING_REQUESTS: tuple[tuple[list[str], str, dict[str, Any]], ...] = (  # for OpenSearch, for Elasticsearch
    (["_search", "point_in_time"], "pit_id", {"allow_partial_pit_creation": False}),
    (["_pit"], "id", {}),
)


@dataclass(slots=True)
class Slice:
    """A part of the hits, such as those of one shard, and how much of it was read.

    Attributes:
        selection: the part of a search body that selects this slice.
        after: sort values of the last hit that was read.
        read: number of hits that were read.
        total: number of all hits; None before the first page.
        is_finished: whether the last page was read.
    """

    selection: dict[str, Any] = field(default_factory=dict)
    after: list[Any] | None = None
    read: int = 0
    total: int | None = None
    is_finished: bool = False

    def take(self, name: str, answer: Mapping[str, Any], size: int) -> list[RawHit]:
        """Count the hits of a page, and return them. Raises StoreError if some are missing."""
        hits: list[RawHit] = answer["hits"]["hits"]
        if self.total is None:
            self.total = total_hits(answer)
        self.read += len(hits)
        self.is_finished = self.read >= self.total or len(hits) < size
        if self.is_finished and self.read != self.total:
            raise StoreError(f"{name} returned only {self.read:,} of {self.total:,} hits; run the command again")
        return hits


class PointInTime:
    """The hits of a search in a point in time, with one slice for each shard. Several slices may be read in turn.

    The sort value `_doc` is unique in a shard, so a page can start after the last hit of the page before.
    """

    def __init__(self, engine: Engine, body: dict[str, Any], id: str, path: list[str], key: str) -> None:
        self.slices: list[Slice] = []
        self._engine = engine
        self._body = body if body["sort"] == ["_doc"] else {**body, "sort": [*body["sort"], "_doc"]}
        self._id = id
        self._path = path
        self._key = key

    def divide(self, shards: Mapping[str, int], of_shard: ShardFilter | None) -> None:
        """Make one slice for each shard of each index."""
        for index, count in sorted(shards.items()):
            filters = [{"term": {"_index": index}}] if len(shards) > 1 else []
            self.slices += [Slice(_selection(self._body, n, count, of_shard, filters)) for n in range(count)]

    def read(self, part: Slice, size: int) -> list[RawHit]:
        """Return the next hits of a slice, at most `size`. If the answer is too large, a smaller page is read.

        Raises:
            StoreError: as `Engine.call`; or hits are missing.
        """
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
        hits = part.take(self._engine.name, answer, size)
        if hits:
            part.after = hits[-1]["sort"]
        return hits

    def rewind(self) -> None:
        """Read all slices from their beginning again."""
        self.slices = [Slice(part.selection) for part in self.slices]

    def search_many(self, bodies: Sequence[dict[str, Any]]) -> list[Any]:
        """Send other searches in this point in time as one request, and return their answers in order."""
        return self._engine.search_many(None, [{**body, "pit": self._reference} for body in bodies])

    def close(self) -> None:
        """Release the point in time."""
        self._engine.release(self._path, {self._key: [self._id] if self._key == "pit_id" else self._id})

    @property
    def _reference(self) -> dict[str, str]:
        return {"id": self._id, "keep_alive": KEEP_ALIVE}

    def _page(self, part: Slice, size: int) -> Any:
        body = {**self._body, **part.selection, "size": size, "pit": self._reference}
        body["track_total_hits"] = part.total is None
        if part.after is not None:
            body["search_after"] = part.after
        return self._engine.call_once("POST", ["_search"], body)


class Scroll:
    """The hits of a search in scrolls, one for each slice, for engines without points in time."""

    def __init__(self, engine: Engine, index: str, body: dict[str, Any], slices: list[Slice]) -> None:
        self.slices: list[Slice] = slices
        self._engine = engine
        self._index = index
        self._body = {**body, "track_total_hits": True}
        self._scrolls: dict[int, tuple[str, int]] = {}  # of a slice: scroll id and page size

    def read(self, part: Slice, size: int) -> list[RawHit]:
        """Return the next hits of a slice, as `PointInTime.read`. Its first page sets the size of all its pages."""
        number = self.slices.index(part)
        if number in self._scrolls:
            id, size = self._scrolls[number]
            answer = self._next_page(id)
        else:
            body = {**self._body, **part.selection, "size": size}
            answer = self._engine.search(self._index, body, scroll=KEEP_ALIVE)
        self._scrolls[number] = answer["_scroll_id"], size
        return part.take(self._engine.name, answer, size)

    def rewind(self) -> None:
        """Read all slices from their beginning again."""
        self.close()
        self.slices = [Slice(part.selection) for part in self.slices]
        self._scrolls = {}

    def search_many(self, bodies: Sequence[dict[str, Any]]) -> list[Any]:
        """Send other searches as one request, and return their answers in order. They see the current documents."""
        return self._engine.search_many(self._index, bodies)

    def close(self) -> None:
        """Release the scrolls."""
        if self._scrolls:
            self._engine.release(["_search", "scroll"], {"scroll_id": [id for id, _ in self._scrolls.values()]})

    def _next_page(self, id: str) -> Any:
        try:
            return self._engine.call_once("POST", ["_search", "scroll"], {"scroll": KEEP_ALIVE, "scroll_id": id})
        except StoreError as error:
            if not is_retryable(error):
                raise
            lost = "a page of the scroll is lost and cannot be read again; run the command again"
            raise StoreUnavailableError(f"{error}; {lost}") from error


PagedHits: TypeAlias = PointInTime | Scroll
"""The hits of a search, which are read slice by slice and page by page."""


def total_hits(answer: Mapping[str, Any]) -> int:
    """Return the number of hits in the answer to a search that counts them."""
    return int(answer["hits"]["total"]["value"])


def open_point_in_time(
    engine: Engine,
    index: str,
    body: dict[str, Any],
    shards: Mapping[str, int] | None = None,
    of_shard: ShardFilter | None = None,
) -> PagedHits:
    """Open a point in time for a search.

    Args:
        engine: the engine.
        index: name of the index or alias.
        body: the search, with a `sort` by `_doc` alone or by `_score` alone.
        shards: number of primary shards of each concrete index; None: ask the engine.
        of_shard: returns a clause for each shard; None: no clauses.

    Raises:
        StoreError: as `Engine.call`.
    """
    for path, key, options in _OPENING_REQUESTS:
        params = {**options, **shard_preference(body), "keep_alive": KEEP_ALIVE}
        answer = engine.call("POST", [index, *path], allow=_UNSUPPORTED, **params)
        if answer is None:
            continue
        opened = PointInTime(engine, body, answer[key], path, key)
        try:
            counts = shards or _shard_counts(engine, index)
        except BaseException:
            opened.close()
            raise
        if counts:
            opened.divide(counts, of_shard)
            return opened
        opened.close()
    count = sum((shards or {}).values()) if of_shard else 1
    return Scroll(engine, index, body, [Slice(_selection(body, n, count, of_shard)) for n in range(count)])


def all_hits(engine: Engine, index: str, body: dict[str, Any]) -> Iterator[RawHit]:
    """Yield all hits of a search in the order of its `sort`: by `_score`, or by `_doc`, which means any order.

    Raises:
        StoreError: as `PointInTime.read`.
    """
    with closing(open_point_in_time(engine, index, body)) as opened:
        slices = _hits_by_slice(opened)
        if body["sort"] == ["_score"]:
            yield from heapq.merge(*slices, key=lambda hit: -hit["_score"])
        else:
            yield from chain(*slices)


def all_hits_at(opened: PagedHits) -> Iterator[RawHit]:
    """Yield all hits, slice by slice."""
    return chain.from_iterable(_hits_by_slice(opened))


def _hits_by_slice(opened: PagedHits) -> list[Iterator[RawHit]]:
    def hits_of(part: Slice) -> Iterator[RawHit]:
        while not part.is_finished:
            yield from opened.read(part, max(10, PAGE_SIZE // len(opened.slices)))

    return [hits_of(part) for part in opened.slices]


def _shard_counts(engine: Engine, index: str) -> dict[str, int]:
    """Return the number of primary shards of each concrete index; empty if we may not read them."""
    settings = engine.call("GET", [index, "_settings", "index.number_of_shards"], allow=(403,)) or {}
    return {name: int(values["settings"]["index"]["number_of_shards"]) for name, values in settings.items()}


def _selection(
    body: Mapping[str, Any],
    number: int,
    count: int,
    of_shard: ShardFilter | None,
    filters: Sequence[dict[str, Any]] = (),
) -> dict[str, Any]:
    """Return the part of a search body that selects one of several slices."""
    selection: dict[str, Any] = {} if count == 1 else {"slice": {"id": number, "max": count}}
    clauses = [*filters, *([of_shard(number)] if of_shard else [])]
    return selection | ({"query": {"bool": {"must": [body["query"]], "filter": clauses}}} if clauses else {})
