"""Which documents are duplicates, and which one is kept instead? Each group has one kept document.

sources.py          duplicates in a store, and among texts
collection.py       reads the documents of a store
table.py            their fingerprints as a few arrays
buffers.py          strings and tokens of millions of documents, in little memory
paths.py            where their files are
keep_order.py       which of several documents is kept
measures.py         what overlap means
bands.py            which tokens must be equal for two documents to be compared
pairs.py            candidate pairs, found in memory
engine_pairs.py     candidate pairs, found by the engine
checkpoint.py       which documents the engine was already queried for
verification.py     the exact overlap of texts
ignored_text.py     texts without the words of templates
evidence.py         the estimated or exact overlap of each pair
identical_words.py  documents with the same words
clusters.py         groups: each duplicate overlaps the kept document itself
contents.py         which files of a group have equal bytes
verdicts.py         the kind of a duplicate, and what a plan proposes for it
finder.py           all steps, from documents to groups and pairs
result.py           groups and pairs
plan/               a table of them that people edit, its application and its undo
locations.py        the group of the document at a place
mark_update.py      groups as marks in the documents of an engine
folding.py          near-duplicates in a page of results, by the tokens of the hits
"""

from simdoc_search.duplicates.bands import band_keys
from simdoc_search.duplicates.finder import Duplicates, Floods, Progress
from simdoc_search.duplicates.folding import FoldedHit, NearHit, fold_near_duplicates
from simdoc_search.duplicates.keep_order import KEEP
from simdoc_search.duplicates.measures import MEASURES
from simdoc_search.duplicates.result import Duplicate, Group, Kept, Pair
from simdoc_search.duplicates.sources import VIA, Via, duplicates_among, duplicates_in

__all__ = [
    "KEEP",
    "MEASURES",
    "VIA",
    "Duplicate",
    "Duplicates",
    "Floods",
    "FoldedHit",
    "Group",
    "Kept",
    "NearHit",
    "Pair",
    "Progress",
    "Via",
    "band_keys",
    "duplicates_among",
    "duplicates_in",
    "fold_near_duplicates",
]
