"""Pairs of near-duplicates in a data frame of Spark: fingerprints by a pandas UDF, bands as a join.

    pip install . 'pyspark>=4' 'pandas<3' pyarrow      # and a Java of version 17 or 21, in JAVA_HOME
    python examples/with_spark.py examples/manuals.jsonl body 30

Takes JSON lines with an `id`, the name of the field of the text, and the least overlap in percent; prints pairs with
their estimated overlap. Two documents of just that overlap are compared with a probability of 99.9 %: `band_keys` plans
the bands so.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import Any

import pandas as pd
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from simdoc_search import fingerprints
from simdoc_search.duplicates import band_keys
from simdoc_search.sketch import overlap_of_tokens

ALIKE = 1000
"""A key of more documents than this, as those of one template have, pairs none of them."""


def near_duplicates(documents: DataFrame, overlap: float) -> DataFrame:
    """The pairs of documents that overlap enough, as far as their fingerprints say.

    Args:
        documents: with the columns `id`, of which no two are equal, and `text`. Leave out copies before, by a hash of
            the text: each of them would be paired with all others.
        overlap: the least Jaccard similarity of five-word shingles, over 0, up to 1.

    Returns:
        The columns `a` and `b`, which are ids, and `overlap`, 0..1; its standard error is 0.022 or less.
    """
    # Each text is read once for each use of this: in a job of hours, write it as Parquet and read that back.
    sketched = documents.select("id", sketch_udf(overlap)("text").alias("made")).select("id", "made.*").persist()
    keys = sketched.select("id", f.explode("keys").alias("key"))
    keys = keys.join(keys.groupBy("key").count().where(f.col("count").between(2, ALIKE)), "key")
    a, b = (keys.select("key", f.col("id").alias(side)) for side in ("a", "b"))
    pairs = a.join(b, "key").where("a < b").select("a", "b").distinct()
    for side in ("a", "b"):
        pairs = pairs.join(sketched.select(f.col("id").alias(side), f.col("tokens").alias(f"tokens_{side}")), side)
    estimated = pairs.select("a", "b", estimate_udf()("tokens_a", "tokens_b").alias("overlap"))
    return estimated.where(f.col("overlap") >= overlap)


def sketch_udf(overlap: float) -> Any:
    """From a text to its tokens, as our field in a search engine holds them, and to the keys of its bands."""

    def sketch(texts: Iterator[pd.Series]) -> Iterator[pd.DataFrame]:
        for some in texts:
            made = list(fingerprints(some.fillna("")))
            tokens = [" ".join(each.tokens()) for each in made]
            yield pd.DataFrame({"tokens": tokens, "keys": band_keys(made, overlap)})

    return f.pandas_udf(sketch, "tokens string, keys array<long>")


def estimate_udf() -> Any:
    """From the tokens of two documents to the overlap that they estimate."""

    def estimate(both: Iterator[tuple[pd.Series, pd.Series]]) -> Iterator[pd.Series]:
        for a, b in both:
            yield pd.Series(list(map(overlap_of_tokens, a, b)), dtype="float64")

    return f.pandas_udf(estimate, "double")


def main(file: str, field: str, percent: str) -> None:
    """Print the pairs among the documents of a file."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # the workers' Python needs simdoc-search too
    local = {"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "4"}  # which is enough for one machine
    spark = SparkSession.builder.master("local[*]").config(map=local).getOrCreate()
    documents = spark.read.json(file).select("id", f.col(field).alias("text"))
    pairs = near_duplicates(documents, float(percent) / 100)
    for pair in pairs.orderBy(f.desc("overlap"), "a", "b").collect():
        print(f"{pair.overlap:.1%}  {pair.a}  {pair.b}")
    spark.stop()


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
