"""Plans from an overlap and a probability: which tokens, and how many of them, a document must share.

`Threshold` counts equal tokens and finds everything whose estimate reaches the overlap. `Bands` uses fewer tokens and
misses some documents: all tokens of at least one band must be shared. A document of overlap s shares one token with
probability s, all r tokens of a band with s**r, and at least one of b bands with 1 - (1 - s**r)**b (Rajaraman,
Leskovec, Ullman, Mining of Massive Datasets, 3.4.2).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Literal, get_args

from simdoc_search.errors import QuerySyntaxError
from simdoc_search.query.curve import chance_of_bands, sure_matches
from simdoc_search.query.plans import DEVIATIONS, Bands, Plan, Threshold, chance_limit

Planner = Literal["enough", "all"]
"""How bands are cut."""

PLANNERS: tuple[Planner, ...] = get_args(Planner)

_FALSE_POSITIVES = 0.05  # how often a plan of `enough` may find a document of half the overlap
_MISSED = 0.01  # how often a document of the overlap may have fewer equal tokens than a verified query requires
_ROUNDING = 1e-12  # two probabilities that differ by less are equal
_MAX_DIGITS = 40
_MAX_BUCKETS = 2**31 - 1  # of an engine's integer field


def parse_fraction(value: float | str | Fraction, name: str) -> Fraction:
    """Return a fraction 0..1, exactly as written: 0.07 is 7/100.

    Raises:
        QuerySyntaxError: it is not a number from 0 to 1.
    """
    try:
        fraction = value if isinstance(value, Fraction) else Fraction(_decimal(str(value)))
    except (ValueError, ArithmeticError):
        raise QuerySyntaxError(f"{name} must be a number from 0 to 1, not {value!r:.40}") from None
    if not 0 <= fraction <= 1:
        raise QuerySyntaxError(f"{name} must be a fraction from 0 to 1, not {value}; 20 % is 0.2")
    return fraction


def _decimal(text: str) -> Decimal:
    """Parse a number of limited length, because exact arithmetic on longer ones would take very long."""
    number = Decimal(text)
    if len(text) > _MAX_DIGITS or not number.is_finite() or (number and abs(number.adjusted()) > _MAX_DIGITS):
        raise ValueError(text)
    return number


def plan(
    tokens: Sequence[str],
    overlap: float | str | Fraction | None = None,
    probability: float | str | Fraction | None = None,
    *,
    planner: Planner = "enough",
    verified: bool = False,
) -> Plan:
    """Plan a query.

    Args:
        tokens: tokens of the query document, in the order of their buckets.
        overlap: minimum Jaccard similarity, 0..1; None or 0 for any overlap, that is more equal tokens than chance
            explains (`chance_limit`: 1 % of the tokens, 1 to 4).
        probability: probability of finding a document of exactly that overlap, over 0, up to 1; None or 1: certainty.
        planner: `enough` (as few bands as the promise needs), or `all` (all tokens, as Alfresco and Solr).
        verified: whether candidates are compared by their texts. A threshold then requires fewer equal tokens, so that
            fewer than 1 % of the documents of that overlap are missed; bands do not change.

    Returns:
        A `Threshold`, or `Bands` for a probability below 1. Without tokens it finds nothing.

    Raises:
        QuerySyntaxError: a number is out of range, or the planner is unknown.
    """
    check_planner(planner)
    tokens = tuple(tokens)
    share = Fraction(0) if overlap is None else parse_fraction(overlap, "overlap")
    chance = Fraction(1) if probability is None else parse_fraction(probability, "probability")
    if not chance:
        raise QuerySyntaxError("probability 0 would find nothing; give a fraction over 0, up to 1")
    if not share and chance < 1:
        raise QuerySyntaxError("a probability needs an overlap above 0; add one, like doc123_20_80")
    if not tokens or not share:
        return Threshold(tokens, chance_limit(len(tokens)))
    if float(chance) == 1:
        return _loose_threshold(tokens, share) if verified else _threshold(tokens, share)
    count = len(tokens)
    if planner == "all":
        rows = rows_of_all(count, share, chance)
        around = tokens + tokens[:rows]  # a short last band wraps around to the first tokens
        bands = tuple(around[first : first + rows] for first in range(0, count, rows))
    else:
        rows, number = rows_and_bands_of_enough(count, share, chance)
        bands = tuple(tokens[n * rows : (n + 1) * rows] for n in range(number))
    banded = Bands(tokens, bands, _cut_off(count, rows, len(bands), float(share), float(chance)))
    return replace(banded, plain=_plain(banded, share))


def check_planner(planner: object) -> None:
    """Raise a QuerySyntaxError if there is no such planner."""
    if planner not in PLANNERS:
        raise QuerySyntaxError(f"planner must be 'enough' or 'all', not {planner!r:.60}")


def _threshold(tokens: tuple[str, ...], share: Fraction) -> Threshold:
    """Return a threshold that loses nothing: at least as many buckets are filled in either document as in one.

    Exception: for an overlap under 1 %, fewer equal tokens than `chance_limit` are considered chance.
    """
    count = len(tokens)
    least, most = math.ceil(count * share), min(math.floor(count / share), _MAX_BUCKETS)
    return Threshold(tokens, max(least, chance_limit(count)), (least, most))


def _loose_threshold(tokens: tuple[str, ...], share: Fraction) -> Threshold:
    """Return a threshold that a document of the overlap reaches except by chance, and so its number of tokens."""
    count = len(tokens)
    least = max(sure_matches(count, float(share), _MISSED), chance_limit(count))
    most = count / float(share)
    return Threshold(tokens, least, (least, min(math.ceil(most + DEVIATIONS * math.sqrt(most)), _MAX_BUCKETS)))


def _cut_off(count: int, rows: int, bands: int, share: float, chance: float) -> int:
    """Return how many equal tokens can be required besides a whole band without breaking the promise.

    Bands keep the promise with some margin. The cut-off misses less of the documents of the overlap than this margin,
    and fewer than 1 in 100.
    """
    spare = chance_of_bands(count, rows, bands, share) - chance
    return sure_matches(count, share, min(_MISSED, max(0.0, spare)))


def _plain(banded: Bands, share: Fraction) -> Threshold:
    """Return how many equal tokens a document of the overlap reaches at least as likely as bands find it."""
    count = len(banded.tokens)
    likely = sure_matches(count, float(share), 1 - banded.probability_of_finding(float(share)))
    return Threshold(banded.tokens, max(min(likely, math.ceil(count * share)), chance_limit(count)), is_tolerant=True)


@functools.lru_cache(maxsize=4096)  # queries have few different numbers of tokens
def rows_and_bands_of_enough(count: int, overlap: Fraction, probability: Fraction) -> tuple[int, int]:
    """Return rows and bands of planner `enough` for `count` tokens.

    For each number of rows, take the fewest bands that keep the promise and fit. Of the plans that find a document of
    half the overlap in at most 5 of 100 cases, take the one with the fewest clauses; without such a plan, the one
    that finds it least. If no plan fits, take one row and all tokens; the promise is then not kept, see
    `Bands.probability_of_finding`.
    """
    share, chance = float(overlap), float(probability)
    plans: list[tuple[bool, float, int, int, int]] = []
    for rows in range(1, count + 1):
        bands = _fewest_bands(share**rows, chance, count // rows)
        if bands is not None:
            stray = -math.expm1(bands * math.log1p(-((share / 2) ** rows)))
            is_tight = stray <= _FALSE_POSITIVES + _ROUNDING
            plans.append((not is_tight, 0.0 if is_tight else stray, bands * rows, rows, bands))
    return min(plans)[3:] if plans else (1, count)


def _fewest_bands(match: float, probability: float, limit: int) -> int | None:
    """Return the fewest bands, matched with probability `match` each, of which one matches with `probability`."""
    if match >= 1:
        return 1
    if match < 1e-300:  # beyond floating point; that many bands never fit
        return None
    needed = math.log1p(-probability) / math.log1p(-match)
    if needed > limit + 1:
        return None
    bands = max(1, math.ceil(needed))
    if bands > 1 and 1 - (1 - match) ** (bands - 1) >= probability - _ROUNDING:
        bands -= 1  # the logarithms were a rounding error too high
    return bands if bands <= limit else None


def rows_of_all(count: int, overlap: Fraction, probability: Fraction) -> int:
    """Return rows of planner `all` for `count` tokens.

    With r = n // b, take the first number of bands b for which 1 - (1 - s**r)**b > p.

    Source: computeBandSize in Alfresco's Solr4QueryParser and Solr's MinHashQParser, in floating point as there.
    """
    share, chance = float(overlap), float(probability)
    for bands in range(1, count + 1):
        rows = count // bands
        if 1 - (1 - share**rows) ** bands > chance:
            return rows
    return 1
