"""Bad input. What cannot be done is one sentence on stderr; what can, is done, and the rest is listed."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import (
    answer,
    environment,
    json_lines,
    output,
    process,
    run,
    sentence,
    usage_error,
    words,
    write,
    write_corpus,
)


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


# --- folders and files ---


def test_an_empty_folder_is_an_error_and_leaves_no_store(folder: Path) -> None:
    """Whoever names it meant another one."""
    (folder / "empty").mkdir()

    assert "empty has no files; name a folder with documents" == sentence(run("index", "empty"))
    assert ["empty"] == [each.name for each in folder.iterdir()]


def test_a_missing_path_is_an_error_before_anything_is_read(folder: Path) -> None:
    """The other paths are not indexed either, and no store is made."""
    write_corpus(folder / "corpus")

    assert "missing does not exist; check the path" == sentence(run("index", "corpus", "missing"))
    assert ["corpus"] == [each.name for each in folder.iterdir()]


AS_NOBODY = """
import os, sys
from simdoc_search.cli.group import cli
from simdoc_search import fingerprint, search, stores
from simdoc_search.stores import local
from rich import console, progress
fingerprint("loads all tables, for the interpreter itself may be out of reach from here on")
if os.geteuid() == 0:  # permissions mean nothing to root
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
cli(sys.argv[1:], prog_name="simdoc-search")
"""


@pytest.fixture
def public() -> Iterator[Path]:
    """A folder that any user can reach and write to; those of pytest are closed to others."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o777)
        yield Path(name)


