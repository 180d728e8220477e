"""Lazily reads the documents that a plan finds in an engine, those with the most shared tokens first."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from simdoc_search.documents import Place
from simdoc_search.query.dsl import Score, can_count_tokens, clause_count
from simdoc_search.query.plans import Bands, Plan
from simdoc_search.sketch.estimate import count_common
from simdoc_search.sketch.tokens import decode
from simdoc_search.stores.base import MAX_BAND_MATCHES, MAX_COUNTED_CLIENT_SIDE
from simdoc_search.stores.filters import Filters
from simdoc_search.stores.record import Candidate, LeftOut
from simdoc_search.stores.remote.access import IndexAccess
from simdoc_search.stores.remote.point_in_time import RawHit, all_hits, total_hits
from simdoc_search.stores.remote.records import codes_of
from simdoc_search.stores.remote.texts import select_fields, source_paths

FIRST_PAGE = 50
"""Number of candidates in the first answer."""

PAGE_GROWTH, LARGEST_PAGE = 4, 800
"""Ratio of the sizes of a page and the page before, and the maximum size of a page."""

_LAST_DOCUMENT = 2**31 - 1  # after it, `search_after` continues with the next score

_NO_CODES = np.zeros(0, np.uint32)

DocumentKey = tuple[str, str, str | None]
"""Index, id and routing of a document."""


def document_key(hit: RawHit) -> DocumentKey:
    """Return the key of the document of a hit."""
    return hit["_index"], hit["_id"], hit.get("_routing")


class HitWithTokens(NamedTuple):
    """A hit with the tokens of its fingerprint.

    Attributes:
        hit: the hit.
        codes: its tokens as ascending numbers.
        matched: number of tokens that it shares with the plan.
        fault: why it cannot be compared; empty if it can.
    """

    hit: RawHit
    codes: NDArray[Any] = _NO_CODES
    matched: int = 0
    fault: str = ""


HitReader = Callable[[Iterable[RawHit]], Iterator[HitWithTokens]]
"""Reads the fingerprints of hits."""


class RemoteCandidates:
    """The candidates of one plan. The engine chooses the order of candidates with the same number of shared tokens.

    Args:
        access: the store's index.
        plan: the plan that was run.
        search: the search for the first page, with scores or without.
        first: the answer to this search.
        read: reads the fingerprints of hits, and counts shared tokens if the search has no scores.
        fields: the requested fields.
    """

    def __init__(
        self,
        access: IndexAccess,
        plan: Plan,
        search: Mapping[str, Any],
        first: Mapping[str, Any],
        *,
        read: HitReader,
        fields: Sequence[str],
    ) -> None:
        self.total: int = total_hits(first)
        self.plan = plan
        self._left_out: dict[DocumentKey, LeftOut] = {}
        self._access = access
        self._search = {name: search[name] for name in ("query", "track_scores", "_source")}
        self._is_scored: bool = search["track_scores"]
        self._first: list[RawHit] = first["hits"]["hits"]
        self._read = read
        self._fields = fields
        self._counted: list[Candidate] = []
        if not self._is_scored:
            self._counted = self._count_here(self._first if len(self._first) >= self.total else self._all())
            self.total = len(self._counted) + len(self._left_out)

    @property
    def left_out(self) -> Sequence[LeftOut]:
        """The candidates that cannot be compared, among those read so far."""
        return list(self._left_out.values())

    def __iter__(self) -> Iterator[Candidate]:
        if not self._is_scored:
            yield from self._counted
            return
        page, size, above = self._first, FIRST_PAGE, math.inf
        yielded: set[DocumentKey] = set()
        while page:
            yield from self._candidates(hit for hit in page if document_key(hit) not in yielded)
            if len(page) < size:
                return
            # More documents may have the score of the last one, and engines do not guarantee an order of equal scores.
            # So the next page begins with all documents of this score.
            last = page[-1]["_score"]
            higher = [hit["_score"] for hit in page if hit["_score"] > last]
            yielded = {document_key(hit) for hit in page if hit["_score"] == last} | (set() if higher else yielded)
            above = min(higher, default=above)
            if not higher and size == LARGEST_PAGE:  # one page cannot hold all documents of this score
                rest = (hit for hit in self._all() if hit["_score"] < above and document_key(hit) not in yielded)
                yield from self._candidates(rest)
                return
            size = min(size * PAGE_GROWTH, LARGEST_PAGE)
            page = self._page(above, size)

    def _page(self, above: float, size: int) -> list[RawHit]:
        """Return the best hits with a score below `above`."""
        after = {} if math.isinf(above) else {"search_after": [above, _LAST_DOCUMENT]}
        body = {**self._search, "size": size, "sort": ["_score", "_doc"], **after}
        hits: list[RawHit] = self._access.engine.search(self._access.name, body)["hits"]["hits"]
        return hits

    def _all(self) -> Iterator[RawHit]:
        body = {**self._search, "sort": ["_score" if self._is_scored else "_doc"]}
        return all_hits(self._access.engine, self._access.name, body)

    def _candidates(self, hits: Iterable[RawHit]) -> Iterator[Candidate]:
        for hit, codes, matched, fault in self._read(hits):
            place = self._access.ids.place_of(hit)
            if fault:
                self._left_out[document_key(hit)] = LeftOut(place, fault)
            else:
                fields = select_fields(hit.get("_source") or {}, self._fields, own=self._access.own)
                yield Candidate(place, matched, codes, fields)

    def _count_here(self, hits: Iterable[RawHit]) -> list[Candidate]:
        enough = [hit for hit in self._candidates(hits) if hit.matched >= self.plan.minimum_match]
        return sorted(enough, key=lambda hit: (-hit.matched, hit.id, hit.place.index or ""))


def find_candidates(
    access: IndexAccess,
    plans: Sequence[tuple[Plan, Place | None]],
    filters: Filters | None,
    fields: Sequence[str],
) -> list[RemoteCandidates]:
    """Run plans, each with a place to exclude, in one or two requests; see `Store.candidates_of_many`.

    Plans of bands first run without scores. If few documents match, counting their shared tokens here is cheaper.
    """
    clauses = access.query_clauses(filters)
    chosen = [plan for plan, _ in plans]
    without = [access.ids.place_clauses(place) for _, place in plans]
    searches: dict[int, dict[str, Any]] = {}
    answers: dict[int, Any] = {}

    def run(numbers: Iterable[int], *, scored: bool) -> None:
        for number in numbers:
            is_scored = scored or not isinstance(chosen[number], Bands)
            score: Score = "tokens" if is_scored else "nothing"
            query = access.token_query(chosen[number], clauses, without[number], score=score)
            searches[number] = first_page(access, query, [f"{access.field}.tokens"], fields, scored=is_scored)
        answers.update(zip(numbers, run_searches(access, [searches[number] for number in numbers]), strict=True))

    run(range(len(plans)), scored=False)
    again = []
    for number, plan in enumerate(chosen):
        if not isinstance(plan, Bands) or (total := total_hits(answers[number])) <= MAX_COUNTED_CLIENT_SIDE:
            continue
        counting = (total > MAX_BAND_MATCHES and plan.unbanded) or plan
        if can_count_tokens(counting, clause_count([*clauses, *without[number]]), access.engine.max_clauses()):
            chosen[number] = counting
            again.append(number)
    if again:
        run(again, scored=True)

    def candidates(number: int) -> RemoteCandidates:
        plan, search = chosen[number], searches[number]
        read = _token_reader(access, plan, is_scored=search["track_scores"])
        return RemoteCandidates(access, plan, search, answers[number], read=read, fields=fields)

    return [candidates(number) for number in range(len(plans))]


def run_searches(access: IndexAccess, bodies: list[dict[str, Any]]) -> list[Any]:
    """Return the answers to searches, in order."""
    if len(bodies) > 1:
        return access.engine.search_many(access.name, bodies)
    return [access.engine.search(access.name, body) for body in bodies]


def first_page(
    access: IndexAccess, query: dict[str, Any], source: Sequence[str], fields: Sequence[str], *, scored: bool
) -> dict[str, Any]:
    """Return the search for the first page of candidates."""
    parts = [*source, *access.ids.parts, *source_paths(fields, own=access.own)]
    return {
        "query": query,
        "size": FIRST_PAGE if scored else MAX_COUNTED_CLIENT_SIDE,
        "track_total_hits": True if scored else MAX_BAND_MATCHES + 1,
        "track_scores": scored,
        "sort": ["_score"] if scored else ["_doc"],
        "_source": parts or False,
    }


def _token_reader(access: IndexAccess, plan: Plan, *, is_scored: bool) -> HitReader:
    sought = _NO_CODES if is_scored else np.sort(decode(plan.tokens))

    def read(hits: Iterable[RawHit]) -> Iterator[HitWithTokens]:
        for hit in hits:
            codes = codes_of(hit.get("_source") or {}, field=access.field)
            if isinstance(codes, str):
                yield HitWithTokens(hit, fault=codes)
            else:
                yield HitWithTokens(hit, codes, round(hit["_score"]) if is_scored else count_common(sought, codes))

    return read
