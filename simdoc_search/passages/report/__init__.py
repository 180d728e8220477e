"""Renders self-contained HTML pages that show shared passages. This package needs the extra `cli`."""

from simdoc_search.passages.report.listing import ListEntry, ListSection, render_list_page
from simdoc_search.passages.report.pair import render_pair_page, render_pair_view
from simdoc_search.passages.report.sources import Source, SourcedText, render_sources_page, render_sources_view

__all__ = [
    "ListEntry",
    "ListSection",
    "Source",
    "SourcedText",
    "render_list_page",
    "render_pair_page",
    "render_pair_view",
    "render_sources_page",
    "render_sources_view",
]
