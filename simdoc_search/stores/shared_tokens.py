"""Finds the documents that share the most passage, sentence or concept tokens. Adds up the results of several queries.

If one query cannot contain all tokens, each of several queries contains a part of them. The number of tokens that a
document shares is the sum over all parts. So the document with the largest sum need not be the best document of any
part. For each part, the documents are read by descending count. A document that was not read from any part shares at
most the sum of the counts that were last read from each part. Reading ends when this sum is at most the count of the
last document in the result (Fagin, Lotem, Naor 2003, "Optimal aggregation algorithms for middleware").
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest
from itertools import islice
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from simdoc_search.analysis.distinct import distinct
from simdoc_search.documents import DocumentKey, HasDocumentKey
from simdoc_search.sketch.tokens import encode

Key = TypeVar("Key")

INITIAL_PAGE_SIZE, PAGE_GROWTH_FACTOR = 100, 4
"""Number of documents on the first page of each part, and the factor by which the number of read documents grows."""

MAX_DOCUMENTS_PER_PART = 10_000
"""Maximum number of documents that are read from each part. It is reached if very many documents share a phrase."""


@dataclass(frozen=True, slots=True)
class TokenMatch(HasDocumentKey):
    """A document that shares tokens.

    `shared_count` is at least 1. If the query has rows of alternative tokens, it is the number of rows that the
    document shares; see `Store.documents_sharing_tokens`.
    """

    key: DocumentKey
    shared_count: int


@dataclass(frozen=True, slots=True)
class TokenMatches:
    """The documents that share tokens.

    A better document can be missing if more than `MAX_DOCUMENTS_PER_PART` documents share nearly the same number of
    tokens, for example because they all contain the same phrase.

    Attributes:
        documents: the documents that share the most tokens, by descending number of tokens, then by id and index. If
            several documents tie for the last position, the store chooses one.
        total: number of documents that share at least one token.
    """

    documents: list[TokenMatch]
    total: int


def encode_token_groups(token_ids: NDArray[np.uint32], token_length: int) -> list[list[str]]:
    """Return groups of alternative tokens, one for each row of token ids.

    If `token_ids` has one dimension, each distinct id is a group.
    """
    rows = token_ids if token_ids.ndim > 1 else distinct(token_ids)[:, np.newaxis]
    tokens, width = encode(rows.reshape(-1), token_length), rows.shape[1]
    return [tokens[start : start + width] for start in range(0, len(tokens), width)]


def match_sort_key(document: TokenMatch) -> tuple[int, str, str]:
    """Return the key for sorting documents by descending number of shared tokens, then by id and index."""
    return -document.shared_count, document.id, document.index or ""


CountSharedTokens = Callable[[Sequence[int], Sequence[Key]], Iterable[Mapping[Key, int]]]
"""For each given part, returns how many of its tokens each given document shares. Missing documents share none."""


def sum_parts(
    streams: Sequence[Iterator[tuple[Key, int]]], count_shared_tokens: CountSharedTokens[Key], size: int
) -> dict[Key, int]:
    """Return the documents that share the most tokens in all parts together, with these numbers.

    `streams` contains pairs of a document and its number of shared tokens for each part, by descending number.
    """
    if len(streams) == 1:
        return dict(islice(streams[0], size))
    sums = _PartialSums(count_shared_tokens)
    read_count, page_size = 0, max(size, INITIAL_PAGE_SIZE)
    while True:
        for part_index, stream in enumerate(streams):
            sums.add_page(part_index, list(islice(stream, page_size)), page_size)
        read_count += page_size
        sums.fill_missing_counts(sums.best_keys(size))
        if sums.max_unread_shared_count <= sums.threshold(size) or read_count >= MAX_DOCUMENTS_PER_PART:
            break
        page_size = min(read_count * (PAGE_GROWTH_FACTOR - 1), MAX_DOCUMENTS_PER_PART - read_count)
    threshold = sums.threshold(size)
    possible = (key for key in sums.counts if sums.upper_bound(key) > threshold)
    sums.fill_missing_counts(nlargest(MAX_DOCUMENTS_PER_PART, possible, key=sums.upper_bound))
    while sums.fill_missing_counts(sums.best_keys(size)):
        pass  # repeat, because the new counts may change which documents are the best
    return {key: sums.lower_bound(key) for key in sums.best_keys(size)}


class _PartialSums(Generic[Key]):
    """The partial sums of the documents that were read from any part.

    Attributes:
        counts: for each document, its number of shared tokens by part. Unknown counts are missing.
        max_unread_shared_count: upper bound of the number of tokens that a document shares if it was not read from any
            part.
    """

    def __init__(self, count_shared_tokens: CountSharedTokens[Key]) -> None:
        self.counts: dict[Key, dict[int, int]] = {}
        self.max_unread_shared_count = 0
        # for each part that was not read to the end, the count of the last document that was read
        self._last_count: dict[int, int] = {}
        self._count_shared_tokens = count_shared_tokens

    def add_page(self, part_index: int, page: list[tuple[Key, int]], size: int) -> None:
        """Add the next documents of a part. A page with fewer than `size` documents is the last page."""
        for key, count in page:
            self.counts.setdefault(key, {})[part_index] = count
        if len(page) < size:
            self._last_count.pop(part_index, None)
        else:
            self._last_count[part_index] = page[-1][1]
        self.max_unread_shared_count = sum(self._last_count.values())

    def lower_bound(self, key: Key) -> int:
        """Return a lower bound of the number of tokens that a document shares."""
        return sum(self.counts[key].values())

    def upper_bound(self, key: Key) -> int:
        """Return an upper bound of the number of tokens that a document shares."""
        return self.max_unread_shared_count + sum(
            count - self._last_count.get(part, 0) for part, count in self.counts[key].items()
        )

    def best_keys(self, size: int) -> list[Key]:
        """Return the documents with the largest lower bounds."""
        return nlargest(size, self.counts, key=lambda key: (self.lower_bound(key), self.upper_bound(key)))

    def threshold(self, size: int) -> int:
        """Return the smallest lower bound of the best documents, or 0 if there are fewer than `size` documents."""
        bounds = nlargest(size, map(self.lower_bound, self.counts))
        return bounds[-1] if len(bounds) == size else 0

    def fill_missing_counts(self, keys: Iterable[Key]) -> bool:
        """Find the missing counts of these documents. Return whether a count was missing."""
        parts = list(self._last_count)
        unknown = [key for key in keys if any(part not in self.counts[key] for part in parts)]
        if not unknown:
            return False
        for part, counts in zip(parts, self._count_shared_tokens(parts, unknown), strict=True):
            for key in unknown:
                self.counts[key].setdefault(part, counts.get(key, 0))
        return True
