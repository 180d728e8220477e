"""`simdoc-search languages`: of a store, of a folder; `index --language`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.cli import answer, output, run, sentence, usage_error, write
from tests.support.prose import PROSE


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which the commands run, with a corpus in it."""
    monkeypatch.chdir(tmp_path)
    corpus = {f"{code}.txt": PROSE[code] for code in ("de", "fr", "ru")}
    write(tmp_path / "corpus", {**corpus, "de/2.txt": PROSE["de"] + " Zwei.", "no.txt": "few words here"})
    return tmp_path


def counts(found: dict[str, object]) -> dict[str | None, int]:
    """Language to number of documents, in their order."""
    assert isinstance(found["languages"], list)
    return {each["language"]: each["documents"] for each in found["languages"]}


def test_the_languages_of_a_store_are_counted() -> None:
    """Most first; --filter counts some of them, and takes a language itself."""
    output("index", "corpus", "--language")
    found = answer("languages")

    assert (5, 0.4) == (found["documents"], found["languages"][0]["share"])
    assert [("de", 2), ("fr", 1), ("ru", 1), ("unknown", 1)] == list(counts(found).items())
    assert ["de", "2", "40.0", "%"] == output("languages").splitlines()[0].split()
    assert {"de": 1} == counts(answer("languages", "--filter", "path=de/"))
    assert {"fr": 1} == counts(answer("languages", "--filter", "language=fr"))
    assert "language   identified" in output("info")
    assert "language:1" in answer("info")["settings"]["sketches"]


def test_a_folder_needs_no_store(folder: Path) -> None:
    """None is made; speed and what was skipped stand beside the counts."""
    (folder / "corpus" / "b.bin").write_bytes(bytes(range(256)) * 9)
    found = answer("languages", "corpus", "--workers", "1")
    result = run("languages", "corpus", "--workers", "1")

    assert {"de": 2, "fr": 1, "ru": 1, "unknown": 1} == counts(found)
    assert sum(each.stat().st_size for each in (folder / "corpus").rglob("*.txt")) == found["bytes"]
    assert ["corpus/b.bin"] == [each["path"] for each in found["skipped"]]
    assert (0, []) == (result.exit_code, found["problems"])
    assert " documents/s, " in result.stdout
    assert "5 documents, " in result.stdout
    assert "b.bin" in result.stderr
    assert ["corpus"] == [each.name for each in folder.iterdir()]


def test_a_text_has_candidates_with_their_probabilities() -> None:
    """The most probable first; of a text that is too short none."""
    found = answer("languages", "--text", PROSE["de"])
    shown = output("languages", "--text", "-", stdin=PROSE["de"]).splitlines()
    chances = [each["probability"] for each in found["candidates"]]

    assert ("de", "de") == (found["language"], found["candidates"][0]["language"])
    assert sorted(chances, reverse=True) == chances
    assert 0.9 < chances[0] <= sum(chances) <= 1.000001
    assert ("de", ["de"]) == (shown[0], shown[1].split()[:1])
    assert {"language": "unknown", "candidates": []} == answer("languages", "--text", "few words")
    assert "--text is asked alone" in usage_error(run("languages", "corpus", "--text", "a"))


def test_each_document_has_a_line_of_its_own(folder: Path) -> None:
    """With its candidates, unless its metadata says its language."""
    row = {"id": "said", "text": PROSE["de"], "language": "sv"}
    write(folder, {"rows.jsonl": json.dumps(row)})
    found = {Path(each["path"]).name: each for each in answer("languages", "corpus", "rows.jsonl", "--each")["each"]}
    lines = output("languages", "corpus", "--each").splitlines()

    assert {"de.txt", "fr.txt", "ru.txt", "2.txt", "no.txt", "said"} == found.keys()
    assert ("fr", "fr") == (found["fr.txt"]["language"], found["fr.txt"]["candidates"][0]["language"])
    assert ("sv", []) == (found["said"]["language"], found["said"]["candidates"])
    assert any(line.startswith("ru ") and "ru.txt  (ru " in line for line in lines)
    assert "list --show language" in usage_error(run("languages", "--each"))


@pytest.mark.slow
def test_what_cannot_be_read_is_said() -> None:
    """With what else was read, or alone; filters are for stores."""
    assert "nowhere" in sentence(run("languages", "nowhere"))
    assert (1, 5) == (run("languages", "corpus", "nowhere").exit_code, answer("languages", "corpus")["documents"])
    assert "leave out PATH" in usage_error(run("languages", "corpus", "--filter", "language=de"))


def test_a_store_that_was_made_without_stays_without() -> None:
    """It says how one gets another; one with languages goes on without the option, and one without counts none."""
    output("index", "corpus", "--store", "plain")
    said = sentence(run("index", "corpus", "--store", "plain", "--language"))
    output("index", "corpus", "--store", "has", "--language")

    assert "the store plain was made without languages; --language works only for a new store" in said
    assert {None: 5} == counts(answer("languages", "--store", "plain"))
    assert "--language" in run("languages", "--store", "plain").stderr
    for options in ([], ["--language"]):
        assert ", 5 unchanged" in output("index", "corpus", "--store", "has", *options)
