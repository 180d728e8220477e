"""Finds the words that one text shares with each of many texts."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from simdoc_search.analysis.native import Aligner, kernel
from simdoc_search.analysis.settings import Analysis
from simdoc_search.analysis.word_ids import WordIds, assign_word_ids
from simdoc_search.analysis.words import call_kernel_method, without_surrogates
from simdoc_search.cancellation import check_stopped
from simdoc_search.passages.align import MAX_NATIVE_WORDS, AlignmentSettings, align_word_ids
from simdoc_search.passages.word_spans import Mask, empty_mask


class MatchedWords(NamedTuple):
    """The words that two texts share.

    `covered_words_mask` marks the words of the first text that passages cover; bool, shape (words,).
    """

    covered_words_mask: Mask
    other_word_count: int

    @property
    def covered_word_count(self) -> int:
        """The number of words of the first text that passages cover."""
        return int(np.count_nonzero(self.covered_words_mask))


class TextMatcher:
    """Finds the words that a text shares with other texts."""

    def __init__(self, text: str, word_count: int, analysis: Analysis, settings: AlignmentSettings) -> None:
        self._text, self._word_count, self._analysis, self._settings = text, word_count, analysis, settings

    @cached_property
    def _aligner(self) -> Aligner | None:
        native, settings = kernel(), self._settings
        if native is None or self._word_count > MAX_NATIVE_WORDS:
            return None
        rules = settings.min_run_for(self._word_count), settings.edited, settings.max_gap
        return native.aligner(without_surrogates(self._text), self._analysis.profile, *rules)

    def match(self, other_texts: Sequence[str]) -> list[MatchedWords]:
        """Return the words that the text shares with each of the other texts."""
        matched: list[MatchedWords] = []
        batch: list[str] = []
        for other in other_texts:
            if sum(map(len, batch), self._word_count + len(other)) > MAX_NATIVE_WORDS:  # a word has a character or more
                matched += self._match_batch(batch)
                batch = []
            batch.append(other)
        return matched + self._match_batch(batch)

    def _match_batch(self, other_texts: list[str]) -> list[MatchedWords]:
        check_stopped()
        if not other_texts:
            return []
        if self._aligner is None or self._word_count + len(other_texts[-1]) > MAX_NATIVE_WORDS:
            first, *seconds = (words.ids for words in assign_word_ids([self._text, *other_texts], self._analysis))
            return [_match_word_ids(first, second, self._settings) for second in seconds]
        masks, counts = call_kernel_method(self._aligner.matched_words, other_texts)
        rows = np.frombuffer(masks, np.bool_).reshape(len(other_texts), self._word_count)
        return list(map(MatchedWords, rows, np.frombuffer(counts, np.int64).tolist()))


def _match_word_ids(first: WordIds, second: WordIds, settings: AlignmentSettings) -> MatchedWords:
    mask = empty_mask(len(first))
    for i, _, size in itertools.chain.from_iterable(runs.tolist() for runs in align_word_ids(first, second, settings)):
        mask[i : i + size] = True
    return MatchedWords(mask, len(second))
