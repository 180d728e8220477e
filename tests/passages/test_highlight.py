"""The passages that two texts share, marked in both."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from simdoc_search import MarkedText, highlight
from simdoc_search.passages.align import align

SHARED = "the tenant pays the rent on the first day of each month, in advance & without being asked for it"
ONE = f"A letter of <b>Ben</b>: {SHARED}. So he wrote."
OTHER = f"Contract. {SHARED.upper()}! The landlord <script>alert(1)</script> keeps the roof dry."


class ShownHtml(HTMLParser):
    """The tags of some HTML, and the text that a browser shows, with marked text in brackets."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.text = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002 - the name of the base class
        self.tags.add(tag)
        self.text += "[" if tag == "mark" else ""

    def handle_endtag(self, tag: str) -> None:
        self.text += "]" if tag == "mark" else ""

    def handle_data(self, data: str) -> None:
        self.text += data


def test_shared_passages_are_marked_in_both_texts() -> None:
    """The marked text keeps the characters of each text."""
    highlights = highlight(ONE, OTHER)

    assert [SHARED] == [ONE[slice(*span)] for span in highlights.query.spans]
    assert [SHARED.upper()] == [OTHER[slice(*span)] for span in highlights.hit.spans]
    assert tuple(align(ONE, OTHER)) == highlights.passages
    assert f"A letter of <b>Ben</b>: [{SHARED}]. So he wrote." == ShownHtml(highlights.query.html()).text


def test_the_tags_of_a_text_are_only_shown() -> None:
    """The only tags in the HTML are the marks."""
    highlights = highlight(ONE, OTHER)

    assert {"mark"} == ShownHtml(highlights.hit.html()).tags == ShownHtml("".join(highlights.hit.fragments())).tags
    assert OTHER[:10] + "*" in highlights.hit.html("*", "*")


def test_invisible_characters_are_written_out() -> None:
    """The characters may be next to a mark."""
    html = MarkedText.from_spans("pay \u202e001 euros\x00 now", [(4, 8)]).html()

    assert 'pay <mark><span class="escape">\\u202e</span>001</mark> euros<span class="escape">\\x00</span> now' == html


def test_a_fragment_has_words_around_the_mark() -> None:
    """The middle of a long span is left out."""
    text = " ".join(f"w{number}" for number in range(200))
    begin, end = text.index("w50 "), text.index(" w150")
    (fragment,) = MarkedText.from_spans(text, [(begin, end)]).fragments(context_words=3, max_words=6)

    assert "… w47 w48 w49 <mark>w50 w51 w52 … w147 w148 w149</mark> w150 w151 w152 …" == fragment
    short = MarkedText.from_spans(text, [(begin, begin + 3)]).fragments(context_words=2)
    assert ["… w48 w49 <mark>w50</mark> w51 w52 …"] == short


def test_the_first_fragments_are_returned() -> None:
    """A text without marks has no fragments."""
    marked = MarkedText.from_spans("a b c d e", [(0, 1), (4, 5), (8, 9)])

    assert ["<mark>a</mark> b …", "… b <mark>c</mark> d …"] == marked.fragments(2, context_words=1)
    assert 3 == len(marked.fragments())
    assert ([], "a b c") == (MarkedText.from_spans("a b c", []).fragments(), MarkedText.from_spans("a b c", []).html())


@given(st.text(), st.lists(st.tuples(st.integers(-3, 40), st.integers(-3, 40))))
def test_any_spans_of_any_text_can_be_marked(text: str, spans: list[tuple[int, int]]) -> None:
    """The marked spans are disjoint and have the same characters. The tags are balanced."""
    marked = MarkedText.from_spans(text, spans)
    wanted = {index for start, end in spans for index in range(max(start, 0), min(end, len(text)))}

    assert wanted == {index for start, end in marked.spans for index in range(start, end)}
    assert all(end < start for (_, end), (start, _) in zip(marked.spans, marked.spans[1:], strict=False))
    html = marked.html()
    assert len(marked.spans) == html.count("<mark>") == html.count("</mark>")
    assert re.fullmatch(r'([^<>]|<mark>|</mark>|<span class="escape"( title="[^"]*")?>[^<>]*</span>)*', html)
    assert len(marked.spans[:3]) == len(marked.fragments())