def as_nobody(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A command run by a user without special rights."""
    command = [sys.executable, "-c", AS_NOBODY, *arguments]
    return subprocess.run(
        command, check=False, cwd=folder, env=environment(), capture_output=True, text=True, timeout=60
    )


no_permissions = pytest.mark.skipif(os.name == "nt", reason="Windows has other permissions")


@no_permissions
def test_a_folder_that_may_not_be_read_is_an_error(public: Path) -> None:
    """The message says what can be done about it."""
    write_corpus(public / "corpus").chmod(0)
    done = as_nobody(public, "index", "corpus")
    (public / "corpus").chmod(0o755)

    assert (1, "") == (done.returncode, done.stdout)
    assert "Error: no permission to read corpus; change its permissions or run as another user\n" == done.stderr


@no_permissions
def test_a_file_that_may_not_be_read_is_skipped(public: Path) -> None:
    """The others are indexed."""
    (write_corpus(public / "corpus") / "other.txt").chmod(0)
    done = as_nobody(public, "index", "corpus")

    assert (0, "1 permission denied: corpus/other.txt") == (done.returncode, done.stderr.strip())
    assert done.stdout.startswith("4 indexed, 0 unchanged, 1 skipped in ")


def test_a_file_to_ask_with_must_be_readable(folder: Path) -> None:
    """Missing, a folder, binary, not supported: each has its sentence."""
    indexed(folder, {"id": "a", "text": "one two three"})
    write(folder, {"data.raw": b"\x89\0\xff\x01\0\x02\xfe" * 99, "paper.pdf": b"%PDF-1.7", "sub/a.txt": "x"})

    assert "missing does not exist; check the path" == sentence(run("similar", "--file", "missing"))
    assert "sub is a folder; name a file in it" == sentence(run("similar", "--file", "sub"))
    assert "data.raw cannot be read: binary" == sentence(run("similar", "--file", "data.raw"))
    assert sentence(run("similar", "--file", "paper.pdf")).startswith("paper.pdf cannot be read: damaged: ")


# --- what is in the files ---


def test_any_encoding_is_read(folder: Path) -> None:
    """Broken UTF-8 is read with a replacement character, UTF-16 by its mark: all are copies of the text."""
    text = words(0, 60) + " naïve café über größe señor façade"
    broken = text.encode() + b" \xff"
    write(folder / "c", {"utf8": text, "utf16": text.encode("utf-16"), "broken": broken, "mark": "\ufeff" + text})
    report = answer("index", "c")

    assert (4, []) == (report["indexed"], report["skipped"])
    assert {"utf16": 1.0, "broken": 1.0, "mark": 1.0} == {
        hit["id"]: hit["overlap"] for hit in answer("similar", "utf8")["hits"]
    }


@pytest.mark.parametrize("data", [b"one two three\0four five six seven eight nine!", b"\0" * 64])
def test_nul_bytes_make_a_file_binary(folder: Path, data: bytes) -> None:
    """Text has none, unless it is plainly UTF-16 or UTF-32."""
    write(folder, {"data": data})

    assert {"data": "binary"} == reasons(answer("index", "data"))


def test_a_text_without_words_is_skipped(folder: Path) -> None:
    """Empty files too: there is nothing to compare."""
    write(folder / "c", {"empty.txt": "", "dots.txt": "... !\n", "one.txt": "word"})
    report = answer("index", "c")

    assert 1 == report["indexed"]
    assert {"empty.txt": "no words", "dots.txt": "no words"} == reasons(report)


def test_a_document_that_loses_its_words_leaves_the_store(folder: Path) -> None:
    """What was stored of it would be wrong."""
    write(folder / "c", {"a.txt": "one two three", "b.txt": "four five six"})
    output("index", "c")
    write(folder / "c", {"a.txt": "..."})
    report = answer("index", "c")

    assert (1, {"a.txt": "no words"}) == (report["deleted"], reasons(report))
    assert 1 == answer("info")["documents"]


@pytest.mark.parametrize("text", ["", "... !"])
def test_asking_with_a_text_without_words_is_an_error(folder: Path, text: str) -> None:
    """It is not an answer without hits."""
    indexed(folder, {"id": "a", "text": "one two three"})

    assert "the text has no words, so nothing can be similar to it" == sentence(run("similar", "--text", text))


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_texts_of_one_to_four_words_are_found_by_exact_copies(folder: Path, count: int) -> None:
    """Such a text is one shingle of all its words."""
    text = words(0, count)
    indexed(folder, {"id": "a", "text": text}, {"id": "b", "text": text.upper()}, {"id": "c", "text": text + " more"})

    assert [("b", 1.0)] == [(hit["id"], hit["overlap"]) for hit in answer("similar", "a")["hits"]]


# --- JSONL ---


def test_of_two_lines_with_one_id_the_last_wins_and_both_are_counted(folder: Path) -> None:
    """One document is stored; people see the count, too."""
    lines = [{"id": id, "text": words(start, start + 50)} for id, start in (("a", 0), ("a", 100), ("b", 100))]
    report = answer("index", "-", stdin=json_lines(*lines))

    assert (2, 1) == (report["indexed"], report["duplicates"])
    assert ["a"] == [hit["id"] for hit in answer("similar", "b")["hits"]]
    assert "1 duplicate id" in output("index", "-", stdin=json_lines(*lines))


def test_a_bad_line_is_skipped_with_its_number(folder: Path) -> None:
    """The lines around it are indexed."""
    lines = ['{"id": "a", "text": "one"}', '{"id": "b", "text', "", '{"id": "c"}', "[1]", '{"text": "x"}', "\udcff"]
    data = "\n".join([*lines, '{"id": "d", "text": "two"}']).encode("utf-8", "surrogateescape")
    (folder / "docs.jsonl").write_bytes(data)
    report = answer("index", "docs.jsonl")

    assert 2 == report["indexed"]
    assert [f"docs.jsonl:{number}" for number in (2, 4, 5, 6, 7)] == list(reasons(report))
    assert "not JSON" in reasons(report)["docs.jsonl:2"]
    assert "no 'text'" == reasons(report)["docs.jsonl:4"]
    assert "not valid UTF-8" == reasons(report)["docs.jsonl:7"]


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
        ('"a"20', "after the quoted id is not understood; write"),
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
    ["backfill", "PLACE", "--field", "body"],
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
    for place, said in (("htp://u:SECRET@h/x", "write http://h/x"), ("localhost:9200/docs", "write http://localhost")):
        result = run(*command, SIMDOC_STORE=place)

        assert said in usage_error(result)
        assert "SECRET" not in result.stderr
    assert ["a.txt"] == [each.name for each in folder.iterdir()]


@pytest.mark.parametrize(
    "command", [["index"], ["similar", "--file"], ["similar", "--all-from"], ["explain", "a", "--svg"]]
)
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
