"""Which settings fit these documents? Measured on a sample, against exact overlaps.

sample.py       the sample, and edited copies of its documents
truth.py        the exact overlaps
measurement.py  recall, precision, error and cost of a setting
pairs.py        the overlap that separates labelled pairs best
limits.py       the limits of versions and related that fit labelled pairs best
tune.py         all settings, and the recommended one
"""

from simdoc_search.tuning.limits import Calls, LearnedLimits, limits_of_related, limits_of_versions
from simdoc_search.tuning.measurement import Measurement, measured
from simdoc_search.tuning.pairs import LabelledPair, Learned, learned, read_pairs
from simdoc_search.tuning.sample import Planted, drawn, fitting, planted
from simdoc_search.tuning.truth import Truth, truth_of
from simdoc_search.tuning.tune import Tuning

__all__ = [
    "Calls",
    "LabelledPair",
    "Learned",
    "LearnedLimits",
    "Measurement",
    "Planted",
    "Truth",
    "Tuning",
    "drawn",
    "fitting",
    "learned",
    "limits_of_related",
    "limits_of_versions",
    "measured",
    "planted",
    "read_pairs",
    "truth_of",
]
