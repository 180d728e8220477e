"""Writes an HTML page with the groups of duplicates and the differences of near-duplicates."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from simdoc_search.dedupe.descriptions import DuplicateDescriptions
from simdoc_search.dedupe.grouping import KINDS, NEAR
from simdoc_search.dedupe.output import convert_write_errors
from simdoc_search.dedupe.report import DedupeReport
from simdoc_search.display import format_count, format_percent
from simdoc_search.durable import atomic_file
from simdoc_search.passages.compare import compare
from simdoc_search.passages.report import ListEntry, ListSection, render_list_page, render_pair_view
from simdoc_search.passages.summary import describe_differences
from simdoc_search.sketch.settings import Settings

_MAX_GROUPS, _MAX_MEMBERS = 1000, 100
_MAX_PAIRS, _MAX_TOTAL_CHARACTERS, _MAX_PAIRS_PER_GROUP = 100, 4_000_000, 10
_EXCERPT_CHARACTERS = 80


@dataclass(slots=True)
class _Budget:
    """The number of pairs and characters that the page can still show, and the number of pairs that it leaves out."""

    pair_count: int = _MAX_PAIRS
    character_count: int = _MAX_TOTAL_CHARACTERS
    left_out_pair_count: int = 0


def write_page(path: Path, report: DedupeReport, descriptions: DuplicateDescriptions, settings: Settings) -> None:
    """Write the page. The largest groups come first."""
    groups = descriptions.groups
    duplicates = groups.duplicates
    order = np.lexsort((-groups.overlaps[duplicates], groups.kept_rows[duplicates]))
    kept, begins, counts = np.unique(groups.kept_rows[duplicates[order]], return_index=True, return_counts=True)
    budget = _Budget()
    sections = [
        _make_section(number, int(kept[group]), duplicates[order[begins[group] : begins[group] + counts[group]]],
                      descriptions, budget=budget, settings=settings)
        for number, group in enumerate(np.lexsort((kept, -counts))[:_MAX_GROUPS].tolist(), 1)
    ]  # fmt: skip
    kinds = (f"{count:,} {kind}" for kind, count in report.removed_counts.items() if count)
    remarks = [", ".join(kinds)] if report.removed_count else []
    left_out = report.left_out_counts.items()
    remarks += [f"kept without comparing: {format_count(count, 'row')} {why}" for why, count in left_out]
    if len(kept) > len(sections):
        remarks.append(f"{format_count(len(kept) - len(sections), 'smaller group')} not shown")
    if budget.left_out_pair_count:
        near = format_count(budget.left_out_pair_count, "near-duplicate")
        remarks.append(f"{near} not shown side by side with the kept row")
    summary = f"{format_count(report.row_count, 'row')}: {report.kept_count:,} kept, {report.removed_count:,} removed"
    html = render_list_page("Duplicate rows", sections, remarks, summary=summary)
    with convert_write_errors(path), atomic_file(path) as file:
        file.write(html.encode())


def _make_section(
    number: int,
    kept: int,
    duplicates: np.ndarray[tuple[int], np.dtype[np.int64]],
    descriptions: DuplicateDescriptions,
    *,
    budget: _Budget,
    settings: Settings,
) -> ListSection:
    rows, groups = descriptions.rows, descriptions.groups
    kept_text, kept_name = rows.text(kept), _format_name(descriptions, kept)
    entries = [ListEntry(kept_name, [("how", "kept"), ("differs", _excerpt(kept_text))])]
    shown_pairs = 0
    for row in duplicates[:_MAX_MEMBERS].tolist():
        name, kind = _format_name(descriptions, row), int(groups.kinds[row])
        how = f"{KINDS[kind]} {format_percent(float(groups.overlaps[row]))}" if kind == NEAR else KINDS[kind]
        view, differences = None, ""
        if kind == NEAR:
            texts = kept_text, rows.text(row)
            size = sum(map(len, texts))
            if shown_pairs < _MAX_PAIRS_PER_GROUP and budget.pair_count and size <= budget.character_count:
                comparison = compare(*texts, settings=settings)
                view = partial(render_pair_view, comparison, texts, (kept_name, name), analysis=settings.analysis)
                differences = describe_differences(comparison)
                budget.pair_count, budget.character_count, shown_pairs = (
                    budget.pair_count - 1,
                    budget.character_count - size,
                    shown_pairs + 1,
                )
            else:
                budget.left_out_pair_count += 1
        entries.append(ListEntry(name, [("how", how), ("differs", differences)], view))
    more = len(duplicates) - _MAX_MEMBERS
    last_line = f"… and {format_count(more, 'row')} more" if more > 0 else ""
    return ListSection(entries, f"Group {number}", format_count(len(duplicates) + 1, "row"), last_line)


def _format_name(descriptions: DuplicateDescriptions, row: int) -> str:
    old = "old " if row < descriptions.old_row_count else ""
    name = descriptions.name_of(row)
    return f"{old}{name}" if descriptions.has_ids else f"{old}row {name}"


def _excerpt(text: str) -> str:
    words = " ".join(text[: 4 * _EXCERPT_CHARACTERS].split())
    return words if len(words) <= _EXCERPT_CHARACTERS else f"{words[:_EXCERPT_CHARACTERS]}…"
