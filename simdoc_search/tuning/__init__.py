"""Recommends settings for a collection, measured on a sample or learned from labelled pairs.

sample.py          a random sample, and its exact overlaps
measurement.py     recall, precision, error and cost of settings
labelled_pairs.py  pairs that a person labelled, and the threshold that separates them best
limits.py          limits of versions and related documents, learned from such pairs
recommendation.py  all settings, and the recommended one
"""

from simdoc_search.tuning.labelled_pairs import LabelledPair, Lesson, Outcome, learn, read_pairs
from simdoc_search.tuning.limits import LearnedLimits, learn_related_limits, learn_version_limits
from simdoc_search.tuning.measurement import Measurement, measure
from simdoc_search.tuning.recommendation import Tuning, tune
from simdoc_search.tuning.sample import draw_sample, limit_texts

__all__ = [
    "LabelledPair",
    "LearnedLimits",
    "Lesson",
    "Measurement",
    "Outcome",
    "Tuning",
    "draw_sample",
    "learn",
    "learn_related_limits",
    "learn_version_limits",
    "limit_texts",
    "measure",
    "read_pairs",
    "tune",
]
