"""`--no-passages` and `--passage-run`, for commands that make an index or its mapping."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from simdoc_search.sketch.winnow import Passages

LEAST_RUN, MOST_RUN = 20, 10_000

Command = TypeVar("Command", bound=Callable[..., Any])


def passage_run_option(what: str) -> Callable[[Command], Command]:
    """`--passage-run`."""
    return click.option("--passage-run", type=click.IntRange(LEAST_RUN, MOST_RUN), metavar="WORDS", help=what)


def with_passage_options(command: Command) -> Command:
    """Both, for what is made anew."""
    none = click.option("--no-passages", is_flag=True, help="Without what finds shared passages.")
    run = passage_run_option("Find each shared run of so many words for certain.  [default: 36]")
    return none(run(command))


def passages_of(no_passages: bool, passage_run: int | None, shingle_size: int) -> Passages | None:
    """What these options ask for.

    Raises:
        UsageError: they contradict each other, or the run has fewer words than a shingle.
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
