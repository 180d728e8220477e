"""Which settings fit these documents? A sample of them, its exact overlaps, and what each setting makes of it.

sample.py        which documents, and which edited copies of them?
truth.py         how much do they really overlap?
measurement.py   what does a setting find, how wrong is it, what does it cost?
pairs.py         which overlap tells a person's yes from her no?
limits.py        which limits call documents versions, or related, as she does?
tune.py          all of that, and what is recommended
"""

from simdoc_search.tuning.limits import Calls, LearnedLimits, limits_of_related, limits_of_versions
from simdoc_search.tuning.measurement import Row, measured
from simdoc_search.tuning.pairs import Judged, Learned, learned, read_pairs
from simdoc_search.tuning.sample import Planted, drawn, fitting, planted
from simdoc_search.tuning.truth import Truth, truth_of
from simdoc_search.tuning.tune import Tuning

__all__ = [
    "Calls",
    "Judged",
    "Learned",
    "LearnedLimits",
    "Planted",
    "Row",
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
