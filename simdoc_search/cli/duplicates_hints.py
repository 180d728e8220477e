"""Hints and notes after the groups of `simdoc-search duplicates`."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from simdoc_search.cli.command_line import command_line
from simdoc_search.display import format_count, safe_message
from simdoc_search.duplicates.document_arrays import NO_FINGERPRINT
from simdoc_search.duplicates.paths import ARCHIVE_GONE, FILE_GONE

if TYPE_CHECKING:
    from simdoc_search.duplicates import Duplicates
    from simdoc_search.stores.base import Store

_MAX_LEFT_OUT_DOCUMENTS = 3


def hint_lines(
    result: Duplicates, store: Store, location: str, folders: Iterable[str], *, has_overlap: bool
) -> Iterator[str]:
    """Yield what to do next: with the copies, or to find less similar documents and files without text.

    Args:
        result: the duplicates.
        store: the store.
        location: the location of the store.
        folders: the folders that the user named.
        has_overlap: whether the user set the minimum overlap.
    """
    if result.group_count:
        # Documents of an application have no files that could be moved.
        advice = "to move copies away, add --plan plan.tsv"
        if not store.is_simdoc_index:
            advice = "to hide duplicates from search results, add --mark"
        yield f"{advice}; to see all differences, add --html page.html"
    if not has_overlap and (result.kind_counts["near"] or not result.group_count):
        versions = f"; to find versions, run: {command_line(location, 'versions', '--all')}"
        yield f"to find less similar documents, add --overlap 50{versions if store.is_simdoc_index else ''}"
    if result.has_files and not (folders or result.group_count):
        command = command_line(location, "duplicates", "FOLDER")
        yield f"note: files without text, such as photos, were not compared. To compare their bytes, run: {command}"


def left_out_lines(result: Duplicates, location: str) -> Iterator[str]:
    """Yield the documents that cannot be compared, except those whose files no longer exist.

    A sentence about texts whose words are not split comes first.
    """
    if note := result.describe_unsplit_texts():
        yield note
    others = [(key.id, reason) for key, reason in result.left_out.items() if reason not in (FILE_GONE, ARCHIVE_GONE)]
    for id, reason in others[:_MAX_LEFT_OUT_DOCUMENTS]:
        yield f"left out: the document {id!r}: {reason}"
    if more := len(others[_MAX_LEFT_OUT_DOCUMENTS:]):
        yield f"left out: {format_count(more, 'more document')}; --json lists all of them"
    if without := sum(reason == NO_FINGERPRINT for _, reason in others):
        documents_have = format_count(without, "document has", "documents have")
        command = shlex.join(["simdoc-search", "backfill", safe_message(location)])
        yield f"{documents_have} no fingerprint; if the texts have words, run: {command}"
