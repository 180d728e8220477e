"""Lists the documents of a store or folder in storage order, or sorted by a column."""

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
from simdoc_search.indexing.input_paths import InputPaths, absolute_path, make_origin_filter
from simdoc_search.search.columns import Columns, make_sort_key
from simdoc_search.search.filter_check import find_filter_error
from simdoc_search.stores.base import Store
from simdoc_search.stores.filters import Condition, Filters
from simdoc_search.stores.record import Record

BATCH_SIZE = 200
"""Maximum number of documents whose fields are read in one request."""

_WILDCARD = re.compile(r"[*?[]")

DocumentRow = dict[str, Any]


def list_documents(
    store: Store,
    columns: Columns,
    *,
    prefix_or_pattern: str | None = None,
    filters: Filters | None = None,
    sort: str | None = None,
    limit: int | None = None,
) -> Iterator[DocumentRow]:
    """Yield a row for each document: its `id`, its `index` if it is in an engine, and its columns.

    Args:
        store: the store.
        columns: the columns to return.
        prefix_or_pattern: list only documents whose path begins with this string, or that are in this folder on disk.
            The path of a document is its metadata field `path`, or its id if it does not have this field. If the string
            has wildcards and no path begins with it, it is a shell pattern: `*.pdf` matches names in any folder, and
            `2021/*.pdf` matches paths.
        filters: list only documents with these fields, as for `SimilaritySearch.similar`.
        sort: the column to sort by. None: storage order. Sorted rows are kept in memory.
        limit: maximum number of documents.

    Raises:
        QuerySyntaxError: `prefix_or_pattern` is given for an index that simdoc-search did not create.
        UnknownFieldError: no document matches, because no document has the field of a filter, or because no path begins
            with `prefix_or_pattern`.
    """
    pattern = _compile_pattern(store, prefix_or_pattern)
    paths = (
        _build_path_filters(store, prefix_or_pattern) if pattern is None else _build_folder_filters(prefix_or_pattern)
    )
    all_filters = [*paths, *(filters if isinstance(filters, list | tuple) else [filters] if filters else [])]
    read_columns = Columns([*columns.names, *([sort] if sort and sort not in columns.names else [])])
    records = (
        record
        for record in store.scan(filters=all_filters)
        if pattern is None or _matches_pattern(record.path, pattern)
    )
    pages = iter(lambda: list(islice(records, BATCH_SIZE)), [])
    rows: Iterable[DocumentRow] = (
        _make_row(record, read_columns) for page in pages for record in read_columns.add_metadata(store, page)
    )
    if sort is not None:

        def make_row_key(row: DocumentRow) -> tuple[Any, ...]:
            return (*make_sort_key(sort, row.get(sort)), row["id"], row.get("index") or "")

        rows = sorted(rows, key=make_row_key) if limit is None else heapq.nsmallest(limit, rows, make_row_key)
    output_names = {"id", "index", *columns.names}
    is_empty = True
    for row in islice(rows, limit):
        is_empty = False
        yield {name: value for name, value in row.items() if name in output_names}
    if is_empty and (error := find_filter_error(store, all_filters)):
        raise error


def _build_path_filters(store: Store, prefix: str | None) -> list[dict[str, Any]]:
    """Return the filter for a path prefix. If it is an indexed folder on disk, the filter selects its documents."""
    if not prefix:
        return []
    if not store.is_simdoc_index:
        raise QuerySyntaxError(
            "this index does not record the folder of each document, because simdoc-search did not create it; omit "
            "PREFIX or PATTERN, and select documents with --filter"
        )
    if os.path.isdir(prefix) and not _is_path_prefix(store, prefix):  # noqa: PTH112 - Path.is_dir may raise for a long name
        input_path = InputPaths(store, None).get_or_add(absolute_path(prefix))
        if input_path.stored_count:
            return [make_origin_filter(store, [prefix])]
    return [{"path": unicode_forms(prefix)}]


def _compile_pattern(store: Store, prefix_or_pattern: str | None) -> re.Pattern[str] | None:
    """Return the regular expression for a shell pattern; None for a prefix."""
    if not prefix_or_pattern or not _WILDCARD.search(prefix_or_pattern) or not store.is_simdoc_index:
        return None
    if os.path.isdir(prefix_or_pattern) or _is_path_prefix(store, prefix_or_pattern):  # noqa: PTH112
        return None
    return re.compile(fnmatch.translate(normalize("NFC", prefix_or_pattern.removeprefix("./"))))


def _is_path_prefix(store: Store, prefix: str) -> bool:
    return store.suggest_filter_names(Condition("path", (prefix,))) is None


def _build_folder_filters(pattern: str | None) -> list[dict[str, Any]]:
    """Return the filter for the folders before the first wildcard of a pattern."""
    folder, slash, _ = _WILDCARD.split((pattern or "").removeprefix("./"))[0].rpartition("/")
    return [{"path": unicode_forms(folder + slash)}] if slash else []


def _matches_pattern(path: str, pattern: re.Pattern[str]) -> bool:
    composed = normalize("NFC", path)
    return bool(pattern.match(composed) or pattern.match(composed.rpartition("/")[2]))


def _make_row(record: Record, columns: Columns) -> DocumentRow:
    index = {"index": record.index} if record.index is not None else {}
    return {"id": record.id, **index, **columns.get_values(record)}
