"""Renders self-contained HTML pages that show shared passages. This package needs the extra `cli`."""

from simdoc_search.passages.report.listing import ListEntry, ListSection, list_page
from simdoc_search.passages.report.pair import pair_page, pair_view
from simdoc_search.passages.report.sources import Source, SourcedText, sources_page, sources_view

__all__ = [
    "ListEntry",
    "ListSection",
    "Source",
    "SourcedText",
    "list_page",
    "pair_page",
    "pair_view",
    "sources_page",
    "sources_view",
]
