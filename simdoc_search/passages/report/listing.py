"""A list of documents as HTML. An entry can be opened to show its text next to another text, or with its sources."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from simdoc_search.passages.report.templates import page, render

View = Callable[..., Markup]
"""Returns what an opened entry shows. Its keyword argument `prefix` is the prefix of all ids."""


@dataclass(frozen=True, slots=True)
class ListEntry:
    """A document in a list.

    Attributes:
        name: The name of the document.
        cells: The CSS class and the text of each figure.
        view: Shows the document when the entry is opened. None: the entry cannot be opened.
    """

    name: str
    cells: Sequence[tuple[str, str]]
    view: View | None = None


@dataclass(frozen=True, slots=True)
class ListSection:
    """A section of a list.

    Attributes:
        entries: The documents.
        heading: The heading, if any.
        count: The number of documents, next to the heading.
        more: The last line, such as the number of documents that are not listed.
    """

    entries: Sequence[ListEntry]
    heading: str = ""
    count: str = ""
    more: str = ""


def list_page(title: str, sections: Iterable[ListSection], notes: Sequence[str], *, summary: str = "") -> str:
    """A self-contained page with a list of documents. The summary and the notes are below the title."""
    body = render("list.html", title=title, summary=summary, notes=notes, sections=sections)
    return page(title, body)
