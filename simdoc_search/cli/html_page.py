"""Writes the pages of `--html`, with sentences that say what was done, when and with which options."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from simdoc_search import __version__
from simdoc_search.cli.common import open_text_file
from simdoc_search.display import without_credentials

_PAGE_HEAD_BYTES = 4096


def write_page_file(path: Path, text: str) -> None:
    """Write a page of HTML."""
    if path.is_file() and path.stat().st_size and not _is_own_page(path):
        raise click.ClickException(
            f"cannot overwrite {path}, because it is not a page that simdoc-search wrote; choose another file"
        )
    with open_text_file(path) as file:
        file.write(text)


def _is_own_page(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return b'content="simdoc-search"' in file.read(_PAGE_HEAD_BYTES)
    except OSError:
        return False


def describe_run(action: str, context: click.Context, parameters: Sequence[str]) -> list[str]:
    """Return sentences such as `Searched ./papers on 2024-05-01 with simdoc-search 1.0.` and `Options: --size 3.`.

    `parameters` are those that are named if they do not have their default values.
    """
    options: list[str] = []
    for parameter in context.command.params:
        value = context.params.get(parameter.name or "")
        if parameter.name in parameters and value != parameter.default:
            values = value if isinstance(value, tuple) else (value,) if value else ()
            options += [f"{parameter.opts[0]} {_format_value(value)}".rstrip() for value in values]
    lines = [f"{action} on {datetime.now().astimezone().date()} with simdoc-search {__version__}."]
    return [*lines, f"Options: {', '.join(options)}."] if options else lines


def _format_value(value: Any) -> str:
    """Return the value of an option as the user gave it; empty for a flag."""
    if isinstance(value, tuple):
        field, values = value
        return f"{field}={values if isinstance(values, str) else ', '.join(values)}"
    return "" if value is True else without_credentials(str(value))
