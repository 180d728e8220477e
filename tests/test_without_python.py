"""The examples for applications without Python: they use only HTTP and JSON."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from simdoc_search.query import similar_query
from simdoc_search.sketch.fingerprint import fingerprint
from tests.support.backfill import load, to
from tests.support.cli import output
from tests.support.engines import call
from tests.support.programs import program
from tests.support.rolling_index import rolling

EXAMPLES = Path(__file__).parents[1] / "examples" / "without_python"
KETTLE, SECOND = "Wren kettle, manual", "Wren kettle, second edition"
TEXT = (
    "It sings at a hundred degrees. Descale it with two spoons of vinegar every month, rinse it three times, and dry "
    "it with the lid off."
)


def run(*command: str, **environment: str) -> str:
    """Run a command that succeeds and prints nothing to stderr, and return its output."""
    done = subprocess.run(
        command, check=False, capture_output=True, encoding="utf-8", timeout=600, env=os.environ | environment
    )
    assert (0, "") == (done.returncode, done.stderr), done.stdout
    return done.stdout


@pytest.fixture(scope="module")
def manuals(opensearch_url: str) -> Iterator[tuple[str, str]]:
    """The engine, and an alias after two rollovers whose documents got their fingerprints in the engine."""
    text, keyword = {"type": "text"}, {"type": "keyword"}
    fields = {"title": text, "body": text, "language": keyword, "readers": keyword}
    lines = (EXAMPLES.parent / "manuals.jsonl").read_text("utf-8").splitlines()
    output("template", "install", opensearch_url, "--pipeline", "--text-field", "body", "--search", "--force")
    with rolling(opensearch_url, fields) as rolled, to(opensearch_url) as engine:
        load(engine, rolled.name, {manual["id"]: manual for manual in map(json.loads, lines)})
        rolled.roll_over()
        rolled.write("kettle-2", {"title": "Jug", "body": "A jug has no whistle.", "readers": ["everyone"]})
        rolled.roll_over()
        yield opensearch_url, rolled.name


def expected(url: str, index: str, user: str) -> dict[str, list[str]]:
    """Return the hits of the query builder for a user, as the examples print them."""
    readable = [{"terms": {"readers": [user, "everyone"]}}]
    with to(url) as engine:
        (second,) = engine.search(index, {"query": {"match_phrase": {"title": SECOND}}})["hits"]["hits"]
        tokens = second["_source"]["simdoc"]["tokens"].split()
        queries = {
            "similar to the document": similar_query(tokens, 0.2, filters=readable, exclude_id="kettle-2"),
            "similar to the text": similar_query(fingerprint(TEXT).tokens(), 0.1, filters=readable),
        }
        answers = {name: engine.search(index, {"query": query})["hits"]["hits"] for name, query in queries.items()}
    return {name: [printed(hit) for hit in hits] for name, hits in answers.items()}


def printed(hit: dict[str, Any]) -> str:
    """Return a hit as the examples print it."""
    return f"{hit['_source']['title']} ({hit['_score']:.0f})"


def check_printed(lines: list[str], manuals: tuple[str, str]) -> None:
    """Compare the output of an example with the query builder. It contains the known documents."""
    hits = expected(*manuals, "ann")

    assert [f"{name}: {hit}" for name in hits for hit in hits[name]] == lines
    assert [KETTLE] == [hit.rpartition(" ")[0] for hit in hits["similar to the document"]]
    assert [KETTLE, SECOND] == [hit.rpartition(" ")[0] for hit in hits["similar to the text"]]


def test_curl_finds_similar_documents(manuals: tuple[str, str]) -> None:
    """A second run finds the same documents."""
    program("curl")
    command = [program("sh"), str(EXAMPLES / "similar.sh"), *manuals, "ann"]
    answers = [[json.loads(line) for line in run(*command).splitlines()] for _ in range(2)]
    document, text, bands = (answer["hits"]["hits"] for answer in answers[1])
    lines = [f"similar to the document: {printed(hit)}" for hit in document]

    assert answers[0] == answers[1]
    check_printed([*lines, *(f"similar to the text: {printed(hit)}" for hit in text)], manuals)
    assert text == bands


def test_node_finds_similar_documents(manuals: tuple[str, str]) -> None:
    check_printed(run(program("node"), str(EXAMPLES / "similar.mjs"), *manuals, "ann").splitlines(), manuals)


@pytest.mark.slow
def test_go_finds_similar_documents(manuals: tuple[str, str]) -> None:
    """Go compiles its standard library the first time."""
    command = [program("go"), "run", str(EXAMPLES / "similar.go"), *manuals, "ann"]

    check_printed(run(*command, GOPROXY="off", GOFLAGS="").splitlines(), manuals)


def test_a_document_that_a_user_may_not_read_finds_nothing(manuals: tuple[str, str], tmp_path: Path) -> None:
    """The examples check it first: the only reader of the draft is ann."""
    answer = call(f"{manuals[0]}/{manuals[1]}", "GET", "/_search?q=_id:stove-2024-draft&_source=false")
    (draft,) = answer["hits"]["hits"]
    script = (EXAMPLES / "similar.mjs").read_text("utf-8")
    path = tmp_path / "similar.mjs"
    path.write_text(script.replace("similar(saved, 20)", f"similar({json.dumps(draft)}, 20)"), "utf-8")
    command = [program("node"), str(path), *manuals]
    counts = {user: run(*command, user).count("similar to the document") for user in ("ann", "eve")}

    assert {"ann": 2, "eve": 0} == counts


@pytest.mark.parametrize("name", ["similar.sh", "similar.mjs", "similar.go", "similar.php"])
def test_all_examples_send_the_same_requests(name: str) -> None:
    """This includes the PHP example, which is not run."""
    text = re.sub(r"\"\s*\+\s*\"|'\s*\.\s*'", "", (EXAMPLES / name).read_text("utf-8"))
    names = [
        "simdoc-similar",
        "simdoc-similar-to-text",
        "/_search/template",
        "/_search",
        "simdoc.buckets",
        "buckets",
        "_ingest/pipeline/simdoc/_simulate",
    ]

    assert [] == [part for part in [*names, TEXT, SECOND, "fingerprint", "kettle-2"] if part not in text]
