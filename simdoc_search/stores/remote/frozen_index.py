"""An index at one point in time, for queries that compare all of its documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import Any

from simdoc_search.stores.filters import Filters
from simdoc_search.stores.point_in_time import FoundRecords, SizedPlan
from simdoc_search.stores.record import Record
from simdoc_search.stores.remote.access import IndexAccess
from simdoc_search.stores.remote.bulk import read_uuids
from simdoc_search.stores.remote.errors import RequestError, ResponseTooLargeError
from simdoc_search.stores.remote.mappings import mapping_at
from simdoc_search.stores.remote.point_in_time import PagedHits, hits_of_open_search, open_paged_hits, total_hits

_COUNT_ALL = 2**31 - 1


@contextmanager
def freeze(access: IndexAccess, filters: Filters | None) -> Iterator[FrozenIndex]:
    """Open a point in time of the index. If the engine has no points in time, queries see later changes."""
    source = access.source_filter()
    body = {"query": {"bool": {"filter": access.filter_clauses(filters)}}, "sort": ["_doc"], "_source": source}
    with closing(open_paged_hits(access.background, access.name, body)) as hits:
        yield FrozenIndex(access, hits, access.query_clauses(filters))


class FrozenIndex:
    """An index at one point in time; see `stores.point_in_time.FrozenStore`.

    Attributes:
        identity: the unique ids of the indices. If they cannot be read, it is the URL.
    """

    def __init__(self, access: IndexAccess, hits: PagedHits, clauses: list[dict[str, Any]]) -> None:
        self.identity: str = _read_identity(access)
        self._access = access
        self._hits = hits
        self._clauses = clauses
        self._has_sizes = self._is_mapped("shingles", "integer")
        self._has_hashes = self._is_mapped("words_hash", "keyword")

    def records(self) -> Iterator[Record]:
        """Return an iterator over all records."""
        self._hits.rewind()
        return map(self._access.to_record, hits_of_open_search(self._hits))

    def search(self, plans: Sequence[SizedPlan], *, size: int, distinct_words: bool) -> list[FoundRecords]:
        """Return the documents that each plan finds."""
        try:
            distinct = distinct_words and self._has_hashes
            responses = self._hits.search_many([self._search_body(plan, size, distinct) for plan in plans])
        except ResponseTooLargeError:
            if len(plans) < 2:
                raise
            middle = len(plans) // 2
            halves = (plans[:middle], plans[middle:])
            return [found for half in halves for found in self.search(half, size=size, distinct_words=distinct_words)]
        return [self._found_records(response, size) for response in responses]

    def _found_records(self, response: Mapping[str, Any], size: int) -> FoundRecords:
        hits = response["hits"]["hits"]
        omitted = total_hits(response) - len(hits) if len(hits) >= size else 0
        return FoundRecords([self._access.to_record(hit) for hit in hits], omitted)

    def _search_body(self, plan: SizedPlan, size: int, distinct_words: bool) -> dict[str, Any]:
        """Return the body of a search without scores, because the caller compares the documents."""
        field, clauses = self._access.field, list(self._clauses)
        if plan.shingle_range and self._has_sizes:
            minimum, maximum = plan.shingle_range
            clauses.append({"range": {f"{field}.shingles": {"gte": minimum, "lte": maximum}}})
        query = self._access.token_query(plan.plan, clauses, score="nothing")
        return {
            "query": {"bool": {"filter": [query]}},
            "size": size,
            "track_total_hits": _COUNT_ALL,
            "sort": [{f"{field}.shingles": "desc"}] if self._has_sizes else ["_doc"],
            "_source": self._access.source_filter(),
            **({"collapse": {"field": f"{field}.words_hash"}} if distinct_words else {}),
        }

    def _is_mapped(self, name: str, field_type: str) -> bool:
        """Return whether all indices map a field in the fingerprint field to this type, with doc values."""
        path = f"{self._access.field}.{name}"
        parts = [mapping_at(mapping, path) or {} for mapping in self._access.indices.mappings.values()]
        return all(part.get("type") == field_type and part.get("doc_values", True) for part in parts)


def _read_identity(access: IndexAccess) -> str:
    try:
        return " ".join(sorted(read_uuids(access.background, access.name).values()))
    except RequestError as error:
        if error.status != 403:
            raise
        return access.location
