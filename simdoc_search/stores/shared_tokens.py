"""Documents that share tokens of a kind, such as passage tokens, and the sum over several partial queries.

A store that cannot take all tokens at once is queried in parts. The number of shared tokens is the sum over the parts,
and the best document may be the first in none of them. Each part is read from its best document down, and ends where no
unread document can share more than those read: none shares more in total than the sum of the last ones of each part
(Fagin, Lotem, Naor 2003, "Optimal aggregation algorithms for middleware").
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
from simdoc_search.documents import Place
from simdoc_search.sketch.tokens import encode

Key = TypeVar("Key")

FIRST_READ, GROWTH = 100, 4
"""Documents read from each part at first, and the factor by which this grows."""

MOST_READ = 10_000
"""Maximum of documents read from each part. More share a token where a phrase is in every document."""


@dataclass(frozen=True, slots=True)
class Shared:
    """A document that shares tokens.

    Attributes:
        place: place of the document.
        shared: number of query tokens that it has, or of rows of them, at least 1.
    """

    place: Place
    shared: int

    @property
    def id(self) -> str:
        """Id of the document."""
        return self.place.id


@dataclass(frozen=True, slots=True)
class Sharing:
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
    return -document.shared, document.id, document.place.index or ""


Counted = Callable[[Sequence[int], Sequence[Key]], Iterable[Mapping[Key, int]]]
"""Counts the tokens of some parts that given documents share; a missing document shares none."""


def add_up(
    streams: Sequence[Iterator[tuple[Key, int]]], counted: Counted[Key], size: int
) -> tuple[dict[Key, int], int]:
    """Return the documents that share most in all parts together.

    Args:
        streams: for each part, documents and their number of shared tokens, most first.
        counted: counts for given documents only.
        size: maximum number of documents.

    Returns:
        Number of shared tokens of each document; and the `floor` of `Sharing`.
    """
    if len(streams) == 1:
        return dict(islice(streams[0], size)), 0
    sums = _Sums(counted)
    read, block = 0, max(size, FIRST_READ)
    while True:
        for part, stream in enumerate(streams):
            sums.take(part, list(islice(stream, block)), block)
        read += block
        sums.make_certain(sums.best(size))
        if sums.unmet <= sums.least(size) or read >= MOST_READ:
            break
        block = min(read * (GROWTH - 1), MOST_READ - read)
    least = sums.least(size)
    sums.make_certain(nlargest(MOST_READ, (key for key in sums.met if sums.most(key) > least), key=sums.most))
    while sums.make_certain(sums.best(size)):
        pass  # what is known of them now may make others the best
    least = sums.least(size)
    found = {key: sums.known(key) for key in sums.best(size)}
    unsure = max((sums.most(key) for key in sums.met if key not in found), default=0)
    floor = max(sums.unmet, unsure)
    return found, floor if floor > least else 0


class _Sums(Generic[Key]):
    """The partial sums of every document read from any part."""

    def __init__(self, counted: Counted[Key]) -> None:
        self.met: dict[Key, dict[int, int]] = {}
        self.unmet = 0  # what a document that was met nowhere shares at most
        self._last: dict[int, int] = {}  # by part that has more: what its next document shares at most
        self._counted = counted

    def take(self, part: int, page: list[tuple[Key, int]], asked: int) -> None:
        """Add the next documents of a part; fewer than requested are the last ones."""
        for key, count in page:
            self.met.setdefault(key, {})[part] = count
        if len(page) < asked:
            self._last.pop(part, None)
        else:
            self._last[part] = page[-1][1]
        self.unmet = sum(self._last.values())

    def known(self, key: Key) -> int:
        """Return the lower bound of what a document shares."""
        return sum(self.met[key].values())

    def most(self, key: Key) -> int:
        """Return the upper bound of what a document shares."""
        return self.unmet + sum(count - self._last.get(part, 0) for part, count in self.met[key].items())

    def best(self, size: int) -> list[Key]:
        """Return the documents with the largest lower bounds."""
        return nlargest(size, self.met, key=lambda key: (self.known(key), self.most(key)))

    def least(self, size: int) -> int:
        """Return the lower bound of each of the best documents; 0 if there are fewer."""
        found = nlargest(size, map(self.known, self.met))
        return found[-1] if len(found) == size else 0

    def make_certain(self, keys: Iterable[Key]) -> bool:
        """Count the unknown parts of these documents; return whether there were any."""
        some = list(keys)
        parts = list(self._last)
        unsure = [key for key in some if any(part not in self.met[key] for part in parts)]
        if not unsure:
            return False
        for part, counts in zip(parts, self._counted(parts, unsure), strict=True):
            for key in unsure:
                self.met[key].setdefault(part, counts.get(key, 0))
        return True
