"""Bad questions: strange ids, malformed FINGERPRINTs, places that are none, Ctrl-C; each is one sentence on stderr."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import answer, environment, json_lines, output, process, run, sentence, usage_error, words, write


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The empty folder in which the commands run."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def indexed(folder: Path, *lines: Mapping[str, object]) -> None:
    """A store with some documents."""
    output("index", "-", stdin=json_lines(*lines))


def reasons(report: Any) -> dict[str, str]:
    """Why what was skipped: file or line -> reason."""
    return {each["path"].rpartition("/")[2]: each["reason"] for each in report["skipped"]}


# --- ids ---


STRANGE = [
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


@pytest.mark.parametrize("id", STRANGE)
def test_any_id_can_be_asked_for(folder: Path, id: str) -> None:
    """As it is, quoted with an overlap, and deleted again."""
    indexed(folder, {"id": id, "text": words(0, 50)}, {"id": "copy", "text": words(0, 50)})
    quoted = '"' + id.replace("\\", "\\\\").replace('"', '\\"') + '"_20_80'

    assert (id, ["copy"]) == ((found := answer("similar", id))["query"]["id"], [hit["id"] for hit in found["hits"]])
    assert (id, 0.2, 0.8) == tuple(answer("similar", quoted)["query"].values())[:3]
    assert [id] == [hit["id"] for hit in answer("similar", "copy")["hits"]]
    assert 1 == answer("delete", id)["deleted"]


def test_an_id_over_512_bytes_is_skipped_and_one_of_512_is_not(folder: Path) -> None:
    """Bytes are counted, not characters; the reason says how many."""
    report = answer("index", "-", stdin=json_lines({"id": "é" * 256, "text": "x"}, {"id": "é" * 257, "text": "x"}))

    assert 1 == report["indexed"]
    assert "514 bytes long; the limit is 512" in reasons(report)["-:2"]


# --- FINGERPRINT ---


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("", "write an id"),
        ("FINGERPRINT:", "write an id"),
        ("_20_80", "no id before the numbers; write an id"),
        ('"a', "is not closed; write"),
        ('""_20', "write an id between the quotes"),
        ('"a"20', "after the quoted id is not a number; write"),
        ('"a"_x', "write a number like 20 or 12.5"),
        ("a_0.2", "write 20 for 20 %"),
        ("a_101", "over 100"),
        ("a_20_101", "over 100"),
        ("a_20_0", "would find nothing"),
        ("a_20_0.8", "write 80 for 80 %"),
    ],
)
def test_a_malformed_fingerprint_is_one_sentence(folder: Path, asked: str, said: str) -> None:
    """It says how to write it; the command was called wrongly."""
    indexed(folder, {"id": "a", "text": "one two three"})

    assert said in usage_error(run("similar", asked))


def test_an_unknown_id_comes_with_suggestions(folder: Path) -> None:
    """The stored ids that look most like it."""
    indexed(folder, *({"id": id, "text": "one"} for id in ("letters/doc123.txt", "letters/doc124.txt", "zebra")))

    assert "did you mean 'letters/doc123.txt'" in sentence(run("similar", "doc12_20"))
    assert "zebra" not in sentence(run("similar", "doc12"))
    assert sentence(run("similar", "nothing_like_it")).startswith("no document 'nothing_like_it' in the store")


def test_an_ambiguous_fingerprint_lists_how_to_write_each_reading(folder: Path) -> None:
    """Each of them works as it is printed."""
    write(folder / "c", {"invoice": words(0, 50), "invoice_10": words(0, 50), "a/doc.txt": "x", "b/doc.txt": "x"})
    output("index", "c")
    said = sentence(run("similar", "invoice_10"))
    readings = re.findall(r'"[^"]+"(?:_\d+)*', said.partition("write one of:")[2])

    assert ['"invoice_10"', '"invoice"_10'] == readings
    assert ["invoice_10", "invoice"] == [answer("similar", each)["query"]["id"] for each in readings]
    assert ["a/doc.txt", "b/doc.txt"] == re.findall(r'"([^"]+)"', sentence(run("similar", "doc")))
    assert "invoice_10" == answer("similar", "invoice_10", "--overlap", "10")["query"]["id"]


ON_A_PLACE = [
    ["info", "--store", "PLACE"],
    ["index", "a.txt", "--store", "PLACE"],
    ["similar", "a", "--store", "PLACE"],
    ["similar", "--text", "some words", "--store", "PLACE"],
    ["explain", "a_20", "--store", "PLACE"],
    ["delete", "a", "--store", "PLACE"],
    ["check", "PLACE"],
    ["status", "PLACE"],
    ["backfill", "PLACE", "--text-field", "body"],
    ["template", "install", "PLACE"],
    ["template", "install", "PLACE", "--pipeline", "--index", "docs"],
    ["backup", "PLACE", "copy"],
    ["backup", "a.txt", "PLACE"],
    ["repair", "a.txt", "--to", "PLACE"],
    ["engine", "start", "--data", "PLACE"],
]


@pytest.mark.parametrize("place", ["htp://u:SECRET@h/x", "u:SECRET@h:9200/x", "http://u:SECRET@h/x", "u:SEC/RET@h"])
@pytest.mark.parametrize("command", ON_A_PLACE, ids=" ".join)
def test_an_address_with_a_password_is_neither_shown_nor_made_a_folder(
    folder: Path, command: list[str], place: str
) -> None:
    """Wherever a place is named: the command was called wrongly, and what it says has no secret."""
    write(folder, {"a.txt": "some words"})
    result = run(*(place if each == "PLACE" else each for each in command))

    assert usage_error(result)
    assert "SEC" not in result.stderr
    assert ["a.txt"] == [each.name for each in folder.iterdir()]


@pytest.mark.parametrize("command", [["info"], ["similar", "a"], ["index", "a.txt"], ["delete", "a"]])
def test_the_store_of_the_environment_is_looked_at_as_well(folder: Path, command: list[str]) -> None:
    """SIMDOC_STORE may be mistyped like the option."""
    write(folder, {"a.txt": "some words"})
    for place, said in (
        ("htp://u:SECRET@h/x", "write http://host:port/index"),
        ("localhost:9200/docs", "write http://localhost"),
    ):
        result = run(*command, SIMDOC_STORE=place)

        assert said in usage_error(result)
        assert "SECRET" not in result.stderr
    assert ["a.txt"] == [each.name for each in folder.iterdir()]


@pytest.mark.parametrize("command", [["index"], ["similar", "--file"], ["similar", "--all-from"]])
def test_a_path_that_is_an_address_is_not_repeated_whole(folder: Path, command: list[str]) -> None:
    """Nor where a file is meant."""
    indexed(folder, {"id": "a", "text": "one two three"})

    assert "SECRET" not in sentence(run(*command, "htp://u:SECRET@h/x"))


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_ctrl_c_ends_a_command_with_130(folder: Path) -> None:
    """As shells count it; here while it waits for standard input."""
    indexed(folder, {"id": "a", "text": "one two three"})
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a run in the background; its children would ignore it too
        signal.signal(signal.SIGINT, signal.default_int_handler)
    command = [sys.executable, "-m", "simdoc_search", "-v", "similar", "--text", "-"]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, cwd=folder, env=environment(), text=True, stdin=pipe, stdout=pipe, stderr=pipe
    ) as waiting:
        assert waiting.stderr
        assert "opening" in waiting.stderr.readline()
        waiting.send_signal(signal.SIGINT)
        out, said = waiting.communicate(timeout=60)

    assert (130, "", "Error: interrupted") == (waiting.returncode, out, said.strip())


def test_an_error_has_no_traceback_in_a_process(folder: Path) -> None:
    """The same sentence stands on stderr, with exit code 1."""
    done = process("index", "missing", cwd=folder)

    assert (1, "", "Error: missing does not exist; check the path\n") == (done.returncode, done.stdout, done.stderr)
