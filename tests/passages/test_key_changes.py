"""Which differences are shown first?"""

from __future__ import annotations

import pytest

from simdoc_search.passages.compare import compare
from simdoc_search.passages.passage import KeyChange

BEGIN = "The tenant pays the landlord a monthly rent for the flat on the second floor. "


def found(old: str, new: str) -> list[KeyChange]:
    """The key changes of two texts that begin alike."""
    texts = BEGIN + old, BEGIN + new
    return list(compare(*texts).key_changes)


@pytest.mark.parametrize(
    ("old", "new", "wanted"),
    [
        ("The rent is 850 euros.", "The rent is 890 euros.", KeyChange("number", "The rent is", "850", "890")),
        ("It is 500 euros.", "It is -500 euros.", KeyChange("number", "It is", "500", "-500")),
        ("It may be let.", "It may not be let.", KeyChange("negation", "It may", "", "not")),
        ("Er darf keine Hunde halten.", "Er darf Hunde halten.", KeyChange("negation", "Er darf", "keine", "")),
        ("It is let to Mr Smith.", "It is let to Mr Jones.", KeyChange("name", "to Mr", "Smith", "Jones")),
        ("It ends on 12 March 2021 at noon.", "It ends on 14 March 2021 at noon.",
         KeyChange("date", "ends on", "12 March 2021", "14 March 2021")),
    ],
)  # fmt: skip
def test_what_matters_is_found(old: str, new: str, wanted: KeyChange) -> None:
    """With the words before it."""
    (change,) = found(old, new)

    assert wanted[0] == change.kind
    assert change.before.endswith(wanted.before)
    assert wanted[2:] == change[2:]


def test_negations_come_first() -> None:
    """Then numbers, dates and names."""
    changes = found("He met Smith twice. He may pay 5 euros.", "He met Jones twice. He may not pay 6 euros.")

    assert ["negation", "number", "name"] == [each.kind for each in changes]


@pytest.mark.parametrize(("old", "new"), [("A big cat sleeps.", "A small cat sleeps."), ("", ""), ("x", "x")])
def test_other_words_are_not(old: str, new: str) -> None:
    """They are counted, and shown side by side."""
    assert [] == found(old, new)
