"""Defines the results of a comparison of two texts. All positions refer to the original texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

Span = tuple[int, int]
"""The start and end (exclusive) of a stretch of text, in characters. The two are equal for an empty span."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage that two texts share, perhaps with small changes.

    Attributes:
        a: The span in the first text. The span begins and ends with a matched word, and may contain unmatched words.
        b: The span in the second text.
        word_count: The number of matched words. A matched word is paired with an equal word of the other text.
        runs: The spans of each run of matched words in both texts, in the order of the first text.
    """

    a: Span
    b: Span
    word_count: int
    runs: tuple[tuple[Span, Span], ...]


@dataclass(frozen=True, slots=True)
class Difference:
    """Words that are replaced, inserted, removed or moved.

    Attributes:
        kind: `replaced`, `inserted` (only in the second text), `removed` (only in the first text) or `moved`.
        a: The span in the first text. It is empty if the words were `inserted`.
        b: The span in the second text. It is empty if the words were `removed`.
        removed_word_count: The number of words in `a`.
        added_word_count: The number of words in `b`.
    """

    kind: Literal["replaced", "inserted", "removed", "moved"]
    a: Span
    b: Span
    removed_word_count: int
    added_word_count: int

    @property
    def word_count(self) -> int:
        """The number of words in the longer span."""
        return max(self.removed_word_count, self.added_word_count)


@dataclass(frozen=True, slots=True)
class CharacterDifference:
    """A difference at a pair of matched words: in the symbols in or next to them, or in letter case.

    Attributes:
        kind: `symbols` (punctuation or other symbols, as in `-500` and `500`) or `letters` (as in `Bill` and `bill`).
        a: The span in the first text, extended to the whitespace around it.
        b: The span in the second text, extended in the same way.
    """

    kind: Literal["symbols", "letters"]
    a: Span
    b: Span


@dataclass(frozen=True, slots=True)
class MovedCell:
    """A cell that is in another column of its row.

    Attributes:
        text: The cell in the second text.
        column: The column in the first text, counted from 1.
        new_column: The column in the second text.
    """

    text: str
    column: int
    new_column: int


@dataclass(frozen=True, slots=True)
class RowDifference:
    """A row of a table that has the same words in both texts, but in other cells.

    Attributes:
        a: The span of the row in the first text.
        b: The span of the row in the second text.
        moved_cells: The cells that are in another column. Empty if cells were joined or split.
    """

    a: Span
    b: Span
    moved_cells: tuple[MovedCell, ...]


SignificantChangeKind = Literal["negation", "number", "date", "name"]


class SignificantChange(NamedTuple):
    """A difference in a negation, a number, a date or a name.

    Attributes:
        kind: `negation`, `number`, `date` or `name`. If several kinds apply to a short difference, the first of them
            is used. A long difference (over 60 characters) becomes one change per kind that applies.
        preceding_words: Up to three words before `new` in the newer text, or before `old` in the older text if `new` is
            empty. They are in the same sentence, unless the change begins a sentence.
        old: The changed part of the older text. For a long difference, only its words of this kind. It may be empty.
        new: The same for the newer text.
        old_preceding_words: Up to three words before `old` in the older text, if other words precede `new` in the newer
            text. Otherwise empty.
    """

    kind: SignificantChangeKind
    preceding_words: str
    old: str
    new: str
    old_preceding_words: str = ""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What two texts share, and how they differ.

    Attributes:
        jaccard: The exact Jaccard similarity of the shingles, 0..1.
        containment: The exact share of the first text's shingles that are also in the second text, 0..1.
        reverse_containment: The exact share of the second text's shingles that are also in the first text, 0..1.
        multiset: The same three measures, but every occurrence of a shingle is counted.
        estimate: The Jaccard similarity estimated from the fingerprints, 0..1.
        interval: The 95 % confidence interval of the estimate.
        word_counts: The number of words of each text.
        matched_word_counts: The number of matched words of each text. A word in several passages is counted once.
        passages: The shared passages, in the order of the first text.
        differences: The words that differ, in the order of the first text.
        character_differences: The differences in letter case, punctuation and symbols at matched words, in the order of
            the first text. Those in apostrophes only come last.
        row_differences: The rows of tables that have the same words in other cells, in the order of the first text.
        significant_changes: The differences in negations, then numbers, dates and names.
        equal_unmatched_word_counts: The number of words of each text that are neither matched nor in a difference. They
            are equal in both texts, but so few in a row that this may be chance.
        matched_different_word_counts: The number of words of each text that are both matched and in a difference,
            because they are repeated. Moved differences do not count.
    """

    jaccard: float
    containment: float
    reverse_containment: float
    multiset: tuple[float, float, float]
    estimate: float
    interval: tuple[float, float]
    word_counts: tuple[int, int]
    matched_word_counts: tuple[int, int]
    passages: tuple[Passage, ...]
    differences: tuple[Difference, ...]
    character_differences: tuple[CharacterDifference, ...]
    row_differences: tuple[RowDifference, ...] = ()
    significant_changes: tuple[SignificantChange, ...] = ()
    equal_unmatched_word_counts: tuple[int, int] = (0, 0)
    matched_different_word_counts: tuple[int, int] = (0, 0)

    @property
    def covered_shares(self) -> tuple[float, float]:
        """The share of matched words in each text, 0..1. It is 0 for a text without words."""
        first, second = (
            matched / max(words, 1) for matched, words in zip(self.matched_word_counts, self.word_counts, strict=True)
        )
        return first, second
