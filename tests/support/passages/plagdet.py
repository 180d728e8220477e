"""The official measure of text alignment: how much of the planted passages was found, and in how many parts.

Source: Potthast, Stein, Barrón-Cedeño, Rosso 2010, An Evaluation Framework for Plagiarism Detection (COLING), in its
macro-averaged form, by which the PAN competitions rank.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["Reuse", "Score", "score"]

Span = tuple[int, int]
"""The first character and the character after the last."""


@dataclass(frozen=True, slots=True)
class Reuse:
    """A planted or detected passage."""

    texts: tuple[str, str]  # The names of the text and of its source
    a: Span  # The place in the text
    b: Span  # The place in the source


@dataclass(frozen=True, slots=True)
class Score:
    """How well passages were found."""

    recall: float  # The mean share of a planted passage's characters that detections cover, 0..1
    precision: float  # The mean share of a detection's characters that are in planted passages, 0..1
    granularity: float  # The mean number of detections of a detected passage, at least 1
    planted: int  # The number of planted passages
    detections: int  # The number of detections

    @property
    def f1(self) -> float:
        """The harmonic mean of recall and precision."""
        total = self.recall + self.precision
        return 2 * self.recall * self.precision / total if total else 0.0

    @property
    def plagdet(self) -> float:
        """F1 / log2(1 + granularity), 0..1."""
        return self.f1 / math.log2(1 + self.granularity)


def score(planted: Iterable[Reuse], detected: Iterable[Reuse]) -> Score:
    """How well the planted passages were detected.

    A detection detects a passage if both have common characters in both texts. Without passages and detections the
    score is perfect.
    """
    truth, found = set(planted), set(detected)
    if not truth and not found:
        return Score(1.0, 1.0, 1.0, 0, 0)
    detecting = _overlapping(truth, found)
    counts = [len(detections) for detections in detecting.values() if detections]
    return Score(
        recall=_mean_cover(detecting),
        precision=_mean_cover(_overlapping(found, truth)),
        granularity=sum(counts) / len(counts) if counts else 1.0,
        planted=len(truth),
        detections=len(found),
    )


def _overlapping(ones: set[Reuse], others: set[Reuse]) -> dict[Reuse, list[Reuse]]:
    by_texts: dict[tuple[str, str], list[Reuse]] = defaultdict(list)
    for other in others:
        by_texts[other.texts].append(other)

    def overlap(one: Reuse, other: Reuse) -> bool:
        return all(x[0] < y[1] and y[0] < x[1] for x, y in ((one.a, other.a), (one.b, other.b)))

    return {one: [other for other in by_texts[one.texts] if overlap(one, other)] for one in ones}


def _mean_cover(overlapping: dict[Reuse, list[Reuse]]) -> float:
    shares = []
    for one, others in overlapping.items():
        covered = _covered(one.a, [other.a for other in others]) + _covered(one.b, [other.b for other in others])
        shares.append(covered / (one.a[1] - one.a[0] + one.b[1] - one.b[0]))
    return math.fsum(shares) / len(shares) if shares else 0.0


def _covered(span: Span, others: list[Span]) -> int:
    """How many characters of a span are in other spans."""
    covered, end = 0, span[0]
    for start, stop in sorted(others):
        first, last = max(start, end), min(stop, span[1])
        if first < last:
            covered += last - first
            end = last
    return covered
