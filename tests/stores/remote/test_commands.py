"""Commands give the same answers and errors on an index as on a local store."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from simdoc_search.sketch.settings import Settings
from tests.support.cli import answer, output, run, sentence, usage_error, words, write, write_corpus
from tests.support.http_server import TempIndices


@pytest.fixture
def url(temp_indices: TempIndices, monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of a new store, with a user name. The password is in the environment."""
    monkeypatch.setenv("SIMDOC_PASSWORD", "s3cret")
    return f"{temp_indices.engine.replace('://', '://name@')}/{temp_indices.name()}"


def comparable(answer: Any) -> Any:
    """Return an answer without durations and places, which differ between stores."""
    if isinstance(answer, list):
        return [comparable(value) for value in answer]
    if not isinstance(answer, dict):
        return answer
    return {key: comparable(value) for key, value in answer.items() if key not in ("seconds", "index", "routing")}


def test_commands_give_the_same_answers_as_on_a_local_store(url: str, tmp_path: Path) -> None:
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
        expected, result = (comparable(answer(*command, "--store", store)) for store in (local, url))
        assert expected == result, number

    expected, info = (answer("info", "--store", store) for store in (local, url))
    assert expected["settings"]["sketches"].pop() == "words:1"  # an engine searches phrases in its text field
    assert (4, expected["settings"]) == (info["document_count"], info["settings"])
    assert Settings(indexes_word_pairs=False).to_dict().items() <= info["settings"].items()
    assert expected.keys() == info.keys()
    assert (True, True) == (info["bytes"] > 0, info["text_bytes"] > 0)
    assert url.replace("name@", "") == info["store"]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (["similar", "doc13"], "no document 'doc13' in the index; did you mean 'doc123.txt'"),
        (["delete", "doc13"], "no document 'doc13' in the index; did you mean 'doc123.txt'"),
        (
            ["index", "corpus", "--shingle-size", "3"],
            "was created with analysis.shingle_size 5, not 3; omit the settings that differ",
        ),
        (["index", "corpus", "--no-texts"], "was created with texts, and this cannot be changed; choose another index"),
    ],
)
def test_errors_are_one_sentence_without_the_password(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: list[str], expected: str
) -> None:
    write(tmp_path / "corpus", {"doc123.txt": words(0, 50)})
    monkeypatch.chdir(tmp_path)
    if command[0] != "index":
        assert "create it from files with `simdoc-search index`" in sentence(run(*command, "--store", url))
    output("index", "corpus", "--store", url)
    message = sentence(run(*command, "--store", url))

    assert expected in message
    assert "s3cret" not in message


def test_an_unknown_id_lists_the_documents_whose_names_contain_its_words(url: str, tmp_path: Path) -> None:
    name = "2023/My Rental Agreement for Flat 4 (final copy).txt"
    output("index", write(tmp_path / "corpus", {name: words(0, 50)}), "--store", url)

    assert f"did you mean {name!r}?" in sentence(run("similar", "rental", "--store", url))
    assert f"did you mean {name!r}?" in sentence(run("similar", "an AGREEMENT", "--store", url))


@pytest.fixture(params=["folder", "engine"])
def indexed_store(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A store with five documents: a local one, or an index."""
    store = str(tmp_path / "store") if request.param == "folder" else request.getfixturevalue("url")
    output("index", write_corpus(tmp_path / "corpus"), "--store", store)
    return store


def test_all_queries_in_a_file_are_answered(indexed_store: str, tmp_path: Path) -> None:
    write(tmp_path, {"queries.txt": "doc123\n\n  doc123_20_80 \r\nunknown_20\ndoc123_101\nhalf_40"})
    queries = ["doc123", "doc123_20_80", "unknown_20", "doc123_101", "half_40"]
    expected = []
    for query in queries:
        alone = run("similar", query, "--store", indexed_store, "--json")
        value = json.loads(alone.stdout) if alone.stdout else {"error": alone.stderr.strip().partition("Error: ")[2]}
        expected.append({"fingerprint": query, **value})
    result = run("similar", "--all-from", tmp_path / "queries.txt", "--store", indexed_store, "--json")

    assert {"results": expected} == json.loads(result.stdout)
    reasons = [f"  {value['fingerprint']}: {value['error']}\n" for value in expected if "error" in value]
    assert (1, f"{''.join(reasons)}Error: 2 of 5 queries failed\n") == (result.exit_code, result.stderr)


def test_the_first_failed_queries_of_many_are_named(indexed_store: str) -> None:
    """As tables, each query has its own error on stdout."""
    names = [f"nobody{number}" for number in range(7)]
    arguments = ["similar", "--all-from", "-", "--store", indexed_store]
    as_json, as_tables = (run(*arguments, *options, stdin="\n".join(names)) for options in (["--json"], []))

    *named, more, failure = as_json.stderr.splitlines()
    assert [f"  {name}: no document {name!r}" for name in names[:5]] == [line.partition(" in ")[0] for line in named]
    assert ["  and 2 more; the JSON lists all", "Error: 7 of 7 queries failed"] == [more, failure]
    assert "Error: 7 of 7 queries failed\n" == as_tables.stderr


def test_queries_from_stdin_are_answered_with_tables(indexed_store: str) -> None:
    options = ["--size", "1", "--store", indexed_store]
    tables = [f"{query}\n{output('similar', query, *options)}\n" for query in ("doc123_20", "half")]

    assert "".join(tables) == output("similar", "--all-from", "-", *options, stdin="doc123_20\nhalf\n")
    assert {"results": []} == answer("similar", "--all-from", "-", *options, stdin="\n")
    assert "Error: no document 'x'" in run("similar", "--all-from", "-", *options, stdin="x").stdout


def test_a_query_has_only_one_source(indexed_store: str, tmp_path: Path) -> None:
    message = usage_error(run("similar", "doc123", "--all-from", "-", "--store", indexed_store))

    assert "give one of QUERY, --file, --text or --all-from" == message
    assert "nowhere.txt" in sentence(run("similar", "--all-from", tmp_path / "nowhere.txt", "--store", indexed_store))
