"""Documents by their ids, found by a search: it finds them behind an alias, and with any routing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.errors import TooLargeError
from simdoc_search.stores.remote.point_in_time import RawHit, total_of
from simdoc_search.stores.remote.queries import Ids
from simdoc_search.stores.remote.writer import can_exist

MOST_OF_ONE_ID = 100


def found_by_id(
    engine: Engine,
    index: str,
    ids: Ids,
    wanted: Iterable[str],
    *,
    parts: dict[str, Any] | list[str],
    at_once: int,
    beside: Sequence[dict[str, Any]] = (),
) -> Iterator[RawHit]:
    """All documents with these ids, where several have one id all of them.

    Args:
        engine: where they are.
        index: the name of the index, or of an alias.
        ids: how documents are named.
        wanted: the ids; one that no document can have is left out.
        parts: what of them to load.
        at_once: how many to ask for by one request.
        beside: clauses that must hold, too.

    Raises:
        StoreError: as `Engine.call`.
    """
    asked = [each for each in wanted if can_exist(each)]

    def query(some: list[str]) -> dict[str, Any]:
        return {"bool": {"filter": [ids.query(some), *beside]}} if beside else ids.query(some)

    for start in range(0, len(asked), at_once):
        yield from _found(engine, index, query, asked[start : start + at_once], parts)


def _found(
    engine: Engine,
    index: str,
    query: Callable[[list[str]], dict[str, Any]],
    some: list[str],
    parts: dict[str, Any] | list[str],
) -> list[RawHit]:
    size = 2 * len(some) if len(some) > 1 else MOST_OF_ONE_ID
    body: dict[str, Any] = {"query": query(some), "size": size, "track_total_hits": True, "_source": parts}
    body["seq_no_primary_term"] = True  # for those that change what they found
    try:
        answer = engine.search(index, body)
        hits: list[RawHit] = answer["hits"]["hits"]
        if total_of(engine, answer) <= size or len(some) == 1:
            return hits
    except TooLargeError:
        if len(some) == 1:
            raise
    middle = len(some) // 2
    return [hit for half in (some[:middle], some[middle:]) for hit in _found(engine, index, query, half, parts)]
