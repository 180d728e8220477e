"""Defines the kinds of plans.

A plan says which tokens of the query document's fingerprint a document must share, and which candidates are hits. It
also computes the probability that it finds a document. Code that compiles plans uses `match` for the kinds of plans. If
a new kind is added, the type checker then reports the code that does not handle it.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction

from simdoc_search.query.s_curve import probability_of_bands, probability_of_matches
from simdoc_search.sketch.estimate import TokenOverlap

CHANCE_STEPS = (10, 23, 98, 220, 380, 568, 780, 1011, 1258, 1518, 1790, 2073, 2364, 2663, 2970, 3283, 3603, 3927)
"""Each time the number of query tokens exceeds one of these numbers, one more token may be equal by chance."""

MIN_OVERLAP_WITHOUT_CHANCE_FILTER = Fraction(1, 20)
"""With a smaller overlap, a candidate must have at least `min_matches_beyond_chance` of the query's tokens.

Otherwise, too many documents would be candidates.
"""

ONE_SIDED_Z_SCORE = 2.33
"""With a probability of 1 %, an estimate is more than this number of standard deviations too low."""


def min_matches_beyond_chance(token_count: int) -> int:
    """Return the minimum number of matching tokens that is more than expected by chance.

    An unrelated document has at least this number of query tokens with a probability of at most 1 in 1,000. If the
    query has at most 10 tokens (`token_count`), the probability is at most 1 in 50. A query that does not compare the
    texts of its hits always requires this number. Other queries require it only for overlaps below
    `MIN_OVERLAP_WITHOUT_CHANCE_FILTER`, because it would exclude short documents.
    """
    return 1 + bisect_left(CHANCE_STEPS, token_count)


def min_matches(token_count: int, overlap: Fraction | None) -> int:
    """Return the minimum number of matching tokens of a candidate whose text is compared afterwards."""
    return 1 if overlap and overlap >= MIN_OVERLAP_WITHOUT_CHANCE_FILTER else min_matches_beyond_chance(token_count)


@dataclass(frozen=True, slots=True)
class ThresholdPlan:
    """A plan that requires at least `minimum_match` of the tokens.

    Attributes:
        tokens: the tokens of the query.
        minimum_match: minimum number of these tokens that a document must have, at least 1.
        token_range: minimum and maximum number of tokens of a document that can reach the overlap. None: any number.
        allows_lower_estimates: whether a hit may have an estimate below the overlap. If so, the estimate must reach
            `minimum_match` divided by the number of tokens, and not rule out the overlap, as in `BandPlan`. Plans with
            a probability use this.
    """

    tokens: tuple[str, ...]
    minimum_match: int
    token_range: tuple[int, int] | None = None
    allows_lower_estimates: bool = False

    @property
    def clause_count(self) -> int:
        """Number of terms sent to an engine."""
        return len(self.tokens)

    @property
    def can_match(self) -> bool:
        """Whether any document can satisfy the plan."""
        return 0 < self.minimum_match <= len(self.tokens)

    def probability_of_finding(self, overlap: float) -> float:
        """Return the probability, 0..1, that a document of this overlap is a candidate."""
        return probability_of_matches(len(self.tokens), self.minimum_match, overlap)

    def min_token_share(self, overlap: Fraction | None) -> float:  # noqa: ARG002 - `BandPlan` uses `overlap`
        """Return the minimum share of the query's tokens that a hit has.

        It is 0: every candidate has at least `minimum_match` of the tokens, and there is no further minimum.
        """
        return 0.0

    def is_hit(self, token_overlap: TokenOverlap, overlap: Fraction | None) -> bool:
        """Whether a candidate is a hit.

        If `overlap` is not None, the estimate must reach it, unless `allows_lower_estimates` is set.
        """
        if token_overlap.matched_token_count < self.minimum_match:
            return False
        if not overlap:
            return True
        minimum = Fraction(self.minimum_match, len(self.tokens)) if self.allows_lower_estimates else overlap
        if token_overlap.shared_count < minimum * token_overlap.union_count:
            return False
        return not self.allows_lower_estimates or not is_ruled_out(token_overlap, overlap)


@dataclass(frozen=True, slots=True)
class BandPlan:
    """A plan that requires all tokens of at least one band, and at least `minimum_match` of all tokens.

    Attributes:
        tokens: all tokens of the query. Hits are ranked by the number of matching tokens.
        bands: the tokens of each band. If the planner is `all` (see `planner.plan`), the last band may be filled up
            with the first tokens.
        minimum_match: minimum number of the tokens that a document must have. 0: one whole band is enough.
        plan_without_bands: an alternative to the bands. It finds a document of the overlap with at least the same
            probability. It is faster if the bands match too many documents. None: there is no such plan.
    """

    tokens: tuple[str, ...]
    bands: tuple[tuple[str, ...], ...]
    minimum_match: int = 0
    plan_without_bands: ThresholdPlan | None = None

    @property
    def tokens_per_band(self) -> int:
        """Number of tokens per band."""
        return len(self.bands[0]) if self.bands else 0

    @property
    def clause_count(self) -> int:
        """Number of terms sent to an engine: the terms of all bands."""
        return sum(map(len, self.bands))

    @property
    def can_match(self) -> bool:
        """Whether any document can satisfy the plan."""
        return any(self.bands) and bool(self.tokens)

    def probability_of_finding(self, overlap: float) -> float:
        """Return the probability, 0..1, that a document of this overlap is a candidate."""
        return probability_of_bands(
            len(self.tokens), self.tokens_per_band, len(self.bands), overlap, self.minimum_match
        )

    def min_token_share(self, overlap: Fraction | None) -> float:
        """Return a lower bound of the share of the query's tokens, at most 1, that a hit has."""
        count = len(self.tokens)
        return _min_shared_count(overlap, count, count) / count if overlap else 0.0

    def is_hit(self, token_overlap: TokenOverlap, overlap: Fraction | None) -> bool:
        """Whether a candidate is a hit. It is a hit unless its tokens rule out the overlap."""
        if token_overlap.matched_token_count < max(self.minimum_match, min_matches(len(self.tokens), overlap)):
            return False
        return not overlap or not is_ruled_out(token_overlap, overlap)


Plan = ThresholdPlan | BandPlan


def is_ruled_out(token_overlap: TokenOverlap, overlap: Fraction, z_score: float = ONE_SIDED_Z_SCORE) -> bool:
    """Return whether an estimate is so low that it rules out an overlap.

    It is `z_score` standard deviations below the overlap. If another shingle displaces a shared one from its slot, the
    number of shared tokens and the union are smaller by one. This difference from the expected number is allowed in
    addition, because it matters for short texts.
    """
    minimum = _min_shared_count(overlap, token_overlap.union_count, token_overlap.sample_size, z_score)
    return token_overlap.shared_count < minimum


def _min_shared_count(
    overlap: Fraction, union_count: float, sample_size: float, z_score: float = ONE_SIDED_Z_SCORE
) -> float:
    """Return the smallest number of shared tokens that does not rule out an overlap; see `is_ruled_out`."""
    share = float(overlap)
    deviation = z_score * math.sqrt(share * (1 - share) / sample_size)
    return (share - deviation) * union_count - (1 - share)
