"""Versions of a document, their order, and related documents.

matching.py         similar sentences of two documents
query_sentences.py  the sentences of a document that are queried
evidence.py         evidence of when a document was written
names.py            dates and versions in names
history.py          the last commits of files
git.py              git, run in repositories of unknown origin
chronology.py       the order of documents by their evidence, and the newest
text_order.py       a guess of the order from the texts
relations.py        the similarity of two documents by their concepts
idf.py              weights of concepts by their document frequencies
ragged_arrays.py    values of all documents in one array
"""

from simdoc_search.sketch.limits import ENOUGH, LEAST, THETA, Limits
from simdoc_search.versions.chronology import OrderStatement, Timeline, timeline
from simdoc_search.versions.evidence import By, Dated, DateSources, date_written
from simdoc_search.versions.matching import Matched, SentencePair, matched, matched_with_many, sentence_pairs
from simdoc_search.versions.text_order import proposed_order, unchanged_counts

__all__ = [
    "ENOUGH",
    "LEAST",
    "THETA",
    "By",
    "DateSources",
    "Dated",
    "Limits",
    "Matched",
    "OrderStatement",
    "SentencePair",
    "Timeline",
    "date_written",
    "matched",
    "matched_with_many",
    "proposed_order",
    "sentence_pairs",
    "timeline",
    "unchanged_counts",
]
