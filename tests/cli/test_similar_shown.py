"""`simdoc-search similar`: how its answer is shown, to people and to programs."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.support.cli import json_lines, output, process, run, words
from tests.support.similar import COPY, similar

MEASURES = {"jaccard", "containment", "contained"}


@pytest.fixture(autouse=True)
def folder(similar_corpus: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which the commands run."""
    monkeypatch.chdir(similar_corpus)
    return similar_corpus


def test_json_has_the_promised_keys() -> None:
    """Overlaps and probabilities are fractions; stdout holds one object and stderr nothing."""
    result = run("similar", "doc123_20_80", "--json")
    shown = similar("doc123_20_80")

    assert (0, "") == (result.exit_code, result.stderr)
    assert ["query", "plan", "candidates", "total", "is_total_exact", "hits", "left_out"] == list(shown)
    assert {"id": "doc123.txt", "overlap": 0.2, "probability": 0.8, "measure": "jaccard"} == shown["query"]
    assert {"kind": "bands", "clauses": 80, "rows": 2, "bands": 40} == shown["plan"]
    assert shown["candidates"] >= len(shown["hits"])
    assert {"id", "overlap", "matched", "kind", "changed"} | MEASURES == set(shown["hits"][0])
    assert (COPY, 1.0, "exact") == tuple(shown["hits"][0][key] for key in ("id", "overlap", "kind"))
    assert 0.53 == pytest.approx(shown["hits"][1]["overlap"], abs=0.002)


def test_json_without_bands_has_the_same_keys() -> None:
    """What does not apply is null; clauses are the tokens that are counted."""
    shown = similar("doc123")

    assert {"id": "doc123.txt", "overlap": None, "probability": None, "measure": "jaccard"} == shown["query"]
    assert ["kind", "clauses", "rows", "bands"] == list(shown["plan"])
    assert ("threshold", None, None) == tuple(shown["plan"][key] for key in ("kind", "rows", "bands"))
    assert shown["hits"][0]["matched"] == shown["plan"]["clauses"]


def test_people_get_a_table_in_percent() -> None:
    """A line per hit with overlap and id, then how many documents were compared."""
    header, first, *_ = output("similar", "doc123_20").splitlines()

    assert ["overlap", "document"] == header.split()
    assert re.fullmatch(r" *100\.0 % +reports/copy\.txt *", first)


def test_no_hit_is_an_answer() -> None:
    """The command succeeds, and says how it asked."""
    result = run("similar", "other_20")

    assert (0, "") == (result.exit_code, result.stderr)
    assert "document" not in result.stdout.splitlines()[0].split()
    assert [] == similar("other_20")["hits"]


def test_a_line_is_a_hit_where_the_output_is_read_by_a_program(tmp_path: Path) -> None:
    """A long id stays in one piece in a pipe, whatever the width of the terminal."""
    long = "folder/" * 40 + "report.txt"
    lines = json_lines({"id": long, "text": words(0, 50)}, {"id": "short", "text": words(0, 50)})
    output("index", "-", "--store", tmp_path / "s", stdin=lines)
    done = process("similar", "short", "--store", "s", cwd=tmp_path, COLUMNS="60")

    assert (0, "") == (done.returncode, done.stderr)
    assert long in done.stdout


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
@pytest.mark.slow
def test_any_id_is_shown_on_any_output(tmp_path: Path, encoding: str) -> None:
    """Where stdout has another encoding than UTF-8 the table is still printed, and JSON is still exact."""
    lines = json_lines({"id": "漢😀", "text": words(0, 50)}, {"id": "a", "text": words(0, 50)})
    output("index", "-", "--store", tmp_path / "s", stdin=lines)
    table, data = (
        process("similar", "a", "--store", "s", *options, cwd=tmp_path, PYTHONIOENCODING=encoding)
        for options in ([], ["--json"])
    )

    assert (0, "", 0, "") == (table.returncode, table.stderr, data.returncode, data.stderr)
    assert "100.0 %" in table.stdout
    assert ["漢😀"] == [hit["id"] for hit in json.loads(data.stdout)["hits"]]


def test_colours_are_for_terminals(folder: Path) -> None:
    """What is read by a program has no escape sequences."""
    done = process("similar", "doc123", cwd=folder)

    assert (0, "") == (done.returncode, done.stderr)
    assert COPY in done.stdout
    assert "\x1b" not in done.stdout


def test_a_short_text_with_an_overlap_is_told_what_it_misses() -> None:
    """A long document that contains it overlaps little; people are told on stderr, programs are not."""
    short, note = words(0, 60), "note: the text is short; a long document that contains it has a smaller overlap"
    asked = ("similar", "--text", short, "--overlap", "20")

    assert run(*asked).stderr.startswith(note)
    assert "" == run(*asked, "--json").stderr == run(*asked[:3]).stderr
    assert "" == run("similar", "doc123_20").stderr == run("similar", "--text", words(0, 104), "--overlap", "20").stderr


@pytest.mark.parametrize("as_json", [[], ["--json"]])
def test_a_script_can_fail_without_hits(as_json: list[str]) -> None:
    """The answer is printed all the same; with --all-from one hit in one answer is enough."""
    nothing, some = run("similar", "other", "--fail-if-empty", *as_json), run("similar", "doc123", "--fail-if-empty")

    assert (1, "", 0) == (nothing.exit_code, nothing.stderr, some.exit_code)
    assert run("similar", "other", *as_json).stdout == nothing.stdout
    for queries, code in (("other\nother\n", 1), ("other\ndoc123\n", 0)):
        assert code == run("similar", "--all-from", "-", "--fail-if-empty", *as_json, stdin=queries).exit_code


def test_help_says_which_exit_codes_there_are() -> None:
    """That of the program, for all commands."""
    assert "Exit codes: 0 success, 1 failure, 2 invalid arguments" in " ".join(output("--help").split())
