"""`--ignore`: texts whose words are not counted, each a file or a document of the store."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from simdoc_search.cli.complete import complete_ids
from simdoc_search.cli.input_text import read_file
from simdoc_search.errors import CorpusError, NoTextError, StoreNotFoundError, UnknownDocumentError

if TYPE_CHECKING:
    from simdoc_search.search import SimilaritySearch

ignore_option: Final = click.option(
    "--ignore",
    multiple=True,
    metavar="FILE|ID",
    shell_complete=complete_ids,
    help="Do not count words that are in this file or document, also if they are slightly edited: a template, a task "
    "sheet, a licence. May be repeated.",
)


def ignored_texts(names: Sequence[str], opened: Callable[[], SimilaritySearch]) -> list[str]:
    """The texts that are named: that of a file if there is one, otherwise that of a document.

    Args:
        names: what was given.
        opened: gives the store; it is not called if all are files.

    Raises:
        CorpusError: a name is neither, or the file cannot be read.
        NoTextError: the text of a document is not stored.
    """
    return [read_file(Path(name)) if _is_file(name) else _text_of(name, opened) for name in names]


def _is_file(name: str) -> bool:
    try:
        return name == "-" or Path(name).exists()
    except (OSError, ValueError):  # too long, or with a NUL
        return False


def _text_of(name: str, opened: Callable[[], SimilaritySearch]) -> str:
    try:
        search = opened()
        id = search.resolve(name, overlap=0).id
    except (StoreNotFoundError, UnknownDocumentError):
        raise CorpusError(f"{name!r} is neither a file nor a document of the store; check --ignore") from None
    record = search.store.get(id, text=True)
    if record is None or record.text is None:
        raise NoTextError(id)
    return record.text
