"""The steps that find duplicates in DataFrames.

The functions that run in the workers are those of `simdoc_search.dedupe.arrow_functions` and `arrow_pairs`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from simdoc_search.dedupe import DedupeOptions
from simdoc_search.dedupe.arrow_functions import add_ranks, make_band_keys, make_short_text_keys, sketch_rows
from simdoc_search.dedupe.arrow_pairs import pair_equal_keys, verify_pairs

DataFrame = Any
"""A `pyspark.sql.DataFrame`."""

ROW_COLUMN = "_simdoc_row"
"""The column with the number or the id of each row."""

_SKETCH_SCHEMA = "words binary, text_hash binary, preference binary, shingles long, tokens binary, extensions binary"
_PAIR_SCHEMA = "first binary, second binary"
_SAMPLE_ROWS, _MIN_SAMPLE_COUNT, _MAX_FREQUENT_KEYS = 50_000, 8, 100_000
_PAIRS_PER_SALT = 20_000
_MAX_BROADCAST_ROWS = 500_000


def materialize(frame: DataFrame) -> DataFrame:
    """Compute a DataFrame now, and store it until it is no longer used.

    If `spark.checkpoint.dir` is set, it is stored there, and survives the loss of workers. Otherwise, it is stored on
    the disks of the workers. Spark then forgets the query plan, which would otherwise grow in each round of `dedupe`.
    """
    from pyspark import StorageLevel  # noqa: PLC0415 - an optional dependency

    if frame.sparkSession.conf.get("spark.checkpoint.dir", None):
        return frame.checkpoint()
    return frame.localCheckpoint(storageLevel=StorageLevel.DISK_ONLY)


def map_batches(frame: DataFrame, function: Callable[[Any], Any], schema: str) -> DataFrame:
    """Apply a function to the record batches of a DataFrame."""

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        return map(function, batches)

    return frame.mapInArrow(run, schema)


def sketch(rows: DataFrame, options: DedupeOptions) -> DataFrame:
    """Return the row number and the sketch of each row that can be compared."""
    names = [name for name in (options.text, options.rule.column) if name]
    kind = rows.schema[ROW_COLUMN].dataType.simpleString()

    def sketch(batch: Any) -> Any:
        sketched = sketch_rows(batch, options)
        return sketched.add_column(0, ROW_COLUMN, batch.column(ROW_COLUMN))

    return map_batches(rows.select(ROW_COLUMN, *names), sketch, f"{ROW_COLUMN} {kind}, {_SKETCH_SCHEMA}").where(
        "words is not null"
    )


def choose_preferred_rows(sketches: DataFrame, options: DedupeOptions) -> DataFrame:
    """Return the most preferred row of each set of rows with the same words, and its rank."""
    from pyspark.sql import functions as f  # noqa: PLC0415 - an optional dependency

    texts = sketches.groupBy("words", "text_hash", "shingles").agg(
        f.count("*").alias("equal"), f.min(f.struct("preference", ROW_COLUMN)).alias("best")
    )
    best = f.struct("best.preference", (-f.col("equal")).alias("minus_equal"), "text_hash", f"best.{ROW_COLUMN}")
    sets = texts.groupBy("words", "shingles").agg(f.sum("equal").alias("copies"), f.min(best).alias("best"))
    sets = sets.select("words", "shingles", "copies", "best.*", (-f.col("best.minus_equal")).alias("equal")).drop(
        "minus_equal"
    )
    kind = sets.schema[ROW_COLUMN].dataType.simpleString()
    schema = "words binary, shingles long, copies long, preference binary, text_hash binary"
    schema = f"{schema}, {ROW_COLUMN} {kind}, equal long, rank binary"
    return map_batches(sets, partial(add_ranks, options=options), schema)


def add_tokens(sets: DataFrame, sketches: DataFrame) -> DataFrame:
    """Return the ranks and the fingerprints of the preferred rows."""
    return sets.select(ROW_COLUMN, "rank", "shingles").join(
        sketches.select(ROW_COLUMN, "tokens", "extensions"), ROW_COLUMN
    )


def read_texts(sets: DataFrame, rows: DataFrame, text: str, ranks: DataFrame) -> DataFrame:
    """Return the texts of the preferred rows with these ranks."""
    from pyspark.sql import functions as f  # noqa: PLC0415 - an optional dependency

    wanted = materialize(sets.select(ROW_COLUMN, "rank").join(ranks, "rank", "left_semi"))
    # Send the row numbers to all workers, so that Spark does not shuffle the texts.
    if wanted.count() <= _MAX_BROADCAST_ROWS:
        wanted = f.broadcast(wanted)
    return wanted.join(rows.select(ROW_COLUMN, f.col(text).alias("text")), ROW_COLUMN).drop(ROW_COLUMN)


def count_frequent_keys(compared_rows: DataFrame, options: DedupeOptions) -> Mapping[int, int]:
    """Return the band keys of short texts that are frequent in a sample, each with its count in the sample."""
    share = min(1.0, _SAMPLE_ROWS / max(1, compared_rows.count()))
    sample = compared_rows.sample(share, seed=1).select("shingles", "tokens", "extensions")
    keys = map_batches(sample, partial(make_short_text_keys, options=options), "key long")
    counts = keys.groupBy("key").count().where(f"count >= {_MIN_SAMPLE_COUNT}")
    return {
        row["key"]: row["count"] for row in counts.orderBy("count", ascending=False).limit(_MAX_FREQUENT_KEYS).collect()
    }


def pair(
    rows_to_pair: DataFrame,
    options: DedupeOptions,
    frequencies: Mapping[int, int],
    *,
    only_across_datasets: bool = False,
) -> DataFrame:
    """Return the pairs of rows with an equal band key, as `pair_equal_keys` does. Some pairs are repeated."""
    make_keys = partial(make_band_keys, options=options, frequencies=frequencies)
    keys = map_batches(
        rows_to_pair.select("rank", "shingles", "tokens", "extensions"), make_keys, "key long, rank binary"
    )
    pair_keys = partial(pair_equal_keys, only_across_datasets=only_across_datasets)
    return keys.repartition("key").sortWithinPartitions("key", "rank").mapInArrow(pair_keys, _PAIR_SCHEMA)


def verify(
    pairs: DataFrame, compared_rows: DataFrame, texts_of: Callable[[DataFrame], DataFrame], options: DedupeOptions
) -> DataFrame:
    """Return the pairs whose texts overlap enough, and the overlap.

    A row that is in very many pairs, because it was taken from a template, is copied to several partitions (salting).

    Args:
        pairs: the ranks of the rows of each pair.
        compared_rows: the ranks and fingerprints of all rows.
        texts_of: returns the rank and text of the rows with these ranks.
        options: the options.
    """
    from pyspark.sql import functions as f  # noqa: PLC0415 - an optional dependency

    in_pairs = pairs.select(f.explode(f.array("first", "second")).alias("rank")).groupBy("rank").count()
    contents = compared_rows.select("rank", "shingles", "tokens").join(in_pairs, "rank")
    contents = contents.join(texts_of(in_pairs.select("rank")), "rank")
    salts = f.ceil(f.col("count") / _PAIRS_PER_SALT).cast("int")
    first = contents.withColumn("salts", salts).withColumn("salt", f.explode(f.sequence(f.lit(0), salts - 1)))
    hot = in_pairs.where(f"count > {_PAIRS_PER_SALT}").select(f.col("rank").alias("first"), salts.alias("salts"))
    salted = pairs.join(hot, "first", "left").withColumn(
        "salt", f.coalesce(f.expr("pmod(xxhash64(second), salts)"), f.lit(0)).cast("int")
    )
    names = ("shingles", "tokens", "text")
    first, second = (
        side.select(
            f.col("rank").alias(name),
            *(["salt"] if name == "first" else []),
            *(f.col(column).alias(f"{name}_{column}") for column in names),
        )
        for side, name in ((first, "first"), (contents, "second"))
    )
    joined = salted.drop("salts").join(second, "second").join(first, ["first", "salt"]).drop("salt")
    joined = joined.select("first", "second", *(f"{side}_{name}" for side in ("first", "second") for name in names))
    return map_batches(joined, partial(verify_pairs, options=options), f"{_PAIR_SCHEMA}, overlap double")


def choose_kept(pairs: DataFrame) -> DataFrame:
    """Return the kept row of each duplicate, as `arrow_pairs.choose_kept` does.

    In each round, a row that is not the `second` row of any remaining pair is kept. The rows that it is paired with are
    its duplicates. All pairs with a duplicate are then removed.
    """
    from pyspark.sql import functions as f  # noqa: PLC0415 - an optional dependency

    found = None
    while True:
        seconds = pairs.select("second").distinct()
        kept = pairs.join(seconds.withColumnRenamed("second", "first"), "first", "left_anti")
        decided = kept.groupBy("second").agg(f.min(f.struct("first", "overlap")).alias("best"))
        decided = materialize(decided.select("best.first", "second", "best.overlap"))
        found = decided if found is None else found.union(decided)
        duplicates = decided.select("second")
        pairs = pairs.join(duplicates, "second", "left_anti")
        pairs = materialize(pairs.join(duplicates.withColumnRenamed("second", "first"), "first", "left_anti"))
        if pairs.isEmpty():
            return found
