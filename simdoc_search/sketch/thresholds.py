"""Defines the thresholds for similar sentences, versions of documents, and hits that are shown.

Fowke, Hinze, Heese 2013 (Working paper 12/2013, University of Waikato, section 2.3) do not give values for these
thresholds. This module defines default values. An index may store different values (`Settings.thresholds`), and `tune`
learns values from labelled pairs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from simdoc_search.analysis.settings import check_whole_number

MIN_VERSION_SCORE = 0.75
"""Minimum score of two versions of a document (theta in the paper). Related documents have lower scores."""

DEFAULT_MAX_DISTANCE, DEFAULT_MIN_SHARE, DEFAULT_MIN_SMALLER_SHARE, DEFAULT_MIN_SCORE = 12, 0.5, 0.1, 0.5
"""The default thresholds."""

MAX_DISTANCE_LIMIT = 16
"""Upper limit of `max_distance`. Unrelated sentences differ in 25 to 35 of 64 bits."""

_STORED_PATTERN = re.compile(r"([\d.e-]{1,12}) ([\d.e-]{1,12}) (\d{1,2}) ([\d.e-]{1,12})")


@dataclass(frozen=True, slots=True)
class SentenceShares:
    """The shares of similar sentences of two documents.

    Attributes:
        share: share of the first document's distinct sentences that have a similar one in the second, 0..1.
        share_of_other: share of the second document's distinct sentences that have a similar one in the first, 0..1.
        has_too_few_matches: whether the similar sentences are too few, or only a letterhead; see
            `versions.letterheads.has_too_few_matches`.
    """

    share: float
    share_of_other: float
    has_too_few_matches: bool


@dataclass(frozen=True, slots=True)
class SimilarityThresholds:
    """Thresholds for similar sentences, versions, and the hits that are shown.

    Each of two documents has a share: the fraction of its sentences that have a similar sentence in the other document.

    Attributes:
        min_share: minimum of the larger share of two versions; greater than 0 and at most 1.
        min_smaller_share: minimum of the smaller share, 0..`min_share`. If it were 0, a book that quotes a note
            would be a version of the note.
        max_distance: maximum number of the 64 simhash bits in which similar sentences differ,
            0..`MAX_DISTANCE_LIMIT`.
        min_score: minimum score of a hit that is shown, 0..1. Versions have scores from `MIN_VERSION_SCORE` to 1, and
            related documents have lower scores.

    Raises:
        ValueError: a threshold is out of range.
    """

    min_share: float = DEFAULT_MIN_SHARE
    min_smaller_share: float = DEFAULT_MIN_SMALLER_SHARE
    max_distance: int = DEFAULT_MAX_DISTANCE
    min_score: float = DEFAULT_MIN_SCORE

    def __post_init__(self) -> None:
        if not (0 < self.min_share <= 1 and 0 <= self.min_smaller_share <= self.min_share):
            raise ValueError(
                "min_share must be greater than 0 % and at most 100 %, and min_smaller_share must be from 0 % to "
                f"min_share; they are {100 * self.min_share:g} % and {100 * self.min_smaller_share:g} %"
            )
        check_whole_number("max_distance", self.max_distance, 0, MAX_DISTANCE_LIMIT)
        if not 0 <= self.min_score <= 1:
            raise ValueError(f"min_score must be from 0 to 1, not {self.min_score!r}")

    def score_matches(self, shares: SentenceShares) -> float | None:
        """Return the score of two documents, or None if they are not versions."""
        return None if shares.has_too_few_matches else self.score(shares.share, shares.share_of_other)

    def score(self, share: float, share_of_other: float) -> float | None:
        """Return the score of two documents with these shares, or None if they are not versions.

        The score increases with the larger share. It is `MIN_VERSION_SCORE` if the larger share is `min_share`. It is
        1.0 if all sentences of one document have a similar sentence in the other document.
        """
        larger, smaller = max(share, share_of_other), min(share, share_of_other)
        if larger < self.min_share or smaller < self.min_smaller_share or not smaller:
            return None
        return MIN_VERSION_SCORE + (1 - MIN_VERSION_SCORE) * (
            (larger - self.min_share) / (1 - self.min_share) if self.min_share < 1 else 1.0
        )

    def to_text(self) -> str:
        """Return the stored form: the four numbers in the order of the attributes, with six significant digits."""
        return f"{self.min_share:.6g} {self.min_smaller_share:.6g} {self.max_distance} {self.min_score:.6g}"

    @classmethod
    def from_text(cls, text: str) -> SimilarityThresholds:
        """Return the thresholds that `to_text` wrote.

        Raises:
            ValueError: the text is malformed.
        """
        match = _STORED_PATTERN.fullmatch(text) if isinstance(text, str) else None
        if match is None:
            raise ValueError(f"stored thresholds must look like '0.5 0.1 12 0.5', not {text!r:.60}")
        larger, smaller, distance, min_score = match.groups()
        return cls(float(larger), float(smaller), int(distance), float(min_score))
