"""Positions, boilerplate, escaped characters and descriptions for people."""

from __future__ import annotations

import pytest

from simdoc_search.passages.align import align
from simdoc_search.passages.boilerplate import find_boilerplate
from simdoc_search.passages.escape import escape_html
from simdoc_search.passages.passage import Difference
from simdoc_search.passages.positions import TextPositions
from simdoc_search.passages.summary import count_passage_words, describe_difference
from tests.support import texts as random_texts
from tests.support.passages.pages import same


@pytest.mark.parametrize(
    ("text", "position", "label"),
    [
        ("one\ntwo\r\nthree", 0, "line 1"),
        ("one\ntwo\r\nthree", 10, "line 3"),
        ("a\fb\nc\fd", 4, "page 2, line 2"),
        ("a\fb\nc\fd", 6, "page 3, line 1"),
        ("a\nb\f\n", 2, "line 2"),
        ("\n" * 2000, 1999, "line 2,000"),
    ],
)
def test_a_position_is_a_page_and_a_line(text: str, position: int, label: str) -> None:
    """A form feed ends a page. The page of a text with one page is not shown."""
    assert label == TextPositions(text).label(position)


def test_moved_and_quoted_words_of_a_passage_are_counted() -> None:
    """Three words are moved. One word is replaced."""
    words = random_texts.distinct_words(40, seed=1)
    moved = [*words[:10], *words[13:20], "new", *words[21:30], *words[10:13], *words[30:]]
    text, source = " ".join(moved), " ".join(words)
    (passage,) = align(text, source)
    (verbatim,) = align(source, source)

    assert "39 of 40 words match, 3 moved" == count_passage_words(passage, text)
    assert "39 of 40 words match, 3 moved, 2 quoted" == count_passage_words(
        passage, text, quotations=[(0, len(" ".join(words[:2])))]
    )
    assert "40 words, all quoted" == count_passage_words(verbatim, source, quotations=[(0, len(source))])


def test_ignored_words_of_a_passage_are_not_among_its_other_words() -> None:
    """The passage ends on the second page."""
    words = random_texts.distinct_words(40, seed=1)
    text = " ".join(words[:30]) + "\f" + " ".join(words[30:])
    (passage,) = align(text, " ".join([*words[:10], "own", *words[20:]]))
    ignored = (text.index(words[12]), text.index(words[18]))

    assert "30 of 34 words match, 6 ignored" == count_passage_words(passage, text, ignored_spans=[ignored])
    assert "page 1, line 1 to page 2, line 1" == TextPositions(text).label_span(passage.a)


def test_boilerplate_occurs_three_times_in_a_text() -> None:
    """A long passage does not count as boilerplate."""
    notice = "this file is part of the works and comes without any warranty of any kind"
    content = "what is said here is said in this place alone and nowhere else in the text"
    texts = f"{notice}. {content}", f"{content}. {notice}. Then {notice}. Again {notice}"
    passages = same(0, len(content) + 2, len(notice), 15), same(len(notice) + 2, 0, len(content), 16)

    assert {0} == find_boilerplate(passages, texts)
    assert set() == find_boilerplate(passages, (texts[0], texts[1].removesuffix(notice)))
    assert set() == find_boilerplate((same(0, len(content) + 2, len(notice), 201),), texts)
    assert set() == find_boilerplate((), texts)


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("a < b & c > \"d\" 'e'", "a &lt; b &amp; c &gt; &quot;d&quot; &#39;e&#39;"),
        ("\u202e", '<span class="escape">\\u202e</span>'),
        ("\x00", '<span class="escape">\\x00</span>'),
        ("\ud800", '<span class="escape">\\ud800</span>'),
        ("a\r\nb\rc\fd\u2028e", "a\nb\nc\nd\ne"),
        ("می\u200cخواهم 👩\u200d🚀 \u00a0\u0301\t", "می\u200cخواهم 👩\u200d🚀 \u00a0\u0301\t"),
    ],
)
def test_invisible_characters_are_written_out(text: str, html: str) -> None:
    """Joiners and spaces are unchanged."""
    assert html == escape_html(text)


@pytest.mark.parametrize(
    ("difference", "sentence"),
    [
        (Difference("replaced", (4, 7), (4, 11), 1, 2), "1 word replaced by 2: “may” → “may not”"),
        (Difference("replaced", (4, 7), (4, 7), 1, 1), "1 word replaced: “may” → “may”"),
        (Difference("inserted", (7, 7), (8, 11), 0, 1), "1 word inserted: “not”"),
        (Difference("removed", (4, 7), (4, 4), 1, 0), "1 word removed: “may”"),
        (Difference("moved", (0, 7), (0, 7), 2, 2), "2 words moved: “you may”"),
    ],
)
def test_a_difference_is_a_sentence(difference: Difference, sentence: str) -> None:
    assert sentence == describe_difference(difference, "you may copy", "you may not copy")
