"""Finds boilerplate: shared passages that a text repeats."""

from __future__ import annotations

from collections import Counter

from simdoc_search.analysis.settings import Analysis
from simdoc_search.analysis.shingles import shingles
from simdoc_search.passages.passage import Passage
from simdoc_search.passages.typography import unify_typography

_MAX_BOILERPLATE_WORDS = 200
"""A longer passage counts as content, even if a text repeats it."""
_MIN_OCCURRENCES = 3
_MIN_REPEATED_SHARE = 0.9
"""The minimum share of a passage's shingles that occur at least three times."""


def find_boilerplate(
    passages: tuple[Passage, ...], texts: tuple[str, str], analysis: Analysis | None = None
) -> frozenset[int]:
    """Return the indices of the passages that are boilerplate.

    These are passages of up to 200 words that occur at least three times in one of the texts.
    """
    short = {index: passage for index, passage in enumerate(passages) if passage.word_count <= _MAX_BOILERPLATE_WORDS}
    unified = [unify_typography(text) for text in texts] if short else []
    counts = [Counter(shingles(text, analysis)) for text in unified]
    repeated = set()
    for index, passage in short.items():
        passage_shingles = shingles(unified[0][slice(*passage.a)], analysis)
        if passage_shingles and any(
            sum(count[shingle] >= _MIN_OCCURRENCES for shingle in passage_shingles)
            >= _MIN_REPEATED_SHARE * len(passage_shingles)
            for count in counts
        ):
            repeated.add(index)
    return frozenset(repeated)
