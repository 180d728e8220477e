"""Options for the thresholds of sentence similarity, versions and hits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

from simdoc_search.cli.common import add_options
from simdoc_search.cli.query_options import percent_type
from simdoc_search.sketch.thresholds import MAX_DISTANCE_LIMIT

if TYPE_CHECKING:
    from simdoc_search.sketch.thresholds import SimilarityThresholds

threshold_options: Final = add_options(
    click.option(
        "--max-distance",
        type=click.IntRange(0, MAX_DISTANCE_LIMIT),
        metavar="DISTANCE",
        help="Maximum distance between two similar sentences, from 0 (almost identical) to 16.  [default: 12, unless "
        "changed with `defaults`]",
    ),
    click.option(
        "--min-share",
        type=percent_type,
        metavar="PERCENT",
        help="Minimum percentage of similar sentences in at least one of two versions.  "
        "[default: 50, unless changed with `defaults`]",
    ),
    click.option(
        "--min-smaller-share",
        type=percent_type,
        metavar="PERCENT",
        help="Minimum percentage of similar sentences in each of two versions. At most --min-share.  "
        "[default: 10, unless changed with `defaults`]",
    ),
    click.option(
        "--min-score",
        type=click.FloatRange(0, 1),
        metavar="SCORE",
        help="Minimum score of a hit. Versions score 0.75 or more.  [default: 0.5, unless changed with `defaults`]",
    ),
)
"""The options of the four thresholds. Pass their values to `convert_thresholds`."""


def convert_thresholds(thresholds: dict[str, Any]) -> dict[str, Any]:
    """Return the thresholds that the user gave, in the form that the library takes. Shares are from 0 to 1."""
    return {
        name: float(value) if name in ("min_share", "min_smaller_share") else value
        for name, value in thresholds.items()
        if value is not None
    }


def threshold_lines(thresholds: SimilarityThresholds) -> list[str]:
    """Return the thresholds as lines to print. The first column has 11 characters."""
    return [
        f"similar    sentences whose hashes differ in at most {thresholds.max_distance} of 64 bits",
        f"versions   at least {100 * thresholds.min_share:g} % of one version's sentences are similar, "
        f"and {100 * thresholds.min_smaller_share:g} % of the other's",
        f"shown      hits with a score of at least {thresholds.min_score:g}",
    ]
