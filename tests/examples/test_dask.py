"""Tests that the example for Dask keeps the rows that `deduplicate` keeps."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from simdoc_search.dedupe import DedupeOptions, deduplicate
from tests.support.datasets import make_rows
from tests.support.examples import EXAMPLES


@pytest.mark.slow
def test_dask_keeps_the_same_rows(tmp_path: Path) -> None:
    rows = [row for words in (8, 40, 300) for row in make_rows(90, words, words)]
    table = pa.Table.from_pylist([*rows, {**rows[0], "text": None}])
    parquet.write_table(table, tmp_path / "in.parquet")
    command = [sys.executable, str(EXAMPLES / "with_dask.py"), "in.parquet", "text", "out.parquet"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)

    assert 0 == done.returncode, done.stderr
    assert deduplicate(table, DedupeOptions(text="text")).data == parquet.read_table(tmp_path / "out.parquet")
