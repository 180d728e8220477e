"""Texts without the words of templates: documents are not duplicates because they share a template."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from simdoc_search.analysis.settings import Analysis
from simdoc_search.analysis.words import placed_words
from simdoc_search.duplicates.table import Ints
from simdoc_search.duplicates.verification import ReadTexts
from simdoc_search.passages.ignored_words import ignored_words, left_text

_AT_ONCE = 50


class WithoutTemplates:
    """The texts of documents without the words that they have from some templates.

    Args:
        texts: gives the texts of documents.
        templates: the texts whose words are ignored, also where they are slightly edited.
        analysis: what a word is.

    Attributes:
        ignored: how many words were ignored, by the number of the document.
    """

    def __init__(self, texts: ReadTexts, templates: Sequence[str], analysis: Analysis) -> None:
        self._texts = texts
        self._templates = [placed_words(each, analysis) for each in templates]
        self._analysis = analysis
        self.ignored: dict[int, int] = {}

    def __call__(self, who: Sequence[int]) -> Iterator[tuple[int, str | None]]:
        """The texts of some documents; None where a text is not stored."""
        return ((number, None if text is None else self._left(number, text)) for number, text in self._texts(who))

    def labels(self, labels: Ints) -> Ints:
        """Numbers of documents, equal where the words are; documents without other words get one of their own.

        Documents with equal numbers are not compared, so those that are only template must not have equal ones.
        """
        numbers, first, counts = np.unique(labels, return_index=True, return_counts=True)
        alike = numbers[counts > 1]
        stands = first[counts > 1].tolist()
        found = labels.copy()
        for start in range(0, len(stands), _AT_ONCE):
            left = dict(self(stands[start : start + _AT_ONCE]))
            for at, number in enumerate(stands[start : start + _AT_ONCE], start):
                text = left.get(number)
                if text is not None and not placed_words(text, self._analysis).words:
                    same = labels == alike[at]
                    found[same] = len(labels) + 1 + np.flatnonzero(same)
        return found

    def _left(self, number: int, text: str) -> str:
        words = placed_words(text, self._analysis)
        ignored = ignored_words(words, self._templates)
        self.ignored[number] = int(ignored.sum())
        return left_text(text, words, ignored)
