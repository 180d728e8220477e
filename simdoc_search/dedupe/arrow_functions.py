"""The steps of `dedupe` as functions of Arrow record batches, for Spark, Dask, Ray Data or DuckDB.

Call one function per step. After each step, process the result with the engine::

    Step  Function          Then, with the engine
    1     sketch_rows       group the rows by `words`, and keep one row of each group
    2     add_ranks
    3     make_band_keys    sort by `key` and `rank`, with all rows of a key in one partition
    4     pair_equal_keys   remove equal pairs, and join both rows of each pair by their ranks
    5     verify_pairs      choose the kept rows; see `choose_kept`

The functions of steps 1 to 3 and `verify_pairs` can be called with any part of the data. Those of steps 4 and 5 are in
`arrow_pairs`. `simdoc_search.spark` runs all of them on Spark.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simdoc_search.dedupe.chunks import COMPARED, ArrowChunk, Columns
from simdoc_search.dedupe.formats import import_pyarrow
from simdoc_search.dedupe.options import DedupeOptions
from simdoc_search.dedupe.rows import count_tokens_with_low_bits
from simdoc_search.dedupe.sketching import sketch_chunk
from simdoc_search.duplicates.arrays import Bools, Ints, Keys
from simdoc_search.duplicates.bands import table_band_keys, token_hashes_of_short_documents
from simdoc_search.duplicates.field_values import prefers_largest, sortable_values
from simdoc_search.duplicates.fingerprint_table import FingerprintTable

_MAX_32_BITS = 0xFFFFFFFF


def sketch_rows(batch: Any, options: DedupeOptions) -> Any:
    """Return the sketch of each row.

    Args:
        batch: a record batch with the column of texts, and the column that `options.keep` names, if any.
        options: the options. `text` must be set.

    Returns:
        A record batch with one row per input row, and these columns:

        - `words`, `text_hash`: hashes of the words and of the text, 16 bytes each. Both are null for a row that cannot
          be compared, for example because it has no words.
        - `preference`: bytes that order the rows by the column of `options.keep`. Lower bytes are preferred.
        - `shingles`: the number of distinct shingles.
        - `tokens`: the ids of the fingerprint tokens, as bytes.
        - `extensions`: for rows with few tokens, the lowest 32 bits of the hash of each token, as bytes.
    """
    pa = import_pyarrow()
    columns = Columns(options.text or "text", keep=options.rule.column)
    names = [name for name in (columns.text, columns.keep) if name is not None]
    selected = pa.RecordBatch.from_arrays([batch.column(name) for name in names], ["0", "1"][: len(names)])
    data = sketch_chunk(options.settings, None, ArrowChunk(selected, columns))
    rows = data.rows
    is_compared = rows["problem"] == COMPARED
    sort_keys = sortable_values(
        rows["keep_kind"], rows["keep"], data.keep_rule_strings, largest_first=prefers_largest(options.keep)
    )
    return pa.RecordBatch.from_pydict(
        {
            "words": _hashes_to_bytes(rows["words_hash"], is_compared),
            "text_hash": _hashes_to_bytes(rows["text_hash"], is_compared),
            "preference": pa.array(sort_keys, pa.binary()),
            "shingles": pa.array(rows["shingles"].astype(np.int64)),
            "tokens": _split_bytes(data.token_ids, rows["tokens"].astype(np.int64)),
            "extensions": _split_bytes(data.low_hash_bits, count_tokens_with_low_bits(rows["tokens"])),
        }
    )


def add_ranks(batch: Any, options: DedupeOptions) -> Any:
    """Return a record batch with an additional column `rank`. Rows with lower ranks are preferred.

    The ranks of rows with different words are different.

    Args:
        batch: a record batch with one row of each set of rows with the same words. It has the columns `preference`,
            `shingles` and `text_hash` of `sketch_rows`. The column `copies` is the number of rows in the set. The
            column `equal` is the number of rows in the set that have the same text as this row.
        options: the options.
    """
    pa = import_pyarrow()
    prefers_copies = options.keep == "longest" and options.measure == "jaccard"
    counts = ["copies", "shingles", "equal"] if prefers_copies else ["shingles", "equal"]
    inverted = [_MAX_32_BITS - np.minimum(_read_integers(batch, name), _MAX_32_BITS) for name in counts]
    packed = np.stack(inverted, axis=1).astype(">u4").tobytes()
    size = 4 * len(counts)
    ranks = [
        preference + packed[number * size : (number + 1) * size] + text_hash
        for number, (preference, text_hash) in enumerate(
            zip(batch.column("preference").to_pylist(), batch.column("text_hash").to_pylist(), strict=True)
        )
    ]
    return batch.append_column("rank", pa.array(ranks, pa.binary()))


def make_band_keys(batch: Any, options: DedupeOptions, frequencies: Mapping[int, int] | None = None) -> Any:
    """Return the keys of each row. Two rows that overlap enough share a key with a probability of 99.9 %.

    Args:
        batch: a record batch with the columns `rank`, `shingles`, `tokens` and `extensions`.
        options: the options.
        frequencies: how many rows have each frequent key of short texts; see `make_short_text_keys`. It must be the
            same for all batches.

    Returns:
        A record batch with the columns `key` (int64) and `rank`, with several rows per input row.
    """
    pa = import_pyarrow()
    frequent, counts = np.array([*(frequencies or {0: 0}).items()], np.int64).T
    frequent, counts = frequent.view(np.uint64), counts[np.argsort(frequent.view(np.uint64))]
    frequent = np.sort(frequent)

    def frequency_of(hashes: Keys) -> Ints:
        place = np.searchsorted(frequent, hashes)
        place[place == len(frequent)] = 0
        return np.where(frequent[place] == hashes, counts[place], 0)

    keys, owners = table_band_keys(_read_table(batch, options), options.overlap_measure.min_jaccard, frequency_of)
    return pa.RecordBatch.from_arrays(
        [pa.array(keys.view(np.int64)), batch.column("rank").take(pa.array(owners))], ["key", "rank"]
    )


def make_short_text_keys(batch: Any, options: DedupeOptions) -> Any:
    """Return the keys by which short texts can be paired, in a record batch with the column `key`.

    Count these keys in a sample of all rows, and pass the frequent keys to `make_band_keys`. Short texts are then
    paired by rare keys, not by keys that come from boilerplate.

    Args:
        batch: a record batch with the columns `shingles`, `tokens` and `extensions`.
        options: the options.
    """
    pa = import_pyarrow()
    hashes = token_hashes_of_short_documents(_read_table(batch, options), options.overlap_measure.min_jaccard)
    return pa.RecordBatch.from_arrays([pa.array(hashes.view(np.int64))], ["key"])


def _read_table(batch: Any, options: DedupeOptions) -> FingerprintTable:
    table = make_fingerprint_table(batch.column("tokens"), batch.column("shingles"), options)
    low_bits = _join_bytes(batch.column("extensions"))
    counts = count_tokens_with_low_bits(table.token_counts.astype(np.uint32))
    table.low_hash_bits = low_bits, np.cumsum(counts) - counts
    return table


def make_fingerprint_table(tokens: Any, shingles: Any, options: DedupeOptions) -> FingerprintTable:
    """Return the fingerprints in Arrow columns as a table."""
    counts = np.array([len(value) // 4 for value in tokens.to_pylist()], np.int64)
    sizes = shingles.to_numpy().astype(np.int64)
    return FingerprintTable(
        _join_bytes(tokens), np.cumsum(counts) - counts, counts, sizes, options.settings.sketch.slot_count
    )


def _join_bytes(values: Any) -> NDArray[np.uint32]:
    return np.frombuffer(b"".join(values.to_pylist()), np.uint32)


def _split_bytes(values: NDArray[np.uint32], counts: Ints) -> Any:
    """Return the values as an Arrow array of bytes. Each element contains the number of values that `counts` says."""
    pa = import_pyarrow()
    offsets = np.append(0, np.cumsum(4 * counts)).astype(np.int32)
    return pa.BinaryArray.from_buffers(pa.binary(), len(counts), [None, pa.py_buffer(offsets), pa.py_buffer(values)])


def _hashes_to_bytes(halves: NDArray[np.uint64], is_compared: Bools) -> Any:
    """Return each hash as 16 big-endian bytes, which sort like numbers; null for a row that is not compared.

    `halves` contains two numbers of 64 bits per hash.
    """
    data = halves.astype(">u8").tobytes()
    return import_pyarrow().array(
        [data[16 * row : 16 * row + 16] if given else None for row, given in enumerate(is_compared.tolist())],
        import_pyarrow().binary(),
    )


def _read_integers(batch: Any, name: str) -> Ints:
    numbers: Ints = batch.column(name).to_numpy().astype(np.int64)
    return numbers
