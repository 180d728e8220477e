"""Lazily reads the documents that a plan finds in an engine, by descending number of shared tokens."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from simdoc_search.documents import DocumentKey
from simdoc_search.query.dsl import ScoreKind, can_count_tokens, count_clauses
from simdoc_search.query.plans import BandPlan, Plan
from simdoc_search.sketch.estimate import count_common
from simdoc_search.sketch.tokens import decode
from simdoc_search.stores.base import MAX_BAND_MATCHES, MAX_DOCUMENTS_COUNTED_BY_CLIENT
from simdoc_search.stores.filters import Filters
from simdoc_search.stores.record import Candidate, LeftOutDocument
from simdoc_search.stores.remote.access import IndexAccess
from simdoc_search.stores.remote.point_in_time import RawHit, all_hits, total_hits
from simdoc_search.stores.remote.records import read_token_ids
from simdoc_search.stores.remote.texts import select_fields, source_paths

FIRST_PAGE_SIZE = 50
"""Number of candidates on the first page."""

PAGE_GROWTH, MAX_PAGE_SIZE = 4, 800
"""Factor by which pages grow, and maximum number of candidates on a page."""

_LAST_DOCUMENT = 2**31 - 1  # with this `_doc` in `search_after`, a page begins with the next lower score

_NO_TOKEN_IDS = np.zeros(0, np.uint32)

HitKey = tuple[str, str, str | None]
"""The index, `_id` and routing of a document."""


def hit_key(hit: RawHit) -> HitKey:
    """Return the key of a hit's document."""
    return hit["_index"], hit["_id"], hit.get("_routing")


class HitWithTokens(NamedTuple):
    """A hit with the tokens of its fingerprint.

    `matched_token_count` is the number of tokens that the hit shares with the plan. If the hit cannot be compared,
    `fault` is the reason.
    """

    hit: RawHit
    token_ids: NDArray[Any] = _NO_TOKEN_IDS
    matched_token_count: int = 0
    fault: str = ""


HitReader = Callable[[Iterable[RawHit]], Iterator[HitWithTokens]]
"""Reads the fingerprints of hits."""


class RemoteCandidates:
    """The candidates of one plan.

    The engine determines the order of candidates with the same number of shared tokens. If the search has no scores,
    they are ordered by id and index. `search` is the search for the first page, with or without scores. `read_tokens`
    reads the fingerprints of hits, and counts shared tokens if the search has no scores.
    """

    def __init__(
        self,
        access: IndexAccess,
        plan: Plan,
        search: Mapping[str, Any],
        first_response: Mapping[str, Any],
        *,
        read_tokens: HitReader,
        fields: Sequence[str],
    ) -> None:
        self.total: int = total_hits(first_response)
        self.plan = plan
        self._left_out: dict[HitKey, LeftOutDocument] = {}
        self._access = access
        self._search = {name: search[name] for name in ("query", "track_scores", "_source")}
        self._is_scored: bool = search["track_scores"]
        self._first_hits: list[RawHit] = first_response["hits"]["hits"]
        self._read_tokens = read_tokens
        self._fields = fields
        self._ranked: list[Candidate] = []
        if not self._is_scored:
            self._ranked = self._rank_client_side(
                self._first_hits if len(self._first_hits) >= self.total else self._read_all()
            )
            self.total = len(self._ranked) + len(self._left_out)

    @property
    def left_out(self) -> Sequence[LeftOutDocument]:
        """Of the candidates read so far, those that cannot be compared."""
        return list(self._left_out.values())

    def __iter__(self) -> Iterator[Candidate]:
        if not self._is_scored:
            yield from self._ranked
            return
        page, size, score_limit = self._first_hits, FIRST_PAGE_SIZE, math.inf
        yielded: set[HitKey] = set()
        while page:
            yield from self._to_candidates(hit for hit in page if hit_key(hit) not in yielded)
            if len(page) < size:
                return
            # More documents may have the score of the last document, and engines may order equal scores differently.
            # So the next page starts with all documents of this score.
            last = page[-1]["_score"]
            higher = [hit["_score"] for hit in page if hit["_score"] > last]
            yielded = {hit_key(hit) for hit in page if hit["_score"] == last} | (set() if higher else yielded)
            score_limit = min(higher, default=score_limit)
            if not higher and size == MAX_PAGE_SIZE:  # more documents than fit on a page have this score
                rest = (hit for hit in self._read_all() if hit["_score"] < score_limit and hit_key(hit) not in yielded)
                yield from self._to_candidates(rest)
                return
            size = min(size * PAGE_GROWTH, MAX_PAGE_SIZE)
            page = self._read_page(score_limit, size)

    def _read_page(self, score_limit: float, size: int) -> list[RawHit]:
        """Return the best hits with a score below `score_limit`."""
        after = {} if math.isinf(score_limit) else {"search_after": [score_limit, _LAST_DOCUMENT]}
        body = {**self._search, "size": size, "sort": ["_score", "_doc"], **after}
        hits: list[RawHit] = self._access.engine.search(self._access.name, body)["hits"]["hits"]
        return hits

    def _read_all(self) -> Iterator[RawHit]:
        body = {**self._search, "sort": ["_score" if self._is_scored else "_doc"]}
        return all_hits(self._access.engine, self._access.name, body)

    def _to_candidates(self, hits: Iterable[RawHit]) -> Iterator[Candidate]:
        for hit, token_ids, matched, fault in self._read_tokens(hits):
            key = self._access.id_field.key_of(hit)
            if fault:
                self._left_out[hit_key(hit)] = LeftOutDocument(key, fault)
            else:
                fields = select_fields(
                    hit.get("_source") or {}, self._fields, is_simdoc_index=self._access.is_simdoc_index
                )
                yield Candidate(key, matched, partial(np.asarray, token_ids), fields)

    def _rank_client_side(self, hits: Iterable[RawHit]) -> list[Candidate]:
        candidates = [
            found for found in self._to_candidates(hits) if found.matched_token_count >= self.plan.minimum_match
        ]
        return sorted(candidates, key=lambda found: (-found.matched_token_count, found.id, found.key.index or ""))


