"""`simdoc-search languages`: of a store, of a folder; `index --language`."""

from __future__ import annotations

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

    assert "the store plain was made without languages; index again into another store with --language" == said
    assert {None: 5} == counts(answer("languages", "--store", "plain"))
    assert "--language" in run("languages", "--store", "plain").stderr
    for options in ([], ["--language"]):
        assert ", 5 unchanged" in output("index", "corpus", "--store", "has", *options)
