"""`simdoc-search duplicates --mark`: which document each duplicates, written into the documents of an engine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from simdoc_search.cli.common import Interrupted, say, share_progress
from simdoc_search.display import counted
from simdoc_search.errors import StoreError
from simdoc_search.stores.location import located

if TYPE_CHECKING:
    from simdoc_search.duplicates import Duplicates
    from simdoc_search.duplicates.mark_update import MarkReport
    from simdoc_search.search import SimilaritySearch

mark_option: Final = click.option(
    "--mark",
    "marking",
    is_flag=True,
    help="Write into the documents of an engine which one each duplicates: simdoc.duplicate_of and simdoc.cluster.",
)


def check_can_mark(store: str, *, compares_all: bool) -> None:
    """Refuse what cannot be marked, before anything is compared.

    Raises:
        StoreError: the store is a folder.
        UsageError: not all are compared with all, so what is there already may be a duplicate too.
    """
    if not compares_all:
        raise click.UsageError("--mark needs all documents compared; leave out --new and --since")
    if isinstance(located(store), Path):
        raise StoreError(f"{store} is a folder, and marks are for documents of an engine; for files there is --plan")


def mark(search: SimilaritySearch, found: Duplicates, *, quiet: bool) -> MarkReport:
    """Mark what was found, and say how much that was."""
    try:
        with share_progress(hidden=quiet) as update:
            report = search.mark_duplicates(found, progress=update)
    except KeyboardInterrupt:
        raise Interrupted("interrupted; the marks that were set stay, run the same command to go on") from None
    say(f"marks: {report.set:,} set, {report.removed:,} removed, {report.unchanged:,} left as they were", err=True)
    if report.passed_over:
        meanwhile = counted(report.passed_over, "document")
        say(f"note: changed or deleted meanwhile: {meanwhile}; the next run marks what is there then", err=True)
    for id, reason in report.reasons.items():
        say(f"Error: the document {id!r} has no new mark: {reason}", err=True)
    if report.refused > len(report.reasons):
        say(f"Error: {report.refused - len(report.reasons):,} more have no new marks", err=True)
    return report
