"""Removes duplicate rows of Spark DataFrames, and pairs the rows of two of them.

Needs pyspark 4, pandas and pyarrow, and simdoc-search in the Python of all workers. The workers fingerprint and
compare texts in `mapInArrow`. Rows are paired by sorting them by band keys. Only the frequent keys of short texts are
collected in the driver.

deduplication.py  `dedupe` and `similar_pairs`
steps.py          the steps: sketch, choose preferred rows, pair, verify, choose the kept rows
"""

from simdoc_search.spark.deduplication import dedupe, similar_pairs

__all__ = ["dedupe", "similar_pairs"]
