"""The documents that a plan found in a local store, read lazily, most equal tokens first."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from operator import itemgetter

import numpy as np
import tantivy

from simdoc_search.documents import Place
from simdoc_search.query.plans import Bands, Plan
from simdoc_search.sketch.estimate import count_common
from simdoc_search.sketch.tokens import decode
from simdoc_search.stores.local.queries import Purpose
from simdoc_search.stores.local.schema import codes_of, id_of, metadata_of
from simdoc_search.stores.local.snapshot import Address, Snapshot
from simdoc_search.stores.record import Candidate, LeftOut

Page = list[tuple[float, Address]]

FIRST_PAGE, PAGE_GROWTH = 1000, 8
"""A page has only addresses. Every page counts the equal tokens of all candidates, which is most of its cost."""


class LocalCandidates:
    """The documents that a plan found, read lazily in growing pages; see `Candidates`.

    Args:
        plan: the plan.
        snapshot: the store at one point in time.
        query: returns the query of the plan; see `build_query`.
        few: all candidates, if they are known.
        fields: the requested metadata.
    """

    left_out: Sequence[LeftOut] = ()  # a damaged document is an error

    def __init__(
        self,
        plan: Plan,
        snapshot: Snapshot,
        query: Callable[[Purpose], tantivy.Query],
        *,
        few: Page | None = None,
        fields: Sequence[str] = (),
    ) -> None:
        self.plan = plan
        self._snapshot = snapshot
        self._query = query
        self._fields = fields
        self._first = self._page(FIRST_PAGE) if few is None else few
        self.total: int = len(self._first) if len(self._first) < FIRST_PAGE else snapshot.count(query("counted"))

    def __iter__(self) -> Iterator[Candidate]:
        size, hits = FIRST_PAGE, self._first
        yielded: set[Address] = set()
        while True:
            for score, address in hits:
                if address not in yielded:
                    yielded.add(address)
                    yield self._candidate(score, address)
            if len(yielded) >= self.total or len(hits) < size:
                return
            size *= PAGE_GROWTH
            hits = self._page(size)

    def _candidate(self, score: float, address: Address) -> Candidate:
        document = self._snapshot.document(address)
        codes = codes_of(document, self._snapshot.settings.token_length)
        return Candidate(Place(id_of(document)), int(score), codes, metadata_of(document, self._fields))

    def _page(self, size: int) -> Page:
        """Return the best candidates, at most this many."""
        hits = self._snapshot.search(self._query("ranked"), size)
        return hits[: bisect_right(hits, -float(self.plan.minimum_match), key=lambda hit: -hit[0])]


def with_enough_tokens(snapshot: Snapshot, plan: Bands, addresses: Sequence[Address]) -> Page:
    """Return those of some documents that have enough equal tokens, most equal tokens first."""
    length = snapshot.settings.token_length
    query_codes = np.sort(decode(plan.tokens, length))
    counts = [count_common(query_codes, codes_of(snapshot.document(address), length)) for address in addresses]
    hits = [(float(count), address) for count, address in zip(counts, addresses, strict=True)]
    return sorted((hit for hit in hits if hit[0] >= plan.minimum_match), key=itemgetter(0), reverse=True)
