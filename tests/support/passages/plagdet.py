"""The official measure of text alignment: how much of the planted passages was found, and how neatly.

Source: Potthast, Stein, Barrón-Cedeño, Rosso 2010, An Evaluation Framework for Plagiarism Detection (COLING); in its
macro-averaged form, which the PAN competitions rank by.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["Reuse", "Score", "score"]

Span = tuple[int, int]
"""The first character and the one after the last."""


@dataclass(frozen=True, slots=True)
class Reuse:
    """A passage that a text has from another one: as it was planted, or as it was detected.

    Attributes:
        texts: the text that reuses, and its source.
        a: where the passage lies in the text that reuses.
        b: where it lies in the source.
    """

    texts: tuple[str, str]
    a: Span
    b: Span


@dataclass(frozen=True, slots=True)
class Score:
    """How well passages were found.

    Attributes:
        recall: the share of a planted passage's characters, of both texts, that detections of it cover; the mean, 0..1.
        precision: the share of a detection's characters that belong to a passage that it detects; the mean, 0..1.
        granularity: how many detections there are of a passage that was detected, 1 or more.
        planted: how many passages there were.
        detections: how many were reported.
    """

    recall: float
    precision: float
    granularity: float
    planted: int
    detections: int

    @property
    def f1(self) -> float:
        """The harmonic mean of recall and precision, 0..1."""
        both = self.recall + self.precision
        return 2 * self.recall * self.precision / both if both else 0.0

    @property
    def plagdet(self) -> float:
        """F1 / log2(1 + granularity), 0..1."""
        return self.f1 / math.log2(1 + self.granularity)


def score(planted: Iterable[Reuse], detected: Iterable[Reuse]) -> Score:
    """How well the planted passages were detected; what is there twice counts once.

    A detection detects a passage if it has characters of it in both texts. Nothing planted and nothing detected is
    perfect; one of both alone scores 0.
    """
    truth, found = set(planted), set(detected)
    if not truth and not found:
        return Score(1.0, 1.0, 1.0, 0, 0)
    detecting = _overlapping(truth, found)
    counts = [len(those) for those in detecting.values() if those]
    return Score(
        recall=_mean_cover(detecting),
        precision=_mean_cover(_overlapping(found, truth)),
        granularity=sum(counts) / len(counts) if counts else 1.0,
        planted=len(truth),
        detections=len(found),
    )


def _overlapping(ones: set[Reuse], others: set[Reuse]) -> dict[Reuse, list[Reuse]]:
    """For each of the ones those of the others that overlap it in both texts."""
    by_texts: dict[tuple[str, str], list[Reuse]] = defaultdict(list)
    for other in others:
        by_texts[other.texts].append(other)
    return {one: [other for other in by_texts[one.texts] if _meet(one, other)] for one in ones}


def _meet(one: Reuse, other: Reuse) -> bool:
    return all(x[0] < y[1] and y[0] < x[1] for x, y in ((one.a, other.a), (one.b, other.b)))


def _mean_cover(overlapping: dict[Reuse, list[Reuse]]) -> float:
    """The share of each one's characters that the others cover, on average."""
    if not overlapping:
        return 0.0
    return math.fsum(_cover(one, others) for one, others in overlapping.items()) / len(overlapping)


def _cover(one: Reuse, others: list[Reuse]) -> float:
    covered = _covered(one.a, [other.a for other in others]) + _covered(one.b, [other.b for other in others])
    return covered / (one.a[1] - one.a[0] + one.b[1] - one.b[0])


def _covered(span: Span, others: list[Span]) -> int:
    """How many characters of a span at least one of the others has."""
    covered, end = 0, span[0]
    for start, stop in sorted(others):
        start, stop = max(start, end), min(stop, span[1])  # noqa: PLW2901 - what is new of it
        if start < stop:
            covered += stop - start
            end = stop
    return covered
