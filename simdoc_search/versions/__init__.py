"""Which documents are versions of one, and which of them is the newest?

relations.py        how related two documents are, by their concepts
idf.py              which concepts of a document to query, and their weights
matching.py         which sentences two documents have in common, and whether these are enough
query_sentences.py  which sentences of a document to query
evidence.py         when a document was written, by its metadata, name, commits and file
chronology.py       the order of several documents, and the newest if the evidence agrees
names.py            dates and versions in names
history.py          the last commit of a file
git.py              runs git safely in a repository of unknown origin
text_order.py       an order by the texts alone, where there is no other evidence
"""

from simdoc_search.sketch.limits import ENOUGH, LEAST, THETA, Limits
from simdoc_search.versions.chronology import OrderStatement, Timeline, timeline
from simdoc_search.versions.evidence import By, Dated, DateSources, date_written
from simdoc_search.versions.matching import Matched, SentencePair, matched, matched_with_many, sentence_pairs
from simdoc_search.versions.text_order import found_in_each_other, proposed_order

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
    "found_in_each_other",
    "matched",
    "matched_with_many",
    "proposed_order",
    "sentence_pairs",
    "timeline",
]
