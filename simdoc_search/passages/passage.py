"""The results of a comparison of two texts. All positions are those of the original texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

Span = tuple[int, int]
"""The first character of a stretch of text and the one after its last. Equal numbers are a place between characters."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage that two texts share, perhaps with small changes.

    Attributes:
        a: Its place in the first text. It begins and ends with a matched word; other words may be between.
        b: Its place in the second text.
        words: The number of matched words. A matched word is paired with an equal word of the other text.
        runs: The stretches of matched words, in the order of the first text.
    """

    a: Span
    b: Span
    words: int
    runs: tuple[tuple[Span, Span], ...]


@dataclass(frozen=True, slots=True)
class Difference:
    """Words that one text has and the other does not have at this place.

    Attributes:
        kind: `replaced`, `inserted` (only in the second text), `removed` (only in the first text) or `moved`.
        a: The place in the first text. For `inserted`, a place between words.
        b: The place in the second text. For `removed`, a place between words.
        words: The number of words in the text that has more of them here.
    """

    kind: Literal["replaced", "inserted", "removed", "moved"]
    a: Span
    b: Span
    words: int


@dataclass(frozen=True, slots=True)
class SignDifference:
    """Equal words with different signs beside them, or in another writing.

    Attributes:
        kind: `sign`, as in `-500` and `500`, or `writing`, as in `Bill` and `bill`.
        a: The place in the first text, up to the next whitespace.
        b: The place in the second text.
    """

    kind: Literal["sign", "writing"]
    a: Span
    b: Span


KeyKind = Literal["negation", "number", "date", "name"]


class KeyChange(NamedTuple):
    """A difference in a negation, a number, a date or a name.

    Attributes:
        kind: The first kind that applies: negation, number, date, name.
        before: Up to three words before it in the newer text.
        old: The part of the older text, perhaps empty.
        new: The part of the newer text, perhaps empty.
    """

    kind: KeyKind
    before: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """What two texts share and what differs.

    Attributes:
        jaccard: Shingles in both texts / shingles in either text, 0..1, exact.
        containment: The share of the first text's shingles that the second text has, 0..1, exact.
        contained: The share of the second text's shingles that the first text has, 0..1, exact.
        multiset: The same three measures, counting repeated shingles.
        estimate: The Jaccard similarity that the fingerprints estimate, 0..1.
        interval: The 95 % interval of the estimate.
        words: The number of words of each text.
        matched: The number of matched words of each text. Each word counts once.
        passages: The shared passages, in the order of the first text.
        differences: The words that differ, in the order of the first text.
        signs: The signs that differ at matched words, in the order of the first text.
        key_changes: The differences in negations, numbers, dates and names, in this order.
    """

    jaccard: float
    containment: float
    contained: float
    multiset: tuple[float, float, float]
    estimate: float
    interval: tuple[float, float]
    words: tuple[int, int]
    matched: tuple[int, int]
    passages: tuple[Passage, ...]
    differences: tuple[Difference, ...]
    signs: tuple[SignDifference, ...]
    key_changes: tuple[KeyChange, ...] = ()

    @property
    def covered(self) -> tuple[float, float]:
        """The share of each text's words that is matched, 0..1. A text without words has 0."""
        first, second = (matched / max(words, 1) for matched, words in zip(self.matched, self.words, strict=True))
        return first, second
