"""What docs/pipeline.md tells people to do works, and the pipeline that is shipped is the one that is made."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from simdoc_search.attach.pipeline import pipeline_body
from tests.support.cli import answer
from tests.support.engines import call
from tests.support.pipeline import expected

ROOT = Path(__file__).parents[3]
DOCS = (ROOT / "docs/pipeline.md").read_text("utf-8")
TEXT = "The quick brown fox jumps over the lazy dog, and nobody else was there to see it."


@pytest.fixture(params=["opensearch", "elasticsearch_7"])
def engine_url(request: pytest.FixtureRequest) -> Iterator[str]:
    """An engine with an index of letters, from which all goes that the docs make."""
    letter = {"subject": "A letter", "text": "which was there before the pipeline came"}
    url = str(request.getfixturevalue(f"{request.param}_url"))
    call(url, "PUT", "/letters/_doc/1?refresh=true", letter)
    yield url
    call(url, "DELETE", "/articles,letters?ignore_unavailable=true")
    call(url, "DELETE", "/_index_template/articles")
    call(url, "DELETE", "/_ingest/pipeline/letters")


def test_the_shipped_pipeline_is_the_one_that_is_made() -> None:
    """`simdoc-search template show --pipeline > index_templates/simdoc.pipeline.json` makes it anew."""
    assert pipeline_body() == json.loads((ROOT / "index_templates/simdoc.pipeline.json").read_text("ascii"))


@pytest.mark.skipif(not shutil.which("curl"), reason="no curl")
def test_the_commands_of_the_docs_run(engine_url: str, tmp_path: Path) -> None:
    """In their order; the document has its fingerprint, and that of the other pipeline in the end."""
    commands = re.findall(r"^```bash\n(.*?)^```$", DOCS, re.DOTALL | re.MULTILINE)
    shutil.copytree(ROOT / "index_templates", tmp_path / "index_templates")
    program = f'simdoc-search() {{ "{sys.executable}" -m simdoc_search "$@"; }}'
    fingerprints, said = [], list[str]()
    for block in commands:
        lines = block.replace("http://localhost:9200", engine_url)
        script = f"set -e\n{program}\n{lines}"
        done = subprocess.run(
            ["bash", "-c", script], check=False, cwd=tmp_path, env=environment(), capture_output=True, text=True
        )
        assert 0 == done.returncode, done.stdout + done.stderr
        said += done.stdout.splitlines()
        fingerprints += re.findall(r'"simdoc":(\{.*?\})', done.stdout)

    assert 4 == len(commands)
    assert ["nothing would be changed"] == [line for line in said if "would" in line]
    assert [expected(TEXT)] == [json.loads(each) for each in fingerprints]
    call(engine_url, "PUT", "/articles/_doc/2?refresh=true", {"body": TEXT})
    assert ["2"] == [hit["id"] for hit in answer("similar", "1", "--store", f"{engine_url}/articles")["hits"]]
    before = expected("A letter\nwhich was there before the pipeline came")
    assert before == call(engine_url, "GET", "/letters/_doc/1")["_source"]["simdoc"]


def environment() -> dict[str, str]:
    """Modules are found in the checkout."""
    return {**os.environ, "PYTHONPATH": str(ROOT), "NO_PROXY": "127.0.0.1"}
