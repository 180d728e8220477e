"""Tests that the example for Spark finds the pairs that simdoc-search finds.

Neither pyspark nor its Java is installed for the tests. To run the test: pip install 'pyspark>=4' 'pandas<3' pyarrow,
set JAVA_HOME to a Java of version 17 or 21, and run pytest -m slow tests/examples/test_spark.py.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from simdoc_search import Document, SimilaritySearch, open_store
from tests.support.examples import EXAMPLES
from tests.support.texts import documents, overlapping

EXAMPLE = EXAMPLES / "with_spark.py"
JAVAS = ("17", "21")


def missing() -> list[str]:
    """Return what the example needs and this machine lacks."""
    packages = [name for name in ("pyspark", "pandas", "pyarrow") if find_spec(name) is None]
    home = os.environ.get("JAVA_HOME")
    java = f"{home}/bin/java" if home else shutil.which("java")
    answer = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr if java else ""
    match = re.search(r'version "(\d+)', answer)
    return packages + ([] if match and match[1] in JAVAS else [f"a Java {' or '.join(JAVAS)} in JAVA_HOME"])


@pytest.mark.slow
def test_spark_finds_the_same_pairs(tmp_path: Path) -> None:
    if lacking := missing():
        pytest.skip(f"the example for Spark was not run, because these are missing: {', '.join(lacking)}")
    rng = random.Random(4)
    pairs = [overlapping(rng, words, rng.uniform(0.8, 0.97)) for words in (12, 40, 90, 200, 500) for _ in range(20)]
    corpus = documents("others", 100)
    for number, pair in enumerate(pairs):
        corpus += [Document(f"{number}{side}", text) for side, text in zip("ab", pair, strict=True)]
    lines = (json.dumps({"id": document.id, "text": document.text}) for document in corpus)
    (tmp_path / "texts.jsonl").write_text("\n".join(lines), "utf-8")
    command = [sys.executable, str(EXAMPLE), str(tmp_path / "texts.jsonl"), "text", "80"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    search = SimilaritySearch(open_store(":memory:"))
    search.index(corpus)
    duplicates = search.duplicates(verify=False)
    expected = {frozenset((pair.a.id, pair.b.id)) for pair in duplicates.pairs() if pair.overlap >= 0.8}
    printed = [line.split() for line in done.stdout.splitlines()]

    assert 0 == done.returncode, done.stderr
    assert 60 < len(expected)
    assert expected == {frozenset((a, b)) for _, a, b in printed}
    assert all(float(overlap.rstrip("%")) >= 80 for overlap, _, _ in printed)
