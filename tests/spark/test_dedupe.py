"""`simdoc_search.spark` on a real Spark with two threads.

scripts/test installs pyspark in an environment of its own, and runs these tests there if Java is installed.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import warnings
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import pyarrow as pa
import pytest

from simdoc_search.dedupe import DedupeOptions, deduplicate
from simdoc_search.errors import QuerySyntaxError
from simdoc_search.spark import dedupe, similar_pairs, steps
from tests.support.arrow_dedupe import make_template_rows
from tests.support.datasets import make_rows

pytestmark = [pytest.mark.spark, pytest.mark.slow]


def find_missing() -> list[str]:
    """Return what Spark needs and this machine lacks."""
    home = os.environ.get("JAVA_HOME")
    java = f"{home}/bin/java" if home else shutil.which("java")
    answer = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr if java else ""
    version = re.search(r'version "(\d+)', answer)
    packages = [name for name in ("pyspark", "pandas") if find_spec(name) is None]
    return packages + ([] if version and int(version[1]) >= 17 else ["Java 17 or newer"])


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    if missing := find_missing():
        pytest.skip(f"SPARK IS NOT TESTED, because these are missing: {', '.join(missing)}")
    from pyspark.sql import SparkSession

    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pyspark leaves sockets open
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        config = {"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "3"}
        session = SparkSession.builder.master("local[2]").config(map=config).getOrCreate()
        session.sparkContext.setLogLevel("ERROR")
        yield session
        session.stop()


def make_frame(spark: Any, rows: list[dict[str, Any]]) -> Any:
    return spark.createDataFrame(pa.Table.from_pylist(rows))


def read(frame: Any) -> list[dict[str, Any]]:
    rows = [row.asDict() for row in frame.collect()]
    for row in rows:
        if row.get("overlap") is not None:
            row["overlap"] = round(row["overlap"], 6)
    return sorted(rows, key=lambda row: row["number"])


def numbered(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**row, "number": number} for number, row in enumerate(rows)]


@pytest.mark.parametrize("options", [{}, {"keep": "max:score", "overlap": 0.6}], ids=str)
def test_the_same_rows_as_on_one_machine(spark: Any, options: dict[str, Any]) -> None:
    rows = [row for words in (8, 40, 300) for row in make_rows(90, words, words)]
    rows = numbered([*rows, {**rows[0], "text": None}, {**rows[0], "text": "..."}])
    expected = deduplicate(pa.Table.from_pylist(rows), DedupeOptions(text="text", **options), annotate=True).data
    frame = make_frame(spark, rows)
    annotated = read(dedupe(frame, id="number", options=DedupeOptions(**options), annotate=True))

    assert {"kept", "same text", "same words", "near", None} == {row["kind"] for row in annotated}
    assert expected.to_pylist() == annotated


def test_without_ids_the_same_texts_are_kept(spark: Any) -> None:
    rows = numbered(make_rows(120))
    expected = deduplicate(pa.Table.from_pylist(rows), DedupeOptions(text="text")).data
    kept = dedupe(make_frame(spark, rows))

    assert list(rows[0]) == kept.columns
    assert sorted(expected.column("text").to_pylist()) == sorted(row["text"] for row in read(kept))


@pytest.mark.filterwarnings("ignore:.*rows were compared with only some of the similar rows")
def test_many_rows_of_one_template(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their keys are frequent, and the kept row is in most pairs."""
    monkeypatch.setattr(steps, "_PAIRS_PER_SALT", 20)
    rows = numbered(make_template_rows(400, changed_words=1))
    expected = deduplicate(pa.Table.from_pylist(rows), DedupeOptions(text="text")).data
    kept = read(dedupe(make_frame(spark, rows), id="number"))

    assert len(kept) < 100
    assert expected.to_pylist() == kept


def test_rows_that_are_not_all_compared_are_reported(spark: Any) -> None:
    rows = numbered(make_template_rows(400, changed_words=2))
    with pytest.warns(UserWarning, match="rows were compared with only some of the similar rows"):
        dedupe(make_frame(spark, rows), id="number", options=DedupeOptions(overlap=0.9))


def test_similar_pairs(spark: Any) -> None:
    old, new = make_rows(90, 1), make_rows(90, 2)
    edited = [{**row, "id": f"new-{row['id']}", "text": f"{row['text']} more"} for row in old[:30]]
    pairs = similar_pairs(make_frame(spark, old), make_frame(spark, new + edited))
    found = {(row["a"], row["b"]): row["overlap"] for row in pairs.collect()}

    assert {(row["id"], f"new-{row['id']}") for row in old[:30]} <= found.keys()
    assert all(b.startswith("new-") and overlap >= 0.8 for (_, b), overlap in found.items())


def test_rows_have_no_order(spark: Any) -> None:
    with pytest.raises(QuerySyntaxError, match="min:COLUMN"):
        dedupe(make_frame(spark, make_rows(3)), options=DedupeOptions(keep="first"))
