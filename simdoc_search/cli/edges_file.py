"""Writes pairs of documents as CSV for a spreadsheet, or as GraphML for Gephi, yEd, igraph or NetworkX.

Source: the GraphML primer, graphdrawing.org.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TextIO
from xml.sax.saxutils import escape

import click

from simdoc_search.cli.common import text_file
from simdoc_search.display import printable

if TYPE_CHECKING:
    from simdoc_search.documents import Place
    from simdoc_search.groups import Edge

_COLUMNS = ("a", "b", "score", "kind", "group", "a_index", "a_routing", "b_index", "b_routing")
_KEYS = {
    "node": {"id": "string", "index": "string", "group": "int"},
    "edge": {"score": "double", "kind": "string"},
}


def check_edges(path: Path) -> None:
    """Refuse a file of another kind, or in a folder that does not exist.

    Raises:
        UsageError: it is of another kind.
        ClickException: there is no such folder.
    """
    if path.suffix.lower() not in _WRITERS:
        raise click.UsageError(f"--edges writes FILE.csv or FILE.graphml, not {str(path)!r}")
    if not path.resolve().parent.is_dir():
        raise click.ClickException(f"{path} cannot be written: no such file or directory")


def write_edges(path: Path, edges: Iterable[Edge], groups: Iterable[Sequence[Place]]) -> None:
    """Write all pairs, with the number of the group of each document, from 1.

    Raises:
        ClickException: the file cannot be written.
    """
    group_of = {place: number for number, group in enumerate(groups, 1) for place in group}
    with text_file(path, newline="") as out:
        _WRITERS[path.suffix.lower()](out, edges, group_of)


def _write_csv(out: TextIO, edges: Iterable[Edge], group_of: dict[Place, int]) -> None:
    """Write a row per pair. Scores are 0..1. The group is empty if the documents are in different groups."""
    writer = csv.writer(out)
    writer.writerow(_COLUMNS)
    for a, b, score, kind in edges:
        group = group_of[a] if a in group_of and group_of[a] == group_of.get(b) else ""
        writer.writerow((a.id, b.id, f"{score:.6f}", kind, group, a.index, a.routing, b.index, b.routing))


def _write_graphml(out: TextIO, edges: Iterable[Edge], group_of: dict[Place, int]) -> None:
    """Write the documents that have an edge, and the edges. Characters that XML cannot have are written as `\\x1b`."""
    out.write('<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n')
    for element, types in _KEYS.items():
        for name, type_ in types.items():
            out.write(f'<key id="{element}_{name}" for="{element}" attr.name="{name}" attr.type="{type_}"/>\n')
    out.write('<graph edgedefault="undirected">\n')
    numbers: dict[Place, int] = {}
    for a, b, score, kind in edges:
        for place in (a, b):
            if place not in numbers:
                numbers[place] = len(numbers)
                data = _data("node", {"id": place.id, "index": place.index, "group": group_of.get(place)})
                out.write(f'<node id="n{numbers[place]}">{data}</node>\n')
        data = _data("edge", {"score": f"{score:.6f}", "kind": kind})
        out.write(f'<edge source="n{numbers[a]}" target="n{numbers[b]}">{data}</edge>\n')
    out.write("</graph>\n</graphml>\n")


def _data(element: str, values: dict[str, object]) -> str:
    return "".join(
        f'<data key="{element}_{name}">{escape(printable(str(value)))}</data>'
        for name, value in values.items()
        if value is not None
    )


_WRITERS: dict[str, Callable[[TextIO, Iterable[Edge], dict[Place, int]], None]] = {
    ".csv": _write_csv,
    ".graphml": _write_graphml,
}
