"""Renders a list of documents as HTML. An opened entry shows a text next to another text, or next to its sources."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from simdoc_search.passages.report.templates import render, render_page

RenderView = Callable[..., Markup]
"""Returns the HTML of an opened entry. The keyword argument `prefix` is the prefix of all ids in this HTML."""


@dataclass(frozen=True, slots=True)
class ListEntry:
    """A document in a list.

    `cells` are the CSS class and the text of each value that is shown next to the name. `view` renders the document
    when the entry is opened. If it is None, the entry cannot be opened.
    """

    name: str
    cells: Sequence[tuple[str, str]]
    view: RenderView | None = None


@dataclass(frozen=True, slots=True)
class ListSection:
    """A section of a list.

    `count_label` is shown next to the heading. `last_line` may be the number of documents that are not listed.
    """

    entries: Sequence[ListEntry]
    heading: str = ""
    count_label: str = ""
    last_line: str = ""


def render_list_page(title: str, sections: Iterable[ListSection], notes: Sequence[str], *, summary: str = "") -> str:
    """Return a self-contained page with a list of documents. The summary and the notes are below the title."""
    body = render("list.html", title=title, summary=summary, notes=notes, sections=sections)
    return render_page(title, body)
