"""An S-curve as text for a terminal, or as an SVG file."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["svg_plot", "terminal_plot"]

_COLUMNS, _ROWS = 50, 10
_WIDTH, _HEIGHT, _LEFT, _TOP = 500, 250, 60, 20

Curve = Callable[[float], float]


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
