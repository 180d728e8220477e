"""`simdoc-search related` for one document, file or text."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import answer, output, run, sentence, usage_error, write
from tests.versions.paper import DOCUMENTS

pytestmark = pytest.mark.usefixtures("folder")

SYNONYMS = "links, golf course\ntournament => championship\n"


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an indexed corpus, and files that are not indexed."""
    folder = tmp_path_factory.mktemp("related")
    write(folder, {f"corpus/D{number}.txt": text for number, text in enumerate(DOCUMENTS, 1)})
    write(folder, {"essay.txt": DOCUMENTS[3], "empty.txt": "...", "syn.txt": SYNONYMS})
    write(folder, {"other.txt": "a, b", "bad.txt": "a, , b"})
    synonyms = ["--extractor", "names", "--synonyms", folder / "syn.txt"]
    output("index", folder / "corpus", "--store", folder / ".simdoc", "--with", "versions,related")
    output("index", folder / "corpus", "--store", folder / "names", "--with", "related", *synonyms)
    output("index", folder / "corpus", "--store", folder / "plain")
    return folder


def related(*arguments: object, stdin: str | None = None) -> Any:
    """Return the result as JSON."""
    return answer("related", *arguments, stdin=stdin)


def ids(*arguments: object, stdin: str | None = None) -> list[str]:
    """Return the ids of the hits."""
    return [hit["id"] for hit in related(*arguments, stdin=stdin)["hits"]]


def test_a_document_a_file_and_a_text_have_the_same_hits() -> None:
    """A stored file is not a hit for itself."""
    assert ["D4.txt"] == ids("D3.txt") == ids("D3") == ids("corpus/D3.txt") == ids("--file", "corpus/D3.txt")
    assert ["D4.txt", "D3.txt"] == ids("--file", "essay.txt") == ids("--file", "-", stdin=DOCUMENTS[3])
    assert ["D4.txt", "D3.txt"] == ids("--text", DOCUMENTS[3]) == ids("--text", "-", stdin=DOCUMENTS[3])
    assert [] == ids("D5")


def test_pages_filters_and_thresholds_select_hits() -> None:
    assert ["D3.txt"] == ids("--file", "essay.txt", "--size", 1, "--offset", 1)
    assert ["D3.txt"] == ids("--file", "essay.txt", "--exclude", "path=D4")
    assert [] == ids("D3", "--min-score", "0.6")
    assert {"D1.txt", "D4.txt", "D5.txt"} & set(ids("D3", "--min-score", "0"))
    kinds = [
        related("D1", *options)["hits"][0]["kind"] for options in ((), ("--max-distance", "0", "--min-share", "100"))
    ]
    assert ["version", "related"] == kinds


def test_json_has_scores_and_shared_concepts() -> None:
    result = related("D3")
    (hit,) = result["hits"]

    assert {
        "query",
        "min_version_score",
        "thresholds",
        "hits",
        "total",
        "candidate_count",
        "compared_count",
        "naming_problem",
    } == result.keys()
    assert {"id", "score", "kind", "concepts", "shared_word_count"} == hit.keys()
    values = tuple(result[name] for name in ("query", "min_version_score", "naming_problem"))
    assert ({"id": "D3.txt", "file": None}, 0.75, None) == values
    assert 1 <= result["compared_count"] == result["candidate_count"]  # on Python 3.10, there are fewer stop words
    assert ("related", True) == (hit["kind"], 0.5 <= hit["score"] < 0.75)
    assert "Jason Dufner" in hit["concepts"]
    assert {"id": "D3.txt", "file": "corpus/D3.txt"} == related("--file", "corpus/D3.txt")["query"]


def test_the_table_has_kinds_and_shared_concepts() -> None:
    hit, concepts, note, count = output("related", "--file", "corpus/D3.txt").splitlines()

    assert hit.endswith("  related  D4.txt")
    assert {"Jason Dufner", "New York", "Oak Hill"} <= set(concepts.strip().split(", "))
    assert "The document 'D3.txt' is not listed, because it was indexed from the query file." == note
    assert re.fullmatch(r"\d documents? compared", count)
    assert "no related documents" == output("related", "D5").splitlines()[0]


def test_a_page_of_hits_says_how_many_there_are() -> None:
    last = output("related", "D1", "--size", 1, "--min-score", 0).splitlines()[-1]

    assert "Showing 1 of 2 related documents. Show more with --size 100." == last


def test_the_synonyms_of_the_store_are_needed() -> None:
    """A query text and a later run of `index` need them. Other synonyms and a malformed file are refused."""
    synonyms = ["--store", "names", "--synonyms"]
    sketch = answer("info", "--store", "names")["settings"]["sketches"][-2]
    check = sketch.split()[-1]

    assert sketch.startswith("concepts:1 names ")
    assert ["D4.txt"] == ids("D3", "--store", "names")[:1] == ids("D3", *synonyms, "syn.txt")[:1]
    assert "D4.txt" in ids("--file", "corpus/D3.txt", *synonyms, "syn.txt")
    assert ", 5 unchanged" in output("index", "corpus", *synonyms, "syn.txt")
    for command in (["related", "--file", "essay.txt", "--store", "names"], ["index", "corpus", "--store", "names"]):
        message = f"the index was created with a synonym file whose checksum is {check}; give that file with --synonyms"
        assert message == sentence(run(*command))
        other = sentence(run(*command, "--synonyms", "other.txt"))
        assert re.fullmatch(f".* checksum is {check}, not [0-9a-f]+; give that file .*", other)
    message = "line 1 of the synonym file bad.txt has an empty term; write `a, b => c` or `a, b, c`"
    assert message == sentence(run("related", "D3", *synonyms, "bad.txt"))


def test_wrong_queries_are_one_sentence() -> None:
    no_concepts = "has no concepts, so related documents cannot be found; use `simdoc-search versions` instead"
    how = "add them with: simdoc-search index --with related --store plain"

    assert f"the index plain was created without concepts; {how}" == sentence(run("related", "D1", "--store", "plain"))
    assert f"empty.txt {no_concepts}" == sentence(run("related", "--file", "empty.txt"))
    assert f"the text {no_concepts}" == sentence(run("related", "--file", "-", stdin="\n"))
    assert "no document 'D9' in the index" in sentence(run("related", "D9"))
    for arguments in ((), ("D1", "--file", "essay.txt")):
        assert "give one of ID, --file, --text or --all" == usage_error(run("related", *arguments))


def test_options_for_concepts_are_checked_before_a_store_is_created(folder: Path) -> None:
    new = ["index", "corpus", "--store", "new"]

    for name in ("x", "spacy:"):
        message = usage_error(run(*new, "--with", "related", "--extractor", name))
        assert "choose keywords, names or spacy:MODEL" in message
    assert "only work with --with related" in usage_error(run(*new, "--synonyms", "syn.txt"))
    assert not (folder / "new").exists()
    assert "the index has no concepts" in sentence(run("index", "corpus", "--store", "plain", "--extractor", "names"))
