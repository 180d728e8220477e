"""Two texts side by side: how much they share, which passages, and what differs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from simdoc_search.analysis.words import PlacedWords, placed_words
from simdoc_search.passages.align import Alignment, Preset, align_words
from simdoc_search.passages.differences import differences
from simdoc_search.passages.exact import is_of_words, measures, measures_of_words
from simdoc_search.passages.passage import Comparison, Span
from simdoc_search.sketch.fingerprint import fingerprint
from simdoc_search.sketch.settings import Settings

__all__ = ["compare", "words_covered"]


def compare(
    text_a: str, text_b: str, *, preset: Preset | Alignment = "edited", settings: Settings | None = None
) -> Comparison:
    """How two texts are alike: exact measures, the estimate beside them, what they share, and what differs.

    Args:
        text_a: the first text.
        text_b: the second text.
        preset: what counts as a shared passage: `edited`, `verbatim`, or settings of your own.
        settings: what words, shingles and fingerprints are; None: the default.

    Raises:
        ValueError: there is no such preset.
    """
    settings = settings or Settings()
    a, b = placed_words(text_a, settings.analysis), placed_words(text_b, settings.analysis)
    passages = align_words(a, b, preset)
    by_word = is_of_words(settings.analysis)
    exact = measures_of_words(a, b, settings.analysis) if by_word else measures(text_a, text_b, settings.analysis)
    first, second = (fingerprint(text, settings.analysis, settings.minhash) for text in (text_a, text_b))
    return Comparison(
        jaccard=exact.jaccard,
        containment=exact.containment,
        contained=exact.contained,
        multiset=exact.multiset,
        estimate=first.overlap(second),
        interval=first.interval(second),
        words=(len(a.words), len(b.words)),
        covered=(_covered(a, [each.a for each in passages]), _covered(b, [each.b for each in passages])),
        passages=tuple(passages),
        differences=tuple(differences(a, b, passages)),
    )


def words_covered(text: PlacedWords, spans: Sequence[Span]) -> int:
    """How many words of a text lie in some spans of it, each counted once."""
    if not text.words or not spans:
        return 0
    change = np.zeros(len(text.words) + 1, np.int64)
    np.add.at(change, np.searchsorted(text.starts, [start for start, _ in spans]), 1)
    np.add.at(change, np.searchsorted(text.starts, [end for _, end in spans]), -1)
    return int(np.count_nonzero(np.cumsum(change[:-1])))


def _covered(text: PlacedWords, spans: Sequence[Span]) -> float:
    """The share of a text's words that lie in some spans; of no words 0."""
    return words_covered(text, spans) / len(text.words) if text.words else 0.0
