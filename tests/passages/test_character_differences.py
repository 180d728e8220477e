"""Differences in letter case, punctuation and symbols at equal words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search.analysis.words import locate_words
from simdoc_search.passages.character_differences import find_character_differences
from simdoc_search.passages.compare import compare

COMMON = "the words around are the same in both of these two texts"


def differing(a: str, b: str) -> list[tuple[str, str, str]]:
    """The kind of each difference, and its text in both texts. The texts must have the same words."""
    first, second = locate_words(a), locate_words(b)
    assert first.words == second.words
    differences = find_character_differences((a, b), (first, second), [(0, 0, len(first.words))] if first.words else [])
    return [(difference.kind, a[slice(*difference.a)], b[slice(*difference.b)]) for difference in differences]


@pytest.mark.parametrize(
    ("here", "there"),
    [("-500", "500"), ("a+b", "a-b"), ("a<b", "a>b"), ("(x", "x"), ("yes,", "yes"), ("5%", "5"), ("$5", "€5"),
     ("(5)", "5"), ("don’t!", "don’t?"), ("x**2", "x*2"), ("!ready", "ready"), ("5°", "5")],
)  # fmt: skip
def test_a_symbol_is_shown_with_the_word_next_to_it(here: str, there: str) -> None:
    """The word may be anywhere in the text."""
    for form in ("{}", "{} " + COMMON, COMMON + " {}", COMMON + "\n {} \t" + COMMON):
        assert [("symbols", here, there)] == differing(form.format(here), form.format(there))


def test_a_symbol_between_spaces_is_shown_alone() -> None:
    assert [("symbols", "<", ">")] == differing(f"{COMMON} a < b", f"{COMMON} a > b")
    assert [("symbols", "-", "")] == differing(f"{COMMON} a - b", f"{COMMON} a b")


@pytest.mark.parametrize(
    ("here", "there", "shown"),
    [("5 € new", "5 $ old", [("€", "$")]), ("new > 5", "old < 5", [(">", "<")]), ("5 €", "5 $ new", [("€", "$")]),
     ("5 €", "5 €, 6 $", []), ("a - b", "a - new - b", []), ("5 € new", "5 € old", [])],
)  # fmt: skip
def test_symbols_beside_changed_words_are_compared(here: str, there: str, shown: list[tuple[str, str]]) -> None:
    """Inserted words may bring symbols of their own, which are not differences."""
    a, b = f"{COMMON} {here} {COMMON}", f"{COMMON} {there} {COMMON}"
    differences = compare(a, b).character_differences

    assert shown == [(a[slice(*difference.a)], b[slice(*difference.b)]) for difference in differences]


def test_a_long_token_is_cut_between_words() -> None:
    path = "shared/documents/of/the/whole/project/and/of/all/others"
    [(_, here, there)] = differing(f"(see notice at {path}, and more)", f"(see notice at {path}. and more)")

    assert ("/of/the/whole/project/and/of/all/others,", here[:-1]) == (here, there[:-1])
    assert [("symbols", "-", "+")] == differing(f"{'a' * 50}-{'b' * 50}", f"{'a' * 50}+{'b' * 50}")


def test_words_with_other_letters_are_found() -> None:
    """The words differ in case, or in another way that normalisation removes."""
    assert [("letters", "Bill", "bill"), ("letters", "ﬁnd", "find")] == differing("Bill can ﬁnd it", "bill can find it")


def test_the_unicode_form_makes_no_difference() -> None:
    """The same characters are shown alike, so nobody could see what differs."""
    assert [] == differing("die Größe, 5 ≠ 6", "die Gro\u0308ße, 5 =\u0338 6")
    assert [("symbols", "6", "-6")] == differing("die Größe 6", "die Gro\u0308ße -6")


@given(st.text(alphabet="ab .,-\n", max_size=30))
def test_whitespace_makes_no_difference(text: str) -> None:
    """Line ends are whitespace, too."""
    assert [] == differing(text, "  ".join(text.split())) == differing(text, text)


def test_a_comparison_has_only_the_character_differences_of_matched_words() -> None:
    comparison = compare(f"{COMMON}, and -5 more", f"{COMMON} and 6 more {COMMON}")

    assert ["replaced", "inserted"] == [difference.kind for difference in comparison.differences]
    assert 1 == len(comparison.character_differences)
