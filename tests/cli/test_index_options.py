"""`--with versions,related` adds sentences and concepts to a store or a mapping."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from simdoc_search.stores import sentences_and_concepts
from tests.support.cli import answer, output, run, sentence, usage_error

pytestmark = pytest.mark.usefixtures("in_corpus")


def sketches(store: str) -> list[str]:
    """Return the sketches of a store besides fingerprints."""
    return list(answer("info", "--store", store)["settings"]["sketches"][1:])


def test_later_runs_keep_the_sketches_of_a_store() -> None:
    output("index", "corpus", "--store", "v", "--with", "versions", "--with", "versions")

    assert ["passages:1 32 5", "sentences:2", "words:1"] == sketches("v")
    assert ", 5 unchanged" in output("index", "corpus", "--store", "v")
    assert ", 5 unchanged" in output("index", "corpus", "--store", "v", "--with", "versions")
    assert "versions   documents are compared by their stored sentences" in output("info", "--store", "v")


@pytest.mark.slow
def test_the_default_extractor_finds_the_concepts() -> None:
    """A store may have concepts with or without sentences."""
    output("index", "corpus", "--store", "r", "--with", "versions,related")
    output("index", "corpus", "--store", "n", "--with", "related", "--no-passages")

    assert ["passages:1 32 5", "sentences:2", "concepts:1 keywords -", "words:1"] == sketches("r")
    assert ["concepts:1 keywords -"] == sketches("n")
    assert ", 5 unchanged" in output("index", "corpus", "--store", "r")
    assert "related    documents are compared by their stored concepts, extracted by keywords" in output(
        "info", "--store", "n"
    )
    assert {} == answer("index", "corpus", "--store", "r")["incomplete"]


def test_an_existing_store_is_upgraded_from_its_texts() -> None:
    """The same command can also index files."""
    output("index", "corpus", "--store", "s")
    id = output("list", "--store", "s").split()[-1]
    without = answer("versions", id, "--store", "s")
    output("index", "--store", "s", "--with", "versions")
    result = run("index", "corpus", "--store", "s", "--with", "related,versions")
    info = output("info", "--store", "s")

    assert (0, "sentences and concepts added to 5 documents") == (result.exit_code, result.stderr.splitlines()[0])
    assert ", 5 unchanged" in result.output
    assert "related    documents are compared by their stored concepts, extracted by keywords" in info
    assert ["passages:1 32 5", "sentences:2", "concepts:1 keywords -", "words:1"] == sketches("s")
    assert ", 5 unchanged" in output("index", "corpus", "--store", "s")
    assert ["passages:1 32 5", "sentences:2", "concepts:1 keywords -", "words:1"] == sketches("s")
    assert "nothing to upgrade" == run("index", "--store", "s", "--with", "versions").stderr.strip()
    assert ("passages", "sentences") == (
        without["candidate_source"],
        answer("versions", id, "--store", "s")["candidate_source"],
    )
    assert "Missing argument" in usage_error(run("index", "--store", "s"))


@pytest.mark.parametrize("command", [["index", "corpus"], ["template", "show"]])
def test_unknown_kinds_are_refused_before_a_store_is_created(command: list[str], tmp_path: Path) -> None:
    error = usage_error(run(*command, "--with", "versions,relation"))

    assert "'relation' is not a value of --with; give versions, related or both" in error
    assert ["corpus"] == [path.name for path in tmp_path.iterdir()]


def test_documents_without_sentences_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are listed after the counts. The command succeeds, and does not try again in the next run."""
    pytest.importorskip("sentencex")

    def fails(text: str) -> list[tuple[int, int]]:
        raise ValueError(text)

    monkeypatch.setattr(sentences_and_concepts, "sentence_spans", fails)
    result = run("index", "corpus", "--workers", 1, "--with", "versions")

    assert 0 == result.exit_code
    assert "5 indexed, 0 unchanged" in result.stdout
    assert re.fullmatch(
        r"  5 stored without sentences, which could not be computed: [^,]+, [^,]+, [^,]+ and 2 more\n", result.stderr
    )
    assert ({}, 5) == tuple(answer("index", "corpus")[name] for name in ("incomplete", "unchanged_count"))


def test_a_missing_package_is_reported_before_a_store_is_created(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sentences_and_concepts, "find_spec", lambda _: None)

    assert "pip install 'simdoc-search[versions]'" in sentence(run("index", "corpus", "--with", "versions"))
    assert ["corpus"] == [path.name for path in tmp_path.iterdir()]


def test_a_mapping_has_fields_for_sentences_and_concepts() -> None:
    """They are mapped like passage tokens, and the `meta` of the field names them."""
    template = answer("template", "show", "--with", "versions,related", "--no-passages")
    fields = template["template"]["mappings"]["properties"]["simdoc"]["properties"]
    usual = answer("template", "show")["template"]["mappings"]["properties"]["simdoc"]["properties"]

    assert fields.keys() - usual.keys() == {"sentences", "concepts"}
    assert fields["sentences"] == fields["concepts"] == usual["passages"]
    assert "bucketed:1 512 1 false 9; sentences:2" == fields["tokens"]["meta"]["simdoc_sketches"]
    assert "concepts:1 keywords -" == fields["tokens"]["meta"]["simdoc_sketches_2"]
