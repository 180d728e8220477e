"""What two texts share, and what differs: as places in the original texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

Span = tuple[int, int]
"""The first character and the one after the last, of the original text; both equal: a place between characters."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage that two texts share, perhaps with small changes.

    Attributes:
        a: where it lies in the first text; from the first character of a matched word to the last of one. Other words
            may lie between them.
        b: where it lies in the second text.
        words: how many words are matched: paired with an equal word of the other text.
        runs: the stretches whose words are matched, in the order of the first text.
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
class SignDifference:
    """Equal words that are written otherwise, or stand beside other signs.

    Attributes:
        kind: `sign`, as in `-500` and `500`; `writing`, as in `Bill` and `bill`.
        a: the characters in the first text up to the next whitespace.
        b: those in the second text.
    """

    kind: Literal["sign", "writing"]
    a: Span
    b: Span


KeyKind = Literal["negation", "number", "date", "name"]


class KeyChange(NamedTuple):
    """A difference that changes a number, a date, a name or a negation.

    Attributes:
        kind: which of these; the first that applies, in this order: negation, number or date, name.
        before: up to three words in front of it, in the newer text.
        old: what the older text has there; empty: nothing.
        new: what the newer text has there; empty: nothing.
    """

    kind: KeyKind
    before: str
    old: str
    new: str


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
        matched: how many of these are matched, each counted once.
        passages: what they share, in the order of the first text.
        differences: which words differ, in the order of the first text.
        signs: which signs differ beside and inside matched words, in the order of the first text.
        key_changes: those of both that change a negation, a number, a date or a name, in this order.
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
        """The share of each text's words that is matched, 0..1; of no words 0."""
        first, second = (found / max(words, 1) for found, words in zip(self.matched, self.words, strict=True))
        return first, second
