"""`simdoc-search related`: a document or a file comes in; what is about the same goes out, and what that is."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import answer, output, run, sentence, usage_error, write
from tests.versions.paper import DOCUMENTS

SYNONYMS = "links, golf course\ntournament => championship\n"


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an indexed corpus, and files that are not indexed; no test changes it."""
    folder = tmp_path_factory.mktemp("related")
    write(folder, {f"corpus/D{number}.txt": text for number, text in enumerate(DOCUMENTS, 1)})
    write(
        folder,
        {"essay.txt": DOCUMENTS[3], "empty.txt": "...", "syn.txt": SYNONYMS, "other.txt": "a, b", "bad.txt": "a, , b"},
    )
    output("index", folder / "corpus", "--store", folder / ".simdoc", "--with", "versions,relations")
    options = "--with", "relations", "--concepts", "names", "--synonyms", folder / "syn.txt"
    output("index", folder / "corpus", "--store", folder / "names", *options)
    output("index", folder / "corpus", "--store", folder / "plain")
    return folder


@pytest.fixture(autouse=True)
def folder(indexed: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which the commands run."""
    monkeypatch.chdir(indexed)
    return indexed


def related(*arguments: object, stdin: str | None = None) -> Any:
    """The JSON answer."""
    return answer("related", *arguments, stdin=stdin)


def ids(*arguments: object, stdin: str | None = None) -> list[str]:
    """The ids of the hits."""
    return [hit["id"] for hit in related(*arguments, stdin=stdin)["hits"]]


def test_a_document_and_a_file_are_asked_about() -> None:
    """By id, name or path, from stdin; a file that is stored does not find itself."""
    assert ["D4.txt"] == ids("D3.txt") == ids("D3") == ids("corpus/D3.txt") == ids("--file", "corpus/D3.txt")
    assert ["D4.txt", "D3.txt"] == ids("--file", "essay.txt") == ids("--file", "-", stdin=DOCUMENTS[3])
    assert ["D4.txt", "D3.txt"] == ids("--text", DOCUMENTS[3]) == ids("--text", "-", stdin=DOCUMENTS[3])
    assert ["D4.txt"] == ids("--file", "essay.txt", "--size", 1)
    assert ["D3.txt"] == ids("--file", "essay.txt", "--size", 1, "--offset", 1)
    assert ["D3.txt"] == ids("--file", "essay.txt", "--exclude", "path=D4")
    assert [] == ids("D5")


def test_json_says_what_was_asked_and_what_is_shared() -> None:
    """The keys are stable."""
    found = related("D3")
    (hit,) = found["hits"]

    assert {"query", "theta", "limits", "hits", "total", "candidates", "compared", "unnamed"} == found.keys()
    assert {"id", "score", "kind", "concepts", "shared"} == hit.keys()
    assert ({"id": "D3.txt", "file": None}, 0.75, 1, 1, None) == tuple(
        found[key] for key in ("query", "theta", "candidates", "compared", "unnamed")
    )
    assert ("related", True) == (hit["kind"], 0.5 <= hit["score"] < 0.75)
    assert "Jason Dufner" in hit["concepts"]
    assert {"id": "D3.txt", "file": "corpus/D3.txt"} == related("--file", "corpus/D3.txt")["query"]
    assert ["version"] == [each["kind"] for each in related("D1")["hits"]]


def test_people_read_what_both_are_about() -> None:
    """With the score and the kind, and how many were compared."""
    said = output("related", "--file", "corpus/D3.txt").splitlines()

    assert said[0].endswith("  related  D4.txt")
    assert "Jason Dufner, New York, Oak Hill" in said[1]
    assert ["The document 'D3.txt' is left out. It is this file.", "1 document compared"] == said[2:]
    assert ["no related documents", "0 documents compared"] == output("related", "D5").splitlines()


def test_synonyms_are_those_of_the_store() -> None:
    """They are needed for a file and for another run; other ones, none, and a file with an error are refused."""
    needed = ["--store", "names", "--synonyms"]
    info = answer("info", "--store", "names")["settings"]["sketches"][-2]

    assert info.startswith("concepts:1 names ")
    assert ["D4.txt"] == ids("D3", "--store", "names")[:1] == ids("D3", *needed, "syn.txt")[:1]
    assert "D4.txt" in ids("--file", "corpus/D3.txt", *needed, "syn.txt")
    assert ", 5 unchanged" in output("index", "corpus", *needed, "syn.txt")
    check = info.split()[-1]
    for command in (["related", "--file", "essay.txt", "--store", "names"], ["index", "corpus", "--store", "names"]):
        said = sentence(run(*command))
        assert f"the concepts were found with synonyms {check}; give their file (--synonyms)" == said
        other = sentence(run(*command, "--synonyms", "other.txt"))
        assert re.fullmatch(f".* with synonyms {check}, not [0-9a-f]+; give their file .*", other)
    said = sentence(run("related", "D3", *needed, "bad.txt"))
    assert "line 1 of the synonyms bad.txt has an empty name; write `a, b => c` or `a, b, c`" == said


def test_what_cannot_be_answered_says_what_to_do() -> None:
    """In one sentence."""
    without = (
        "the store plain was made without concepts; add them with: simdoc-search index --with relations --store plain"
    )

    assert without == sentence(run("related", "D1", "--store", "plain"))
    assert "empty.txt has no concepts, so nothing is related to it; ask for its versions" == sentence(
        run("related", "--file", "empty.txt")
    )
    assert "the text has no concepts, so nothing is related to it; ask for its versions" == sentence(
        run("related", "--file", "-", stdin="\n")
    )
    assert "no document 'D9' in the store" in sentence(run("related", "D9"))
    assert "give one of ID, --file, --text or --all" == usage_error(run("related"))
    assert "give one of ID, --file, --text or --all" == usage_error(run("related", "D1", "--file", "essay.txt"))


def test_options_for_concepts_are_checked_before_a_store_is_made(folder: Path) -> None:
    """An extractor that there is not, options without what they are for."""
    new = ["index", "corpus", "--store", "new"]

    for name in ("x", "spacy:"):
        said = usage_error(run(*new, "--with", "relations", "--concepts", name))
        assert "use yake, names or spacy:MODEL" in said
    assert "need --with relations" in usage_error(run(*new, "--synonyms", "syn.txt"))
    assert not (folder / "new").exists()
    assert "the store has no concepts" in sentence(run("index", "corpus", "--store", "plain", "--concepts", "names"))


def test_hits_are_shown_from_a_score_on() -> None:
    """Of documents 3 and 4 of the paper it is just over the default; versions are what the options make them."""
    assert ["D4.txt"] == [hit["id"] for hit in related("D3.txt")["hits"]]
    assert [] == related("D3.txt", "--min-score", "0.6")["hits"]
    assert {"D1.txt", "D4.txt", "D5.txt"} & {hit["id"] for hit in related("D3.txt", "--min-score", "0")["hits"]}
    kinds = [related("D1.txt", *options)["hits"][0]["kind"] for options in ((), ("--bits", "0", "--enough", "100"))]
    assert ["version", "related"] == kinds
