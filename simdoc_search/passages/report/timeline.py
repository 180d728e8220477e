"""Versions of a document in their order, each with both texts side by side behind it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from simdoc_search.analysis.settings import Analysis
from simdoc_search.passages.passage import Comparison
from simdoc_search.passages.report.html_escaping import attribute, content
from simdoc_search.passages.report.list_item import entry
from simdoc_search.passages.report.page import page


@dataclass(frozen=True, slots=True)
class Version:
    """A version of a document.

    Attributes:
        name: what it is called.
        date: when it was written, as shown; empty: not known.
        remark: what it is among the others, as `newest`.
        share: how alike it and the one before it are, as shown; empty: it is the first.
        changed: how many words it has added and removed, as shown.
        comparison: what it shares with the one before it, if the page is to show that.
        key_changes: the changes to read first, a line each.
        texts: the text of the one before it, and its own; None: they are not shown.
    """

    name: str
    date: str
    remark: str = ""
    share: str = ""
    changed: str = ""
    comparison: Comparison | None = None
    texts: tuple[str, str] | None = None
    key_changes: Sequence[str] = ()


def timeline_page(versions: Sequence[Version], notes: Sequence[str], *, analysis: Analysis | None = None) -> str:
    """One HTML page: the versions, the oldest first, each of which opens to show it beside the one before it.

    Args:
        versions: whatever others wrote in them is shown, and does nothing.
        notes: what is to be said of their order.
        analysis: what makes shingles, see `boilerplate`.
    """
    return page("Versions", ('<main class="listing">\n', *_body(versions, notes, analysis), "</main>\n"))


def _body(versions: Sequence[Version], notes: Sequence[str], analysis: Analysis | None) -> Iterator[str]:
    yield '<div class="top">\n<h1>Versions</h1>\n'
    yield "".join(f"<p>{content(note)}</p>\n" for note in notes) + "</div>\n"
    yield '<section class="group" aria-label="Versions, the oldest first">\n'
    for number, each in enumerate(versions):
        pair = (each.comparison, each.texts) if number and each.comparison and each.texts else None
        names = versions[number - 1].name if number else "", each.name
        yield from entry(_cells(each), pair, names, f"p{number}-", analysis)
    yield "</section>\n"


def _cells(version: Version) -> str:
    figures = [version.date, version.share, version.changed, *version.key_changes]
    cells = [*(("figure", each) for each in figures), ("how", version.remark)]
    shown = "".join(f'<span class="{name}">{content(cell)}</span>' for name, cell in cells if cell)
    return f'<bdi class="what">{attribute(version.name)}</bdi>{shown}'
