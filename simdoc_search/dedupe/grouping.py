"""Finds the kept row of each duplicate.

Rows with the same words are found by a hash of 128 bits. One row of each set with the same words represents the set.
Representatives with similar sketches are paired, and the texts of each pair are compared. Each duplicate was compared
with its kept row, so the groups are stars, not chains.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from simdoc_search.dedupe.ranking import RowRule
from simdoc_search.dedupe.rows import Rows, count_tokens_with_low_bits
from simdoc_search.duplicates.arrays import (
    AnyInts,
    Bools,
    Ints,
    is_run_start,
    release_memory,
    slices,
    to_smallest_dtype,
)
from simdoc_search.duplicates.clusters import UNASSIGNED
from simdoc_search.duplicates.finder import Assignment, Progress, find_and_assign
from simdoc_search.duplicates.fingerprint_table import FingerprintTable
from simdoc_search.duplicates.measures import Measure
from simdoc_search.duplicates.pairs import join
from simdoc_search.duplicates.verification import PairOverlaps, Verifier
from simdoc_search.sketch.settings import Settings
from simdoc_search.workers import ParallelMapper

_ROWS_AT_ONCE = 1 << 18
_CACHE_BYTES = 1 << 26  # a larger cache is not faster, because a row is mostly compared with rows of its group

KINDS = ("", "same text", "same words", "near", "evaluation")
KEPT, SAME_TEXT, SAME_WORDS, NEAR, EVALUATION = range(5)


@dataclass(slots=True)
class RowGroups:
    """The groups of duplicate rows. Each array has one value per row. The old rows (those of `against`) come first."""

    kept_rows: Ints  # the row that is kept instead; the row itself if it is kept. int64.
    overlaps: NDArray[np.float32]  # the overlap with the kept row, 0..1; float32
    # a position in `KINDS`; uint8. EVALUATION: the row shares a run of words with the evaluation set, and was not
    # compared.
    kinds: NDArray[np.uint8]
    partly_compared_row_count: int  # number of kept rows that were compared with only some of the similar rows
    skipped_comparison_count: int  # upper bound of the number of pairs that were not compared

    @property
    def duplicates(self) -> Ints:
        """The row numbers of the duplicates."""
        return np.flatnonzero((self.kinds != KEPT) & (self.kinds != EVALUATION))


def group_rows(
    rows: Rows,
    rule: RowRule,
    measure: Measure,
    settings: Settings,
    workers: ParallelMapper,
    *,
    old_row_count: int = 0,
    progress: Progress = lambda _stage, _share: None,
) -> RowGroups:
    """Find the kept row of each duplicate.

    The old rows, which are those of the dataset `against`, come first, and are never duplicates.
    """
    has_run = rows.column("run_bytes") > 0
    has_run[:old_row_count] = False
    labels = _label_rows_by_words(rows, (rows.column("tokens") > 0) & ~has_run)
    representatives = _find_representatives(labels, rule.order(rows, labels, old_row_count))
    numbers = _find_representative_numbers(labels, representatives)
    del labels
    assigned = _assign(
        rows, representatives, measure, settings, workers, old_row_count=old_row_count, progress=progress
    )
    kept_row, overlap = np.arange(len(rows)), np.ones(len(rows), np.float32)
    is_partly_compared = np.zeros(len(rows), bool)
    for part in slices(len(rows), _ROWS_AT_ONCE):
        compared = part.start + np.flatnonzero(numbers[part] != UNASSIGNED)
        number = numbers[compared]
        kept_number = assigned.kept_document_of[number]
        kept_row[compared] = representatives[np.where(kept_number == UNASSIGNED, number, kept_number)]
        overlap[compared] = assigned.overlaps[number]
        is_partly_compared[compared] = assigned.is_partly_compared[number]
    kept_row[:old_row_count] = np.arange(old_row_count)
    skipped_comparison_count = assigned.skipped_comparison_count
    del assigned, representatives
    kind = _find_kinds(rows, numbers, kept_row)
    kind[has_run] = EVALUATION
    partly_compared_count = int(np.count_nonzero(is_partly_compared & (kind == KEPT)))
    return RowGroups(kept_row, overlap, kind, partly_compared_count, skipped_comparison_count)


def _assign(
    rows: Rows,
    representatives: AnyInts,
    measure: Measure,
    settings: Settings,
    workers: ParallelMapper,
    *,
    old_row_count: int,
    progress: Progress,
) -> Assignment:
    """Assign each duplicate among the representatives to its kept representative."""
    table = FingerprintTable(
        rows.token_ids,
        _find_begins(rows.column("tokens"))[representatives],
        to_smallest_dtype(rows.column("tokens"))[representatives],
        rows.column("shingles")[representatives],
        settings.sketch.slot_count,
        (rows.low_hash_bits, _find_begins(count_tokens_with_low_bits(rows.column("tokens")))[representatives]),
    )
    first_new_index = int(np.count_nonzero(representatives < old_row_count))

    def read_texts(numbers: Sequence[int]) -> Iterator[tuple[int, str]]:
        return zip(numbers, rows.texts(representatives[numbers]), strict=True)

    verifier = Verifier(
        read_texts, settings.analysis, _CACHE_BYTES, shingle_counts=table.shingle_counts, workers=workers
    )
    assigned = find_and_assign(
        len(representatives),
        np.arange(len(representatives), dtype=np.int32),
        PairOverlaps(measure, verifier),
        partial(join, table, measure=measure, first_new_index=first_new_index),
        progress,
    )
    release_memory(rows.token_ids)
    release_memory(rows.low_hash_bits)
    return assigned


def _find_begins(counts: AnyInts) -> AnyInts:
    """Return where the values of each row begin."""
    begins = np.cumsum(counts, dtype=np.int64)
    begins -= counts
    return to_smallest_dtype(begins)


def _label_rows_by_words(rows: Rows, is_compared: Bools) -> NDArray[np.int32]:
    """Return a number per row, equal for rows with the same words; UNASSIGNED for rows that are not compared."""
    compared = np.flatnonzero(is_compared).astype(np.int32)
    first = rows.column("words_hash", 0)[compared]
    order = np.argsort(first).astype(np.int32)
    first = first[order]
    is_new = is_run_start(first)
    # Sort the rows with the same first half of the hash by the second half.
    is_shared = ~is_new
    is_shared[:-1] |= ~is_new[1:]
    shared = np.flatnonzero(is_shared)
    second = rows.column("words_hash", 1)[compared[order[shared]]]
    by_second = np.lexsort((second, first[shared]))
    order[shared], second = order[shared[by_second]], second[by_second]
    is_new[shared[1:]] |= second[1:] != second[:-1]
    labels = np.full(len(is_compared), UNASSIGNED, np.int32)
    labels[compared[order]] = np.cumsum(is_new, dtype=np.int32) - 1
    return labels


def _find_representatives(labels: NDArray[np.int32], order: AnyInts) -> AnyInts:
    """Return the most preferred row of each set of rows with the same words, in the order of preference."""
    order = order[labels[order] != UNASSIGNED]
    first_position = np.empty(int(labels.max(initial=-1)) + 1, np.int32)
    # Of several values for a label, the last one is stored.
    first_position[labels[order[::-1]]] = np.arange(len(order), dtype=np.int32)[::-1]
    first_position.sort()
    return order[first_position]


def _find_representative_numbers(labels: NDArray[np.int32], representatives: AnyInts) -> NDArray[np.int32]:
    """Return for each row the position of its representative; UNASSIGNED for rows that are not compared."""
    number_of_label = np.full(len(representatives) + 1, UNASSIGNED, np.int32)
    number_of_label[labels[representatives]] = np.arange(len(representatives), dtype=np.int32)
    return number_of_label[labels]  # the label of a row that is not compared selects the last element


def _find_kinds(rows: Rows, numbers: NDArray[np.int32], kept_row: Ints) -> NDArray[np.uint8]:
    duplicates = np.flatnonzero(kept_row != np.arange(len(kept_row), dtype=np.int32))
    kept = kept_row[duplicates]
    has_same_text = np.ones(len(duplicates), bool)
    for half in (0, 1):
        hashes = rows.column("text_hash", half)
        has_same_text &= hashes[duplicates] == hashes[kept]
    has_same_words = numbers[duplicates] == numbers[kept]
    kind = np.full(len(kept_row), KEPT, np.uint8)
    kind[duplicates] = np.where(has_same_text, SAME_TEXT, np.where(has_same_words, SAME_WORDS, NEAR))
    return kind
