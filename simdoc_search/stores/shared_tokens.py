"""Finds the documents that share most tokens of a kind, by adding up the results of several queries.

A store that cannot take all tokens in one query gets several, each with a part of the tokens. The number of tokens that
a document shares is the sum over all parts, so the best document need not be the best one of any part. Each part is
read from its best document down. An unread document shares at most the sum of the last count that was read from each
part. Reading ends when that sum is not larger than the count of the last document of the result (Fagin, Lotem, Naor
2003, "Optimal aggregation algorithms for middleware").
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
from simdoc_search.documents import Place, Placed
from simdoc_search.sketch.tokens import encode

Key = TypeVar("Key")

FIRST_READ, GROWTH = 100, 4
"""Number of documents that are first read from each part, and the factor by which this number grows."""

MAX_READ = 10_000
"""Maximum number of documents that are read from each part. More share a token if all have the same phrase."""


@dataclass(frozen=True, slots=True)
class Shared(Placed):
    """A document that shares tokens.

    Attributes:
        place: place of the document.
        shared: number of tokens of the query, or of rows of tokens, that it has; at least 1.
    """

    place: Place
    shared: int


@dataclass(frozen=True, slots=True)
class SharingDocuments:
    """The documents that share tokens.

    Attributes:
        documents: the documents that share most tokens, most first. Ties are sorted by id and index. If several
            documents tie for the last place, the store chooses.
        total: number of documents that share any token.
        floor: 0 if no omitted document shares more tokens than the last document. Otherwise an omitted document may
            share up to this number. This happens if too many documents share nearly as many tokens, for example because
            every document has the same phrase.
    """

    documents: list[Shared]
    total: int
    floor: int = 0


def rows_of(codes: NDArray[np.uint32], length: int) -> list[list[str]]:
    """Return the rows of tokens that are counted. Codes in one dimension become rows of one token, without repeats.

    Args:
        codes: the codes, shape (codes,) or (rows, codes).
        length: number of characters of a token.
    """
    rows = codes if codes.ndim > 1 else distinct(codes)[:, np.newaxis]
    tokens, width = encode(rows.reshape(-1), length), rows.shape[1]
    return [tokens[start : start + width] for start in range(0, len(tokens), width)]


def most_first(document: Shared) -> tuple[int, str, str]:
    """Return the sort key that puts the document with most shared tokens first."""
    return -document.shared, document.id, document.index or ""


CountParts = Callable[[Sequence[int], Sequence[Key]], Iterable[Mapping[Key, int]]]
"""Counts how many tokens of each of some parts the given documents share. A missing document shares none."""


def sum_parts(
    streams: Sequence[Iterator[tuple[Key, int]]], count_parts: CountParts[Key], size: int
) -> tuple[dict[Key, int], int]:
    """Return the documents that share most in all parts together.

    Args:
        streams: for each part, the documents with their numbers of shared tokens, most first.
        count_parts: counts for given documents only.
        size: maximum number of documents.

    Returns:
        The number of shared tokens of each document, and the `floor` of `SharingDocuments`.
    """
    if len(streams) == 1:
        return dict(islice(streams[0], size)), 0
    sums = _Sums(count_parts)
    read, block = 0, max(size, FIRST_READ)
    while True:
        for part, stream in enumerate(streams):
            sums.take(part, list(islice(stream, block)), block)
        read += block
        sums.complete(sums.best(size))
        if sums.unread <= sums.lowest(size) or read >= MAX_READ:
            break
        block = min(read * (GROWTH - 1), MAX_READ - read)
    lowest = sums.lowest(size)
    sums.complete(nlargest(MAX_READ, (key for key in sums.counts if sums.upper(key) > lowest), key=sums.upper))
    while sums.complete(sums.best(size)):
        pass  # the new counts may make other documents the best
    best = {key: sums.lower(key) for key in sums.best(size)}
    floor = max([sums.unread, *(sums.upper(key) for key in sums.counts if key not in best)])
    return best, floor if floor > sums.lowest(size) else 0


class _Sums(Generic[Key]):
    """The partial sums of the documents that were read from any part.

    Attributes:
        counts: for each document, its number of shared tokens by part, as far as it is known.
        unread: upper bound of the tokens that a document shares if it was not read from any part.
    """

    def __init__(self, count_parts: CountParts[Key]) -> None:
        self.counts: dict[Key, dict[int, int]] = {}
        self.unread = 0
        self._last: dict[int, int] = {}  # for each unfinished part, the upper bound of the next count
        self._count_parts = count_parts

    def take(self, part: int, page: list[tuple[Key, int]], size: int) -> None:
        """Add the next documents of a part. A page shorter than `size` is the last one."""
        for key, count in page:
            self.counts.setdefault(key, {})[part] = count
        if len(page) < size:
            self._last.pop(part, None)
        else:
            self._last[part] = page[-1][1]
        self.unread = sum(self._last.values())

    def lower(self, key: Key) -> int:
        """Return the lower bound of the number of tokens that a document shares."""
        return sum(self.counts[key].values())

    def upper(self, key: Key) -> int:
        """Return the upper bound of the number of tokens that a document shares."""
        return self.unread + sum(count - self._last.get(part, 0) for part, count in self.counts[key].items())

    def best(self, size: int) -> list[Key]:
        """Return the documents with the largest lower bounds."""
        return nlargest(size, self.counts, key=lambda key: (self.lower(key), self.upper(key)))

    def lowest(self, size: int) -> int:
        """Return the smallest lower bound of the best documents; 0 if there are fewer than `size`."""
        bounds = nlargest(size, map(self.lower, self.counts))
        return bounds[-1] if len(bounds) == size else 0

    def complete(self, keys: Iterable[Key]) -> bool:
        """Get the unknown counts of these documents. Return whether there were any."""
        parts = list(self._last)
        unknown = [key for key in keys if any(part not in self.counts[key] for part in parts)]
        if not unknown:
            return False
        for part, counts in zip(parts, self._count_parts(parts, unknown), strict=True):
            for key in unknown:
                self.counts[key].setdefault(part, counts.get(key, 0))
        return True
