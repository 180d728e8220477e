"""The page of a text with its sources."""

from __future__ import annotations

import random
import re
from html import unescape

import pytest

from simdoc_search.passages.align import align
from simdoc_search.passages.report import Source, SourcedText, render_sources_page, render_sources_view
from tests.support.passages.pages import HtmlPage


def prose(count: int, seed: int) -> str:
    """Random paragraphs without repeated words."""
    words = [f"w{number}" for number in random.Random(seed).sample(range(10**7), count)]
    return "\n\n".join(" ".join(words[at : at + 80]) for at in range(0, count, 80))


def view(text: str, sources: list[str], **values: object) -> str:
    """The HTML of a text with its sources."""
    listed = [
        Source(f"s{number}", "30", "3 %", 30, align(text, source), text=source)
        for number, source in enumerate(sources, 1)
    ]
    return render_sources_view(SourcedText("mine", "3 % of mine", text, listed, **values))  # type: ignore[arg-type]


def own(html: str) -> str:
    """The part of the view that shows the text."""
    return html.partition('<section class="side own"')[2].partition("</section>")[0]


def plain(html: str) -> str:
    """The words of an HTML section, without links."""
    without = re.sub(r'<(a|span) class="n [^>]*>[^<]*</(a|span)>', "", html)
    return " ".join(unescape(re.sub(r"<[^>]*>", "", without.partition('class="text"')[2].partition(">")[2])).split())


def test_a_passage_has_the_colour_of_its_best_source() -> None:
    """A passage that two sources have links to both."""
    first, second = prose(60, 1), prose(60, 2)
    text = f"{prose(100, 3)} {first} {prose(50, 4)} {second} {prose(50, 5)}"
    html = own(view(text, [f"{prose(20, 6)} {first}", f"{first} {prose(90, 7)} {second}"]))
    marks = re.findall(r'<mark class="(k\d)" data-s="([\d ]+)" data-p="([\d\- ]+)">([^<]*)</mark>', html)

    assert " ".join(text.split()) == plain(html)
    assert {("k1", "1 2", "1-1 2-1"), ("k2", "2", "2-2")} == {mark[:3] for mark in marks}
    assert first.split() == [word for mark in marks if mark[0] == "k1" for word in mark[3].split()]
    assert second.split() == [word for mark in marks if mark[0] == "k2" for word in mark[3].split()]


def test_text_of_unlisted_sources_and_ignored_text_is_marked() -> None:
    """The list of sources explains the marks."""
    text = prose(30, 1)
    html = view(text, [], covered_spans=[(0, 20)], ignored_spans=[(30, 40)])

    assert f'<mark class="k0">{text[:20]}</mark>' in html
    assert f'<span class="ignored">{text[30:40]}</span>' in html
    assert "words are only in sources that are not listed" in html
    assert "are ignored" in html


def test_what_is_between_two_passages_of_listed_sources_is_not_in_unlisted_ones() -> None:
    """The covered span also covers the end of the sentence."""
    first, second = prose(40, 1).rstrip("."), prose(40, 2)
    text = f"{first}.)  {second}"
    html = view(text, [f"{first} {prose(20, 3)}", second], covered_spans=[(0, len(text))])

    assert "k0" not in html


def test_the_page_has_the_texts_of_all_sources() -> None:
    """The links lead to these texts. A long source is shown only near its passages."""
    shared = [prose(40, seed) for seed in range(13)]
    text = "\n\n".join(f"{prose(50, 100 + seed)} {passage}" for seed, passage in enumerate(shared))
    sources = [f"{prose(30, 200 + seed)} {passage}" for seed, passage in enumerate(shared[:-1])]
    html = view(text, [*sources, f"{prose(20_000, 50)}\n\n{shared[-1]}\n\n{prose(20_000, 51)}"])

    assert [26, 13] == [html.count("<li><a "), html.count('<section class="from"')]
    HtmlPage(html).check_links()
    assert len(html) < 60_000
    assert 2 == html.count("characters not shown")


def test_each_passage_is_listed_with_its_place() -> None:
    """A source lists at most 20 passages: the longest ones, in the order of the text. A PDF has pages."""
    shared = [prose(40 - number, number) for number in range(23)]
    text = "\f".join(f"{prose(150, 100 + number)}\n{passage}" for number, passage in enumerate(shared))
    html = view(text, [" ".join(f"{prose(150, 200 + number)} {passage}" for number, passage in enumerate(shared))])
    places = re.findall(r'data-p="1-(\d+)"><span class="where">(\d+) words · (.*?) ↔', " ".join(html.split()))

    assert [(f"{number}", f"{41 - number}", f"page {number}, line 4") for number in range(1, 21)] == places
    assert "and 3 shorter passages, marked in the text" in html
    assert html.count("page 7") == 2


def test_the_page_does_not_claim_who_copied() -> None:
    claim = "Shared words do not show who copied from whom."
    text = prose(40, 1)

    assert claim in view(text, [text])
    assert claim not in view(text, [])


@pytest.mark.slow
def test_a_page_grows_with_the_texts_only() -> None:
    """However many sources there are, the page has the text once."""
    shared = [prose(100, seed) for seed in range(30)]
    text = "\n\n".join(f"{prose(500, 100 + seed)} {passage}" for seed, passage in enumerate(shared))

    assert len(view(text, shared)) < 2 * len(text)


@pytest.mark.parametrize("hostile", ['</article><script>"', "<b>\u202e\x1b[31m"])
def test_hostile_names_and_texts_are_only_shown(hostile: str) -> None:
    """The same is checked for a list of texts."""
    text = f"{hostile} {prose(30, 1)} {hostile}"
    source = Source(hostile, "30", "3 %", 30, align(text, text), hostile, text)
    sourced = SourcedText(hostile, hostile, text, [source], notes=[hostile], statistics=[hostile])
    for texts in ([sourced], [sourced, SourcedText(hostile, hostile, None, [])]):
        html = render_sources_page(texts, [hostile])

        assert not {"\x1b", "\u202e"} & set(html)
        assert (1, 1, 0) == (html.count("<script"), html.count("</article>"), html.count("<b>"))
        HtmlPage(html).check_links()
