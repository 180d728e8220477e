"""Which documents of an index share tokens of a kind, and how many have each?"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simdoc_search.documents import Place
from simdoc_search.errors import QuerySyntaxError
from simdoc_search.query.dsl import MAX_CLAUSES, clause_count, to_dsl
from simdoc_search.query.plans import Plan
from simdoc_search.sketch.kinds import KINDS, KindName
from simdoc_search.sketch.tokens import encode
from simdoc_search.stores.filters import Filters
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.errors import is_no_engine
from simdoc_search.stores.remote.indices import Indices
from simdoc_search.stores.remote.point_in_time import RawHit, all_hits, total_hits
from simdoc_search.stores.remote.queries import Ids, any_of, sharing_query
from simdoc_search.stores.remote.shared_settings import require_kind
from simdoc_search.stores.shared_tokens import FIRST_READ, Shared, Sharing, add_up, most_first, rows_of

LARGEST_PAGE = 500
"""Documents that come with the first answer of each part; further ones come page by page."""

PARTS_AT_ONCE = 16
"""Searches in one request."""

COUNTS_AT_ONCE = 500
"""The same of those that only count."""

_ONLY_COUNTED = {"size": 0, "track_total_hits": True}

_Key = tuple[str, str, str | None]
"""What tells a document from all others: index, id and routing."""


class TokenLookups:
    """The part of such a store that finds who shares tokens."""

    location: str
    index: str
    field: str
    own: bool
    _engine: Engine
    _ids: Ids
    _indices: Indices

    @property
    @abstractmethod
    def _max_clauses(self) -> int: ...

    @abstractmethod
    def _beside(self, filters: Filters | None) -> list[dict[str, Any]]: ...

    def clause(self, plan: Plan, exclude: Place | None = None) -> dict[str, Any]:
        """What finds the documents of a plan in a request of an application's own, without the one at a place."""
        without = [] if exclude is None else [self._ids.at(exclude)]
        field, buckets = f"{self.field}.tokens", f"{self.field}.buckets"
        return to_dsl(plan, field, buckets_field=buckets, without=without, score="tokens")

    def sharing(
        self,
        codes: NDArray[np.uint32],
        *,
        among: KindName = "passages",
        filters: Filters | None = None,
        exclude: Place | None = None,
        size: int,
    ) -> Sharing:
        """The documents that share tokens of a kind, most of them first; see `Store`."""
        require_kind(self._indices.asked, self.field, self.location, kind := KINDS[among])
        beside = [*self._beside(filters), *self._indices.only_asked(self._engine)]
        rows = rows_of(codes, kind.length)
        each_takes = 1 if codes.ndim == 1 else 2
        taken = clause_count(beside) + 4  # the document that is left out, and those that are asked for again
        limit = MAX_CLAUSES if each_takes * len(rows) + taken <= MAX_CLAUSES else min(self._max_clauses, MAX_CLAUSES)
        if limit <= taken:
            raise QuerySyntaxError(f"the filters have {taken} clauses and the engine allows {limit}; give fewer")
        at_once = max(1, (limit - taken) // each_takes)
        parts = [rows[at : at + at_once] for at in range(0, len(rows), at_once)]
        field = f"{self.field}.{kind.name}"
        asked = _Asked(self._engine, self.index, parts, beside, exclude=exclude, ids=self._ids, field=field)
        found, floor = add_up(asked.streams(min(max(size, FIRST_READ), LARGEST_PAGE)), asked.counted, size)
        documents = [Shared(asked.places[key], count) for key, count in found.items()]
        total = asked.total(sorted({token for row in rows for token in row}))
        return Sharing(sorted(documents, key=most_first), total, floor)

    def frequencies(self, codes: NDArray[np.uint32]) -> NDArray[np.int64]:
        """In how many documents each of these concepts stands; see `Store`."""
        require_kind(self._indices.asked, self.field, self.location, kind := KINDS["concepts"])
        field = f"{self.field}.{kind.name}"
        # An engine knows how many documents have a term; an aggregation of many filters would look at all documents.
        asked = [{"query": {"term": {field: token}}, **_ONLY_COUNTED} for token in encode(codes, kind.length)]
        parts = [asked[at : at + COUNTS_AT_ONCE] for at in range(0, len(asked), COUNTS_AT_ONCE)]
        answers = (answer for part in parts for answer in self._engine.search_many(self.index, part))
        return np.array([total_hits(self._engine, each) for each in answers], np.int64)


class _Asked:
    """Rows of tokens of a field, asked in as many parts as the clause limit makes of them.

    Attributes:
        places: where the documents are that were met.
    """

    def __init__(
        self,
        engine: Engine,
        index: str,
        parts: list[list[list[str]]],
        filters: list[dict[str, Any]],
        *,
        exclude: Place | None,
        ids: Ids,
        field: str,
    ) -> None:
        self.places: dict[_Key, Place] = {}
        self._engine = engine
        self._index = index
        self._ids = ids
        self._parts = parts
        self._beside = filters
        self._exclude = exclude
        self._field = field
        self._totals: list[int] = []

    def streams(self, first: int) -> list[Iterator[tuple[_Key, int]]]:
        """For each part the documents, most shared tokens first; the first so many come at once."""
        bodies = [{**self._body(part), "size": first, "track_total_hits": True} for part in self._parts]
        answers = self._search_many(bodies)
        self._totals = [total_hits(self._engine, each) for each in answers]
        return [self._stream(part, answer, first) for part, answer in zip(self._parts, answers, strict=True)]

    def total(self, tokens: list[str]) -> int:
        """How many documents share a token at all."""
        if len(self._totals) == 1 or not any(self._totals):
            return sum(self._totals)
        query = any_of(tokens, self._beside, self._exclude, self._ids, field=self._field)
        return self._engine.count(self._index, query)

    def counted(self, parts: Sequence[int], keys: Sequence[_Key]) -> list[dict[_Key, int]]:
        """How many tokens of some parts some documents share."""
        found: list[dict[_Key, int]] = [{} for _ in parts]
        for start in range(0, len(keys), LARGEST_PAGE):
            only = {"ids": {"values": sorted({id for _, id, _ in keys[start : start + LARGEST_PAGE]})}}
            bodies = [self._body(self._parts[part], only) for part in parts]
            pages = [{**body, "size": LARGEST_PAGE, "track_total_hits": True} for body in bodies]
            for counts, body, answer in zip(found, bodies, self._search_many(pages), strict=True):
                hits = answer["hits"]["hits"]
                if total_hits(self._engine, answer) > len(hits):  # one id in several indices
                    hits = self._all(body)
                counts.update(self._counts(hits))
        return found

    def _stream(self, part: list[list[str]], first: Mapping[str, Any], size: int) -> Iterator[tuple[_Key, int]]:
        given: set[_Key] = set()
        hits = first["hits"]["hits"]
        for key, count in self._counts(hits):
            given.add(key)
            yield key, count
        if len(hits) == size:
            yield from (each for each in self._counts(self._all(self._body(part))) if each[0] not in given)

    def _all(self, body: dict[str, Any]) -> Iterator[RawHit]:
        return all_hits(self._engine, self._index, {**body, "sort": ["_score"], "track_scores": True})

    def _body(self, part: list[list[str]], *only: dict[str, Any]) -> dict[str, Any]:
        query = sharing_query(part, [*self._beside, *only], self._exclude, self._ids, field=self._field)
        return {"query": query, "_source": self._ids.parts or False}

    def _counts(self, hits: Iterable[RawHit]) -> Iterator[tuple[_Key, int]]:
        """How many tokens hits share, as their scores say."""
        for hit in hits:
            score = hit.get("_score")
            if score is None or not 0 < score <= MAX_CLAUSES:
                raise is_no_engine(self._engine.name, "_score is no number of equal tokens")
            key = hit["_index"], hit["_id"], hit.get("_routing")
            self.places[key] = self._ids.place_of(hit)
            yield key, round(score)

    def _search_many(self, bodies: list[dict[str, Any]]) -> list[Any]:
        if len(bodies) == 1:
            return [self._engine.search(self._index, bodies[0])]
        pages = [bodies[at : at + PARTS_AT_ONCE] for at in range(0, len(bodies), PARTS_AT_ONCE)]
        return [answer for some in pages for answer in self._engine.search_many(self._index, some)]
