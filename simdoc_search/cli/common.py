"""Options and output that several commands share."""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Callable
from typing import Any, ParamSpec

import click

from simdoc_search.errors import SimdocError

__all__ = ["counted", "errors_as_sentences", "json_option", "print_json", "printable", "store_option"]

Parameters = ParamSpec("Parameters")


def _place(_context: click.Context, _parameter: click.Parameter, value: str) -> str:
    if value == ":memory:":
        raise click.BadParameter("a store in memory is for programs, it would be gone at once; name a folder")
    return value


store_option = click.option(
    "--store",
    callback=_place,
    default="./.simdoc",
    envvar="SIMDOC_STORE",
    show_default=True,
    show_envvar=True,
    metavar="PATH|URL",
    help="Where the index is: a folder, or http://host:port/index of an engine.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")


def errors_as_sentences(command: Callable[Parameters, None]) -> Callable[Parameters, None]:
    """Turn what the library raises on purpose into one sentence and exit code 1."""

    @functools.wraps(command)
    def wrapper(*args: Parameters.args, **kwargs: Parameters.kwargs) -> None:
        try:
            command(*args, **kwargs)
        except SimdocError as error:
            raise click.ClickException(printable(str(error))) from error

    return wrapper


def printable(text: str) -> str:
    r"""A text for a terminal: control characters, which ids and paths may hold, are shown as `\\x1b`."""
    return "".join(c if c.isprintable() or c == " " else c.encode("unicode_escape").decode() for c in text)


def counted(count: int, one: str, many: str | None = None) -> str:
    """A number with its noun: "1 token", "2 tokens"."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def print_json(value: dict[str, Any]) -> None:
    """One JSON object on stdout, in whatever encoding that has."""
    is_unicode = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    click.echo(json.dumps(value, ensure_ascii=not is_unicode, indent=2))
