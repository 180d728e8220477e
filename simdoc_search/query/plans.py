"""Plans: which tokens a document must share, how likely it is then found, and which candidates are hits.

To compile a plan for an engine, match exhaustively on its kind. The type checker then flags each place that misses a
new kind of plan.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from simdoc_search.query.curve import chance_of_bands, chance_of_matches

ANY_OVERLAP = 4
"""Equal tokens beyond chance in any query. A single one is chance in 1.5 % of all pairs of long documents."""

DEVIATIONS = 2.33
"""Standard deviations that 1 of 100 documents exceeds."""


def chance_limit(count: int) -> int:
    """Return the fewest equal tokens beyond chance, for a query of `count` tokens: 1 % of them, 1 to 4.

    The same for all queries, so that a query for any overlap never finds less than one for a given overlap.
    """
    return max(1, min(ANY_OVERLAP, math.ceil(count / 100)))


@dataclass(frozen=True, slots=True)
class Threshold:
    """At least `minimum_match` of the tokens.

    Attributes:
        tokens: the query's tokens.
        minimum_match: how many of them a document must have, at least 1.
        buckets: minimum and maximum number of tokens of a document; outside, it cannot reach the overlap. None for any.
        is_tolerant: whether an estimate of `minimum_match` of all tokens suffices, as with a probability, where that is
            less than the overlap.
    """

    tokens: tuple[str, ...]
    minimum_match: int
    buckets: tuple[int, int] | None = None
    is_tolerant: bool = False

    @property
    def clauses(self) -> int:
        """Number of terms sent to an engine."""
        return len(self.tokens)

    @property
    def can_match(self) -> bool:
        """Whether any document can satisfy the plan."""
        return 0 < self.minimum_match <= len(self.tokens)

    def probability_of_finding(self, overlap: float) -> float:
        """Return the probability, 0..1, that a document of this overlap is a candidate; see `chance_of_matches`."""
        return chance_of_matches(len(self.tokens), self.minimum_match, overlap)

    def least_share(self, overlap: Fraction | None) -> float:  # noqa: ARG002 - as in `Bands`
        """The share of the query's tokens, 0..1, that every hit has; all candidates have it."""
        return 0.0

    def is_hit(self, shared: int, union: int, overlap: Fraction | None) -> bool:
        """Whether a candidate is a hit: by its estimate `shared / union`, if there is a minimum overlap."""
        if shared < self.minimum_match:
            return False
        least = Fraction(self.minimum_match, len(self.tokens)) if self.is_tolerant else overlap
        return not overlap or not least or shared >= least * union


@dataclass(frozen=True, slots=True)
class Bands:
    """All tokens of at least one band, and at least `minimum_match` of all tokens.

    Attributes:
        tokens: all tokens of the query, for ranking by the number of equal ones.
        bands: the tokens of each band. With planner `all` the last may wrap around to the first tokens.
        minimum_match: how many of the tokens a document must have; 0: no more than a band.
        plain: the query without bands that finds a document of the overlap at least as likely, for the case that bands
            let too many documents through to save work; None if there is none.
    """

    tokens: tuple[str, ...]
    bands: tuple[tuple[str, ...], ...]
    minimum_match: int = 0
    plain: Threshold | None = None

    @property
    def rows(self) -> int:
        """Tokens per band."""
        return len(self.bands[0]) if self.bands else 0

    @property
    def clauses(self) -> int:
        """Number of terms sent to an engine, those of all bands."""
        return sum(map(len, self.bands))

    @property
    def can_match(self) -> bool:
        """Whether any document can satisfy the plan."""
        return any(self.bands) and bool(self.tokens)

    def probability_of_finding(self, overlap: float) -> float:
        """Return the probability, 0..1, that a document of this overlap is a candidate; see `chance_of_bands`."""
        return chance_of_bands(len(self.tokens), self.rows, len(self.bands), overlap, self.minimum_match)

    def least_share(self, overlap: Fraction | None) -> float:
        """The share of the query's tokens, 0..1, that every hit has."""
        return _least_estimate(overlap, len(self.tokens)) if overlap else 0.0

    def is_hit(self, shared: int, union: int, overlap: Fraction | None) -> bool:
        """Whether a candidate is a hit, unless its estimate `shared / union` rules the overlap out."""
        if shared < max(self.minimum_match, chance_limit(len(self.tokens))):
            return False
        return not overlap or shared / union >= _least_estimate(overlap, union)


Plan = Threshold | Bands


def _least_estimate(overlap: Fraction, union: int) -> float:
    """Return the smallest estimate over this many buckets that does not rule an overlap out."""
    return float(overlap) - DEVIATIONS * math.sqrt(overlap * (1 - overlap) / union)
