"""Deduplicate a Parquet file with Dask. Ray Data and other engines call the same functions in the same way.

    pip install . dask pyarrow
    python examples/with_dask.py data.parquet text kept.parquet

Dask fingerprints, pairs and compares the texts in its workers. The texts and their fingerprints, about 1 kB each, must
fit in the memory of this process. With `simdoc_search.spark`, they need not.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import dask
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet

from simdoc_search.dedupe import DedupeOptions
from simdoc_search.dedupe.arrow_functions import add_ranks, make_band_keys, sketch_rows
from simdoc_search.dedupe.arrow_pairs import choose_kept, pair_equal_keys, verify_pairs

ROWS_AT_ONCE, PARTITIONS = 2000, 8
PAIRS = pa.schema([("first", pa.binary()), ("second", pa.binary())])


def dedupe(table: pa.Table, options: DedupeOptions) -> pa.Table:
    """Return the kept rows of a table."""
    rows = map_batches(partial(sketch_rows, options=options), table)
    rows = rows.append_column("row", pa.array(range(len(rows)))).append_column("text", table.column(options.text))
    rows = rows.filter(pc.field("words").is_valid())  # other rows have no words, and are kept
    kept = map_batches(partial(add_ranks, options=options), choose_by_words(rows))
    keys = map_batches(partial(make_band_keys, options=options), kept)
    pairs = run(pair, partition(keys))
    pairs = pairs.filter(pc.field("second").is_valid()).group_by(["first", "second"]).aggregate([])
    for side in ("first", "second"):
        place = pc.index_in(pairs.column(side), kept.column("rank"))
        for name in ("shingles", "tokens", "text"):
            pairs = pairs.append_column(f"{side}_{name}", kept.column(name).take(place))
    duplicates = choose_kept(map_batches(partial(verify_pairs, options=options), pairs)).column("second")
    kept = kept.filter(pc.invert(pc.is_in(kept.column("rank"), duplicates.combine_chunks())))
    removed = set(rows.column("row").to_pylist()) - set(kept.column("row").to_pylist())
    return table.filter(pa.array([row not in removed for row in range(len(table))]))


def map_batches(function: Callable[[Any], Any], table: pa.Table) -> pa.Table:
    """Apply a function to parts of a table."""
    return run(function, table.combine_chunks().to_batches(ROWS_AT_ONCE))


def run(function: Callable[[Any], Any], batches: list[Any]) -> pa.Table:
    """Apply a function to each record batch, in the workers."""
    return pa.Table.from_batches(dask.compute(*map(dask.delayed(function), batches), scheduler="processes"))


def partition(keys: pa.Table) -> list[Any]:
    """Return record batches that are sorted by key. All rows of a key are in the same one."""
    number = pc.bit_wise_and(keys.column("key"), PARTITIONS - 1)
    parts = [keys.filter(pc.equal(number, part)) for part in range(PARTITIONS)]
    sorted_parts = [part.sort_by([("key", "ascending"), ("rank", "ascending")]) for part in parts]
    return [batch for part in sorted_parts for batch in part.combine_chunks().to_batches()]


def choose_by_words(rows: pa.Table) -> pa.Table:
    """Return the most preferred row of each set of rows with the same words, and the sizes that `add_ranks` needs."""
    equal = rows.group_by("text_hash").aggregate([("row", "count")]).rename_columns(["text_hash", "equal"])
    copies = rows.group_by("words").aggregate([("row", "count")]).rename_columns(["words", "copies"])
    sized = rows.select(["row", "words", "text_hash", "preference"]).join(equal, "text_hash").join(copies, "words")
    order = [("preference", "ascending"), ("equal", "descending"), ("text_hash", "ascending"), ("row", "ascending")]
    first = sized.sort_by(order).group_by("words", use_threads=False).aggregate([("row", "first")])
    chosen = sized.filter(pc.is_in(sized.column("row"), first.column("row_first").combine_chunks()))
    place = pc.index_in(chosen.column("row"), rows.column("row"))
    for name in ("shingles", "tokens", "extensions", "text"):
        chosen = chosen.append_column(name, rows.column(name).take(place))
    return chosen


def pair(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return the pairs of rows with an equal key, as one record batch."""
    pairs = pa.Table.from_batches(pair_equal_keys([batch]), PAIRS)
    return pairs.combine_chunks().to_batches()[0] if len(pairs) else pa.RecordBatch.from_pylist([], PAIRS)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    source, text, target = sys.argv[1:]
    parquet.write_table(dedupe(parquet.read_table(source), DedupeOptions(text=text)), target)
