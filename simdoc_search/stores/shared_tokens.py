"""Finds the documents that share the most tokens of a kind, by adding up the results of several queries.

If one query cannot contain all tokens, several queries are sent, each with a part of the tokens. The number of tokens
that a document shares is the sum over all parts. So the document with the largest sum need not be the best document of
any part. The documents of each part are read by descending count. A document that was not read from any part shares at
most the sum of the last counts read from all parts. Reading ends when this sum is at most the count of the last
document in the result (Fagin, Lotem, Naor 2003, "Optimal aggregation algorithms for middleware").
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

FIRST_READ, GROWTH = 100, 4
"""Number of documents that are first read from each part, and the factor by which this number grows."""

MAX_READ = 10_000
"""Maximum number of documents that are read from each part. The limit matters if all documents contain one phrase."""


@dataclass(frozen=True, slots=True)
class SharingDocument(HasDocumentKey):
    """A document that shares tokens.

    Attributes:
        key: key of the document.
        shared: number of tokens, or of rows of tokens, that it shares with the query; at least 1.
    """

    key: DocumentKey
    shared: int


@dataclass(frozen=True, slots=True)
class SharingDocuments:
    """The documents that share tokens.

    Attributes:
        documents: the documents that share the most tokens, by descending number. Ties are sorted by id and index. If
            several documents tie for the last position, the store chooses one.
        total: number of documents that share at least one token.
        omitted_bound: 0 if no omitted document shares more tokens than the last document. Otherwise, an upper bound of
            the number of tokens that an omitted document shares. It is not 0 if very many documents share nearly the
            same number of tokens, for example because they all contain one phrase.
    """

    documents: list[SharingDocument]
    total: int
    omitted_bound: int = 0


def split_rows(codes: NDArray[np.uint32], length: int) -> list[list[str]]:
    """Split tokens into the rows that are counted. If `codes` is one-dimensional, each distinct code is a row.

    Args:
        codes: the codes, shape (codes,) or (rows, codes).
        length: number of characters of a token.
    """
    rows = codes if codes.ndim > 1 else distinct(codes)[:, np.newaxis]
    tokens, width = encode(rows.reshape(-1), length), rows.shape[1]
    return [tokens[start : start + width] for start in range(0, len(tokens), width)]


def sharing_order(document: SharingDocument) -> tuple[int, str, str]:
    """Return the key for sorting documents by descending number of shared tokens, then by id and index."""
    return -document.shared, document.id, document.index or ""


CountParts = Callable[[Sequence[int], Sequence[Key]], Iterable[Mapping[Key, int]]]
"""Returns, for each given part, how many of its tokens each given document shares. Omitted documents share none."""


def sum_parts(
    streams: Sequence[Iterator[tuple[Key, int]]], count_parts: CountParts[Key], size: int
) -> tuple[dict[Key, int], int]:
    """Return the documents that share the most tokens in all parts together.

    Args:
        streams: for each part, the documents and their numbers of shared tokens, by descending number.
        count_parts: counts the shared tokens of given documents.
        size: maximum number of documents.

    Returns:
        The number of shared tokens of each document, and `SharingDocuments.omitted_bound`.
    """
    if len(streams) == 1:
        return dict(islice(streams[0], size)), 0
    sums = _Sums(count_parts)
    read, block = 0, max(size, FIRST_READ)
    while True:
        for part, stream in enumerate(streams):
            sums.add_page(part, list(islice(stream, block)), block)
        read += block
        sums.count_missing(sums.best(size))
        if sums.unread_bound <= sums.smallest_best(size) or read >= MAX_READ:
            break
        block = min(read * (GROWTH - 1), MAX_READ - read)
    smallest = sums.smallest_best(size)
    possible = (key for key in sums.counts if sums.upper_bound(key) > smallest)
    sums.count_missing(nlargest(MAX_READ, possible, key=sums.upper_bound))
    while sums.count_missing(sums.best(size)):
        pass  # the new counts may make other documents the best
    best = {key: sums.lower_bound(key) for key in sums.best(size)}
    omitted_bound = max([sums.unread_bound, *(sums.upper_bound(key) for key in sums.counts if key not in best)])
    return best, omitted_bound if omitted_bound > sums.smallest_best(size) else 0


class _Sums(Generic[Key]):
    """The partial sums of the documents that were read from any part.

    Attributes:
        counts: for each document, its number of shared tokens by part. Parts whose number is unknown are missing.
        unread_bound: upper bound of the number of tokens shared by a document that was not read from any part.
    """

    def __init__(self, count_parts: CountParts[Key]) -> None:
        self.counts: dict[Key, dict[int, int]] = {}
        self.unread_bound = 0
        self._last_count: dict[int, int] = {}  # for each part that was not read to the end, the last count
        self._count_parts = count_parts

    def add_page(self, part: int, page: list[tuple[Key, int]], size: int) -> None:
        """Add the next documents of a part. A page with fewer than `size` documents is the last one."""
        for key, count in page:
            self.counts.setdefault(key, {})[part] = count
        if len(page) < size:
            self._last_count.pop(part, None)
        else:
            self._last_count[part] = page[-1][1]
        self.unread_bound = sum(self._last_count.values())

    def lower_bound(self, key: Key) -> int:
        """Return the lower bound of the number of tokens that a document shares."""
        return sum(self.counts[key].values())

    def upper_bound(self, key: Key) -> int:
        """Return the upper bound of the number of tokens that a document shares."""
        return self.unread_bound + sum(
            count - self._last_count.get(part, 0) for part, count in self.counts[key].items()
        )

    def best(self, size: int) -> list[Key]:
        """Return the documents with the largest lower bounds."""
        return nlargest(size, self.counts, key=lambda key: (self.lower_bound(key), self.upper_bound(key)))

    def smallest_best(self, size: int) -> int:
        """Return the smallest lower bound of the best documents; 0 if there are fewer than `size`."""
        bounds = nlargest(size, map(self.lower_bound, self.counts))
        return bounds[-1] if len(bounds) == size else 0

    def count_missing(self, keys: Iterable[Key]) -> bool:
        """Count the tokens of these documents in parts where the number is unknown. Return whether there were any."""
        parts = list(self._last_count)
        unknown = [key for key in keys if any(part not in self.counts[key] for part in parts)]
        if not unknown:
            return False
        for part, counts in zip(parts, self._count_parts(parts, unknown), strict=True):
            for key in unknown:
                self.counts[key].setdefault(part, counts.get(key, 0))
        return True
