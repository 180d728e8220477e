"""A comparison for a terminal: measures, passages, and what differs with the words around it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import NamedTuple

from simdoc_search.analysis.settings import Analysis
from simdoc_search.display import counted, printable
from simdoc_search.passages.passage import Comparison, Difference
from simdoc_search.passages.report.boilerplate import boilerplate
from simdoc_search.passages.report.positions import TextPositions, after_sign, both_named, words_after, words_before
from simdoc_search.passages.report.summary import (
    contents,
    difference_said,
    excerpt,
    key_change_lines,
    signs_differing,
)
from simdoc_search.passages.report.wrapping import StyledText, width_of, wrapped

_CONTEXT = 12  # words before and after what differs
_SHOWN, _KEPT = 60, 600  # words and characters of one text that are shown whole
_MOST_PASSAGES = 20
_NARROWEST, _WIDEST = 40, 120
_CODES = {"removed": "31;9", "inserted": "32;4", "heading": "1", "aside": "2"}
_SIGNS = {"removed": ("[-", "-]"), "inserted": ("{+", "+}")}


def terminal_lines(
    comparison: Comparison,
    texts: tuple[str, str],
    names: tuple[str, str],
    *,
    width: int = 80,
    colour: bool = False,
    analysis: Analysis | None = None,
) -> Iterator[str]:
    """A comparison in lines of at most `width` columns (40 to 120); nothing of the texts steers the terminal.

    Args:
        comparison: what two texts share.
        texts: these texts.
        names: what they are called.
        width: columns of the terminal.
        colour: colours and underlines say what was removed and inserted, else `[-removed-]` and `{+inserted+}`.
        analysis: what makes shingles, see `boilerplate`.
    """
    report = _Report(comparison, texts, boilerplate(comparison.passages, *texts, analysis))
    width = _fitting(width)
    lines = chain(_measures(comparison, names), report.passages(width), report.differences())
    return _shown(lines, width, colour)


def measure_lines(
    comparison: Comparison, names: tuple[str, str], *, width: int = 80, colour: bool = False
) -> Iterator[str]:
    """The measures alone; arguments as for `terminal_lines`."""
    return _shown(_measures(comparison, names), _fitting(width), colour)


class Line(NamedTuple):
    """How far it stands from the left, what stands there, and what stands before its first line."""

    indent: int
    runs: list[StyledText]
    lead: StyledText = ("", "")


def _fitting(width: int) -> int:
    return min(max(width, _NARROWEST), _WIDEST)


def _shown(lines: Iterable[Line], width: int, colour: bool) -> Iterator[str]:
    for indent, runs, lead in lines:
        if not runs:
            yield ""
        shown = [(style, printable(re.sub(r"\s+", " ", text))) for style, text in _signed(runs, colour)]
        before = " " * (indent - len(lead[1])) + _coloured(*lead, colour)
        for line in wrapped(shown, width - indent):
            yield before + "".join(_coloured(*run, colour) for run in line)
            before = " " * indent


def _measures(comparison: Comparison, names: tuple[str, str]) -> Iterator[Line]:
    yield Line(0, [("heading", f"{names[0]} and {names[1]}")])
    measures = contents(comparison)
    indent = 4 + max(len(name) for name, _, _ in measures)
    for name, value, remark in measures:
        said = f"{value}, {remark}" if remark else value
        yield Line(indent, [("", said)], ("aside", f"  {name}".ljust(indent)))


class _Report:
    """The parts of a report that quote the texts."""

    def __init__(self, comparison: Comparison, texts: tuple[str, str], repeated: frozenset[int]) -> None:
        self._comparison = comparison
        self._a, self._b = texts
        self._in_a, self._in_b = map(TextPositions, texts)
        self._repeated = repeated

    def passages(self, width: int) -> Iterator[Line]:
        """The longest passages in the order of the first text, each with its places and how it begins."""
        passages = list(enumerate(self._comparison.passages))
        longest = sorted(passages, key=lambda each: -each[1].words)[:_MOST_PASSAGES]
        if passages:
            yield Line(0, [])
            yield Line(0, [("heading", "Shared")])
        for number, each in sorted(longest):
            place = f"{counted(each.words, 'word')}, {self._places(each.a[0], each.b[0])}"
            said = f"{place}, repeated: " if number in self._repeated else f"{place}: "
            room = max(width - 2 - width_of(said), _NARROWEST)
            yield Line(2, [("aside", said), ("", _cut(self._a[slice(*each.a)], room))])
        if more := len(passages) - len(longest):
            yield Line(2, [("aside", f"… {counted(more, 'shorter passage')} …")])

    def differences(self) -> Iterator[Line]:
        """What differs, with the words around it; between two such places how much is alike."""
        yield Line(0, [])
        signs = signs_differing(self._comparison.signs, (self._a, self._b))
        if not self._comparison.differences:
            yield Line(0, [("heading", "No word differs."), ("", f" {signs}" if signs else "")])
            return
        yield Line(0, [("heading", "What differs")])
        for line in key_change_lines(self._comparison.key_changes):
            yield Line(2, [("", line)])
        if signs:
            yield Line(2, [("", signs)])
        at = 0
        for group in _groups(self._comparison.differences, self._a):
            yield from self._alike(at, group[0].a[0])
            yield from self._group(group, at)
            at = max(at, *(each.a[1] for each in group))
        yield from self._alike(at, len(self._a))

    def _alike(self, start: int, end: int) -> Iterator[Line]:
        last = len(self._a.rstrip())
        lines = self._in_a.lines_between(start, min(end, last)) - (start > 0 and end < last)  # whole ones
        words = len(self._a[start:end].split()) if lines < 2 else 0
        if lines > 1 or words > 2 * _CONTEXT:
            yield Line(2, [("aside", f"… {counted(lines, 'line') if lines > 1 else counted(words, 'word')} alike …")])

    def _group(self, group: list[Difference], before: int) -> Iterator[Line]:
        first = group[0]
        said = difference_said(first, self._a, self._b) if len(group) == 1 else _many(group)
        yield Line(0, [("aside", f"{self._places(first.a[0], first.b[0])}: "), ("heading", said)])
        if first.kind != "moved":
            yield Line(4, self._changes(group, before))

    def _changes(self, group: list[Difference], before: int) -> list[StyledText]:
        start, end = group[0].a[0], max(each.a[1] for each in group)
        runs: list[StyledText] = [("", words_before(self._a, before, start, _CONTEXT))]
        at = start
        for each in group:
            place = after_sign(self._a, each.a[0]) if each.kind == "inserted" else each.a[0]
            if place > at:
                runs.append(("", self._a[at:place]))
            at = max(at, place)
            for style, text in (("removed", self._a[slice(*each.a)]), ("inserted", self._b[slice(*each.b)])):
                if text.strip():
                    runs += _spaced(runs[-1], (style, _shortened(text)))
            at = max(at, each.a[1])
        after = words_after(self._a, max(at, end), _CONTEXT)
        return [*runs, *_spaced(runs[-1], ("", after))] if group[-1].kind == "inserted" else [*runs, ("", after)]

    def _places(self, a: int, b: int) -> str:
        return both_named(self._in_a, a, self._in_b, b)


def _groups(differences: Iterable[Difference], text: str) -> Iterator[list[Difference]]:
    """Differences that stand so near that the words around them are the same; a moved one stands alone."""
    group: list[Difference] = []
    for each in differences:
        if group and not (group[-1].kind != "moved" != each.kind and _is_near(text, group[-1].a[1], each.a[0])):
            yield group
            group = []
        group.append(each)
    if group:
        yield group


def _is_near(text: str, end: int, start: int) -> bool:
    return start - end <= 24 * _CONTEXT and len(text[end:start].split()) <= 2 * _CONTEXT


def _many(group: list[Difference]) -> str:
    return f"{counted(sum(each.words for each in group), 'word')} in {counted(len(group), 'difference')}"


def _shortened(text: str) -> str:
    """A long stretch by its beginning and its end."""
    words = text.split()
    if len(words) <= _SHOWN:
        return text.strip() if len(text) <= _KEPT else f"{text[: _KEPT // 2].strip()} … {text[-_KEPT // 6 :].strip()}"
    begin, end = words[: _SHOWN // 2], words[-_SHOWN // 6 :]
    return " ".join([*begin, f"… {counted(len(words) - len(begin) - len(end), 'word')} …", *end])


def _spaced(before: StyledText, run: StyledText) -> list[StyledText]:
    """A run, after a space if two words would touch."""
    touch = before[1][-1:].strip() and run[1][:1].isalnum()
    return [("", " "), run] if touch else [run]


def _signed(runs: list[StyledText], colour: bool) -> Iterator[StyledText]:
    for style, text in runs:
        left, right = ("", "") if colour else _SIGNS.get(style, ("", ""))
        yield style, f"{left}{text}{right}"


def _coloured(style: str, text: str, colour: bool) -> str:
    return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if colour and style else text


def _cut(text: str, room: int) -> str:
    """The beginning of a text in about so many columns, in quotation marks."""
    line = excerpt(text[: 4 * room], most=room)
    while width_of(line) > room - 4:
        line = line[: len(line) - max(1, (width_of(line) - room + 4) // 2)]
    return f"“{line} …”" if len(line) < len(" ".join(text.split())) else f"“{line}”"
