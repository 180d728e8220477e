"""Shell completion of ids and paths."""

from __future__ import annotations

from pathlib import Path
from threading import Event

import opensearchpy  # noqa: F401 - a thread that begins to import it may outlive its test
import pytest

from tests.support.cli import json_lines, output, process, run, words
from tests.support.http_server import Answer, Request, serving, unused_url


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change to a folder with a store."""
    monkeypatch.chdir(tmp_path)
    ids = ["reports/2020.txt", "reports/2021.txt", "notes/a.txt", "übung", "re\x1b[2J"]
    output("index", "-", stdin=json_lines(*({"id": id, "text": words(0, 50)} for id in ids)))
    return tmp_path


def bash_request(line: str) -> dict[str, str]:
    """Return the environment variables with which bash requests completions of a line."""
    count = len(line.split(" ")) - 1
    return {"_SIMDOC_SEARCH_COMPLETE": "bash_complete", "COMP_WORDS": line, "COMP_CWORD": str(count)}


def completions(line: str, **environment: str) -> list[str]:
    """Return the completions for bash: `plain,VALUE`, or `file,PREFIX` for paths."""
    done = run(**bash_request(line), **environment)
    assert "" == done.stderr
    return sorted(done.stdout.split())


@pytest.mark.slow
def test_the_command_answers_a_shell(folder: Path) -> None:
    done = process(cwd=folder, **bash_request("simdoc-search similar ü"))

    assert ("plain,übung\n", "") == (done.stdout, done.stderr)


@pytest.mark.parametrize("command", ["similar", "passages", "compare", "explain", "delete"])
def test_ids_complete(command: str, folder: Path) -> None:
    """An id with control characters is left out."""
    assert ["plain,reports/2020.txt", "plain,reports/2021.txt"] == completions(f"simdoc-search {command} re")
    assert ["plain,übung"] == completions(f"simdoc-search {command} ü")
    assert 4 == len(completions(f"simdoc-search {command} "))


def test_ids_of_the_named_store_complete(folder: Path) -> None:
    output("index", "-", "--store", "other", stdin=json_lines({"id": "reader", "text": "one two"}))

    assert ["plain,reader"] == completions("simdoc-search similar --store other re")
    assert ["plain,reader"] == completions("simdoc-search similar re", SIMDOC_STORE="other")


def test_paths_complete_if_no_id_does(folder: Path) -> None:
    for line in ("simdoc-search index r", "simdoc-search similar --file r", "simdoc-search similar ./c"):
        assert [f"file,{line.rpartition(' ')[2]}"] == completions(line)


def test_paths_complete_if_the_store_cannot_be_opened(folder: Path) -> None:
    for place in ("nowhere", "htp://u:p@h/x", f"{unused_url()}/docs"):
        assert ["file,re"] == completions(f"simdoc-search similar --store {place} re")


@pytest.mark.slow
def test_completion_does_not_wait_for_an_engine(folder: Path) -> None:
    completion_came = Event()

    def frozen(_: Request) -> Answer:
        completion_came.wait(50)
        return Answer()

    with serving(frozen) as server:
        came = completions(f"simdoc-search similar --store {server.url}/docs re")
        completion_came.set()

    assert ["file,re"] == came
    assert server.requests
