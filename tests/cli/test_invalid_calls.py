"""Unusual ids work, and wrong calls end with one sentence on stderr."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.support.cli import answer, environment, json_lines, output, run, sentence, usage_error, words, write

pytestmark = pytest.mark.usefixtures("folder")


def index(*documents: Mapping[str, object]) -> None:
    output("index", "-", stdin=json_lines(*documents))


def test_any_id_can_be_queried_and_deleted() -> None:
    ids = [
        "with_under_score",
        "a/b/c",
        "two words",
        'quo"ted',
        "éà",
        "漢字",
        "back\\slash",
        "_1",
        "a_20_80",
        "'",
        "{x}",
    ]
    index({"id": "copy", "text": words(0, 50)}, *({"id": id, "text": words(0, 50)} for id in ids))
    for id in ids:
        quoted = '"' + id.replace("\\", "\\\\").replace('"', '\\"') + '"_20_80'

        assert id == answer("similar", id)["query"]["id"]
        assert (id, 0.2, 0.8) == tuple(answer("similar", quoted)["query"].values())[:3]
    assert set(ids) == {hit["id"] for hit in answer("similar", "copy", "--size", 20)["hits"]}
    for id in ids:
        assert 1 == answer("delete", id)["deleted_count"]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("", "write an id"),
        ("FINGERPRINT:", "write an id"),
        ("_20_80", "no id before the numbers; write an id"),
        ('"a', "is not closed; write"),
        ('""_20', "write an id between the quotes"),
        ('"a"20', "after the quoted id is not a number; write"),
        ('"a"_x', "write a number such as 20 or 12.5"),
        ("a_0.2", "write 20 for 20 %"),
        ("a_101", "over 100"),
        ("a_20_0", "would find nothing"),
        ("a_20_0.8", "write 80 for 80 %"),
    ],
)
def test_a_malformed_fingerprint_is_a_usage_error(query: str, message: str) -> None:
    index({"id": "a", "text": "one two three"})

    assert message in usage_error(run("similar", query))
    assert message in usage_error(run("explain", query))


@pytest.mark.parametrize("name", ["rental", "Rental agreement", "AGREEMENT", "the rental 2023", "agreement_20"])
def test_an_unknown_id_lists_the_documents_whose_names_contain_its_words(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, {"corpus/2023/signed/My Rental Agreement for Flat 4 (final copy).txt": words(0, 50)})
    output("index", "corpus")

    for command in ("similar", "passages", "show"):
        assert "did you mean '2023/signed/My Rental Agreement for Flat 4 (final copy).txt'?" in sentence(
            run(command, name)
        )
    assert "zebra" not in sentence(run("similar", "doc12"))
    assert sentence(run("similar", "nothing_like_it")).startswith("no document 'nothing_like_it' in the index")


def test_an_ambiguous_fingerprint_lists_unambiguous_ones(folder: Path) -> None:
    write(folder / "c", {"invoice": words(0, 50), "invoice_10": words(0, 50), "a/doc.txt": "x", "b/doc.txt": "x"})
    output("index", "c")
    message = sentence(run("similar", "invoice_10"))
    assert message.startswith("'invoice_10' matches several documents; ")
    readings = re.findall(r'"[^"]+"(?:_\d+)*', message.partition("use one of these queries instead:")[2])

    assert ['"invoice_10"', '"invoice"_10'] == readings
    assert message == sentence(run("explain", "invoice_10"))
    for command in ("similar", "explain"):
        ids = [answer(command, reading)["query"]["id"] for reading in readings]
        assert ["invoice_10", "invoice"] == ids
    assert ["a/doc.txt", "b/doc.txt"] == re.findall(r'"([^"]+)"', sentence(run("similar", "doc")))
    assert "invoice_10" == answer("similar", "invoice_10", "--overlap", "10")["query"]["id"]


COMMANDS_WITH_A_LOCATION = [
    ["info", "--store", "LOCATION"],
    ["index", "a.txt", "--store", "LOCATION"],
    ["similar", "a", "--store", "LOCATION"],
    ["similar", "--text", "some words", "--store", "LOCATION"],
    ["explain", "a_20", "--store", "LOCATION"],
    ["delete", "a", "--store", "LOCATION"],
    ["check", "LOCATION"],
    ["status", "LOCATION"],
    ["backfill", "LOCATION", "--text-field", "body"],
    ["template", "install", "LOCATION"],
    ["template", "install", "LOCATION", "--pipeline", "--index", "docs"],
    ["backup", "LOCATION", "copy"],
    ["backup", "a.txt", "LOCATION"],
    ["repair", "a.txt", "--to", "LOCATION"],
    ["engine", "start", "--data", "LOCATION"],
]


@pytest.mark.parametrize("command", COMMANDS_WITH_A_LOCATION, ids=" ".join)
def test_a_malformed_address_is_refused_without_its_password(folder: Path, command: list[str]) -> None:
    write(folder, {"a.txt": "some words"})
    for location in ("htp://u:SECRET@h/x", "u:SECRET@h:9200/x", "http://u:SECRET@h/x", "u:SEC/RET@h"):
        result = run(*(location if argument == "LOCATION" else argument for argument in command))

        assert usage_error(result)
        assert "SEC" not in result.stderr
        assert ["a.txt"] == [path.name for path in folder.iterdir()]


@pytest.mark.parametrize("command", [["info"], ["similar", "a"], ["index", "a.txt"], ["delete", "a"]])
def test_a_malformed_address_in_the_environment_is_refused(folder: Path, command: list[str]) -> None:
    write(folder, {"a.txt": "some words"})
    for location, message in (
        ("htp://u:SECRET@h/x", "use http://host:port/index"),
        ("localhost:9200/docs", "use http://localhost"),
    ):
        result = run(*command, SIMDOC_STORE=location)

        assert message in usage_error(result)
        assert "SECRET" not in result.stderr
    assert ["a.txt"] == [path.name for path in folder.iterdir()]


@pytest.mark.parametrize("command", [["index"], ["similar", "--file"], ["similar", "--all-from"]])
def test_an_address_in_place_of_a_file_is_refused_without_its_password(command: list[str]) -> None:
    index({"id": "a", "text": "one two three"})

    assert "SECRET" not in sentence(run(*command, "htp://u:SECRET@h/x"))


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_ctrl_c_ends_a_command_with_130(folder: Path) -> None:
    index({"id": "a", "text": "one two three"})
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a background process ignores it, and so do its children
        signal.signal(signal.SIGINT, signal.default_int_handler)
    command = [sys.executable, "-m", "simdoc_search", "-v", "similar", "--text", "-"]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, cwd=folder, env=environment(), text=True, stdin=pipe, stdout=pipe, stderr=pipe
    ) as waiting:
        assert waiting.stderr
        assert "opening" in waiting.stderr.readline()
        waiting.send_signal(signal.SIGINT)
        out, message = waiting.communicate(timeout=60)

    assert (130, "", "Error: interrupted") == (waiting.returncode, out, message.strip())
