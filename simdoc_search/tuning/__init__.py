"""Learns thresholds from labelled pairs.

labelled_pairs.py  reads labelled pairs, and learns the threshold that best separates them
overlaps.py        learns the overlap of duplicates
thresholds.py      learns the thresholds of versions and related documents
"""

from simdoc_search.tuning.labelled_pairs import (
    ConfusionCounts,
    LabelledPair,
    LearnedThreshold,
    learn_threshold,
    read_pairs,
)
from simdoc_search.tuning.overlaps import learn_overlaps
from simdoc_search.tuning.thresholds import (
    LearnedSimilarityThresholds,
    learn_related_thresholds,
    learn_version_thresholds,
)

__all__ = [
    "ConfusionCounts",
    "LabelledPair",
    "LearnedSimilarityThresholds",
    "LearnedThreshold",
    "learn_overlaps",
    "learn_related_thresholds",
    "learn_threshold",
    "learn_version_thresholds",
    "read_pairs",
]
