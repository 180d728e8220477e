"""Options of `template` and `backfill` that set how fingerprints are computed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import click

from simdoc_search.cli.common import add_options
from simdoc_search.cli.index_options import (
    analysis_options,
    parse_sketch,
    sketch_option,
    token_kinds_option,
    with_sketch,
    with_token_kinds,
    word_options,
    word_settings,
)

if TYPE_CHECKING:
    from simdoc_search.sketch.settings import Settings
    from simdoc_search.sketch.winnow import PassageSettings

passage_options: Final = add_options(
    click.option("--no-passages", is_flag=True, help="Do not store the data for finding shared passages."),
    click.option("--passage-run", type=click.IntRange(20, 10_000), metavar="WORDS",
                 help="Always find shared runs of at least this many words.  [default: 36]"),
)  # fmt: skip

settings_options: Final = add_options(
    analysis_options,
    word_options,
    sketch_option,
    passage_options,
    token_kinds_option(
        "Prepare the index for `versions` (sentences), for `related` (concepts: names and keywords), or for both."
    ),
)
"""The options that `make_settings_changer` reads."""


def make_settings_changer(options: dict[str, Any], *, passages: bool = False) -> Callable[[Settings], Settings]:
    """Return a function that applies the values of `settings_options` to the settings of a field.

    With `passages`, it also adds passage tokens with default settings if the field has none.
    """
    words = word_settings(options["stop_words"], options["stem"], options["frequencies"])
    all_values = {name: options[name] for name in ("profile", "shingle_size", "unit")} | words
    analysis = {name: value for name, value in all_values.items() if value is not None}
    sketch = parse_sketch(options["sketch"]) if options["sketch"] else None
    no_passages, passage_run = options["no_passages"], options["passage_run"]
    if passages and no_passages:
        raise click.UsageError("--passages and --no-passages cannot be combined; omit one of them")

    def change(settings: Settings) -> Settings:
        changed = replace(settings, analysis=replace(settings.analysis, **analysis))
        if sketch:
            changed = with_sketch(changed, sketch)
        if no_passages or passage_run is not None or (passages and settings.passages is None):
            changed = replace(changed, passages=_passages(no_passages, passage_run, changed.analysis.shingle_size))
        missing = tuple(name for name in options["token_kinds"] if getattr(settings, name) is None)
        return with_token_kinds(changed, missing)

    return change


def _passages(no_passages: bool, passage_run: int | None, shingle_size: int) -> PassageSettings | None:
    """Return the settings for passages, or None with `--no-passages`."""
    from simdoc_search.sketch.winnow import PassageSettings

    if no_passages and passage_run is not None:
        raise click.UsageError("--no-passages and --passage-run cannot be combined; omit one of them")
    if no_passages:
        return None
    if passage_run is None:
        return PassageSettings()
    if passage_run < shingle_size:
        raise click.UsageError(
            f"--passage-run {passage_run} is shorter than --shingle-size {shingle_size}; increase --passage-run"
        )
    return PassageSettings.for_run(passage_run, shingle_size)
