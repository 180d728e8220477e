"""Finds the documents of a local store that have some of the given passage, sentence or concept tokens."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from tantivy import Query

from simdoc_search.documents import DocumentKey
from simdoc_search.sketch.token_kinds import TokenKind
from simdoc_search.sketch.tokens import decode
from simdoc_search.stores.filters import Filters
from simdoc_search.stores.local.queries import shared_tokens_query
from simdoc_search.stores.local.schema import read_id, read_token_ids_of_kind
from simdoc_search.stores.local.snapshot import Address, Snapshot
from simdoc_search.stores.shared_tokens import (
    INITIAL_PAGE_SIZE,
    PAGE_GROWTH_FACTOR,
    TokenMatch,
    TokenMatches,
    encode_token_groups,
    match_sort_key,
    sum_parts,
)

MAX_QUERY_TOKENS = 1 << 15
"""Maximum number of tokens in one query. A token takes 3 kB of memory. A text of 500,000 words has about 32,000."""


def find_token_matches(
    snapshot: Snapshot,
    kind: TokenKind,
    token_ids: NDArray[np.uint32],
    *,
    filters: Filters | None,
    exclude: DocumentKey | None,
    size: int,
) -> TokenMatches:
    """Return the documents that have some of the given tokens; see `Store.documents_sharing_tokens`."""
    schema = snapshot.schema
    rows = encode_token_groups(token_ids, kind.length)
    width = len(rows[0]) if rows else 1
    rows_per_query = max(1, MAX_QUERY_TOKENS // width)
    parts = [rows[start : start + rows_per_query] for start in range(0, len(rows), rows_per_query)]
    queries = [shared_tokens_query(schema, kind.name, part, filters, exclude) for part in parts]

    def count_shared_tokens(part_indices: Sequence[int], addresses: Sequence[Address]) -> list[Mapping[Address, int]]:
        stored = {address: read_token_ids_of_kind(snapshot.read_document(address), kind) for address in addresses}
        counts: list[Mapping[Address, int]] = []
        for part_index in part_indices:
            query_token_ids = decode([token for row in parts[part_index] for token in row], kind.length).reshape(
                -1, width
            )
            counts.append(
                {address: int(np.isin(query_token_ids, stored[address]).any(axis=1).sum()) for address in addresses}
            )
        return counts

    def read_counts(query: Query) -> Iterator[tuple[Address, int]]:
        return (
            (address, int(score))
            for score, address in snapshot.iterate_hits(query, max(size, INITIAL_PAGE_SIZE), PAGE_GROWTH_FACTOR)
        )

    counts = sum_parts([read_counts(query) for query in queries], count_shared_tokens, size)
    documents = [
        TokenMatch(DocumentKey(read_id(snapshot.read_document(address))), shared) for address, shared in counts.items()
    ]
    if len(parts) == 1 and len(counts) < size:  # all documents were read
        total = len(counts)
    else:
        total = snapshot.count(shared_tokens_query(schema, kind.name, rows, filters, exclude, is_scored=False))
    return TokenMatches(sorted(documents, key=match_sort_key), total)
