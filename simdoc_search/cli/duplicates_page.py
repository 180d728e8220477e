"""The page of `simdoc-search duplicates --html`: the groups, and near duplicates beside their kept document."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from simdoc_search.cli.common import write_file
from simdoc_search.cli.duplicates_output import columns_of, notes, summary
from simdoc_search.display import counted
from simdoc_search.passages.summary import describe_differences

if TYPE_CHECKING:
    from simdoc_search.analysis.settings import Analysis
    from simdoc_search.duplicates import Duplicates, Group
    from simdoc_search.duplicates.verdicts import Kind
    from simdoc_search.passages.report import ListSection

_MAX_PAIRS, _MAX_CHARACTERS, _MAX_PAIRS_OF_GROUP = 100, 4_000_000, 10
"""What a browser shows fluently side by side. Beyond it, pairs of the first groups and smaller pairs are shown."""

_MAX_GROUPS, _MAX_MEMBERS = 1_000, 100

_KINDS: dict[Kind, str] = {
    "identical": "identical",
    "hard link": "hard links",
    "same text": "with the same text",
    "same words": "with the same words",
    "near": "near",
}


@dataclass(slots=True)
class _Room:
    """How many pairs and characters the page can still show, and how many pairs it left out."""

    pairs: int = _MAX_PAIRS
    characters: int = _MAX_CHARACTERS
    left_out: int = 0


def write_page(
    path: Path, found: Duplicates, analysis: Analysis, *, limit: int | None, estimated_by_option: bool
) -> None:
    """Write the page. What it shows is held in memory.

    Raises:
        ClickException: it cannot be written.
    """
    from simdoc_search.passages.report import list_page

    room = _Room(_MAX_PAIRS, _MAX_CHARACTERS)
    groups = found.groups(min(limit or _MAX_GROUPS, _MAX_GROUPS))
    sections = [_section(found, group, number, room, analysis) for number, group in enumerate(groups, 1)]
    counts = ", ".join(f"{found.kinds[kind]:,} {name}" for kind, name in _KINDS.items() if found.kinds[kind])
    remarks = [*([counts] if counts else []), *notes(found, estimated_by_option=estimated_by_option)]
    if found.group_count > len(sections):
        more = counted(found.group_count - len(sections), "more group")
        remarks.append(f"{more} not shown, which free less space: --json lists all")
    if room.left_out:
        near = counted(room.left_out, "near duplicate is", "near duplicates are")
        remarks.append(f"{near} not shown side by side with the kept document: simdoc-search compare shows each pair")
    write_file(path, list_page("Duplicates", sections, remarks, summary=summary(found)))


def _section(found: Duplicates, group: Group, number: int, room: _Room, analysis: Analysis) -> ListSection:
    from simdoc_search.passages.report import ListEntry, ListSection, pair_view

    members = group.duplicates[:_MAX_MEMBERS]
    near = tuple(member for member in members if member.kind == "near")[: min(_MAX_PAIRS_OF_GROUP, room.pairs)]
    views, differences = {}, {}
    kept_size, kept_date, kept_name = columns_of(group.kept)
    for duplicate, comparison, texts in found.compared(replace(group, duplicates=near)) if near else ():
        characters = sum(map(len, texts))
        if characters <= room.characters:
            room.pairs, room.characters = room.pairs - 1, room.characters - characters
            names = kept_name, columns_of(duplicate)[2]
            views[duplicate.number] = partial(pair_view, comparison, texts, names, analysis=analysis)
            differences[duplicate.number] = describe_differences(comparison)
    if found.verified:
        room.left_out += sum(duplicate.kind == "near" for duplicate in group.duplicates) - len(views)
    entries = [ListEntry(kept_name, [("how", "kept"), ("figure", kept_size), ("figure", kept_date)])]
    for member in members:
        size, date, name = columns_of(member)
        how = ("how", f"{member.action}: {member.reason}")
        cells = [how, ("figure", size), ("figure", date), ("differs", differences.get(member.number, ""))]
        entries.append(ListEntry(name, cells, views.get(member.number)))
    more = len(group.duplicates) - len(members)
    count = counted(len(group.duplicates) + 1, "document")
    return ListSection(entries, f"Group {number}", count, f"… and {counted(more, 'document')} more" if more else "")
