"""A list of the documents that share passages with some texts, with the pairs behind it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from simdoc_search.analysis.settings import Analysis
from simdoc_search.passages.passage import Comparison
from simdoc_search.passages.report.marking import attribute, content
from simdoc_search.passages.report.page import page
from simdoc_search.passages.report.pair import pair_view
from simdoc_search.passages.report.sentences import excerpt, words_differing
from simdoc_search.showing import counted

__all__ = ["Listed", "Row", "entry", "listing_page"]


@dataclass(frozen=True, slots=True)
class Row:
    """A document that shares passages with a text.

    Attributes:
        name: what it is called.
        words: how many words of the text it has, as shown.
        yours: how much of the text it has, as shown.
        theirs: how much of it the text has, as shown.
        passages: how many passages they share; None: that is not known.
        quote: the longest passage.
        remark: what else must be known.
        comparison: what the two share, if the page is to show them.
        texts: both texts; None: they are not shown.
    """

    name: str
    words: str
    yours: str
    theirs: str
    passages: int | None
    quote: str = ""
    remark: str = ""
    comparison: Comparison | None = None
    texts: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Listed:
    """A text and the documents that share passages with it, in the order in which they are to be shown."""

    name: str
    rows: Sequence[Row]


def listing_page(listed: Sequence[Listed], notes: Sequence[str], *, analysis: Analysis | None = None) -> str:
    """One HTML page: for each text a list, in which a document opens to show both side by side.

    Args:
        listed: the texts; whatever others wrote in them is shown, and does nothing.
        notes: what is to be said of the list.
        analysis: what makes shingles, see `boilerplate`.
    """
    title = f"Who shares passages with {listed[0].name}" if len(listed) == 1 else "Shared passages"
    return page(title, ('<main class="listing">\n', *_body(title, listed, notes, analysis), "</main>\n"))


def _body(title: str, listed: Sequence[Listed], notes: Sequence[str], analysis: Analysis | None) -> Iterator[str]:
    yield f'<div class="top">\n<h1><bdi>{attribute(title)}</bdi></h1>\n'
    yield "".join(f"<p>{content(note)}</p>\n" for note in notes) + "</div>\n"
    only = sum(len(each.rows) for each in listed) == 1
    number = 0
    for at, each in enumerate(listed, 1):
        if len(listed) > 1:
            many = counted(len(each.rows), "document")
            yield f'<h2 class="source" id="s{at}"><bdi>{attribute(each.name)}</bdi> <span>{many}</span></h2>\n'
        for row in each.rows:
            number += 1
            yield from _row(row, each.name, f"p{number}-", analysis, is_open=only)


def _row(row: Row, source: str, prefix: str, analysis: Analysis | None, *, is_open: bool) -> Iterator[str]:
    pair = (row.comparison, row.texts) if row.comparison and row.texts else None
    yield from entry(_cells(row), pair, (source, row.name), prefix, analysis, is_open=is_open)


def entry(
    cells: str,
    pair: tuple[Comparison, tuple[str, str]] | None = None,
    names: tuple[str, str] = ("", ""),
    prefix: str = "",
    analysis: Analysis | None = None,
    *,
    is_open: bool = False,
) -> Iterator[str]:
    """A line of a list, which opens to show two texts side by side if there are some; `cells` is HTML."""
    if pair is None:
        yield f'<div class="hit"><div class="row">{cells}</div></div>\n'
        return
    yield f'<details class="hit"{" open" if is_open else ""}><summary class="row">{cells}</summary>\n'
    yield from pair_view(*pair, names, prefix=prefix, analysis=analysis)
    yield "</details>\n"


def _cells(row: Row) -> str:
    passages = "" if row.passages is None else counted(row.passages, "passage")
    differ = words_differing(row.comparison) if row.comparison else ""
    cells = f"{row.words} words in common", f"{row.yours} of yours", f"{row.theirs} of theirs", passages, differ
    quote = f'<bdi class="quote">“{content(excerpt(row.quote))}”</bdi>' if row.quote else ""
    said = f'<span class="where">{content(row.remark)}</span>' if row.remark else ""
    figures = "".join(f'<span class="figure">{content(cell)}</span>' for cell in cells)
    return f'<bdi class="what">{attribute(row.name)}</bdi>{figures}{quote}{said}'
