"""Comparison of two texts: shared passages, differences, and exact measures of overlap."""

from simdoc_search.passages.align import AlignmentSettings
from simdoc_search.passages.exact_overlap import Measures, containment, jaccard, measures, shingle_set
from simdoc_search.passages.highlight import Highlights, MarkedText
from simdoc_search.passages.passage import Comparison, Difference, Passage

__all__ = [
    "AlignmentSettings",
    "Comparison",
    "Difference",
    "Highlights",
    "MarkedText",
    "Measures",
    "Passage",
    "containment",
    "jaccard",
    "measures",
    "shingle_set",
]
