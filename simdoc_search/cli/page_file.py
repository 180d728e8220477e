"""Writes the pages of `--html`."""

from __future__ import annotations

from pathlib import Path

import click

from simdoc_search.cli.common import open_text_file

_PAGE_HEAD_BYTES = 4096


def write_page_file(path: Path, text: str) -> None:
    """Write a page of HTML.

    Raises:
        ClickException: the file cannot be written, or it exists and is not a page that simdoc-search wrote.
    """
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
