"""What two texts share, and what differs: as places in the original texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Comparison", "Difference", "Passage", "Span"]

Span = tuple[int, int]
"""The first character and the one after the last, of the original text; both equal: a place between characters."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage that two texts share, perhaps with small changes.

    Attributes:
        a: where it lies in the first text; from the first character of a word to the last of one.
        b: where it lies in the second text.
        words: how many words of the first text lie in it.
        runs: the stretches of it that are equal word for word, in the order of the first text.
    """

    a: Span
    b: Span
    words: int
    runs: tuple[tuple[Span, Span], ...]


@dataclass(frozen=True, slots=True)
class Difference:
    """Words of one text that the other has not, has otherwise, or has elsewhere.

    Attributes:
        kind: `replaced`, `inserted` (the second text alone has them), `removed` (the first alone), or `moved`.
        a: their place in the first text; of what was inserted: where it would stand.
        b: their place in the second text; of what was removed: where it would stand.
        words: how many words differ, of the text that has more of them there.
    """

    kind: Literal["replaced", "inserted", "removed", "moved"]
    a: Span
    b: Span
    words: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """How two texts are alike.

    Attributes:
        jaccard: shingles of both / shingles of either, 0..1, exact.
        containment: the share of the first text's shingles that the second has, 0..1, exact.
        contained: the share of the second text's shingles that the first has, 0..1, exact.
        multiset: the same three, where a shingle counts as often as it is there.
        estimate: Jaccard similarity as the fingerprints estimate it, 0..1.
        interval: its 95 % interval.
        words: how many words each text has.
        covered: the share of each text's words that lie in shared passages, 0..1.
        passages: what they share, in the order of the first text.
        differences: what differs, in the order of the first text.
    """

    jaccard: float
    containment: float
    contained: float
    multiset: tuple[float, float, float]
    estimate: float
    interval: tuple[float, float]
    words: tuple[int, int]
    covered: tuple[float, float]
    passages: tuple[Passage, ...]
    differences: tuple[Difference, ...]
