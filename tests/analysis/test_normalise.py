"""When two spellings are the same word."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search.analysis import Analysis
from simdoc_search.analysis.normalise import normaliser
from simdoc_search.analysis.words import words
from tests.support.strategies import texts
from tests.support.vectors import load

nfkc_cf = normaliser("nfkc_cf")
lowercase = normaliser("lowercase")


@given(texts())
def test_nfkc_cf_of_a_folded_word_is_the_word(text: str) -> None:
    """NFKC_Casefold is idempotent: a normalised word is its own normal form."""
    folded = words(text, Analysis(profile="nfkc_cf"))

    assert folded == [nfkc_cf(word) for word in folded]


def test_nfkc_cf_of_folded_reference_words_is_the_word() -> None:
    """The folded words of the reference texts are their own normal forms."""
    folded = {word for each in load("words_random")["texts"] for word in each["nfkc_cf"]}

    assert [] == [word for word in folded if word != nfkc_cf(word)]


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("Straße", "strasse"),
        ("STRASSE", "strasse"),
        ("ﬁnal", "final"),
        ("２０ＫＢ", "20kb"),
        ("ΟΔΟΣ", "οδοσ"),
        ("οδος", "οδοσ"),
        ("İ", "i\u0307"),
        ("so\u00adft", "soft"),
        ("e\u0301", "é"),
        ("ﷺ", "صلى الله عليه وسلم"),
        ("\u00ad", ""),
    ],
)
def test_nfkc_cf_joins_spellings(word: str, expected: str) -> None:
    """Case, width, ligatures, ignorable characters and composition make no difference."""
    assert expected == nfkc_cf(word)


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("ΟΔΟΣ", "οδοσ"),  # not the final form: the filter does not see a word's end
        ("ς", "ς"),
        ("İstanbul", "istanbul"),  # one letter, not i and a dot
        ("I", "i"),
        ("ẞ", "ß"),
        ("Straße", "straße"),
        ("ﬁ", "ﬁ"),
        ("𐐀", "𐐨"),
        ("so\u00adft", "so\u00adft"),
    ],
)
def test_lowercase_maps_each_code_point(word: str, expected: str) -> None:
    """The `lowercase` profile is Lucene's filter: one code point to one, blind to its neighbours."""
    assert expected == lowercase(word)


@given(texts(), texts())
def test_lowercase_of_a_text_is_that_of_its_parts(first: str, second: str) -> None:
    """No letter changes what its neighbour becomes."""
    assert lowercase(first) + lowercase(second) == lowercase(first + second)


@given(st.text(st.characters(codec="ascii")))
def test_the_profiles_agree_on_ascii(word: str) -> None:
    """ASCII words are only lower-cased, whichever the profile."""
    assert word.lower() == lowercase(word) == nfkc_cf(word)
