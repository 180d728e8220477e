"""`--no-passages` and `--passage-run`, for commands that create an index or its mapping."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from simdoc_search.sketch.winnow import Passages

MIN_RUN, MAX_RUN = 20, 10_000
"""The range of `--passage-run`, in words."""

Command = TypeVar("Command", bound=Callable[..., Any])


def passage_options(command: Command) -> Command:
    """Add both options."""
    no_passages = click.option("--no-passages", is_flag=True, help="Do not store the data that finds shared passages.")
    passage_run = click.option(
        "--passage-run",
        type=click.IntRange(MIN_RUN, MAX_RUN),
        metavar="WORDS",
        help="Minimum length of the shared runs that are always found.  [default: 36]",
    )
    return no_passages(passage_run(command))


def passage_settings(no_passages: bool, passage_run: int | None, shingle_size: int) -> Passages | None:
    """Return the settings for passages that these options set; None for no passages.

    Raises:
        UsageError: the options contradict each other, or the run has fewer words than a shingle.
    """
    from simdoc_search.sketch.winnow import Passages

    if no_passages and passage_run is not None:
        raise click.UsageError("--no-passages and --passage-run contradict each other; leave one out")
    if no_passages:
        return None
    if passage_run is None:
        return Passages()
    if passage_run < shingle_size:
        raise click.UsageError(f"--shingle-size is {shingle_size}; give a longer --passage-run")
    return Passages.of_run(passage_run, shingle_size)
