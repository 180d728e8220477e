"""The documents that a plan found in an engine, read lazily and in exact order."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np

from simdoc_search.errors import StoreError
from simdoc_search.query.planner import Plan
from simdoc_search.sketch.estimate import count_common
from simdoc_search.sketch.tokens import decode
from simdoc_search.stores.base import Candidate
from simdoc_search.stores.remote_query import Ids
from simdoc_search.stores.remote_schema import codes_of
from simdoc_search.stores.rest import Engine

__all__ = ["FIRST_PAGE", "RemoteCandidates", "scroll"]

FIRST_PAGE = 50
"""Candidates that come with the first answer; most questions need no more."""

PAGE_GROWTH, LARGEST_PAGE = 4, 800
LAST_DOCUMENT = 2**31 - 1
"""After it comes none with the same score. A sort by score alone takes no `search_after`."""

READ_AT_ONCE = 500
KEPT_OPEN = "5m"

Hit = Mapping[str, Any]


class RemoteCandidates:
    """The candidates of one plan: most equal tokens first, ties by id.

    Args:
        engine: where they are.
        index: the name of the index, or of an alias.
        plan: what was asked.
        query: its query; scored by the number of equal tokens, or not at all where `scored` is False.
        scored: whether the scores count.
        first: the answer to the search for the first page.
        token_length: characters of a token.
        field: the name of our field.
        ids: how documents are named.
    """

    def __init__(
        self,
        engine: Engine,
        index: str,
        plan: Plan,
        query: dict[str, Any],
        *,
        scored: bool,
        first: Mapping[str, Any],
        token_length: int,
        field: str,
        ids: Ids,
    ) -> None:
        self.total: int = first["hits"]["total"]["value"]
        self._engine = engine
        self._index = index
        self._plan = plan
        self._query = query
        self._scored = scored
        self._first: list[Hit] = first["hits"]["hits"]
        self._token_length = token_length
        self._field = field
        self._ids = ids
        self._parts = [f"{field}.tokens", *ids.parts]

    def __iter__(self) -> Iterator[Candidate]:
        if not self._scored:
            yield from self._counted_here(self._first if len(self._first) >= self.total else self._scrolled())
            return
        page, size, above = self._first, FIRST_PAGE, math.inf
        while page:
            levels = [list(level) for _, level in groupby(page, itemgetter("_score"))]
            is_last = len(page) < size
            if not is_last:
                levels.pop()  # more documents with this many equal tokens may lie beyond the page
            for level in levels:
                yield from self._in_order(level)
                above = level[0]["_score"]
            if is_last:
                return
            if not levels and size == LARGEST_PAGE:
                yield from self._rest(above)
                return
            size = min(size * PAGE_GROWTH, LARGEST_PAGE)
            page = self._page(above, size)

    def _page(self, above: float, size: int) -> list[Hit]:
        """The best hits with fewer equal tokens than `above`."""
        after = {} if math.isinf(above) else {"search_after": [above, LAST_DOCUMENT]}
        body = {"query": self._query, "size": size, "sort": ["_score", "_doc"], "track_scores": True, **after}
        answer = self._engine.search(self._index, {**body, "_source": self._parts})
        hits: list[Hit] = answer["hits"]["hits"]
        return hits

    def _rest(self, above: float) -> Iterator[Candidate]:
        """The same without end, for levels that fit into no page."""
        for score, level in groupby(self._scrolled(), itemgetter("_score")):
            if score < above:
                yield from self._in_order(list(level))

    def _in_order(self, level: list[Hit]) -> Iterator[Candidate]:
        for hit in sorted(level, key=self._ids.of):
            yield Candidate(self._ids.of(hit), round(hit["_score"]), self._codes(hit))

    def _counted_here(self, hits: Iterator[Hit] | list[Hit]) -> Iterator[Candidate]:
        """Candidates that the engine only chose: what they have in common with the plan is counted by us."""
        asked = np.sort(decode(self._plan.tokens, self._token_length))
        found = ((self._ids.of(each), self._codes(each)) for each in hits)
        counted = [Candidate(id, count_common(asked, codes), codes) for id, codes in found]
        yield from sorted(counted, key=lambda each: (-each.matched, each.id))

    def _codes(self, hit: Hit) -> Any:
        return codes_of(self._ids.of(hit), hit["_source"], self._token_length, field=self._field)

    def _scrolled(self) -> Iterator[Hit]:
        body = {"query": self._query, "sort": ["_score" if self._scored else "_doc"], "track_scores": self._scored}
        return scroll(self._engine, self._index, {**body, "_source": self._parts})


def scroll(engine: Engine, index: str, body: dict[str, Any]) -> Iterator[Hit]:
    """All hits of a search, as they are when it begins."""
    answer = engine.search(index, {**body, "size": READ_AT_ONCE}, scroll=KEPT_OPEN)
    scroll_id = answer.get("_scroll_id")
    try:
        while answer["hits"]["hits"]:
            yield from answer["hits"]["hits"]
            answer = engine.search_on(scroll_id, KEPT_OPEN)
            scroll_id = answer.get("_scroll_id", scroll_id)
    finally:
        with suppress(StoreError):  # it ends by itself, later
            engine.call("DELETE", ["_search", "scroll"], {"scroll_id": [scroll_id]}, allow=(404,))
