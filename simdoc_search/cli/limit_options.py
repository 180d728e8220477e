"""Options for the limits of similar sentences, versions and hits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from simdoc_search.cli.query_options import percent_type
from simdoc_search.sketch.limits import MAX_BITS

if TYPE_CHECKING:
    from collections.abc import Callable

    from simdoc_search.sketch.limits import Limits

_OPTIONS = (
    click.option(
        "--bits",
        type=click.IntRange(0, MAX_BITS),
        metavar="DISTANCE",
        help="Maximum distance of similar sentences, from 0 (almost equal) to 16.  [default: 12, or as stored]",
    ),
    click.option(
        "--enough",
        type=percent_type,
        metavar="PERCENT",
        help="Minimum share of the sentences of one version that the other has.  [default: 50, or as stored]",
    ),
    click.option(
        "--least",
        type=percent_type,
        metavar="PERCENT",
        help="Minimum of the same share the other way round.  [default: 10, or as stored]",
    ),
    click.option(
        "--min-score",
        type=click.FloatRange(0, 1),
        metavar="SCORE",
        help="Minimum score of a hit; versions score 0.75 or more.  [default: 0.5, or as stored]",
    ),
)


def limit_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --bits, --enough, --least and --min-score; `given_limits` takes their values."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def given_limits(limits: dict[str, Any]) -> dict[str, Any]:
    """Return the limits that were given, as the library takes them."""
    return {
        name: float(value) if name in ("enough", "least") else value
        for name, value in limits.items()
        if value is not None
    }


def lines_of_limits(limits: Limits) -> list[str]:
    """Return the limits for people."""
    return [
        f"alike      sentences up to a distance of {limits.bits}, of 64",
        f"enough     {100 * limits.enough:g} % of the sentences of one version in the other, {100 * limits.least:g} % "
        "the other way round",
        f"shown      from a score of {limits.min_score:g}",
    ]
