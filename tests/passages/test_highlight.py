"""What two texts share, marked in both: places that hold, and HTML that does nothing."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search import Marked, highlight
from simdoc_search.passages import Alignment
from simdoc_search.passages.align import align

SHARED = "the tenant pays the rent on the first day of each month, in advance & without being asked for it"
ONE = f"A letter of <b>Ben</b>: {SHARED}. So he wrote."
OTHER = f"Contract. {SHARED.upper()}! The landlord <script>alert(1)</script> keeps the roof dry."


class Tags(HTMLParser):
    """The tags, and the text that a browser shows, in which marks are brackets."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.shown = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002 - the name is the base's
        self.tags.add(tag)
        self.shown += "[" if tag == "mark" else ""

    def handle_endtag(self, tag: str) -> None:
        self.shown += "]" if tag == "mark" else ""

    def handle_data(self, data: str) -> None:
        self.shown += data


def test_what_is_shared_is_marked_in_both_texts() -> None:
    """As it stands in each, and nothing else."""
    found = highlight(ONE, OTHER)

    assert [SHARED] == [ONE[slice(*each)] for each in found.source.spans]
    assert [SHARED.upper()] == [OTHER[slice(*each)] for each in found.hit.spans]
    assert tuple(align(ONE, OTHER)) == found.passages
    assert f"A letter of <b>Ben</b>: [{SHARED}]. So he wrote." == Tags(found.source.html()).shown


def test_the_html_of_a_text_is_text() -> None:
    """Tags of the text are shown, and the only ones there are ours."""
    found = highlight(ONE, OTHER)

    assert {"mark"} == Tags(found.hit.html()).tags == Tags("".join(found.hit.fragments())).tags
    assert "&lt;script&gt;" in found.hit.html()
    assert OTHER[:10] + "*" in found.hit.html("*", "*")


def test_what_would_hide_or_turn_a_text_is_written_out() -> None:
    """Also next to a mark."""
    html = Marked.of("pay \u202e001 euros\x00 now", [(4, 8)]).html()

    assert 'pay <mark><span class="sign">\\u202e</span>001</mark> euros<span class="sign">\\x00</span> now' == html


def test_a_fragment_has_some_words_around_what_is_marked() -> None:
    """Words of the text itself; a long stretch is shown by both of its ends."""
    words = [f"w{number}" for number in range(200)]
    text = " ".join(words)
    begin, end = text.index("w50 "), text.index(" w150")
    (fragment,) = Marked.of(text, [(begin, end)]).fragments(around=3, within=6)
    short = Marked.of(text, [(begin, begin + 3)]).fragments(around=2)

    assert "… w47 w48 w49 <mark>w50 w51 w52 … w147 w148 w149</mark> w150 w151 w152 …" == fragment
    assert ["… w48 w49 <mark>w50</mark> w51 w52 …"] == short


def test_as_many_fragments_as_are_wanted() -> None:
    """The first ones; of a text without marks none."""
    marked = Marked.of("a b c d e", [(0, 1), (4, 5), (8, 9)])

    assert ["<mark>a</mark> b …", "… b <mark>c</mark> d …"] == marked.fragments(2, around=1)
    assert 3 == len(marked.fragments())
    assert [] == Marked.of("a b c", []).fragments()
    assert "a b c" == Marked.of("a b c", []).html()


def test_texts_that_share_nothing_have_no_marks() -> None:
    """Nor have empty ones."""
    for one, other in (("one two three", "four five six"), ("", ""), ("", ONE), ("...", ONE)):
        found = highlight(one, other)

        assert ((), (), ()) == (found.source.spans, found.hit.spans, found.passages)


def test_what_counts_as_a_passage_is_the_callers_choice() -> None:
    """A preset, or settings of one's own."""
    shared = "one two three four five six seven"
    texts = (
        f"Here: {shared}, and nothing of what was said before by anybody",
        f"{shared}! But there was much more to say",
    )

    assert () == highlight(*texts, preset=Alignment(least=8)).passages
    assert 1 == len(highlight(*texts, preset=Alignment(least=7)).passages)
    with pytest.raises(ValueError, match="preset must be 'edited' or 'verbatim'"):
        highlight(*texts, preset="all")  # type: ignore[arg-type]


@given(st.text(), st.lists(st.tuples(st.integers(-3, 40), st.integers(-3, 40))))
def test_any_stretches_of_any_text_can_be_marked(text: str, spans: list[tuple[int, int]]) -> None:
    """They become disjoint ones in order, with the same characters; tags stay balanced, and nothing opens another."""
    marked = Marked.of(text, spans)
    wanted = {at for start, end in spans for at in range(max(start, 0), min(end, len(text)))}

    assert wanted == {at for start, end in marked.spans for at in range(start, end)}
    assert all(end < start for (_, end), (start, _) in zip(marked.spans, marked.spans[1:], strict=False))
    html = marked.html()
    assert len(marked.spans) == html.count("<mark>") == html.count("</mark>")
    assert re.fullmatch(r'([^<>]|<mark>|</mark>|<span class="sign">[^<>]*</span>)*', html)
    assert len(marked.spans[:3]) == len(marked.fragments())
