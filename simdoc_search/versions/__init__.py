"""Which documents are versions of one, and which of them is the newest?

matching.py   which sentences do they have in common, and is that enough?
asking.py     which of a document's sentences are looked for?
ordering.py   in which order were they written, and what says so?
dates.py      dates, as people and programs write them
names.py      what a name says: a date, a version
history.py    when was a file last committed?
order.py      an order, where nothing says when
"""

from simdoc_search.versions.matching import ENOUGH, LEAST, THETA, Limits, Matched, matched, matched_with_many
from simdoc_search.versions.order import found_in_each_other, proposed_order
from simdoc_search.versions.ordering import By, Dated, Known, Timeline, timeline

__all__ = [
    "ENOUGH",
    "LEAST",
    "THETA",
    "By",
    "Dated",
    "Known",
    "Limits",
    "Matched",
    "Timeline",
    "found_in_each_other",
    "matched",
    "matched_with_many",
    "proposed_order",
    "timeline",
]