def find_candidates(
    access: IndexAccess,
    plans: Sequence[tuple[Plan, DocumentKey | None]],
    filters: Filters | None,
    fields: Sequence[str],
) -> list[RemoteCandidates]:
    """Run plans in one or two requests; see `Store.candidates_of_many`.

    Plans with bands first run without scores. If at most MAX_DOCUMENTS_COUNTED_BY_CLIENT documents match, it is cheaper
    to count their shared tokens here than in the engine.
    """
    clauses = access.query_clauses(filters)
    chosen_plans = [plan for plan, _ in plans]
    excluded = [access.id_field.key_clauses(key) for _, key in plans]
    searches: dict[int, dict[str, Any]] = {}
    responses: dict[int, Any] = {}

    def run(positions: Sequence[int], *, scored: bool) -> None:
        for position in positions:
            is_scored = scored or not isinstance(chosen_plans[position], BandPlan)
            score: ScoreKind = "tokens" if is_scored else "nothing"
            query = access.token_query(chosen_plans[position], clauses, excluded[position], score=score)
            searches[position] = build_first_page_search(
                access, query, [f"{access.field}.tokens"], fields, is_scored=is_scored
            )
        bodies = [searches[position] for position in positions]
        responses.update(zip(positions, access.engine.search_many(access.name, bodies), strict=True))

    run(range(len(plans)), scored=False)
    rerun = []
    for position, plan in enumerate(chosen_plans):
        if (
            not isinstance(plan, BandPlan)
            or (total := total_hits(responses[position])) <= MAX_DOCUMENTS_COUNTED_BY_CLIENT
        ):
            continue
        scored_plan = (total > MAX_BAND_MATCHES and plan.plan_without_bands) or plan
        if can_count_tokens(scored_plan, count_clauses([*clauses, *excluded[position]]), access.engine.max_clauses()):
            chosen_plans[position] = scored_plan
            rerun.append(position)
    if rerun:
        run(rerun, scored=True)

    def candidates_at(position: int) -> RemoteCandidates:
        plan, search = chosen_plans[position], searches[position]
        read_tokens = _make_token_reader(access, plan, is_scored=search["track_scores"])
        return RemoteCandidates(access, plan, search, responses[position], read_tokens=read_tokens, fields=fields)

    return [candidates_at(position) for position in range(len(plans))]


def build_first_page_search(
    access: IndexAccess, query: dict[str, Any], source_fields: Sequence[str], fields: Sequence[str], *, is_scored: bool
) -> dict[str, Any]:
    """Return the body of the search for the first page of candidates."""
    parts = [
        *source_fields,
        *access.id_field.source_fields,
        *source_paths(fields, is_simdoc_index=access.is_simdoc_index),
    ]
    return {
        "query": query,
        "size": FIRST_PAGE_SIZE if is_scored else MAX_DOCUMENTS_COUNTED_BY_CLIENT,
        "track_total_hits": True if is_scored else MAX_BAND_MATCHES + 1,
        "track_scores": is_scored,
        "sort": ["_score"] if is_scored else ["_doc"],
        "_source": parts or False,
    }


def _make_token_reader(access: IndexAccess, plan: Plan, *, is_scored: bool) -> HitReader:
    plan_token_ids = _NO_TOKEN_IDS if is_scored else np.sort(decode(plan.tokens))

    def read(hits: Iterable[RawHit]) -> Iterator[HitWithTokens]:
        for hit in hits:
            token_ids = read_token_ids(hit.get("_source") or {}, field=access.field)
            if isinstance(token_ids, str):
                yield HitWithTokens(hit, fault=token_ids)
            else:
                yield HitWithTokens(
                    hit, token_ids, round(hit["_score"]) if is_scored else count_common(plan_token_ids, token_ids)
                )

    return read
