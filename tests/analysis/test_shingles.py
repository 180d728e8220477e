"""The shingles of a text: runs of consecutive words or characters."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from simdoc_search.analysis import Analysis
from simdoc_search.analysis.settings import Unit
from simdoc_search.analysis.shingles import shingle_batch, shingles
from simdoc_search.analysis.words import word_batch, words
from tests.support.strategies import analyses, corpora, texts
from tests.support.vectors import first_difference, load, reference_texts


def plain_shingles(text: str, analysis: Analysis) -> list[str]:
    """The definition, on Python lists."""
    found = words(text, analysis)
    units, joint = (found, " ") if analysis.unit == "word" else (list(" ".join(found)), "")
    size = analysis.shingle_size
    if analysis.short_texts and 0 < len(units) < size:
        return [joint.join(units)]
    return [joint.join(units[at : at + size]) for at in range(len(units) - size + 1)]


@pytest.mark.parametrize("vector", load("words")["texts"], ids=lambda vector: vector["id"])
def test_shingles_of_reference_texts_are_lucenes(vector: dict[str, Any]) -> None:
    """Without `short_texts` the shingles of 5 words are those of Lucene's ShingleFilter, repeats included."""
    found = shingles(reference_texts()[vector["id"]], Analysis(profile="lowercase", short_texts=False))

    if vector["shingles"] is not None:  # the longest texts have only their numbers
        assert None is first_difference(vector["shingles"], found)
    assert (vector["n_shingles"], vector["n_distinct_shingles"]) == (len(found), len(set(found)))


@given(texts(), analyses())
def test_shingles_follow_the_definition(text: str, analysis: Analysis) -> None:
    """A shingle is so many consecutive words joined by one space, or so many code points of the joined words."""
    assert plain_shingles(text, analysis) == shingles(text, analysis)


@given(corpora(), analyses())
def test_shingles_of_many_texts_are_those_of_each(batch: list[str], analysis: Analysis) -> None:
    """No shingle of a batch reaches from one text into the next."""
    found = shingle_batch(word_batch(batch, analysis), analysis)
    data = found.units.tobytes()
    spans = zip(found.starts.tolist(), found.ends.tolist(), strict=True)
    expected = [plain_shingles(text, analysis) for text in batch]

    assert [len(each) for each in expected] == found.counts.tolist()
    assert [each for of_text in expected for each in of_text] == [
        data[2 * a : 2 * b].decode("utf-16-le") for a, b in spans
    ]


def test_a_shingle_is_five_words_by_default() -> None:
    """Six words make two shingles, normalised by nfkc_cf."""
    assert ["a b c d strasse", "b c d strasse f"] == shingles("A b, c d: Straße f.")


@pytest.mark.parametrize(
    ("size", "expected"),
    [(1, ["a", "b", "a"]), (2, ["a b", "b a"]), (3, ["a b a"]), (5, ["a b a"])],
)
def test_word_shingles_of_each_size(size: int, expected: list[str]) -> None:
    """Repeats stay, and a text shorter than a shingle is one shingle of all its words."""
    assert expected == shingles("a b A", Analysis(shingle_size=size))


@pytest.mark.parametrize(
    ("size", "expected"),
    [(1, ["a", "𐐨", " ", "c"]), (2, ["a𐐨", "𐐨 ", " c"]), (5, ["a𐐨 c"])],
)
def test_character_shingles_of_each_size(size: int, expected: list[str]) -> None:
    """Character shingles count code points, those beyond the BMP and the space between words too."""
    assert expected == shingles("A𐐀... c", Analysis(unit="character", shingle_size=size))


@pytest.mark.parametrize("unit", ["word", "character"])
def test_short_texts_can_be_left_out(unit: Unit) -> None:
    """With `short_texts` off a text shorter than a shingle has none, as in Lucene."""
    analysis = Analysis(unit=unit, short_texts=False)

    assert [] == shingles("a b", analysis)
    assert 1 == len(shingles("a b c" if unit == "character" else "a b c d e", analysis))


@pytest.mark.parametrize("short_texts", [True, False])
@pytest.mark.parametrize("text", ["", " \n", "...", "\ud800"])
def test_a_text_without_words_has_no_shingles(text: str, short_texts: bool) -> None:
    """Nothing to compare gives no shingle, `short_texts` or not."""
    assert [] == shingles(text, Analysis(short_texts=short_texts))
    assert [] == shingles(text, Analysis(unit="character", short_texts=short_texts))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"profile": "upper"}, "profile must be 'nfkc_cf' or 'lowercase', not 'upper'"),
        ({"profile": None}, "profile must be 'nfkc_cf' or 'lowercase', not None"),
        ({"unit": "line"}, "unit must be 'word' or 'character', not 'line'"),
        ({"shingle_size": 0}, "shingle_size must be a whole number of at least 1, not 0"),
        ({"shingle_size": -1}, "shingle_size must be a whole number of at least 1, not -1"),
        ({"shingle_size": 2.5}, "shingle_size must be a whole number of at least 1, not 2.5"),
        ({"shingle_size": "5"}, "shingle_size must be a whole number of at least 1, not '5'"),
    ],
)
def test_bad_analysis_settings_are_refused(settings: dict[str, Any], message: str) -> None:
    """A setting that means nothing is an error that says which values there are."""
    with pytest.raises(ValueError) as error:  # noqa: PT011 - compared below
        Analysis(**settings)

    assert message == str(error.value)
