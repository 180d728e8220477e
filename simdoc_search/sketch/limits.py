"""What makes two sentences alike, two documents versions, and a related document worth showing.

Fowke, Hinze, Heese 2013 (Working paper 12/2013, University of Waikato), section 2.3, leave the bits, the share of
sentences and the score open, for testing to settle. Here each has a default, an index may store others
(`Settings.limits`), and `tune` learns them from pairs that a person judged.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Protocol

THETA = 0.75
"""The score from which on two documents are versions; what is less than that is a relation."""

BITS, ENOUGH, LEAST, SHOWN = 12, 0.5, 0.1, 0.5

MOST_BITS = 16
"""The most bits that can be asked for. Unrelated sentences differ in 25 to 35 of 64."""

_STORED = re.compile(r"([\d.e-]{1,12}) ([\d.e-]{1,12}) (\d{1,2}) ([\d.e-]{1,12})")


class Shares(Protocol):
    """What two documents have in common, see `versions.matching.Matched`."""

    @property
    def share(self) -> float:
        """The share of the sentences of one."""

    @property
    def share_of_other(self) -> float:
        """That of the other."""

    @property
    def too_few(self) -> bool:
        """Whether so few are alike that they say nothing."""


@dataclass(frozen=True, slots=True)
class Limits:
    """From where on sentences are alike, documents are versions, and hits are shown.

    Attributes:
        enough: the share of sentences that have an alike one in the other document, of one of the two at least; over
            0, up to 1.
        least: the same of the other at least, so that a book that quotes a note is not a version of it; 0..`enough`.
        bits: in how many of the 64 bits of their simhashes two sentences may differ and are alike; 0..`MOST_BITS`.
        min_score: the score from which on a hit is shown, 0..1. Versions score `THETA` to 1, related documents less.

    Raises:
        ValueError: one of them is out of its range.
    """

    enough: float = ENOUGH
    least: float = LEAST
    bits: int = BITS
    min_score: float = SHOWN

    def __post_init__(self) -> None:
        if not (0 < self.enough <= 1 and 0 <= self.least <= self.enough):
            given = f"{100 * self.enough:g} % and {100 * self.least:g} %"
            raise ValueError(f"enough must be over 0 %, up to 100 %, and least no more than that, not {given}")
        if not isinstance(self.bits, int) or isinstance(self.bits, bool) or not 0 <= self.bits <= MOST_BITS:
            raise ValueError(f"bits must be a whole number from 0 to {MOST_BITS}, not {self.bits!r}")
        if not 0 <= self.min_score <= 1:
            raise ValueError(f"the minimum score must be from 0 to 1, not {self.min_score!r}")

    def score_of(self, both: Shares) -> float | None:
        """The score of what two documents have in common; None: they are not versions."""
        return None if both.too_few else self.score(both.share, both.share_of_other)

    def score(self, share: float, other: float) -> float | None:
        """From `THETA` for just enough to 1.0 for all of one of them; None: they are not versions."""
        more, less = max(share, other), min(share, other)
        if more < self.enough or less < self.least or not less:
            return None
        return THETA + (1 - THETA) * ((more - self.enough) / (1 - self.enough) if self.enough < 1 else 1.0)

    def to_text(self) -> str:
        """As an index stores them: the share that is enough, the least one, bits, score; with six digits each."""
        return f"{self.enough:.6g} {self.least:.6g} {self.bits} {self.min_score:.6g}"

    @classmethod
    def from_text(cls, text: str) -> Limits:
        """What `to_text` wrote.

        Raises:
            ValueError: it is something else.
        """
        found = _STORED.fullmatch(text) if isinstance(text, str) else None
        if found is None:
            raise ValueError(f"{text!r:.60} are not limits")
        enough, least, bits, min_score = found.groups()
        return cls(float(enough), float(least), int(bits), float(min_score))
