"""The documents that a plan found in an engine, read lazily and in exact order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np

from simdoc_search.query.planner import Plan
from simdoc_search.sketch.tokens import decode
from simdoc_search.stores.base import Candidate
from simdoc_search.stores.remote_schema import codes_of
from simdoc_search.stores.rest import Engine

__all__ = ["FIRST_PAGE", "RemoteCandidates", "scroll"]

FIRST_PAGE = 50
"""Candidates that come with the first answer; most questions need no more."""

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

    def __iter__(self) -> Iterator[Candidate]:
        if not self._scored:
            yield from self._counted_here(self._first if len(self._first) >= self.total else self._scrolled())
            return
        done: set[tuple[str, str]] = set()
        levels = [list(level) for _, level in groupby(self._first, itemgetter("_score"))]
        if len(self._first) < self.total and levels:
            levels.pop()  # more documents with this many equal tokens may lie beyond the page
        for level in levels:
            done.update(map(_place, level))
            yield from self._in_order(level)
        if len(done) < self.total:
            for _, rest in groupby(self._scrolled(), itemgetter("_score")):
                yield from self._in_order([each for each in rest if _place(each) not in done])

    def _in_order(self, level: list[Hit]) -> Iterator[Candidate]:
        for hit in sorted(level, key=itemgetter("_id")):
            yield Candidate(hit["_id"], round(hit["_score"]), self._codes(hit))

    def _counted_here(self, hits: Iterator[Hit] | list[Hit]) -> Iterator[Candidate]:
        """Candidates that the engine only chose: what they have in common with the plan is counted by us."""
        asked = decode(self._plan.tokens, self._token_length)
        found = ((each["_id"], self._codes(each)) for each in hits)
        counted = [Candidate(id, int(np.isin(asked, codes, assume_unique=True).sum()), codes) for id, codes in found]
        yield from sorted(counted, key=lambda each: (-each.matched, each.id))

    def _codes(self, hit: Hit) -> Any:
        return codes_of(hit["_source"], self._token_length, field=self._field)

    def _scrolled(self) -> Iterator[Hit]:
        body = {"query": self._query, "sort": ["_score" if self._scored else "_doc"], "track_scores": self._scored}
        return scroll(self._engine, self._index, {**body, "_source": [f"{self._field}.tokens"]})


def _place(hit: Hit) -> tuple[str, str]:
    return hit["_index"], hit["_id"]  # behind an alias, two indices may have one id


def scroll(engine: Engine, index: str, body: dict[str, Any]) -> Iterator[Hit]:
    """All hits of a search, as they are when it begins."""
    answer = engine.call("POST", [index, "_search"], {**body, "size": READ_AT_ONCE}, scroll=KEPT_OPEN)
    scroll_id = answer.get("_scroll_id")
    try:
        while answer["hits"]["hits"]:
            yield from answer["hits"]["hits"]
            next_page = {"scroll": KEPT_OPEN, "scroll_id": scroll_id}
            answer = engine.call("POST", ["_search", "scroll"], next_page)
            scroll_id = answer.get("_scroll_id", scroll_id)
    finally:
        if scroll_id:
            engine.call("DELETE", ["_search", "scroll"], {"scroll_id": [scroll_id]}, allow=(404,))
