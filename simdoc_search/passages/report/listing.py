"""A list of documents as HTML. An entry may open to show its text beside another text, or with its sources."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from simdoc_search.passages.report.templates import page, render

View = Callable[..., Markup]
"""Returns what an entry shows when it is open. It takes the keyword argument `prefix`, the prefix of ids."""


@dataclass(frozen=True, slots=True)
class ListEntry:
    """A document of a list, with the CSS class and the text of each figure. Without a view it does not open."""

    name: str
    cells: Sequence[tuple[str, str]]
    view: View | None = None


@dataclass(frozen=True, slots=True)
class ListSection:
    """Entries of a list, perhaps with a heading, the number of documents beside it, and a last line."""

    entries: Sequence[ListEntry]
    heading: str = ""
    count: str = ""
    more: str = ""


def list_page(title: str, sections: Iterable[ListSection], notes: Sequence[str], *, summary: str = "") -> str:
    """A self-contained page of a list of documents, with a summary and notes below the title."""
    body = render("list.html", title=title, summary=summary, notes=notes, sections=sections)
    return page(title, body)
