"""Options and output that several commands share."""

from __future__ import annotations

import dataclasses
import functools
import json
from collections.abc import Callable
from typing import Any, TypeVar

import click

from simdoc_search.errors import SimdocError

__all__ = ["errors_as_sentences", "json_option", "plain", "print_json", "store_option"]

Command = TypeVar("Command", bound=Callable[..., Any])

store_option = click.option(
    "--store",
    default="./.simdoc",
    envvar="SIMDOC_STORE",
    show_default=True,
    show_envvar=True,
    metavar="PATH",
    help="Where the index is.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of a table.")


def errors_as_sentences(command: Command) -> Command:
    """Turn what the library raises on purpose into one sentence and exit code 1."""

    @functools.wraps(command)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        try:
            return command(*args, **kwargs)
        except SimdocError as error:
            raise click.ClickException(str(error)) from error

    return wrapper  # type: ignore[return-value] - the same signature


def plain(value: Any) -> Any:
    """A value of ours as JSON has it."""
    return dataclasses.asdict(value)


def print_json(value: dict[str, Any]) -> None:
    """One JSON object on stdout."""
    click.echo(json.dumps(value, ensure_ascii=False, indent=2))
