"""`simdoc-search index` keeps the settings of a store. Later runs need not repeat them, and cannot change them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import answer, output, run, sentence, usage_error

pytestmark = pytest.mark.usefixtures("in_corpus")


def counts(*arguments: str, stdin: str | bytes | None = None) -> dict[str, int]:
    """Run `index`, and return the counts that are not zero."""
    report: dict[str, Any] = answer("index", *arguments, stdin=stdin)
    return {name: value for name, value in report.items() if isinstance(value, int) and value}


# --- settings ---


def test_settings_are_those_of_the_new_store() -> None:
    output("index", "corpus", "--profile", "lowercase", "--shingle-size", "3", "--unit", "character")
    analysis = answer("info")["settings"]["analysis"]

    assert {"profile": "lowercase", "shingle_size": 3, "unit": "character", "short_texts": True} == analysis
    assert {"unchanged_count": 5} == counts("corpus") == counts("corpus", "--profile", "lowercase")


def test_other_settings_for_a_store_are_refused() -> None:
    output("index", "corpus")
    message = sentence(run("index", "corpus", "--shingle-size", "3"))

    assert "shingle_size 5, not 3" in message
    assert "a new index" in message


def test_a_store_without_texts_gives_the_same_estimates() -> None:
    output("index", "corpus", "--no-texts", "--store", "small")
    output("index", "corpus", "--store", "whole")

    assert answer("info", "--store", "small")["bytes"] < answer("info", "--store", "whole")["bytes"]
    estimated = answer("similar", "doc123", "--store", "whole", "--estimate")
    assert answer("similar", "doc123", "--store", "small") == estimated


# --- passage tokens ---


def test_a_new_store_finds_passages_by_default() -> None:
    for place, *options in (("a",), ("b", "--passage-run", "20", "--no-texts"), ("c", "--no-passages")):
        output("index", "corpus", "--store", place, *options)
    sketches = [answer("info", "--store", store)["settings"]["sketches"][1:] for store in "abc"]
    lines = [output("info", "--store", store).splitlines()[-1] for store in "abc"]

    assert [["passages:1 32 5", "words:1"], ["passages:1 16 5"], []] == sketches
    assert "passages   every shared run of 6 words is found (12 words in a text of over 1,000 words)" == lines[0]
    assert "passages   every shared run of 20 words is found" == lines[1]
    assert (
        "passages   the data for `passages` is not stored, so a few shared passages of long documents may be missed"
        == lines[2]
    )


def test_a_store_keeps_the_passage_tokens_that_it_was_made_with() -> None:
    output("index", "corpus", "--store", "with", "--passage-run", "50")
    output("index", "corpus", "--store", "without", "--no-passages")
    for store in ("with", "without"):
        assert ", 5 unchanged" in output("index", "corpus", "--store", store)

    assert ", 5 unchanged" in output("index", "corpus", "--store", "with", "--passage-run", "50")
    assert ", 5 unchanged" in output("index", "corpus", "--store", "without", "--no-passages")
    assert "was created with --no-passages; omit --passage-run" in sentence(
        run("index", "corpus", "--store", "without", "--passage-run", "36")
    )
    for options in (["--no-passages"], ["--passage-run", "36"]):
        message = sentence(run("index", "corpus", "--store", "with", *options))
        assert "the index with was created with sketches" in message


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--no-passages", "--passage-run", "40"], "cannot be combined"),
        (["--passage-run", "19"], "19 is not in the range 20<=x<=10000"),
        (["--passage-run", "30", "--shingle-size", "31"], "--passage-run 30 is shorter than --shingle-size 31"),
    ],
)
def test_invalid_passage_options_are_usage_errors(options: list[str], said: str) -> None:
    assert said in usage_error(run("index", "corpus", *options))
    assert not (Path.cwd() / ".simdoc").exists()
