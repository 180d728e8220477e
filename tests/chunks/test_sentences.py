"""Splitting a text into sentences."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search.chunks.sentences import MAX_SENTENCE_LENGTH, sentence_spans
from tests.support.slow_cases import slow_after


def sentences(text: str) -> list[str]:
    return [text[begin:end] for begin, end in sentence_spans(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Dr. Ito met Mr. Poe at 3.5 km. They left.", ["Dr. Ito met Mr. Poe at 3.5 km.", "They left."]),
        ("One line\nand its rest. Two.", ["One line\nand its rest.", "Two."]),
        ("A title\n\nA sentence.", ["A title", "A sentence."]),
        ("To buy:\n- bread\n- two eggs", ["To buy:", "- bread", "- two eggs"]),
        ("First page.\x0cSecond page.", ["First page.", "Second page."]),
        ("これは文です。次の文です。", ["これは文です。", "次の文です。"]),
        ("Это первое. Это второе.", ["Это первое.", "Это второе."]),
        ("यह पहला है। यह दूसरा है।", ["यह पहला है।", "यह दूसरा है।"]),
        (
            "One\r\nline. Two.\r\rThree\nlines\r\n\r\nhere. Four\r\n",
            ["One\r\nline.", "Two.", "Three\nlines", "here.", "Four"],
        ),
        ("", []),
        (" \n\n\t ", []),
    ],
)
def test_examples_of_sentences(text: str, expected: list[str]) -> None:
    """Abbreviations and wrapped lines do not end a sentence. Empty lines, bullets and page breaks do."""
    assert expected == sentences(text)


def test_each_row_of_a_table_is_a_sentence() -> None:
    """Short rows are joined, because unrelated tables share them. Lines that only begin with a tab are not rows."""
    rows = [f"2023-01-{day:02}\tPaper for the printer\t{day}.50\tcash" for day in range(10, 14)]
    short, code = "January\t5\nFebruary\t7", "\treturn the first of the numbers that\n\tthe caller has not seen yet"

    assert sentences("\n".join(["The ledger", *rows])) == [f"The ledger\n{rows[0]}", *rows[1:]]
    assert sentences(short) == [short]
    assert sentences(code) == [code.strip()]


def test_sentences_do_not_depend_on_how_a_text_is_wrapped() -> None:
    text = "The harbour was closed for the winter. Nobody had told the captain, who came all the same. He waited."
    narrow = text.replace(" ", "\n")

    assert [sentence.split() for sentence in sentences(text)] == [sentence.split() for sentence in sentences(narrow)]


@pytest.mark.parametrize("unit", slow_after(1, ["a ", "字", "ab\n"]))
def test_a_megabyte_without_a_sentence_end_is_cut(unit: str) -> None:
    """It is cut between words if it has any spaces."""
    text = unit * (1_000_000 // len(unit))
    result = sentences(text)

    assert max(map(len, result)) <= MAX_SENTENCE_LENGTH
    assert "".join("".join(result).split()) == "".join(text.split())


@given(st.text(st.characters(exclude_categories=[]), max_size=300) | st.text("ab. \n\r-?!\ud800", max_size=300))
def test_only_white_space_is_between_sentences(text: str) -> None:
    """The text may be invalid Unicode. No sentence is empty, and sentences do not overlap."""
    spans = sentence_spans(text)

    assert all(begin < end for begin, end in spans)
    assert all(before[1] <= after[0] for before, after in pairwise(spans))
    outside = "".join(text[a:b] for (_, a), (b, _) in pairwise([(0, 0), *spans, (len(text), 0)]))
    assert not outside.strip()


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_sentences_do_not_depend_on_the_line_endings(end: str) -> None:
    """The text has lists, empty lines and a sentence that is cut."""
    text = "A title\n\nTo buy:\n- bread\n- two eggs, but\nno milk. So be\nit.\n \nrow of a table\n" + "word and\n" * 200
    saved = text.replace("\n", end)
    spans = sentence_spans(saved)

    assert len(spans) > 6
    assert sentences(text) == [saved[begin:stop].replace(end, "\n") for begin, stop in spans]
