"""The last lines of a command say how many hits there are, and how to see the others."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.cli import answer, json_lines, output, words

COUNT = 23


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store with nearly identical documents and one other document."""
    rows = [{"id": f"d{number:02}", "text": words(0, 200 + number)} for number in range(COUNT)]
    output("index", "-", "--store", tmp_path / "s", stdin=json_lines(*rows, {"id": "other", "text": words(900, 999)}))
    return tmp_path / "s"


def test_similar_says_how_many_hits_there_are(store: Path) -> None:
    first = output("similar", "d00", "--store", store).splitlines()[-1]
    second = output("similar", "d00", "--store", store, "--offset", "10", "--size", "5").splitlines()[-1]
    result = answer("similar", "d00", "--store", store)

    assert "Showing 10 of 22 hits, 22 documents compared. Show more with --size 100." == first
    assert "Showing 11 to 15 of 22 hits, 22 documents compared. Show more with --size 100." == second
    assert (
        "22 hits, 22 documents compared" == output("similar", "d00", "--size", "30", "--store", store).splitlines()[-1]
    )
    sentence = "document with an overlap of 90 % is found with a probability of at least "
    assert f" Show more with --size 100. A {sentence}" in output("similar", "d00_90_80", "--store", store)
    assert f" compared; a {sentence}" in output("similar", "d00_90_80", "--size", "30", "--store", store)
    assert (22, True, 10) == (result["total"], result["is_total_exact"], len(result["hits"]))


@pytest.mark.parametrize("arguments", [("--estimate", "--overlap", "50"), (), ("--overlap", "50")])
def test_the_number_of_hits_is_exact_or_a_lower_bound(store: Path, arguments: tuple[str, ...]) -> None:
    some = answer("similar", "d00", *arguments, "--store", store)
    every = answer("similar", "d00", *arguments, "--size", "100", "--store", store)

    assert len(every["hits"]) == every["total"]
    assert every["is_total_exact"]
    assert 10 <= some["total"] <= every["total"]
    assert some["total"] == every["total"] or not some["is_total_exact"]


def test_list_says_how_many_documents_there_are(store: Path) -> None:
    few = ("list", "--size", "5", "--store", store)

    assert "Showing 5 of 24 documents. Show more with --size 100." == output(*few).splitlines()[-1]
    assert (
        "Showing 5 of at least 6 documents. Show more with --size 100."
        == (output(*few, "--sort", "none").splitlines()[-1])
    )
    assert "Showing" not in output("list", "--size", "24", "--store", store)
