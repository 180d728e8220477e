"""The page of `simdoc-search duplicates --html`: the groups, and each near duplicate beside the kept document."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from simdoc_search.cli.duplicates_hints import note_lines
from simdoc_search.cli.duplicates_output import format_size_date_and_name, format_summary
from simdoc_search.cli.html_page import write_page_file
from simdoc_search.display import format_count

if TYPE_CHECKING:
    from simdoc_search.analysis.settings import Analysis
    from simdoc_search.duplicates import Duplicates, Group
    from simdoc_search.duplicates.verdicts import DuplicateKind
    from simdoc_search.passages.report import ListSection
    from simdoc_search.stores.base import Store

_MAX_PAIRS, _MAX_TOTAL_CHARACTERS, _MAX_PAIRS_PER_GROUP = 100, 4_000_000, 10
"""Maximum number of pairs shown side by side, of their characters, and of pairs per group.

These limits keep the page fast. The pairs of the first groups are shown.
"""

_MAX_GROUPS, _MAX_MEMBERS = 1_000, 100

_KIND_LABELS: dict[DuplicateKind, tuple[str, str]] = {
    "identical": ("identical", "identical"),
    "hard link": ("hard link", "hard links"),
    "same text": ("with the same text", "with the same text"),
    "same words": ("with the same words", "with the same words"),
    "near": ("near duplicate", "near duplicates"),
}
"""The name of each kind in the singular and in the plural."""


@dataclass(slots=True)
class _PageBudget:
    """The number of pairs and characters that the page can still show, and the number of pairs that it leaves out."""

    pair_count: int = _MAX_PAIRS
    character_count: int = _MAX_TOTAL_CHARACTERS
    left_out_pair_count: int = 0


def write_page(
    path: Path, result: Duplicates, store: Store, location: str, *, limit: int | None, is_estimate_requested: bool
) -> None:
    """Write the page. All texts on the page are in memory at once."""
    from simdoc_search.passages.report import render_list_page

    budget, analysis = _PageBudget(_MAX_PAIRS, _MAX_TOTAL_CHARACTERS), store.settings.analysis
    groups = result.groups(min(limit or _MAX_GROUPS, _MAX_GROUPS))
    sections = [_make_section(result, group, number, budget, analysis) for number, group in enumerate(groups, 1)]
    counts = ", ".join(
        format_count(count, *names) for kind, names in _KIND_LABELS.items() if (count := result.kind_counts[kind])
    )
    notes = note_lines(result, store, location, is_estimate_requested=is_estimate_requested)
    remarks = [*([counts] if counts else []), *notes]
    if result.group_count > len(sections):
        singular, plural = "group that frees the least space is", "groups that free the least space are"
        more = format_count(result.group_count - len(sections), singular, plural)
        remarks.append(f"{more} not shown; --json without --size lists all groups")
    if budget.left_out_pair_count:
        duplicates_are = format_count(budget.left_out_pair_count, "near duplicate is", "near duplicates are")
        remarks.append(
            f"{duplicates_are} not shown side by side with the kept document; to see them, use `simdoc-search compare`"
        )
    write_page_file(path, render_list_page("Duplicates", sections, remarks, summary=format_summary(result)))


def _make_section(
    result: Duplicates, group: Group, number: int, budget: _PageBudget, analysis: Analysis
) -> ListSection:
    from simdoc_search.passages.report import ListEntry, ListSection, render_pair_view

    members = group.duplicates[:_MAX_MEMBERS]
    near = tuple(member for member in members if member.kind == "near")[: min(_MAX_PAIRS_PER_GROUP, budget.pair_count)]
    views = {}
    kept_size, kept_date, kept_name = format_size_date_and_name(group.kept)
    for duplicate, comparison, texts in result.compare_group(replace(group, duplicates=near)) if near else ():
        characters = sum(map(len, texts))
        if characters <= budget.character_count:
            budget.pair_count, budget.character_count = budget.pair_count - 1, budget.character_count - characters
            names = kept_name, format_size_date_and_name(duplicate)[2]
            views[duplicate.number] = partial(render_pair_view, comparison, texts, names, analysis=analysis)
    if result.verified:
        budget.left_out_pair_count += sum(duplicate.kind == "near" for duplicate in group.duplicates) - len(views)
    entries = [ListEntry(kept_name, [("how", "kept"), ("figure", kept_size), ("figure", kept_date)])]
    for member in members:
        size, date, name = format_size_date_and_name(member)
        cells = [("how", f"{member.action}: {member.reason}"), ("figure", size), ("figure", date)]
        entries.append(ListEntry(name, cells, views.get(member.number)))
    more = len(group.duplicates) - len(members)
    count = format_count(len(group.duplicates) + 1, "document")
    return ListSection(
        entries, f"Group {number}", count, f"… and {format_count(more, 'document')} more" if more else ""
    )
