"""Which part of a text is its bibliography."""

from __future__ import annotations

import time

import pytest

from simdoc_search.passages.bibliography import describe_bibliography, find_bibliography

PROSE = "\n\n".join(
    f"Paragraph {number} says something about harbours and the year 17{number:02}." for number in range(40)
)
ENTRIES = "\n".join(
    f"Author{number}, A. ({1990 + number}). A Book on Harbours.\nWesterhaven: University Press." for number in range(6)
)


def bibliography(text: str) -> str | None:
    span = find_bibliography(text)
    return text[slice(*span)] if span else None


@pytest.mark.parametrize(
    "heading",
    [
        "Bibliography",
        "REFERENCES",
        "7 References",
        "## Works Cited",
        "**References**",
        "VII. Literaturverzeichnis:",
        "Références",
        "Literatur",
    ],
)
def test_the_references_after_a_heading_are_found(heading: str) -> None:
    assert f"{heading}\n{ENTRIES}" == bibliography(f"{PROSE}\n\n{heading}\n{ENTRIES}")


@pytest.mark.parametrize(
    "after",
    [
        "Declaration\nI wrote this thesis in 2024.",
        "A Appendix\nIn 1990 and 1991.",
        "[^1]: Becker, 1990.",
        "Index\nharbour 12",
        "Licence\nThis work of 2024 may be copied.",
        "9 Supplementary material\nThe accounts of 1990.",
    ],
)
def test_a_later_part_of_the_book_does_not_belong_to_it(after: str) -> None:
    assert f"References\n{ENTRIES}" == bibliography(f"{PROSE}\n\nReferences\n{ENTRIES}\n\n{after}")


def test_prose_after_the_references_does_not_belong_to_it() -> None:
    prose = "This part has an unknown heading, and says something. " * 20 + "It ends in 2024."

    assert f"References\n{ENTRIES}" == bibliography(f"{PROSE}\n\nReferences\n{ENTRIES}\n\n{prose}")


@pytest.mark.parametrize(
    "text",
    [
        f"Contents\nBibliography\n{PROSE}",
        f"{PROSE}\n\nReferences\nNothing with a number follows this heading.",
        f"{PROSE}\n\nReferences to other books\n{ENTRIES}",
        PROSE,
        "",
    ],
)
def test_other_text_is_not_a_bibliography(text: str) -> None:
    assert bibliography(text) is None


@pytest.mark.parametrize("repeated", ["\f", " ", "# ", "1.", "References\n", "References 2024 ", "References\f"])
def test_a_hostile_text_takes_no_long_time(repeated: str) -> None:
    start = time.process_time()
    find_bibliography(repeated * (1_000_000 // len(repeated)))

    assert time.process_time() - start < 5


def test_it_is_found_on_the_pages_of_a_pdf() -> None:
    pages = [PROSE, f"References\n{ENTRIES}".replace("\n", "\r\n"), "Declaration\r\nI wrote this in 2024."]
    text = "\f".join(pages)

    assert pages[1].split() == (bibliography(text) or "").split()
    assert "The bibliography is ignored: page 2, line 1 to page 2, line 13." == describe_bibliography(
        text, find_bibliography(text)
    )
    assert "No bibliography was found, so none is ignored." == describe_bibliography(PROSE, None)
