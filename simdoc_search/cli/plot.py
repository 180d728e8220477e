"""An S-curve, or points, as text for a terminal, or as an SVG file."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence

_COLUMNS, _ROWS = 50, 10
_WIDTH, _HEIGHT, _LEFT, _TOP = 500, 250, 60, 20

_SIGNS = "mxbsuo"
_COLOURS = ("#06c", "#c30", "#080", "#a0a", "#b70", "#333")

Curve = Callable[[float], float]
Points = Mapping[str, Sequence[tuple[float, float]]]
"""By the name of their kind: sizes over 0 with their heights, from 0."""


def terminal_plot(curve: Curve, marked: float | None = None) -> str:
    """Draw a curve from 0..1 to 0..1; `marked` is shown by a column of dots."""
    heights = [round(curve(column / _COLUMNS) * _ROWS) for column in range(_COLUMNS + 1)]
    at = None if marked is None else round(marked * _COLUMNS)
    lines = []
    for row in range(_ROWS, -1, -1):
        label = f"{row / _ROWS:>5.0%} " if row % 5 == 0 else " " * 6
        cells = ("*" if height == row else ":" if column == at else " " for column, height in enumerate(heights))
        lines.append(f"{label}|{''.join(cells)}".rstrip())
    lines.append(" " * 6 + "+" + "-" * (_COLUMNS + 1))
    lines.append(" " * 7 + "".join(f"{tick:<10}" for tick in ("0%", "20%", "40%", "60%", "80%", "100%")).rstrip())
    lines.append(" " * 7 + "overlap of the two documents; height: probability of being found")
    return "\n".join(lines)


def svg_plot(curve: Curve, title: str, marked: float | None = None) -> str:
    """The same as an SVG document."""
    points = " ".join(f"{_x(n / 200):.1f},{_y(curve(n / 200)):.1f}" for n in range(201))
    grid = "".join(
        f'<path d="M{_x(0)},{_y(n / 5):.0f}H{_x(1)}M{_x(n / 5):.0f},{_y(0)}V{_y(1)}" stroke="#ddd"/>'
        f'<text x="{_x(n / 5):.0f}" y="{_y(0) + 20}" text-anchor="middle">{20 * n}%</text>'
        f'<text x="{_x(0) - 8}" y="{_y(n / 5) + 4:.0f}" text-anchor="end">{20 * n}%</text>'
        for n in range(6)
    )
    line = "" if marked is None else f'<path d="M{_x(marked):.1f},{_y(0)}V{_y(1)}" stroke="#c30" stroke-dasharray="4"/>'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH + _LEFT + 30} {_HEIGHT + _TOP + 50}" '
        f'font-family="sans-serif" font-size="12"><title>{_escaped(title)}</title>'
        f'<rect width="100%" height="100%" fill="#fff"/><text x="{_x(0)}" y="14">{_escaped(title)}</text>{grid}{line}'
        f'<polyline points="{points}" fill="none" stroke="#06c" stroke-width="2"/>'
        f'<text x="{_x(0.5)}" y="{_y(0) + 40}" text-anchor="middle">overlap</text></svg>\n'
    )


def _x(value: float) -> float:
    return _LEFT + value * _WIDTH


def _y(value: float) -> float:
    return _TOP + (1 - value) * _HEIGHT


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def terminal_points(series: Points, across: str, up: str) -> str:
    """Draw points of several kinds, each with a sign of its own; sizes by their logarithm, heights from 0."""
    if not series:
        return "nothing to draw"
    x_of, most, ends = _scale(series)
    board = [[" "] * (_COLUMNS + 1) for _ in range(_ROWS + 1)]
    signs = dict(zip(series, itertools.cycle(_SIGNS), strict=False))
    for name, points in series.items():
        for x, y in points:
            place = board[_ROWS - round(y / most * _ROWS)]
            at = round(x_of(x) * _COLUMNS)
            place[at] = signs[name] if place[at] in (" ", signs[name]) else "+"
    lines = []
    for row, columns in enumerate(board):
        label = f"{most * (1 - row / _ROWS):>7.3f} " if row % 5 == 0 else " " * 8
        lines.append(f"{label}|{''.join(columns)}".rstrip())
    lines.append(" " * 8 + "+" + "-" * (_COLUMNS + 1))
    left, right = f"{ends[0]:,.0f}", f"{ends[1]:,.0f}"
    lines.append(" " * 9 + left + right.rjust(_COLUMNS + 1 - len(left)))
    legend = ", ".join(f"{sign} {name}" for name, sign in signs.items())
    lines.append(" " * 9 + f"{across} (logarithmic); height: {up}; {legend}, + several")
    return "\n".join(lines)


def svg_points(series: Points, title: str, across: str, up: str) -> str:
    """The same as an SVG document, with a line for each kind."""
    x_of, most, ends = _scale(series) if series else (lambda value: value, 1.0, (0.0, 1.0))
    body = []
    for number, (name, points) in enumerate(series.items()):
        colour = _COLOURS[number % len(_COLOURS)]
        places = [(_x(x_of(x)), _y(y / most)) for x, y in points]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        dots = "".join(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"><title>{_escaped(name)} {size:,.0f}: {error:.4f}'
            "</title></circle>"
            for (x, y), (size, error) in zip(places, points, strict=True)
        )
        body.append(
            f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>{dots}'
            f'<text x="{_x(0.8)}" y="{_y(0.95) + 15 * number:.0f}" fill="{colour}">{_escaped(name)}</text>'
        )
    grid = "".join(
        f'<path d="M{_x(0)},{_y(n / 5):.0f}H{_x(1)}" stroke="#ddd"/>'
        f'<text x="{_x(0) - 8}" y="{_y(n / 5) + 4:.0f}" text-anchor="end">{most * n / 5:.3f}</text>'
        for n in range(6)
    )
    sizes = "".join(
        f'<text x="{_x(place)}" y="{_y(0) + 20}" text-anchor="middle">{end:,.0f}</text>'
        for place, end in zip((0, 1), ends, strict=True)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH + _LEFT + 30} {_HEIGHT + _TOP + 50}" '
        f'font-family="sans-serif" font-size="12"><title>{_escaped(title)}</title>'
        f'<rect width="100%" height="100%" fill="#fff"/><text x="{_x(0)}" y="14">{_escaped(title)}</text>{grid}{sizes}'
        f'{"".join(body)}<text x="{_x(0.5)}" y="{_y(0) + 40}" text-anchor="middle">{_escaped(across)} (logarithmic); '
        f"height: {_escaped(up)}</text></svg>\n"
    )


def _scale(series: Points) -> tuple[Curve, float, tuple[float, float]]:
    """Where a size lies, 0..1, by its logarithm; the greatest height; the least and the greatest size."""
    sizes = [x for points in series.values() for x, _ in points]
    low, high = min(sizes), max(sizes)
    width = math.log(high / low) or 1.0
    most = max(y for points in series.values() for _, y in points) or 1.0
    return lambda value: math.log(value / low) / width, most, (low, high)
