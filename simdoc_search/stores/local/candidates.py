"""Reads the documents that a query plan found in a local store, by descending number of shared tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from operator import itemgetter

import numpy as np
import tantivy

from simdoc_search.documents import DocumentKey
from simdoc_search.query.plans import BandPlan, Plan
from simdoc_search.sketch.estimate import count_common
from simdoc_search.sketch.tokens import decode
from simdoc_search.stores.local.queries import QueryPurpose
from simdoc_search.stores.local.schema import read_id, read_metadata, read_token_ids
from simdoc_search.stores.local.snapshot import Address, Snapshot
from simdoc_search.stores.record import Candidate, LeftOutDocument

ScoredAddresses = list[tuple[float, Address]]

FIRST_PAGE_SIZE, PAGE_GROWTH = 1000, 8
"""Size of the first page of addresses, and the factor by which pages grow.

Reading a page counts the shared tokens of all candidates again. This takes most of the time.
"""


class LocalCandidates:
    """The documents that a query plan found, which are read lazily in growing pages; see `Candidates`.

    `make_query` returns the plan's query for a `QueryPurpose`; see `build_query`. `hits` are all candidates, by
    descending score, or None to search for them.
    """

    left_out: Sequence[LeftOutDocument] = ()  # always empty, because reading a damaged document raises an error

    def __init__(
        self,
        plan: Plan,
        snapshot: Snapshot,
        make_query: Callable[[QueryPurpose], tantivy.Query],
        *,
        hits: ScoredAddresses | None = None,
        fields: Sequence[str] = (),
    ) -> None:
        self.plan = plan
        self._snapshot = snapshot
        self._make_query = make_query
        self._fields = fields
        minimum = plan.minimum_match
        ranked = snapshot.iterate_hits(make_query("rank"), FIRST_PAGE_SIZE, PAGE_GROWTH, minimum=minimum)
        self._first_page = list(islice(ranked, FIRST_PAGE_SIZE)) if hits is None else hits
        self.total: int = (
            len(self._first_page) if len(self._first_page) < FIRST_PAGE_SIZE else snapshot.count(make_query("count"))
        )

    def __iter__(self) -> Iterator[Candidate]:
        yield from map(self._read, self._first_page)
        if self.total > len(self._first_page):
            skipped_addresses = [address for _, address in self._first_page]
            size, minimum = FIRST_PAGE_SIZE * PAGE_GROWTH, self.plan.minimum_match
            further = self._snapshot.iterate_hits(
                self._make_query("rank"), size, PAGE_GROWTH, minimum=minimum, skipped_addresses=skipped_addresses
            )
            yield from map(self._read, further)

    def _read(self, hit: tuple[float, Address]) -> Candidate:
        document = self._snapshot.read_document(hit[1])
        token_ids = partial(read_token_ids, document, self._snapshot.settings)
        return Candidate(DocumentKey(read_id(document)), int(hit[0]), token_ids, read_metadata(document, self._fields))


def rank_by_shared_tokens(snapshot: Snapshot, plan: BandPlan, addresses: Sequence[Address]) -> ScoredAddresses:
    """Return the documents that share at least the plan's minimum number of tokens, best first."""
    query_token_ids = np.sort(decode(plan.tokens))
    documents = map(snapshot.read_document, addresses)
    counts = [count_common(query_token_ids, read_token_ids(document, snapshot.settings)) for document in documents]
    hits = [(float(count), address) for count, address in zip(counts, addresses, strict=True)]
    return sorted((hit for hit in hits if hit[0] >= plan.minimum_match), key=itemgetter(0), reverse=True)
