"""Compares two texts: exact measures, shared passages and differences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from simdoc_search.analysis.words import WordPositions, locate_words
from simdoc_search.passages.align import AlignmentSettings, Preset, align_words
from simdoc_search.passages.cells import find_row_differences
from simdoc_search.passages.character_differences import find_character_differences
from simdoc_search.passages.differences import find_differences, select_disjoint_runs
from simdoc_search.passages.exact_overlap import measures
from simdoc_search.passages.inline_diff import place_empty_spans
from simdoc_search.passages.passage import (
    CharacterDifference,
    Comparison,
    Difference,
    Passage,
    RowDifference,
    SignificantChange,
)
from simdoc_search.passages.significant_changes import find_significant_changes
from simdoc_search.passages.typography import unify_typography
from simdoc_search.passages.word_spans import count_words
from simdoc_search.sketch.fingerprint import fingerprint
from simdoc_search.sketch.settings import Settings


class TextChanges(NamedTuple):
    """The differences between two texts. `Comparison` describes the fields."""

    differences: list[Difference]
    character_differences: list[CharacterDifference]
    row_differences: list[RowDifference]
    significant_changes: list[SignificantChange]


def compare(
    text_a: str, text_b: str, *, preset: Preset | AlignmentSettings = "edited", settings: Settings | None = None
) -> Comparison:
    """Compare two texts. All measures read apostrophes and narrow spaces as `unify_typography` does.

    Args:
        text_a: The first text.
        text_b: The second text.
        preset: Which passages count as shared: `edited`, `verbatim`, or your own settings.
        settings: The settings for words, shingles and fingerprints. If None, the default settings are used.

    Raises:
        ValueError: The preset is unknown.
    """
    settings = settings or Settings()
    unified = unify_typography(text_a), unify_typography(text_b)
    a, b = (locate_words(text, settings.analysis) for text in unified)
    passages = align_words(a, b, preset)
    exact = measures(*unified, settings.analysis, words=(a, b))
    changes = find_text_changes((text_a, text_b), (a, b), passages)
    first, second = (fingerprint(text, settings.analysis, settings.sketch) for text in unified)
    return Comparison(
        jaccard=exact.jaccard,
        containment=exact.containment,
        reverse_containment=exact.reverse_containment,
        multiset=exact.multiset,
        estimate=first.overlap(second),
        interval=first.interval(second),
        passages=tuple(passages),
        differences=tuple(changes.differences),
        character_differences=tuple(changes.character_differences),
        row_differences=tuple(changes.row_differences),
        significant_changes=tuple(changes.significant_changes),
        **count_words((a, b), passages, changes.differences),
    )


def find_text_changes(
    texts: tuple[str, str], words: tuple[WordPositions, WordPositions], passages: Sequence[Passage]
) -> TextChanges:
    """Return the differences between two texts that share these passages."""
    word_differences = place_empty_spans(texts, words, find_differences(*words, passages))
    symbol_differences = find_character_differences(
        texts, words, select_disjoint_runs(*words, passages), word_differences
    )
    return TextChanges(
        word_differences,
        symbol_differences,
        find_row_differences(*texts),
        find_significant_changes(*texts, word_differences, symbol_differences),
    )
