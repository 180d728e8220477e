"""Comparisons for people: in a terminal, and as HTML.

terminal.py     in a terminal: measures, passages, what differs
pair.py         as HTML: two texts side by side
source.py       as HTML: a text with all its sources
listings.py     as HTML: groups of duplicates, or versions, with the pairs behind them
html.py         the page around them, with its policy, style and script (page.css, page.js)
pane.py         one of the two texts of a pair
lists.py        the passages and differences beside them
labels.py       a text in which the passages of several sources are marked
blocks.py       blocks and chunks of a text, so that a long page stays fluid
positions.py    pages, lines, and the words around a position
boilerplate.py  passages that a text repeats
summary.py      how much is shared, in words
wrapping.py     lines of a terminal
"""

from simdoc_search.passages.report.listings import GroupMember, MemberGroup, Version, groups_page, timeline_page
from simdoc_search.passages.report.pair import comparison_page, pair_view
from simdoc_search.passages.report.source import Source, Sourced, source_view, sources_page
from simdoc_search.passages.report.terminal import measure_lines, terminal_lines

__all__ = [
    "GroupMember",
    "MemberGroup",
    "Source",
    "Sourced",
    "Version",
    "comparison_page",
    "groups_page",
    "measure_lines",
    "pair_view",
    "source_view",
    "sources_page",
    "terminal_lines",
    "timeline_page",
]
