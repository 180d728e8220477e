"""Which passages are boilerplate: phrases that a text repeats?"""

from __future__ import annotations

from collections import Counter

from simdoc_search.analysis.settings import Analysis
from simdoc_search.analysis.shingles import shingles
from simdoc_search.passages.passage import Passage

_LONGEST = 200  # words; what is longer is content, though it be there twice
_SEVERAL = 3  # times
_REPEATED = 0.9  # of a passage's shingles


def boilerplate(
    passages: tuple[Passage, ...], text_a: str, text_b: str, analysis: Analysis | None = None
) -> frozenset[int]:
    """The numbers, from 0, of the passages of up to 200 words that occur three times or more in one of the texts.

    Args:
        passages: what the texts share.
        text_a: the first text.
        text_b: the second text.
        analysis: what makes shingles; a passage occurs again where nine in ten of its shingles do.
    """
    short = [number for number, each in enumerate(passages) if each.words <= _LONGEST]
    if not short:
        return frozenset()
    counts = [Counter(shingles(text, analysis)) for text in (text_a, text_b)]
    return frozenset(
        number
        for number in short
        if any(_is_repeated(shingles(text_a[slice(*passages[number].a)], analysis), count) for count in counts)
    )


def _is_repeated(own: list[str], count: Counter[str]) -> bool:
    return bool(own) and sum(count[each] >= _SEVERAL for each in own) >= _REPEATED * len(own)
