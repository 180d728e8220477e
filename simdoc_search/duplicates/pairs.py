"""Which documents may overlap enough? Pairs that share a band, and whose fingerprints do not rule the overlap out.

Keys are sorted, and documents are paired inside runs of equal keys, band after band: memory grows with the documents
and with the pairs that stay, not with those that are looked at. In a run of very many, as of texts from one template,
they are compared with a few of them instead of all with all: a flood stays linear. What is near to one of these few is
paired with it; what is left over is counted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from simdoc_search.duplicates.bands import RECALL, passes, rare_tokens
from simdoc_search.duplicates.measures import Measure
from simdoc_search.duplicates.table import Ints, Keys, Table, distinct

RUN_LIMITS, _PAIRS = (64, 1000), 40_000_000
"""The longest run in which all are compared with all: so long that all pairs fit into memory, at 12 bytes each."""

ANCHORS = 16
"""Documents of a longer run with which the others are compared, one after the other."""

_PAIRS_AT_ONCE = _KEYS_AT_ONCE = 1 << 20
_32 = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)


@dataclass(frozen=True, slots=True, eq=False)
class Joined:
    """Pairs of documents that may overlap enough.

    Attributes:
        first: the document of each pair that is preferred, the one of the smaller number; int64, shape (pairs,).
        second: the other one.
        estimate: what their fingerprints estimate, by the measure that was asked for; float32, 0..1.
        looked_at: how many pairs were looked at.
        flooded: the documents that, in a long run, were compared with a few of it instead of all.
        left_over: how many comparisons in such runs were not made, of documents near to none of those few.
    """

    first: Ints
    second: Ints
    estimate: NDArray[np.float32]
    looked_at: int
    flooded: Ints
    left_over: int


def join(
    table: Table,
    who: Ints,
    measure: Measure,
    *,
    known: tuple[Ints, Ints] | None = None,
    fresh_from: int = 0,
    recall: Fraction = RECALL,
    progress: Callable[[float], None] = lambda _: None,
) -> Joined:
    """All pairs among some documents that may overlap enough, in the order of their numbers.

    Args:
        table: the fingerprints; who is preferred has the smaller number.
        who: the documents to pair, ascending.
        measure: what overlap means, and how much of it is asked for.
        known: pairs that are asked for no more, first and second documents, in order.
        fresh_from: only pairs whose second document has this number, or a greater one.
        recall: with which probability a pair of just that overlap is found; one that overlaps more with a greater.
        progress: called with the share of the work that is done, 0..1.
    """
    work = _Join(table, measure, known, fresh_from)
    planned = passes(measure.planned, recall, table.buckets)
    for number, each in enumerate(planned):
        sizes = table.shingles[who]
        some = who[(table.counts[who] > 0) & (sizes >= each.least) & (sizes <= each.most)]
        if not each.rows:
            keys, owners = rare_tokens(table, some, measure.planned, recall)
            parts = np.uint64(len(keys) // _KEYS_AT_ONCE + 1)
            for part in np.arange(parts):
                mine = keys % parts == part
                work.pair(keys[mine], owners[mine])
            continue
        for band, keys in enumerate(table.windows(some, each.rows, each.bands), 1):
            work.pair(keys, some)
            progress((number + band / each.bands) / len(planned))
    progress(1.0)
    return work.result()


def run_limit(documents: int) -> int:
    """The most documents with equal bands that are compared all with all: 1,000 of up to 40,000, 64 of millions."""
    least, most = RUN_LIMITS
    return min(most, max(least, _PAIRS // max(1, documents)))


class _Join:
    """Pairs as they are found; a pair is one number, its first document in the upper half."""

    def __init__(self, table: Table, measure: Measure, known: tuple[Ints, Ints] | None, fresh_from: int) -> None:
        self._table = table
        self._measure = measure
        self._known = _pairs(*known) if known else np.zeros(0, np.uint64)
        self._fresh_from = fresh_from
        self._limit = run_limit(len(table.counts))
        self._room = np.uint64(max(1, (len(table.counts) - 1).bit_length()))
        self._fresh: list[Keys] = []
        self._pending = 0
        self._near: list[tuple[Keys, NDArray[np.float32]]] = []
        self._kept: Keys = np.zeros(0, np.uint64)
        self._estimates = np.zeros(0, np.float32)
        self._flooded = np.zeros(len(table.counts), bool)
        self._looked_at = 0
        self._left_over = 0

    def pair(self, keys: Keys, owners: Ints) -> None:
        """Pair the documents that have equal keys; each key is of the document beside it.

        Key and document are sorted as one number, which is several times faster than sorting an order. What of a key
        finds no room is left out: two that are then equal only make one pair more to look at.
        """
        entries = np.sort(keys >> self._room << self._room | owners.astype(np.uint64))
        documents = (entries & ((np.uint64(1) << self._room) - np.uint64(1))).astype(np.int64)
        kinds = entries >> self._room
        begins = np.flatnonzero(np.concatenate(([True], kinds[1:] != kinds[:-1]))[: len(kinds)])
        lengths = np.diff(np.append(begins, len(kinds)))
        ends = begins + lengths
        lengths[documents[ends - 1] < self._fresh_from] = 0  # the last of a run has the greatest number
        for run in np.flatnonzero(lengths > self._limit):
            self._flood(documents[begins[run] : begins[run] + lengths[run]])
        self._keep()
        lengths[lengths > self._limit] = 0
        after = np.repeat(begins + lengths, ends - begins) - np.arange(len(kinds)) - 1
        at = np.flatnonzero(after > 0)
        for distance in range(1, self._limit):
            at = at[after[at] >= distance]
            if not len(at):
                break
            asked = at[documents[at + distance] >= self._fresh_from]
            self._add(_pairs(documents[asked], documents[asked + distance]))

    def result(self) -> Joined:
        """All pairs that stay."""
        self._look()
        first, second = _documents(self._kept)
        flooded = np.flatnonzero(self._flooded)
        return Joined(first, second, self._estimates, self._looked_at, flooded, self._left_over)

    def _add(self, pairs: Keys) -> None:
        self._fresh.append(pairs)
        self._pending += len(pairs)
        if self._pending >= _PAIRS_AT_ONCE:
            self._look()

    def _look(self) -> None:
        """Keep those of the fresh pairs that may overlap enough."""
        if self._fresh:
            fresh = distinct(np.concatenate(self._fresh))
            self._fresh, self._pending = [], 0
            self._judge(fresh[~_among(fresh, self._kept) & ~_among(fresh, self._known)])
            self._keep()

    def _judge(self, pairs: Keys) -> Keys:
        """Those of some pairs that may overlap enough, which are remembered."""
        pairs = pairs[pairs & _LOW >= self._fresh_from]
        pairs = pairs[self._measure.sizes_fit(self._table, *_documents(pairs))]
        self._looked_at += len(pairs)
        estimates, stay = self._measure.estimates(self._table, *_documents(pairs))
        self._near.append((pairs[stay], estimates[stay].astype(np.float32)))
        return pairs[stay]

    def _keep(self) -> None:
        if self._near:
            pairs, estimates = (np.concatenate(each) for each in zip(*self._near, strict=True))
            pairs, estimates = np.append(self._kept, pairs), np.append(self._estimates, estimates)
            order = np.argsort(pairs, kind="stable")
            order = order[np.concatenate(([True], np.diff(pairs[order]) != 0))[: len(order)]]
            self._kept, self._estimates, self._near = pairs[order], estimates[order], []

    def _flood(self, rest: Ints) -> None:
        """Of a long run: the first takes all that are near to it, then the first of the rest, and so on."""
        rest = self._with_settled(rest)
        if len(rest) > self._limit:
            self._flooded[rest] = True
        for _ in range(ANCHORS):
            if len(rest) <= self._limit:
                break
            pairs = _pairs(np.repeat(rest[:1], len(rest) - 1), rest[1:])
            near = _among(pairs, self._kept)
            fresh = pairs[~near & ~_among(pairs, self._known)]
            rest = rest[1:][~near & ~_among(pairs, self._judge(fresh))]
        if len(rest) > self._limit:
            self._left_over += len(rest) * (len(rest) - 1) // 2
        else:
            at, other = np.triu_indices(len(rest), 1)
            self._add(_pairs(rest[at], rest[other]))

    def _with_settled(self, run: Ints) -> Ints:
        """Compare the fresh ones of a run with the others, or with so many that it costs no more than a short run.

        Returns:
            The fresh ones.
        """
        begin = np.searchsorted(run, self._fresh_from)
        settled, fresh = run[:begin], run[begin:]
        some = settled[: max(ANCHORS, self._limit**2 // len(fresh))]
        self._add(_pairs(np.repeat(some, len(fresh)), np.tile(fresh, len(some))))
        if len(some) < len(settled):
            self._flooded[fresh] = True
            self._left_over += (len(settled) - len(some)) * len(fresh)
        return fresh


def _pairs(first: Ints, second: Ints) -> Keys:
    return first.astype(np.uint64) << _32 | second.astype(np.uint64)


def _documents(pairs: Keys) -> tuple[Ints, Ints]:
    return (pairs >> _32).astype(np.int64), (pairs & _LOW).astype(np.int64)


def _among(some: Keys, ordered: Keys) -> NDArray[np.bool_]:
    """Which of some numbers are among others, which are in order."""
    if not len(ordered):
        return np.zeros(len(some), bool)
    place = np.searchsorted(ordered, some)
    place[place == len(ordered)] = 0
    return np.asarray(ordered[place] == some)
