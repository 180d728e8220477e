"""A backfill takes the text fields of the fingerprints that are there; others only if it is told to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.cli import answer, output, run
from tests.support.engines import call
from tests.support.http_server import Indices, indices

TEXTS = {"body": {"type": "text"}, "heading": {"type": "text"}}
DOCUMENT = {"body": "the words of a whole text", "heading": "one heading for all of them"}


@pytest.fixture(params=["opensearch", "elasticsearch_7"])
def made(request: pytest.FixtureRequest) -> Iterator[Indices]:
    """Indices of an application in each kind of engine."""
    with indices(request.getfixturevalue(f"{request.param}_url")) as them:
        yield them


def noted(made: Indices, index: str) -> Any:
    """The text field that the mapping notes."""
    mapping = call(made.engine, "GET", f"/{index}/_mapping")[index]["mappings"]["properties"]
    return mapping.get("simdoc", {}).get("properties", {}).get("text_hash", {}).get("meta", {}).get("simdoc_text_1")


@pytest.fixture
def two(made: Indices) -> tuple[str, str, str]:
    """Two indices behind an alias, of which the first has fingerprints of the body."""
    names = sorted(made.make({"properties": TEXTS}) for _ in range(2))
    for name in names:
        made.put(name, "a", DOCUMENT)
    output("backfill", f"{made.engine}/{names[0]}", "--text-field", "body")
    return names[0], names[1], made.alias(*names)


def test_another_text_field_than_the_others_have_is_refused(made: Indices, two: tuple[str, str, str]) -> None:
    """By the name of the alias, or of the index alone; nothing is written."""
    first, second, alias = two
    for asked in (alias, second):
        for more in ([], ["--dry-run"]):
            result = run("backfill", f"{made.engine}/{asked}", "--text-field", "heading", *more)

            assert result.exit_code == 1
            said = "the other indices behind its alias have fingerprints of body; give --text-field body, or --force"
            assert f"skipped: {second}: {said} to take heading here" in result.stderr
    own = "its fingerprints are of body; give --text-field body, or --force --stale to make all of them anew of heading"
    for more in ([], ["--stale"]):
        result = run("backfill", f"{made.engine}/{first}", "--text-field", "heading", *more)
        assert (1, [f"skipped: {first}: {own}"]) == (result.exit_code, result.stderr.splitlines())
    assert ("body", None) == (noted(made, first), noted(made, second))


def test_without_the_option_it_takes_that_of_the_others(made: Indices, two: tuple[str, str, str]) -> None:
    """Also where the new index is named alone."""
    output("backfill", f"{made.engine}/{two[1]}")

    assert "body" == noted(made, two[1])


def test_force_says_what_it_does(made: Indices, two: tuple[str, str, str]) -> None:
    """In an index that has fingerprints, and in one beside it."""
    first, second, _ = two
    result = run("backfill", f"{made.engine}/{second}", "--text-field", "heading", "--force")
    beside = f"fingerprints of {second} are of heading, those of the other indices of body"
    assert (0, [f"note: {beside}"]) == (result.exit_code, result.stderr.splitlines())
    made.put(first, "b", DOCUMENT)
    found = answer("backfill", f"{made.engine}/{first}", "--text-field", "heading", "--force")
    kept = f"new fingerprints of {first} are of heading; those of body are kept, and --stale makes them anew"
    assert ([kept], 1) == (found["notes"], found["updated"])
    output("backfill", f"{made.engine}/{first}", "--text-field", "body", "--force")
    found = answer("backfill", f"{made.engine}/{first}", "--text-field", "heading", "--force", "--stale")
    assert ([f"all fingerprints of {first} are made anew of heading, no longer of body"], 1) == (
        found["notes"],
        found["updated"],
    )
    assert ("heading", "heading") == (noted(made, first), noted(made, second))


def test_an_index_of_other_fields_behind_an_alias_is_its_own(made: Indices, two: tuple[str, str, str]) -> None:
    """It cannot have the text where the others have it."""
    other = made.make({"properties": {"description": {"type": "text"}}})
    made.put(other, "c", {"description": "what another application calls a text"})
    made.alias(two[0], other)
    result = run("backfill", f"{made.engine}/{other}", "--text-field", "description")

    assert (0, "") == (result.exit_code, result.stderr)
