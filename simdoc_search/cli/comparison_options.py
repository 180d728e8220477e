"""`--preset`, and the options that begin with `--ignore`: they decide which words count as shared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from simdoc_search.cli.common import add_options
from simdoc_search.cli.complete import complete_ids
from simdoc_search.cli.input_text import is_file, read_file, read_stored_text
from simdoc_search.errors import CorpusError, StoreNotFoundError, UnknownDocumentError

if TYPE_CHECKING:
    from simdoc_search.search.similarity_search import SimilaritySearch

preset_option: Final = click.option(
    "--preset",
    type=click.Choice(["edited", "verbatim"]),
    default="edited",
    show_default=True,
    help="What counts as a shared passage. `edited` tolerates changed words. `verbatim` requires the same words in the "
    "same order.",
)

ignore_option: Final = click.option(
    "--ignore",
    multiple=True,
    metavar="FILE|ID",
    shell_complete=complete_ids,
    help="Ignore passages that also occur in this file or document, even if they were slightly edited. Use it for "
    "templates, task sheets or licences. Repeatable.",
)

ignore_options: Final = add_options(
    ignore_option,
    click.option(
        "--ignore-quotes",
        is_flag=True,
        help="Ignore quotations: text inside “...” or other quotation marks, and lines that begin with >.",
    ),
    click.option("--ignore-bibliography", is_flag=True, help="Ignore the bibliography. The output says where it is."),
)


def read_ignored_texts(names: Sequence[str], open_search: Callable[[], SimilaritySearch]) -> list[str]:
    """Return the texts to ignore. A name refers to a file if the file exists, otherwise to a stored document.

    `open_search` is not called if all names are files.
    """
    return [read_file(Path(name)) if is_file(name) else _read_stored_text(name, open_search) for name in names]


def _read_stored_text(name: str, open_search: Callable[[], SimilaritySearch]) -> str:
    try:
        return read_stored_text(open_search(), name)[1]
    except (StoreNotFoundError, UnknownDocumentError):
        raise CorpusError(
            f"--ignore {name!r} is neither a file nor a document in the index; check its spelling"
        ) from None
