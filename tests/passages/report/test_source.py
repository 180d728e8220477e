"""The page of one text with its sources: the text once, each word in the colour of its best source."""

from __future__ import annotations

import random
import re
from html import unescape

import pytest

from simdoc_search.passages.align import align
from simdoc_search.passages.report import Source, Sourced, source_view, sources_page


def prose(count: int, seed: int) -> str:
    """Words of which none repeats, in paragraphs."""
    words = [f"w{number}" for number in random.Random(seed).sample(range(10**7), count)]
    return "\n\n".join(" ".join(words[at : at + 80]) for at in range(0, count, 80))


def view(text: str, sources: list[str], **more: object) -> str:
    """The HTML of a text with its sources."""
    listed = [
        Source(f"s{number}", "30", "3 %", 30, align(text, each), text=each) for number, each in enumerate(sources, 1)
    ]
    return "".join(source_view(Sourced("mine", "3 % of mine", text, listed, **more)))  # type: ignore[arg-type]


def own(html: str) -> str:
    """The part of the view that shows the text."""
    return html.partition('<section class="side own"')[2].partition("</section>")[0]


def plain(html: str) -> str:
    """The words that a part shows, without the numbers of its passages."""
    without = re.sub(r'<(a|span) class="n [^>]*>[^<]*</(a|span)>', "", html)
    return " ".join(unescape(re.sub(r"<[^>]*>", "", without.partition('class="text"')[2].partition(">")[2])).split())


def test_a_text_is_there_once_with_each_word_in_the_colour_of_its_best_source() -> None:
    """A passage that two sources have is in the colour of the first, and names both."""
    first, second = prose(60, 1), prose(60, 2)
    text = f"{prose(100, 3)} {first} {prose(50, 4)} {second} {prose(50, 5)}"
    html = own(view(text, [f"{prose(20, 6)} {first}", f"{first} {prose(90, 7)} {second}"]))
    marks = re.findall(r'<mark class="(k\d)" data-s="([\d ]+)" data-p="([\d\- ]+)">([^<]*)</mark>', html)

    assert " ".join(text.split()) == plain(html)
    assert {("k1", "1 2", "1-1 2-1"), ("k2", "2", "2-2")} == {mark[:3] for mark in marks}
    assert first.split() == [word for mark in marks if mark[0] == "k1" for word in mark[3].split()]
    assert second.split() == [word for mark in marks if mark[0] == "k2" for word in mark[3].split()]


def test_what_is_in_sources_that_are_not_listed_and_what_is_ignored_is_marked() -> None:
    """Grey, and dotted; the list says what that means."""
    text = prose(30, 1)
    html = view(text, [], covered=[(0, 20)], ignored=[(30, 40)])

    assert f'<mark class="k0">{text[:20]}</mark>' in html
    assert f'<span class="ignored">{text[30:40]}</span>' in html
    assert "words are in sources that are not listed" in html
    assert "words are ignored" in html


def test_thirty_sources_are_on_the_page_with_their_texts() -> None:
    """Each in the list and behind it; links within the page lead somewhere, and no id is there twice."""
    shared = [prose(40, seed) for seed in range(30)]
    text = "\n\n".join(f"{prose(50, 100 + seed)} {each}" for seed, each in enumerate(shared))
    html = view(text, [f"{prose(30, 200 + seed)} {each}" for seed, each in enumerate(shared)])
    ids = re.findall(r' id="([^"]+)"', html)

    assert [30, 30] == [html.count("<li><a "), html.count('<section class="from"')]
    assert len(ids) == len(set(ids))
    assert set(re.findall(r' href="#([^"]+)"', html)) <= set(ids)


def test_of_a_long_source_the_paragraphs_near_its_passages_are_shown() -> None:
    """So that a page of many stays small."""
    shared = prose(60, 1)
    source = f"{prose(20_000, 2)}\n\n{shared}\n\n{prose(20_000, 3)}"
    html = view(f"{prose(50, 4)} {shared}", [source])

    assert len(html) < 20_000
    assert 2 == html.count("characters are not shown")
    assert shared.split()[0] in html.partition('<section class="from"')[2]


def test_a_text_of_100_000_words_is_shown_at_once() -> None:
    """The page grows with the texts, not with the number of sources times the text."""
    shared = [prose(200, seed) for seed in range(60)]
    text = "\n\n".join(f"{prose(1_500, 100 + seed)} {each}" for seed, each in enumerate(shared))
    html = view(text, shared)

    assert 100_000 < len(text.split())
    assert len(html) < 2 * len(text)


@pytest.mark.parametrize("hostile", ['</article><script>"', "<b>\u202e\x1b[31m"])
def test_hostile_names_and_texts_are_harmless(hostile: str) -> None:
    """What others wrote is shown, and does nothing."""
    shared = prose(30, 1)
    text = f"{hostile} {shared} {hostile}"
    source = Source(hostile, "30", "3 %", 30, align(text, text), hostile, text)
    html = sources_page([Sourced(hostile, hostile, text, [source], notes=[hostile])], [hostile])

    assert not {"\x1b", "\u202e"} & set(html)
    assert (1, 1, 0) == (html.count("<script"), html.count("</article>"), html.count("<b>"))
