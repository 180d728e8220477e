"""Duplicates of a whole collection, in groups with one kept document each.

sources.py            duplicates in a store, and among texts
keep_order.py         which of several documents is kept
collection.py         the documents as arrays
fingerprint_table.py  their fingerprints as arrays
paths.py              the paths of their files
measures.py           measures of overlap
bands.py              which tokens must be equal for two documents to be compared
pairs.py              candidate pairs, found in memory
engine_pairs.py       candidate pairs, found by the engine
checkpoint.py         the progress of that, to resume it
verification.py       the overlap of pairs, from fingerprints and from texts
clusters.py           sets with equal words, and groups around a kept document
contents.py           which files of a group have equal bytes
verdicts.py           the kind of a duplicate, and what a plan proposes for it
finder.py             all these steps
duplicates_result.py  groups and pairs
plan/                 a table of them that people edit, its application and its undo
group_membership.py   the group of the document at a place
mark_update.py        groups as marks in the documents of an engine
folding.py            near-duplicates in a page of results
"""

from simdoc_search.duplicates.bands import band_keys
from simdoc_search.duplicates.duplicates_result import Duplicate, Duplicates, Floods, Group, GroupedDocument, Pair
from simdoc_search.duplicates.finder import Progress
from simdoc_search.duplicates.folding import FoldedHit, NearHit, fold_near_duplicates
from simdoc_search.duplicates.keep_order import KEEP
from simdoc_search.duplicates.measures import MEASURES
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
    "GroupedDocument",
    "NearHit",
    "Pair",
    "Progress",
    "Via",
    "band_keys",
    "duplicates_among",
    "duplicates_in",
    "fold_near_duplicates",
]
