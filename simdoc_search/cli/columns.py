"""Implements `--show` and `--sort`, and links ids to files."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from simdoc_search.cli.common import Decorator, say, shorten_path
from simdoc_search.display import printable

if TYPE_CHECKING:
    from simdoc_search.documents import DocumentKey
    from simdoc_search.stores.base import Store

Hit = TypeVar("Hit")

_WIDTHS = {"size": 13, "date": 16, "path": 32}
_DEFAULT_WIDTH, _MAX_WIDTH = 20, 60


class _ColumnNames(click.ParamType):  # type: ignore[type-arg] # generic only since click 8.4
    name = "columns"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        names = [str(name).strip() for name in (value if isinstance(value, tuple | list) else str(value).split(","))]
        if not all(names):
            self.fail(
                f"{value!r} contains an empty column name; separate names with commas, as in date,size,title",
                param,
                ctx,
            )
        return tuple(names)


show_option: Final = click.option(
    "--show",
    type=_ColumnNames(),
    default=(),
    metavar="COLUMN,...",
    help="Columns to show for each document: date, size, path, or metadata fields. Separate them with commas.",
)


def sort_option(default: str, sorted_items: str = " the shown hits", extra_help: str = "") -> Decorator:
    """Return the option `--sort`. The arguments are parts of its help text."""
    return click.option(
        "--sort",
        metavar="COLUMN",
        help=f"Sort{sorted_items} by id, path, size (largest first), date (newest first) or a metadata field."
        f"{extra_help}  [default: {default}]",
    )


class HitColumns:
    """Reads the columns of hits. For a terminal, it also reads the path of each hit, to link the id to the file."""

    def __init__(self, store: Store, names: Sequence[str], sort: str | None = None) -> None:
        from simdoc_search.search.columns import Columns

        self.names = names
        self.sort = sort
        needed = [*names, *([sort] if sort and sort not in names else [])]
        self._columns = Columns([*needed, *(["path"] if sys.stdout.isatty() else [])])
        self.store = store
        warn_unknown_columns(store, needed)

    def read(self, keys: Iterable[DocumentKey]) -> dict[DocumentKey, dict[str, Any]]:
        """Return the values of all columns for these documents."""
        return self._columns.read_values(self.store, list(keys))

    def add_to_json(self, result: dict[str, Any], hits: Sequence[Any]) -> dict[str, Any]:
        """Return a copy of a result as JSON, with its hits sorted and the columns added to each hit."""
        values = self.read(hit.key for hit in hits)
        json_by_hit = {id(hit): value for hit, value in zip(hits, result["hits"], strict=True)}
        ordered = sort_hits(hits, self, values)
        return {**result, "hits": [{**json_by_hit[id(hit)], **self.as_json(values.get(hit.key))} for hit in ordered]}

    def as_json(self, values: Mapping[str, Any] | None) -> dict[str, Any]:
        """Return the columns of a hit as JSON."""
        return {"show": {name: (values or {}).get(name) for name in self.names}} if self.names else {}


def warn_unknown_columns(store: Store, names: Iterable[str]) -> None:
    """Print a note for each column that no document has, because the name may be misspelled."""
    from simdoc_search.search.filter_check import find_unknown_column

    for name in dict.fromkeys(names):
        if error := find_unknown_column(store, name):
            say(f"note: {error}", err=True)


def format_hit_id(key: DocumentKey, ids: Sequence[str], query: str) -> str:
    """Return the id of a hit, as INDEX/ID if another hit or the query document in another index has the same id."""
    is_ambiguous = ids.count(key.id) > 1 or query.endswith(f"/{key.id}")
    return key.qualified_id if is_ambiguous else key.id


def sort_hits(hits: Sequence[Hit], columns: HitColumns, values: Mapping[DocumentKey, Mapping[str, Any]]) -> list[Hit]:
    """Sort hits by the column of `--sort`. Each hit must have a `key`. Ties keep their order."""
    from simdoc_search.search.columns import make_sort_key

    if columns.sort is None:
        return list(hits)
    name = columns.sort
    return sorted(hits, key=lambda hit: make_sort_key(name, values.get(hit.key, {}).get(name)))  # type: ignore[attr-defined]


class ColumnLayout:
    """Pads columns to their widths. If the rows of the table are given, a column fits their values up to a maximum.

    Longer values are not cut.
    """

    def __init__(self, names: Sequence[str], rows: Iterable[Mapping[str, Any]] = ()) -> None:
        self._names = names
        self._widths = {name: _WIDTHS.get(name, max(_DEFAULT_WIDTH, len(name))) for name in names}
        for row in rows:
            for name in names:
                length = len(printable(_format_value(name, row.get(name))))
                self._widths[name] = max(self._widths[name], min(length, _MAX_WIDTH))

    @property
    def heading(self) -> str:
        """The names of the columns."""
        return "".join(self._pad(name, name) for name in self._names)

    def format_row(self, values: Mapping[str, Any] | None) -> str:
        """Return the values of a row."""
        return "".join(self._pad(name, _format_value(name, (values or {}).get(name))) for name in self._names)

    def _pad(self, name: str, text: str) -> str:
        return f"{printable(text):{'>' if name == 'size' else '<'}{self._widths[name]}}  "


def link_id(id: str, values: Mapping[str, Any] | None) -> str:
    """Format an id for a terminal. If the file of the document exists, the id is a hyperlink (OSC 8) to it."""
    text = printable(id)
    path = (values or {}).get("path")
    if not (sys.stdout.isatty() and isinstance(path, str) and os.path.isabs(path)) or path.startswith(("//", "\\")):  # noqa: PTH117
        return text
    try:
        if not os.path.isfile(path):  # noqa: PTH113 - Path.is_file may raise for a long name
            return text
        address = Path(path).as_uri().replace("file://", f"file://{socket.gethostname()}", 1)
    except (OSError, ValueError):
        return text
    return f"\x1b]8;;{address}\x1b\\{text}\x1b]8;;\x1b\\"


def _format_value(name: str, value: Any) -> str:
    from simdoc_search.search.columns import format_column_value

    if name == "path" and isinstance(value, str):
        value = shorten_path(value)
    return format_column_value(name, value)
