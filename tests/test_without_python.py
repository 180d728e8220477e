"""Applications that speak HTTP and JSON alone: the examples, and the commands of the pages for them."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from simdoc_search.attach.search_templates import search_templates
from simdoc_search.query import similar_query
from simdoc_search.sketch.fingerprint import fingerprint
from tests.support.backfill import load, to
from tests.support.cli import output
from tests.support.engines import call
from tests.support.http_server import indices
from tests.support.living import rolling
from tests.support.programs import program

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples" / "without_python"
APPLICATION = ROOT / "docs" / "my_application.md"
DOCUMENT = ROOT / "docs" / "search_templates.md"
KETTLE, SECOND = "Wren kettle, manual", "Wren kettle, second edition"
TEXT = (
    "It sings at a hundred degrees. Descale it with two spoons of vinegar every month, rinse it three times, and dry "
    "it with the lid off."
)


def run(*command: str, **environment: str) -> str:
    """What a command prints; it must succeed and say nothing else."""
    done = subprocess.run(
        command, check=False, capture_output=True, encoding="utf-8", timeout=600, env=os.environ | environment
    )
    assert (0, "") == (done.returncode, done.stderr), done.stdout
    return done.stdout


# --- examples/without_python ---


@pytest.fixture(params=["index", "alias"])
def manuals(opensearch_url: str, request: pytest.FixtureRequest) -> Iterator[tuple[str, str]]:
    """The engine, and an index whose documents got their fingerprints there; or an alias after a rollover."""
    text, keyword = {"type": "text"}, {"type": "keyword"}
    fields = {"title": text, "body": text, "language": keyword, "readers": keyword}
    lines = (EXAMPLES.parent / "manuals.jsonl").read_text("utf-8").splitlines()
    sources = {each["id"]: each for each in map(json.loads, lines)}
    setup = ["--pipeline", "--text-field", "body", "--search", "--force"]
    with indices(opensearch_url) as made, rolling(opensearch_url, fields) as rolled, to(opensearch_url) as engine:
        if request.param == "index":
            index = made.make({"properties": fields})
            output("template", "install", opensearch_url, *setup, "--index", index)
        else:
            index = rolled.name
            output("template", "install", opensearch_url, *setup)
        load(engine, index, sources)
        if request.param == "alias":
            rolled.roll_over()
            rolled.write("kettle-2", {"title": "Jug", "body": "A jug has no whistle.", "readers": ["everyone"]})
            rolled.roll_over()
        yield opensearch_url, index


def expected(url: str, index: str, user: str) -> dict[str, list[str]]:
    """What the query builder finds, for a user, as the examples print it."""
    readable = [{"terms": {"readers": [user, "everyone"]}}]
    with to(url) as engine:
        (second,) = engine.search(index, {"query": {"match_phrase": {"title": SECOND}}})["hits"]["hits"]
        tokens = second["_source"]["simdoc"]["tokens"].split()
        queries = {
            "like the document": similar_query(tokens, 0.2, filters=readable, exclude_id="kettle-2"),
            "like the text": similar_query(fingerprint(TEXT).tokens(), 0.1, filters=readable),
        }
        found = {name: engine.search(index, {"query": query})["hits"]["hits"] for name, query in queries.items()}
    return {name: [f"{hit['_source']['title']} ({hit['_score']:.0f})" for hit in hits] for name, hits in found.items()}


def check_printed(lines: list[str], manuals: tuple[str, str]) -> None:
    """What an example printed is what the query builder finds, and what is to be found."""
    found = expected(*manuals, "ann")

    assert [f"{name}: {each}" for name, hits in found.items() for each in hits] == lines
    assert [KETTLE] == [each.rpartition(" ")[0] for each in found["like the document"]]
    assert [KETTLE, SECOND] == [each.rpartition(" ")[0] for each in found["like the text"]]


def test_curl_finds_what_is_alike(manuals: tuple[str, str]) -> None:
    """With a shell and nothing else; again when the document is there already."""
    program("curl")
    command = [program("sh"), str(EXAMPLES / "similar.sh"), *manuals, "ann"]
    answers = [[json.loads(line) for line in run(*command).splitlines()] for _ in range(2)]
    names = ["like the document", "like the text", "in bands"]
    found = {name: each["hits"]["hits"] for name, each in zip(names, answers[1], strict=True)}
    in_bands = found.pop("in bands")
    lines = [f"{name}: {hit['_source']['title']} ({hit['_score']:.0f})" for name, hits in found.items() for hit in hits]

    assert answers[0] == answers[1]
    check_printed(lines, manuals)
    assert found["like the text"] == in_bands


def test_node_finds_what_is_alike(manuals: tuple[str, str]) -> None:
    """Without a package."""
    check_printed(run(program("node"), str(EXAMPLES / "similar.mjs"), *manuals, "ann").splitlines(), manuals)


@pytest.mark.slow
def test_go_finds_what_is_alike(manuals: tuple[str, str]) -> None:
    """With its standard library, which is compiled the first time; nothing is fetched."""
    command = [program("go"), "run", str(EXAMPLES / "similar.go"), *manuals, "ann"]

    check_printed(run(*command, GOPROXY="off", GOFLAGS="").splitlines(), manuals)


def test_who_may_not_read_a_document_learns_nothing_by_it(manuals: tuple[str, str], tmp_path: Path) -> None:
    """The examples ask first: with the draft, whose reader is ann, eve finds nothing."""
    (draft,) = call(f"{manuals[0]}/{manuals[1]}", "GET", "/_search?q=_id:stove-2024-draft&_source=false")["hits"][
        "hits"
    ]
    script = (
        (EXAMPLES / "similar.mjs").read_text("utf-8").replace("similar(saved, 20)", f"similar({json.dumps(draft)}, 20)")
    )
    (tmp_path / "similar.mjs").write_text(script, "utf-8")
    command = [program("node"), str(tmp_path / "similar.mjs"), *manuals]
    found = {user: [line for line in run(*command, user).splitlines() if "document" in line] for user in ("ann", "eve")}

    assert (2, 0) == (len(found["ann"]), len(found["eve"]))


@pytest.mark.parametrize("name", ["similar.sh", "similar.mjs", "similar.go", "similar.php"])
def test_all_do_the_same(name: str) -> None:
    """Also the one that is not run: the same requests, parameters and texts."""
    text = re.sub(r"\"\s*\+\s*\"|'\s*\.\s*'", "", (EXAMPLES / name).read_text("utf-8"))
    names = [
        "simdoc-similar",
        "simdoc-similar-to-text",
        "/_search/template",
        "/_search",
        "simdoc.buckets",
        "least",
        "_ingest/pipeline/simdoc/_simulate",
    ]

    assert [] == [each for each in [*names, TEXT, SECOND, "fingerprint", "kettle-2"] if each not in text]


# --- docs/search_templates.md ---


def _commands(text: str) -> list[str]:
    """The commands in the blocks of a page for a shell."""
    blocks = re.findall(r"^ *```sh\n(.*?)^ *```$", text, re.DOTALL | re.MULTILINE)
    return re.split(r"\n *(?=curl|simdoc-search)", "\n" + "".join(blocks))[1:]


@pytest.fixture(params=["opensearch", "elasticsearch_7"])
def engine_url(request: pytest.FixtureRequest) -> str:
    """Each engine that has pipelines and search templates."""
    return str(request.getfixturevalue(f"{request.param}_url"))


@pytest.fixture
def commands(engine_url: str, tmp_path: Path) -> Iterator[list[str]]:
    """The commands of the document, each as one line for a shell, for this engine and an index of the test's own."""
    lines = _commands(DOCUMENT.read_text("utf-8"))
    program("curl")
    with indices(engine_url) as made:
        articles, watches = made.name(), made.name()
        own = {
            "http://127.0.0.1:9201": engine_url,
            "articles": articles,
            "simdoc-watches": watches,
            "simdoc-search watch": f"simdoc-search watch --watches {watches}",
            "simdoc-search": f"{shlex.quote(sys.executable)} -m simdoc_search",
            "--search --pipeline": "--force --search --pipeline",
            "curl": "curl --silent --show-error --fail-with-body",
        }
        for written, meant in own.items():
            lines = [line.replace(written, meant) for line in lines]
        yield lines


