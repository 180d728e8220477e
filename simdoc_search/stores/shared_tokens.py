"""Finds the documents that share tokens of a kind, by the sum over several partial queries.

A store that cannot take all tokens at once is queried in parts. The number of shared tokens is the sum over the parts,
and the best document may be the first in none of them. Each part is read from its best document down. Reading ends
where no unread document can share more than those read: none shares more in total than the sum of the last ones of each
part (Fagin, Lotem, Naor 2003, "Optimal aggregation algorithms for middleware").
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
"""Documents read from each part at first, and the factor by which this grows."""

MOST_READ = 10_000
"""Maximum of documents read from each part. More share a token where a phrase is in every document."""


@dataclass(frozen=True, slots=True)
class Shared(Placed):
    """A document that shares tokens.

    Attributes:
        place: place of the document.
        shared: number of query tokens that it has, or of rows of them, at least 1.
    """

    place: Place
    shared: int


@dataclass(frozen=True, slots=True)
class SharingDocuments:
    """The documents that share tokens.

    Attributes:
        documents: those that share most, most first, ties by id and index. Among documents tied with the last one, the
            store chooses.
        total: number of documents that share any token.
        floor: 0 if no omitted document shares more than the last of them. Otherwise an omitted document may share up to
            this many, because too many share nearly as much, as where a phrase is in every document.
    """

    documents: list[Shared]
    total: int
    floor: int = 0


def rows_of(codes: NDArray[np.uint32], length: int) -> list[list[str]]:
    """Return the rows that are counted; one token of a row suffices. Single codes become rows without repeats.

    Args:
        codes: shape (codes,) or (rows, codes).
        length: characters of a token.
    """
    rows = codes if codes.ndim > 1 else distinct(codes)[:, np.newaxis]
    tokens, width = encode(rows.reshape(-1), length), rows.shape[1]
    return [tokens[at : at + width] for at in range(0, len(tokens), width)]


def most_first(document: Shared) -> tuple[int, str, str]:
    """Sort key: most shared tokens first."""
    return -document.shared, document.id, document.index or ""


Counted = Callable[[Sequence[int], Sequence[Key]], Iterable[Mapping[Key, int]]]
"""Counts the tokens of some parts that given documents share; a missing document shares none."""


def sum_parts(
    streams: Sequence[Iterator[tuple[Key, int]]], counted: Counted[Key], size: int
) -> tuple[dict[Key, int], int]:
    """Return the documents that share most in all parts together.

    Args:
        streams: for each part, documents and their number of shared tokens, most first.
        counted: counts for given documents only.
        size: maximum number of documents.

    Returns:
        Number of shared tokens of each document; and the `floor` of `SharingDocuments`.
    """
    if len(streams) == 1:
        return dict(islice(streams[0], size)), 0
    sums = _Sums(counted)
    read, block = 0, max(size, FIRST_READ)
    while True:
        for part, stream in enumerate(streams):
            sums.take(part, list(islice(stream, block)), block)
        read += block
        sums.complete(sums.best(size))
        if sums.unread <= sums.lowest(size) or read >= MOST_READ:
            break
        block = min(read * (GROWTH - 1), MOST_READ - read)
    lowest = sums.lowest(size)
    sums.complete(nlargest(MOST_READ, (key for key in sums.counts if sums.upper(key) > lowest), key=sums.upper))
    while sums.complete(sums.best(size)):
        pass  # the new counts may make other documents the best
    best = {key: sums.lower(key) for key in sums.best(size)}
    floor = max([sums.unread, *(sums.upper(key) for key in sums.counts if key not in best)])
    return best, floor if floor > sums.lowest(size) else 0


class _Sums(Generic[Key]):
    """The partial sums of every document read from any part.

    Attributes:
        counts: for each document, its number of shared tokens by part, as far as it is known.
        unread: upper bound of what a document shares that was read from no part.
    """

    def __init__(self, counted: Counted[Key]) -> None:
        self.counts: dict[Key, dict[int, int]] = {}
        self.unread = 0
        self._last: dict[int, int] = {}  # for each unfinished part, the upper bound of its next document
        self._counted = counted

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
        """Return the lower bound of what a document shares."""
        return sum(self.counts[key].values())

    def upper(self, key: Key) -> int:
        """Return the upper bound of what a document shares."""
        return self.unread + sum(count - self._last.get(part, 0) for part, count in self.counts[key].items())

    def best(self, size: int) -> list[Key]:
        """Return the documents with the largest lower bounds."""
        return nlargest(size, self.counts, key=lambda key: (self.lower(key), self.upper(key)))

    def lowest(self, size: int) -> int:
        """Return the smallest lower bound of the best documents; 0 if there are fewer than `size`."""
        bounds = nlargest(size, map(self.lower, self.counts))
        return bounds[-1] if len(bounds) == size else 0

    def complete(self, keys: Iterable[Key]) -> bool:
        """Count the unknown parts of these documents. Return whether there were any."""
        parts = list(self._last)
        unknown = [key for key in keys if any(part not in self.counts[key] for part in parts)]
        if not unknown:
            return False
        for part, counts in zip(parts, self._counted(parts, unknown), strict=True):
            for key in unknown:
                self.counts[key].setdefault(part, counts.get(key, 0))
        return True
