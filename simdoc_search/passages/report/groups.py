"""Groups of duplicates, each with the document that stays, and behind a near one both texts side by side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from simdoc_search.analysis.settings import Analysis
from simdoc_search.display import counted
from simdoc_search.passages.passage import Comparison
from simdoc_search.passages.report.html_escaping import attribute, content
from simdoc_search.passages.report.list_item import entry
from simdoc_search.passages.report.page import page
from simdoc_search.passages.report.summary import words_differing

_TALL = 100


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar of the histogram.

    Attributes:
        label: what stands under it; empty: nothing.
        meaning: what it counts, in words.
        count: how many.
    """

    label: str
    meaning: str
    count: int


@dataclass(frozen=True, slots=True)
class Member:
    """A document of a group.

    Attributes:
        name: what it is called.
        how: what it has in common with the one that stays, as shown; empty for that one itself.
        size: of its file, as shown; empty: not known.
        date: of its file, as shown; empty: not known.
        comparison: in what it differs from the one that stays, if the page is to show that.
        texts: the text of the one that stays, and its own; None: they are not shown.
    """

    name: str
    how: str
    size: str
    date: str
    comparison: Comparison | None = None
    texts: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class MemberGroup:
    """The document that stays, those that could go, and how many more of these there are."""

    kept: Member
    others: Sequence[Member]
    more: int = 0


def groups_page(
    summary: str, bars: Sequence[Bar], groups: Iterable[MemberGroup], notes: Sequence[str], analysis: Analysis
) -> str:
    """One HTML page: a histogram of overlaps, and each group, in which near ones open to show both texts side by side.

    Args:
        summary: what was found, in a sentence.
        bars: the histogram; none: it is not shown.
        groups: in the order in which they are to be shown; whatever others wrote in them is shown, and does nothing.
        notes: what else is to be known.
        analysis: what makes shingles, see `boilerplate`.
    """
    return page("Duplicates", ('<main class="listing">\n', *_body(summary, bars, groups, notes, analysis), "</main>\n"))


def _body(
    summary: str, bars: Sequence[Bar], groups: Iterable[MemberGroup], notes: Sequence[str], analysis: Analysis
) -> Iterator[str]:
    yield f'<div class="top">\n<h1>Duplicates</h1>\n<p class="found">{content(summary)}</p>\n'
    yield "".join(f"<p>{content(note)}</p>\n" for note in notes)
    yield f"{_histogram(bars) if bars else ''}</div>\n"
    pairs = 0
    for number, group in enumerate(groups, 1):
        count = counted(len(group.others) + group.more + 1, "document")
        yield f'<section class="group" aria-labelledby="g{number}">\n'
        yield f'<h2 class="source" id="g{number}">Group {number} <span>{count}</span></h2>\n'
        yield from entry(_cells(group.kept, "stays"))
        for each in group.others:
            pairs += 1
            pair = (each.comparison, each.texts) if each.comparison and each.texts else None
            yield from entry(_cells(each, each.how), pair, (group.kept.name, each.name), f"p{pairs}-", analysis)
        if group.more:
            yield f'<p class="row more">… and {counted(group.more, "document")} more</p>\n'
        yield "</section>\n"


def _cells(member: Member, how: str) -> str:
    differ = words_differing(member.comparison) if member.comparison else ""
    cells = (("how", how), ("figure", member.size), ("figure", member.date), ("differs", differ))
    figures = "".join(f'<span class="{name}">{content(cell)}</span>' for name, cell in cells if cell)
    return f'<bdi class="what">{attribute(member.name)}</bdi>{figures}'


def _histogram(bars: Sequence[Bar]) -> str:
    """Bars as images of their own, so that their labels are text, whatever the width of the page."""
    most = max([1, *(bar.count for bar in bars)])
    return (
        '<figure class="histogram">\n<figcaption>'
        f"Near ones by overlap; the highest bar is {counted(most, 'document')}</figcaption>\n<ol>\n"
        + "".join(_bar(bar, most) for bar in bars)
        + "</ol>\n</figure>\n"
    )


def _bar(bar: Bar, most: int) -> str:
    height = max(_TALL * bar.count / most, 2) if bar.count else 0
    return (
        f'<li title="{attribute(f"{bar.meaning}: {bar.count:,}")}">'
        f'<span class="said">{content(bar.meaning)}: {bar.count:,}</span>'
        f'<svg viewBox="0 0 1 {_TALL}" preserveAspectRatio="none" aria-hidden="true" focusable="false">'
        f'<rect y="{_TALL - height:g}" width="1" height="{height:g}"/></svg>'
        f'<span aria-hidden="true">{content(bar.label)}</span></li>\n'
    )
