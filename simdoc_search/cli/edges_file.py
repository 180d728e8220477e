"""Pairs of documents in a file: as CSV for a spreadsheet, or as GraphML for Gephi, yEd, igraph or NetworkX.

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

    Groups = Iterable[Sequence[Place]]

_COLUMNS = ("a", "b", "score", "kind", "group", "a_index", "a_routing", "b_index", "b_routing")
_KEYS = (
    ("node", "id", "string"),
    ("node", "index", "string"),
    ("node", "group", "int"),
    ("edge", "score", "double"),
    ("edge", "kind", "string"),
)


def check_edges(path: Path) -> None:
    """Refuse a file of another kind, or in a folder that is not there.

    Raises:
        UsageError: it is of another kind.
        ClickException: there is no such folder.
    """
    if path.suffix.lower() not in _WRITERS:
        raise click.UsageError(f"--edges writes FILE.csv or FILE.graphml, not {str(path)!r}")
    if not path.resolve().parent.is_dir():
        raise click.ClickException(f"{path} cannot be written: no such file or directory")


def write_edges(path: Path, edges: Iterable[Edge], groups: Groups) -> None:
    """Write all pairs, with the number of the group that the documents are in, from 1.

    Raises:
        ClickException: the file cannot be written.
    """
    numbers = {place: number for number, each in enumerate(groups, 1) for place in each}
    with text_file(path, newline="") as out:
        _WRITERS[path.suffix.lower()](out, edges, numbers)


def _write_csv(out: TextIO, edges: Iterable[Edge], groups: dict[Place, int]) -> None:
    """Scores are 0..1. The group is empty where the two are in different ones."""
    writer = csv.writer(out)
    writer.writerow(_COLUMNS)
    for a, b, score, kind in edges:
        group = groups[a] if a in groups and groups[a] == groups.get(b) else ""
        row = (a.id, b.id, f"{score:.6f}", kind, group, a.index, a.routing, b.index, b.routing)
        writer.writerow(["" if each is None else each for each in row])


def _write_graphml(out: TextIO, edges: Iterable[Edge], groups: dict[Place, int]) -> None:
    """Nodes are the documents that have an edge. Characters that XML cannot have are written as `\\x1b`."""
    out.write('<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n')
    for of, name, kind in _KEYS:
        out.write(f'<key id="{of}_{name}" for="{of}" attr.name="{name}" attr.type="{kind}"/>\n')
    out.write('<graph edgedefault="undirected">\n')
    nodes: dict[Place, int] = {}
    for a, b, score, kind in edges:
        ends = []
        for place in (a, b):
            if place not in nodes:
                nodes[place] = len(nodes)
                values = {"id": place.id, "index": place.index, "group": groups.get(place)}
                data = "".join(_data("node", name, value) for name, value in values.items() if value is not None)
                out.write(f'<node id="n{nodes[place]}">{data}</node>\n')
            ends.append(f"n{nodes[place]}")
        data = _data("edge", "score", f"{score:.6f}") + _data("edge", "kind", kind)
        out.write(f'<edge source="{ends[0]}" target="{ends[1]}">{data}</edge>\n')
    out.write("</graph>\n</graphml>\n")


def _data(of: str, name: str, value: object) -> str:
    return f'<data key="{of}_{name}">{escape(printable(str(value)))}</data>'


_WRITERS: dict[str, Callable[[TextIO, Iterable[Edge], dict[Place, int]], None]] = {
    ".csv": _write_csv,
    ".graphml": _write_graphml,
}
