"""Reads all hits of a search at one point in time.

A page can be requested again if its response was lost. If the engine does not support points in time, scrolls are used.
If a page of a scroll is lost, an error is raised. An error is also raised if fewer hits are received than the engine
has counted.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, TypeAlias

from simdoc_search.errors import StoreError, StoreUnavailableError
from simdoc_search.stores.remote.engine import UNSUPPORTED_OR_FORBIDDEN_STATUSES, Engine, shard_preference
from simdoc_search.stores.remote.errors import ResponseTooLargeError
from simdoc_search.stores.remote.retry import is_retryable

RawHit = dict[str, Any]
"""A hit as the engine returns it."""

ShardFilter = Callable[[int], dict[str, Any]]
"""Returns the clause that selects documents of a shard. Its argument is the shard number, from 0."""

PAGE_SIZE = 500
"""Number of hits that are read at once, from all slices together."""

KEEP_ALIVE = "10m"
"""Time after each page until a point in time or a scroll expires."""

_OPENING_REQUESTS: tuple[tuple[list[str], str, dict[str, Any]], ...] = (  # first for OpenSearch, then for Elasticsearch
    (["_search", "point_in_time"], "pit_id", {"allow_partial_pit_creation": False}),
    (["_pit"], "id", {}),
)


@dataclass(slots=True)
class Slice:
    """A part of the hits, such as the hits of one shard, and the reading position in it.

    `selection` is the part of a search body that selects it. `search_after` has the sort values of the last hit that
    was read. `total` is None before the first page is read.
    """

    selection: dict[str, Any] = field(default_factory=dict)
    search_after: list[Any] | None = None
    read_count: int = 0
    total: int | None = None
    is_finished: bool = False

    def count_page(self, name: str, response: Mapping[str, Any], size: int) -> list[RawHit]:
        """Count the hits of a page, and return them. Raises StoreError if hits are missing after the last page."""
        hits: list[RawHit] = response["hits"]["hits"]
        if self.total is None:
            self.total = total_hits(response)
        self.read_count += len(hits)
        self.is_finished = self.read_count >= self.total or len(hits) < size
        if self.is_finished and self.read_count != self.total:
            raise StoreError(f"{name} returned only {self.read_count:,} of {self.total:,} hits; run the command again")
        return hits


class PointInTime:
    """The hits of a search in a point in time, with one slice for each shard. The slices can be read alternately.

    The sort value `_doc` is unique in a shard, so a page can start after the last hit of the previous page.
    """

    def __init__(self, engine: Engine, body: dict[str, Any], id: str, path: list[str], id_key: str) -> None:
        self.slices: list[Slice] = []
        self._engine = engine
        self._body = body if body["sort"] == ["_doc"] else {**body, "sort": [*body["sort"], "_doc"]}
        self._id = id
        self._path = path
        self._key = id_key

    def split_by_shard(self, shards: Mapping[str, int], shard_filter: ShardFilter | None) -> None:
        """Create one slice for each shard of each index."""
        for index, count in sorted(shards.items()):
            filters = [{"term": {"_index": index}}] if len(shards) > 1 else []
            self.slices += [Slice(_select_slice(self._body, n, count, shard_filter, filters)) for n in range(count)]

    def read(self, hit_slice: Slice, size: int) -> list[RawHit]:
        """Return at most `size` further hits of a slice. If the response is too large, read a smaller page.

        Raises:
            StoreError: hits are missing. See also `Engine.call`.
        """
        retries = self._engine.create_retries()
        while True:
            try:
                response = self._read_page(hit_slice, size)
                break
            except StoreError as error:
                if not isinstance(error, ResponseTooLargeError) or size == 1:
                    retries.pause_or_raise(error)
                size = max(1, size // 2)
        self._id = response.get("pit_id", self._id)
        hits = hit_slice.count_page(self._engine.name, response, size)
        if hits:
            hit_slice.search_after = hits[-1]["sort"]
        return hits

    def close(self) -> None:
        """Release the point in time."""
        self._engine.release(self._path, {self._key: [self._id] if self._key == "pit_id" else self._id})

    @property
    def _reference(self) -> dict[str, str]:
        return {"id": self._id, "keep_alive": KEEP_ALIVE}

    def _read_page(self, hit_slice: Slice, size: int) -> Any:
        body = {**self._body, **hit_slice.selection, "size": size, "pit": self._reference}
        body["track_total_hits"] = hit_slice.total is None
        if hit_slice.search_after is not None:
            body["search_after"] = hit_slice.search_after
        return self._engine.call_once("POST", ["_search"], body)


class Scroll:
    """The hits of a search in scrolls, one for each slice, for engines without points in time."""

    def __init__(self, engine: Engine, index: str, body: dict[str, Any], slices: list[Slice]) -> None:
        self.slices: list[Slice] = slices
        self._engine = engine
        self._index = index
        self._body = {**body, "track_total_hits": True}
        self._scrolls: dict[int, tuple[str, int]] = {}  # scroll id and page size, by position of the slice

    def read(self, hit_slice: Slice, size: int) -> list[RawHit]:
        """Return the next hits of a slice; see `PointInTime.read`. The size of the first page applies to all pages."""
        position = self.slices.index(hit_slice)
        if position in self._scrolls:
            id, size = self._scrolls[position]
            response = self._next_page(id)
        else:
            body = {**self._body, **hit_slice.selection, "size": size}
            response = self._engine.search(self._index, body, scroll=KEEP_ALIVE)
        self._scrolls[position] = response["_scroll_id"], size
        return hit_slice.count_page(self._engine.name, response, size)

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
            lost = "the scroll cannot continue after this error, because a page may be lost; run the command again"
            raise StoreUnavailableError(f"{error}; {lost}") from error


PagedHits: TypeAlias = PointInTime | Scroll
"""The hits of a search. They are read slice by slice and page by page."""


def total_hits(response: Mapping[str, Any]) -> int:
    """Return the number of hits that a response to a search reports."""
    return int(response["hits"]["total"]["value"])


def open_paged_hits(
    engine: Engine,
    index: str,
    body: dict[str, Any],
    shards: Mapping[str, int] | None = None,
    shard_filter: ShardFilter | None = None,
) -> PagedHits:
    """Open the hits of a search in a point in time, or in scrolls if the engine does not support points in time.

    The `sort` of the search is either `_doc` or `_score`. `shards` is the number of primary shards of each concrete
    index. If None, it is read from the engine. `shard_filter` returns an additional clause for each shard.
    """
    for path, id_key, options in _OPENING_REQUESTS:
        params = {**options, **shard_preference(body), "keep_alive": KEEP_ALIVE}
        response = engine.call("POST", [index, *path], allowed_statuses=UNSUPPORTED_OR_FORBIDDEN_STATUSES, **params)
        if response is None:
            continue
        paged_hits = PointInTime(engine, body, response[id_key], path, id_key)
        try:
            counts = shards or _read_shard_counts(engine, index)
        except BaseException:
            paged_hits.close()
            raise
        if counts:
            paged_hits.split_by_shard(counts, shard_filter)
            return paged_hits
        paged_hits.close()
    count = sum((shards or {}).values()) if shard_filter else 1
    return Scroll(engine, index, body, [Slice(_select_slice(body, n, count, shard_filter)) for n in range(count)])


def all_hits(engine: Engine, index: str, body: dict[str, Any]) -> Iterator[RawHit]:
    """Yield all hits of a search, by descending score if its `sort` is `_score`, and in any order if it is `_doc`."""
    with closing(open_paged_hits(engine, index, body)) as paged_hits:
        slices = _hits_by_slice(paged_hits)
        if body["sort"] == ["_score"]:
            yield from heapq.merge(*slices, key=lambda hit: -hit["_score"])
        else:
            yield from chain(*slices)


def _hits_by_slice(paged_hits: PagedHits) -> list[Iterator[RawHit]]:
    def hits_of(hit_slice: Slice) -> Iterator[RawHit]:
        while not hit_slice.is_finished:
            yield from paged_hits.read(hit_slice, max(10, PAGE_SIZE // len(paged_hits.slices)))

    return [hits_of(hit_slice) for hit_slice in paged_hits.slices]


def _read_shard_counts(engine: Engine, index: str) -> dict[str, int]:
    """Return the number of primary shards by concrete index; empty if the engine does not allow reading them."""
    settings = engine.get_if_allowed(index, "_settings", "index.number_of_shards")
    return {name: int(values["settings"]["index"]["number_of_shards"]) for name, values in settings.items()}


def _select_slice(
    body: Mapping[str, Any],
    slice_id: int,
    slice_count: int,
    shard_filter: ShardFilter | None,
    filters: Sequence[dict[str, Any]] = (),
) -> dict[str, Any]:
    """Return the part of a search body that selects one of several slices."""
    selection: dict[str, Any] = {} if slice_count == 1 else {"slice": {"id": slice_id, "max": slice_count}}
    clauses = [*filters, *([shard_filter(slice_id)] if shard_filter else [])]
    return selection | ({"query": {"bool": {"must": [body["query"]], "filter": clauses}}} if clauses else {})
