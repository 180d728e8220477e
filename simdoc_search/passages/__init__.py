"""Comparison of two texts: shared passages, differences, and exact measures of overlap."""

from simdoc_search.passages.exact_overlap import containment, jaccard, measures, shingle_set
from simdoc_search.passages.highlight import Highlights, MarkedText
from simdoc_search.passages.passage import Comparison, Difference, Passage

__all__ = [
    "Comparison",
    "Difference",
    "Highlights",
    "MarkedText",
    "Passage",
    "containment",
    "jaccard",
    "measures",
    "shingle_set",
]
