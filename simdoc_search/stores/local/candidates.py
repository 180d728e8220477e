"""The documents that a plan found in a local store, read lazily, most equal tokens first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import tantivy

from simdoc_search.documents import Place
from simdoc_search.stores.local.failures import engine_errors
from simdoc_search.stores.local.schema import codes_of, document_at, id_of, metadata_of
from simdoc_search.stores.record import Candidate, LeftOut

__all__ = ["LocalCandidates", "Page"]

Page = list[tuple[float, tantivy.DocAddress]]

FIRST_PAGE, PAGE_GROWTH = 1000, 8
"""Addresses alone: to count equal tokens is nearly all of a page's cost, and each page counts all of them."""


class LocalCandidates:
    """The documents that a plan found, most equal tokens first; read lazily, in growing pages."""

    left_out: Sequence[LeftOut] = ()  # a damaged store is an error

    def __init__(
        self,
        location: str,
        searcher: tantivy.Searcher,
        query: tantivy.Query,
        token_length: int,
        *,
        has_checksums: bool,
        first: tuple[Page, int] | None = None,
        fields: Sequence[str] = (),
    ) -> None:
        self._location = location
        self._searcher = searcher
        self._query = query
        self._token_length = token_length
        self._sums = has_checksums
        self._fields = fields
        self._first = first or self._page(FIRST_PAGE)

    @property
    def total(self) -> int:
        """How many there are."""
        return self._first[1]

    def __iter__(self) -> Iterator[Candidate]:
        size, hits = FIRST_PAGE, self._first[0]
        given: set[tuple[int, int]] = set()  # tantivy promises no order of equal scores from one page to the next
        while True:
            for score, address in hits:
                if (place := (address.segment_ord, address.doc)) not in given:
                    given.add(place)
                    yield self._candidate(score, address)
            if len(given) >= self.total or len(hits) < size:
                return
            size *= PAGE_GROWTH
            hits = self._page(size)[0]

    def _candidate(self, score: float, address: tantivy.DocAddress) -> Candidate:
        with engine_errors("read", self._location):
            document = document_at(self._searcher, address, self._sums)
            codes, fields = codes_of(document, self._token_length), metadata_of(document, self._fields)
            return Candidate(Place(id_of(document)), int(score), codes, fields)

    def _page(self, size: int) -> tuple[Page, int]:
        with engine_errors("read", self._location):
            found = self._searcher.search(self._query, limit=size, count=True)
            return found.hits, found.count  # type: ignore[attr-defined] # the stub lacks it
