"""`--with versions,relations`: a new store, or a mapping, has sentences and concepts too."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from simdoc_search.stores import sketching
from tests.support.cli import answer, output, run, sentence, usage_error, write_corpus


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which the commands run, with a corpus in it."""
    monkeypatch.chdir(tmp_path)
    write_corpus(tmp_path / "corpus")
    return tmp_path


def sketches(store: str) -> list[str]:
    """What a store has beside fingerprints."""
    return list(answer("info", "--store", store)["settings"]["sketches"][1:])


def test_a_store_has_what_it_was_made_with() -> None:
    """Without the option it is used as it is; `info` says what it has."""
    output("index", "corpus", "--store", "v", "--with", "versions", "--with", "versions")

    assert ["passages:1 32 5", "sentences:2", "words:1"] == sketches("v")
    assert ", 5 unchanged" in output("index", "corpus", "--store", "v")
    assert ", 5 unchanged" in output("index", "corpus", "--store", "v", "--with", "versions")
    assert "versions   found by their sentences" in output("info", "--store", "v")


@pytest.mark.slow
def test_a_store_has_concepts_of_the_usual_extractor() -> None:
    """With sentences, or alone; every document has some."""
    output("index", "corpus", "--store", "r", "--with", "versions,relations")
    output("index", "corpus", "--store", "n", "--with", "relations", "--no-passages")

    assert ["passages:1 32 5", "sentences:2", "concepts:1 yake -", "words:1"] == sketches("r")
    assert ["concepts:1 yake -"] == sketches("n")
    assert ", 5 unchanged" in output("index", "corpus", "--store", "r")
    assert "related    documents found by concepts of yake" in output("info", "--store", "n")
    assert {} == answer("index", "corpus", "--store", "r")["incomplete"]


def test_a_store_without_them_is_upgraded_in_place() -> None:
    """From its texts, with files to index or without; later runs keep what it has."""
    output("index", "corpus", "--store", "s")
    id = output("list", "--store", "s").split()[-1]
    without = answer("versions", id, "--store", "s")
    output("index", "--store", "s", "--with", "versions")
    said = run("index", "corpus", "--store", "s", "--with", "relations,versions")
    info = output("info", "--store", "s")

    assert (0, "5 documents upgraded with sentences and concepts") == (said.exit_code, said.stderr.splitlines()[0])
    assert ", 5 unchanged" in said.output
    assert "related    documents found by concepts of yake" in info
    assert ["passages:1 32 5", "sentences:2", "concepts:1 yake -", "words:1"] == sketches("s")
    assert ", 5 unchanged" in output("index", "corpus", "--store", "s")
    assert ["passages:1 32 5", "sentences:2", "concepts:1 yake -", "words:1"] == sketches("s")
    assert "nothing to upgrade" == run("index", "--store", "s", "--with", "versions").stderr.strip()
    assert ("passages", "sentences") == (without["via"], answer("versions", id, "--store", "s")["via"])
    assert "Missing argument" in usage_error(run("index", "--store", "s"))


@pytest.mark.parametrize("command", [["index", "corpus"], ["template", "show"]])
def test_what_is_unknown_is_refused(command: list[str], folder: Path) -> None:
    """Before a store is made."""
    said = usage_error(run(*command, "--with", "versions,relation"))

    assert "'relation' is none of versions and relations; give one of them, or both" in said
    assert ["corpus"] == [each.name for each in folder.iterdir()]


def test_what_could_not_be_made_is_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    """After the counts, with a few of the documents; it is no failure, and they are not made again."""
    pytest.importorskip("sentencex")

    def fails(text: str) -> list[tuple[int, int]]:
        raise ValueError(text)

    monkeypatch.setattr(sketching, "sentence_spans", fails)
    result = run("index", "corpus", "--workers", 1, "--with", "versions")

    assert 0 == result.exit_code
    assert "5 indexed, 0 unchanged" in result.stdout
    assert re.fullmatch(
        r"  5 stored without sentences, which could not be made: [^,]+, [^,]+, [^,]+ and 2 more\n", result.stderr
    )
    assert ({}, 5) == tuple(answer("index", "corpus")[each] for each in ("incomplete", "unchanged"))


def test_without_what_makes_them_no_store_is_made(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message has the line that installs it."""
    monkeypatch.setattr(sketching, "find_spec", lambda _: None)

    assert "pip install 'simdoc-search[versions]'" in sentence(run("index", "corpus", "--with", "versions"))
    assert ["corpus"] == [each.name for each in folder.iterdir()]


def test_the_mapping_has_fields_for_them() -> None:
    """Mapped like passage tokens, and named in the meta."""
    template = answer("template", "show", "--with", "versions,relations", "--no-passages")
    fields = template["template"]["mappings"]["properties"]["simdoc"]["properties"]
    usual = answer("template", "show")["template"]["mappings"]["properties"]["simdoc"]["properties"]

    assert fields.keys() - usual.keys() == {"sentences", "concepts"}
    assert fields["sentences"] == fields["concepts"] == usual["passages"]
    assert "bucketed:1 512 1 false 4; sentences:2" == fields["tokens"]["meta"]["simdoc_sketches"]
    assert "concepts:1 yake -" == fields["tokens"]["meta"]["simdoc_sketches_2"]
