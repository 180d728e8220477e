"""Which documents are versions of one, and which of them is the newest?

relations.py  how related are two documents, by their concepts?
idf.py        which of a document's concepts are asked for, and what does each weigh?
matching.py   which sentences do they have in common, and is that enough?
pairs.py      the same of two texts, with the places of the sentences
query_sentences.py which of a document's sentences are looked for?
evidence.py   what says when a document was written?
chronology.py in which order were several written, and which is the newest if the evidence agrees?
names.py      what a name says: a date, a version
fields.py     which date its metadata give
history.py    when was a file last committed?
git.py        how is git run in a repository that may be anybody's?
text_order.py an order by the texts alone, where nothing says when
"""

from simdoc_search.sketch.limits import ENOUGH, LEAST, THETA, Limits
from simdoc_search.versions.chronology import Statement, Timeline, timeline
from simdoc_search.versions.evidence import By, Dated, Known, date_written
from simdoc_search.versions.matching import Matched, matched, matched_with_many
from simdoc_search.versions.pairs import SentencePair, sentence_pairs
from simdoc_search.versions.text_order import found_in_each_other, proposed_order

__all__ = [
    "ENOUGH",
    "LEAST",
    "THETA",
    "By",
    "Dated",
    "Known",
    "Limits",
    "Matched",
    "SentencePair",
    "Statement",
    "Timeline",
    "date_written",
    "found_in_each_other",
    "matched",
    "matched_with_many",
    "proposed_order",
    "sentence_pairs",
    "timeline",
]
