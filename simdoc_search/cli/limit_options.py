"""Options for the limits of similar sentences, versions, and hits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from simdoc_search.cli.query_options import percent_type
from simdoc_search.sketch.limits import MAX_SENTENCE_DISTANCE

if TYPE_CHECKING:
    from collections.abc import Callable

    from simdoc_search.sketch.limits import Limits

_OPTIONS = (
    click.option(
        "--max-distance",
        type=click.IntRange(0, MAX_SENTENCE_DISTANCE),
        metavar="DISTANCE",
        help="Maximum distance between two similar sentences, from 0 (almost identical) to 16.  [default: 12, unless "
        "changed with `defaults`]",
    ),
    click.option(
        "--min-share",
        type=percent_type,
        metavar="PERCENT",
        help="Minimum percentage of one version's sentences that are similar to sentences of the other version.  "
        "[default: 50, unless changed with `defaults`]",
    ),
    click.option(
        "--min-smaller-share",
        type=percent_type,
        metavar="PERCENT",
        help="The same percentage for the other version, whose percentage may be smaller.  "
        "[default: 10, unless changed with `defaults`]",
    ),
    click.option(
        "--min-score",
        type=click.FloatRange(0, 1),
        metavar="SCORE",
        help="Minimum score of a hit. Versions score 0.75 or more.  [default: 0.5, unless changed with `defaults`]",
    ),
)


def limit_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of the four limits. Pass their values to `convert_limits`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def convert_limits(limits: dict[str, Any]) -> dict[str, Any]:
    """Return the limits that the user gave, in the form that the library takes. Shares are from 0 to 1."""
    return {
        name: float(value) if name in ("min_share", "min_smaller_share") else value
        for name, value in limits.items()
        if value is not None
    }


def limit_lines(limits: Limits) -> list[str]:
    """Return the limits as lines to print. The first column has 11 characters."""
    return [
        f"similar    sentences with a distance of at most {limits.max_distance} (of 64)",
        f"versions   at least {100 * limits.min_share:g} % of one version's sentences are similar, "
        f"and {100 * limits.min_smaller_share:g} % of the other's",
        f"shown      hits with a score of at least {limits.min_score:g}",
    ]
