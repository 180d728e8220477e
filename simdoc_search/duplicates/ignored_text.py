"""Texts without the words of templates, so that documents are not duplicates because they share a template."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from simdoc_search.analysis.settings import Analysis
from simdoc_search.analysis.words import placed_words
from simdoc_search.duplicates.arrays import Ints, slices
from simdoc_search.duplicates.verification import ReadTexts
from simdoc_search.passages.ignored_words import ignored_words, left_text

_AT_ONCE = 50


class TextsWithoutTemplates:
    """Reads the texts of documents without the words that they have from templates.

    Args:
        read_texts: reads the whole texts.
        templates: texts whose words are ignored, also where they are slightly edited.
        analysis: how words are found.

    Attributes:
        ignored: number of ignored words, by document.
    """

    def __init__(self, read_texts: ReadTexts, templates: Sequence[str], analysis: Analysis) -> None:
        self._read_texts = read_texts
        self._templates = [placed_words(template, analysis) for template in templates]
        self._analysis = analysis
        self.ignored: dict[int, int] = {}

    def __call__(self, documents: Sequence[int]) -> Iterator[tuple[int, str | None]]:
        """Read the texts of some documents; None where a text is not stored."""
        for number, text in self._read_texts(documents):
            yield number, None if text is None else self._shortened(number, text)

    def separate_templates(self, labels: Ints) -> Ints:
        """Give each document that has no words besides those of templates a label of its own.

        Args:
            labels: a number per document, equal if the words are equal. Documents with equal numbers are not compared.
        """
        numbers, first, counts = np.unique(labels, return_index=True, return_counts=True)
        repeated, representatives = numbers[counts > 1], first[counts > 1].tolist()
        separated = labels.copy()
        for part in slices(len(representatives), _AT_ONCE):
            texts = dict(self(representatives[part]))
            for label, representative in zip(repeated[part], representatives[part], strict=True):
                text = texts.get(representative)
                if text is not None and not placed_words(text, self._analysis).words:
                    is_template = labels == label
                    separated[is_template] = len(labels) + 1 + np.flatnonzero(is_template)
        return separated

    def _shortened(self, number: int, text: str) -> str:
        words = placed_words(text, self._analysis)
        is_ignored = ignored_words(words, self._templates)
        self.ignored[number] = int(is_ignored.sum())
        return left_text(text, words, is_ignored)
