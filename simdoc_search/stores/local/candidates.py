"""The documents that a plan found in a local store, read lazily, most equal tokens first."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence

import tantivy

from simdoc_search.documents import Place
from simdoc_search.query.plans import Plan
from simdoc_search.stores.local.errors import engine_errors
from simdoc_search.stores.local.queries import Wanted
from simdoc_search.stores.local.schema import codes_of, document_at, id_of, metadata_of
from simdoc_search.stores.record import Candidate, LeftOut

Page = list[tuple[float, tantivy.DocAddress]]

FIRST_PAGE, PAGE_GROWTH = 1000, 8
"""Pages contain only addresses.

Counting equal tokens is nearly all of a page's cost, and every page counts all of them.
"""


class LocalCandidates:
    """The documents that a plan found, most equal tokens first, read lazily in growing pages.

    Args:
        location: the store, for messages.
        plan: the plan.
        searcher: reads the index at one point in time.
        query: makes the query of the plan, as `build_query`.
        token_length: characters of a token.
        has_checksums: whether documents have checksums.
        few: all candidates, if they are known.
        fields: the requested metadata.
    """

    left_out: Sequence[LeftOut] = ()  # a damaged store is an error

    def __init__(
        self,
        location: str,
        plan: Plan,
        searcher: tantivy.Searcher,
        query: Callable[[Wanted], tantivy.Query],
        token_length: int,
        *,
        has_checksums: bool,
        few: Page | None = None,
        fields: Sequence[str] = (),
    ) -> None:
        self._location = location
        self.plan = plan
        self._searcher = searcher
        self._query = query
        self._token_length = token_length
        self._sums = has_checksums
        self._fields = fields
        self._first = self._page(FIRST_PAGE) if few is None else few
        self.total: int = len(self._first) if len(self._first) < FIRST_PAGE else self._count()

    def __iter__(self) -> Iterator[Candidate]:
        size, hits = FIRST_PAGE, self._first
        given: set[tuple[int, int]] = set()  # tantivy promises no order of equal scores from one page to the next
        while True:
            for score, address in hits:
                if (place := (address.segment_ord, address.doc)) not in given:
                    given.add(place)
                    yield self._candidate(score, address)
            if len(given) >= self.total or len(hits) < size:
                return
            size *= PAGE_GROWTH
            hits = self._page(size)

    def _candidate(self, score: float, address: tantivy.DocAddress) -> Candidate:
        with engine_errors("read", self._location):
            document = document_at(self._searcher, address, self._sums)
            codes, fields = codes_of(document, self._token_length), metadata_of(document, self._fields)
            return Candidate(Place(id_of(document)), int(score), codes, fields)

    def _page(self, size: int) -> Page:
        """Return the best candidates, at most this many."""
        with engine_errors("read", self._location):
            hits = self._searcher.search(self._query("ranked"), limit=size, count=False).hits
        return hits[: bisect_right(hits, -self.plan.minimum_match, key=lambda hit: -hit[0])]

    def _count(self) -> int:
        with engine_errors("read", self._location):
            found = self._searcher.search(self._query("counted"), limit=1, count=True)
            return int(found.count)  # type: ignore[attr-defined] # the stub lacks it
