"""The example for Spark finds what simdoc-search finds, in a Spark of this machine.

Neither pyspark, of half a gigabyte, nor its Java is installed for the tests: where they are not at hand the test is
skipped, and pytest says so. To run it: pip install 'pyspark>=4' 'pandas<3' pyarrow, set JAVA_HOME to a Java of version
17 or 21, and then pytest -m slow tests/examples/test_spark.py.
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
    """What of Spark is not here."""
    packages = [each for each in ("pyspark", "pandas", "pyarrow") if find_spec(each) is None]
    home = os.environ.get("JAVA_HOME")
    java = f"{home}/bin/java" if home else shutil.which("java")
    said = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr if java else ""
    found = re.search(r'version "(\d+)', said)
    return packages + ([] if found and found[1] in JAVAS else [f"a Java {' or '.join(JAVAS)} in JAVA_HOME"])


@pytest.mark.slow
def test_spark_finds_the_pairs_that_we_find(tmp_path: Path) -> None:
    """Of long texts and short ones; estimated overlaps are those of ours."""
    if lacking := missing():
        pytest.skip(f"the example for Spark was not run, as there is no {', no '.join(lacking)}")
    rng = random.Random(4)
    two = [overlapping(rng, words, rng.uniform(0.8, 0.97)) for words in (12, 40, 90, 200, 500) for _ in range(20)]
    some = [Document(f"{n}{side}", text) for n, both in enumerate(two) for side, text in zip("ab", both, strict=True)]
    some += documents("others", 100)
    lines = (json.dumps({"id": each.id, "text": each.text}) for each in some)
    (tmp_path / "texts.jsonl").write_text("\n".join(lines), "utf-8")
    command = [sys.executable, str(EXAMPLE), str(tmp_path / "texts.jsonl"), "text", "80"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    search = SimilaritySearch(open_store(":memory:", create=True))
    search.index(some)
    ours = {
        frozenset((each.a.id, each.b.id)) for each in search.duplicates(verify=False).pairs() if each.overlap >= 0.8
    }

    assert 0 == done.returncode, done.stderr
    printed = [line.split() for line in done.stdout.splitlines()]
    assert 60 < len(ours)
    assert ours == {frozenset((a, b)) for _, a, b in printed}
    assert all(float(overlap.rstrip("%")) >= 80 for overlap, _, _ in printed)