def test_the_commands_of_the_document_do_what_it_says(commands: list[str]) -> None:
    """In their order: documents are saved, the other one is found, and it is a copy of what is watched."""
    printed: list[Any] = []
    for command in commands:
        if " engine start" not in command:
            shown = run("sh", "-c", command)
            printed.append(json.loads(shown) if command.startswith("curl") else shown)
    similar, simulated, banded, source, copied = (
        each for each in printed if isinstance(each, dict) and not {"result", "acknowledged"} & each.keys()
    )

    assert [("41", "Notice")] == [(hit["_id"], hit["_source"]["title"]) for hit in similar["hits"]["hits"]]
    assert [("42", {"simdoc.buckets": [17]})] == [(hit["_id"], hit["fields"]) for hit in source["hits"]["hits"]]
    assert {"tokens", "buckets"} < simulated["docs"][0]["doc"]["_source"]["simdoc"].keys()
    made = banded["docs"][0]["doc"]["_source"]
    assert ({"any_of", "least"}, 4) == (made["bands"].keys(), len(made["simdoc"]["tokens"].split()))
    assert ["42"] == [hit["_source"]["watched"]["id"] for hit in copied["hits"]["hits"]]
    assert similar["hits"]["hits"][0]["_score"] == copied["hits"]["hits"][0]["_score"]
    assert re.search(r"^42 is watched: copies of 60 % or more", printed[-2])
    assert ("41 is a copy of", "1 removed\n") == (printed[-3].splitlines()[0], printed[-1])


