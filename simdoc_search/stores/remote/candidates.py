"""The documents that a plan found in an engine, read lazily, most equal tokens first."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simdoc_search.query.plans import Plan
from simdoc_search.sketch.estimate import count_common
from simdoc_search.sketch.tokens import decode
from simdoc_search.stores.record import Candidate, LeftOut
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.errors import is_no_engine
from simdoc_search.stores.remote.point_in_time import RawHit, all_hits, total_hits
from simdoc_search.stores.remote.queries import Ids
from simdoc_search.stores.remote.records import codes_of
from simdoc_search.stores.remote.texts import select_fields, source_paths

FIRST_PAGE = 50
"""Candidates that come with the first answer; most questions need no more."""

PAGE_GROWTH, LARGEST_PAGE = 4, 800
LAST_DOCUMENT = 2**31 - 1
"""After it comes none with the same score. A sort by score alone takes no `search_after`."""


_Key = tuple[str, str, str | None]
"""What tells a document from all others: index, id and routing."""


class RemoteCandidates:
    """The candidates of one plan: most equal tokens first. Those with as many come as the engine gives them.

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
        own: whether the index is one of ours, whose fields are those of the metadata.
        fields: those that were asked for.
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
        own: bool = True,
        fields: Sequence[str] = (),
    ) -> None:
        self.total: int = total_hits(engine, first)
        self.plan = plan
        self._left_out: dict[_Key, LeftOut] = {}
        self._engine = engine
        self._index = index
        self._query = query
        self._scored = scored
        self._first = self._checked(first["hits"]["hits"])
        self._token_length = token_length
        self._field = field
        self._ids = ids
        self._own = own
        self._fields = fields
        self._parts = [f"{field}.tokens", *ids.parts, *source_paths(fields, own=own)]
        self._counted: list[Candidate] = []
        if not scored:
            self._counted = self._counted_here(self._first if len(self._first) >= self.total else self._all())
            self.total = len(self._counted) + len(self._left_out)

    @property
    def left_out(self) -> Sequence[LeftOut]:
        """Those of them that cannot be compared, as far as they were read."""
        return list(self._left_out.values())

    def __iter__(self) -> Iterator[Candidate]:
        if not self._scored:
            yield from self._counted
            return
        page, size, above = self._first, FIRST_PAGE, math.inf
        given: set[_Key] = set()
        while page:
            yield from self._candidates(hit for hit in page if _key(hit) not in given)
            if len(page) < size:
                return
            # More with as many equal tokens as the last one may lie beyond the page, and no engine promises an order
            # of equal scores: all of those are asked for again.
            last = page[-1]["_score"]
            more = [hit["_score"] for hit in page if hit["_score"] > last]
            given = {_key(hit) for hit in page if hit["_score"] == last} | (set() if more else given)
            above = min(more, default=above)
            if not more and size == LARGEST_PAGE:
                yield from self._rest(above, given)
                return
            size = min(size * PAGE_GROWTH, LARGEST_PAGE)
            page = self._page(above, size)

    def _page(self, above: float, size: int) -> list[RawHit]:
        """The best hits with fewer equal tokens than `above`."""
        after = {} if math.isinf(above) else {"search_after": [above, LAST_DOCUMENT]}
        body = {"query": self._query, "size": size, "sort": ["_score", "_doc"], "track_scores": True, **after}
        answer = self._engine.search(self._index, {**body, "_source": self._parts})
        return self._checked(answer["hits"]["hits"])

    def _checked(self, hits: list[RawHit]) -> list[RawHit]:
        """Hits whose scores are numbers of equal tokens, if they are to be."""
        most = len(self.plan.tokens) + 0.5
        if self._scored and any(hit.get("_score") is None or not 0 <= hit["_score"] <= most for hit in hits):
            raise is_no_engine(self._engine.name, "_score is no number of equal tokens")
        return hits

    def _rest(self, above: float, given: set[_Key]) -> Iterator[Candidate]:
        """The same without end, for as many with equal scores as fit into no page."""
        yield from self._candidates(hit for hit in self._all() if hit["_score"] < above and _key(hit) not in given)

    def _candidates(self, hits: Iterable[RawHit]) -> Iterator[Candidate]:
        for hit in hits:
            codes = self._codes(hit)
            if codes is not None:
                yield self._candidate(hit, round(hit["_score"]), codes)

    def _counted_here(self, hits: Iterable[RawHit]) -> list[Candidate]:
        """Of what the engine only chose those with enough equal tokens, which are counted by us."""
        asked = np.sort(decode(self.plan.tokens, self._token_length))
        found = ((each, self._codes(each)) for each in hits)
        read = ((hit, codes) for hit, codes in found if codes is not None)
        counted = [self._candidate(hit, count_common(asked, codes), codes) for hit, codes in read]
        enough = [each for each in counted if each.matched >= self.plan.minimum_match]
        return sorted(enough, key=lambda each: (-each.matched, each.id, each.place.index))

    def _codes(self, hit: RawHit) -> Any:
        """The codes of a hit; None if it has none that can be read, and then it is named."""
        codes = codes_of(hit.get("_source") or {}, self._token_length, field=self._field)
        if not isinstance(codes, str):
            return codes
        self._left_out[_key(hit)] = LeftOut(self._ids.place_of(hit), codes)
        return None

    def _candidate(self, hit: RawHit, matched: int, codes: NDArray[np.uint32]) -> Candidate:
        fields = select_fields(hit.get("_source") or {}, self._fields, own=self._own)
        return Candidate(self._ids.place_of(hit), matched, codes, fields)

    def _all(self) -> Iterator[RawHit]:
        body = {"query": self._query, "sort": ["_score" if self._scored else "_doc"], "track_scores": self._scored}
        for hit in all_hits(self._engine, self._index, {**body, "_source": self._parts}):
            yield from self._checked([hit])


def _key(hit: RawHit) -> _Key:
    return hit["_index"], hit["_id"], hit.get("_routing")
