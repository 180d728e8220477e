"""Recommends settings for a collection, measured on a sample or learned from labelled pairs.

sample.py          draws a random sample, and computes its exact overlaps
measurement.py     measures recall, precision, error and cost of settings
labelled_pairs.py  reads labelled pairs, and learns the threshold that best separates them
thresholds.py      learns the thresholds of versions and related documents from labelled pairs
recommendation.py  measures several settings, and recommends one
"""

from simdoc_search.tuning.labelled_pairs import (
    ConfusionCounts,
    LabelledPair,
    LearnedThreshold,
    learn_threshold,
    read_pairs,
)
from simdoc_search.tuning.measurement import Measurement, measure
from simdoc_search.tuning.recommendation import TuningResult, tune
from simdoc_search.tuning.sample import draw_sample, limit_texts
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
    "Measurement",
    "TuningResult",
    "draw_sample",
    "learn_related_thresholds",
    "learn_threshold",
    "learn_version_thresholds",
    "limit_texts",
    "measure",
    "read_pairs",
    "tune",
]
