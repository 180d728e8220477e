"""Lists the documents of a store or folder, in the order of the store or of a column."""

from __future__ import annotations

import fnmatch
import heapq
import os
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any
from unicodedata import normalize

from simdoc_search.documents import unicode_forms
from simdoc_search.errors import QuerySyntaxError
from simdoc_search.indexing.roots import NamedPaths, absolute
from simdoc_search.search.columns import Columns, sort_key
from simdoc_search.search.filter_check import unknown_field
from simdoc_search.stores.base import Store
from simdoc_search.stores.filters import Condition, Filters
from simdoc_search.stores.record import Record

BATCH_SIZE = 200
"""Number of documents whose fields are read in one request."""

_WILDCARD = re.compile(r"[*?[]")

DocumentRow = dict[str, Any]


def list_documents(
    store: Store,
    columns: Columns,
    *,
    prefix: str | None = None,
    filters: Filters | None = None,
    sort: str | None = None,
    reverse: bool = False,
    limit: int | None = None,
) -> Iterator[DocumentRow]:
    """Yield a row per document: its `id`, its `index` if it is in an engine, and its columns.

    Args:
        store: the store.
        columns: the columns to return.
        prefix: only documents whose path (the metadata field `path`, otherwise the id) begins with this string, or that
            are in this folder on disk. If the string has wildcards and no path begins with it, it is a shell pattern:
            `*.pdf` matches names in any folder, `2021/*.pdf` matches paths.
        filters: only documents with these fields, as for `SimilaritySearch.similar`.
        sort: the column to sort by; None for the order of the store. Sorted rows are held in memory.
        reverse: whether to reverse the order.
        limit: maximum number of documents.

    Raises:
        QuerySyntaxError: an application's own index has no paths.
        UnknownFieldError: no document matches, because no document has the field of a filter, or a path that begins
            with `prefix`.
    """
    pattern = _pattern(store, prefix)
    paths = _path_filters(store, prefix) if pattern is None else _folder_filters(prefix)
    all_filters = [*paths, *(filters if isinstance(filters, list | tuple) else [filters] if filters else [])]
    read_columns = Columns([*columns.names, *([sort] if sort and sort not in columns.names else [])])
    records = (
        record for record in store.scan(filters=all_filters) if pattern is None or _matches(record.path, pattern)
    )
    pages = iter(lambda: list(islice(records, BATCH_SIZE)), [])
    rows: Iterable[DocumentRow] = (
        _row(record, read_columns) for page in pages for record in read_columns.with_metadata(store, page)
    )
    if sort is not None:

        def key(row: DocumentRow) -> tuple[Any, ...]:
            return (*sort_key(sort, row.get(sort), reverse=reverse), row["id"], row.get("index") or "")

        rows = sorted(rows, key=key) if limit is None else heapq.nsmallest(limit, rows, key)
    names = {"id", "index", *columns.names}
    is_empty = True
    for row in islice(rows, limit):
        is_empty = False
        yield {name: value for name, value in row.items() if name in names}
    if is_empty and (error := unknown_field(store, all_filters)):
        raise error


def _path_filters(store: Store, prefix: str | None) -> list[dict[str, Any]]:
    """Return the filter for a path prefix. For a folder on disk, it is the prefix of the ids of its documents."""
    if not prefix:
        return []
    if not getattr(store, "own", True):
        raise QuerySyntaxError("an application's own index has no folders; leave out PREFIX, or give a --filter")
    if os.path.isdir(prefix) and not _is_path_prefix(store, prefix):  # noqa: PTH112 - Path.is_dir() may raise
        place = NamedPaths(store, None).get_or_add(absolute(prefix))
        if place.stored_count:
            return [{"path": place.id_prefix}] if place.id_prefix else []
    return [{"path": unicode_forms(prefix)}]


def _pattern(store: Store, prefix: str | None) -> re.Pattern[str] | None:
    """Return the regular expression for a prefix with wildcards; None if a path begins with the prefix itself."""
    if not prefix or not _WILDCARD.search(prefix) or not getattr(store, "own", True):
        return None
    if os.path.isdir(prefix) or _is_path_prefix(store, prefix):  # noqa: PTH112
        return None
    return re.compile(fnmatch.translate(normalize("NFC", prefix.removeprefix("./"))))


def _is_path_prefix(store: Store, prefix: str) -> bool:
    return store.filter_suggestions(Condition("path", (prefix,))) is None


def _folder_filters(pattern: str | None) -> list[dict[str, Any]]:
    """Return the filter for the folders that a pattern names before its first wildcard."""
    folder, slash, _ = _WILDCARD.split((pattern or "").removeprefix("./"))[0].rpartition("/")
    return [{"path": unicode_forms(folder + slash)}] if slash else []


def _matches(path: str, pattern: re.Pattern[str]) -> bool:
    composed = normalize("NFC", path)
    return bool(pattern.match(composed) or pattern.match(composed.rpartition("/")[2]))


def _row(record: Record, columns: Columns) -> DocumentRow:
    index = {"index": record.index} if record.index is not None else {}
    return {"id": record.id, **index, **columns.values(record)}
