"""Renders two texts side by side as HTML, with their passages and differences."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from markupsafe import Markup

from simdoc_search.analysis.settings import Analysis
from simdoc_search.passages.boilerplate import find_boilerplate
from simdoc_search.passages.escape import escape_html
from simdoc_search.passages.inline_diff import InlineDiff
from simdoc_search.passages.passage import Comparison, Difference, Span
from simdoc_search.passages.positions import TextPositions, label_span_pair
from simdoc_search.passages.report.pair_text import PairMarks, PairParagraphRenderer, Side, cut_pair_text
from simdoc_search.passages.report.pieces import render_text
from simdoc_search.passages.report.templates import render, render_page
from simdoc_search.passages.row_descriptions import describe_moved_cells, describe_row_difference_count, quote_rows
from simdoc_search.passages.summary import (
    describe_changed_words,
    describe_character_difference,
    describe_character_difference_count,
    describe_differences,
    describe_form_difference,
    describe_shingle_measures,
    describe_significant_changes,
    describe_word_measures,
    excerpt,
)
from simdoc_search.passages.typography import locate_unified_words

_MIN_COMMON_FOLDERS = 2
"""If two paths share fewer folders, both paths are shown in full."""
_MAX_LISTED_ITEMS, _MAX_CHARACTER_DIFFERENCES, _MAX_ROW_DIFFERENCES = 500, 100, 100
_MIN_SHARE_IN_COMMON = 0.5
"""If at least this share of one text is in the other, the page lists the differences first, as for two versions."""
_CONTEXT_WORDS = 6
_TAGS = {"removed": "del", "inserted": "ins"}
_STRIP_HEIGHT, _STRIP_WIDTH, _BAR_WIDTH = 1000, 60, 16
_RIGHT_BAR_X = _STRIP_WIDTH - _BAR_WIDTH
_MIN_PASSAGE_HEIGHT = 2.0
"""The minimum height of a passage in the strip, which is the small map of both texts."""
_SIDES: tuple[Side, Side] = ("a", "b")


def render_pair_page(
    comparison: Comparison,
    texts: tuple[str, str],
    names: tuple[str, str],
    *,
    analysis: Analysis | None = None,
    notes: Sequence[str] = (),
) -> str:
    """Return a self-contained HTML page that shows two texts side by side, with notes below the measures.

    `analysis` is used to recognise boilerplate; see `find_boilerplate`.
    """
    view = render_pair_view(comparison, texts, names, analysis=analysis, notes=notes)
    return render_page(f"{names[0]} and {names[1]} compared", view)


def render_pair_view(
    comparison: Comparison,
    texts: tuple[str, str],
    names: tuple[str, str],
    *,
    prefix: str = "",
    analysis: Analysis | None = None,
    notes: Sequence[str] = (),
    options: Markup | str = "",
) -> Markup:
    """Return the HTML of a pair.

    All ids begin with `prefix`, such as `p2-`. Each pair on a page needs its own. `analysis` is used to recognise
    boilerplate; see `find_boilerplate`. `notes` are shown below the measures. `options` is the HTML of a menu, or an
    empty string.
    """
    marks = PairMarks(
        comparison,
        find_boilerplate(comparison.passages, texts, analysis),
        _find_moved_passages(comparison),
        prefix,
    )
    positions = TextPositions(texts[0]), TextPositions(texts[1])
    words = locate_unified_words(texts[0], analysis), locate_unified_words(texts[1], analysis)
    diff = InlineDiff(texts, words, comparison.differences)
    lengths = len(texts[0]), len(texts[1])
    sides = []
    for index, side in enumerate(_SIDES):
        text, paragraphs = texts[index], PairParagraphRenderer(texts[index], side, marks)
        html = render_text(text, cut_pair_text(comparison, side, len(text)), paragraphs, positions=positions[index])
        names_of_side = {"name": _shorten_names(names)[index], "full_name": names[index]}
        sides.append(
            {"side": side, **names_of_side, "words": comparison.word_counts[index], "html": html, "text": text}
        )
    return render(
        "pair.html",
        prefix=prefix,
        sides=sides,
        measures=describe_word_measures(comparison),
        notes=notes,
        options=options,
        details=describe_shingle_measures(comparison),
        shapes=list(_draw_passages(marks, lengths)),
        ticks=_draw_difference_ticks(comparison, lengths),
        strip={"width": _STRIP_WIDTH, "height": _STRIP_HEIGHT, "bar": _BAR_WIDTH, "right": _RIGHT_BAR_X},
        max_listed=_MAX_LISTED_ITEMS,
        differences=[
            _describe_difference(difference, texts, positions, diff)
            for difference in comparison.differences[:_MAX_LISTED_ITEMS]
        ],
        difference_count=len(comparison.differences),
        difference_summary=describe_differences(comparison),
        significant_changes=describe_significant_changes(comparison.significant_changes),
        character_differences=[
            describe_character_difference(difference, *texts)
            for difference in comparison.character_differences[:_MAX_CHARACTER_DIFFERENCES]
        ],
        character_difference_count=len(comparison.character_differences),
        character_difference_summary=describe_character_difference_count(len(comparison.character_differences)),
        row_differences=[
            {
                "place": label_span_pair(positions[0], row.a, positions[1], row.b),
                "moved": describe_moved_cells(row),
                "rows": quote_rows(row, texts),
            }
            for row in comparison.row_differences[:_MAX_ROW_DIFFERENCES]
        ],
        row_difference_count=len(comparison.row_differences),
        row_difference_summary=describe_row_difference_count(len(comparison.row_differences)),
        form_difference=""
        if comparison.differences or comparison.row_differences
        else describe_form_difference(*texts),
        passages=[
            {
                "colour": marks.colour_class(number),
                "words": passage.word_count,
                "remarks": marks.remarks(number),
                "place": label_span_pair(positions[0], passage.a, positions[1], passage.b),
                "quote": Markup(escape_html(excerpt(texts[0][slice(*passage.a)]))),  # noqa: S704 - the text is escaped
            }
            for number, passage in enumerate(comparison.passages[:_MAX_LISTED_ITEMS])
        ],
        passage_count=len(comparison.passages),
        has_much_in_common=max(comparison.covered_shares) >= _MIN_SHARE_IN_COMMON,
    )


def _find_moved_passages(comparison: Comparison) -> frozenset[int]:
    """Return the indices of the passages that were moved. More than half of such a passage is a `moved` difference."""
    moved = [difference.a for difference in comparison.differences if difference.kind == "moved"]
    return frozenset(
        number
        for number, passage in enumerate(comparison.passages)
        if any(
            2 * (min(end, passage.a[1]) - max(start, passage.a[0])) > passage.a[1] - passage.a[0]
            for start, end in moved
        )
    )


def _shorten_names(names: tuple[str, str]) -> tuple[str, str]:
    """Return two paths with `…` in place of their common folders."""
    first, second = (name.split("/") for name in names)
    different = (level for level, (a, b) in enumerate(zip(first[:-1], second[:-1], strict=False)) if a != b)
    common = next(different, min(len(first), len(second)) - 1)
    if common < _MIN_COMMON_FOLDERS:
        return names
    return "/".join(["…", *first[common:]]), "/".join(["…", *second[common:]])


def _describe_difference(
    difference: Difference, texts: tuple[str, str], positions: tuple[TextPositions, TextPositions], diff: InlineDiff
) -> dict[str, str]:
    return {
        "side": "b" if difference.kind == "inserted" else "a",
        "label": describe_changed_words(difference),
        "place": label_span_pair(positions[0], difference.a, positions[1], difference.b),
        "quote": _quote_difference(difference, texts, diff),
    }


def _quote_difference(difference: Difference, texts: tuple[str, str], diff: InlineDiff) -> Markup:
    """Return the HTML of a difference with the words around it."""
    if difference.kind == "moved":
        return Markup(escape_html(excerpt(texts[0][slice(*difference.a)])))  # noqa: S704 - the text is escaped
    parts = (
        f"<{tag}>{escape_html(excerpt(text))}</{tag}>"
        if (tag := _TAGS.get(kind))
        else escape_html(" ".join(re.split(r"\s+", text)))
        for kind, text in diff.quote([difference], _CONTEXT_WORDS)
    )
    return Markup("".join(parts))  # noqa: S704 - the text is escaped


# --- the strip, a small map of both texts ---


def _draw_passages(marks: PairMarks, lengths: tuple[int, int]) -> Iterator[tuple[int, str, str]]:
    """For each passage, in drawing order, yield its number (counted from 1), its colour class and its SVG path.

    Boilerplate comes first and then long passages, so that short passages are drawn on top of them.
    """
    passages = enumerate(marks.comparison.passages)
    for number, passage in sorted(
        passages, key=lambda pair: (pair[0] not in marks.boilerplate_passages, -pair[1].word_count)
    ):
        (top, bottom), (other, end) = _scale_to_strip(passage.a, lengths[0]), _scale_to_strip(passage.b, lengths[1])
        path = f"M0 {top:g}H{_BAR_WIDTH}L{_RIGHT_BAR_X} {other:g}H{_STRIP_WIDTH}V{end:g}H{_RIGHT_BAR_X}"
        yield number + 1, marks.colour_class(number), f"{path}L{_BAR_WIDTH} {bottom:g}H0Z"


def _draw_difference_ticks(comparison: Comparison, lengths: tuple[int, int]) -> dict[str, str]:
    """Return the SVG paths of the short lines that mark removed and inserted words."""
    differences = [difference for difference in comparison.differences if difference.kind != "moved"]
    removed = {
        round(_scale_to_strip(difference.a, lengths[0])[0])
        for difference in differences
        if difference.kind != "inserted"
    }
    inserted = {
        round(_scale_to_strip(difference.b, lengths[1])[0])
        for difference in differences
        if difference.kind != "removed"
    }
    rows = {"del": (0, removed), "ins": (_RIGHT_BAR_X, inserted)}
    return {
        kind: "".join(f"M{left} {row}h{_BAR_WIDTH}" for row in sorted(marked)) for kind, (left, marked) in rows.items()
    }


def _scale_to_strip(span: Span, length: int) -> tuple[float, float]:
    top, bottom = (_STRIP_HEIGHT * min(edge, length) / max(length, 1) for edge in span)
    return round(min(top, _STRIP_HEIGHT - _MIN_PASSAGE_HEIGHT), 1), round(max(bottom, top + _MIN_PASSAGE_HEIGHT), 1)
