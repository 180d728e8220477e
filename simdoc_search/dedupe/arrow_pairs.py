"""The steps of `dedupe` that find and verify pairs, as functions of Arrow record batches; see `arrow_functions`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np

from simdoc_search.dedupe.arrow_functions import make_fingerprint_table
from simdoc_search.dedupe.formats import import_pyarrow
from simdoc_search.dedupe.options import DedupeOptions
from simdoc_search.duplicates.arrays import Bools, pair_keys, pairs_in_runs, run_starts
from simdoc_search.duplicates.clusters import assign_duplicates
from simdoc_search.duplicates.pairs import ANCHOR_COUNT, RUN_LIMIT_RANGE, JoinedPairs
from simdoc_search.duplicates.verification import PairOverlaps, Verifier


def pair_equal_keys(batches: Iterable[Any], *, only_across_datasets: bool = False) -> Iterator[Any]:
    """Yield the pairs of rows with an equal key.

    If more than 64 rows have the same key, each row is only paired with two of the most preferred rows. Each row of
    such a key is also yielded without a `second` row, so that you can pair it again if it is kept.

    Args:
        batches: record batches with the columns `key` and `rank`, sorted by both. They must contain all rows of each
            key.
        only_across_datasets: whether to pair only rows of different datasets. The first byte of a rank is then the
            number of the dataset, 0 or 1.

    Yields:
        Record batches with the columns `first` and `second`, which are ranks; `first` is more preferred. If `second` is
        null, `first` was not paired with all rows that have an equal key.
    """
    pa, limit = import_pyarrow(), RUN_LIMIT_RANGE[0]
    pending: Any = None
    long_key: int | None = None
    # `long_key` is the last key that had more than `limit` rows. The next batch may contain more of its rows.
    # `long_begin` contains its first rows, and `long_done` is the number of its rows so far.
    long_begin, long_done = None, 0
    for batch in chain(batches, [None]):
        parts = [part for part in (pending, batch) if part is not None and len(part)]
        pending = None
        if not parts:
            continue
        rows = pa.Table.from_batches(parts).combine_chunks().to_batches()[0]
        keys, ranks = rows.column("key").to_numpy(), rows.column("rank")
        begins = run_starts(keys)
        lengths = np.diff(np.append(begins, len(keys)))
        if batch is not None and lengths[-1] <= limit and keys[-1] != long_key:
            pending = rows.slice(int(begins[-1]))
            begins, lengths = begins[:-1], lengths[:-1]
        for run in np.flatnonzero((lengths > limit) | (keys[begins] == long_key)).tolist():
            members = ranks.slice(int(begins[run]), int(lengths[run]))
            if keys[begins[run]] != long_key:
                long_key, long_begin, long_done = int(keys[begins[run]]), members.slice(0, limit), 0
            yield from _pair_long_run(long_begin, members, long_done, only_across_datasets=only_across_datasets)
            long_done += len(members)
            lengths[run] = 0
        pairs = list(pairs_in_runs(begins, lengths))
        if pairs:
            first, second = (np.concatenate(positions) for positions in zip(*pairs, strict=True))
            yield _make_pairs(
                ranks.take(pa.array(first)), ranks.take(pa.array(second)), only_across_datasets=only_across_datasets
            )


def verify_pairs(batch: Any, options: DedupeOptions) -> Any:
    """Return the pairs that overlap enough, according to their texts.

    Args:
        batch: a record batch with the columns `first` and `second`, and for both rows of a pair the columns
            `first_shingles`, `first_tokens`, `first_text`, `second_shingles`, `second_tokens` and `second_text`.
        options: the options.

    Returns:
        A record batch with the columns `first`, `second` and `overlap`.
    """
    pa = import_pyarrow()

    def both(name: str) -> Any:
        return pa.concat_arrays([batch.column(f"first{name}"), batch.column(f"second{name}")])

    encoded = both("").dictionary_encode()
    numbers = encoded.indices.to_numpy().astype(np.int64)
    _, places = np.unique(numbers, return_index=True)
    texts, tokens = both("_text").take(pa.array(places)), both("_tokens").take(pa.array(places))
    table = make_fingerprint_table(tokens, both("_shingles").take(pa.array(places)), options)
    first, second = numbers[: len(batch)], numbers[len(batch) :]
    measure = options.overlap_measure
    fits = measure.sizes_fit(table, first, second)
    estimates, is_possible = measure.estimate(table, first[fits], second[fits])
    first, second = first[fits][is_possible], second[fits][is_possible]

    def read_texts(rows: Sequence[int]) -> Iterator[tuple[int, str]]:
        return ((row, texts[row].as_py()) for row in rows)

    verifier = Verifier(read_texts, options.settings.analysis, shingle_counts=table.shingle_counts)
    pairs = PairOverlaps(measure, verifier)
    none = np.zeros(0, np.int64)
    keys = pair_keys(first, second)
    order = np.argsort(keys)
    possible = estimates[is_possible][order].astype(np.float32)
    pairs.add(JoinedPairs(keys[order], possible, len(first), none, none, 0))
    found = np.flatnonzero(pairs.overlap_enough(np.arange(len(keys))))
    first, second = pairs.documents_of(found)
    ranks = encoded.dictionary
    return pa.RecordBatch.from_arrays(
        [
            ranks.take(pa.array(first)),
            ranks.take(pa.array(second)),
            pa.array(pairs.overlaps[found]),
        ],
        ["first", "second", "overlap"],
    )


def choose_kept(pairs: Any) -> Any:
    """Return the kept row of each duplicate.

    A row is a duplicate if it overlaps a kept row that is more preferred. Of several such rows, it belongs to the most
    preferred one.

    Args:
        pairs: a table with all pairs that `verify_pairs` returned.

    Returns:
        A table with the columns `first` (the kept row), `second` (the duplicate) and `overlap`.
    """
    pa = import_pyarrow()
    pairs = pa.table(pairs).sort_by([("first", "ascending"), ("second", "ascending")])
    firsts, seconds = (pairs.column(name).combine_chunks() for name in ("first", "second"))
    encoded = pa.concat_arrays([firsts, seconds]).dictionary_encode()
    order = np.argsort(encoded.dictionary.to_numpy(zero_copy_only=False))
    numbers = np.argsort(order)[encoded.indices.to_numpy()]
    keys = pair_keys(numbers[: len(firsts)], numbers[len(firsts) :])
    _, assigning = assign_duplicates(len(order), keys, lambda places: np.ones(len(places), bool))
    return pairs.take(pa.array(assigning))


def _pair_long_run(
    first_ranks: Any, member_ranks: Any, previous_row_count: int, *, only_across_datasets: bool
) -> Iterator[Any]:
    """Pair rows of a run with a few of its first rows. A run consists of all rows with an equal key.

    `first_ranks` are the ranks of the first rows, and `member_ranks` those of the rows to pair. The run has
    `previous_row_count` rows before them.
    """
    pa = import_pyarrow()
    positions = previous_row_count + np.arange(len(member_ranks))
    if only_across_datasets:
        left = len(first_ranks) - sum(_has_nonzero_first_byte(first_ranks))
        is_partly_paired = (positions >= len(first_ranks)) & ~_has_nonzero_first_byte(member_ranks)
        first, second = np.tile(np.arange(left), len(member_ranks)), np.repeat(np.arange(len(member_ranks)), left)
    else:
        is_partly_paired = np.ones(len(member_ranks), bool)
        first = np.concatenate((np.zeros(len(member_ranks), np.int64), 1 + positions % (ANCHOR_COUNT - 1)))
        second = np.tile(np.arange(len(member_ranks)), 2)
        first, second = first[is_later := first < positions[second]], second[is_later]
    yield _make_pairs(
        first_ranks.take(pa.array(first)),
        member_ranks.take(pa.array(second)),
        only_across_datasets=only_across_datasets,
    )
    partly_paired = member_ranks.filter(pa.array(is_partly_paired))
    yield pa.RecordBatch.from_arrays([partly_paired, pa.nulls(len(partly_paired), pa.binary())], ["first", "second"])


def _make_pairs(first: Any, second: Any, *, only_across_datasets: bool) -> Any:
    pa = import_pyarrow()
    pairs = pa.RecordBatch.from_arrays([first, second], ["first", "second"])
    return (
        pairs.filter(pa.array(_has_nonzero_first_byte(first) != _has_nonzero_first_byte(second)))
        if only_across_datasets
        else pairs
    )


def _has_nonzero_first_byte(ranks: Any) -> Bools:
    """For each rank, return whether its first byte is not 0; see `only_across_datasets` of `pair_equal_keys`."""
    return np.array([rank[0] != 0 for rank in ranks.to_pylist()], bool)
