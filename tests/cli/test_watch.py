"""`simdoc-search watch`: what is watched, what has arrived, what is watched no longer."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.cli import answer, output, run, sentence, usage_error, words, write, write_corpus
from tests.support.http_server import Indices, indices


@pytest.fixture
def made(opensearch_url: str) -> Iterator[Indices]:
    """Indices of a test's own."""
    with indices(opensearch_url) as them:
        yield them


@pytest.fixture
def asked(made: Indices, tmp_path: Path) -> list[str]:
    """Where the corpus is indexed, and its watches are, as options."""
    url = f"{made.engine}/{made.name()}"
    output("index", write_corpus(tmp_path / "corpus"), "--store", url)
    return ["--store", url, "--watches", made.name()]


def test_a_copy_that_arrives_is_named(asked: list[str], tmp_path: Path) -> None:
    """With its estimated overlap; documents are named as everywhere."""
    assert "nothing is watched\n" == output("watch", "--list", *asked)
    assert "doc123.txt is watched: copies of 50 % or more\n" == output("watch", "doc123", *asked)
    assert "other.txt is watched: copies of 33.5 % or more\n" == output("watch", "other", "--overlap", "33.5", *asked)
    output("index", write(tmp_path / "new", {"new.txt": words(0, 190)}), "--store", asked[1])

    assert ["new is a copy of", "old is a copy of nothing that is watched"] == [
        line for line in output("watch", "--arrived", "new", "old", *asked).splitlines() if not line.startswith(" ")
    ]
    assert re.search(r"^  ~9\d %  doc123\.txt$", output("watch", "--arrived", "new", *asked), re.MULTILINE)


def test_json_says_all(asked: list[str]) -> None:
    """Where documents are, overlaps as numbers, the time in UTC."""
    index = asked[1].rpartition("/")[2]
    place = {"id": "doc123.txt", "index": index, "routing": None}
    [set_now] = answer("watch", "doc123_80", *asked)["watched"]
    [listed] = answer("watch", "--list", *asked)["watched"]
    [copied, none] = answer("watch", "--arrived", "reports/copy", "other", *asked)["arrived"]

    assert set_now == listed == {**place, "overlap": 0.8, "since": listed["since"], "outdated": False}
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", listed["since"])
    assert {"id": "reports/copy", "copy_of": [{**place, "overlap": 1.0, "matched": 163}]} == copied
    assert {"id": "other", "copy_of": []} == none
    assert {"removed": 1} == answer("watch", "--remove", "doc123.txt", *asked)
    assert {"watched": []} == answer("watch", "--list", *asked)


def test_the_list_has_a_line_for_each(asked: list[str]) -> None:
    """By id; what is removed is gone from it."""
    output("watch", "other", "doc123", *asked)

    assert re.fullmatch(
        r"doc123\.txt: copies of 50 % or more, since \S+\nother\.txt: copies of 50 % or more, since \S+\n",
        output("watch", "--list", *asked),
    )
    assert "1 removed\n" == output("watch", "--remove", "doc123.txt", *asked)
    assert output("watch", "--list", *asked).startswith("other.txt: ")


def test_what_fails_is_one_sentence(asked: list[str]) -> None:
    """Unknown documents, what is not watched, an index that is none of watches."""
    index = asked[1].rpartition("/")[2]

    assert "no document 'nobody' in the store" in sentence(run("watch", "nobody", *asked))
    assert "no document 'nobody' in the store" in sentence(run("watch", "--arrived", "nobody", *asked))
    assert "'nobody' is not watched; simdoc-search watch --list names what is" == (
        sentence(run("watch", "--remove", "nobody", *asked))
    )
    assert "is not one of watches; name another one" in (
        sentence(run("watch", "doc123", "--store", asked[1], "--watches", index))
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "give the ID of a document, or --list"),
        (["--arrived"], "give the ID of a document, or --list"),
        (["--list", "doc"], "--list takes no ID"),
        (["--list", "--remove", "doc"], "give one of --overlap, --arrived, --list and --remove"),
        (["--arrived", "doc", "--overlap", "50"], "give one of --overlap, --arrived, --list and --remove"),
        (["doc", "--overlap", "much"], "much"),
    ],
    ids=str,
)
def test_a_wrong_call_is_explained(arguments: list[str], said: str) -> None:
    """Before any engine is asked."""
    assert said in usage_error(run("watch", *arguments, "--store", "http://127.0.0.1:1/docs"))


def test_a_folder_is_no_engine(tmp_path: Path) -> None:
    """That is said, and nothing else happens."""
    output("index", write_corpus(tmp_path / "corpus"), "--store", tmp_path / "store")

    assert "is not an index of an engine, and only an engine watches for documents" in (
        sentence(run("watch", "doc123", "--store", tmp_path / "store"))
    )
