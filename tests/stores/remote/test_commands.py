"""The commands answer and fail on an index of an engine as on a folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from simdoc_search.sketch.settings import Settings
from tests.support.cli import answer, output, run, sentence, usage_error, words, write, write_corpus
from tests.support.http_server import Indices


@pytest.fixture
def url(made: Indices, monkeypatch: pytest.MonkeyPatch) -> str:
    """A store that is not made yet, with a password that nobody must see."""
    monkeypatch.setenv("SIMDOC_PASSWORD", "s3cret")
    return f"{made.engine.replace('://', '://name@')}/{made.name()}"


def in_any_store(answer: Any) -> Any:
    """What is the same each time, wherever it is."""
    if isinstance(answer, list):
        return [in_any_store(each) for each in answer]
    if not isinstance(answer, dict):
        return answer
    return {key: in_any_store(value) for key, value in answer.items() if key not in ("seconds", "index", "routing")}


def test_commands_answer_as_on_a_local_store(url: str, tmp_path: Path) -> None:
    corpus, local = write_corpus(tmp_path / "corpus"), tmp_path / "store"
    commands: list[tuple[object, ...]] = [
        ("index", corpus, "--workers", "2"),
        ("index", corpus, "--workers", "1"),
        ("similar", "doc123"),
        ("similar", "doc123_20_80", "--size", "2"),
        ("similar", "half_40", "--filter", "path=reports/", "--include-self"),
        ("similar", "--text", words(0, 150), "--overlap", "30"),
        ("explain", "doc123_20_80"),
        ("delete", "reports/copy.txt", "notes/old.txt"),
        ("similar", "doc123"),
        ("index", corpus, "--prune", "--workers", "1"),
    ]
    for number, command in enumerate(commands):
        if "--prune" in command:
            (corpus / "other.txt").unlink()
        wanted, given = (in_any_store(answer(*command, "--store", store)) for store in (local, url))
        assert wanted == given, number

    wanted, given = (answer("info", "--store", store) for store in (local, url))
    assert wanted["settings"]["sketches"].pop() == "words:1"  # an engine finds phrases by its text field
    assert (4, wanted["settings"]) == (given["documents"], given["settings"])
    assert Settings(words=False).to_dict().items() <= given["settings"].items()
    assert wanted.keys() == given.keys()
    assert (True, True) == (given["bytes"] > 0, given["text_bytes"] > 0)
    assert url.replace("name@", "") == given["store"]


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["similar", "doc13"], "no document 'doc13' in the store; did you mean 'doc123.txt'"),
        (["delete", "doc13"], "no document 'doc13' in the store; did you mean 'doc123.txt'"),
        (["index", "corpus", "--shingle-size", "3"], "use its settings, or another index"),
        (["index", "corpus", "--no-texts"], "was made with texts; index into another one to change that"),
    ],
)
def test_commands_fail_with_a_sentence(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: list[str], said: str
) -> None:
    write(tmp_path / "corpus", {"doc123.txt": words(0, 50)})
    monkeypatch.chdir(tmp_path)
    if command[0] != "index":
        assert "make it with simdoc-search index" in sentence(run(*command, "--store", url))
    output("index", "corpus", "--store", url)
    message = sentence(run(*command, "--store", url))

    assert said in message
    assert "s3cret" not in message


@pytest.fixture(params=["folder", "engine"])
def indexed(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A store of one of two kinds with the five documents of the corpus."""
    store = str(tmp_path / "store") if request.param == "folder" else request.getfixturevalue("url")
    output("index", write_corpus(tmp_path / "corpus"), "--store", store)
    return store


def test_all_queries_of_a_file_are_answered(indexed: str, tmp_path: Path) -> None:
    write(tmp_path, {"queries.txt": "doc123\n\n  doc123_20_80 \r\nunknown_20\ndoc123_101\nhalf_40"})
    queries = ["doc123", "doc123_20_80", "unknown_20", "doc123_101", "half_40"]
    alone = [run("similar", each, "--store", indexed, "--json") for each in queries]
    wanted = [json.loads(e.stdout) if e.stdout else {"error": e.stderr.strip().partition("Error: ")[2]} for e in alone]
    result = run("similar", "--all-from", tmp_path / "queries.txt", "--store", indexed, "--json")

    assert {"results": [{"fingerprint": q, **w} for q, w in zip(queries, wanted, strict=True)]} == json.loads(
        result.stdout
    )
    assert (1, "Error: 2 queries of 5 failed\n") == (result.exit_code, result.stderr)


def test_all_queries_of_stdin_are_printed_for_people(indexed: str) -> None:
    options = ["--size", "1", "--store", indexed]
    tables = [f"{each}\n{output('similar', each, *options)}\n" for each in ("doc123_20", "half")]

    assert "".join(tables) == output("similar", "--all-from", "-", *options, stdin="doc123_20\nhalf\n")
    assert {"results": []} == answer("similar", "--all-from", "-", *options, stdin="\n")
    assert "Error: no document 'x'" in run("similar", "--all-from", "-", *options, stdin="x").stdout


def test_queries_come_from_one_place(indexed: str, tmp_path: Path) -> None:
    said = usage_error(run("similar", "doc123", "--all-from", "-", "--store", indexed))

    assert "give one of FINGERPRINT, --file, --text or --all-from" == said
    assert "nowhere.txt" in sentence(run("similar", "--all-from", tmp_path / "nowhere.txt", "--store", indexed))
