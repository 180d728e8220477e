"""Which documents are duplicates of others? Groups, each of one document that stays and others that could go.

table.py       the fingerprints of all documents as a few arrays
collection.py  how do they get there from a store?
buffers.py     strings and codes of very many, in little memory
paths.py       where do their files lie?
keep_order.py  which of several documents is kept?
measures.py    what does overlap mean?
bands.py       which tokens must be equal for two documents to be compared?
pairs.py       which documents may overlap enough?
engine_pairs.py the same, asked from the engine that has them
checkpoint.py  about which it was asked already
verification.py how much do their texts really share?
evidence.py    what is known of each pair?
clusters.py    groups that are stars, and no chains
identical_words.py documents that have the same words
contents.py    which files of a group have equal bytes?
signs.py       in which signs do texts with the same words differ?
verdicts.py    what is a duplicate to the kept document, and what does a plan propose?
finder.py      all of it: documents to groups and pairs
result.py      what a group and a pair are
sources.py     duplicates in a store, and among texts
plan/          a table of them that people edit, applied to files and undone
locations.py   who is kept for whom, by where documents are
mark_update.py groups as marks in the documents of an engine
folding.py     near-duplicates in a page of results, by the tokens that hits bring along
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
