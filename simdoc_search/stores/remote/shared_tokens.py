"""Finds the documents of an index that share passage, sentence or concept tokens, and counts these tokens."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simdoc_search.documents import DocumentKey
from simdoc_search.errors import QuerySyntaxError
from simdoc_search.query.dsl import MAX_CLAUSES, count_clauses
from simdoc_search.sketch.token_kinds import TOKEN_KINDS, TokenKindName
from simdoc_search.sketch.tokens import encode
from simdoc_search.stores.filters import Filters
from simdoc_search.stores.remote.access import IndexAccess
from simdoc_search.stores.remote.candidates import HitKey, hit_key
from simdoc_search.stores.remote.point_in_time import RawHit, all_hits, total_hits
from simdoc_search.stores.remote.queries import any_token_query, shared_tokens_query
from simdoc_search.stores.remote.shared_settings import require_kind
from simdoc_search.stores.shared_tokens import (
    INITIAL_PAGE_SIZE,
    TokenMatch,
    TokenMatches,
    encode_token_groups,
    match_sort_key,
    sum_parts,
)

MAX_PAGE_SIZE = 500
"""Maximum number of documents in the response to the search for one part of the tokens."""

PARTS_AT_ONCE = 16
"""Maximum number of searches in one request."""

COUNTS_AT_ONCE = 500
"""Maximum number of searches in one request if the searches only count documents."""


def find_token_matches(
    access: IndexAccess,
    token_ids: NDArray[np.uint32],
    kind_name: TokenKindName,
    *,
    filters: Filters | None,
    exclude: DocumentKey | None,
    size: int,
) -> TokenMatches:
    """Return the documents that share the most tokens of a kind; see `Store.documents_sharing_tokens`."""
    kind = TOKEN_KINDS[kind_name]
    require_kind(access.indices.queryable_mappings, access.field, access.location, kind)
    clauses = access.query_clauses(filters)
    rows = encode_token_groups(token_ids, kind.length)
    clauses_per_row = 1 if token_ids.ndim == 1 else 2
    used = count_clauses(clauses) + 4  # 4 clauses for the excluded document and for the ids in `count_shared_tokens`
    limit = min(access.engine.max_clauses(clauses_per_row * len(rows) + used), MAX_CLAUSES)
    if limit <= used:
        raise QuerySyntaxError(
            f"the filters need {used} clauses, but the engine allows only {limit}; use fewer filters"
        )
    rows_at_once = max(1, (limit - used) // clauses_per_row)
    parts = [rows[start : start + rows_at_once] for start in range(0, len(rows), rows_at_once)]
    search = _SplitSearch(access, f"{access.field}.{kind.name}", parts, clauses, exclude)
    counts = sum_parts(
        search.start_streams(min(max(size, INITIAL_PAGE_SIZE), MAX_PAGE_SIZE)), search.count_shared_tokens, size
    )
    documents = [TokenMatch(search.document_keys[key], count) for key, count in counts.items()]
    return TokenMatches(sorted(documents, key=match_sort_key), search.count_documents())


def document_frequencies(access: IndexAccess, token_ids: NDArray[np.uint32]) -> NDArray[np.int64]:
    """Return the document frequency of each concept; see `Store.concept_frequencies`."""
    kind = TOKEN_KINDS["concepts"]
    require_kind(access.indices.queryable_mappings, access.field, access.location, kind)
    field = f"{access.field}.{kind.name}"
    # Count with one query per concept, because an engine stores the document frequency of each term. A single
    # aggregation with a filter per concept would read all documents.
    searches = (
        {"query": {"term": {field: token}}, "size": 0, "track_total_hits": True}
        for token in encode(token_ids, kind.length)
    )
    responses = access.engine.search_many(access.name, searches, COUNTS_AT_ONCE)
    return np.array(list(map(total_hits, responses)), np.int64)


class _SplitSearch:
    """A search for groups of alternative tokens, split into parts because of the clause limit.

    Attributes:
        document_keys: maps the index, `_id` and routing of each hit to the key of its document.
    """

    def __init__(
        self,
        access: IndexAccess,
        field: str,
        parts: list[list[list[str]]],
        clauses: list[dict[str, Any]],
        exclude: DocumentKey | None,
    ) -> None:
        self.document_keys: dict[HitKey, DocumentKey] = {}
        self._access = access
        self._field = field
        self._parts = parts
        self._clauses = clauses
        self._exclude = exclude
        self._totals: list[int] = []

    def start_streams(self, page_size: int) -> list[Iterator[tuple[HitKey, int]]]:
        """Read the first page of each part. For each part, return documents by descending number of shared tokens."""
        bodies = [{**self._search_body(part), "size": page_size} for part in self._parts]
        responses = self._access.engine.search_many(self._access.name, bodies, PARTS_AT_ONCE)
        self._totals = [total_hits(response) for response in responses]
        return [
            self._stream_part(part, response, page_size) for part, response in zip(self._parts, responses, strict=True)
        ]

    def count_documents(self) -> int:
        """Count the documents that share at least one token."""
        if len(self._totals) == 1 or not any(self._totals):
            return sum(self._totals)
        tokens = sorted({token for part in self._parts for row in part for token in row})
        query = any_token_query(tokens, self._clauses, self._exclude, self._access.id_field, token_field=self._field)
        return self._access.engine.count(self._access.name, query)

    def count_shared_tokens(self, part_indices: Sequence[int], keys: Sequence[HitKey]) -> list[dict[HitKey, int]]:
        """For each part, return the number of its tokens that each of these documents shares."""
        counts: list[dict[HitKey, int]] = [{} for _ in part_indices]
        for start in range(0, len(keys), MAX_PAGE_SIZE):
            ids_filter = {"ids": {"values": sorted({id for _, id, _ in keys[start : start + MAX_PAGE_SIZE]})}}
            bodies = [
                {**self._search_body(self._parts[index], ids_filter), "size": MAX_PAGE_SIZE} for index in part_indices
            ]
            responses = self._access.engine.search_many(self._access.name, bodies, PARTS_AT_ONCE)
            for counts_of_part, body, response in zip(counts, bodies, responses, strict=True):
                hits = response["hits"]["hits"]
                # A page may not contain all hits, because documents behind an alias can have the same id.
                is_complete = total_hits(response) <= len(hits)
                counts_of_part.update(self._read_counts(hits if is_complete else self._read_all(body)))
        return counts

    def _stream_part(
        self, part: list[list[str]], first_response: Mapping[str, Any], size: int
    ) -> Iterator[tuple[HitKey, int]]:
        yielded: set[HitKey] = set()
        hits = first_response["hits"]["hits"]
        for key, count in self._read_counts(hits):
            yielded.add(key)
            yield key, count
        if len(hits) == size:
            yield from (
                pair for pair in self._read_counts(self._read_all(self._search_body(part))) if pair[0] not in yielded
            )

    def _read_all(self, body: dict[str, Any]) -> Iterator[RawHit]:
        body = {**body, "sort": ["_score"], "track_scores": True}
        return all_hits(self._access.engine, self._access.name, body)

    def _search_body(self, part: list[list[str]], *filters: dict[str, Any]) -> dict[str, Any]:
        id_field, clauses = self._access.id_field, [*self._clauses, *filters]
        query = shared_tokens_query(part, clauses, self._exclude, id_field, token_field=self._field)
        return {"query": query, "track_total_hits": True, "_source": id_field.source_fields or False}

    def _read_counts(self, hits: Iterable[RawHit]) -> Iterator[tuple[HitKey, int]]:
        """Yield the key of each hit and its number of shared tokens, which is its score."""
        for hit in hits:
            key = hit_key(hit)
            self.document_keys[key] = self._access.id_field.key_of(hit)
            yield key, round(hit["_score"])
