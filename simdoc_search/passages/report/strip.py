"""A strip that shows where in two texts their passages lie, and what became of their order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from simdoc_search.passages.passage import Span
from simdoc_search.passages.report.pane import Marks, tint

_TALL, _WIDE, _BAR = 1000, 60, 16
_LEAST = 2.0  # of a passage, so that it can be seen
_FAR = _WIDE - _BAR


def strip(marks: Marks, lengths: tuple[int, int]) -> Iterator[str]:
    """An SVG image, the first text on the left and the second on the right; what moved crosses the others.

    What it shows is also in the list of passages, so a reader of screens is not told it twice.

    Args:
        marks: what is marked.
        lengths: characters of the two texts.
    """
    yield (
        f'<svg class="strip" viewBox="0 0 {_WIDE} {_TALL}" preserveAspectRatio="none" aria-hidden="true" '
        f'focusable="false"><rect class="bar" width="{_BAR}" height="{_TALL}"/>'
        f'<rect class="bar" x="{_FAR}" width="{_BAR}" height="{_TALL}"/>\n'
    )
    order = sorted(
        enumerate(marks.comparison.passages), key=lambda each: (each[0] not in marks.repeated, -each[1].words)
    )
    for number, each in order:
        (top, bottom), (other, end) = _scaled(each.a, lengths[0]), _scaled(each.b, lengths[1])
        shape = f"M0 {top:g}H{_BAR}L{_FAR} {other:g}H{_WIDE}V{end:g}H{_FAR}L{_BAR} {bottom:g}H0Z"
        yield f'<a href="#{marks.prefix}a{number + 1}" tabindex="-1" data-n="{number + 1}">'
        yield f'<path class="{tint(number, marks)}" d="{shape}"/></a>\n'
    differences = [each for each in marks.comparison.differences if each.kind != "moved"]
    yield _ticks("del", 0, [each.a for each in differences if each.kind != "inserted"], lengths[0])
    yield _ticks("ins", _FAR, [each.b for each in differences if each.kind != "removed"], lengths[1])
    yield "".join(f'<rect class="view" x="{left}" width="{_BAR}" height="0"/>' for left in (0, _FAR)) + "</svg>\n"


def _scaled(span: Span, length: int) -> tuple[float, float]:
    top, bottom = (_TALL * min(edge, length) / max(length, 1) for edge in span)
    return round(min(top, _TALL - _LEAST), 1), round(max(bottom, top + _LEAST), 1)


def _ticks(kind: str, left: int, where: Sequence[Span], length: int) -> str:
    """What differs as short lines, equal ones once."""
    rows = sorted({round(_scaled(each, length)[0]) for each in where})
    lines = "".join(f"M{left} {row}h{_BAR}" for row in rows)
    return f'<path class="tick {kind}" d="{lines}"/>\n' if rows else ""
