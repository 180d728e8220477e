"""How an engine is asked for the documents that a plan finds."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

from simdoc_search.documents import Place
from simdoc_search.query.dsl import MAX_CLAUSES, can_count_tokens, clause_count, to_dsl
from simdoc_search.query.plans import Bands, Plan
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.banding import FEW, FLOOD
from simdoc_search.stores.filters import Filters
from simdoc_search.stores.remote.candidates import FIRST_PAGE, RemoteCandidates
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.indices import Indices
from simdoc_search.stores.remote.point_in_time import total_hits
from simdoc_search.stores.remote.queries import Ids
from simdoc_search.stores.remote.texts import source_paths

_Clauses = list[dict[str, Any]]


class PlanLookups:
    """The part of such a store that finds candidates."""

    index: str
    field: str
    own: bool
    _engine: Engine
    _ids: Ids
    _indices: Indices

    @property
    @abstractmethod
    def settings(self) -> Settings:
        """How the fingerprints are made."""

    @abstractmethod
    def _beside(self, filters: Filters | None) -> _Clauses: ...

    def candidates(
        self, plan: Plan, *, filters: Filters | None = None, exclude: Place | None = None, fields: Sequence[str] = ()
    ) -> RemoteCandidates:
        """The documents that a plan finds, without the one at the place `exclude`, with these fields of theirs."""
        return self.candidates_of_many([(plan, exclude)], filters=filters, fields=fields)[0]

    def candidates_of_many(
        self, plans: Sequence[tuple[Plan, Place | None]], *, filters: Filters | None = None, fields: Sequence[str] = ()
    ) -> list[RemoteCandidates]:
        """The same for many plans, each with the place to leave out, in one request or two."""
        beside = [*self._beside(filters), *self._indices.only_asked(self._engine)]
        made = [plan for plan, _ in plans]
        left_out = [[] if place is None else [self._ids.at(place)] for _, place in plans]

        def ask(numbers: Sequence[int], *, scored: bool) -> None:
            for each in numbers:
                is_scored = scored or not isinstance(made[each], Bands)
                asked[each] = self._query(made[each], beside, left_out[each], fields, scored=is_scored)
            answers.update(zip(numbers, self._search_many([asked[each] for each in numbers]), strict=True))

        # Bands only choose at first: mostly few documents, whose equal tokens are counted here for less.
        asked: dict[int, dict[str, Any]] = {}
        answers: dict[int, Any] = {}
        ask(range(len(plans)), scored=False)
        again = []
        for number, plan in enumerate(made):
            if not isinstance(plan, Bands) or (chosen := total_hits(self._engine, answers[number])) <= FEW:
                continue
            counting = (chosen > FLOOD and plan.plain) or plan
            if can_count_tokens(counting, clause_count([*beside, *left_out[number]]), self._max_clauses):
                made[number] = counting
                again.append(number)
        if again:
            ask(again, scored=True)
        return [
            RemoteCandidates(
                self._engine,
                self.index,
                made[number],
                body["query"],
                scored=body["track_scores"],
                first=answers[number],
                token_length=self.settings.token_length,
                field=self.field,
                ids=self._ids,
                own=self.own,
                fields=fields,
            )
            for number, body in sorted(asked.items())
        ]

    def _query(
        self, plan: Plan, filters: _Clauses, without: _Clauses, fields: Sequence[str], *, scored: bool
    ) -> dict[str, Any]:
        """The search for the first page of candidates; scored by equal tokens, or not at all."""
        many = plan.clauses + clause_count([*filters, *without]) > MAX_CLAUSES
        query = to_dsl(
            plan,
            f"{self.field}.tokens",
            buckets_field=f"{self.field}.buckets",
            filters=filters,
            without=without,
            score="tokens" if scored else "nothing",
            max_clauses=self._max_clauses if many else MAX_CLAUSES,
        )
        return {
            "query": query,
            "size": FIRST_PAGE if scored else FEW,
            "track_total_hits": True if scored else FLOOD + 1,
            "track_scores": scored,
            "sort": ["_score"] if scored else ["_doc"],
            "_source": [f"{self.field}.tokens", *self._ids.parts, *source_paths(fields, own=self.own)],
        }

    @property
    def _max_clauses(self) -> int:
        return self._engine.max_clauses()

    def _search(self, body: dict[str, Any]) -> Any:
        return self._engine.search(self.index, body)

    def _search_many(self, bodies: list[dict[str, Any]]) -> list[Any]:
        if len(bodies) > 1:
            return self._engine.search_many(self.index, bodies)
        return [self._search(body) for body in bodies]
