"""Which documents share tokens of a kind, such as passage tokens: the answer, and how several are added up.

A store that takes so many tokens at once is asked in parts. What a document shares is the sum over the parts, and the
document that shares most may be the first in none of them. So each part is read from its best document down, and ends
where no document that was not met can share more than those that were: none shares more in all parts together than
the last ones of each together (Fagin, Lotem, Naor 2003, "Optimal aggregation algorithms for middleware").
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
"""Documents that are read of each part at least, and how many times as many the next time."""

MOST_READ = 10_000
"""Documents that are read of each part at most: more share a token where a phrase stands in every document."""


@dataclass(frozen=True, slots=True)
class Shared:
    """A document that shares tokens.

    Attributes:
        place: where it is.
        shared: how many of the tokens that were asked for it has, or of the rows of them, at least 1.
    """

    place: Place
    shared: int

    @property
    def id(self) -> str:
        """Its id."""
        return self.place.id


@dataclass(frozen=True, slots=True)
class Sharing:
    """The documents that share tokens.

    Attributes:
        documents: those that share most, most first, ties by id and index. Where more share as many as the last one
            than there is room for, the store chooses among these.
        total: how many share a token at all.
        floor: 0 if none that is left out shares more than the last of them. Else one that shares up to so many may:
            too many share nearly as much, as they do where a phrase stands in every document. None shares more.
    """

    documents: list[Shared]
    total: int
    floor: int = 0


def rows_of(codes: NDArray[np.uint32], length: int) -> list[list[str]]:
    """What is counted, each as the tokens of which one is enough: rows as they are, single codes none twice.

    Args:
        codes: shape (codes,) or (rows, codes).
        length: characters of a token.
    """
    rows = codes if codes.ndim > 1 else distinct(codes)[:, np.newaxis]
    tokens, width = encode(rows.reshape(-1), length), rows.shape[1]
    return [tokens[at : at + width] for at in range(0, len(tokens), width)]


def most_first(document: Shared) -> tuple[int, str, str]:
    """By this they are sorted."""
    return -document.shared, document.id, document.place.index or ""


Counted = Callable[[Sequence[int], Sequence[Key]], Iterable[Mapping[Key, int]]]
"""How many tokens of each of some parts these documents share; what is not there shares none."""


def add_up(
    streams: Sequence[Iterator[tuple[Key, int]]], counted: Counted[Key], size: int
) -> tuple[dict[Key, int], int]:
    """The documents that share most in all parts together.

    Args:
        streams: for each part the documents and how many of its tokens they share, most first.
        counted: asks for some documents only.
        size: how many documents to give at most.

    Returns:
        How many tokens each of them shares; and the `floor` of `Sharing`.
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
    """What is known of each document that was met in any part."""

    def __init__(self, counted: Counted[Key]) -> None:
        self.met: dict[Key, dict[int, int]] = {}
        self.unmet = 0  # what a document that was met nowhere shares at most
        self._last: dict[int, int] = {}  # by part that has more: what its next document shares at most
        self._counted = counted

    def take(self, part: int, page: list[tuple[Key, int]], asked: int) -> None:
        """Go on with the next documents of a part; fewer than were asked for are the last."""
        for key, count in page:
            self.met.setdefault(key, {})[part] = count
        if len(page) < asked:
            self._last.pop(part, None)
        else:
            self._last[part] = page[-1][1]
        self.unmet = sum(self._last.values())

    def known(self, key: Key) -> int:
        """What a document shares for certain."""
        return sum(self.met[key].values())

    def most(self, key: Key) -> int:
        """What it shares at most."""
        return self.unmet + sum(count - self._last.get(part, 0) for part, count in self.met[key].items())

    def best(self, size: int) -> list[Key]:
        """The documents that share most for certain."""
        return nlargest(size, self.met, key=lambda key: (self.known(key), self.most(key)))

    def least(self, size: int) -> int:
        """What each of the best shares for certain; 0 if there are fewer."""
        found = nlargest(size, map(self.known, self.met))
        return found[-1] if len(found) == size else 0

    def make_certain(self, keys: Iterable[Key]) -> bool:
        """Ask for what is not known of these documents; whether there was anything."""
        some = list(keys)
        parts = list(self._last)
        unsure = [key for key in some if any(part not in self.met[key] for part in parts)]
        if not unsure:
            return False
        for part, counts in zip(parts, self._counted(parts, unsure), strict=True):
            for key in unsure:
                self.met[key].setdefault(part, counts.get(key, 0))
        return True
