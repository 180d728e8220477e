"""`--show` and `--sort`: columns of documents, for people and as JSON, the same in each command; links to files."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from simdoc_search.cli.common import say
from simdoc_search.display import printable

if TYPE_CHECKING:
    from simdoc_search.documents import Place
    from simdoc_search.stores.base import Store

Command = TypeVar("Command", bound=Callable[..., Any])
Hit = TypeVar("Hit")

_WIDTHS = {"size": 13, "date": 16, "path": 32}
_WIDTH = 20  # of any other column


class _Names(click.ParamType):  # type: ignore[type-arg] # generic only since click 8.4
    name = "columns"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        given = value if isinstance(value, tuple | list) else str(value).split(",")
        names = [str(each).strip() for each in given]
        if not all(names):
            self.fail(f"{value!r} names no columns; write them like date,size,path,title", param, ctx)
        return tuple(names)


show_option: Final = click.option(
    "--show",
    type=_Names(),
    default=(),
    metavar="COLUMN,...",
    help="Say these of each document: date, size, path (of its file, to be opened), or fields of its metadata.",
)


def sort_option(default: str) -> Callable[[Command], Command]:
    """`--sort`, with what is said of it by default."""
    return click.option(
        "--sort",
        metavar="COLUMN",
        help="In the order of size or date (the greatest first), id, path or a field of the metadata.  "
        f"[default: {default}]",
    )


class Shown:
    """The columns of hits.

    On a terminal the ids of documents that were read from files are links to these files, where they still are.

    Args:
        store: where the hits are.
        names: the columns.
        sort: by which column the hits are sorted; None: as they come.
    """

    def __init__(self, store: Store, names: Sequence[str], sort: str | None = None) -> None:
        from simdoc_search.search.columns import Columns

        self.names = names
        self.sort: str | None = None if sort in (None, "overlap") else sort
        further = [each for each in (self.sort,) if each and each not in names]
        self._with_links = sys.stdout.isatty()
        self._columns = Columns([*names, *further, *(["path"] if self._with_links else [])])
        self._store = store
        say_unknown(store, [*names, *further])

    def at(self, places: Iterable[Place]) -> dict[Place, dict[str, Any]]:
        """What there is to say of the documents at some places."""
        return self._columns.at(self._store, list(places))

    def completed(self, found: dict[str, Any], hits: Sequence[Any]) -> dict[str, Any]:
        """An answer for JSON with the columns of its hits, which come in the order that is asked for."""
        values = self.at(hit.place for hit in hits)
        row_of = {id(hit): row for hit, row in zip(hits, found["hits"], strict=True)}
        ordered = sorted_hits(hits, self, values)
        return {**found, "hits": [{**row_of[id(hit)], **self.as_json(values.get(hit.place))} for hit in ordered]}

    def as_json(self, values: Mapping[str, Any] | None) -> dict[str, Any]:
        """What JSON says of a hit beside all else."""
        return {"show": {name: (values or {}).get(name) for name in self.names}} if self.names else {}


def say_unknown(store: Store, names: Iterable[str]) -> None:
    """Name the columns that no document has: they may be written wrong."""
    from simdoc_search.search.filter_check import unknown_column

    for name in dict.fromkeys(names):
        if error := unknown_column(store, name):
            say(f"note: {error}", err=True)


def sorted_hits(hits: Sequence[Hit], shown: Shown, values: Mapping[Place, Mapping[str, Any]]) -> list[Hit]:
    """Hits, which have a `place`, in the order that is asked for; of equal ones the first stays the first."""
    from simdoc_search.search.columns import sort_key

    if shown.sort is None:
        return list(hits)
    name = shown.sort
    return sorted(hits, key=lambda hit: sort_key(name, values.get(hit.place, {}).get(name)))  # type: ignore[attr-defined]


def heading(names: Sequence[str]) -> str:
    """The names of columns above their cells."""
    return "".join(f"{printable(name):{_alignment(name)}{_width(name)}}  " for name in names)


def cells(names: Sequence[str], values: Mapping[str, Any] | None) -> str:
    """The values of columns, each as wide as its column or wider."""
    return "".join(f"{_said(name, (values or {}).get(name)):{_alignment(name)}{_width(name)}}  " for name in names)


def linked(id: str, values: Mapping[str, Any] | None) -> str:
    """An id for a terminal: a hyperlink (OSC 8) to its file, where the output is a terminal and the file is there."""
    shown = printable(id)
    path = (values or {}).get("path")
    if not (sys.stdout.isatty() and isinstance(path, str) and os.path.isabs(path)) or path.startswith(("//", "\\")):  # noqa: PTH117
        return shown
    try:
        if not os.path.isfile(path):  # noqa: PTH113 - a Path may raise for a NUL
            return shown
        address = Path(path).as_uri().replace("file://", f"file://{socket.gethostname()}", 1)
    except (OSError, ValueError):
        return shown
    return f"\x1b]8;;{address}\x1b\\{shown}\x1b]8;;\x1b\\"


def _alignment(name: str) -> str:
    return ">" if name == "size" else "<"


def _width(name: str) -> int:
    return _WIDTHS.get(name, max(_WIDTH, len(name)))


def _said(name: str, value: Any) -> str:
    from simdoc_search.search.columns import column_text

    if name == "path" and isinstance(value, str):
        value = value.removeprefix(os.path.join(os.getcwd(), ""))  # noqa: PTH109, PTH118 - as text
    return printable(column_text(name, value))
