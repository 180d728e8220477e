"""`simdoc-search defaults`: shows or stores the default thresholds of `versions` and `related`."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

import click

from simdoc_search.cli.common import json_option, print_json, say
from simdoc_search.cli.help_layout import Command
from simdoc_search.cli.index_location_options import ChosenIndex, index_options
from simdoc_search.cli.threshold_options import convert_thresholds, threshold_lines, threshold_options


@click.command(
    cls=Command, main_options=["--max-distance", "--min-share", "--min-smaller-share", "--min-score", "--reset"]
)
@threshold_options
@click.option("--reset", is_flag=True, help="Restore the built-in defaults.")
@index_options(reads_texts=False)
@json_option
def defaults(reset: bool, index: ChosenIndex, as_json: bool, **thresholds: Any) -> None:
    """Show or change the default thresholds of `versions` and `related`.

    The values that you give are saved in the index. The command line, the library and `serve` then use them as
    defaults. If `serve` is running, restart it. The documents are not changed.

    \b
      simdoc-search defaults                       show the current values
      simdoc-search defaults --max-distance 10 --min-share 60
      simdoc-search defaults --reset
    """
    from simdoc_search.sketch.thresholds import SimilarityThresholds
    from simdoc_search.stores.upgrade import set_thresholds

    given = convert_thresholds(thresholds)
    if reset and given:
        raise click.UsageError("give either --reset or new values, not both")
    with index.open() as opened:
        current = opened.settings.thresholds
        if reset or given:
            try:
                current = set_thresholds(opened, SimilarityThresholds() if reset else replace(current, **given))
            except ValueError as error:
                raise click.UsageError(str(error)) from None
    if as_json:
        print_json(asdict(current))
        return
    for line in threshold_lines(current):
        say(line)
