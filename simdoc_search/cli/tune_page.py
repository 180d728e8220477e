"""The pictures of `simdoc-search tune`: error against size as SVG, and one HTML page with all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from simdoc_search.cli.plot import svg_points
from simdoc_search.cli.tune_output import HEADS, cells, command, findings, points_of, shingles_of, verdict
from simdoc_search.passages.report.html_escaping import attribute, content
from simdoc_search.passages.report.page import page

if TYPE_CHECKING:
    from simdoc_search.tuning import Tuning

_TITLE = "How wrong is the estimate, by the size of the sketch?"


def error_svg(found: Tuning) -> str:
    """Error against size as an SVG document."""
    return svg_points(points_of(found.rows), _TITLE, "size of the sketch", "error of the estimate")


def tuning_page(found: Tuning, total: int, place: Sequence[str], left_out: Sequence[str]) -> str:
    """One HTML page: what was looked at, the table, the picture, what is recommended."""
    return page("Which settings fit?", ('<main class="listing">\n', *_body(found, total, place, left_out), "</main>\n"))


def _body(found: Tuning, total: int, place: Sequence[str], left_out: Sequence[str]) -> Iterator[str]:
    yield '<div class="top">\n<h1>Which settings fit?</h1>\n'
    yield f'<p class="found">{content(verdict(found))}</p>\n'
    if made := command(found, place):
        yield f"<pre>{content(made)}</pre>\n"
    yield "".join(f"<p>{content(each)}</p>\n" for each in findings(found, total, left_out)) + "</div>\n"
    heads = "".join(f'<th scope="col">{each}</th>' for each in ("shingles", *HEADS))
    yield f"<table>\n<thead><tr>{heads}</tr></thead>\n<tbody>\n"
    for row in found.rows:
        values = (shingles_of(row.settings.analysis), *cells(row))
        yield "<tr>" + "".join(f"<td>{attribute(each)}</td>" for each in values) + "</tr>\n"
    yield f"</tbody>\n</table>\n<figure>\n{error_svg(found)}</figure>\n"
