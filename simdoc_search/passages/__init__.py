"""What do two texts share?

passage.py       what is said of it: passages, differences, a comparison
exact.py         how much: exact values over sets of shingles
windows.py       which windows of words are equal?
runs.py          which runs of words are equal, as long as they can be?
chains.py        which runs belong together?
evidence.py      which runs does chance not explain?
similarity.py    are two stretches one passage, or alike by chance?
align.py         which passages are shared, and where?
matched_words.py which words are matched?
coverage.py      how much of a text do several others cover?
ignored_words.py which words are not counted?
subsequences.py  what keeps its order?
differences.py   which words differ?
signs.py         which signs differ between equal words?
compare.py       all of it for two texts
highlight.py     and marked in both?
report/          how is it shown?
"""

from simdoc_search.passages.align import Alignment
from simdoc_search.passages.exact import Measures, containment, jaccard, measures, shingle_set
from simdoc_search.passages.highlight import Highlights, Marked
from simdoc_search.passages.passage import Comparison, Difference, Passage

__all__ = [
    "Alignment",
    "Comparison",
    "Difference",
    "Highlights",
    "Marked",
    "Measures",
    "Passage",
    "containment",
    "jaccard",
    "measures",
    "shingle_set",
]
