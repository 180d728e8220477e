"""Candidate pairs: documents that share a band, unless their fingerprints rule the overlap out.

For each band, keys are sorted, and documents are paired inside runs of equal keys. Memory grows with the documents and
with the pairs that are kept, not with the pairs that are looked at.

A run of very many documents, such as texts from one template, is a flood. Its documents are compared with a few of
them, the anchors, not all with all, so the cost grows linearly. The comparisons that were not made are counted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from simdoc_search.analysis.distinct import distinct
from simdoc_search.duplicates.arrays import Ints, Keys, documents_of_pairs, is_among, pair_keys, run_starts
from simdoc_search.duplicates.bands import RECALL, plan_passes, rare_tokens
from simdoc_search.duplicates.fingerprint_table import FingerprintTable
from simdoc_search.duplicates.measures import Measure

RUN_LIMITS, _MAX_PAIRS = (64, 1000), 40_000_000
"""Least and greatest length of a run whose documents are all compared: all its pairs, 12 bytes each, fit in memory."""

ANCHORS = 16
"""Maximum number of documents of a flood with which all others of it are compared."""

_PAIRS_AT_ONCE = _KEYS_AT_ONCE = 1 << 20


@dataclass(frozen=True, slots=True, eq=False)
class JoinedPairs:
    """Pairs of documents that may overlap enough."""

    first: Ints  # the preferred document of each pair, whose number is smaller; int64, shape (pairs,)
    second: Ints  # the other document
    estimate: NDArray[np.float32]  # overlap estimated from the fingerprints; float32, 0..1
    looked_at: int  # number of pairs that were looked at
    flooded: Ints  # the documents of floods
    left_over: int  # number of comparisons in floods that were not made


def join(
    table: FingerprintTable,
    documents: Ints,
    measure: Measure,
    *,
    known: tuple[Ints, Ints] | None = None,
    new_from: int = 0,
    recall: Fraction = RECALL,
    progress: Callable[[float], None] = lambda _: None,
) -> JoinedPairs:
    """Find all pairs of documents (ascending) that may overlap enough, in the order of their numbers.

    Pairs that are `known`, in order, are not found again. The second document of a pair has at least the number
    `new_from`. A pair of exactly the least overlap is found with the probability `recall`.
    """
    pairs = _PairCollector(table, measure, known, new_from)
    passes = plan_passes(measure.least_jaccard, recall, table.buckets)
    for number, band_pass in enumerate(passes):
        selected = band_pass.select(table, documents)
        if band_pass.rows:
            all_keys = table.band_keys(selected, band_pass.rows, band_pass.bands)
            for band, keys in enumerate(all_keys, 1):
                pairs.add_equal_keys(keys, selected)
                progress((number + band / band_pass.bands) / len(passes))
        else:
            keys, owners = rare_tokens(table, selected, measure.least_jaccard, recall)
            parts = np.uint64(len(keys) // _KEYS_AT_ONCE + 1)
            for part in np.arange(parts):
                is_in_part = keys % parts == part
                pairs.add_equal_keys(keys[is_in_part], owners[is_in_part])
    progress(1.0)
    return pairs.result()


def run_limit(documents: int) -> int:
    """Return the greatest length of a run that is not a flood: 1,000 for up to 40,000 documents, 64 for millions."""
    least, most = RUN_LIMITS
    return min(most, max(least, _MAX_PAIRS // max(1, documents)))


class _PairCollector:
    """The pairs found so far, as keys of `pair_keys`."""

    def __init__(
        self, table: FingerprintTable, measure: Measure, known: tuple[Ints, Ints] | None, new_from: int
    ) -> None:
        self._table = table
        self._measure = measure
        self._known = pair_keys(*known) if known else np.zeros(0, np.uint64)
        self._new_from = new_from
        self._limit = run_limit(len(table.counts))
        self._number_bits = np.uint64(max(1, (len(table.counts) - 1).bit_length()))
        self._pending: list[Keys] = []  # not looked at yet
        self._pending_count = 0
        self._accepted: list[tuple[Keys, NDArray[np.float32]]] = []  # not in `_found` yet
        self._found: Keys = np.zeros(0, np.uint64)
        self._estimates = np.zeros(0, np.float32)
        self._is_flooded = np.zeros(len(table.counts), bool)
        self._looked_at = 0
        self._left_over = 0

    def add_equal_keys(self, keys: Keys, owners: Ints) -> None:
        """Pair the documents that have equal keys.

        Key and document number are sorted as one number, which is several times as fast as an argsort. The low bits of
        the keys are lost. If that makes two keys equal, one pair more is looked at.
        """
        entries = np.sort(keys >> self._number_bits << self._number_bits | owners.astype(np.uint64))
        documents = (entries & ((np.uint64(1) << self._number_bits) - np.uint64(1))).astype(np.int64)
        begins = run_starts(entries >> self._number_bits)
        ends = np.append(begins[1:], len(entries))[: len(begins)]
        lengths = ends - begins
        lengths[documents[ends - 1] < self._new_from] = 0  # the last document of a run has the greatest number
        for run in np.flatnonzero(lengths > self._limit):
            self._add_flood(documents[begins[run] : ends[run]])
        self._merge_accepted()
        lengths[lengths > self._limit] = 0
        after = np.repeat(begins + lengths, ends - begins) - np.arange(len(entries)) - 1
        at = np.flatnonzero(after > 0)
        for distance in range(1, self._limit):
            at = at[after[at] >= distance]
            if not len(at):
                break
            left = at[documents[at + distance] >= self._new_from]
            self._add(pair_keys(documents[left], documents[left + distance]))

    def result(self) -> JoinedPairs:
        """Return all pairs."""
        self._look_at_pending()
        first, second = documents_of_pairs(self._found)
        flooded = np.flatnonzero(self._is_flooded)
        return JoinedPairs(first, second, self._estimates, self._looked_at, flooded, self._left_over)

    def _add(self, pairs: Keys) -> None:
        self._pending.append(pairs)
        self._pending_count += len(pairs)
        if self._pending_count >= _PAIRS_AT_ONCE:
            self._look_at_pending()

    def _look_at_pending(self) -> None:
        if self._pending:
            pairs = distinct(np.concatenate(self._pending))
            self._pending, self._pending_count = [], 0
            self._look_at(pairs[~is_among(pairs, self._found) & ~is_among(pairs, self._known)])
            self._merge_accepted()

    def _look_at(self, pairs: Keys) -> Keys:
        """Accept the pairs that may overlap enough, and return them."""
        _, second = documents_of_pairs(pairs)
        pairs = pairs[second >= self._new_from]
        pairs = pairs[self._measure.sizes_fit(self._table, *documents_of_pairs(pairs))]
        self._looked_at += len(pairs)
        estimates, is_possible = self._measure.estimates(self._table, *documents_of_pairs(pairs))
        self._accepted.append((pairs[is_possible], estimates[is_possible].astype(np.float32)))
        return pairs[is_possible]

    def _merge_accepted(self) -> None:
        if self._accepted:
            pairs, estimates = (np.concatenate(parts) for parts in zip(*self._accepted, strict=True))
            pairs, estimates = np.append(self._found, pairs), np.append(self._estimates, estimates)
            order = np.argsort(pairs, kind="stable")
            order = order[run_starts(pairs[order])]
            self._found, self._estimates, self._accepted = pairs[order], estimates[order], []

    def _add_flood(self, run: Ints) -> None:
        """Compare all documents with the first; then those that are not near to it with the next one, and so on."""
        rest = self._pair_new_with_old(run)
        if len(rest) > self._limit:
            self._is_flooded[rest] = True
        for _ in range(ANCHORS):
            if len(rest) <= self._limit:
                break
            pairs = pair_keys(np.repeat(rest[:1], len(rest) - 1), rest[1:])
            is_found = is_among(pairs, self._found)
            accepted = self._look_at(pairs[~is_found & ~is_among(pairs, self._known)])
            rest = rest[1:][~is_found & ~is_among(pairs, accepted)]
        if len(rest) > self._limit:
            self._left_over += len(rest) * (len(rest) - 1) // 2
        else:
            at, other = np.triu_indices(len(rest), 1)
            self._add(pair_keys(rest[at], rest[other]))

    def _pair_new_with_old(self, run: Ints) -> Ints:
        """Pair the new documents of a run with the old ones, or with as many as cost no more than a short run.

        Returns:
            The new documents.
        """
        begin = np.searchsorted(run, self._new_from)
        old, new = run[:begin], run[begin:]
        compared = old[: max(ANCHORS, self._limit**2 // len(new))]
        self._add(pair_keys(np.repeat(compared, len(new)), np.tile(new, len(compared))))
        if len(compared) < len(old):
            self._is_flooded[new] = True
            self._left_over += (len(old) - len(compared)) * len(new)
        return new
