"""Finds the documents of a local store that share tokens of a kind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from tantivy import Query

from simdoc_search.documents import DocumentKey
from simdoc_search.sketch.kinds import TokenKind
from simdoc_search.sketch.tokens import decode
from simdoc_search.stores.filters import Filters
from simdoc_search.stores.local.queries import sharing_query
from simdoc_search.stores.local.schema import codes_of_kind, id_of
from simdoc_search.stores.local.snapshot import Address, Snapshot
from simdoc_search.stores.shared_tokens import (
    FIRST_READ,
    GROWTH,
    SharingDocument,
    SharingDocuments,
    sharing_order,
    split_rows,
    sum_parts,
)

MAX_QUERY_TOKENS = 1 << 15
"""Maximum number of tokens in one query. Each takes 3 kB. A text of half a million words has about this many."""


def find_sharing(
    snapshot: Snapshot,
    kind: TokenKind,
    codes: NDArray[np.uint32],
    *,
    filters: Filters | None,
    exclude: DocumentKey | None,
    size: int,
) -> SharingDocuments:
    """Return the documents that share tokens of a kind; see `Store.documents_sharing`."""
    schema = snapshot.schema
    rows = split_rows(codes, kind.length)
    width = len(rows[0]) if rows else 1
    rows_per_query = max(1, MAX_QUERY_TOKENS // width)
    parts = [rows[start : start + rows_per_query] for start in range(0, len(rows), rows_per_query)]
    queries = [sharing_query(schema, kind.name, part, filters, exclude) for part in parts]

    def count_parts(part_indices: Sequence[int], addresses: Sequence[Address]) -> list[Mapping[Address, int]]:
        stored = {address: codes_of_kind(snapshot.document(address), kind) for address in addresses}
        counts: list[Mapping[Address, int]] = []
        for part_index in part_indices:
            query_codes = decode([token for row in parts[part_index] for token in row], kind.length).reshape(-1, width)
            counts.append(
                {address: int(np.isin(query_codes, stored[address]).any(axis=1).sum()) for address in addresses}
            )
        return counts

    def stream(query: Query) -> Iterator[tuple[Address, int]]:
        return ((address, int(score)) for score, address in snapshot.ranked(query, max(size, FIRST_READ), GROWTH))

    counts, omitted_bound = sum_parts([stream(query) for query in queries], count_parts, size)
    documents = [
        SharingDocument(DocumentKey(id_of(snapshot.document(address))), shared) for address, shared in counts.items()
    ]
    total = snapshot.count(sharing_query(schema, kind.name, rows, filters, exclude, counted=False))
    return SharingDocuments(sorted(documents, key=sharing_order), total, omitted_bound)
