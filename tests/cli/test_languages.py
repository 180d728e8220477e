"""`simdoc-search languages` of a store, of folders and of a text, and `index --language`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.cli import answer, output, run, sentence, usage_error, write
from tests.support.translations import PROSE


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change to a folder with a corpus."""
    monkeypatch.chdir(tmp_path)
    corpus = {f"{code}.txt": PROSE[code] for code in ("de", "fr", "ru")}
    write(tmp_path / "corpus", {**corpus, "de/2.txt": PROSE["de"] + " Zwei.", "no.txt": "few words here"})
    return tmp_path


def counts(found: dict[str, object]) -> dict[str | None, int]:
    """Map each language to its number of documents, in the order of the output."""
    assert isinstance(found["languages"], list)
    return {row["language"]: row["document_count"] for row in found["languages"]}


def test_the_languages_of_a_store_are_counted() -> None:
    """The most frequent language comes first. `--filter` selects documents by language."""
    output("index", "corpus", "--language")
    result = answer("languages")

    assert (5, 0.4) == (result["document_count"], result["languages"][0]["share"])
    assert [("de", 2), ("fr", 1), ("ru", 1), ("unknown", 1)] == list(counts(result).items())
    assert ["de", "2", "40.0", "%"] == output("languages").splitlines()[0].split()
    assert {"de": 1} == counts(answer("languages", "--filter", "path=de/"))
    assert {"fr": 1} == counts(answer("languages", "--filter", "language=fr"))
    assert "language   from the metadata, or else identified" in output("info")


def test_the_languages_of_a_folder_are_counted_without_a_store(folder: Path) -> None:
    """The output names skipped files. `--each-document` lists the possible languages of each document.

    If the metadata of a document names its language, no others are listed.
    """
    (folder / "corpus" / "b.bin").write_bytes(bytes(range(256)) * 9)
    write(folder, {"rows.jsonl": json.dumps({"id": "stated", "text": PROSE["de"], "language": "sv"})})
    found = answer("languages", "corpus", "rows.jsonl", "--each-document", "--workers", "1")
    rows = {Path(row["path"]).name: row for row in found["each_document"]}

    assert {"de": 2, "fr": 1, "ru": 1, "sv": 1, "unknown": 1} == counts(found)
    assert (["corpus/b.bin"], []) == ([skip["path"] for skip in found["skipped"]], found["problems"])
    assert {"de.txt", "fr.txt", "ru.txt", "2.txt", "no.txt", "stated"} == rows.keys()
    assert ("fr", "fr") == (rows["fr.txt"]["language"], rows["fr.txt"]["candidates"][0]["language"])
    assert ("sv", []) == (rows["stated"]["language"], rows["stated"]["candidates"])
    assert ["corpus", "rows.jsonl"] == sorted(path.name for path in folder.iterdir())


@pytest.mark.slow
def test_the_terminal_shows_languages_speed_and_skipped_files(folder: Path) -> None:
    (folder / "corpus" / "b.bin").write_bytes(bytes(range(256)) * 9)
    result = run("languages", "corpus", "--each-document", "--workers", "1")

    assert 0 == result.exit_code
    assert any(line.startswith("ru ") and "ru.txt  (ru " in line for line in result.stdout.splitlines())
    assert " documents/s, " in result.stdout
    assert "5 documents, " in result.stdout
    assert "b.bin" in result.stderr


def test_a_text_has_candidates_with_probabilities() -> None:
    """The most probable language comes first. A short text has no candidates."""
    result = answer("languages", "--text", PROSE["de"])
    lines = output("languages", "--text", "-", stdin=PROSE["de"]).splitlines()
    probabilities = [candidate["probability"] for candidate in result["candidates"]]

    assert ("de", "de") == (result["language"], result["candidates"][0]["language"])
    assert sorted(probabilities, reverse=True) == probabilities
    assert 0.9 < probabilities[0] <= sum(probabilities) <= 1.000001
    assert ("de", ["de"]) == (lines[0], lines[1].split()[:1])
    assert {"language": "unknown", "candidates": []} == answer("languages", "--text", "few words")


def test_contradicting_options_are_refused() -> None:
    assert "--text cannot be combined" in usage_error(run("languages", "corpus", "--text", "a"))
    assert "list --show language" in usage_error(run("languages", "--each-document"))
    assert "omit PATH" in usage_error(run("languages", "corpus", "--filter", "language=de"))


@pytest.mark.slow
def test_a_path_that_cannot_be_read_is_reported() -> None:
    assert "nowhere" in sentence(run("languages", "nowhere"))
    assert 1 == run("languages", "corpus", "nowhere").exit_code


def test_a_store_without_languages_refuses_the_option() -> None:
    """A store with languages identifies them in later runs too."""
    output("index", "corpus", "--store", "plain")
    error = sentence(run("index", "corpus", "--store", "plain", "--language"))
    output("index", "corpus", "--store", "has", "--language")

    assert "the index plain was created without --language; choose a new index" in error
    assert {None: 5} == counts(answer("languages", "--store", "plain"))
    assert "--language" in run("languages", "--store", "plain").stderr
    for options in ([], ["--language"]):
        assert ", 5 unchanged" in output("index", "corpus", "--store", "has", *options)
