"""Finds candidate pairs in memory.

The two documents of a pair have a band key in common, and their fingerprints do not rule out the minimum overlap.
The keys of each band are sorted, and documents in a run of equal keys are paired. Memory grows with the number of
documents and of accepted pairs, not with the number of compared pairs.

A run can be longer than `choose_run_limit`, for example if many texts come from one template. The documents of such a
long run are only compared with a few documents of the run, called anchors. So the cost grows linearly.
`JoinedPairs.skipped_comparison_count` counts the comparisons that were not made.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simdoc_search.analysis.distinct import distinct
from simdoc_search.duplicates.arrays import (
    AnyInts,
    Bools,
    Ints,
    Keys,
    insert_at,
    is_in_sorted,
    pair_keys,
    pairs_in_runs,
    run_starts,
    slices,
    split_pair_keys,
    to_smallest_dtype,
)
from simdoc_search.duplicates.bands import choose_rarest_tokens, plan_passes, uses_low_bits
from simdoc_search.duplicates.fingerprint_table import FingerprintTable
from simdoc_search.duplicates.key_files import regroup_by_key
from simdoc_search.duplicates.measures import Measure

RUN_LIMIT_RANGE, _TARGET_PAIRS_PER_BAND = (64, 1000), 40_000_000
"""Minimum and maximum result of `choose_run_limit`. Above the minimum, it is chosen so that the runs of a band have at
most _TARGET_PAIRS_PER_BAND pairs, of 12 bytes each."""

ANCHOR_COUNT = 16
"""Maximum number of anchors, the documents that all other documents of a long run are compared with. New documents are
compared with at least this many old ones."""

_PAIRS_AT_ONCE = 1 << 22
_PAIRS_IN_CACHE, _KEYS_IN_CACHE = 1 << 18, 1 << 16


@dataclass(frozen=True, slots=True, eq=False)
class JoinedPairs:
    """Pairs of documents that may overlap enough."""

    # the pairs, encoded by `pair_keys` and ascending; the first document of a pair is the preferred one, which has the
    # smaller position
    keys: Keys
    estimates: NDArray[np.float32]  # the overlap of each pair, estimated from the fingerprints; float32, 0..1
    compared_count: int  # number of pairs that were compared
    partly_compared_documents: Ints  # documents that were not compared with all of their candidates
    # documents that were not compared with all others of a long run, because they may overlap an anchor
    postponed_documents: Ints
    skipped_comparison_count: int  # number of comparisons that were not made

    @property
    def first(self) -> Ints:
        """The preferred document of each pair; int64, shape (pairs,)."""
        return split_pair_keys(self.keys)[0]

    @property
    def second(self) -> Ints:
        """The other document of each pair; int64, shape (pairs,)."""
        return split_pair_keys(self.keys)[1]


def join(
    table: FingerprintTable,
    documents: AnyInts,
    measure: Measure,
    *,
    known_pairs: Keys | None = None,
    compared_documents: AnyInts | None = None,
    first_new_index: int = 0,
    progress: Callable[[float], None] = lambda _: None,
) -> JoinedPairs:
    """Find all pairs of documents that may overlap enough. The pairs are sorted by the first, then the second document.

    The pairs in `known_pairs`, encoded by `pair_keys` and ascending, are omitted. The index of the second document of
    each pair is at least `first_new_index`. If `compared_documents` is given, each pair contains at least one of these
    documents.
    """
    pairs = _PairCollector(table, measure, known_pairs, compared_documents, first_new_index)
    in_storage_order = to_smallest_dtype(documents)[table.storage_order(documents)]
    passes = plan_passes(measure.min_jaccard, table.bucket_count)
    for number, banding_pass in enumerate(passes):
        selected = banding_pass.select(table, in_storage_order)
        if banding_pass.rows_per_band:
            all_keys = table.band_keys(
                selected,
                banding_pass.rows_per_band,
                banding_pass.band_count,
                with_low_bits=uses_low_bits(table, banding_pass),
            )
            for band, keys in enumerate(all_keys, 1):
                pairs.add_equal_keys(keys, selected)
                progress((number + band / banding_pass.band_count) / len(passes))
        else:
            chosen = choose_rarest_tokens(table, selected, measure.min_jaccard)
            for keys, documents_of_keys in regroup_by_key(chosen, int(table.token_counts[selected].sum())):
                pairs.add_equal_keys(keys, documents_of_keys)
    progress(1.0)
    return pairs.result()


def choose_run_limit(document_count: int) -> int:
    """Return the maximum length of a run in which all pairs are compared.

    It is 1,000 for up to 40,000 documents, and 64 for millions.
    """
    min_limit, max_limit = RUN_LIMIT_RANGE
    return min(max_limit, max(min_limit, _TARGET_PAIRS_PER_BAND // max(1, document_count)))


class _PairCollector:
    """Collects pairs, encoded by `pair_keys`."""

    def __init__(
        self,
        table: FingerprintTable,
        measure: Measure,
        known_pairs: Keys | None,
        compared_documents: AnyInts | None,
        first_new_index: int,
    ) -> None:
        self._table = table
        self._measure = measure
        self._known_pairs = np.zeros(0, np.uint64) if known_pairs is None else known_pairs
        self._first_new_index = first_new_index
        self._limit = choose_run_limit(len(table.token_counts))
        self._document_number_bits = np.uint64(max(1, (len(table.token_counts) - 1).bit_length()))
        self._pending_pairs: list[Keys] = []  # pairs that are not compared yet
        self._pending_count = 0
        # accepted pairs that are not in `_found_pairs` yet, and their estimates
        self._accepted_pairs: list[tuple[Keys, NDArray[np.float32]]] = []
        self._found_pairs: Keys = np.zeros(0, np.uint64)
        self._estimates = np.zeros(0, np.float32)
        self._is_compared: Bools | None = None  # None if all pairs are compared
        if compared_documents is not None:
            self._is_compared = np.zeros(len(table.token_counts), bool)
            self._is_compared[compared_documents] = True
        self._is_partly_compared = np.zeros(len(table.token_counts), bool)
        self._is_postponed = np.zeros(len(table.token_counts), bool)
        self._compared_count = 0
        self._skipped_comparisons = 0

    def add_equal_keys(self, keys: Keys, documents_of_keys: AnyInts) -> None:
        """Pair the documents that have equal keys. The keys are overwritten, to save memory.

        Each key and its document index are sorted as one number, which is several times as fast as an argsort. The
        low bits of the keys are lost. If two different keys become equal, additional pairs are compared.
        """
        entries = keys
        for part in slices(len(entries), _KEYS_IN_CACHE):
            numbers = entries[part] >> self._document_number_bits << self._document_number_bits
            entries[part] = numbers | documents_of_keys[part].astype(np.uint64)
        entries.sort()
        # Most keys occur in only one document, so they yield no pairs. Drop them here to save memory.
        is_in_run = np.zeros(len(entries), bool)
        for part in slices(len(entries) - 1, _KEYS_IN_CACHE):
            numbers = entries[part.start : part.stop + 1] >> self._document_number_bits
            is_equal = numbers[1:] == numbers[:-1]
            is_in_run[part.start + 1 : part.start + 1 + len(is_equal)] = is_equal
            is_in_run[part.start : part.start + len(is_equal)] |= is_equal
        entries = entries[is_in_run]
        if not len(entries):
            return
        documents = (entries & ((np.uint64(1) << self._document_number_bits) - np.uint64(1))).astype(np.int64)
        begins = run_starts(entries >> self._document_number_bits)
        ends = np.append(begins[1:], len(entries))[: len(begins)]
        lengths = ends - begins
        # The last document of a run has the greatest index. If it is not new, no document of the run is new, so the run
        # is skipped.
        lengths[documents[ends - 1] < self._first_new_index] = 0
        if self._is_compared is not None:
            lengths[~np.logical_or.reduceat(self._is_compared[documents], begins)] = 0
        for run in np.flatnonzero(lengths > self._limit):
            self._add_long_run(documents[begins[run] : ends[run]])
        self._merge_accepted_pairs()
        lengths[lengths > self._limit] = 0
        for first_positions, second_positions in pairs_in_runs(begins, lengths):
            first, second = documents[first_positions], documents[second_positions]
            is_needed = second >= self._first_new_index
            if self._is_compared is not None:
                is_needed &= self._is_compared[first] | self._is_compared[second]
            self._add(pair_keys(first[is_needed], second[is_needed]))

    def result(self) -> JoinedPairs:
        self._compare_pending_pairs()
        return JoinedPairs(
            self._found_pairs,
            self._estimates,
            self._compared_count,
            np.flatnonzero(self._is_partly_compared),
            np.flatnonzero(self._is_postponed),
            self._skipped_comparisons,
        )

    def _add(self, pairs: Keys) -> None:
        self._pending_pairs.append(pairs)
        self._pending_count += len(pairs)
        if self._pending_count >= _PAIRS_AT_ONCE:
            self._compare_pending_pairs()

    def _compare_pending_pairs(self) -> None:
        if self._pending_pairs:
            pairs = distinct(np.concatenate(self._pending_pairs))
            self._pending_pairs, self._pending_count = [], 0
            self._compare(pairs[~is_in_sorted(pairs, self._found_pairs) & ~is_in_sorted(pairs, self._known_pairs)])
            self._merge_accepted_pairs()

    def _compare(self, pairs: Keys) -> Keys:
        """Compare pairs by their fingerprints. Accepts the pairs that may overlap enough, and returns them."""
        accepted = [pairs[:0]]
        for part in slices(len(pairs), _PAIRS_IN_CACHE):
            first, second = split_pair_keys(pairs[part])
            is_possible = (second >= self._first_new_index) & self._measure.sizes_fit(self._table, first, second)
            first, second = first[is_possible], second[is_possible]
            self._compared_count += len(first)
            estimates, is_possible = self._measure.estimate(self._table, first, second)
            accepted.append(pair_keys(first[is_possible], second[is_possible]))
            self._accepted_pairs.append((accepted[-1], estimates[is_possible].astype(np.float32)))
        return np.concatenate(accepted)

    def _merge_accepted_pairs(self) -> None:
        if self._accepted_pairs:
            pairs, estimates = (np.concatenate(parts) for parts in zip(*self._accepted_pairs, strict=True))
            self._accepted_pairs = []
            if not (pairs[1:] > pairs[:-1]).all():  # several long runs were compared
                order = np.argsort(pairs, kind="stable")
                order = order[run_starts(pairs[order])]
                pairs, estimates = pairs[order], estimates[order]
            is_new = ~is_in_sorted(pairs, self._found_pairs)
            if not is_new.all():
                pairs, estimates = pairs[is_new], estimates[is_new]
            place = np.searchsorted(self._found_pairs, pairs)
            place += np.arange(len(place))
            self._found_pairs = insert_at(place, pairs, self._found_pairs)
            self._estimates = insert_at(place, estimates, self._estimates)

    def _add_long_run(self, run: Ints) -> None:
        """Compare the documents of a run with anchors: up to `ANCHOR_COUNT` documents that do not overlap each other.

        Each anchor is compared with all documents that do not overlap an earlier anchor. If few documents are left in
        the end, all pairs of these are compared.
        """
        if self._is_compared is not None:
            self._pair_with_long_run(run[self._is_compared[run]], run)
            return
        rest = self._pair_new_with_old(run)
        if len(rest) > self._limit:
            self._is_partly_compared[rest] = True
        for _ in range(ANCHOR_COUNT):
            if len(rest) <= self._limit:
                break
            pairs = pair_keys(np.repeat(rest[:1], len(rest) - 1), rest[1:])
            is_found = is_in_sorted(pairs, self._found_pairs)
            accepted = self._compare(pairs[~is_found & ~is_in_sorted(pairs, self._known_pairs)])
            may_overlap = is_found | is_in_sorted(pairs, accepted)
            self._is_postponed[rest[1:][may_overlap]] = True
            rest = rest[1:][~may_overlap]
        if len(rest) > self._limit:
            self._skipped_comparisons += len(rest) * (len(rest) - 1) // 2
        else:
            first, second = np.triu_indices(len(rest), 1)
            self._add(pair_keys(rest[first], rest[second]))

    def _pair_with_long_run(self, documents: Ints, run: Ints) -> None:
        """Pair documents of a long run with all documents of the run. At most `_limit`**2 pairs are compared."""
        compared = documents[: max(1, self._limit**2 // len(run))]
        first, second = np.repeat(compared, len(run)), np.tile(run, len(compared))
        keys = pair_keys(np.minimum(first, second), np.maximum(first, second))
        self._add(keys[first != second])
        self._is_partly_compared[run] = True
        self._skipped_comparisons += (len(documents) - len(compared)) * len(run)

    def _pair_new_with_old(self, run: Ints) -> Ints:
        """Pair the new documents of a run with the old ones. In a long run, only the first old ones are paired.

        Returns:
            The new documents.
        """
        begin = np.searchsorted(run, self._first_new_index)
        old, new = run[:begin], run[begin:]
        compared = old[: max(ANCHOR_COUNT, self._limit**2 // len(new))]
        self._add(pair_keys(np.repeat(compared, len(new)), np.tile(new, len(compared))))
        if len(compared) < len(old):
            self._is_partly_compared[new] = True
            self._skipped_comparisons += (len(old) - len(compared)) * len(new)
        return new
