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


def test_a_long_text_with_many_opening_marks_is_fast() -> None:
    for mark in '“„‘"«”»':
        assert [] == find_quotations(f" {mark}a" * 100_000 + f"\n\n- {mark}" + "b" * 100_000)
