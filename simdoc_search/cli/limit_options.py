"""Options for what makes sentences alike, documents versions, and hits worth showing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from simdoc_search.cli.query_options import percent_type
from simdoc_search.sketch.limits import MOST_BITS

if TYPE_CHECKING:
    from collections.abc import Callable

    from simdoc_search.sketch.limits import Limits


def limit_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --bits, --enough, --least and --min-score; `given_limits` takes their values."""
    for option in (
        click.option(
            "--min-score",
            type=click.FloatRange(0, 1),
            metavar="SCORE",
            help="Show hits from this score on; versions score 0.75 or more.  [default: 0.5, or as stored]",
        ),
        click.option(
            "--least",
            type=percent_type,
            metavar="PERCENT",
            help="The share the other way round.  [default: 10, or as stored]",
        ),
        click.option(
            "--enough",
            type=percent_type,
            metavar="PERCENT",
            help="The share of sentences of one version that the other must have.  [default: 50, or as stored]",
        ),
        click.option(
            "--bits",
            type=click.IntRange(0, MOST_BITS),
            metavar="DISTANCE",
            help="Sentences are alike up to this distance, from 0 (almost equal) to 16.  [default: 12, or as stored]",
        ),
    ):
        command = option(command)
    return command


def given_limits(values: dict[str, Any]) -> dict[str, Any]:
    """Those of the four options that were given, as the library takes them; taken out of the values of a command."""
    given = {name: values.pop(name) for name in ("bits", "enough", "least", "min_score")}
    return {
        name: float(value) if name in ("enough", "least") else value
        for name, value in given.items()
        if value is not None
    }


def lines_of_limits(limits: Limits) -> list[str]:
    """The limits, for people."""
    return [
        f"alike      sentences up to a distance of {limits.bits}, of 64",
        f"enough     {100 * limits.enough:g} % of the sentences of one version in the other, {100 * limits.least:g} % "
        "the other way round",
        f"shown      from a score of {limits.min_score:g}",
    ]
