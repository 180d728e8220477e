"""Output of `simdoc-search similar` for people and for programs."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.support.cli import json_lines, output, process, run, words
from tests.support.similar import COPY, HALF, OLD, similar

pytestmark = pytest.mark.usefixtures("in_similar_corpus")


def test_json_has_the_promised_keys() -> None:
    result = run("similar", "doc123_20_80", "--json")
    shown = json.loads(result.stdout)
    hit = shown["hits"][0]

    assert (0, "") == (result.exit_code, result.stderr)
    keys = ["query", "plan", "candidate_count", "total", "is_total_exact", "changed", "hits", "left_out"]
    assert keys == list(shown)
    assert {"id": "doc123.txt", "overlap": 0.2, "probability": 0.8, "measure": "jaccard"} == shown["query"]
    assert {"kind": "bands", "clause_count": 80, "tokens_per_band": 2, "band_count": 40} == shown["plan"]
    assert {
        "id",
        "overlap",
        "matched_token_count",
        "kind",
        "changed",
        "jaccard",
        "containment",
        "reverse_containment",
    } == set(hit)
    assert (COPY, 1.0, "exact") == (hit["id"], hit["overlap"], hit["kind"])


def test_json_without_bands_has_null_for_them() -> None:
    shown = similar("doc123")

    assert {"id": "doc123.txt", "overlap": None, "probability": None, "measure": "jaccard"} == shown["query"]
    clauses = shown["hits"][0]["matched_token_count"]
    assert {"kind": "threshold", "clause_count": clauses, "tokens_per_band": None, "band_count": None} == shown["plan"]


def test_overlaps_are_exact_and_estimates_have_fewer_keys() -> None:
    """`half.txt` and `doc123.txt` have 136 of their 256 shingles in common."""
    hits = similar("doc123_20")["hits"]
    half = hits[1]

    assert [(COPY, 1.0), (HALF, 136 / 256), (OLD, round(76 / 316, 6))] == [(hit["id"], hit["overlap"]) for hit in hits]
    assert {"exact"} == {hit["kind"] for hit in hits}
    assert (136 / 256, 136 / 196, 136 / 196) == (half["jaccard"], half["containment"], half["reverse_containment"])
    assert {"id", "overlap", "matched_token_count", "kind"} == similar("doc123", "--estimate")["hits"][1].keys()


def test_people_get_a_table_in_percent() -> None:
    header, first, second, *_ = output("similar", "doc123_20").splitlines()

    assert ["overlap", "document"] == header.split()
    assert re.fullmatch(r" *100\.0 % +reports/copy\.txt *", first)
    assert [" 53.1 %", HALF] == [second[:7], second.split()[-1]]


def test_the_measure_is_the_heading() -> None:
    result = run("similar", "--text", words(20, 60), "--measure", "containment", "--overlap", "50")

    assert ["share of your text  document", "           100.0 %  doc123.txt"] == result.stdout.splitlines()[:2]
    assert result.stdout.endswith(" hits, 4 documents compared\n")
    assert "" == result.stderr


def test_estimates_have_a_tilde_and_a_note(tmp_path: Path) -> None:
    output("index", "corpus", "--no-texts", "--store", tmp_path / "s")
    result = run("similar", "--text", words(0, 200), "--store", tmp_path / "s")

    assert "~100 %" in result.stdout
    assert "note: 4 overlaps are estimated, because the index does not have both texts" in result.stderr


def test_a_result_without_hits_only_fails_with_fail_if_empty() -> None:
    """With `--all-from`, one hit of any query is enough."""
    result = run("similar", "other_20")

    assert (0, "") == (result.exit_code, result.stderr)
    assert "document" not in result.stdout.splitlines()[0].split()
    for options in ([], ["--json"]):
        empty = run("similar", "other", "--fail-if-empty", *options)
        assert (1, "") == (empty.exit_code, empty.stderr)
        assert run("similar", "other", *options).stdout == empty.stdout
        for queries, code in (("other\nother\n", 1), ("other\ndoc123\n", 0)):
            assert code == run("similar", "--all-from", "-", "--fail-if-empty", *options, stdin=queries).exit_code


def test_a_short_text_without_hits_gets_a_note() -> None:
    """A note on stderr says that `passages` finds long documents that contain the text."""
    command = ("similar", "--text", words(0, 60), "--overlap", "90")
    message = run(*command).stderr

    assert message.startswith(
        "note: the text is short, so a long document that contains the text may not reach the minimum overlap"
    )
    assert "Find such documents with: simdoc-search passages" in message
    assert "" == run(*command, "--json").stderr == run(*command[:3]).stderr
    assert "" == run("similar", "--text", words(0, 60), "--overlap", "20").stderr
    assert "" == run("similar", "other_20").stderr == run("similar", "--text", words(0, 104), "--overlap", "90").stderr


@pytest.mark.slow
def test_a_pipe_gets_whole_ids_and_no_colours(tmp_path: Path) -> None:
    long = "folder/" * 40 + "report.txt"
    lines = json_lines({"id": long, "text": words(0, 50)}, {"id": "short", "text": words(0, 50)})
    output("index", "-", "--store", tmp_path / "s", stdin=lines)
    done = process("similar", "short", "--store", "s", cwd=tmp_path, COLUMNS="60")

    assert (0, "") == (done.returncode, done.stderr)
    assert long in done.stdout
    assert "\x1b" not in done.stdout


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
@pytest.mark.slow
def test_any_id_is_printed_in_any_encoding(tmp_path: Path, encoding: str) -> None:
    lines = json_lines({"id": "漢😀", "text": words(0, 50)}, {"id": "a", "text": words(0, 50)})
    output("index", "-", "--store", tmp_path / "s", stdin=lines)
    table, data = (
        process("similar", "a", "--store", "s", *options, cwd=tmp_path, PYTHONIOENCODING=encoding)
        for options in ([], ["--json"])
    )

    assert (0, "", 0, "") == (table.returncode, table.stderr, data.returncode, data.stderr)
    assert "100.0 %" in table.stdout
    assert ["漢😀"] == [hit["id"] for hit in json.loads(data.stdout)["hits"]]
