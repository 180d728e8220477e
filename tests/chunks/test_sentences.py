"""Where are the sentences of a text? Each is where it is said to be, and nothing but space is lost."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search.chunks import LONGEST, sentence_spans


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
        ("", []),
        (" \n\n\t ", []),
    ],
)
def test_a_text_is_cut_into_its_sentences(text: str, expected: list[str]) -> None:
    """Abbreviations end none, wrapped lines belong together, empty lines, bullets and pages part them."""
    assert expected == sentences(text)


def test_a_text_wrapped_anew_has_the_same_sentences() -> None:
    """As an editor, or another width of the page, makes of it."""
    text = "The harbour was closed for the winter. Nobody had told the captain, who came all the same. He waited."
    narrow = text.replace(" ", "\n")
    assert [each.split() for each in sentences(text)] == [each.split() for each in sentences(narrow)]


@pytest.mark.parametrize("letter", ["a", "a ", "字", "\U0001f600", "ab\n"])
def test_what_never_ends_is_cut(letter: str) -> None:
    """A megabyte without the end of a sentence: pieces between words where there are any."""
    text = letter * (1_000_000 // len(letter))
    found = sentences(text)
    assert max(map(len, found)) <= LONGEST
    assert "".join("".join(found).split()) == "".join(text.split())


@given(st.text(st.characters(exclude_categories=[]), max_size=300) | st.text("ab. \n\r-?!\ud800", max_size=300))
def test_only_space_is_between_sentences(text: str) -> None:
    """Of any text, also one that is no valid Unicode: nothing is lost, nothing is twice."""
    spans = sentence_spans(text)
    assert all(begin < end for begin, end in spans)
    assert all(before[1] <= after[0] for before, after in pairwise(spans))
    outside = "".join(text[a:b] for (_, a), (b, _) in pairwise([(0, 0), *spans, (len(text), 0)]))
    assert not outside.strip()


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_what_ends_the_lines_changes_no_sentence(end: str) -> None:
    """As Windows and old systems save them: also of lists, of empty lines and of what is cut, each where it stands."""
    text = "A title\n\nTo buy:\n- bread\n- two eggs, but\nno milk. So be\nit.\n \nrow of a table\n" + "word and\n" * 200
    spans = sentence_spans(text.replace("\n", end))
    saved = text.replace("\n", end)

    assert len(spans) > 6
    assert sentences(text) == [saved[begin:stop].replace(end, "\n") for begin, stop in spans]


def test_lines_that_end_in_several_ways_have_each_sentence_in_its_place() -> None:
    """Of a text that was put together."""
    text = "One\r\nline. Two.\r\rThree\nlines\r\n\r\nhere. Four\r\n"
    assert ["One\r\nline.", "Two.", "Three\nlines", "here.", "Four"] == sentences(text)
