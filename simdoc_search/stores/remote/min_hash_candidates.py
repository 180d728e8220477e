"""The documents that a plan found in a field that the engine's `min_hash` filter fills."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from simdoc_search.query.plans import Plan
from simdoc_search.stores.record import Candidate, LeftOut, Record
from simdoc_search.stores.remote.candidates import RemoteCandidates
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.point_in_time import RawHit
from simdoc_search.stores.remote.queries import Ids

TEXTS_AT_ONCE = 16


class TermCandidates(RemoteCandidates):
    """The candidates of one plan. Their texts are read some at a time, for as long as somebody asks for more.

    Args:
        engine: where they are.
        index: the name of the index, or of an alias.
        plan: what was asked.
        body: the search for the first page.
        first: its answer.
        records: reads documents by their ids.
        ids: how documents are named.
        fields: those that were asked for.
    """

    def __init__(
        self,
        engine: Engine,
        index: str,
        plan: Plan,
        body: Mapping[str, Any],
        first: Mapping[str, Any],
        *,
        records: Callable[[Iterable[str]], Iterator[Record]],
        ids: Ids,
        fields: Sequence[str],
    ) -> None:
        scored = body["track_scores"]
        how: dict[str, Any] = {"token_length": 0, "field": "", "ids": ids, "own": False, "fields": fields}
        super().__init__(engine, index, plan, body["query"], scored=scored, first=first, **how)
        self._parts = body["_source"]
        self._records = records

    def _candidates(self, hits: Iterable[RawHit]) -> Iterator[Candidate]:
        return (self._candidate(hit, round(hit["_score"]), each.codes) for hit, each in self._read(hits))

    def _counted_here(self, hits: Iterable[RawHit]) -> list[Candidate]:
        asked = set(self.plan.tokens)
        read = self._read(hits)
        counted = [self._candidate(hit, len(asked.intersection(each.terms)), each.codes) for hit, each in read]
        enough = [each for each in counted if each.matched >= self.plan.minimum_match]
        return sorted(enough, key=lambda each: (-each.matched, each.id, each.place.index or ""))

    def _read(self, hits: Iterable[RawHit]) -> Iterator[tuple[RawHit, Record]]:
        """Hits with what their texts say; what is gone is left out, and what cannot be compared is named."""
        left = iter(hits)
        while some := list(islice(left, TEXTS_AT_ONCE)):
            places = [self._ids.place_of(hit) for hit in some]
            records = {each.place: each for each in self._records(dict.fromkeys(each.id for each in places))}
            for hit, place in zip(some, places, strict=True):
                record = records.get(place)
                if record is not None and record.fault:
                    self._left_out[hit["_index"], hit["_id"], hit.get("_routing")] = LeftOut(place, record.fault)
                elif record is not None:
                    yield hit, record
