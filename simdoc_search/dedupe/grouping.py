"""Finds the kept row of each duplicate.

Rows with the same words are found by a hash of 128 bits. One row of each set with the same words represents the set.
Representatives with similar sketches are paired, and the texts of each pair are compared. Each duplicate was compared
with its kept row, so the groups are stars, not chains.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from simdoc_search.dedupe.ranking import RowRule
from simdoc_search.dedupe.rows import Rows, count_tokens_with_low_bits
from simdoc_search.duplicates.arrays import Bools, Ints, release_memory
from simdoc_search.duplicates.clusters import UNASSIGNED
from simdoc_search.duplicates.finder import Progress, find_and_assign
from simdoc_search.duplicates.fingerprint_table import FingerprintTable
from simdoc_search.duplicates.measures import Measure
from simdoc_search.duplicates.pairs import JoinedPairs, join
from simdoc_search.duplicates.verification import PairOverlaps, Verifier
from simdoc_search.sketch.settings import Settings
from simdoc_search.workers import ParallelMapper

_CACHE_BYTES = 1 << 26  # a larger cache is not faster, because a row is mostly compared with rows of its group

KINDS = ("", "same text", "same words", "near", "evaluation")
KEPT, SAME_TEXT, SAME_WORDS, NEAR, EVALUATION = range(5)


@dataclass(slots=True)
class RowGroups:
    """The groups of duplicate rows. Each array has one value per row. The old rows (those of `against`) come first.

    Attributes:
        kept_row: the row that is kept instead; the row itself if it is kept. int64.
        overlap: the overlap with the kept row, 0..1; float32.
        kind: a position in `KINDS`; uint8. EVALUATION: the row shares a run of words with the evaluation set,
            and was not compared.
        partly_compared_row_count: number of kept rows that were compared with only some of the similar rows.
        skipped_comparison_count: upper bound of the number of pairs that were not compared.
    """

    kept_row: Ints
    overlap: NDArray[np.float32]
    kind: NDArray[np.uint8]
    partly_compared_row_count: int
    skipped_comparison_count: int

    @property
    def duplicates(self) -> Ints:
        """The row numbers of the duplicates."""
        return np.flatnonzero((self.kind != KEPT) & (self.kind != EVALUATION))


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

    Args:
        rows: all rows.
        rule: chooses the kept row.
        measure: the measure of overlap, and the minimum overlap.
        settings: the settings of the sketches.
        workers: compares the texts.
        old_row_count: the number of old rows, which are those of the dataset `against`. They come first, and are never
            duplicates.
        progress: see `Progress`.
    """
    has_run = rows.table["run_bytes"] > 0
    has_run[:old_row_count] = False
    is_compared = (rows.table["tokens"] > 0) & ~has_run
    labels = _label_words(rows.table["words_hash"], is_compared)
    order = rule.order(rows, labels, old_row_count)
    representatives = _find_representatives(labels, order, is_compared)
    number_of_row = np.full(len(rows), UNASSIGNED, np.int32)
    number_of_row[representatives] = np.arange(len(representatives), dtype=np.int32)
    first_of_label = np.full(int(labels.max(initial=-1)) + 1, UNASSIGNED, np.int32)
    first_of_label[labels[representatives]] = number_of_row[representatives]
    del order, number_of_row
    counts = rows.table["tokens"].astype(np.int64)
    begins = _find_begins(counts)
    table = FingerprintTable(
        rows.token_ids,
        begins[representatives],
        counts[representatives],
        rows.table["shingles"][representatives].astype(np.int64),
        settings.sketch.slot_count,
        (rows.low_hash_bits, _find_begins(count_tokens_with_low_bits(rows.table["tokens"]))[representatives]),
    )
    del begins, counts
    first_new_index = int(np.count_nonzero(representatives < old_row_count))

    def read_texts(numbers: Sequence[int]) -> Iterator[tuple[int, str]]:
        return ((number, rows.text(int(representatives[number]))) for number in numbers)

    verifier = Verifier(
        read_texts, settings.analysis, _CACHE_BYTES, shingle_counts=table.shingle_counts, workers=workers
    )
    assigned = find_and_assign(
        len(representatives),
        np.arange(len(representatives)),
        PairOverlaps(measure, verifier),
        partial(_find_pairs, table, measure, first_new_index),
        progress,
    )
    release_memory(rows.token_ids)
    kept_number = np.where(
        assigned.kept_document_of == UNASSIGNED, np.arange(len(representatives)), assigned.kept_document_of
    )
    compared = np.flatnonzero(is_compared)
    number_of = first_of_label[labels[compared]]
    kept_row = np.arange(len(rows))
    kept_row[compared] = representatives[kept_number[number_of]]
    kept_row[:old_row_count] = np.arange(old_row_count)
    overlap = np.ones(len(rows), np.float32)
    overlap[compared] = assigned.overlap[number_of]
    is_partly_compared = np.zeros(len(rows), bool)
    is_partly_compared[compared] = assigned.is_partly_compared[number_of]
    kind = _find_kinds(rows, labels, kept_row)
    kind[has_run] = EVALUATION
    partly_compared_count = int(np.count_nonzero(is_partly_compared & (kind == KEPT)))
    return RowGroups(kept_row, overlap, kind, partly_compared_count, assigned.skipped_comparison_count)


def _find_begins(counts: Ints) -> Ints:
    """Return where the values of each row begin."""
    begins: Ints = np.cumsum(counts) - counts
    return begins


def _find_pairs(
    table: FingerprintTable,
    measure: Measure,
    first_new_index: int,
    documents: Ints,
    *,
    known_pairs: tuple[Ints, Ints],
    progress: Callable[[float], None],
) -> JoinedPairs:
    return join(table, documents, measure, known_pairs=known_pairs, first_new_index=first_new_index, progress=progress)


def _label_words(hashes: NDArray[np.uint64], is_compared: Bools) -> Ints:
    """Return a number per row, equal for rows with the same words; UNASSIGNED for rows that are not compared."""
    compared = np.flatnonzero(is_compared)
    first, second = np.ascontiguousarray(hashes[compared, 0]), np.ascontiguousarray(hashes[compared, 1])
    order = np.lexsort((second, first))
    is_new = np.ones(len(order), bool)
    is_new[1:] = (np.diff(first[order]) != 0) | (np.diff(second[order]) != 0)
    labels = np.full(len(is_compared), UNASSIGNED, np.int64)
    labels[compared[order]] = np.cumsum(is_new) - 1
    return labels


def _find_representatives(labels: Ints, order: Ints, is_compared: Bools) -> Ints:
    """Return the most preferred row of each set of rows with the same words, in the order of preference."""
    order = order[is_compared[order]]
    first_position = np.full(int(labels.max(initial=-1)) + 1, len(order), np.int64)
    np.minimum.at(first_position, labels[order], np.arange(len(order)))
    return order[np.sort(first_position)]


def _find_kinds(rows: Rows, labels: Ints, kept_row: Ints) -> NDArray[np.uint8]:
    numbers = np.flatnonzero(kept_row != np.arange(len(kept_row)))
    kept = kept_row[numbers]
    text_hash = rows.table["text_hash"]
    has_same_text = (text_hash[numbers] == text_hash[kept]).all(axis=1)
    kind = np.full(len(kept_row), KEPT, np.uint8)
    kind[numbers] = np.where(has_same_text, SAME_TEXT, np.where(labels[numbers] == labels[kept], SAME_WORDS, NEAR))
    return kind
