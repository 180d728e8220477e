"""The shingles of a text: runs of consecutive words or characters."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from simdoc_search.analysis import Analysis
from simdoc_search.analysis.shingles import shingle_batch, shingles
from simdoc_search.analysis.words import word_batch, words
from tests.support.strategies import analyses, corpora
from tests.support.vectors import first_difference, load, reference_texts


def plain_shingles(text: str, analysis: Analysis) -> list[str]:
    """The shingles by their definition, made with Python lists."""
    all_words = words(text, analysis)
    units, separator = (all_words, " ") if analysis.unit == "word" else (list(" ".join(all_words)), "")
    size = analysis.shingle_size
    if analysis.short_texts and 0 < len(units) < size:
        return [separator.join(units)]
    return [separator.join(units[start : start + size]) for start in range(len(units) - size + 1)]


def test_shingles_of_reference_texts_are_lucenes() -> None:
    """Without `short_texts` the shingles of 5 words are those of Lucene's ShingleFilter, repeats included."""
    for vector in load("words")["texts"]:
        result = shingles(reference_texts()[vector["id"]], Analysis(profile="lowercase", short_texts=False))

        if vector["shingles"] is not None:  # for the longest texts, only the counts are known
            assert None is first_difference(vector["shingles"], result), vector["id"]
        assert (vector["n_shingles"], vector["n_distinct_shingles"]) == (len(result), len(set(result))), vector["id"]


@given(corpora(), analyses())
def test_shingles_follow_the_definition(batch: list[str], analysis: Analysis) -> None:
    """This is checked for each text alone, and for several texts in one batch."""
    expected = [plain_shingles(text, analysis) for text in batch]

    assert expected == shingle_batch(word_batch(batch, analysis), analysis).strings()
    assert expected == [shingles(text, analysis) for text in batch]


@pytest.mark.parametrize(
    ("text", "settings", "expected"),
    [
        ("A b, c d: Straße f.", {}, ["a b c d strasse", "b c d strasse f"]),
        ("a b A", {"shingle_size": 1}, ["a", "b", "a"]),
        ("a b A", {"shingle_size": 2}, ["a b", "b a"]),
        ("a b A", {}, ["a b a"]),
        ("a b A", {"short_texts": False}, []),
        ("A𐐀... c", {"unit": "character", "shingle_size": 1}, ["a", "𐐨", " ", "c"]),
        ("A𐐀... c", {"unit": "character", "shingle_size": 2}, ["a𐐨", "𐐨 ", " c"]),
        ("A𐐀... c", {"unit": "character"}, ["a𐐨 c"]),
        ("A𐐀... c", {"unit": "character", "short_texts": False}, []),
        ("...", {}, []),
        ("\ud800", {"unit": "character"}, []),
    ],
)
def test_examples_of_shingles(text: str, settings: dict[str, Any], expected: list[str]) -> None:
    """The default is five words. Repeats are kept, a short text is one shingle, and characters are code points."""
    assert expected == shingles(text, Analysis(**settings))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"profile": "upper"}, "profile must be 'nfkc_cf' or 'lowercase', not 'upper'"),
        ({"unit": "line"}, "unit must be 'word' or 'character', not 'line'"),
        ({"shingle_size": 0}, "shingle_size must be a whole number of at least 1, not 0"),
        ({"shingle_size": 2.5}, "shingle_size must be a whole number of at least 1, not 2.5"),
        ({"short_texts": 1}, "short_texts must be True or False, not 1"),
        ({"stem": "xx"}, "stem must be empty, 'auto' or one of ar, "),
    ],
)
def test_bad_settings_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError) as error:  # noqa: PT011 - compared below
        Analysis(**settings)

    assert str(error.value).startswith(message)
