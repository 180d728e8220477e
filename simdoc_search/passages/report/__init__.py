"""How is a comparison shown?

terminal.py     in a terminal: measures, passages, what differs
pair.py         as HTML: two texts side by side
page.py         the page around it, with its policy, style and script (page.css, page.js)
source.py       as HTML: a text with all its sources
labels.py       a text in which the passages of several sources are marked
list_item.py    as HTML: a line of a list with a pair behind it
groups.py       as HTML: groups of duplicates with the pairs behind them
timeline.py     as HTML: versions in their order with the pairs behind them
pane.py         one of the two texts
strip.py        where their passages lie
lists.py        the lists beside them
pieces.py       into which pieces do passages and differences cut a text?
blocks.py       into which blocks and chunks, so that a page stays fluid?
positions.py    on which page, in which line?
boilerplate.py  which passages does a text repeat?
summary.py      how much, in words
context.py      the words around a place
html_escaping.py what others wrote, as HTML that does nothing
wrapping.py     lines of a terminal
"""

from simdoc_search.passages.report.groups import Bar, Member, MemberGroup, groups_page
from simdoc_search.passages.report.pair import comparison_page, pair_view
from simdoc_search.passages.report.source import Source, Sourced, source_view, sources_page
from simdoc_search.passages.report.terminal import measure_lines, terminal_lines
from simdoc_search.passages.report.timeline import Version, timeline_page

__all__ = [
    "Bar",
    "Member",
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
