"""Tests that the plain HTTP requests find what the application finds, with the same rights."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest
from opensearchpy import OpenSearch

from simdoc_search.query import similar_by_id, similar_query
from tests.support.examples import DRAFT, EXAMPLES, OLD, ROOT, SOLD, run


class HttpFile:
    """Runs a file of HTTP requests as editors do, with variables, bodies from files and values of earlier answers."""

    def __init__(self, path: Path, **variables: str) -> None:
        self.path = path
        head, *self.requests = re.split(r"^###.*\n", path.read_text("utf-8"), flags=re.MULTILINE)
        self.variables = dict(re.findall(r"^@(\w+) = (.+)$", head, re.MULTILINE)) | variables
        self.answers: dict[str, Any] = {}

    def run(self, number: int) -> Any:
        """Send one of the requests, and return the answer."""
        text = self.requests[number]
        named = re.search(r"^# @name (\w+)$", text, re.MULTILINE)
        lines = [line for line in text.splitlines() if not line.startswith("#")]
        head, _, body = "\n".join(lines).strip().partition("\n\n")
        first, *headers = self.filled(head).splitlines()
        method, url = first.split()
        sent = (self.path.parent / body[2:]).read_bytes() if body.startswith("< ") else self.filled(body).encode()
        request = Request(url, sent, dict(line.split(": ") for line in headers), method=method)
        with urlopen(request, timeout=60) as answer:
            value = json.load(answer)
        self.answers[named[1] if named else str(number)] = value
        return value

    def filled(self, text: str) -> str:
        """Replace variables by their values."""
        return re.sub(r"\{\{(.+?)\}\}", lambda match: self._value(match[1]), text)

    def _value(self, name: str) -> str:
        answer, is_answer, path = name.partition(".response.body.$.")
        if not is_answer:
            return str(self.variables[name])
        value: Any = self.answers[answer]
        for step in re.findall(r"\w+", path):
            value = value[int(step) if step.isdecimal() else step]
        return str(value)


@pytest.fixture
def plain_json(tmp_path: Path, opensearch_url: str, index: str) -> HttpFile:
    """The requests, in a copy of their folder. Those that load the documents are sent."""
    for name in ("examples", "index_templates"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    folder = tmp_path / "examples" / "plain_json"
    lines = (EXAMPLES / "manuals.jsonl").read_text("utf-8")
    (folder / "bulk.ndjson").write_text(run("fingerprints.py", "bulk", cwd=folder, stdin=lines), "utf-8")
    requests = HttpFile(folder / "requests.http", host=opensearch_url, index=index)
    for number in range(3):
        answer = requests.run(number)
        assert answer.get("acknowledged") or answer["errors"] is False
    return requests


def titles(answer: dict[str, Any]) -> list[tuple[str, float]]:
    return [(hit["_source"]["title"], hit["_score"]) for hit in answer["hits"]["hits"]]


def test_requests_by_tokens_and_by_id_find_what_the_user_may_read(plain_json: HttpFile) -> None:
    hits = {}
    for user in ("ann", "eve"):
        plain_json.variables["user"] = user
        assert 1 == len(plain_json.run(3)["hits"]["hits"])
        hits[user] = [titles(plain_json.run(number)) for number in (4, 5)]

    assert 6 == len(plain_json.requests)
    assert {"ann": [[(OLD, 136), (DRAFT, 131)]] * 2, "eve": [[(OLD, 136)]] * 2} == hits


def test_a_user_gets_no_tokens_of_an_unreadable_source(plain_json: HttpFile) -> None:
    """The first request has no hit, so the second cannot be sent."""
    plain_json.variables |= {"user": "eve", "document": "stove-2024-draft"}
    answer = plain_json.run(3)
    plain_json.variables["document"] = "nobody-wrote-this"
    unknown = plain_json.run(3)

    assert [] == answer["hits"]["hits"]
    assert answer["hits"] == unknown["hits"]
    with pytest.raises(IndexError):
        plain_json.run(4)


def test_the_clauses_are_those_of_the_query_builder(plain_json: HttpFile, client: OpenSearch) -> None:
    index = plain_json.variables["index"]
    tokens = plain_json.run(3)["hits"]["hits"][0]["_source"]["simdoc"]["tokens"].split()
    by_id = json.loads(plain_json.filled(plain_json.requests[5]).partition("\n\n")[2])["query"]
    built = client.search(index=index, body={"query": similar_query(tokens, 0.5, exclude_id="stove-2023")})

    assert similar_by_id(index, "stove-2023", 0.5, filters=by_id["bool"]["filter"]) == by_id
    assert titles(built) == titles(plain_json.run(4))


def test_the_script_prints_a_query_that_takes_filters(app: Any, client: OpenSearch, index: str) -> None:
    text = json.loads((EXAMPLES / "manuals.jsonl").read_text("utf-8").splitlines()[2])["body"]
    body = json.loads(run("fingerprints.py", "query", "0.2", "0.8", cwd=EXAMPLES / "plain_json", stdin=text))
    body["query"]["bool"]["filter"].append({"terms": {"readers": ["eve", "everyone"]}})

    assert [(SOLD, 131), (OLD, 108)] == titles(client.search(index=index, body=body))


@pytest.mark.slow
def test_the_script_without_arguments_prints_its_usage() -> None:
    command = [sys.executable, str(EXAMPLES / "plain_json" / "fingerprints.py")]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)

    assert (1, "") == (done.returncode, done.stdout)
    assert "fingerprints.py bulk <" in done.stderr
