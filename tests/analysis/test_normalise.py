"""The two profiles, which define when two spellings are the same word."""

from __future__ import annotations

import pytest
from hypothesis import given

from simdoc_search.analysis import Analysis
from simdoc_search.analysis.normalise import normaliser
from simdoc_search.analysis.words import words
from tests.support.strategies import texts

nfkc_cf = normaliser("nfkc_cf")
lowercase = normaliser("lowercase")


@given(texts())
def test_nfkc_cf_is_idempotent(text: str) -> None:
    folded = words(text, Analysis(profile="nfkc_cf"))

    assert folded == [nfkc_cf(word) for word in folded]


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
def test_nfkc_cf_unifies_spellings(word: str, expected: str) -> None:
    """Case, width, ligatures, ignorable characters and composition make no difference."""
    assert expected == nfkc_cf(word)


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("ΟΔΟΣ", "οδοσ"),  # not the final form: the filter does not see the end of a word
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
def test_lowercase_maps_each_code_point_as_lucenes_filter(word: str, expected: str) -> None:
    assert expected == lowercase(word)


@given(texts(), texts())
def test_lowercase_ignores_neighbours(first: str, second: str) -> None:
    assert lowercase(first) + lowercase(second) == lowercase(first + second)
