"""Removes the duplicate rows of a DataFrame, and finds the similar rows of two DataFrames."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import partial

from simdoc_search.dedupe import DedupeOptions
from simdoc_search.dedupe.grouping import KINDS, NEAR, SAME_TEXT, SAME_WORDS
from simdoc_search.errors import QuerySyntaxError
from simdoc_search.spark.steps import (
    ROW_COLUMN,
    DataFrame,
    add_tokens,
    choose_kept,
    choose_preferred_rows,
    count_frequent_keys,
    materialize,
    pair,
    read_texts,
    sketch,
    verify,
)

_MAX_ROUNDS = 10


def dedupe(
    df: DataFrame,
    text: str = "text",
    *,
    id: str | None = None,
    options: DedupeOptions | None = None,
    annotate: bool = False,
) -> DataFrame:
    """Remove the duplicate rows of a DataFrame. The kept rows are those that `simdoc-search dedupe` keeps.

    The duplicates are found when the function is called. A warning is issued if some rows were not compared with
    all similar rows, because too many are similar.

    Args:
        df: the rows. It is read several times, so write the result of a long computation to storage first.
        text: the column with the texts.
        id: a column with a unique value per row; None to number the rows. Numbering needs a source that returns the
            rows in the same order each time, such as files.
        options: what counts as a duplicate. The options `text` and `id` are ignored. `keep="first"` is not possible,
            because the rows of a DataFrame have no order; use `min:COLUMN`.
        annotate: return all rows, with the columns `duplicate_of`, `cluster`, `overlap` and `kind`; see
            `DuplicateDescriptions`.

    Returns:
        The kept rows with all columns, or all rows.

    Raises:
        QuerySyntaxError: the rule `first` was chosen.
    """
    from pyspark.sql import functions as f  # noqa: PLC0415 - an optional dependency

    options = replace(options or DedupeOptions(), text=text, id=None)
    if options.keep == "first":
        raise QuerySyntaxError("the rows of a DataFrame have no order; choose the kept row with keep='min:COLUMN'")
    rows = df.withColumn(ROW_COLUMN, f.col(id) if id else f.monotonically_increasing_id())
    sketches = materialize(sketch(rows, options))
    sets = materialize(choose_preferred_rows(sketches, options))
    near_groups = _find_groups(sets, sketches, rows, options)
    duplicates = materialize(_describe_duplicates(sketches, sets, near_groups))
    if not annotate:
        return rows.join(duplicates.select(ROW_COLUMN), ROW_COLUMN, "left_anti").drop(ROW_COLUMN)
    kept = duplicates.select(f.col("duplicate_of").alias(ROW_COLUMN)).distinct()
    kept = kept.select(
        ROW_COLUMN,
        f.lit(None).alias("duplicate_of"),
        f.col(ROW_COLUMN).alias("cluster"),
        f.lit(None).alias("overlap"),
        f.lit("kept").alias("kind"),
    )
    columns = duplicates.select(ROW_COLUMN, "duplicate_of", f.col("duplicate_of").alias("cluster"), "overlap", "kind")
    return rows.join(columns.unionByName(kept), ROW_COLUMN, "left").drop(ROW_COLUMN)


def similar_pairs(
    df_a: DataFrame, df_b: DataFrame, text: str = "text", *, id: str = "id", options: DedupeOptions | None = None
) -> DataFrame:
    """Return the pairs of rows, one from each DataFrame, that overlap enough.

    A warning is issued if some rows were not compared with all similar rows, because too many are similar.

    Args:
        df_a: the rows of one side.
        df_b: the rows of the other side.
        text: the column with the texts, in both.
        id: the column with a unique value per row, in both.
        options: the measure of overlap, and its minimum. `containment` is the share of the row of `df_b` that is also
            in the row of `df_a`.

    Returns:
        A DataFrame with the columns `a`, `b` and `overlap`.
    """
    from pyspark.sql import functions as f  # noqa: PLC0415 - an optional dependency

    options = replace(options or DedupeOptions(), text=text, id=None, keep="longest")
    sides = [frame.select(f.col(id).alias(ROW_COLUMN), text) for frame in (df_a, df_b)]
    sketches = [materialize(sketch(rows, options)) for rows in sides]
    sets = [
        choose_preferred_rows(side, options).withColumn("rank", f.concat(f.lit(bytes([number])), "rank"))
        for number, side in enumerate(sketches)
    ]
    a, b = (materialize(side) for side in sets)
    both = materialize(add_tokens(a, sketches[0]).unionByName(add_tokens(b, sketches[1])))
    pairs = pair(both, options, count_frequent_keys(both, options), only_across_datasets=True)
    pairs = materialize(pairs.distinct())
    _warn_about_partly_compared_rows(pairs.where("second is null").count())

    def texts_of(ranks: DataFrame) -> DataFrame:
        return read_texts(a, sides[0], text, ranks).unionByName(read_texts(b, sides[1], text, ranks))

    near = verify(pairs.where("second is not null"), both, texts_of, options)
    columns = [frame.select("words", f.col(ROW_COLUMN).alias(name)) for frame, name in zip(sketches, "ab", strict=True)]
    words = [
        side.select(f.col("rank").alias(name), "words") for side, name in zip((a, b), ("first", "second"), strict=True)
    ]
    result = near.join(words[0], "first").join(columns[0], "words").drop("words")
    result = result.join(words[1], "second").join(columns[1], "words")
    return materialize(result.select("a", "b", "overlap"))


def _find_groups(sets: DataFrame, sketches: DataFrame, rows: DataFrame, options: DedupeOptions) -> DataFrame:
    """Return the rank of each set to remove (`second`), the rank of the set to keep (`first`), and their overlap.

    A set is all rows with the same words. Its rank identifies it; a lower rank is preferred.
    """
    from pyspark.sql import functions as f  # noqa: PLC0415 - an optional dependency

    compared = rows_to_pair = materialize(add_tokens(sets, sketches))
    texts_of = partial(read_texts, sets, rows, str(options.text))
    frequencies = count_frequent_keys(compared, options)
    known = overlapping = partly_paired = near_groups = None
    for _ in range(_MAX_ROUNDS):
        pairs = materialize(pair(rows_to_pair, options, frequencies).distinct())
        partly = pairs.where("second is null").select(f.col("first").alias("rank"))
        partly_paired = partly if partly_paired is None else materialize(partly_paired.union(partly).distinct())
        pairs = pairs.where("second is not null")
        if known is not None:
            pairs = materialize(pairs.join(known, ["first", "second"], "left_anti"))
            if pairs.isEmpty():
                break
        verified = materialize(verify(pairs, compared, texts_of, options))
        known = pairs if known is None else known.union(pairs)
        overlapping = verified if overlapping is None else overlapping.union(verified)
        near_groups = choose_kept(overlapping)
        # Rows that were not paired with all similar rows, and are kept, must be paired with each other.
        unfinished = materialize(
            partly_paired.join(near_groups.select(f.col("second").alias("rank")), "rank", "left_anti")
        )
        if len(unfinished.head(2)) < 2:
            return near_groups
        rows_to_pair = compared.join(unfinished, "rank")
    _warn_about_partly_compared_rows(unfinished.count())
    return near_groups


def _describe_duplicates(sketches: DataFrame, sets: DataFrame, near_groups: DataFrame) -> DataFrame:
    """Return a row per duplicate: its row number, the kept row, the overlap and the kind."""
    from pyspark.sql import functions as f  # noqa: PLC0415 - an optional dependency

    kept = sets.select(
        f.col("rank").alias("first"), f.col(ROW_COLUMN).alias("near_row"), f.col("text_hash").alias("near_hash")
    )
    near = near_groups.join(kept, "first").select(f.col("second").alias("rank"), "near_row", "near_hash", "overlap")
    sets = sets.select(
        "words", "rank", f.col(ROW_COLUMN).alias("set_row"), f.col("text_hash").alias("set_hash"), "copies"
    )
    targets = sets.join(near, "rank", "left").where("copies > 1 or near_row is not null").drop("rank", "copies")
    rows = sketches.select(ROW_COLUMN, "words", "text_hash").join(targets, "words")
    kind = (
        f.when(f.col("near_row").isNotNull(), KINDS[NEAR])
        .when(f.col("text_hash") == f.col("set_hash"), KINDS[SAME_TEXT])
        .otherwise(KINDS[SAME_WORDS])
    )
    target = f.coalesce("near_row", "set_row").alias("duplicate_of")
    overlap = f.coalesce("overlap", f.lit(1.0)).alias("overlap")
    return rows.select(ROW_COLUMN, target, overlap, kind.alias("kind")).where(f"{ROW_COLUMN} != duplicate_of")


def _warn_about_partly_compared_rows(count: int) -> None:
    if count:
        warnings.warn(
            f"{count:,} rows were compared with only some of the similar rows, because too many rows are similar",
            stacklevel=3,
        )