# --- docs/my_application.md ---


def test_all_is_taken_out_by_the_commands_of_the_document(engine_url: str) -> None:
    """What documents, the engine and its indices got from us is gone, all else is there, and writes go on."""
    program("curl")
    page = APPLICATION.read_text("utf-8").partition("## Take it out again")[2]
    with indices(engine_url) as made, to(engine_url) as engine:
        articles, watches = made.make({"properties": {"body": {"type": "text"}}}), made.name()
        setup = ["--search", "--pipeline", "--name", articles, "--text-field", "body", "--index", articles, "--force"]
        output("template", "install", engine_url, *setup)
        load(engine, articles, {"1": {"body": TEXT}, "2": {"body": f"{TEXT} {TEXT}"}})
        output("watch", "1", "--store", f"{engine_url}/{articles}", "--watches", watches)
        for written, meant in (
            ("http://localhost:9200", engine_url),
            ("articles", articles),
            ("simdoc-watches", watches),
            ("curl", "curl --silent --show-error --fail-with-body"),
        ):
            page = page.replace(written, meant)
        answers = [json.loads(run("sh", "-c", command)) for command in _commands(page)]
        load(engine, articles, {"3": {"body": TEXT}})
        hits = engine.search(articles, {"size": 10})["hits"]["hits"]
        places = [["_scripts", each] for each in search_templates()]
        places += [[watches], ["_component_template", "simdoc"], ["_ingest", "pipeline", articles]]

        assert [2] == [each["updated"] for each in answers if not each.get("acknowledged")]
        assert {"1", "2", "3"} == {hit["_id"] for hit in hits}
        assert [{"body"}] * 3 == [hit["_source"].keys() for hit in hits]
        assert [None] * 8 == [engine.call("GET", place, allow=(404,)) for place in places]
