"""In which signs do two texts with the same words differ, in a few words?"""

from __future__ import annotations

from simdoc_search.analysis.settings import Analysis
from simdoc_search.analysis.words import placed_words
from simdoc_search.passages.report.summary import signs_differing
from simdoc_search.passages.signs import signs


def signs_said(a: str, b: str, analysis: Analysis) -> str:
    """How many signs differ, and one of them: `2 signs differ: '-500' / '500'`."""
    words_a, words_b = placed_words(a, analysis), placed_words(b, analysis)
    runs = [(0, 0, len(words_a.words))] if words_a.words == words_b.words else []
    if found := signs(a, b, words_a, words_b, runs):
        return signs_differing(found, (a, b), 1)
    return "only spaces and line ends differ" if a.split() == b.split() else "signs before or after all words differ"
