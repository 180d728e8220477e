"""`simdoc-search defaults`: what `versions` and `related` take as versions, and what they show."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import click

from simdoc_search.cli.common import errors_as_sentences, field_option, json_option, print_json, say, store_option
from simdoc_search.cli.limit_options import given_limits, limit_options, lines_of_limits
from simdoc_search.cli.open_store import open_to_ask

if TYPE_CHECKING:
    from simdoc_search.stores.location import EngineKind


@click.command()
@limit_options
@click.option("--reset", is_flag=True, help="Take the built-in defaults again.")
@field_option
@store_option
@json_option
@errors_as_sentences
def defaults(
    reset: bool, field: str | None, store: str, engine: EngineKind | None, as_json: bool, **given: Any
) -> None:
    """Show or store what versions and related take where a question does not say it.

    The index stores the values that you give. All commands, the library and serve take them from then on; restart a
    serve that is running. No document is written again.

    \b
      simdoc-search defaults                                  what holds now
      simdoc-search defaults --bits 10 --enough 60
      simdoc-search defaults --reset
    """
    from simdoc_search.sketch.limits import Limits
    from simdoc_search.stores.limits import set_limits

    wanted = given_limits(given)
    if reset and wanted:
        raise click.UsageError("give --reset alone, or the values to store")
    with open_to_ask(store, engine=engine, field=field) as opened:
        limits = opened.settings.limits
        if reset or wanted:
            try:
                limits = Limits() if reset else replace(limits, **wanted)
            except ValueError as error:
                raise click.UsageError(str(error)) from None
            limits = set_limits(opened, limits)
    if as_json:
        print_json(asdict(limits))
        return
    for line in lines_of_limits(limits):
        say(line)
