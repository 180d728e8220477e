"""Terminal output of `simdoc-search compare`: measures, passages, and differences with the words around them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

from simdoc_search.analysis.settings import Analysis
from simdoc_search.display import format_count, printable
from simdoc_search.passages.boilerplate import find_boilerplate
from simdoc_search.passages.inline_diff import InlineDiff
from simdoc_search.passages.passage import Comparison, Difference, Span
from simdoc_search.passages.positions import TextPositions, label_span_pair
from simdoc_search.passages.row_descriptions import describe_moved_cells, describe_row_difference_count, quote_rows
from simdoc_search.passages.summary import (
    describe_character_differences,
    describe_difference,
    describe_form_difference,
    describe_significant_changes,
    describe_word_changes,
    describe_word_measures,
    excerpt,
)
from simdoc_search.passages.typography import locate_unified_words

_CONTEXT_WORDS = 12
_MAX_DIFFERENCE_WORDS, _MAX_DIFFERENCE_CHARACTERS = 60, 600
"""Maximum length of a difference. A longer difference is shortened in the middle."""
_MAX_PASSAGES, _MAX_ROWS = 20, 5
_MIN_WIDTH, _MAX_WIDTH = 40, 120
_STYLES = {
    "": "",
    "heading": "bold",
    "aside": "dim",
    "kept": "",  # this and the next ones are the kinds of a `DiffPart`
    "removed": "red strike",
    "inserted": "green underline",
}
_BRACKETS = {"removed": ("[-", "-]"), "inserted": ("{+", "+}")}

StyledText = tuple[str, str]
"""A style (a key of `_STYLES`) and the text that it applies to."""


class _Line(NamedTuple):
    """A line to be wrapped. `label` is printed in the indentation of its first row."""

    indent: int
    content: list[StyledText]
    label: StyledText = ("", "")


def comparison_lines(
    comparison: Comparison,
    texts: tuple[str, str],
    names: tuple[str, str],
    *,
    width: int = 80,
    is_coloured: bool = False,
    analysis: Analysis | None = None,
    notes: Sequence[str] = (),
    ignores_words: bool = False,
) -> Iterator[Text]:
    """Yield a comparison in lines of at most `width` columns (40 to 120), without control characters.

    Without colours, changes are shown as `[-removed-]` and `{+inserted+}`. `analysis` splits the texts into words; the
    default is the analysis of a new store. `ignores_words` says whether words are ignored.
    """
    width = min(max(width, _MIN_WIDTH), _MAX_WIDTH)
    repeated_passages = find_boilerplate(comparison.passages, texts, analysis)
    report = _Report(comparison, texts, analysis, repeated_passages, ignores_words=ignores_words)
    lines = chain(_measure_lines(comparison, names, notes), report.passage_lines(width), report.difference_lines())
    return _wrap(lines, width, is_coloured)


def measure_lines(
    comparison: Comparison,
    names: tuple[str, str],
    *,
    width: int = 80,
    is_coloured: bool = False,
    notes: Sequence[str] = (),
) -> Iterator[Text]:
    """Yield only the measures. The arguments are as for `comparison_lines`."""
    return _wrap(_measure_lines(comparison, names, notes), min(max(width, _MIN_WIDTH), _MAX_WIDTH), is_coloured)


def _wrap(lines: Iterable[_Line], width: int, is_coloured: bool) -> Iterator[Text]:
    console = Console(width=width)
    for indent, content, label in lines:
        if not content:
            yield Text()
            continue
        before = Text(" " * (indent - len(label[1]))).append(_apply_style(*label, is_coloured))
        parts = (_apply_style(style, re.sub(r"\s+", " ", text), is_coloured) for style, text in content)
        for row in Text.assemble(*parts).wrap(console, width - indent):
            row.rstrip()
            yield before + row
            before = Text(" " * indent)


def _apply_style(style: str, text: str, is_coloured: bool) -> Text:
    """Apply a style to a text, or put it in brackets if there are no colours."""
    left, right = ("", "") if is_coloured else _BRACKETS.get(style, ("", ""))
    return Text(printable(f"{left}{text}{right}"), _STYLES[style] if is_coloured else "")


def _measure_lines(comparison: Comparison, names: tuple[str, str], notes: Sequence[str]) -> Iterator[_Line]:
    yield _Line(0, [("heading", f"{names[0]} and {names[1]}")])
    yield from (_Line(0, [("", note)]) for note in notes)
    rows = describe_word_measures(comparison)
    indent = 4 + max(len(row.name) for row in rows)
    for name, value, remark in rows:
        yield _Line(indent, [("", f"{value}, {remark}" if remark else value)], ("aside", f"  {name}".ljust(indent)))


class _Report:
    """The passages and differences of a comparison, with quotations from the texts."""

    def __init__(
        self,
        comparison: Comparison,
        texts: tuple[str, str],
        analysis: Analysis | None,
        repeated_passages: frozenset[int],
        *,
        ignores_words: bool,
    ) -> None:
        self._comparison, self._analysis = comparison, analysis
        self._text_a, self._text_b = texts
        self._positions_a, self._positions_b = map(TextPositions, texts)
        self._repeated_passages = repeated_passages  # indices of passages
        self._equal = "equal or ignored" if ignores_words else "equal"

    def passage_lines(self, width: int) -> Iterator[_Line]:
        """Yield the longest passages in the order of the first text, each with its positions and its beginning."""
        passages = list(enumerate(self._comparison.passages))
        longest = sorted(passages, key=lambda pair: -pair[1].word_count)[:_MAX_PASSAGES]
        if passages:
            yield _Line(0, [])
            yield _Line(0, [("heading", "Shared passages")])
        for number, passage in sorted(longest):
            remark = ", repeated" if number in self._repeated_passages else ""
            positions = self._format_positions(passage.a, passage.b)
            label = f"{format_count(passage.word_count, 'word')}, {positions}{remark}: "
            columns = max(width - 2 - len(label), _MIN_WIDTH)
            yield _Line(2, [("aside", label), ("", _quote_beginning(self._text_a[slice(*passage.a)], columns))])
        if more := len(passages) - len(longest):
            yield _Line(2, [("aside", f"… {format_count(more, 'shorter passage')} …")])

    def difference_lines(self) -> Iterator[_Line]:
        """Yield the differences with the words around them, and the amount of equal text between them."""
        yield _Line(0, [])
        characters = describe_character_differences(
            self._comparison.character_differences, (self._text_a, self._text_b)
        )
        significant = describe_significant_changes(self._comparison.significant_changes)
        rows = self._comparison.row_differences
        others = [*([characters] if characters else []), *([describe_row_difference_count(len(rows))] if rows else [])]
        if not self._comparison.differences:
            form = describe_form_difference(self._text_a, self._text_b)
            rest = f"But {', and '.join(others)}." if others else form and f"{form[0].upper()}{form[1:]}."
            yield _Line(0, [("heading", "No words differ."), ("", rest and f" {rest}")])
            yield from (_Line(2, [("", line)]) for line in significant)
            yield from self._row_lines()
            return
        yield _Line(0, [("heading", "Differences")])
        yield from (_Line(2, [("", line)]) for line in [*significant, *others])
        yield from self._row_lines()
        texts = self._text_a, self._text_b
        words = locate_unified_words(self._text_a, self._analysis), locate_unified_words(self._text_b, self._analysis)
        diff = InlineDiff(texts, words, self._comparison.differences)
        position = 0
        for group in _group_nearby(self._comparison.differences, self._text_a, diff):
            yield from self._equal_text_lines(position, group[0].a[0])
            yield from self._group_lines(group, diff)
            position = max(position, *(difference.a[1] for difference in group))
        yield from self._equal_text_lines(position, len(self._text_a))

    def _row_lines(self) -> Iterator[_Line]:
        """Yield the rows with words in other cells, each with the row of both texts."""
        rows = self._comparison.row_differences
        for row in rows[:_MAX_ROWS]:
            label = f"{self._format_positions(row.a, row.b)}: "
            yield _Line(2, [("aside", label), ("heading", describe_moved_cells(row))])
            for name, quote in zip(("first", "second"), quote_rows(row, (self._text_a, self._text_b)), strict=True):
                yield _Line(17, [("", quote)], ("aside", f"    {name} text".ljust(17)))
        if (more := len(rows) - _MAX_ROWS) > 0:
            yield _Line(2, [("aside", f"… {format_count(more, 'more row')} …")])

    def _equal_text_lines(self, start: int, end: int) -> Iterator[_Line]:
        last = len(self._text_a.rstrip())
        # Count whole lines. The first line end may belong to a partial line. The last line of the text has no line end.
        is_partial = not self._positions_a.is_line_start(start)
        lines = self._positions_a.count_lines_between(start, min(end, last)) - is_partial + (end >= last)
        words = len(self._text_a[start:end].split()) if lines < 2 else 0
        if lines > 1 or words > 2 * _CONTEXT_WORDS:
            amount = (
                format_count(lines, f"{self._equal} line") if lines > 1 else format_count(words, f"{self._equal} word")
            )
            yield _Line(2, [("aside", f"… {amount} …")])

    def _group_lines(self, group: list[Difference], diff: InlineDiff) -> Iterator[_Line]:
        first = group[0]
        total = f"{describe_word_changes(group)} in {format_count(len(group), 'difference')}"
        description = describe_difference(first, self._text_a, self._text_b) if len(group) == 1 else total
        yield _Line(0, [("aside", f"{self._format_positions(first.a, first.b)}: "), ("heading", description)])
        if first.kind != "moved":
            parts = diff.quote(group, _CONTEXT_WORDS)
            yield _Line(4, [(part.kind, _shorten(part.text)) for part in parts])

    def _format_positions(self, a: Span, b: Span) -> str:
        return label_span_pair(self._positions_a, a, self._positions_b, b)


def _group_nearby(differences: Iterable[Difference], text: str, diff: InlineDiff) -> Iterator[list[Difference]]:
    """Group differences that are near enough to share the words around them.

    A moved passage is a group by itself, and so is a difference that is too long to be shown as a whole.
    """
    group: list[Difference] = []
    for difference in differences:
        is_alone = any(
            each.kind == "moved" or each.word_count > _MAX_DIFFERENCE_WORDS for each in (difference, *group[-1:])
        )
        if group and (
            is_alone
            or not _is_near(text, group[-1].a[1], difference.a[0])
            or not diff.have_equal_words_between(group[-1], difference)
        ):
            yield group
            group = []
        group.append(difference)
    if group:
        yield group


def _is_near(text: str, end: int, start: int) -> bool:
    return start - end <= 24 * _CONTEXT_WORDS and len(text[end:start].split()) <= 2 * _CONTEXT_WORDS


def _shorten(text: str) -> str:
    """Return the beginning and the end of a long text, or all of a short one."""
    words = text.split()
    if len(words) > _MAX_DIFFERENCE_WORDS:
        first, last = words[: _MAX_DIFFERENCE_WORDS // 2], words[-_MAX_DIFFERENCE_WORDS // 6 :]
        return " ".join([*first, f"… {format_count(len(words) - len(first) - len(last), 'word')} …", *last])
    if len(text) <= _MAX_DIFFERENCE_CHARACTERS:
        return text
    return f"{text[: _MAX_DIFFERENCE_CHARACTERS // 2].rstrip()} … {text[-_MAX_DIFFERENCE_CHARACTERS // 6 :].lstrip()}"


def _quote_beginning(text: str, columns: int) -> str:
    """Return the beginning of a text in quotation marks, in about this many columns."""
    line = excerpt(text[: 4 * columns], max_words=columns)
    if cell_len(line) > columns - 4:
        cut = set_cell_size(line, columns - 4)
        line = cut.rpartition(" ")[0].rstrip(" …") or cut.strip()
    return f"“{line} …”" if len(line) < len(" ".join(text.split())) else f"“{line}”"
