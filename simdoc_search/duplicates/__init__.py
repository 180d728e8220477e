"""Finds the duplicates in a whole collection and groups them. Each group has one kept document.

sources.py            duplicates among documents without a store; search/duplicates.py searches a store
keep_order.py         the rule that chooses the kept document
field_values.py       the order of the values of a field, also for `dedupe`
document_arrays.py    all documents as arrays
fingerprint_table.py  all fingerprints as arrays
arrays.py             helper functions for arrays
paths.py              paths of the documents' files
measures.py           measures of overlap
bands.py              band keys: two documents that have a key in common are compared
pairs.py              candidate pairs, found in memory
verification.py       overlaps: estimated from fingerprints, or computed from texts
clusters.py           groups around a kept document, and sets of documents with equal words
contents.py           comparison of the bytes of files in a group
verdicts.py           the kind of each duplicate, and the action that a plan proposes
finder.py             runs the steps above
duplicates_result.py  the result: groups and pairs
omissions.py          what was not compared
plan/                 a table of duplicates that people edit, apply and undo
group_membership.py   looks up the group of a document
mark_update.py        marks the duplicates in the documents of an engine
folding.py            folds near-duplicates and older versions in a list of results
"""

from simdoc_search.duplicates.bands import band_keys
from simdoc_search.duplicates.duplicates_result import Duplicate, Duplicates, Group, GroupedDocument, Pair
from simdoc_search.duplicates.finder import Progress
from simdoc_search.duplicates.folding import (
    ShownHit,
    ShownVersion,
    fold_near_duplicates,
    fold_older_versions,
)
from simdoc_search.duplicates.keep_order import KEEP_RULES
from simdoc_search.duplicates.sources import duplicates_among

__all__ = [
    "KEEP_RULES",
    "Duplicate",
    "Duplicates",
    "Group",
    "GroupedDocument",
    "Pair",
    "Progress",
    "ShownHit",
    "ShownVersion",
    "band_keys",
    "duplicates_among",
    "fold_near_duplicates",
    "fold_older_versions",
]
