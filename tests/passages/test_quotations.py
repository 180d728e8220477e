"""Quotations are found by their marks."""

from __future__ import annotations

import pytest

from simdoc_search.passages.quotations import find_quotations


@pytest.mark.parametrize(
    ("text", "quotations"),
    [
        ("He said “one, two”, not “three”.", ["“one, two”", "“three”"]),
        ("Er sagte „eins ‚zwei‘ drei“ und »vier«.", ["„eins ‚zwei‘ drei“", "»vier«"]),
        ("Il dit « un deux ».", ["« un deux »"]),
        ("the ‘students’ own words’ don’t", ["‘students’"]),
        ("it says ‘they don’t know’, since the ‘90s. The users’ view", ["‘they don’t know’"]),
        ('a 15" screen, "one two" and 17" more', ['"one two"']),
        ("Han sa ”ett två” och »tre». Hon sa ”fyra”.", ["”ett två”", "»tre»", "”fyra”"]),
        ("He said “one”, “two” and three” four.", ["“one”", "“two”"]),
        ('one " two" and "three.', []),
        ('u"a" or said:"one"', ['"one"']),
        ("“one\n\n“two\n\n“three” four", ["“one", "“two", "“three”"]),
        ("“one\n\ntwo” three", []),
        ("> one\ntwo > three\n  > four", ["> one", "  > four"]),
    ],
)
def test_marks_enclose_a_quotation(text: str, quotations: list[str]) -> None:
    """Marks of inches, apostrophes, and marks without a partner in their paragraph are not quotation marks."""
    assert quotations == [text[slice(*span)] for span in find_quotations(text)]


_OWN = "own words " * 9


@pytest.mark.parametrize(
    ("text", "quotations"),
    [
        (f"„eins {_OWN}„zwei“ {_OWN}„drei“", ["„zwei“", "„drei“"]),
        (f"eins“ {_OWN}„zwei“ {_OWN}„drei“", ["„zwei“", "„drei“"]),
        (f"„eins {_OWN}by “two” and „drei“", ["“two”", "„drei“"]),
        (f"„jeden” {_OWN}by “two” {_OWN}„trzy”", ["„jeden”", "“two”", "„trzy”"]),
        (f"un », {_OWN}« deux » {_OWN}« trois »", ["« deux »", "« trois »"]),
        (f"un »3 {_OWN}(« deux ») {_OWN}« trois »", ["« deux »", "« trois »"]),
        (f"eins.« {_OWN}»zwei« {_OWN}»drei«", ["»zwei«", "»drei«"]),
        (f"»eins {_OWN}»zwei« {_OWN}»drei«", ["»zwei«", "»drei«"]),
        (f"ett.”) {_OWN}”två” {_OWN}”tre”", ["”två”", "”tre”"]),
        (f'one."3 {_OWN}"two" {_OWN}"three"', ['"two"', '"three"']),
        (f'one,"3 {_OWN}"two"', ['"two"']),
        (f'"one {_OWN}"two" {_OWN}"three"', ['"two"', '"three"']),
        (f"‘one {_OWN * 2}of the users’ view, said ‘two’", ["‘two’"]),
        ("“" + "own words " * 160 + "two”", []),
    ],
)
def test_a_missing_mark_does_not_make_the_text_between_two_quotations_a_quotation(
    text: str, quotations: list[str]
) -> None:
    assert quotations == [text[slice(*span)] for span in find_quotations(text)]


def test_a_quotation_may_end_before_the_number_of_a_footnote() -> None:
    assert [(0, 5), (11, 16)] == find_quotations('"one"3 and ”two”12')


def test_a_long_quotation_in_single_marks_does_not_end_with_an_apostrophe() -> None:
    text = f"‘one {_OWN} of the users’ view {_OWN}’"

    assert [(0, len(text))] == find_quotations(text)


def test_a_quotation_crosses_a_page_break_without_the_footnotes() -> None:
    text = "Body “one two\r\nthree.\r\n12 See Smith,\r\nvolume 3.\ffour five” body"

    assert ["“one two\r\nthree.\r", "four five”"] == [text[slice(*span)] for span in find_quotations(text)]


def test_a_footnote_that_continues_on_the_next_page_does_not_quote_the_text_of_this_page() -> None:
    body = "Text of the page. " * 50
    text = f"{body}\n2 See: « La trame noire\f{body}\nest le prolongement », page 4. « Trois »"

    assert ["« Trois »"] == [text[slice(*span)] for span in find_quotations(text)]


def test_a_long_text_with_many_opening_marks_is_fast() -> None:
    for mark in '“„‘"«”»':
        assert [] == find_quotations(f" {mark}a" * 100_000 + f"\n\n- {mark}" + "b" * 100_000)
