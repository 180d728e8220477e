"""Differences in signs at equal words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search.analysis.words import placed_words
from simdoc_search.passages.compare import compare
from simdoc_search.passages.signs import signs

COMMON = "the words around are the same in both of these two texts"


def differing(a: str, b: str) -> list[tuple[str, str, str]]:
    """The kind of each difference, and its text in both texts. The texts must have the same words."""
    first, second = placed_words(a), placed_words(b)
    assert first.words == second.words
    found = signs(a, b, first, second, [(0, 0, len(first.words))] if first.words else [])
    return [(each.kind, a[slice(*each.a)], b[slice(*each.b)]) for each in found]


@pytest.mark.parametrize(
    ("here", "there"),
    [("-500", "500"), ("a+b", "a-b"), ("a<b", "a>b"), ("(x", "x"), ("yes,", "yes"), ("5%", "5"), ("$5", "€5"),
     ("don’t!", "don’t?"), ("x**2", "x*2"), ("!ready", "ready"), ("5°", "5")],
)  # fmt: skip
def test_a_sign_is_shown_with_the_word_beside_it(here: str, there: str) -> None:
    """The word may be anywhere in the text."""
    for form in ("{}", "{} " + COMMON, COMMON + " {}", COMMON + "\n {} \t" + COMMON):
        assert [("sign", here, there)] == differing(form.format(here), form.format(there))


def test_a_sign_between_spaces_is_shown_alone() -> None:
    """No word is next to such a sign."""
    assert [("sign", "<", ">")] == differing(f"{COMMON} a < b", f"{COMMON} a > b")
    assert [("sign", "-", "")] == differing(f"{COMMON} a - b", f"{COMMON} a b")


def test_another_writing_of_a_word_is_found() -> None:
    """The words differ in case, or in another way that normalisation removes."""
    assert [("writing", "Bill", "bill"), ("writing", "ﬁnd", "find")] == differing("Bill can ﬁnd it", "bill can find it")


@given(st.text(alphabet="ab .,-\n", max_size=30))
def test_whitespace_makes_no_difference(text: str) -> None:
    """Line ends are whitespace, too."""
    assert [] == differing(text, "  ".join(text.split())) == differing(text, text)


def test_a_comparison_has_only_the_signs_of_matched_words() -> None:
    """Different words are differences of words, not of signs."""
    found = compare(f"{COMMON}, and -5 more", f"{COMMON} and 6 more {COMMON}")

    assert ["replaced", "inserted"] == [each.kind for each in found.differences]
    assert 1 == len(found.signs)
