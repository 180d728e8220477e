"""Names, found by their capital letters."""

from __future__ import annotations

import pytest

from simdoc_search.concepts.names import NameFinder, find_names
from tests.versions.paper import DOCUMENTS


def test_names_of_the_papers_documents() -> None:
    """The names of figures 19 and 20, by paragraph. `Dufner` counts as `Jason Dufner`."""
    third, fourth = (NameFinder().find(DOCUMENTS[number]) for number in (2, 3))

    assert ["Jason Dufner", "Oak Hill Country Club", "New York", "PGA Championship"] == list(third[0])
    assert [["Oak Hill Country Club"], ["Atlanta", "Keegan Bradley"]] == [list(names) for names in third[1:]]
    assert {"Jason Dufner": 1, "American Jim Furyk": 1, "Oak Hill": 1} == fourth[1]
    assert {"Tiger Woods": 2, "Torrey Pines": 1} == fourth[2]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We met J. R. R. Tolkien there.", ["J R R Tolkien"]),
        ("Then the Bank of the West paid Vincent van Gogh.", ["Bank of the West", "Vincent van Gogh"]),
        ("It was Peter's dog and the Smiths' cat.", ["Peter", "Smiths"]),
        ("Trees grow. Often. People say the PGA knows. NATO too.", ["PGA", "NATO"]),
        ("We saw New\nYork again.", ["New York"]),
        ("Title: Iron Man\nAuthor: Jane Doe\nStatus: done", ["Iron Man", "Jane Doe"]),
        ("A meeting of Anna Bell. Anna came. Bell left.", ["Anna Bell"] * 3),
        ("Of Anna Bell and Anna Cox, Anna was late.", ["Anna Bell", "Anna Cox", "Anna"]),
        ("See you on Monday in May.", []),
        ("THE SOFTWARE IS PROVIDED AS IS", []),
        ("A Very Long Heading That Has Far Too Many Words To Be One", []),
        ("сегодня Лев Толстой пишет", ["Лев Толстой"]),
        ("世界你好 שלום עולם مرحبا ประเทศไทย", []),
        ("", []),
    ],
)
def test_examples_of_names(text: str, expected: list[str]) -> None:
    """Initials, particles, possessives, first words, acronyms, lines, fields, parts, headings, other scripts."""
    assert expected == [name.concept for name in find_names(text)]


def test_positions_are_those_of_the_text() -> None:
    """The position of a short form is that of the short form, although its name is the longer one."""
    text = "Today Jason Dufner won. Dufner was glad."

    assert ["Jason Dufner", "Dufner"] == [text[name.begin : name.end] for name in find_names(text)]
