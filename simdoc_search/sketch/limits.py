"""Limits for similar sentences, versions, and related documents that are shown.

Fowke, Hinze, Heese 2013 (Working paper 12/2013, University of Waikato), section 2.3, leave the bits, the share of
sentences and the score to be tested. Here each has a default, an index may store others (`Settings.limits`), and `tune`
learns them from labelled pairs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Protocol

from simdoc_search.analysis.settings import check_whole_number

THETA = 0.75
"""Score from which two documents are versions. Lower scores are relations."""

BITS, ENOUGH, LEAST, SHOWN = 12, 0.5, 0.1, 0.5

MOST_BITS = 16
"""Maximum of `bits`. Unrelated sentences differ in 25 to 35 of 64 bits."""

_STORED = re.compile(r"([\d.e-]{1,12}) ([\d.e-]{1,12}) (\d{1,2}) ([\d.e-]{1,12})")


class _Shares(Protocol):
    """The shares of sentences that two documents have in common; see `versions.matching.SentenceMatches`."""

    @property
    def share(self) -> float: ...
    @property
    def share_of_other(self) -> float: ...
    @property
    def too_few(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits from which sentences are similar, documents are versions, and hits are shown.

    Attributes:
        enough: share of sentences with a similar one in the other document, for at least one of the two documents;
            over 0, up to 1.
        least: the minimum of this share for the other document, so that a book that quotes a note is not a version of
            it; 0..`enough`.
        bits: number of the 64 simhash bits in which similar sentences may differ; 0..`MOST_BITS`.
        min_score: score from which a hit is shown, 0..1. Versions score `THETA` to 1, related documents less.

    Raises:
        ValueError: a value is out of its range.
    """

    enough: float = ENOUGH
    least: float = LEAST
    bits: int = BITS
    min_score: float = SHOWN

    def __post_init__(self) -> None:
        if not (0 < self.enough <= 1 and 0 <= self.least <= self.enough):
            given = f"{100 * self.enough:g} % and {100 * self.least:g} %"
            raise ValueError(f"enough must be over 0 %, up to 100 %, and least no more than that, not {given}")
        check_whole_number("bits", self.bits, 0, MOST_BITS)
        if not 0 <= self.min_score <= 1:
            raise ValueError(f"the minimum score must be from 0 to 1, not {self.min_score!r}")

    def score_of(self, shares: _Shares) -> float | None:
        """Return the score of two documents; None if they are not versions."""
        return None if shares.too_few else self.score(shares.share, shares.share_of_other)

    def score(self, share: float, other: float) -> float | None:
        """Return the score, from `THETA` for just enough to 1.0 for all of one document; None for no versions."""
        more, less = max(share, other), min(share, other)
        if more < self.enough or less < self.least or not less:
            return None
        return THETA + (1 - THETA) * ((more - self.enough) / (1 - self.enough) if self.enough < 1 else 1.0)

    def to_text(self) -> str:
        """Return the stored form: `enough`, `least`, `bits` and `min_score`, with six digits each."""
        return f"{self.enough:.6g} {self.least:.6g} {self.bits} {self.min_score:.6g}"

    @classmethod
    def from_text(cls, text: str) -> Limits:
        """Return the limits that `to_text` wrote.

        Raises:
            ValueError: the text is malformed.
        """
        match = _STORED.fullmatch(text) if isinstance(text, str) else None
        if match is None:
            raise ValueError(f"{text!r:.60} are not limits")
        enough, least, bits, min_score = match.groups()
        return cls(float(enough), float(least), int(bits), float(min_score))
