"""All documents of a store, or those of a folder, one after the other: in its order or in that of a column."""

from __future__ import annotations

import fnmatch
import heapq
import json
import os
import re
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import islice
from typing import IO, Any
from unicodedata import normalize

from simdoc_search.documents import spellings
from simdoc_search.errors import QuerySyntaxError
from simdoc_search.indexing.roots import NamedPaths, absolute
from simdoc_search.search.columns import Columns, sort_key
from simdoc_search.search.filter_check import unknown_field
from simdoc_search.stores.base import Store
from simdoc_search.stores.filters import Condition, Filters
from simdoc_search.stores.record import Record

PAGE = 200
"""Documents whose fields are read at once."""

AT_ONCE = 50_000
"""Rows that are sorted in memory; of more each such part lies in a temporary file."""

Row = dict[str, Any]

_WILDCARD = re.compile(r"[*?[]")


def listed(
    store: Store,
    columns: Columns,
    *,
    prefix: str | None = None,
    filters: Filters | None = None,
    sort: str | None = None,
    reverse: bool = False,
    limit: int | None = None,
) -> Iterator[Row]:
    """The documents, each as its `id`, in an engine its `index`, and the columns.

    Args:
        store: where they are.
        columns: what to say of each.
        prefix: only those whose path begins so (metadata `path`, else id), or that lie in this folder on disk; if no
            path begins so, a pattern of a shell: `*.pdf` is a name in any folder, `2021/*.pdf` a path.
        filters: only those with these fields, as for `SimilaritySearch.similar`.
        sort: a column, which need not be among those that are said; None: as the store has them.
        reverse: that order the other way round.
        limit: how many to give at most.

    Raises:
        QuerySyntaxError: an index of an application's own has no paths.
        UnknownFieldError: there are none, and no document has the field of a filter, or a path that begins so.
    """
    pattern = _pattern(store, prefix)
    kept = [*(_kept(store, prefix) if pattern is None else _folder_of(prefix)), *_as_list(filters)]
    read = Columns([*columns.names, *([sort] if sort and sort not in columns.names else [])])
    records = (each for each in store.scan(filters=kept) if pattern is None or _fits(each.path, pattern))
    pages = iter(lambda: list(islice(records, PAGE)), [])
    rows: Iterator[Row] = (_row(each, read) for page in pages for each in read.whole(store, page))
    if sort is not None:
        rows = _sorted(rows, sort, reverse, limit)
    shown = {"id", "index", *columns.names}
    empty = True
    for row in islice(rows, limit):
        empty = False
        yield {name: value for name, value in row.items() if name in shown}
    if empty and (error := unknown_field(store, kept)):
        raise error


def _kept(store: Store, prefix: str | None) -> list[dict[str, Any]]:
    """The filter for a beginning of paths; that of a folder on disk is what its documents' ids begin with."""
    if not prefix:
        return []
    if not getattr(store, "own", True):
        raise QuerySyntaxError("an index of an application's own has no folders; leave out PREFIX, or give a --filter")
    if os.path.isdir(prefix) and store.alternatives(Condition("path", (prefix,))) is not None:  # noqa: PTH112
        place = NamedPaths(store, None).of(absolute(prefix))
        if place.stored:
            return [{"path": place.id_prefix}] if place.id_prefix else []
    return [{"path": spellings(prefix)}]


def _pattern(store: Store, prefix: str | None) -> re.Pattern[str] | None:
    """What a path, or a name alone, must be, if wildcards are meant: what begins just so is a beginning."""
    if not prefix or not _WILDCARD.search(prefix) or not getattr(store, "own", True):
        return None
    if os.path.isdir(prefix) or store.alternatives(Condition("path", (prefix,))) is None:  # noqa: PTH112
        return None
    return re.compile(fnmatch.translate(normalize("NFC", prefix.removeprefix("./"))))


def _folder_of(pattern: str | None) -> list[dict[str, Any]]:
    """The filter for the folder of a pattern, as far as it is named."""
    folder, slash, _ = _WILDCARD.split((pattern or "").removeprefix("./"))[0].rpartition("/")
    return [{"path": spellings(folder + slash)}] if slash else []


def _fits(path: str, pattern: re.Pattern[str]) -> bool:
    composed = normalize("NFC", path)
    return bool(pattern.match(composed) or pattern.match(composed.rpartition("/")[2]))


def _as_list(filters: Filters | None) -> list[Any]:
    if filters is None:
        return []
    return list(filters) if isinstance(filters, list | tuple) else [filters]


def _row(record: Record, columns: Columns) -> Row:
    index = {"index": record.index} if record.index is not None else {}
    return {"id": record.id, **index, **columns.of(record)}


def _sorted(rows: Iterable[Row], sort: str, reverse: bool, limit: int | None) -> Iterator[Row]:
    def key(row: Row) -> tuple[Any, ...]:
        return (*sort_key(sort, row.get(sort), reverse=reverse), row["id"], row.get("index") or "")

    if limit is not None and limit <= AT_ONCE:
        yield from heapq.nsmallest(limit, rows, key)
        return
    rest = iter(rows)
    part = sorted(islice(rest, AT_ONCE), key=key)
    with ExitStack() as opened:
        parts: list[IO[str]] = []
        while more := sorted(islice(rest, AT_ONCE), key=key):
            file = opened.enter_context(tempfile.TemporaryFile("w+", encoding="utf-8", errors="surrogatepass"))
            file.writelines(json.dumps(row) + "\n" for row in part)
            file.seek(0)
            parts.append(file)
            part = more
        yield from heapq.merge(*(map(json.loads, file) for file in parts), part, key=key)
