"""The numbers of the footnotes in a PDF, which its text joins to the words beside them."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from simdoc_search.corpus.file_reader import read_file
from simdoc_search.corpus.note_numbers import separate_note_numbers
from tests.support import formats


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("The water rises.1\n1Meier 2010", "The water rises.1\n1 Meier 2010"),
        ("The water1 rises\r\n1Meier", "The water 1 rises\r\n1 Meier"),
        ("The water1 rises\n1 Meier", "The water 1 rises\n1 Meier"),
        ("a “quotation”12 here\n12see there", "a “quotation”12 here\n12 see there"),
        ("in 2019.1\n1In Rome", "in 2019.1\n1 In Rome"),
        ("words,1 and words2\n1“Meier”\n2https://a.org", "words,1 and words 2\n1 “Meier”\n2 https://a.org"),
        ("Section 2.1 on water1\n1Meier", "Section 2.1 on water 1\n1 Meier"),
    ],
)
def test_the_number_is_separated_from_the_words(page: str, expected: str) -> None:
    assert expected == separate_note_numbers(page)


@pytest.mark.parametrize(
    "page",
    [
        "1Meier\nThe water rises.1",  # nothing above refers to the line
        "version.2\n2nd edition",
        "H2O, CO2 and km2\n2 Methods",
        "utf16 and Mp3\n16 Characters\n3 Sounds",
        "in water1\n1 One\n1 Again",
        "globs2 and words2\n2 Methods",
        "all of water1 rises\n1.5 metres",
        "",
    ],
)
def test_other_numbers_are_not_separated(page: str) -> None:
    assert page == separate_note_numbers(page)


def test_the_first_word_of_a_footnote_in_a_pdf_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(formats.pdf(("The water1 rises.2", "1Cisterns are small.", "2Meier 2010")))

    assert "The water 1 rises.2 1 Cisterns are small. 2 Meier 2010" == " ".join(read_file(path).text.split())


def test_a_page_with_many_numbered_lines_takes_linear_time() -> None:
    page = "".join(f"words{number % 1000}\n{number % 1000}Meier\n" for number in range(50_000))
    start = time.process_time()
    separate_note_numbers(page)

    assert time.process_time() - start < 3
