"""A line of a list, which opens to show two texts side by side."""

from __future__ import annotations

from collections.abc import Iterator

from simdoc_search.analysis.settings import Analysis
from simdoc_search.passages.passage import Comparison
from simdoc_search.passages.report.pair import pair_view


def entry(
    cells: str,
    pair: tuple[Comparison, tuple[str, str]] | None = None,
    names: tuple[str, str] = ("", ""),
    prefix: str = "",
    analysis: Analysis | None = None,
    *,
    is_open: bool = False,
) -> Iterator[str]:
    """A line of a list, which opens to show two texts side by side if there are some; `cells` is HTML."""
    if pair is None:
        yield f'<div class="hit"><div class="row">{cells}</div></div>\n'
        return
    yield f'<details class="hit"{" open" if is_open else ""}><summary class="row">{cells}</summary>\n'
    yield from pair_view(*pair, names, prefix=prefix, analysis=analysis)
    yield "</details>\n"
