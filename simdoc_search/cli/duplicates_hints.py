"""Hints after the groups of `simdoc-search duplicates`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from simdoc_search.cli.command_line import command_line

if TYPE_CHECKING:
    from simdoc_search.duplicates import Duplicates
    from simdoc_search.stores.base import Store


def hint_lines(
    result: Duplicates, store: Store, location: str, folders: Iterable[str], *, has_overlap: bool
) -> Iterator[str]:
    """Yield what to do next, and how to find less similar documents and files without text.

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
    if not has_overlap:
        versions = f"; to find versions, run: {command_line(location, 'versions', '--all')}"
        yield f"to find less similar documents, add --overlap 50{versions if store.is_simdoc_index else ''}"
    first = None if folders or not store.is_simdoc_index else next(iter(store.scan()), None)
    if first is not None and first.origin is not None:
        command = command_line(location, "duplicates", "FOLDER")
        yield f"note: files without text, such as photos, were not compared. To compare their bytes, run: {command}"
