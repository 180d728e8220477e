"""`simdoc-search watch` sets, lists, matches and removes watches."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.cli import answer, output, run, sentence, usage_error, words, write, write_corpus
from tests.support.http_server import TempIndices, indices


@pytest.fixture
def created(opensearch_url: str) -> Iterator[TempIndices]:
    """Creates index names, and deletes these indices after the test."""
    with indices(opensearch_url) as new:
        yield new


@pytest.fixture
def options(created: TempIndices, tmp_path: Path) -> list[str]:
    """Index a corpus, and return its store and the index of watches as options."""
    url = f"{created.engine}/{created.name()}"
    output("index", write_corpus(tmp_path / "corpus"), "--store", url)
    return ["--store", url, "--watches", created.name()]


def test_a_copy_that_arrives_is_matched(options: list[str], tmp_path: Path) -> None:
    assert "no documents are watched\n" == output("watch", "--list", *options)
    assert "doc123.txt is watched for copies with an overlap of 50 % or more\n" == output("watch", "doc123", *options)
    assert "other.txt is watched for copies with an overlap of 33.5 % or more\n" == output(
        "watch", "other", "--overlap", "33.5", *options
    )
    listed = output("watch", "--list", *options)
    output("index", write(tmp_path / "new", {"new.txt": words(0, 190)}), "--store", options[1])
    matches = output("watch", "--check-new", "new", "old", *options).splitlines()

    assert re.fullmatch(
        r"doc123\.txt is watched for copies with an overlap of 50 % or more, since \S+\n"
        r"other\.txt is watched for copies with an overlap of 33\.5 % or more, since \S+\n",
        listed,
    )
    assert ["new is a copy of:", "old is not a copy of a watched document"] == [matches[0], matches[-1]]
    assert re.fullmatch(r"  ~9\d %  doc123\.txt", matches[1])
    assert "1 watch removed\n" == output("watch", "--remove", "doc123.txt", *options)
    assert output("watch", "--list", *options).startswith("other.txt ")


def test_json_has_all_values(options: list[str]) -> None:
    """Overlaps are 0..1, and times are in UTC."""
    index = options[1].rpartition("/")[2]
    place = {"id": "doc123.txt", "index": index, "routing": None}
    [watched] = answer("watch", "doc123_80", *options)["watched"]
    [listed] = answer("watch", "--list", *options)["watched"]
    [copied, none] = answer("watch", "--check-new", "reports/copy", "other", *options)["new_documents"]

    assert watched == listed == {**place, "overlap": 0.8, "since": listed["since"], "outdated": False}
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", listed["since"])
    assert {"id": "reports/copy", "copy_of": [{**place, "overlap": 1.0, "matched_token_count": 163}]} == copied
    assert {"id": "other", "copy_of": []} == none
    assert {"removed_count": 1} == answer("watch", "--remove", "doc123.txt", *options)


def test_a_check_without_watches_says_so(options: list[str]) -> None:
    checked = run("watch", "--check-new", "doc123", *options)

    assert "doc123 is not a copy of a watched document\n" == checked.stdout
    assert f"note: the index {options[3]} has no watches for documents of {options[1]}\n" == checked.stderr


def test_errors_are_one_sentence(options: list[str]) -> None:
    index = options[1].rpartition("/")[2]

    assert "no document 'nobody' in the index" in sentence(run("watch", "nobody", *options))
    removed = sentence(run("watch", "--remove", "nobody", *options))
    assert f"'nobody' is not watched; list the watches with: simdoc-search watch --list {' '.join(options)}" == removed
    others = sentence(run("watch", "doc123", "--store", options[1], "--watches", index))
    assert "is not an index of watches; choose another index" in others
    for local in ([], ["--store", "folder"]):
        assert "can be watched; give its URL with --store" in usage_error(run("watch", "doc123", *local))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give the ID of a document, or --list"),
        (["--list", "doc"], "--list does not take an ID"),
        (["--list", "--remove", "doc"], "--overlap, --check-new, --list and --remove cannot be combined"),
        (["--check-new", "doc", "--overlap", "50"], "--overlap, --check-new, --list and --remove cannot be combined"),
        (["doc", "--overlap", "much"], "much"),
    ],
    ids=str,
)
def test_a_wrong_call_is_refused_before_the_engine_is_queried(arguments: list[str], message: str) -> None:
    assert message in usage_error(run("watch", *arguments, "--store", "http://127.0.0.1:1/docs"))
